//! Dates that were moved: one offset must explain all released dates of a patient.

use super::ReleaseFolder;
use super::lines::LineFile;
use crate::calendar::Date;
use crate::policy::Policy;
use crate::release::Certificate;
use crate::table::{Chunk, Input, Shift, Source, open};
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The first and the last of some days.
type Days = (i64, i64);

/// Describes what a release shows of a date.
#[derive(Clone, Copy, PartialEq)]
enum ShownDate {
    Missing,
    /// One of these days.
    Within(i64, i64),
    Anything,
}

/// Checks that one offset of at most N days explains all released dates of each patient, and returns the original
/// with its dates moved by such offsets. `None` if the policy moves no dates.
pub(super) fn explained(
    release: &ReleaseFolder,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    lines: Option<&Path>,
) -> Result<Option<Source>> {
    let Some(asked) = policy.shifted() else { return Ok(None) };
    let Some(lines) = lines else {
        return Err(Error::yours(
            "the dates of this release were moved by a secret number of days for each patient, so that it can be \
             compared with the original only where private/rows was kept (--keep-rows).",
        ));
    };
    let original = source.unshifted();
    let shown = shown(release, certificate, policy, &asked.columns, lines)?;
    let mut offsets: HashMap<Box<[u8]>, Days> = HashMap::new();
    let most = i64::from(asked.days);
    original.scan(
        |_| (),
        |(), chunk| rows_of(&chunk, &shown, asked.patient, &asked.columns),
        |rows: Vec<(Box<[u8]>, Days)>| {
            for (patient, (first, last)) in rows {
                let own = offsets.entry(patient).or_insert((-most, most));
                *own = (own.0.max(first), own.1.min(last));
            }
            Ok(())
        },
    )?;
    if offsets.values().any(|(first, last)| first > last) {
        return Err(Error::refused("the released dates of a patient are not moved by one number of days."));
    }
    let known: Vec<i64> = offsets.values().filter(|(first, last)| first == last).map(|own| own.0).collect();
    if !are_drawn(&known, offsets.len() as u64, asked.days) {
        return Err(Error::refused(
            "the dates of too many patients are moved by the same number of days, or not at all: whoever knows one date \
             would know the others.",
        ));
    }
    let nearest = |(first, last): Days| 0.clamp(first, last);
    let offsets = offsets.into_iter().map(|(patient, days)| (patient, nearest(days))).collect();
    Ok(Some(original.shifting(Shift::known(asked.patient, asked.columns, offsets))))
}

/// Returns whether so many equal offsets may come up if each of all patients draws one of the 2N + 1 numbers from -N to
/// N. That c of P patients have one and the same has at most the probability (2N + 1) · C(P, c) · (2N + 1)⁻ᶜ, whoever of
/// them is released; below 2⁻⁶⁰ nobody drew.
fn are_drawn(known: &[i64], patients: u64, days: u32) -> bool {
    let mut times: HashMap<i64, u64> = HashMap::new();
    known.iter().for_each(|&offset| *times.entry(offset).or_default() += 1);
    let most = times.into_values().max().unwrap_or(0);
    let numbers = (2.0 * f64::from(days) + 1.0).ln();
    let choices: f64 = (0..most.min(patients)).map(|i| ((patients - i) as f64 / (i + 1) as f64).ln()).sum();
    numbers + choices - most as f64 * numbers > -60.0 * std::f64::consts::LN_2
}

