//! PAIS: from the top down, the best specialization that keeps the guarantee, until none is left.

use super::bits::View;
use super::cuts;
use super::demands::{Demands, Verdict};
use super::params::{NumericSplit, Objective, Params};
use super::partitions::Partitions;
use super::pieces::{Counted, Line, Pieces};
use super::score::{self, Histogram, Score, Whole};
use super::sift::{self, Sift};
use super::taxonomy::{Below, Column};
use super::validity::{Failure, Question, Reader, Seen};
use kohort_core::cohort::Cohort;
use kohort_core::release::TraceStep;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

/// How a value is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Split {
    /// Into the children of its tree.
    Given,
    /// Into two intervals, before this leaf.
    Before(u32),
    /// The whole interval parts from what is beside it.
    Beside,
}

/// A value of the cut that may be specialized. The order is the one they are tried in: higher
/// score, more records, earlier column, smaller label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub score: Score,
    pub rows: u64,
    pub column: usize,
    pub name: String,
    pub node: usize,
    pub split: Split,
    /// How many steps had been made when it was scored.
    pub step: usize,
}

impl Candidate {
    fn order(&self) -> (i128, u64, Reverse<usize>, Reverse<&str>) {
        (self.score.rank, self.rows, Reverse(self.column), Reverse(&self.name))
    }
}

impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// Whether a cut of an interval may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    /// It breaks the guarantee now; a later step may mend that.
    Aside,
    /// It breaks the guarantee, and always will.
    Gone,
}

/// A specialization that was made.
pub(super) struct Step {
    pub candidate: Candidate,
    children: Vec<usize>,
    point: Option<String>,
    /// Values that had been found to break the guarantee.
    invalid: usize,
    /// Rows suppressed for it.
    pub suppressed: u64,
}

/// A table on its way down.
pub(super) struct Pais<'a> {
    pub cohort: &'a Cohort,
    pub params: &'a Params,
    pub reader: Reader,
    pub demands: Demands,
    pub columns: Vec<Column>,
    pub partitions: Partitions,
    /// By tuple: its rows, 0 where it was suppressed.
    pub weights: Vec<u32>,
    /// Rows that leave.
    pub suppressed: u64,
    pub histograms: Vec<Histogram>,
    heap: BinaryHeap<Candidate>,
    /// By column and leaf: whether a cut may be made before it.
    marks: Vec<Vec<Mark>>,
    /// Intervals that may part from what is beside them.
    parted: BTreeSet<(usize, usize)>,
    /// Values that were found to break the guarantee.
    pub invalid: BTreeSet<(usize, usize)>,
    /// By column: sets of other columns under which candidates failed lately.
    lately: Vec<Vec<Vec<usize>>>,
    pub steps: Vec<Step>,
    /// The interval last looked at (column, node, steps and rows suppressed by then), and its records.
    line: Option<((usize, usize, usize, u64), Line)>,
}

