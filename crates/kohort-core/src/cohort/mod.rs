//! The people of a table as a method sees them: distinct tuples, their hierarchies, and the
//! requirements on their sensitive values.
//!
//! [`survey`] makes a [`Cohort`] from a table and a policy (`survey.rs`, with an example). `layout.rs`
//! decides which columns are in the tuples, `own_levels.rs` at which level derived columns are measured, `sets.rs` lists the sets of columns that an attacker may
//! know, `generalize.rs` applies the hierarchies, `require.rs` translates the requirements into value
//! codes. `demographics.rs` makes the cohort of patients who are known by their codes.

mod demographics;
mod generalize;
mod layout;
mod own_levels;
mod require;
mod sets;
mod survey;

pub(crate) use demographics::demographics;
pub(crate) use generalize::star_in_data;
pub(crate) use require::order;
pub use sets::{MOST_SETS, MOST_SETS_OF_THREE, NotAllSets, is_any_three, shorter};
pub use survey::{MOST_CLASSES, survey};

use crate::hierarchy::{Hierarchy, Label};
#[cfg(test)]
use crate::hierarchy::{MISSING, Rule};
use crate::number::number_of;
use crate::policy::Policy;
use crate::privacy::Sensitive;
use crate::synthetic_values::SyntheticValues;
use crate::table::{Tuples, Watcher};
use crate::{Error, Result};

/// A quasi-identifier over its distinct values.
#[derive(Debug, Clone)]
pub struct Quasi {
    /// Its name.
    pub name: String,
    /// Its place in the table.
    pub column: usize,
    /// Its levels.
    pub hierarchy: Hierarchy,
    /// The levels a method may choose, ascending.
    pub levels: Vec<usize>,
    /// Weight of this column when the loss is added up.
    pub weight: f64,
    /// The level at which its own values are: that of a column derived with `from`, else 0.
    pub own_level: usize,
}

impl Quasi {
    /// The label of a value with this text, on the lowest permitted level that has it.
    pub fn label_shown(&self, value: u32, text: &str) -> Option<&Label> {
        let levels = self.levels.iter().map(|&level| &self.hierarchy.levels[level]);
        let mut labels = levels.filter_map(|level| level.labels.get(level.label_of[value as usize] as usize));
        labels.find(|label| label.text == text)
    }
}

/// A column whose values are in the tuples and are released unchanged.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its place in the table.
    pub column: usize,
    /// Its place in the tuples.
    pub position: usize,
}

/// A sensitive column with a requirement.
#[derive(Debug, Clone)]
pub struct Required {
    /// The column.
    pub kept: Kept,
    /// The requirement.
    pub requirement: Sensitive,
}

/// The data that a method for tables sees: never a single row, never a column with role `other`.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// Distinct tuples: quasi-identifiers first, then details, then required sensitive columns,
    /// then the class.
    pub tuples: Tuples,
    /// The quasi-identifiers; the i-th is at place i of the tuples.
    pub quasi: Vec<Quasi>,
    /// Columns finer than a quasi-identifier.
    pub details: Vec<(Kept, Vec<usize>)>,
    /// Sensitive columns with requirements.
    pub required: Vec<Required>,
    /// The column that a classification is to predict: the only one with role class, if it has at
    /// most [`MOST_CLASSES`] values.
    pub class: Option<Kept>,
    /// The sets of quasi-identifiers that an attacker may know; sets of fewer columns where there are
    /// too many to be listed.
    pub sets: Vec<Vec<usize>>,
    /// Why `sets` are not all, where they are not.
    pub sets_not_all: Option<NotAllSets>,
    /// Pairs of quasi-identifiers of which the first is declared to be finer than the second.
    pub dependencies: Vec<(usize, usize)>,
    /// Rows that rules of the policy excluded.
    pub excluded: u64,
    /// The sensitive column a catalog is about: in the tuples, whether or not anything is required of it.
    pub catalogued: Option<Kept>,
    /// The values that synthetic records may show, where the method adds such records: one entry for
    /// every released column that is neither a quasi-identifier nor a detail.
    pub synthetic_values: Vec<SyntheticValues>,
    /// Notes for the custodian.
    pub notes: Vec<String>,
    /// The number of threads that may work.
    pub threads: usize,
    /// Told how far a method is.
    pub watcher: Watcher,
}

impl Cohort {
    /// The error that fewer than `k` people are in the table, if so.
    pub fn too_few_for(&self, k: u64) -> Option<Error> {
        let people = self.tuples.people();
        let noun = if self.tuples.patients.is_some() { ["patient", "patients"] } else { ["row", "rows"] };
        let advice = match people {
            0 | 1 => "At least 2 are needed.".to_string(),
            _ => format!("The largest k that can be met is {people}."),
        };
        let why = || Error::infeasible(format!("k = {k}, but the table has {}. {advice}", number_of(people, noun)));
        (people < k).then(why)
    }

    /// The table's columns that make a tuple, by place in the tuples.
    pub fn columns(&self) -> Vec<usize> {
        let quasi = self.quasi.iter().map(|q| q.column);
        let details = self.details.iter().map(|(kept, _)| kept.column);
        quasi.chain(details).chain(self.kept().map(|kept| kept.column)).collect()
    }

    /// Replaces the attacker's knowledge by that of another policy about the same columns.
    pub fn know(&mut self, policy: &Policy) -> Result<()> {
        let sets::KnownSets { sets, not_all } = sets::known_sets(policy, self.quasi.len())?;
        (self.sets, self.sets_not_all) = (sets, not_all);
        Ok(())
    }

    /// The columns of the tuples that are released unchanged.
    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        let required = self.required.iter().map(|r| &r.kept);
        let catalogued = self.catalogued.iter().filter(|c| self.required.iter().all(|r| r.kept.column != c.column));
        required.chain(catalogued).chain(&self.class)
    }
}

#[cfg(test)]
impl Cohort {
    /// Tuples whose columns are all quasi-identifiers, generalized by these rules.
    pub(crate) fn of(tuples: Tuples, rule: impl Fn(usize) -> Rule) -> Cohort {
        let quasi = (0..tuples.width()).map(|q| {
            let dictionary = &tuples.dictionaries[q];
            let hierarchy = rule(q).apply(&dictionary.texts(), tuples.frequencies(q)[MISSING as usize] > 0);
            let levels = (0..hierarchy.levels.len()).collect();
            Quasi { name: format!("q{q}"), column: q, hierarchy, levels, weight: 1.0, own_level: 0 }
        });
        Cohort {
            quasi: quasi.collect(),
            details: vec![],
            required: vec![],
            class: None,
            sets: vec![(0..tuples.width()).collect()],
            sets_not_all: None,
            dependencies: vec![],
            excluded: 0,
            catalogued: None,
            synthetic_values: vec![],
            notes: vec![],
            threads: 1,
            watcher: Watcher::default(),
            tuples,
        }
    }
}
