//! Beyond the paper: one rare child blocks a whole specialization. Within a budget the few records
//! that block it leave the release.
//!
//! When no specialization is left that keeps the guarantee, each blocked one is looked at: which
//! records stand in the classes that would fail, and what would be gained per record. The best is
//! made, its records go, and everything is counted again by the rule of all methods: the records of
//! all failing classes go together, until none fails. If that takes more than the budget, all of it
//! is undone, and the next best is tried.

use super::pais::{Candidate, Pais, Split};
use super::params::Objective;
use super::pieces::Pieces;
use super::taxonomy::Below;

/// So many cuts of an interval are looked at, spread over it.
const CUTS: usize = 8;

/// A blocked specialization and what it costs to make it.
struct Proposal {
    candidate: Candidate,
    /// What is gained per suppressed record.
    worth: f64,
    /// The tuples that block it.
    tuples: Vec<u32>,
}

impl Pais<'_> {
    /// Rows that may still be suppressed.
    fn budget(&self) -> u64 {
        self.params.max_suppressed.of(self.cohort.tuples.rows).saturating_sub(self.suppressed)
    }

    /// Suppresses what fails before the first step; whether that was possible within the budget.
    pub(super) fn settle_start(&mut self) -> bool {
        self.starts() || (self.budget() > 0 && self.settle())
    }

    /// Makes the blocked specialization that gains most per suppressed record, if one is within the budget.
    pub(super) fn unblock(&mut self) -> bool {
        if self.is_over() || self.budget() == 0 {
            return false;
        }
        let invalid = self.invalid.clone();
        self.forget();
        let mut proposals = self.proposals();
        // Most worth first; among equals the order of all candidates.
        proposals.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| b.candidate.cmp(&a.candidate)));
        let made = proposals.iter().any(|proposal| self.make(proposal));
        if !made {
            self.invalid = invalid;
        }
        made
    }

    fn proposals(&mut self) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        for q in 0..self.columns.len() {
            for node in self.partitions.cut(q).to_vec() {
                let Some(first) = self.candidate(q, node) else { continue };
                let mut candidates = Vec::new();
                let cuts = self.cuts(q, node);
                for part in cuts.chunks(cuts.len().div_ceil(CUTS).max(1)) {
                    let best = part.iter().reduce(|a, b| if b.1.rank > a.1.rank { b } else { a });
                    candidates.extend(best.map(|&(at, score)| Candidate {
                        score,
                        split: Split::Before(at),
                        ..first.clone()
                    }));
                }
                if candidates.is_empty() {
                    candidates.push(first);
                }
                proposals.extend(candidates.into_iter().filter_map(|candidate| self.propose(candidate)));
            }
        }
        proposals
    }

    /// What blocks a specialization, if that is within the budget and worth it.
    fn propose(&mut self, candidate: Candidate) -> Option<Proposal> {
        let (q, node) = (candidate.column, candidate.node);
        let least = self.params.min_gain.unwrap_or(0.0);
        if self.params.objective != Objective::None && (candidate.score.gain <= 0.0 || candidate.score.gain < least) {
            return None;
        }
        let children = self.children(q, node, candidate.split);
        let slot = self.partitions.slot(q, node)?;
        let pieces = Pieces::of_split(self.counted(), &self.partitions, q, slot, &self.columns[q], &children);
        let seen = self.seen(&pieces, Some(q));
        let failing = self.question(&pieces, &seen, self.reader.known - 1).failing(self.budget());
        let proposal = failing.and_then(|failing| {
            let rows: u64 = failing.iter().zip(&pieces.rows).filter(|(f, _)| **f).map(|(_, &r)| u64::from(r)).sum();
            let all = self.cohort.tuples.rows as f64;
            let gain = match self.params.objective {
                Objective::Class => candidate.score.gain * candidate.rows as f64,
                // A deleted record is told apart from nobody: it costs the table's size.
                Objective::Discernibility(_) => candidate.score.gain - rows as f64 * all,
                Objective::None => candidate.rows as f64,
            };
            let tuples = self.tuples_of(q, &pieces, &children, &failing);
            (rows > 0 && gain > 0.0).then(|| Proposal {
                worth: gain / rows as f64,
                tuples,
                candidate: candidate.clone(),
            })
        });
        self.uncut(q, candidate.split, &children);
        proposal
    }

    /// The tuples of some pieces.
    fn tuples_of(&self, q: usize, pieces: &Pieces, children: &[usize], which: &[bool]) -> Vec<u32> {
        let leaf = self.partitions.leaves(q);
        let mut tuples = Vec::new();
        for piece in (0..pieces.len()).filter(|&p| which[p]) {
            let leaves = &self.columns[q].nodes[children[pieces.child[piece] as usize]].leaves;
            let own = self.partitions.tuples(pieces.partition[piece]).iter();
            tuples.extend(own.filter(|&&t| leaves.contains(&leaf[t as usize])));
        }
        tuples
    }

    /// Makes it, or undoes it where more would have to go than may.
    fn make(&mut self, proposal: &Proposal) -> bool {
        let candidate = &proposal.candidate;
        let before = (self.partitions.clone(), self.weights.clone(), self.suppressed);
        self.specialize(candidate);
        self.suppress(&proposal.tuples);
        if self.settle() {
            let suppressed = self.suppressed - before.2;
            if let Some(step) = self.steps.last_mut() {
                step.suppressed = suppressed;
            }
            self.recount();
            return true;
        }
        (self.partitions, self.weights, self.suppressed) = before;
        self.steps.pop();
        if let Below::Found { .. } = self.columns[candidate.column].nodes[candidate.node].below {
            let made = if candidate.split == Split::Beside { 1 } else { 2 };
            let nodes = &mut self.columns[candidate.column].nodes;
            nodes.truncate(nodes.len() - made);
        }
        self.measure();
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

    /// The rule of all methods: what fails goes, until nothing fails; whether that is within the
    /// budget and leaves anything.
    fn settle(&mut self) -> bool {
        let most = self.params.max_suppressed.of(self.cohort.tuples.rows);
        loop {
            if self.suppressed > most || self.suppressed >= self.cohort.tuples.rows {
                return false;
            }
            self.measure();
            let pieces = Pieces::of_cut(self.counted(), &self.partitions);
            let seen = self.seen(&pieces, None);
            let failing = self.question(&pieces, &seen, self.reader.known).failing(self.budget());
            let Some(failing) = failing else { return false };
            let partitions = pieces.partition.iter().zip(&failing).filter(|(_, fails)| **fails);
            let tuples: Vec<u32> = partitions.flat_map(|(&p, _)| self.partitions.tuples(p).to_vec()).collect();
            if tuples.is_empty() {
                return true;
            }
            self.suppress(&tuples);
        }
    }
}
