//! Cheapest box first: covers the table with boxes that are cheap for the rows in them.
//!
//! 1. A point with at least k people is a class as it is. The people it has beyond k can be lent.
//! 2. In rounds with a growing limit on costs, each point that is not grouped yet finds its neighbours
//!    within the limit, and the cheapest box around it with k people.
//! 3. The cheapest box of all becomes a class if it still costs what it did; otherwise its point looks
//!    for another one. This is right because boxes only get dearer while people are grouped.
//! 4. Points that find no box go where they cost least, or are removed.

use super::cheapest_box::{CheapestBox, Found, Mask, candidates, first};
use super::classes::{Class, Grouping, Member};
use super::neighbourhood::fill_choices;
use super::points::{Point, Points};
use super::requirement::Requirement;
use super::tree::Node;
use super::trie::Trie;
use kohort_core::parallel;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Points that one thread works on before it takes more.
const PART: usize = 256;

/// The largest k that boxes can be found for.
pub const LARGEST_K: u32 = 700;

/// Covers the points with classes. Points that find no class are returned beside them, each once.
pub fn cover(points: &Points, requirement: &Requirement, threads: usize) -> Grouping {
    match requirement.k {
        ..=10 => Cover::<1>::new(points, requirement).run(threads),
        11..=25 => Cover::<2>::new(points, requirement).run(threads),
        26..=100 => Cover::<8>::new(points, requirement).run(threads),
        _ => Cover::<16>::new(points, requirement).run(threads),
    }
}

struct Cover<'a, const W: usize> {
    points: &'a Points,
    requirement: &'a Requirement<'a>,
    trie: Trie,
    /// Rows of each point that are still to be grouped.
    open: Vec<u32>,
    /// Rows of each point that its class can lend.
    spare: Vec<u32>,
    /// The class that lends the rows of a point.
    lender: Vec<u32>,
    classes: Vec<Class>,
    /// The labels of the last box found for each point.
    boxes: Vec<Node>,
}

/// The limits of a round.
#[derive(Clone, Copy)]
struct Reach {
    /// The most that labels shared with a neighbour may cost.
    near: u64,
    /// The most that a box may cost, divided among those who are still to be grouped.
    cost: u64,
}

/// An offer of a box: cheap ones first, then those with more people, then the first point.
type Offer = Reverse<(u64, Reverse<u32>, Point)>;

