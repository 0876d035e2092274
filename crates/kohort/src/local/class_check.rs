//! The policy's requirements of a class, counted from its tuples.

use super::classes::{Grouping, Member};
use super::table::PointTable;
use crate::lattice::merge_counts;
use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::MISSING;
use kohort_core::privacy::Counts;

/// The people of some tuples: distinct patients where they are counted, else rows.
pub fn people(cohort: &Cohort, tuples: impl Iterator<Item = usize>) -> u64 {
    let Some(patients) = &cohort.tuples.patients else { return tuples.map(|t| cohort.tuples.weights[t]).sum() };
    let mut with_one_row = 0;
    let mut named: Vec<u32> = Vec::new();
    for tuple in tuples {
        with_one_row += u64::from(patients.single[tuple]);
        named.extend_from_slice(patients.having(tuple));
    }
    named.sort_unstable();
    named.dedup();
    with_one_row + named.len() as u64
}

/// The requirement beyond the number of rows.
pub struct ClassCheck<'a> {
    table: &'a PointTable<'a>,
    k: u64,
    /// States how often each value of each required column occurs in the release, by code.
    released: Vec<Vec<u64>>,
}

impl<'a> ClassCheck<'a> {
    /// The check for a release of all rows that a grouping does not remove.
    pub fn new(table: &'a PointTable<'a>, k: u64, grouping: Option<&Grouping>) -> ClassCheck<'a> {
        let cohort = table.cohort;
        let all: Vec<usize> = match grouping {
            None => (0..cohort.tuples.len()).collect(),
            Some(grouping) => grouping.classes.iter().flat_map(|class| table.tuples_of(&class.members)).collect(),
        };
        let released = cohort.required.iter().map(|required| {
            let position = required.kept.position;
            let mut counts = vec![0; cohort.tuples.dictionaries[position].len()];
            let mut values = Vec::new();
            count_values(cohort, all.iter().copied(), position, &mut values);
            values.iter().for_each(|&(value, people)| counts[value as usize] = people);
            counts
        });
        ClassCheck { table, k, released: released.collect() }
    }

    /// Returns whether these members may form a class. Their points are whole.
    pub fn holds(&self, members: &[Member]) -> bool {
        let cohort = self.table.cohort;
        // So many points have enough people even if all of these are behind as many points as may be.
        let are_few = (members.len() as u64) < self.k.saturating_mul(u64::from(self.table.points.most_points));
        if cohort.tuples.patients.is_some() && are_few && people(cohort, self.table.tuples_of(members)) < self.k {
            return false;
        }
        let mut values = Vec::new();
        cohort.required.iter().zip(&self.released).all(|(required, released)| {
            let tuples = self.table.tuples_of(members);
            let people = count_values(cohort, tuples, required.kept.position, &mut values);
            required.requirement.holds(&Counts { values: &values, people }, released)
        })
    }
}

/// Counts the people with each value of a column, without missing ones. Returns the people who have any.
fn count_values(
    cohort: &Cohort,
    tuples: impl Iterator<Item = usize>,
    position: usize,
    values: &mut Vec<(u32, u64)>,
) -> u64 {
    values.clear();
    // A patient and a value in one number are sorted faster than a pair.
    let mut named: Vec<u64> = Vec::new();
    for tuple in tuples {
        let value = cohort.tuples.code(tuple, position);
        if value == MISSING {
            continue;
        }
        match &cohort.tuples.patients {
            None => values.push((value, cohort.tuples.weights[tuple])),
            Some(patients) => {
                values.push((value, u64::from(patients.single[tuple])));
                let pair = |&patient: &u32| u64::from(patient) << u32::BITS | u64::from(value);
                named.extend(patients.having(tuple).iter().map(pair));
            }
        }
    }
    let mut people: u64 = values.iter().map(|v| v.1).sum();
    named.sort_unstable();
    named.dedup();
    people += named.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS).count() as u64;
    values.extend(named.iter().map(|&pair| (pair as u32, 1)));
    merge_counts(values);
    people
}
