//! Applies hierarchies to the values of quasi-identifiers, and refuses values that they cannot handle.

use super::Quasi;
use crate::hierarchy::SUPPRESSED;
use crate::number::number_of;
use crate::policy::{Column, Unmapped};
use crate::table::{Derive, Dictionary, Source};
use crate::{Error, Result};

/// Refuses a column in which a cell is literally `*`.
pub(super) fn refuse_star(source: &Source, column: usize, dictionary: &Dictionary) -> Result<()> {
    if dictionary.code(SUPPRESSED).is_none() {
        return Ok(());
    }
    let (rows, lines) = source.find_lines(column, |cell| cell == SUPPRESSED.as_bytes())?;
    Err(star_in_data(source, column, rows, &lines))
}

/// The error about cells of the data that are literally `*`, which means suppressed in a release.
pub(crate) fn star_in_data(source: &Source, column: usize, rows: u64, lines: &[u64]) -> Error {
    Error::yours(format!(
        "{}, column `{}`: `*` appears in {}. In a release it means suppressed. List it under `missing` in [input], \
         or correct the data.",
        source.name(),
        source.columns()[column],
        on_lines(rows, lines)
    ))
}

fn on_lines(rows: u64, lines: &[u64]) -> String {
    let first: Vec<String> = lines.iter().map(u64::to_string).collect();
    match (rows, lines.len() as u64) {
        (1, _) => format!("1 row (line {})", first.join("")),
        (n, shown) if n == shown => format!("{n} rows (lines {})", first.join(", ")),
        (n, _) => format!("{n} rows (first lines {})", first.join(", ")),
    }
}

/// Applies the hierarchy of a quasi-identifier to its values.
pub(super) fn generalize(
    source: &Source,
    column: usize,
    policy: &Column,
    dictionary: &Dictionary,
    notes: &mut Vec<String>,
) -> Result<Quasi> {
    let texts = dictionary.texts();
    let mut hierarchy = policy.rule.apply(&texts, dictionary.missing_occurs);
    hierarchy.count_texts_behind(&texts, |text| source.cleaned().texts_behind(column, text.as_bytes()));
    if !hierarchy.uncovered.is_empty() {
        let uncovered: Vec<&str> = hierarchy.uncovered.iter().map(|&c| texts[c as usize]).collect();
        let set: std::collections::BTreeSet<&[u8]> = uncovered.iter().map(|t| t.as_bytes()).collect();
        let (rows, lines) = source.find_lines(column, |cell| set.contains(cell))?;
        let values = number_of(uncovered.len(), ["value", "values"]);
        let (are, them) = if uncovered.len() == 1 { ("is", "it") } else { ("are", "them") };
        match policy.unmapped {
            Unmapped::Suppressed => notes.push(format!(
                "column `{}`: the release shows * for {values} in {} that {are} not covered by {}.",
                policy.name,
                on_lines(rows, &lines),
                policy.rule_text
            )),
            Unmapped::Refused => {
                let shown = uncovered.iter().take(20).map(|t| t.to_string()).collect();
                let alike = match policy.rule.nearly_covered(&uncovered) {
                    0 => String::new(),
                    n => format!(" In {n} of them, only spaces or capital letters differ from a line of it."),
                };
                return Err(Error::yours(format!(
                    "{}, column `{}`: {values} in {} {are} not covered by {}.{alike} Correct {them}, extend the hierarchy, list \
                     {them} under `missing` in [input], or set unmapped = \"suppress\" to release them as *. \
                     (--show-values shows them.)",
                    source.name(),
                    policy.name,
                    on_lines(rows, &lines),
                    policy.rule_text
                ))
                .about(shown));
            }
        }
    }
    // A copy of another column is released at the finest of its levels, and this is what it is.
    let own_level = match &policy.derive {
        Some(Derive::Copy(_)) => policy.levels.first().copied().unwrap_or(0),
        _ => 0,
    };
    hierarchy.measure_from(own_level, dictionary.missing_occurs);
    Ok(Quasi {
        own_level,
        name: policy.name.clone(),
        column,
        hierarchy,
        levels: policy.levels.clone(),
        weight: policy.weight.to_f64(),
    })
}
