//! How the values of each quasi-identifier are distributed, before and after, and how many cells are blank.
//!
//! Both are counted in the labels that leave, or in coarser ones where these are more than a picture can show.

use super::metrics::{Bin, Distribution, Missingness, OtherBins, SuppressedBin};
use kohort_core::cohort::Cohort;
use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::hierarchy::{Hierarchy, MISSING, SUPPRESSED};
use kohort_core::policy::Policy;
use kohort_core::release::{EventsPlan, Plan};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// Maximum number of bars. More cannot be compared by eye.
const MOST_BINS: usize = 24;

/// A quasi-identifier: what each of its values may show, and how many rows had and show it.
struct QuasiDistribution {
    /// For each value code: the label it is released as, if any row shows it.
    label_of: Vec<Option<String>>,
    /// One entry per value code: rows of the original, and rows that show its label.
    rows: Vec<(u64, u64)>,
    /// Rows that show `*` instead.
    blank: u64,
    /// Synthetic records, by the label they show.
    synthetic: BTreeMap<String, u64>,
}

/// The distribution of each quasi-identifier of a table.
pub(super) fn of_table(cohort: &Cohort, plan: &Plan) -> Vec<Distribution> {
    let columns = cohort.quasi.iter().enumerate().filter_map(|(q, quasi)| {
        let values = cohort.tuples.dictionaries[q].len();
        let mut counted = QuasiDistribution {
            label_of: vec![None; values],
            rows: vec![(0, 0); values],
            blank: 0,
            synthetic: BTreeMap::new(),
        };
        let labels = &plan.changed[q].labels;
        if let Some(levels) = &plan.levels {
            let level = &quasi.hierarchy.levels[levels[q]];
            let text = |label: &u32| Some(level.labels[*label as usize].text.clone()).filter(|t| t != SUPPRESSED);
            counted.label_of = level.label_of.iter().map(text).collect();
        }
        for tuple in 0..cohort.tuples.len() {
            let code = cohort.tuples.code(tuple, q) as usize;
            counted.rows[code].0 += cohort.tuples.weights[tuple];
            for (cells, rows) in plan.rows(cohort, tuple) {
                let label = &labels[plan.row(cells)[q] as usize].text;
                if label == SUPPRESSED {
                    counted.blank += rows;
                } else {
                    counted.rows[code].1 += rows;
                    counted.label_of[code].get_or_insert_with(|| label.clone());
                }
            }
        }
        for added in &plan.added {
            let label = &labels[plan.row(added.cells)[q] as usize].text;
            *counted.synthetic.entry(label.clone()).or_default() += 1;
        }
        column(&quasi.name, &quasi.hierarchy, counted)
    });
    columns.collect()
}

/// The quasi-identifiers of patients and of events: each with its name in the report, its level, and which patients
/// or events are released.
fn columns_of_events<'a>(
    histories: &'a Histories,
    plan: &'a EventsPlan,
) -> impl Iterator<Item = (String, &'a QuasiColumn, usize, &'a Vec<bool>)> {
    let patients = histories.patient.iter().zip(&plan.patient_levels);
    let patients = patients.map(|(c, &level)| (c.name.clone(), c, level, &plan.patients));
    let events = histories.event.iter().zip(&plan.event_levels);
    patients.chain(events.map(|(c, &level)| (histories.shown(c), c, level, &plan.events[c.table])))
}

/// The distribution of each quasi-identifier of patients and of events.
pub(super) fn of_events(histories: &Histories, plan: &EventsPlan) -> Vec<Distribution> {
    let columns = columns_of_events(histories, plan).filter_map(|(name, own, level, kept)| {
        let labels = own.level(level);
        let text = |code: usize| labels.labels[labels.label_of[code] as usize].text.clone();
        let values = own.dictionary.len();
        let label_of = (0..values).map(|code| Some(text(code)).filter(|t| t != SUPPRESSED)).collect();
        let mut counted =
            QuasiDistribution { label_of, rows: vec![(0, 0); values], blank: 0, synthetic: BTreeMap::new() };
        for (&code, &kept) in own.codes.iter().zip(kept) {
            let rows = &mut counted.rows[code as usize];
            rows.0 += 1;
            match counted.label_of[code as usize] {
                Some(_) => rows.1 += u64::from(kept),
                None => counted.blank += u64::from(kept),
            }
        }
        column(&name, &own.hierarchy, counted)
    });
    columns.collect()
}

/// The share of cells that were missing, are missing, and are suppressed, in each column that may change.
pub(super) fn missingness(cohort: &Cohort, plan: &Plan, policy: &Policy) -> Vec<Missingness> {
    let released = plan.rows_by_cells(cohort);
    let added = plan.added.iter().map(|added| (added.cells, 1));
    let shown: Vec<(u32, u64)> = (0u32..).zip(released.iter().copied()).chain(added).collect();
    let columns = plan.changed.iter().enumerate().map(|(c, changed)| {
        let count = |text: &str| {
            let is = |cells: u32| changed.labels[plan.row(cells)[c] as usize].text == text;
            shown.iter().filter(|(cells, rows)| *rows > 0 && is(*cells)).map(|(_, rows)| rows).sum()
        };
        let before = cohort.tuples.frequencies(changed.position)[MISSING as usize];
        let out = shown.iter().map(|(_, rows)| rows).sum();
        shares(&policy.columns[changed.column].name, (before, cohort.tuples.rows), (count(""), count(SUPPRESSED), out))
    });
    columns.collect()
}

