//! Results that analysts will compute, before and after: whether means and models survive the release.

use super::metrics::{CheckResult, Estimate};
use super::regression::{self, Fit};
use kohort_core::Result;
use kohort_core::policy::{Check, Column, ModelKind};
use kohort_core::table::{Chunk, Source};
use std::collections::{BTreeMap, BTreeSet};

/// A column with more different texts than this is not split into groups.
const MOST_GROUPS: usize = 40;

/// Computes the checks on the original as it was cleaned, and on the released file.
pub(crate) fn compare(
    checks: &[Check],
    columns: &[Column],
    original: &Source,
    released: &Source,
) -> Result<Vec<CheckResult>> {
    let place = |name: &str| released.columns().iter().position(|own| own == name);
    checks
        .iter()
        .map(|check| {
            let places = places(check);
            let after: Option<Vec<usize>> = places.iter().map(|&column| place(&columns[column].name)).collect();
            let before = read(original, &places)?;
            let after = after.map_or(Ok(Vec::new()), |places| read(released, &places))?;
            let names: Vec<&str> = places.iter().map(|&column| columns[column].name.as_str()).collect();
            Ok(match check {
                Check::Mean { .. } => means(&names, &before, &after),
                Check::Model { kind, .. } => model(*kind, &names, &before, &after),
            })
        })
        .collect()
}

/// The columns of a check: what is explained first.
fn places(check: &Check) -> Vec<usize> {
    match check {
        Check::Mean { of, by } => [Some(*of), *by].into_iter().flatten().collect(),
        Check::Model { outcome, on, .. } => std::iter::once(*outcome).chain(on.iter().copied()).collect(),
    }
}

/// Rows of cells.
type CellRows = Vec<Vec<String>>;

fn read(source: &Source, places: &[usize]) -> Result<CellRows> {
    let mut rows = Vec::new();
    let text = |cell: &[u8]| match source.is_missing(cell) {
        true => String::new(),
        false => String::from_utf8_lossy(cell).into_owned(),
    };
    source.scan(
        |_| (),
        |(), chunk: Chunk| {
            let row = |r: usize| places.iter().map(|&c| text(chunk.cell(r, c))).collect::<Vec<String>>();
            Ok((0..chunk.rows()).map(row).collect::<CellRows>())
        },
        |chunk| {
            rows.extend(chunk);
            Ok(())
        },
    )?;
    Ok(rows)
}

/// The number of a cell: an interval counts as its middle, an open end as its bound. Nothing for other texts.
fn number(cell: &str) -> Option<f64> {
    if let Some((start, end)) = cell.strip_prefix('[').and_then(|c| c.strip_suffix(')')).and_then(|c| c.split_once(','))
    {
        return Some((start.parse::<f64>().ok()? + end.parse::<f64>().ok()?) / 2.0);
    }
    let bare = cell.trim_start_matches(['<', '>', '=']);
    bare.replace(',', ".").parse::<f64>().ok().filter(|number| number.is_finite())
}

fn means(names: &[&str], before: &CellRows, after: &CellRows) -> CheckResult {
    let groups = |rows: &CellRows| {
        let mut groups: BTreeMap<String, (f64, u64)> = BTreeMap::new();
        for row in rows {
            let group = row.get(1).map_or("", String::as_str);
            if let (Some(own), true) = (number(&row[0]), row.len() == 1 || !group.is_empty()) {
                let (sum, rows) = groups.entry(group.to_string()).or_default();
                *sum += own;
                *rows += 1;
            }
        }
        groups
    };
    let (before, after) = (groups(before), groups(after));
    let labels: BTreeSet<&String> = before.keys().chain(after.keys()).take(MOST_GROUPS * 2).collect();
    let estimate = |label: &&String| {
        let side = |groups: &BTreeMap<String, (f64, u64)>| groups.get(*label).copied();
        let mean = |side: Option<(f64, u64)>| side.map(|(sum, rows)| sum / rows as f64);
        Estimate {
            term: names.get(1).map_or("all rows".to_string(), |by| format!("{by} = {label}")),
            before: mean(side(&before)),
            after: mean(side(&after)),
            standard_error: None,
        }
    };
    let check = match names {
        [of] => format!("mean of {of}"),
        names => format!("mean of {} by {}", names[0], names[1]),
    };
    CheckResult { check, estimates: labels.iter().map(estimate).collect() }
}

