//! Swap: members of two classes change places.

use super::Repair;
use crate::local::classes::Member;

/// The most swaps of one class in a visit.
const ROUNDS: usize = 6;

/// A swap: the change of the total, what goes, where, and what comes back.
type Swap = (i64, Member, u32, Member);

impl Repair<'_> {
    /// Swaps members of a class with those of its neighbours as long as the total falls.
    pub(super) fn swap(&mut self, number: u32) -> i64 {
        let mut gain = 0;
        let mut candidates = Vec::new();
        for _ in 0..ROUNDS {
            let Some((change, goes, to, comes)) = self.best_swap(number, &mut candidates) else { return gain };
            self.take(number, goes);
            self.take(to, comes);
            self.put(to, goes);
            self.put(number, comes);
            gain += change;
        }
        gain
    }

    fn best_swap(&self, number: u32, candidates: &mut Vec<u32>) -> Option<Swap> {
        let (points, width, most) = (self.points, self.points.width(), 3 * self.requirement.k);
        let class = &self.classes[number as usize];
        if !class.is_coarsened() || class.people > most {
            return None;
        }
        let labels = self.labels_without(class);
        let mut best: Option<Swap> = None;
        for (i, &goes) in class.members.iter().enumerate() {
            let rest = &labels[i * width..][..width];
            if points.cost(rest) >= class.row_cost {
                continue;
            }
            self.candidates(goes.point, number, candidates);
            for &to in candidates.iter() {
                let other = &self.classes[to as usize];
                if !other.is_coarsened() || other.people > most {
                    continue;
                }
                // The other class keeps all but one member: it cannot gain more than all it costs.
                let before = class.cost() + other.cost();
                let other_labels = self.labels_without(other);
                for (j, &comes) in other.members.iter().enumerate() {
                    if comes.point == goes.point {
                        continue;
                    }
                    let row_cost = points.joint_cost(rest, points.nodes(comes.point));
                    let own = (row_cost * u64::from(class.rows - goes.rows + comes.rows)) as i64;
                    let least = best.as_ref().map_or(0, |b| b.0);
                    if own - before >= least || !points.is_permitted(row_cost) {
                        continue;
                    }
                    let row_cost = points.joint_cost(&other_labels[j * width..][..width], points.nodes(goes.point));
                    let theirs = (row_cost * u64::from(other.rows - comes.rows + goes.rows)) as i64;
                    let change = own + theirs - before;
                    if change < least
                        && points.is_permitted(row_cost)
                        && self.holds_exchanged(class, goes, comes)
                        && self.holds_exchanged(other, comes, goes)
                    {
                        best = Some((change, goes, to, comes));
                    }
                }
            }
        }
        best
    }
}
