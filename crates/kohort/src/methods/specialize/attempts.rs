//! Several orders of the steps: the best step first is a greedy choice, and another order can end in a
//! better table. Within a budget, several are tried to the end, and the best table is kept.
//!
//! Orders differ in the score that ranks candidates, in the columns that come first or last, in single values that
//! come last, and in whether a step is chosen by looking two steps ahead. The search begins with a few of them. For
//! each, sets of one, two and three columns come last, and the best of these orders is changed in one place at a time,
//! as long as its table becomes better; tables that were compared already are not compared again. All orders keep the
//! guarantee after every step. Tables are compared by what the objective is about: with `class`, by the records that
//! decision trees predict wrongly; with `discernibility`, by the pairs of records that cannot be told apart. The
//! paper's order is the first one, and another one is taken only if it is strictly better.

use super::memory::Memory;
use super::pais::{Pais, Told};
use super::params::{Params, ScoreMode, Search, SpecializeObjective};
use super::step_order::{ColumnSet, LookAhead, SaferFirst, StepOrder};
use super::table_of;
use kohort_core::cohort::Cohort;
use kohort_core::parallel;
use kohort_core::privacy::{Knows, Shorter};
use kohort_core::utility;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// In a table with fewer rows than this the paper's order is taken: a third of them predicts too little
/// to compare tables.
const LEAST_ROWS: u64 = 500;
/// In a table with more distinct tuples than this the paper's order is taken, since one order takes long.
const LARGEST: usize = 1 << 18;
/// The work of a search.
struct Budget {
    /// The maximum number of orders, and of those that also suppress records, which takes several times as long.
    orders: u64,
    suppressing: u64,
    /// The maximum number of tuples times the sets of columns that the first table must be checked for, over all orders.
    checks: u64,
}

/// A search of a few seconds on ten thousand records.
const USUAL: Budget = Budget { orders: 48, suppressing: 32, checks: 1 << 27 };
/// A search of half a minute.
const THOROUGH: Budget = Budget { orders: 960, suppressing: 160, checks: 1 << 31 };
/// The thirds of the rows that are predicted to compare tables are drawn with this seed. The report draws others.
const SEED: u64 = 1;

