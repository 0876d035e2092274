//! The risk of someone who holds all files that were made of one population, counted from their released bytes.
//!
//! Whoever knows the quasi-identifiers that all files have, and not in which file a person is, finds that person among everybody
//! who looks the same in any of the files. Whoever links the files by these columns pairs records of different people:
//! both are counted here, with the people behind the rows.
//!
//! # Example
//! Both files have `sex`. Three women are in the first file and four in the second: a known woman is one of seven. A
//! record of the first file that looks like exactly one record of the second is a link that an attacker would believe;
//! since nobody is in both files, it is wrong.

use super::RowPeople;
use kohort_core::release::{AnyCertificate, ReleaseFiles};
use kohort_core::table::{Input, Place, Source, open};
use kohort_core::{Error, Result};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Counts of what all files reveal together. A part of evidence/files.json.
#[derive(Debug, Serialize)]
pub(super) struct HeldTogether {
    /// The quasi-identifiers that all files have.
    pub columns: Vec<String>,
    /// Different people in all files.
    pub people: u64,
    /// People who are in more than one file.
    pub people_in_two_files: u64,
    /// Groups of people who look the same in these columns, over all files.
    pub classes: u64,
    /// People in the smallest of them.
    pub smallest_class: u64,
    /// One divided by that.
    pub highest_risk: f64,
    /// The mean over people of one divided by their group's people.
    pub mean_risk: f64,
    /// People of one file who look like exactly one person of another file in these columns: an attacker would take
    /// them for the same person.
    pub believed_links: u64,
    /// Those of them who are the same person.
    pub right_links: u64,
}

/// A released file with the people behind its rows.
pub(super) struct HeldFile<'a> {
    /// All that was made.
    pub release: &'a ReleaseFiles,
    /// The folder in it that is handed over: empty, or a sample's with a slash.
    pub folder: &'a str,
    /// The person of each row; none for a synthetic record.
    pub people: &'a RowPeople,
}

/// The people who show some cells in the shared columns, for each file.
type Classes<'a> = HashMap<Vec<Box<[u8]>>, Vec<BTreeSet<&'a [u8]>>>;

/// Counts what the files reveal together. `None` where a file is not text, or no column is in all of them.
pub(super) fn held_together(files: &[HeldFile]) -> Result<Option<HeldTogether>> {
    let mut sources = Vec::new();
    for file in files {
        let Some(source) = released(file)? else { return Ok(None) };
        sources.push(source);
    }
    let Some(((_, first), others)) = sources.split_first() else { return Ok(None) };
    let in_all = |name: &&String| others.iter().all(|(_, quasi)| quasi.contains(name));
    let columns: Vec<String> = first.iter().filter(in_all).cloned().collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let mut classes = Classes::new();
    for (n, (file, (source, _))) in files.iter().zip(&sources).enumerate() {
        let place = |name: &String| source.columns().iter().position(|own| own == name);
        let places: Vec<usize> = columns.iter().filter_map(place).collect();
        let mut rows = file.people.iter();
        source.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk| {
                for row in 0..chunk.rows() {
                    let Some(person) = rows.next() else {
                        return Err(Error::refused("a file has more rows than were made."));
                    };
                    let Some(person) = person else { continue };
                    let cells = places.iter().map(|&column| chunk.cell(row, column).into()).collect();
                    let class: &mut Vec<_> = classes.entry(cells).or_default();
                    class.resize(files.len(), BTreeSet::new());
                    class[n].insert(person);
                }
                Ok(())
            },
        )?;
    }
    Ok(Some(count(columns, &classes)))
}

fn count(columns: Vec<String>, classes: &Classes) -> HeldTogether {
    // By person: the files that they are in.
    let mut files_of: BTreeMap<&[u8], BTreeSet<usize>> = BTreeMap::new();
    let (mut sizes, mut believed_links, mut right_links) = (Vec::new(), 0, 0);
    for class in classes.values() {
        let mut together: BTreeSet<&[u8]> = BTreeSet::new();
        for (file, people) in class.iter().enumerate() {
            together.extend(people);
            for person in people {
                files_of.entry(person).or_default().insert(file);
            }
            // A lone person of a later file is what everybody of an earlier one would be taken for.
            for other in class[file + 1..].iter().filter(|other| other.len() == 1) {
                believed_links += people.len() as u64;
                right_links += people.intersection(other).count() as u64;
            }
        }
        sizes.push(together.len() as u64);
    }
    let smallest_class = sizes.iter().copied().min().unwrap_or(0);
    let matched: u64 = sizes.iter().sum();
    HeldTogether {
        columns,
        people: files_of.len() as u64,
        people_in_two_files: files_of.values().filter(|files| files.len() > 1).count() as u64,
        classes: sizes.len() as u64,
        smallest_class,
        highest_risk: 1.0 / smallest_class.max(1) as f64,
        mean_risk: sizes.len() as f64 / matched.max(1) as f64,
        believed_links,
        right_links,
    }
}

/// The released data of a file and its quasi-identifiers; `None` if it is not text.
fn released(file: &HeldFile) -> Result<Option<(Source, Vec<String>)>> {
    let path = |name: &str| format!("{}release/{name}", file.folder);
    let found = ["data.csv", "data.csv.gz"].into_iter().find_map(|name| file.release.get(&path(name)).zip(Some(name)));
    let certificate = file.release.get(&path("certificate.json"));
    let (Some((bytes, name)), Some(certificate)) = (found, certificate) else { return Ok(None) };
    let Some(certificate) = AnyCertificate::parse(&String::from_utf8_lossy(certificate))?.table() else {
        return Ok(None);
    };
    let mut input = Input::at(Place::Text(name.into(), bytes.clone()));
    input.delimiter = Some(certificate.delimiter);
    let quasi = certificate.promise.columns.iter().filter(|column| column.role == "quasi");
    Ok(Some((open(&input)?, quasi.map(|column| column.name.clone()).collect())))
}
