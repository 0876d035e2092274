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
mod ranges;
#[cfg(test)]
mod tests;

pub use entry::METHOD;
pub use params::Params;

use self::full_domain::{FullDomain, full_domain, lattice};
use crate::lattice::{SearchLimits, explain};
use crate::local::{
    Cells, ClassCheck, Effort, Grouping, LARGEST_K, LossWatch, Point, PointTable, Points, Requirement, Settled,
    Unwatched, Watch, Work, column_parts, group, improve, plan_of, settle,
};
use crate::methods::TableMethod;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};

/// Tables with more quasi-identifiers or points than this are not grouped over all columns where an attacker knows
/// only some of them.
const NARROW: usize = 10;
const FEW_POINTS: usize = 50_000;
/// With at most this many points times sets, two starts are tried where an attacker knows some of the columns.
const FEW_CLASSES: usize = 30_000_000;

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
    let table = PointTable::with_ranges(cohort, |column| ranges::cells(cohort, policy, column));
    let watch = LossWatch::new(&table);
    let best = watch.improve(|| best(&table, limits, params, &watch));
    cohort.watcher.go_on()?;
    let Some(grouping) = best else {
        let top: Vec<usize> = cohort.quasi.iter().map(|q| q.levels.last().copied().unwrap_or(0)).collect();
        return Err(explain(cohort, policy, &top, limits));
    };
    let mut plan = plan_of(&table, &grouping, random);
    ranges::show_ranges(cohort, policy, &mut plan);
    let effort = match params.effort {
        Effort::Fast => "fast",
        Effort::Thorough => "thorough",
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
    bound(cohort, |points| crate::local::lower_bound(points, k, cohort.threads))
}

/// The same by prices of rows that no group can undercut: it is at least as high, and takes longer.
pub fn dual_bound(cohort: &Cohort, k: u32) -> f64 {
    bound(cohort, |points| crate::local::dual_bound(points, k, cohort.threads))
}

fn bound(cohort: &Cohort, cost: impl FnOnce(&Points) -> u64) -> f64 {
    let table = PointTable::new(cohort);
    cost(&table.points) as f64 / (table.points.removal as f64 * cohort.tuples.rows.max(1) as f64)
}

/// The cheapest grouping found that meets everything. More effort goes on from what less effort finds, or keeps it where
/// nothing cheaper is found: it never loses more.
fn best(table: &PointTable, limits: SearchLimits, params: &Params, watch: &LossWatch) -> Option<Grouping> {
    let k = u32::try_from(limits.k.get()).ok().filter(|&k| u64::from(k) <= table.cohort.tuples.people())?;
    let work = Work { may_remove: limits.suppressed, effort: Effort::Fast, threads: table.cohort.threads, watch };
    let search = GroupingSearch { table, k, limits, work };
    let fast = search.best();
    let more = match params.effort {
        // Any three of very many columns are done with all that there is to do.
        Effort::Thorough if table.cohort.sets_not_all.is_none() && !watch.is_enough() && !watch.is_cancelled() => {
            let search = GroupingSearch { work: Work { effort: Effort::Thorough, ..work }, ..search };
            if knows_all(table.cohort) { fast.as_ref().and_then(|fast| search.improved(fast)) } else { search.best() }
        }
        _ => None,
    };
    fast.into_iter().chain(more).min_by_key(|grouping| grouping.cost(&table.points))
}

/// Returns whether groups over all columns are tried although an attacker knows only some of them: records that
/// look the same over all columns do so over some. In narrow tables that may lose less than single cells.
fn groups_may_be_better(table: &PointTable) -> bool {
    table.cohort.required.is_empty() && table.cohort.quasi.len() <= NARROW && table.points.len() <= FEW_POINTS
}

/// Returns whether the attacker is one who knows every quasi-identifier.
fn knows_all(cohort: &Cohort) -> bool {
    matches!(&cohort.sets[..], [set] if set.len() == cohort.quasi.len())
}

/// The search for groupings of a table.
struct GroupingSearch<'a> {
    table: &'a PointTable<'a>,
    k: u32,
    limits: SearchLimits,
    work: Work<'a>,
}

