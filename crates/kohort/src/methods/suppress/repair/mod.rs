//! Repairs what is blank in vain in one combination: records move to classes in which they show more,
//! as long as every class keeps k.
//!
//! A class is opened or joined when the blanks fall in all; records leave a class only if it keeps k
//! or dissolves wholly; where a new class lacks a few, large classes lend records they can spare.

use super::group::group;
use super::packed::{Mask, Packing};
use super::records::Records;
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// At most so often a record is looked at, so that the largest tables are not repaired for ever.
const MOST_LOOKS: usize = 60_000_000;
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
        if !records.deleted[run] && key != packing.key(|q| records.cells(run)[q]) {
            packing.show(records, run, key);
        }
    }
    records.count_support();
}

struct State<'a, 'r, 'c> {
    records: &'r mut Records<'c>,
    packing: &'a Packing<'a>,
    /// What a blank costs, by column of the set.
    prices: Vec<u64>,
    k: u64,
    /// By run: what it could show, what it shows, and what that costs a row.
    original: Vec<u128>,
    shown: Vec<u128>,
    cost: Vec<u64>,
    /// By run: its class.
    class: Vec<u32>,
    /// By class: its rows; and the class that shows a key.
    rows: Vec<u64>,
    class_of: HashMap<u128, u32, RandomState>,
}

/// Rows of a run that could move.
#[derive(Clone, Copy)]
struct Move {
    run: u32,
    rows: u64,
}

impl<'a, 'r, 'c> State<'a, 'r, 'c> {
    fn new(records: &'r mut Records<'c>, packing: &'a Packing<'a>, k: u64, weights: &[f64]) -> Self {
        let prices = packing.prices(weights);
        let runs = 0..records.len();
        let original: Vec<u128> = runs.clone().map(|r| packing.key(|q| records.original(r, q))).collect();
        let shown: Vec<u128> = runs.map(|r| packing.key(|q| records.cells(r)[q])).collect();
        let cost = original.iter().zip(&shown).map(|(&o, &s)| packing.cost(o, s, &prices)).collect();
        let groups = group(&shown, records.cohort.threads);
        let mut rows = vec![0; groups.first.len()];
        for run in (0..records.len()).filter(|&r| !records.deleted[r]) {
            rows[groups.of[run] as usize] += records.single[run];
        }
        let class_of = (0u32..).zip(&groups.first).map(|(class, &run)| (shown[run as usize], class)).collect();
        State { records, packing, prices, k, original, shown, cost, class: groups.of, rows, class_of }
    }

    /// Rows that show a key.
    fn count(&self, key: u128) -> u64 {
        self.class_of.get(&key).map_or(0, |&class| self.rows[class as usize])
    }

    /// Rows that show what a run shows.
    fn beside(&self, run: u32) -> u64 {
        self.rows[self.class[run as usize] as usize]
    }

    /// What a run would pay under a mask.
    fn price(&self, run: usize, mask: &Mask) -> u64 {
        self.packing.cost(self.original[run], self.original[run] & mask.keep, &self.prices)
    }

    /// Looks at every class that a mask could make of records that pay more now. Returns what was gained.
    fn open_or_join(&mut self, mask: &Mask) -> u64 {
        let pays_more = |state: &Self, run: u32| state.cost[run as usize] > mask.cost;
        // Who could gain, and who could lend: rows of classes that can spare some, that would pay no less.
        let takes_part =
            |&run: &u32| !self.records.deleted[run as usize] && (pays_more(self, run) || self.beside(run) > self.k);
        let runs: Vec<u32> = (0..self.cost.len() as u32).filter(takes_part).collect();
        let keys: Vec<u128> = runs.iter().map(|&r| self.original[r as usize] & mask.keep).collect();
        let groups = group(&keys, self.records.cohort.threads);
        // By group: rows that could come, and whether any of them would gain.
        let mut may = vec![(0u64, false); groups.first.len()];
        for (&run, &g) in runs.iter().zip(&groups.of) {
            let own = &mut may[g as usize];
            *own = (own.0 + self.records.single[run as usize], own.1 || pays_more(self, run));
        }
        let worth = |(&(rows, gains), &first): (&(u64, bool), &u32)| {
            gains && (rows >= self.k || self.count(keys[first as usize]) > 0)
        };
        let worth: Vec<bool> = may.iter().zip(&groups.first).map(worth).collect();
        let mut chosen: Vec<(u128, Vec<u32>, Vec<u32>)> = Vec::new();
        let mut place = vec![u32::MAX; worth.len()];
        for ((&run, &g), &key) in runs.iter().zip(&groups.of).zip(&keys).filter(|((_, g), _)| worth[**g as usize]) {
            let place = &mut place[g as usize];
            if *place == u32::MAX {
                *place = chosen.len() as u32;
                chosen.push((key, Vec::new(), Vec::new()));
            }
            let (_, gainers, lenders) = &mut chosen[*place as usize];
            if pays_more(self, run) { gainers.push(run) } else { lenders.push(run) }
        }
        chosen.sort_unstable_by_key(|g| g.0);
        chosen.into_iter().map(|(key, gainers, lenders)| self.try_group(mask, key, gainers, lenders)).sum()
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
            let from = self.beside(class[0]);
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
                let spare = self.beside(run).saturating_sub(self.k + leaving);
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
        let shown = self.shown[i].cmp(&self.shown[j]).then(self.original[i].cmp(&self.original[j]));
        shown.then_with(|| self.records.rank(i).cmp(&self.records.rank(j)))
    }

    /// Moves rows of a run to the class that shows `key`.
    fn go(&mut self, m: Move, key: u128) {
        let mut run = m.run as usize;
        if m.rows < self.records.single[run] {
            let new = self.records.split(run, m.rows);
            self.original.push(self.original[run]);
            self.shown.push(self.shown[run]);
            self.cost.push(self.cost[run]);
            self.class.push(self.class[run]);
            run = new;
        }
        self.rows[self.class[run] as usize] -= m.rows;
        let class = *self.class_of.entry(key).or_insert(self.rows.len() as u32);
        if class as usize == self.rows.len() {
            self.rows.push(0);
        }
        self.rows[class as usize] += m.rows;
        self.class[run] = class;
        self.shown[run] = key;
        self.cost[run] = self.packing.cost(self.original[run], key, &self.prices);
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
            if self.beside(class[0]) != rows {
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
                then += rows * self.packing.cost(original, key, &self.prices);
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
