//! Compares a release of events with the original: row by row where it is known which is which.

use super::super::lines::are_shuffled;
use super::at_risk::{ALL_SETS, Attacker};
use super::finder::{Finder, PatientLabels, powers};
use super::read::{ColumnCells, EventCells};
use super::{RecountedEvents, is_within};
use crate::events::{self, Copied, Histories, QuasiColumn, ReleasedAs, TableEvents};
use crate::policy::{Policy, Power, PowerRule};
use crate::privacy::ShareAtRisk;
use crate::ragged::Bounds;
use crate::random::Randomness;
use crate::release::{EventsClaim, lines_file};
use crate::shape::Events;
use crate::table::{Source, Texts};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The result of the comparison with the original.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventsCompared {
    /// Patients of the original, after exclusions.
    pub patients: u64,
    /// Events of the original, after exclusions.
    pub events: u64,
    /// Released patients that were found in it.
    pub matched: u64,
    /// The share of patients for whom fewer than k patients of the release match what is left of known
    /// events of the original.
    pub original: Option<ShareAtRisk>,
    /// Facts that could not be shown.
    pub not_shown: Vec<String>,
}

fn refused(what: &str) -> Error {
    Error::refused(format!("the release is not that of the original: {what}."))
}

/// Row by row: `lines` names the input line of each event of the first table, and files beside it those of the
/// patients and of further tables.
pub(super) fn row_by_row(
    read: RecountedEvents,
    claim: &EventsClaim,
    source: &Source,
    policy: &Policy<Events>,
    lines: &Path,
) -> Result<EventsCompared> {
    let histories = events::survey(source, policy)?;
    let RecountedEvents { tables, draws, .. } = read;
    let own = read_lines(&lines.with_file_name("patients"))?;
    are_shuffled(own.iter().copied().map(Ok))?;
    let patients = find(&own, &histories.patient_lines, tables.patients())?;
    for (released, &original) in patients.iter().enumerate() {
        if !tables.has_events(released) && histories.has_events(original as usize) {
            return Err(refused("it contains a patient without any released events"));
        }
    }
    compare(&histories.patient, &histories.patient_copied, &tables.patient, &patients, None)?;
    let mut levels = Vec::new();
    for (t, (own, table)) in tables.events.iter().zip(&histories.tables).enumerate() {
        let lines = lines.with_file_name(lines_file(t, &table.name));
        let events = find(&read_lines(&lines)?, &table.lines, own.events())?;
        let mut patient_of = vec![0u32; table.len()];
        (0..histories.patients()).for_each(|p| table.of(p).for_each(|e| patient_of[e] = p as u32));
        for (released, &original) in patients.iter().enumerate() {
            if own.of(released).any(|e| patient_of[events[e] as usize] != original) {
                return Err(refused("an event is another patient's"));
            }
        }
        let owner: Vec<u32> = events.iter().map(|&e| patient_of[e as usize]).collect();
        let quasi = &histories.event[histories.columns_of(t)];
        levels.extend(compare(quasi, &table.copied, &own.columns, &events, Some(&owner))?);
    }
    let original = match claim.power {
        Power::Total { .. } => None,
        Power::Values { .. } | Power::Events { .. } | Power::Pairs { .. } => {
            let threads = source.threads();
            let all = from_original(&histories, (&tables, &draws), claim, (&patients, &levels), threads);
            all.iter().try_for_each(|found| is_within(claim, found, "original's events"))?;
            all.into_iter().max_by(|a, b| a.share().total_cmp(&b.share()))
        }
    };
    Ok(EventsCompared {
        patients: histories.patients() as u64,
        events: histories.events() as u64,
        matched: tables.patients() as u64,
        original,
        not_shown: Vec::new(),
    })
}

