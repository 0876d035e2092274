//! A release with uniform columns: from release/ alone its recipient brings each column to one level. Cells that
//! are coarser than this level become `*`.

use crate::apply::LEVELS_FILE;
use kohort_core::release::{ColumnLevels, DataFile, HIERARCHY_FILE, Unfinished, made, markdown, read_label_levels};
use kohort_core::table::{Counting, Input, Silent, Source, Tuples, count, open};
use kohort_core::verify::{AnyRecounted, Recounted, verify_release};
use kohort_core::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The levels that columns are brought to, and how the result is written.
#[derive(Debug, Clone, Default)]
pub struct Flatten {
    /// Columns and their levels, by name or by number. A name counts more than a number: of the levels `value`,
    /// `5`, `10` and `*`, `10` is the third. Every other column gets the level that keeps most.
    pub levels: Vec<(String, String)>,
    /// Replace a folder that was made by an earlier call.
    pub replace: bool,
    /// The number of threads.
    pub threads: usize,
}

/// The table that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flattened {
    /// Its file.
    pub file: PathBuf,
    /// Its rows: as many as the release has.
    pub rows: u64,
    /// The quasi-identifiers, in the order of the release.
    pub columns: Vec<FlatColumn>,
}

/// A column after it was brought to one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatColumn {
    /// Its name.
    pub name: String,
    /// The number of its level.
    pub level: usize,
    /// The name of its level.
    pub level_name: String,
    /// Rows that show a label or are missing.
    pub kept: u64,
    /// Rows that show `*`.
    pub suppressed: u64,
}

/// Verifies a release and writes its uniform table into a new folder, in the format of the release, with a
/// dictionary. The folder is whole, or it is not there.
pub fn flatten_release(folder: &Path, out: &Path, asked: &Flatten) -> Result<Flattened> {
    made::keep_apart(out, &[folder.to_path_buf()])?;
    made::may_become(out, asked.replace)?;
    let AnyRecounted::Table(Recounted { certificate, .. }) = verify_release(folder, asked.threads)? else {
        return Err(one_level(folder));
    };
    if !certificate.files.iter().any(|file| file.name == HIERARCHY_FILE) {
        return Err(one_level(folder));
    }
    let release = [folder.join("release"), folder.to_path_buf()].into_iter();
    let release = release.into_iter().find(|f| f.join("certificate.json").is_file()).unwrap_or_default();
    let listed = read_label_levels(&release)?;
    let data = certificate.files.iter().find(|f| f.rows.is_some()).map(|f| f.name.as_str()).unwrap_or_default();
    let mut input = Input::new(release.join(data));
    input.delimiter = Some(certificate.delimiter);
    let source = open(&input)?.with_threads(asked.threads);
    let roles = certificate.promise.columns.iter().enumerate();
    let quasi: Vec<usize> = roles.filter(|(_, column)| column.role == "quasi").map(|(place, _)| place).collect();
    let table = FlattenedColumns::new(&source, quasi, listed, &asked.levels)?;

    let unfinished = Unfinished::beside(out, &Silent)?;
    let file = DataFile::name_of_one(&source);
    table.write(&source, &unfinished.folder().join(file))?;
    let dictionary = unfinished.folder().join("dictionary.md");
    fs::write(&dictionary, table.dictionary(file)).map_err(|e| Error::io(&dictionary, &e))?;
    let levels: std::collections::BTreeMap<&str, usize> =
        table.flat.iter().map(|own| (own.name.as_str(), own.level)).collect();
    let path = unfinished.folder().join(LEVELS_FILE);
    fs::write(&path, serde_json::to_string_pretty(&levels).unwrap_or_default() + "\n")
        .map_err(|e| Error::io(&path, &e))?;
    unfinished.finish(asked.replace)?;
    Ok(Flattened { file: out.join(file), rows: table.rows, columns: table.flat })
}

fn one_level(folder: &Path) -> Error {
    Error::yours(format!(
        "{}: the columns of this release do not show labels of different levels (it has no {HIERARCHY_FILE}), so there \
         is nothing to flatten.",
        folder.display()
    ))
}

/// The quasi-identifiers of a release and what each of their cells becomes.
struct FlattenedColumns {
    rows: u64,
    /// Their places in the data.
    quasi: Vec<usize>,
    /// For each of them: the labels that are released, in order, and what each becomes.
    becomes: Vec<Vec<(String, String)>>,
    flat: Vec<FlatColumn>,
}

