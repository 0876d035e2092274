//! Checks whether a suppressed cell is revealed by a coarser one that is shown: where only one value of the
//! finer column lies under it in the original. (That a finer one tells a coarser is seen from the
//! release alone.)

use super::recount::CountedRelease;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::release::Certificate;
use crate::table::{Counting, Source, Tuples, count};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Refuses a release in which a blank can be undone through a declared dependency.
pub(super) fn nothing_is_told(
    counted: &CountedRelease,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
) -> Result<()> {
    // Elsewhere whole columns are recoded, and `of` says only where a detail may be shown.
    if !certificate.promise.effects.single_cells {
        return Ok(());
    }
    let names = &counted.columns[..counted.quasi + counted.details];
    for (finer, (_, name)) in names.iter().enumerate() {
        let Some(declared) = certificate.promise.columns.iter().find(|c| c.name == *name) else { continue };
        let place = |of: &String| names[..counted.quasi].iter().position(|(_, own)| own == of);
        let of: Vec<usize> = declared.of.iter().filter_map(place).collect();
        // A detail may be hidden by itself; what it is a detail of must not be told through it.
        let hidden = |coarser: usize| match finer < counted.quasi {
            true => vec![finer],
            false => of.iter().copied().filter(|&other| other != coarser).collect(),
        };
        let suspect = |&coarser: &usize| {
            let labels = suspects(&counted.tuples, finer, coarser, &hidden(coarser));
            (!labels.is_empty()).then_some((coarser, labels))
        };
        let suspects: Vec<(usize, BTreeSet<&str>)> = of.iter().filter_map(suspect).collect();
        if suspects.is_empty() {
            continue;
        }
        let columns: Vec<&str> =
            std::iter::once(finer).chain(suspects.iter().map(|s| s.0)).map(|c| names[c].1.as_str()).collect();
        let alone = alone(source, policy, &columns)?;
        for ((coarser, labels), alone) in suspects.iter().zip(&alone) {
            if labels.iter().any(|label| alone.contains(*label)) {
                return Err(Error::refused(format!(
                    "column `{name}`: a suppressed cell can be inferred from `{}`, which is released and leaves \
                     only one possible value.",
                    names[*coarser].1
                )));
            }
        }
    }
    Ok(())
}

/// The labels of the coarser column beside a hidden cell, and under which the release does
/// not itself show two values of the finer one.
fn suspects<'a>(tuples: &'a Tuples, finer: usize, coarser: usize, hidden: &[usize]) -> BTreeSet<&'a str> {
    let star = |column: usize| tuples.dictionaries[column].code(SUPPRESSED);
    let stars: Vec<(usize, u32)> = hidden.iter().filter_map(|&c| Some((c, star(c)?))).collect();
    let own = star(finer);
    let mut beside = vec![false; tuples.dictionaries[coarser].len()];
    let mut under: Vec<Option<Option<u32>>> = vec![None; beside.len()];
    for t in 0..tuples.len() {
        let label = tuples.code(t, coarser) as usize;
        beside[label] |= stars.iter().any(|&(column, star)| tuples.code(t, column) == star);
        let value = tuples.code(t, finer);
        under[label] = match under[label] {
            before if Some(value) == own => before,
            None => Some(Some(value)),
            Some(Some(before)) if before == value => Some(Some(value)),
            Some(_) => Some(None),
        };
    }
    let suspect = |label: &usize| beside[*label] && under[*label] != Some(None) && Some(*label as u32) != star(coarser);
    (0..beside.len()).filter(suspect).map(|label| tuples.dictionaries[coarser].text(label as u32)).collect()
}

/// Returns for each coarser column the labels under which the first column, the finer, has one value in the original.
fn alone(source: &Source, policy: &Policy, names: &[&str]) -> Result<Vec<BTreeSet<String>>> {
    let place = |name: &&str| {
        let place = source.columns().iter().position(|c| c == name);
        place.ok_or_else(|| Error::refused(format!("the original has no column `{name}`.")))
    };
    let columns = names.iter().map(place).collect::<Result<Vec<_>>>()?;
    let original = count(source, &Counting { columns: columns.clone(), patient: None, remember: 0 })?;
    let labels: Vec<Vec<String>> =
        columns.iter().enumerate().map(|(i, &column)| labels(policy, column, &original, i)).collect();
    let one = |i: usize| {
        let mut under: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for t in 0..original.len() {
            let label = |i: usize| labels[i][original.code(t, i) as usize].as_str();
            under.entry(label(i)).or_default().insert(label(0));
        }
        let alone = under.iter().filter(|(_, values)| values.len() == 1 && !values.contains(SUPPRESSED));
        alone.map(|(label, _)| label.to_string()).collect()
    };
    Ok((1..columns.len()).map(one).collect())
}

/// Returns for each value code what a column shows of it where it is not suppressed.
fn labels(policy: &Policy, column: usize, original: &Tuples, position: usize) -> Vec<String> {
    let (bound, dictionary) = (&policy.columns[column], &original.dictionaries[position]);
    if matches!(bound.role, Role::Detail { .. }) {
        return dictionary.texts().iter().map(|text| text.to_string()).collect();
    }
    let hierarchy = bound.rule.apply(&dictionary.texts(), dictionary.missing_occurs);
    let level = &hierarchy.levels[bound.levels.first().copied().unwrap_or(0)];
    level.label_of.iter().map(|&label| level.labels[label as usize].text.clone()).collect()
}
