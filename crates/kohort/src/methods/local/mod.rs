//! `local`: every record is coarsened only as far as it must be. See METHOD.md.
//!
//! # Guarantee
//! Every group of records with the same labels over all quasi-identifiers meets every requirement of the
//! policy.
//!
//! # Source
//! Our own: covering by cheapest boxes with lending, and repair (METHOD.md).
//!
//! # Cost
//! Follows distinct tuples: half a second for the 19,502 of the Adult table.

mod entry;
mod full_domain;
mod params;
mod parts;
mod ranges;
mod requirement;
mod table;
#[cfg(test)]
mod tests;
mod watch;

pub use entry::METHOD;
pub use params::Params;

use crate::lattice::{SearchLimits, explain};
use crate::local::{
    Cells, Grouping, LARGEST_K, Requirement, Settled, Watch, Work, group, improve, settle, some_sets_of_three,
};
use crate::methods::TableMethod;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use requirement::ClassCheck;
use table::Table;
use watch::LossWatch;

/// Tables with more quasi-identifiers or points than this are not grouped over all columns where an attacker knows
/// only some of them.
const NARROW: usize = 10;
const FEW_POINTS: usize = 50_000;
/// The sets of three columns by which the first labels are chosen, where there are too many to list them.
const START_SETS: usize = 8_000;

impl TableMethod for Params {
    fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        plan(cohort, policy, self, random)
    }

    fn counts_any_three(&self) -> bool {
        true
    }
}

/// Groups the records and coarsens each group to the labels that its records share.
pub fn plan(cohort: &Cohort, policy: &Policy, params: &Params, random: &mut Randomness) -> Result<Plan> {
    hides_can_be_shown(cohort, policy)?;
    let limits = SearchLimits { k: policy.privacy.k, suppressed: params.max_suppressed.of(cohort.tuples.rows) };
    let table = Table::new(cohort);
    let watch = LossWatch::new(&table);
    let best = watch.improve(|| best(&table, limits, params, &watch));
    let Some(grouping) = best else {
        let top: Vec<usize> = cohort.quasi.iter().map(|q| q.levels.last().copied().unwrap_or(0)).collect();
        return Err(explain(cohort, policy, &top, limits));
    };
    let mut plan = parts::plan(&table, &grouping, random);
    ranges::show_ranges(cohort, policy, &mut plan);
    let effort = match params.effort {
        crate::local::Effort::Fast => "fast",
        crate::local::Effort::Thorough => "thorough",
    };
    plan.trace = Trace::of([
        ("effort", effort.into()),
        ("max_suppressed", params.max_suppressed.to_string().into()),
        ("groups", grouping.classes.len().into()),
        ("suppressed", grouping.removed_rows().into()),
        ("may_suppress", limits.suppressed.into()),
    ]);
    if watch.stopped() {
        plan.trace.note_early_stop();
    }
    Ok(plan)
}

/// The least loss of any release in which every group has k rows, by what each row costs in the cheapest
/// labels around it.
pub fn lower_bound(cohort: &Cohort, k: u32) -> f64 {
    let table = Table::new(cohort);
    let bound = crate::local::lower_bound(&table.points, k, cohort.threads);
    bound as f64 / (table.points.removal as f64 * cohort.tuples.rows.max(1) as f64)
}

/// The cheapest grouping found that meets everything.
fn best(table: &Table, limits: SearchLimits, params: &Params, watch: &LossWatch) -> Option<Grouping> {
    let k = u32::try_from(limits.k.get()).ok().filter(|&k| u64::from(k) <= table.cohort.tuples.people())?;
    let work = Work { may_remove: limits.suppressed, effort: params.effort, threads: table.cohort.threads, watch };
    let search = Search { table, k, limits, work };
    let cost = |grouping: &Grouping| grouping.cost(&table.points);
    let all = knows_all(table.cohort);
    let boxes = if k <= LARGEST_K && (all || groups_may_be_better(table)) { search.by_boxes() } else { None };
    // What there is will do where the work is to end.
    let other = match all {
        _ if boxes.is_some() && watch.is_enough() => None,
        true => search.by_levels(boxes.as_ref().map(cost)),
        false => search.by_cells(),
    };
    boxes.into_iter().chain(other).filter(|g| !g.classes.is_empty()).min_by_key(cost)
}

/// Returns whether groups over all columns are tried although an attacker knows only some of them: records that
/// look the same over all columns do so over some. In narrow tables that may lose less than single cells.
fn groups_may_be_better(table: &Table) -> bool {
    table.cohort.required.is_empty() && table.cohort.quasi.len() <= NARROW && table.points.len() <= FEW_POINTS
}

