//! Every measure against its definition, row by row, on random tables.

use super::*;
use crate::cohort::Cohort;
use crate::hierarchy::{Prefix, Rule};
use crate::release::Plan;
use crate::table::Tuples;
use std::collections::BTreeSet;

/// A table and what is released of it, cell by cell.
struct Case {
    rows: Vec<Vec<String>>,
    cohort: Cohort,
    plan: Plan,
    levels: Vec<usize>,
    /// One entry per row: whether it is released.
    kept: Vec<bool>,
}

/// Two columns of three digits, of which fewer and fewer stay, and one that is shown or not.
const LENGTHS: [&[usize]; 3] = [&[2, 1], &[1], &[]];

impl Case {
    fn draw(draw: &mut impl FnMut(u64) -> u64) -> Case {
        let rows = 2 + draw(40) as usize;
        let mut cell = |column: usize| match (column, draw(12)) {
            (2, 0) => String::new(),
            (2, n) => format!("v{}", n % 4),
            (_, n) => format!("{}{}{}", n % 2, draw(3), draw(2)),
        };
        let rows: Vec<Vec<String>> = (0..rows).map(|_| (0..3).map(&mut cell).collect()).collect();
        let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let tuples = Tuples::from_rows(&texts, None);
        let rule = |q: usize| match LENGTHS[q] {
            [] => Rule::Flat,
            lengths => Rule::Prefix(Prefix::new(lengths).unwrap()),
        };
        let cohort = Cohort::of(tuples, rule);
        let (tuples, quasi) = (&cohort.tuples, &cohort.quasi);
        let levels: Vec<usize> = quasi.iter().map(|q| draw(q.levels.len() as u64) as usize).collect();
        let by_tuple: Vec<bool> = (0..tuples.len()).map(|_| draw(5) > 0).collect();
        let text = |t: usize, q: usize| tuples.dictionaries[q].text(tuples.code(t, q));
        let tuple_of = |row: &Vec<&str>| (0..tuples.len()).find(|&t| (0..3).all(|q| text(t, q) == row[q])).unwrap();
        let kept = texts.iter().map(|row| by_tuple[tuple_of(row)]).collect();
        let plan = Plan::full_domain(&cohort, &levels, &by_tuple);
        Case { rows, cohort, plan, levels, kept }
    }

    /// Returns what a value is shown as.
    fn label(&self, q: usize, value: &str) -> String {
        match LENGTHS[q].get(self.levels[q].wrapping_sub(1)) {
            _ if self.levels[q] == 0 => value.into(),
            Some(&length) if value.len() > length => format!("{}*", &value[..length]),
            Some(_) => value.into(),
            None => "*".into(),
        }
    }

    fn values(&self, q: usize) -> BTreeSet<&str> {
        self.rows.iter().map(|row| row[q].as_str()).collect()
    }

    /// Returns how many values are shown as this one is.
    fn under(&self, q: usize, value: &str) -> f64 {
        self.values(q).iter().filter(|v| self.label(q, v) == self.label(q, value)).count() as f64
    }

    fn released(&self) -> impl Iterator<Item = &Vec<String>> {
        self.rows.iter().zip(&self.kept).filter(|(_, kept)| **kept).map(|(row, _)| row)
    }

    /// The mean over cells of a cost; a deleted one costs 1.
    fn mean(&self, cost: impl Fn(usize, &str) -> f64) -> f64 {
        let cells = self.rows.iter().zip(&self.kept).flat_map(|(row, kept)| (0..3).map(move |q| (q, &row[q], *kept)));
        let sum: f64 = cells.map(|(q, value, kept)| if kept { cost(q, value) } else { 1.0 }).sum();
        sum / (3 * self.rows.len()) as f64
    }

    /// Returns what the release counts for a value: its label's rows, shared evenly. A value of which no row is
    /// released is counted only where everything is blank.
    fn estimate(&self, q: usize, value: &str) -> f64 {
        if self.label(q, value) != "*" && self.released().all(|row| row[q] != value) {
            return 0.0;
        }
        let same = self.released().filter(|row| self.label(q, &row[q]) == self.label(q, value));
        same.count() as f64 / self.under(q, value)
    }

