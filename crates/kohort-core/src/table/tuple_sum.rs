//! Tuples that are added up from several counts, each value kept once.

use super::intern::{Keys, Texts};
use super::tuples::Tuples;

/// Tuples whose rows are added up: by another engine's answers, or over the parts of a table.
#[derive(Debug, Clone)]
pub struct TupleSum {
    /// The values of each column.
    pub(super) values: Vec<Texts>,
    /// The tuples, by the numbers of their values.
    pub(super) keys: Keys,
    /// The rows of each.
    pub(super) weights: Vec<u64>,
    /// All rows.
    pub(super) rows: u64,
}

impl TupleSum {
    /// No tuples yet, each of so many columns.
    pub fn new(width: usize) -> TupleSum {
        TupleSum { values: vec![Texts::default(); width], keys: Keys::new(width), weights: Vec::new(), rows: 0 }
    }

    /// Adds rows to the tuple that has these cells, and returns its number. `None`: they are more than can be counted.
    pub fn add<'a>(&mut self, cells: impl Iterator<Item = &'a str>, rows: u64) -> Option<u32> {
        let key: Vec<u32> = self.values.iter_mut().zip(cells).map(|(own, cell)| own.intern(cell.as_bytes())).collect();
        let tuple = self.keys.intern(&key);
        self.weights.resize(self.keys.len(), 0);
        let own = self.weights.get_mut(tuple as usize)?;
        *own = own.checked_add(rows)?;
        self.rows = self.rows.checked_add(rows)?;
        Some(tuple)
    }

    /// How many columns a tuple has.
    pub fn width(&self) -> usize {
        self.values.len()
    }

    /// How many tuples there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The values of each column, in the order of their numbers.
    pub fn values(&self) -> impl Iterator<Item = Vec<&str>> {
        self.values.iter().map(|own| (0..own.len() as u32).map(|n| text(own, n)).collect())
    }

    /// The numbers of a tuple's values.
    pub fn numbers(&self, tuple: u32) -> &[u32] {
        self.keys.get(tuple)
    }

    /// The cells of a tuple.
    pub fn cells(&self, tuple: u32) -> impl Iterator<Item = &str> {
        self.values.iter().zip(self.keys.get(tuple)).map(|(own, &number)| text(own, number))
    }

    /// The tuples with their rows, in the order in which they came.
    pub fn tuples(self) -> Tuples {
        Tuples::of_sum(self)
    }
}

fn text(texts: &Texts, number: u32) -> &str {
    // Only text was taken in.
    std::str::from_utf8(texts.get(number)).unwrap_or_default()
}