/// A column of a model: a number, or one term for each value but the first.
enum Explains {
    Number,
    Groups(Vec<String>),
}

fn model(kind: ModelKind, names: &[&str], before: &CellRows, after: &CellRows) -> CheckResult {
    let shape = match kind {
        ModelKind::Linear => "linear",
        ModelKind::Logistic => "logistic",
    };
    let check = format!("{shape} model of {} on {}", names[0], names[1..].join(", "));
    // The two values of a logistic outcome, in their order.
    let values: Vec<&String> =
        before.iter().map(|row| &row[0]).filter(|c| !c.is_empty()).collect::<BTreeSet<_>>().into_iter().collect();
    let explains: Option<Vec<Explains>> = (1..names.len()).map(|column| explain(before, column)).collect();
    let Some(explains) = explains.filter(|_| kind == ModelKind::Linear || values.len() == 2) else {
        return CheckResult { check, estimates: Vec::new() };
    };
    let outcome = |cell: &str| match kind {
        ModelKind::Linear => number(cell),
        ModelKind::Logistic => values.iter().position(|value| *value == cell).map(|place| place as f64),
    };
    let fit = |rows: &CellRows| -> Option<Fit> {
        let row = |row: &Vec<String>| Some((terms(&row[1..], &explains)?, outcome(&row[0])?));
        let (terms, outcome): (Vec<Vec<f64>>, Vec<f64>) = rows.iter().filter_map(row).unzip();
        match kind {
            ModelKind::Linear => regression::linear(&terms, &outcome),
            ModelKind::Logistic => regression::logistic(&terms, &outcome),
        }
    };
    let (before, after) = (fit(before), fit(after));
    let estimate = |(i, term): (usize, String)| Estimate {
        term,
        before: before.as_ref().map(|fit| fit.coefficients[i]),
        after: after.as_ref().map(|fit| fit.coefficients[i]),
        standard_error: before.as_ref().map(|fit| fit.errors[i]),
    };
    CheckResult { check, estimates: term_names(names, &explains).into_iter().enumerate().map(estimate).collect() }
}

/// Returns whether a column explains as a number or by its values; `None` if it has too many of them.
fn explain(before: &CellRows, column: usize) -> Option<Explains> {
    let cells = || before.iter().map(|row| &row[column]).filter(|cell| !cell.is_empty());
    if cells().all(|cell| number(cell).is_some()) {
        return Some(Explains::Number);
    }
    let values: BTreeSet<&String> = cells().collect();
    (values.len() <= MOST_GROUPS).then(|| Explains::Groups(values.into_iter().cloned().collect()))
}

/// The terms of a row, with 1 for the constant; `None` if a cell is missing, suppressed or coarser than before.
fn terms(cells: &[String], explains: &[Explains]) -> Option<Vec<f64>> {
    let mut terms = vec![1.0];
    for (cell, explains) in cells.iter().zip(explains) {
        match explains {
            Explains::Number => terms.push(number(cell)?),
            Explains::Groups(values) => {
                let own = values.iter().position(|value| value == cell)?;
                terms.extend((1..values.len()).map(|place| f64::from(u8::from(place == own))));
            }
        }
    }
    Some(terms)
}

fn term_names(names: &[&str], explains: &[Explains]) -> Vec<String> {
    let mut all = vec!["constant".to_string()];
    for (name, explains) in names[1..].iter().zip(explains) {
        match explains {
            Explains::Number => all.push(name.to_string()),
            Explains::Groups(values) => all.extend(values.iter().skip(1).map(|value| format!("{name} = {value}"))),
        }
    }
    all
}
