//! The original and the release, each as columns of numbered texts, and which label may stand for
//! which value.

use super::Scene;
use kohort_core::Result;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::policy::{Policy, Unmapped};
use kohort_core::table::{Keys, Source, Texts};

/// Some columns of a table.
pub(super) struct TableSide {
    /// One entry per column: its texts; missing is empty, and number 0.
    pub(super) texts: Vec<Texts>,
    /// For each column, then by row: the number of its text.
    pub(super) cells: Vec<Vec<u32>>,
    /// For each row: its line.
    pub(super) lines: Vec<u64>,
}

/// Number of the missing text in every column.
pub(super) const MISSING: u32 = 0;

impl TableSide {
    /// Reads these columns.
    pub(super) fn read(source: &Source, columns: &[usize]) -> Result<TableSide> {
        let mut texts = vec![Texts::default(); columns.len()];
        texts.iter_mut().for_each(|t| {
            t.intern(b"");
        });
        let mut side = TableSide { texts, cells: vec![Vec::new(); columns.len()], lines: Vec::new() };
        source.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk| {
                for row in 0..chunk.rows() {
                    for (place, &column) in columns.iter().enumerate() {
                        let cell = chunk.cell(row, column);
                        let cell = if source.is_missing(cell) { &b""[..] } else { cell };
                        let number = side.texts[place].intern(cell);
                        side.cells[place].push(number);
                    }
                    side.lines.push(chunk.line(row));
                }
                Ok(())
            },
        )?;
        Ok(side)
    }

    pub(super) fn rows(&self) -> usize {
        self.lines.len()
    }

    /// A row, in some columns.
    pub(super) fn row(&self, row: usize, columns: &[usize]) -> Vec<u32> {
        columns.iter().map(|&c| self.cells[c][row]).collect()
    }

    /// Rows that are alike in these columns: by number their cells, and the rows of each.
    pub(super) fn classes(&self, columns: &[usize]) -> (Keys, Vec<Vec<u32>>) {
        let mut keys = Keys::new(columns.len());
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for row in 0..self.rows() {
            let class = keys.intern(&self.row(row, columns)) as usize;
            if class == rows.len() {
                rows.push(Vec::new());
            }
            rows[class].push(row as u32);
        }
        (keys, rows)
    }
}

/// Both sides over the same columns: quasi-identifiers first, then sensitive ones.
pub(super) struct TableSides {
    pub(super) original: TableSide,
    pub(super) release: TableSide,
    /// States how many of the columns are quasi-identifiers.
    pub(super) quasi: usize,
    /// The columns' names.
    pub(super) names: Vec<String>,
    /// For each quasi-identifier, then each value: the labels that may replace it.
    pub(super) labels: Vec<Vec<Vec<bool>>>,
}

impl TableSides {
    /// Reads both.
    pub(super) fn read(scene: &Scene) -> Result<TableSides> {
        let policy = scene.policy;
        let quasi = policy.quasi();
        let sensitive = policy.positions(|r| matches!(r, kohort_core::policy::Role::Sensitive { .. }));
        let columns = [&quasi[..], &sensitive].concat();
        let names: Vec<String> = columns.iter().map(|&c| policy.columns[c].name.clone()).collect();
        let data = scene.certificate.files.iter().find(|f| f.rows.is_some()).map_or("", |f| f.name.as_str());
        let released = scene.open(data)?;
        let place = |name: &String| released.columns().iter().position(|c| c == name).unwrap_or(0);
        let release = TableSide::read(&released, &names.iter().map(place).collect::<Vec<_>>())?;
        let original = TableSide::read(scene.source, &columns)?;
        let labels = (0..quasi.len()).map(|c| fitting(policy, quasi[c], &original.texts[c], &release.texts[c]));
        let labels = labels.collect();
        Ok(TableSides { original, release, quasi: quasi.len(), names, labels })
    }

    /// Returns whether a class of released labels may hold someone with these values, both in these columns.
    pub(super) fn fits(&self, columns: &[usize], values: &[u32], labels: &[u32]) -> bool {
        columns
            .iter()
            .zip(values.iter().zip(labels))
            .all(|(&c, (&value, &label))| self.labels[c][value as usize][label as usize])
    }
}

/// For each value: the labels that may replace it.
fn fitting(policy: &Policy, column: usize, values: &Texts, labels: &Texts) -> Vec<Vec<bool>> {
    let text = |texts: &Texts, n: usize| String::from_utf8_lossy(texts.get(n as u32)).into_owned();
    let values: Vec<String> = (0..values.len()).map(|n| text(values, n)).collect();
    let texts: Vec<&str> = values.iter().map(String::as_str).collect();
    let (column, ranges) = (&policy.columns[column], policy.ranges(column, &texts));
    let hierarchy = column.rule.apply(&texts, true);
    let labels: Vec<String> = (0..labels.len()).map(|n| text(labels, n)).collect();
    let may = |value: usize, label: &String| {
        let missing = value == MISSING as usize;
        let uncovered = column.unmapped == Unmapped::Suppressed && hierarchy.uncovered.contains(&(value as u32));
        let on_a_level = || hierarchy.levels.iter().any(|l| l.labels[l.label_of[value] as usize].text == *label);
        label == SUPPRESSED
            || (missing && label.is_empty())
            || (!missing && !label.is_empty() && !uncovered && *label == values[value])
            || (!missing && !label.is_empty() && on_a_level())
            || (!missing && column.rule.found_interval_holds(label, &values[value]))
            || (!missing && ranges.as_ref().is_some_and(|own| own.holds(label, &values[value])))
    };
    (0..values.len()).map(|value| labels.iter().map(|label| may(value, label)).collect()).collect()
}
