//! The share of patients with events at high risk: when is it at most the limit?
//!
//! An attacker knows one of many sets of facts about a patient. Patients with few sets are counted exactly: all
//! their sets are tried, and the share of sets that fewer than k patients match is added up. For the other patients,
//! sets are drawn at random, and the upper bound of their share decides.
//!
//! # Guarantee
//! The draws follow from the SHA-256 of the data files, so that nobody can choose them, but somebody may try many
//! files until the draws suit them. By the bound of Chernoff and Hoeffding, a share p above the limit t gives at most
//! the share x < t in n draws with probability at most exp(−n · KL(x‖t)), where KL(x‖t) = x ln(x/t) + (1 − x)
//! ln((1 − x)/(1 − t)). A share is accepted if n · KL(x‖t) ≥ 63 ln 2. There are at most eight looks (five are used),
//! so that a file whose share is above the limit is accepted with probability at most 8 · 2⁻⁶³ = 2⁻⁶⁰. Whoever tries
//! 2⁴⁰ (a million million) files succeeds with probability at most 2⁻²⁰, one in a million.
//!
//! # Source
//! W. Hoeffding: *Probability inequalities for sums of bounded random variables*, JASA 58 (1963), theorem 1.

use crate::number::Fraction;
use crate::statistics::wilson;
use serde::{Deserialize, Serialize};

/// The number of draws at the first look. It doubles from look to look.
pub const FIRST_DRAWS: u64 = 1 << 14;
/// The number of draws at the last look.
pub const MOST_DRAWS: u64 = 1 << 18;
/// One patient, in the unit that exact shares are added up in.
pub const ONE_PATIENT: u64 = 1_000_000;

/// −ln of the probability that one look accepts a share above the limit: 63 ln 2.
const EVIDENCE: f64 = 63.0 * std::f64::consts::LN_2;
/// Standard deviations that a plan keeps away from what the verifier accepts.
const AIM: f64 = 5.0;
/// Draws beside these standard deviations, for shares near 0.
const AIM_DRAWS: f64 = 16.0;
/// Standard deviations of a plan's own estimate.
const OWN: f64 = 4.0;

/// The share of patients with events whom an attacker finds among fewer than k.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareAtRisk {
    /// Patients with events.
    pub patients: u64,
    /// Patients whose sets of facts were all tried.
    pub enumerated: u64,
    /// The sum of their shares of sets that fewer than k patients match, in millionths of a patient.
    pub enumerated_millionths: u64,
    /// Draws from the other patients in which fewer than k patients match.
    pub hits: u64,
    /// Draws from the other patients.
    pub draws: u64,
}

/// The result of a comparison with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The share is at most the limit.
    Below,
    /// The share is above the limit.
    Above,
    /// More draws are needed.
    Open,
}

impl ShareAtRisk {
    /// A share of patients that was counted.
    pub fn counted(at_risk: u64, patients: u64) -> ShareAtRisk {
        ShareAtRisk {
            patients,
            enumerated: patients,
            enumerated_millionths: at_risk.saturating_mul(ONE_PATIENT),
            hits: 0,
            draws: 0,
        }
    }

    /// Returns whether no draw was needed.
    pub fn is_exact(&self) -> bool {
        self.enumerated == self.patients
    }

    /// Returns whether the numbers fit each other.
    pub fn makes_sense(&self) -> bool {
        let most = u128::from(self.enumerated) * u128::from(ONE_PATIENT);
        self.enumerated <= self.patients
            && u128::from(self.enumerated_millionths) <= most
            && self.hits <= self.draws
            && (self.draws == 0) == self.is_exact()
    }

    /// The share.
    pub fn share(&self) -> f64 {
        self.with(self.hits as f64 / self.draws.max(1) as f64)
    }

    /// The interval by Wilson that contains the share; nothing where it is exact.
    pub fn interval(&self, z: f64) -> Option<(f64, f64)> {
        let (low, high) = wilson((self.hits, self.draws), z);
        (!self.is_exact()).then(|| (self.with(low), self.with(high)))
    }

    /// The whole share, if that of the patients who were drawn from is `drawn`.
    fn with(&self, drawn: f64) -> f64 {
        let patients = self.patients.max(1) as f64;
        let others = self.patients.saturating_sub(self.enumerated) as f64;
        (self.enumerated_millionths as f64 / ONE_PATIENT as f64 + others * drawn) / patients
    }

    /// The limit on the share of the patients who were drawn from.
    fn limit_of_drawn(&self, max: Fraction) -> f64 {
        let others = self.patients.saturating_sub(self.enumerated).max(1) as f64;
        let exact = self.enumerated_millionths as f64 / ONE_PATIENT as f64;
        // Rounding counts against the release.
        (max.to_f64() * self.patients as f64 - exact) / others - 1e-9
    }

