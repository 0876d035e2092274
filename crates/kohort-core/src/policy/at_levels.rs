//! The same policy with every quasi-identifier at one level: what an earlier release decided.

use super::bind::PolicyFile;
use super::section::{Item, Section, Value};
use crate::{Error, Result};
use std::collections::BTreeMap;

impl PolicyFile {
    /// The policy with each quasi-identifier at the level that `levels` gives it, and with another `[method]`.
    /// Refuses levels that are not those of exactly its quasi-identifiers.
    pub fn at_levels(&self, levels: &BTreeMap<String, usize>, method: &Section) -> Result<PolicyFile> {
        let mut root = self.root().clone();
        let mut fixed = 0;
        for (key, item) in &mut root.entries {
            match (key.as_str(), &mut item.value) {
                ("columns", Value::Section(columns)) => fixed = fix(columns, levels)?,
                ("method", _) => item.value = Value::Section(method.clone()),
                _ => {}
            }
        }
        if root.get("method").is_none() {
            let method = Value::Section(method.clone());
            root.entries.push(("method".into(), Item { value: method, line: 0 }));
        }
        match fixed == levels.len() {
            true => self.with_root(root),
            false => Err(Error::policy(
                "the earlier release has quasi-identifiers that are not quasi-identifiers of the policy. Use the policy \
                 that it was made by, with the new table.",
            )),
        }
    }
}

/// Sets the level of each quasi-identifier, and returns how many there are.
fn fix(columns: &mut Section, levels: &BTreeMap<String, usize>) -> Result<usize> {
    let mut fixed = 0;
    for (name, item) in &mut columns.entries {
        let Value::Section(column) = &mut item.value else { continue };
        if column.text("role")? != Some("quasi") {
            continue;
        }
        let Some(level) = levels.get(name) else {
            return Err(Error::policy(format!(
                "`{name}` is a quasi-identifier of the policy and not of the earlier release, so its level is not known."
            )));
        };
        let level = Item { value: Value::Number(level.to_string()), line: item.line };
        column.entries.retain(|(key, _)| key != "levels");
        column.entries.push(("levels".into(), Item { value: Value::List(vec![level]), line: item.line }));
        fixed += 1;
    }
    Ok(fixed)
}
