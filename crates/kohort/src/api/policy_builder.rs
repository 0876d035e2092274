//! A policy put together key by key. It becomes the text of a policy, which is then read like any other.

use super::hierarchy::{Hierarchy, HierarchyKind};
use super::policy::Policy;
use super::setting::{Setting, empty, put};
use kohort_core::Result;
use kohort_core::policy::{Item, PolicyFiles, Section, Value};

/// The settings of one column: its role and the keys beside it.
///
/// ```
/// use kohort::{ColumnSettings, Hierarchy, Policy};
/// let policy = Policy::builder().column("age", ColumnSettings::role("quasi").set("weight", 2)).k(5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSettings {
    keys: Section,
    tree: Option<String>,
}

impl ColumnSettings {
    /// A column of this role: identifier, patient, quasi, detail, sensitive, class, codes, pseudonym or other.
    pub fn role(role: &str) -> ColumnSettings {
        ColumnSettings { keys: empty(), tree: None }.set("role", role)
    }

    /// Sets a key: `weight`, `levels`, `values`, `reason` and so on.
    pub fn set(mut self, key: &str, value: impl Into<Setting>) -> ColumnSettings {
        put(&mut self.keys, key, value.into());
        self
    }

    /// Gives the column a hierarchy.
    pub fn hierarchy(self, hierarchy: Hierarchy) -> ColumnSettings {
        match hierarchy.kind {
            HierarchyKind::Written(setting) => self.set("hierarchy", setting),
            HierarchyKind::Tree(text) => ColumnSettings { tree: Some(text), ..self },
        }
    }
}

/// A policy in the making. Nothing is checked until it is [built](PolicyBuilder::build) and meets the data.
#[derive(Debug, Clone)]
pub struct PolicyBuilder {
    input: Section,
    /// The name of each table: none for a single one, else "patients" and "claims".
    columns: Vec<(Option<&'static str>, Section)>,
    exclude: Vec<Section>,
    privacy: Section,
    method: Section,
    population: Section,
    files: PolicyFiles,
    trees: usize,
}

impl PolicyBuilder {
    pub(super) fn new() -> PolicyBuilder {
        PolicyBuilder {
            input: empty(),
            columns: vec![(None, empty())],
            exclude: Vec::new(),
            privacy: empty(),
            method: empty(),
            population: empty(),
            files: PolicyFiles::default(),
            trees: 0,
        }
    }

    /// Says what a column is. Every column of the data is named in a policy.
    pub fn column(mut self, name: &str, settings: ColumnSettings) -> PolicyBuilder {
        let ColumnSettings { mut keys, tree } = settings;
        if let Some(text) = tree {
            self.trees += 1;
            // Readers of the release learn this name.
            let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            let file = if self.trees == 1 { format!("{plain}.csv") } else { format!("{plain}-{}.csv", self.trees) };
            put(&mut keys, "hierarchy", file.as_str().into());
            self.files = self.files.with(file, text);
        }
        if let Some((_, columns)) = self.columns.last_mut() {
            put(columns, name, Setting(Value::Section(keys)));
        }
        self
    }

    /// The columns named from here on are those of the patients' table.
    pub fn patients_table(self) -> PolicyBuilder {
        self.table("patients")
    }

    /// The columns named from here on are those of the events' table.
    pub fn events_table(self) -> PolicyBuilder {
        self.table("claims")
    }

    fn table(mut self, name: &'static str) -> PolicyBuilder {
        self.columns.push((Some(name), empty()));
        self
    }

    /// A column that names a person directly. It is dropped.
    pub fn identifier(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("identifier"))
    }

