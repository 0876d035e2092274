//! How likely a released row is real, to whoever reads the catalog: all rows of a value in a group are
//! alike. Without a catalog every row is taken for real.

use crate::cohort::Cohort;
use crate::release::Plan;
use crate::table::Keys;
use std::collections::HashMap;

/// The probability that a row is real.
pub(super) struct Trust {
    /// One entry per row of cells: its class.
    class_of: Vec<u32>,
    /// One entry per class and value of the catalog's column.
    share: HashMap<(u32, u32), f64>,
    /// The catalog's column: place in the tuples, and among the cohort's `synthetic_values`.
    place: Option<(usize, usize)>,
}

impl Trust {
    pub(super) fn of(cohort: &Cohort, plan: &Plan) -> Trust {
        let mut keys = Keys::new(cohort.quasi.len());
        let rows = plan.cells.len() / plan.changed.len().max(1);
        let class_of = (0..rows).map(|cells| keys.intern(&plan.row(cells as u32)[..cohort.quasi.len()])).collect();
        let mut trust = Trust { class_of, share: HashMap::new(), place: None };
        let (Some(catalog), Some(listed)) = (&plan.catalog, &cohort.catalogued) else { return trust };
        let Some(drawn) = cohort.synthetic_values.iter().position(|s| s.position == Some(listed.position)) else {
            return trust;
        };
        trust.place = Some((listed.position, drawn));
        let mut shown: HashMap<(u32, u32), u64> = HashMap::new();
        for t in 0..cohort.tuples.len() {
            for (cells, rows) in plan.rows(cohort, t) {
                let key = (trust.class_of[cells as usize], cohort.tuples.code(t, listed.position));
                *shown.entry(key).or_default() += rows;
            }
        }
        for added in &plan.added {
            *shown.entry((trust.class_of[added.cells as usize], added.values[drawn])).or_default() += 1;
        }
        for entry in &catalog.entries {
            let Some(value) = cohort.tuples.dictionaries[listed.position].code(&entry.value) else { continue };
            let classes: Vec<u32> = entry.classes.iter().map(|&cells| trust.class_of[cells as usize]).collect();
            let all: u64 = classes.iter().filter_map(|&class| shown.get(&(class, value))).sum();
            let share = 1.0 - entry.rows as f64 / all.max(1) as f64;
            classes.into_iter().for_each(|class| _ = trust.share.insert((class, value), share));
        }
        trust
    }

    /// The share for a row of a tuple that shows these cells.
    pub(super) fn tuple(&self, cohort: &Cohort, tuple: usize, cells: u32) -> f64 {
        self.place.map_or(1.0, |(position, _)| self.share(cells, cohort.tuples.code(tuple, position)))
    }

    /// For a synthetic record.
    pub(super) fn added(&self, added: &crate::release::SyntheticRecord) -> f64 {
        self.place.map_or(1.0, |(_, drawn)| self.share(added.cells, added.values[drawn]))
    }

    fn share(&self, cells: u32, value: u32) -> f64 {
        self.share.get(&(self.class_of[cells as usize], value)).copied().unwrap_or(1.0)
    }
}
