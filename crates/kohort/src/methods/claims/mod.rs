//! Patient histories: events are excluded, grouped and generalized, and a few are removed, until at most
//! a share of the patients can be found among fewer than k by an attacker who knows some of their events.
//!
//! See METHOD.md.

mod classes;
mod draws;
mod entry;
mod estimate;
mod fact_sets;
mod facts;
mod index;
mod labels;
mod nodes;
mod params;
mod patient_events;
mod power;
mod residual;
mod search;
mod sensitivity;
mod tester;
mod total;
mod truncate;

#[cfg(test)]
mod tests;

pub use entry::METHOD;
pub use estimate::Estimate;
pub use params::Params;
pub use power::known_values;
pub use residual::Residual;
pub use sensitivity::{Sensitivity, before_release, sensitivity};

use crate::methods::{EventsMethod, Work};
use classes::{PatientClasses, Without};
use draws::{Draws, Who};
use estimate::{EstimateInput, KnowledgeKind, estimate};
use kohort_core::events::{Histories, TableEvents};
use kohort_core::number::Fraction;
use kohort_core::policy::{Policy, Power};
use kohort_core::random::Randomness;
use kohort_core::release::{EventsPlan, Trace, TraceShare};
use kohort_core::shape::Events;
use kohort_core::statistics::Z95;
use kohort_core::table::Progress;
use kohort_core::{Error, Result};
use nodes::Nodes;
use patient_events::{PatientEvents, PatientOrder};
use residual::{Demand, suppress};
use search::ResumableSearch;
use tester::NodeTester;

/// A chosen node that does not hold afresh is given up, but not more often than this.
const ATTEMPTS: u64 = 5;

/// The events that remain after truncation at one percentile, and the lattice over them.
struct TruncatedEvents {
    share: Fraction,
    keep: Vec<Vec<bool>>,
    left: PatientEvents,
    nodes: Nodes,
}

/// The numbers that a plan was decided on.
pub(crate) struct Decided {
    /// From the original: tolerant and strict. From the release.
    pub(crate) estimates: Option<[Estimate; 3]>,
    /// Patients with a set of facts that fewer than k have.
    pub(crate) violating: Option<u64>,
    pub(crate) without: Without,
    pub(crate) patients: u64,
}

impl EventsMethod for Params {
    fn plan(&self, histories: &Histories, policy: &Policy<Events>, work: Work) -> Result<EventsPlan> {
        plan(histories, policy, self, work.random, work.threads, work.progress)
    }
}

/// Decides the levels of all columns and the events that are released.
pub fn plan(
    histories: &Histories,
    policy: &Policy<Events>,
    params: &Params,
    random: &mut Randomness,
    threads: usize,
    progress: &dyn Progress,
) -> Result<EventsPlan> {
    let claims = &policy.own;
    let (k, power) = (policy.privacy.k.get(), claims.power);
    let people = PatientOrder::of(histories);
    let all = PatientEvents::of(histories, &people, |_, _| true);
    let supports = truncate::supports(histories);
    let worlds = params.truncate.iter().map(|&share| world(histories, &people, &all, &supports, share));
    let worlds = worlds.collect::<Result<Vec<TruncatedEvents>>>()?;
    let streams = KnowledgeKind::of(power).streams(histories);
    let from = all.with_events();
    let who = Who::Any(&from, tester::DRAWS);
    let draws = Draws::of(&all, who, 0..who.draws(), &streams, |_, _| power.p(), seed(random));
    let nodes: u64 = worlds.iter().map(|w| w.nodes.len() as u64).sum();
    progress.stage("searching", nodes);
    let mut searches: Vec<(ResumableSearch, NodeTester)> = worlds
        .iter()
        .map(|w| {
            let events = (&all, if w.share == Fraction::ONE { &all } else { &w.left });
            let max = (params.max_flagged, claims.max_high_risk);
            let tester = NodeTester::new(histories, &people, events, (k, power), max, &draws, threads);
            (ResumableSearch::new(&w.nodes, params.max_nodes, progress), tester)
        })
        .collect();
    let mut attempts = 0;
    loop {
        let mut best: Option<(usize, usize)> = None;
        for (number, (search, tester)) in searches.iter_mut().enumerate() {
            let Some(node) = search.best(&mut |levels| tester.passes(levels)) else { continue };
            let key = |(world, node): (usize, usize)| worlds[world].nodes.key(node);
            if best.is_none_or(|other| key((number, node)).below(&key(other))) {
                best = Some((number, node));
            }
        }
        let Some((number, node)) = best else {
            return Err(infeasible(histories, attempts));
        };
        attempts += 1;
        let world = &worlds[number];
        let levels = world.nodes.levels(node);
        let levels = levels.split_at(histories.patient.len());
        let mut keep = world.keep.clone();
        let demand = Demand {
            histories,
            people: &people,
            levels,
            all: &all,
            k,
            power,
            threads,
            supports: &supports,
            residual: params.residual,
            max_suppressed: params.max_suppressed,
            progress,
        };
        let removed = suppress(&demand, &mut keep, seed(random));
        let left = PatientEvents::of(histories, &people, |table, e| keep[table][e]);
        let asked = |drawn, left| EstimateInput {
            histories,
            people: &people,
            levels,
            drawn,
            left,
            k,
            known: KnowledgeKind::of(power),
            p: power.p(),
            threads,
        };
        let decided = decide(&asked(&all, &left), power, params.draws, random);
        if !holds(&decided, claims.max_high_risk) {
            if attempts == ATTEMPTS {
                return Err(infeasible(histories, attempts));
            }
            searches[number].0.refuse(node);
            continue;
        }
        let tests: u64 = searches.iter().map(|s| s.0.tests).sum();
        let matched: u64 = searches.iter().map(|s| s.1.matched).sum();
        let cut = searches.iter().any(|s| s.0.is_cut());
        let truncated = world.keep.iter().flatten().filter(|k| !**k).count() as u64;
        let residual = Trace::of([
            ("passes", removed.passes.into()),
            ("flagged", removed.flagged.into()),
            ("still_flagged", removed.still_flagged.into()),
            ("events", removed.events.into()),
            ("patients", removed.patients.into()),
        ]);
        let trace = Trace::of([
            ("nodes", nodes.into()),
            ("tests", tests.into()),
            ("draws_matched", matched.into()),
            ("cut_off", cut.into()),
            ("attempts", attempts.into()),
            ("loss", world.nodes.loss(node).into()),
            ("truncate", world.share.to_f64().into()),
            ("truncated_events", truncated.into()),
            ("max_flagged", params.max_flagged.to_f64().into()),
            ("residual", residual.into()),
            ("decided", decided.trace().into()),
        ]);
        let leaves = |p: usize| {
            let keeps = |(t, table): (usize, &TableEvents)| table.of(p).any(|e| keep[t][e]);
            !histories.has_events(p) || histories.tables.iter().enumerate().any(keeps)
        };
        return Ok(EventsPlan {
            patient_levels: levels.0.to_vec(),
            event_levels: levels.1.to_vec(),
            patients: (0..histories.patients()).map(leaves).collect(),
            loss: world.nodes.loss(node),
            events: keep,
            trace,
        });
    }
}

