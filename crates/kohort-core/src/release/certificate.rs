//! certificate.json: what is promised of a release, and what the verifier counted.
//!
//! The file has two parts. `counted` is what anyone recounts from the bytes; `attested` is what only the
//! custodian can know, and a signature says who vouches for it.
//!
//! Nothing else is in it: no input, no original or suppressed counts, no seeds, no paths.

use super::claim::{ColumnClaim, SyntheticClaim, TableClaim};
use super::data_file::{PARTS, part_name};
use super::guarantee::Guarantee;
use super::promise::Promise;
use super::serial;
use crate::number::Fraction;
use crate::policy::Effects;
use crate::privacy::LDiversity;
use crate::shape::{Codes, Events, Shape, Table};
use crate::table::may_delimit;
use crate::visible::is_visible;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The name of the format.
const FORMAT: &str = "kohort-certificate";
/// The version that is written and read.
const VERSION: u64 = 2;
/// The longest sentence about cleaning, in bytes.
const LONGEST_SENTENCE: usize = 2_000;

/// A file of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name in release/.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal. A folder of parts has none of its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Its rows, if it is a table.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub rows: Option<u64>,
    /// The files of a folder of parts, which are one table in this order.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_list")]
    pub parts: Option<Vec<PartEntry>>,
}

/// A part of a table in a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// Its name in release/.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its rows.
    pub rows: u64,
}

impl FileEntry {
    /// A file that is not hashed yet.
    pub fn new(name: impl Into<String>, rows: Option<u64>) -> FileEntry {
        FileEntry { name: name.into(), sha256: String::new(), rows, parts: None }
    }

    /// A folder of parts with so many rows each, which are not hashed yet.
    pub fn of_parts(rows: &[u64]) -> FileEntry {
        let part = |(number, &rows): (usize, &u64)| PartEntry { name: part_name(number), sha256: String::new(), rows };
        let parts = (1..).zip(rows).map(part).collect();
        FileEntry { parts: Some(parts), ..FileEntry::new(PARTS, Some(rows.iter().sum())) }
    }

    /// The names, hashes and rows of the file, or of its parts.
    pub fn hashed_files(&self) -> Vec<(&str, &str, Option<u64>)> {
        match &self.parts {
            None => vec![(&self.name, &self.sha256, self.rows)],
            Some(parts) => parts.iter().map(|part| (&*part.name, &*part.sha256, Some(part.rows))).collect(),
        }
    }

    /// Sets the hash of the file, or those of its parts.
    pub(crate) fn set_hashes(&mut self, mut hash: impl FnMut(&str) -> Result<String>) -> Result<()> {
        match &mut self.parts {
            None => self.sha256 = hash(&self.name)?,
            Some(parts) => {
                for part in parts {
                    part.sha256 = hash(&part.name)?;
                }
            }
        }
        Ok(())
    }

    /// Says what makes no sense in an entry that a stranger wrote.
    fn makes_sense(&self) -> std::result::Result<(), &'static str> {
        let Some(parts) = &self.parts else {
            return if self.sha256.is_empty() { Err("a file is listed without its `sha256`") } else { Ok(()) };
        };
        let named = (1..).zip(parts).all(|(number, part)| part.name == part_name(number));
        let rows = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.rows));
        match self.name == PARTS && self.sha256.is_empty() && !parts.is_empty() && named && rows == self.rows {
            true => Ok(()),
            false => Err("`parts` are not named and numbered as a folder of parts is, or their rows do not add up"),
        }
    }
}

/// The whole certificate of a release of shape `S`.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate<S: Shape = Table> {
    /// The version of Kohort that wrote it.
    pub kohort: String,
    /// The method.
    pub method: String,
    /// True if randomness came from a seed: then it is a test, not a release.
    pub test: bool,
    /// The share of the whole file, if this is a random sample of it: then the promise is about that file.
    pub sample: Option<Fraction>,
    /// The files.
    pub files: Vec<FileEntry>,
    /// The character that separates the cells.
    pub delimiter: u8,
    /// The promise.
    pub promise: Promise<S>,
    /// The verifier's counts.
    pub recount: S::Shown,
    /// The guarantee in words.
    pub guarantee: Guarantee,
}

