//! The columns that are compared, and fingerprints of the cells that are released unchanged.

use super::super::recount::CountedRelease;
use crate::release::Certificate;
use crate::table::Source;
use crate::{Error, Result};
use std::hash::BuildHasher;

/// The columns of release and original that are compared with each other.
pub(in super::super) struct Columns {
    /// Quasi-identifiers and details: place in the release's tuples and in the original.
    pub(in super::super) changed: Vec<(usize, usize)>,
    /// Columns that are released unchanged: place in the release and in the original.
    pub(in super::super) kept: Vec<(usize, usize)>,
}

impl Columns {
    pub(in super::super) fn new(
        counted: &CountedRelease,
        certificate: &Certificate,
        source: &Source,
    ) -> Result<Columns> {
        let names = counted.columns[..counted.quasi + counted.details].iter().enumerate();
        let changed = names.map(|(i, (_, name))| Ok((i, place(source, name)?))).collect::<Result<Vec<_>>>()?;
        let columns = certificate.promise.columns.iter().enumerate();
        let kept = columns
            .filter(|(_, c)| c.role != "quasi" && c.role != "detail")
            .map(|(i, c)| Ok((i, place(source, &c.name)?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Columns { changed, kept })
    }

    /// The columns of the original that the release's tuples are made of, in their order.
    pub(in super::super) fn of_tuples(&self, counted: &CountedRelease, source: &Source) -> Result<Vec<usize>> {
        let unchanged = counted.columns[self.changed.len()..].iter().map(|(_, name)| place(source, name));
        self.changed.iter().map(|&(_, own)| Ok(own)).chain(unchanged).collect()
    }
}

fn place(source: &Source, name: &str) -> Result<usize> {
    let place = source.columns().iter().position(|c| c == name);
    place.ok_or_else(|| Error::refused(format!("the original has no column `{name}`.")))
}

/// Hashes the cells of a row into one number.
pub(super) fn fingerprint<'a>(key: &impl BuildHasher, cells: impl Iterator<Item = &'a [u8]>) -> u64 {
    use std::hash::Hasher;
    let mut hasher = key.build_hasher();
    for cell in cells {
        hasher.write_usize(cell.len());
        hasher.write(cell);
    }
    hasher.finish()
}
