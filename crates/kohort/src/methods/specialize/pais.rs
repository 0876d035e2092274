//! PAIS, the paper's Algorithm 1: start with every value at the top of its tree, and make the best
//! specialization that keeps the guarantee, until none is left.
//!
//! # Example
//! Six patients; k = 2, and an attacker knows L = 2 values (`job` has the tree
//! `* → {blue, lawyer}`, `blue → {mover, welder}`; `sex` has `* → {F, M}`).
//!
//! | job | sex | start | after step 1 | after step 2 |
//! |---|---|---|---|---|
//! | mover | M | `* *` | `blue *` | `blue M` |
//! | mover | M | `* *` | `blue *` | `blue M` |
//! | welder | M | `* *` | `blue *` | `blue M` |
//! | lawyer | F | `* *` | `lawyer *` | `lawyer F` |
//! | lawyer | F | `* *` | `lawyer *` | `lawyer F` |
//! | lawyer | F | `* *` | `lawyer *` | `lawyer F` |
//!
//! 1. The candidates are `job: *` and `sex: *`, in one heap. Both splits keep three records in each
//!    class; suppose that `job` scores higher. [`Pais::specialize`] replaces `*` by `blue` and
//!    `lawyer` in the cut, and [`Pais::push_children`] makes `blue` a candidate (`lawyer` is a leaf).
//! 2. `sex: *` comes up. An attacker who knows job and sex meets the classes `blue M` and `lawyer F`,
//!    three records each: the split is valid and is made.
//! 3. `blue` comes up. Its child `welder` would be a class of one record: [`Pais::consider`] finds
//!    the failure and remembers in [`Memory`](super::memory::Memory) that `blue` is blocked. The
//!    heap is empty, so the algorithm stops.
//!
//! Files: `candidates.rs` finds and scores candidates, `checks.rs` asks whether a split keeps the
//! guarantee, `memory.rs` holds the answers, `trace.rs` writes the steps into the evidence.

use super::candidate::{Candidate, ValueSplit};
use super::child_partitions::{ChildPartitions, KeptRecords};
use super::memory::Memory;
use super::params::{NumericSplit, Params, SpecializeObjective};
use super::partitions::Partitions;
use super::requirements::{ClassVerdict, Requirements};
use super::score::Histogram;
use super::step_order::{LookAhead, Phase, StepOrder};
use super::taxonomy::{Below, TaxonomyColumn};
use super::validity::{Attacker, count_all};
use kohort_core::cohort::Cohort;
use std::collections::BinaryHeap;

/// A specialization that was made.
#[derive(Clone)]
pub(super) struct Specialization {
    pub candidate: Candidate,
    pub children: Vec<usize>,
    /// The label of the cut point, where an interval was cut.
    pub point: Option<String>,
    /// The number of values that were blocked at the time.
    pub blocked: usize,
    /// Rows suppressed to make this step possible.
    pub suppressed: u64,
}

/// A table on its way down.
#[derive(Clone)]
pub(super) struct Pais<'a> {
    pub cohort: &'a Cohort,
    pub params: Params,
    pub attacker: Attacker,
    pub requirements: Requirements,
    pub columns: Vec<TaxonomyColumn>,
    pub partitions: Partitions,
    /// For each tuple: its rows, or 0 where it was suppressed.
    pub weights: Vec<u32>,
    /// Rows suppressed so far.
    pub suppressed: u64,
    pub histograms: Vec<Histogram>,
    pub heap: BinaryHeap<Candidate>,
    pub memory: Memory,
    pub steps: Vec<Specialization>,
    pub order: StepOrder,
    /// The part of the run, which tells what may be specialized.
    pub phase: Phase,
    pub told: Told,
}

/// Describes what the receiver of progress reports is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Every step.
    Steps,
    /// Nothing: whoever tries several orders counts these.
    Nothing,
}

