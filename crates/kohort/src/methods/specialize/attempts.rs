//! Several orders of the steps: the best step first is a greedy choice, and another order can end in a
//! better table. Within a budget, several are tried to the end, and the best table is kept.
//!
//! Orders differ in the score that ranks candidates, in the first column, in the columns that come last, and in
//! whether a step is chosen by looking two steps ahead. All of them keep the guarantee after every step. Tables are
//! compared by what the objective is about: with `class`, by the records that a decision tree predicts
//! wrongly; with `discernibility`, by the pairs of records that cannot be told apart. The paper's order
//! is the first one, and another one is taken only if it is strictly better.

use super::pais::{Pais, Told};
use super::params::{Params, ScoreMode, Search, SpecializeObjective};
use super::step_order::{LookAhead, StepOrder};
use super::table_of;
use kohort_core::cohort::Cohort;
use kohort_core::privacy::{Knows, Shorter};
use kohort_core::utility;

/// In a table with fewer rows than this the paper's order is taken: a third of them predicts too little
/// to compare tables.
const LEAST_ROWS: u64 = 500;
/// In a table with more distinct tuples than this the paper's order is taken, since one order takes long.
const LARGEST: usize = 1 << 18;
/// Maximum number of orders.
const MOST: u64 = 32;
/// Tuples, times the sets of columns that the first table must be checked for, over all orders.
const MOST_CHECKS: u64 = 1 << 27;
/// The rows that are predicted to compare tables are drawn with these seeds. The report draws others.
const SEEDS: [u64; 3] = [1, 2, 3];

/// One order of the steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    /// The parameters, with the score that ranks candidates.
    pub params: Params,
    /// The order.
    pub order: StepOrder,
}

impl Attempt {
    /// The order in words, for the evidence.
    pub(super) fn describe(&self, cohort: &Cohort) -> String {
        let score = match self.params.objective {
            SpecializeObjective::Class => "by information gain",
            SpecializeObjective::Discernibility(ScoreMode::Reduction) => "by pairs of records told apart",
            SpecializeObjective::Discernibility(ScoreMode::PaperBefore) => "largest groups of records first",
            SpecializeObjective::Discernibility(ScoreMode::PaperAfter) => "largest groups that remain first",
            SpecializeObjective::None => "by number of records",
        };
        let ahead = if self.order.look_ahead == LookAhead::TwoSteps { ", looking two steps ahead" } else { "" };
        let first = self.order.first.map_or(String::new(), |q| format!(", beginning with {}", cohort.quasi[q].name));
        let late = (0..cohort.quasi.len()).filter(|&q| self.order.late.has(q)).map(|q| cohort.quasi[q].name.as_str());
        let late: Vec<&str> = late.collect();
        let late = if late.is_empty() { String::new() } else { format!(", {} last", late.join(" and ")) };
        format!("{score}{ahead}{first}{late}")
    }
}

/// The best of the orders that were tried.
pub(super) struct Best<'a> {
    /// The order.
    pub attempt: Attempt,
    /// Its table. Where orders were compared, `max_steps` did not stop it.
    pub pais: Pais<'a>,
    /// The number of orders that were tried.
    pub tried: u64,
}

