//! Range queries: how many people are between two values of a few columns, asked of a release.
//!
//! A query takes one to three quasi-identifiers and of each a random run of its values, in the order of
//! numbers where all are numbers, else of their text. The answer of a release counts each row by the
//! share of what its labels stand for that lies within. Off by |answer − count| / max(count, a
//! thousandth of the rows), so that empty queries have an error too.

use super::query_error::PublishedCounts;
use crate::cohort::Cohort;
use crate::number::Decimal;
use crate::random::Randomness;

/// So many queries are asked, if they look at no more tuples than this together, but a few at least.
const MOST_QUERIES: usize = 200;
const FEWEST_QUERIES: usize = 10;
const MOST_LOOKS: usize = 2_000_000;
/// A query reads at most so many columns.
const MOST_COLUMNS: u64 = 3;

/// Describes how far off answers are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RangeError {
    /// Queries asked; the same ones of every release of a table.
    pub queries: usize,
    /// The mean of their errors.
    pub mean: f64,
    /// The middle one.
    pub median: f64,
}

/// A run of values of some columns: by column, whether each of its values is within.
pub(super) type Query = Vec<(usize, Vec<bool>)>;

/// Asks.
pub fn range_error(published: &PublishedCounts) -> RangeError {
    let cohort = published.cohort;
    let queries = queries(cohort);
    let least = (cohort.tuples.rows as f64 / 1000.0).max(1.0);
    let tuples = &cohort.tuples;
    // A query reads few columns, which are nearer one after the other than tuple by tuple.
    let columns: Vec<Vec<u32>> = (0..cohort.quasi.len()).map(|q| tuples.column(q)).collect();
    let by_value: Vec<Vec<u64>> = (0..cohort.quasi.len()).map(|q| tuples.frequencies(q).to_vec()).collect();
    let mut is_within: Vec<bool> = Vec::new();
    let mut off = |query: &Query| {
        let count: u64 = if let [(q, within)] = &query[..] {
            by_value[*q].iter().zip(within).filter(|(_, within)| **within).map(|(rows, _)| rows).sum()
        } else {
            is_within.clear();
            is_within.resize(tuples.len(), true);
            for (q, within) in query {
                let all = is_within.iter_mut().zip(&columns[*q]);
                all.for_each(|(is_within, &code)| *is_within &= within[code as usize]);
            }
            tuples.weights.iter().zip(&is_within).map(|(rows, &is)| rows * u64::from(is)).sum()
        };
        (published.within(query) - count as f64).abs() / (count as f64).max(least)
    };
    let mut errors: Vec<f64> = queries.iter().map(&mut off).collect();
    errors.sort_by(f64::total_cmp);
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    RangeError { queries: errors.len(), mean, median: errors.get(errors.len() / 2).copied().unwrap_or(0.0) }
}

/// The queries for a table: they depend on the table alone.
pub(super) fn queries(cohort: &Cohort) -> Vec<Query> {
    let columns = cohort.quasi.len();
    let orders: Vec<Vec<u32>> = (0..columns).map(|q| order(cohort, q)).collect();
    let number = (MOST_LOOKS / cohort.tuples.len().max(1)).clamp(FEWEST_QUERIES, MOST_QUERIES);
    let mut random = Randomness::named("range queries");
    let mut query = || {
        let of = 1 + random.below(MOST_COLUMNS.min(columns as u64)) as usize;
        let chosen = random.sample(columns, of);
        let mut run = |&q: &usize| {
            let order = &orders[q];
            let (a, b) = (random.below(order.len() as u64) as usize, random.below(order.len() as u64) as usize);
            let mut within = vec![false; cohort.tuples.dictionaries[q].len()];
            order[a.min(b)..=a.max(b)].iter().for_each(|&code| within[code as usize] = true);
            (q, within)
        };
        chosen.iter().map(&mut run).collect()
    };
    if columns == 0 { Vec::new() } else { (0..number).map(|_| query()).collect() }
}

/// The values of a column that occur, in their order.
fn order(cohort: &Cohort, q: usize) -> Vec<u32> {
    let dictionary = &cohort.tuples.dictionaries[q];
    let counts = cohort.tuples.frequencies(q);
    let mut codes: Vec<u32> = (0..dictionary.len() as u32).filter(|&c| counts[c as usize] > 0).collect();
    let number = |&code: &u32| Decimal::of_cell(dictionary.text(code), b'.');
    let missing = crate::hierarchy::MISSING;
    if codes.iter().all(|c| *c == missing || number(c).is_some()) {
        codes.sort_by_key(|c| (number(c), *c));
    } else {
        codes.sort_by_key(|&c| dictionary.text(c));
    }
    codes
}
