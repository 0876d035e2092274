//! Asks whether a split keeps the guarantee, for PAIS and for suppression.
//!
//! A split is checked before it is made. Intervals have no children until they are cut, so the
//! children are made for the check ([`Pais::make_children`]) and removed after it
//! ([`Pais::drop_children`]).

use super::candidate::ValueSplit;
use super::child_partitions::ChildPartitions;
use super::cuts;
use super::interval_records::IntervalRecords;
use super::pais::Pais;
use super::requirements::ClassVerdict;
use super::taxonomy::Below;
use super::validity::classes_of;
use super::validity::{
    ClassCounter, ExhaustiveCheck, FailingSet, KnownColumn, PartitionColumn, SAMPLE_SIZES, SampledCheck,
};

impl Pais<'_> {
    /// Returns whether the table keeps the guarantee before the first step.
    pub(super) fn start_is_valid(&self) -> bool {
        let all = ChildPartitions::of_cut(self.kept_records(), &self.partitions);
        let known = self.known_columns(&all, None);
        self.check(&all, &known, self.attacker.known).failure(&[]).is_none()
    }

    /// Returns a class that would fail if a value were split in this way.
    pub(super) fn failure(&mut self, q: usize, node: usize, split: ValueSplit) -> Option<FailingSet> {
        let children = self.make_children(q, node, split);
        let failure = self.failure_of_children(q, node, &children);
        self.drop_children(q, split, &children);
        failure
    }

    /// Chooses the engine: the sampled one where many sets of columns must be checked for k alone,
    /// the exhaustive one otherwise. Both give the same verdict.
    fn failure_of_children(&self, q: usize, node: usize, children: &[usize]) -> Option<FailingSet> {
        let slot = self.partitions.slot(q, node)?;
        let column = &self.columns[q];
        let parts = ChildPartitions::of_split(self.kept_records(), &self.partitions, q, slot, column, children);
        let others = self.attacker.known - 1;
        let recent = self.memory.recent_failures(q);
        if let Some(failure) = self.failure_under_recent(&parts, q, others) {
            return Some(failure);
        }
        if parts.only_rows_count(&self.requirements) && !self.attacker.fewer_too {
            let (columns, k, threads) = (self.partition_columns(Some(q)), self.requirements.k, self.cohort.threads);
            let check =
                SampledCheck { parts: &parts, k, columns: &columns, others, sample_sizes: &SAMPLE_SIZES, threads };
            if check.is_cheaper() {
                return check.failure(recent).map(|columns| FailingSet { columns, verdict: ClassVerdict::TooFew });
            }
        }
        let known = self.known_columns(&parts, Some(q));
        self.check(&parts, &known, others).failure(recent)
    }

    /// Returns a class that fails under one of the sets of columns that failed for this column before:
    /// these are counted by themselves, before any sample is drawn.
    fn failure_under_recent(&self, parts: &ChildPartitions, q: usize, others: usize) -> Option<FailingSet> {
        let recent = self.memory.recent_failures(q);
        let sets: Vec<&Vec<usize>> = recent.iter().filter(|set| set.len() == others).collect();
        if sets.is_empty() || self.attacker.fewer_too {
            return None;
        }
        let known = self.known_among(parts, |column| sets.iter().any(|set| set.contains(&column)));
        let (check, mut counter) = (self.check(parts, &known, others), ClassCounter::default());
        sets.into_iter().find_map(|set| check.failure_under(set, &mut counter))
    }

    /// Returns, by child partition, whether it is in a class that fails, or nothing where these hold more
    /// than `most` rows. `except` is the column that is split. Where k alone matters, samples settle most
    /// sets of columns, and only the others are counted.
    pub(super) fn failing(
        &self,
        parts: &ChildPartitions,
        except: Option<usize>,
        others: usize,
        most: u64,
    ) -> Option<Vec<bool>> {
        let known = self.known_columns(parts, except);
        let exhaustive = self.check(parts, &known, others);
        if parts.only_rows_count(&self.requirements) && !self.attacker.fewer_too {
            let (columns, k, threads) = (self.partition_columns(except), self.requirements.k, self.cohort.threads);
            let sampled = SampledCheck { parts, k, columns: &columns, others, sample_sizes: &SAMPLE_SIZES, threads };
            if sampled.is_cheaper() {
                return exhaustive.failing_under(&sampled.unsettled(), most);
            }
        }
        exhaustive.failing(most)
    }

    /// Returns a number of rows that a split fails for at least: those of classes that fail under the sets
    /// of columns that failed for this column before.
    pub(super) fn fails_at_least(&self, parts: &ChildPartitions, q: usize) -> u64 {
        let others = self.attacker.known - 1;
        let sets: Vec<Vec<usize>> =
            self.memory.recent_failures(q).iter().filter(|set| set.len() == others).cloned().collect();
        let known = self.known_among(parts, |column| sets.iter().any(|set| set.contains(&column)));
        let failing = self.check(parts, &known, others).failing_under(&sets, u64::MAX).unwrap_or_default();
        failing.iter().zip(&parts.rows).filter(|(fails, _)| **fails).map(|(_, &rows)| u64::from(rows)).sum()
    }

    /// Returns whether an interval may separate from the values beside it. If it may not, none of its
    /// cuts is possible either.
    pub(super) fn may_separate(&mut self, q: usize, node: usize) -> bool {
        let Below::Found { beside, .. } = &self.columns[q].nodes[node].below else { return true };
        if beside.is_empty() || self.failures_may_heal() || self.memory.is_separable(q, node) {
            return true;
        }
        match self.failure(q, node, ValueSplit::Beside) {
            None => {
                self.memory.set_separable(q, node);
                true
            }
            Some(failure) => {
                self.memory.add_failure(q, &failure);
                false
            }
        }
    }

    /// Returns the nodes that a split makes. Those of an interval are made now.
    pub(super) fn make_children(&mut self, q: usize, node: usize, split: ValueSplit) -> Vec<usize> {
        match (&self.columns[q].nodes[node].below, split) {
            (Below::Given(children), _) => children.clone(),
            (_, ValueSplit::Before(at)) => self.columns[q].cut(node, Some(at)).0,
            _ => self.columns[q].cut(node, None).0,
        }
    }

    /// Removes the intervals that [`Pais::make_children`] made for a check.
    pub(super) fn drop_children(&mut self, q: usize, split: ValueSplit, children: &[usize]) {
        let made = match split {
            ValueSplit::Given => 0,
            ValueSplit::Before(_) => 2,
            ValueSplit::Beside => 1,
        };
        if let Some(&first) = children.get(children.len() - made) {
            self.columns[q].nodes.truncate(first);
        }
    }

    /// Checks all cuts of an interval under one set of columns, and remembers those that fail.
    pub(super) fn mark_failing_cuts(&mut self, q: usize, node: usize, columns: &[usize]) {
        let Below::Found { inside, .. } = self.columns[q].nodes[node].below.clone() else { return };
        let Some(slot) = self.partitions.slot(q, node) else { return };
        let now = (self.steps.len(), self.suppressed);
        let remembered = self.memory.take_interval((q, node), now);
        let records =
            remembered.unwrap_or_else(|| IntervalRecords::new(self.kept_records(), &self.partitions, q, slot, &inside));
        let link = self.partitions.link(q, slot);
        let (numbers, classes) = classes_of(&self.partitions, &link, columns);
        let mut class_of = vec![0; self.partitions.len()];
        link.iter().zip(numbers).for_each(|(&p, n)| class_of[p as usize] = n);
        let reveals = self.cohort.tuples.patients.is_none();
        let memory = &mut self.memory;
        cuts::failing_cuts(&records, &inside, &class_of, classes, &self.requirements, reveals, |at| {
            memory.cut_fails(q, at, true);
        });
        self.memory.keep_interval((q, node), now, records);
    }

    /// The columns that were split, except one. Other columns show the same value everywhere.
    fn split_columns(&self, except: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(move |&c| Some(c) != except && self.partitions.cut(c).len() > 1)
    }

    /// The split columns except one, by partition, for the sampled check.
    fn partition_columns(&self, except: Option<usize>) -> Vec<PartitionColumn<'_>> {
        let view = |column: usize| {
            let rows = |&node: &usize| self.histograms[column].rows(&self.columns[column].nodes[node].leaves);
            let occurs = self.partitions.cut(column).iter().map(|node| rows(node) > 0).collect();
            PartitionColumn { column, slots: self.partitions.slots(column), occurs }
        };
        let mut columns: Vec<PartitionColumn> = self.split_columns(except).map(view).collect();
        // Columns with few values first: many records share each value, so k of them are met soon.
        columns.sort_by_key(|c| c.occurs.len());
        columns
    }

    /// The split columns except one, by child partition, for the exhaustive check.
    pub(super) fn known_columns(&self, parts: &ChildPartitions, except: Option<usize>) -> Vec<KnownColumn> {
        self.known_among(parts, |column| Some(column) != except)
    }

    /// Those of the split columns that are wanted, by child partition.
    fn known_among(&self, parts: &ChildPartitions, wanted: impl Fn(usize) -> bool) -> Vec<KnownColumn> {
        let known = |column: usize| {
            let slots = self.partitions.slots(column);
            let slot_count = self.partitions.cut(column).len() as u32;
            KnownColumn { column, slots: parts.partition.iter().map(|&p| slots[p as usize]).collect(), slot_count }
        };
        let mut columns: Vec<KnownColumn> = self.split_columns(None).filter(|&c| wanted(c)).map(known).collect();
        // Columns with few values first: the classes numbered on the way stay few.
        columns.sort_by_key(|c| c.slot_count);
        columns
    }

    pub(super) fn check<'q>(
        &'q self,
        parts: &'q ChildPartitions,
        known: &'q [KnownColumn],
        others: usize,
    ) -> ExhaustiveCheck<'q> {
        let (requirements, fewer_too, threads) = (&self.requirements, self.attacker.fewer_too, self.cohort.threads);
        ExhaustiveCheck { parts, requirements, known, others, fewer_too, threads }
    }
}
