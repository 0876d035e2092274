//! Hierarchies of OMOP concepts: `concept_ancestor` lists, for each concept, every concept above it.
//!
//! A concept may have several parents, and a hierarchy has one. The parent with the fewest concepts below it is taken, so
//! that a group is as small as it can be. Sizes are counted in the vocabulary, so that a group says nothing about how
//! often its concepts occur in the data.

use super::links::LinkedTable;
use super::write::quoted;
use super::{ColumnAdvice, HierarchyFile};
use kohort_core::hierarchy::FileHierarchy;
use kohort_core::policy::Role;
use kohort_core::table::{DatabaseTable, Dialect, Input, Place, Source, open};
use kohort_core::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Groups of a level have at most this share of the vocabulary: a thousandth, a hundredth, a tenth.
const SHARES: [u64; 3] = [1_000, 100, 10];
/// Longer chains of parents are not a vocabulary.
const LONGEST_CHAIN: usize = 200;

/// The columns of `concept_ancestor`.
const COLUMNS: [&str; 3] = ["ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation"];

/// The table `concept_ancestor`, opened and not yet read.
pub(super) struct Ancestors {
    source: Source,
    /// The places of its columns.
    columns: [usize; 3],
}

impl Ancestors {
    /// The table, if it has the columns of `concept_ancestor`.
    pub(super) fn of(source: Source) -> Option<Ancestors> {
        let place = |name: &str| source.columns().iter().position(|own| own.eq_ignore_ascii_case(name));
        let [Some(above), Some(below), Some(levels)] = COLUMNS.map(place) else { return None };
        Some(Ancestors { source, columns: [above, below, levels] })
    }

    /// Gives every column of concepts that others may know, and that has no hierarchy yet, one in a file of its own.
    pub(super) fn hierarchies(&self, table: &LinkedTable, advice: &mut [ColumnAdvice]) -> Result<Vec<HierarchyFile>> {
        let mut files = Vec::new();
        for (column, own) in
            table.profile.columns.iter().zip(advice).enumerate().filter_map(|(place, (column, own))| {
                let fits = own.role == Role::Quasi && own.hierarchy.is_none() && is_concept(&column.name);
                fits.then_some((place, own))
            })
        {
            let Some(present) = present(&table.source, column)? else { continue };
            let vocabulary = self.vocabulary(table, &own.name, &present)?;
            let Some(text) = vocabulary.hierarchy(&present) else { continue };
            let name = format!("{}-{}.csv", table.name, own.name);
            // A table that is not what it should be gives no tree.
            FileHierarchy::parse(&name, &text)?;
            own.hierarchy = Some(quoted(&name));
            own.why = format!("{}; groups of concepts are in {name}", own.why);
            files.push(HierarchyFile { name, text });
        }
        Ok(files)
    }

    /// The part of the vocabulary that is above these concepts.
    fn vocabulary(&self, table: &LinkedTable, column: &str, present: &BTreeSet<u64>) -> Result<Vocabulary> {
        let mut own = Vocabulary::default();
        match (self.source.database_table(), table.source.database_table()) {
            (Some(ancestors), Some(events)) => {
                let query = query(ancestors, events, column)?;
                let rows = Place::Database(Arc::new(DatabaseTable::of_query(ancestors.database(), &query)?));
                let rows = open(&Input { delimiter: Some(b','), ..Input::at(rows) })?;
                each(&rows, [0, 1, 2], &|_| true, |[above, below, size]| {
                    own.sizes.insert(above, size);
                    own.step(above, below);
                })?;
            }
            _ => {
                let mut all = present.clone();
                let is_present = |row: &[u64; 3]| present.contains(&row[1]);
                each(&self.source, self.columns, &is_present, |[above, ..]| _ = all.insert(above))?;
                let is_near = |row: &[u64; 3]| all.contains(&row[0]);
                each(&self.source, self.columns, &is_near, |[above, below, levels]| {
                    *own.sizes.entry(above).or_default() += 1;
                    if levels == 1 && all.contains(&below) {
                        own.step(above, below);
                    }
                })?;
            }
        }
        Ok(own)
    }
}

