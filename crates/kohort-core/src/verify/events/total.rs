//! Any p facts in total: every set of them that a patient has is looked for among those alike.

use super::finder::PatientLabels;
use hashbrown::HashMap;

/// More sets of facts than this, and so many more for each event, are not looked for; and more different ones of one
/// class are not held. No release of Kohort's has them, and whoever writes one that has means harm.
const MOST_SETS: u64 = 1 << 28;
const SETS_PER_EVENT: u64 = 4096;
const MOST_DIFFERENT: usize = 1 << 25;

/// Patients with a set of at most `p` facts that fewer than `k` patients of their class have. `None`: they are
/// more than can be counted.
pub(super) fn violating(columns: &[PatientLabels], class_of: &[u32], (k, p): (u64, usize)) -> Option<u64> {
    let people = columns.first().map_or(0, PatientLabels::people);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); class_of.iter().max().map_or(0, |c| *c as usize + 1)];
    (0..people).filter(|&p| super::has_labels(columns, p)).for_each(|p| members[class_of[p] as usize].push(p));
    // Labels of all columns in one row of numbers.
    let mut first = vec![0u32; columns.len()];
    for c in 1..columns.len() {
        first[c] = first[c - 1].checked_add(columns[c - 1].labels_end())?;
    }
    first.last().zip(columns.last()).and_then(|(first, last)| first.checked_add(last.labels_end())?.checked_add(1))?;
    let facts = |person: usize| -> Vec<(u32, u32)> {
        // Numbers from 1 on: 0 is no fact.
        let of = |(column, first): (&PatientLabels, &u32)| {
            column.counts_of(person).iter().map(|&(l, n)| (first + l + 1, n)).collect::<Vec<_>>()
        };
        columns.iter().zip(&first).flat_map(of).collect()
    };
    let events: u64 = columns.iter().map(|c| (0..people).map(|p| c.number(p) as u64).sum::<u64>()).max().unwrap_or(0);
    let mut left = MOST_SETS.checked_add(events.checked_mul(SETS_PER_EVENT)?)?;
    for person in 0..people {
        let facts: u64 = facts(person).iter().map(|&(_, times)| u64::from(times).min(p as u64)).sum();
        // Up to p of them: at most facts (facts + 1) … (facts + p − 1) ÷ p!.
        left = left.checked_sub((0..p as u64).try_fold(1u64, |all, i| Some(all.checked_mul(facts + i)? / (i + 1)))?)?;
    }
    let mut found = 0;
    for class in members {
        // How many patients have each set; a patient has a set once.
        let mut having: HashMap<[u32; MOST_FACTS], u32, foldhash::fast::RandomState> = HashMap::default();
        for &person in &class {
            sets(&facts(person), p, &mut Vec::new(), &mut |set| {
                if having.len() <= MOST_DIFFERENT {
                    *having.entry(key(set)).or_default() += 1;
                }
            });
            if having.len() > MOST_DIFFERENT {
                return None;
            }
        }
        for &person in &class {
            let mut few = false;
            sets(&facts(person), p, &mut Vec::new(), &mut |set| {
                few |= having.get(&key(set)).is_none_or(|n| u64::from(*n) < k)
            });
            found += u64::from(few);
        }
    }
    Some(found)
}

/// A set of facts as it is looked up: no set is larger.
const MOST_FACTS: usize = 3;

fn key(set: &[u32]) -> [u32; MOST_FACTS] {
    let mut key = [0; MOST_FACTS];
    key[..set.len()].copy_from_slice(set);
    key
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// One column in which each of two patients has so many different values, the same ones.
    fn alike(facts: u32) -> [PatientLabels; 1] {
        let labels: Vec<u32> = (0..facts).chain(0..facts).collect();
        [PatientLabels::new(crate::ragged::Bounds::from_ends(vec![facts as usize, 2 * facts as usize]), labels)]
    }

    #[test]
    fn each_set_comes_once() {
        let mut found = Vec::new();
        sets(&[(1, 2), (4, 1), (5, 1)], 2, &mut Vec::new(), &mut |set| found.push(set.to_vec()));
        assert_eq!(found, [vec![1], vec![1, 4], vec![1, 5], vec![1, 1], vec![4], vec![4, 5], vec![5]]);
    }

    #[test]
    fn a_patient_with_very_many_facts_is_counted_or_refused() {
        assert_eq!(violating(&alike(200_000), &[0, 0], (2, 1)), Some(0));
        assert_eq!(violating(&alike(200_000), &[0, 0], (3, 1)), Some(2));
        // Twenty thousand million pairs.
        assert_eq!(violating(&alike(200_000), &[0, 0], (2, 2)), None);
    }
}
