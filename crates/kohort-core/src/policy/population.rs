//! `[population]`: how many people there are outside, for attacks with one or several registries.

use super::files::PolicyFiles;
use super::section::{Item, Section, Value};
use crate::Result;
use crate::number::Decimal;
use crate::table::{Counting, Input, Place, count, open};
use std::collections::BTreeMap;

/// Columns of the policy that this one of several files does not release: no key of a policy, but added for its files.
pub(super) const NOT_RELEASED: &str = "not released";

/// A registry an attacker may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// Its name in reports, if the policy gives one.
    pub name: Option<String>,
    /// The number of people for each combination of values.
    pub registry: Registry,
    /// The quasi-identifier by whose values attack 1 is reported, by place.
    pub region: Option<usize>,
    /// The people who are listed in it.
    pub covers: Covers,
}

/// The people whom a registry lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// Everybody of the population that the people of the table belong to.
    Everyone,
    /// Some of them: doctors, homeowners, civil servants. A class may then have fewer people than the table.
    Part,
}

/// Class sizes outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Registry {
    /// Counted: quasi-identifiers by place, and people by their values. Weights of a survey may be fractions.
    Counts(Vec<usize>, BTreeMap<Vec<String>, f64>),
    /// So many people in all, of whom a registry has these columns: classes are taken to be as much larger
    /// than in the file.
    Size(u64, Vec<usize>),
}

impl Population {
    /// The total number of people.
    pub fn people(&self) -> u64 {
        match &self.registry {
            Registry::Counts(_, counts) => counts.values().sum::<f64>().floor() as u64,
            Registry::Size(size, _) => *size,
        }
    }

    /// Reads `[population]`, or one section `[[population]]` for each registry; `quasi` are the
    /// quasi-identifiers' names in table order.
    pub(super) fn read_all(root: &Section, files: &PolicyFiles, quasi: &[&str]) -> Result<Vec<Population>> {
        match root.get("population").map(|item| &item.value) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => {
                let one = |item: &Item| match &item.value {
                    Value::Section(section) => Population::read(section, files, quasi),
                    _ => Err(root.wrong("population", "must be [population], or [[population]] for each registry.")),
                };
                items.iter().map(one).collect()
            }
            Some(_) => {
                let section = root.section("population")?;
                section.iter().map(|section| Population::read(section, files, quasi)).collect()
            }
        }
    }

    fn read(section: &Section, files: &PolicyFiles, quasi: &[&str]) -> Result<Population> {
        section.only(&["name", "counts", "weight", "size", "columns", "covers", "region", NOT_RELEASED])?;
        let place = |key: &str, name: &str| {
            quasi
                .iter()
                .position(|q| *q == name)
                .ok_or_else(|| section.wrong(key, format!("`{name}` is not a column with role = \"quasi\".")))
        };
        let region = section.text("region")?.map(|name| place("region", name)).transpose()?;
        let columns = match section.texts("columns")? {
            None => None,
            Some(names) if names.is_empty() => return Err(section.wrong("columns", "must name at least one column.")),
            Some(names) => Some(names.iter().map(|name| place("columns", name)).collect::<Result<Vec<usize>>>()?),
        };
        let covers = section.word("covers", &[("all", Covers::Everyone), ("part", Covers::Part)])?;
        let covers = covers.unwrap_or(Covers::Everyone);
        if section.get("weight").is_some() && section.get("counts").is_none() {
            return Err(section.wrong("weight", "names a column of the file `counts`, which is not set."));
        }
        let registry = match (section.text("counts")?, section.whole("size")?) {
            (Some(file), None) => read_counts(section, files.place(file)?, quasi, columns.as_deref())?,
            (None, Some(size)) if size > 0 => {
                if covers == Covers::Part {
                    return Err(section.wrong("covers", "\"part\" needs the people of each class: set `counts`."));
                }
                Registry::Size(size, columns.unwrap_or_else(|| (0..quasi.len()).collect()))
            }
            _ => {
                return Err(section.error(
                    section.line,
                    "[population] needs counts = \"registry.csv\" (some quasi-identifiers and a column `count`), or size = … people.",
                ));
            }
        };
        Ok(Population { name: section.text("name")?.map(String::from), registry, region, covers })
    }
}

fn read_counts(section: &Section, place: Place, quasi: &[&str], chosen: Option<&[usize]>) -> Result<Registry> {
    let source = open(&Input::at(place))?;
    let names = source.columns();
    let wrong = |message: String| Err(section.wrong("counts", message));
    let weight = section.text("weight")?.unwrap_or("count");
    let Some(people) = names.iter().position(|n| n == weight) else {
        return wrong(format!("the file has no column `{weight}`."));
    };
    let (mut places, mut columns) = (Vec::new(), Vec::new());
    let not_released = section.texts(NOT_RELEASED)?.unwrap_or_default();
    for (column, name) in names.iter().enumerate().filter(|(column, _)| *column != people) {
        match quasi.iter().position(|q| q == name) {
            Some(place) if chosen.is_none_or(|chosen| chosen.contains(&place)) => {
                places.push(place);
                columns.push(column);
            }
            // `columns` says what is used: others may be there. So may columns that only other files release.
            _ if chosen.is_some() || not_released.iter().any(|own| own == name) => {}
            _ => {
                return wrong(format!(
                    "its column `{name}` is not a quasi-identifier in the policy. Set `columns` to the ones to use."
                ));
            }
        }
    }
    if let Some(absent) = chosen.and_then(|chosen| chosen.iter().find(|place| !places.contains(place))) {
        return wrong(format!("the file has no column `{}`.", quasi[*absent]));
    }
    if places.is_empty() {
        return wrong("none of its columns is a quasi-identifier.".into());
    }
    columns.push(people);
    let tuples = count(&source, &Counting { columns: columns.clone(), patient: None, remember: 0 })?;
    let mut counts: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for t in 0..tuples.len() {
        let text = |c: usize| tuples.dictionaries[c].text(tuples.code(t, c)).to_string();
        let own = Decimal::parse(&text(places.len()), b'.').filter(|own| *own >= Decimal::whole(0));
        let Some(own) = own else {
            return wrong(format!("a cell of `{weight}` is not a number of people."));
        };
        let key = (0..places.len()).map(text).collect();
        *counts.entry(key).or_default() += own.to_f64() * tuples.weights[t] as f64;
    }
    Ok(Registry::Counts(places, counts))
}
