//! Repairs what is blank in vain in one combination: records move to classes in which they show more,
//! as long as every class keeps k.
//!
//! A class is opened or joined when the blanks fall in all; records leave a class only if it keeps k
//! or dissolves wholly; where a new class lacks a few, large classes lend records they can spare.

use super::packed::{Mask, Packing};
use super::records::Records;
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Looks at records this often are made at most, so that the largest tables are not repaired for ever.
const MOST_LOOKS: usize = 150_000_000;
const MOST_SWEEPS: usize = 6;

/// Repairs one combination, where rows are the unit and k is all that is asked.
pub(super) fn repair(records: &mut Records, k: u64, set: &[usize], weights: &[f64]) {
    let Some(packing) = Packing::new(records, set) else { return };
    let masks = packing.masks(records, weights, super::levels::MOST_MASKS);
    let runs: Vec<u32> = (0..records.len() as u32).filter(|&r| !records.deleted[r as usize]).collect();
    let looks = runs.len() * masks.len().max(1);
    let mut state = State::new(records, &packing, k, weights);
    for _ in 0..(MOST_LOOKS / looks.max(1)).min(MOST_SWEEPS) {
        let mut gained = 0;
        for mask in &masks {
            gained += state.open_or_join(mask);
        }
        gained += state.dissolve(&masks);
        if gained == 0 {
            break;
        }
    }
    for (run, key) in std::mem::take(&mut state.shown).into_iter().enumerate() {
        if !records.deleted[run] && key != packing.key(records.cells(run)) {
            packing.show(records, run, key);
        }
    }
    records.count_support();
}

struct State<'a, 'r, 'c> {
    records: &'r mut Records<'c>,
    packing: &'a Packing<'a>,
    weights: &'a [f64],
    k: u64,
    /// By run: what it could show, what it shows, and what that costs a row.
    original: Vec<u128>,
    shown: Vec<u128>,
    cost: Vec<u64>,
    /// Rows by what they show.
    rows: HashMap<u128, u64, RandomState>,
}

/// Rows of a run that could move.
#[derive(Clone, Copy)]
struct Move {
    run: u32,
    rows: u64,
}

