//! The share of patients with events for whom fewer than k match what an attacker knows: every set of facts is tried
//! where a patient has few, and sets are drawn for the others.

use super::finder::{Finder, PatientLabels, draw};
use crate::number::Fraction;
use crate::parallel;
use crate::privacy::{FIRST_DRAWS, MOST_DRAWS, ONE_PATIENT, Settled, ShareAtRisk};
use crate::random::Randomness;
use crate::statistics::binomial_f64;

/// A patient with more different sets of facts than this is drawn from.
const MOST_SETS: u64 = 1 << 12;
/// All patients together have at most so many sets that are tried.
pub(super) const ALL_SETS: u64 = 1 << 18;
/// Draws that one thread makes at a time, or patients that it looks at.
const TOGETHER: u64 = 1 << 10;

/// A column, a label, and how often the patient is known to have it.
type Fact = (usize, u32, u32);

/// The attacker's knowledge, and the release in which they look for a patient.
pub(super) struct Attacker<'a> {
    pub(super) finder: &'a Finder<'a>,
    /// The labels that are known, by column: those of the release, or of the original.
    pub(super) known: &'a [PatientLabels],
    /// The number of each released patient among those whose labels are known; nothing where it is the same.
    pub(super) number: Option<&'a [u32]>,
    /// For each column and patient: how many labels are known.
    pub(super) power: &'a [Vec<u8>],
    pub(super) k: u64,
    pub(super) draws: &'a Randomness,
    pub(super) threads: usize,
    /// All patients together have at most so many sets that are tried.
    pub(super) sets: u64,
}

impl Attacker<'_> {
    /// Counts the share. With a limit, more and more draws are made until it is settled.
    pub(super) fn share(&self, max: Option<Fraction>) -> ShareAtRisk {
        let people = (0..self.finder.people()).filter(|&p| super::has_labels(self.finder.columns, p));
        let people: Vec<usize> = people.collect();
        let parts = people.len().div_ceil(TOGETHER as usize);
        let sets = parallel::map(self.threads, parts, |part| {
            let until = people.len().min((part + 1) * TOGETHER as usize);
            people[part * TOGETHER as usize..until].iter().map(|&p| (p, self.sets(p))).collect::<Vec<(usize, u64)>>()
        });
        let sets = sets.concat();
        let most = enumerated_up_to(sets.iter().map(|s| s.1), self.sets);
        let (few, many) = sets.iter().partition::<Vec<(usize, u64)>, _>(|s| s.1 <= most);
        let millionths = parallel::map(self.threads, few.len(), |i| self.millionths(few[i].0));
        let mut found = ShareAtRisk {
            patients: sets.len() as u64,
            enumerated: few.len() as u64,
            enumerated_millionths: millionths.iter().sum(),
            ..ShareAtRisk::default()
        };
        if many.is_empty() {
            return found;
        }
        let many: Vec<usize> = many.into_iter().map(|s| s.0).collect();
        let mut until = FIRST_DRAWS;
        loop {
            found.hits += self.hits(&many, found.draws, until);
            found.draws = until;
            let is_open = max.is_some_and(|max| found.settled(max) == Settled::Open);
            if !is_open || until >= MOST_DRAWS {
                return found;
            }
            until *= 2;
        }
    }

    /// The number of the labels and of the power of a released patient.
    fn number(&self, person: usize) -> usize {
        self.number.map_or(person, |number| number[person] as usize)
    }

    /// The number of different sets of facts that may be known of a patient; anything above the most that are tried.
    fn sets(&self, person: usize) -> u64 {
        let own = self.number(person);
        let columns = self.known.iter().zip(self.power);
        columns.fold(1, |all, (column, power)| {
            let counts = column.counts_of(own);
            all.saturating_mul(number_of_choices(counts, column.number(own), usize::from(power[own])))
        })
    }

    /// Returns whether fewer than k patients match what is left of the known facts in the release.
    fn is_hit(&self, person: usize, facts: &[Fact], left: &mut Vec<Fact>) -> bool {
        left.clear();
        match self.number {
            None => left.extend_from_slice(facts),
            Some(_) => left.extend(facts.iter().filter_map(|&(column, label, copies)| {
                let copies = self.finder.columns[column].count(person, label).min(copies);
                (copies > 0).then_some((column, label, copies))
            })),
        }
        self.finder.fewer_than(self.k, person, left)
    }

    /// The share of a patient's sets of facts that fewer than k patients match, in millionths, rounded up.
    fn millionths(&self, person: usize) -> u64 {
        let own = self.number(person);
        let of_column = |(column, power): (&PatientLabels, &Vec<u8>)| {
            choices(column.counts_of(own), column.number(own), usize::from(power[own]))
        };
        let columns: Vec<Vec<Choice>> = self.known.iter().zip(self.power).map(of_column).collect();
        let (mut share, mut all) = (0.0, true);
        let (mut at, mut facts, mut left) = (vec![0usize; columns.len()], Vec::new(), Vec::new());
        loop {
            facts.clear();
            let mut probability = 1.0;
            for (c, choices) in columns.iter().enumerate() {
                let choice = &choices[at[c]];
                probability *= choice.probability;
                facts.extend(choice.labels.iter().map(|&(label, copies)| (c, label, copies)));
            }
            let hit = self.is_hit(person, &facts, &mut left);
            share += if hit { probability } else { 0.0 };
            all &= hit;
            // The next combination of choices.
            let Some(c) = (0..columns.len()).rev().find(|&c| at[c] + 1 < columns[c].len()) else { break };
            at[c] += 1;
            at[c + 1..].iter_mut().for_each(|at| *at = 0);
        }
        // What lies within a float's error of a step is that step.
        if all { ONE_PATIENT } else { (share * ONE_PATIENT as f64 - 1e-5).ceil().max(0.0) as u64 }
    }

    /// The hits among draws with these numbers. Each draw has a stream of its own, whatever thread makes it.
    fn hits(&self, people: &[usize], from: u64, until: u64) -> u64 {
        let parts = (until - from).div_ceil(TOGETHER) as usize;
        let part = |part: usize| {
            let first = from + part as u64 * TOGETHER;
            let (mut facts, mut left) = (Vec::new(), Vec::new());
            let hits = (first..until.min(first + TOGETHER)).filter(|&number| {
                let mut random = self.draws.stream(number);
                let person = people[random.below(people.len() as u64) as usize];
                let own = self.number(person);
                facts.clear();
                for (c, (column, power)) in self.known.iter().zip(self.power).enumerate() {
                    let known = draw(column.of_person(own), usize::from(power[own]), &mut random);
                    facts.extend(known.into_iter().map(|(label, copies)| (c, label, copies)));
                }
                self.is_hit(person, &facts, &mut left)
            });
            hits.count() as u64
        };
        parallel::map(self.threads, parts, part).iter().sum()
    }
}

