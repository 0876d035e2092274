//! The values that synthetic records may show in each column, and the probability of each.
//!
//! A sensitive value is drawn from a distribution in which every allowed value has a positive
//! probability, whether or not it occurs in the file: a value that could only be drawn where a real one
//! exists would prove that the real one exists. So the allowed values are never read from the file: the
//! policy lists them. All other columns are drawn from the file's own values, each column by itself.
//!
//! # Example
//! `dx` is sensitive with `domain = ["flu", "gout", "HIV"]`, and the file has flu three times and gout
//! once. Every listed value counts once more than it occurs: the weights are flu 4, gout 2, HIV 1.

use crate::number::Decimal;
use crate::policy::{NamedText, Policy, Role, SyntheticRules};
use crate::table::{Counting, Source, Texts, Tuples, count};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A range of more whole numbers than this is not taken for a list of values.
const MOST_LISTED: usize = 100_000;

/// The values of one column, for synthetic records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticValues {
    /// The column's name.
    pub name: String,
    /// Its place in the table.
    pub column: usize,
    /// Its place in the tuples, if it is in them: then a value's number is its code.
    pub position: Option<usize>,
    /// True if its values are sensitive.
    pub sensitive: bool,
    /// The values: missing first, then in byte order.
    pub values: Vec<String>,
    /// The weight of each value; its probability is in proportion.
    pub weights: Vec<u64>,
}

/// Lists the values of every released column that is neither a quasi-identifier nor a detail. Values
/// that may be drawn but occur in no row get codes in `tuples`, whose columns are `columns`.
pub(crate) fn synthetic_values(
    source: &Source,
    policy: &Policy,
    rules: &SyntheticRules,
    columns: &[usize],
    tuples: &mut Tuples,
) -> Result<Vec<SyntheticValues>> {
    let drawn = policy.positions(|r| r.is_released() && !matches!(r, Role::Quasi | Role::Detail { .. }));
    let outside: Vec<usize> = drawn.iter().copied().filter(|c| !columns.contains(c)).collect();
    let mut counted = count_values(source, &outside)?.into_iter();
    let mut all = Vec::new();
    for column in drawn {
        let position = columns.iter().position(|&c| c == column);
        let counts = match position {
            Some(position) => {
                let texts = tuples.dictionaries[position].texts();
                let counts = texts.iter().map(|t| t.to_string()).zip(tuples.frequencies(position).iter().copied());
                counts.collect::<BTreeMap<String, u64>>()
            }
            None => counted.next().unwrap_or_default(),
        };
        let bound = &policy.columns[column];
        let sensitive = matches!(bound.role, Role::Sensitive { .. });
        let alone = counts.iter().filter(|(text, rows)| !text.is_empty() && **rows == 1).count() as u64;
        // The policy lists what a sensitive column may show, whatever the file holds.
        if !sensitive && 2 * alone > tuples.rows {
            return Err(policy.error(format!(
                "column `{}`: most rows have a unique value, which would reveal which records are synthetic. Drop \
                 the column (role = \"identifier\"), or group its values first.",
                bound.name
            )));
        }
        let weights = if sensitive {
            let reference = rules.references.iter().find(|r| r.0 == column).map(|r| &r.1);
            allowed(policy, column, reference, &counts)?
        } else {
            counts
        };
        if let Some(position) = position {
            tuples.know(position, &weights.keys().cloned().collect::<Vec<_>>());
        }
        let missing = weights.get("").copied().unwrap_or(0);
        let rest = weights.into_iter().filter(|(text, _)| !text.is_empty());
        let (values, weights) = std::iter::once((String::new(), missing)).chain(rest).unzip();
        all.push(SyntheticValues { name: bound.name.clone(), column, position, sensitive, values, weights });
    }
    Ok(all)
}

