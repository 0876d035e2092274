//! Query error: how far counts by value, or by values of several columns, are off if they are taken
//! from a release (SELECT COUNT(*) … GROUP BY). What a label stands for shares its count evenly; rows
//! that are synthetic count, but for what the catalog takes off.

use super::trust::Trust;
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::release::Plan;
use crate::table::Keys;

/// Sets of several columns are looked at until so many tuples were, but one of each number at least.
const MOST_LOOKS: usize = 300_000;
/// Counts over more columns than this are not looked at.
const MOST_COLUMNS: usize = 4;

/// The mean of |estimate − count| / count over the groups that the original has.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryError {
    /// One entry per quasi-identifier.
    pub by_column: Vec<f64>,
    /// One entry per number of columns, from one: the mean over sets of so many.
    pub by_number: Vec<f64>,
}

/// Measures it.
pub fn query_error(published: &PublishedCounts) -> QueryError {
    let cohort = published.cohort;
    let columns = cohort.quasi.len();
    let by_column: Vec<f64> = (0..columns).map(|q| published.error_of_one(q)).collect();
    let mut by_number = vec![by_column.iter().sum::<f64>() / columns.max(1) as f64];
    let mut looks = MOST_LOOKS;
    for number in 2..=columns.min(MOST_COLUMNS) {
        let sets = subsets(columns, number);
        let each = cohort.tuples.len().max(1);
        let most = (looks / (MOST_COLUMNS + 1 - number) / each).clamp(1, sets.len());
        looks = looks.saturating_sub(most * each);
        // Evenly spaced among all sets of so many.
        let errors: Vec<f64> = (0..most).map(|i| published.error(&sets[i * sets.len() / most])).collect();
        by_number.push(errors.iter().sum::<f64>() / most as f64);
    }
    QueryError { by_column, by_number }
}

fn subsets(columns: usize, number: usize) -> Vec<Vec<usize>> {
    // Beyond, the first ones stand for all: there are too many to list.
    let mut sets = vec![Vec::new()];
    for _ in 0..number {
        let longer = sets.iter().flat_map(|set: &Vec<usize>| {
            let from = set.last().map_or(0, |l| l + 1);
            (from..columns).map(move |c| [&set[..], &[c]].concat())
        });
        sets = longer.take(20_000).collect();
    }
    sets
}

/// A release as its recipient counts it.
pub struct PublishedCounts<'a> {
    pub(super) cohort: &'a Cohort,
    plan: &'a Plan,
    trust: Trust,
    /// Rows of cells that are shown, and how many rows they count for.
    rows: Vec<(u32, f64)>,
    /// One entry per column and value: the labels it could be shown as, each with its share of their count.
    labels: Vec<Vec<Vec<(u32, f64)>>>,
}

