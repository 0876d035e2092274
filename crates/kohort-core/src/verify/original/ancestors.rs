//! The labels that a value of the original may be released as.

use super::super::recount::StatedLabels;
use super::super::{dictionary, label_levels};
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};
use crate::release::dictionary::at_one_level;
use crate::table::Dictionary;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Returns whether some value has several labels among those that a column shows.
pub(super) fn overlap(labels: &BTreeMap<String, Vec<String>>, released: &Dictionary) -> bool {
    let shown = |label: &str| match label.is_empty() {
        true => released.missing_occurs,
        false => released.code(label).is_some(),
    };
    star_beside_values(released)
        || labels.values().any(|own| own.iter().filter(|label| shown(label)).collect::<BTreeSet<_>>().len() > 1)
}

/// Returns whether a column shows `*` beside other labels. To an attacker `*` may be anybody's, also where the policy
/// permits it only for values that a hierarchy does not cover.
pub(in super::super) fn star_beside_values(released: &Dictionary) -> bool {
    released.code(SUPPRESSED).is_some() && (released.len() > 2 || released.missing_occurs)
}

/// The error about a released cell that is not true.
pub(super) fn no_ancestor(policy: &Policy, column: usize) -> Error {
    Error::refused(format!(
        "column `{}`: a released cell is not the original value or one of its ancestors at a level that the policy permits.",
        policy.columns[column].name
    ))
}

/// Returns the labels that each original value may be released as: its labels at the levels that the policy permits,
/// those released labels that are ranges of a class and contain it, and, where the policy permits all levels, those
/// that are intervals found during the search and contain it. A label that two levels share is permitted if one of
/// them is. Refuses groups of labels that the release lists and the
/// hierarchy does not have, and a level that the dictionary names and that is not shown.
pub(in super::super) fn labels_of(
    policy: &Policy,
    column: usize,
    values: &[String],
    stated: &StatedLabels<'_>,
) -> Result<BTreeMap<String, Vec<String>>> {
    let bound = &policy.columns[column];
    let mut texts: Vec<&str> = vec![""];
    texts.extend(values.iter().map(String::as_str).filter(|v| !v.is_empty()));
    let missing = values.iter().any(String::is_empty);
    let detail = matches!(bound.role, Role::Detail { .. });
    // A column that is declared finer than another one is suppressed with it, whatever levels it has.
    let follows = policy.effects.single_cells && !bound.of.is_empty();
    let hierarchy = bound.rule.apply(&texts, missing);
    let released = &stated.released;
    if let Some(own) = stated.groups {
        label_levels::is_of_hierarchy(own, &hierarchy, &bound.rule, texts.len(), released)?;
    }
    if let Some(words) = stated.one_level {
        let is_shown = |level: &usize| at_one_level(&hierarchy, *level, &bound.rule_text) == words;
        let level = (0..hierarchy.levels.len()).find(is_shown).ok_or_else(dictionary::differs)?;
        let labels: BTreeSet<&str> = hierarchy.levels[level].labels.iter().map(|label| label.text.as_str()).collect();
        if released.iter().any(|label| !label.is_empty() && !labels.contains(label)) {
            return Err(dictionary::differs());
        }
    }
    let ranges = policy.ranges(column, &texts);
    let labels = texts.iter().enumerate().map(|(code, text)| {
        let own = if detail {
            vec![text.to_string(), SUPPRESSED.into()]
        } else {
            let permitted = bound.levels.iter().map(|&level| &hierarchy.levels[level]);
            let on_levels = permitted.map(|l| l.labels[l.label_of[code] as usize].text.as_str());
            let all = bound.levels.len() == hierarchy.levels.len();
            let is_found = |label: &str| all && bound.rule.found_interval_holds(label, text);
            // A range is never wider than the coarsest permitted label.
            let is_permitted = |label: &str| {
                let held = bound.rule.groups_of_range(label);
                held.is_some_and(|(finest, _)| bound.levels.iter().any(|&level| level >= finest))
            };
            let is_range =
                |label: &str| ranges.as_ref().is_some_and(|own| own.holds(label, text)) && is_permitted(label);
            let found = released.iter().copied().filter(|label| is_found(label) || is_range(label));
            on_levels.chain(follows.then_some(SUPPRESSED)).chain(found).map(str::to_string).collect()
        };
        (text.to_string(), own)
    });
    Ok(labels.collect())
}
