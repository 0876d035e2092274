//! hierarchy.csv: the coarser labels that each released label belongs to, where a column shows labels of
//! different levels. With it the recipient brings a column to one level.
//!
//! | column | label | level | level_name | group |
//! |---|---|---|---|---|
//! | age | 37 | 0 | value | 37 |
//! | age | 37 | 1 | 5 | [35,40) |
//! | age | [30,40) | 2 | 10 | [30,40) |
//!
//! A label that is a range of its own (`[25,40)`) begins at the finest level of which one label holds it; a range that
//! only `*` holds is not listed. Only labels that are released are listed, each with its ancestors below `*`. Missing and `*` are not
//! listed: missing stays missing, and `*` stays `*`. How many leaves a label has is not in it.

use super::plan::{Plan, Recoding};
use crate::cohort::{Cohort, Quasi};
use crate::hierarchy::{Rule, SUPPRESSED};
use crate::policy::Policy;
use crate::table::{read_text, split_cells, write_cell};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// The file's name in release/.
pub const HIERARCHY_FILE: &str = "hierarchy.csv";
/// The largest file that is read, and written.
pub(crate) const LARGEST_LEVELS: u64 = 256 << 20;
/// No hierarchy has more levels.
const MOST_LEVELS: usize = 1_000;
/// The columns of the file.
const HEADER: [&str; 5] = ["column", "label", "level", "level_name", "group"];

/// The released labels of one column, with the coarser labels that each belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnLevels {
    /// The column.
    pub column: String,
    /// The names of the levels below `*` on which a label is listed.
    pub names: BTreeMap<usize, String>,
    /// The groups of each label.
    pub labels: BTreeMap<String, LabelGroups>,
}

/// The groups of a label, from its own level up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelGroups {
    /// The finest level on which the label belongs to a group.
    pub level: usize,
    /// The groups on this level and the following ones; above them is `*`.
    pub groups: Vec<String>,
}

impl ColumnLevels {
    /// A column without any label: all its cells are missing or `*`.
    pub fn none(column: &str) -> ColumnLevels {
        ColumnLevels { column: column.to_string(), names: BTreeMap::new(), labels: BTreeMap::new() }
    }

    /// The number of the level on which every cell is `*`.
    pub fn top(&self) -> usize {
        self.names.keys().next_back().map_or(0, |last| last + 1)
    }

    /// The label of a released cell on a level: `*` if the cell is coarser, or the level is that of `*`. A
    /// missing cell stays missing below that.
    pub fn at_level<'a>(&'a self, cell: &'a str, level: usize) -> &'a str {
        match self.labels.get(cell) {
            _ if level >= self.top() => SUPPRESSED,
            _ if cell.is_empty() => cell,
            None => SUPPRESSED,
            Some(own) => match level.checked_sub(own.level).and_then(|above| own.groups.get(above)) {
                Some(group) => group,
                None => SUPPRESSED,
            },
        }
    }
}

/// Writes the file beside the data; returns its name. Nothing is written where every column has one level, or
/// each value one label.
pub(super) fn write(policy: &Policy, cohort: &Cohort, plan: &Plan, release: &Path) -> Result<Option<String>> {
    if plan.recoding != Recoding::ByRecord {
        return Ok(None);
    }
    let released = plan.rows_by_cells(cohort);
    let added: BTreeSet<u32> = plan.added.iter().map(|own| own.cells).collect();
    let mut columns = Vec::new();
    for column in policy.released() {
        let Some(q) = cohort.quasi.iter().position(|quasi| quasi.column == column) else { continue };
        let cells = (0..released.len()).filter(|&c| released[c] > 0 || added.contains(&(c as u32)));
        let labels: BTreeSet<u32> = cells.map(|c| plan.row(c as u32)[q]).collect();
        let texts = labels.into_iter().map(|label| plan.changed[q].labels[label as usize].text.as_str());
        columns.extend(levels_of(&cohort.quasi[q], &policy.columns[column].rule, texts));
    }
    let text = label_levels_text(&columns);
    if text.len() as u64 > LARGEST_LEVELS {
        return Ok(None);
    }
    let path = release.join(HIERARCHY_FILE);
    std::fs::write(&path, text).map_err(|e| Error::io(&path, &e))?;
    Ok(Some(HIERARCHY_FILE.into()))
}

