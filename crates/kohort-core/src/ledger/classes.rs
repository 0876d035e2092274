//! The class of each person in a release that was verified and is about to be published.

use super::keyed::hex;
use super::{Ledger, LedgerRelease, LedgerUnit};
use crate::policy::{Policy, Role};
use crate::release::PATIENTS_FILE;
use crate::shape::{Codes, Events, Shape};
use crate::table::{Counting, Input, Place, Source, count, open};
use crate::verify::{LineFile, Verified};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::Path;

/// For each keyed hash of a person, the classes of this person's records.
pub type Classes = BTreeMap<String, Vec<u32>>;

/// The class of each input line that is released.
type ClassOfLine = HashMap<u64, u32, foldhash::fast::RandomState>;

impl Ledger {
    /// The entry of a verified release, without the classes of its people.
    pub fn entry<S: Shape>(
        &self,
        verified: &Verified<S>,
        source: &Source,
        policy: &Policy<S>,
    ) -> Result<LedgerRelease> {
        let certificate = &verified.findings().certificate;
        let columns = certificate.promise.columns.iter().map(|own| (own.name.clone(), own.role.clone()));
        Ok(LedgerRelease {
            name: verified.name(),
            certificate: hex(&Sha256::digest(certificate.to_text())),
            shape: S::NAME.into(),
            method: certificate.method.clone(),
            k: policy.privacy.k.get(),
            columns: columns.collect(),
            unit: if certificate.promise.patients { LedgerUnit::Patient } else { LedgerUnit::Row },
            input: self.file.key.hash(&[b"input", &input_hash(source)?]),
            people: Classes::new(),
            found: None,
        })
    }

    /// The class of each person in a verified table. A class is the group of records that show the same
    /// quasi-identifiers; synthetic records belong to nobody.
    pub fn classes_of_table(&self, verified: &Verified, source: &Source, policy: &Policy) -> Result<Classes> {
        let (data, lines) = verified.released(source.threads())?;
        let columns = &verified.findings().certificate.promise.columns;
        let quasi = (0..columns.len()).filter(|&c| columns[c].role == "quasi").collect();
        let tuples = count(&data, &Counting { columns: quasi, patient: None, remember: u64::MAX })?;
        let classes = tuples.of_row.ok_or_else(|| Error::machine("the release changed while it was read."))?;
        let mut class_of = class_of_lines(&classes, &lines)?;
        class_of.remove(&crate::release::NO_LINE);
        self.people(class_of, source, policy.patient())
    }

    /// The class of each patient in a verified release of codes: the cluster that the patient is in. Members of a
    /// joint cluster are clusters of their own.
    pub fn classes_of_codes(
        &self,
        verified: &Verified<Codes>,
        source: &Source,
        policy: &Policy<Codes>,
    ) -> Result<Classes> {
        let path = verified.private().join("rows");
        let text = std::fs::read_to_string(&path).map_err(|e| Error::io(&path, &e))?;
        let mut class_of = ClassOfLine::default();
        for (cluster, lines) in (0u32..).zip(text.lines()) {
            for line in lines.split_ascii_whitespace() {
                class_of.insert(line.parse().map_err(|_| LineFile::bad())?, cluster);
            }
        }
        self.people(class_of, source, policy.patient())
    }

    /// The class of each patient in a verified release of events: the patients who show the same patient-level
    /// quasi-identifiers. What the events reveal is not part of it.
    pub fn classes_of_events(
        &self,
        verified: &Verified<Events>,
        source: &Source,
        policy: &Policy<Events>,
    ) -> Result<Classes> {
        let certificate = &verified.findings().certificate;
        let mut input = Input::new(verified.release().join(PATIENTS_FILE));
        input.delimiter = Some(certificate.delimiter);
        let data = open(&input)?.with_threads(source.threads());
        // The first column of the file is the random id, which is not listed.
        let tables = certificate.promise.claim.columns_of(&certificate.promise.columns);
        let columns = tables.first().map_or(&[][..], |own| own.1).iter().enumerate();
        let quasi: Vec<usize> = columns.filter(|(_, own)| own.role == "quasi").map(|(place, _)| place + 1).collect();
        // Without patient-level quasi-identifiers all patients look the same; the rows are counted all the same.
        let columns = if quasi.is_empty() { vec![0] } else { quasi.clone() };
        let released = count(&data, &Counting { columns, patient: None, remember: u64::MAX })?;
        let rows = released.rows as usize;
        let classes = match quasi.is_empty() {
            true => vec![0; rows],
            false => released.of_row.ok_or_else(|| Error::machine("the release changed while it was read."))?,
        };
        let class_of = class_of_lines(&classes, &verified.private().join("patients"))?;
        let Some(patients) = source.patients() else {
            return Err(policy.error("[input] does not name the patients' table."));
        };
        let patient = policy.own.patients.iter().position(|own| own.role == Role::Patient);
        self.people(class_of, patients, patient)
    }

    /// The classes of people: by the patient column, or by row of this input.
    fn people(&self, class_of: ClassOfLine, source: &Source, patient: Option<usize>) -> Result<Classes> {
        let mut people = Classes::new();
        let Some(patient) = patient else {
            let input = input_hash(source)?;
            for (line, class) in class_of {
                people.insert(self.file.key.hash(&[b"row", &input, &line.to_be_bytes()]), vec![class]);
            }
            return Ok(people);
        };
        source.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk| {
                for row in 0..chunk.rows() {
                    if let Some(&class) = class_of.get(&chunk.line(row)) {
                        let who = self.file.key.hash(&[b"patient", chunk.cell(row, patient)]);
                        let own = people.entry(who).or_default();
                        if let Err(at) = own.binary_search(&class) {
                            own.insert(at, class);
                        }
                    }
                }
                Ok(())
            },
        )?;
        Ok(people)
    }
}

/// The class of each line, from the classes of released rows and the file of their lines.
fn class_of_lines(classes: &[u32], lines: &Path) -> Result<ClassOfLine> {
    let mut file = LineFile::open(lines)?;
    classes.iter().map(|&class| Ok((file.next()?, class))).collect()
}

/// The SHA-256 of an input: the bytes of its file, or its cells in memory. It gets into the ledger under the
/// ledger's key only.
fn input_hash(source: &Source) -> Result<Vec<u8>> {
    let mut hasher = Sha256::new();
    match &source.input().place {
        Place::File(path) | Place::Hashed(path, _) => {
            let mut file = File::open(path).map_err(|e| Error::io(path, &e))?;
            std::io::copy(&mut file, &mut HashWriter(&mut hasher)).map_err(|e| Error::io(path, &e))?;
        }
        Place::Text(_, bytes) => hasher.update(bytes),
        place => {
            let source = open(&Input::at(place.clone()))?;
            let width = source.columns().len();
            let each = |chunk: crate::table::Chunk| {
                for row in 0..chunk.rows() {
                    for column in 0..width {
                        let cell = chunk.cell(row, column);
                        hasher.update((cell.len() as u64).to_be_bytes());
                        hasher.update(cell);
                    }
                }
                Ok(())
            };
            source.scan(|_| (), |(), chunk| Ok(chunk), each)?;
        }
    }
    Ok(hasher.finalize().to_vec())
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
