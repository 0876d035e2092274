//! The exact alternative to estimates (`power_total`): the attacker knows any p facts about a patient,
//! over all event columns, and all patient-level values.
//!
//! # Example
//! The patients of `tester.rs`, k = 2 and p = 2. Class F has two patients, A with the facts flu and
//! gout, and B with flu. The sets of up to two facts are counted in how many patients of the class
//! have them: {flu} 2, {gout} 1, {flu, gout} 1. A has a set that fewer than k patients have, so A
//! violates the requirement; B does not. In class M, C and D both have a fact of their own, so both
//! violate it.

use super::classes::PatientClasses;
use super::fact_sets::{PatientFacts, SetCounts, each_set};
use super::patient_events::PatientEvents;
use kohort_core::events::Histories;
use kohort_core::parallel;

/// Returns, by place, whether some set of at most `p` facts of the patient is contained in fewer than
/// `k` patients of their class. Patients whose events were all removed have no facts.
///
/// Cost: for each patient the number of sets of p facts.
pub(crate) fn violating(
    histories: &Histories,
    levels: &[usize],
    left: &PatientEvents,
    classes: &PatientClasses,
    (k, p): (u64, usize),
    threads: usize,
) -> Vec<bool> {
    violating_of(&PatientFacts::of(histories, levels, left, threads), left, classes, (k, p), threads)
}

/// Returns whether the patients whom `violating` finds are so few that `allows` holds, which then holds for any smaller
/// number. Shorter sets come first: they are quickly counted, and most nodes of a lattice fail by them.
pub(crate) fn violating_are_few(
    histories: &Histories,
    levels: &[usize],
    left: &PatientEvents,
    classes: &PatientClasses,
    (k, p): (u64, usize),
    (threads, allows): (usize, &dyn Fn(u64) -> bool),
) -> bool {
    let facts = PatientFacts::of(histories, levels, left, threads);
    (1..=p).all(|p| {
        let found = violating_of(&facts, left, classes, (k, p), threads);
        allows(found.iter().filter(|found| **found).count() as u64)
    })
}

fn violating_of(
    facts: &PatientFacts,
    left: &PatientEvents,
    classes: &PatientClasses,
    (k, p): (u64, usize),
    threads: usize,
) -> Vec<bool> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.sizes.len()];
    for (place, &class) in classes.of.iter().enumerate() {
        if left.has_events(place) {
            members[class as usize].push(place as u32);
        }
    }
    // Classes are independent of one another.
    let parts = distribute(members, threads);
    let of_part = |part: usize| {
        let mut counts = SetCounts::new(facts.distinct, p);
        let mut violating: Vec<u32> = Vec::new();
        for class in &parts[part] {
            if (class.len() as u64) < k {
                violating.extend(class);
                continue;
            }
            for &person in class {
                each_set(facts.of_person(person as usize), p, &mut |set| {
                    counts.add(set);
                    true
                });
            }
            let safe =
                |person: u32| each_set(facts.of_person(person as usize), p, &mut |set| u64::from(counts.get(set)) >= k);
            violating.extend(class.iter().filter(|&&person| !safe(person)));
            counts.clear();
        }
        violating
    };
    let mut found = vec![false; left.people()];
    for person in parallel::map(threads, parts.len(), of_part).concat() {
        found[person as usize] = true;
    }
    found
}

/// Distributes classes over the threads, with about as many patients each.
fn distribute(mut classes: Vec<Vec<u32>>, threads: usize) -> Vec<Vec<Vec<u32>>> {
    classes.sort_by_key(|class| std::cmp::Reverse(class.len()));
    let mut parts: Vec<(usize, Vec<Vec<u32>>)> = vec![(0, Vec::new()); threads.max(1)];
    for class in classes {
        if let Some(least) = parts.iter_mut().min_by_key(|part| part.0) {
            least.0 += class.len();
            least.1.push(class);
        }
    }
    parts.into_iter().map(|part| part.1).collect()
}
