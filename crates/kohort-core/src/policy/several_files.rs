//! `[[file]]`: several files from one population, each with its own columns, known sets and people.
//!
//! # Example
//! A geographic file and a clinical file of a discharge table, as in El Emam et al. (2011): the first has the region
//! and coarse diagnoses, the second no region and fine diagnoses. Nobody is in both.
//!
//! Each section makes a policy of its own: columns that it does not name are dropped, and so are their names in
//! `knows`, `of`, `weights` and the like. The parts of a section that it does not set are those of the whole policy.

use super::bind::PolicyFile;
use super::population::NOT_RELEASED;
use super::section::{Item, Section, Value};
use crate::number::Fraction;
use crate::{Error, Result};

/// When the people of a file are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    /// Before the method runs: the guarantee is counted in the file itself.
    Before,
    /// After the whole table was changed, as in the paper: the guarantee is about the whole table.
    After,
}

/// One of several files from one population.
#[derive(Debug, Clone)]
pub struct OneFile {
    /// Its name, and that of its folder.
    pub name: String,
    /// The share of the population's people that it holds.
    pub share: Fraction,
    /// When they are drawn.
    pub sampled: Sampled,
    /// The policy of this file alone.
    pub policy: PolicyFile,
}

/// Reads the sections of a policy; empty if it makes one file.
pub(super) fn read(whole: &PolicyFile, root: &Section) -> Result<Vec<OneFile>> {
    let mut files: Vec<OneFile> = Vec::new();
    for item in root.list("file")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("file", "must be [[file]] sections with name, columns and share."));
        };
        let file = read_one(whole, root, section)?;
        if files.iter().any(|other| other.name == file.name) {
            return Err(section.wrong("name", format!("`{}` is the name of two files.", file.name)));
        }
        files.push(file);
    }
    let sum = files.iter().fold(0.0, |sum, file| sum + file.share.to_f64());
    if sum > 1.0 + 1e-9 {
        return Err(root.wrong(
            "file",
            format!("the shares add up to {sum}. Nobody is in two files, so the shares may add up to at most 1."),
        ));
    }
    Ok(files)
}

fn read_one(whole: &PolicyFile, root: &Section, section: &Section) -> Result<OneFile> {
    section.only(&["name", "columns", "knows", "share", "sampled", "method"])?;
    let Some(name) = section.text("name")? else {
        return Err(section.error(section.line, "[[file]] does not set `name`, the folder that this file is released into. Add one, for example name = \"clinical\"."));
    };
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if name.is_empty()
        || !name.bytes().all(is_plain)
        || ["release", "evidence", "private", "population"].contains(&name)
    {
        return Err(section.wrong("name", "names a folder: use letters, digits, - and _."));
    }
    let share = match section.share("share")? {
        Some(share) if !share.is_zero() => share,
        _ => {
            return Err(
                section.error(section.line, "[[file]] needs a `share` of the population above 0: 0.1 is a tenth.")
            );
        }
    };
    let sampled = section.word("sampled", &[("before", Sampled::Before), ("after", Sampled::After)])?;
    let sampled = sampled.unwrap_or(Sampled::Before);
    let Some(columns) = section.texts("columns")?.filter(|columns| !columns.is_empty()) else {
        return Err(section.error(section.line, "[[file]] does not list its `columns`."));
    };
    let own = root_of(root, section, &columns, sampled, share)?;
    Ok(OneFile { name: name.into(), share, sampled, policy: whole.with_root(own)? })
}

