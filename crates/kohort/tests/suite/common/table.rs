//! Released tables, read by code that is not Kohort's.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads delimited text, also compressed.
    pub fn read(path: &Path, delimiter: u8) -> Table {
        let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let reader: Box<dyn Read> = match path.extension().is_some_and(|e| e == "gz") {
            true => Box::new(MultiGzDecoder::new(file)),
            false => Box::new(file),
        };
        let mut csv = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(reader);
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_string).collect();
        let columns = texts(csv.headers().unwrap());
        Table { columns, rows: csv.records().map(|r| texts(&r.unwrap())).collect() }
    }

    /// The release in DIR.
    pub fn released(folder: &Path) -> Table {
        Table::read(&folder.join("release").join("data.csv"), b',')
    }

    /// Its rows in an order of their own.
    pub fn sorted(mut self) -> Vec<Vec<String>> {
        self.rows.sort();
        self.rows
    }

    /// As text with this delimiter.
    pub fn to_text(&self, delimiter: u8) -> String {
        let mut csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        std::iter::once(&self.columns).chain(&self.rows).for_each(|row| csv.write_record(row).unwrap());
        String::from_utf8(csv.into_inner().unwrap()).unwrap()
    }
}

/// The input line of each released row.
pub fn lines(folder: &Path) -> Vec<usize> {
    let text = std::fs::read_to_string(folder.join("private").join("rows")).unwrap();
    text.lines().map(|l| l.parse().unwrap()).collect()
}
