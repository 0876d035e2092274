//! Relocate: rows move to a class where they cost less, form a class of their own, or are removed.

use super::Repair;
use crate::local::classes::Member;

/// Describes where rows go.
#[derive(Clone, Copy)]
enum Destination {
    Class(u32),
    New,
    Removed,
}

impl Repair<'_> {
    /// Moves rows of a class elsewhere as long as the total falls.
    pub(super) fn relocate(&mut self, from: u32) -> i64 {
        let mut gain = 0;
        let mut candidates = Vec::new();
        while let Some((change, member, target)) = self.best_relocation(from, &mut candidates) {
            self.take(from, member);
            match target {
                Destination::Class(to) => self.put(to, member),
                Destination::New => {
                    let new = self.add_class();
                    self.put(new, member);
                }
                Destination::Removed => self.remove(member),
            }
            gain += change;
        }
        gain
    }

    fn best_relocation(&self, from: u32, candidates: &mut Vec<u32>) -> Option<(i64, Member, Destination)> {
        let (points, width) = (self.points, self.points.width());
        let class = &self.classes[from as usize];
        if !class.is_coarsened() || class.people <= self.requirement.k {
            return None;
        }
        let labels = self.labels_without(class);
        let mut best: Option<(i64, Member, Destination)> = None;
        let is_better =
            |change: i64, best: &Option<(i64, Member, Destination)>| change < best.as_ref().map_or(0, |b| b.0);
        for (i, &whole) in class.members.iter().enumerate() {
            let row_cost = points.cost(&labels[i * width..][..width]);
            let mut has_candidates = false;
            // All rows of the member, one of them, or as many as the others can do without.
            let one = (points.splits && whole.rows > 1).then_some(Member { rows: 1, ..whole });
            let spare = (class.people - self.requirement.k).min(whole.rows);
            let spare = (points.splits && spare > 1 && spare < whole.rows).then_some(Member { rows: spare, ..whole });
            for member in [Some(whole), one, spare].into_iter().flatten() {
                let row_cost = if member.rows == whole.rows { row_cost } else { class.row_cost };
                let saved = (row_cost * u64::from(class.rows - member.rows)) as i64 - class.cost();
                if saved >= 0 || !self.holds_without(class, member) {
                    continue;
                }
                if let Some(removal) = self.removal(member.rows)
                    && is_better(saved + removal, &best)
                {
                    best = Some((saved + removal, member, Destination::Removed));
                }
                if self.holds_alone(member) {
                    let change = saved + (points.cost(points.nodes(member.point)) * u64::from(member.rows)) as i64;
                    if is_better(change, &best) {
                        best = Some((change, member, Destination::New));
                    }
                }
                if !has_candidates {
                    self.candidates(member.point, from, candidates);
                    has_candidates = true;
                }
                for &to in candidates.iter() {
                    let own = &self.classes[to as usize];
                    let change = saved + own.cost_with(points, member) - own.cost();
                    if is_better(change, &best) && self.is_permitted_with(own, member) && self.holds_with(own, member) {
                        best = Some((change, member, Destination::Class(to)));
                    }
                }
            }
        }
        best
    }
}
