//! How several tables belong together: which has one row for each person, and which column of the others names that
//! person.
//!
//! Columns are linked by their values: those of one occur in the other. Small whole numbers occur everywhere, so that
//! they need a name as evidence, too.

use super::files::table_name;
use crate::profile::distinct::hash;
use crate::profile::person::{Key, is_consecutive, keys};
use crate::profile::shape::CellShape;
use crate::profile::words::{Topic, topics};
use crate::profile::{ColumnProfile, Profile};
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use kohort_core::Result;
use kohort_core::table::Source;

/// A table that was read, with what its columns say.
pub(super) struct LinkedTable {
    /// Its path, as the policy writes it.
    pub path: String,
    /// Its name in sentences and as a key.
    pub name: String,
    pub source: Source,
    pub profile: Profile,
    pub topics: Vec<Vec<Topic>>,
    pub keys: Vec<Option<Key>>,
}

impl LinkedTable {
    pub fn new(path: String, source: Source, profile: Profile) -> LinkedTable {
        let topics: Vec<Vec<Topic>> = profile.columns.iter().map(|column| topics(&column.name)).collect();
        let keys = keys(&profile, &topics);
        let name =
            source.database_table().and_then(|own| own.table_name()).map_or_else(|| table_name(&path), table_name);
        LinkedTable { name, path, source, profile, topics, keys }
    }

    /// The argument of `kohort init` that reads this table.
    pub fn argument(&self) -> String {
        match self.source.database_table() {
            None => self.path.clone(),
            Some(own) => format!("{} --table {}", own.database().address(), self.path),
        }
    }

    /// Returns whether a column with this name is there.
    pub fn has(&self, column: &str) -> bool {
        self.profile.columns.iter().any(|own| own.name.eq_ignore_ascii_case(column))
    }

    /// The columns that may be the key of a table with one row for each person.
    fn person_keys(&self) -> Vec<usize> {
        let repeats = |c: usize| self.profile.columns[c].distinct.repeats;
        let person = self.keys.iter().position(|key| matches!(key, Some(Key::Person(_))));
        match person {
            // Where a person repeats, a row is something else.
            Some(person) if repeats(person) => Vec::new(),
            _ => {
                let is_key = |&c: &usize| {
                    let column = &self.profile.columns[c];
                    let named = self.topics[c].iter().any(|topic| matches!(topic, Topic::Patient | Topic::Id));
                    !repeats(c) && column.present == self.profile.rows && (self.keys[c].is_some() || named)
                };
                (0..self.keys.len()).filter(is_key).collect()
            }
        }
    }

    /// How many columns say what belongs to a person: sex, age, birth.
    fn personal(&self) -> usize {
        let is = |topics: &&Vec<Topic>| matches!(topics.first(), Some(Topic::Sex | Topic::Age | Topic::Birth));
        self.topics.iter().filter(is).count()
    }
}

/// How a table belongs to the table of the people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It is the table of the people.
    People,
    /// This column names the person; a person has several rows.
    Events(usize),
    /// This column names the person; nobody has several rows.
    OneRow(usize),
    /// Nothing connects them.
    None,
}

/// The table of the people, its key, and how each table belongs to it.
pub(super) struct Links {
    pub table: usize,
    pub key: usize,
    pub links: Vec<Link>,
}

/// Finds the table to whose rows most of the others belong. `None` if there is none.
pub(super) fn find(tables: &[LinkedTable]) -> Option<Links> {
    let candidates =
        (0..tables.len()).flat_map(|table| tables[table].person_keys().into_iter().map(move |key| (table, key)));
    let found = candidates.map(|(table, key)| {
        let links = (0..tables.len()).map(|other| match other == table {
            true => Link::People,
            false => link(&tables[other], &tables[table], key),
        });
        Links { table, key, links: links.collect() }
    });
    let value = |links: &Links| {
        let linked = links.links.iter().filter(|link| **link != Link::None).count();
        let several = links.links.iter().filter(|link| matches!(link, Link::Events(_))).count();
        let own = &tables[links.table];
        (linked, several, own.personal(), own.topics[links.key].contains(&Topic::Patient))
    };
    let mut best: Option<Links> = None;
    for links in found.filter(|links| links.links.iter().any(|link| !matches!(link, Link::People | Link::None))) {
        if best.as_ref().is_none_or(|best| value(best) < value(&links)) {
            best = Some(links);
        }
    }
    best
}

