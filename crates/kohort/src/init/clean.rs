//! The cleaning that a column seems to need, each key with its reason and the number of cells that it changes; and
//! columns that could be derived, as offers.

use super::suggest::{Reading, thousands};
use super::topic::icd_system;
use super::verdict::{About, SuggestedRole, Verdict};
use super::write::{key, quoted, shown};
use crate::profile::clues::Sex;
use crate::profile::shape::DATE_FORMATS;
use crate::profile::{ColumnProfile, MAYBE_AN_ANSWER, MISSING, Profile};
use std::collections::BTreeSet;

/// Adds the keys that clean a column, if it is released.
pub(super) fn clean(column: &ColumnProfile, reading: &Reading, verdict: &mut Verdict) {
    if !verdict.is_released() {
        return;
    }
    missing(column, reading, verdict);
    recode(column, verdict);
    number(column, reading, verdict);
    spelling(column, verdict);
}

fn add(verdict: &mut Verdict, key: String, note: String) {
    verdict.cleaning.push(key);
    verdict.notes.push(note);
}

/// Marks of missing cells that other columns do not have.
fn missing(column: &ColumnProfile, reading: &Reading, verdict: &mut Verdict) {
    let mut marks: Vec<(String, u64)> =
        column.clues.sentinels().into_iter().map(|(text, cells)| (text.to_string(), cells)).collect();
    let place = MISSING.iter().position(|mark| *mark == MAYBE_AN_ANSWER).unwrap_or_default();
    let in_numbers = column.marked[place] > 0 && (column.numbers(reading.decimal).is_some() || column.date().is_some());
    if in_numbers {
        marks.push((MAYBE_AN_ANSWER.to_string(), column.marked[place]));
    }
    if marks.is_empty() {
        return;
    }
    let cells: u64 = marks.iter().map(|(_, cells)| cells).sum();
    let texts: Vec<String> = marks.iter().map(|(text, _)| quoted(text)).collect();
    // The list of a column replaces the one of the table.
    let of_table = reading
        .missing
        .iter()
        .filter(|mark| MISSING.iter().position(|own| own == *mark).is_some_and(|place| column.marked[place] > 0));
    let all: Vec<String> = texts.iter().cloned().chain(of_table.map(|mark| quoted(mark))).collect();
    let note = format!(
        "missing: {} cells are {}, unlike all other values of the column. If it is an answer, remove it from the list.",
        thousands(cells),
        texts.join(" or ")
    );
    add(verdict, format!("missing = [{}]", all.join(", ")), note);
}

/// Several spellings of a sex become one.
fn recode(column: &ColumnProfile, verdict: &mut Verdict) {
    let Some(meanings) = column.clues.sex_of().filter(|_| verdict.about == About::Sex) else { return };
    let kinds: BTreeSet<Sex> = meanings.iter().map(|(_, sex)| *sex).collect();
    let both = kinds.contains(&Sex::Male) && kinds.contains(&Sex::Female);
    if meanings.len() <= kinds.len() || !both {
        return;
    }
    let pairs: Vec<String> = meanings
        .iter()
        .filter(|(text, sex)| *text != sex.word())
        .map(|(text, sex)| format!("{} = {}", quoted(text), quoted(sex.word())))
        .collect();
    let cells: u64 =
        meanings.iter().filter(|(text, sex)| *text != sex.word()).map(|(text, _)| column.clues.sexes[*text]).sum();
    let note = format!(
        "recode: {} spellings of {} values become one spelling each, in {} cells.",
        meanings.len(),
        kinds.len(),
        thousands(cells)
    );
    add(verdict, format!("recode = {{ {} }}", pairs.join(", ")), note);
}

fn number(column: &ColumnProfile, reading: &Reading, verdict: &mut Verdict) {
    if let Some((_, cells)) = column.years_in_text(reading.decimal).filter(|_| verdict.about == About::Age) {
        let note = format!(
            "number: {} cells hold an age with a unit, some in months, weeks or days; full years are read.",
            thousands(cells)
        );
        return add(verdict, "number = \"years\"".into(), note);
    }
    let Some((_, cells)) = column.numbers_in_text(reading.decimal) else { return };
    // Of codes such as 12A the number is not the meaning.
    if verdict.part == SuggestedRole::Sensitive {
        return;
    }
    let note = format!(
        "number: {} cells hold a number in a text, with a unit or an open end; the number is read.",
        thousands(cells)
    );
    add(verdict, "number = true".into(), note);
}