impl FlattenedColumns {
    fn new(
        source: &Source,
        quasi: Vec<usize>,
        listed: Vec<ColumnLevels>,
        asked: &[(String, String)],
    ) -> Result<FlattenedColumns> {
        let name_of = |place: usize| &source.columns()[place];
        let mut levels: Vec<ColumnLevels> = Vec::new();
        for &place in &quasi {
            let own = listed.iter().find(|own| own.column == *name_of(place)).cloned();
            levels.push(own.unwrap_or_else(|| ColumnLevels::none(name_of(place))));
        }
        if let Some((name, _)) = asked.iter().find(|(name, _)| levels.iter().all(|own| own.column != *name)) {
            let names: Vec<&str> = levels.iter().map(|own| own.column.as_str()).collect();
            return Err(Error::yours(format!(
                "`{name}` is not a quasi-identifier of the release. Those are: {}.",
                names.join(", ")
            )));
        }
        let counted = count(source, &Counting { columns: quasi.clone(), patient: None, remember: 0 })?;
        let mut table = FlattenedColumns { rows: counted.rows, quasi, becomes: Vec::new(), flat: Vec::new() };
        for (position, own) in levels.iter().enumerate() {
            let cells = cells(&counted, position);
            // The last one counts, as with every option that is given twice.
            let level = match asked.iter().rev().find(|(name, _)| *name == own.column) {
                Some((_, level)) => named(own, level)?,
                None => keeps_most(own, &cells),
            };
            let shown = |cell: &str| own.at_level(cell, level).to_string();
            let kept = cells.iter().filter(|(cell, _)| shown(cell) != "*").map(|(_, rows)| rows).sum();
            table.flat.push(FlatColumn {
                name: own.column.clone(),
                level,
                level_name: own.names.get(&level).cloned().unwrap_or_else(|| "*".into()),
                kept,
                suppressed: table.rows - kept,
            });
            let mut becomes: Vec<(String, String)> =
                cells.iter().map(|&(cell, _)| (cell.into(), shown(cell))).collect();
            becomes.sort_unstable();
            table.becomes.push(becomes);
        }
        Ok(table)
    }

    fn write(&self, source: &Source, path: &Path) -> Result<()> {
        let types = source.column_types()?;
        let place_of = |column: usize| self.quasi.iter().position(|&own| own == column);
        let typed = source.columns().iter().enumerate().map(|(c, name)| {
            let is_changed = |q: usize| self.becomes[q].iter().any(|(cell, shown)| cell != shown);
            let fits = place_of(c).is_none_or(|q| !is_changed(q));
            (name.clone(), types[c].clone().filter(|_| fits))
        });
        let mut file = DataFile::create(source, &typed.collect::<Vec<_>>(), path)?;
        let places: Vec<Option<usize>> = (0..source.columns().len()).map(place_of).collect();
        source.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk| {
                (0..chunk.rows()).try_for_each(|row| {
                    file.row(places.iter().enumerate().map(|(c, place)| {
                        let cell = chunk.cell(row, c);
                        place.map_or(cell, |q| self.shown(q, cell))
                    }))
                })
            },
        )?;
        file.finish()
    }

    /// The cell that a released cell becomes. One that was not counted before is suppressed.
    fn shown(&self, q: usize, cell: &[u8]) -> &[u8] {
        let own = &self.becomes[q];
        match own.binary_search_by(|(known, _)| known.as_bytes().cmp(cell)) {
            Ok(at) => own[at].1.as_bytes(),
            Err(_) => b"*",
        }
    }

    fn dictionary(&self, file: &str) -> String {
        let mut text = format!(
            "# Data dictionary\n\n`{file}` was made from a release by `kohort flatten`. Every quasi-identifier has labels of \
             one level. A cell whose label was coarser than that is `*`. All other columns are as in the release, whose \
             dictionary explains them.\n\n\
             | column | level | rows with a label | rows with `*` |\n|---|---|---|---|\n"
        );
        for own in &self.flat {
            let FlatColumn { name, level, level_name, kept, suppressed } = own;
            text += &format!("| {} | {level} ({}) | {kept} | {suppressed} |\n", markdown(name), markdown(level_name));
        }
        text + "\nRows with `*` are not a random part of all rows: records that resemble few others were coarsened more. Say \
                how many there are, and repeat the analysis at a coarser level.\n\n\
                The table was made from the release alone and only coarsens it, so that it reveals no more than the \
                release does. It has no certificate of its own: `kohort verify` checks the release.\n"
    }
}