fn seed(random: &mut Randomness) -> u64 {
    random.below(u64::MAX)
}

fn world(
    histories: &Histories,
    people: &PatientOrder,
    all: &PatientEvents,
    supports: &[Vec<u32>],
    share: Fraction,
) -> Result<TruncatedEvents> {
    let keep = truncate::truncated(histories, people, all, supports, share);
    let left = PatientEvents::of(histories, people, |table, e| keep[table][e]);
    let nodes = Nodes::of(histories, left.len() as f64 / all.len().max(1) as f64)?;
    Ok(TruncatedEvents { share, keep, left, nodes })
}

/// Estimates afresh, from the original and from the release, or counts exactly.
fn decide(asked: &EstimateInput, power: Power, draws: usize, random: &mut Randomness) -> Decided {
    let EstimateInput { histories, people, levels, left, k, .. } = *asked;
    let alive = |place: usize| left.has_events(place);
    let classes = PatientClasses::of(histories, people, levels.0, alive, k);
    let patients = left.with_events().len() as u64;
    let (mut estimates, mut violating) = (None, None);
    match power {
        Power::Total { p } => {
            let found = total::violating(histories, levels.1, left, &classes, (k, p), asked.threads);
            violating = Some(found.iter().filter(|f| **f).count() as u64);
        }
        Power::Values { .. } | Power::Events { .. } => {
            let (tolerant, strict) = estimate(asked, draws, seed(random));
            let (released, _) = estimate(&EstimateInput { drawn: left, ..*asked }, draws, seed(random));
            estimates = Some([tolerant, strict, released]);
        }
    }
    Decided { estimates, violating, without: classes.without, patients }
}

/// Returns whether the requirement holds: by the upper bound of the larger estimate, or exactly.
fn holds(decided: &Decided, max: Fraction) -> bool {
    // Rounding counts against the release.
    let bounded = |e: &Estimate| e.draws > 0 && e.interval(Z95).1 + 1e-9 <= max.to_f64();
    let estimated = decided.estimates.iter().flatten().enumerate().all(|(i, e)| i == 1 || bounded(e));
    let counted = decided.violating.is_none_or(|n| max.allows(n, decided.patients));
    decided.patients > 0 && estimated && counted && max.allows(decided.without.at_risk, decided.without.patients)
}

impl Decided {
    fn trace(&self) -> Trace {
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
        if let Some(n) = self.violating {
            trace.note("violating", n);
            trace.note("share", n as f64 / self.patients.max(1) as f64);
        }
        let without = [("patients", self.without.patients.into()), ("at_risk", self.without.at_risk.into())];
        trace.note("without_events", Trace::of(without));
        trace
    }
}

fn infeasible(histories: &Histories, attempts: u64) -> Error {
    let columns = histories.patient.iter().chain(&histories.event);
    let bound: Vec<&str> =
        columns.filter(|c| c.levels.last() != Some(&(c.hierarchy.levels.len() - 1))).map(|c| c.name.as_str()).collect();
    let what = match attempts {
        0 => "not even the coarsest permitted levels bring the share of patients at high risk down to max_flagged"
            .to_string(),
        n => format!("{n} combinations of levels that seemed to meet the limit did not meet it in a new estimate"),
    };
    let advice = match bound.is_empty() {
        true => "A smaller power, fewer columns, a smaller k or a larger max_high_risk would help; power_total \
             requires less where histories are short."
            .to_string(),
        false => format!(
            "The permitted levels of {} do not include *. Permit coarser levels, or require less \
             (power, k, max_high_risk, power_total).",
            bound.join(", ")
        ),
    };
    Error::infeasible(format!("{what}. {advice}"))
}
