//! Opens the data of a release, with exactly the columns that its certificate declares.

use super::claim::damaged;
use super::{ReleaseFolder, files};
use crate::release::Certificate;
use crate::table::{Progress, Source, open};
use crate::{Error, Result};
use std::sync::Arc;

/// More columns are not counted: each needs memory of its own, on every thread.
const MOST_COLUMNS: usize = 1 << 14;

/// Opens the data of a release and checks that its columns are those declared, no more and no fewer.
pub(super) fn open_data(
    release: &ReleaseFolder,
    certificate: &Certificate,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<Source> {
    let data = certificate.files.iter().find(|f| f.rows.is_some()).ok_or_else(|| damaged("no data file is listed"))?;
    if !files::DATA.contains(&data.name.as_str()) {
        return Err(damaged("the name of the data file is unknown"));
    }
    if certificate.promise.columns.len() > MOST_COLUMNS {
        return Err(damaged("the release has more columns than can be counted"));
    }
    let mut input = if data.parts.is_some() { release.parts(data) } else { release.input(&data.name) };
    input.delimiter = Some(certificate.delimiter);
    let source = open(&input)?.with_threads(threads).with_progress(Arc::clone(progress));
    if data.parts.as_ref().is_some_and(|parts| !parts.iter().map(|part| part.rows).eq(source.rows_by_part())) {
        return Err(Error::refused("the number of rows of a part differs from the certificate."));
    }
    // A workbook may hold sheets and comments that nobody counts.
    if source.is_in_memory() {
        return Err(Error::refused("the data is neither text nor Parquet."));
    }
    let declared = certificate.promise.columns.iter().map(|c| c.name.as_str());
    if !source.columns().iter().map(String::as_str).eq(declared) {
        return Err(Error::refused("the columns of the data are not those the certificate declares."));
    }
    let known = ["quasi", "detail", "sensitive", "class", "other"];
    if certificate.promise.columns.iter().any(|c| !known.contains(&c.role.as_str())) {
        return Err(damaged("a column has a role that is never released"));
    }
    Ok(source)
}
