//! What the columns page shows of each column: how many values, how many cells are missing, a small histogram.

use kohort::{ColumnAdvice, Progress};
use kohort_core::Result;
use kohort_core::table::{Input, Source, open};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The most values of a column that are counted one by one.
const MOST_VALUES: usize = 1000;
/// The bars of a histogram.
const BARS: usize = 24;

/// A table as it was counted.
#[derive(Debug, Clone)]
pub(crate) struct CountedTable {
    /// Its name in the policy: `patients`, or nothing where there is one table.
    pub(crate) group: Option<String>,
    /// Rows.
    pub(crate) rows: u64,
    /// The columns, in the order of the table.
    pub(crate) columns: Vec<CountedColumn>,
    /// Holds what `init` suggests for them.
    pub(crate) advice: Vec<ColumnAdvice>,
    /// The file's size and time when it was counted.
    pub(crate) stamp: Stamp,
}

/// The size and time of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(std::path::PathBuf, u64, Option<SystemTime>);

impl Stamp {
    /// Looks at the file.
    pub(crate) fn of(path: &Path) -> Stamp {
        let about = fs::metadata(path).ok();
        let time = about.as_ref().and_then(|about| about.modified().ok());
        Stamp(path.to_path_buf(), about.map_or(0, |about| about.len()), time)
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.0.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns whether the file is as it was.
    pub(crate) fn is_current(&self) -> bool {
        *self == Stamp::of(&self.0)
    }
}

/// A column as it was counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountedColumn {
    /// Its name.
    pub(crate) name: String,
    /// Missing cells.
    pub(crate) missing: u64,
    /// The values with their cells, numbers ascending, others by frequency. At most [`MOST_VALUES`] of them.
    pub(crate) values: Vec<(String, u64)>,
    /// Cells with a value that is not in `values`.
    pub(crate) others: u64,
    /// True if every value is a number.
    pub(crate) numeric: bool,
    /// The smallest and the largest number.
    pub(crate) range: Option<(f64, f64)>,
    /// The heights of a histogram.
    pub(crate) bars: Vec<u64>,
}

impl CountedColumn {
    /// Returns how many values there are, in words.
    pub(crate) fn distinct(&self) -> String {
        match (self.values.len(), self.others) {
            (1, 0) => "1 value".into(),
            (n, 0) => format!("{} values", crate::page::thousands(n as u64)),
            (n, _) => format!("more than {} values", crate::page::thousands(n as u64)),
        }
    }
}

/// Counts a table: one pass, in memory that does not grow with its rows.
pub(crate) fn count(
    input: &Input,
    group: Option<String>,
    advice: Vec<ColumnAdvice>,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<CountedTable> {
    let stamp = Stamp::of(input.place.path().unwrap_or(Path::new("")));
    let source = open(input)?.with_threads(threads).with_progress(Arc::clone(progress));
    progress.stage("counting", source.bytes());
    let width = source.columns().len();
    let mut tallies = vec![Tally::default(); width];
    let mut rows = 0;
    let work = |(): &mut (), chunk: kohort_core::table::Chunk| {
        let mut own: Vec<HashMap<&[u8], u64>> = vec![HashMap::new(); width];
        for row in 0..chunk.rows() {
            for (c, counts) in own.iter_mut().enumerate() {
                *counts.entry(chunk.cell(row, c)).or_default() += 1;
            }
        }
        let part: Vec<Vec<(Vec<u8>, u64)>> =
            own.into_iter().map(|counts| counts.into_iter().map(|(cell, n)| (cell.to_vec(), n)).collect()).collect();
        Ok((chunk.rows() as u64, part))
    };
    source.scan(
        |_| (),
        work,
        |(more, part)| {
            rows += more;
            for (tally, mut counts) in tallies.iter_mut().zip(part) {
                // Which values are kept must not depend on the order of a hash table.
                counts.sort_unstable();
                counts.into_iter().for_each(|(cell, cells)| tally.add(&source, cell, cells));
            }
            Ok(())
        },
    )?;
    let named = source.columns().iter().zip(tallies);
    let columns = named.map(|(name, tally)| tally.finish(name.clone())).collect();
    Ok(CountedTable { group, rows, columns, advice, stamp })
}

/// The counts of a column while it is read.
#[derive(Debug, Clone, Default)]
struct Tally {
    values: HashMap<Vec<u8>, u64>,
    missing: u64,
    others: u64,
    texts: u64,
    bins: Bins,
}

impl Tally {
    fn add(&mut self, source: &Source, cell: Vec<u8>, cells: u64) {
        if source.is_missing(&cell) {
            self.missing += cells;
            return;
        }
        match number(&cell) {
            Some(number) => self.bins.add(number, cells),
            None => self.texts += cells,
        }
        if let Some(count) = self.values.get_mut(&cell) {
            *count += cells;
        } else if self.values.len() < MOST_VALUES {
            self.values.insert(cell, cells);
        } else {
            self.others += cells;
        }
    }

    fn finish(self, name: String) -> CountedColumn {
        let numeric = self.texts == 0 && self.bins.range.is_some();
        let text = |(cell, cells): (Vec<u8>, u64)| (String::from_utf8_lossy(&cell).into_owned(), cells);
        let mut values: Vec<(String, u64)> = self.values.into_iter().map(text).collect();
        if numeric {
            let place = |value: &str| number(value.as_bytes()).unwrap_or_default();
            values.sort_by(|a, b| place(&a.0).total_cmp(&place(&b.0)).then_with(|| a.0.cmp(&b.0)));
        } else {
            values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        }
        let bars = match numeric && values.len() > BARS {
            true => self.bins.heights(),
            false => values.iter().take(BARS).map(|value| value.1).collect(),
        };
        let range = self.bins.range.filter(|_| numeric);
        CountedColumn { name, missing: self.missing, values, others: self.others, numeric, range, bars }
    }
}

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.trim().replace(',', ".").parse::<f64>().ok().filter(|n| n.is_finite())
}

