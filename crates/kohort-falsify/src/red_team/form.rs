//! The forms of a table: text, compressed text, Parquet, and a folder of Parquet parts.

use super::csv;
use super::release::Release;
use crate::dice::Dice;
use flate2::Compression;
use flate2::write::GzEncoder;
use kohort_core::table::{Input, ParquetWriter, open};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A table: its header and its rows.
pub type Table = (Vec<String>, Vec<Vec<String>>);

/// The form of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Gzip,
    Parquet,
    /// Several files in a folder.
    Parts,
}

impl Form {
    /// A random one; most tables are text.
    pub fn draw(dice: &mut Dice) -> Form {
        match dice.below(20) {
            0 => Form::Gzip,
            1 => Form::Parquet,
            2 => Form::Parts,
            _ => Form::Text,
        }
    }

    /// The form of a release's data.
    pub fn of(release: &Release) -> Option<Form> {
        let forms = [(Form::Text, "data.csv"), (Form::Gzip, "data.csv.gz"), (Form::Parquet, "data.parquet")];
        let is_part = |name: &String| name.starts_with("data/");
        let listed = forms.into_iter().find(|own| release.files.contains_key(own.1)).map(|own| own.0);
        listed.or_else(|| release.files.keys().any(is_part).then_some(Form::Parts))
    }

    /// The word under which it is counted.
    pub fn word(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Gzip => "gzip",
            Form::Parquet => "Parquet",
            Form::Parts => "Parquet parts",
        }
    }

    /// The file or folder of a table of this name.
    pub fn file(self, stem: &str) -> String {
        match self {
            Form::Text => format!("{stem}.csv"),
            Form::Gzip => format!("{stem}.csv.gz"),
            Form::Parquet => format!("{stem}.parquet"),
            Form::Parts => stem.into(),
        }
    }

    /// The number that Kohort has for the first row of a table: a header is a line, and Parquet has none.
    pub fn first_line(self) -> usize {
        match self {
            Form::Text | Form::Gzip => 2,
            Form::Parquet | Form::Parts => 1,
        }
    }

    /// The files of a table, by their names.
    pub fn files(self, stem: &str, (header, rows): &Table) -> Vec<(String, Vec<u8>)> {
        let name = self.file(stem);
        match self {
            Form::Text => vec![(name, csv::write(header, rows).into_bytes())],
            Form::Gzip => vec![(name, compressed(csv::write(header, rows).as_bytes()))],
            Form::Parquet => vec![(name, parquet(header, rows))],
            Form::Parts => {
                let parts = rows.chunks(rows.len().div_ceil(2).max(1)).zip(1..);
                parts.map(|(own, at)| (format!("{stem}/part-{at:05}.parquet"), parquet(header, own))).collect()
            }
        }
    }
}

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(text).and_then(|()| out.finish()).unwrap_or_default()
}

fn parquet(header: &[String], rows: &[Vec<String>]) -> Vec<u8> {
    let columns: Vec<_> = header.iter().map(|name| (name.clone(), None)).collect();
    let written = ParquetWriter::create(Vec::new(), &columns).and_then(|mut out| {
        rows.iter().try_for_each(|row| out.row(row.iter().map(|cell| cell.as_bytes())))?;
        out.finish()
    });
    written.unwrap_or_default()
}

/// The table of a release. Text is read by the red team's own reader, the other forms by Kohort's.
pub fn table(release: &Release) -> Option<Table> {
    let form = Form::of(release)?;
    if form == Form::Text {
        return csv::read(std::str::from_utf8(release.files.get("data.csv")?).ok()?);
    }
    let folder = tempfile::tempdir().ok()?;
    let own = release.files.iter().filter(|(name, _)| name.starts_with("data"));
    for (name, bytes) in own {
        let place = folder.path().join(name);
        fs::create_dir_all(place.parent()?).ok()?;
        fs::write(place, bytes).ok()?;
    }
    read(&folder.path().join(form.file("data")))
}

fn read(path: &Path) -> Option<Table> {
    let source = open(&Input::new(path)).ok()?;
    let width = source.columns().len();
    let mut rows = Vec::new();
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
    let scanned = source.scan(
        |_| (),
        |(), chunk| Ok((0..chunk.rows()).map(|r| (0..width).map(|c| text(chunk.cell(r, c))).collect()).collect()),
        |own: Vec<Vec<String>>| {
            rows.extend(own);
            Ok(())
        },
    );
    scanned.ok()?;
    Some((source.columns().to_vec(), rows))
}

/// Puts another table into a release, in the form that its table has.
pub fn put_table(release: &mut Release, own: &Table) {
    let form = Form::of(release).unwrap_or(Form::Text);
    release.files.retain(|name, _| !name.starts_with("data/"));
    release.files.extend(form.files("data", own));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_same_in_every_form() {
        let own: Table =
            (vec!["a".into(), "b".into()], vec![vec!["1".into(), "[1,2)".into()], vec!["2".into(), "".into()]]);
        for form in [Form::Text, Form::Gzip, Form::Parquet, Form::Parts] {
            let mut release = Release::default();
            release.files.extend(form.files("data", &own));
            assert_eq!(Form::of(&release), Some(form));
            assert_eq!(table(&release).as_ref(), Some(&own), "{form:?}");
            put_table(&mut release, &own);
            assert_eq!(table(&release).as_ref(), Some(&own), "{form:?}");
        }
    }
}
