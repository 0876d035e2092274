//! The risk of a table before anything is done to it: who is unique, by which columns, and what k = 5
//! would cost.

use crate::evidence;
use crate::methods::Method;
use kohort_core::cohort::Cohort;
use kohort_core::number::K;
use kohort_core::policy::{Policy, Privacy};
use kohort_core::random::Randomness;
use kohort_core::risk::{self, Models, RegistryAttacks, Risk, SinglingOut, Sizes, Uniqueness, View};
use kohort_core::{Result, utility};

/// The most tuples that are counted for sets of columns.
const MOST_COUNTED: usize = 300_000_000;
/// The k whose cost is tried.
pub const TRIED_K: u64 = 5;

/// The risk of a table as it is.
#[derive(Debug, Clone)]
pub struct OriginalRisk {
    /// The names of the quasi-identifiers, by place.
    pub quasi: Vec<String>,
    /// Rows of the table.
    pub rows: u64,
    /// The people who are counted: patients where a column names them, else rows.
    pub people: u64,
    /// True if a column names the patients.
    pub has_patients: bool,
    /// The risk from an attacker who knows all quasi-identifiers of a person.
    pub all: Risk,
    /// The three attackers; the threshold is one in `k`.
    pub models: Models,
    /// The number of people who are unique in the population, if the policy gives its size.
    pub uniqueness: Option<Uniqueness>,
    /// The matches with each registry that the policy names.
    pub attacks: Vec<RegistryAttacks>,
    /// The columns that single people out.
    pub singling_out: SinglingOut,
    /// The cost of reaching `k`.
    pub cost: Cost,
}

impl OriginalRisk {
    /// The people who are unique when all quasi-identifiers are known, and all people. A patient with several rows may
    /// be in several classes: who is unique in one of them counts once.
    pub fn unique(&self) -> (u64, u64) {
        match (&self.singling_out.added, self.has_patients) {
            (Some(added), true) => (added.all, self.people),
            _ => (self.all.unique, self.all.people),
        }
    }
}

/// The cost of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The k asked for.
    pub k: u64,
    /// The method that was tried.
    pub method: &'static str,
    /// The losses, or the reason why there is no release.
    pub outcome: std::result::Result<Lost, String>,
}

/// The losses of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// The mean loss of a cell.
    pub loss: f64,
    /// Rows that would be suppressed.
    pub rows: u64,
    /// Quasi-identifiers whose values would all be released unchanged.
    pub untouched: Vec<String>,
    /// Quasi-identifiers that would be suppressed completely.
    pub gone: Vec<String>,
}

/// Assesses the risk. Nothing is written. `known` is told each part as soon as it is known, so that an interrupted
/// run has shown what it had.
pub fn assess(policy: &Policy, cohort: &Cohort, known: &mut dyn FnMut(RiskPart)) -> Result<OriginalRisk> {
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let own = cohort.at_own_levels();
    let sizes = risk::sizes(&own, View::Before, &all);
    let population = policy.population();
    let outside = population.and_then(|p| risk::outside(&own, View::Before, p));
    let (all, models) = (Risk::of(&all, &sizes), risk::models(&sizes, TRIED_K, outside.as_ref()));
    known(RiskPart::Classes(&all, &models));
    let singling_out = risk::singling_out(&own, MOST_COUNTED, cohort.threads);
    cohort.watcher.go_on()?;
    known(RiskPart::SinglingOut(&all, &singling_out));
    let uniqueness = population.map(|p| Uniqueness::of(&Sizes::of(&sizes), p.people()));
    let attacks = evidence::attacks(cohort, policy)?;
    if !attacks.is_empty() {
        known(RiskPart::Outside { all: &all, models: &models, attacks: &attacks, uniqueness: uniqueness.as_ref() });
    }
    let cost = cost(policy, cohort)?;
    known(RiskPart::Cost(&cost));
    Ok(OriginalRisk {
        quasi: cohort.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
        rows: cohort.tuples.rows,
        people: cohort.tuples.people(),
        has_patients: policy.patient().is_some(),
        all,
        models,
        uniqueness,
        attacks,
        singling_out,
        cost,
    })
}

/// A part of the risk of a table, as soon as it is known.
#[derive(Debug, Clone, Copy)]
pub enum RiskPart<'a> {
    /// The classes of people who look the same, and the three attackers.
    Classes(&'a Risk, &'a Models),
    /// The columns that single people out.
    SinglingOut(&'a Risk, &'a SinglingOut),
    /// The risk from what is known about the population.
    Outside {
        /// The risk from an attacker who knows all quasi-identifiers.
        all: &'a Risk,
        /// The three attackers.
        models: &'a Models,
        /// The matches with each registry.
        attacks: &'a [RegistryAttacks],
        /// The number of people who are unique in the population, if its size is known.
        uniqueness: Option<&'a Uniqueness>,
    },
    /// The cost of reaching k.
    Cost(&'a Cost),
}

/// Computes the cost of k by the policy's method, or by the proposed method with its usual parameters where
/// parameters are still to be chosen or the method would add synthetic records.
fn cost(policy: &Policy, cohort: &Cohort) -> Result<Cost> {
    let k = K::new(TRIED_K).unwrap_or(K::LEAST);
    let privacy = Privacy { k, preset: None, ..policy.privacy.clone() };
    let mut policy = policy.clone();
    policy.privacy = privacy;
    let method = match Method::of(&policy) {
        Ok(method) if method.synthetic().is_none() => method,
        Ok(_) | Err(_) => Method::proposed(&policy)?,
    };
    // What is tried leaves nothing to chance.
    let planned = method.plan(cohort, &policy, &mut Randomness::new(Some(0))?);
    let outcome = planned.map_err(|error| error.message).map(|plan| {
        let released = plan.rows_by_cells(cohort);
        let named = |is: &dyn Fn(f64) -> bool| {
            let shown = |q: usize| released.iter().enumerate().filter(|(_, n)| **n > 0).map(move |(c, _)| (c, q));
            let loss = |(cells, q): (usize, usize)| plan.changed[q].labels[plan.row(cells as u32)[q] as usize].loss;
            let columns = cohort.quasi.iter().enumerate().filter(|(q, _)| shown(*q).map(loss).all(is));
            columns.map(|(_, quasi)| quasi.name.clone()).collect::<Vec<_>>()
        };
        Lost {
            loss: utility::loss(cohort, &plan),
            rows: cohort.tuples.rows - released.iter().sum::<u64>(),
            untouched: named(&|loss| loss == 0.0),
            gone: named(&|loss| loss == 1.0),
        }
    });
    Ok(Cost { k: k.get(), method: method.name(), outcome })
}
