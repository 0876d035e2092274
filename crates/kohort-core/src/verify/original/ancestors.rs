//! The labels that a value of the original may be released as.

use super::super::label_levels;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::release::ColumnLevels;
use crate::table::Dictionary;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Returns whether some value has several labels among those that a column shows.
pub(super) fn overlap(labels: &BTreeMap<String, Vec<String>>, released: &Dictionary) -> bool {
    let shown = |label: &str| match label.is_empty() {
        true => released.missing_occurs,
        false => released.code(label).is_some(),
    };
    labels.values().any(|own| own.iter().filter(|label| shown(label)).collect::<BTreeSet<_>>().len() > 1)
}

/// The error about a released cell that is not true.
pub(super) fn no_ancestor(policy: &Policy, column: usize) -> Error {
    Error::refused(format!(
        "column `{}`: a released cell is neither the original value nor one of its ancestors.",
        policy.columns[column].name
    ))
}

/// Returns the labels that each original value may be released as: itself, its ancestors, and those
/// released labels that are intervals found during the search and contain it. Refuses groups of labels that the
/// release lists and the hierarchy does not have.
pub(in super::super) fn labels_of(
    policy: &Policy,
    column: usize,
    values: &[String],
    released: &[&str],
    listed: Option<&ColumnLevels>,
) -> Result<BTreeMap<String, Vec<String>>> {
    let bound = &policy.columns[column];
    let mut texts: Vec<&str> = vec![""];
    texts.extend(values.iter().map(String::as_str).filter(|v| !v.is_empty()));
    let missing = values.iter().any(String::is_empty);
    let detail = matches!(bound.role, Role::Detail { .. });
    let hierarchy = bound.rule.apply(&texts, missing);
    listed.map_or(Ok(()), |own| label_levels::is_of_hierarchy(own, &hierarchy, texts.len()))?;
    let labels = texts.iter().enumerate().map(|(code, text)| {
        let own = if detail {
            vec![text.to_string(), SUPPRESSED.into()]
        } else {
            let on_levels = hierarchy.levels.iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str());
            let found = released.iter().copied().filter(|label| bound.rule.found_interval_holds(label, text));
            on_levels.chain(found).map(str::to_string).collect()
        };
        (text.to_string(), own)
    });
    Ok(labels.collect())
}
