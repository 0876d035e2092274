//! Decides whether a release would meet the requirement: afresh, from the original and from the release.

use super::classes::{PatientClasses, Without};
use super::estimate::{Estimate, EstimateInput, KnowledgeKind, estimate};
use super::patient_events::PatientEvents;
use super::residual::{Demand, Excess};
use super::{seed, total};
use kohort_core::events::Histories;
use kohort_core::number::Fraction;
use kohort_core::policy::Power;
use kohort_core::random::Randomness;
use kohort_core::release::{Trace, TraceShare};
use kohort_core::statistics::Z95;

/// The numbers that a plan is decided on.
pub(crate) struct Decided {
    /// From the original: tolerant and strict. From the release. Of several kinds of knowledge, those of the one that
    /// finds most.
    pub(crate) estimates: Option<[Estimate; 3]>,
    /// The kind of knowledge that finds most.
    kind: Option<KnowledgeKind>,
    /// Patients with a set of facts that fewer than k have.
    pub(crate) violating: Option<u64>,
    pub(crate) without: Without,
    pub(crate) patients: u64,
}

/// Estimates afresh, from the original and from the events that are left, or counts exactly.
pub(super) fn decide(demand: &Demand, left: &PatientEvents, draws: usize, random: &mut Randomness) -> Decided {
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
        let (tolerant, strict) = estimate(&asked(all), draws, seed(random));
        let (released, _) = estimate(&asked(left), draws, seed(random));
        let found = [tolerant, strict, released];
        if decided.estimates.as_ref().is_none_or(|most| upper(&found) > upper(most)) {
            (decided.estimates, decided.kind) = (Some(found), Some(known));
        }
    }
    decided
}

/// The upper bound of the share at high risk: the larger of the original's and the release's. A strict matcher is not
/// counted on.
fn upper(estimates: &[Estimate; 3]) -> f64 {
    let bound = |own: &Estimate| if own.draws == 0 { 1.0 } else { own.interval(Z95).1 };
    // Rounding counts against the release.
    bound(&estimates[0]).max(bound(&estimates[2])) + 1e-9
}

impl Decided {
    /// About how many patients too many are at high risk: by the upper bound of the larger estimate, or exactly.
    pub(super) fn excess(&self, max: Fraction) -> Excess {
        if self.patients == 0 || !max.allows(self.without.at_risk, self.without.patients) {
            return Excess::Patients(self.patients.max(1));
        }
        let estimated = self.estimates.as_ref().map_or(0.0, |found| (upper(found) - max.to_f64()).max(0.0));
        let counted = match self.violating {
            Some(found) if !max.allows(found, self.patients) => found - max.of(self.patients).min(found),
            _ => 0,
        };
        match ((estimated * self.patients as f64).ceil() as u64).max(counted) {
            0 => Excess::None,
            patients => Excess::Patients(patients),
        }
    }

    pub(super) fn trace(&self, histories: &Histories) -> Trace {
        let share = |e: &Estimate| {
            let (low, high) = e.interval(Z95);
            TraceShare { hits: e.hits, draws: e.draws, share: e.share(), low, high }
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