/// Returns whether a column holds concepts.
pub(super) fn is_concept(name: &str) -> bool {
    name.to_lowercase().ends_with("_concept_id")
}

/// The steps from each concept that is above a value of the column, or is one, to those directly above it, with the number
/// of concepts below the upper one. The server counts: the whole table has tens of millions of rows.
fn query(ancestors: &DatabaseTable, events: &DatabaseTable, column: &str) -> Result<String> {
    let dialect = Dialect::POSTGRESQL;
    let (all, events) = (dialect.quote_table(ancestors.name())?, dialect.quote_table(events.name())?);
    let column = dialect.quote(column)?;
    Ok(format!(
        "WITH present AS (SELECT DISTINCT {column} AS id FROM {events} WHERE {column} IS NOT NULL), \
         near AS (SELECT a.ancestor_concept_id AS id FROM {all} a JOIN present p ON p.id = a.descendant_concept_id UNION \
         SELECT id FROM present), \
         sizes AS (SELECT a.ancestor_concept_id AS id, count(*) AS size FROM {all} a JOIN near ON near.id = \
         a.ancestor_concept_id GROUP BY 1) \
         SELECT a.ancestor_concept_id, a.descendant_concept_id, s.size FROM {all} a JOIN near ON near.id = \
         a.descendant_concept_id JOIN sizes s ON s.id = a.ancestor_concept_id WHERE a.min_levels_of_separation <= 1 \
         ORDER BY 1, 2"
    ))
}

/// The concepts that occur in a column. `None` if it holds anything else.
fn present(source: &Source, column: usize) -> Result<Option<BTreeSet<u64>>> {
    let mut found = Some(BTreeSet::new());
    let work = |_: &mut (), chunk: kohort_core::table::Chunk| {
        let cells = (0..chunk.rows()).map(|row| chunk.cell(row, column)).filter(|cell| !source.is_missing(cell));
        let concept = |cell: &[u8]| number(cell).filter(|own| own.to_string().as_bytes() == cell);
        Ok(cells.map(concept).collect::<Option<BTreeSet<u64>>>())
    };
    source.scan(
        |_| (),
        work,
        |some| {
            found = found.take().zip(some).map(|(mut all, mut some)| {
                all.append(&mut some);
                all
            });
            Ok(())
        },
    )?;
    Ok(found)
}

/// Hands over the rows that are kept, as numbers. Errors name a line and no cell.
fn each(
    source: &Source,
    columns: [usize; 3],
    keep: &(dyn Fn(&[u64; 3]) -> bool + Sync),
    mut take: impl FnMut([u64; 3]),
) -> Result<()> {
    let work = |_: &mut (), chunk: kohort_core::table::Chunk| {
        let mut kept = Vec::new();
        for row in 0..chunk.rows() {
            let [Some(a), Some(b), Some(c)] = columns.map(|column| number(chunk.cell(row, column))) else {
                return Err(Error::yours(format!(
                    "{}: a row has a cell that is not a number, so that it is not concept_ancestor of the OMOP common data \
                     model.",
                    source.name()
                )));
            };
            kept.extend(Some([a, b, c]).filter(|row| keep(row)));
        }
        Ok(kept)
    };
    source.scan(
        |_| (),
        work,
        |rows: Vec<[u64; 3]>| {
            rows.into_iter().for_each(&mut take);
            Ok(())
        },
    )?;
    Ok(())
}

fn number(cell: &[u8]) -> Option<u64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

/// The concepts above some concepts.
#[derive(Default)]
struct Vocabulary {
    /// How many concepts are below each, with itself.
    sizes: BTreeMap<u64, u64>,
    /// The concepts directly above each.
    parents: BTreeMap<u64, BTreeSet<u64>>,
}

impl Vocabulary {
    fn step(&mut self, above: u64, below: u64) {
        if above != below {
            self.parents.entry(below).or_default().insert(above);
        }
    }