/// A certificate of any shape: the door through which every certificate comes in.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyCertificate {
    /// The certificate of a table.
    Table(Certificate<Table>),
    /// The certificate of clusters of codes.
    Codes(Certificate<Codes>),
    /// The certificate of patients and their events.
    Events(Certificate<Events>),
}

/// Where people are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CountingUnit {
    Patient,
    Row,
}

/// How the cells of a table are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marks {
    delimiter: char,
    suppressed: String,
    missing: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleOf {
    share: Fraction,
}

/// As the file has it: two parts, of which only the first can be recounted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CertificateFile<C, R> {
    format: String,
    version: u64,
    shape: String,
    kohort: String,
    counted: CountedFile<C, R>,
    attested: AttestedFile,
}

/// The part of a certificate that anyone recounts from the bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedFile<C, R> {
    #[serde(deserialize_with = "serial::list")]
    files: Vec<FileEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    text: Option<Marks>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_list")]
    columns: Option<Vec<ColumnClaim>>,
    /// The tables of events with their columns.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_list")]
    tables: Option<Vec<TableClaim>>,
    claim: C,
    recount: R,
    guarantee: String,
}

/// The part of a certificate that only the custodian can know.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttestedFile {
    method: String,
    unit: CountingUnit,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    test: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    sample: Option<SampleOf>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    synthetic: Option<SyntheticClaim>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "serial::list")]
    cleaning: Vec<String>,
    effects: Effects,
    guarantee: AttestedSentences,
    #[serde(deserialize_with = "serial::list")]
    assumed: Vec<String>,
    #[serde(deserialize_with = "serial::list")]
    not_recountable: Vec<String>,
}

/// The sentences that go beyond what can be recounted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttestedSentences {
    /// Against an attacker who matches what they know, where a recipient cannot count all of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    plain: Option<String>,
    aware: String,
}

/// The keys that are read first, to know how to read the rest.
#[derive(Deserialize)]
struct Door {
    format: String,
    version: u64,
    #[serde(default)]
    shape: String,
}

