//! The suppression rule: at a node, the records of all failing classes go together, then
//! everything is counted again, until none fails.
//!
//! For k alone the rule is monotone: what it takes at a node it takes at every finer one (a class
//! of the finer node lies inside one of the coarser; a set of records in which every class has k
//! people stays such a set when classes merge). And what k alone takes, the rule takes under any
//! further requirement: what is left must have k people in every class.

use super::classes::NodeClasses;
use kohort_core::cohort::Cohort;
use kohort_core::number::K;
use kohort_core::privacy::Counts;
use kohort_core::ragged::Ragged;

/// The result of applying the rule to a node.
#[derive(Debug, Clone)]
pub struct NodeOutcome {
    /// One entry per tuple: whether its records are kept.
    pub kept: Vec<bool>,
    /// Records that go.
    pub suppressed: u64,
}

/// Describes which requirements are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// k alone.
    K,
    /// Everything the policy asks for.
    Everything,
}

/// Applies the rule at these levels. `most`: gives up (`None`) once more records than this go, or when the caller stops
/// the run.
pub fn apply_rule(
    cohort: &Cohort,
    classes: &mut NodeClasses,
    levels: &[usize],
    k: K,
    which: Which,
    most: u64,
) -> Option<NodeOutcome> {
    let weights = &cohort.tuples.weights;
    let mut outcome = NodeOutcome { kept: vec![true; weights.len()], suppressed: 0 };
    let required = which == Which::Everything && !cohort.required.is_empty();
    loop {
        let mut goes = vec![false; weights.len()];
        let tables: Vec<Vec<u64>> = if required { tables(cohort, &outcome.kept) } else { Vec::new() };
        for set in &cohort.sets {
            if cohort.watcher.is_cancelled() {
                return None;
            }
            classes.count(&known(cohort, levels, set));
            let failing = failing(cohort, classes, k.get(), &outcome.kept, &tables);
            for (t, goes) in goes.iter_mut().enumerate() {
                *goes |= failing[classes.of_tuple()[t] as usize];
            }
        }
        let mut any = false;
        for ((kept, goes), weight) in outcome.kept.iter_mut().zip(goes).zip(weights) {
            if *kept && goes {
                (*kept, any) = (false, true);
                outcome.suppressed += weight;
            }
        }
        if outcome.suppressed > most {
            return None;
        }
        // With one set and k alone, a class that stays is not touched by one that goes.
        if !any || (cohort.sets.len() == 1 && !required) {
            return Some(outcome);
        }
    }
}

/// The levels as someone sees them who knows the columns of `set`: the others are `*`.
fn known(cohort: &Cohort, levels: &[usize], set: &[usize]) -> Vec<usize> {
    let top = |q: usize| cohort.quasi[q].hierarchy.levels.len() - 1;
    (0..levels.len()).map(|q| if set.contains(&q) { levels[q] } else { top(q) }).collect()
}

/// Returns whether every class of the node last counted meets all that is required of sensitive columns,
/// with nobody deleted.
pub(crate) fn all_hold(cohort: &Cohort, classes: &NodeClasses) -> bool {
    let kept = vec![true; cohort.tuples.len()];
    let tables = tables(cohort, &kept);
    !failing(cohort, classes, 1, &kept, &tables).contains(&true)
}

/// Returns for each class of the node last counted whether it has people and fails.
fn failing(cohort: &Cohort, classes: &NodeClasses, k: u64, kept: &[bool], tables: &[Vec<u64>]) -> Vec<bool> {
    let people = people(cohort, classes, kept);
    let mut failing: Vec<bool> = people.iter().map(|&p| p > 0 && p < k).collect();
    if tables.is_empty() {
        return failing;
    }
    let members = ClassMembers::of(classes, kept);
    for (required, table) in cohort.required.iter().zip(tables) {
        let mut values = Vec::new();
        for (class, failing) in failing.iter_mut().enumerate() {
            if people[class] > 0 && !*failing {
                let with_value = members.values(cohort, class, required.kept.position, &mut values);
                *failing = !required.requirement.holds(&Counts { values: &values, people: with_value }, table);
            }
        }
    }
    failing
}

/// People in each class of the node last counted, among the tuples kept.
pub(crate) fn people(cohort: &Cohort, classes: &NodeClasses, kept: &[bool]) -> Vec<u64> {
    let of = classes.of_tuple();
    let mut people = vec![0u64; classes.rows().len()];
    let Some(patients) = &cohort.tuples.patients else {
        for ((&class, &weight), _) in of.iter().zip(&cohort.tuples.weights).zip(kept).filter(|(_, k)| **k) {
            people[class as usize] += weight;
        }
        return people;
    };
    for ((&class, &single), _) in of.iter().zip(&patients.single).zip(kept).filter(|(_, k)| **k) {
        people[class as usize] += u64::from(single);
    }
    let mut own: Vec<u32> = Vec::new();
    for patient in 0..patients.several() {
        own.clear();
        own.extend(patients.tuples_of(patient).iter().filter(|&&t| kept[t as usize]).map(|&t| of[t as usize]));
        own.sort_unstable();
        own.dedup();
        own.iter().for_each(|&class| people[class as usize] += 1);
    }
    people
}

