//! The fixpoint: what is blanked for one combination shrinks classes of others, so that all are
//! counted again until none is small (P-1), no record is left that cannot be helped (P-2), and no
//! blank can be undone (P-9).

use super::classes::CombinationClasses;
use super::crowd::ClassRule;
use super::infer::Inference;
use super::levels::levels;
use super::params::Order;
use super::pass::{Blanking, pass};
use super::records::{BLANK, RecordRuns};
use super::remainder::{Remainder, remainder};

/// The work that was done.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WorkDone {
    /// Rounds over all combinations.
    pub rounds: u64,
    /// Every step of every pass.
    pub steps: Vec<Blanking>,
    /// Rows that went blank throughout so that a remainder has k people.
    pub grown: u64,
    /// Cells blanked because they could be inferred from another cell of the record.
    pub inferred: u64,
}

impl WorkDone {
    /// Adds what it took to settle once more.
    pub fn add(&mut self, other: WorkDone) {
        self.rounds += other.rounds;
        self.steps.extend(other.steps);
        self.grown += other.grown;
        self.inferred += other.inferred;
    }
}

/// Blanks, and deletes what blanking cannot help, until every class of every set is safe and no
/// blank can be undone through a declared dependency.
///
/// A run that its caller stops ends here with records that are not safe; the method then refuses.
///
/// Ends: each round blanks a cell or deletes a record, or is the last.
pub(super) fn settle(
    records: &mut RecordRuns,
    rule: &mut ClassRule,
    sets: &[Vec<usize>],
    weights: &[f64],
    how: (Order, Remainder),
    inference: &Inference,
) -> WorkDone {
    let mut work = WorkDone::default();
    // By set: whether nothing that it shows changed since all its classes were safe.
    let mut safe = vec![false; sets.len()];
    let cohort = records.cohort;
    cohort.watcher.stage("blanking", sets.len() as u64);
    let mut told = 0;
    loop {
        let settled = safe.iter().filter(|safe| **safe).count();
        cohort.watcher.advance(settled.saturating_sub(told) as u64);
        told = told.max(settled);
        work.rounds += 1;
        if blank_rare(records, rule) || !rule.k_alone() {
            safe.fill(false);
        }
        rule.look_at(records);
        let mut order: Vec<(usize, usize)> = Vec::new();
        let mut first: Option<(usize, CombinationClasses)> = None;
        for (s, set) in sets.iter().enumerate() {
            if cohort.watcher.is_cancelled() {
                return work;
            }
            if safe[s] {
                continue;
            }
            let classes = CombinationClasses::count(records, rule, set);
            let failing = classes.failing();
            safe[s] = failing == 0;
            if failing > 0 {
                if order.iter().all(|&(most, _)| failing > most) {
                    first = Some((s, classes));
                }
                order.push((failing, s));
            }
        }
        if order.is_empty() {
            match inference.close(records) {
                0 => return work,
                cells => work.inferred += cells,
            }
            safe.fill(false);
            continue;
        }
        // Most small classes first; of equal ones the first listed.
        order.sort_by_key(|&(failing, s)| (std::cmp::Reverse(failing), s));
        for (_, s) in order {
            if cohort.watcher.is_cancelled() {
                return work;
            }
            let classes = match first.take() {
                Some((counted, classes)) if counted == s => classes,
                _ => CombinationClasses::count(records, rule, &sets[s]),
            };
            let mut touched: Vec<usize> = Vec::new();
            let classes = match how.0 {
                Order::Paper => classes,
                Order::Best => {
                    levels(records, rule, &classes, weights);
                    touched.extend(&sets[s]);
                    CombinationClasses::count(records, rule, &sets[s])
                }
            };
            let passed = pass(records, rule, classes, weights);
            touched.extend(passed.steps.iter().map(|step| step.column));
            touched.sort_unstable();
            touched.dedup();
            for (safe, set) in safe.iter_mut().zip(sets) {
                *safe &= !touched.iter().any(|column| set.contains(column));
            }
            safe[s] = rule.k_alone();
            work.steps.extend(passed.steps);
            if !passed.stuck.is_empty() {
                work.grown += remainder(records, rule, &sets[s], &passed.stuck, how.1);
                safe.fill(false);
            }
        }
    }
}

/// The first phase: a value that fewer than k people have goes blank everywhere, since every class
/// that shows it is small. Whether any did.
fn blank_rare(records: &mut RecordRuns, rule: &ClassRule) -> bool {
    let rare: Vec<Vec<bool>> = (0..records.width).map(|q| rare(records, rule, q)).collect();
    let rare: Vec<(usize, Vec<bool>)> = rare.into_iter().enumerate().filter(|(_, rare)| rare.contains(&true)).collect();
    if rare.is_empty() {
        return false;
    }
    let mut any = false;
    for run in 0..records.len() {
        for (q, rare) in &rare {
            if !records.deleted[run] && rare[records.cells(run)[*q] as usize] {
                any |= records.blank(run, *q);
            }
        }
    }
    any
}

/// Returns, for each value of a column that may go blank, whether fewer than k people show it.
fn rare(records: &RecordRuns, rule: &ClassRule, column: usize) -> Vec<bool> {
    let rows = &records.support[column];
    let few = |people: u64| 0 < people && people < rule.k;
    let mut rare: Vec<bool> = rows.iter().map(|&rows| few(rows)).collect();
    if records.cohort.tuples.patients.is_some() {
        let mut people = vec![0u64; rows.len()];
        let mut named: Vec<(u32, u32)> = Vec::new();
        for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
            let value = records.cells(run)[column];
            people[value as usize] += records.single[run];
            named.extend(records.named(run).iter().map(|&p| (value, p)));
        }
        named.sort_unstable();
        named.dedup();
        named.iter().for_each(|&(value, _)| people[value as usize] += 1);
        rare = people.into_iter().map(few).collect();
    }
    rare[BLANK as usize] = false;
    if !records.may_blank[column] {
        rare.fill(false);
    }
    rare
}