    /// Returns how far counts by the values of several columns are off, on average over those that the original has.
    fn error_of(&self, set: &[usize]) -> f64 {
        let pick = |row: &Vec<String>| set.iter().map(|&q| row[q].clone()).collect::<Vec<_>>();
        let groups: BTreeSet<Vec<String>> = self.rows.iter().map(pick).collect();
        let off = |group: &Vec<String>| {
            let own = || set.iter().zip(group);
            let count = self.rows.iter().filter(|row| pick(row) == *group).count() as f64;
            let unseen = |(&q, value): (&usize, &String)| {
                self.label(q, value) != "*" && self.released().all(|row| row[q] != *value)
            };
            let alike = |row: &&Vec<String>| own().all(|(&q, value)| self.label(q, &row[q]) == self.label(q, value));
            let under: f64 = own().map(|(&q, value)| self.under(q, value)).product();
            let told = if own().any(unseen) { 0.0 } else { self.released().filter(alike).count() as f64 / under };
            (told - count).abs() / count
        };
        groups.iter().map(off).sum::<f64>() / groups.len() as f64
    }
}

#[track_caller]
fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} is not {b}");
}

#[test]
fn every_measure_is_what_its_definition_says() {
    let mut random = crate::random::Randomness::seeded(11);
    let mut draw = move |n: u64| random.below(n);
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    for _ in 0..cases {
        let case = Case::draw(&mut draw);
        let (cohort, plan, all) = (&case.cohort, &case.plan, case.rows.len() as f64);
        let one = |q: usize| case.values(q).len() == 1;
        near(
            loss(cohort, plan),
            case.mean(|q, v| if one(q) { 0.0 } else { (case.under(q, v) - 1.0) / (case.values(q).len() - 1) as f64 }),
        );
        let height = |q: usize| (LENGTHS[q].len() + 1) as f64;
        near(precision(cohort, plan), 1.0 - case.mean(|q, _| case.levels[q] as f64 / height(q)));
        let shown = |row: &Vec<String>| (0..3).map(|q| case.label(q, &row[q])).collect::<Vec<_>>();
        let same = |row: &Vec<String>| case.released().filter(|other| shown(other) == shown(row)).count() as f64;
        let pairs = case.rows.iter().zip(&case.kept).map(|(row, kept)| if *kept { same(row) } else { all });
        near(discernibility(cohort, plan), pairs.sum());
        let classes: BTreeSet<Vec<String>> = case.released().map(&shown).collect();
        if !classes.is_empty() {
            near(average_class_size(cohort, plan), all / classes.len() as f64);
        }
        let count = |q: usize, is: &dyn Fn(&str) -> bool| case.rows.iter().filter(|row| is(&row[q])).count() as f64;
        let bits = case.rows.iter().zip(&case.kept).flat_map(|(row, kept)| (0..3).map(move |q| (q, &row[q], *kept)));
        let bits = bits.map(|(q, value, kept)| {
            let alike = |v: &str| !kept || case.label(q, v) == case.label(q, value);
            -(count(q, &|v| v == value) / count(q, &alike)).log2()
        });
        near(entropy(cohort, plan), bits.sum());
        let published = PublishedCounts::new(cohort, plan);
        let (queries, distances) = (query_error(&published), distribution_distance(&published));
        let spread = reconstruction(cohort, plan);
        let out = case.released().count() as f64;
        for q in 0..3 {
            let cost = |row: &Vec<String>| 1.0 - 1.0 / case.under(q, &row[q]);
            let deleted = all - out;
            near(spread.by_column[q], (case.released().map(cost).sum::<f64>() + deleted) / all);
            let off = |v: &&str| (case.estimate(q, v) - count(q, &|o| o == *v)).abs() / count(q, &|o| o == *v);
            let values = case.values(q);
            near(queries.by_column[q], values.iter().map(off).sum::<f64>() / values.len() as f64);
            let apart = |v: &&str| (case.estimate(q, v) / out - count(q, &|o| o == *v) / all).abs();
            let told: f64 = values.iter().map(|v| case.estimate(q, v) / out).sum();
            let apart = values.iter().map(apart).sum::<f64>();
            near(distances[q], if out == 0.0 { 1.0 } else { (apart + 1.0 - told) / 2.0 });
        }
        let together = |row: &Vec<String>| 1.0 - (0..3).map(|q| 1.0 / case.under(q, &row[q])).product::<f64>();
        near(spread.joint, (case.released().map(together).sum::<f64>() + all - out) / all);
        for (number, sets) in [(2, vec![vec![0, 1], vec![0, 2], vec![1, 2]]), (3, vec![vec![0, 1, 2]])] {
            let errors: f64 = sets.iter().map(|set| case.error_of(set)).sum();
            near(queries.by_number[number - 1], errors / sets.len() as f64);
        }
        check_associations(&case);
        check_ranges(&case, &published);
    }
}

