//! Steps of cleaning in words, for dictionaries, certificates and reports. They name no cell of the data: texts of
//! the policy only.

use super::step::CleaningStep;
use super::{DateReading, Derive, KeySpelling, NumberReading, Spelling, Steps};
use crate::code_systems::CodeSystem;

/// More entries of a list than this are not named one by one.
const MOST_NAMED: usize = 4;

/// A derived column in words; nothing for a copy, whose hierarchy says what it shows.
pub(super) fn described_derive(derive: &Derive) -> Option<String> {
    Some(match derive {
        Derive::Copy(_) => return None,
        Derive::Age { born, at } => format!("full years from `{born}` to `{at}`"),
        Derive::Between { start, end } => format!("days from `{start}` to `{end}`"),
        Derive::Date { year, month, day } => format!("the date in `{year}`, `{month}` and `{day}`"),
        Derive::Join(parts) => format!("{} together", listed(parts.iter().map(|part| format!("`{part}`")))),
    })
}

/// The steps of a column in words.
pub(super) fn described_steps(steps: &Steps, found: Option<&'static str>) -> Vec<(CleaningStep, String)> {
    let mut all = Vec::new();
    if let Some(missing) = &steps.missing {
        all.push((
            CleaningStep::Missing,
            match missing.is_empty() {
                true => "only an empty cell is missing".to_string(),
                false => format!("missing: {}", listed(missing.iter().map(|text| format!("`{text}`")))),
            },
        ));
    }
    if !steps.recode.is_empty() {
        let pairs = steps.recode.iter().map(|(from, to)| match (from.as_str(), to.as_str()) {
            ("", to) => format!("missing to `{to}`"),
            (from, "") => format!("`{from}` to missing"),
            (from, to) => format!("`{from}` to `{to}`"),
        });
        all.push((CleaningStep::Recode, format!("recoded: {}", listed(pairs))));
    }
    if let Some(reading) = steps.number {
        let what = match reading {
            NumberReading::AsWritten => "the number is read out of the text",
            NumberReading::Years => "full years are read out of the text",
        };
        all.push((CleaningStep::Number, what.to_string()));
    }
    if let Some(date) = &steps.date {
        let format = match date {
            DateReading::Written(text, _) => text.as_str(),
            DateReading::FindOut => found.unwrap_or("in a usual format"),
        };
        all.push((CleaningStep::Date, format!("dates written {format} become dates like 2010-03-14")));
    }
    if let Some(spelling) = steps.spelling {
        let what = match spelling {
            Spelling::Codes(CodeSystem::Icd9) => "ICD-9 codes in one spelling, like 250.01",
            Spelling::Codes(CodeSystem::Icd10) => "ICD-10 codes in one spelling, like E11.9",
            Spelling::Key(KeySpelling::Characters) => {
                "keys in one spelling: capital letters, signs and zeros at the start of a number do not count"
            }
            Spelling::Key(KeySpelling::Digits) => {
                "keys in one spelling: only their digits count, without zeros at the start"
            }
        };
        all.push((CleaningStep::Spelling, what.to_string()));
    }
    if let Some(top) = steps.top {
        all.push((CleaningStep::Top, format!("numbers from {top} on become >={top}")));
    }
    all
}

fn listed(entries: impl ExactSizeIterator<Item = String>) -> String {
    let number = entries.len();
    let mut named: Vec<String> = entries.take(MOST_NAMED).collect();
    if number > MOST_NAMED {
        named.push(format!("and {} more", number - MOST_NAMED));
    }
    named.join(", ")
}