    /// The text of a hierarchy file for these concepts. `None` if no two of them would ever be in a group.
    fn hierarchy(&self, present: &BTreeSet<u64>) -> Option<String> {
        let size = |concept: u64| self.sizes.get(&concept).copied().unwrap_or(1);
        let parent =
            |concept: u64| self.parents.get(&concept)?.iter().copied().min_by_key(|&above| (size(above), above));
        let whole = self.sizes.values().copied().max()?;
        let mut limits: Vec<u64> = SHARES.iter().map(|share| whole / share).filter(|&limit| limit > 1).collect();
        limits.dedup();
        // Per concept where it is on each level; every level goes on from the one below it.
        let mut levels: Vec<Vec<String>> = vec![present.iter().map(u64::to_string).collect()];
        let mut places: Vec<u64> = present.iter().copied().collect();
        for limit in limits {
            for place in &mut places {
                for _ in 0..LONGEST_CHAIN {
                    match parent(*place).filter(|&above| size(above) <= limit) {
                        Some(above) => *place = above,
                        None => break,
                    }
                }
            }
            // A group has another name than the concept at its top, which may be a value itself.
            let label = |&place: &u64| match size(place) {
                2.. if size(place) <= limit => format!("{place}+"),
                _ => place.to_string(),
            };
            let labels: Vec<String> = places.iter().map(label).collect();
            levels.extend(Some(labels).filter(|labels| levels.last() != Some(labels)));
        }
        let groups: BTreeSet<&String> = levels.last()?.iter().collect();
        if levels.len() == 1 || groups.len() == present.len() {
            return None;
        }
        let mut text = String::new();
        for value in 0..present.len() {
            levels.iter().for_each(|level| _ = write!(text, "{};", level[value]));
            text += "*\n";
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vocabulary from `child parent` lines, closed upwards.
    fn vocabulary(lines: &str) -> Vocabulary {
        let mut own = Vocabulary::default();
        let steps: Vec<(u64, u64)> = lines
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(below, above)| (below.parse().unwrap(), above.parse().unwrap()))
            .collect();
        let all: BTreeSet<u64> = steps.iter().flat_map(|&(below, above)| [below, above]).collect();
        steps.iter().for_each(|&(below, above)| own.step(above, below));
        for &concept in &all {
            let (mut above, mut next) = (BTreeSet::new(), vec![concept]);
            while let Some(own_place) = next.pop() {
                if above.insert(own_place) {
                    next.extend(own.parents.get(&own_place).into_iter().flatten());
                }
            }
            above.into_iter().for_each(|above| *own.sizes.entry(above).or_default() += 1);
        }
        own
    }

    #[test]
    fn concepts_go_to_the_smallest_group_above_them_and_stay_together() {
        // 1 is above everything; 10, 20 and 30 are groups; 11 is in two of them, and 200 fills the vocabulary.
        let mut lines = String::from("10 1\n20 1\n30 20\n11 10\n11 20\n12 10\n21 20\n31 30\n32 30\n");
        (200..260).for_each(|concept| lines += &format!("{concept} 1\n"));
        let own = vocabulary(&lines);
        let present = BTreeSet::from([0, 10, 11, 12, 21, 31, 32, 200]);
        let text = own.hierarchy(&present).unwrap();
        // The vocabulary has 69 concepts, so that groups have at most 6.
        let expected = "0;0;*\n10;10+;*\n11;10+;*\n12;10+;*\n21;20+;*\n31;20+;*\n32;20+;*\n200;200;*\n";
        assert_eq!(text, expected);
        assert!(FileHierarchy::parse("own", &text).is_ok());
    }

    #[test]
    fn without_a_vocabulary_there_is_no_hierarchy() {
        assert_eq!(Vocabulary::default().hierarchy(&BTreeSet::from([1, 2])), None);
        assert_eq!(vocabulary("2 1\n3 1\n").hierarchy(&BTreeSet::from([2, 3])), None);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let mut own = vocabulary("2 1\n3 1\n");
        own.step(2, 1);
        own.sizes.extend([(1, 2), (2, 2), (900, 20_000)]);
        own.hierarchy(&BTreeSet::from([1, 2, 3]));
    }
}
