//! `[population]`: how many people there are outside, for attacks with a registry.

use super::files::PolicyFiles;
use super::section::Section;
use crate::Result;
use crate::table::{Counting, Input, Place, count, open};
use std::collections::BTreeMap;

/// The registry an attacker may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// How many people it holds of each kind.
    pub registry: Registry,
    /// The quasi-identifier by whose values attack 1 is reported, by place.
    pub region: Option<usize>,
}

/// Class sizes outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Registry {
    /// Counted: quasi-identifiers by place, and people by their values.
    Counts(Vec<usize>, BTreeMap<Vec<String>, u64>),
    /// So many people in all: classes are taken to be as much larger than in the file.
    Size(u64),
}

impl Population {
    /// How many people there are in all.
    pub fn people(&self) -> u64 {
        match &self.registry {
            Registry::Counts(_, counts) => counts.values().sum(),
            Registry::Size(size) => *size,
        }
    }

    /// Reads the section; `quasi` are the quasi-identifiers' names in table order.
    pub(super) fn read(root: &Section, files: &PolicyFiles, quasi: &[&str]) -> Result<Option<Population>> {
        let Some(section) = root.section("population")? else { return Ok(None) };
        section.only(&["counts", "size", "region"])?;
        let region = match section.text("region")? {
            None => None,
            Some(name) => match quasi.iter().position(|q| *q == name) {
                Some(place) => Some(place),
                None => return Err(section.wrong("region", format!("`{name}` is not a column with role = \"quasi\"."))),
            },
        };
        let registry = match (section.text("counts")?, section.whole("size")?) {
            (Some(file), None) => read_counts(&section, files.place(file)?, quasi)?,
            (None, Some(size)) if size > 0 => Registry::Size(size),
            _ => {
                return Err(section.error(
                    section.line,
                    "[population] needs counts = \"registry.csv\" (some quasi-identifiers and a column `count`), or size = … people.",
                ));
            }
        };
        Ok(Some(Population { registry, region }))
    }
}

fn read_counts(section: &Section, place: Place, quasi: &[&str]) -> Result<Registry> {
    let source = open(&Input::at(place))?;
    let names = source.columns();
    let wrong = |message: String| Err(section.wrong("counts", message));
    let Some(people) = names.iter().position(|n| n == "count") else {
        return wrong("the file has no column `count`.".into());
    };
    let mut places = Vec::new();
    for name in names.iter().filter(|n| *n != "count") {
        match quasi.iter().position(|q| q == name) {
            Some(place) => places.push(place),
            None => return wrong(format!("its column `{name}` is not a quasi-identifier in the policy.")),
        }
    }
    if places.is_empty() {
        return wrong("none of its columns is a quasi-identifier.".into());
    }
    let columns: Vec<usize> = (0..names.len()).collect();
    let tuples = count(&source, &Counting { columns, patient: None, remember: 0 })?;
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for t in 0..tuples.len() {
        let text = |c: usize| tuples.dictionaries[c].text(tuples.code(t, c)).to_string();
        let Ok(own) = text(people).parse::<u64>() else {
            return wrong("a cell of `count` is not a whole number.".into());
        };
        let key = (0..names.len()).filter(|&c| c != people).map(text).collect();
        *counts.entry(key).or_default() += own * tuples.weights[t];
    }
    Ok(Registry::Counts(places, counts))
}