/// The largest of 4096, 2048, … 1 such that all patients with at most so many sets together have few enough; or 0.
fn enumerated_up_to(sets: impl Iterator<Item = u64> + Clone, all: u64) -> u64 {
    let mut up_to = MOST_SETS;
    while up_to > 0 && sets.clone().filter(|&n| n <= up_to).sum::<u64>() > all {
        up_to /= 2;
    }
    up_to
}

/// The number of different choices of so many labels; anything above the most that are tried.
fn number_of_choices(counts: &[(u32, u32)], labels: usize, take: usize) -> u64 {
    let take = take.min(labels);
    // Choosing so many and choosing the rest are the same choices.
    let take = take.min(labels - take);
    match (take, counts.len() as u64) {
        (0, _) => return 1,
        (1, different) => return different,
        // At least every pair of different labels, and as many of larger choices up to half of the labels.
        (_, different) if different.saturating_mul(different.saturating_sub(1)) / 2 > MOST_SETS => return u64::MAX,
        _ => {}
    }
    // For each number of labels: the choices among the labels so far.
    let mut choices = vec![0u64; take + 1];
    choices[0] = 1;
    for &(_, count) in counts {
        let before = choices.clone();
        let mut window = 0u64;
        for n in 0..=take {
            window = window.saturating_add(before[n]);
            if n > count as usize {
                window = window.saturating_sub(before[n - count as usize - 1]);
            }
            choices[n] = window.min(1 << 40);
        }
    }
    choices[take]
}

/// A choice of labels, each with how often, and its probability.
struct Choice {
    labels: Vec<(u32, u32)>,
    probability: f64,
}

/// Every different choice of so many of a patient's labels, all drawn alike.
fn choices(counts: &[(u32, u32)], labels: usize, take: usize) -> Vec<Choice> {
    let take = take.min(labels);
    let mut found = Vec::new();
    let mut left: Vec<usize> = vec![0; counts.len() + 1];
    for i in (0..counts.len()).rev() {
        left[i] = left[i + 1] + counts[i].1 as usize;
    }
    choose(counts, &left, take, 1.0, &mut Vec::new(), &mut found);
    let all = binomial_f64(labels, take);
    found.iter_mut().for_each(|own| own.probability /= all);
    found
}

