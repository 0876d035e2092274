//! Ends classes whose rows would pay less, in total, in classes that already exist.
//!
//! # Example
//! k = 2. The class `* *` has the rows 30 F and 40 M. The classes `30 *` and `* M` exist. In them the
//! two rows would pay one blank each instead of two: both move, and `* *` ends. If there were no class
//! for 40 M, nothing would move, since 40 M alone would be a class below k.

use super::super::packed::Mask;
use super::assignment::{Assignment, Move};

impl Assignment<'_, '_, '_> {
    /// Dissolves every class for which that lowers the price. Returns the gain.
    pub(super) fn dissolve(&mut self, masks: &[Mask]) -> u64 {
        let mut runs: Vec<u32> = (0..self.cost.len() as u32)
            .filter(|&r| !self.records.deleted[r as usize] && self.cost[r as usize] > 0)
            .collect();
        runs.sort_by(|&a, &b| self.order(a, b));
        let classes = runs.chunk_by(|&a, &b| self.shown[a as usize] == self.shown[b as usize]);
        let classes: Vec<Vec<u32>> = classes.map(<[u32]>::to_vec).collect();
        classes.iter().map(|class| self.dissolve_class(class, masks)).sum()
    }

    fn dissolve_class(&mut self, class: &[u32], masks: &[Mask]) -> u64 {
        let own = self.shown[class[0] as usize];
        let rows: u64 = class.iter().map(|&r| self.rows(r)).sum();
        // Rows joined since, or some rows pay nothing: then this list is not the whole class.
        if self.class_size(class[0]) != rows {
            return 0;
        }
        let now: u64 = class.iter().map(|&r| self.rows(r) * self.cost[r as usize]).sum();
        let mut then = 0;
        let mut moves: Vec<(Move, u128)> = Vec::new();
        for &run in class {
            let original = self.original[run as usize];
            let exists = |key: &u128| *key != own && self.rows_of_key(*key) >= self.k;
            let cheapest = std::iter::once(original).chain(masks.iter().map(|m| original & m.keep)).find(exists);
            let Some(key) = cheapest else { return 0 };
            let rows = self.rows(run);
            then += rows * self.packing.cost(original, key, &self.prices);
            if then >= now {
                return 0;
            }
            moves.push((Move { run, rows }, key));
        }
        moves.into_iter().for_each(|(m, key)| self.apply(m, key));
        now - then
    }
}