impl<'a> Pais<'a> {
    /// Puts every column at its roots.
    pub(super) fn new(
        cohort: &'a Cohort,
        params: Params,
        attacker: Attacker,
        requirements: Requirements,
        columns: Vec<TaxonomyColumn>,
    ) -> Pais<'a> {
        let partitions = Partitions::new(cohort, &columns);
        // `survey` has checked that the table has fewer rows than `u32` can count.
        let weights = cohort.tuples.weights.iter().map(|&w| w as u32).collect();
        let mut pais = Pais {
            cohort,
            params,
            attacker,
            requirements,
            partitions,
            weights,
            suppressed: 0,
            histograms: Vec::new(),
            heap: BinaryHeap::new(),
            memory: Memory::new(columns.iter().map(|c| c.leaves)),
            steps: Vec::new(),
            order: StepOrder::default(),
            phase: Phase::Last,
            told: Told::Steps,
            columns,
        };
        pais.count_histograms();
        pais
    }

    /// Opens the stage whose steps are the values that cells can still be split into.
    pub(super) fn open_stage(&self) {
        let left = |q: usize| (self.columns[q].leaves as u64).saturating_sub(self.partitions.cut(q).len() as u64);
        self.cohort.watcher.stage("specializing", (0..self.columns.len()).map(left).sum());
    }

    /// Counts the histograms that scores are computed from, and the whole table.
    pub(super) fn count_histograms(&mut self) {
        let (cohort, objective) = (self.cohort, self.params.objective);
        let histogram = |q: usize| {
            let leaf = self.partitions.leaves(q);
            Histogram::new(cohort, objective, self.columns[q].leaves, leaf, &self.weights)
        };
        self.histograms = kohort_core::parallel::map(cohort.threads, self.columns.len(), histogram);
        self.count_table();
    }

    /// Counts the whole table, which t-closeness compares each class with.
    pub(super) fn count_table(&mut self) {
        let all = ChildPartitions::of_cut(self.kept_records(), &self.partitions);
        let table = count_all(&all, &self.requirements);
        self.requirements.set_table(&table);
    }

    pub(super) fn kept_records(&self) -> KeptRecords<'_> {
        KeptRecords { cohort: self.cohort, requirements: &self.requirements, weights: &self.weights }
    }

    /// Specializes until no candidate is left that keeps the guarantee, or `max_steps` were made.
    pub(super) fn run(&mut self) {
        for phase in self.order.phases() {
            self.phase = phase;
            self.push_cut();
            if phase != Phase::Early {
                self.make_first_step();
            }
            self.make_steps();
        }
        self.phase = Phase::Last;
    }

    /// Makes steps while the heap has candidates that keep the guarantee.
    fn make_steps(&mut self) {
        while !self.is_over() {
            let candidate = match self.order.look_ahead {
                LookAhead::None => self.best_valid(),
                LookAhead::TwoSteps => self.best_of_two_steps(),
            };
            let Some(candidate) = candidate else { return };
            self.specialize(&candidate);
            self.push_children(&candidate);
            if let (Told::Steps, Some(step)) = (self.told, self.steps.last()) {
                self.cohort.watcher.advance(step.children.len().saturating_sub(1) as u64);
            }
        }
    }

    /// Takes the best candidate that keeps the guarantee out of the heap.
    pub(super) fn best_valid(&mut self) -> Option<Candidate> {
        while !self.cohort.watcher.is_cancelled()
            && let Some(candidate) = self.heap.pop()
        {
            if let Some(candidate) = self.consider(candidate) {
                return Some(candidate);
            }
        }
        None
    }

    /// Returns whether `max_steps` were made, or the caller stops the run.
    pub(super) fn is_over(&self) -> bool {
        self.cohort.watcher.is_cancelled() || self.params.max_steps.is_some_and(|most| self.steps.len() as u64 >= most)
    }

    /// Returns whether a split that fails now may hold in a finer table. That is so where
    /// requirements on sensitive values count patients: two classes at confidence ½ that share a
    /// patient make a class at ⅔ together, so that parting them helps.
    pub(super) fn failures_may_heal(&self) -> bool {
        self.cohort.tuples.patients.is_some() && self.requirements.reads_sensitive()
    }

    /// Returns the candidate if it is the best one and keeps the guarantee; otherwise remembers why not.
    pub(super) fn consider(&mut self, candidate: Candidate) -> Option<Candidate> {
        let (q, node) = (candidate.column, candidate.node);
        // Where all values of the cut become candidates anew, some are in the heap twice.
        self.partitions.slot(q, node)?;
        if matches!(self.params.objective, SpecializeObjective::Discernibility(_)) && candidate.step < self.steps.len()
        {
            // Partitions were split since the score was computed: it is lower now, or the same.
            self.push(q, node);
            return None;
        }
        if let ValueSplit::Before(_) = candidate.split
            && !self.may_separate(q, node)
        {
            self.memory.blocked.insert((q, node));
            return None;
        }
        let Some(failure) = self.failure(q, node, candidate.split) else { return Some(candidate) };
        self.memory.add_failure(q, &failure);
        let for_good = failure.verdict == ClassVerdict::TooFew || !self.failures_may_heal();
        match candidate.split {
            ValueSplit::Before(at) if self.params.numeric_split == NumericSplit::BestValid => {
                self.memory.cut_fails(q, at, for_good);
                self.mark_failing_cuts(q, node, &failure.columns);
                self.push(q, node);
                if !self.heap.iter().any(|c| c.column == q && c.node == node) {
                    self.memory.blocked.insert((q, node));
                }
            }
            _ => {
                self.memory.blocked.insert((q, node));
            }
        }
        None
    }

    /// Makes a step: replaces a value of the cut by its children, and splits the partitions that have it.
    pub(super) fn specialize(&mut self, candidate: &Candidate) {
        let (q, node) = (candidate.column, candidate.node);
        let Some(slot) = self.partitions.slot(q, node) else { return };
        let (children, point) = match (&self.columns[q].nodes[node].below, candidate.split) {
            (Below::Given(children), _) => (children.clone(), None),
            (_, ValueSplit::Before(at)) => self.columns[q].cut(node, Some(at)),
            _ => self.columns[q].cut(node, None),
        };
        self.partitions.specialize(q, slot, &self.columns[q], &children);
        // Discernibility is computed from the sizes of partitions, so that they must stay.
        if !matches!(self.params.objective, SpecializeObjective::Discernibility(_)) && self.partitions.hold_few() {
            self.partitions.dissolve();
        }
        self.memory.blocked.remove(&(q, node));
        self.steps.push(Specialization {
            candidate: candidate.clone(),
            children,
            point,
            blocked: self.memory.blocked.len(),
            suppressed: 0,
        });
    }
}
