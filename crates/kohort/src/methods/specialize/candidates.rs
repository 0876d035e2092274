//! Finds the candidates of PAIS and scores them: every value of the cut, with its best split.

use super::candidate::{Candidate, ValueSplit};
use super::child_partitions::ChildPartitions;
use super::interval_records::IntervalRecords;
use super::pais::Pais;
use super::params::{NumericSplit, SpecializeObjective};
use super::score::{self, Score, ValueRecords};
use super::taxonomy::Below;
use kohort_core::cohort::MOST_SETS;
use kohort_core::privacy::{Knows, Shorter};
use std::ops::Range;

impl Pais<'_> {
    /// Makes all values of the cut candidates anew.
    pub(super) fn push_cut(&mut self) {
        self.heap.clear();
        for q in 0..self.columns.len() {
            for node in self.partitions.cut(q).to_vec() {
                self.push(q, node);
            }
        }
    }

    /// Makes the children of a value candidates, once it was specialized.
    pub(super) fn push_children(&mut self, parent: &Candidate) {
        if self.failures_may_heal() {
            self.memory.retry_cuts();
            return self.push_cut();
        }
        let whole = self.columns[parent.column].nodes[parent.node].leaves.clone();
        for node in self.partitions.cut(parent.column).to_vec() {
            let own = &self.columns[parent.column].nodes[node].leaves;
            if whole.start <= own.start && own.end <= whole.end {
                self.push(parent.column, node);
            }
        }
    }

    /// Makes one value a candidate, unless it cannot be split, gains less than `min_gain`, or comes later.
    pub(super) fn push(&mut self, q: usize, node: usize) {
        if self.order.waits(self.phase, q, &self.columns[q].nodes[node].leaves) {
            return;
        }
        if let Some(candidate) = self.candidate(q, node)
            && self.params.min_gain.is_none_or(|least| candidate.score.gain >= least)
        {
            self.heap.push(candidate);
        }
    }

    /// Returns a value of the cut with its best split, or none where it cannot be split, or was split already.
    pub(super) fn candidate(&self, q: usize, node: usize) -> Option<Candidate> {
        self.partitions.slot(q, node)?;
        let own = &self.columns[q].nodes[node];
        let rows = self.histograms[q].rows(&own.leaves);
        if rows == 0
            || self.is_one_column_too_many(q)
            || (self.memory.blocked.contains(&(q, node)) && !self.failures_may_heal())
        {
            return None;
        }
        let (score, split) = match &own.below {
            Below::Nothing => return None,
            Below::Given(children) => (self.score_children(q, node, children), ValueSplit::Given),
            Below::Found { .. } => self.best_cut(q, node)?,
        };
        let score = if self.params.objective == SpecializeObjective::None { Score { rank: 0, ..score } } else { score };
        Some(Candidate { score, rows, column: q, name: own.name.clone(), node, split, step: self.steps.len() })
    }

    /// Returns whether a column must stay as it is because an attacker could know more sets of columns than
    /// can be counted, if it were specialized, too.
    fn is_one_column_too_many(&self, q: usize) -> bool {
        if self.cohort.sets_not_all.is_none() || self.partitions.cut(q).len() > 1 {
            return false;
        }
        let split = (0..self.columns.len()).filter(|&c| self.partitions.cut(c).len() > 1).count();
        let shorter = if self.attacker.fewer_too { Shorter::Counted } else { Shorter::Implied };
        let sets = Knows::Any(self.attacker.known).number(split + 1, shorter);
        sets.is_none_or(|sets| sets > MOST_SETS)
    }

    fn score_children(&self, q: usize, node: usize, children: &[usize]) -> Score {
        let column = &self.columns[q];
        let leaves: Vec<Range<u32>> = children.iter().map(|&c| column.nodes[c].leaves.clone()).collect();
        score::of_children(self.params.objective, &self.histograms[q], &column.nodes[node].leaves, &leaves, || {
            let slot = self.partitions.slot(q, node).unwrap_or(0);
            ChildPartitions::of_split(self.kept_records(), &self.partitions, q, slot, column, children)
        })
    }

    /// Scores every cut of an interval that is still possible, by the leaf it is before.
    pub(super) fn possible_cuts(&self, q: usize, node: usize) -> Vec<(u32, Score)> {
        let Below::Found { inside, beside, .. } = &self.columns[q].nodes[node].below else { return Vec::new() };
        let histogram = &self.histograms[q];
        let nodes = &self.columns[q].nodes;
        let apart: Vec<Range<u32>> = beside.iter().map(|&b| nodes[b].leaves.clone()).collect();
        let scores = score::of_cuts(self.params.objective, histogram, inside, &apart, &nodes[node].leaves, || {
            self.value_records(q, node, inside)
        });
        let parts_records = |at: u32| histogram.rows(&(inside.start..at)) > 0 && histogram.rows(&(at..inside.end)) > 0;
        let all = (inside.start + 1..).zip(scores);
        all.filter(|&(at, _)| self.memory.cut_is_possible(q, at) && parts_records(at)).collect()
    }

    fn value_records(&self, q: usize, node: usize, inside: &Range<u32>) -> ValueRecords {
        let slot = self.partitions.slot(q, node).unwrap_or(0);
        let interval = IntervalRecords::new(self.kept_records(), &self.partitions, q, slot, inside);
        let (link, leaf) = (self.partitions.link(q, slot), self.partitions.leaves(q));
        ValueRecords::new(interval, &self.partitions, &link, leaf, &self.weights, inside)
    }

    /// Returns the best possible cut. Where there is none, the interval may still separate from the
    /// values beside it.
    fn best_cut(&self, q: usize, node: usize) -> Option<(Score, ValueSplit)> {
        let cuts = self.possible_cuts(q, node);
        let best = cuts.into_iter().reduce(|a, b| if b.1.rank > a.1.rank { b } else { a });
        if let Some((at, score)) = best {
            return Some((score, ValueSplit::Before(at)));
        }
        let Below::Found { inside, beside, .. } = &self.columns[q].nodes[node].below else { return None };
        let occurs = |leaves: &Range<u32>| self.histograms[q].rows(leaves) > 0;
        let beside_occur = beside.iter().filter(|&&b| occurs(&self.columns[q].nodes[b].leaves)).count();
        let separates = beside_occur + usize::from(occurs(inside)) > 1;
        (separates && self.params.numeric_split == NumericSplit::BestValid)
            .then(|| (self.score_separation(q, node, inside, beside), ValueSplit::Beside))
    }

    fn score_separation(&self, q: usize, node: usize, inside: &Range<u32>, beside: &[usize]) -> Score {
        let nodes = &self.columns[q].nodes;
        let mut leaves: Vec<Range<u32>> = beside.iter().map(|&b| nodes[b].leaves.clone()).collect();
        leaves.push(inside.clone());
        let whole = &nodes[node].leaves;
        score::of_children(self.params.objective, &self.histograms[q], whole, &leaves, || {
            let mut column = self.columns[q].clone();
            let (children, _) = column.cut(node, None);
            let slot = self.partitions.slot(q, node).unwrap_or(0);
            ChildPartitions::of_split(self.kept_records(), &self.partitions, q, slot, &column, &children)
        })
    }
}