impl GroupingSearch<'_> {
    /// The cheapest grouping of all starts.
    fn best(&self) -> Option<Grouping> {
        let GroupingSearch { table, k, work, .. } = *self;
        let cost = |grouping: &Grouping| grouping.cost(&table.points);
        let all = knows_all(table.cohort);
        let boxes = if k <= LARGEST_K && (all || groups_may_be_better(table)) { self.by_boxes() } else { None };
        // What there is will do where the work is to end.
        let other = match all {
            _ if work.watch.is_cancelled() => None,
            _ if boxes.is_some() && work.watch.is_enough() => None,
            true => self.by_levels(boxes.as_ref().map(cost)),
            false => self.by_cells(),
        };
        boxes.into_iter().chain(other).filter(|g| !g.classes.is_empty()).min_by_key(cost)
    }

    /// Goes on from a grouping over all columns.
    fn improved(&self, grouping: &Grouping) -> Option<Grouping> {
        let points = &self.table.points;
        let improved = self
            .with_requirement(Some(grouping), |requirement| improve(points, requirement, grouping.clone(), self.work));
        self.settled(improved).filter(|grouping| !grouping.classes.is_empty())
    }

    /// Starts with cheapest boxes.
    fn by_boxes(&self) -> Option<Grouping> {
        let grouping = self.with_requirement(None, |requirement| group(&self.table.points, requirement, self.work))?;
        self.settled(grouping)
    }

    /// Starts with full-domain classes, unless they cost more than another grouping to begin with.
    fn by_levels(&self, other: Option<u64>) -> Option<Grouping> {
        let GroupingSearch { table, limits, work, .. } = *self;
        let FullDomain { levels, kept } = full_domain(table, limits)?;
        let mut start = table.at_levels(&levels, &kept);
        start.merge_equal(&table.points);
        if other.is_some_and(|other| other < start.cost(&table.points)) {
            return None;
        }
        let (holds, improved) = self.with_requirement(Some(&start), |requirement| {
            let mut settled = start.clone();
            let improved = settle(&table.points, requirement, &mut settled, limits.suppressed)
                .map(|_| improve(&table.points, requirement, settled, work));
            (start.holds(&table.points, requirement), improved)
        });
        // Where t-closeness is required, records that are removed later change what all groups are compared with, and
        // settling that may cost more than there was to gain.
        let improved = improved.and_then(|grouping| self.settled(grouping));
        holds.then_some(start).into_iter().chain(improved).min_by_key(|grouping| grouping.cost(&table.points))
    }

    /// Chooses labels cell by cell, so that the classes over every set that an attacker may know hold.
    fn by_cells(&self) -> Option<Grouping> {
        let GroupingSearch { table, k, work, .. } = *self;
        let points = &table.points;
        let place = |set: &Vec<usize>| {
            let mut placed: Vec<usize> = set.iter().map(|&column| points.place(column)).collect();
            placed.sort_unstable();
            placed
        };
        let mut sets: Vec<Vec<usize>> = table.cohort.sets.iter().map(place).collect();
        sets.sort_unstable();
        if table.cohort.sets_not_all.is_some() {
            return self.by_parts(self.suppressed()).map(|cells| cells.grouping());
        }
        // There is a result from the beginning, so that the work can end at any moment.
        let mut found: Vec<Cells> = self.one_level_each(&sets).into_iter().collect();
        found.iter().for_each(|cells| work.watch.found(cells.cost()));
        if points.splits && !work.watch.is_enough() {
            found.extend(Cells::by_orders(points, &sets, k, work));
        }
        let few = points.len().saturating_mul(sets.len()) <= FEW_CLASSES;
        let three = !few && table.cohort.required.is_empty() && are_any_three(&sets, points.width());
        if three {
            let best = found.into_iter().min_by_key(Cells::cost);
            found = self.by_parts(best).into_iter().collect();
        } else {
            if !few {
                self.settle_parts(&sets, &mut found);
            }
            if found.is_empty() || !work.watch.is_enough() {
                let work = to_its_end(work, found.is_empty());
                found.extend(self.settled_cells(Cells::new(points, &sets, k, work), &sets, work));
            }
        }
        // Where the table is small enough, cells start at their finest labels as well.
        if few && !work.watch.is_enough() {
            found.extend(self.settled_cells(Cells::finest(points), &sets, work));
        }
        let best = found.into_iter().min_by_key(|cells| cells.cost())?;
        if !points.splits || work.watch.is_enough() {
            return Some(best.grouping());
        }
        let mut finer = best.clone();
        let improved = finer.improve(&sets, &Requirement { k, check: None }, work);
        let is_better = improved.is_some() && finer.cost() < best.cost();
        Some(if is_better { finer.grouping() } else { best.grouping() })
    }

    /// Any three of very many columns: first some of them are shown and the others suppressed, then more and more, so
    /// that there is a useful result long before the work is done. Returns the cheapest of these and of the one that there
    /// is.
    fn by_parts<'c>(&'c self, mut best: Option<Cells<'c>>) -> Option<Cells<'c>> {
        let GroupingSearch { table, k, work, .. } = *self;
        best.iter().for_each(|cells| work.watch.found(cells.cost()));
        for columns in column_parts(&table.points, k, 3, work.threads) {
            if best.is_some() && work.watch.is_enough() {
                break;
            }
            let shown = self.with_requirement(None, |requirement| {
                Cells::any_three(&table.points, &columns, requirement, to_its_end(work, best.is_none()))
            });
            best = best.into_iter().chain(shown).min_by_key(Cells::cost);
        }
        best
    }

    /// The best labels with one level for each column, as `lattice` finds them, if they hold cell by cell; the coarsest
    /// labels where the lattice is too large to be searched.
    fn one_level_each(&self, sets: &[Vec<usize>]) -> Option<Cells<'_>> {
        let (table, points) = (self.table, &self.table.points);
        if lattice(table).is_none() {
            return self.suppressed();
        }
        let FullDomain { levels, kept } = full_domain(table, self.limits)?;
        let all = 0..points.len() as Point;
        let labels = all.clone().flat_map(|point| table.labels_at(&levels, point)).collect();
        // All tuples of a point are in one class over every set, and kept or removed together.
        let removed = all.map(|point| !table.tuples(point).iter().any(|&tuple| kept[tuple as usize])).collect();
        let cells = Cells::with_labels(points, labels, removed);
        let released = cells.grouping();
        let threads = self.work.threads;
        self.with_requirement(Some(&released), |requirement| cells.holds(sets, requirement, threads)).then_some(cells)
    }

    /// The coarsest label in every cell, where that is permitted and what is required holds for all rows together: they
    /// look the same over every set.
    fn suppressed(&self) -> Option<Cells<'_>> {
        let points = &self.table.points;
        let labels = vec![0; points.len() * points.width()];
        let cells = Cells::with_labels(points, labels, vec![false; points.len()]);
        let released = cells.grouping();
        self.with_requirement(Some(&released), |requirement| released.holds(points, requirement)).then_some(cells)
    }

    /// Coarsens cells until every class over every set holds, and makes finer again what may be. `None` where too many
    /// rows would have to be removed, or where the work is to end.
    fn settled_cells<'c>(&self, mut cells: Cells<'c>, sets: &[Vec<usize>], work: Work) -> Option<Cells<'c>> {
        loop {
            let released = cells.grouping();
            // t-closeness compares with the rows that are released.
            let settled = self.with_requirement(Some(&released), |requirement| {
                let settled = cells.settle(sets, requirement, work)?;
                cells.restore(sets, requirement, work)?;
                Some(settled)
            })?;
            if settled == Settled::AllKept || self.table.cohort.required.is_empty() {
                work.watch.found(cells.cost());
                return Some(cells);
            }
        }
    }

    /// Settles some of the columns while the others are suppressed, then more and more of them, but not all.
    fn settle_parts<'c>(&'c self, sets: &[Vec<usize>], found: &mut Vec<Cells<'c>>) {
        let GroupingSearch { table, k, work, .. } = *self;
        let largest = sets.iter().map(Vec::len).max().unwrap_or(0);
        let mut parts = column_parts(&table.points, k, largest, work.threads);
        parts.pop();
        for columns in parts {
            if work.watch.is_enough() {
                return;
            }
            let shown = |set: &Vec<usize>| set.iter().copied().filter(|column| columns.contains(column)).collect();
            let mut sets: Vec<Vec<usize>> = sets.iter().map(shown).collect();
            sets.sort_unstable();
            sets.dedup();
            let cells = Cells::new(&table.points, &sets, k, work).only(&columns);
            found.extend(self.settled_cells(cells, &sets, work));
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

/// Returns whether these are all sets of three of so many columns.
fn are_any_three(sets: &[Vec<usize>], columns: usize) -> bool {
    let number = columns * columns.saturating_sub(1) / 2 * columns.saturating_sub(2) / 3;
    sets.len() == number && sets.iter().all(|set| set.len() == 3)
}

/// The same work, which does not end early where nothing else was found.
fn to_its_end(work: Work, nothing_else: bool) -> Work {
    if nothing_else { Work { watch: &Unwatched, ..work } } else { work }
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