/// Returns whether the attacker is one who knows every quasi-identifier.
fn knows_all(cohort: &Cohort) -> bool {
    matches!(&cohort.sets[..], [set] if set.len() == cohort.quasi.len())
}

/// The search for groupings of a table.
struct Search<'a> {
    table: &'a Table<'a>,
    k: u32,
    limits: SearchLimits,
    work: Work<'a>,
}

impl Search<'_> {
    /// Starts with cheapest boxes.
    fn by_boxes(&self) -> Option<Grouping> {
        let grouping = self.with_requirement(None, |requirement| group(&self.table.points, requirement, self.work))?;
        self.settled(grouping)
    }

    /// Starts with full-domain classes, unless they cost more than another grouping to begin with.
    fn by_levels(&self, other: Option<u64>) -> Option<Grouping> {
        let Search { table, limits, work, .. } = *self;
        let start = full_domain::full_domain(table, limits)?;
        if other.is_some_and(|other| other < start.cost(&table.points)) {
            return None;
        }
        let grouping = self.with_requirement(Some(&start.clone()), |requirement| {
            let mut start = start;
            settle(&table.points, requirement, &mut start, limits.suppressed)?;
            Some(improve(&table.points, requirement, start, work))
        })?;
        self.settled(grouping)
    }

    /// Coarsens single cells, until the classes over every set that an attacker may know hold.
    fn by_cells(&self) -> Option<Grouping> {
        let Search { table, k, limits, .. } = *self;
        let (points, threads) = (&table.points, table.cohort.threads);
        let place = |set: &Vec<usize>| {
            let mut placed: Vec<usize> = set.iter().map(|&column| points.place(column)).collect();
            placed.sort_unstable();
            placed
        };
        let mut sets: Vec<Vec<usize>> = table.cohort.sets.iter().map(place).collect();
        sets.sort_unstable();
        if table.cohort.sets_not_all.is_some() {
            // The sets that are listed have fewer columns: what holds for three holds for them, and they cost less.
            let mut cells = Cells::new(points, &some_sets_of_three(points.width(), START_SETS), k, threads);
            let requirement = Requirement { k, check: None };
            cells.settle(&sets, &requirement, limits.suppressed, threads)?;
            cells.settle_any_three(&requirement, limits.suppressed, threads)?;
            return Some(cells.grouping());
        }
        let mut cells = Cells::new(points, &sets, k, threads);
        loop {
            let released = cells.grouping();
            // t-closeness compares with the rows that are released.
            let settled = self.with_requirement(Some(&released), |requirement| {
                cells.settle(&sets, requirement, limits.suppressed, threads)
            })?;
            if settled == Settled::AllKept || table.cohort.required.is_empty() {
                return Some(cells.grouping());
            }
        }
    }

    /// Counts everything again for the rows that are released, and settles what fails, until nothing does:
    /// t-closeness compares with the released rows, and classes with equal labels are one class.
    fn settled(&self, mut grouping: Grouping) -> Option<Grouping> {
        let points = &self.table.points;
        loop {
            grouping.merge_equal(points);
            let before = grouping.clone();
            let holds = self.with_requirement(Some(&before), |requirement| {
                if grouping.holds(points, requirement) {
                    return Some(true);
                }
                settle(points, requirement, &mut grouping, self.limits.suppressed)?;
                Some(false)
            })?;
            if holds {
                return Some(grouping);
            }
        }
    }

    /// Calls `work` with the requirement on classes of a release of these rows, or of all rows.
    fn with_requirement<R>(&self, released: Option<&Grouping>, work: impl FnOnce(&Requirement) -> R) -> R {
        if self.table.points.splits {
            return work(&Requirement { k: self.k, check: None });
        }
        let check = ClassCheck::new(self.table, u64::from(self.k), released);
        work(&Requirement { k: self.k, check: Some(&|members| check.holds(members)) })
    }
}

/// Refuses a column that must be hidden where another is coarsened, but has no `*` to hide behind.
fn hides_can_be_shown(cohort: &Cohort, policy: &Policy) -> Result<()> {
    for &(finer, coarser) in &cohort.dependencies {
        let (finer, coarser) = (&cohort.quasi[finer], &cohort.quasi[coarser]);
        if finer.levels.last() != Some(&(finer.hierarchy.levels.len() - 1)) {
            return Err(policy.error(format!(
                "column `{}` reveals `{}`, so `local` suppresses it wherever `{}` is coarsened. Add \"*\" to its `levels`.",
                finer.name, coarser.name, coarser.name
            )));
        }
    }
    Ok(())
}
