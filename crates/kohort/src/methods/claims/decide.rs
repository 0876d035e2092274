//! Decides whether a release would meet the requirement: afresh, from the original and from the release.

use super::classes::{PatientClasses, Without};
use super::estimate::{EstimateInput, KnowledgeKind};
use super::patient_events::PatientEvents;
use super::residual::{Demand, Excess};
use super::{exact, seed, total};
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::privacy::ShareAtRisk;
use kohort_core::random::Randomness;
use kohort_core::release::{Trace, TraceShare};
use kohort_core::statistics::Z95;

/// The numbers that a plan is decided on.
pub(crate) struct Decided {
    /// From the original: tolerant and strict. From the release. Of several kinds of knowledge, those of the one that
    /// finds most.
    pub(crate) estimates: Option<[ShareAtRisk; 3]>,
    /// The kind of knowledge that finds most.
    kind: Option<KnowledgeKind>,
    /// Patients with a set of facts that fewer than k have.
    pub(crate) violating: Option<u64>,
    pub(crate) without: Without,
    pub(crate) patients: u64,
}

/// Estimates afresh, from the original and from the events that are left, or counts exactly.
pub(super) fn decide(
    demand: &Demand,
    left: &PatientEvents,
    max: Fraction,
    draws: usize,
    random: &mut Randomness,
) -> Decided {
    let Demand { histories, people, levels, all, k, power, threads, .. } = *demand;
    let classes = PatientClasses::of(histories, people, levels.0, |place| left.has_events(place), k);
    let patients = left.with_events().len() as u64;
    let mut decided = Decided { estimates: None, kind: None, violating: None, without: classes.without, patients };
    if let Power::Total { p } = power {
        let found = total::violating(histories, levels.1, left, &classes, (k, p), threads);
        decided.violating = Some(found.iter().filter(|f| **f).count() as u64);
        return decided;
    }
    for known in KnowledgeKind::all(power, histories) {
        let asked = |drawn| EstimateInput { histories, people, levels, drawn, left, k, known, p: power.p(), threads };
        let [tolerant, strict] = exact::shares(&asked(all), draws, seed(random));
        let [released, _] = exact::shares(&asked(left), draws, seed(random));
        let found = [tolerant, strict, released];
        let rejected = |own: &[ShareAtRisk; 3]| !accepted(own, max);
        let worse = |most: &[ShareAtRisk; 3]| (rejected(&found), upper(&found)) > (rejected(most), upper(most));
        if decided.estimates.as_ref().is_none_or(worse) {
            (decided.estimates, decided.kind) = (Some(found), Some(known));
        }
    }
    decided
}

/// The upper bound of the share at high risk: the larger of the original's and the release's. A strict matcher is not
/// counted on.
fn upper(estimates: &[ShareAtRisk; 3]) -> f64 {
    let bound = |own: &ShareAtRisk| own.interval(Z95).map_or(own.share(), |interval| interval.1);
    bound(&estimates[0]).max(bound(&estimates[2]))
}

/// Returns whether both are so clearly within the limit that the verifier's own draws will show it too.
fn accepted(estimates: &[ShareAtRisk; 3], max: Fraction) -> bool {
    estimates[0].will_be_accepted(max) && estimates[2].will_be_accepted(max)
}

impl Decided {
    /// About how many patients too many are at high risk: by the upper bound of the larger estimate, or exactly.
    pub(super) fn excess(&self, max: Fraction) -> Excess {
        if self.patients == 0 || !max.allows(self.without.at_risk, self.without.patients) {
            return Excess::Patients(self.patients.max(1));
        }
        let patients = self.patients as f64;
        let estimated = match &self.estimates {
            Some(found) if !accepted(found, max) => (((upper(found) - max.to_f64()) * patients).ceil() as u64).max(1),
            _ => 0,
        };
        let counted = match self.violating {
            Some(found) if !max.allows(found, self.patients) => found - max.of(self.patients).min(found),
            _ => 0,
        };
        match estimated.max(counted) {
            0 => Excess::None,
            patients => Excess::Patients(patients),
        }
    }

    pub(super) fn trace(&self, histories: &Histories) -> Trace {
        let share = |own: &ShareAtRisk| {
            let (low, high) = own.interval(Z95).unwrap_or((own.share(), own.share()));
            TraceShare { hits: own.hits, draws: own.draws, share: own.share(), low, high }
        };
        let mut trace = Trace::of([("patients", self.patients.into())]);
        if let Some([tolerant, strict, released]) = &self.estimates {
            trace.note("original", share(tolerant));
            trace.note("original_strict", share(strict));
            trace.note("release", share(released));
        }
        if let Some(KnowledgeKind::Pair(a, b)) = self.kind {
            let name = |column: usize| histories.shown(&histories.event[column]);
            trace.note("worst_pair", format!("{} and {}", name(a), name(b)));
        }
        if let Some(n) = self.violating {
            trace.note("violating", n);
            trace.note("share", n as f64 / self.patients.max(1) as f64);
        }
        let without = [("patients", self.without.patients.into()), ("at_risk", self.without.at_risk.into())];
        trace.note("without_events", Trace::of(without));
        trace
    }
}