impl<S: Shape> Certificate<S> {
    /// The certificate as JSON, indented.
    pub fn to_text(&self) -> String {
        let promise = self.promise.clone();
        let marks = Marks { delimiter: char::from(self.delimiter), suppressed: "*".into(), missing: String::new() };
        let Guarantee { counted, plain, aware } = self.guarantee.clone();
        let file = CertificateFile {
            format: FORMAT.into(),
            version: VERSION,
            shape: S::NAME.into(),
            kohort: self.kohort.clone(),
            attested: AttestedFile {
                method: self.method.clone(),
                unit: if promise.patients { CountingUnit::Patient } else { CountingUnit::Row },
                test: self.test,
                sample: self.sample.map(|share| SampleOf { share }),
                synthetic: S::synthetic(&promise.claim).cloned(),
                cleaning: promise.cleaning,
                effects: promise.effects,
                guarantee: AttestedSentences { plain: Some(plain).filter(|own| *own != counted), aware },
                assumed: promise.assumed,
                not_recountable: promise.not_recountable,
            },
            counted: CountedFile {
                files: self.files.clone(),
                text: S::HAS_CELLS.then_some(marks),
                tables: S::tables(&promise.claim, &promise.columns),
                columns: S::tables(&promise.claim, &promise.columns).is_none().then_some(promise.columns),
                claim: promise.claim,
                recount: self.recount.clone(),
                guarantee: counted,
            },
        };
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Reads a certificate of this shape that a stranger may have written.
    pub fn parse(text: &str) -> Result<Certificate<S>> {
        door::<S>(text)?;
        let file: CertificateFile<S::Claim, S::Shown> = serial::read(text).map_err(|what| wrong(&what))?;
        let CertificateFile { kohort, counted, attested, .. } = file;
        if !is_version(&kohort) {
            return Err(wrong("`kohort` is not a version such as 1.2.3"));
        }
        let delimiter = match (&counted.text, S::HAS_CELLS) {
            (Some(marks), true) => marks.delimiter()?,
            (None, false) => b',',
            _ => return Err(wrong("`text` is missing, or is present for a format without text cells")),
        };
        counted.files.iter().try_for_each(FileEntry::makes_sense).map_err(wrong)?;
        let mut claim = counted.claim;
        let columns = match (counted.columns, counted.tables) {
            (Some(columns), None) => columns,
            (None, Some(tables)) => S::set_tables(&mut claim, tables).map_err(wrong)?,
            _ => return Err(wrong("`columns` and `tables` are both there, or both missing")),
        };
        if S::tables(&claim, &columns).is_some_and(|tables| tables.is_empty()) {
            return Err(wrong("`tables` is missing"));
        }
        let repeats = |of: &[String]| of.iter().collect::<BTreeSet<_>>().len() < of.len();
        if columns.iter().any(|column| repeats(&column.of)) {
            return Err(wrong("`of` names a column twice"));
        }
        if let Some(synthetic) = attested.synthetic {
            S::set_synthetic(&mut claim, synthetic).map_err(wrong)?;
        }
        if attested.effects.synthetic != S::synthetic(&claim).is_some() {
            return Err(wrong("`attested.effects.synthetic` and `attested.synthetic` contradict each other"));
        }
        S::makes_sense(&claim, &counted.recount).map_err(wrong)?;
        if attested.cleaning.iter().any(|sentence| !is_plain(sentence)) {
            return Err(wrong("`attested.cleaning` holds something that is not a sentence"));
        }
        let AttestedSentences { plain, aware } = attested.guarantee;
        Ok(Certificate {
            kohort,
            method: attested.method,
            test: attested.test,
            sample: attested.sample.map(|own| own.share),
            files: counted.files,
            delimiter,
            promise: Promise {
                patients: attested.unit == CountingUnit::Patient,
                effects: attested.effects,
                columns,
                claim,
                cleaning: attested.cleaning,
                assumed: attested.assumed,
                not_recountable: attested.not_recountable,
            },
            recount: counted.recount,
            guarantee: Guarantee {
                plain: plain.unwrap_or_else(|| counted.guarantee.clone()),
                counted: counted.guarantee,
                aware,
            },
        })
    }
}

/// Returns whether a text is the number of a version: three numbers with dots between, and perhaps a word such as
/// `-rc.1`.
fn is_version(text: &str) -> bool {
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let is_number = |own: &str| (1..=9).contains(&own.len()) && own.bytes().all(|b| b.is_ascii_digit());
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && rest.len() <= 20
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
}

/// Returns whether a text is one visible line of reasonable length.
fn is_plain(text: &str) -> bool {
    (1..=LONGEST_SENTENCE).contains(&text.len()) && is_visible(text)
}

impl Marks {
    fn delimiter(&self) -> Result<u8> {
        if self.suppressed != "*" || !self.missing.is_empty() {
            return Err(wrong(
                "`text` uses other marks than * for suppressed cells and an empty cell for missing \
                 values",
            ));
        }
        u8::try_from(self.delimiter)
            .ok()
            .filter(|own| may_delimit(*own))
            .ok_or_else(|| wrong("`text.delimiter` is not one character that separates cells"))
    }
}

fn read_door(text: &str) -> Result<Door> {
    let door: Door = serial::read(text).map_err(|what| wrong(&what))?;
    if door.format != FORMAT {
        return Err(wrong("`format` is not \"kohort-certificate\""));
    }
    match door.version {
        VERSION => Ok(door),
        1 => Err(wrong("`version` is 1: the certificate was written by an older Kohort. Release the data again")),
        _ => Err(wrong("`version` is not 2: the certificate was written by a newer Kohort")),
    }
}

fn door<S: Shape>(text: &str) -> Result<()> {
    match read_door(text)?.shape {
        own if own == S::NAME => Ok(()),
        _ => {
            Err(Error::refused(format!("the release is of another kind than the policy's data, which is {}.", S::NAME)))
        }
    }
}

impl AnyCertificate {
    /// Reads a certificate that a stranger may have written.
    pub fn parse(text: &str) -> Result<AnyCertificate> {
        match &*read_door(text)?.shape {
            Table::NAME => Ok(AnyCertificate::Table(Certificate::parse(text)?)),
            Codes::NAME => Ok(AnyCertificate::Codes(Certificate::parse(text)?)),
            Events::NAME => Ok(AnyCertificate::Events(Certificate::parse(text)?)),
            _ => Err(wrong("`shape` is unknown: the certificate was written by a newer Kohort")),
        }
    }

