//! The second phase of the paper on one combination: the rarest value that occurs in a small class
//! goes blank in all small classes that have it, until no class is small.

use super::classes::{CombinationClasses, NONE};
use super::crowd::ClassRule;
use super::records::{BLANK, RecordRuns};
use kohort_core::table::Keys;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One blanking, for those who follow the algorithm step by step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Blanking {
    pub column: usize,
    pub value: u32,
    /// Rows that showed the value before.
    pub support: u64,
}

/// The result of a pass.
pub(super) struct Passed {
    /// Steps taken, in order.
    pub steps: Vec<Blanking>,
    /// Runs in classes that are not safe and have no cell left that may go blank.
    pub stuck: Vec<Vec<u32>>,
}

/// Blanks cells until every class of the combination is safe or has nothing left to blank.
/// Whole classes move, since all their records show the same.
pub(super) fn pass(
    records: &mut RecordRuns,
    rule: &ClassRule,
    mut classes: CombinationClasses,
    weights: &[f64],
) -> Passed {
    let set = classes.set;
    let mut lists: Vec<Vec<Vec<u32>>> = set.iter().map(|&q| vec![Vec::new(); records.support[q].len()]).collect();
    let mut queue = Queue { heap: BinaryHeap::new(), weights };
    // Whoever goes blank comes to a class with a blank. By number: the class that shows it now.
    let mut blanked = Keys::new(set.len());
    let mut at_key: Vec<u32> = Vec::new();
    for class in (0..classes.rows.len() as u32).filter(|&c| classes.has_blank(c)) {
        blanked.intern(classes.shown(class));
        at_key.push(class);
    }
    // By class: where it went.
    let mut went: Vec<u32> = vec![NONE; classes.rows.len()];
    let list = |class: u32, key: &[u32], records: &RecordRuns, queue: &mut Queue, lists: &mut Vec<Vec<Vec<u32>>>| {
        for (i, &value) in key.iter().enumerate().filter(|(i, v)| **v != BLANK && records.may_blank[set[*i]]) {
            if lists[i][value as usize].is_empty() {
                queue.push(records.support[set[i]][value as usize], set[i], i, value);
            }
            lists[i][value as usize].push(class);
        }
    };
    for class in (0..classes.rows.len()).filter(|&c| classes.fails[c]) {
        list(class as u32, classes.shown(class as u32), records, &mut queue, &mut lists);
    }
    let mut steps = Vec::new();
    let mut key = Vec::new();
    while !records.cohort.watcher.is_cancelled()
        && let Some((i, value)) = queue.pop()
    {
        let column = set[i];
        let support = records.support[column][value as usize];
        let mut touched: Vec<u32> = Vec::new();
        for class in std::mem::take(&mut lists[i][value as usize]) {
            let from = class as usize;
            if !classes.fails[from] {
                continue;
            }
            key.clear();
            key.extend_from_slice(classes.shown(class));
            if let Some(left) = classes.has_blank(class).then(|| blanked.find(&key)).flatten() {
                at_key[left as usize] = NONE;
            }
            key[i] = BLANK;
            let target = blanked.intern(&key);
            if target as usize == at_key.len() {
                at_key.push(NONE);
            }
            if at_key[target as usize] == NONE {
                at_key[target as usize] = classes.open(&key);
                went.push(NONE);
            }
            let into = at_key[target as usize];
            records.support[column][value as usize] -= classes.rows[from];
            records.support[column][BLANK as usize] += classes.rows[from];
            classes.merge(from, into as usize, rule);
            went[from] = into;
            touched.push(into);
        }
        if touched.is_empty() {
            continue;
        }
        steps.push(Blanking { column, value, support });
        touched.sort_unstable();
        touched.dedup();
        for into in touched {
            if classes.recount(into as usize, rule) {
                list(into, classes.shown(into), records, &mut queue, &mut lists);
            }
        }
    }
    let stuck = apply(records, &classes, &mut went);
    Passed { steps, stuck }
}

/// Shows in the records what their classes show now; the runs of classes that still fail.
fn apply(records: &mut RecordRuns, classes: &CombinationClasses, went: &mut [u32]) -> Vec<Vec<u32>> {
    // A class went to one that was opened later, or that has not gone itself by then.
    for class in 0..went.len() {
        let mut end = class;
        while went[end] != NONE {
            end = went[end] as usize;
        }
        let mut at = class;
        while went[at] != NONE && went[at] as usize != end {
            at = std::mem::replace(&mut went[at], end as u32) as usize;
        }
    }
    let mut stuck: Vec<Vec<u32>> = vec![Vec::new(); classes.rows.len()];
    for run in 0..records.len() {
        let class = classes.of_run[run];
        if class == NONE {
            continue;
        }
        let end = if went[class as usize] == NONE { class } else { went[class as usize] };
        if end != class {
            classes.set.iter().zip(classes.shown(end)).for_each(|(&q, &value)| records.set(run, q, value));
        }
        if classes.fails[end as usize] {
            stuck[end as usize].push(run as u32);
        }
    }
    stuck.retain(|runs| !runs.is_empty());
    stuck
}

/// Values by weighted support, then by column, then by value. A value's support changes only when
/// it is taken out, so that nothing in the queue grows stale.
struct Queue<'a> {
    heap: BinaryHeap<Reverse<(Weighted, usize, u32)>>,
    weights: &'a [f64],
}

impl Queue<'_> {
    fn push(&mut self, support: u64, column: usize, place: usize, value: u32) {
        self.heap.push(Reverse((Weighted(support as f64 * self.weights[column]), place, value)));
    }

    fn pop(&mut self) -> Option<(usize, u32)> {
        self.heap.pop().map(|Reverse((_, place, value))| (place, value))
    }
}

#[derive(PartialEq)]
struct Weighted(f64);

impl Eq for Weighted {}

impl PartialOrd for Weighted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weighted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
