//! Columns that say what belongs to a person and stays the same in all of their rows: sex, birth, and age within a year
//! or two. They show whether two keys are two names of one person.

use super::person::{is_balanced, is_birth_years, looks_like_ages};
use super::sample::Coded;
use super::shape::CellShape;
use super::words::Topic;
use super::{ColumnProfile, Profile};
use std::borrow::Cow;

/// A personal column of the sample.
pub(crate) struct Personal<'a> {
    pub place: usize,
    /// Its rows, with all spellings of a sex as one value.
    pub rows: Cow<'a, Coded>,
    /// True for an age, which grows.
    pub grows: bool,
    /// True if its name or its words say so; else its values could be those of a sex or an age.
    pub sure: bool,
}

/// The personal columns of a table.
pub(crate) fn personal<'a>(profile: &'a Profile, topics: &[Vec<Topic>]) -> Vec<Personal<'a>> {
    (0..topics.len()).filter_map(|place| of(profile, &topics[place], place)).collect()
}

fn of<'a>(profile: &'a Profile, topics: &[Topic], place: usize) -> Option<Personal<'a>> {
    let (column, rows) = (&profile.columns[place], &profile.sample.columns[place]);
    let own = |rows, grows, sure| Some(Personal { place, rows, grows, sure });
    let few = (2..=12).contains(&column.distinct.values);
    match topics.first() {
        Some(Topic::Sex) if few => return own(united(profile, place), false, true),
        Some(Topic::Birth) if rows.values() >= 2 => return own(Cow::Borrowed(rows), false, true),
        Some(Topic::Age) if is_age(column, rows) => return own(Cow::Borrowed(rows), true, true),
        _ => {}
    }
    if few && column.mostly(95, CellShape::SexWord) {
        return own(united(profile, place), false, true);
    }
    if column.is_birth() || is_birth_years(column, rows) {
        return own(Cow::Borrowed(rows), false, true);
    }
    match topics.first() {
        _ if looks_like_ages(column, rows) && rows.values() * 2 < rows.present() => {
            own(Cow::Borrowed(rows), true, false)
        }
        None | Some(Topic::Code | Topic::Answer) if rows.values() == 2 && is_balanced(rows) => {
            own(Cow::Borrowed(rows), false, false)
        }
        _ => None,
    }
}

/// Returns whether numbers could be ages of some people, such as mothers or pupils.
fn is_age(column: &ColumnProfile, rows: &Coded) -> bool {
    let within = |quantiles: &[f64]| matches!(quantiles, &[low, high] if low >= 0.0 && high <= 110.0);
    column.mostly(95, CellShape::Whole) && rows.values() >= 10 && within(&rows.quantiles(&[5, 95]))
}

/// The rows of a column with all spellings of a sex as one value.
pub(crate) fn united(profile: &Profile, place: usize) -> Cow<'_, Coded> {
    let rows = &profile.sample.columns[place];
    match profile.columns[place].clues.sex_of().filter(|all| all.len() > 2) {
        None => Cow::Borrowed(rows),
        Some(all) => {
            let meanings: Vec<(&str, u32)> = all.into_iter().map(|(text, sex)| (text, sex as u32)).collect();
            Cow::Owned(rows.united(&meanings))
        }
    }
}

/// How far the personal columns agree, from 0 (as often as in any two rows) to 1 (always).
pub(crate) struct Agreement {
    pub least: f64,
    pub most: f64,
}

/// How far the rows with one value of `key` and several of `other` are those of one person. `None` where personal columns
/// cannot show it.
pub(crate) fn same_people(key: &Coded, other: &Coded, personal: &[Personal]) -> Option<Agreement> {
    let sure = personal.iter().any(|own| own.sure);
    let agreement = |own: &&Personal| -> Option<f64> {
        let (pairs, same) = key.pairs_across(other, &own.rows);
        if own.grows || pairs == 0 {
            return None;
        }
        let chance = own.rows.chance();
        (chance < 0.95).then(|| (same as f64 / pairs as f64 - chance) / (1.0 - chance))
    };
    let ages = |own: &&Personal| -> Option<f64> {
        let (inside, all) = own.grows.then(|| key.distance_across(other, &own.rows))??;
        (all > 0.0).then(|| 1.0 - inside / all)
    };
    let own = || personal.iter().filter(|own| own.sure == sure);
    let all: Vec<f64> = own().filter_map(|own| agreement(&own).or_else(|| ages(&own))).collect();
    let (least, most) = (all.iter().copied().min_by(f64::total_cmp)?, all.iter().copied().max_by(f64::total_cmp)?);
    Some(Agreement { least, most })
}