/// Returns how often each value of each required column occurs among the tuples kept, by code.
fn tables(cohort: &Cohort, kept: &[bool]) -> Vec<Vec<u64>> {
    let everybody = ClassMembers::all(kept);
    let counts = cohort.required.iter().map(|required| {
        let mut table = vec![0; cohort.tuples.dictionaries[required.kept.position].len()];
        let mut values = Vec::new();
        everybody.values(cohort, 0, required.kept.position, &mut values);
        values.iter().for_each(|&(value, people)| table[value as usize] = people);
        table
    });
    counts.collect()
}

/// The tuples of each class, among those kept.
struct ClassMembers {
    tuples: Ragged<u32>,
}

impl ClassMembers {
    fn of(classes: &NodeClasses, kept: &[bool]) -> ClassMembers {
        let by_class = classes.of_tuple().iter().zip(0..).filter(|&(_, t)| kept[t as usize]).map(|(&c, t)| (c, t));
        ClassMembers { tuples: Ragged::by_key(classes.rows().len(), by_class) }
    }

    /// One class of everybody.
    fn all(kept: &[bool]) -> ClassMembers {
        let mut tuples = Ragged::default();
        tuples.push((0..kept.len() as u32).filter(|&t| kept[t as usize]));
        ClassMembers { tuples }
    }

    /// Counts the values of a column in a class, missing left out; returns the people who have any.
    fn values(&self, cohort: &Cohort, class: usize, position: usize, values: &mut Vec<(u32, u64)>) -> u64 {
        let tuples = &cohort.tuples;
        let members = self.tuples.get(class);
        let known = |t: u32| Some(tuples.code(t as usize, position)).filter(|&v| v != 0);
        values.clear();
        let Some(patients) = &tuples.patients else {
            values.extend(members.iter().filter_map(|&t| Some((known(t)?, tuples.weights[t as usize]))));
            merge_counts(values);
            return values.iter().map(|v| v.1).sum();
        };
        values.extend(members.iter().filter_map(|&t| Some((known(t)?, u64::from(patients.single[t as usize])))));
        merge_counts(values);
        let mut with_value: u64 = values.iter().map(|v| v.1).sum();
        let mut named: Vec<(u32, u32)> = Vec::new();
        for &t in members {
            if let Some(value) = known(t) {
                named.extend(patients.having(t as usize).iter().map(|&p| (p, value)));
            }
        }
        named.sort_unstable();
        named.dedup();
        with_value += named.chunk_by(|a, b| a.0 == b.0).count() as u64;
        values.extend(named.iter().map(|&(_, value)| (value, 1)));
        merge_counts(values);
        with_value
    }
}

/// Many counts of values below this number are added up by value; others are sorted.
const FEW_VALUES: usize = 256;
const MANY_COUNTS: usize = 32;

/// Adds up the counts of equal values and leaves out those without people. Values are ascending afterwards.
pub(crate) fn merge_counts(values: &mut Vec<(u32, u64)>) {
    if values.len() > MANY_COUNTS && values.iter().all(|own| (own.0 as usize) < FEW_VALUES) {
        let mut counts = [0; FEW_VALUES];
        values.iter().for_each(|&(value, people)| counts[value as usize] += people);
        values.clear();
        values.extend((0..).zip(counts).filter(|own| own.1 > 0));
        return;
    }
    values.sort_unstable();
    values.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    values.retain(|v| v.1 > 0);
}

#[cfg(test)]
mod tests {
    use super::{FEW_VALUES, MANY_COUNTS, merge_counts};
    use kohort_core::random::Randomness;
    use std::collections::BTreeMap;

    #[test]
    fn counts_of_equal_values_are_added_up_however_many_there_are() {
        let mut random = Randomness::seeded(5);
        for case in 0..200 {
            let values = if case % 2 == 0 { FEW_VALUES } else { 3 * FEW_VALUES } as u64;
            let counts = random.below(4 * MANY_COUNTS as u64);
            let mut found: Vec<(u32, u64)> =
                (0..counts).map(|_| (random.below(values) as u32, random.below(3))).collect();
            let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
            found.iter().for_each(|&(value, people)| *expected.entry(value).or_default() += people);
            expected.retain(|_, people| *people > 0);
            merge_counts(&mut found);
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{case}");
        }
    }
}