/// Returns for each input line what the release shows of its dates.
fn shown(
    release: &ReleaseFolder,
    certificate: &Certificate,
    policy: &Policy,
    columns: &[usize],
    lines: &Path,
) -> Result<HashMap<u64, Vec<ShownDate>>> {
    let data = certificate.files.iter().find(|file| file.rows.is_some()).map_or("", |file| file.name.as_str());
    let released = open(&Input { delimiter: Some(certificate.delimiter), ..release.input(data) })?;
    let place = |column: &usize| {
        let name = &policy.columns[*column].name;
        released.columns().iter().position(|own| own == name)
    };
    let places: Option<Vec<usize>> = columns.iter().map(place).collect();
    let places = places.ok_or_else(|| Error::refused("a column of moved dates is not in the release."))?;
    let (mut all, mut lines) = (HashMap::new(), LineFile::open(lines)?);
    let read = |(): &mut (), chunk: Chunk| -> Result<Vec<Vec<ShownDate>>> {
        let row = |r: usize| places.iter().map(|&c| days_of(chunk.cell(r, c))).collect::<Option<Vec<ShownDate>>>();
        let rows: Option<Vec<Vec<ShownDate>>> = (0..chunk.rows()).map(row).collect();
        rows.ok_or_else(|| Error::refused("a released date is not a date."))
    };
    released.scan(
        |_| (),
        read,
        |rows| {
            for row in rows {
                all.insert(lines.next()?, row);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// The offsets that are possible after each released row of a chunk of the original.
fn rows_of(
    chunk: &Chunk,
    shown: &HashMap<u64, Vec<ShownDate>>,
    patient: usize,
    columns: &[usize],
) -> Result<Vec<(Box<[u8]>, Days)>> {
    let mut found = Vec::new();
    for row in 0..chunk.rows() {
        let (mut first, mut last) = (i64::MIN / 2, i64::MAX / 2);
        let Some(labels) = shown.get(&chunk.line(row)) else {
            // Of a row that is not released nothing is known, but its patient drew a number.
            found.push((chunk.cell(row, patient).into(), (first, last)));
            continue;
        };
        for (&column, label) in columns.iter().zip(labels) {
            let cell = std::str::from_utf8(chunk.cell(row, column)).unwrap_or_default();
            match (label, Date::parse_iso(cell)) {
                (ShownDate::Anything, _) => {}
                (ShownDate::Missing, None) if cell.is_empty() => {}
                (ShownDate::Within(from, to), Some(date)) => {
                    let day = date.day_number();
                    (first, last) = (first.max(from - day), last.min(to - day));
                }
                _ => return Err(Error::refused("a date is missing in the original or in the release only.")),
            }
        }
        found.push((chunk.cell(row, patient).into(), (first, last)));
    }
    Ok(found)
}

/// The days that a label stands for: `2010-03-14`, `2010-03`, `2010-Q1`, `2010`, `2010s` or `*`.
fn days_of(label: &[u8]) -> Option<ShownDate> {
    let label = std::str::from_utf8(label).ok()?;
    let day = |year: i64, month: u32| Some(Date::new(year, month, 1)?.day_number());
    let months = |year: i64, month: u32, number: u32| {
        let last = month - 1 + number;
        let end = day(year + i64::from(last / 12), last % 12 + 1)?;
        Some(ShownDate::Within(day(year, month)?, end - 1))
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten();
    match label {
        "" => return Some(ShownDate::Missing),
        "*" => return Some(ShownDate::Anything),
        _ => {}
    }
    if let Some(date) = Date::parse_iso(label) {
        return Some(ShownDate::Within(date.day_number(), date.day_number()));
    }
    if let Some(decade) = label.strip_suffix('s') {
        let year = number(decade).filter(|_| decade.len() == 4)?;
        return Some(ShownDate::Within(day(year, 1)?, day(year + 10, 1)? - 1));
    }
    match label.split_once('-') {
        None if label.len() == 4 => months(number(label)?, 1, 12),
        Some((year, quarter)) if quarter.starts_with('Q') => {
            let quarter = number(&quarter[1..]).filter(|quarter| (1..=4).contains(quarter))?;
            months(number(year)?, quarter as u32 * 3 - 2, 3)
        }
        Some((year, month)) if month.len() == 2 => {
            let month = number(month).filter(|month| (1..=12).contains(month))?;
            months(number(year)?, month as u32, 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_nobody_moved_are_noticed() {
        let same = |offset: i64, n: usize| vec![offset; n];
        for offset in [0, 5, -30] {
            assert!(!are_drawn(&same(offset, 40), 40, 30), "{offset}");
            assert!(!are_drawn(&[same(offset, 200), (-30..30).collect()].concat(), 260, 30), "{offset}");
        }
        // Few patients may draw the same number, and of very many some do.
        assert!(are_drawn(&same(0, 10), 10, 30) && are_drawn(&[], 0, 30) && are_drawn(&same(3, 15), 240, 100));
        let even: Vec<i64> = (0..3000).map(|i| i % 61 - 30).collect();
        assert!(are_drawn(&even, 3000, 30));
        // Moved by at most a day, a third of all are moved by the same number.
        let thirds: Vec<i64> = (0..240).map(|i| i % 3 - 1).collect();
        assert!(are_drawn(&thirds, 240, 1) && !are_drawn(&same(0, 240), 240, 1));
    }

    #[test]
    fn a_label_stands_for_its_days() {
        let day = |text: &str| Date::parse_iso(text).expect("a date").day_number();
        for (label, from, to) in [
            ("2010-03-14", "2010-03-14", "2010-03-14"),
            ("2012-02", "2012-02-01", "2012-02-29"),
            ("2010-12", "2010-12-01", "2010-12-31"),
            ("2010-Q4", "2010-10-01", "2010-12-31"),
            ("2010", "2010-01-01", "2010-12-31"),
            ("2010s", "2010-01-01", "2019-12-31"),
        ] {
            assert!(days_of(label.as_bytes()) == Some(ShownDate::Within(day(from), day(to))), "{label}");
        }
        assert!(days_of(b"") == Some(ShownDate::Missing) && days_of(b"*") == Some(ShownDate::Anything));
        for wrong in ["2010-13", "2010-Q5", "20", "x", "2010-3-14", "[1,2)"] {
            assert!(days_of(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }
}
