//! The verdict on a column whose values agree with what its name says.

use super::suggest::Reading;
use super::verdict::{About, Verdict};
use crate::profile::ColumnProfile;
use crate::profile::sample::Coded;
use crate::profile::shape::CellShape;
use crate::profile::steps::{Steps, quantile_cuts};
use crate::profile::words::Topic;
use kohort_core::number::Decimal;

/// With fewer values than this in a long table, a column holds categories and not names of people.
const FEW: u64 = 12;

/// Fewer rows than this are very few people.
const FEW_PEOPLE: u64 = 60;

/// Weights of columns in the loss: what analysts need most stays the most detailed.
pub(super) const MOST_NEEDED: u32 = 40;
pub(super) const REGION: u32 = 15;
pub(super) const NEEDED: u32 = 6;
pub(super) const USEFUL: u32 = 3;

impl Topic {
    /// Returns the topic of a name, where a note says that the values look different.
    pub(super) fn says(self) -> Option<&'static str> {
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
    pub(super) fn verdict(self, column: &ColumnProfile, coded: &Coded, reading: &Reading) -> Option<Verdict> {
        let mostly = column.mostly_numbers(reading.decimal);
        let exact = column.numbers(reading.decimal).or(column.years_in_text(reading.decimal).map(|(range, _)| range));
        if let (None, Some((numbers, others)), Topic::Age | Topic::Body | Topic::Stay) = (exact, mostly, self) {
            let own = match self {
                Topic::Age => age(column, coded, Some(numbers)),
                Topic::Body => body(column, coded, Some(numbers)),
                _ => stay(column, coded, Some(numbers)),
            };
            if let Some(verdict) = own.filter(|verdict| verdict.hierarchy.is_some()) {
                let uncovered = verdict.uncovered + others;
                return Some(verdict.except(uncovered).note(format!(
                    "{} of the cells are not numbers and would be released as *.",
                    share(others, column.present)
                )));
            }
        }
        let numbers = column.numbers(reading.decimal);
        let kinds = column.distinct.values <= FEW && column.present > 4 * FEW;
        let inside = |verdict: Verdict| (!column.is_telling()).then_some(verdict);
        match self {
            Topic::Contact => (!kinds).then(|| Verdict::identifier("contact or address").sure()),
            Topic::Number => (!kinds).then(|| Verdict::identifier("official number").sure()),
            Topic::FreeText => {
                (!kinds).then(|| Verdict::identifier("free text, which no method can de-identify").sure())
            }
            Topic::Staff => (!kinds || column.mostly(80, CellShape::PersonName))
                .then(|| Verdict::identifier("who treated or interviewed them").sure()),
            // Salutations look like a sex, and are part of a name here.
            Topic::PersonName => (numbers.is_none() && (!kinds || column.mostly(95, CellShape::SexWord)))
                .then(|| Verdict::identifier("part of a name").sure()),
            Topic::SamplingWeight => numbers.map(|_| sampling_weight()),
            Topic::Household if column.distinct.values > FEW && column.mostly(80, CellShape::PersonName) => None,
            Topic::Household => known(column, coded, numbers, "household, known to people who know the person"),
            Topic::BirthPlace => known(column, coded, None, "place of birth"),
            Topic::Birth => birth(column, coded, numbers),
            Topic::Death => known(column, coded, numbers, "deaths are made public"),
            Topic::Age => age(column, coded, numbers.or(column.years_in_text(reading.decimal).map(|(range, _)| range))),
            Topic::Sex => (column.distinct.values <= FEW)
                .then(|| Verdict::quasi("sex").sure().about(About::Sex).weighs(MOST_NEEDED)),
            Topic::Postal => postal(column),
            Topic::Demographic => known(column, coded, numbers, "known to people who know the person")
                .map(|verdict| verdict.weighs(USEFUL)),
            Topic::Place => place(column, coded, numbers),
            Topic::Facility => known(column, coded, None, "place of treatment, which visitors know"),
            Topic::Body => body(column, coded, numbers),
            Topic::Stay => stay(column, coded, numbers),
            Topic::Cost => numbers.and_then(|_| {
                inside(Verdict::other("an amount of money, which outsiders rarely know exactly")).or_else(|| {
                    Some(Verdict::identifier(
                        "amounts of money, different in most rows: somebody who knows a bill finds the row",
                    ))
                })
            }),
            Topic::Procedure => inside(Verdict::sensitive("treatment, or a group of treatments").note(WHEN_KNOWN)),
            Topic::Diagnosis => diagnosis(column),
            Topic::Lab => inside(Verdict::other("a measurement that only the clinic knows")),
            Topic::Clinical => inside(Verdict::other("an observation or answer that outsiders rarely know")),
            Topic::Outcome => inside(Verdict::sensitive("outcome").note(WHEN_KNOWN)),
            Topic::Answer => (column.distinct.values <= 2 * FEW && !column.mostly(95, CellShape::SexWord)).then(|| {
                Verdict::other("an answer of a questionnaire, which outsiders rarely know").about(About::Answer)
            }),
            Topic::Calendar if numbers.is_none() && column.distinct.values <= FEW => {
                Some(Verdict::quasi("a month or day of something that others may have seen").weighs(2))
            }
            Topic::Calendar => calendar(column, coded, numbers),
            Topic::Encounter | Topic::Patient | Topic::Parent | Topic::Id | Topic::Code => None,
        }
    }
}

