//! Counts placements by the number of synthetic rows that they put into one class.
//!
//! In the example of `mod.rs`, for class 1: two placements with no synthetic row in it and two with
//! one, so `all = [2, 2]`. A row with Diabetes is real in both placements of the first kind and in one
//! of the second: times its two rows, `real = [4, 2]`.

use super::weight::{Weight, choose, convolve};
use super::{CatalogGroup, ClassRows};
use std::collections::HashMap;

/// The most placements of a group that are enumerated one by one.
const MOST_STATES: usize = 20_000;
/// The most steps taken on the way to them.
const MOST_STEPS: u64 = 1 << 24;
/// The most products that counting the placements of one class may cost.
const MOST_PRODUCTS: u64 = 1 << 28;

/// Numbers of placements, by the number of synthetic rows in the class.
pub(super) struct PlacementCounts<W> {
    /// All placements.
    pub(super) all: Vec<W>,
    /// For each value named that occurs: the placements in which a row with it is real, times its rows; and
    /// its rows.
    named: Vec<(Vec<W>, u64)>,
    /// True if the class has a row with another value, which is real in all placements.
    has_others: bool,
}

/// The placements in which a row of some value is real.
pub(super) struct RealRow<'a, W> {
    /// For each number of synthetic rows: these placements, times the rows with the value.
    pub(super) real: &'a [W],
    /// The rows with the value.
    pub(super) rows: u64,
}

impl<W: Weight> PlacementCounts<W> {
    /// Goes through one row of each value in the class.
    pub(super) fn rows(&self) -> impl Iterator<Item = RealRow<'_, W>> {
        let others = self.has_others.then_some(RealRow { real: &self.all, rows: 1 });
        self.named.iter().map(|(real, rows)| RealRow { real, rows: *rows }).chain(others)
    }
}

impl CatalogGroup {
    /// Counts the placements that leave `least` real rows in every class. `None`: no placement fits,
    /// or they are too many to count.
    pub(super) fn count_placements<W: Weight>(&self, class: usize, least: u64) -> Option<PlacementCounts<W>> {
        let could_run_short = |c: &ClassRows| {
            let most: u64 = (0..self.synthetic.len()).map(|s| self.synthetic[s].min(c.candidates(s))).sum();
            most + least > c.size()
        };
        if self.products(class).is_none_or(|products| products > MOST_PRODUCTS) {
            return None;
        }
        let counts: PlacementCounts<W> = if self.classes.iter().any(could_run_short) {
            self.enumerate_placements(class, least)?
        } else {
            self.multiply_values(class)
        };
        counts.all.iter().any(|n| !n.is_zero()).then_some(counts)
    }

    /// Estimates the number of products that [`CatalogGroup::multiply_values`] takes; `None` beyond `u64`.
    fn products(&self, class: usize) -> Option<u64> {
        let own = &self.classes[class];
        let (mut sum, mut length, mut all) = (0u64, 1u64, own.size());
        for (value, &synthetic) in self.synthetic.iter().enumerate() {
            let ways = synthetic.min(own.candidates(value)).checked_add(1)?;
            sum = sum.checked_add(ways.checked_mul(synthetic)?)?.checked_add(ways.checked_mul(length)?)?;
            length = length.checked_add(ways)?;
            all = all.max(synthetic);
        }
        // Once for all placements, and once for each value named.
        sum.checked_mul(1 + self.synthetic.len() as u64)?.checked_add(all)
    }

    /// The fast way, where every placement leaves real rows enough: the values are independent of one
    /// another, so that the counts of each value are multiplied.
    fn multiply_values<W: Weight>(&self, class: usize) -> PlacementCounts<W> {
        let own = &self.classes[class];
        // By value and number of its synthetic rows in the class: choices of rows, here and elsewhere.
        let ways: Vec<Vec<W>> = (0..self.synthetic.len())
            .map(|value| {
                let (here, synthetic) = (own.candidates(value), self.synthetic[value]);
                let elsewhere: u64 = self.classes.iter().map(|c| c.candidates(value)).sum::<u64>() - here;
                (0..=synthetic.min(here))
                    .map(|j| choose::<W>(here, j).times(choose(elsewhere, synthetic - j)))
                    .collect()
            })
            .collect();
        let multiply = |instead: Option<(usize, Vec<W>)>| {
            ways.iter().enumerate().fold(vec![W::of(1)], |product, (value, ways)| match &instead {
                Some((other, instead)) if *other == value => convolve(&product, instead),
                _ => convolve(&product, ways),
            })
        };
        let named = (0..ways.len()).filter(|&value| own.named[value] > 0).map(|value| {
            let rows = own.named[value];
            let real = ways[value].iter().enumerate().map(|(j, n)| n.times(W::of(rows - j as u64))).collect();
            (multiply(Some((value, real))), rows)
        });
        let named: Vec<_> = named.collect();
        PlacementCounts { all: multiply(None), named, has_others: own.others > 0 }
    }

