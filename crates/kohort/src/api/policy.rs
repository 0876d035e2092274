//! A policy: the text of a policy file, and the files it names.

use super::data::Data;
use super::policy_builder::PolicyBuilder;
use kohort_core::policy::{GivenTables, PolicyFile, PolicyFiles, Section};
use kohort_core::table::{CLAIMS, read_text};
use kohort_core::{Error, Result};
use std::path::Path;

/// The largest policy that is read.
const LARGEST: u64 = 16 << 20;

/// A custodian's decisions: the role of every column, the requirements, and the method.
///
/// Its text is that of a `policy.toml`, however it was made, and every policy is checked in one way: when it meets
/// the data.
///
/// ```
/// # fn main() -> kohort::Result<()> {
/// use kohort::{Hierarchy, Policy};
/// let built = Policy::builder()
///     .quasi_with("age", Hierarchy::intervals([5, 10, 20], 0, 100))
///     .quasi("sex")
///     .sensitive("diagnosis")
///     .k(5)
///     .method("lattice")
///     .parameter("max_suppressed", 0.05)
///     .build()?;
/// let written = Policy::parse(
///     r#"
///     [columns]
///     age = { role = "quasi", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 } }
///     sex = { role = "quasi" }
///     diagnosis = { role = "sensitive" }
///     [privacy]
///     k = 5
///     [method]
///     name = "lattice"
///     max_suppressed = 0.05
///     "#,
/// )?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    name: String,
    text: String,
    files: PolicyFiles,
}

impl Policy {
    /// A policy that is put together key by key.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::new()
    }

    /// A policy by its text. Files that it names must be given with [`Policy::with_file`].
    pub fn parse(text: impl Into<String>) -> Result<Policy> {
        Policy::new("the policy", text.into(), PolicyFiles::default())
    }

    /// A policy file. Paths in it are relative to its folder.
    pub fn read(path: impl AsRef<Path>) -> Result<Policy> {
        let path = path.as_ref();
        let name = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        let folder = path.parent().unwrap_or(Path::new("."));
        Policy::new(&name, read_text(path, LARGEST)?, PolicyFiles::in_folder(folder))
    }

    /// A policy by its text. Paths in it are relative to `folder`.
    pub fn parse_in(folder: impl AsRef<Path>, text: impl Into<String>) -> Result<Policy> {
        Policy::new("the policy", text.into(), PolicyFiles::in_folder(folder.as_ref()))
    }

    pub(super) fn new(name: &str, text: String, files: PolicyFiles) -> Result<Policy> {
        Section::parse(name, &text)?;
        Ok(Policy { name: name.into(), text, files })
    }

    /// The same policy with a file that it names: a hierarchy, a registry, rules.
    pub fn with_file(mut self, name: impl Into<String>, text: impl Into<String>) -> Policy {
        let text: String = text.into();
        self.files = self.files.with(name, text);
        self
    }

    /// The text of the policy, as evidence/policy.toml will hold it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its name in errors.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Another policy with the same files.
    pub(super) fn with_text(&self, text: &str) -> Policy {
        Policy { text: text.to_string(), ..self.clone() }
    }

    /// The tables that the policy itself names under `[input]`.
    pub fn data(&self) -> Result<Data> {
        let input = PolicyFile::parse_with(&self.name, &self.text, &self.files, None)?.input;
        let tables = match input.patients {
            None => GivenTables::One(input.place),
            Some(patients) => {
                let name = |own: &Option<String>| own.clone().unwrap_or_else(|| CLAIMS.to_string());
                let first = (name(&input.events), input.place);
                let more = input.more_events.into_iter().map(|own| (name(&own.events), own.place));
                GivenTables::Linked { patients: patients.place, events: std::iter::once(first).chain(more).collect() }
            }
        };
        Ok(Data { tables })
    }

    /// The policy as it is read for this data.
    pub(super) fn with_data(&self, data: &Data) -> Result<PolicyFile> {
        PolicyFile::parse_with(&self.name, &self.text, &self.files, Some(&data.tables))
    }
}

impl std::str::FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Policy> {
        Policy::parse(text)
    }
}
