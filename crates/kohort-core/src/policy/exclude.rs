//! `[[exclude]]`: rows that must not come in.

use super::column::{Column, Role};
use super::section::{Section, Value, nearest};
use crate::Result;
use crate::table::{ExcludeRule, ExcludedCodes, Scope};

/// Reads the rules over the table's columns.
pub(super) fn read(root: &Section, columns: &[Column]) -> Result<Vec<ExcludeRule>> {
    let patients = columns.iter().any(|c| c.role == Role::Patient);
    let mut rules = Vec::new();
    for item in root.list("exclude")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("exclude", "must be [[exclude]] sections with column, codes and scope."));
        };
        section.only(&["column", "codes", "scope"])?;
        let Some(name) = section.text("column")? else {
            return Err(section.error(section.line, "[[exclude]] does not name a `column`."));
        };
        let column = find(section, "column", name, columns)?;
        let codes = section.texts("codes")?.unwrap_or_default();
        let codes = ExcludedCodes::read(codes.iter().map(String::as_str));
        let Some(codes) = codes.ok().filter(|codes| !codes.is_empty()) else {
            return Err(section.wrong("codes", "must be a list of codes and ranges: [\"042-044\", \"V08\"]."));
        };
        let scope = match section.word("scope", &[("row", Scope::Row), ("patient", Scope::Patient)])? {
            Some(Scope::Patient) if !patients => {
                return Err(section.wrong("scope", "\"patient\" needs a column with role = \"patient\"."));
            }
            Some(scope) => scope,
            None if !patients => Scope::Row,
            None => {
                return Err(section.error(
                    section.line,
                    "[[exclude]] does not set `scope`: \"patient\" excludes all rows of a patient who has such a \
                     code, \"row\" only that row.",
                ));
            }
        };
        rules.push(ExcludeRule { column, codes, scope });
    }
    Ok(rules)
}

/// Finds the column that a key names.
pub(super) fn find(section: &Section, key: &str, name: &str, columns: &[Column]) -> Result<usize> {
    columns.iter().position(|c| c.name == name).ok_or_else(|| {
        let hint = nearest(name, columns.iter().map(|c| c.name.as_str()));
        let hint = hint.map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
        section.wrong(key, format!("there is no column `{name}`.{hint}"))
    })
}
