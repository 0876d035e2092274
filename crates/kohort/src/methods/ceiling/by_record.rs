//! `recode = "local"`: groups of records that are generalized only as far as they must be, none beyond the ceiling, and
//! synthetic records in groups that have too few people for that.
//!
//! 1. **Groups** of at least s people are made by the engine of local recoding, for several sizes s: smaller groups
//!    keep more detail and need more synthetic records.
//! 2. **Outliers.** The records of groups above the ceiling are grouped again, in smaller and smaller groups of at least
//!    `real_k` people, until none is above it. A record for which even these are too coarse joins a group that stays
//!    below the ceiling with it.
//! 3. **Choice.** Of the groupings within `max_counterfeits` one is taken as among levels: the bend of the curve, or the
//!    least cost. The best classes with one level for each column take part.
//!
//! # Cost
//! That of `local`, once for each size.

use super::bend::bend;
use super::best::{CatalogSearch, CellCosts, cell_costs};
use super::fill::{Refusal, fill};
use super::infeasible;
use super::padding::{PaddingParams, ROW, most_expected};
use super::params::{Ceiling, Params, Prefer};
use crate::lattice::Space;
use crate::local::{
    Check, Class, ClassCheck, Effort, Grouping, LARGEST_K, LossWatch, Member, PointTable, Requirement, Watch, Work,
    group, merge_members, plan_of, rough,
};
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::privacy::Padding;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Trace};
use kohort_core::{Error, Result};

/// The largest lattice whose best classes take part.
const MOST_NODES: usize = 200_000;
/// The groupings that are filled in vain before none is released.
const MOST_TRIED: usize = 8;
/// People beyond k in the largest groups that are tried where padding is randomized: a group of k + g people gets a
/// synthetic record with probability 2^−g.
const BEYOND_K: [u64; 5] = [1, 2, 3, 4, 6];
/// The most that rounding may add to a degree.
const ROUNDING: f64 = 1e-12;

/// A grouping in which no record is above the ceiling.
struct GroupingCandidate {
    /// The people that every group has, except for outliers. `None`: each column has one level.
    size: Option<u64>,
    /// Records in groups that were made smaller to stay below the ceiling.
    outliers: u64,
    grouping: Grouping,
    cost: u64,
    /// Synthetic records expected, in units of 2⁻³².
    counterfeits: u128,
    highest_degree: f64,
}

/// Groups the records below the ceiling, and fills the groups.
pub(super) fn plan(cohort: &Cohort, policy: &Policy, params: &Params, random: &mut Randomness) -> Result<Plan> {
    let table = PointTable::new(cohort);
    let watch = LossWatch::new(&table);
    let search = GroupSearch::new(&table, params, policy, &watch);
    let mut candidates = watch.improve(|| search.candidates());
    cohort.watcher.go_on()?;
    let limit = most_expected(params.max_counterfeits, cohort.tuples.rows);
    if !candidates.iter().any(|own| own.counterfeits <= limit) {
        return Err(search.explain(&candidates));
    }
    candidates.retain(|own| own.counterfeits <= limit);
    let tried = in_order(&candidates, params.prefer);
    let (mut refused, mut why) = (0usize, None);
    for candidate in tried.into_iter().take(MOST_TRIED).map(|number| &candidates[number]) {
        let mut plan = match fill(cohort, policy, params, plan_of(&table, &candidate.grouping, random), random)? {
            Ok(plan) => plan,
            Err(refusal) => {
                (refused, why) = (refused + 1, Some(refusal));
                continue;
            }
        };
        plan.trace = Trace::of([
            ("objective", params.objective.name().into()),
            ("recode", "local".into()),
            ("h", params.ceiling.name().into()),
            ("highest_degree", candidate.highest_degree.into()),
            ("padding", params.padding.name().into()),
            ("groups", candidate.grouping.classes.len().into()),
            ("outliers", candidate.outliers.into()),
            ("refused", refused.into()),
            ("expected_counterfeits", (candidate.counterfeits as f64 / ROW as f64).into()),
            ("may_add", params.max_counterfeits.of(cohort.tuples.rows).into()),
            ("forbidden", params.forbidden.combinations.len().into()),
            ("forbidden_built_in", params.forbidden.built_in.into()),
        ]);
        if let Some(size) = candidate.size {
            plan.trace.0.push(("group_size".into(), size.into()));
        }
        if watch.stopped() {
            plan.trace.note_early_stop();
        }
        return Ok(plan);
    }
    Err(Error::infeasible(infeasible::could_not_be_filled(policy, params, &why.unwrap_or(Refusal::TooMany))))
}

