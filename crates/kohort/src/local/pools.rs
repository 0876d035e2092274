//! Pools: the rows of a class and of its neighbours are grouped anew, cheapest box first.
//!
//! About 40 points are regrouped at a time and then repaired. The result is kept if the total falls.
//!
//! # Cost
//! A pool has at most 64 points, so that a set of them is one number. The points that a label covers are
//! found once for each pool.

use super::cheapest_box::{CheapestBox, Choice, Mask, candidates};
use super::classes::{Class, Member};
use super::points::{Point, Points};
use super::repair::Repair;
use super::tree::Node;
use std::cmp::Reverse;

/// The points of the pools in each sweep: how many, and from which neighbour on they are taken.
const SWEEPS: [(usize, usize); 10] =
    [(40, 0), (48, 0), (56, 0), (40, 1), (48, 2), (56, 3), (64, 0), (32, 0), (64, 1), (48, 1)];
/// Neighbouring classes that do not fit, before a pool is complete.
const MOST_REFUSED: usize = 6;

impl Repair<'_> {
    /// Regroups pools around all coarsened classes.
    pub fn pools(&mut self) {
        let mut pool = Pool::new(self.points.width());
        for (size, from) in SWEEPS {
            let mut gain = 0;
            for class in self.by_falling_cost() {
                let change = self.regroup(class, size, from, &mut pool) + self.improve(class);
                if self.is_enough(change) {
                    return;
                }
                gain += change;
            }
            if gain == 0 {
                return;
            }
        }
    }

    /// Regroups the rows around a class. Returns the change of the total cost, which is never above 0.
    fn regroup(&mut self, class: u32, size: usize, from: usize, pool: &mut Pool) -> i64 {
        if !self.classes[class as usize].is_coarsened() {
            return 0;
        }
        let chosen = self.choose(class, size, from, pool);
        if chosen.len() < 2 {
            return 0;
        }
        let before: i64 = chosen.iter().map(|&c| self.classes[c as usize].cost()).sum();
        // What is a little dearer may be repaired to something cheaper.
        let Some(made) = pool.group(self.points, self.requirement.k, before + before / 8) else { return 0 };
        if let Some(check) = self.requirement.check
            && !made.iter().all(|class| check(&class.members))
        {
            return 0;
        }
        let after: i64 = made.iter().map(Class::cost).sum();
        let mark = self.mark();
        chosen.iter().for_each(|&c| self.set(c, Class::default()));
        let mut free = chosen.into_iter();
        let mut numbers = Vec::new();
        for class in made {
            let number = free.next().unwrap_or_else(|| self.add_class());
            self.set(number, class);
            numbers.push(number);
        }
        let mut change = after - before;
        for _ in 0..2 {
            let gain: i64 = numbers.iter().map(|&number| self.improve(number)).sum();
            change += gain;
            if gain == 0 {
                break;
            }
        }
        if change >= 0 {
            self.undo(mark);
            return 0;
        }
        self.keep(mark);
        change
    }

    /// Fills a pool with a class and its nearest neighbours. Returns the classes in it.
    fn choose(&self, class: u32, size: usize, from: usize, pool: &mut Pool) -> Vec<u32> {
        let mut chosen = vec![class];
        pool.points.clear();
        pool.rows.clear();
        pool.add(&self.classes[class as usize]);
        let centre: Vec<Point> = self.classes[class as usize].members.iter().map(|m| m.point).collect();
        if centre.len() > size {
            return chosen;
        }
        let ranks = centre.iter().map(|&p| self.near[p as usize].len()).max().unwrap_or(0);
        let mut refused = 0;
        for rank in from..ranks {
            for &point in &centre {
                let Some(&near) = self.near[point as usize].get(rank) else { continue };
                for &other in &self.home[near as usize] {
                    let own = &self.classes[other as usize];
                    if chosen.contains(&other) || own.members.len() > size / 2 {
                        continue;
                    }
                    let new = own.members.iter().filter(|m| !pool.points.contains(&m.point)).count();
                    if pool.points.len() + new > size {
                        refused += 1;
                        if refused > MOST_REFUSED {
                            return chosen;
                        }
                        continue;
                    }
                    chosen.push(other);
                    pool.add(own);
                }
            }
        }
        chosen
    }
}

/// The points of a pool and their rows.
struct Pool {
    points: Vec<Point>,
    rows: Vec<u32>,
    search: CheapestBox<1>,
    /// For each column: labels of points, and the labels above each with the points that they cover.
    choices: Vec<Vec<(Node, Vec<Choice<1>>)>>,
    /// The last box found for each point: its cost, people, and the points that it covers.
    offers: Vec<Option<(u64, u32, u64)>>,
}

