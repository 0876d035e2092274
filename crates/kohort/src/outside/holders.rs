//! How many cells of a column have a value that nobody else has. A person may have several rows with the same value:
//! where the table says who the person is, people are counted and not rows.

use crate::profile::Profile;
use crate::profile::distinct::hash;
use crate::profile::sample::Alone;
use foldhash::quality::FixedState;
use hashbrown::HashMap;
use kohort_core::Result;
use kohort_core::table::Source;

/// Values that are kept when columns are counted in the whole table: in one column, and in all of them.
const MOST_VALUES: usize = 100_000;
const MOST_VALUES_OF_ALL: usize = 4_000_000;

/// The people who have a value: one of them or several, and the cells that hold it.
#[derive(Debug, Clone, Copy)]
struct Holder {
    person: u64,
    several: bool,
    cells: u64,
}

/// The holders of a column's values, by the hash of a value. If there are too many, those with the smallest hashes stand
/// for all of them.
struct Holders {
    of: HashMap<u64, Holder, FixedState>,
    bound: u64,
    most: usize,
    cells: u64,
}

impl Holders {
    fn new(most: usize) -> Holders {
        Holders { of: HashMap::default(), bound: u64::MAX, most: most.max(2), cells: 0 }
    }

    /// Adds the cells of a value. `several_rows` says whether one person may have several rows.
    fn add(&mut self, value: u64, new: Holder, several_rows: bool) {
        self.cells += new.cells;
        if value > self.bound {
            return;
        }
        let of = self.of.entry(value).and_modify(|own| {
            own.several |= new.several || !several_rows || own.person != new.person;
            own.cells += new.cells;
        });
        of.or_insert(new);
        if self.of.len() > self.most {
            let mut values: Vec<u64> = self.of.keys().copied().collect();
            self.bound = *values.select_nth_unstable(self.most / 2 - 1).1;
            self.of.retain(|value, _| *value <= self.bound);
        }
    }

    fn finish(&self) -> Alone {
        let kept: u64 = self.of.values().filter(|own| !own.several).map(|own| own.cells).sum();
        // Hashes are spread evenly, so that the part below the bound represents the whole.
        let alone = match self.bound {
            u64::MAX => kept,
            bound => (kept as f64 * (u64::MAX as f64 / bound as f64)).round() as u64,
        };
        Alone { cells: self.cells, alone: alone.min(self.cells) }
    }
}

/// Counts the cells that have a value of one person only, for each of these columns. Without a patient column, every row
/// is a person.
///
/// Cost: nothing is read again where the profile holds the whole table; otherwise the whole table is read once, or an
/// engine that holds it counts each column where it is.
pub(super) fn count(
    source: &Source,
    profile: &Profile,
    columns: &[usize],
    patient: Option<usize>,
) -> Result<Vec<Alone>> {
    if profile.is_whole && profile.sample.rows as u64 == profile.rows {
        return Ok(columns.iter().map(|&column| profile.sample.alone(&[column], patient)).collect());
    }
    if let Some(table) = source.sql_table() {
        let of = |&column: &usize| table.alone(column, patient).map(|(cells, alone)| Alone { cells, alone });
        return columns.iter().map(of).collect();
    }
    let most = (MOST_VALUES_OF_ALL / columns.len().max(1)).clamp(2_000, MOST_VALUES);
    let mut all: Vec<Holders> = columns.iter().map(|_| Holders::new(most)).collect();
    source.scan(
        |_| (),
        |(), chunk| {
            let rows = 0..chunk.rows();
            let people: Vec<u64> = match patient {
                Some(place) => rows.map(|row| hash(chunk.cell(row, place))).collect(),
                None => rows.map(|row| row as u64).collect(),
            };
            let of = |&place: &usize| {
                let mut own = Holders::new(usize::MAX);
                for (row, &person) in people.iter().enumerate() {
                    let cell = chunk.cell(row, place);
                    if !source.is_missing(cell) {
                        own.add(hash(cell), Holder { person, several: false, cells: 1 }, true);
                    }
                }
                own.of
            };
            Ok(columns.iter().map(of).collect::<Vec<_>>())
        },
        |parts| {
            for (own, part) in all.iter_mut().zip(parts) {
                part.into_iter().for_each(|(value, holder)| own.add(value, holder, patient.is_some()));
            }
            Ok(())
        },
    )?;
    Ok(all.iter().map(Holders::finish).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rows: &[(u64, u64)], most: usize, several_rows: bool) -> Alone {
        let mut holders = Holders::new(most);
        for &(value, person) in rows {
            holders.add(hash(&value.to_le_bytes()), Holder { person, several: false, cells: 1 }, several_rows);
        }
        holders.finish()
    }

    #[test]
    fn a_value_of_one_person_is_alone_in_however_many_rows() {
        let rows = [(7, 1), (7, 1), (8, 2), (9, 2), (9, 3)];
        assert_eq!(count(&rows, 100, true), Alone { cells: 5, alone: 3 });
        assert_eq!(count(&rows, 100, false), Alone { cells: 5, alone: 1 }, "every row is a person");
    }

    #[test]
    fn very_many_values_are_estimated() {
        let rows: Vec<(u64, u64)> = (0..60_000).map(|row| (row / 2, row / 2)).collect();
        let counted = count(&rows, 4_000, true);
        assert_eq!(counted.cells, 60_000);
        assert!((95..=100).contains(&counted.percent()), "{counted:?}");
        let shared: Vec<(u64, u64)> = (0..60_000).map(|row| (row / 2, row)).collect();
        assert_eq!(count(&shared, 4_000, true).alone, 0);
    }
}
