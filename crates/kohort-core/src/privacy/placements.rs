//! Which rows may be invented, given a catalog that says how many are: every placement that fits is
//! as likely as any other, or as likely as it leaves real rows in the class where somebody is looked
//! for. Lee et al. (2017) ask only that no row be known to be invented (their Lemma 1); that does not
//! keep 1/k, since rows whose value the catalog does not name are known to be real.
//!
//! Decided on whole numbers where the bound is met exactly; where these outgrow 128 bits, rounding
//! counts against the release.

use crate::number::K;
use std::collections::HashMap;

/// How classes with too few people are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// Up to k and no further, so that a larger class is known to hold no invented row.
    Exact,
    /// Up to k and a number drawn by chance for every class.
    Randomized,
}

impl Padding {
    /// Names in policies and certificates.
    pub const NAMES: [(&'static str, Padding); 2] = [("randomized", Padding::Randomized), ("exact", Padding::Exact)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Padding::NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Padding> {
        Padding::NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }

    /// Whether a class that shows so many rows may hold invented ones, to whoever knows the method.
    pub fn may_fill(self, shown: u64, k: K) -> bool {
        self == Padding::Randomized || shown == k.get()
    }
}

/// What a class of a group shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRows {
    /// Rows with each of the values that the catalog names for the group.
    pub named: Vec<u64>,
    /// Rows with any other value: all of them real.
    pub others: u64,
    /// Whether it may hold invented rows at all.
    pub open: bool,
}

/// Classes that a catalog puts together, and how many of their rows are invented, by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The classes.
    pub classes: Vec<ClassRows>,
    /// Invented rows with each of the values named.
    pub invented: Vec<u64>,
}

/// How likely a row of a class is somebody's who is known to be in that class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The likeliest row, for reports.
    pub highest: f64,
    /// Whether no row is likelier than 1/k.
    pub holds: bool,
}

/// Placements of a group that must be gone through one by one are at most so many.
const MOST_STATES: usize = 20_000;
/// And on the way to them so many are looked at.
const MOST_STEPS: u64 = 1 << 24;
/// What counting the placements of one class may cost, in products.
const MOST_PRODUCTS: u64 = 1 << 28;
/// Within this of 1/k floats do not decide.
const NEAR: f64 = 1e-9;

impl ClassRows {
    fn size(&self) -> u64 {
        self.others + self.named.iter().sum::<u64>()
    }

    /// Rows with a value that may be invented.
    fn free(&self, value: usize) -> u64 {
        if self.open { self.named[value] } else { 0 }
    }
}

impl Group {
    /// Lemma 1: wherever an invented row could be, all of its value could as well be elsewhere.
    pub fn conceals(&self) -> bool {
        self.invented.iter().enumerate().all(|(s, &invented)| {
            let all: u64 = self.classes.iter().map(|c| c.free(s)).sum();
            invented <= all && self.classes.iter().all(|c| c.free(s) == 0 || invented <= all - c.free(s))
        })
    }

    /// By class: the posterior of its likeliest row, over all placements that leave at least `least`
    /// real rows in every class, by both weightings.
    pub fn posteriors(&self, k: K, least: u64) -> Vec<Posterior> {
        (0..self.classes.len()).map(|class| self.posterior(class, k, least)).collect()
    }

    fn posterior(&self, class: usize, k: K, least: u64) -> Posterior {
        const NONE: Posterior = Posterior { highest: 1.0, holds: false };
        let Some(by_value) = self.counts::<f64>(class, least) else { return NONE };
        let size = self.classes[class].size();
        let mut highest: f64 = 0.0;
        for (total, (real, rows)) in by_value.pairs() {
            let all: f64 = total.iter().sum();
            let left = |j: usize| (size - j as u64) as f64;
            let equal: f64 = real.iter().enumerate().map(|(j, w)| if *w == 0.0 { 0.0 } else { w / left(j) }).sum();
            let weighted: f64 = total.iter().enumerate().map(|(j, w)| w * left(j)).sum();
            let rows = rows as f64;
            let own = (equal / (all * rows)).max(real.iter().sum::<f64>() / (weighted * rows));
            if !own.is_finite() {
                return NONE;
            }
            highest = highest.max(own);
        }
        let bound = 1.0 / k.get() as f64;
        let holds = if highest < bound - NEAR {
            true
        } else if highest > bound + NEAR {
            false
        } else {
            self.holds_exactly(class, k, least)
        };
        Posterior { highest: highest.min(1.0), holds }
    }

