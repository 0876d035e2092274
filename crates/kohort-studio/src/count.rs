//! The counts that the columns page shows of each column: its values, its missing cells, a small histogram.

use kohort::{ColumnAdvice, Progress};
use kohort_core::Result;
use kohort_core::table::{Input, Source, open};
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The most values of a column that are kept with their counts. Pages never list more.
const MOST_VALUES: usize = 256;
/// The smallest hashes of a column that are kept to estimate how many values it has.
const HASHES: usize = 256;
/// The bars of a small histogram, and of a large one.
const BARS: usize = 24;
const FINE_BARS: usize = 60;

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

    /// Returns whether the file was written after another one. Not if one of them has no time.
    pub(crate) fn is_newer_than(&self, other: &Stamp) -> bool {
        matches!((self.2, other.2), (Some(own), Some(other)) if own > other)
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
    /// How many values there are; an estimate if not all of them are in `values`.
    pub(crate) distinct: u64,
    /// Cells with a value that is not in `values`.
    pub(crate) others: u64,
    /// True if every value is a number.
    pub(crate) numeric: bool,
    /// The smallest and the largest number.
    pub(crate) range: Option<(f64, f64)>,
    /// The heights of a histogram.
    pub(crate) bars: Vec<u64>,
    /// For numbers, a finer histogram.
    pub(crate) fine: Option<Histogram>,
}

/// The bars of a histogram, all of one width.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Histogram {
    /// Where the first bar begins.
    pub(crate) from: f64,
    /// The width of a bar.
    pub(crate) width: f64,
    /// The cells in each bar.
    pub(crate) heights: Vec<u64>,
}

impl Histogram {
    /// Where the last bar ends.
    pub(crate) fn to(&self) -> f64 {
        self.from + self.width * self.heights.len() as f64
    }
}

