//! Counts a table: one pass over its rows makes the cohort that a method works on.
//!
//! # Example
//! The quasi-identifiers are `age` and `sex`, `dx` is sensitive, and the policy requires
//! `confidence = 0.5` on HIV.
//!
//! | line | name | age | sex | dx |
//! |---|---|---|---|---|
//! | 2 | … | 34 | F | flu |
//! | 3 | … | 34 | F | flu |
//! | 4 | … | 36 | M | HIV |
//! | 5 | … | 34 | F | flu |
//!
//! 1. [`TupleLayout`] puts `age`, `sex` and `dx` into the tuples, in this order; `name` is an
//!    identifier and is dropped.
//! 2. One pass counts the distinct tuples: (34, F, flu) three times and (36, M, HIV) once. From here
//!    on no row is read.
//! 3. Each quasi-identifier gets its hierarchy over the values that occur: 34 and 36, F and M.
//! 4. The requirement on `dx` lists the code of HIV.

use super::generalize::{generalize, refuse_star};
use super::layout::TupleLayout;
use super::require::require;
use super::sets::{KnownSets, known_sets};
use super::{Cohort, Kept, Quasi, Required};
use crate::Result;
use crate::policy::{Policy, Role};
use crate::shape::Shape;
use crate::synthetic_values::synthetic_values;
use crate::table::{Counting, Source, Tuples, Watcher, count};

/// The largest number of rows for which the tuple of each row is remembered: 32 MB.
const REMEMBER: u64 = 8 << 20;

/// A class column with more values cannot be predicted by a tree, and would make a tuple of nearly
/// every row: it is not counted.
pub const MOST_CLASSES: usize = 100;

/// Counts the table, in one pass.
pub fn survey(source: &Source, policy: &Policy) -> Result<Cohort> {
    let has_catalog = policy.own.synthetic.as_ref().is_some_and(|i| i.catalog);
    let reads_sensitive = policy.privacy.reads_sensitive();
    let mut notes = Vec::new();
    let class = only_class(policy, &mut notes);
    let mut layout = TupleLayout::new(policy, reads_sensitive || has_catalog, class);
    // Before anything is read, so that a policy beyond the limits is refused at once.
    let KnownSets { sets, not_all } = known_sets(policy, layout.quasi().len())?;
    let mut tuples = count_tuples(source, policy, &mut layout, &mut notes)?;
    for (position, &column) in layout.columns.iter().enumerate() {
        refuse_star(source, column, &tuples.dictionaries[position])?;
    }
    let mut quasi = Vec::new();
    for position in layout.quasi() {
        let column = layout.columns[position];
        quasi.push(generalize(source, column, &policy.columns[column], &tuples.dictionaries[position], &mut notes)?);
    }
    let synthetic_values = match &policy.own.synthetic {
        None => Vec::new(),
        Some(rules) => synthetic_values(source, policy, rules, &layout.columns, &mut tuples)?,
    };
    let kept = |position: usize| layout.kept(policy, position);
    let mut required = Vec::new();
    for position in layout.sensitive().filter(|_| reads_sensitive) {
        let column = &policy.columns[layout.columns[position]];
        let requirement = require(source, policy, column, &tuples.dictionaries[position], &mut notes)?;
        required.push(Required { kept: kept(position), requirement });
    }
    let detail = |position: usize| (kept(position), detail_of(policy, layout.columns[position], &quasi));
    let details: Vec<(Kept, Vec<usize>)> = layout.details().map(detail).collect();
    note_exclusions(source, policy, &mut notes);
    Ok(Cohort {
        catalogued: layout.sensitive().next().filter(|_| has_catalog).map(kept),
        class: layout.class().map(kept),
        dependencies: dependencies(policy, &quasi),
        excluded: source.excluded().map_or(0, |e| e.rows),
        threads: source.threads(),
        watcher: Watcher(std::sync::Arc::clone(source.progress())),
        tuples,
        quasi,
        details,
        required,
        sets,
        sets_not_all: not_all,
        synthetic_values,
        notes,
    })
}

/// Counts the distinct tuples. A class with too many values is dropped from the layout, and the tuples
/// are counted again without it.
fn count_tuples(source: &Source, policy: &Policy, layout: &mut TupleLayout, notes: &mut Vec<String>) -> Result<Tuples> {
    source.progress().stage("reading", source.bytes());
    let count_columns = |columns: &[usize]| {
        count(source, &Counting { columns: columns.to_vec(), patient: policy.patient(), remember: REMEMBER })
    };
    let tuples = count_columns(&layout.columns)?;
    match layout.class() {
        Some(class) if tuples.dictionaries[class].len() > MOST_CLASSES + 1 => {
            notes.push(format!(
                "column `{}` has more than {MOST_CLASSES} values, too many for role = \"class\". Classification is \
                 not measured.",
                layout.kept(policy, class).name
            ));
            layout.drop_class();
            count_columns(&layout.columns)
        }
        _ => Ok(tuples),
    }
}

/// Pairs of quasi-identifiers of which the first is declared to be finer than the second.
pub(super) fn dependencies<S: Shape>(policy: &Policy<S>, quasi: &[Quasi]) -> Vec<(usize, usize)> {
    let pairs = (0..quasi.len()).flat_map(|finer| {
        let of = &policy.columns[quasi[finer].column].of;
        (0..quasi.len()).filter(|&q| of.contains(&quasi[q].name)).map(move |coarser| (finer, coarser))
    });
    pairs.collect()
}

/// Notes how many rows each rule excluded.
fn note_exclusions(source: &Source, policy: &Policy, notes: &mut Vec<String>) {
    let Some(exclusion) = source.excluded() else { return };
    for (rule, hits) in policy.exclude.iter().zip(&exclusion.hits) {
        let column = &policy.columns[rule.column].name;
        notes.push(format!("excluded: {hits} rows have one of the listed codes in `{column}`."));
    }
}

/// The column with role class, if there is exactly one.
fn only_class(policy: &Policy, notes: &mut Vec<String>) -> Option<usize> {
    let classes = policy.positions(|r| *r == Role::Class);
    match classes[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            notes.push("several columns have role = \"class\", so classification is not measured.".into());
            None
        }
    }
}

/// The quasi-identifiers that a column is a detail of.
fn detail_of(policy: &Policy, column: usize, quasi: &[Quasi]) -> Vec<usize> {
    let Role::Detail { of } = &policy.columns[column].role else { return Vec::new() };
    (0..quasi.len()).filter(|&q| of.contains(&quasi[q].name)).collect()
}
