//! Fewer blanks than the paper's order: records of small classes are gathered, with as few blanks as
//! possible, into groups of k that show the same.
//!
//! Level by level (one blank, two, …): of all groups that a level could make, those come first whose
//! records have the fewest other groups to go to.

use super::classes::{CombinationClasses, NONE};
use super::crowd::ClassPeople;
use super::crowd::ClassRule;
use super::group::{Groups as Grouped, group};
use super::packed::{KeyPacking, Mask};
use super::records::{BLANK, RecordRuns};
use foldhash::fast::RandomState;
use hashbrown::HashSet;

/// More ways to blank than this are left to the paper's order.
pub(super) const MOST_MASKS: usize = 4096;

/// Gathers the records of failing classes of a combination. The paper's order does the rest.
pub(super) fn levels(records: &mut RecordRuns, rule: &ClassRule, classes: &CombinationClasses, weights: &[f64]) {
    let set = classes.set;
    let Some(packing) = KeyPacking::new(records, set) else { return };
    let of = |run: usize| classes.of_run[run];
    let mut open: Vec<u32> =
        (0..records.len()).filter(|&r| of(r) != NONE && classes.fails[of(r) as usize]).map(|r| r as u32).collect();
    let mut keys: Vec<u128> = open.iter().map(|&r| packing.key(|q| records.cells(r as usize)[q])).collect();
    // Whoever comes to show what a safe class shows, joins it.
    let mut safe: HashSet<u128, RandomState> = HashSet::default();
    for class in (0..classes.rows.len() as u32).filter(|&c| !classes.fails[c as usize] && classes.has_blank(c)) {
        let at = |q: usize| set.iter().position(|&own| own == q).unwrap_or_default();
        safe.insert(packing.key(|q| classes.shown(class)[at(q)]));
    }
    let masks = packing.masks(records, weights, MOST_MASKS);
    for level in masks.chunk_by(|a, b| a.cost == b.cost) {
        if records.cohort.watcher.is_cancelled() {
            return;
        }
        let taken = gather(records, rule, &open, &keys, level, &mut safe);
        for (at, mask) in taken.iter().enumerate().filter_map(|(at, mask)| Some((at, level.get(*mask as usize)?))) {
            for (i, &q) in set.iter().enumerate().filter(|(i, _)| mask.columns >> i & 1 == 1) {
                debug_assert!(i < 32);
                records.set(open[at] as usize, q, BLANK);
            }
        }
        let left = |at: &usize| taken[*at] == NONE;
        (open, keys) = (0..open.len()).filter(left).map(|at| (open[at], keys[at])).unzip();
    }
    records.count_support();
}

/// A group that a level could make.
struct LevelGroup {
    /// States which mask of the level, and what the group shows.
    mask: u32,
    key: u128,
    /// Σ over its rows of 1 / groups the row could go to, in 2⁻³²; and its rows.
    urgency: u64,
    rows: u64,
    members: Vec<u32>,
}

/// For each open record: which mask of the level it gets, or [`NONE`].
fn gather(
    records: &RecordRuns,
    rule: &ClassRule,
    open: &[u32],
    keys: &[u128],
    level: &[Mask],
    safe: &mut HashSet<u128, RandomState>,
) -> Vec<u32> {
    let mut groups: Vec<LevelGroup> = Vec::new();
    let mut choices = vec![0u32; open.len()];
    for (m, mask) in (0u32..).zip(level) {
        let masked: Vec<u128> = keys.iter().map(|key| key & mask.keep).collect();
        let Grouped { of, first } = group(&masked, records.cohort.threads);
        let mut people = vec![0u64; first.len()];
        for (&run, &n) in open.iter().zip(&of) {
            // At most: who has several rows may be counted twice.
            people[n as usize] += records.single[run as usize] + records.named(run as usize).len() as u64;
        }
        let may: Vec<bool> = people
            .iter()
            .zip(&first)
            .map(|(&people, &first)| people >= rule.k || safe.contains(&masked[first as usize]))
            .collect();
        let mut place = vec![NONE; people.len()];
        for (at, &n) in of.iter().enumerate() {
            if !may[n as usize] {
                continue;
            }
            let key = masked[at];
            if place[n as usize] == NONE {
                place[n as usize] = groups.len() as u32;
                groups.push(LevelGroup { mask: m, key, urgency: 0, rows: 0, members: Vec::new() });
            }
            groups[place[n as usize] as usize].members.push(at as u32);
            choices[at] += 1;
        }
    }
    for group in &mut groups {
        for &at in &group.members {
            let rows = records.rows(open[at as usize] as usize);
            group.rows += rows;
            group.urgency += rows * ((1u64 << 32) / u64::from(choices[at as usize]));
        }
    }
    let mean = |a: &LevelGroup, b: &LevelGroup| {
        (u128::from(a.urgency) * u128::from(b.rows)).cmp(&(u128::from(b.urgency) * u128::from(a.rows)))
    };
    groups.sort_by(|a, b| mean(b, a).then(a.mask.cmp(&b.mask)).then(a.key.cmp(&b.key)));
    let mut taken = vec![NONE; open.len()];
    for group in groups {
        let left: Vec<u32> = group.members.into_iter().filter(|&at| taken[at as usize] == NONE).collect();
        if left.is_empty() || !(safe.contains(&group.key) || people(records, rule, open, &left) >= rule.k) {
            continue;
        }
        left.iter().for_each(|&at| taken[at as usize] = group.mask);
        safe.insert(group.key);
    }
    taken
}

/// The people of some open records.
fn people(records: &RecordRuns, rule: &ClassRule, open: &[u32], at: &[u32]) -> u64 {
    if records.cohort.tuples.patients.is_none() {
        return at.iter().map(|&at| records.single[open[at as usize] as usize]).sum();
    }
    let mut crowd = ClassPeople::default();
    for &at in at {
        crowd.add(records, open[at as usize] as usize);
    }
    crowd.settle();
    debug_assert!(rule.k > 1);
    crowd.people()
}