/// One order of the steps.
#[derive(Debug, Clone)]
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
        let names = |set: ColumnSet| {
            let own = (0..cohort.quasi.len()).filter(|&q| set.has(q)).map(|q| cohort.quasi[q].name.as_str());
            own.collect::<Vec<&str>>().join(" and ")
        };
        let of = |set: ColumnSet, place: &str| match set.is_empty() {
            true => String::new(),
            false => format!(", {} {place}", names(set)),
        };
        let (early, late) = (of(self.order.early, "before all others"), of(self.order.late, "last"));
        let held = match self.order.held.len() {
            0 => String::new(),
            1 => ", 1 value last".to_string(),
            n => format!(", {n} values last"),
        };
        let safer = match self.order.safer_first {
            SaferFirst::No => "",
            SaferFirst::TwiceKnown => ", at first safe from someone who knows twice as much",
            SaferFirst::TwiceK => ", at first with twice the k",
        };
        format!("{score}{ahead}{safer}{first}{early}{late}{held}")
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
    let budget = match params.search {
        Search::Paper => None,
        Search::Best => Some(USUAL),
        Search::Thorough => Some(THOROUGH),
    };
    let Some(budget) = budget else {
        return Best { pais: attempt.finish(start, start.params.max_steps), attempt, tried: 1 };
    };
    if params.objective == SpecializeObjective::None || tuples.rows < LEAST_ROWS || tuples.len() > LARGEST {
        return Best { pais: attempt.finish(start, start.params.max_steps), attempt, tried: 1 };
    }
    let paper = attempt.finish(start, None);
    let within = orders_within(&paper, paper.attacker.known, &budget);
    let left = within.saturating_sub(1);
    let Some(cost) = cost(&paper, params.objective).filter(|_| left > 0) else {
        return Best { pais: paper, attempt, tried: 1 };
    };
    start.cohort.watcher.stage("trying other orders", left);
    let quiet = Pais { told: Told::Nothing, ..start.clone() };
    let mut search =
        OrderSearch { start: &quiet, params, left, tried: 1, seen: BTreeMap::from([(shape(&paper), Some(cost))]) };
    let mut starts = vec![FinishedOrder::of(attempt, &paper, cost)];
    // Other scores first, then two steps ahead and with first steps that are safer than they must be, by the best score.
    let scores = scores(start.cohort).into_iter().filter(|own| *own != params.objective);
    let attempt = |objective| Attempt { params: Params { objective, ..params }, order: StepOrder::default() };
    starts.extend(search.finish(scores.map(attempt).collect()));
    // Sorting is stable: among equals the paper's order comes first.
    starts.sort_by_key(|own| own.cost);
    let order = |look_ahead, safer_first| StepOrder { look_ahead, safer_first, ..StepOrder::default() };
    // In a wide table there are very many more sets of twice as many columns: that would take too long.
    let knows_twice = orders_within(&paper, 2 * paper.attacker.known, &budget) >= (within / 8).max(1);
    let further = [
        Some(order(LookAhead::TwoSteps, SaferFirst::No)),
        knows_twice.then(|| order(LookAhead::None, SaferFirst::TwiceKnown)),
        Some(order(LookAhead::None, SaferFirst::TwiceK)),
    ];
    let params_of_best = starts[0].attempt.params;
    let further = further.into_iter().flatten().map(|order| Attempt { params: params_of_best, order });
    starts.extend(search.finish(further.collect()));
    starts.sort_by_key(|own| own.cost);
    let mut found: Vec<FinishedOrder> = starts.into_iter().map(|own| search.with_columns_last(own)).collect();
    // Each of them is changed as long as it becomes better, the best one first: what begins a little worse may end better.
    found.sort_by_key(|own| own.cost);
    let most = found[0].cost.saturating_mul(100 + WORSE) / 100;
    found.retain(|own| own.cost <= most);
    let first = search.improve(found.remove(0));
    let best = found.into_iter().fold(first, |best, own| {
        let own = search.improve(own);
        if own.cost < best.cost { own } else { best }
    });
    let pais = if best.attempt.order == StepOrder::default() && best.attempt.params == params {
        paper
    } else {
        best.attempt.finish(&quiet, None)
    };
    Best { attempt: best.attempt, pais, tried: search.tried }
}

/// An order with what it splits, and what the objective tries to make small.
#[derive(Clone)]
struct FinishedOrder {
    attempt: Attempt,
    /// The values that are split, in this order: a column, and the leaves of the value.
    splits: Vec<(usize, Range<u32>)>,
    cost: u128,
}

/// Tries orders as long as the budget lasts.
struct OrderSearch<'a, 's> {
    start: &'s Pais<'a>,
    params: Params,
    left: u64,
    tried: u64,
    /// The tables that were measured already, and what was found.
    seen: BTreeMap<Vec<u32>, Option<u128>>,
}

/// The number of orders that are tried at the same time, whatever the number of threads.
const TOGETHER: usize = 4;

/// At most so many columns come last together, and so many sets of each number are followed to larger ones.
const MOST_LAST: usize = 3;
const FOLLOWED: usize = 3;
/// Orders whose tables are worse than the best one by more than this, in percent, are not changed further.
const WORSE: u128 = 5;

impl OrderSearch<'_, '_> {
    /// Goes to the end in these orders. Several orders often end in one table, which is measured once.
    fn finish(&mut self, mut attempts: Vec<Attempt>) -> Vec<FinishedOrder> {
        let watcher = &self.start.cohort.watcher;
        attempts.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        if watcher.is_cancelled() {
            return Vec::new();
        }
        (self.left, self.tried) = (self.left - attempts.len() as u64, self.tried + attempts.len() as u64);
        watcher.advance(attempts.len() as u64);
        let threads = self.start.cohort.threads;
        let finished = parallel::map_items(threads, attempts, |attempt| {
            let pais = attempt.finish(self.start, None);
            let shape = shape(&pais);
            let known = self.seen.get(&shape).copied();
            let cost = known.unwrap_or_else(|| cost(&pais, self.params.objective));
            (cost.map(|cost| FinishedOrder::of(attempt, &pais, cost)), shape)
        });
        let mut orders = Vec::new();
        for (finished, shape) in finished {
            self.seen.insert(shape, finished.as_ref().map(|own| own.cost));
            orders.extend(finished);
        }
        orders
    }

