//! The keys of a table, and which of them is the person's.
//!
//! A key is recognised by its name or by the look of its values. Of several keys, the person's is the coarsest within
//! which what belongs to a person stays the same: a stay belongs to one person, but a person has several stays, and a
//! household has people of both sexes.

use super::sample::Coded;
use super::shape::CellShape;
use super::words::Topic;
use super::{ColumnProfile, Profile};

/// A column that counts as a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// The person's, for this reason.
    Person(&'static str),
    /// A key of something else.
    Dropped(&'static str),
}

const REPEATS: &str = "key of the person: it repeats, and what belongs to a person stays the same within it";
const NAMED: &str = "identifies the patient, so that patients are counted and not rows";

/// The evidence for a candidate.
struct Candidate {
    column: usize,
    /// Different values in the sample.
    values: usize,
    repeats: bool,
    /// The name says that it is the person's.
    named: bool,
    /// The name or the values say that it is an id.
    is_id: bool,
    /// The name says that it is the key of a stay, a household or something else.
    of_something_else: bool,
    /// Something stays the same within it that differs between people, or it numbers the rows within it.
    binds: bool,
    /// Sex or date of birth stay the same within it.
    binds_person: bool,
    /// Sex or date of birth differ within it.
    mixes: bool,
    present: bool,
}

/// The keys among the columns, by place.
pub(crate) fn keys(profile: &Profile, topics: &[Vec<Topic>]) -> Vec<Option<Key>> {
    let mut keys = vec![None; profile.columns.len()];
    let candidates: Vec<Candidate> = (0..keys.len()).filter_map(|column| candidate(profile, topics, column)).collect();
    for candidate in &candidates {
        let column = &profile.columns[candidate.column];
        keys[candidate.column] = Some(Key::Dropped(match () {
            () if topics[candidate.column].contains(&Topic::Household) => "key of a household or family",
            () if is_consecutive(column) => "consecutive numbers: a row key",
            () if topics[candidate.column].contains(&Topic::Encounter) => "number of a stay, claim or visit",
            () if !column.distinct.repeats => "different in every row: a row key",
            () => "looks like the key of something",
        }));
    }
    if let Some((column, why)) = person(&candidates, profile) {
        keys[column] = Some(Key::Person(why));
        // A second key of the same people is no other unit.
        for candidate in candidates.iter().filter(|c| c.column != column) {
            let (own, others) = (&profile.sample.columns[column], &profile.sample.columns[candidate.column]);
            if own.values() == others.values() && own.determines(others) {
                keys[candidate.column] = Some(Key::Dropped("another key of the same people"));
            }
        }
    }
    keys
}

/// Another column that must be the person, because sex or birth stay the same within it and it repeats where `patient`
/// does not. `None` where `patient` can be the person.
pub(crate) fn coarser_person(profile: &Profile, topics: &[Vec<Topic>], patient: usize) -> Option<usize> {
    let own = &profile.sample.columns[patient];
    let is = |c: &Candidate| {
        let others = &profile.sample.columns[c.column];
        let coarser = c.values * 100 < own.values() * 99 && own.determines(others);
        c.column != patient && c.repeats && c.present && !c.mixes && !c.of_something_else && coarser && c.binds_person
    };
    let candidates = (0..profile.columns.len()).filter_map(|column| candidate(profile, topics, column));
    candidates.filter(is).min_by_key(|c| (c.values, c.column)).map(|c| c.column)
}

/// The column of the person: of keys that repeat the coarsest that binds, else one whose name says so.
fn person(candidates: &[Candidate], profile: &Profile) -> Option<(usize, &'static str)> {
    let fits = |c: &&Candidate| c.present && !c.mixes && !c.of_something_else;
    let coarsest = |is: &dyn Fn(&&Candidate) -> bool| {
        candidates.iter().filter(fits).filter(is).min_by_key(|c| (c.values, !c.named, c.column)).map(|c| c.column)
    };
    if let Some(column) = coarsest(&|c| c.repeats && (c.binds || c.named)) {
        return Some((column, REPEATS));
    }
    let first = |is: &dyn Fn(&&Candidate) -> bool| candidates.iter().filter(fits).find(is).map(|c| c.column);
    if let Some(column) = first(&|c| c.named) {
        return Some((column, NAMED));
    }
    // Counting too few people is safe, counting rows as people is not.
    let named = candidates.iter().filter(|c| c.named && c.repeats && c.present && !c.of_something_else);
    if let Some(named) = named.min_by_key(|c| (c.values, c.column)) {
        return Some((named.column, "named like the person, although what belongs to a person differs within it"));
    }
    if let Some(column) = coarsest(&|c| c.repeats) {
        return Some((column, "repeats and looks like a key, so that it is counted as the person"));
    }
    // A row key says nothing about people.
    let is_id = |c: &&Candidate| c.is_id && !is_consecutive(&profile.columns[c.column]);
    if let Some(column) = first(&is_id) {
        return Some((column, "an id that is different in every row, so that every row is a person"));
    }
    // A stay that repeats is better than counting rows.
    let stay = |c: &&Candidate| c.present && c.repeats && c.binds && !c.mixes;
    let stay = candidates.iter().filter(stay).min_by_key(|c| c.values);
    stay.map(|c| (c.column, "repeats, and there is no better key, so that it is counted as the person"))
}

fn candidate(profile: &Profile, topics: &[Vec<Topic>], place: usize) -> Option<Candidate> {
    let (column, coded) = (&profile.columns[place], &profile.sample.columns[place]);
    let decimals = column.cells(CellShape::PointDecimal) + column.cells(CellShape::CommaDecimal) > 0;
    if decimals || column.present < 2 || column.distinct.values < 2 || column.mostly(50, CellShape::Sentence) {
        return None;
    }
    if column.is_dated() || column.mostly(50, CellShape::PersonName) && !column.mostly(50, CellShape::Digit) {
        return None;
    }
    let first = topics[place].iter().copied().find(|topic| *topic != Topic::Code);
    let looks = looks_like_key(column);
    let rows = |most: u64| column.distinct.values.saturating_mul(most) >= column.present;
    let is = match first {
        Some(Topic::Patient) => rows(50),
        Some(Topic::Number) => looks || rows(20),
        Some(Topic::Id | Topic::Encounter) => rows(20) && column.distinct.values > 12 || looks,
        Some(Topic::Household) => rows(20) && column.distinct.values > 40,
        Some(Topic::Answer | Topic::Calendar | Topic::PersonName) | None => looks,
        // A name such as patient_sex says what the column is; one such as case_patient does not.
        Some(_) => topics[place].contains(&Topic::Patient) && looks || column.mostly(90, CellShape::Uuid),
    };
    if !is {
        return None;
    }
    let has = |topic: Topic| topics[place].contains(&topic);
    let repeats = column.distinct.repeats && coded.values() * 100 < coded.present() * 99;
    let Within { binds, binds_person, mixes } =
        if repeats { within(profile, topics, place) } else { Within::default() };
    Some(Candidate {
        column: place,
        values: coded.values(),
        repeats,
        named: has(Topic::Patient),
        is_id: has(Topic::Id) || column.mostly(90, CellShape::Uuid),
        of_something_else: (has(Topic::Encounter)
            || has(Topic::Household)
            || has(Topic::Staff)
            || has(Topic::Facility))
            && !(has(Topic::Patient) && binds),
        binds,
        binds_person,
        mixes,
        present: column.present == profile.rows,
    })
}

/// Describes what stays the same within a key.
#[derive(Default)]
struct Within {
    binds: bool,
    binds_person: bool,
    mixes: bool,
}

/// Compares the rows of each value of a key.
fn within(profile: &Profile, topics: &[Vec<Topic>], key: usize) -> Within {
    let own = &profile.sample.columns[key];
    let Within { mut binds, mut binds_person, mut mixes } = Within::default();
    for (place, other) in profile.sample.columns.iter().enumerate().filter(|(place, _)| *place != key) {
        let column = &profile.columns[place];
        let personal = match topics[place].first() {
            Some(Topic::Sex) => column.distinct.values <= 12,
            Some(Topic::Birth) => true,
            _ => false,
        };
        if other.values() < 2 || other.values() * 2 > own.values() && !personal {
            continue;
        }
        // A person keeps their sex, however it is written.
        let united = column.clues.sex_of().filter(|all| all.len() > 2).map(|all| {
            let meanings: Vec<(&str, u32)> = all.into_iter().map(|(text, sex)| (text, sex as u32)).collect();
            other.united(&meanings)
        });
        if let Some((same, chance)) = own.agreement(united.as_ref().unwrap_or(other)) {
            binds |= same >= 0.97 && chance <= 0.9;
            binds_person |= personal && same >= 0.99 && chance <= 0.9;
            mixes |= personal && same < 0.9 && same < 0.5 + chance / 2.0;
        }
        binds |= !binds && is_small_numbers(other) && own.is_numbered_by(other);
    }
    Within { binds, binds_person, mixes }
}

fn is_small_numbers(coded: &Coded) -> bool {
    coded.values() <= 1000 && coded.numbers[1..].iter().all(|n| n.is_some_and(|n| (0.0..=1000.0).contains(&n)))
}

/// Returns whether the values look like those of a key, whatever the column is called.
fn looks_like_key(column: &ColumnProfile) -> bool {
    let values = column.distinct.values;
    if column.mostly(90, CellShape::Uuid) {
        return true;
    }
    if column.mostly(100, CellShape::Whole) {
        let Some((least, greatest)) = column.range else { return false };
        let (least, greatest) = (least.to_f64(), greatest.to_f64());
        let scattered = values >= 50 && greatest >= 10_000.0 && greatest - least >= 20.0 * values as f64;
        let few_rows = values.saturating_mul(60) >= column.present;
        return column.is_near_unique() || scattered && few_rows && least >= 0.0;
    }
    let (shortest, longest) = column.lengths.unwrap_or_default();
    let codes = column.mostly(30, CellShape::Icd10) || column.mostly(30, CellShape::Icd9);
    let written = column.mostly(98, CellShape::Digit) && !column.mostly(50, CellShape::Phone) && !codes;
    let alike = shortest >= 5 && longest - shortest <= 3 && values >= 50 && values.saturating_mul(60) >= column.present;
    written && (alike || column.is_near_unique() && shortest >= 4)
}

/// Returns whether the values are numbers without gaps, nearly one for each row.
pub(crate) fn is_consecutive(column: &ColumnProfile) -> bool {
    let Some((least, greatest)) = column.range else { return false };
    let span = greatest.to_f64() - least.to_f64() + 1.0;
    column.mostly(100, CellShape::Whole)
        && column.is_near_unique()
        && column.distinct.values as f64 >= 0.9 * column.present as f64
        && span <= 1.5 * column.present as f64
}