/// The levels of these released labels; nothing if all are missing or `*`.
pub(super) fn levels_of<'a>(
    quasi: &Quasi,
    rule: &Rule,
    released: impl Iterator<Item = &'a str>,
) -> Option<ColumnLevels> {
    let levels = &quasi.hierarchy.levels;
    // For each label: the finest level that has it, and a value under it.
    let mut found: HashMap<&str, (usize, usize)> = HashMap::new();
    for (number, level) in levels.iter().enumerate() {
        for (code, &label) in level.label_of.iter().enumerate() {
            found.entry(&level.labels[label as usize].text).or_insert((number, code));
        }
    }
    let mut own = ColumnLevels::none(&quasi.name);
    for label in released.filter(|label| !label.is_empty() && *label != SUPPRESSED) {
        let on_level = |&(level, code): &(usize, usize)| {
            let above = levels[level..].iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str());
            (level, above.take_while(|text| *text != SUPPRESSED).map(str::to_string).collect::<Vec<_>>())
        };
        // A range of a class is on no level, but labels of some levels hold it.
        let held = found.get(label).map(on_level).or_else(|| rule.groups_of_range(label));
        let Some((level, groups)) = held.filter(|(_, groups)| !groups.is_empty()) else { continue };
        own.names.extend((level..level + groups.len()).map(|l| (l, levels[l].name.clone())));
        own.labels.insert(label.to_string(), LabelGroups { level, groups });
    }
    (!own.labels.is_empty()).then_some(own)
}

/// The text of the file.
pub(crate) fn label_levels_text(columns: &[ColumnLevels]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = |cells: [&str; 5]| {
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write_cell(&mut out, cell.as_bytes(), b',');
        }
        out.push(b'\n');
    };
    line(HEADER);
    for column in columns {
        for (label, own) in &column.labels {
            for (level, group) in (own.level..).zip(&own.groups) {
                let name = column.names.get(&level).map_or("", String::as_str);
                line([&column.column, label, &level.to_string(), name, group]);
            }
        }
    }
    out
}

/// Reads a file that a stranger may have written. Columns, labels and levels are in order, so that nothing is
/// listed twice; what the labels mean is not checked here.
pub fn read_label_levels(release: &Path) -> Result<Vec<ColumnLevels>> {
    parse_label_levels(&read_text(&release.join(HIERARCHY_FILE), LARGEST_LEVELS)?)
}

/// Parses the text of the file, which a stranger may have written.
pub(crate) fn parse_label_levels(text: &str) -> Result<Vec<ColumnLevels>> {
    let wrong = |line: usize, what: &str| Error::refused(format!("{HIERARCHY_FILE}, line {line}: {what}."));
    let (mut rest, mut number) = (text.as_bytes(), 0);
    let mut columns: Vec<ColumnLevels> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    while !rest.is_empty() {
        number += 1;
        let (cells, used) = split_cells(rest, b',');
        rest = &rest[used.max(1).min(rest.len())..];
        let cells: Vec<String> = cells.iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect();
        let [column, label, level, level_name, group] = &cells[..] else {
            return Err(wrong(number, "it does not have five cells"));
        };
        if number == 1 {
            match cells == HEADER {
                true => continue,
                false => return Err(wrong(1, "these are not the columns of a hierarchy file")),
            }
        }
        let is_mark = |text: &str| text.is_empty() || text == SUPPRESSED;
        let level = level.parse::<usize>().ok().filter(|&own| own <= MOST_LEVELS && own.to_string() == *level);
        let Some(level) = level.filter(|_| !is_mark(label) && !is_mark(group)) else {
            return Err(wrong(number, "it does not name a label, a level and a group"));
        };
        if columns.last().is_none_or(|last| last.column != *column) {
            if !names.insert(column.clone()) {
                return Err(wrong(number, "the lines of a column are not together"));
            }
            columns.push(ColumnLevels::none(column));
        }
        let Some(own) = columns.last_mut() else { continue };
        if own.names.entry(level).or_insert_with(|| level_name.clone()) != level_name {
            return Err(wrong(number, "the level has two names"));
        }
        match own.labels.last_entry() {
            Some(mut last) if last.key() == label => {
                let last = last.get_mut();
                if level != last.level + last.groups.len() {
                    return Err(wrong(number, "a level of the label is left out, or there twice"));
                }
                last.groups.push(group.clone());
            }
            Some(last) if last.key() > label => return Err(wrong(number, "the labels are not in order")),
            _ => {
                own.labels.insert(label.clone(), LabelGroups { level, groups: vec![group.clone()] });
            }
        }
    }
    match number {
        0 => Err(wrong(1, "these are not the columns of a hierarchy file")),
        _ => Ok(columns),
    }
}