/// Returns the order that ends in the best table.
pub(super) fn best<'a>(start: &Pais<'a>) -> Best<'a> {
    let params = Params { max_steps: None, ..start.params };
    let attempt = Attempt { params, order: StepOrder::default() };
    let tuples = &start.cohort.tuples;
    if params.search == Search::Paper
        || params.objective == SpecializeObjective::None
        || tuples.rows < LEAST_ROWS
        || tuples.len() > LARGEST
    {
        return Best { attempt, pais: attempt.finish(start, start.params.max_steps), tried: 1 };
    }
    let mut best = Best { attempt, pais: attempt.finish(start, None), tried: 1 };
    let mut left = budget(&best.pais);
    let Some(mut cost) = cost(&best.pais, params.objective).filter(|_| left > 0) else { return best };
    let watcher = &start.cohort.watcher;
    watcher.stage("trying other orders", left.min(scores(start.cohort).len() as u64 + 2 * start.columns.len() as u64));
    let start = &Pais { told: Told::Nothing, ..start.clone() };
    let mut attempt = |attempt: Attempt, best: &mut Best<'a>| {
        if left == 0 || watcher.is_cancelled() {
            return;
        }
        watcher.advance(1);
        left -= 1;
        best.tried += 1;
        let pais = attempt.finish(start, None);
        if let Some(own) = self::cost(&pais, params.objective).filter(|own| *own < cost) {
            cost = own;
            (best.attempt, best.pais) = (attempt, pais);
        }
    };
    // Other scores first, then two steps ahead, further columns last, and other first columns, by the best so far.
    for objective in scores(start.cohort) {
        if objective != params.objective {
            attempt(Attempt { params: Params { objective, ..params }, order: StepOrder::default() }, &mut best);
        }
    }
    let score = best.attempt.params;
    let look_ahead = LookAhead::TwoSteps;
    attempt(Attempt { params: score, order: StepOrder { look_ahead, ..StepOrder::default() } }, &mut best);
    for column in 0..start.columns.len() {
        let order = StepOrder { late: best.attempt.order.late.with(column), ..best.attempt.order };
        attempt(Attempt { params: best.attempt.params, order }, &mut best);
    }
    for column in 0..start.columns.len() {
        let order = StepOrder { first: Some(column), ..best.attempt.order };
        attempt(Attempt { params: best.attempt.params, order }, &mut best);
    }
    best
}

impl Attempt {
    /// Goes to the end in this order, or to `max_steps`: specializes, and suppresses records where the
    /// policy allows it.
    pub(super) fn finish<'a>(&self, start: &Pais<'a>, max_steps: Option<u64>) -> Pais<'a> {
        let mut pais = start.clone();
        pais.params = Params { max_steps, ..self.params };
        pais.order = self.order;
        pais.count_histograms();
        pais.run();
        while pais.unblock() {
            pais.run();
        }
        pais
    }
}

/// The scores that candidates can be ranked by.
fn scores(cohort: &Cohort) -> Vec<SpecializeObjective> {
    let class = cohort.class.is_some().then_some(SpecializeObjective::Class);
    let others = [
        SpecializeObjective::Discernibility(ScoreMode::PaperBefore),
        SpecializeObjective::Discernibility(ScoreMode::Reduction),
        SpecializeObjective::None,
    ];
    class.into_iter().chain(others).collect()
}

/// The number of further orders that may be tried, from the work of the first one.
fn budget(first: &Pais) -> u64 {
    let tuples = (first.cohort.tuples.len() as u64).max(1);
    let split = (0..first.columns.len()).filter(|&q| first.partitions.cut(q).len() > 1).count();
    let sets = Knows::Any(first.attacker.known).number(split, Shorter::Implied).unwrap_or(u64::MAX);
    (MOST_CHECKS / tuples.saturating_mul(sets.max(1))).min(MOST).saturating_sub(1)
}

/// Returns what the objective tries to make small. `None` where it cannot be measured.
fn cost(pais: &Pais, objective: SpecializeObjective) -> Option<u128> {
    match objective {
        SpecializeObjective::Class => {
            let plan = table_of(pais);
            let wrong = SEEDS.map(|seed| utility::predicted_wrongly(pais.cohort, &plan, seed));
            wrong.into_iter().sum::<Option<u64>>().map(u128::from)
        }
        SpecializeObjective::Discernibility(_) => {
            let plan = table_of(pais);
            let rows = u128::from(pais.cohort.tuples.rows);
            let groups = plan.rows_by_cells(pais.cohort);
            let together: u128 = groups.iter().map(|&n| u128::from(n) * u128::from(n)).sum();
            Some(together + u128::from(pais.suppressed) * rows)
        }
        SpecializeObjective::None => None,
    }
}
