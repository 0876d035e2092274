//! The class of each person in a release that was verified and is about to be published.

use super::keyed::hex;
use super::{Ledger, LedgerRelease, LedgerUnit};
use crate::policy::Policy;
use crate::shape::Shape;
use crate::table::{Counting, Input, Place, Source, count, open};
use crate::verify::{LineFile, Verified};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;

/// For each keyed hash of a person, the classes of this person's records.
pub type Classes = BTreeMap<String, Vec<u32>>;

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
        let mut file = LineFile::open(&lines)?;
        let mut class_of: HashMap<u64, u32, foldhash::fast::RandomState> = HashMap::default();
        for &class in &classes {
            let line = file.next()?;
            if line != crate::release::NO_LINE {
                class_of.insert(line, class);
            }
        }
        let mut people = Classes::new();
        let Some(patient) = policy.patient() else {
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
        place @ Place::Memory(_) => {
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