/// Without lines: every label occurs at most as often as at one permitted level of the original.
pub(super) fn as_multisets(read: RecountedEvents, source: &Source, policy: &Policy<Events>) -> Result<EventsCompared> {
    let histories = events::survey(source, policy)?;
    let RecountedEvents { tables, .. } = read;
    let more = |(own, table): (&EventCells, &TableEvents)| own.events() > table.len();
    if tables.patients() > histories.patients() || tables.events.iter().zip(&histories.tables).any(more) {
        return Err(refused("it has more patients or events"));
    }
    let of_events =
        (0..histories.tables.len()).map(|t| (&histories.event[histories.columns_of(t)], &tables.events[t].columns[..]));
    for (columns, cells) in std::iter::once((&histories.patient[..], &tables.patient[..])).chain(of_events) {
        for column in columns {
            let Some(own) = cells.iter().find(|c| c.name == column.name) else {
                return Err(refused("a column is missing"));
            };
            let mut released = vec![0u64; own.texts.len()];
            own.rows.iter().for_each(|&n| released[n as usize] += 1);
            let fits = |level: usize| {
                let number = numbers(column, level, &own.texts);
                let mut there = vec![0u64; own.texts.len()];
                for &code in &column.codes {
                    let n = number[column.level(level).label_of[code as usize] as usize];
                    if n != NOWHERE {
                        there[n as usize] += 1;
                    }
                }
                released.iter().zip(there).all(|(r, t)| *r <= t)
            };
            if !column.levels.iter().any(|&level| fits(level)) {
                return Err(refused(&format!(
                    "`{}` contains labels that the original does not have at any permitted level",
                    column.name
                )));
            }
        }
    }
    Ok(EventsCompared {
        patients: histories.patients() as u64,
        events: histories.events() as u64,
        matched: tables.patients() as u64,
        original: None,
        not_shown: vec![
            "which patient and which event a row is (private/ is not kept): labels were compared column by column"
                .into(),
            "the estimate from the original's events".into(),
        ],
    })
}

const NOWHERE: u32 = u32::MAX;

/// The number of each label of a level among the released texts.
fn numbers(column: &QuasiColumn, level: usize, texts: &Texts) -> Vec<u32> {
    column.level(level).labels.iter().map(|l| texts.find(l.text.as_bytes()).unwrap_or(NOWHERE)).collect()
}

/// Input lines, one a line.
fn read_lines(path: &Path) -> Result<Vec<u64>> {
    let text = crate::verify::lines::text(path)?;
    let bad = || Error::refused("private/ does not hold one input line for each released row.");
    text.lines().map(|line| line.parse().map_err(|_| bad())).collect()
}

/// The row of the original for each released row. None comes twice.
fn find(lines: &[u64], all: &[u64], rows: usize) -> Result<Vec<u32>> {
    if lines.len() != rows {
        return Err(Error::refused("private/ does not hold one input line for each released row."));
    }
    // A place for each line of the input: as many as it has rows, so that nothing is hashed.
    let last = all.iter().copied().max().map_or(0, |last| last as usize + 1);
    let mut place = vec![NOWHERE; last];
    all.iter().zip(0..).for_each(|(&line, at)| place[line as usize] = at);
    let at = |line: u64| usize::try_from(line).ok().and_then(|line| place.get(line)).filter(|at| **at != NOWHERE);
    let mut used = vec![false; all.len()];
    lines
        .iter()
        .map(|&line| match at(line) {
            Some(&at) if !std::mem::replace(&mut used[at as usize], true) => Ok(at),
            Some(_) => Err(refused("it contains a row of the original twice")),
            None => Err(refused("it contains a row that was excluded or does not exist")),
        })
        .collect()
}

/// Every cell is the original's at one permitted level of its column, or the original, or a
/// pseudonym that stands for one value of one patient (`owner`). Returns the levels.
fn compare(
    quasi: &[QuasiColumn],
    copied: &[Copied],
    cells: &[ColumnCells],
    rows: &[u32],
    owner: Option<&[u32]>,
) -> Result<Vec<usize>> {
    if cells.len() != quasi.len() + copied.len() {
        return Err(refused("it has other columns"));
    }
    let mut levels = Vec::new();
    for (column, own) in quasi.iter().zip(cells) {
        let fits = |&level: &usize| {
            let (number, label_of) = (numbers(column, level, &own.texts), &column.level(level).label_of);
            let same = |(&n, &row): (&u32, &u32)| number[label_of[column.codes[row as usize] as usize] as usize] == n;
            own.name == column.name && own.rows.iter().zip(rows).all(same)
        };
        match column.levels.iter().copied().find(|level| fits(level)) {
            Some(level) => levels.push(level),
            None => return Err(refused(&format!("`{}` is not the original at one permitted level", column.name))),
        }
    }
    for (column, own) in copied.iter().zip(&cells[quasi.len()..]) {
        let wrong = || refused(&format!("`{}` differs from the original", column.name));
        if own.name != column.name {
            return Err(wrong());
        }
        let mut stands_for: HashMap<u32, (u32, u32)> = HashMap::new();
        let mut stood: HashSet<(u32, u32)> = HashSet::new();
        for (at, (&n, &row)) in own.rows.iter().zip(rows).enumerate() {
            let (text, code) = (own.texts.get(n), column.codes[row as usize]);
            let original = column.dictionary.text(code).as_bytes();
            match column.leaves {
                ReleasedAs::Unchanged if text == original => {}
                ReleasedAs::AsPseudonym if original.is_empty() && text.is_empty() => {}
                ReleasedAs::AsPseudonym if !original.is_empty() && !text.is_empty() => {
                    let whose = (owner.map_or(0, |o| o[at]), code);
                    let first = stood.insert(whose);
                    match stands_for.insert(n, whose) {
                        None if first => {}
                        Some(before) if before == whose => {}
                        _ => return Err(wrong()),
                    }
                }
                _ => return Err(wrong()),
            }
        }
    }
    Ok(levels)
}