/// V from the table of all pairs of values, rows of a label spread evenly over them.
fn check_associations(case: &Case) {
    let found = associations(&case.cohort, &case.plan);
    assert_eq!(found.iter().map(|a| a.columns).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    for Association { columns: (a, b), before, after } in found {
        let (us, vs) = (case.values(a), case.values(b));
        let v = |n: &dyn Fn(&str, &str) -> f64| {
            let all: f64 = us.iter().flat_map(|u| vs.iter().map(move |v| n(u, v))).sum();
            let (mut phi, least) = (-1.0, us.len().min(vs.len()) as f64);
            for u in &us {
                for v in &vs {
                    let row: f64 = vs.iter().map(|v| n(u, v)).sum();
                    let column: f64 = us.iter().map(|u| n(u, v)).sum();
                    phi += if n(u, v) > 0.0 { n(u, v).powi(2) / (row * column) } else { 0.0 };
                }
            }
            if all == 0.0 || least < 2.0 { 0.0 } else { (phi.max(0.0) / (least - 1.0)).sqrt() }
        };
        let exact = |u: &str, v: &str| case.rows.iter().filter(|row| row[a] == u && row[b] == v).count() as f64;
        let spread = |u: &str, v: &str| {
            let (lu, lv) = (case.label(a, u), case.label(b, v));
            if lu == "*" || lv == "*" {
                return 0.0;
            }
            let same = case.released().filter(|r| case.label(a, &r[a]) == lu && case.label(b, &r[b]) == lv);
            same.count() as f64 / (case.under(a, u) * case.under(b, v))
        };
        assert!((before - v(&exact)).abs() < 1e-6, "{before} {}", v(&exact));
        assert!((after - v(&spread)).abs() < 1e-6, "{after} {}", v(&spread));
    }
}

/// Each query asked of every released row by itself.
fn check_ranges(case: &Case, published: &PublishedCounts) {
    let queries = range_error::queries(&case.cohort);
    assert!(queries.len() >= 10 && queries == range_error::queries(&case.cohort));
    let mut errors = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        let is = |q: usize, value: &str| {
            let code = case.cohort.tuples.dictionaries[q].code(value).unwrap_or(0);
            query.iter().find(|(column, _)| *column == q).is_none_or(|(_, within)| within[code as usize])
        };
        let count = case.rows.iter().filter(|row| (0..3).all(|q| is(q, &row[q]))).count() as f64;
        errors.push((published.within(query) - count).abs() / count.max((case.rows.len() as f64 / 1000.0).max(1.0)));
        if number >= 20 {
            continue;
        }
        // What a label stands for is what a released row shows for it, and everything for a blank.
        let share = |q: usize, value: &str| {
            let seen = |v: &&&str| case.label(q, v) == "*" || case.released().any(|row| row[q] == **v);
            let values = case.values(q);
            let alike = values.iter().filter(|v| case.label(q, v) == case.label(q, value)).filter(seen);
            if query.iter().all(|(column, _)| *column != q) {
                return 1.0;
            }
            alike.filter(|v| is(q, v)).count() as f64 / case.under(q, value)
        };
        let answer: f64 = case.released().map(|row| (0..3).map(|q| share(q, &row[q])).product::<f64>()).sum();
        near(published.within(query), answer);
    }
    near(range_error(published).mean, errors.iter().sum::<f64>() / errors.len() as f64);
}
