//! What a column is, if its values agree with what its name says.

use super::profile::Column;
use super::shape::Shape;
use super::steps::Steps;
use super::suggest::Reading;
use super::verdict::{Key, Part, Verdict};
use super::words::Topic;
use kohort_core::number::Decimal;

/// With fewer values than this in a long table, a column holds categories and not names of people.
const FEW: u64 = 12;

impl Topic {
    /// Returns the topic of a name, where a note says that the values look different.
    pub fn says(self) -> Option<&'static str> {
        match self {
            Topic::Birth => Some("birth"),
            Topic::Age => Some("age"),
            Topic::Sex => Some("sex"),
            Topic::Postal => Some("postal code"),
            Topic::Diagnosis => Some("diagnosis"),
            Topic::PersonName => Some("name"),
            Topic::Demographic | Topic::Place | Topic::Facility => Some("category"),
            _ => None,
        }
    }

    /// The verdict on a column of this name; `None` where its values do not agree.
    pub fn verdict(self, column: &Column, reading: &Reading) -> Option<Verdict> {
        let numbers = column.numbers(reading.decimal);
        let kinds = column.distinct.values <= FEW && column.present > 4 * FEW;
        let text = |verdict: Verdict| (numbers.is_some() || !column.is_near_unique()).then_some(verdict);
        match self {
            Topic::Contact => (!kinds).then(|| Verdict::identifier("contact or address")),
            Topic::Number => (!kinds).then(|| Verdict::identifier("official number")),
            Topic::FreeText => (!kinds).then(|| Verdict::identifier("free text, which no method can de-identify")),
            Topic::Staff => (!kinds).then(|| Verdict::identifier("who treated them")),
            Topic::PersonName => numbers.is_none().then(|| Verdict::identifier("part of a name")),
            Topic::BirthPlace => text(Verdict::quasi("place of birth")),
            Topic::Birth => year_of_birth(column, numbers?),
            Topic::Death => text(Verdict::quasi("deaths are made public")),
            Topic::Age => age(column, numbers),
            Topic::Sex => (column.distinct.values <= FEW).then(|| Verdict::quasi("sex")),
            Topic::Postal => postal(column),
            Topic::Demographic => text(Verdict::quasi("known to people who know the person")),
            Topic::Place => text(Verdict::quasi("a place")),
            Topic::Facility => text(Verdict::quasi("place of treatment, which visitors know")),
            Topic::Measure => measure(column, numbers),
            Topic::Diagnosis => diagnosis(column),
            Topic::Procedure => text(Verdict::sensitive("treatment, or a group of treatments").note(WHEN_KNOWN)),
            Topic::Lab => text(Verdict::sensitive("measured inside")),
            Topic::Outcome => text(Verdict::sensitive("outcome").note(WHEN_KNOWN)),
            Topic::Encounter => is_key(column, 5).then(|| Verdict::identifier("number of a stay, claim or visit")),
            Topic::Patient => is_key(column, 50).then(|| person(column, Key::OfPatient)),
            Topic::Code => (numbers.is_some() && !column.is_near_unique()).then(codes),
            Topic::Id => is_key(column, 20).then(|| person(column, Key::OfSomething)),
        }
    }
}

/// Numbers without an order: the value or `*`.
pub(super) fn codes() -> Verdict {
    Verdict::quasi("not recognised; the numbers are treated as codes of a quasi-identifier to be safe")
}

const WHEN_KNOWN: &str = "If an outsider may know it, set role = \"quasi\".";

/// Returns whether a column can be a key: no decimals, and at most so many rows for a key on average.
fn is_key(column: &Column, rows: u64) -> bool {
    column.distinct.values >= 2
        && column.distinct.values.saturating_mul(rows) >= column.present
        && column.cells(Shape::PointDecimal) == 0
        && column.cells(Shape::CommaDecimal) == 0
}

fn person(column: &Column, key: Key) -> Verdict {
    if column.mostly(50, Shape::PersonName) && !column.mostly(50, Shape::Digit) {
        return Verdict::identifier("looks like names");
    }
    Verdict::new(Part::Person(key), "identifies the patient, so that patients are counted and not rows")
}