    /// Replaces an order by the best of these where that is better, and returns whether one was.
    fn is_better(&mut self, attempts: Vec<Attempt>, best: &mut FinishedOrder) -> bool {
        let found = self.finish(attempts).into_iter().min_by_key(|own| own.cost);
        match found.filter(|own| own.cost < best.cost) {
            Some(better) => {
                *best = better;
                true
            }
            None => false,
        }
    }

    /// Makes columns of an order come last: what they show can block the others, and often several do so together.
    /// So the best sets are followed to larger ones even where they make the table worse.
    fn with_columns_last(&mut self, start: FinishedOrder) -> FinishedOrder {
        let mut tried = BTreeSet::new();
        let (mut followed, mut best) = (vec![start.clone()], start);
        for _ in 0..MOST_LAST {
            let larger = |own: &FinishedOrder| {
                let late = own.attempt.order.late;
                let columns = own.split_columns().into_iter().filter(|&column| !late.has(column));
                columns.map(|column| own.attempt.with(ColumnChange::Late, column)).collect::<Vec<Attempt>>()
            };
            let mut sets: Vec<Attempt> = followed.iter().flat_map(larger).collect();
            sets.retain(|own| tried.insert(own.order.late));
            let mut found = self.finish(sets);
            found.sort_by_key(|own| own.cost);
            // What costs the same is the same table.
            found.dedup_by_key(|own| own.cost);
            found.truncate(FOLLOWED);
            if let Some(better) = found.first().filter(|own| own.cost < best.cost) {
                best = better.clone();
            }
            followed = found;
        }
        best
    }

    /// Changes an order in one place at a time as long as it becomes better: by columns, then by the values that it
    /// splits.
    fn improve(&mut self, mut best: FinishedOrder) -> FinishedOrder {
        let kinds = [ColumnChange::Late, ColumnChange::First, ColumnChange::Early];
        let columns = 0..self.start.columns.len();
        let changes: Vec<(ColumnChange, usize)> =
            kinds.into_iter().flat_map(|kind| columns.clone().map(move |column| (kind, column))).collect();
        let mut changed = true;
        while changed && self.left > 0 && !self.start.cohort.watcher.is_cancelled() {
            changed = false;
            for some in changes.chunks(TOGETHER) {
                let some = some.iter().filter(|(kind, column)| best.may_differ(*kind, *column));
                let attempts = some.map(|&(kind, column)| best.attempt.with(kind, column)).collect();
                changed |= self.is_better(attempts, &mut best);
            }
            let mut step = 0;
            while step < best.splits.len() {
                let until = best.splits.len().min(step + TOGETHER);
                let attempts = (step..until).map(|step| best.without_step(step)).collect();
                let better = self.is_better(attempts, &mut best);
                changed |= better;
                // A better order makes other steps here.
                step = if better { step } else { until };
            }
        }
        best
    }
}

impl FinishedOrder {
    fn of(attempt: Attempt, pais: &Pais, cost: u128) -> FinishedOrder {
        let split = |q: usize, node: usize| (q, pais.columns[q].nodes[node].leaves.clone());
        let splits = pais.steps.iter().map(|step| split(step.candidate.column, step.candidate.node)).collect();
        FinishedOrder { attempt, splits, cost }
    }

    /// The columns that are split.
    fn split_columns(&self) -> BTreeSet<usize> {
        self.splits.iter().map(|own| own.0).collect()
    }

    /// Returns whether a change of a column can lead to another table: a column that is never split may as well come
    /// last.
    fn may_differ(&self, kind: ColumnChange, column: usize) -> bool {
        let order = &self.attempt.order;
        match kind {
            ColumnChange::Late => order.late.has(column) || self.splits.iter().any(|own| own.0 == column),
            ColumnChange::First => self.splits.first().is_none_or(|own| own.0 != column) || order.late.has(column),
            ColumnChange::Early => true,
        }
    }

