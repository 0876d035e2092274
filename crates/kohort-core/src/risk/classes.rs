//! Prosecutor risk from class sizes: who is known to be in the file is one of the people in their
//! class, found with probability 1 / its size.

use crate::cohort::Cohort;
use crate::release::Plan;
use crate::table::Keys;

/// Risk over the classes of one set of columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// Which quasi-identifiers the adversary knows, by place.
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

/// What is looked at.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// The data as it is.
    Before,
    /// What a plan releases.
    After(&'a Plan),
}

/// The risk to someone whose quasi-identifiers in `set` are known.
pub fn risk(cohort: &Cohort, view: View, set: &[usize]) -> Risk {
    let sizes = sizes(cohort, view, set);
    let people: u64 = sizes.iter().sum();
    let smallest = sizes.iter().copied().min().unwrap_or(0);
    Risk {
        set: set.to_vec(),
        max: if smallest == 0 { 0.0 } else { 1.0 / smallest as f64 },
        mean: if people == 0 { 0.0 } else { sizes.len() as f64 / people as f64 },
        unique: sizes.iter().filter(|&&s| s == 1).count() as u64,
        people,
        classes: sizes.len() as u64,
    }
}

/// People in each class over `set`, largest classes last.
pub fn sizes(cohort: &Cohort, view: View, set: &[usize]) -> Vec<u64> {
    let tuples = &cohort.tuples;
    let mut keys = Keys::new(set.len());
    let mut key = vec![0; set.len()];
    // Class, rows or single patients, and for patients with several rows the tuple they are in.
    let mut sizes: Vec<u64> = Vec::new();
    let mut classes_of: Vec<Vec<u32>> = vec![Vec::new(); if tuples.patients.is_some() { tuples.len() } else { 0 }];
    for t in 0..tuples.len() {
        let mut add = |key: &[u32], rows: u64| {
            let class = keys.intern(key);
            sizes.resize(keys.len(), 0);
            match &tuples.patients {
                // Parts by number are not named: with patients as the unit plans deal whole tuples or name them.
                Some(patients) => {
                    sizes[class as usize] += rows.min(u64::from(patients.single[t]));
                    classes_of[t].push(class);
                }
                None => sizes[class as usize] += rows,
            }
        };
        match view {
            View::Before => {
                key.iter_mut().zip(set).for_each(|(k, &q)| *k = tuples.code(t, q));
                add(&key, tuples.weights[t]);
            }
            View::After(plan) => {
                for (cells, rows) in plan.rows(cohort, t) {
                    key.iter_mut().zip(set).for_each(|(k, &q)| *k = plan.row(cells)[q]);
                    add(&key, rows);
                }
            }
        }
    }
    if let Some(patients) = &tuples.patients {
        for p in 0..patients.several() {
            let mut own: Vec<u32> =
                patients.tuples_of(p).iter().flat_map(|&t| classes_of[t as usize].iter().copied()).collect();
            own.sort_unstable();
            own.dedup();
            own.iter().for_each(|&class| sizes[class as usize] += 1);
        }
    }
    sizes.retain(|&s| s > 0);
    sizes.sort_unstable();
    sizes
}
