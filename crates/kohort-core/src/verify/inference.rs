//! Whether a suppressed cell is told by a coarser one that is shown: where only one value of the
//! finer column lies under it in the original. (That a finer one tells a coarser is seen from the
//! release alone.)

use super::recount::Counted;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::release::Certificate;
use crate::table::{Counting, Source, Tuples, count};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Refuses a release in which a blank can be undone through a declared dependency.
pub(super) fn nothing_is_told(
    counted: &Counted,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
) -> Result<()> {
    // Elsewhere whole columns are recoded, and `of` says only where a detail may be shown.
    if certificate.method != "suppress" {
        return Ok(());
    }
    let names = &counted.columns[..counted.quasi + counted.details];
    for (finer, (_, name)) in names.iter().enumerate() {
        let Some(declared) = certificate.columns.iter().find(|c| c.name == *name) else { continue };
        let place = |of: &String| names[..counted.quasi].iter().position(|(_, own)| own == of);
        let of: Vec<usize> = declared.of.iter().filter_map(place).collect();
        for &coarser in &of {
            // A detail may be hidden by itself; what it is a detail of must not be told through it.
            let hidden = match finer < counted.quasi {
                true => vec![finer],
                false => of.iter().copied().filter(|&other| other != coarser).collect(),
            };
            let shown = shown_beside_blank(&counted.tuples, &hidden, coarser);
            if !shown.is_empty() && tells(source, policy, (name, &names[coarser].1), &shown)? {
                return Err(Error::refused(format!(
                    "column `{name}`: a suppressed cell can be told from `{}`, which is shown: only one value lies under it.",
                    names[coarser].1
                )));
            }
        }
    }
    Ok(())
}

/// The labels of the coarser column in released rows in which one of the hidden ones is suppressed.
fn shown_beside_blank(tuples: &Tuples, hidden: &[usize], coarser: usize) -> BTreeSet<String> {
    let star = |&column: &usize| Some((column, tuples.dictionaries[column].code(SUPPRESSED)?));
    let stars: Vec<(usize, u32)> = hidden.iter().filter_map(star).collect();
    let is_hidden = |t: &usize| stars.iter().any(|&(column, star)| tuples.code(*t, column) == star);
    let codes: BTreeSet<u32> = (0..tuples.len()).filter(is_hidden).map(|t| tuples.code(t, coarser)).collect();
    let texts = codes.into_iter().map(|code| tuples.dictionaries[coarser].text(code).to_string());
    texts.filter(|text| text != SUPPRESSED).collect()
}

/// Whether under any of these labels of the coarser column lies one value of the finer in the original.
fn tells(
    source: &Source,
    policy: &Policy,
    (finer, coarser): (&String, &String),
    shown: &BTreeSet<String>,
) -> Result<bool> {
    let place = |name: &String| {
        let place = source.columns().iter().position(|c| c == name);
        place.ok_or_else(|| Error::refused(format!("the original has no column `{name}`.")))
    };
    let columns = vec![place(finer)?, place(coarser)?];
    let original = count(source, &Counting { columns: columns.clone(), patient: None, remember: 0 })?;
    let labels: Vec<Vec<String>> = (0..2).map(|i| labels(policy, columns[i], &original, i)).collect();
    let mut under: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for t in 0..original.len() {
        let label = |i: usize| labels[i][original.code(t, i) as usize].as_str();
        under.entry(label(1)).or_default().insert(label(0));
    }
    let alone = |values: &BTreeSet<&str>| values.len() == 1 && !values.contains(SUPPRESSED);
    Ok(shown.iter().filter_map(|label| under.get(label.as_str())).any(alone))
}

/// By value code: what a column shows of it where it is not suppressed.
fn labels(policy: &Policy, column: usize, original: &Tuples, position: usize) -> Vec<String> {
    let (bound, dictionary) = (&policy.columns[column], &original.dictionaries[position]);
    if matches!(bound.role, Role::Detail { .. }) {
        return dictionary.texts().iter().map(|text| text.to_string()).collect();
    }
    let hierarchy = bound.rule.apply(&dictionary.texts(), dictionary.missing_occurs);
    let level = &hierarchy.levels[bound.levels.first().copied().unwrap_or(0)];
    level.label_of.iter().map(|&label| level.labels[label as usize].text.clone()).collect()
}
