//! A verified release in memory.

use crate::evidence::metrics::Metrics;
use crate::pipeline::Released;
use kohort_core::release::{
    AnyCertificate, CLUSTERS_FILE, PATIENTS_FILE, Published, ReleaseFiles, RepeatedLines, table_file,
};
use kohort_core::signature::SecretKey;
use kohort_core::table::{CLAIMS, Chunk, Input, MemoryTable, Place, Silent, TextColumn, open};
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};

/// A verified release in memory, with its evidence. Nothing of it is on disk until it is
/// [saved](Release::save).
#[derive(Debug, Clone)]
pub struct Release {
    files: ReleaseFiles,
    metrics: Metrics,
    notes: Vec<String>,
}

impl Release {
    pub(super) fn new(made: Released<Published>) -> Result<Release> {
        match made.folder {
            Published::Memory(files) => Ok(Release { files, metrics: made.metrics, notes: made.notes }),
            Published::Folder(_) => Err(Error::machine("the release is in a folder, not in memory.")),
        }
    }

    /// The released table. `*` is a suppressed or fully generalized cell, and an empty cell is missing; rows are in
    /// random order.
    pub fn columns(&self) -> Result<MemoryTable> {
        match ["data.csv", "data.csv.gz"].iter().find(|name| self.file(&format!("release/{name}")).is_some()) {
            Some(name) => self.table(name),
            None => Err(Error::yours(
                "the release is not one table of text. See its files: clusters, patients and events, samples or \
                 Parquet have other names.",
            )),
        }
    }

    /// The released patients, each with a random id in the column `patient`.
    pub fn patients(&self) -> Result<MemoryTable> {
        self.table(PATIENTS_FILE)
    }

    /// The released events, with the random id of their patient in the column `patient`; of several tables, those
    /// of the first.
    pub fn events(&self) -> Result<MemoryTable> {
        let tables = self.certificate()?.events().map(|own| own.promise.claim.tables).unwrap_or_default();
        self.events_of(tables.get(1).map_or(CLAIMS, |(name, _)| name))
    }

    /// The released events of one of several tables, by its name in the policy.
    pub fn events_of(&self, table: &str) -> Result<MemoryTable> {
        self.table(&table_file(table))
    }

    /// The released clusters of codes: a header, then one cluster in each line, as JSON.
    pub fn clusters(&self) -> Result<&str> {
        self.text(&format!("release/{CLUSTERS_FILE}"))
    }

    /// The certificate: what is claimed, and what was counted from the released bytes.
    pub fn certificate(&self) -> Result<AnyCertificate> {
        AnyCertificate::parse(self.text("release/certificate.json")?)
    }

    /// Risk and utility, before and after, as evidence/metrics.json holds them.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Notes for the custodian, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The report as a page of HTML, for the custodian.
    pub fn report_html(&self) -> Result<&str> {
        self.text("evidence/report.html")
    }

    /// The data dictionary, which explains each released column to the recipient.
    pub fn dictionary(&self) -> Result<&str> {
        self.text("release/dictionary.md")
    }

    /// A file by its path below DIR: `release/data.csv`.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|bytes| &**bytes)
    }

    /// The lines of a text file by its path below DIR, where they repeat so often that each is kept once.
    pub fn lines(&self, path: &str) -> Option<&RepeatedLines> {
        self.files.lines(path)
    }

    /// The paths of all files below DIR.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.paths()
    }

    /// All files by their path below DIR. `release/` is handed over, `evidence/` is kept.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path, &**bytes))
    }

    /// Signs the certificate: release/certificate.json.sig is added, by which a recipient knows who vouches for
    /// what the certificate states.
    pub fn sign(&mut self, key: &SecretKey) {
        self.files.sign(key);
    }

    /// Writes the release into a new folder, as `kohort anonymize` would have: all of it, or nothing.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<PathBuf> {
        self.files.save(folder.as_ref(), false, &Silent)
    }

    /// Writes the release into a folder, in place of the release that may be there.
    pub fn save_replacing(&self, folder: impl AsRef<Path>) -> Result<PathBuf> {
        self.files.save(folder.as_ref(), true, &Silent)
    }

    fn text(&self, path: &str) -> Result<&str> {
        let missing = || Error::yours(format!("the release has no file {path}."));
        self.file(path).and_then(|bytes| std::str::from_utf8(bytes).ok()).ok_or_else(missing)
    }

    /// Reads a released table back, as whoever receives it would.
    fn table(&self, name: &str) -> Result<MemoryTable> {
        let Some(bytes) = self.files.get(&format!("release/{name}")) else {
            return Err(Error::yours(format!("the release has no file {name}.")));
        };
        let input = Input {
            delimiter: Some(self.certificate()?.delimiter()),
            ..Input::at(Place::Text(name.to_string(), bytes.clone()))
        };
        let source = open(&input)?;
        let width = source.columns().len();
        let mut columns = vec![TextColumn::default(); width];
        let push = |chunk: Chunk| -> Result<()> {
            columns.iter_mut().enumerate().for_each(|(c, column)| column.push_cells(&chunk, c));
            Ok(())
        };
        source.scan(|_| (), |(), chunk| Ok(chunk), push)?;
        MemoryTable::new(name, source.columns().iter().cloned().zip(columns))
    }
}
