//! Tries every class that one mask could make of rows that pay more now.

use super::super::group::group;
use super::super::packed::Mask;
use super::assignment::{Assignment, Move};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Rows that show the same under a mask: they could make a class of their own, or join the one that
/// already shows it.
struct RowGroup {
    key: u128,
    /// Runs that would pay less there.
    gainers: Vec<u32>,
    /// Runs of classes with more than k rows, which would pay no less there. They can help to fill
    /// the class.
    lenders: Vec<u32>,
}

/// Moves into one class, with the blanks that they save and cost.
#[derive(Default)]
struct Moves {
    list: Vec<Move>,
    rows: u64,
    gain: u64,
    loss: u64,
}

impl Assignment<'_, '_, '_> {
    /// Moves rows to the classes that a mask makes, wherever the blanks fall. Returns the gain.
    pub(super) fn regroup(&mut self, mask: &Mask) -> u64 {
        let mut groups = self.row_groups(mask);
        groups.sort_unstable_by_key(|g| g.key);
        groups.into_iter().map(|group| self.try_group(mask, group)).sum()
    }

    /// Groups the rows by what they would show, as far as a group could be worth it: some row gains,
    /// and the class exists or could reach k.
    fn row_groups(&self, mask: &Mask) -> Vec<RowGroup> {
        let gains = |run: u32| self.cost[run as usize] > mask.cost;
        let takes_part =
            |&run: &u32| !self.records.deleted[run as usize] && (gains(run) || self.class_size(run) > self.k);
        let runs: Vec<u32> = (0..self.cost.len() as u32).filter(takes_part).collect();
        let keys: Vec<u128> = runs.iter().map(|&r| self.original[r as usize] & mask.keep).collect();
        let grouped = group(&keys, self.records.cohort.threads);
        // By group: the rows that could come, and whether any of them would gain.
        let mut totals = vec![(0u64, false); grouped.first.len()];
        for (&run, &g) in runs.iter().zip(&grouped.of) {
            let (rows, any_gains) = &mut totals[g as usize];
            *rows += self.rows(run);
            *any_gains |= gains(run);
        }
        let is_worth_it = |(&(rows, any_gains), &first): (&(u64, bool), &u32)| {
            any_gains && (rows >= self.k || self.rows_of_key(keys[first as usize]) > 0)
        };
        let worth_it: Vec<bool> = totals.iter().zip(&grouped.first).map(is_worth_it).collect();
        let mut chosen: Vec<RowGroup> = Vec::new();
        let mut place_of_group = vec![u32::MAX; worth_it.len()];
        for ((&run, &g), &key) in runs.iter().zip(&grouped.of).zip(&keys).filter(|((_, g), _)| worth_it[**g as usize]) {
            let place = &mut place_of_group[g as usize];
            if *place == u32::MAX {
                *place = chosen.len() as u32;
                chosen.push(RowGroup { key, gainers: Vec::new(), lenders: Vec::new() });
            }
            let group = &mut chosen[*place as usize];
            if gains(run) { group.gainers.push(run) } else { group.lenders.push(run) }
        }
        chosen
    }

    /// Moves the rows of a group, if the blanks fall in total. Returns the gain.
    fn try_group(&mut self, mask: &Mask, group: RowGroup) -> u64 {
        let RowGroup { key, gainers, lenders } = group;
        let mut moves = self.moves_of_gainers(mask, key, gainers);
        if moves.rows == 0 {
            return 0;
        }
        let is_new = self.rows_of_key(key) == 0;
        if is_new && moves.rows < self.k && !self.borrow(mask, key, lenders, &mut moves) {
            return 0;
        }
        moves.list.into_iter().for_each(|m| self.apply(m, key));
        moves.gain - moves.loss
    }

    /// Lists the gainers that may go: of each class either all rows, or as many as it has above k.
    fn moves_of_gainers(&self, mask: &Mask, key: u128, mut gainers: Vec<u32>) -> Moves {
        gainers.retain(|&r| self.price(r, mask) < self.cost[r as usize] && self.shown[r as usize] != key);
        gainers.sort_by(|&a, &b| self.order(a, b));
        let mut moves = Moves::default();
        for class in gainers.chunk_by(|&a, &b| self.shown[a as usize] == self.shown[b as usize]) {
            let size = self.class_size(class[0]);
            let all: u64 = class.iter().map(|&r| self.rows(r)).sum();
            let mut may_go = if all == size { all } else { all.min(size.saturating_sub(self.k)) };
            for &run in class {
                let rows = may_go.min(self.rows(run));
                may_go -= rows;
                if rows > 0 {
                    moves.list.push(Move { run, rows });
                    moves.rows += rows;
                    moves.gain += rows * (self.cost[run as usize] - self.price(run, mask));
                }
            }
        }
        moves
    }

    /// Fills a new class up to k with rows that other classes can spare, the cheapest first. Returns
    /// whether that is possible and costs less than the gain.
    fn borrow(&self, mask: &Mask, key: u128, mut lenders: Vec<u32>, moves: &mut Moves) -> bool {
        lenders.retain(|&r| self.shown[r as usize] != key && self.cost[r as usize] <= self.price(r, mask));
        let extra = |r: u32| self.price(r, mask) - self.cost[r as usize];
        lenders.sort_by(|&a, &b| extra(a).cmp(&extra(b)).then(self.order(a, b)));
        let mut need = self.k - moves.rows;
        // By key of a class: rows that it lends.
        let mut lent: HashMap<u128, u64, RandomState> = HashMap::default();
        for run in lenders {
            let from = self.shown[run as usize];
            let given = lent.entry(from).or_default();
            // Gainers may come from the same class. Rows it lent before are among these moves as well, and
            // so are subtracted twice: that lends fewer rows than possible, never more.
            let of_class = moves.list.iter().filter(|m| self.shown[m.run as usize] == from);
            let leaving: u64 = of_class.map(|m| m.rows).sum();
            let spare = self.class_size(run).saturating_sub(self.k + leaving);
            let rows = need.min(spare.saturating_sub(*given)).min(self.rows(run));
            if rows > 0 {
                *given += rows;
                need -= rows;
                moves.loss += rows * extra(run);
                moves.list.push(Move { run, rows });
            }
            if need == 0 || moves.loss >= moves.gain {
                break;
            }
        }
        need == 0 && moves.loss < moves.gain
    }
}
