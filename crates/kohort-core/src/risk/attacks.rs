//! Attacks with a registry of the people outside: one patient against it, and the whole file.
//!
//! Attack 3, a targeted neighbour, needs no registry: see [`super::risk()`].

use super::classes::{View, by_cells};
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Covers, Population, Registry};
use crate::release::{Plan, Recoding};
use crate::{Error, Result};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The results of attacks with a population registry.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryAttacks {
    /// The registry's name, if the policy gives one.
    pub name: Option<String>,
    /// True if class sizes outside are estimated.
    pub estimated: bool,
    /// The people who are listed in it.
    pub covers: Covers,
    /// The quasi-identifiers that file and registry share, by place.
    pub columns: Vec<usize>,
    /// People in the registry.
    pub people: f64,
    /// Classes of the registry.
    pub classes: u64,
    /// Attack 1, by region: its people, and the share of them who are in a class smaller than k.
    pub one_patient: Vec<(String, f64, f64)>,
    /// Attack 2: correct links to be expected at most when the whole original is matched; a number of people.
    pub whole_file: f64,
    /// People of the registry by their values.
    outside: BTreeMap<Vec<String>, f64>,
}

/// Measures what the attacks gain. A registry of everybody that counts fewer people than the file is refused.
pub fn attacks(cohort: &Cohort, population: &Population, k: u64) -> Result<RegistryAttacks> {
    let (columns, estimated) = match &population.registry {
        Registry::Counts(columns, _) => (columns.clone(), false),
        Registry::Size(_, columns) => (columns.clone(), true),
    };
    let file = people(cohort, &columns);
    let outside: BTreeMap<Vec<String>, f64> = match &population.registry {
        Registry::Counts(_, counts) => counts.clone(),
        Registry::Size(size, _) => {
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
    if few > 0 && population.covers == Covers::Everyone {
        return Err(Error::yours(format!(
            "[population]: in {few} of {} equivalence classes the registry counts fewer people than the table. It \
             must write values as the table does and count everybody. If it lists only some people, set covers = \"part\".",
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
        name: population.name.clone(),
        estimated,
        covers: population.covers,
        people: outside.values().sum(),
        classes: outside.len() as u64,
        one_patient: regions.into_iter().map(|(name, (all, risky))| (name, all, risky / all)).collect(),
        whole_file: file.iter().map(|(key, &n)| links(n as f64, outside.get(key).copied().unwrap_or(0.0))).sum(),
        columns,
        outside,
    })
}

/// Correct links to be expected at most among `inside` people of the file and `outside` people of a registry
/// who look the same: every person of the file is linked with one of the registry at random. At most as many
/// are in both as are in the smaller one.
fn links(inside: f64, outside: f64) -> f64 {
    if outside > 0.0 { inside.min(outside) / outside } else { 0.0 }
}

impl RegistryAttacks {
    /// Attack 2 against what a plan releases: a released record matches everybody in the registry whose values
    /// its labels cover. `None` where counting that would take too long.
    pub fn whole_release(&self, cohort: &Cohort, plan: &Plan) -> Option<f64> {
        let covered = CoveredPeople::new(cohort, plan, self);
        let classes = by_cells(cohort, View::After(plan), &self.columns);
        let mut sum = 0.0;
        let mut looks = MOST_LOOKS;
        for (labels, inside) in classes {
            sum += links(inside as f64, covered.by(&labels, &mut looks)?);
        }
        Some(sum)
    }
}

/// More people of a registry are not looked at.
const MOST_LOOKS: u64 = 200_000_000;

/// The people of a registry whom labels of a release cover.
struct CoveredPeople<'a> {
    registry: &'a RegistryAttacks,
    /// One entry per column and label: the values it covers, or nothing for all of them.
    covers: Vec<Vec<Option<BTreeSet<&'a str>>>>,
    /// Keys of the registry by the columns in which a release shows single values, and by those values.
    by_exact: RefCell<BTreeMap<Vec<bool>, RegistryIndex<'a>>>,
}

/// Keys of a registry with their people, by the values of some columns.
type RegistryIndex<'a> = BTreeMap<Vec<&'a str>, Vec<(&'a [String], f64)>>;

impl<'a> CoveredPeople<'a> {
    fn new(cohort: &'a Cohort, plan: &'a Plan, registry: &'a RegistryAttacks) -> CoveredPeople<'a> {
        let shown = labels(cohort, plan, &registry.columns);
        let covers = registry.columns.iter().zip(shown).map(|(&q, shown)| {
            let dictionary = &cohort.tuples.dictionaries[q];
            let mut by_text: HashMap<&str, BTreeSet<&str>> = HashMap::new();
            for level in &cohort.quasi[q].hierarchy.levels {
                for (code, &label) in (0u32..).zip(&level.label_of) {
                    by_text.entry(&level.labels[label as usize].text).or_default().insert(dictionary.text(code));
                }
            }
            let own = plan.changed[q].labels.iter().zip(0u32..).map(|(label, number)| {
                if label.text == SUPPRESSED {
                    return None;
                }
                let mut values = by_text.get(label.text.as_str()).cloned().unwrap_or_default();
                values
                    .extend((0u32..).zip(&shown).filter(|(_, l)| l.contains(&number)).map(|(c, _)| dictionary.text(c)));
                Some(values)
            });
            own.collect()
        });
        CoveredPeople { registry, covers: covers.collect(), by_exact: RefCell::default() }
    }

    /// The people whom these labels cover together.
    fn by(&self, labels: &[u32], looks: &mut u64) -> Option<f64> {
        let covers: Vec<&Option<BTreeSet<&str>>> =
            labels.iter().zip(&self.covers).map(|(&label, own)| &own[label as usize]).collect();
        let exact: Vec<bool> = covers.iter().map(|own| own.as_ref().is_some_and(|own| own.len() == 1)).collect();
        let mut indexes = self.by_exact.borrow_mut();
        let index = indexes.entry(exact.clone()).or_insert_with(|| {
            let mut index = RegistryIndex::new();
            for (key, &people) in &self.registry.outside {
                let own = key.iter().zip(&exact).filter(|(_, exact)| **exact).map(|(text, _)| text.as_str());
                index.entry(own.collect()).or_default().push((key, people));
            }
            index
        });
        let key: Vec<&str> = covers
            .iter()
            .zip(&exact)
            .filter(|(_, exact)| **exact)
            .filter_map(|(own, _)| own.as_ref().and_then(|own| own.first().copied()))
            .collect();
        let Some(found) = index.get(&key) else { return Some(0.0) };
        *looks = looks.checked_sub(found.len() as u64)?;
        let within = |key: &[String]| {
            key.iter().zip(&covers).all(|(text, own)| own.as_ref().is_none_or(|own| own.contains(text.as_str())))
        };
        Some(found.iter().filter(|(key, _)| within(key)).map(|(_, people)| people).sum())
    }
}

/// People of the file by their values in some quasi-identifiers.
fn people(cohort: &Cohort, columns: &[usize]) -> BTreeMap<Vec<String>, u64> {
    let dictionaries = &cohort.tuples.dictionaries;
    let text = |key: Vec<u32>| key.iter().zip(columns).map(|(&c, &q)| dictionaries[q].text(c).to_string()).collect();
    by_cells(cohort, View::Before, columns).into_iter().map(|(key, people)| (text(key), people)).collect()
}

/// Knowledge of the people outside, class by class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeopleOutside {
    /// People in the file and in all, for each class over the columns that file and registry share.
    Counted(Vec<(u64, u64)>),
    /// How many people there are in all.
    Size(u64),
}

/// The people outside, as someone sees them who holds a registry beside the file or what is released
/// of it. `None` where that cannot be said: a blank cell has no class in a registry.
///
/// After release a registry's value counts where the file has it and it is released; the others are
/// nobody's, so that the risk is rather too high than too low.
pub fn outside(cohort: &Cohort, view: View, population: &Population) -> Option<PeopleOutside> {
    let (columns, counts) = match &population.registry {
        Registry::Size(size, _) => return Some(PeopleOutside::Size(*size)),
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
                Some(label_of) => label_of[i][code as usize].first().copied(),
            }
        };
        if let Some(cells) = key.iter().enumerate().map(cell).collect::<Option<Vec<u32>>>() {
            *all.entry(cells).or_default() += people.floor() as u64;
        }
    }
    let classes = by_cells(cohort, view, columns).into_iter();
    Some(PeopleOutside::Counted(
        classes.map(|(cells, inside)| (inside, all.get(&cells).copied().unwrap_or(inside))).collect(),
    ))
}

/// The labels that released rows show for each value code, by column.
fn labels(cohort: &Cohort, plan: &Plan, columns: &[usize]) -> Vec<Vec<BTreeSet<u32>>> {
    let tuples = &cohort.tuples;
    let mut label_of: Vec<Vec<BTreeSet<u32>>> =
        columns.iter().map(|&q| vec![BTreeSet::new(); tuples.dictionaries[q].len()]).collect();
    for t in 0..tuples.len() {
        for part in plan.parts.of(t) {
            let row = plan.row(part.cells);
            for (own, &q) in label_of.iter_mut().zip(columns) {
                own[tuples.code(t, q) as usize].insert(row[q]);
            }
        }
    }
    label_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Tuples;

    /// Six people are in three classes, and the values of two are blank: someone who links these two with the registry
    /// chooses among everybody there.
    #[test]
    fn a_blank_matches_everybody_in_the_registry() {
        let rows: Vec<Vec<&str>> = ["a", "a", "b", "b", "c", "c"].map(|v| vec![v]).to_vec();
        let cohort = Cohort::of(Tuples::from_rows(&rows, None), |_| crate::hierarchy::Rule::Flat);
        let counts = [("a", 10.0), ("b", 20.0), ("c", 4.5), ("d", 65.5)];
        let counts = counts.map(|(value, people)| (vec![value.to_string()], people)).into_iter().collect();
        let registry = Registry::Counts(vec![0], counts);
        let population = Population { name: None, registry, region: None, covers: Covers::Everyone };
        let found = attacks(&cohort, &population, 2).unwrap();
        assert!((found.whole_file - (0.2 + 0.1 + 2.0 / 4.5)).abs() < 1e-12);
        let shown = Plan::full_domain(&cohort, &[0], &[true; 3]);
        assert!((found.whole_release(&cohort, &shown).unwrap() - found.whole_file).abs() < 1e-12);
        let blank = Plan::full_domain(&cohort, &[1], &[true, true, false]);
        assert!((found.whole_release(&cohort, &blank).unwrap() - 4.0 / 100.0).abs() < 1e-12);
    }

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
            let counts = [(vec!["a".to_string()], 200.0), (vec!["b".to_string()], b as f64)].into_iter().collect();
            let registry = Registry::Counts(vec![0], counts);
            Population { name: None, registry, region: Some(0), covers: Covers::Everyone }
        };
        let found = attacks(&cohort, &counts(100), 150).unwrap();
        assert!((found.whole_file - 2.0 / 100.0).abs() < 1e-12);
        assert_eq!(found.one_patient, [("a".to_string(), 200.0, 0.0), ("b".to_string(), 100.0, 1.0)]);
        assert!(attacks(&cohort, &counts(0), 2).is_err());
        // A registry of some people may have fewer than the file: one of two people of b is linked at most.
        let part = |b: u64| Population { covers: Covers::Part, ..counts(b) };
        assert_eq!(attacks(&cohort, &part(0), 2).unwrap().whole_file, 2.0 / 200.0);
        let Some(PeopleOutside::Counted(mut classes)) = outside(&cohort, View::Before, &counts(100)) else { panic!() };
        classes.sort_unstable();
        assert_eq!(classes, [(1, 100), (2, 200)]);
    }
}
