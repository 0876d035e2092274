//! Patient histories: events are excluded, grouped and generalized, and a few are removed, until at most
//! a share of the patients can be found among fewer than k by an attacker who knows some of their events.
//!
//! See METHOD.md.

mod classes;
mod decide;
mod draws;
mod entry;
mod estimate;
mod exact;
mod fact_sets;
mod facts;
mod index;
mod labels;
mod linked;
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
use decide::{Decided, decide};
use draws::{Draws, Who};
use estimate::KnowledgeKind;
use kohort_core::events::{Histories, TableEvents};
use kohort_core::number::Fraction;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{EventsPlan, Trace};
use kohort_core::shape::Events;
use kohort_core::table::Progress;
use kohort_core::{Error, Result};
use nodes::Nodes;
use patient_events::{PatientEvents, PatientOrder};
use residual::{Demand, Excess, suppress};
use search::ResumableSearch;
use tester::NodeTester;

/// A chosen node that does not hold afresh is given up, but not more often than this for one limit.
const ATTEMPTS: u64 = 5;
/// Parts of the limit that nodes are searched for when those nearer to it did not hold.
const PARTS: [f64; 3] = [1.0, 0.8, 0.5];

/// The events that remain after truncation at one percentile, and the lattice over them.
struct TruncatedEvents {
    share: Fraction,
    keep: Vec<Vec<bool>>,
    left: PatientEvents,
    nodes: Nodes,
}

/// The counts of a search, for the evidence.
#[derive(Default)]
struct SearchCounts {
    attempts: u64,
    tests: u64,
    matched: u64,
    cut: bool,
}

/// A node that holds, and what is released at it.
struct Chosen<'a> {
    world: &'a TruncatedEvents,
    node: usize,
    keep: Vec<Vec<bool>>,
    removed: Residual,
    decided: Decided,
}

/// Everything that the search for a plan reads.
struct Planner<'a> {
    histories: &'a Histories,
    policy: &'a Policy<Events>,
    params: &'a Params,
    people: PatientOrder,
    all: PatientEvents,
    supports: Vec<Vec<u32>>,
    threads: usize,
    progress: &'a dyn Progress,
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
    let people = PatientOrder::of(histories);
    let all = PatientEvents::of(histories, &people, |_, _| true);
    let supports = truncate::supports(histories);
    let planner = Planner { histories, policy, params, people, all, supports, threads, progress };
    let worlds = params.truncate.iter().map(|&share| planner.world(share)).collect::<Result<Vec<_>>>()?;
    let mut counts = SearchCounts::default();
    let chosen = planner.choose(&worlds, &mut counts, random);
    progress.go_on()?;
    match chosen {
        Some(chosen) => Ok(planner.release(chosen, &worlds, &counts)),
        None => Err(infeasible(histories, counts.attempts)),
    }
}

fn seed(random: &mut Randomness) -> u64 {
    random.below(u64::MAX)
}

