//! Beyond the paper: suppresses the few records that block a specialization, within the budget
//! `max_suppressed`.
//!
//! When no specialization is left that keeps the guarantee, each blocked one is proposed, with the
//! records of the classes that would fail and the gain per suppressed record. The best proposal is
//! made and its records are suppressed. Then everything is counted again by the rule of all methods:
//! the records of all failing classes are suppressed together, until no class fails. If that takes
//! more than the budget, the proposal is undone, and the next best is tried.
//!
//! Counting the records of a proposal under all sets of columns is expensive in wide tables. So each
//! proposal is first counted under the few sets that are known to fail: it blocks at least so many
//! records, and gains at most so much per record. The best ones by this bound are counted in full.
//!
//! # Example
//! In the example of `pais.rs`, `blue` is blocked by the single welder. With a budget of one record,
//! the welder's record is suppressed, and `blue` is specialized: the two movers are released as
//! `mover M`.

use super::candidate::{Candidate, ValueSplit};
use super::child_partitions::ChildPartitions;
use super::pais::Pais;
use super::params::SpecializeObjective;
use super::taxonomy::Below;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The number of cuts of an interval that are proposed, spread over it.
const CUTS: usize = 8;

/// A blocked specialization, and the records that it would cost.
struct Proposal {
    candidate: Candidate,
    /// The gain per suppressed record, or more than that where `tuples` were not counted yet.
    worth: f64,
    /// The tuples that block it, once they were counted under all sets of columns.
    tuples: Option<Vec<u32>>,
}

impl Proposal {
    /// The highest gain per record first. What is not counted yet is counted before anything of the same
    /// worth is made; among equals the order of all candidates decides.
    fn order(&self, other: &Proposal) -> Ordering {
        let by_worth = self.worth.total_cmp(&other.worth);
        by_worth
            .then_with(|| self.tuples.is_none().cmp(&other.tuples.is_none()))
            .then_with(|| self.candidate.cmp(&other.candidate))
    }
}

impl PartialEq for Proposal {
    fn eq(&self, other: &Proposal) -> bool {
        self.order(other) == Ordering::Equal
    }
}
impl Eq for Proposal {}
impl PartialOrd for Proposal {
    fn partial_cmp(&self, other: &Proposal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Proposal {
    fn cmp(&self, other: &Proposal) -> Ordering {
        self.order(other)
    }
}

/// Describes how far the records that block a specialization are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedSets {
    /// Under the sets of columns that are known to fail: there are at least so many.
    AtLeast,
    /// Under all sets.
    Fully,
}

impl Pais<'_> {
    /// Rows that may still be suppressed.
    fn budget(&self) -> u64 {
        self.params.max_suppressed.of(self.cohort.tuples.rows).saturating_sub(self.suppressed)
    }

    /// Suppresses the records that fail before the first step. Returns whether the budget was enough.
    pub(super) fn repair_start(&mut self) -> bool {
        self.start_is_valid() || (self.budget() > 0 && self.suppress_failing())
    }

    /// Makes the blocked specialization that gains most per suppressed record, if one is within the budget.
    pub(super) fn unblock(&mut self) -> bool {
        if self.is_over() || self.budget() == 0 {
            return false;
        }
        let blocked = self.memory.blocked.clone();
        self.memory.forget_failures();
        let mut proposals = self.proposals();
        // Most proposals are never counted in full: something better is made before they come up.
        while !self.cohort.watcher.is_cancelled()
            && let Some(proposal) = proposals.pop()
        {
            let Some(tuples) = &proposal.tuples else {
                proposals.extend(self.propose(proposal.candidate, CountedSets::Fully));
                continue;
            };
            if self.make(&proposal.candidate, tuples) {
                return true;
            }
        }
        self.memory.blocked = blocked;
        false
    }

    fn proposals(&mut self) -> BinaryHeap<Proposal> {
        let mut proposals = BinaryHeap::new();
        for q in 0..self.columns.len() {
            for node in self.partitions.cut(q).to_vec() {
                if self.cohort.watcher.is_cancelled() {
                    return proposals;
                }
                let Some(first) = self.candidate(q, node) else { continue };
                let mut candidates = Vec::new();
                let cuts = self.possible_cuts(q, node);
                for part in cuts.chunks(cuts.len().div_ceil(CUTS).max(1)) {
                    let best = part.iter().reduce(|a, b| if b.1.rank > a.1.rank { b } else { a });
                    candidates.extend(best.map(|&(at, score)| Candidate {
                        score,
                        split: ValueSplit::Before(at),
                        ..first.clone()
                    }));
                }
                if candidates.is_empty() {
                    candidates.push(first);
                }
                proposals.extend(candidates.into_iter().filter_map(|c| self.propose(c, CountedSets::AtLeast)));
            }
        }
        proposals
    }