impl<'a, 'r, 'c> State<'a, 'r, 'c> {
    fn new(records: &'r mut Records<'c>, packing: &'a Packing<'a>, k: u64, weights: &'a [f64]) -> Self {
        let original: Vec<u128> = (0..records.len()).map(|r| packing.original(records, r)).collect();
        let shown: Vec<u128> = (0..records.len()).map(|r| packing.key(records.cells(r))).collect();
        let cost = original.iter().zip(&shown).map(|(&o, &s)| packing.cost(o, s, weights)).collect();
        let mut rows: HashMap<u128, u64, RandomState> = HashMap::default();
        for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
            *rows.entry(shown[run]).or_default() += records.single[run];
        }
        State { records, packing, weights, k, original, shown, cost, rows }
    }

    fn count(&self, key: u128) -> u64 {
        self.rows.get(&key).copied().unwrap_or(0)
    }

    /// What a run would pay under a mask.
    fn price(&self, run: usize, mask: &Mask) -> u64 {
        self.packing.cost(self.original[run], self.original[run] & mask.keep, self.weights)
    }

    /// Looks at every class that a mask could make of records that pay more now. Returns what was gained.
    fn open_or_join(&mut self, mask: &Mask) -> u64 {
        let mut number: HashMap<u128, u32, RandomState> = HashMap::default();
        let mut groups: Vec<(u128, Vec<u32>, Vec<u32>)> = Vec::new();
        let alive = |state: &Self, run: usize| !state.records.deleted[run];
        for run in (0..self.cost.len()).filter(|&r| alive(self, r) && self.cost[r] > mask.cost) {
            let key = self.original[run] & mask.keep;
            let n = *number.entry(key).or_insert(groups.len() as u32);
            if n as usize == groups.len() {
                groups.push((key, Vec::new(), Vec::new()));
            }
            groups[n as usize].1.push(run as u32);
        }
        // Who could lend: rows of classes that can spare some, that would pay no less.
        for run in (0..self.cost.len()).filter(|&r| alive(self, r) && self.cost[r] <= mask.cost) {
            if let Some(&n) = number.get(&(self.original[run] & mask.keep))
                && self.count(self.shown[run]) > self.k
            {
                groups[n as usize].2.push(run as u32);
            }
        }
        groups.sort_unstable_by_key(|g| g.0);
        groups.into_iter().map(|(key, gainers, lenders)| self.try_group(mask, key, gainers, lenders)).sum()
    }

    /// Moves the rows of a group to a class of its own, or to the one that shows it, if that gains.
    fn try_group(&mut self, mask: &Mask, key: u128, mut gainers: Vec<u32>, mut lenders: Vec<u32>) -> u64 {
        let there = self.count(key);
        // By class they come from; of one class in an order that rows do not decide.
        gainers.retain(|&r| self.price(r as usize, mask) < self.cost[r as usize] && self.shown[r as usize] != key);
        gainers.sort_by(|&a, &b| self.order(a, b));
        let mut moves: Vec<Move> = Vec::new();
        let (mut come, mut gain) = (0u64, 0u64);
        for class in gainers.chunk_by(|&a, &b| self.shown[a as usize] == self.shown[b as usize]) {
            let from = self.count(self.shown[class[0] as usize]);
            let all: u64 = class.iter().map(|&r| self.records.single[r as usize]).sum();
            let mut may = if all == from { all } else { all.min(from.saturating_sub(self.k)) };
            for &run in class {
                let rows = may.min(self.records.single[run as usize]);
                may -= rows;
                if rows > 0 {
                    moves.push(Move { run, rows });
                    come += rows;
                    gain += rows * (self.cost[run as usize] - self.price(run as usize, mask));
                }
            }
        }
        if come == 0 {
            return 0;
        }
        let mut lost = 0;
        if there == 0 && come < self.k {
            lenders.retain(|&r| self.shown[r as usize] != key && self.cost[r as usize] <= self.price(r as usize, mask));
            let extra = |state: &Self, r: u32| state.price(r as usize, mask) - state.cost[r as usize];
            lenders.sort_by(|&a, &b| extra(self, a).cmp(&extra(self, b)).then(self.order(a, b)));
            let mut need = self.k - come;
            let mut lent: HashMap<u128, u64, RandomState> = HashMap::default();
            for run in lenders {
                let from = self.shown[run as usize];
                let given = lent.entry(from).or_default();
                // A gainer may leave the class as well.
                let leaving: u64 = moves.iter().filter(|m| self.shown[m.run as usize] == from).map(|m| m.rows).sum();
                let spare = self.count(from).saturating_sub(self.k + leaving);
                let rows = need.min(spare.saturating_sub(*given)).min(self.records.single[run as usize]);
                if rows > 0 {
                    *given += rows;
                    need -= rows;
                    lost += rows * (self.price(run as usize, mask) - self.cost[run as usize]);
                    moves.push(Move { run, rows });
                }
                if need == 0 || lost >= gain {
                    break;
                }
            }
            if need > 0 || lost >= gain {
                return 0;
            }
        }
        moves.into_iter().for_each(|m| self.go(m, key));
        gain - lost
    }

    fn order(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let (i, j) = (a as usize, b as usize);
        self.shown[i].cmp(&self.shown[j]).then_with(|| self.records.rank(i).cmp(&self.records.rank(j)))
    }

    /// Moves rows of a run to the class that shows `key`.
    fn go(&mut self, m: Move, key: u128) {
        let mut run = m.run as usize;
        if m.rows < self.records.single[run] {
            let new = self.records.split(run, m.rows);
            self.original.push(self.original[run]);
            self.shown.push(self.shown[run]);
            self.cost.push(self.cost[run]);
            run = new;
        }
        if let Some(rows) = self.rows.get_mut(&self.shown[run]) {
            *rows -= m.rows;
        }
        *self.rows.entry(key).or_default() += m.rows;
        self.shown[run] = key;
        self.cost[run] = self.packing.cost(self.original[run], key, self.weights);
    }

    /// Dissolves classes whose rows pay less, in all, in classes that are there. Returns what was gained.
    fn dissolve(&mut self, masks: &[Mask]) -> u64 {
        let mut runs: Vec<u32> = (0..self.cost.len() as u32)
            .filter(|&r| !self.records.deleted[r as usize] && self.cost[r as usize] > 0)
            .collect();
        runs.sort_by(|&a, &b| self.order(a, b));
        let classes = runs.chunk_by(|&a, &b| self.shown[a as usize] == self.shown[b as usize]);
        let classes: Vec<Vec<u32>> = classes.map(<[u32]>::to_vec).collect();
        let mut gained = 0;
        for class in &classes {
            let own = self.shown[class[0] as usize];
            let rows: u64 = class.iter().map(|&r| self.records.single[r as usize]).sum();
            // Someone joined since, or some never pay: then not all of it is here.
            if self.count(own) != rows {
                continue;
            }
            let now: u64 = class.iter().map(|&r| self.records.single[r as usize] * self.cost[r as usize]).sum();
            let mut then = 0;
            let mut places: Vec<(Move, u128)> = Vec::new();
            for &run in class {
                let original = self.original[run as usize];
                let there = |key: &u128| *key != own && self.count(*key) >= self.k;
                let place = std::iter::once(original).chain(masks.iter().map(|m| original & m.keep)).find(there);
                let Some(key) = place else { break };
                let rows = self.records.single[run as usize];
                then += rows * self.packing.cost(original, key, self.weights);
                places.push((Move { run, rows }, key));
                if then >= now {
                    break;
                }
            }
            if places.len() == class.len() && then < now {
                places.into_iter().for_each(|(m, key)| self.go(m, key));
                gained += now - then;
            }
        }
        gained
    }
}
