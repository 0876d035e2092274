//! Warnings: what the custodian should look at before they trust a suggestion.

use super::suggest::{Reading, round, thousands};
use super::topic::share;
use super::write::shown;
use super::{ColumnAdvice, Confidence};
use crate::profile::shape::CellShape;
use crate::profile::{ColumnProfile, Profile};
use kohort_core::policy::Role;
use kohort_core::table::{Encoding, Input};

/// Fewer rows than this tell little.
const FEW_ROWS: u64 = 20;
/// All warnings: first on the table, then on its columns in their order.
pub(super) fn warnings(profile: &Profile, reading: &Reading, columns: &[ColumnAdvice], input: &Input) -> Vec<String> {
    let mut all = on_reading(profile, reading, input);
    all.extend(on_people(profile, columns));
    all.extend(on_columns(profile, columns));
    let quasi = columns.iter().filter(|c| c.role == Role::Quasi).count();
    if quasi == 0 {
        all.push(
            "no column is suggested as a quasi-identifier. A policy needs at least one column that an outsider \
             may know."
                .into(),
        );
    }
    all
}

/// The warnings on columns, in their order, and on columns that say the same.
pub(super) fn on_columns(profile: &Profile, columns: &[ColumnAdvice]) -> Vec<String> {
    let mut all = Vec::new();
    let pairs = || profile.columns.iter().zip(columns);
    pairs().for_each(|(column, advice)| all.extend(on_column(column, advice)));
    for (i, (column, _)) in pairs().enumerate().filter(|(_, (column, _))| column.distinct.values > 1) {
        let same = |other: &&ColumnProfile| other.fingerprint == column.fingerprint;
        if let Some(first) = profile.columns[..i].iter().find(same) {
            all.push(format!(
                "columns {} and {} are the same in every row. Drop one of them.",
                shown(&first.name),
                shown(&column.name)
            ));
        }
    }
    let unsure = columns.iter().filter(|c| c.confidence == Confidence::Unsure).count();
    if unsure > 0 {
        let columns = if unsure == 1 { "1 column was".to_string() } else { format!("{unsure} columns were") };
        all.push(format!(
            "{columns} not understood and got a safe role: known to outsiders, or dropped. The policy marks them with \
             CHECK; `kohort init --ask` asks about each."
        ));
    }
    all
}

fn on_reading(profile: &Profile, reading: &Reading, input: &Input) -> Vec<String> {
    let mut all = Vec::new();
    if profile.rows < FEW_ROWS {
        all.push(format!(
            "the table has only {} rows, so the roles are guessed mainly from the names of the columns.",
            profile.rows
        ));
    }
    all.extend(on_skipped(input));
    if !input.header {
        all.push(
            "the first line looks like data and not like column names, so the columns are called column1, \
             column2, … If it does name them, set header = true."
                .into(),
        );
    }
    if input.encoding == Encoding::Windows1252 {
        all.push("the file is not UTF-8 and was read as windows-1252: check that accented letters are right.".into());
    }
    if reading.missing.iter().any(|marker| *marker != "*") {
        all.push(
            "some cells contain words that mean missing, and `missing` lists them for all columns. If one of \
             them is an answer somewhere, remove it from the list."
                .into(),
        );
    }
    all
}

/// Names the lines that are not part of the table: titles above its header, notes below it.
fn on_skipped(input: &Input) -> Vec<String> {
    let lines = |n: u64| if n == 1 { "line".to_string() } else { format!("{n} lines") };
    let (is, are) = (|n: u64| if n == 1 { "is" } else { "are" }, input.skip_end);
    let mut all = Vec::new();
    if input.skip > 0 {
        let column = if input.header { "the header" } else { "the first row" };
        all.push(format!(
            "the first {} {} above {column} and not part of the table: skip = {}. Check that line {} {}.",
            lines(input.skip),
            is(input.skip),
            input.skip,
            input.skip + 1,
            if input.header { "names the columns" } else { "is the first row" }
        ));
    }
    if are > 0 {
        all.push(format!(
            "the last {} {} below the table and not part of it, like notes or totals: skip_end = {are}. If a row is \
             among them, set a smaller number.",
            lines(are),
            is(are)
        ));
    }
    all
}

fn on_people(profile: &Profile, columns: &[ColumnAdvice]) -> Vec<String> {
    let mut all = Vec::new();
    let patient = profile.columns.iter().zip(columns).find(|(_, advice)| advice.role == Role::Patient);
    let derived = || columns.iter().skip(profile.columns.len()).find(|advice| advice.role == Role::Patient);
    match patient {
        None if derived().is_some() => all.push(
            "no column identifies the patient, but two together do: the policy joins them, so that people are counted and \
             not rows."
                .into(),
        ),
        None => all.push(
            "no column identifies the patient, so every row is counted as a different person. If \
             people can have several rows, add a patient column."
                .into(),
        ),
        Some((column, _)) => {
            let name = shown(&column.name);
            if column.distinct.repeats {
                let people = column.distinct.values;
                let people = if column.distinct.exact {
                    thousands(people)
                } else {
                    format!("about {}", thousands(round(people)))
                };
                all.push(format!(
                    "{name} repeats: {} rows belong to {people} people. With role = \"patient\", people are counted \
                     and not rows.",
                    thousands(profile.rows)
                ));
            }
            if let Some(united) = column.spelling {
                all.push(format!(
                    "{name}: {} keys are written in several ways and are {} people in one spelling. Check with a few rows \
                     that different people do not share a key then.",
                    thousands(united.keys),
                    thousands(column.distinct.values)
                ));
            }
            if column.present < profile.rows {
                all.push(format!(
                    "{name} is missing in {} of the rows, so that nobody knows whose they are: fill it in, if you can.",
                    share(profile.rows - column.present, profile.rows)
                ));
            }
            // Without a key, people who look the same are no surprise.
            if profile.distinct_rows.repeats {
                let again = profile.rows.saturating_sub(profile.distinct_rows.values);
                let again = if profile.distinct_rows.exact {
                    thousands(again)
                } else {
                    format!("about {}", thousands(round(again)))
                };
                all.push(format!(
                    "{again} rows are exact copies of an earlier row, including the key. Check whether \
                     the export contains duplicates."
                ));
            }
        }
    }
    all
}

fn on_column(column: &ColumnProfile, advice: &ColumnAdvice) -> Vec<String> {
    let mut all = Vec::new();
    let name = shown(&column.name);
    if column.stars > 0 {
        all.push(format!(
            "{name}: {} cells are `*`, which means suppressed in a release. `missing` lists it: check that it means \"not recorded\".",
            thousands(column.stars)
        ));
    }
    match advice.role {
        Role::Identifier if advice.why.contains("free text") => {
            all.push(format!("{name} is free text and is dropped, because no method can de-identify sentences."));
        }
        Role::Quasi if column.is_near_unique() => all.push(format!(
            "{name}: nearly every row has a different value, so most of its detail will be lost. Drop it if the \
             study does not need it."
        )),
        Role::Sensitive { .. } if column.is_near_unique() => all.push(format!(
            "{name}: nearly every row has a different value, and it would be released unchanged. Someone who knows \
             the value would find the row."
        )),
        _ => {}
    }
    if advice.role.is_released() {
        let named = [
            (CellShape::Email, "e-mail addresses"),
            (CellShape::SocialSecurity, "social security numbers"),
            (CellShape::Url, "web addresses"),
        ];
        for (shape, what) in named.into_iter().filter(|(shape, _)| column.cells(*shape) > 0) {
            all.push(format!("{name}: {} cells look like {what}.", thousands(column.cells(shape))));
        }
    }
    all
}
