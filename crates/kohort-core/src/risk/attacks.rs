//! Attacks with a registry of the people outside: one patient against it, and the whole file.
//!
//! Attack 3, a targeted neighbour, needs no registry: see [`super::risk()`].

use super::classes::{View, by_cells};
use crate::cohort::Cohort;
use crate::policy::{Population, Registry};
use crate::release::{Plan, Recoding};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// The results of attacks with a population registry.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryAttacks {
    /// True if class sizes outside are estimated.
    pub estimated: bool,
    /// The quasi-identifiers that file and registry share, by place.
    pub columns: Vec<usize>,
    /// People in the registry.
    pub people: f64,
    /// Classes of the registry.
    pub classes: u64,
    /// Attack 1, by region: its people, and the share of them who are in a class smaller than k.
    pub one_patient: Vec<(String, f64, f64)>,
    /// Attack 2: correct links to be expected when the whole file is matched; a number of people.
    pub whole_file: f64,
}

/// Measures what the attacks gain. A registry that counts fewer people than the file is refused.
pub fn attacks(cohort: &Cohort, population: &Population, k: u64) -> Result<RegistryAttacks> {
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let (columns, estimated) = match &population.registry {
        Registry::Counts(columns, _) => (columns.clone(), false),
        Registry::Size(_) => (all, true),
    };
    let file = people(cohort, &columns);
    let outside: BTreeMap<Vec<String>, f64> = match &population.registry {
        Registry::Counts(_, counts) => counts.iter().map(|(key, &n)| (key.clone(), n as f64)).collect(),
        Registry::Size(size) => {
            let own: u64 = file.values().sum();
            if *size < own {
                return Err(Error::yours(format!(
                    "[population]: size = {size}, but the table itself has {own} people."
                )));
            }
            file.iter().map(|(key, &n)| (key.clone(), n as f64 * *size as f64 / own.max(1) as f64)).collect()
        }
    };
    let few = file.iter().filter(|(key, n)| outside.get(*key).copied().unwrap_or(0.0) < **n as f64).count();
    if few > 0 {
        return Err(Error::yours(format!(
            "[population]: in {few} of {} equivalence classes the registry counts fewer people than the table. It \
             must count everybody, and write values as the table does.",
            file.len()
        )));
    }
    let region = population.region.and_then(|r| columns.iter().position(|&c| c == r));
    let mut regions: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (key, &size) in outside.iter().filter(|(_, size)| **size > 0.0) {
        let own = regions.entry(region.map_or("all".into(), |r| key[r].clone())).or_default();
        own.0 += size;
        own.1 += if size < k as f64 { size } else { 0.0 };
    }
    Ok(RegistryAttacks {
        estimated,
        people: outside.values().sum(),
        classes: outside.len() as u64,
        one_patient: regions.into_iter().map(|(name, (all, risky))| (name, all, risky / all)).collect(),
        whole_file: file.iter().map(|(key, &n)| n as f64 / outside[key]).sum(),
        columns,
    })
}

/// People of the file by their values in some quasi-identifiers.
fn people(cohort: &Cohort, columns: &[usize]) -> BTreeMap<Vec<String>, u64> {
    let dictionaries = &cohort.tuples.dictionaries;
    let text = |key: Vec<u32>| key.iter().zip(columns).map(|(&c, &q)| dictionaries[q].text(c).to_string()).collect();
    by_cells(cohort, View::Before, columns).into_iter().map(|(key, people)| (text(key), people)).collect()
}

/// Knowledge of the people outside, class by class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outside {
    /// By class over the columns that file and registry share: its people in the file, and in all.
    Counted(Vec<(u64, u64)>),
    /// How many people there are in all.
    Size(u64),
}

/// The people outside, as someone sees them who holds a registry beside the file or what is released
/// of it. `None` where that cannot be said: a blank cell has no class in a registry.
///
/// After release a registry's value counts where the file has it and it is released; the others are
/// nobody's, so that the risk is rather too high than too low.
pub fn outside(cohort: &Cohort, view: View, population: &Population) -> Option<Outside> {
    let (columns, counts) = match &population.registry {
        Registry::Size(size) => return Some(Outside::Size(*size)),
        Registry::Counts(columns, counts) => (columns, counts),
    };
    let dictionaries = &cohort.tuples.dictionaries;
    let label_of = match view {
        View::Before => None,
        View::After(plan) if plan.recoding == Recoding::ByValue => Some(labels(cohort, plan, columns)),
        View::After(_) => return None,
    };
    let mut all: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for (key, people) in counts {
        let cell = |(i, text): (usize, &String)| {
            let code = dictionaries[columns[i]].code(text)?;
            match &label_of {
                None => Some(code),
                Some(label_of) => label_of[i][code as usize],
            }
        };
        if let Some(cells) = key.iter().enumerate().map(cell).collect::<Option<Vec<u32>>>() {
            *all.entry(cells).or_default() += people;
        }
    }
    let classes = by_cells(cohort, view, columns).into_iter();
    Some(Outside::Counted(
        classes.map(|(cells, inside)| (inside, all.get(&cells).copied().unwrap_or(inside))).collect(),
    ))
}

/// By column and value code: the label that a released row shows for it.
fn labels(cohort: &Cohort, plan: &Plan, columns: &[usize]) -> Vec<Vec<Option<u32>>> {
    let tuples = &cohort.tuples;
    let mut label_of: Vec<Vec<Option<u32>>> =
        columns.iter().map(|&q| vec![None; tuples.dictionaries[q].len()]).collect();
    for t in 0..tuples.len() {
        for part in plan.parts.of(t) {
            let row = plan.row(part.cells);
            for (own, &q) in label_of.iter_mut().zip(columns) {
                own[tuples.code(t, q) as usize] = Some(row[q]);
            }
        }
    }
    label_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Tuples;

    /// The paper: 400 classes, a file of 237,533 out of 25,573,800 people: about 4 links, whatever the classes.
    #[test]
    fn the_whole_file_links_classes_times_fraction() {
        let (classes, people, all) = (400.0, 237_533.0, 25_573_800.0);
        let links: f64 = classes * people / all;
        assert!((links - 3.7).abs() < 0.05);
        // The same through the code: each class a hundredth of its registry.
        let rows: Vec<Vec<&str>> = vec![vec!["a"], vec!["a"], vec!["b"]];
        let tuples = Tuples::from_rows(&rows, None);
        let cohort = Cohort {
            tuples,
            quasi: Vec::new(),
            details: Vec::new(),
            required: Vec::new(),
            sets: Vec::new(),
            sets_not_all: None,
            dependencies: Vec::new(),
            excluded: 0,
            catalogued: None,
            synthetic_values: vec![],
            class: None,
            threads: 1,
            watcher: Default::default(),
            notes: Vec::new(),
        };
        let counts = |b: u64| {
            let counts = [(vec!["a".to_string()], 200), (vec!["b".to_string()], b)].into_iter().collect();
            Population { registry: Registry::Counts(vec![0], counts), region: Some(0) }
        };
        let found = attacks(&cohort, &counts(100), 150).unwrap();
        assert!((found.whole_file - 2.0 / 100.0).abs() < 1e-12);
        assert_eq!(found.one_patient, [("a".to_string(), 200.0, 0.0), ("b".to_string(), 100.0, 1.0)]);
        assert!(attacks(&cohort, &counts(0), 2).is_err());
        let Some(Outside::Counted(mut classes)) = outside(&cohort, View::Before, &counts(100)) else { panic!() };
        classes.sort_unstable();
        assert_eq!(classes, [(1, 100), (2, 200)]);
    }
}