    /// The same in whole numbers; false where they outgrow 128 bits.
    fn holds_exactly(&self, class: usize, k: K, least: u64) -> bool {
        let Some(by_value) = self.counts::<Exact>(class, least) else { return false };
        let size = self.classes[class].size();
        let common = (1..=size).fold(Exact(Some(1)), |all, n| match all.0 {
            Some(all) => Exact((all / gcd(all, u128::from(n))).checked_mul(u128::from(n))),
            None => all,
        });
        by_value.pairs().all(|(total, (real, rows))| {
            let sum = |of: &[Exact], times: &dyn Fn(u64) -> Exact| {
                let some = of.iter().enumerate().filter(|(_, w)| !w.is_zero());
                some.fold(Exact(Some(0)), |sum, (j, w)| sum.plus(w.times(times(size - j as u64))))
            };
            let one = Exact(Some(1));
            let parts = |left: u64| Exact(common.0.and_then(|c| c.checked_div(u128::from(left))));
            let k = Exact::of(k.get());
            let equal = (sum(real, &parts).times(k), sum(total, &|_| one).times(Exact::of(rows)).times(common));
            let weighted = (sum(real, &|_| one).times(k), sum(total, &Exact::of).times(Exact::of(rows)));
            [equal, weighted].iter().all(|(own, bound)| matches!((own.0, bound.0), (Some(a), Some(b)) if a <= b))
        })
    }

    /// By number of invented rows in the class: placements in all, and for a row of each value those
    /// in which it is real, times the rows of that value. `None`: no placement fits, or they are too many.
    fn counts<W: Weight>(&self, class: usize, least: u64) -> Option<Counted<W>> {
        let tight = |c: &ClassRows| {
            let most: u64 = (0..self.invented.len()).map(|s| self.invented[s].min(c.free(s))).sum();
            most + least > c.size()
        };
        if self.products(class).is_none_or(|products| products > MOST_PRODUCTS) {
            return None;
        }
        let counted: Counted<W> =
            if self.classes.iter().any(tight) { self.one_by_one(class, least)? } else { self.by_value(class) };
        counted.total.iter().any(|w| !w.is_zero()).then_some(counted)
    }

    /// About how many products [`Group::by_value`] takes; `None` beyond `u64`.
    fn products(&self, class: usize) -> Option<u64> {
        let own = &self.classes[class];
        let (mut sum, mut length, mut all) = (0u64, 1u64, own.size());
        for (s, &invented) in self.invented.iter().enumerate() {
            let ways = invented.min(own.free(s)).checked_add(1)?;
            sum = sum.checked_add(ways.checked_mul(invented)?)?.checked_add(ways.checked_mul(length)?)?;
            length = length.checked_add(ways)?;
            all = all.max(invented);
        }
        // Once in all, and once for each value named.
        sum.checked_mul(1 + self.invented.len() as u64)?.checked_add(all)
    }

    /// Where every placement leaves real rows enough: values are independent of one another.
    fn by_value<W: Weight>(&self, class: usize) -> Counted<W> {
        let own = &self.classes[class];
        let ways: Vec<Vec<W>> = (0..self.invented.len())
            .map(|s| {
                let elsewhere: u64 = self.classes.iter().map(|c| c.free(s)).sum::<u64>() - own.free(s);
                let most = self.invented[s].min(own.free(s));
                (0..=most).map(|j| choose::<W>(own.free(s), j).times(choose(elsewhere, self.invented[s] - j))).collect()
            })
            .collect();
        let all = |except: Option<(usize, Vec<W>)>| {
            ways.iter().enumerate().fold(vec![W::of(1)], |sum, (s, ways)| match &except {
                Some((own, instead)) if *own == s => convolve(&sum, instead),
                _ => convolve(&sum, ways),
            })
        };
        let real = (0..ways.len()).filter(|&s| own.named[s] > 0).map(|s| {
            let rows = own.named[s];
            let left = ways[s].iter().enumerate().map(|(j, w)| w.times(W::of(rows - j as u64))).collect();
            (all(Some((s, left))), rows)
        });
        let real: Vec<_> = real.collect();
        Counted { total: all(None), real, others: own.others > 0 }
    }