/// The policy of one file: what it does not release is dropped everywhere.
fn root_of(
    root: &Section,
    section: &Section,
    columns: &[String],
    sampled: Sampled,
    share: Fraction,
) -> Result<Section> {
    let is_kept = |name: &str| columns.iter().any(|c| c == name);
    let all = root.section("columns")?.ok_or_else(|| Error::yours("there is no [columns] section."))?;
    if let Some(unknown) = columns.iter().find(|name| all.get(name).is_none()) {
        return Err(section.wrong("columns", format!("`{unknown}` is not a column in [columns].")));
    }
    let dropped: Vec<String> = all.entries.iter().map(|(name, _)| name.clone()).filter(|name| !is_kept(name)).collect();
    let mut own = root.clone();
    own.entries.retain(|(key, _)| key != "file");
    for (key, item) in &mut own.entries {
        match (key.as_str(), &mut item.value) {
            ("columns", Value::Section(all)) => drop_columns(all, &is_kept),
            ("privacy", Value::Section(privacy)) => {
                if let Some(knows) = section.get("knows") {
                    privacy.entries.retain(|(key, _)| key != "knows");
                    privacy.entries.push(("knows".into(), knows.clone()));
                }
                for (key, item) in &mut privacy.entries {
                    match (key.as_str(), &mut item.value) {
                        ("knows", knows) => keep_names(knows, &is_kept),
                        ("not_together", Value::List(pairs)) => pairs.retain(|pair| names_only(&pair.value, &is_kept)),
                        _ => {}
                    }
                }
                let is_empty = |item: &Item| matches!(&item.value, Value::List(pairs) if pairs.is_empty());
                privacy.entries.retain(|(key, item)| key != "not_together" || !is_empty(item));
            }
            ("population", Value::Section(registry)) => keep_in_registry(registry, &dropped, &is_kept),
            ("population", Value::List(registries)) => {
                for item in registries {
                    if let Value::Section(registry) = &mut item.value {
                        keep_in_registry(registry, &dropped, &is_kept);
                    }
                }
            }
            ("method", Value::Section(method)) => {
                let changed = section.section("method")?;
                for (key, item) in changed.iter().flat_map(|changed| &changed.entries) {
                    method.entries.retain(|(own, _)| own != key);
                    method.entries.push((key.clone(), item.clone()));
                }
                for (_, item) in method.entries.iter_mut().filter(|(key, _)| key == "weights" || key == "max_blank") {
                    if let Value::Section(by_column) = &mut item.value {
                        by_column.entries.retain(|(name, _)| is_kept(name));
                    }
                }
                method.entries.retain(|(key, _)| key != "samples");
                if sampled == Sampled::After {
                    let line = section.line;
                    let share = Item { value: Value::Number(share.to_string()), line };
                    method.entries.push(("samples".into(), Item { value: Value::List(vec![share]), line }));
                }
            }
            _ => {}
        }
    }
    Ok(own)
}

/// Takes columns that are not released out of a registry's description, and lists them for its file: an attacker has
/// nothing to compare them with.
fn keep_in_registry(registry: &mut Section, dropped: &[String], is_kept: &dyn Fn(&str) -> bool) {
    let line = registry.line;
    let item = |name: &String| Item { value: Value::Text(name.clone()), line };
    let dropped = Item { value: Value::List(dropped.iter().map(item).collect()), line };
    registry.entries.push((NOT_RELEASED.into(), dropped));
    registry
        .entries
        .retain(|(key, item)| !matches!((key.as_str(), &item.value), ("region", Value::Text(name)) if !is_kept(name)));
    if let Some((_, item)) = registry.entries.iter_mut().find(|(key, _)| key == "columns") {
        keep_names(&mut item.value, is_kept);
    }
}

/// Returns whether a list holds only names of columns that are released.
fn names_only(value: &Value, is_kept: &dyn Fn(&str) -> bool) -> bool {
    matches!(value, Value::List(items) if items.iter().all(|item| matches!(&item.value, Value::Text(name) if is_kept(name))))
}

/// Drops the columns that are not kept: derived ones are not made, others are identifiers. The patient stays.
fn drop_columns(all: &mut Section, is_kept: &dyn Fn(&str) -> bool) {
    let role = |section: &Section| match section.get("role").map(|item| &item.value) {
        Some(Value::Text(role)) => role.clone(),
        _ => String::new(),
    };
    const DERIVED: [&str; 3] = ["from", "age", "between"];
    all.entries.retain(|(name, item)| match &item.value {
        Value::Section(own) => is_kept(name) || DERIVED.iter().all(|key| own.get(key).is_none()),
        _ => true,
    });
    for (name, item) in &mut all.entries {
        let Value::Section(own) = &mut item.value else { continue };
        if is_kept(name) {
            if let Some((_, of)) = own.entries.iter_mut().find(|(key, _)| key == "of") {
                keep_names(&mut of.value, is_kept);
            }
            own.entries.retain(|(key, item)| key != "of" || !matches!(&item.value, Value::List(of) if of.is_empty()));
        } else if role(own) != "patient" && role(own) != "identifier" {
            // Cleaning stays: rules may read the column.
            let line = item.line;
            own.entries
                .retain(|(key, _)| ["missing", "recode", "number", "date", "spelling", "top"].contains(&key.as_str()));
            own.entries.push(("role".into(), Item { value: Value::Text("identifier".into()), line }));
        }
    }
}

/// Keeps only names of columns that are released, in lists at any depth. Lists that are then empty go too.
fn keep_names(value: &mut Value, is_kept: &dyn Fn(&str) -> bool) {
    match value {
        Value::List(items) => {
            items.iter_mut().for_each(|item| keep_names(&mut item.value, is_kept));
            items.retain(|item| match &item.value {
                Value::Text(name) => is_kept(name),
                Value::List(items) => !items.is_empty(),
                _ => true,
            });
        }
        Value::Section(section) => {
            section.entries.iter_mut().for_each(|(_, item)| keep_names(&mut item.value, is_kept));
            section.entries.retain(|(_, item)| !matches!(&item.value, Value::List(items) if items.is_empty()));
        }
        _ => {}
    }
}