/// Appends the choices of `take` more labels from `counts`; `left` is how many there are from each place on.
fn choose(
    counts: &[(u32, u32)],
    left: &[usize],
    take: usize,
    ways: f64,
    chosen: &mut Vec<(u32, u32)>,
    found: &mut Vec<Choice>,
) {
    if take == 0 {
        found.push(Choice { labels: chosen.clone(), probability: ways });
        return;
    }
    let Some((&(label, count), rest)) = counts.split_first() else { return };
    // What is not taken here must be there later.
    for copies in take.saturating_sub(left[1])..=take.min(count as usize) {
        if copies > 0 {
            chosen.push((label, copies as u32));
        }
        choose(rest, &left[1..], take - copies, ways * binomial_f64(count as usize, copies), chosen, found);
        if copies > 0 {
            chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PowerRule;
    use crate::ragged::Bounds;
    use crate::random::SplitMix;
    use crate::verify::events::finder::powers;
    use std::collections::BTreeMap;

    /// Patients with up to `most` events in two columns.
    fn random_columns(seed: u64, patients: usize, most: u64) -> Vec<PatientLabels> {
        let mut random = SplitMix::new(seed);
        let numbers: Vec<usize> = (0..patients).map(|_| 1 + (random.bits() % most) as usize).collect();
        let ends: Vec<usize> = numbers
            .iter()
            .scan(0, |end, n| {
                *end += n;
                Some(*end)
            })
            .collect();
        let column = |labels: u64, random: &mut SplitMix| {
            let all = (0..ends[patients - 1]).map(|_| (random.bits() % labels) as u32).collect();
            PatientLabels::new(Bounds::from_ends(ends.clone()), all)
        };
        vec![column(4, &mut random), column(3, &mut random)]
    }

    /// Every choice of places, one by one.
    fn places(n: usize, take: usize) -> Vec<Vec<usize>> {
        let chosen = |bits: &u32| bits.count_ones() as usize == take;
        let of = |bits: u32| (0..n).filter(|i| bits >> i & 1 == 1).collect();
        (0..1u32 << n).filter(chosen).map(of).collect()
    }

    fn labels_at(own: &[u32], places: &[usize]) -> Vec<(u32, u32)> {
        let mut counts = BTreeMap::new();
        places.iter().for_each(|&at| *counts.entry(own[at]).or_default() += 1);
        counts.into_iter().collect()
    }

    #[test]
    fn choices_are_those_of_places() {
        for (own, take) in [(vec![1, 1, 2, 3, 3, 3], 3), (vec![5], 1), (vec![2, 2, 2], 2), (vec![1, 2, 3, 4, 5], 4)] {
            let labels = PatientLabels::new(Bounds::from_ends(vec![own.len()]), own.clone());
            let all = places(own.len(), take);
            let mut expected: BTreeMap<Vec<(u32, u32)>, f64> = BTreeMap::new();
            all.iter().for_each(|p| *expected.entry(labels_at(&own, p)).or_default() += 1.0 / all.len() as f64);
            let found = choices(labels.counts_of(0), own.len(), take);
            assert_eq!(found.len() as u64, number_of_choices(labels.counts_of(0), own.len(), take), "{own:?}");
            assert_eq!(found.len(), expected.len());
            for choice in found {
                assert!((expected[&choice.labels] - choice.probability).abs() < 1e-12, "{own:?}");
            }
        }
    }

    /// Against every choice of places of every patient, and every other patient.
    #[test]
    fn the_share_is_that_of_all_choices() {
        for seed in 0..20 {
            let columns = random_columns(seed, 40, 5);
            let class_of: Vec<u32> = (0..40).map(|p| p % 2).collect();
            let finder = Finder::new(&columns, &class_of, 2);
            let power: Vec<Vec<u8>> = columns.iter().map(|c| powers(c, 2, PowerRule::Fixed)).collect();
            let attacker = Attacker {
                finder: &finder,
                known: &columns,
                number: None,
                power: &power,
                k: 4,
                draws: &Randomness::seeded(seed),
                threads: 2,
                sets: ALL_SETS,
            };
            let found = attacker.share(Some(Fraction::ONE));
            let mut expected = 0.0;
            for p in 0..40 {
                let of = |c: usize| places(columns[c].number(p), usize::from(power[c][p]));
                let (first, second) = (of(0), of(1));
                let mut hits = 0;
                for (a, b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                    let known = [labels_at(columns[0].of_person(p), a), labels_at(columns[1].of_person(p), b)];
                    let has = |o: usize| (0..2).all(|c| known[c].iter().all(|&(l, n)| columns[c].count(o, l) >= n));
                    let matching = (0..40).filter(|&o| class_of[o] == class_of[p] && has(o)).count();
                    hits += usize::from(matching < 4);
                }
                expected += hits as f64 / (first.len() * second.len()) as f64;
            }
            assert!(found.is_exact() && found.patients == 40);
            let share = found.enumerated_millionths as f64 / 1e6;
            assert!(share >= expected - 1e-9 && share <= expected + 41e-6, "{share}, but {expected}");
            // The draws tell the same.
            let drawn = attacker.hits(&(0..40).collect::<Vec<_>>(), 0, FIRST_DRAWS) as f64 / FIRST_DRAWS as f64;
            assert!((drawn - expected / 40.0).abs() < 0.02, "{drawn}, but {}", expected / 40.0);
        }
    }

    #[test]
    fn long_histories_are_drawn_from_and_counted_in_time() {
        // A patient with very many different labels, and one with very many equal ones.
        let own: Vec<u32> = (0..200_000).chain(std::iter::repeat_n(7, 200_000)).collect();
        let labels = PatientLabels::new(Bounds::from_ends(vec![200_000, 400_000]), own);
        assert!(number_of_choices(labels.counts_of(0), 200_000, 3) > MOST_SETS);
        assert_eq!(number_of_choices(labels.counts_of(1), 200_000, 3), 1);
        assert_eq!(choices(labels.counts_of(1), 200_000, 250).len(), 1);
        assert_eq!(enumerated_up_to([4096; 1000].into_iter(), ALL_SETS), 2048);
        assert_eq!(enumerated_up_to([1; 10].into_iter(), ALL_SETS), 4096);
    }
}
