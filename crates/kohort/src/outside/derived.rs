//! Released columns that derive from columns that are kept back: by the policy, or as the data show.

use super::{FEW_RELATED, Outside, changed};
use crate::evidence::metrics::{DerivedColumn, KeptBack, Relation};
use crate::profile::Profile;
use crate::profile::sample::{Coded, MISSING};
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Policy, Role};
use kohort_core::release::Plan;
use kohort_core::table::Source;
use std::collections::HashSet;

/// So many rows must share their value with another one: fewer may agree by chance.
const FEWEST_COMPARED: usize = 50;
/// A column in which two rows have the same value more often than this agrees with everything.
const MOST_ALIKE: f64 = 0.8;
/// At most one row in so many may disagree: a mistake at the desk does not hide a relation.
const MOST_WRONG: usize = 200;

impl Outside {
    /// Lists the released columns that derive from one that is dropped, or that is suppressed in most rows.
    ///
    /// Columns that the policy derives are listed as declared. The rest is found in the first rows, one for each person.
    pub fn derived(
        &self,
        source: &Source,
        (cohort, plan): (&Cohort, &Plan),
        policy: &Policy,
    ) -> Result<Vec<DerivedColumn>> {
        let mut shown: Vec<Option<f64>> =
            policy.columns.iter().map(|column| column.role.is_released().then_some(1.0)).collect();
        let mut back: Vec<Option<KeptBack>> = policy
            .columns
            .iter()
            .map(|column| (column.role == Role::Identifier).then_some(KeptBack::Dropped))
            .collect();
        for (q, place) in policy.quasi().into_iter().enumerate() {
            let (generalized, suppressed) = changed(cohort, plan, q);
            shown[place] = Some(1.0 - generalized);
            if suppressed > 0.5 {
                (shown[place], back[place]) = (None, Some(KeptBack::Suppressed));
            }
        }
        if back.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let own;
        let profile = match &self.profile {
            Some(profile) => profile,
            None => {
                own = Profile::of_first_rows(source)?;
                &own
            }
        };
        let people = policy.patient().map(|patient| first_rows(&profile.sample.columns[patient]));
        let columns: Vec<Coded> = match &people {
            Some(rows) => profile.sample.columns.iter().map(|column| column.of_rows(rows)).collect(),
            None => Vec::new(),
        };
        let columns = if people.is_some() { &columns } else { &profile.sample.columns };
        let varied: Vec<bool> = columns.iter().map(|column| alike(column) <= MOST_ALIKE).collect();
        let mut found = Vec::new();
        for (place, unchanged) in shown.iter().enumerate().filter_map(|(place, own)| Some((place, (*own)?))) {
            let declared: Vec<&str> = sources(source, &policy.columns[place].name);
            for (from, kept_back) in back.iter().enumerate().filter_map(|(from, own)| Some((from, (*own)?))) {
                let enough = profile.sample.rows >= FEW_RELATED && varied[place] && varied[from];
                let follows = enough && determines(&columns[from], &columns[place]);
                let reveals = enough && determines(&columns[place], &columns[from]);
                let relation = match (declared.contains(&policy.columns[from].name.as_str()), follows, reveals) {
                    (true, ..) => Relation::Declared,
                    (false, true, true) => Relation::Same,
                    (false, true, false) => Relation::Follows,
                    (false, false, true) => Relation::Reveals,
                    (false, false, false) => continue,
                };
                found.push(DerivedColumn {
                    column: policy.columns[place].name.clone(),
                    from: policy.columns[from].name.clone(),
                    kept_back,
                    relation,
                    unchanged,
                });
            }
        }
        Ok(found)
    }
}

/// The columns from which the policy derives one.
fn sources<'a>(source: &'a Source, column: &str) -> Vec<&'a str> {
    let own = source.input().cleaning.iter().find(|own| own.name == column);
    own.and_then(|own| own.derive.as_ref()).map(|derive| derive.sources()).unwrap_or_default()
}

/// The first row of each person: what stays the same within a person says nothing about others.
fn first_rows(people: &Coded) -> Vec<usize> {
    let mut seen = HashSet::new();
    (0..people.codes.len()).filter(|&row| seen.insert(people.codes[row])).collect()
}

/// How often two rows of a column have the same value by chance.
fn alike(column: &Coded) -> f64 {
    let rows = column.codes.len().max(1) as f64;
    column.counts().iter().map(|&own| (f64::from(own) / rows).powi(2)).sum()
}

/// Returns whether rows that share a value of one column share that of the other.
fn determines(one: &Coded, other: &Coded) -> bool {
    let mut first = vec![u32::MAX; one.numbers.len()];
    let (mut compared, mut wrong) = (0, 0);
    for (&own, &others) in one.codes.iter().zip(&other.codes).filter(|(own, _)| **own != MISSING) {
        let first = &mut first[own as usize];
        if *first == u32::MAX {
            *first = others;
            continue;
        }
        compared += 1;
        wrong += usize::from(*first != others);
        if wrong > one.codes.len() / MOST_WRONG {
            return false;
        }
    }
    compared >= FEWEST_COMPARED && wrong * MOST_WRONG <= compared
}
