//! The questions of a board about a release: who was removed, and how many groups share one sensitive value.

use super::distributions::compare_labels;
use super::metrics::{ByName, OneValue, RemovedGroup};
use kohort_core::Result;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::policy::{Policy, Role};
use kohort_core::release::Plan;
use kohort_core::verify::Verified;
use std::collections::HashMap;

/// A column makes groups at its finest level with at most this many.
const MOST_GROUPS: usize = 12;

/// The name of all groups together that fewer than k people are in: their own names would be values of few people.
const RARER: &str = "rarer values together";

/// The rows that were removed, by group of each quasi-identifier. Empty where none were.
pub(super) fn removed(cohort: &Cohort, plan: &Plan, k: u64) -> ByName<Vec<RemovedGroup>> {
    let tuples = &cohort.tuples;
    let kept = |tuple: usize| plan.rows(cohort, tuple).map(|(_, rows)| rows).sum::<u64>();
    let lost: Vec<u64> = (0..tuples.len()).map(|tuple| tuples.weights[tuple] - kept(tuple)).collect();
    if lost.iter().all(|&rows| rows == 0) {
        return ByName::default();
    }
    let columns = cohort.quasi.iter().enumerate();
    columns.filter_map(|(q, quasi)| Some((quasi.name.clone(), groups(cohort, q, quasi, &lost, k)?))).collect()
}

/// The groups of one column. `None` where they would be one or too many.
fn groups(cohort: &Cohort, q: usize, quasi: &Quasi, lost: &[u64], k: u64) -> Option<Vec<RemovedGroup>> {
    let frequencies = cohort.tuples.frequencies(q);
    let levels = quasi.hierarchy.levels.iter();
    let counted = levels.map(|level| {
        let mut rows = vec![0; level.labels.len()];
        level.label_of.iter().zip(frequencies).for_each(|(&label, own)| rows[label as usize] += own);
        (level, rows)
    });
    let is_short = |rows: &[u64]| (2..=MOST_GROUPS).contains(&rows.iter().filter(|rows| **rows > 0).count());
    let (level, rows) = counted.into_iter().find(|(_, rows)| is_short(rows))?;
    let mut removed = vec![0; rows.len()];
    for (tuple, lost) in lost.iter().enumerate() {
        removed[level.label_of[cohort.tuples.code(tuple, q) as usize] as usize] += lost;
    }
    let group = |value: &str, rows: u64, removed: u64| RemovedGroup {
        value: value.into(),
        rows,
        removed,
        share: removed as f64 / rows as f64,
    };
    let mut groups = Vec::new();
    let mut rarer = (0, 0);
    for (label, (&rows, &removed)) in level.labels.iter().zip(rows.iter().zip(&removed)) {
        match rows {
            0 => {}
            _ if rows < k => rarer = (rarer.0 + rows, rarer.1 + removed),
            _ => groups.push(group(&label.text, rows, removed)),
        }
    }
    groups.sort_by(|a: &RemovedGroup, b| compare_labels(&a.value, &b.value));
    if rarer.0 > 0 {
        groups.push(group(RARER, rarer.0, rarer.1));
    }
    Some(groups)
}

/// For each sensitive column, the groups of released records that look the same and in which every known value is the
/// same: whoever finds the group learns it.
pub(super) fn one_value(verified: &Verified, policy: &Policy, threads: usize) -> Result<ByName<OneValue>> {
    let released = policy.released();
    let of_role = |is: &dyn Fn(&Role) -> bool| -> Vec<usize> {
        policy.positions(is).into_iter().filter(|column| released.contains(column)).collect()
    };
    let quasi = of_role(&|role| matches!(role, Role::Quasi));
    let sensitive = of_role(&|role| matches!(role, Role::Sensitive { .. }));
    if sensitive.is_empty() {
        return Ok(ByName::default());
    }
    let names: Vec<&str> = quasi.iter().chain(&sensitive).map(|&column| &*policy.columns[column].name).collect();
    let tuples = verified.rows_by(&names, threads)?;
    let mut classes: HashMap<&[u32], (u64, Vec<Shared>)> = HashMap::default();
    for (tuple, &rows) in tuples.weights.iter().enumerate() {
        let (key, values) = tuples.codes(tuple).split_at(quasi.len());
        let class = classes.entry(key).or_insert_with(|| (0, vec![Shared::Nothing; sensitive.len()]));
        class.0 += rows;
        for (own, &code) in class.1.iter_mut().zip(values) {
            *own = own.and(if code == 0 { Shared::Nothing } else { Shared::One(code) });
        }
    }
    let all: u64 = classes.values().map(|(rows, _)| rows).sum();
    let found = sensitive.iter().enumerate().map(|(place, &column)| {
        let shared = || classes.values().filter(|(_, values)| matches!(values[place], Shared::One(_)));
        let rows: u64 = shared().map(|(rows, _)| rows).sum();
        let own = OneValue {
            classes: shared().count() as u64,
            of: classes.len() as u64,
            rows,
            share: rows as f64 / all.max(1) as f64,
        };
        (policy.columns[column].name.clone(), own)
    });
    Ok(found.collect())
}

/// The value that the records of a group have in common, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shared {
    /// No record has a value.
    Nothing,
    One(u32),
    Several,
}

impl Shared {
    fn and(self, other: Shared) -> Shared {
        match (self, other) {
            (Shared::Nothing, own) | (own, Shared::Nothing) => own,
            (Shared::One(a), Shared::One(b)) if a == b => self,
            _ => Shared::Several,
        }
    }
}
