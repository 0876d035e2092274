//! Checks that no detail is released where the column it belongs to is suppressed.

use super::claim::damaged;
use super::released_columns::ReleasedColumns;
use crate::hierarchy::SUPPRESSED;
use crate::release::{Certificate, ColumnClaim};
use crate::table::Tuples;
use crate::{Error, Result};
use std::collections::{BTreeSet, HashMap};

/// More cells are not looked at to see whether a detail reveals what it belongs to: no table of Kohort's needs as many.
const MOST_LOOKS: u64 = 1 << 32;

/// The details of a release, and how many cells may still be looked at.
pub(super) struct Details<'a> {
    tuples: &'a Tuples,
    place_of: HashMap<&'a str, usize>,
    left: u64,
}

impl<'a> Details<'a> {
    pub(super) fn new(tuples: &'a Tuples, quasi: &[&'a str]) -> Details<'a> {
        let place_of = (0..).zip(quasi).map(|(place, name)| (*name, place)).collect();
        Details { tuples, place_of, left: MOST_LOOKS }
    }

    /// Refuses a column that is shown where one it is declared finer than is suppressed: it would reveal it.
    pub(super) fn are_hidden(mut self, certificate: &Certificate, columns: &ReleasedColumns) -> Result<()> {
        let finer = &columns.places[..columns.quasi + columns.details];
        let mut finer = finer.iter().enumerate();
        finer.try_for_each(|(position, &column)| self.is_hidden(&certificate.promise.columns[column], position))
    }

    fn is_hidden(&mut self, column: &ColumnClaim, position: usize) -> Result<()> {
        if column.of.is_empty() && column.role != "detail" {
            return Ok(());
        }
        let tuples = self.tuples;
        let of: Option<BTreeSet<usize>> =
            column.of.iter().map(|name| self.place_of.get(name.as_str()).copied()).collect();
        let of = of
            .filter(|of| !of.is_empty())
            .ok_or_else(|| damaged("a detail column does not name a quasi-identifier"))?;
        let suppressed = |p: usize| tuples.dictionaries[p].code(SUPPRESSED);
        let own = suppressed(position);
        let gone: Vec<(usize, u32)> = of.iter().filter_map(|&q| Some((q, suppressed(q)?))).collect();
        let looks = (gone.len() as u64).saturating_mul(tuples.len() as u64);
        let left = self.left.checked_sub(looks);
        self.left = left.ok_or_else(|| damaged("the columns have more details than can be looked at"))?;
        let reveals = |t: usize| gone.iter().any(|&(q, star)| tuples.code(t, q) == star);
        match (0..tuples.len()).any(|t| Some(tuples.code(t, position)) != own && reveals(t)) {
            true => Err(Error::refused(format!(
                "column `{}`: a detail is released although the column it belongs to is suppressed.",
                column.name
            ))),
            false => Ok(()),
        }
    }
}