fn spelling(column: &ColumnProfile, verdict: &mut Verdict) {
    let Some((system, _)) = icd_system(column, 80).filter(|_| column.distinct.values > 1) else { return };
    let clues = &column.clues;
    let mixed = clues.dotted.min(clues.undotted);
    if mixed + clues.odd == 0
        || verdict.part == SuggestedRole::Quasi && verdict.hierarchy.is_none() && column.distinct.values < 10
    {
        return;
    }
    let note = format!(
        "spelling: codes are written with and without a dot, in small letters or with a mark at their end; {} cells \
         get the usual spelling.",
        thousands(clues.undotted + clues.odd)
    );
    add(verdict, format!("spelling = {}", quoted(system)), note);
}

/// Columns that could be derived, as lines of a policy that are not in force, each with its reason.
pub(super) fn offers(profile: &Profile, verdicts: &[Verdict]) -> Vec<String> {
    let name = |c: usize| profile.columns[c].name.as_str();
    let is_one_format = |c: usize| profile.columns[c].date().is_some_and(|(_, _, ambiguous)| !ambiguous);
    let dates: Vec<usize> =
        (0..verdicts.len()).filter(|&c| verdicts[c].about == About::Date && is_one_format(c)).collect();
    let born = (0..verdicts.len()).find(|&c| verdicts[c].about == About::Birth && is_one_format(c));
    let has_age = verdicts.iter().any(|v| v.about == About::Age && v.is_released());
    let free = |name: &str| !profile.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let mut offers = Vec::new();
    if let (Some(born), Some(&at), false, true) = (born, dates.first(), has_age, free("age")) {
        offers.push(format!(
            "age = {{ role = \"quasi\", age = {{ born = {}, at = {} }}, hierarchy = {{ intervals = [5, 10, 20], from = \
             0, to = 90 }}, weight = 40 }}   # the age at {}; then drop {}",
            quoted(name(born)),
            quoted(name(at)),
            shown(name(at)),
            shown(name(born))
        ));
    }
    if let (None, Some((year, month, day)), true) = (born, birth_parts(profile, verdicts), free("birth_date")) {
        offers.push(format!(
            "birth_date = {{ role = \"quasi\", date = {{ year = {}, month = {}, day = {} }}, hierarchy = {{ date = \
             \"%Y-%m-%d\" }}, levels = [\"year\", \"decade\", \"*\"] }}   # one date from three columns; then drop {}",
            quoted(name(year)),
            quoted(name(month)),
            quoted(name(day)),
            shown(name(year))
        ));
    }
    if let [start, end, ..] = dates[..]
        && free("days")
    {
        offers.push(format!(
            "days = {{ role = \"quasi\", between = [{}, {}], hierarchy = {{ intervals = [2, 10, 20], from = 0, to = \
             100 }} }}   # the days from {} to {}",
            quoted(name(start)),
            quoted(name(end)),
            shown(name(start)),
            shown(name(end))
        ));
        if verdicts.iter().any(|v| v.part == SuggestedRole::Person) {
            let moved: Vec<String> = dates
                .iter()
                .map(|&c| {
                    let format = profile.columns[c].date().map_or(DATE_FORMATS[0], |(place, ..)| DATE_FORMATS[place]);
                    format!(
                        "{} = {{ role = \"quasi\", shift = 365, hierarchy = {{ date = {} }} }}",
                        key(name(c)),
                        quoted(format)
                    )
                })
                .collect();
            let names: Vec<String> = dates.iter().map(|&c| shown(name(c))).collect();
            offers.push(format!(
                "{}   # instead of the lines of {} above: all dates of a patient move by the same secret number of \
                 days, so that the days between them stay true",
                moved.join("\n# "),
                names.join(" and ")
            ));
        }
    }
    offers
}

/// Year, month and day of birth in columns of their own.
fn birth_parts(profile: &Profile, verdicts: &[Verdict]) -> Option<(usize, usize, usize)> {
    let year = verdicts.iter().position(|v| v.about == About::BirthYear)?;
    let within = |c: &usize, most: i64| {
        let range = profile.columns[*c].range.map(|(least, most)| (least.to_f64(), most.to_f64()));
        range.is_some_and(|(least, greatest)| least >= 1.0 && greatest <= most as f64)
    };
    let parts: Vec<usize> = (0..verdicts.len()).filter(|&c| verdicts[c].about == About::Birth).collect();
    let month = *parts.iter().find(|c| within(c, 12))?;
    let day = *parts.iter().find(|c| **c != month && within(c, 31) && !within(c, 12))?;
    Some((year, month, day))
}