    /// The certificate as JSON, indented.
    pub fn to_text(&self) -> String {
        match self {
            AnyCertificate::Table(own) => own.to_text(),
            AnyCertificate::Codes(own) => own.to_text(),
            AnyCertificate::Events(own) => own.to_text(),
        }
    }

    /// The guarantee in words.
    pub fn guarantee(&self) -> &Guarantee {
        match self {
            AnyCertificate::Table(own) => &own.guarantee,
            AnyCertificate::Codes(own) => &own.guarantee,
            AnyCertificate::Events(own) => &own.guarantee,
        }
    }

    /// The method that made the release, as the custodian states it.
    pub fn method(&self) -> &str {
        match self {
            AnyCertificate::Table(own) => &own.method,
            AnyCertificate::Codes(own) => &own.method,
            AnyCertificate::Events(own) => &own.method,
        }
    }

    /// Returns whether randomness came from a seed: then it is a test, not a release.
    pub fn is_test(&self) -> bool {
        match self {
            AnyCertificate::Table(own) => own.test,
            AnyCertificate::Codes(own) => own.test,
            AnyCertificate::Events(own) => own.test,
        }
    }

    /// The files of the release.
    pub fn files(&self) -> &[FileEntry] {
        match self {
            AnyCertificate::Table(own) => &own.files,
            AnyCertificate::Codes(own) => &own.files,
            AnyCertificate::Events(own) => &own.files,
        }
    }

    /// The character that separates the cells of its data files.
    pub fn delimiter(&self) -> u8 {
        match self {
            AnyCertificate::Table(own) => own.delimiter,
            AnyCertificate::Codes(own) => own.delimiter,
            AnyCertificate::Events(own) => own.delimiter,
        }
    }

    /// The certificate, if it is of a table.
    pub fn table(self) -> Option<Certificate<Table>> {
        if let AnyCertificate::Table(own) = self { Some(own) } else { None }
    }

    /// The certificate, if it is of clusters of codes.
    pub fn codes(self) -> Option<Certificate<Codes>> {
        if let AnyCertificate::Codes(own) = self { Some(own) } else { None }
    }

    /// The certificate, if it is of patients and their events.
    pub fn events(self) -> Option<Certificate<Events>> {
        if let AnyCertificate::Events(own) = self { Some(own) } else { None }
    }
}

/// Returns whether a diversity is one that can be counted.
pub(crate) fn counts(l: &LDiversity) -> bool {
    // One value is there in any class: l = 1 requires nothing.
    l.l() >= 2 && !matches!(l, LDiversity::Recursive { c: (_, 0), .. } | LDiversity::Recursive { c: (0, _), .. })
}

fn wrong(what: &str) -> Error {
    Error::yours(format!("certificate.json: {what}. This folder is not a release made by Kohort, or it was damaged."))
}
