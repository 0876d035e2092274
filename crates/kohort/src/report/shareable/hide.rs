//! Parts that several shapes share: rows in and out, distributions, rounded numbers.

use super::cells::{LEAST, hide_marked, is_small};
use crate::evidence::metrics::{
    Bin, Cleaning, ColumnChange, CommonMetrics, Distribution, Masked, OtherBins, RowCounts, Shareable, SuppressedBin,
};

/// The mark of a report for others.
const MARK: Option<Shareable> = Some(Shareable { least: LEAST });

/// The parts that all shapes have. Notes may hold counts; steps of the method and times tell of the original.
pub(super) fn common(whole: CommonMetrics, told: bool) -> CommonMetrics {
    let CommonMetrics {
        method,
        shape,
        files,
        kohort,
        test,
        rows: counts,
        columns,
        trace: _,
        timing: _,
        context,
        cleaning: steps,
        notes: _,
        shareable: _,
    } = whole;
    CommonMetrics {
        method,
        shape,
        files,
        kohort,
        test,
        rows: rows(counts, told),
        columns: columns.into_iter().map(column).collect(),
        trace: None,
        timing: None,
        context,
        cleaning: steps.map(cleaning),
        notes: None,
        shareable: MARK,
    }
}

/// Two decimals: exact numbers could be solved for counts.
pub(crate) fn two(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// Returns whether a count is shown and small.
pub(super) fn small(count: Masked<u64>) -> bool {
    count.known().is_some_and(is_small)
}

/// Returns whether any part of the rows read and removed is small.
pub(super) fn any_small(rows: &RowCounts) -> bool {
    let RowCounts { r#in, excluded, suppressed, counterfeit, out: _ } = *rows;
    [r#in, excluded, suppressed, counterfeit].into_iter().any(small)
}

/// Rows read, removed and released: all of it, or only what is released.
fn rows(rows: RowCounts, told: bool) -> RowCounts {
    let RowCounts { r#in, excluded, suppressed, counterfeit, out } = rows;
    let shown = |count: Masked<u64>| if told { count } else { Masked::HIDDEN };
    RowCounts {
        r#in: shown(r#in),
        excluded: shown(excluded),
        suppressed: shown(suppressed),
        counterfeit: shown(counterfeit),
        out,
    }
}

/// A column: all but the number of its codes that belong to no group.
fn column(column: ColumnChange) -> ColumnChange {
    let ColumnChange {
        name,
        table,
        role,
        reason,
        hierarchy,
        weight,
        values,
        level,
        level_name,
        levels,
        recoded,
        labels,
        unmapped: _,
    } = column;
    ColumnChange {
        name,
        table,
        role,
        reason,
        hierarchy,
        weight,
        values,
        level,
        level_name,
        levels,
        recoded,
        labels,
        unmapped: None,
    }
}

/// Returns how the data were cleaned, without counts: few cells are few people.
fn cleaning(steps: Vec<Cleaning>) -> Vec<Cleaning> {
    let step = |own: Cleaning| {
        let Cleaning { table, column, what, cells: _ } = own;
        Cleaning { table, column, what, cells: Masked::HIDDEN }
    };
    steps.into_iter().map(step).collect()
}

/// A distribution: after as the release has it, before only where it tells neither a small count nor a small
/// difference; nothing if it cannot be made safe.
pub(super) fn distribution(whole: Distribution) -> Option<Distribution> {
    let Distribution { column, mut bins, mut others, mut suppressed } = whole;
    let mut all: Vec<(&mut Masked<u64>, u64)> = Vec::new();
    for Bin { label: _, before, after } in &mut bins {
        all.push((before, *after));
    }
    if let Some(OtherBins { labels: _, before, after }) = &mut others {
        all.push((before, *after));
    }
    if let Some(SuppressedBin { before, after }) = &mut suppressed {
        all.push((before, *after));
    }
    let befores: Vec<u64> = all.iter().map(|(before, _)| before.known().unwrap_or(0)).collect();
    // Who sees the release knows what is shown of each bin, and so how many were removed if they know how many there
    // were. A bin that grew, of suppressed cells, hides no difference.
    let gone: Vec<u64> = befores.iter().zip(&all).map(|(before, (_, after))| before.saturating_sub(*after)).collect();
    let marked: Vec<bool> =
        befores.iter().zip(&gone).map(|(before, gone)| is_small(*before) || is_small(*gone)).collect();
    // What is hidden must be safe both as counts and as differences.
    let mut hidden = hide_marked(&gone, &marked)?;
    loop {
        let again = hide_marked(&befores, &hidden)?;
        let more = hide_marked(&gone, &again)?;
        if more == hidden {
            break;
        }
        hidden = more;
    }
    for ((before, _), _) in all.into_iter().zip(hidden).filter(|(_, hidden)| *hidden) {
        *before = Masked::HIDDEN;
    }
    Some(Distribution { column, bins, others, suppressed })
}