pub(super) const WHEN_KNOWN: &str = "If an outsider may know it, set role = \"quasi\".";

/// A sampling weight. It is nearly unique and follows from where a person lives.
pub(super) fn sampling_weight() -> Verdict {
    Verdict::identifier("sampling weight: nearly unique, and computed from region, age and sex").note(
        "A sampling weight reveals the group it was computed for. To release it, round it in the data and set role = \"other\".",
    )
}

/// Numbers or categories that outsiders may know.
fn known(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>, why: &str) -> Option<Verdict> {
    if numbers.is_none() && column.is_near_unique() {
        return None;
    }
    let verdict = Verdict::quasi(why).weighs(2);
    Some(match numbers.filter(|_| column.distinct.values > FEW) {
        Some(numbers) => in_intervals(verdict, column, coded, numbers),
        None => verdict,
    })
}

/// Numbers are generalized to intervals: of equal width, or by quantiles where they are skewed.
pub(super) fn in_intervals(
    verdict: Verdict,
    column: &ColumnProfile,
    coded: &Coded,
    numbers: (Decimal, Decimal),
) -> Verdict {
    let Some(steps) = Steps::around(numbers, column.bulk()) else { return verdict };
    let bounds = (numbers.0.to_f64(), numbers.1.to_f64());
    // A number with an open end fits no interval.
    let verdict = verdict.except(column.clues.open);
    match quantile_cuts(&steps, &coded.quantiles_within(&[0, 10, 25, 50, 75, 90, 99], bounds)) {
        Some(cuts) => verdict.by(cuts),
        None => verdict.by(steps.to_toml()),
    }
}

fn between(numbers: (Decimal, Decimal), least: i64, greatest: i64) -> bool {
    Decimal::whole(least) <= numbers.0 && numbers.1 <= Decimal::whole(greatest)
}

fn birth(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let numbers = numbers?;
    if between(numbers, 1, 12) || between(numbers, 1, 31) {
        return Some(Verdict::quasi("day or month of birth").about(About::Birth));
    }
    if !between(numbers, 1850, 2150) {
        return None;
    }
    let verdict = Verdict::quasi("year of birth").sure().about(About::BirthYear).weighs(MOST_NEEDED);
    Some(in_intervals(verdict, column, coded, numbers))
}

fn age(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let verdict = |why: &str| Verdict::quasi(why).about(About::Age).weighs(MOST_NEEDED);
    let Some(numbers) = numbers else {
        let unit = column.distinct.values <= 5 && !column.mostly(50, CellShape::Digit);
        let verdict = verdict("age in words or bands");
        return (column.distinct.values <= 150).then(|| if unit { verdict.weighs(2) } else { verdict });
    };
    // Sentinels such as -9 or 999 are outside the intervals and keep a label of their own.
    if column.bulk_number() > Some(Decimal::whole(150)) && between(numbers, 0, 50_000) && !column.is_telling() {
        return Some(in_intervals(verdict("age in months, weeks, days or codes"), column, coded, numbers));
    }
    if !between(numbers, -999, 9999) || column.bulk_number() > Some(Decimal::whole(150)) {
        return None;
    }
    if column.distinct.values <= FEW && numbers.1 <= Decimal::whole(20) {
        let verdict = verdict("age in coded groups");
        return Some(if column.distinct.values <= 3 { verdict.weighs(2) } else { verdict });
    }
    // Very few people are the younger and the older half.
    if column.present < FEW_PEOPLE && column.clues.open == 0 && between(numbers, 0, 119) {
        let median = coded.quantiles(&[50]).first().copied().unwrap_or(50.0);
        let middle = ((median / 10.0).round() * 10.0).clamp(10.0, 110.0);
        return Some(verdict("age").sure().by(format!("{{ cuts = [{middle}], from = 0, to = 120 }}")));
    }
    let years = "{ intervals = [5, 10, 20], from = 0, to = ";
    let open = column.clues.least_open.filter(|open| *open < Decimal::whole(90) && *open >= Decimal::whole(50));
    Some(if let Some(open) = open {
        verdict("age; the oldest are one group in the data")
            .sure()
            .by(format!("{years}{open} }}"))
            .except(column.clues.open)
    } else if numbers.1 >= Decimal::whole(90) {
        verdict("age; 90 and over is one group, as HIPAA asks")
            .sure()
            .by(format!("{years}90 }}"))
            .except(column.clues.open)
    } else {
        verdict("age").sure().by(format!("{years}100 }}"))
    })
}