    /// Proposes a specialization, if the records that block it are within the budget and worth it.
    fn propose(&mut self, candidate: Candidate, counted: CountedSets) -> Option<Proposal> {
        let (q, node) = (candidate.column, candidate.node);
        let least = self.params.min_gain.unwrap_or(0.0);
        if self.params.objective != SpecializeObjective::None
            && (candidate.score.gain <= 0.0 || candidate.score.gain < least)
        {
            return None;
        }
        let children = self.make_children(q, node, candidate.split);
        let slot = self.partitions.slot(q, node)?;
        let parts =
            ChildPartitions::of_split(self.kept_records(), &self.partitions, q, slot, &self.columns[q], &children);
        let blocking = match counted {
            CountedSets::AtLeast => {
                Some((self.fails_at_least(&parts, q), None)).filter(|(rows, _)| *rows <= self.budget())
            }
            CountedSets::Fully => {
                let failing = self.failing(&parts, Some(q), self.attacker.known - 1, self.budget());
                failing.map(|failing| {
                    let fails = failing.iter().zip(&parts.rows).filter(|(fails, _)| **fails);
                    let rows = fails.map(|(_, &rows)| u64::from(rows)).sum();
                    (rows, Some(self.tuples_of(q, &parts, &children, &failing)))
                })
            }
        };
        let proposal = blocking.and_then(|(rows, tuples)| {
            // What no set of columns is known to block may be blocked by one record.
            let rows: u64 = if counted == CountedSets::AtLeast { rows.max(1) } else { rows };
            let all = self.cohort.tuples.rows as f64;
            let gain = match self.params.objective {
                SpecializeObjective::Class => candidate.score.gain * candidate.rows as f64,
                // A suppressed record is indistinguishable from every other one: it costs the table's size.
                SpecializeObjective::Discernibility(_) => candidate.score.gain - rows as f64 * all,
                SpecializeObjective::None => candidate.rows as f64,
            };
            (rows > 0 && gain > 0.0).then(|| Proposal {
                worth: gain / rows as f64,
                tuples,
                candidate: candidate.clone(),
            })
        });
        self.drop_children(q, candidate.split, &children);
        proposal
    }

    /// The tuples of some child partitions.
    fn tuples_of(&self, q: usize, parts: &ChildPartitions, children: &[usize], which: &[bool]) -> Vec<u32> {
        let leaf = self.partitions.leaves(q);
        let mut tuples = Vec::new();
        for part in (0..parts.len()).filter(|&p| which[p]) {
            let leaves = &self.columns[q].nodes[children[parts.child[part] as usize]].leaves;
            let own = self.partitions.tuples(parts.partition[part]).iter();
            tuples.extend(own.filter(|&&t| leaves.contains(&leaf[t as usize])));
        }
        tuples
    }

    /// Makes a proposal, or undoes it where it takes more than the budget.
    fn make(&mut self, candidate: &Candidate, tuples: &[u32]) -> bool {
        let before = (self.partitions.clone(), self.weights.clone(), self.suppressed);
        self.specialize(candidate);
        self.suppress(tuples);
        if self.suppress_failing() {
            let suppressed = self.suppressed - before.2;
            if let Some(step) = self.steps.last_mut() {
                step.suppressed = suppressed;
            }
            self.count_histograms();
            return true;
        }
        (self.partitions, self.weights, self.suppressed) = before;
        self.steps.pop();
        if let Below::Found { .. } = self.columns[candidate.column].nodes[candidate.node].below {
            let made = if candidate.split == ValueSplit::Beside { 1 } else { 2 };
            let nodes = &mut self.columns[candidate.column].nodes;
            nodes.truncate(nodes.len() - made);
        }
        self.count_table();
        false
    }

    fn suppress(&mut self, tuples: &[u32]) {
        let mut gone = vec![false; self.weights.len()];
        for &t in tuples {
            gone[t as usize] = true;
            self.suppressed += u64::from(std::mem::take(&mut self.weights[t as usize]));
        }
        self.partitions.remove(&gone);
    }

    /// Applies the rule of all methods: suppresses the records of all failing classes, until none
    /// fails. Returns whether that is within the budget and keeps any record.
    fn suppress_failing(&mut self) -> bool {
        let most = self.params.max_suppressed.of(self.cohort.tuples.rows);
        loop {
            let is_too_many = self.suppressed > most || self.suppressed >= self.cohort.tuples.rows;
            if is_too_many || self.cohort.watcher.is_cancelled() {
                return false;
            }
            self.count_table();
            let parts = ChildPartitions::of_cut(self.kept_records(), &self.partitions);
            let failing = self.failing(&parts, None, self.attacker.known, self.budget());
            let Some(failing) = failing else { return false };
            let partitions = parts.partition.iter().zip(&failing).filter(|(_, fails)| **fails);
            let tuples: Vec<u32> = partitions.flat_map(|(&p, _)| self.partitions.tuples(p).to_vec()).collect();
            if tuples.is_empty() {
                return true;
            }
            self.suppress(&tuples);
        }
    }
}