impl Planner<'_> {
    fn world(&self, share: Fraction) -> Result<TruncatedEvents> {
        let keep = truncate::truncated(self.histories, &self.people, &self.all, &self.supports, share);
        let left = PatientEvents::of(self.histories, &self.people, |table, e| keep[table][e]);
        let nodes = Nodes::of(self.histories, left.len() as f64 / self.all.len().max(1) as f64)?;
        Ok(TruncatedEvents { share, keep, left, nodes })
    }

    /// The limits that nodes are searched for, one after the other: `max_flagged`, where suppression is to make up the
    /// difference, then the requirement, then parts of it. A node may seem to hold and not hold afresh, and suppression
    /// may not reach the limit: nodes that hold clearly by themselves are then still found.
    fn limits(&self) -> Vec<(f64, Fraction)> {
        let (loose, max) = (self.params.max_flagged, self.policy.own.max_high_risk);
        let loose = (loose.to_f64() > max.to_f64()).then(|| (loose.to_f64(), loose));
        loose.into_iter().chain(PARTS.map(|part| (part * max.to_f64(), max))).collect()
    }

    /// The best node that holds.
    fn choose<'a>(
        &self,
        worlds: &'a [TruncatedEvents],
        counts: &mut SearchCounts,
        random: &mut Randomness,
    ) -> Option<Chosen<'a>> {
        let (k, power) = (self.policy.privacy.k.get(), self.policy.own.power);
        let streams = KnowledgeKind::all(power, self.histories)[0].streams(self.histories);
        let from = self.all.with_events();
        let who = Who::Any(&from, tester::DRAWS);
        let draws = Draws::of(&self.all, who, 0..who.draws(), &streams, |_, _| power.p(), seed(random));
        for (limit, counted) in self.limits() {
            let search = |world: &'a TruncatedEvents| {
                let events = (&self.all, if world.share == Fraction::ONE { &self.all } else { &world.left });
                let max = (limit, counted, self.policy.own.max_high_risk);
                let tester =
                    NodeTester::new(self.histories, &self.people, events, (k, power), max, &draws, self.threads);
                (ResumableSearch::new(&world.nodes, self.params.max_nodes, self.progress), tester)
            };
            let mut searches: Vec<(ResumableSearch, NodeTester)> = worlds.iter().map(search).collect();
            let mut found = None;
            for _ in 0..ATTEMPTS {
                if self.progress.is_cancelled() {
                    return None;
                }
                let open: u64 = searches.iter().map(|(search, _)| search.open()).sum();
                if open > 0 {
                    self.progress.stage("searching", open);
                }
                let Some((number, node)) = best(&mut searches, worlds) else { break };
                counts.attempts += 1;
                found = self.attempt(&worlds[number], node, random);
                if found.is_some() {
                    break;
                }
                searches[number].0.refuse(node);
            }
            counts.tests += searches.iter().map(|s| s.0.tests).sum::<u64>();
            counts.matched += searches.iter().map(|s| s.1.matched).sum::<u64>();
            counts.cut |= searches.iter().any(|s| s.0.is_cut());
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Removes events at a node as far as needed. Nothing is returned where the requirement does not hold then.
    fn attempt<'a>(&self, world: &'a TruncatedEvents, node: usize, random: &mut Randomness) -> Option<Chosen<'a>> {
        let (claims, k) = (&self.policy.own, self.policy.privacy.k.get());
        let levels = world.nodes.levels(node);
        let levels = levels.split_at(self.histories.patient.len());
        let mut keep = world.keep.clone();
        let demand = Demand {
            histories: self.histories,
            people: &self.people,
            levels,
            all: &self.all,
            k,
            power: claims.power,
            threads: self.threads,
            supports: &self.supports,
            residual: self.params.residual,
            max_suppressed: self.params.max_suppressed,
            progress: self.progress,
        };
        let seed_of_draws = seed(random);
        let judge = |left: &PatientEvents| {
            let decided = decide(&demand, left, claims.max_high_risk, self.params.draws, random);
            let excess = decided.excess(claims.max_high_risk);
            (decided, excess)
        };
        let (removed, decided, excess) = suppress(&demand, &mut keep, seed_of_draws, judge);
        (excess == Excess::None).then_some(Chosen { world, node, keep, removed, decided })
    }

    /// The plan of a node that holds.
    fn release(&self, chosen: Chosen, worlds: &[TruncatedEvents], counts: &SearchCounts) -> EventsPlan {
        let Chosen { world, node, keep, removed, decided } = chosen;
        let levels = world.nodes.levels(node);
        let levels = levels.split_at(self.histories.patient.len());
        let residual = Trace::of([
            ("passes", removed.passes.into()),
            ("flagged", removed.flagged.into()),
            ("still_flagged", removed.still_flagged.into()),
            ("events", removed.events.into()),
            ("patients", removed.patients.into()),
        ]);
        let truncated = world.keep.iter().flatten().filter(|k| !**k).count() as u64;
        let trace = Trace::of([
            ("nodes", worlds.iter().map(|w| w.nodes.len() as u64).sum::<u64>().into()),
            ("tests", counts.tests.into()),
            ("draws_matched", counts.matched.into()),
            ("cut_off", counts.cut.into()),
            ("attempts", counts.attempts.into()),
            ("loss", world.nodes.loss(node).into()),
            ("truncate", world.share.to_f64().into()),
            ("truncated_events", truncated.into()),
            ("max_flagged", self.params.max_flagged.to_f64().into()),
            ("residual", residual.into()),
            ("decided", decided.trace(self.histories).into()),
        ]);
        let leaves = |p: usize| {
            let keeps = |(t, table): (usize, &TableEvents)| table.of(p).any(|e| keep[t][e]);
            !self.histories.has_events(p) || self.histories.tables.iter().enumerate().any(keeps)
        };
        EventsPlan {
            patient_levels: levels.0.to_vec(),
            event_levels: levels.1.to_vec(),
            patients: (0..self.histories.patients()).map(leaves).collect(),
            loss: world.nodes.loss(node),
            events: keep,
            trace,
        }
    }
}

/// The best node of all searches: which search, and which of its nodes.
fn best(searches: &mut [(ResumableSearch, NodeTester)], worlds: &[TruncatedEvents]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    for (number, (search, tester)) in searches.iter_mut().enumerate() {
        let Some(node) = search.best(&mut |levels| tester.passes(levels)) else { continue };
        let key = |(world, node): (usize, usize)| worlds[world].nodes.key(node);
        if best.is_none_or(|other| key((number, node)).below(&key(other))) {
            best = Some((number, node));
        }
    }
    best
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