impl CountedColumn {
    /// Returns how many values there are, in words. Where they were not all counted here, `init` may have.
    pub(crate) fn distinct(&self, advice: Option<&ColumnAdvice>) -> String {
        let stated =
            advice.and_then(|advice| advice.facts.split(", ").next()).filter(|facts| facts.ends_with("values"));
        if let (Some(stated), true) = (stated, self.others > 0) {
            return stated.to_string();
        }
        let about = if self.others > 0 { "about " } else { "" };
        let word = if self.distinct == 1 { "value" } else { "values" };
        format!("{about}{} {word}", crate::page::thousands(self.distinct))
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
    progress.stage("counting the values of each column", source.bytes());
    let width = source.columns().len();
    let mut tallies = vec![Tally::default(); width];
    let mut rows = 0;
    source.scan(
        |_| (),
        |(), chunk| {
            let column = |c: usize| Tally::of((0..chunk.rows()).map(|row| chunk.cell(row, c)), &source);
            Ok((chunk.rows() as u64, (0..width).map(column).collect::<Vec<Tally>>()))
        },
        |(more, parts)| {
            rows += more;
            tallies.iter_mut().zip(parts).for_each(|(tally, part)| tally.merge(part));
            Ok(())
        },
    )?;
    let named = source.columns().iter().zip(tallies);
    let columns = named.map(|(name, tally)| tally.finish(name.clone())).collect();
    Ok(CountedTable { group, rows, columns, advice, stamp })
}

/// The counts of a column, or of a part of it. Its size does not depend on the rows.
#[derive(Debug, Clone, Default)]
struct Tally {
    values: HashMap<Vec<u8>, u64>,
    missing: u64,
    others: u64,
    texts: u64,
    bins: Bins,
    /// The smallest hashes of its values, ascending.
    hashes: Vec<u64>,
}

impl Tally {
    fn of<'a>(cells: impl Iterator<Item = &'a [u8]>, source: &Source) -> Tally {
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        cells.for_each(|cell| *counts.entry(cell).or_default() += 1);
        let mut tally = Tally::default();
        counts.retain(|cell, cells| {
            let missing = source.is_missing(cell);
            tally.missing += if missing { *cells } else { 0 };
            !missing
        });
        tally.hashes = counts.keys().map(|cell| hash(cell)).collect();
        tally.hashes.sort_unstable();
        tally.hashes.truncate(HASHES);
        // Numbers in their order: how bins grow must not depend on the order of a hash table.
        let mut numbers: Vec<(f64, u64)> = Vec::new();
        for (cell, cells) in &counts {
            match number(cell) {
                Some(number) => numbers.push((number, *cells)),
                None => tally.texts += cells,
            }
        }
        numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        numbers.iter().for_each(|(number, cells)| tally.bins.add(*number, *cells));
        let mut counts: Vec<(&[u8], u64)> = counts.into_iter().collect();
        let by_frequency = |a: &(&[u8], u64), b: &(&[u8], u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
        if counts.len() > MOST_VALUES {
            counts.select_nth_unstable_by(MOST_VALUES, by_frequency);
            tally.others = counts.drain(MOST_VALUES..).map(|(_, cells)| cells).sum();
        }
        tally.values = counts.into_iter().map(|(cell, cells)| (cell.to_vec(), cells)).collect();
        tally
    }

    fn merge(&mut self, part: Tally) {
        self.missing += part.missing;
        self.others += part.others;
        self.texts += part.texts;
        self.bins.merge(&part.bins);
        self.hashes.extend(part.hashes);
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.truncate(HASHES);
        let mut values: Vec<(Vec<u8>, u64)> = part.values.into_iter().collect();
        values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (cell, cells) in values {
            if let Some(count) = self.values.get_mut(&cell) {
                *count += cells;
            } else if self.values.len() < MOST_VALUES {
                self.values.insert(cell, cells);
            } else {
                self.others += cells;
            }
        }
    }

    /// How many values there are. Where not all were kept, it follows from how close together the smallest hashes are.
    fn distinct(&self) -> u64 {
        match self.hashes.last() {
            Some(&last) if self.others > 0 && self.hashes.len() == HASHES && last > 0 => {
                ((HASHES - 1) as f64 / (last as f64 / u64::MAX as f64)).round() as u64
            }
            _ => self.values.len() as u64,
        }
    }

    fn finish(self, name: String) -> CountedColumn {
        let numeric = self.texts == 0 && self.bins.range.is_some();
        // An estimate may be larger than what is possible.
        let cells = self.values.values().sum::<u64>() + self.others;
        let distinct = self.distinct().min(cells);
        let text = |(cell, cells): (Vec<u8>, u64)| (String::from_utf8_lossy(&cell).into_owned(), cells);
        let mut values: Vec<(String, u64)> = self.values.into_iter().map(text).collect();
        if numeric {
            let place = |value: &str| number(value.as_bytes()).unwrap_or_default();
            values.sort_by(|a, b| place(&a.0).total_cmp(&place(&b.0)).then_with(|| a.0.cmp(&b.0)));
        } else {
            values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        }
        let bars = match numeric && distinct > BARS as u64 {
            true => self.bins.histogram(BARS).heights,
            false => values.iter().take(BARS).map(|value| value.1).collect(),
        };
        let fine = numeric.then(|| self.bins.histogram(FINE_BARS));
        let range = self.bins.range.filter(|_| numeric);
        CountedColumn { name, missing: self.missing, values, distinct, others: self.others, numeric, range, bars, fine }
    }
}

fn hash(cell: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(cell);
    hasher.finish()
}

fn number(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    let parsed = if text.contains(',') { text.replace(',', ".").parse() } else { text.parse::<f64>() };
    parsed.ok().filter(|n| n.is_finite())
}

/// Many narrow bins between two numbers, widened whenever a number falls outside.
#[derive(Debug, Clone, Default)]
struct Bins {
    range: Option<(f64, f64)>,
    from: f64,
    width: f64,
    counts: Vec<u64>,
    /// True if a number is not whole.
    broken: bool,
}

impl Bins {
    const MANY: usize = 512;