impl<'a> Pais<'a> {
    /// Every column at its roots.
    pub(super) fn new(
        cohort: &'a Cohort,
        params: &'a Params,
        reader: Reader,
        demands: Demands,
        columns: Vec<Column>,
    ) -> Pais<'a> {
        let partitions = Partitions::new(cohort, &columns);
        // A table has fewer rows than there are u32: `survey` sees to it.
        let weights = cohort.tuples.weights.iter().map(|&w| w as u32).collect();
        let marks = columns.iter().map(|c| vec![Mark::Open; c.leaves as usize + 1]).collect();
        let lately = vec![Vec::new(); columns.len()];
        let mut pais = Pais {
            cohort,
            params,
            reader,
            demands,
            columns,
            partitions,
            weights,
            suppressed: 0,
            histograms: Vec::new(),
            heap: BinaryHeap::new(),
            marks,
            parted: BTreeSet::new(),
            invalid: BTreeSet::new(),
            lately,
            steps: Vec::new(),
            line: None,
        };
        pais.recount();
        pais
    }

    /// Counts what scores are measured by, and the table.
    pub(super) fn recount(&mut self) {
        let (cohort, objective) = (self.cohort, self.params.objective);
        let histogram = |q: usize| {
            let leaf = self.partitions.leaves(q);
            Histogram::new(cohort, objective, self.columns[q].leaves, leaf, &self.weights)
        };
        self.histograms = kohort_core::parallel::map(cohort.threads, self.columns.len(), histogram);
        self.measure();
    }

    /// Counts the table that t-closeness is measured against.
    pub(super) fn measure(&mut self) {
        let table = super::validity::whole(&Pieces::of_cut(self.counted(), &self.partitions), &self.demands);
        self.demands.set_table(&table);
    }

    pub(super) fn counted(&self) -> Counted<'_> {
        Counted { cohort: self.cohort, demands: &self.demands, weights: &self.weights }
    }

    /// Specializes until nothing is left that keeps the guarantee, or `max_steps` are made.
    pub(super) fn run(&mut self) {
        self.refill();
        while !self.is_over() {
            let Some(candidate) = self.heap.pop() else { return };
            if let Some(candidate) = self.consider(candidate) {
                self.specialize(&candidate);
                self.push_children(&candidate);
            }
        }
    }

    /// Whether as many steps were made as may be.
    pub(super) fn is_over(&self) -> bool {
        self.params.max_steps.is_some_and(|most| self.steps.len() as u64 >= most)
    }

    /// All values of the cut are candidates anew.
    fn refill(&mut self) {
        self.heap.clear();
        for q in 0..self.columns.len() {
            for node in self.partitions.cut(q).to_vec() {
                self.push(q, node);
            }
        }
    }

    /// Forgets what broke the guarantee: some of it may not do so any more.
    pub(super) fn forget(&mut self) {
        self.marks.iter_mut().for_each(|marks| marks.fill(Mark::Open));
        self.parted.clear();
        self.invalid.clear();
    }

    fn push(&mut self, q: usize, node: usize) {
        if let Some(candidate) = self.candidate(q, node)
            && self.params.min_gain.is_none_or(|least| candidate.score.gain >= least)
        {
            self.heap.push(candidate);
        }
    }

    fn push_children(&mut self, parent: &Candidate) {
        if self.reader_sees_patients() {
            // What failed may hold now: two classes that share a patient have parted.
            self.marks.iter_mut().flatten().filter(|m| **m == Mark::Aside).for_each(|m| *m = Mark::Open);
            return self.refill();
        }
        let whole = self.columns[parent.column].nodes[parent.node].leaves.clone();
        for node in self.partitions.cut(parent.column).to_vec() {
            let own = &self.columns[parent.column].nodes[node].leaves;
            if whole.start <= own.start && own.end <= whole.end {
                self.push(parent.column, node);
            }
        }
    }

    /// Whether requirements of sensitive values are counted in patients: then what fails may hold later.
    pub(super) fn reader_sees_patients(&self) -> bool {
        self.cohort.tuples.patients.is_some() && self.demands.reads_sensitive()
    }

    /// A value of the cut with its best split; none where it cannot be split.
    pub(super) fn candidate(&self, q: usize, node: usize) -> Option<Candidate> {
        let own = &self.columns[q].nodes[node];
        let rows = self.histograms[q].rows(&own.leaves);
        if rows == 0 || (self.invalid.contains(&(q, node)) && !self.reader_sees_patients()) {
            return None;
        }
        let (score, split) = match &own.below {
            Below::Nothing => return None,
            Below::Given(children) => (self.score_children(q, node, children), Split::Given),
            Below::Found { .. } => self.best_cut(q, node)?,
        };
        let score = if self.params.objective == Objective::None { Score { rank: 0, ..score } } else { score };
        Some(Candidate { score, rows, column: q, name: own.name.clone(), node, split, step: self.steps.len() })
    }

    fn score_children(&self, q: usize, node: usize, children: &[usize]) -> Score {
        let column = &self.columns[q];
        let leaves: Vec<Range<u32>> = children.iter().map(|&c| column.nodes[c].leaves.clone()).collect();
        score::of_children(self.params.objective, &self.histograms[q], &column.nodes[node].leaves, &leaves, || {
            let slot = self.partitions.slot(q, node).unwrap_or(0);
            Pieces::of_split(self.counted(), &self.partitions, q, slot, column, children)
        })
    }

    /// The score of every cut that is open, by the leaf it is before.
    pub(super) fn cuts(&self, q: usize, node: usize) -> Vec<(u32, Score)> {
        let Below::Found { inside, beside, .. } = &self.columns[q].nodes[node].below else { return Vec::new() };
        let histogram = &self.histograms[q];
        let nodes = &self.columns[q].nodes;
        let apart: Vec<Range<u32>> = beside.iter().map(|&b| nodes[b].leaves.clone()).collect();
        let scores = score::of_cuts(self.params.objective, histogram, inside, &apart, &nodes[node].leaves, || {
            self.whole(q, node, inside)
        });
        let parts = |at: u32| histogram.rows(&(inside.start..at)) > 0 && histogram.rows(&(at..inside.end)) > 0;
        let all = (inside.start + 1..).zip(scores);
        all.filter(|&(at, _)| self.marks[q][at as usize] == Mark::Open && parts(at)).collect()
    }

    fn whole(&self, q: usize, node: usize, inside: &Range<u32>) -> Whole {
        let slot = self.partitions.slot(q, node).unwrap_or(0);
        let line = Line::new(self.counted(), &self.partitions, q, slot, inside);
        let (link, leaf) = (self.partitions.link(q, slot), self.partitions.leaves(q));
        Whole::new(line, &self.partitions, &link, leaf, &self.weights, inside)
    }

    /// The best open cut; where there is none, the interval may still part from what is beside it.
    fn best_cut(&self, q: usize, node: usize) -> Option<(Score, Split)> {
        let cuts = self.cuts(q, node);
        let best = cuts.into_iter().reduce(|a, b| if b.1.rank > a.1.rank { b } else { a });
        if let Some((at, score)) = best {
            return Some((score, Split::Before(at)));
        }
        let Below::Found { inside, beside, .. } = &self.columns[q].nodes[node].below else { return None };
        let held = self.histograms[q].rows(inside) > 0;
        let parts = |&&b: &&usize| self.histograms[q].rows(&self.columns[q].nodes[b].leaves) > 0;
        let some = beside.iter().filter(parts).count() + usize::from(held) > 1;
        (some && self.params.numeric_split == NumericSplit::BestValid)
            .then(|| (self.score_beside(q, node, inside, beside), Split::Beside))
    }

    fn score_beside(&self, q: usize, node: usize, inside: &Range<u32>, beside: &[usize]) -> Score {
        let nodes = &self.columns[q].nodes;
        let mut leaves: Vec<Range<u32>> = beside.iter().map(|&b| nodes[b].leaves.clone()).collect();
        leaves.push(inside.clone());
        let whole = &nodes[node].leaves;
        score::of_children(self.params.objective, &self.histograms[q], whole, &leaves, || {
            let mut column = self.columns[q].clone();
            let (children, _) = column.cut(node, None);
            let slot = self.partitions.slot(q, node).unwrap_or(0);
            Pieces::of_split(self.counted(), &self.partitions, q, slot, &column, &children)
        })
    }

    /// Looks at a candidate: returns it if it is the best and keeps the guarantee.
    fn consider(&mut self, candidate: Candidate) -> Option<Candidate> {
        let (q, node) = (candidate.column, candidate.node);
        if matches!(self.params.objective, Objective::Discernibility(_)) && candidate.step < self.steps.len() {
            // Partitions have parted since: the score is lower now, or the same.
            self.push(q, node);
            return None;
        }
        if let Split::Before(_) = candidate.split
            && !self.may_part(q, node)
        {
            self.invalid.insert((q, node));
            return None;
        }
        let children = self.children(q, node, candidate.split);
        let failure = self.failure(q, node, &children);
        self.uncut(q, candidate.split, &children);
        let Some(failure) = failure else { return Some(candidate) };
        self.remember(q, &failure);
        let lasting = failure.verdict == Verdict::TooFew || !self.reader_sees_patients();
        let mark = if lasting { Mark::Gone } else { Mark::Aside };
        match candidate.split {
            Split::Before(at) if self.params.numeric_split == NumericSplit::BestValid => {
                self.marks[q][at as usize] = mark;
                self.forbid(q, node, &failure.columns);
                self.push(q, node);
                if !self.heap.iter().any(|c| c.column == q && c.node == node) {
                    self.invalid.insert((q, node));
                }
            }
            _ => {
                self.invalid.insert((q, node));
            }
        }
        None
    }

    /// Whether an interval may part from what is beside it: if not, no cut of it is possible.
    fn may_part(&mut self, q: usize, node: usize) -> bool {
        let Below::Found { beside, .. } = &self.columns[q].nodes[node].below else { return true };
        if beside.is_empty() || self.reader_sees_patients() || self.parted.contains(&(q, node)) {
            return true;
        }
        let children = self.children(q, node, Split::Beside);
        let failure = self.failure(q, node, &children);
        self.uncut(q, Split::Beside, &children);
        match failure {
            None => self.parted.insert((q, node)),
            Some(failure) => {
                self.remember(q, &failure);
                false
            }
        }
    }

    /// The nodes a split makes; intervals are made for it.
    pub(super) fn children(&mut self, q: usize, node: usize, split: Split) -> Vec<usize> {
        match (&self.columns[q].nodes[node].below, split) {
            (Below::Given(children), _) => children.clone(),
            (_, Split::Before(at)) => self.columns[q].cut(node, Some(at)).0,
            _ => self.columns[q].cut(node, None).0,
        }
    }

    /// Takes back intervals that were only made to be looked at.
    pub(super) fn uncut(&mut self, q: usize, split: Split, children: &[usize]) {
        let made = match split {
            Split::Given => 0,
            Split::Before(_) => 2,
            Split::Beside => 1,
        };
        if let Some(&first) = children.get(children.len() - made) {
            self.columns[q].nodes.truncate(first);
        }
    }

    /// A class that would fail if a value were split so.
    fn failure(&self, q: usize, node: usize, children: &[usize]) -> Option<Failure> {
        let slot = self.partitions.slot(q, node)?;
        let pieces = Pieces::of_split(self.counted(), &self.partitions, q, slot, &self.columns[q], children);
        let others = self.reader.known - 1;
        if pieces.plain(&self.demands) && !self.reader.shorter {
            let (views, k, threads) = (self.views(q), self.demands.k, self.cohort.threads);
            let sift = Sift { pieces: &pieces, k, views: &views, others, stages: &sift::STAGES, threads };
            if sift.pays() {
                let columns = sift.failure(&self.lately[q]);
                return columns.map(|columns| Failure { columns, verdict: Verdict::TooFew });
            }
        }
        let seen = self.seen(&pieces, Some(q));
        self.question(&pieces, &seen, others).failure(&self.lately[q])
    }

    /// The columns that were split, but one.
    fn split_but(&self, but: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(move |&c| Some(c) != but && self.partitions.cut(c).len() > 1)
    }

    /// The split columns but one, by partition.
    fn views(&self, but: usize) -> Vec<View<'_>> {
        let view = |column: usize| {
            let rows = |&node: &usize| self.histograms[column].rows(&self.columns[column].nodes[node].leaves);
            let held = self.partitions.cut(column).iter().map(|node| rows(node) > 0).collect();
            View { column, slots: self.partitions.slots(column), held }
        };
        let mut views: Vec<View> = self.split_but(Some(but)).map(view).collect();
        // Few values first: many have them, so that k of them are met soon.
        views.sort_by_key(|v| v.held.len());
        views
    }

    /// The split columns but one, as pieces see them.
    pub(super) fn seen(&self, pieces: &Pieces, but: Option<usize>) -> Vec<Seen> {
        let view = |column: usize| {
            let slots = self.partitions.slots(column);
            let places = self.partitions.cut(column).len() as u32;
            Seen { column, slots: pieces.partition.iter().map(|&p| slots[p as usize]).collect(), places }
        };
        let mut seen: Vec<Seen> = self.split_but(but).map(view).collect();
        // Few values first: what is numbered on the way stays small.
        seen.sort_by_key(|s| s.places);
        seen
    }

    pub(super) fn question<'q>(&'q self, pieces: &'q Pieces, seen: &'q [Seen], others: usize) -> Question<'q> {
        let (demands, shorter, threads) = (&self.demands, self.reader.shorter, self.cohort.threads);
        Question { pieces, demands, seen, others, shorter, threads }
    }

    fn remember(&mut self, q: usize, failure: &Failure) {
        let lately = &mut self.lately[q];
        lately.retain(|set| *set != failure.columns);
        lately.insert(0, failure.columns.clone());
        lately.truncate(6);
    }

    /// Marks every cut of an interval that fails under these columns.
    fn forbid(&mut self, q: usize, node: usize, columns: &[usize]) {
        let Below::Found { inside, .. } = self.columns[q].nodes[node].below.clone() else { return };
        let Some(slot) = self.partitions.slot(q, node) else { return };
        // An interval is often looked at several times before anything is specialized.
        let now = (q, node, self.steps.len(), self.suppressed);
        let known = self.line.take().filter(|known| known.0 == now).map(|known| known.1);
        let line = known.unwrap_or_else(|| Line::new(self.counted(), &self.partitions, q, slot, &inside));
        let link = self.partitions.link(q, slot);
        let (numbers, groups) = super::validity::classes(&self.partitions, &link, columns);
        let mut group = vec![0; self.partitions.len()];
        link.iter().zip(numbers).for_each(|(&p, n)| group[p as usize] = n);
        let reveals = self.cohort.tuples.patients.is_none();
        let marks = &mut self.marks[q];
        cuts::forbidden(&line, &inside, &group, groups, &self.demands, reveals, |at| marks[at as usize] = Mark::Gone);
        self.line = Some((now, line));
    }

    /// Makes a step.
    pub(super) fn specialize(&mut self, candidate: &Candidate) {
        let (q, node) = (candidate.column, candidate.node);
        let Some(slot) = self.partitions.slot(q, node) else { return };
        let (children, point) = match (&self.columns[q].nodes[node].below, candidate.split) {
            (Below::Given(children), _) => (children.clone(), None),
            (_, Split::Before(at)) => self.columns[q].cut(node, Some(at)),
            _ => self.columns[q].cut(node, None),
        };
        self.partitions.specialize(q, slot, &self.columns[q], &children);
        // Discernibility is measured by the sizes of partitions.
        if !matches!(self.params.objective, Objective::Discernibility(_)) && self.partitions.hold_few() {
            self.partitions.dissolve();
        }
        self.invalid.remove(&(q, node));
        self.steps.push(Step {
            candidate: candidate.clone(),
            children,
            point,
            invalid: self.invalid.len(),
            suppressed: 0,
        });
    }
}