    /// The same order, with the value of a step last.
    fn without_step(&self, step: usize) -> Attempt {
        let mut order = self.attempt.order.clone();
        order.held.push(self.splits[step].clone());
        Attempt { params: self.attempt.params, order }
    }
}

/// The cut of each column and the suppressed tuples: the same for tables that tell the same.
fn shape(pais: &Pais) -> Vec<u32> {
    let mut shape = Vec::new();
    for (q, column) in pais.columns.iter().enumerate() {
        let mut starts: Vec<u32> = pais.partitions.cut(q).iter().map(|&node| column.nodes[node].leaves.start).collect();
        starts.sort_unstable();
        shape.extend(starts);
        shape.push(u32::MAX);
    }
    if pais.suppressed > 0 {
        shape.extend((0u32..).zip(&pais.weights).filter(|own| *own.1 == 0).map(|own| own.0));
    }
    shape
}

/// A change of the place of one column in an order.
#[derive(Debug, Clone, Copy)]
enum ColumnChange {
    /// The column comes last, or no longer.
    Late,
    /// The first step is one of the column.
    First,
    /// The column comes before all others, or no longer.
    Early,
}

impl ColumnChange {
    fn of(self, order: &StepOrder, column: usize) -> StepOrder {
        let toggled = |set: ColumnSet| if set.has(column) { set.without(column) } else { set.with(column) };
        let (early, late) = (order.early, order.late);
        let order = order.clone();
        match self {
            ColumnChange::Late => StepOrder { late: toggled(late), early: early.without(column), ..order },
            ColumnChange::First => StepOrder { first: Some(column), late: late.without(column), ..order },
            ColumnChange::Early => StepOrder { early: toggled(early), late: late.without(column), ..order },
        }
    }
}

impl Attempt {
    /// The same order with a change.
    fn with(&self, change: ColumnChange, column: usize) -> Attempt {
        Attempt { params: self.params, order: change.of(&self.order, column) }
    }

    /// Goes to the end in this order, or to `max_steps`: specializes, and suppresses records where the
    /// policy allows it.
    pub(super) fn finish<'a>(&self, start: &Pais<'a>, max_steps: Option<u64>) -> Pais<'a> {
        let mut pais = start.clone();
        pais.params = Params { max_steps, ..self.params };
        pais.order = self.order.clone();
        pais.count_histograms();
        if self.order.safer_first != SaferFirst::No {
            // What is safer is safe: the table is only split further afterwards.
            let (known, k) = (pais.attacker.known, pais.requirements.k);
            match self.order.safer_first {
                SaferFirst::TwiceK => pais.requirements.k = k.saturating_mul(2),
                _ => pais.attacker.known = (2 * known).min(pais.columns.len()),
            }
            pais.run();
            (pais.attacker.known, pais.requirements.k) = (known, k);
            pais.memory = Memory::new(pais.columns.iter().map(|c| c.leaves));
        }
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

/// The number of orders that may be tried, from the work of the first one, against an attacker who knows so many values.
fn orders_within(first: &Pais, known: usize, budget: &Budget) -> u64 {
    let tuples = (first.cohort.tuples.len() as u64).max(1);
    let split = (0..first.columns.len()).filter(|&q| first.partitions.cut(q).len() > 1).count();
    let sets = Knows::Any(known).number(split, Shorter::Implied).unwrap_or(u64::MAX);
    let may_suppress = first.params.max_suppressed.of(first.cohort.tuples.rows) > 0;
    let orders = if may_suppress { budget.suppressing } else { budget.orders };
    (budget.checks / tuples.saturating_mul(sets.max(1))).min(orders)
}

/// Returns what the objective tries to make small. `None` where it cannot be measured.
fn cost(pais: &Pais, objective: SpecializeObjective) -> Option<u128> {
    match objective {
        SpecializeObjective::Class => {
            let plan = table_of(pais);
            utility::predicted_wrongly(pais.cohort, &plan, SEED).map(u128::from)
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