    fn add(&mut self, number: f64, cells: u64) {
        self.range = Some(self.range.map_or((number, number), |(low, high)| (low.min(number), high.max(number))));
        self.broken |= number.fract() != 0.0;
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

    /// Adds the bins of another part, as if each of its numbers were in the middle of its bin.
    fn merge(&mut self, part: &Bins) {
        let Some((low, high)) = part.range else { return };
        let broken = self.broken | part.broken;
        for (i, &cells) in part.counts.iter().enumerate().filter(|(_, cells)| **cells > 0) {
            self.add((part.from + (i as f64 + 0.5) * part.width).clamp(low, high), cells);
        }
        let (own_low, own_high) = self.range.unwrap_or((low, high));
        self.range = Some((own_low.min(low), own_high.max(high)));
        // The middle of a bin is not a number of the data.
        self.broken = broken;
    }

    /// The counts between the smallest and the largest number, as the bars of a histogram. Bars of whole numbers hold
    /// the same number of them, so that none is high only because it holds one more.
    fn histogram(&self, bars: usize) -> Histogram {
        let (low, high) = self.range.unwrap_or_default();
        let (width, bars) = match self.broken {
            false => {
                let numbers = high - low + 1.0;
                let width = (numbers / bars as f64).ceil();
                (width, (numbers / width).ceil() as usize)
            }
            true => (((high - low) / bars as f64).max(f64::MIN_POSITIVE), bars),
        };
        let mut heights = vec![0; bars.max(1)];
        for (i, cells) in self.counts.iter().enumerate().filter(|(_, cells)| **cells > 0) {
            let middle = (self.from + (i as f64 + 0.5) * self.width).clamp(low, high);
            let place = ((middle - low) / width).max(0.0) as usize;
            let last = heights.len() - 1;
            heights[place.min(last)] += cells;
        }
        Histogram { from: low, width, heights }
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
        assert_eq!(sex.distinct(None), "2 values");
    }

    #[test]
    fn a_histogram_counts_every_number_however_far_apart() {
        let rows: String = (0..5000).map(|n: i64| format!("{}\n", n * n - 1_000_000)).collect();
        let table = counted(&format!("x\n{rows}"));
        let column = &table.columns[0];
        assert_eq!(column.bars.iter().sum::<u64>(), 5000);
        assert_eq!(column.values.len(), MOST_VALUES);
        assert!((4000..6200).contains(&column.distinct), "{}", column.distinct);
        assert!(column.distinct <= 5000 && column.distinct(None).starts_with("about "));
    }

    #[test]
    fn bars_of_whole_numbers_hold_the_same_number_of_them() {
        let rows: String = (0..9000).map(|n| format!("{}\n", n % 90)).collect();
        let column = &counted(&format!("age\n{rows}")).columns[0];
        let fine = column.fine.as_ref().unwrap();
        assert_eq!((fine.from, fine.width, fine.to()), (0.0, 2.0, 90.0));
        assert!(fine.heights.iter().all(|&height| height == 200), "{fine:?}");
        let bars = &column.bars;
        assert!(bars[..bars.len() - 1].iter().all(|height| height == &bars[0]), "{bars:?}");
    }

    #[test]
    fn the_number_of_values_is_estimated_well_and_does_not_depend_on_threads() {
        let rows: String = (0..60_000).map(|n: u64| format!("{},{}\n", n * 7919, n % 300)).collect();
        let input = Input::at(Place::Text("t.csv".into(), format!("id,few\n{rows}").into_bytes().into()));
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        let counted = |threads| count(&input, None, Vec::new(), threads, &progress).unwrap();
        let (one, four) = (counted(1), counted(4));
        for (a, b) in one.columns.iter().zip(&four.columns) {
            assert_eq!((a.distinct, &a.values, &a.bars), (b.distinct, &b.values, &b.bars));
        }
        let off = one.columns[0].distinct as f64 / 60_000.0 - 1.0;
        assert!(off.abs() < 0.2, "{off}");
        let off = one.columns[1].distinct as f64 / 300.0 - 1.0;
        assert!(off.abs() < 0.2, "{off}");
    }
}
