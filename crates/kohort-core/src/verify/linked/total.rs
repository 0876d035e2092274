//! Any p facts in total: every set of them that a patient has is looked for among those alike.

use super::finder::Labels;
use hashbrown::HashMap;

/// Patients with a set of at most `p` facts that fewer than `k` patients of their class have.
pub(super) fn violating(columns: &[Labels], class_of: &[u32], (k, p): (u64, usize)) -> u64 {
    let people = columns.first().map_or(0, Labels::people);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); class_of.iter().max().map_or(0, |c| *c as usize + 1)];
    (0..people).filter(|&p| columns[0].number(p) > 0).for_each(|p| members[class_of[p] as usize].push(p));
    let facts = |person: usize| -> Vec<(u64, u32)> {
        let of = |(c, column): (usize, &Labels)| {
            column.counts_of(person).iter().map(|&(l, n)| ((c as u64) << 32 | u64::from(l), n)).collect::<Vec<_>>()
        };
        columns.iter().enumerate().flat_map(of).collect()
    };
    let mut found = 0;
    for class in members {
        // How many patients have each set; a patient has a set once.
        let mut having: HashMap<Vec<u64>, u64, foldhash::fast::RandomState> = HashMap::default();
        for &person in &class {
            sets(&facts(person), p, &mut Vec::new(), &mut |set| match having.get_mut(set) {
                Some(n) => *n += 1,
                None => _ = having.insert(set.to_vec(), 1),
            });
        }
        for &person in &class {
            let mut few = false;
            sets(&facts(person), p, &mut Vec::new(), &mut |set| few |= having.get(set).is_none_or(|n| *n < k));
            found += u64::from(few);
        }
    }
    found
}

/// Every set of 1 to `p` of the facts, a fact at most as often as it holds; each once.
fn sets(facts: &[(u64, u32)], p: usize, set: &mut Vec<u64>, each: &mut dyn FnMut(&[u64])) {
    let Some((&(fact, times), rest)) = facts.split_first() else { return };
    let depth = set.len();
    for _ in 0..times.min((p - depth) as u32) {
        set.push(fact);
        each(set);
        if set.len() < p {
            sets(rest, p, set, each);
        }
    }
    set.truncate(depth);
    sets(rest, p, set, each);
}