/// The column of a table that names the person of another.
fn link(table: &LinkedTable, people: &LinkedTable, key: usize) -> Link {
    let linked = |c: usize| {
        let evidence = evidence(table, c, people, key)?;
        overlaps(table, c, people, key).then_some((evidence, c))
    };
    let best =
        (0..table.profile.columns.len()).filter_map(linked).max_by_key(|&(evidence, c)| (evidence, usize::MAX - c));
    match best {
        None => Link::None,
        Some((_, c)) if table.profile.columns[c].distinct.repeats => Link::Events(c),
        Some((_, c)) => Link::OneRow(c),
    }
}

/// How strongly names and values say that a column may name the person, before its values are compared.
fn evidence(table: &LinkedTable, c: usize, people: &LinkedTable, key: usize) -> Option<u32> {
    let (own, other) = (&table.profile.columns[c], &people.profile.columns[key]);
    let decimals = own.cells(CellShape::PointDecimal) + own.cells(CellShape::CommaDecimal) > 0;
    if own.present == 0 || decimals && !other.mostly(50, CellShape::PointDecimal) || own.is_dated() {
        return None;
    }
    let same_name = own.name.eq_ignore_ascii_case(&other.name);
    let named = table.topics[c].contains(&Topic::Patient);
    // A row number of one table is in another by chance; a long number or a text is not.
    let telling = !own.mostly(50, CellShape::Whole) && own.lengths.is_some_and(|(shortest, _)| shortest >= 4)
        || table.keys[c].is_some() && !is_consecutive(own) && is_scattered(other);
    let row_key = is_consecutive(own) && !named;
    let strength = 4 * u32::from(same_name && !row_key) + 2 * u32::from(named) + u32::from(telling);
    (strength > 0).then_some(strength)
}

/// Returns whether the numbers of a key are far apart, so that others do not hit them by accident.
fn is_scattered(column: &ColumnProfile) -> bool {
    let Some((least, greatest)) = column.range else { return true };
    greatest.to_f64() - least.to_f64() >= 20.0 * column.present as f64
}

/// Returns whether the values of a column occur in the key, as far as the first rows show.
fn overlaps(table: &LinkedTable, c: usize, people: &LinkedTable, key: usize) -> bool {
    let (rows, all) = (people.profile.sample.rows as f64, people.profile.rows as f64);
    let share = table.profile.sample.columns[c].share_in(&people.profile.sample.columns[key]);
    // Of a table that is longer than the sample, as many are found as the sample holds.
    share >= 0.9 * (rows / all.max(1.0)).min(1.0)
}

/// How many rows of a table name a person who is in the table of the people, and how many do not.
pub(super) fn known_people(table: &LinkedTable, column: usize, people: &LinkedTable, key: usize) -> Result<(u64, u64)> {
    let mut ids: HashSet<u64, FixedState> = HashSet::default();
    each_hash(&people.source, key, |hash| _ = ids.insert(hash))?;
    let (mut known, mut unknown) = (0, 0);
    each_hash(&table.source, column, |hash| *if ids.contains(&hash) { &mut known } else { &mut unknown } += 1)?;
    Ok((known, unknown))
}

fn each_hash(source: &Source, column: usize, mut each: impl FnMut(u64)) -> Result<()> {
    source.scan(
        |_| (),
        |(), chunk| Ok((0..chunk.rows()).map(|row| hash(chunk.cell(row, column).trim_ascii())).collect::<Vec<_>>()),
        |hashes| {
            hashes.into_iter().for_each(&mut each);
            Ok(())
        },
    )?;
    Ok(())
}