/// Known events of the original, matched with what is left of them in the release: one share, or one for every two
/// columns.
fn from_original(
    histories: &Histories,
    (tables, draws): (&super::Tables, &Randomness),
    claim: &EventsClaim,
    (patients, levels): (&[u32], &[usize]),
    threads: usize,
) -> Vec<ShareAtRisk> {
    // The original's labels in the numbers of the release; labels that are gone get numbers beyond.
    let quasi: Vec<&ColumnCells> = tables.events.iter().flat_map(EventCells::quasi).collect();
    let number = |(c, column): (usize, &QuasiColumn)| -> Vec<u32> {
        let texts = &quasi[c].texts;
        let known = numbers(column, levels[c], texts);
        let number = |(at, &n): (usize, &u32)| if n == NOWHERE { (texts.len() + at) as u32 } else { n };
        let known: Vec<u32> = known.iter().enumerate().map(number).collect();
        let label_of = &column.level(levels[c]).label_of;
        column.codes.iter().map(|&code| known[label_of[code as usize] as usize]).collect()
    };
    let columns: Vec<Vec<u32>> = histories.event.iter().enumerate().map(number).collect();
    let bounds = |table: usize| histories.tables[table].bounds().clone();
    let linked =
        |t: usize, some: &[usize]| linked_labels(&columns[histories.columns_of(t)], some, bounds(t), &tables.events[t]);
    let (class_of, k) = (tables.classes(), claim.k.get());
    let share = |all: &[PatientLabels], released: &[PatientLabels], p: usize, rule: PowerRule| {
        let power: Vec<Vec<u8>> = all.iter().map(|c| powers(c, p, rule)).collect();
        let finder = Finder::new(released, &class_of, threads);
        let sets = ALL_SETS;
        let attacker =
            Attacker { finder: &finder, known: all, number: Some(patients), power: &power, k, draws, threads, sets };
        attacker.share(Some(claim.max_high_risk))
    };
    match claim.power {
        Power::Values { p, rule } => {
            let own = histories.event.iter().zip(&columns);
            let all: Vec<_> = own.map(|(c, own)| PatientLabels::new(bounds(c.table), own.clone())).collect();
            vec![share(&all, &tables.event_labels(threads), p, rule)]
        }
        Power::Events { p } | Power::Total { p } => {
            let whole = |t: usize| linked(t, &(0..histories.columns_of(t).len()).collect::<Vec<_>>());
            let (all, released): (Vec<_>, Vec<_>) = (0..histories.tables.len()).map(whole).unzip();
            vec![share(&all, &released, p, PowerRule::Fixed)]
        }
        Power::Pairs { p } => {
            let of_pair = |(t, some): (usize, Vec<usize>)| {
                let (all, released) = linked(t, &some);
                share(&[all], &[released], p, PowerRule::Fixed)
            };
            tables.pairs().into_iter().map(of_pair).collect()
        }
    }
}

/// Some columns of one table, of the original and of the release, numbered together.
fn linked_labels(
    columns: &[Vec<u32>],
    some: &[usize],
    bounds: Bounds,
    own: &EventCells,
) -> (PatientLabels, PatientLabels) {
    let quasi: Vec<&ColumnCells> = own.quasi().collect();
    let mut keys = crate::table::Keys::new(some.len());
    let mut key = Vec::new();
    let mut number = |of: &dyn Fn(usize) -> u32| {
        key.clear();
        key.extend(some.iter().map(|&c| of(c)));
        keys.intern(&key)
    };
    let events = columns[0].len();
    let all: Vec<u32> = (0..events).map(|e| number(&|c| columns[c][e])).collect();
    let released: Vec<u32> = (0..own.events()).map(|e| number(&|c| quasi[c].rows[e])).collect();
    (PatientLabels::new(bounds, all), PatientLabels::new(own.bounds().clone(), released))
}