    /// The slow way, where a placement could leave too few real rows in some class: goes through the
    /// other classes one after the other, and remembers what is left to be placed.
    fn enumerate_placements<W: Weight>(&self, class: usize, least: u64) -> Option<PlacementCounts<W>> {
        // By synthetic rows of each value still to be placed: the number of ways to get there.
        let mut to_place: HashMap<Vec<u64>, W> = HashMap::from([(self.synthetic.clone(), W::of(1))]);
        let mut steps = 0u64;
        for (_, other) in self.classes.iter().enumerate().filter(|(c, _)| *c != class) {
            let mut next: HashMap<Vec<u64>, W> = HashMap::new();
            for (state, ways) in sorted(to_place) {
                for (placed, own) in other.placements::<W>(&state, least)? {
                    steps += 1;
                    if steps > MOST_STEPS || next.len() > MOST_STATES {
                        return None;
                    }
                    let rest: Vec<u64> = state.iter().zip(&placed).map(|(s, p)| s - p).collect();
                    let sum = next.entry(rest).or_insert_with(|| W::of(0));
                    *sum = sum.plus(ways.times(own));
                }
            }
            if next.len() > MOST_STATES {
                return None;
            }
            to_place = next;
        }
        let own = &self.classes[class];
        let zeros = vec![W::of(0); own.size() as usize + 1];
        let values: Vec<usize> = (0..self.synthetic.len()).filter(|&s| own.named[s] > 0).collect();
        let mut all = zeros.clone();
        let mut named: Vec<(Vec<W>, u64)> = values.iter().map(|&s| (zeros.clone(), own.named[s])).collect();
        for (state, ways) in sorted(to_place) {
            // All that is left must be placed in this class.
            let fits = state.iter().enumerate().all(|(s, &n)| n <= own.candidates(s));
            let placed: u64 = state.iter().sum();
            if !fits || placed + least > own.size() {
                continue;
            }
            let here = state.iter().enumerate().fold(ways, |w, (s, &n)| w.times(choose(own.candidates(s), n)));
            let at = placed as usize;
            all[at] = all[at].plus(here);
            for (&value, (real, rows)) in values.iter().zip(&mut named) {
                real[at] = real[at].plus(here.times(W::of(*rows - state[value])));
            }
        }
        Some(PlacementCounts { all, named, has_others: own.others > 0 })
    }
}

/// Sorts states, so that sums of floating-point numbers do not depend on the order of a map.
fn sorted<W>(states: HashMap<Vec<u64>, W>) -> Vec<(Vec<u64>, W)> {
    let mut states: Vec<(Vec<u64>, W)> = states.into_iter().collect();
    states.sort_by(|a, b| a.0.cmp(&b.0));
    states
}

impl ClassRows {
    /// Lists every way to place some of `to_place` in this class that leaves `least` real rows, with
    /// the number of choices of rows that each stands for. `None`: too many.
    fn placements<W: Weight>(&self, to_place: &[u64], least: u64) -> Option<Vec<(Vec<u64>, W)>> {
        let Some(most) = self.size().checked_sub(least) else { return Some(Vec::new()) };
        let mut all: Vec<(Vec<u64>, u64, W)> = vec![(Vec::new(), 0, W::of(1))];
        for (value, &left) in to_place.iter().enumerate() {
            let mut next = Vec::new();
            for (placed, sum, ways) in &all {
                for n in 0..=left.min(self.candidates(value)).min(most - sum) {
                    if next.len() > MOST_STATES {
                        return None;
                    }
                    let own = [&placed[..], &[n]].concat();
                    next.push((own, sum + n, ways.times(choose(self.candidates(value), n))));
                }
            }
            all = next;
            if all.len() > MOST_STATES {
                return None;
            }
        }
        Some(all.into_iter().map(|(placed, _, ways)| (placed, ways)).collect())
    }
}
