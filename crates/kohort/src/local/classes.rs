//! The classes while they are made: who is in each, and the labels that all of its rows show.

use super::points::{Point, Points};
use super::requirement::Requirement;
use super::tree::Node;

/// Rows of one point in a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The point.
    pub point: Point,
    /// States how many of its rows.
    pub rows: u32,
}

/// A group of rows that show the same labels. An empty one has no members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Class {
    /// Its members, each point once.
    pub members: Vec<Member>,
    /// The rows of its members.
    pub rows: u32,
    /// The people of its members. A patient with several points is counted in each.
    pub people: u32,
    /// The lowest common labels of its members.
    pub labels: Vec<Node>,
    /// The cost of one of its rows.
    pub row_cost: u64,
}

impl Class {
    /// The class of these members.
    pub fn new(points: &Points, members: Vec<Member>) -> Class {
        let mut class = Class { members, ..Class::default() };
        class.refresh(points);
        class
    }

    /// Counts again, and finds the labels again from the members alone.
    pub fn refresh(&mut self, points: &Points) {
        let Some(first) = self.members.first() else { return *self = Class::default() };
        self.labels.clear();
        self.labels.extend_from_slice(points.nodes(first.point));
        for member in &self.members[1..] {
            points.join(&mut self.labels, points.nodes(member.point));
        }
        points.hide_revealing(&mut self.labels, points.nodes(first.point));
        self.row_cost = points.cost(&self.labels);
        self.rows = self.members.iter().map(|m| m.rows).sum();
        self.people = self.members.iter().map(|m| points.people_of(*m)).sum();
    }

    /// The cost of all its rows.
    pub fn cost(&self) -> i64 {
        (self.row_cost * u64::from(self.rows)) as i64
    }

    /// The cost of all rows if these rows of a point joined it.
    pub fn cost_with(&self, points: &Points, member: Member) -> i64 {
        let row_cost = points.joint_cost(&self.labels, points.nodes(member.point));
        (row_cost * u64::from(self.rows + member.rows)) as i64
    }

    /// Returns whether its rows are more than one point's, so that some show less than they could.
    pub fn is_coarsened(&self) -> bool {
        self.members.len() > 1
    }
}

impl Points {
    /// The people behind rows of a point.
    #[inline]
    pub fn people_of(&self, member: Member) -> u32 {
        if self.splits { member.rows } else { self.people[member.point as usize] }
    }
}

/// All rows of a table in classes, or removed.
#[derive(Debug, Clone, Default)]
pub struct Grouping {
    /// The classes.
    pub classes: Vec<Class>,
    /// Rows that are in none.
    pub removed: Vec<Member>,
}

impl Grouping {
    /// The cost of all rows; a removed row costs most.
    pub fn cost(&self, points: &Points) -> u64 {
        let removed: u64 = self.removed.iter().map(|m| u64::from(m.rows)).sum();
        self.classes.iter().map(|class| class.cost() as u64).sum::<u64>() + removed * points.removal
    }

    /// The number of removed rows.
    pub fn removed_rows(&self) -> u64 {
        self.removed.iter().map(|m| u64::from(m.rows)).sum()
    }

    /// Drops empty classes, and makes one class of those with equal labels: nobody can tell them apart.
    pub fn merge_equal(&mut self, points: &Points) {
        self.classes.retain(|class| !class.members.is_empty());
        self.classes.sort_by(|a, b| a.labels.cmp(&b.labels));
        self.classes.dedup_by(|next, first| {
            let same = next.labels == first.labels;
            if same {
                first.members.append(&mut next.members);
            }
            same
        });
        for class in &mut self.classes {
            merge_members(&mut class.members);
            class.refresh(points);
        }
        merge_members(&mut self.removed);
    }

    /// Returns whether every class meets the requirement and shows only permitted labels.
    pub fn holds(&self, points: &Points, requirement: &Requirement) -> bool {
        self.classes.iter().all(|class| points.is_permitted(class.row_cost) && requirement.holds(class))
    }
}

/// Makes one member of those with the same point.
pub fn merge_members(members: &mut Vec<Member>) {
    members.sort_unstable();
    members.dedup_by(|next, first| {
        let same = next.point == first.point;
        if same {
            first.rows += next.rows;
        }
        same
    });
}