/// The cells of a column and how many rows have each.
fn cells(counted: &Tuples, position: usize) -> Vec<(&str, u64)> {
    let texts = counted.dictionaries[position].texts();
    texts
        .into_iter()
        .zip(counted.frequencies(position))
        .map(|(text, &rows)| (text, rows))
        .filter(|(_, rows)| *rows > 0)
        .collect()
}

/// The level that somebody names, by its name or its number.
fn named(own: &ColumnLevels, asked: &str) -> Result<usize> {
    let top = own.top();
    let by_name = own.names.iter().find(|(_, name)| *name == asked).map(|(&level, _)| level);
    let by_number = || asked.parse::<usize>().ok().filter(|level| *level == top || own.names.contains_key(level));
    let found = by_name.or_else(|| (asked == "*").then_some(top)).or_else(by_number);
    found.ok_or_else(|| {
        let mut all: Vec<String> = own.names.iter().map(|(level, name)| format!("{level} ({name})")).collect();
        all.push(format!("{top} (*)"));
        Error::yours(format!(
            "column `{}` has no labels of level `{asked}` or finer. Its levels are: {}.",
            own.column,
            all.join(", ")
        ))
    })
}

/// The level that keeps most: the number of rows that keep a label, times the entropy of these labels in bits. A
/// fine level tells much about few rows, a coarse one little about many.
fn keeps_most(own: &ColumnLevels, cells: &[(&str, u64)]) -> usize {
    let measure = |level: usize| {
        let mut rows_of: std::collections::BTreeMap<&str, u64> = Default::default();
        for &(cell, rows) in cells {
            let shown = own.at_level(cell, level);
            if shown != "*" && !shown.is_empty() {
                *rows_of.entry(shown).or_default() += rows;
            }
        }
        let kept: u64 = rows_of.values().sum();
        let bits: f64 = rows_of.values().map(|&rows| rows as f64 * (kept as f64 / rows as f64).log2()).sum();
        (bits, kept)
    };
    let mut best = (own.top(), (0.0, 0));
    for &level in own.names.keys() {
        let found = measure(level);
        let better = found.0 > best.1.0 + 1e-9 || (found.0 > best.1.0 - 1e-9 && found.1 > best.1.1);
        if better {
            best = (level, found);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use kohort_core::release::LabelGroups;

    fn ages() -> ColumnLevels {
        let mut own = ColumnLevels::none("age");
        own.names = [(0, "value"), (1, "5"), (2, "10")].map(|(level, name)| (level, name.to_string())).into();
        for (label, level, groups) in [
            ("37", 0, vec!["37", "[35,40)", "[30,40)"]),
            ("[30,35)", 1, vec!["[30,35)", "[30,40)"]),
            ("[40,50)", 2, vec!["[40,50)"]),
        ] {
            let groups = groups.into_iter().map(str::to_string).collect();
            own.labels.insert(label.into(), LabelGroups { level, groups });
        }
        own
    }

    #[test]
    fn a_coarser_cell_becomes_a_star_and_a_finer_one_its_group() {
        let ages = ages();
        let at = |level| ["37", "[30,35)", "[40,50)", "", "*", "?"].map(|cell| ages.at_level(cell, level).to_string());
        assert_eq!(at(0), ["37", "*", "*", "", "*", "*"]);
        assert_eq!(at(1), ["[35,40)", "[30,35)", "*", "", "*", "*"]);
        assert_eq!(at(2), ["[30,40)", "[30,40)", "[40,50)", "", "*", "*"]);
        assert_eq!(at(3), ["*"; 6]);
    }

    #[test]
    fn a_level_is_named_or_numbered_and_a_name_counts_more() {
        let level = |asked: &str| named(&ages(), asked).ok();
        assert_eq!(["value", "0", "5", "10", "2", "3", "*"].map(level), [0, 0, 1, 2, 2, 3, 3].map(Some));
        assert_eq!([level("4"), level("month"), level("")], [None; 3]);
        assert!(named(&ages(), "x").unwrap_err().message.contains("0 (value), 1 (5), 2 (10), 3 (*)"));
    }

    #[test]
    fn the_default_weighs_rows_against_detail() {
        assert_eq!(keeps_most(&ages(), &[("37", 1), ("[30,35)", 1), ("[40,50)", 98)]), 2);
        assert_eq!(keeps_most(&ages(), &[("37", 50), ("[30,35)", 50), ("[40,50)", 1)]), 1);
        assert_eq!(keeps_most(&ages(), &[("37", 100)]), 0, "one label has no entropy; the finest level keeps it");
        assert_eq!(keeps_most(&ColumnLevels::none("sex"), &[("*", 100)]), 0);
    }
}
