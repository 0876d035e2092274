//! The exact alternative: any p facts in total, over all event columns, with all patient-level values.

use super::classes::Classes;
use super::held::{Counter, Held};
use hashbrown::HashMap;
use kohort_core::events::Histories;
use kohort_core::parallel;

/// By place: whether some set of at most `p` facts of the patient is contained in fewer than `k`
/// patients of their class. Patients without events left have none.
///
/// Cost: for each patient the number of sets of p facts.
pub(crate) fn violating(
    histories: &Histories,
    levels: &[usize],
    left: &Held,
    classes: &Classes,
    (k, p): (u64, usize),
    threads: usize,
) -> Vec<bool> {
    let items = Items::of(histories, levels, left);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); classes.sizes.len()];
    for (place, &class) in classes.of.iter().enumerate() {
        if !left.of_person(place).is_empty() {
            members[class as usize].push(place as u32);
        }
    }
    // Classes have nothing to do with one another.
    let parts = share(members, threads);
    let of_part = |part: usize| {
        let mut table = Table::new(items.distinct, p);
        let mut violating: Vec<u32> = Vec::new();
        for class in &parts[part] {
            if (class.len() as u64) < k {
                violating.extend(class);
                continue;
            }
            for &person in class {
                each_set(items.of_person(person as usize), p, &mut |set| {
                    table.add(set);
                    true
                });
            }
            let safe =
                |person: u32| each_set(items.of_person(person as usize), p, &mut |set| u64::from(table.get(set)) >= k);
            violating.extend(class.iter().filter(|&&person| !safe(person)));
            table.clear();
        }
        violating
    };
    let mut found = vec![false; left.people()];
    for person in parallel::map(threads, parts.len(), of_part).concat() {
        found[person as usize] = true;
    }
    found
}

/// Classes in as many parts as there are threads, with about as many patients each.
fn share(mut classes: Vec<Vec<u32>>, threads: usize) -> Vec<Vec<Vec<u32>>> {
    classes.sort_by_key(|class| std::cmp::Reverse(class.len()));
    let mut parts: Vec<(usize, Vec<Vec<u32>>)> = vec![(0, Vec::new()); threads.max(1)];
    for class in classes {
        if let Some(least) = parts.iter_mut().min_by_key(|part| part.0) {
            least.0 += class.len();
            least.1.push(class);
        }
    }
    parts.into_iter().map(|part| part.1).collect()
}

/// By person: distinct facts, ascending, each with how often it holds.
struct Items {
    distinct: usize,
    ends: Vec<u32>,
    facts: Vec<(u32, u32)>,
}

impl Items {
    fn of(histories: &Histories, levels: &[usize], left: &Held) -> Items {
        let sizes: Vec<usize> = histories.event.iter().zip(levels).map(|(c, &l)| c.level(l).labels.len()).collect();
        let mut counters: Vec<Counter> = sizes.iter().map(|&n| Counter::new(n)).collect();
        let mut items = Items { distinct: sizes.iter().sum(), ends: Vec::new(), facts: Vec::new() };
        for person in 0..left.people() {
            let start = items.facts.len();
            let mut first = 0;
            for (c, column) in histories.event.iter().enumerate() {
                let label = |&e: &u32| column.label(levels[c], e as usize);
                counters[c].count(left.of_person(person).iter().map(label), |label, count| {
                    items.facts.push((first + label, count));
                });
                first += sizes[c] as u32;
            }
            items.facts[start..].sort_unstable();
            items.ends.push(items.facts.len() as u32);
        }
        items
    }

    fn of_person(&self, person: usize) -> &[(u32, u32)] {
        let start = if person == 0 { 0 } else { self.ends[person - 1] as usize };
        &self.facts[start..self.ends[person] as usize]
    }
}

/// Hands out every set of 1 to `p` facts, a fact as often as it holds; ends where `each` is false.
fn each_set<F: FnMut(&[u32]) -> bool>(facts: &[(u32, u32)], p: usize, each: &mut F) -> bool {
    fn below<F: FnMut(&[u32]) -> bool>(
        facts: &[(u32, u32)],
        from: usize,
        p: usize,
        set: &mut Vec<u32>,
        each: &mut F,
    ) -> bool {
        for at in from..facts.len() {
            let (fact, times) = facts[at];
            if set.iter().rev().take_while(|f| **f == fact).count() as u32 >= times {
                continue;
            }
            set.push(fact);
            let goes_on = each(set) && (set.len() == p || below(facts, at, p, set, each));
            set.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }
    below(facts, 0, p, &mut Vec::with_capacity(p), each)
}

/// How many patients of a class have each set.
struct Table {
    width: usize,
    /// Sets of one and of two facts, where there are few different ones.
    dense: Vec<u32>,
    used: Vec<u32>,
    others: HashMap<u128, u32, foldhash::fast::RandomState>,
}

/// More cells are not laid out.
const MOST_CELLS: usize = 1 << 22;

impl Table {
    fn new(distinct: usize, p: usize) -> Table {
        let width = distinct + 1;
        let cells = if p > 1 { width.saturating_mul(width) } else { width };
        let dense = if cells <= MOST_CELLS { vec![0; cells] } else { Vec::new() };
        Table { width, dense, used: Vec::new(), others: HashMap::default() }
    }

    /// Where a set stands, if it has a cell of its own.
    fn cell(&self, set: &[u32]) -> Option<usize> {
        let cell = match *set {
            [a] => a as usize + 1,
            [a, b] => (a as usize + 1) * self.width + b as usize + 1,
            _ => return None,
        };
        (!self.dense.is_empty()).then_some(cell)
    }

    fn key(set: &[u32]) -> u128 {
        set.iter().fold(0, |key, &fact| (key << 33) | (u128::from(fact) + 1))
    }

    fn add(&mut self, set: &[u32]) {
        match self.cell(set) {
            Some(cell) => {
                if self.dense[cell] == 0 {
                    self.used.push(cell as u32);
                }
                self.dense[cell] += 1;
            }
            None => *self.others.entry(Table::key(set)).or_insert(0) += 1,
        }
    }

    fn get(&self, set: &[u32]) -> u32 {
        match self.cell(set) {
            Some(cell) => self.dense[cell],
            None => self.others.get(&Table::key(set)).copied().unwrap_or(0),
        }
    }

    fn clear(&mut self) {
        self.used.drain(..).for_each(|cell| self.dense[cell as usize] = 0);
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_facts_comes_once() {
        let mut sets = Vec::new();
        each_set(&[(1, 2), (4, 1)], 2, &mut |set| {
            sets.push(set.to_vec());
            true
        });
        assert_eq!(sets, [vec![1], vec![1, 1], vec![1, 4], vec![4]]);
    }
}
