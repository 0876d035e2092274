//! Any p facts in total: every set of them that a patient has is looked for among those alike.
//!
//! Sets are gone through by their first fact, then by their second one, and so on, each time among the patients who
//! have the facts before: how many have a set is then the length of a list, and no set is held in memory. Where fewer
//! than k patients are left, all of them are at risk, and longer sets need not be looked at.

use super::finder::PatientLabels;

/// More sets of facts than this, and so many more for each event, are not looked for. No release of Kohort's has
/// them, and whoever writes one that has means harm.
const MOST_SETS: u64 = 1 << 28;
const SETS_PER_EVENT: u64 = 4096;

/// Patients with a set of at most `p` facts that fewer than `k` patients of their class have. `None`: they are
/// more than can be counted.
pub(super) fn violating(columns: &[PatientLabels], class_of: &[u32], (k, p): (u64, usize)) -> Option<u64> {
    let people = columns.first().map_or(0, PatientLabels::people);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); class_of.iter().max().map_or(0, |c| *c as usize + 1)];
    (0..people).filter(|&p| super::has_labels(columns, p)).for_each(|p| members[class_of[p] as usize].push(p as u32));
    // Labels of all columns in one row of numbers.
    let mut first = vec![0u32; columns.len()];
    for c in 1..columns.len() {
        first[c] = first[c - 1].checked_add(columns[c - 1].labels_end())?;
    }
    let end = first.last().zip(columns.last()).map_or(Some(0), |(first, last)| first.checked_add(last.labels_end()))?;
    let of = |person: usize| {
        let of = move |(column, first): (&PatientLabels, &u32)| {
            column.counts_of(person).iter().map(|&(label, n)| (first + label, n)).collect::<Vec<_>>()
        };
        columns.iter().zip(&first).flat_map(of).collect::<Vec<_>>()
    };
    let facts: Vec<Vec<(u32, u32)>> = (0..people).map(of).collect();
    let events: u64 = columns.iter().map(|c| (0..people).map(|p| c.number(p) as u64).sum::<u64>()).max().unwrap_or(0);
    let mut left = MOST_SETS.checked_add(events.checked_mul(SETS_PER_EVENT)?)?;
    for own in &facts {
        let facts: u64 = own.iter().map(|&(_, times)| u64::from(times).min(p as u64)).sum();
        // Up to p of them: at most facts (facts + 1) … (facts + p − 1) ÷ p!.
        left = left.checked_sub((0..p as u64).try_fold(1u64, |all, i| Some(all.checked_mul(facts + i)? / (i + 1)))?)?;
    }
    let mut search = SetSearch {
        facts: &facts,
        k: usize::try_from(k).ok()?,
        few: vec![false; people],
        having: vec![0; end as usize],
    };
    for class in members {
        search.look(&class.into_iter().map(|person| (person, 0)).collect::<Vec<_>>(), p);
    }
    Some(search.few.iter().filter(|few| **few).count() as u64)
}

/// Looks for sets that few patients have.
struct SetSearch<'a> {
    /// The facts of each patient, ascending, each with how often it holds.
    facts: &'a [Vec<(u32, u32)>],
    k: usize,
    /// Patients who were found to have a set that fewer than k have.
    few: Vec<bool>,
    /// Room to count by fact; all 0 between two uses.
    having: Vec<u32>,
}

