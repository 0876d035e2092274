//! The people of a class, and the rule that says whether the class is safe.

use super::records::RecordRuns;
use crate::lattice::merge_counts;
use kohort_core::cohort::Cohort;
use kohort_core::privacy::Counts;

/// When a class is safe: k people, and what the policy requires of their sensitive values.
pub(super) struct ClassRule<'a> {
    pub cohort: &'a Cohort,
    pub k: u64,
    /// For each required column: people per value over all that is released, for t-closeness.
    pub tables: Vec<Vec<u64>>,
}

impl<'a> ClassRule<'a> {
    pub fn new(cohort: &'a Cohort, k: u64) -> ClassRule<'a> {
        ClassRule { cohort, k, tables: Vec::new() }
    }

    /// Returns whether k is the only requirement: then a class that is safe stays safe when others join it.
    pub fn k_alone(&self) -> bool {
        self.cohort.required.is_empty()
    }

    /// Counts the whole of the records that are left, which t-closeness compares with.
    pub fn look_at(&mut self, records: &RecordRuns) {
        if self.k_alone() {
            return;
        }
        let mut everybody = ClassPeople::default();
        for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
            everybody.add(records, run);
        }
        everybody.settle();
        let required = self.cohort.required.iter().zip(&everybody.values);
        self.tables = required
            .map(|(required, values)| {
                let mut table = vec![0; self.cohort.tuples.dictionaries[required.kept.position].len()];
                values.people().0.iter().for_each(|&(value, people)| table[value as usize] = people);
                table
            })
            .collect();
    }

    /// Returns whether a class of these people is safe.
    pub fn holds(&self, crowd: &ClassPeople) -> bool {
        let required = self.cohort.required.iter().zip(&crowd.values).zip(&self.tables);
        crowd.people() >= self.k
            && required.into_iter().all(|((required, values), table)| {
                let (values, people) = values.people();
                required.requirement.holds(&Counts { values: &values, people }, table)
            })
    }
}

/// The people of a class: those with one row are a number, the others are named.
#[derive(Clone, Default)]
pub(super) struct ClassPeople {
    single: u64,
    named: Vec<u32>,
    /// One entry per required column.
    values: Vec<PeopleByValue>,
}

/// The people with each value of a sensitive column; missing is not counted.
#[derive(Clone, Default)]
struct PeopleByValue {
    /// Value and people with one row.
    single: Vec<(u32, u64)>,
    /// Patient with several rows, and value.
    named: Vec<(u32, u32)>,
}

impl ClassPeople {
    /// The number of people, once settled.
    pub fn people(&self) -> u64 {
        self.single + self.named.len() as u64
    }

    /// Adds the people of a run; settle before counting.
    pub fn add(&mut self, records: &RecordRuns, run: usize) {
        let (cohort, named) = (records.cohort, records.named(run));
        self.single += records.single[run];
        self.named.extend_from_slice(named);
        self.values.resize_with(cohort.required.len(), PeopleByValue::default);
        for (required, values) in cohort.required.iter().zip(&mut self.values) {
            let value = cohort.tuples.code(records.tuple[run] as usize, required.kept.position);
            if value != kohort_core::hierarchy::MISSING {
                values.single.push((value, records.single[run]));
                values.named.extend(named.iter().map(|&p| (p, value)));
            }
        }
    }

    /// Adds another crowd; settle before counting.
    pub fn join(&mut self, other: ClassPeople) {
        self.single += other.single;
        self.named.extend(other.named);
        self.values.resize_with(self.values.len().max(other.values.len()), PeopleByValue::default);
        for (own, values) in self.values.iter_mut().zip(other.values) {
            own.single.extend(values.single);
            own.named.extend(values.named);
        }
    }

    /// Counts everybody once.
    pub fn settle(&mut self) {
        self.named.sort_unstable();
        self.named.dedup();
        for values in &mut self.values {
            merge_counts(&mut values.single);
            values.named.sort_unstable();
            values.named.dedup();
        }
    }
}

impl PeopleByValue {
    /// People per value, and people who have any.
    fn people(&self) -> (Vec<(u32, u64)>, u64) {
        let mut values = self.single.clone();
        let single: u64 = values.iter().map(|v| v.1).sum();
        values.extend(self.named.iter().map(|&(_, value)| (value, 1)));
        merge_counts(&mut values);
        (values, single + self.named.chunk_by(|a, b| a.0 == b.0).count() as u64)
    }
}
