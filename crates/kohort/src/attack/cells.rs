//! The original value of a cell that was generalized or blanked: guessed from cells that were not
//! (downcoding), and by what a method that blanks no more than it must would not have blanked
//! (minimality).

use super::guess::Learned;
use super::sides::{MISSING, TableSides};
use super::{Attack, Attacked, Mean, Scene};
use kohort_core::Result;
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::random::Randomness;
use kohort_core::table::read_text;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The largest file of lines that is read.
const LARGEST: u64 = 1 << 30;

pub(super) fn attack(
    scene: &Scene,
    sides: &TableSides,
    lines: &Path,
    k: u64,
    random: &mut Randomness,
    attacked: &mut Attacked,
) -> Result<()> {
    let text = read_text(lines, LARGEST)?;
    let row_of: HashMap<u64, usize> = sides.original.lines.iter().zip(0..).map(|(&line, row)| (line, row)).collect();
    // By released row: the row it was; none where it is synthetic.
    let was: Vec<Option<usize>> =
        text.lines().map(|l| l.parse().ok().and_then(|line: u64| row_of.get(&line).copied())).collect();
    if was.len() != sides.release.rows() {
        return Ok(());
    }
    let all: Vec<usize> = (0..sides.quasi).collect();
    let mut right = Mean::default();
    let mut usual = Mean::default();
    let (mut claimed, mut undone, mut blanks) = (0u64, 0u64, Mean::default());
    let by_cell = scene.certificate.method == "suppress";
    let (keys, classes) = sides.release.classes(&all);
    for column in 0..sides.quasi {
        let (values, labels) = (&sides.original.texts[column], &sides.release.texts[column]);
        // A label that is a value of the original shows it.
        let shows: Vec<Option<u32>> =
            (0..labels.len() as u32).map(|l| values.find(labels.get(l)).filter(|_| l != MISSING)).collect();
        let others: Vec<usize> = all.iter().copied().filter(|c| *c != column).collect();
        let widths: Vec<usize> = others.iter().map(|&c| sides.release.texts[c].len()).collect();
        let mut learned = Learned::new(values.len(), &widths);
        for row in 0..sides.release.rows() {
            if let Some(value) = shows[sides.release.cells[column][row] as usize] {
                learned.learn(value, &sides.release.row(row, &others));
            }
        }
        let changed: Vec<usize> = (0..was.len())
            .filter(|&row| shows[sides.release.cells[column][row] as usize].is_none())
            .filter(|&row| was[row].is_some_and(|w| sides.original.cells[column][w] != MISSING))
            .collect();
        let star = labels.find(SUPPRESSED.as_bytes());
        // Rows with this cell shown, by all others: how often each value stands there.
        let mut beside: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
        if by_cell {
            for (class, rows) in classes.iter().enumerate() {
                let mut key = keys.get(class as u32).to_vec();
                if let Some(value) = shows[key[column] as usize] {
                    key[column] = MISSING;
                    *beside.entry(key).or_default().entry(value).or_default() += rows.len() as u64;
                }
            }
        }
        let possible = learned.prior.iter().filter(|n| **n > 0.0).count();
        for i in random.sample(changed.len(), scene.trial.targets as usize) {
            let row = changed[i];
            let Some(truth) = was[row].map(|w| sides.original.cells[column][w]) else { continue };
            let label = sides.release.cells[column][row];
            let may = |value: usize| sides.labels[column][value][label as usize];
            let seen: Vec<Vec<bool>> = others
                .iter()
                .zip(&widths)
                .map(|(&c, &n)| (0..n as u32).map(|l| l == sides.release.cells[c][row]).collect())
                .collect();
            let seen: Vec<&[bool]> = seen.iter().map(Vec::as_slice).collect();
            let hit = |guess: Option<usize>| f64::from(u8::from(guess == Some(truth as usize)));
            right.add(hit(learned.likeliest(&seen, may)));
            usual.add(hit(learned.likeliest(&[], may)));
            if by_cell && star == Some(label) && possible > 0 {
                blanks.add(1.0 / possible as f64);
                let mut key = sides.release.row(row, &all);
                key[column] = MISSING;
                // Beside a value that k rows show with all else the same, nothing had to go blank.
                let shown = beside.get(&key);
                let mut left = (0..values.len())
                    .filter(|&v| learned.prior[v] > 0.0)
                    .filter(|&v| shown.and_then(|s| s.get(&(v as u32))).is_none_or(|n| *n < k));
                if let (Some(only), None) = (left.next(), left.next()) {
                    claimed += 1;
                    undone += u64::from(only == truth as usize);
                }
            }
        }
    }
    if right.of > 0 {
        attacked.attacks.push(Attack {
            name: "downcoding",
            about: "cells released under another label, guessed from unchanged cells".into(),
            measure: "values guessed correctly",
            targets: right.of,
            before: Some(1.0),
            after: right.get(),
            baseline: usual.get(),
        });
    }
    if blanks.of > 0 {
        attacked.attacks.push(Attack {
            name: "minimality",
            about: format!("blank cells that only one value can explain ({claimed} of them)"),
            measure: "blanks filled in correctly",
            targets: blanks.of,
            before: Some(1.0),
            after: Some(undone as f64 / blanks.of as f64),
            baseline: blanks.get(),
        });
    }
    Ok(())
}
