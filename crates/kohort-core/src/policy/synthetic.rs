//! The source of synthetic records, for methods that add them.

use super::bind::{LARGEST_POLICY, NamedText};
use super::column::{Column, Role};
use super::files::PolicyFiles;
use super::section::{Section, Value};
use crate::Result;

/// The rules of a policy about synthetic records that must be known before the data is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticRules {
    /// True if a catalog of them is released. If so, the sensitive column is counted with the others.
    pub catalog: bool,
    /// Distributions of sensitive values from outside: the column, and the file.
    pub references: Vec<(usize, NamedText)>,
}

impl SyntheticRules {
    /// Reads `catalog` and `reference` under `[method]`.
    pub(super) fn read(method: &Section, columns: &[Column], files: &PolicyFiles) -> Result<SyntheticRules> {
        let catalog = method.word("catalog", &[("none", false), ("grouped", true)])?.unwrap_or(false);
        let sensitive: Vec<usize> =
            (0..columns.len()).filter(|&c| matches!(columns[c].role, Role::Sensitive { .. })).collect();
        let open = |name: &str| -> Result<NamedText> {
            Ok(NamedText { name: name.into(), text: files.read(name, LARGEST_POLICY)? })
        };
        let references =
            match (method.get("reference").map(|item| &item.value), &sensitive[..]) {
                (None, _) => Vec::new(),
                (Some(Value::Text(name)), [one]) => vec![(*one, open(name)?)],
                (Some(Value::Text(_)), _) => {
                    return Err(method.wrong(
                        "reference",
                        format!(
                            "names one file, but there are {} sensitive columns. Set reference = {{ column = \
                         \"file.csv\" }}.",
                            sensitive.len()
                        ),
                    ));
                }
                (Some(Value::Section(section)), _) => {
                    let mut references = Vec::new();
                    for (name, _) in &section.entries {
                        let Some(&column) = sensitive.iter().find(|&&c| columns[c].name == *name) else {
                            return Err(method
                                .wrong("reference", format!("`{name}` is not a column with role = \"sensitive\".")));
                        };
                        references.push((column, open(section.text(name)?.unwrap_or_default())?));
                    }
                    references
                }
                (Some(_), _) => {
                    return Err(method
                        .wrong("reference", "must be a file with lines value;share, or { column = \"file.csv\" }."));
                }
            };
        Ok(SyntheticRules { catalog, references })
    }
}