    /// The key of a person. It is counted, and dropped.
    pub fn patient(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("patient"))
    }

    /// A quasi-identifier without a hierarchy: its value, or `*`.
    pub fn quasi(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("quasi"))
    }

    /// A quasi-identifier with a hierarchy.
    pub fn quasi_with(self, name: &str, hierarchy: Hierarchy) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("quasi").hierarchy(hierarchy))
    }

    /// A sensitive column: nobody may learn its value for a person.
    pub fn sensitive(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("sensitive"))
    }

    /// The target of a classification, published as it is.
    pub fn class(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("class"))
    }

    /// A column that no outsider can know, which is published unchanged, and the reason.
    pub fn other(self, name: &str, reason: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("other").set("reason", reason))
    }

    /// The column of codes in a table with a code in each row and a patient column.
    pub fn codes(self, name: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("codes")).input("layout", "long")
    }

    /// The column of codes in a table with a row for each patient, whose codes have a separator between them.
    pub fn codes_separated_by(self, name: &str, separator: &str) -> PolicyBuilder {
        self.column(name, ColumnSettings::role("codes").set("separator", separator)).input("layout", "list")
    }

    /// Texts that mean a missing cell, beside the empty one.
    pub fn missing<T: Into<Setting>>(self, texts: impl IntoIterator<Item = T>) -> PolicyBuilder {
        let texts: Vec<Setting> = texts.into_iter().map(Into::into).collect();
        self.input("missing", texts)
    }

    /// Each group of records that look the same has at least k patients.
    pub fn k(self, k: u64) -> PolicyBuilder {
        self.privacy("k", k)
    }

    /// Sets what others may know: `"all"` quasi-identifiers (the default), any number of them, or lists of columns.
    pub fn knows(self, knows: impl Into<Setting>) -> PolicyBuilder {
        self.privacy("knows", knows)
    }

    /// No more than this share of a group may have one sensitive value.
    pub fn confidence(self, share: f64) -> PolicyBuilder {
        self.privacy("confidence", share)
    }

    /// Sets a key under `[privacy]`: `l_diversity`, `t_closeness`, `power_total` and so on.
    pub fn privacy(mut self, key: &str, value: impl Into<Setting>) -> PolicyBuilder {
        put(&mut self.privacy, key, value.into());
        self
    }

    /// Chooses the method.
    pub fn method(self, name: &str) -> PolicyBuilder {
        self.parameter("name", name)
    }

    /// Sets a parameter of the method: `max_suppressed`, `objective` and so on.
    pub fn parameter(mut self, key: &str, value: impl Into<Setting>) -> PolicyBuilder {
        put(&mut self.method, key, value.into());
        self
    }

    /// Sets a key under `[input]`: `missing`, `decimal`, `delimiter` and so on.
    pub fn input(mut self, key: &str, value: impl Into<Setting>) -> PolicyBuilder {
        put(&mut self.input, key, value.into());
        self
    }

    /// Sets a key under `[population]`: `size`, or `counts` with a file.
    pub fn population(mut self, key: &str, value: impl Into<Setting>) -> PolicyBuilder {
        put(&mut self.population, key, value.into());
        self
    }

    /// Adds a rule under `[[exclude]]` with these keys: `column`, `codes`, `scope`.
    pub fn exclude<V: Into<Setting>>(mut self, keys: impl IntoIterator<Item = (&'static str, V)>) -> PolicyBuilder {
        let mut rule = empty();
        keys.into_iter().for_each(|(key, value)| put(&mut rule, key, value.into()));
        self.exclude.push(rule);
        self
    }

    /// Gives the policy a file that one of its keys names.
    pub fn file(mut self, name: &str, text: impl Into<String>) -> PolicyBuilder {
        let text: String = text.into();
        self.files = self.files.with(name, text);
        self
    }

    /// The policy.
    pub fn build(self) -> Result<Policy> {
        let mut root = empty();
        let section = |section: Section| Setting(Value::Section(section));
        if !self.exclude.is_empty() {
            let rules = self.exclude.into_iter().map(|rule| Item { value: Value::Section(rule), line: 0 });
            put(&mut root, "exclude", Setting(Value::List(rules.collect())));
        }
        if !self.input.entries.is_empty() {
            put(&mut root, "input", section(self.input));
        }
        let mut columns = empty();
        for (table, own) in self.columns {
            match table {
                Some(table) => put(&mut columns, table, section(own)),
                None => columns.entries.extend(own.entries),
            }
        }
        for (key, own) in [("columns", columns), ("privacy", self.privacy), ("method", self.method)] {
            put(&mut root, key, section(own));
        }
        if !self.population.entries.is_empty() {
            put(&mut root, "population", section(self.population));
        }
        Policy::new("the policy", root.to_toml(), self.files)
    }
}