fn between(numbers: (Decimal, Decimal), least: i64, greatest: i64) -> bool {
    Decimal::whole(least) <= numbers.0 && numbers.1 <= Decimal::whole(greatest)
}

fn year_of_birth(column: &Column, numbers: (Decimal, Decimal)) -> Option<Verdict> {
    let years = between(numbers, 1850, 2150).then(|| Steps::around(numbers, column.bulk()))??;
    Some(Verdict::quasi("year of birth").by(years.to_toml()))
}

fn age(column: &Column, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let Some(numbers) = numbers else {
        return (column.distinct.values <= 150).then(|| Verdict::quasi("age in words or bands"));
    };
    if !between(numbers, 0, 130) {
        return None;
    }
    let years = "{ intervals = [5, 10, 20], from = 0, to = ";
    Some(if numbers.1 >= Decimal::whole(90) {
        Verdict::quasi("age; 90 and over is one group, as HIPAA asks").by(format!("{years}90 }}"))
    } else {
        Verdict::quasi("age").by(format!("{years}100 }}"))
    })
}

fn postal(column: &Column) -> Option<Verdict> {
    let (shortest, longest) = column.lengths?;
    if longest > 12 || !column.mostly(80, Shape::Digit) {
        return None;
    }
    let prefix = match longest {
        1 => return Some(Verdict::quasi("postal code")),
        2 => "[1]",
        3 => "[2, 1]",
        4 => "[3, 2, 1]",
        5..=8 => "[4, 3, 2]",
        _ => "[5, 4, 3, 2]",
    };
    let verdict = Verdict::quasi("postal code; HIPAA keeps three digits at most")
        .by(format!("{{ prefix = {prefix} }}"))
        .except(column.cells(Shape::EndsInStar));
    let decimals = column.cells(Shape::PointDecimal) > 0;
    let cut = shortest < longest && column.mostly(100, Shape::Whole) && column.cells(Shape::LeadingZero) == 0;
    Some(if decimals || cut {
        verdict.note(
            "These postal codes seem to have been stored as numbers. Leading zeros may be lost, which mixes \
                 up areas. Restore them.",
        )
    } else {
        verdict
    })
}

fn measure(column: &Column, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    match numbers {
        Some(numbers) => {
            let steps = Steps::around(numbers, column.bulk())?;
            Some(Verdict::quasi("somebody may know it about").by(steps.to_toml()))
        }
        None if column.mostly(80, Shape::Digit) && column.distinct.values <= 150 => {
            Some(Verdict::quasi("in bands; somebody may know it about"))
        }
        None => None,
    }
}

fn diagnosis(column: &Column) -> Option<Verdict> {
    match icd(column, 50) {
        Some(verdict) => Some(verdict),
        None if column.is_near_unique() && !column.mostly(90, Shape::Digit) => None,
        None => Some(Verdict::sensitive("diagnosis").note(WHEN_KNOWN)),
    }
}

/// The verdict on diagnosis codes, if at least `percent` of the cells are codes of a code system.
pub(super) fn icd(column: &Column, percent: u64) -> Option<Verdict> {
    let (icd9, icd10) = (column.cells(Shape::Icd9), column.cells(Shape::Icd10));
    let (shape, name, title) =
        if icd9 >= icd10 { (Shape::Icd9, "icd9", "ICD-9 codes") } else { (Shape::Icd10, "icd10", "ICD-10 codes") };
    if !column.mostly(percent, shape) {
        return None;
    }
    let outside = column.present - column.cells(shape);
    let unmapped = if outside > 0 { ", unmapped = \"suppress\"" } else { "" };
    let share =
        if outside > 0 { format!(", {} not in the tables", share(outside, column.present)) } else { String::new() };
    Some(
        Verdict::sensitive(format!("{title}{share}"))
            .note(format!("If an outsider may know it, set {{ role = \"quasi\", hierarchy = \"{name}\"{unmapped} }}.")),
    )
}

/// A share in words: `3 %`, `under 1 %`.
pub(super) fn share(part: u64, whole: u64) -> String {
    match (u128::from(part) * 100).checked_div(u128::from(whole)).unwrap_or_default() {
        0 => "under 1 %".to_string(),
        percent => format!("{percent} %"),
    }
}