impl SetSearch<'_> {
    /// Goes through all sets that begin with the facts which these patients share, and have up to `more` further
    /// ones. Each patient comes with the place of the first fact that may follow.
    fn look(&mut self, patients: &[(u32, u32)], more: usize) {
        // Whoever was found needs no further set, and counts for nobody outside this list.
        if patients.iter().all(|own| self.few[own.0 as usize]) {
            return;
        }
        if patients.len() < self.k {
            return patients.iter().for_each(|own| self.few[own.0 as usize] = true);
        }
        let facts = self.facts;
        let follow = |&(person, from): &(u32, u32)| (from..).zip(&facts[person as usize][from as usize..]);
        if more == 0 {
            return;
        }
        if more == 1 {
            // The last facts of a set are only counted.
            let last = |own: &(u32, u32)| follow(own).map(|(_, fact)| fact.0 as usize);
            patients.iter().for_each(|own| last(own).for_each(|fact| self.having[fact] += 1));
            for own in patients {
                self.few[own.0 as usize] |= last(own).any(|fact| (self.having[fact] as usize) < self.k);
            }
            return patients.iter().for_each(|own| last(own).for_each(|fact| self.having[fact] = 0));
        }
        let mut longer: Vec<(u32, u32, u32, u32)> = Vec::new();
        for own in patients {
            for (place, &(fact, times)) in follow(own) {
                longer.extend((1..=times.min(more as u32)).map(|times| (fact, times, own.0, place + 1)));
            }
        }
        longer.sort_unstable();
        for alike in longer.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let patients: Vec<(u32, u32)> = alike.iter().map(|own| (own.2, own.3)).collect();
            self.look(&patients, more - alike[0].1 as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ragged::Bounds;
    use crate::random::SplitMix;
    use std::collections::HashMap;

    /// Every set of 1 to `p` of the facts, a fact at most as often as it holds; each once.
    fn sets(facts: &[(u32, u32)], p: usize, set: &mut Vec<u32>, each: &mut dyn FnMut(&[u32])) {
        let depth = set.len();
        for (at, &(fact, times)) in facts.iter().enumerate() {
            for _ in 0..times.min((p - depth) as u32) {
                set.push(fact);
                each(set);
                if set.len() < p {
                    sets(&facts[at + 1..], p, set, each);
                }
            }
            set.truncate(depth);
        }
    }

    /// One column in which each of two patients has so many different values, the same ones.
    fn alike(facts: u32) -> [PatientLabels; 1] {
        let labels: Vec<u32> = (0..facts).chain(0..facts).collect();
        [PatientLabels::new(Bounds::from_ends(vec![facts as usize, 2 * facts as usize]), labels)]
    }

    #[test]
    fn each_set_comes_once() {
        let mut found = Vec::new();
        sets(&[(1, 2), (4, 1), (5, 1)], 2, &mut Vec::new(), &mut |set| found.push(set.to_vec()));
        assert_eq!(found, [vec![1], vec![1, 4], vec![1, 5], vec![1, 1], vec![4], vec![4, 5], vec![5]]);
    }

    /// Patients with a set that fewer than k of their class have, each set held in memory.
    fn by_definition(columns: &[PatientLabels], class_of: &[u32], (k, p): (u64, usize)) -> u64 {
        let of = |person: usize| {
            let mut all = Vec::new();
            let facts: Vec<(u32, u32)> = columns
                .iter()
                .zip([0u32, 100])
                .flat_map(|(c, first)| c.counts_of(person).iter().map(move |&(label, n)| (first + label, n)))
                .collect();
            sets(&facts, p, &mut Vec::new(), &mut |set| all.push((class_of[person], set.to_vec())));
            all
        };
        let people = 0..class_of.len();
        let mut having: HashMap<(u32, Vec<u32>), u64> = HashMap::new();
        people.clone().flat_map(of).for_each(|set| *having.entry(set).or_default() += 1);
        people.filter(|&person| of(person).iter().any(|set| having[set] < k)).count() as u64
    }

    #[test]
    fn sets_are_counted_as_by_the_definition() {
        let mut random = SplitMix::new(5);
        for _ in 0..600 {
            let mut below = |n: u64| random.bits() % n;
            let people = 1 + below(9) as usize;
            let column = |below: &mut dyn FnMut(u64) -> u64| {
                let (mut ends, mut labels) = (Vec::new(), Vec::new());
                for _ in 0..people {
                    (0..below(5)).for_each(|_| labels.push(below(4) as u32));
                    ends.push(labels.len());
                }
                PatientLabels::new(Bounds::from_ends(ends), labels)
            };
            let columns = [column(&mut below), column(&mut below)];
            let class_of: Vec<u32> = (0..people).map(|_| below(2) as u32).collect();
            for asked in [(2, 1), (2, 2), (2, 3), (3, 2), (4, 3)] {
                let found = violating(&columns, &class_of, asked);
                assert_eq!(found, Some(by_definition(&columns, &class_of, asked)), "{asked:?}");
            }
        }
    }

    #[test]
    fn a_patient_with_very_many_facts_is_counted_or_refused() {
        assert_eq!(violating(&alike(200_000), &[0, 0], (2, 1)), Some(0));
        assert_eq!(violating(&alike(200_000), &[0, 0], (3, 1)), Some(2));
        // Twenty thousand million pairs.
        assert_eq!(violating(&alike(200_000), &[0, 0], (2, 2)), None);
    }
}
