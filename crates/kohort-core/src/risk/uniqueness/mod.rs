//! How many people are unique in the population that a file is a sample of: three estimators and the
//! rule of Dankar, El Emam, Neisa and Roffey (2012) that chooses between them.
//!
//! Estimates report; nothing is decided by them. Beside the chosen one stands the largest.

mod pitman;
mod snb;
mod zayatz;

/// Classes of a file by their size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// People in a class, and how many such classes there are; ascending.
    by_size: Vec<(u64, u64)>,
    people: u64,
    classes: u64,
}

impl Sizes {
    /// Counts them.
    pub fn of(sizes: &[u64]) -> Sizes {
        let mut sorted: Vec<u64> = sizes.iter().copied().filter(|&s| s > 0).collect();
        sorted.sort_unstable();
        let by_size = sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        Sizes { by_size, people: sorted.iter().sum(), classes: sorted.len() as u64 }
    }

    fn classes_of(&self, size: u64) -> u64 {
        self.by_size.binary_search_by_key(&size, |s| s.0).map_or(0, |at| self.by_size[at].1)
    }
}

/// An estimator of population uniques.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// Estimated by Bayes from the sample's class sizes.
    Zayatz,
    /// Pitman's sampling formula.
    Pitman,
    /// The slide negative binomial model.
    Snb,
}

impl Estimator {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Zayatz => "Zayatz",
            Estimator::Pitman => "Pitman",
            Estimator::Snb => "slide negative binomial",
        }
    }
}

/// The number of people who are unique, in the file and outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Uniqueness {
    /// People of the population.
    pub population: u64,
    /// People of the file as a share of them.
    pub fraction: f64,
    /// People who are unique in the file.
    pub sample: u64,
    /// Names who is unique in the population, by each estimator that has an answer.
    pub zayatz: Option<f64>,
    /// The same.
    pub pitman: Option<f64>,
    /// The same.
    pub snb: Option<f64>,
    /// Names one of them the rule takes.
    pub chosen: Option<Estimator>,
}

impl Uniqueness {
    /// Estimates it from classes of a file that is a random sample of so many people.
    pub fn of(sizes: &Sizes, population: u64) -> Uniqueness {
        let (people, sample) = (sizes.people, sizes.classes_of(1));
        let population = population.max(people);
        let fraction = people as f64 / population.max(1) as f64;
        let mut found =
            Uniqueness { population, fraction, sample, zayatz: None, pitman: None, snb: None, chosen: None };
        if people == population || people == 0 {
            // Nobody is outside: nothing is estimated.
            found.zayatz = Some(sample as f64);
        } else {
            let valid = |estimate: &f64| estimate.is_finite() && *estimate >= 0.0 && *estimate <= population as f64;
            found.zayatz = Some(zayatz::uniques(sizes, population)).filter(valid);
            found.pitman = pitman::uniques(sizes, population).filter(valid);
            found.snb = snb::uniques(sizes, population).filter(valid);
        }
        found.chosen = rule(fraction, found.zayatz, found.pitman, found.snb);
        found
    }

    /// Returns the result of an estimator.
    pub fn estimate(&self, estimator: Estimator) -> Option<f64> {
        match estimator {
            Estimator::Zayatz => self.zayatz,
            Estimator::Pitman => self.pitman,
            Estimator::Snb => self.snb,
        }
    }

    /// The largest estimate: the careful reader's.
    pub fn largest(&self) -> Option<f64> {
        [self.zayatz, self.pitman, self.snb].into_iter().flatten().reduce(f64::max)
    }
}

/// Up to a tenth of the population Pitman, or Zayatz where it cannot be fitted; beyond, the smaller of
/// Zayatz and the slide negative binomial.
fn rule(fraction: f64, zayatz: Option<f64>, pitman: Option<f64>, snb: Option<f64>) -> Option<Estimator> {
    let smaller = match (zayatz, snb) {
        (Some(z), Some(s)) if s <= z => Some(Estimator::Snb),
        (Some(_), _) => Some(Estimator::Zayatz),
        (None, s) => s.map(|_| Estimator::Snb),
    };
    if fraction <= 0.1 { pitman.map(|_| Estimator::Pitman).or(zayatz.map(|_| Estimator::Zayatz)) } else { smaller }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Randomness;

    #[test]
    fn the_rule_chooses_by_the_fraction() {
        use Estimator::{Pitman, Snb, Zayatz};
        for (fraction, zayatz, pitman, snb, expected) in [
            (0.1, Some(5.0), Some(9.0), Some(1.0), Some(Pitman)),
            (0.05, Some(5.0), None, Some(1.0), Some(Zayatz)),
            (0.05, None, None, Some(1.0), None),
            (0.2, Some(5.0), Some(1.0), Some(7.0), Some(Zayatz)),
            (0.2, Some(5.0), Some(1.0), Some(4.0), Some(Snb)),
            (0.2, Some(5.0), None, None, Some(Zayatz)),
            (0.2, None, Some(2.0), Some(4.0), Some(Snb)),
        ] {
            assert_eq!(rule(fraction, zayatz, pitman, snb), expected);
        }
    }

    /// Samples of a population whose uniques are known: every estimator must be within sight of them.
    #[test]
    fn estimates_are_near_what_is_true() {
        let mut random = Randomness::seeded(42);
        let mut draw = move |n: u64| random.below(n);
        // Class sizes fall off as in tables of people: few large ones, many small ones.
        let population: Vec<u64> = (1..=6000u64).map(|i| (3000 / i).max(1)).collect();
        let people: Vec<usize> = (0..population.len()).flat_map(|c| vec![c; population[c] as usize]).collect();
        let truth = population.iter().filter(|p| **p == 1).count() as f64;
        let all: u64 = population.iter().sum();
        for tenths in [1, 2, 5] {
            let mut sizes = vec![0u64; population.len()];
            people.iter().filter(|_| draw(10) < tenths).for_each(|&c| sizes[c] += 1);
            let found = Uniqueness::of(&Sizes::of(&sizes), all);
            let chosen = found.chosen.and_then(|e| found.estimate(e)).unwrap();
            assert!(chosen > truth / 3.0 && chosen < truth * 3.0, "{found:?}, in truth {truth}");
            assert!(found.largest().unwrap() >= chosen);
        }
        let whole = Uniqueness::of(&Sizes::of(&population), all);
        assert_eq!((whole.chosen, whole.largest()), (Some(Estimator::Zayatz), Some(truth)));
    }
}
