//! catalog.csv: the number of synthetic records, by groups of classes and sensitive value.
//!
//! A class has no name in the data. Its number is the place at which its quasi-identifiers first
//! come in the data file, from 1: that order is random, and nobody needs a further column.

use super::plan::{Catalog, Plan};
use crate::cohort::Cohort;
use crate::policy::Policy;
use crate::table::{Counting, Input, Source, count, open, read_text, split_cells, write_cell};
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The file's name in release/.
pub const CATALOG_FILE: &str = "catalog.csv";
/// The largest catalog that is read.
pub(crate) const LARGEST_CATALOG: u64 = 256 << 20;

/// One line of a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogLine {
    /// The numbers of the classes, from 1, ascending.
    pub classes: Vec<u64>,
    /// The sensitive value.
    pub value: String,
    /// The number of synthetic records with this value, in these classes together.
    pub rows: u64,
}

/// Writes the catalog beside the data, whose order numbers the classes; returns its name.
pub(super) fn write(
    source: &Source,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
    catalog: &Catalog,
    data: &Path,
) -> Result<String> {
    let released = policy.released();
    let quasi = cohort.quasi.iter().filter_map(|q| released.iter().position(|&c| c == q.column)).collect();
    let mut input = Input::new(data);
    input.delimiter = Some(source.delimiter());
    let shown =
        count(&open(&input)?.with_threads(source.threads()), &Counting { columns: quasi, patient: None, remember: 0 })?;
    let mut number_of: HashMap<Vec<&str>, u64> = HashMap::new();
    for tuple in 0..shown.len() {
        let key = shown.dictionaries.iter().zip(shown.codes(tuple)).map(|(d, &code)| d.text(code)).collect();
        number_of.insert(key, tuple as u64 + 1);
    }
    let mut lines = Vec::new();
    for entry in &catalog.entries {
        let number = |&cells: &u32| {
            let labels = plan.row(cells).iter().zip(&plan.changed).take(cohort.quasi.len());
            let key: Vec<&str> = labels.map(|(&label, changed)| &*changed.labels[label as usize].text).collect();
            number_of.get(&key).copied()
        };
        let classes: Option<Vec<u64>> = entry.classes.iter().map(number).collect();
        let mut classes = classes.ok_or_else(|| Error::refused("a class of the catalog is not in the release."))?;
        classes.sort_unstable();
        lines.push(CatalogLine { classes, value: entry.value.clone(), rows: entry.rows });
    }
    let path = data.with_file_name(CATALOG_FILE);
    let text = catalog_text(&policy.columns[catalog.column].name, lines);
    std::fs::write(&path, text).map_err(|e| Error::io(&path, &e))?;
    Ok(CATALOG_FILE.into())
}

/// The text of a catalog about this column.
pub(crate) fn catalog_text(column: &str, mut lines: Vec<CatalogLine>) -> Vec<u8> {
    lines.sort_by(|a, b| (&a.classes, &a.value).cmp(&(&b.classes, &b.value)));
    let mut out = Vec::new();
    let mut line = |cells: [&str; 3]| {
        for (i, cell) in cells.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            write_cell(&mut out, cell.as_bytes(), b',');
        }
        out.push(b'\n');
    };
    line(["classes", column, "counterfeits"]);
    for own in lines {
        let classes: Vec<String> = own.classes.iter().map(u64::to_string).collect();
        line([&classes.join(" "), &own.value, &own.rows.to_string()]);
    }
    out
}

/// Reads a catalog that a stranger may have written: about this column, and classes up to `classes`.
pub fn read_catalog(release: &Path, column: &str, classes: u64) -> Result<Vec<CatalogLine>> {
    parse_catalog(&read_text(&release.join(CATALOG_FILE), LARGEST_CATALOG)?, column, classes)
}

/// Parses the text of a catalog.
pub(crate) fn parse_catalog(text: &str, column: &str, classes: u64) -> Result<Vec<CatalogLine>> {
    let wrong = |line: usize, what: &str| Err(Error::refused(format!("{CATALOG_FILE}, line {line}: {what}.")));
    let (mut rest, mut number) = (text.as_bytes(), 0);
    let mut lines: Vec<CatalogLine> = Vec::new();
    while !rest.is_empty() {
        number += 1;
        let (cells, used) = split_cells(rest, b',');
        rest = &rest[used.max(1).min(rest.len())..];
        let cells: Vec<String> = cells.iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect();
        let [own, value, rows] = &cells[..] else { return wrong(number, "it does not have three cells") };
        if number == 1 {
            if [own.as_str(), value, rows] != ["classes", column, "counterfeits"] {
                return wrong(1, "these are not the columns of a catalog");
            }
            continue;
        }
        let ids: Option<Vec<u64>> = own.split(' ').map(|id| id.parse().ok()).collect();
        let Some(ids) = ids.filter(|ids| {
            ids.windows(2).all(|pair| pair[0] < pair[1]) && ids.iter().all(|id| (1..=classes).contains(id))
        }) else {
            return wrong(number, "`classes` is not a list of classes of the data, each once and in ascending order");
        };
        match rows.parse::<u64>() {
            Ok(rows) if rows > 0 => lines.push(CatalogLine { classes: ids, value: value.clone(), rows }),
            _ => return wrong(number, "it does not count any rows"),
        }
    }
    if number == 0 {
        return wrong(1, "these are not the columns of a catalog");
    }
    Ok(lines)
}
