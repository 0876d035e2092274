//! Makes a grouping cheaper by moves that each keep every class valid.
//!
//! Classes are visited by falling cost of their rows. Each move is taken only if the total falls, so
//! that the grouping is valid at any moment and never gets worse.

mod chain;
mod dissolve;
mod relocate;
mod swap;

use super::classes::{Class, Grouping, Member};
use super::nearby::Nearby;
use super::points::{Point, Points};
use super::requirement::Requirement;
use super::tree::Node;
use super::{Watch, Work};
use std::cmp::Reverse;

/// The classes under repair.
pub struct Repair<'a> {
    pub(super) points: &'a Points,
    pub(super) requirement: &'a Requirement<'a>,
    pub(super) classes: Vec<Class>,
    /// The classes that hold rows of each point.
    pub(super) home: Vec<Vec<u32>>,
    /// The nearest points of each point that is in a coarsened class.
    pub(super) near: Vec<Vec<Point>>,
    pub(super) removed: Vec<Member>,
    /// Rows that may still be removed.
    pub(super) may_remove: u64,
    watch: &'a dyn Watch,
    /// The cost of all rows.
    cost: i64,
    /// Classes as they were before they were changed, while changes may be taken back.
    journal: Vec<(u32, Class)>,
    recording: usize,
}

/// A state of the classes that can be restored.
pub(super) struct Mark {
    journal: usize,
    removed: usize,
    may_remove: u64,
}

/// The number of neighbours that repairs look at.
pub const NEIGHBOURS: usize = 16;

