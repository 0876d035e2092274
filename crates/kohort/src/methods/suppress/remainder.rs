//! Handles a class that is too small and has no cell left that could be blanked (P-2).

use super::classes::{CombinationClasses, NONE};
use super::crowd::ClassRule;
use super::records::{BLANK, RecordRuns};

/// The treatment of such records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remainder {
    /// They are deleted.
    Delete,
    /// Further records are blanked until there are k, if classes can spare them; else they are deleted.
    Grow,
}

/// Deletes the stuck runs of a combination, or grows their classes. Returns the rows that were added.
pub(super) fn remainder(
    records: &mut RecordRuns,
    rule: &ClassRule,
    set: &[usize],
    stuck: &[Vec<u32>],
    rest: Remainder,
) -> u64 {
    let mut added = 0;
    // Neither the order of classes nor that of rows may decide.
    let shown = |runs: &&Vec<u32>| set.iter().map(|&q| records.cells(runs[0] as usize)[q]).collect::<Vec<_>>();
    let mut stuck: Vec<&Vec<u32>> = stuck.iter().filter(|runs| !runs.is_empty()).collect();
    stuck.sort_by_cached_key(shown);
    for runs in stuck {
        let grown = if rest == Remainder::Grow { grow(records, rule, set, runs) } else { 0 };
        if grown == 0 {
            runs.iter().for_each(|&run| records.delete(run as usize));
        }
        added += grown;
    }
    if added > 0 {
        records.count_support();
    }
    added
}

/// Takes records from classes that stay safe: those with the fewest cells shown first, of these
/// from the largest class. Returns how many joined; 0 if there are not enough.
fn grow(records: &mut RecordRuns, rule: &ClassRule, set: &[usize], runs: &[u32]) -> u64 {
    let classes = CombinationClasses::count(records, rule, set);
    let Some(class) = runs.first().map(|&run| classes.of_run[run as usize]).filter(|&c| c != NONE) else { return 0 };
    let people = classes.people(class as usize);
    // More people help only if they are what is missing.
    if people >= rule.k {
        return 0;
    }
    let mut needed = rule.k - people;
    let own = classes.shown(class).to_vec();
    let fits = |key: &[u32]| (0..set.len()).all(|i| records.may_blank[set[i]] || key[i] == own[i]);
    let shown = |key: &[u32]| key.iter().filter(|v| **v != BLANK).count();
    let mut spare: Vec<u64> = (0..classes.rows.len()).map(|c| classes.people(c).saturating_sub(rule.k)).collect();
    let mut donors: Vec<u32> = (0..classes.rows.len() as u32)
        .filter(|&c| c != class && spare[c as usize] > 0 && fits(classes.shown(c)))
        .collect();
    let size = |c: u32| classes.people(c as usize);
    donors.sort_by_key(|&c| (shown(classes.shown(c)), std::cmp::Reverse(size(c)), classes.shown(c).to_vec()));
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.rows.len()];
    for (run, &c) in classes.of_run.iter().enumerate().filter(|(_, c)| **c != NONE) {
        if spare[c as usize] > 0 {
            members[c as usize].push(run as u32);
        }
    }
    let mut taken: Vec<(u32, u64)> = Vec::new();
    for donor in donors {
        if needed == 0 {
            break;
        }
        members[donor as usize].sort_by_key(|&run| records.rank(run as usize));
        // Who has one row counts once: those with several may be in the class with another row.
        for &run in &members[donor as usize] {
            let take = needed.min(spare[donor as usize]).min(records.single[run as usize]);
            if take > 0 {
                taken.push((run, take));
                needed -= take;
                spare[donor as usize] -= take;
            }
        }
    }
    if needed > 0 {
        return 0;
    }
    for &(run, take) in &taken {
        let run = run as usize;
        let whole = take == records.single[run] && records.named(run).is_empty();
        let run = if whole { run } else { records.split(run, take) };
        set.iter().zip(&own).for_each(|(&q, &value)| records.set(run, q, value));
    }
    taken.iter().map(|t| t.1).sum()
}