pub(super) fn postal(column: &ColumnProfile) -> Option<Verdict> {
    let (shortest, longest) = column.lengths?;
    if longest > 12 || !column.mostly(80, CellShape::Digit) {
        return None;
    }
    let prefix = match longest {
        1 => return Some(Verdict::quasi("postal code").weighs(USEFUL)),
        2 => "[1]",
        3 => "[2, 1]",
        4 => "[3, 2, 1]",
        5..=8 => "[4, 3, 2]",
        _ => "[5, 4, 3, 2]",
    };
    let verdict = Verdict::quasi("postal code; HIPAA keeps three digits at most")
        .sure()
        .weighs(USEFUL)
        .by(format!("{{ prefix = {prefix} }}"))
        .except(column.cells(CellShape::EndsInStar));
    let decimals = column.cells(CellShape::PointDecimal) > 0;
    let cut = shortest < longest && column.mostly(100, CellShape::Whole) && column.cells(CellShape::LeadingZero) == 0;
    Some(if decimals || cut {
        verdict.note(
            "These postal codes seem to have been stored as numbers. Leading zeros may be lost, which mixes \
                 up areas. Restore them.",
        )
    } else {
        verdict
    })
}

fn place(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    if column.cells(CellShape::PointDecimal) > 0 && numbers.is_some() {
        return Some(Verdict::identifier("coordinates point at a place, and often at a house"));
    }
    // Codes of places are not quantities.
    let verdict = known(column, coded, None, "a place")?;
    Some(if column.distinct.values <= 60 { verdict.weighs(REGION) } else { verdict.weighs(USEFUL) })
}

fn body(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let Some(numbers) = numbers else {
        let bands = column.mostly(80, CellShape::Digit) && column.distinct.values <= 150;
        return bands.then(|| Verdict::quasi("in bands; visible, so that others know it roughly").weighs(2));
    };
    let median = coded.quantiles(&[50]).first().copied()?;
    // A body weight has few decimals and few digits; a weight of a survey has many.
    let fine = column.mostly(50, CellShape::PointDecimal) || column.mostly(50, CellShape::CommaDecimal);
    if !(1.0..=6_000.0).contains(&median) || (column.is_near_unique() || fine) && median > 300.0 {
        return Some(sampling_weight());
    }
    let verdict = Verdict::quasi("visible, so that others know it roughly").weighs(2);
    Some(in_intervals(verdict, column, coded, numbers))
}

fn stay(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let verdict = Verdict::quasi("length of a stay, which visitors know roughly").weighs(2);
    match numbers {
        Some(numbers) => Some(in_intervals(verdict, column, coded, numbers)),
        None => (column.distinct.values <= 150 && !column.is_telling()).then_some(verdict),
    }
}

fn calendar(column: &ColumnProfile, coded: &Coded, numbers: Option<(Decimal, Decimal)>) -> Option<Verdict> {
    let numbers = numbers.filter(|_| column.mostly(100, CellShape::Whole))?;
    let verdict = Verdict::quasi("a year, month or day of something that others may have seen").weighs(2);
    Some(if column.distinct.values <= FEW { verdict } else { in_intervals(verdict, column, coded, numbers) })
}

/// The verdict on years and months, whatever they are years of: the year of a diagnosis is not a diagnosis.
pub(super) fn point_in_time(column: &ColumnProfile, coded: &Coded, reading: &Reading) -> Option<Verdict> {
    let years = column.numbers(reading.decimal).filter(|numbers| between(*numbers, 1900, 2100))?;
    calendar(column, coded, Some(years))
}

fn diagnosis(column: &ColumnProfile) -> Option<Verdict> {
    match icd(column, 50) {
        Some(verdict) => Some(verdict.sure()),
        None if column.is_telling() => None,
        None => Some(Verdict::sensitive("diagnosis").note(WHEN_KNOWN)),
    }
}

/// The code system of diagnosis codes and the number of cells that are not in its tables, if at least `percent` of
/// the cells are codes of it.
pub(super) fn icd_system(column: &ColumnProfile, percent: u64) -> Option<(&'static str, u64)> {
    let (icd9, icd10) = (column.cells(CellShape::Icd9), column.cells(CellShape::Icd10));
    let (shape, name) = if icd9 >= icd10 { (CellShape::Icd9, "icd9") } else { (CellShape::Icd10, "icd10") };
    (column.mostly(percent, shape) && !column.is_telling()).then(|| (name, column.present - column.cells(shape)))
}

/// The verdict on diagnosis codes, if at least `percent` of the cells are codes of a code system.
pub(super) fn icd(column: &ColumnProfile, percent: u64) -> Option<Verdict> {
    let (name, outside) = icd_system(column, percent)?;
    let title = if name == "icd9" { "ICD-9 codes" } else { "ICD-10 codes" };
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
