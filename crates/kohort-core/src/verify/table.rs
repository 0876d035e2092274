//! Verifies a table: counts it from its bytes, and compares it with the original.

use super::{
    Checked, Compared, Outside, Recount, ReleaseFolder, inference, invented, multiset, original, recount, shift,
};
use crate::Result;
use crate::policy::Policy;
use crate::release::Certificate;
use crate::shape::Table;
use crate::table::{Progress, Silent, Source};
use std::path::Path;
use std::sync::Arc;

/// Counts a table from its bytes alone.
pub(crate) fn recount_table(
    release: &ReleaseFolder,
    certificate: &Certificate,
    threads: usize,
) -> Result<(Recount, Vec<Outside>)> {
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    let values = recount::Values::AsClaimed;
    let counted = recount::recount(release, certificate, values, None, threads, &progress)?;
    Ok((counted.recount, counted.outside))
}

/// Parts of a table's claim that were not counted, from the release alone or with the original.
pub(crate) fn not_counted(certificate: &Certificate, compared: Option<&Compared>) -> Vec<String> {
    let claim = &certificate.promise.claim;
    let (patients, sensitive) = (certificate.promise.patients, !claim.sensitive.is_empty());
    let mut all: Vec<String> = Vec::new();
    if certificate.sample.is_some() {
        all.push("the guarantee, which was counted on the whole file: whoever has a sample cannot repeat that".into());
    }
    match compared {
        Some(compared) => all.extend(compared.not_counted.iter().cloned()),
        None => {
            if claim.synthetic.is_some() {
                all.push("which records are synthetic, and how many real people each class contains".into());
            }
            if patients {
                all.push("how many patients the rows of a class belong to: rows were counted instead".into());
            }
            if sensitive && patients {
                all.push("the limits on sensitive values, since they are counted in patients".into());
            } else if sensitive && claim.synthetic.is_some() {
                all.push("the limits on sensitive values without the synthetic records".into());
            }
        }
    }
    all
}

/// Counts a table and compares it with the original, row by row where `lines` says which row is which.
pub(crate) fn compare_table(
    release: &ReleaseFolder,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: Option<&Path>,
) -> Result<Checked<Table>> {
    let explained = shift::explained(release, certificate, source, policy, lines)?;
    let source = explained.as_ref().unwrap_or(source);
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
    Ok(Checked { claim, recount: counted.recount, compared, outside: counted.outside })
}
