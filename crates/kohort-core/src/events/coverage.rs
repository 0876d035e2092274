//! Checks that the hierarchies cover the values of the rows that are kept.

use super::QuasiColumn;
use crate::hierarchy::{MISSING, Rule};
use crate::number::number_of;
use crate::policy::{self, Unmapped};
use crate::table::Source;
use crate::{Error, Result};

/// Refuses values that no hierarchy covers, or notes that they are released as `*`. Counts codes
/// without a group.
pub(super) fn check_coverage<'a>(
    source: &Source,
    policies: &[policy::Column],
    columns: impl IntoIterator<Item = &'a mut QuasiColumn>,
    lines: &[u64],
    notes: &mut Vec<String>,
) -> Result<()> {
    for column in columns {
        let own = &policies[column.column];
        let mut is_uncovered = vec![false; column.dictionary.len()];
        column.hierarchy.uncovered.iter().for_each(|&c| is_uncovered[c as usize] = true);
        let at: Vec<usize> = (0..column.codes.len()).filter(|&i| is_uncovered[column.codes[i] as usize]).collect();
        if let Some(first) = at.iter().map(|&i| lines[i]).min() {
            let mut values: Vec<String> =
                at.iter().map(|&i| column.dictionary.text(column.codes[i]).to_string()).collect();
            values.sort();
            values.dedup();
            let are = if values.len() == 1 { "is" } else { "are" };
            let what = format!(
                "{} in {}, the first on line {first},",
                number_of(values.len(), ["value", "values"]),
                number_of(at.len(), ["row", "rows"])
            );
            if own.unmapped == Unmapped::Suppressed {
                notes.push(format!(
                    "column `{}`: the release shows * for {what} that {are} not covered by {}.",
                    own.name, own.rule_text
                ));
            } else {
                let advice = match own.rule {
                    Rule::Stay => "A stay is a whole number of days, never negative.",
                    Rule::Groups(..) => {
                        "Assign them to a group with unmapped = \"a group\", or set unmapped = \
                         \"suppress\"."
                    }
                    _ => {
                        "Correct them, extend the hierarchy, list them under `missing` in [input], or set unmapped \
                         = \"suppress\"."
                    }
                };
                values.truncate(20);
                return Err(Error::yours(format!(
                    "{}, column `{}`: {what} {are} not covered by {}. {advice} (--show-values shows them.)",
                    source.name(),
                    own.name,
                    own.rule_text
                ))
                .about(values));
            }
        }
        if let Rule::Groups(grouping, Some(group)) = &own.rule {
            let no_group = |code: u32| code != MISSING && grouping.path(column.dictionary.text(code)).is_none();
            let without: Vec<bool> = (0..column.dictionary.len() as u32).map(no_group).collect();
            column.unmapped = column.codes.iter().filter(|&&c| without[c as usize]).count() as u64;
            if column.unmapped > 0 {
                notes.push(format!(
                    "column `{}`: {} codes have no group and are assigned to {group}.",
                    own.name, column.unmapped
                ));
            }
        }
    }
    Ok(())
}