/// The order in which candidates are tried: the one that is preferred, then those that cost less than the others.
fn in_order(candidates: &[GroupingCandidate], prefer: Prefer) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&c| (candidates[c].cost, candidates[c].counterfeits, c));
    // The curve: each point has fewer synthetic records than the one before, and costs more.
    let mut curve: Vec<usize> = Vec::new();
    for &c in &order {
        if curve.last().is_none_or(|&last| candidates[c].counterfeits < candidates[last].counterfeits) {
            curve.push(c);
        }
    }
    let points: Vec<(u64, u128)> = curve.iter().map(|&c| (candidates[c].cost, candidates[c].counterfeits)).collect();
    if let (Prefer::Few, Some(point)) = (prefer, bend(&points)) {
        order.retain(|&c| c != curve[point]);
        order.insert(0, curve[point]);
    }
    order
}

/// The search for groupings below the ceiling.
struct GroupSearch<'a> {
    table: &'a PointTable<'a>,
    params: &'a Params,
    policy: &'a Policy,
    padding: PaddingParams,
    costs: (CellCosts, CellCosts),
    watch: &'a LossWatch<'a>,
}

impl<'a> GroupSearch<'a> {
    fn new(table: &'a PointTable, params: &'a Params, policy: &'a Policy, watch: &'a LossWatch) -> GroupSearch<'a> {
        let padding = PaddingParams { padding: params.padding, k: policy.privacy.k };
        GroupSearch { table, params, policy, padding, costs: cell_costs(table.cohort, params.objective), watch }
    }

    /// The groupings, by size from large to small, as long as there is time and synthetic records suffice. Where none
    /// do, the last one tells how many would.
    fn candidates(&self) -> Vec<GroupingCandidate> {
        let limit = most_expected(self.params.max_counterfeits, self.table.cohort.tuples.rows);
        let mut candidates: Vec<GroupingCandidate> = self.at_levels().into_iter().collect();
        for size in self.sizes() {
            if self.watch.is_cancelled() {
                break;
            }
            if self.watch.stopped() && candidates.iter().any(|own| own.counterfeits <= limit) {
                break;
            }
            let Some(own) = self.of_size(size) else { continue };
            let is_too_many = own.counterfeits > limit;
            candidates.push(own);
            if is_too_many && size < self.policy.privacy.k.get() {
                break;
            }
        }
        candidates
    }

    /// The sizes of groups that are tried: some above k where padding is randomized, k, and some down to `real_k`.
    fn sizes(&self) -> Vec<u64> {
        let (k, real_k) = (self.policy.privacy.k.get(), self.params.real_k);
        let people = self.table.cohort.tuples.people();
        let beyond: &[u64] = match self.padding.padding {
            Padding::Exact => &[],
            Padding::Randomized => &BEYOND_K,
        };
        let mut sizes: Vec<u64> = beyond.iter().map(|more| k + more).collect();
        let mut below = 0;
        while k.saturating_sub(below) > real_k {
            sizes.push(k - below);
            below = (2 * below).max(1);
        }
        sizes.push(real_k);
        sizes.retain(|&size| size <= people);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    /// The best classes with one level for each column.
    fn at_levels(&self) -> Option<GroupingCandidate> {
        let cohort = self.table.cohort;
        let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
        let space = Space::new(levels, MOST_NODES)?;
        let best = CatalogSearch::new(cohort, &space, self.params, self.policy.privacy.k).best(&[])?;
        let grouping = self.table.at_levels(&best.levels, &vec![true; cohort.tuples.len()]);
        self.candidate(None, grouping, 0)
    }

    /// Groups of at least so many people, and smaller ones of outliers.
    fn of_size(&self, size: u64) -> Option<GroupingCandidate> {
        let all = self.table.points.len() as u32;
        let everybody: Vec<Member> =
            (0..all).map(|point| Member { point, rows: self.table.points.rows[point as usize] }).collect();
        let first = self.grouped(&everybody, size)?;
        let (mut classes, mut above): (Vec<Class>, Vec<Class>) =
            first.into_iter().partition(|class| self.is_within(class));
        let rows = |classes: &[Class]| classes.iter().map(|class| u64::from(class.rows)).sum::<u64>();
        let outliers = rows(&above);
        let mut smaller = size;
        while !above.is_empty() && smaller > self.params.real_k {
            smaller -= ((smaller - self.params.real_k) / 2).max(1);
            let members: Vec<Member> = above.iter().flat_map(|class| class.members.clone()).collect();
            let Some(finer) = self.grouped(&members, smaller) else { break };
            let (within, rest): (Vec<Class>, Vec<Class>) = finer.into_iter().partition(|class| self.is_within(class));
            classes.extend(within);
            above = rest;
        }
        for member in above.into_iter().flat_map(|class| class.members) {
            self.join(&mut classes, member)?;
        }
        self.candidate(Some(size), Grouping { classes, removed: Vec::new() }, outliers)
    }

    /// Groups these rows alone; `None` if they cannot meet the requirement.
    fn grouped(&self, rows: &[Member], size: u64) -> Option<Vec<Class>> {
        let (points, number) = self.table.points.only(rows);
        let k = u32::try_from(size).ok()?;
        let check = self.check(size);
        let there = |members: &[Member]| -> Vec<Member> {
            members.iter().map(|own| Member { point: number[own.point as usize], ..*own }).collect()
        };
        let holds: Check = &|members: &[Member]| check.holds(&there(members));
        let requirement = Requirement { k, check: (!points.splits).then_some(holds) };
        let threads = self.table.cohort.threads;
        let work = Work { may_remove: 0, effort: Effort::Fast, threads, watch: self.watch };
        let grouping = match k <= LARGEST_K {
            true => group(&points, &requirement, work)?,
            false => rough(&points, &requirement, work)?,
        };
        let whole = |class: Class| Class::new(&self.table.points, there(&class.members));
        Some(grouping.classes.into_iter().map(whole).collect())
    }

    /// Lets a record join the group that grows least in cost, of those that stay below the ceiling with it.
    fn join(&self, classes: &mut [Class], member: Member) -> Option<()> {
        let points = &self.table.points;
        let joined = |class: &Class| {
            let mut members = class.members.clone();
            members.push(member);
            merge_members(&mut members);
            Class::new(points, members)
        };
        let growth = |class: &Class| class.cost_with(points, member) - class.cost();
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by_key(|&class| (growth(&classes[class]), class));
        let requirement = self.check(self.params.real_k);
        let holds = |class: &Class| points.splits || requirement.holds(&class.members);
        let found = order.into_iter().map(|class| (class, joined(&classes[class])));
        let (class, joined) = found.into_iter().find(|(_, joined)| self.is_within(joined) && holds(joined))?;
        classes[class] = joined;
        Some(())
    }

    fn check(&self, people: u64) -> ClassCheck<'_> {
        ClassCheck::new(self.table, people, None)
    }

    /// The mean loss of the labels of a class: the degree of its records.
    fn degree(&self, class: &Class) -> f64 {
        let cohort = self.table.cohort;
        let shown = self.table.shown(&class.labels);
        let loss = shown
            .iter()
            .zip(&cohort.quasi)
            .map(|(own, quasi)| quasi.hierarchy.levels[own.level].labels[own.label as usize].loss);
        loss.sum::<f64>() / cohort.quasi.len() as f64
    }

    /// Returns whether a class shows permitted labels, and none of its records is above the ceiling.
    fn is_within(&self, class: &Class) -> bool {
        self.table.points.is_permitted(class.row_cost)
            && match self.params.ceiling {
                Ceiling::Auto => true,
                Ceiling::At(h) => self.degree(class) <= h.to_f64() + ROUNDING,
            }
    }

    /// Counts everything again on the groups as they will look; `None` if something does not hold.
    fn candidate(&self, size: Option<u64>, mut grouping: Grouping, outliers: u64) -> Option<GroupingCandidate> {
        let points = &self.table.points;
        grouping.merge_equal(points);
        let check = self.check(self.params.real_k);
        let holds: Check = &|members: &[Member]| check.holds(members);
        let k = u32::try_from(self.params.real_k).ok()?;
        let requirement = Requirement { k, check: (!points.splits).then_some(holds) };
        if !grouping.holds(points, &requirement) || !grouping.classes.iter().all(|class| self.is_within(class)) {
            return None;
        }
        let (mut cost, mut counterfeits, mut highest_degree) = (0u64, 0u128, 0f64);
        for class in &grouping.classes {
            let expected = self.padding.expected(self.table.people_of(&class.members));
            counterfeits += u128::from(expected);
            cost = cost.saturating_add(self.cost(class, expected));
            highest_degree = highest_degree.max(self.degree(class));
        }
        Some(GroupingCandidate { size, outliers, grouping, cost, counterfeits, highest_degree })
    }

    /// The cost of the rows of a class and of the synthetic records expected in it, in units of 2⁻³².
    fn cost(&self, class: &Class, expected: u64) -> u64 {
        let tuples = &self.table.cohort.tuples;
        let Some(tuple) = self.table.tuples_of(&class.members).next() else { return 0 };
        let shown = self.table.shown(&class.labels);
        let sum = |costs: &CellCosts| -> u64 {
            let cells = shown.iter().enumerate();
            cells.map(|(q, own)| costs[q][own.level][tuples.code(tuple, q) as usize]).sum()
        };
        let synthetic = (u128::from(expected) * u128::from(sum(&self.costs.1)) / u128::from(ROW)) as u64;
        sum(&self.costs.0).saturating_mul(u64::from(class.rows)).saturating_add(synthetic)
    }

    /// Why no grouping can be released, and the nearest that can.
    fn explain(&self, candidates: &[GroupingCandidate]) -> Error {
        let (params, cohort) = (self.params, self.table.cohort);
        let people = if cohort.tuples.patients.is_some() { "patients" } else { "rows" };
        let rows = cohort.tuples.rows;
        if cohort.tuples.people() < params.real_k {
            return Error::infeasible(format!(
                "the table has {} {people}, fewer than real_k = {}. The largest real_k that can be met is {}.",
                cohort.tuples.people(),
                params.real_k,
                cohort.tuples.people()
            ));
        }
        if let Some(fewest) = candidates.iter().map(|own| own.counterfeits).min() {
            return Error::infeasible(infeasible::found_needs_more(params, fewest, rows));
        }
        let Ceiling::At(h) = params.ceiling else {
            return Error::infeasible(format!(
                "what is required of sensitive values cannot be met by the real {people} of every group. Require less, \
                 or permit coarser levels."
            ));
        };
        let open = Params { ceiling: Ceiling::Auto, ..params.clone() };
        let open = GroupSearch::new(self.table, &open, self.policy, self.watch).of_size(params.real_k);
        Error::infeasible(match open {
            // Rounded up, so that what is said is met.
            Some(open) => format!(
                "h = {h}: some records have fewer than real_k = {} others like them below this ceiling. It can be met \
                 with h = {}, or with a smaller real_k.",
                params.real_k,
                (open.highest_degree * 1e6 - 1e-6).ceil() / 1e6
            ),
            None => format!(
                "what is required of sensitive values cannot be met by the real {people} of every group. Require less, \
                 raise h, or permit coarser levels."
            ),
        })
    }
}