impl<'a> PublishedCounts<'a> {
    /// Counts what a plan publishes.
    pub fn new(cohort: &'a Cohort, plan: &'a Plan) -> PublishedCounts<'a> {
        let trust = Trust::of(cohort, plan);
        let mut counts = vec![0.0; plan.cells.len() / plan.changed.len().max(1)];
        let columns = cohort.quasi.len();
        let mut labels: Vec<Vec<Vec<(u32, f64)>>> =
            (0..columns).map(|q| vec![Vec::new(); cohort.tuples.dictionaries[q].len()]).collect();
        let share = |q: usize, label: u32| {
            1.0 / cohort.quasi[q].hierarchy.leaves_under(plan.changed[q].labels[label as usize].loss)
        };
        for t in 0..cohort.tuples.len() {
            let codes = cohort.tuples.codes(t);
            for (cells, rows) in plan.rows(cohort, t) {
                counts[cells as usize] += rows as f64 * trust.tuple(cohort, t, cells);
                for (q, &label) in plan.row(cells)[..columns].iter().enumerate() {
                    let own = &mut labels[q][codes[q] as usize];
                    if own.last().is_none_or(|l| l.0 != label) && own.iter().all(|l| l.0 != label) {
                        own.push((label, share(q, label)));
                    }
                }
            }
        }
        // `*` may be anybody's.
        for (q, values) in labels.iter_mut().enumerate() {
            let gone = plan.changed[q].labels.iter().position(|l| l.text == SUPPRESSED);
            if let Some(gone) = gone.map(|g| g as u32) {
                let missing = values.iter_mut().filter(|own| own.iter().all(|l| l.0 != gone));
                missing.for_each(|own| own.push((gone, share(q, gone))));
            }
        }
        plan.added.iter().for_each(|added| counts[added.cells as usize] += trust.added(added));
        let rows = (0u32..).zip(counts).filter(|(_, rows)| *rows > 0.0).collect();
        PublishedCounts { cohort, plan, trust, rows, labels }
    }

    /// How many rows it counts for.
    pub(super) fn all(&self) -> f64 {
        self.rows.iter().map(|r| r.1).sum()
    }

    /// Rows of the original, and the count that the release gives, for each value of a column that the original has.
    pub(super) fn estimates(&self, q: usize) -> impl Iterator<Item = (u64, f64)> {
        let mut counts = vec![0.0; self.plan.changed[q].labels.len()];
        self.rows.iter().for_each(|&(cells, rows)| counts[self.plan.row(cells)[q] as usize] += rows);
        let groups = self.cohort.tuples.frequencies(q).iter().copied().zip(&self.labels[q]);
        let groups = groups.filter(|(count, _)| *count > 0);
        groups.map(move |(count, labels)| {
            (count, labels.iter().map(|&(label, share)| share * counts[label as usize]).sum())
        })
    }

    /// The count for rows whose values of some columns are within.
    pub(super) fn within(&self, query: &[(usize, Vec<bool>)]) -> f64 {
        // By column of the query and label: the share of what it stands for that is within.
        let covers = query.iter().map(|(q, within)| {
            let mut cover = vec![0.0; self.plan.changed[*q].labels.len()];
            for (_, labels) in self.labels[*q].iter().enumerate().filter(|(value, _)| within[*value]) {
                labels.iter().for_each(|&(label, share)| cover[label as usize] += share);
            }
            (*q, cover)
        });
        let covers: Vec<(usize, Vec<f64>)> = covers.collect();
        let row = |&(cells, rows): &(u32, f64)| {
            let labels = self.plan.row(cells);
            covers.iter().fold(rows, |rows, (q, cover)| rows * cover[labels[*q] as usize])
        };
        self.rows.iter().map(row).sum()
    }

    /// Rows of labels that are shown, and how many rows they count for.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&[u32], f64)> {
        self.rows.iter().map(|&(cells, rows)| (self.plan.row(cells), rows))
    }

    /// The same of the records that show a value in a column that is released unchanged, by its place in the tuples.
    pub(super) fn shown_with(&self, position: usize, code: u32) -> Vec<(&[u32], f64)> {
        let (cohort, plan) = (self.cohort, self.plan);
        let mut shown = Vec::new();
        for t in (0..cohort.tuples.len()).filter(|&t| cohort.tuples.code(t, position) == code) {
            let rows = plan.rows(cohort, t);
            shown.extend(rows.map(|(cells, rows)| (plan.row(cells), rows as f64 * self.trust.tuple(cohort, t, cells))));
        }
        if let Some(drawn) = cohort.synthetic_values.iter().position(|own| own.position == Some(position)) {
            let added = plan.added.iter().filter(|added| added.values[drawn] == code);
            shown.extend(added.map(|added| (plan.row(added.cells), self.trust.added(added))));
        }
        shown
    }

    /// How many labels a column may show.
    pub(super) fn labels_of(&self, q: usize) -> usize {
        self.plan.changed[q].labels.len()
    }

    /// The share of each label's count that the values in question have.
    pub(super) fn shares_of(&self, q: usize, is_asked: impl Fn(u32) -> bool) -> Vec<f64> {
        self.sums_of(q, |value| f64::from(u8::from(is_asked(value))))
    }

    /// The sum over each label's values of their share times a number.
    pub(super) fn sums_of(&self, q: usize, number: impl Fn(u32) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.labels_of(q)];
        for (value, labels) in (0u32..).zip(&self.labels[q]) {
            labels.iter().for_each(|&(label, share)| sums[label as usize] += share * number(value));
        }
        sums
    }

    /// The share of each value in two numbers that are known by label.
    pub(super) fn spread(&self, q: usize, by_label: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let of = |labels: &Vec<(u32, f64)>| {
            labels.iter().fold((0.0, 0.0), |sum, &(label, share)| {
                let (a, b) = by_label[label as usize];
                (sum.0 + share * a, sum.1 + share * b)
            })
        };
        self.labels[q].iter().map(of).collect()
    }

    /// The error of counts by the values of one column: without hashing, since every column is looked at.
    fn error_of_one(&self, q: usize) -> f64 {
        let (mut errors, mut groups) = (0.0, 0);
        for (count, estimate) in self.estimates(q) {
            errors += (estimate - count as f64).abs() / count as f64;
            groups += 1;
        }
        errors / f64::from(groups.max(1))
    }

    /// The error of counts by the values of these columns.
    fn error(&self, set: &[usize]) -> f64 {
        let tuples = &self.cohort.tuples;
        let mut key = vec![0; set.len()];
        let (mut shown, mut counts) = (Keys::new(set.len()), Vec::<f64>::new());
        for &(cells, rows) in &self.rows {
            let labels = self.plan.row(cells);
            key.iter_mut().zip(set).for_each(|(k, &q)| *k = labels[q]);
            let number = shown.intern(&key) as usize;
            counts.resize(shown.len(), 0.0);
            counts[number] += rows;
        }
        let (mut groups, mut truth) = (Keys::new(set.len()), Vec::<u64>::new());
        for (t, &weight) in tuples.weights.iter().enumerate() {
            let codes = tuples.codes(t);
            key.iter_mut().zip(set).for_each(|(k, &q)| *k = codes[q]);
            let number = groups.intern(&key) as usize;
            truth.resize(groups.len(), 0);
            truth[number] += weight;
        }
        let errors = truth.iter().enumerate().map(|(number, &count)| {
            let estimate = self.estimate(set, groups.get(number as u32), 0, &mut key, &shown, &counts);
            (estimate - count as f64).abs() / count as f64
        });
        errors.sum::<f64>() / truth.len().max(1) as f64
    }

    /// The count for a group, added up over the labels that it could be shown as.
    fn estimate(&self, set: &[usize], group: &[u32], at: usize, key: &mut [u32], shown: &Keys, counts: &[f64]) -> f64 {
        let Some(&q) = set.get(at) else { return shown.find(key).map_or(0.0, |n| counts[n as usize]) };
        let mut sum = 0.0;
        for &(label, share) in &self.labels[q][group[at] as usize] {
            key[at] = label;
            sum += share * self.estimate(set, group, at + 1, key, shown, counts);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Tuples;

    /// Four rows of a and two of b, in one class of both: each counts for three.
    #[test]
    fn a_label_shares_its_count_evenly() {
        let rows: Vec<Vec<&str>> = [vec!["a"; 4], vec!["b"; 2]].concat().into_iter().map(|v| vec![v, "x"]).collect();
        let tuples = Tuples::from_rows(&rows, None);
        let cohort = Cohort::of(tuples, |_| crate::hierarchy::Rule::Flat);
        let plan = Plan::full_domain(&cohort, &[1, 0], &[true, true]);
        let error = query_error(&PublishedCounts::new(&cohort, &plan));
        assert_eq!(error.by_column, [(0.25 + 0.5) / 2.0, 0.0]);
        assert_eq!(error.by_number, [0.1875, (0.25 + 0.5) / 2.0]);
        let published = Plan::full_domain(&cohort, &[0, 0], &[true, false]);
        // Whoever was deleted counts for nobody.
        assert_eq!(query_error(&PublishedCounts::new(&cohort, &published)).by_column, [0.5, 2.0 / 6.0]);
        let rce = super::super::reconstruction(&cohort, &published);
        assert_eq!((rce.by_column, rce.joint), (vec![1.0 / 3.0, 1.0 / 3.0], 1.0 / 3.0));
    }
}
