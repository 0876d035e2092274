//! Chain: a member goes where it costs least, and rows that a third class can spare take its place.

use super::Repair;
use crate::local::classes::{Class, Member};
use crate::local::points::Point;

/// The most chains of one class in a visit.
const ROUNDS: usize = 4;

/// A chain: the change of the total, what goes, where, what comes in its place, and from where.
type Chain = (i64, Member, u32, Member, u32);

impl Repair<'_> {
    /// Exchanges members of a class for spare rows of others as long as the total falls.
    pub(super) fn chain(&mut self, number: u32) -> i64 {
        let mut gain = 0;
        let mut candidates = Vec::new();
        for _ in 0..ROUNDS {
            let Some((_, goes, to, comes, from)) = self.best_chain(number, &mut candidates) else { return gain };
            let cost =
                |repair: &Self| [number, to, from].map(|c| repair.classes[c as usize].cost()).iter().sum::<i64>();
            let before = cost(self);
            self.take(number, goes);
            self.put(to, goes);
            self.take(from, comes);
            self.put(number, comes);
            gain += cost(self) - before;
        }
        gain
    }

    fn best_chain(&self, number: u32, candidates: &mut Vec<u32>) -> Option<Chain> {
        let (points, width, k) = (self.points, self.points.width(), self.requirement.k);
        let class = &self.classes[number as usize];
        if !class.is_coarsened() || class.people > 2 * k {
            return None;
        }
        let labels = self.labels_without(class);
        let spare = self.spare_near(class, number);
        let mut best: Option<Chain> = None;
        let least = |best: &Option<Chain>| best.as_ref().map_or(0, |b| b.0);
        let mut joined = vec![0; width];
        for (i, &goes) in class.members.iter().enumerate() {
            let rest = &labels[i * width..][..width];
            let people = class.people - points.people_of(goes);
            if points.cost(rest) >= class.row_cost || people >= k {
                continue;
            }
            let Some((growth, to)) = self.cheapest_home(goes, number, candidates) else { continue };
            let floor = (points.cost(rest) * u64::from(class.rows - goes.rows)) as i64 - class.cost() + growth;
            if floor >= least(&best) {
                continue;
            }
            for &(point, from) in &spare {
                let Some(comes) = self.spare_rows(from, point, k - people) else { continue };
                if from == to || point == goes.point {
                    continue;
                }
                joined.copy_from_slice(rest);
                points.join(&mut joined, points.nodes(point));
                let row_cost = points.cost(&joined);
                let own = (row_cost * u64::from(class.rows - goes.rows + comes.rows)) as i64 - class.cost();
                let lender = &self.classes[from as usize];
                // The lender may shrink further; what is certain is that it has fewer rows.
                let change = own + growth - (lender.row_cost * u64::from(comes.rows)) as i64;
                if change < least(&best)
                    && points.is_permitted(row_cost)
                    && self.holds_exchanged(class, goes, comes)
                    && self.holds_without(lender, comes)
                {
                    best = Some((change, goes, to, comes, from));
                }
            }
        }
        best
    }

    /// Points near a class, and the classes beyond k people that hold them.
    fn spare_near(&self, class: &Class, number: u32) -> Vec<(Point, u32)> {
        let mut spare = Vec::new();
        for member in &class.members {
            for &near in std::iter::once(&member.point).chain(&self.near[member.point as usize]) {
                for &from in &self.home[near as usize] {
                    if from != number
                        && self.classes[from as usize].people > self.requirement.k
                        && !spare.contains(&(near, from))
                    {
                        spare.push((near, from));
                    }
                }
            }
        }
        spare
    }

    /// The rows of a point that a class would give for so many people, if it has them.
    fn spare_rows(&self, from: u32, point: Point, people: u32) -> Option<Member> {
        let lender = &self.classes[from as usize];
        let own = *lender.members.iter().find(|own| own.point == point)?;
        let gives = if self.points.splits { Member { rows: people, ..own } } else { own };
        let has = gives.rows <= own.rows && self.points.people_of(gives) >= people;
        (has && lender.people - self.points.people_of(gives) >= self.requirement.k).then_some(gives)
    }
}