impl<'a> Repair<'a> {
    /// Starts with these classes, and with the nearest points of some of the points. At most `may_remove` rows may be
    /// removed in all.
    pub fn new(
        points: &'a Points,
        requirement: &'a Requirement<'a>,
        grouping: Grouping,
        near: Vec<Vec<Point>>,
        work: Work<'a>,
    ) -> Repair<'a> {
        let mut home = vec![Vec::new(); points.len()];
        for (number, class) in grouping.classes.iter().enumerate() {
            class.members.iter().for_each(|m| home[m.point as usize].push(number as u32));
        }
        let may_remove = work.may_remove.saturating_sub(grouping.removed_rows());
        let cost = grouping.cost(points) as i64;
        let Grouping { classes, removed } = grouping;
        let mut repair = Repair {
            points,
            requirement,
            classes,
            home,
            near,
            removed,
            may_remove,
            watch: work.watch,
            cost,
            journal: vec![],
            recording: 0,
        };
        repair.find_neighbours(work);
        repair
    }

    /// The grouping as it is now.
    pub fn finish(self) -> Grouping {
        let mut grouping = Grouping { classes: self.classes, removed: self.removed };
        grouping.merge_equal(self.points);
        grouping
    }

    /// Visits the classes `sweeps` times, or until nothing changes.
    pub fn sweep(&mut self, sweeps: usize) {
        self.watch.found(self.cost.max(0) as u64);
        let mut changed: Vec<bool> = self.classes.iter().map(|_| true).collect();
        for _ in 0..sweeps {
            let mut again = vec![false; self.classes.len()];
            let mut any = false;
            let order = self.by_falling_cost();
            self.watch.phase("improving", order.len() as u64);
            for class in order {
                self.watch.advance(1);
                if changed.get(class as usize) == Some(&false) {
                    continue;
                }
                let gain = self.improve(class);
                if self.is_enough(gain) {
                    return;
                }
                again.resize(self.classes.len(), true);
                if gain < 0 {
                    any = true;
                    again[class as usize] = true;
                    // What changed may let its neighbours change.
                    for m in &self.classes[class as usize].members {
                        for &near in std::iter::once(&m.point).chain(&self.near[m.point as usize]) {
                            self.home[near as usize].iter().for_each(|&c| again[c as usize] = true);
                        }
                    }
                }
            }
            if !any {
                return;
            }
            changed = again;
        }
    }

    /// Adds up what was gained, reports it, and returns whether the work is to end.
    pub(super) fn is_enough(&mut self, gain: i64) -> bool {
        self.cost += gain;
        if gain < 0 {
            self.watch.found(self.cost.max(0) as u64);
        }
        self.watch.is_enough()
    }

    /// Tries all moves of a class. Returns the change of the total cost, which is never above 0.
    pub(super) fn improve(&mut self, class: u32) -> i64 {
        self.relocate(class) + self.dissolve(class) + self.swap(class) + self.chain(class)
    }

    /// The coarsened classes, those with the costliest rows first.
    pub(super) fn by_falling_cost(&self) -> Vec<u32> {
        let mut order: Vec<u32> =
            (0..self.classes.len() as u32).filter(|&c| self.classes[c as usize].is_coarsened()).collect();
        order.sort_by_key(|&c| (Reverse(self.classes[c as usize].row_cost), c));
        order
    }

    /// Finds the nearest points of those in coarsened classes that have none yet.
    fn find_neighbours(&mut self, work: Work) {
        let is_new = |&point: &Point| {
            let is_coarsened = |&class: &u32| self.classes[class as usize].is_coarsened();
            self.near[point as usize].is_empty() && self.home[point as usize].iter().any(is_coarsened)
        };
        let new: Vec<Point> = (0..self.points.len() as Point).filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let mut found = Nearby::new(self.points, &new, NEIGHBOURS + 1, work).first(NEIGHBOURS);
        for point in new {
            self.near[point as usize] = std::mem::take(&mut found[point as usize]);
        }
    }

    /// The classes that hold a point or one of its neighbours, except one.
    pub(super) fn candidates(&self, point: Point, except: u32, found: &mut Vec<u32>) {
        found.clear();
        for &near in std::iter::once(&point).chain(&self.near[point as usize]) {
            for &class in &self.home[near as usize] {
                if class != except && !found.contains(&class) {
                    found.push(class);
                }
            }
        }
    }

    /// The cheapest class that rows may join, and what the total grows by.
    pub(super) fn cheapest_home(&self, member: Member, except: u32, candidates: &mut Vec<u32>) -> Option<(i64, u32)> {
        self.candidates(member.point, except, candidates);
        let mut best: Option<(i64, u32)> = None;
        for &class in candidates.iter() {
            let own = &self.classes[class as usize];
            let growth = own.cost_with(self.points, member) - own.cost();
            if best.is_none_or(|(least, _)| growth < least)
                && self.is_permitted_with(own, member)
                && self.holds_with(own, member)
            {
                best = Some((growth, class));
            }
        }
        best
    }

    fn is_permitted_with(&self, class: &Class, member: Member) -> bool {
        self.points.is_permitted(self.points.joint_cost(&class.labels, self.points.nodes(member.point)))
    }

    /// Returns whether a class holds when these rows join it.
    pub(super) fn holds_with(&self, class: &Class, member: Member) -> bool {
        self.checked(|| class.members.iter().copied().chain([member]).collect())
    }

    /// Returns whether these rows may form a class of their own.
    pub(super) fn holds_alone(&self, member: Member) -> bool {
        self.points.people_of(member) >= self.requirement.k && self.checked(|| vec![member])
    }

    /// Returns whether a class holds when these rows leave it.
    pub(super) fn holds_without(&self, class: &Class, leaves: Member) -> bool {
        let people = class.people - self.points.people_of(leaves);
        people >= self.requirement.k && self.checked(|| without(class, leaves).collect())
    }

    /// Returns whether a class holds when some rows leave it and others join it.
    pub(super) fn holds_exchanged(&self, class: &Class, leaves: Member, joins: Member) -> bool {
        let people = class.people - self.points.people_of(leaves) + self.points.people_of(joins);
        people >= self.requirement.k && self.checked(|| without(class, leaves).chain([joins]).collect())
    }

    fn checked(&self, members: impl Fn() -> Vec<Member>) -> bool {
        self.requirement.check.is_none_or(|check| check(&members()))
    }

    /// The labels that the other members of a class would show without each member.
    pub(super) fn labels_without(&self, class: &Class) -> Vec<Node> {
        let (points, width, n) = (self.points, self.points.width(), class.members.len());
        let nodes = |i: usize| points.nodes(class.members[i].point);
        let mut labels = vec![0; n * width];
        // First what comes behind each member, then joined with what comes before it.
        for i in (0..n.saturating_sub(1)).rev() {
            let (own, behind) = labels[i * width..].split_at_mut(width);
            own.copy_from_slice(nodes(i + 1));
            if i + 2 < n {
                points.join(own, &behind[..width]);
            }
        }
        let mut before: Vec<Node> = nodes(0).to_vec();
        for i in 1..n {
            let own = &mut labels[i * width..][..width];
            if i + 1 < n {
                points.join(own, &before);
            } else {
                own.copy_from_slice(&before);
            }
            points.join(&mut before, nodes(i));
        }
        labels
    }

    /// Begins to remember how classes were.
    pub(super) fn mark(&mut self) -> Mark {
        self.recording += 1;
        Mark { journal: self.journal.len(), removed: self.removed.len(), may_remove: self.may_remove }
    }

    /// Keeps what changed since the mark.
    pub(super) fn keep(&mut self, _: Mark) {
        self.recording -= 1;
        if self.recording == 0 {
            self.journal.clear();
        }
    }

    /// Takes back what changed since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        self.recording -= 1;
        while self.journal.len() > mark.journal {
            let Some((number, before)) = self.journal.pop() else { break };
            self.replace(number, before);
        }
        self.removed.truncate(mark.removed);
        self.may_remove = mark.may_remove;
    }

    fn replace(&mut self, number: u32, class: Class) {
        let old = std::mem::replace(&mut self.classes[number as usize], class);
        for m in &old.members {
            self.home[m.point as usize].retain(|&c| c != number);
        }
        for m in &self.classes[number as usize].members {
            self.home[m.point as usize].push(number);
        }
    }

    /// Replaces a class, or makes it empty.
    pub(super) fn set(&mut self, number: u32, class: Class) {
        self.remember(number);
        self.replace(number, class);
    }

    /// A new, empty class.
    pub(super) fn add_class(&mut self) -> u32 {
        self.classes.push(Class::default());
        self.classes.len() as u32 - 1
    }

    fn remember(&mut self, number: u32) {
        if self.recording > 0 {
            self.journal.push((number, self.classes[number as usize].clone()));
        }
    }

    /// Moves rows into a class.
    pub(super) fn put(&mut self, number: u32, member: Member) {
        self.remember(number);
        let class = &mut self.classes[number as usize];
        match class.members.iter_mut().find(|own| own.point == member.point) {
            Some(own) => own.rows += member.rows,
            None => {
                class.members.push(member);
                self.home[member.point as usize].push(number);
            }
        }
        class.refresh(self.points);
    }

    /// Moves rows out of a class.
    pub(super) fn take(&mut self, number: u32, member: Member) {
        self.remember(number);
        let class = &mut self.classes[number as usize];
        if let Some(at) = class.members.iter().position(|own| own.point == member.point) {
            class.members[at].rows -= member.rows;
            if class.members[at].rows == 0 {
                class.members.remove(at);
                self.home[member.point as usize].retain(|&c| c != number);
            }
        }
        class.refresh(self.points);
    }

    /// Removes rows from the release.
    pub(super) fn remove(&mut self, member: Member) {
        self.may_remove -= u64::from(member.rows);
        self.removed.push(member);
    }

    /// The cost of removing rows, if so many may still be removed.
    pub(super) fn removal(&self, rows: u32) -> Option<i64> {
        (u64::from(rows) <= self.may_remove).then(|| (u64::from(rows) * self.points.removal) as i64)
    }
}

/// The members of a class without some rows.
fn without(class: &Class, leaves: Member) -> impl Iterator<Item = Member> + '_ {
    class.members.iter().filter_map(move |&own| {
        let rows = if own.point == leaves.point { own.rows - leaves.rows } else { own.rows };
        (rows > 0).then_some(Member { rows, ..own })
    })
}