    /// Placements class after class, by what is left to be placed.
    fn one_by_one<W: Weight>(&self, class: usize, least: u64) -> Option<Counted<W>> {
        let mut left: HashMap<Vec<u64>, W> = HashMap::from([(self.invented.clone(), W::of(1))]);
        let mut steps = 0u64;
        for (_, other) in self.classes.iter().enumerate().filter(|(c, _)| *c != class) {
            let mut next: HashMap<Vec<u64>, W> = HashMap::new();
            // In their order, so that sums of floats do not depend on the order of a map.
            let mut states: Vec<(Vec<u64>, W)> = left.into_iter().collect();
            states.sort_by(|a, b| a.0.cmp(&b.0));
            for (state, ways) in states {
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
            left = next;
        }
        let own = &self.classes[class];
        let most = own.size() as usize;
        let zeros = vec![W::of(0); most + 1];
        let named: Vec<usize> = (0..self.invented.len()).filter(|&s| own.named[s] > 0).collect();
        let mut total = zeros.clone();
        let mut real: Vec<(Vec<W>, u64)> = named.iter().map(|&s| (zeros.clone(), own.named[s])).collect();
        let mut states: Vec<(Vec<u64>, W)> = left.into_iter().collect();
        states.sort_by(|a, b| a.0.cmp(&b.0));
        for (state, ways) in states {
            // What is left must all be here.
            let fits = state.iter().enumerate().all(|(s, &n)| n <= own.free(s));
            let placed: u64 = state.iter().sum();
            if !fits || placed + least > own.size() {
                continue;
            }
            let here = state.iter().enumerate().fold(ways, |w, (s, &n)| w.times(choose(own.free(s), n)));
            let at = placed as usize;
            total[at] = total[at].plus(here);
            for (&s, (real, rows)) in named.iter().zip(&mut real) {
                real[at] = real[at].plus(here.times(W::of(*rows - state[s])));
            }
        }
        Some(Counted { total, real, others: own.others > 0 })
    }
}

impl ClassRows {
    /// Every way to take some of `left` into this class that leaves `least` real rows, and how many
    /// choices of rows each stands for. `None`: too many.
    fn placements<W: Weight>(&self, left: &[u64], least: u64) -> Option<Vec<(Vec<u64>, W)>> {
        let Some(most) = self.size().checked_sub(least) else { return Some(Vec::new()) };
        let mut all: Vec<(Vec<u64>, u64, W)> = vec![(Vec::new(), 0, W::of(1))];
        for (s, &left) in left.iter().enumerate() {
            let mut next = Vec::new();
            for (placed, sum, ways) in &all {
                for n in 0..=left.min(self.free(s)).min(most - sum) {
                    if next.len() > MOST_STATES {
                        return None;
                    }
                    let own = [&placed[..], &[n]].concat();
                    next.push((own, sum + n, ways.times(choose(self.free(s), n))));
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

/// Placements by number of invented rows in a class.
struct Counted<W> {
    total: Vec<W>,
    /// By value named: those in which a row of it is real, times its rows; and its rows.
    real: Vec<(Vec<W>, u64)>,
    /// Whether there is a row of another value, which is always real.
    others: bool,
}

impl<W: Weight> Counted<W> {
    /// For a row of each value: placements in all, and those in which it is real, times its rows.
    fn pairs(&self) -> impl Iterator<Item = (&[W], (&[W], u64))> {
        let others = self.others.then_some((&self.total[..], 1));
        let named = self.real.iter().map(|(real, rows)| (&real[..], *rows));
        named.chain(others).map(|pair| (&self.total[..], pair))
    }
}

/// A number of placements.
trait Weight: Copy {
    fn of(n: u64) -> Self;
    fn plus(&self, other: Self) -> Self;
    fn times(&self, other: Self) -> Self;
    fn over(&self, n: u64) -> Self;
    fn is_zero(&self) -> bool;
}

impl Weight for f64 {
    fn of(n: u64) -> f64 {
        n as f64
    }
    fn plus(&self, other: f64) -> f64 {
        self + other
    }
    fn times(&self, other: f64) -> f64 {
        self * other
    }
    fn over(&self, n: u64) -> f64 {
        self / n as f64
    }
    fn is_zero(&self) -> bool {
        *self == 0.0
    }
}

/// A whole number; `None`: too large.
#[derive(Clone, Copy)]
struct Exact(Option<u128>);

impl Weight for Exact {
    fn of(n: u64) -> Exact {
        Exact(Some(u128::from(n)))
    }
    fn plus(&self, other: Exact) -> Exact {
        Exact(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }
    fn times(&self, other: Exact) -> Exact {
        Exact(self.0.zip(other.0).and_then(|(a, b)| a.checked_mul(b)))
    }
    fn over(&self, n: u64) -> Exact {
        Exact(self.0.and_then(|a| a.checked_div(u128::from(n))))
    }
    fn is_zero(&self) -> bool {
        self.0 == Some(0)
    }
}

/// n choose m.
fn choose<W: Weight>(n: u64, m: u64) -> W {
    if m > n {
        return W::of(0);
    }
    // Each product is divisible by what it is divided by.
    (0..m).fold(W::of(1), |all, i| all.times(W::of(n - i)).over(i + 1))
}

fn convolve<W: Weight>(a: &[W], b: &[W]) -> Vec<W> {
    let mut sums = vec![W::of(0); a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sums[i + j] = sums[i + j].plus(x.times(*y));
        }
    }
    sums
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Randomness;

    fn k(n: u64) -> K {
        K::new(n).unwrap()
    }

    fn class(named: &[u64], others: u64) -> ClassRows {
        ClassRows { named: named.to_vec(), others, open: true }
    }

    #[track_caller]
    fn close(own: f64, expected: f64) {
        assert!((own - expected).abs() < 1e-9, "{own} is not {expected}");
    }

    /// Tables 5 and 8 of the paper: each class shows two of Diabetes, one of which is invented.
    #[test]
    fn the_papers_own_catalog_gives_more_than_a_quarter() {
        let group = Group { classes: vec![class(&[2], 2), class(&[2], 2)], invented: vec![1] };
        assert!(group.conceals());
        let found = group.posteriors(k(4), 1);
        close(found[0].highest, 7.0 / 24.0);
        assert!(!found[0].holds && group.posteriors(k(3), 1).iter().all(|p| p.holds));
        // The rows of Diabetes by themselves.
        let alone = Group { classes: vec![class(&[2], 0), class(&[2], 0)], invented: vec![1] };
        close(alone.posteriors(k(2), 1)[0].highest, 0.5 * 0.5 + 0.5 * 0.5);
        let counted = group.counts::<f64>(0, 1).unwrap();
        let (total, (real, rows)) = counted.pairs().next().unwrap();
        let all: f64 = total.iter().sum();
        let each: f64 = real.iter().enumerate().map(|(j, w)| w / (4.0 - j as f64)).sum::<f64>() / (all * rows as f64);
        close(each, 0.2083333333333333);
    }

    #[test]
    fn a_catalog_of_one_class_conceals_nothing() {
        assert!(!Group { classes: vec![class(&[2], 2)], invented: vec![1] }.conceals());
    }

    /// One real HIV, three invented Flu; three real Flu next door.
    #[test]
    fn three_invented_flus_do_not_hide_one_hiv() {
        let mut group = Group { classes: vec![class(&[3], 1), class(&[3], 1)], invented: vec![3] };
        assert!(group.conceals());
        close(group.posteriors(k(4), 1)[0].highest, 0.4375);
        assert!(!group.posteriors(k(4), 1)[0].holds);
        // Padding stops at k: a class of five is known to hold no invented row.
        group.classes[1] = ClassRows { named: vec![3], others: 2, open: Padding::Exact.may_fill(5, k(4)) };
        assert!(!group.conceals());
        close(group.posteriors(k(4), 1)[0].highest, 1.0);
    }

    #[test]
    fn by_real_rows_a_placement_may_tell_more() {
        let classes = vec![class(&[0, 3], 0), class(&[2, 1], 0), class(&[2, 1], 0)];
        let group = Group { classes, invented: vec![1, 1] };
        let found = group.posteriors(k(3), 1);
        close(found[0].highest, 1.0 / 3.0);
        assert!(found[0].holds, "exactly 1/3 is within 1/3");
        close(found[1].highest, 8.0 / 23.0);
        assert!(!found[1].holds);
    }

    /// Every choice of invented rows, one by one.
    fn slow(group: &Group, class: usize, least: u64) -> Option<f64> {
        let rows: Vec<(usize, Option<usize>)> = group
            .classes
            .iter()
            .enumerate()
            .flat_map(|(c, own)| {
                let named = own.named.iter().enumerate().flat_map(move |(s, &n)| (0..n).map(move |_| (c, Some(s))));
                named.chain((0..own.others).map(move |_| (c, None)))
            })
            .collect();
        let target: Vec<usize> = (0..rows.len()).filter(|&r| rows[r].0 == class).collect();
        let (mut equal, mut weighted) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        let (mut all, mut people) = (0.0, 0.0);
        for fake in 0u32..1 << rows.len() {
            let is_fake = |r: usize| fake >> r & 1 == 1;
            let fits = (0..group.invented.len()).all(|s| {
                let placed = (0..rows.len()).filter(|&r| is_fake(r) && rows[r].1 == Some(s)).count();
                placed as u64 == group.invented[s]
            }) && (0..rows.len())
                .all(|r| !is_fake(r) || rows[r].1.is_some() && group.classes[rows[r].0].open)
                && (0..group.classes.len())
                    .all(|c| (0..rows.len()).filter(|&r| rows[r].0 == c && !is_fake(r)).count() as u64 >= least);
            if fits {
                let real: Vec<usize> = target.iter().copied().filter(|&r| !is_fake(r)).collect();
                all += 1.0;
                people += real.len() as f64;
                for r in &real {
                    equal[*r] += 1.0 / real.len() as f64;
                    weighted[*r] += 1.0;
                }
            }
        }
        let highest = |of: &[f64], by: f64| of.iter().map(|x| x / by).fold(0.0, f64::max);
        (all > 0.0).then(|| highest(&equal, all).max(highest(&weighted, people)))
    }

    /// What passes has no posterior above 1/k, whatever way the invented rows are placed.
    #[test]
    fn no_posterior_above_one_in_k_ever_passes() {
        let cases: u64 = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
        let (mut passed, mut tight) = (0, 0);
        for seed in 0..cases {
            let mut random = Randomness::seeded(seed);
            let mut below = |n: u64| random.bits() % n;
            let values = 1 + below(3) as usize;
            let classes: Vec<ClassRows> = (0..2 + below(2))
                .map(|_| ClassRows {
                    named: (0..values).map(|_| below(3)).collect(),
                    others: below(3),
                    open: below(5) > 0,
                })
                .filter(|c| c.size() > 0)
                .collect();
            if classes.is_empty() || classes.iter().map(ClassRows::size).sum::<u64>() > 14 {
                continue;
            }
            let invented = (0..values).map(|_| below(3)).collect();
            let group = Group { classes, invented };
            for least in [1, 2] {
                for class in 0..group.classes.len() {
                    let expected = slow(&group, class, least);
                    for k in [2, 3, 4].map(k) {
                        let found = group.posterior(class, k, least);
                        let Some(expected) = expected else {
                            assert!(!found.holds, "nothing fits, and it passes");
                            continue;
                        };
                        close(found.highest, expected);
                        assert_eq!(found.holds, expected <= 1.0 / k.get() as f64 + 1e-12, "{group:?} {expected}");
                        passed += u64::from(found.holds);
                        tight += u64::from((expected - 1.0 / k.get() as f64).abs() < 1e-12);
                    }
                }
            }
        }
        assert!(passed > 20 && tight > 0, "{passed} passed, {tight} exactly at the bound");
    }
}
