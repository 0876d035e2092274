//! Checks hierarchy.csv: from the release alone that it is a forest over the released labels and lists nothing
//! else, and with the original that the groups are those of the policy's hierarchies.

use super::ReleaseFolder;
use super::recount::CountedRelease;
use crate::hierarchy::{Hierarchy, Rule, SUPPRESSED, group_holds_range, is_range};
use crate::release::{Certificate, ColumnLevels, HIERARCHY_FILE, LARGEST_LEVELS, parse_label_levels};
use crate::table::Dictionary;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the file of a release that lists it, by place among the quasi-identifiers. Every quasi-identifier has an entry,
/// without labels where the file names none; there are no entries where the release has no such file.
pub(super) fn read(
    release: &ReleaseFolder,
    certificate: &Certificate,
    counted: &CountedRelease,
) -> Result<BTreeMap<usize, ColumnLevels>> {
    let mut listed = BTreeMap::new();
    if !certificate.files.iter().any(|file| file.name == HIERARCHY_FILE) {
        return Ok(listed);
    }
    let mut last = None;
    for own in parse_label_levels(&release.text(HIERARCHY_FILE, LARGEST_LEVELS)?)? {
        let place = counted.columns[..counted.quasi].iter().position(|(_, name)| *name == own.column);
        let Some(place) = place.filter(|&place| last < Some(place)) else {
            return Err(refused(
                "a column is not a quasi-identifier, or the columns are in another order than in the data",
            ));
        };
        last = Some(place);
        listed.insert(place, own);
    }
    for place in 0..counted.quasi {
        let own = listed.entry(place).or_insert_with(|| ColumnLevels::none(&counted.columns[place].1));
        is_forest(own, &counted.tuples.dictionaries[place])?;
    }
    Ok(listed)
}

/// Checks that the file lists every released label of a column and no other, and that labels and groups form a
/// forest: whatever two labels have in common on a level, they have in common on all levels above.
fn is_forest(listed: &ColumnLevels, dictionary: &Dictionary) -> Result<()> {
    let texts = dictionary.texts();
    let released: BTreeSet<&str> = texts.iter().copied().filter(|t| !t.is_empty() && *t != SUPPRESSED).collect();
    // Only `*` holds a range that is not listed, or so it seems from the release alone.
    let is_left_out = released.iter().any(|label| !listed.labels.contains_key(*label) && !is_range(label));
    if is_left_out || listed.labels.keys().any(|label| !released.contains(label.as_str())) {
        return Err(not_listed());
    }
    // The group above each group of each level.
    let mut above: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for (label, own) in &listed.labels {
        let is_held = |group: &String| group_holds_range(group, label);
        if !own.groups.first().is_some_and(|group| group == label || is_held(group)) {
            return Err(refused("a label is not its own group on its own level, nor a range inside it"));
        }
        for (at, group) in own.groups.iter().enumerate() {
            let next = own.groups.get(at + 1).map_or(SUPPRESSED, String::as_str);
            if *above.entry((own.level + at, group)).or_insert(next) != next {
                return Err(refused("two labels share a group on one level and part above it"));
            }
        }
    }
    // A label that is also a group of others is on the same levels as that group.
    for &(level, group) in above.keys() {
        let own = listed.labels.get(group);
        let is_there = |level: usize, own: &crate::release::LabelGroups| {
            level.checked_sub(own.level).and_then(|at| own.groups.get(at)).is_some_and(|there| there == group)
        };
        if own.is_some_and(|own| !is_there(level, own)) {
            return Err(refused("a label has two meanings"));
        }
    }
    Ok(())
}

/// Checks the groups against the hierarchy of the policy over all values of the original: they are the hierarchy's, and
/// no released label that belongs to a group is left out.
pub(super) fn is_of_hierarchy(
    listed: &ColumnLevels,
    hierarchy: &Hierarchy,
    rule: &Rule,
    values: usize,
    released: &[&str],
) -> Result<()> {
    let differs = || refused("a label belongs to other groups than by the policy's hierarchy");
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let left_out = |label: &str| !label.is_empty() && label != SUPPRESSED && !listed.labels.contains_key(label);
    let left_out: BTreeSet<&str> = released.iter().copied().filter(|label| left_out(label)).collect();
    if left_out.iter().any(|label| rule.groups_of_range(label).is_some_and(|(_, groups)| !groups.is_empty())) {
        return Err(not_listed());
    }
    for code in 0..values {
        let path: Vec<&str> =
            hierarchy.levels.iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str()).collect();
        if path.iter().any(|label| left_out.contains(label)) {
            return Err(not_listed());
        }
        for (level, label) in path.iter().enumerate() {
            let Some((label, own)) = listed.labels.get_key_value(*label) else { continue };
            if path[..level].contains(&label.as_str()) {
                continue;
            }
            let groups = path[level..].iter().take_while(|group| **group != SUPPRESSED);
            if own.level != level || !groups.eq(&own.groups) {
                return Err(differs());
            }
            seen.insert(label);
        }
    }
    // A range of a class is on no level; the labels that hold it are those of its numbers.
    for (label, own) in listed.labels.iter().filter(|(label, own)| own.groups.first() != Some(*label)) {
        match rule.groups_of_range(label) {
            Some((level, groups)) if level == own.level && groups == own.groups => seen.insert(label),
            _ => return Err(differs()),
        };
    }
    let names = listed.names.iter().all(|(&level, name)| hierarchy.levels.get(level).is_some_and(|l| l.name == *name));
    match names && seen.len() == listed.labels.len() {
        true => Ok(()),
        false => Err(differs()),
    }
}

fn not_listed() -> Error {
    refused("a released label is not listed, or a label is listed that is not released")
}

fn refused(what: &str) -> Error {
    Error::refused(format!("{HIERARCHY_FILE}: {what}."))
}
