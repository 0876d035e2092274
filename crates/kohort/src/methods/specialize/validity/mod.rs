//! Decides whether a split keeps the guarantee: every class that an attacker with up to L known
//! values can meet, one of them a child of the split value, must meet all requirements.
//!
//! # Example
//! `job: blue` is to be split into `mover` and `welder`; the columns `sex` and `age` were split
//! before. L = 2 and k = 2. The split makes these child partitions (one line each):
//!
//! | child partition | job | sex | age | rows |
//! |---|---|---|---|---|
//! | 0 | mover | M | 30s | 2 |
//! | 1 | mover | F | 30s | 1 |
//! | 2 | mover | F | 40s | 1 |
//! | 3 | welder | M | 30s | 1 |
//! | 4 | welder | M | 40s | 3 |
//!
//! The attacker knows the job and one other column, so the sets to be checked are {sex} and {age}.
//! - Under {sex} the classes are `mover M` (2 rows), `mover F` (1 + 1) and `welder M` (1 + 3): all
//!   have k rows.
//! - Under {age} they are `mover 30s` (2 + 1), `mover 40s` (1), …: `mover 40s` has one row. The
//!   split fails, and [`FailingSet`] names the set {age}.
//!
//! # Two engines
//! - `exhaustive.rs` counts every class under every set of columns, from the child partitions. It
//!   handles every requirement, and patients with several rows. `class_counts.rs` does the counting.
//! - `sampled.rs` is for wide tables where k alone matters and rows are the unit. A class with k rows
//!   in a sample has k rows in the table, so that a sample settles most sets; sets that stay open are
//!   counted with all records. `bitmaps.rs` holds the sample as bits.
//!
//! Both give the same verdict; a test in `sampled.rs` compares them on random tables.

mod bitmaps;
mod class_counts;
mod exhaustive;
mod sampled;

pub(super) use bitmaps::PartitionColumn;
pub(super) use class_counts::{ClassCounter, KnownColumn, classes_of, count_all};
pub(super) use exhaustive::ExhaustiveCheck;
pub(super) use sampled::{SAMPLE_SIZES, SampledCheck};

use super::requirements::ClassVerdict;

/// The attacker's knowledge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attacker {
    /// L: the number of quasi-identifiers the attacker knows.
    pub known: usize,
    /// True if sets of fewer than L columns must be checked as well. With rows as the unit, what
    /// holds for L columns holds for fewer (ERRATA L-3); with patients that is so for k alone.
    pub fewer_too: bool,
}

/// A set of other columns under which a class fails.
#[derive(Debug, Clone)]
pub(super) struct FailingSet {
    /// The columns.
    pub columns: Vec<usize>,
    /// The requirement that the class does not meet.
    pub verdict: ClassVerdict,
}
