//! Prosecutor risk from class sizes: who is known to be in the file is one of the people in their
//! class, found with probability 1 / its size.

use crate::cohort::Cohort;
use crate::release::Plan;
use crate::table::{Keys, Patients};

/// Risk over the classes of one set of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// The quasi-identifiers that the attacker knows, by place.
    pub set: Vec<usize>,
    /// The highest risk: 1 / the smallest class; 0 if there is nobody.
    pub max: f64,
    /// The mean over people.
    pub mean: f64,
    /// People who are alone in their class.
    pub unique: u64,
    /// People counted; who is in several classes counts in each.
    pub people: u64,
    /// Classes.
    pub classes: u64,
}

/// The data that is examined.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// The data as it is.
    Before,
    /// The data that a plan releases.
    After(&'a Plan),
}

/// The risk to someone whose quasi-identifiers in `set` are known.
pub fn risk(cohort: &Cohort, view: View, set: &[usize]) -> Risk {
    Risk::of(set, &sizes(cohort, view, set))
}

impl Risk {
    /// The risk where classes over `set` have these sizes.
    pub fn of(set: &[usize], sizes: &[u64]) -> Risk {
        let unique = sizes.iter().filter(|&&s| s == 1).count() as u64;
        Risk::counted(set, sizes.len() as u64, sizes.iter().sum(), unique, sizes.iter().copied().min())
    }

    pub(super) fn counted(set: &[usize], classes: u64, people: u64, unique: u64, smallest: Option<u64>) -> Risk {
        Risk {
            set: set.to_vec(),
            max: smallest.filter(|&s| s > 0).map_or(0.0, |s| 1.0 / s as f64),
            mean: if people == 0 { 0.0 } else { classes as f64 / people as f64 },
            unique,
            people,
            classes,
        }
    }
}

/// People in each class over `set`, largest classes last.
pub fn sizes(cohort: &Cohort, view: View, set: &[usize]) -> Vec<u64> {
    let tuples = &cohort.tuples;
    // Tuples are distinct, unless they were brought to the level of a derived column.
    let distinct = cohort.quasi.iter().all(|quasi| quasi.own_level == 0);
    let as_they_are = distinct && tuples.patients.is_none() && matches!(view, View::Before);
    let mut sizes = if as_they_are && tuples.width() == cohort.quasi.len() && set.len() == cohort.quasi.len() {
        tuples.weights.clone()
    } else {
        count(cohort, view, set).sizes
    };
    sizes.retain(|&s| s > 0);
    sizes.sort_unstable();
    sizes
}

/// The classes over `set` by what their people show there, in codes or labels; with how many there are.
pub(super) fn by_cells(cohort: &Cohort, view: View, set: &[usize]) -> Vec<(Vec<u32>, u64)> {
    let classes = count(cohort, view, set);
    let each = classes.sizes.iter().enumerate().filter(|(_, people)| **people > 0);
    each.map(|(class, &people)| (classes.keys.get(class as u32).to_vec(), people)).collect()
}

fn count<'a>(cohort: &Cohort, view: View, set: &'a [usize]) -> RiskClasses<'a> {
    let tuples = &cohort.tuples;
    let mut classes = RiskClasses::new(set);
    match (&tuples.patients, view) {
        (Some(patients), _) => add_patients(cohort, view, patients, &mut classes),
        (None, View::Before) => (0..tuples.len()).for_each(|t| classes.add(tuples.codes(t), tuples.weights[t])),
        (None, View::After(plan)) => {
            let released = plan.rows_by_cells(cohort);
            released.iter().enumerate().for_each(|(cells, &rows)| classes.add(plan.row(cells as u32), rows));
        }
    }
    classes
}

/// Patients of each class: those with one row by number, the others once in each class they are in.
fn add_patients(cohort: &Cohort, view: View, patients: &Patients, classes: &mut RiskClasses) {
    let tuples = &cohort.tuples;
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for t in 0..tuples.len() {
        match view {
            View::Before => {
                let class = classes.number(tuples.codes(t));
                classes.sizes[class as usize] += u64::from(patients.single[t]);
                pairs.extend(patients.having(t).iter().map(|&p| (class, p)));
            }
            View::After(plan) => {
                for part in plan.parts.of(t) {
                    let class = classes.number(plan.row(part.cells));
                    let (single, named) = part.share.people(patients, t);
                    classes.sizes[class as usize] += single;
                    pairs.extend(named.iter().map(|&p| (class, p)));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.iter().for_each(|&(class, _)| classes.sizes[class as usize] += 1);
}

/// Classes over a set of columns.
struct RiskClasses<'a> {
    set: &'a [usize],
    keys: Keys,
    key: Vec<u32>,
    sizes: Vec<u64>,
}

impl<'a> RiskClasses<'a> {
    fn new(set: &'a [usize]) -> RiskClasses<'a> {
        RiskClasses { set, keys: Keys::new(set.len()), key: vec![0; set.len()], sizes: Vec::new() }
    }

    fn number(&mut self, cells: &[u32]) -> u32 {
        self.key.iter_mut().zip(self.set).for_each(|(k, &q)| *k = cells[q]);
        let class = self.keys.intern(&self.key);
        self.sizes.resize(self.keys.len(), 0);
        class
    }

    fn add(&mut self, cells: &[u32], people: u64) {
        let class = self.number(cells);
        self.sizes[class as usize] += people;
    }
}