/// Many narrow bins between two numbers, widened whenever a number falls outside.
#[derive(Debug, Clone, Default)]
struct Bins {
    range: Option<(f64, f64)>,
    from: f64,
    width: f64,
    counts: Vec<u64>,
}

impl Bins {
    const MANY: usize = 512;

    fn add(&mut self, number: f64, cells: u64) {
        self.range = Some(self.range.map_or((number, number), |(low, high)| (low.min(number), high.max(number))));
        if self.counts.is_empty() {
            (self.from, self.width, self.counts) = (number.floor(), 1.0 / 16.0, vec![0; Bins::MANY]);
        }
        let span = |own: &Bins| own.width * Bins::MANY as f64;
        while number < self.from || number >= self.from + span(self) {
            let joined: Vec<u64> = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            let low = number < self.from;
            if low {
                self.from -= span(self);
            }
            self.width *= 2.0;
            self.counts = vec![0; Bins::MANY];
            let start = if low { Bins::MANY / 2 } else { 0 };
            self.counts[start..start + joined.len()].copy_from_slice(&joined);
        }
        let place = ((number - self.from) / self.width) as usize;
        self.counts[place.min(Bins::MANY - 1)] += cells;
    }

    /// The counts between the smallest and the largest number, as the bars of a histogram.
    fn heights(&self) -> Vec<u64> {
        let Some((low, high)) = self.range else { return Vec::new() };
        let mut heights = vec![0; BARS];
        let wide = ((high - low) / BARS as f64).max(f64::MIN_POSITIVE);
        for (i, cells) in self.counts.iter().enumerate() {
            let middle = self.from + (i as f64 + 0.5) * self.width;
            let place = ((middle - low) / wide).max(0.0) as usize;
            heights[place.min(BARS - 1)] += cells;
        }
        heights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kohort_core::table::{Place, Silent};

    fn counted(text: &str) -> CountedTable {
        let input = Input::at(Place::Text("t.csv".into(), text.as_bytes().into()));
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        count(&input, None, Vec::new(), 1, &progress).unwrap()
    }

    #[test]
    fn values_missing_cells_and_numbers_are_counted() {
        let table = counted("age,sex\n30,F\n7,M\n30,F\n,F\n");
        assert_eq!(table.rows, 4);
        let [age, sex] = &table.columns[..] else { panic!("two columns") };
        assert_eq!((age.numeric, age.missing, age.range), (true, 1, Some((7.0, 30.0))));
        assert_eq!(age.values, [("7".to_string(), 1), ("30".to_string(), 2)]);
        assert_eq!(sex.values, [("F".to_string(), 3), ("M".to_string(), 1)]);
        assert_eq!(sex.distinct(), "2 values");
    }

    #[test]
    fn a_histogram_counts_every_number_however_far_apart() {
        let rows: String = (0..5000).map(|n: i64| format!("{}\n", n * n - 1_000_000)).collect();
        let table = counted(&format!("x\n{rows}"));
        let column = &table.columns[0];
        assert_eq!(column.bars.iter().sum::<u64>(), 5000);
        assert_eq!(column.values.len(), MOST_VALUES);
        assert_eq!(column.distinct(), "more than 1,000 values");
    }
}