/// Counts the values of these columns; a missing cell is the empty text.
fn count_values(source: &Source, columns: &[usize]) -> Result<Vec<BTreeMap<String, u64>>> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    if source.has_engine() {
        // It counts them where they are.
        let counts = |&column: &usize| {
            let counted = count(source, &Counting { columns: vec![column], patient: None, remember: 0 })?;
            let texts = counted.dictionaries[0].texts().into_iter().map(String::from);
            Ok(texts.zip(counted.frequencies(0).iter().copied()).filter(|(_, rows)| *rows > 0).collect())
        };
        return columns.iter().map(counts).collect();
    }
    let workers = source.scan(
        |_| vec![(Texts::default(), Vec::<u64>::new()); columns.len()],
        |own, chunk| {
            for ((texts, counts), &column) in own.iter_mut().zip(columns) {
                for row in 0..chunk.rows() {
                    let cell = chunk.cell(row, column);
                    let number = texts.intern(if source.is_missing(cell) { &[] } else { cell }) as usize;
                    if number >= counts.len() {
                        counts.resize(number + 1, 0);
                    }
                    counts[number] += 1;
                }
            }
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut all = vec![BTreeMap::new(); columns.len()];
    for worker in &workers {
        for (all, (texts, counts)) in all.iter_mut().zip(worker) {
            for (number, rows) in counts.iter().enumerate() {
                // The reader checked that cells are UTF-8.
                let text = String::from_utf8_lossy(texts.get(number as u32)).into_owned();
                *all.entry(text).or_insert(0) += rows;
            }
        }
    }
    Ok(all)
}

/// Weights of the values that may be drawn in a sensitive column: a distribution from outside, or the
/// file's own, in which every listed value counts once more than it occurs.
fn allowed(
    policy: &Policy,
    column: usize,
    reference: Option<&NamedText>,
    counts: &BTreeMap<String, u64>,
) -> Result<BTreeMap<String, u64>> {
    let bound = &policy.columns[column];
    let mut listed: Vec<String> = bound.domain.clone().unwrap_or_default();
    listed.extend(bound.rule.listed(MOST_LISTED).unwrap_or_default());
    if listed.is_empty() && reference.is_none() {
        return Err(policy.error(format!(
            "column `{}`: synthetic records need a list of all possible values, whether or not they occur in the \
             data. Otherwise a value would prove that a real person has it. Set domain = [\"…\"] or a hierarchy \
             file for the column, or reference = \"file.csv\" (lines of value;share) under [method].",
            bound.name
        )));
    }
    let mut weights = match reference {
        Some(file) => read_reference(file)?,
        None => BTreeMap::new(),
    };
    listed.retain(|value| !value.is_empty());
    let absent = listed.iter().filter(|value| !weights.contains_key(*value)).count();
    if let (Some(file), true) = (reference, absent > 0) {
        return Err(policy.error(format!(
            "column `{}`: {} has no share for {absent} of the {} values of its domain or hierarchy. Synthetic records \
             would show these values at a rate that nobody chose. Add a line for each, or remove them from the domain.",
            bound.name,
            file.name,
            listed.len()
        )));
    }
    for value in listed {
        weights.entry(value).or_insert(0);
    }
    let unknown: Vec<String> = counts.keys().filter(|v| !v.is_empty() && !weights.contains_key(*v)).cloned().collect();
    if !unknown.is_empty() {
        let shown = unknown.iter().take(20).cloned().collect();
        return Err(policy
            .error(format!(
                "column `{}`: {} of its values are not in its domain, hierarchy or reference. Synthetic records \
                 could not show them, which would prove that records with them are real. List them too. \
                 (--show-values shows them.)",
                bound.name,
                unknown.len()
            ))
            .about(shown));
    }
    let missing = counts.get("").copied().unwrap_or(0);
    if reference.is_none() {
        weights.iter_mut().for_each(|(value, weight)| *weight = 1 + counts.get(value).copied().unwrap_or(0));
        weights.insert(String::new(), missing);
    } else {
        // Missing as often as in the file, whatever the distribution from outside is.
        let (all, known): (u64, u64) = (weights.values().sum(), counts.values().sum::<u64>() - missing);
        let share = u128::from(all) * u128::from(missing) / u128::from(known.max(1));
        weights.insert(String::new(), u64::try_from(share).unwrap_or(u64::MAX >> 8).max(u64::from(missing > 0)));
    }
    Ok(weights)
}

/// Reads lines of `value;share` (or with a comma or a tab); a first line whose share is no number is a
/// heading. Shares become whole numbers that keep their proportions, none below 1.
fn read_reference(file: &NamedText) -> Result<BTreeMap<String, u64>> {
    let wrong = |line: usize, what: &str| {
        Err(Error::yours(format!(
            "{}, line {line}: {what} A line is value;share, the share a number above 0.",
            file.name
        )))
    };
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for (number, line) in (1..).zip(file.text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((value, share)) = line.rsplit_once([';', ',', '\t']) else {
            return wrong(number, "there is no share.");
        };
        let value = value.trim().trim_matches('"');
        let share = Decimal::parse(share.trim(), b'.').map(Decimal::to_f64).filter(|s| *s > 0.0);
        match share {
            None if number == 1 => continue,
            None => return wrong(number, "the share is not a number above 0."),
            Some(_) if value.is_empty() => return wrong(number, "the value is empty."),
            Some(share) => {
                if shares.insert(value.into(), share).is_some() {
                    return wrong(number, "the value is listed twice.");
                }
            }
        }
    }
    let all: f64 = shares.values().sum();
    if shares.is_empty() {
        return Err(Error::yours(format!("{}: the file does not list any value.", file.name)));
    }
    let whole = |share: f64| ((share / all * (1u64 << 40) as f64).round() as u64).max(1);
    Ok(shares.into_iter().map(|(value, share)| (value, whole(share))).collect())
}