    /// Compares the share with a limit: exactly, or by the bound that holds whoever chose the files.
    pub fn settled(&self, max: Fraction) -> Settled {
        if self.is_exact() {
            let (part, whole) = max.parts();
            let allowed = u128::from(part) * u128::from(self.patients) * u128::from(ONE_PATIENT);
            let is_below = u128::from(self.enumerated_millionths) * u128::from(whole) <= allowed;
            return if is_below { Settled::Below } else { Settled::Above };
        }
        let (limit, share) = (self.limit_of_drawn(max), self.hits as f64 / self.draws.max(1) as f64);
        if limit >= 1.0 {
            return Settled::Below;
        }
        if limit <= 0.0 {
            return Settled::Above;
        }
        match self.draws as f64 * divergence(share, limit) >= EVIDENCE {
            true if share < limit => Settled::Below,
            true => Settled::Above,
            false => Settled::Open,
        }
    }

    /// Returns whether a plan with this share, by its own estimate, may count on being accepted by the verifier, whose
    /// draws nobody can know.
    pub fn will_be_accepted(&self, max: Fraction) -> bool {
        if self.is_exact() {
            return self.settled(max) == Settled::Below;
        }
        let limit = self.limit_of_drawn(max);
        if limit >= 1.0 {
            return true;
        }
        let most = MOST_DRAWS as f64;
        let Some(accepted) = largest_accepted(limit) else { return false };
        let noise = (AIM * (limit * (1.0 - limit) * most).sqrt() + AIM_DRAWS) / most;
        self.draws > 0 && wilson((self.hits, self.draws), OWN).1 + noise <= accepted
    }
}

/// KL(x‖t): how far a share in draws lies from the share behind them.
fn divergence(x: f64, t: f64) -> f64 {
    let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    term(x, t) + term(1.0 - x, 1.0 - t)
}

/// The largest share of the most draws that is accepted below a limit.
fn largest_accepted(limit: f64) -> Option<f64> {
    let is_accepted = |x: f64| MOST_DRAWS as f64 * divergence(x, limit) >= EVIDENCE;
    if limit <= 0.0 || !is_accepted(0.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, limit);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if is_accepted(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    fn fraction(text: &str) -> Fraction {
        Decimal::parse(text, b'.').and_then(Fraction::from_decimal).expect("a fraction")
    }

    fn drawn(hits: u64, draws: u64) -> ShareAtRisk {
        ShareAtRisk { patients: 1000, hits, draws, ..ShareAtRisk::default() }
    }

    #[test]
    fn an_exact_share_is_compared_exactly() {
        for (at_risk, expected) in [(0, Settled::Below), (300, Settled::Below), (301, Settled::Above)] {
            assert_eq!(ShareAtRisk::counted(at_risk, 1000).settled(fraction("0.3")), expected);
        }
        assert_eq!(ShareAtRisk::counted(300, 1000).interval(2.0), None);
        assert!(ShareAtRisk::counted(300, 1000).will_be_accepted(fraction("0.3")));
    }

    #[test]
    fn a_share_near_the_limit_stays_open() {
        let max = fraction("0.1");
        assert_eq!(drawn(0, FIRST_DRAWS).settled(max), Settled::Below);
        assert_eq!(drawn(MOST_DRAWS / 10, MOST_DRAWS).settled(max), Settled::Open);
        assert_eq!(drawn(MOST_DRAWS / 10 - 1000, MOST_DRAWS).settled(max), Settled::Open);
        assert_eq!(drawn(MOST_DRAWS / 10 - 1500, MOST_DRAWS).settled(max), Settled::Below);
        assert_eq!(drawn(MOST_DRAWS / 9, MOST_DRAWS).settled(max), Settled::Above);
        assert_eq!(drawn(0, MOST_DRAWS).settled(Fraction::NONE), Settled::Above);
    }

    /// The bound is at least the probability that binomial draws give, summed by its definition.
    #[test]
    fn the_bound_is_above_the_binomial_tail() {
        let n = 60u64;
        for limit in [0.05, 0.2, 0.5] {
            let mut log = n as f64 * f64::ln(1.0 - limit);
            let mut tail = 0.0;
            for hits in 0..=(limit * n as f64) as u64 {
                tail += f64::exp(log);
                let bound = f64::exp(-(n as f64) * divergence(hits as f64 / n as f64, limit));
                assert!(tail <= bound * (1.0 + 1e-9), "{hits} of {n} at {limit}");
                log += f64::ln((n - hits) as f64 / (hits + 1) as f64 * limit / (1.0 - limit));
            }
        }
    }

    #[test]
    fn a_plan_stays_away_from_what_the_verifier_may_refuse() {
        let max = fraction("0.1");
        let accepted = largest_accepted(0.1).expect("some share");
        assert!((0.094..0.095).contains(&accepted), "{accepted}");
        assert!(drawn(8_500, 100_000).will_be_accepted(max));
        assert!(!drawn(9_200, 100_000).will_be_accepted(max));
        // Half of the patients were counted: the margin is about their other half alone.
        let half = ShareAtRisk { enumerated: 500, enumerated_millionths: 50 * ONE_PATIENT, ..drawn(8_500, 100_000) };
        assert!(half.will_be_accepted(max) && (half.share() - 0.0925).abs() < 1e-9);
    }
}