/// The same for patients and events.
pub(super) fn missingness_of_events(histories: &Histories, plan: &EventsPlan) -> Vec<Missingness> {
    let columns = columns_of_events(histories, plan).map(|(name, own, level, kept)| {
        let before = own.codes.iter().filter(|code| **code == MISSING).count() as u64;
        let (mut missing, mut suppressed, mut out) = (0, 0, 0);
        for at in (0..kept.len()).filter(|&at| kept[at]) {
            out += 1;
            match own.text(level, at) {
                "" => missing += 1,
                SUPPRESSED => suppressed += 1,
                _ => {}
            }
        }
        shares(&name, (before, own.codes.len() as u64), (missing, suppressed, out))
    });
    columns.collect()
}

fn shares(column: &str, (before, rows): (u64, u64), (missing, suppressed, out): (u64, u64, u64)) -> Missingness {
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    Missingness {
        column: column.to_string(),
        missing_before: share(before, rows),
        missing_after: share(missing, out),
        suppressed: share(suppressed, out),
    }
}

/// One column; nothing if all of it is `*`.
fn column(name: &str, hierarchy: &Hierarchy, counted: QuasiDistribution) -> Option<Distribution> {
    let labels = labels(hierarchy, &counted);
    let mut bins: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut never = (0, counted.blank);
    for (code, (before, after)) in counted.rows.iter().enumerate() {
        let bin = match &labels[code] {
            Some(label) => bins.entry(label.clone()).or_default(),
            None => &mut never,
        };
        *bin = (bin.0 + before, bin.1 + after);
    }
    for (label, rows) in &counted.synthetic {
        let shown = (0..labels.len()).find(|&code| counted.label_of[code].as_ref() == Some(label));
        match shown.and_then(|code| labels[code].clone()) {
            Some(label) => bins.entry(label).or_default().1 += rows,
            None => never.1 += rows,
        }
    }
    // What no row shows is not named, even in the house.
    bins.retain(|label, bin| {
        let named = bin.1 > 0 || label.is_empty();
        never.0 += if named { 0 } else { bin.0 };
        named && *bin != (0, 0)
    });
    if bins.is_empty() || (bins.len() == 1 && never == (0, 0)) {
        return None;
    }
    let mut bins: Vec<(String, (u64, u64))> = bins.into_iter().collect();
    let mut others = (0, (0, 0));
    if bins.len() > MOST_BINS {
        bins.sort_by_key(|(_, (before, after))| Reverse((*before, *after)));
        let rest = bins.split_off(MOST_BINS - 1);
        others = rest.iter().fold((0, (0, 0)), |(n, (b, a)), (_, bin)| (n + 1, (b + bin.0, a + bin.1)));
    }
    bins.sort_by(|a, b| compare_labels(&a.0, &b.0));
    let bin = |(label, (before, after)): (String, (u64, u64))| Bin { label, before: before.into(), after };
    Some(Distribution {
        column: name.to_string(),
        bins: bins.into_iter().map(bin).collect(),
        others: (others.0 > 0).then(|| OtherBins { labels: others.0, before: others.1.0.into(), after: others.1.1 }),
        suppressed: (never != (0, 0)).then(|| SuppressedBin { before: never.0.into(), after: never.1 }),
    })
}

/// The label that each value code is counted under: the released one, or one of the finest level that
/// does not claim more detail than was released and has few enough labels.
fn labels(hierarchy: &Hierarchy, counted: &QuasiDistribution) -> Vec<Option<String>> {
    let released = &counted.label_of;
    let distinct: std::collections::BTreeSet<&String> = released.iter().flatten().collect();
    if distinct.len() <= MOST_BINS {
        return released.clone();
    }
    for level in &hierarchy.levels {
        if !(2..=MOST_BINS).contains(&level.labels.len()) {
            continue;
        }
        let mut coarser: BTreeMap<&String, u32> = BTreeMap::new();
        let fits = (0..released.len()).all(|code| match &released[code] {
            Some(own) => *coarser.entry(own).or_insert(level.label_of[code]) == level.label_of[code],
            None => true,
        });
        if fits {
            let text = |code: usize| level.labels[level.label_of[code] as usize].text.clone();
            return (0..released.len()).map(|code| released[code].as_ref().map(|_| text(code))).collect();
        }
    }
    released.clone()
}

/// Compares two labels as people count.
pub(super) fn compare_labels(a: &str, b: &str) -> Ordering {
    order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal)
}

/// Numbers by size, then text; below a range first, from its end on last, missing after all.
fn order(label: &str) -> (u8, f64, &str) {
    let digits = label.trim_start_matches(['[', '<', '>', '=']);
    let end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(digits.len());
    let number = digits[..end].parse::<f64>().ok();
    match (label, number) {
        ("", _) => (4, 0.0, label),
        (_, Some(n)) if label.starts_with('<') => (0, n, label),
        (_, Some(n)) if label.starts_with(">=") => (2, n, label),
        (_, Some(n)) => (1, n, label),
        (_, None) => (3, 0.0, label),
    }
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn labels_stand_as_people_count() {
        let sorted = ["<0", "[0,5)", "[5,10)", "[10,15)", "30", "100", ">=100", "2024-Q1", "F", "M", ""];
        let mut labels = sorted.to_vec();
        labels.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap());
        let place = |l: &str| labels.iter().position(|x| *x == l).unwrap();
        assert!(place("[5,10)") < place("[10,15)") && place("<0") == 0 && place("30") < place("100"));
        assert_eq!(labels.last(), Some(&""));
        assert!(place(">=100") > place("100") && place("F") < place("M"));
    }
}
