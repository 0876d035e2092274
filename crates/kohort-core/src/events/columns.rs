//! Makes the columns of patients and of events from the cells that were read.

use super::read::CellsRead;
use super::{Copied, QuasiColumn, ReleasedAs};
use crate::hierarchy::SUPPRESSED;
use crate::number::Decimal;
use crate::policy::{self, Role};
use crate::table::{Dictionary, Source};
use crate::{Error, Result};

/// Makes the quasi-identifiers of a table over all its rows, except those in `derived`.
pub(super) fn columns(
    source: &Source,
    columns: &[policy::Column],
    cells: &CellsRead,
    derived: &[usize],
) -> Result<Vec<QuasiColumn>> {
    let quasi = (0..columns.len()).filter(|&c| columns[c].role == Role::Quasi && !derived.contains(&c));
    let make = |c: usize| {
        let Some((texts, numbers)) = cells.columns.get(&c) else {
            return Err(Error::machine("a column was not read."));
        };
        let (dictionary, code_of) = Dictionary::of(texts, |cell| source.is_missing(cell));
        let codes = numbers.iter().map(|&n| code_of[n as usize]).collect();
        let mut own = column(&columns[c], c, dictionary, codes);
        let texts = own.dictionary.texts();
        own.hierarchy.count_texts_behind(&texts, |text| source.cleaned().texts_behind(c, text.as_bytes()));
        Ok(own)
    };
    let mut all = quasi.map(make).collect::<Result<Vec<QuasiColumn>>>()?;
    all.sort_by_key(|own| columns[own.column].place);
    Ok(all)
}

/// One quasi-identifier with its hierarchy.
pub(super) fn column(policy: &policy::Column, position: usize, dictionary: Dictionary, codes: Vec<u32>) -> QuasiColumn {
    let hierarchy = policy.rule.apply(&dictionary.texts(), dictionary.missing_occurs);
    QuasiColumn {
        name: policy.name.clone(),
        column: position,
        dictionary,
        hierarchy,
        levels: policy.levels.clone(),
        table: 0,
        weight: policy.weight.to_f64(),
        codes,
        unmapped: 0,
    }
}

/// Makes the released columns that are not quasi-identifiers, over the rows that are kept.
pub(super) fn copied(
    source: &Source,
    columns: &[policy::Column],
    cells: &CellsRead,
    keep: &[usize],
) -> Result<Vec<Copied>> {
    let mut all = Vec::new();
    for (c, own) in columns.iter().enumerate() {
        let leaves = match own.role {
            Role::Other { .. } => ReleasedAs::Unchanged,
            Role::Pseudonym => ReleasedAs::AsPseudonym,
            _ => continue,
        };
        let Some((texts, numbers)) = cells.columns.get(&c) else { continue };
        if let Some(star) = texts.find(SUPPRESSED.as_bytes()).filter(|_| leaves == ReleasedAs::Unchanged)
            && !source.is_missing(SUPPRESSED.as_bytes())
        {
            let lines: Vec<u64> = keep.iter().filter(|&&r| numbers[r] == star).map(|&r| cells.lines[r]).collect();
            if !lines.is_empty() {
                return Err(crate::cohort::star_in_data(source, c, lines.len() as u64, &lines[..1]));
            }
        }
        let (dictionary, code_of) = Dictionary::of(texts, |cell| source.is_missing(cell));
        let codes = keep.iter().map(|&r| code_of[numbers[r] as usize]).collect();
        all.push(Copied { name: own.name.clone(), column: c, leaves, dictionary, codes });
    }
    all.sort_by_key(|own| columns[own.column].place);
    Ok(all)
}

/// Ranks events in time: by date where the column is one, else by number, else by text.
pub(super) fn order_in_time(
    source: &Source,
    own: &policy::Column,
    cells: &CellsRead,
    column: usize,
    keep: &[usize],
) -> Vec<u32> {
    let Some((texts, numbers)) = cells.columns.get(&column) else { return vec![0; keep.len()] };
    let text = |n: u32| std::str::from_utf8(texts.get(n)).unwrap_or_default();
    let day = |n: u32| own.date_format().and_then(|format| format.day_number(text(n)));
    let number = |n: u32| Decimal::of_cell(text(n), source.input().decimal);
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    // Events without a date come first: later events are removed first, and nothing is known about these.
    let has_date = |n: u32| !source.is_missing(texts.get(n));
    order.sort_by(|&a, &b| {
        let by_day = day(a).cmp(&day(b));
        has_date(a).cmp(&has_date(b)).then(by_day).then(number(a).cmp(&number(b))).then(text(a).cmp(text(b)))
    });
    let mut rank = vec![0u32; texts.len()];
    order.iter().enumerate().for_each(|(place, &n)| rank[n as usize] = place as u32 + 1);
    keep.iter().map(|&e| rank[numbers[e] as usize]).collect()
}
