//! People who look the same to someone who knows some columns: the classes of very many sets of columns
//! over the same people.
//!
//! The verifier and the measures of risk count with it; a method cannot (nothing here leaves the
//! crate), so that what searches and what verifies count with different code.
//!
//! Cost: 40 columns of two or three labels have 91,390 sets of four. Columns are joined to blocks,
//! so that a few thousand passes over the tuples count all of them ([`joint`]); where a set has too
//! many classes for that, the classes of its first columns are kept from the set before and
//! refined by its last ([`walk`]). In millions of sets of three, only the smallest class is looked for
//! ([`any_three`](mod@any_three)). Sets go to all cores. Memory: a few words a tuple for each core.

mod any_three;
mod joint;
mod label_bits;
mod members;
mod people;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use any_three::any_three;
pub(crate) use people::People;

use crate::parallel::in_order;
use crate::privacy::Counts;
use crate::{Error, Result};
use joint::ColumnBlocks;
use members::SetCounter;

/// A column over tuples: a code below `len` for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnCodes {
    pub(crate) of: Vec<u32>,
    pub(crate) len: usize,
}

impl ColumnCodes {
    /// Codes that occur, numbered anew in their order: what never occurs needs no room.
    pub(crate) fn occurring(mut of: Vec<u32>, len: usize) -> ColumnCodes {
        let mut number = vec![0u32; len];
        of.iter().for_each(|&code| number[code as usize] = 1);
        let mut next = 0;
        for number in &mut number {
            next += std::mem::replace(number, next);
        }
        of.iter_mut().for_each(|code| *code = number[*code as usize]);
        ColumnCodes { of, len: next as usize }
    }
}

/// People by what is known of them.
#[derive(Debug)]
pub(crate) struct KnownPeople {
    /// The columns an attacker may know.
    pub(crate) known: Vec<ColumnCodes>,
    /// Sensitive columns whose values are counted in each class; code 0 is missing.
    pub(crate) sensitive: Vec<ColumnCodes>,
    /// Names who stands behind each tuple.
    pub(crate) people: People,
}

/// Looks at the classes of one set after the other.
pub(crate) trait Judge: Send {
    /// A class of the set has so many people, never 0.
    fn size(&mut self, people: u64);
    /// A class of the set has these values in a sensitive column, at least one; after all sizes.
    fn values(&mut self, column: usize, class: &Counts);
    /// That was the set with this number.
    fn end(&mut self, set: usize);
    /// Returns whether nobody needs to look any further.
    fn is_done(&self) -> bool {
        false
    }
}

/// Shows the classes of each set to a judge. There are many judges: which of them sees which sets,
/// and in which order, depends on the sets alone, not on the number of threads. `take` gets them
/// one after the other.
pub(crate) fn each_set<J: Judge>(
    crowd: &KnownPeople,
    sets: &[Vec<usize>],
    threads: usize,
    judge: impl Fn() -> J + Sync,
    take: impl FnMut(J),
) -> Result<()> {
    let cells = (crowd.people.tuples() / 8).clamp(64, 1 << 16);
    each_set_within(crowd, sets, threads, cells, judge, take)
}

/// Sets that one judge sees, at most.
const TOGETHER: usize = 64;

/// [`each_set`], where tables of joined columns have at most so many cells.
fn each_set_within<J: Judge>(
    crowd: &KnownPeople,
    sets: &[Vec<usize>],
    threads: usize,
    cells: usize,
    judge: impl Fn() -> J + Sync,
    mut take: impl FnMut(J),
) -> Result<()> {
    let (joint, alone) = ColumnBlocks::new(crowd, sets, cells);
    let together = joint.jobs.chunks(TOGETHER / 4).map(CountingWork::Joint);
    let few = alone.len().div_ceil(16).clamp(1, TOGETHER);
    let work: Vec<CountingWork> = together.chain(alone.chunks(few).map(CountingWork::Alone)).collect();
    // Sets are looked at in one order, so that it is always the same judge who has seen enough.
    let mut done = false;
    let looked = in_order(
        threads.min(work.len()).max(1),
        |hand| work.iter().try_for_each(hand),
        |_| (joint.counter(crowd), SetCounter::new(crowd, cells)),
        |(joint, members), work: &CountingWork| {
            let mut judge = judge();
            match work {
                CountingWork::Joint(jobs) => jobs.iter().for_each(|job| joint.count(job, sets, &mut judge)),
                CountingWork::Alone(alone) => alone.iter().for_each(|&set| members.count(set, &sets[set], &mut judge)),
            }
            Ok(judge)
        },
        |judge| {
            done = judge.is_done();
            take(judge);
            if done { Err(Error::cancelled()) } else { Ok(()) }
        },
    );
    if done { Ok(()) } else { looked.map(drop) }
}

enum CountingWork<'a> {
    Joint(&'a [joint::Job]),
    Alone(&'a [usize]),
}