impl<'a, const W: usize> Cover<'a, W> {
    fn new(points: &'a Points, requirement: &'a Requirement<'a>) -> Cover<'a, W> {
        let mut cover = Cover {
            points,
            requirement,
            trie: Trie::new(points),
            open: points.rows.clone(),
            spare: vec![0; points.len()],
            lender: vec![u32::MAX; points.len()],
            classes: Vec::new(),
            boxes: vec![0; points.len() * points.width()],
        };
        for point in 0..points.len() {
            let member = Member { point: point as Point, rows: points.rows[point] };
            let class = Class::new(points, vec![member]);
            if requirement.holds(&class) {
                if points.splits {
                    cover.lender[point] = cover.classes.len() as u32;
                    cover.spare[point] = member.rows - requirement.k;
                }
                cover.open[point] = 0;
                cover.classes.push(class);
            }
            cover.trie.add(member.point, cover.open[point] + cover.spare[point]);
        }
        cover
    }

    fn run(mut self, threads: usize) -> Grouping {
        let points = self.points;
        let mut waiting: Vec<Point> = (0..points.len() as Point).filter(|&p| self.open[p as usize] > 0).collect();
        let most = points.removal;
        let mut limit = points.trees.iter().filter_map(|tree| tree.least_step()).min().unwrap_or(most).clamp(1, most);
        let mut finder = Finder::<W>::new(points);
        let mut inside = Vec::new();
        while waiting.iter().map(|&p| u64::from(self.people(p))).sum::<u64>() >= u64::from(self.requirement.k) {
            // In the last round nothing is too dear: whoever is left must go somewhere.
            let reach =
                Reach { near: limit, cost: if limit == most { most * u64::from(self.requirement.k) } else { limit } };
            let mut heap: BinaryHeap<Offer> = self.first_offers(&waiting, reach, threads);
            while let Some(Reverse((cost, _, point))) = heap.pop() {
                if self.open[point as usize] == 0 {
                    continue;
                }
                if !self.close(point, cost, &mut inside)
                    && let Some(offer) = self.offer(point, reach, &mut finder)
                {
                    heap.push(offer);
                }
            }
            waiting.retain(|&p| self.open[p as usize] > 0);
            if limit == most {
                break;
            }
            limit = (limit + limit / 2 + 1).min(most);
        }
        let removed = waiting.iter().map(|&point| Member { point, rows: self.open[point as usize] }).collect();
        Grouping { classes: self.classes, removed }
    }

    /// The people of a point who are still to be grouped.
    fn people(&self, point: Point) -> u32 {
        match self.open[point as usize] {
            0 => 0,
            rows => self.points.people_of(Member { point, rows }),
        }
    }

    /// The cheapest box around each waiting point. Nothing changes meanwhile, so that threads share the work.
    fn first_offers(&mut self, waiting: &[Point], reach: Reach, threads: usize) -> BinaryHeap<Offer> {
        let width = self.points.width();
        let parts: Vec<&[Point]> = waiting.chunks(PART).collect();
        let found = parallel::map(threads, parts.len(), |part| {
            let mut finder = Finder::<W>::new(self.points);
            let offer = |&point: &Point| {
                let found = finder.search(self, point, reach)?;
                Some((Reverse((found.cost, Reverse(found.people), point)), finder.search.labels.clone()))
            };
            parts[part].iter().filter_map(offer).collect::<Vec<_>>()
        });
        let mut heap = Vec::new();
        for (offer, labels) in found.into_iter().flatten() {
            let point = offer.0.2 as usize;
            self.boxes[point * width..][..width].copy_from_slice(&labels);
            heap.push(offer);
        }
        heap.into()
    }

    /// The cheapest box around one point.
    fn offer(&mut self, point: Point, reach: Reach, finder: &mut Finder<W>) -> Option<Offer> {
        let width = self.points.width();
        let found = finder.search(self, point, reach)?;
        self.boxes[point as usize * width..][..width].copy_from_slice(&finder.search.labels);
        Some(Reverse((found.cost, Reverse(found.people), point)))
    }

    /// Makes the box of a point a class, if it still costs no more than it was offered for.
    fn close(&mut self, point: Point, cost: u64, inside: &mut Vec<Point>) -> bool {
        let (points, k) = (self.points, self.requirement.k);
        let labels = self.boxes[point as usize * points.width()..][..points.width()].to_vec();
        self.trie.inside(points, &labels, inside);
        let people: u32 = inside.iter().map(|&p| self.people(p)).sum();
        let spare: u32 = inside.iter().map(|&p| self.spare[p as usize]).sum();
        let row_cost = points.cost(&labels) - points.cost(points.nodes(point));
        let now = match people {
            0 => return false,
            people if people >= k => row_cost,
            people => row_cost * u64::from(k) / u64::from(people),
        };
        if people + spare < k || now > cost {
            return false;
        }
        let own = inside.iter().filter(|&&p| self.open[p as usize] > 0);
        let mut members: Vec<Member> = own.map(|&point| Member { point, rows: self.open[point as usize] }).collect();
        if self.requirement.check.is_some_and(|check| !check(&members)) {
            return false;
        }
        for member in &members {
            self.trie.take(member.point, member.rows);
            self.open[member.point as usize] = 0;
        }
        self.borrow(point, k.saturating_sub(people), inside, &mut members);
        self.classes.push(Class::new(points, members));
        true
    }

    /// Borrows rows of large classes, the nearest to the point first.
    fn borrow(&mut self, point: Point, mut needed: u32, inside: &[Point], members: &mut Vec<Member>) {
        if needed == 0 {
            return;
        }
        let points = self.points;
        let lenders = inside.iter().filter(|&&p| self.spare[p as usize] > 0);
        let mut lenders: Vec<(u64, Point)> =
            lenders.map(|&p| (points.joint_cost(points.nodes(point), points.nodes(p)), p)).collect();
        lenders.sort_unstable();
        for (_, lender) in lenders {
            let rows = needed.min(self.spare[lender as usize]);
            if rows == 0 {
                break;
            }
            needed -= rows;
            self.spare[lender as usize] -= rows;
            self.trie.take(lender, rows);
            members.push(Member { point: lender, rows });
            let class = &mut self.classes[self.lender[lender as usize] as usize];
            class.members[0].rows -= rows;
            class.refresh(points);
        }
    }
}

/// Finds the cheapest box around a point, with the memory for it.
struct Finder<const W: usize> {
    search: CheapestBox<W>,
    near: Vec<(u64, Point)>,
    members: RefCell<Vec<Member>>,
}

impl<const W: usize> Finder<W> {
    fn new(points: &Points) -> Finder<W> {
        Finder { search: CheapestBox::new(points.width()), near: Vec::new(), members: RefCell::new(Vec::new()) }
    }

    /// Its labels are in `self.search.labels`.
    fn search(&mut self, cover: &Cover<W>, point: Point, reach: Reach) -> Option<Found> {
        let (points, k) = (cover.points, cover.requirement.k);
        let own = points.nodes(point);
        let base = points.cost(own);
        let most = 64 * W;
        cover.trie.near(points, own, base + reach.near, most, &mut self.near);
        if self.near.len() > most {
            self.near.select_nth_unstable(most);
            self.near.truncate(most);
        }
        let weights = &mut self.search.weights;
        weights.own.clear();
        weights.all.clear();
        for &(_, near) in &self.near {
            let people = cover.people(near);
            weights.own.push(people);
            weights.all.push(people + cover.spare[near as usize]);
        }
        if weights.all.iter().map(|&w| u64::from(w)).sum::<u64>() < u64::from(k) {
            return None;
        }
        weights.settle();
        fill_choices(points, own, &self.near, &mut self.search.columns);
        let check = cover.requirement.check;
        let (near, members) = (&self.near, &self.members);
        let holds = check.map(|check| {
            move |mask: &Mask<W>| {
                let mut members = members.borrow_mut();
                members.clear();
                members.extend(
                    candidates(*mask).map(|i| near[i].1).map(|p| Member { point: p, rows: points.rows[p as usize] }),
                );
                check(&members)
            }
        });
        let holds = holds.as_ref().map(|holds| holds as &dyn Fn(&Mask<W>) -> bool);
        self.search.search(first(self.near.len()), k, reach.cost, holds)
    }
}
