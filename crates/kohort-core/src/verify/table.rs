//! Verifies a table: counts it from its bytes, and compares it with the original.

use super::claimed_values::Values;
use super::recount::CountedRelease;
use super::{
    Checked, Compared, Outside, Recount, ReleaseFolder, dictionary, inference, multiset, original, recount, shift,
    synthetic_rows,
};
use crate::Result;
use crate::policy::Policy;
use crate::release::Certificate;
use crate::shape::Table;
use crate::table::{Progress, Silent, Source};
use crate::visible::alike;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Counts a table from its bytes alone.
pub(crate) fn recount_table(
    release: &ReleaseFolder,
    certificate: &Certificate,
    threads: usize,
) -> Result<(Recount, Vec<Outside>)> {
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    let values = Values::AsClaimed;
    let mut counted = recount::recount(release, certificate, values, None, threads, &progress)?;
    look_over_values(&mut counted);
    dictionary::check_table(&dictionary::read(release)?, certificate, &counted, None)?;
    Ok((counted.recount, counted.outside))
}

/// Counts values that look alike in columns with limits: one value in two spellings counts as two, and a limit on
/// one spelling does not limit the other.
fn look_over_values(counted: &mut CountedRelease) {
    for own in counted.outside.iter_mut().filter(|own| own.limited) {
        let place = counted.columns.iter().position(|(_, name)| *name == own.column);
        let texts = place.map_or(Vec::new(), |place| counted.tuples.dictionaries[place].texts());
        let claimed = counted.claim.sensitive.iter().filter(|claim| claim.column == own.column);
        let listed = claimed.filter_map(|claim| claim.values.as_ref()).flatten().map(String::as_str);
        let values: BTreeSet<&str> = texts.into_iter().chain(listed).filter(|text| !text.is_empty()).collect();
        own.alike = alike(values.into_iter());
    }
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
            } else if sensitive && claim.synthetic.as_ref().is_some_and(|own| !own.limits_shown_only) {
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
    let values = Values::OfPolicy(policy, source.input().decimal);
    let mut counted = recount::recount(release, certificate, values, lines, source.threads(), source.progress())?;
    inference::nothing_is_told(&counted, certificate, source, policy)?;
    look_over_values(&mut counted);
    let column = |name: &str| policy.columns.iter().find(|own| own.name == name);
    counted.one_level = dictionary::check_table(&dictionary::read(release)?, certificate, &counted, Some(&column))?;
    let compared = match lines {
        Some(lines) => original::row_by_row(&mut counted, certificate, source, policy, lines)?,
        None => {
            let patients = release.patients.as_ref().map(|own| own.people(&mut counted)).transpose()?;
            multiset::as_multisets(&counted, certificate, source, policy, patients)?
        }
    };
    let claim = counted.claim.clone();
    if let Some(lines) = lines.filter(|_| counted.catalogued.is_some()) {
        synthetic_rows::SyntheticRows::read(&mut counted, lines)?.are_the_catalogs(release, &counted, &claim)?;
    }
    Ok(Checked { claim, recount: counted.recount, compared, outside: counted.outside })
}
