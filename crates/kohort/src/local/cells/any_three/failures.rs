//! Lists the points whose class fails over some three of very many columns.

use super::class_counter::ClassCounter;
use super::less_frequent::{LessFrequent, order};
use crate::local::Work;
use crate::local::cells::Cells;
use crate::local::cells::climb::ChangedRow;
use crate::local::cells::failing::{Failure, Shown};
use crate::local::points::Point;
use crate::local::requirement::Requirement;
use kohort_core::parallel;

/// The most failures that are listed with one first column. The others are found in the next round.
const MOST_FAILURES: usize = 50_000;

/// The number of first columns that are counted before what fails is repaired.
const FIRSTS: usize = 16;

/// Rows that changed, which one thread counts before it takes more.
const CHANGES: usize = 32;

/// Failures, and the sets of columns that they are about.
pub(super) struct Failures {
    pub sets: Vec<Vec<usize>>,
    /// The failures, in the order of their points.
    pub failures: Vec<Failure>,
    /// True if there may be more with the same first columns.
    pub is_cut: bool,
}

/// The end of a search for failures.
pub(super) enum Next {
    /// These fail; and the place to go on from.
    Failures(Failures, usize),
    /// Nothing fails any more.
    AllHold,
    /// The work is to end.
    Ended,
}

/// Looks for failures over three of these columns, where a class needs people and nothing else, of the sets that some of
/// the columns from place `from` on begin.
///
/// Failures can be repaired before the others are counted: that takes far fewer rounds than to count all sets again
/// each time.
pub(super) fn next_failures(
    cells: &Cells,
    order: &[usize],
    from: usize,
    requirement: &Requirement,
    work: Work,
) -> Next {
    let shown = Shown::new(cells, work.threads);
    let table = LessFrequent::new(&shown, order, work.threads);
    let end = order.len().saturating_sub(2);
    for from in (from..end).step_by(FIRSTS) {
        let next = (from + FIRSTS).min(end);
        let found = parallel::map(work.threads, next - from, |first| match work.watch.is_enough() {
            true => Vec::new(),
            false => with_first(&table, from + first, requirement),
        });
        if work.watch.is_enough() {
            return Next::Ended;
        }
        let is_cut = found.iter().any(|found| found.len() > MOST_FAILURES);
        let failures = Failures { is_cut, ..Failures::of(found.concat()) };
        if !failures.failures.is_empty() {
            return Next::Failures(failures, next);
        }
    }
    Next::AllHold
}

/// The failures over sets whose first column, in the order of `columns`, is this one.
fn with_first(table: &LessFrequent, first: usize, requirement: &Requirement) -> Vec<(Point, [u32; 3])> {
    let mut counter = ClassCounter::new(table, requirement);
    for second in first + 1..table.columns.len() - 1 {
        for a in table.labels_of(first) {
            for b in table.labels_of(second) {
                match table.points_of[a].and(&table.points_of[b], &mut counter.both) {
                    true => counter.count_words([first, second]),
                    false => counter.count_points([first, second]),
                }
            }
        }
        if counter.found.len() > MOST_FAILURES {
            break;
        }
    }
    counter.found
}

impl Failures {
    fn of(mut found: Vec<(Point, [u32; 3])>) -> Failures {
        found.sort_unstable();
        found.dedup();
        let mut sets: Vec<[u32; 3]> = found.iter().map(|own| own.1).collect();
        sets.sort_unstable();
        sets.dedup();
        let number = |set: &[u32; 3]| sets.partition_point(|own| own < set) as u32;
        let failures = found.iter().map(|(point, set)| (*point, number(set))).collect();
        let sets = sets.iter().map(|set| set.iter().map(|&c| c as usize).collect()).collect();
        Failures { sets, failures, is_cut: false }
    }
}

/// The failures of the classes that changed rows left or joined; only some of them where the work is to end.
pub(super) fn around(cells: &Cells, changed: &[ChangedRow], requirement: &Requirement, work: Work) -> Failures {
    let shown = Shown::new(cells, work.threads);
    let table = LessFrequent::new(&shown, &order(&shown, work.threads), work.threads);
    let label_of = table.label_of_node();
    let parts: Vec<&[ChangedRow]> = changed.chunks(CHANGES).collect();
    let found = parallel::map(work.threads, parts.len(), |part| {
        if work.watch.is_enough() {
            return Vec::new();
        }
        let mut counter = ClassCounter::new(&table, requirement);
        for row in parts[part] {
            let now = cells.row(row.point);
            for labels in [&row.before[..], now] {
                let labels: Vec<u32> =
                    table.columns.iter().zip(&label_of).map(|(&column, own)| own[labels[column] as usize]).collect();
                for (place, &column) in table.columns.iter().enumerate() {
                    if row.before[column] != now[column] {
                        counter.count_around(place, &labels);
                    }
                }
            }
            counter.found.sort_unstable();
            counter.found.dedup();
        }
        counter.found
    });
    Failures::of(found.concat())
}
