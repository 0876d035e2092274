//! Verifies a table: counts it from its bytes, and compares it with the original.

use super::{Checked, Recount, inference, invented, multiset, original, recount};
use crate::Result;
use crate::policy::Policy;
use crate::release::Certificate;
use crate::shape::Table;
use crate::table::{Progress, Silent, Source};
use std::path::Path;
use std::sync::Arc;

/// Counts a table from its bytes alone.
pub(crate) fn recount_table(release: &Path, certificate: &Certificate, threads: usize) -> Result<Recount> {
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    let values = recount::Values::AsClaimed;
    Ok(recount::recount(release, certificate, values, None, threads, &progress)?.recount)
}

/// Counts a table and compares it with the original, row by row where `lines` says which row is which.
pub(crate) fn compare_table(
    release: &Path,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: Option<&Path>,
) -> Result<Checked<Table>> {
    let values = recount::Values::OfPolicy(policy, source.input().decimal);
    let mut counted = recount::recount(release, certificate, values, lines, source.threads(), source.progress())?;
    inference::nothing_is_told(&counted, certificate, source, policy)?;
    let compared = match lines {
        Some(lines) => original::row_by_row(&mut counted, certificate, source, policy, lines)?,
        None => multiset::as_multisets(&counted, certificate, source, policy)?,
    };
    let claim = counted.claim.clone();
    if let Some(lines) = lines.filter(|_| counted.catalogued.is_some()) {
        invented::SyntheticRows::read(&mut counted, lines)?.are_the_catalogs(release, &counted, &claim)?;
    }
    Ok(Checked { claim, recount: counted.recount, compared })
}
