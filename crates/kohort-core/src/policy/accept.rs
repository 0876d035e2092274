//! `[[accept]]`: findings about columns outside every requirement that the custodian accepts, with a reason.

use super::column::Column;
use super::section::{Section, Value, nearest};
use crate::Result;

/// A danger of a column that is released outside every requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    /// Most rows have a value that no other row has.
    NearlyUnique,
    /// Its numbers follow each other, like those of a row key.
    Consecutive,
    /// It holds points in time, and most rows have one of their own.
    Timestamp,
    /// A quasi-identifier that the release generalizes can be inferred from it.
    Reveals,
}

impl Danger {
    /// The dangers with their names in policies.
    pub const NAMES: [(&'static str, Danger); 4] = [
        ("nearly-unique", Danger::NearlyUnique),
        ("consecutive", Danger::Consecutive),
        ("timestamp", Danger::Timestamp),
        ("reveals", Danger::Reveals),
    ];

    /// Its name in policies.
    pub fn name(self) -> &'static str {
        match self {
            Danger::NearlyUnique => "nearly-unique",
            Danger::Consecutive => "consecutive",
            Danger::Timestamp => "timestamp",
            Danger::Reveals => "reveals",
        }
    }
}

/// A finding that the custodian accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The danger.
    pub finding: Danger,
    /// The columns it is about; for [`Danger::Reveals`] the column that reveals, then the one that is revealed.
    pub columns: Vec<String>,
    /// Why it is acceptable.
    pub reason: String,
}

impl Danger {
    /// States in a certificate that columns are released in spite of it. The custodian's reason is not part of the
    /// sentence: a certificate has no free text.
    pub fn accepted(self, columns: &[String]) -> String {
        format!("`{}` {}", columns.join("` and `"), self.accepted_end())
    }

    /// The end of that sentence, after the names of the columns.
    pub(crate) fn accepted_end(self) -> &'static str {
        match self {
            Danger::NearlyUnique => "is released although it is nearly unique. The custodian accepts it.",
            Danger::Consecutive => "is released although its numbers are consecutive. The custodian accepts it.",
            Danger::Timestamp => "is released although it holds points in time. The custodian accepts it.",
            Danger::Reveals => {
                "are released although the second can be inferred from the first. The custodian accepts it."
            }
        }
    }
}

/// Reads the acceptances about columns of `tables`. Of several tables, each has a name, and an acceptance names a column
/// as `table.column`; the column alone is enough where no other table has it.
pub(super) fn read(root: &Section, tables: &[(Option<&str>, &[Column])]) -> Result<Vec<Acceptance>> {
    let shown = |table: &Option<&str>, column: &Column| match table {
        Some(table) => format!("{table}.{}", column.name),
        None => column.name.clone(),
    };
    let all_columns = || tables.iter().flat_map(|(table, own)| own.iter().map(move |column| (table, column)));
    let mut all = Vec::new();
    for item in root.list("accept")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("accept", "must be [[accept]] sections with finding, columns and reason."));
        };
        section.only(&["finding", "columns", "reason"])?;
        let Some(finding) = section.word("finding", &Danger::NAMES)? else {
            let names: Vec<&str> = Danger::NAMES.iter().map(|(name, _)| *name).collect();
            return Err(section.error(
                section.line,
                format!("[[accept]] does not name a `finding`. Use one of: {}.", names.join(", ")),
            ));
        };
        let named = section.texts("columns")?.unwrap_or_default();
        let needed = if finding == Danger::Reveals { 2 } else { 1 };
        if named.len() != needed {
            let what = if needed == 1 {
                "must name the one column that the finding is about."
            } else {
                "must name two columns: the one that reveals, and the one that is revealed."
            };
            return Err(section.wrong("columns", what));
        }
        let mut columns = Vec::new();
        for name in &named {
            let whole = all_columns().map(|(table, column)| shown(table, column)).find(|shown| shown == name);
            let short: Vec<String> =
                all_columns().filter(|(_, c)| c.name == *name).map(|(table, c)| shown(table, c)).collect();
            columns.push(match (whole, &short[..]) {
                (Some(shown), _) => shown,
                (None, [one]) => one.clone(),
                (None, []) => {
                    let hint = nearest(name, all_columns().map(|(_, c)| c.name.as_str()));
                    let hint = hint.map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
                    return Err(section.wrong("columns", format!("there is no column `{name}`.{hint}")));
                }
                (None, several) => {
                    let all = several.join("`, `");
                    return Err(
                        section.wrong("columns", format!("several tables have `{name}`. Choose one of `{all}`."))
                    );
                }
            });
        }
        let reason = section.text("reason")?.map(str::trim).filter(|reason| !reason.is_empty());
        let Some(reason) = reason else {
            return Err(section.wrong("reason", "is required. Explain why the release is safe all the same."));
        };
        all.push(Acceptance { finding, columns, reason: reason.to_string() });
    }
    Ok(all)
}