impl Pais<'_> {
    /// The steps, for the evidence. A value that only suppressed rows had is not named.
    pub(super) fn trace(&self) -> Vec<TraceStep> {
        let may_suppress = self.params.max_suppressed.of(self.cohort.tuples.rows) > 0;
        let step = |(number, step): (usize, &Step)| {
            let q = step.candidate.column;
            let nodes = &self.columns[q].nodes;
            let left = |node: usize| self.histograms[q].rows(&nodes[node].leaves) > 0;
            let into = step.children.iter().filter(|&&c| left(c)).map(|&c| nodes[c].name.clone());
            TraceStep {
                step: number + 1,
                column: self.cohort.quasi[q].name.clone(),
                value: if left(step.candidate.node) { step.candidate.name.clone() } else { String::new() },
                into: into.collect(),
                score: step.candidate.score.gain,
                rows: step.candidate.rows,
                invalid: step.invalid,
                at: step.point.clone(),
                suppressed: may_suppress.then_some(step.suppressed),
            }
        };
        self.steps.iter().enumerate().map(step).collect()
    }

    /// Whether the table may leave as it is before the first step.
    pub(super) fn starts(&self) -> bool {
        let pieces = Pieces::of_cut(self.counted(), &self.partitions);
        let seen = self.seen(&pieces, None);
        self.question(&pieces, &seen, self.reader.known).failure(&[]).is_none()
    }
}