impl Pool {
    fn new(width: usize) -> Pool {
        Pool {
            points: vec![],
            rows: vec![],
            search: CheapestBox::new(width),
            choices: vec![vec![]; width],
            offers: vec![],
        }
    }

    fn add(&mut self, class: &Class) {
        for member in &class.members {
            match self.points.iter().position(|&p| p == member.point) {
                Some(at) => self.rows[at] += member.rows,
                None => {
                    self.points.push(member.point);
                    self.rows.push(member.rows);
                }
            }
        }
    }

    /// Groups the rows anew, cheapest box first; `None` where it costs `most` or more.
    fn group(&mut self, points: &Points, k: u32, most: i64) -> Option<Vec<Class>> {
        self.find_choices(points);
        let n = self.points.len();
        let mut made = Vec::new();
        let mut open: u64 = 0;
        let people: Vec<u32> = (0..n).map(|i| points.people_of(self.member(i))).collect();
        for (i, &people) in people.iter().enumerate() {
            if people >= k {
                made.push(Class::new(points, vec![self.member(i)]));
            } else {
                open |= 1 << i;
            }
        }
        self.search.weights.own.clone_from(&people);
        self.search.weights.all.clone_from(&people);
        self.search.weights.settle();
        self.offers.clear();
        self.offers.resize(n, None);
        let mut spent: i64 = made.iter().map(Class::cost).sum();
        while candidates([open]).map(|i| people[i]).sum::<u32>() >= k {
            for i in candidates([open]) {
                if self.offers[i].is_none() {
                    self.offers[i] = self.offer(points, i, open, k);
                }
            }
            let offers = candidates([open]).filter_map(|i| Some((self.offers[i]?, i)));
            let ((_, _, covers), _) = offers.min_by_key(|&((cost, people, _), i)| (cost, Reverse(people), i))?;
            open &= !covers;
            for offer in &mut self.offers {
                if offer.is_some_and(|(_, _, own)| own & covers != 0) {
                    *offer = None;
                }
            }
            let class = Class::new(points, candidates([covers]).map(|i| self.member(i)).collect());
            spent += class.cost();
            if spent >= most {
                return None;
            }
            made.push(class);
        }
        for i in candidates([open]) {
            let member = self.member(i);
            let growth = |class: &Class| class.cost_with(points, member) - class.cost();
            let (growth, to) = made.iter().enumerate().map(|(c, class)| (growth(class), c)).min()?;
            spent += growth;
            if spent >= most {
                return None;
            }
            made[to].members.push(member);
            made[to].refresh(points);
        }
        made.iter().all(|class| points.is_permitted(class.row_cost)).then_some(made)
    }

    fn member(&self, i: usize) -> Member {
        Member { point: self.points[i], rows: self.rows[i] }
    }

    /// The labels above those of the points, and the points that each covers.
    fn find_choices(&mut self, points: &Points) {
        for (column, known) in self.choices.iter_mut().enumerate() {
            known.clear();
            let tree = &points.trees[column];
            for &point in &self.points {
                let own = points.nodes(point)[column];
                if known.iter().any(|(label, _)| *label == own) {
                    continue;
                }
                let mut choices: Vec<Choice<1>> = Vec::new();
                for node in tree.upwards(own) {
                    let is_under = |&(_, p): &(usize, &Point)| tree.contains(node, points.nodes(*p)[column]);
                    let covers = self.points.iter().enumerate().filter(is_under).fold(0, |mask, (i, _)| mask | 1 << i);
                    if choices.last().is_none_or(|below| below.covers != [covers]) {
                        choices.push(Choice { cost: tree.cost(node) - tree.cost(own), node, covers: [covers] });
                    }
                }
                known.push((own, choices));
            }
        }
    }

    /// The cheapest box around a point among those that are open.
    fn offer(&mut self, points: &Points, i: usize, open: u64, k: u32) -> Option<(u64, u32, u64)> {
        let nodes = points.nodes(self.points[i]);
        for (column, choices) in self.search.columns.iter_mut().enumerate() {
            choices.clear();
            let known = self.choices[column].iter().find(|(label, _)| *label == nodes[column]);
            for choice in known.into_iter().flat_map(|(_, choices)| choices) {
                let covers = [choice.covers[0] & open];
                if choices.last().is_none_or(|below| below.covers != covers) {
                    choices.push(Choice { covers, ..*choice });
                }
            }
        }
        let found = self.search.search([open], k, points.removal, None)?;
        let labels = &self.search.labels;
        let mut covers: Mask<1> = [open];
        for (choices, label) in self.search.columns.iter().zip(labels) {
            covers[0] &= choices.iter().find(|choice| choice.node == *label).map_or(0, |choice| choice.covers[0]);
        }
        Some((found.cost, found.people, covers[0]))
    }
}
