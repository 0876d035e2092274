//! Cheapest box first: covers the table with boxes that are cheap for the rows in them.
//!
//! 1. A point with at least k people is a class as it is. The people it has beyond k can be lent.
//! 2. In rounds with a growing limit on costs, each point that is not grouped yet finds its neighbours
//!    within the limit, and the cheapest box around it with k people.
//! 3. The cheapest box of all becomes a class if it still costs what it did; otherwise its point looks
//!    for another one. This is right because boxes only get dearer while people are grouped.
//! 4. Points that find no box go where they cost least, or are removed.

use super::Work;
use super::cheapest_box::{CheapestBox, FoundBox, Mask, candidates, first};
use super::classes::{Class, Grouping, Member};
use super::nearby::{Nearby, Nearest, NearestFinder};
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

/// The number of neighbours among which boxes are found.
pub fn candidates_for(k: u32) -> usize {
    let most = match k {
        ..=10 => 64,
        11..=25 => 2 * 64,
        26..=100 => 8 * 64,
        _ => 16 * 64,
    };
    (6 * k as usize).clamp(40, most)
}

/// Covers the points with classes. Points that find no class are returned beside them, each once. Every point that
/// cannot be a class by itself has its list of nearest points.
pub fn cover(points: &Points, requirement: &Requirement, nearby: Nearby, work: Work) -> Grouping {
    match requirement.k {
        ..=10 => Cover::<1>::new(points, requirement, nearby, work).run(),
        11..=25 => Cover::<2>::new(points, requirement, nearby, work).run(),
        26..=100 => Cover::<8>::new(points, requirement, nearby, work).run(),
        _ => Cover::<16>::new(points, requirement, nearby, work).run(),
    }
}

struct Cover<'a, const W: usize> {
    points: &'a Points,
    requirement: &'a Requirement<'a>,
    work: Work<'a>,
    trie: Trie,
    nearby: Nearby,
    /// No box around a point costs less than this.
    least: Vec<u64>,
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
    fn new(points: &'a Points, requirement: &'a Requirement<'a>, nearby: Nearby, work: Work<'a>) -> Cover<'a, W> {
        let mut cover = Cover {
            points,
            requirement,
            work,
            trie: Trie::new(points),
            nearby,
            least: vec![0; points.len()],
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

    fn run(mut self) -> Grouping {
        let points = self.points;
        let mut waiting: Vec<Point> = (0..points.len() as Point).filter(|&p| self.open[p as usize] > 0).collect();
        let most = points.removal;
        let mut limit = points.trees.iter().filter_map(|tree| tree.least_step()).min().unwrap_or(most).clamp(1, most);
        let mut finder = Finder::<W>::new(&self);
        let mut inside = Vec::new();
        self.work.watch.phase("grouping", waiting.len() as u64);
        while waiting.iter().map(|&p| u64::from(self.people(p))).sum::<u64>() >= u64::from(self.requirement.k) {
            // In the last round nothing is too dear: whoever is left must go somewhere.
            let reach =
                Reach { near: limit, cost: if limit == most { most * u64::from(self.requirement.k) } else { limit } };
            let mut heap: BinaryHeap<Offer> = self.first_offers(&waiting, reach);
            while let Some(Reverse((cost, _, point))) = heap.pop() {
                if self.work.watch.is_enough() {
                    break;
                }
                if self.open[point as usize] == 0 {
                    continue;
                }
                if self.close(point, cost, &mut inside) {
                    continue;
                }
                // A box holds people whom its point did not look at, and with them it may fail. What was refused just now
                // would be refused again: the point waits for the next round.
                let refused = self.labels(point).to_vec();
                if let Some(offer) = self.offer(point, reach, &mut finder)
                    && self.labels(point) != refused
                {
                    heap.push(offer);
                }
            }
            waiting.retain(|&p| self.open[p as usize] > 0);
            if limit == most || self.work.watch.is_enough() {
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
    fn first_offers(&mut self, waiting: &[Point], reach: Reach) -> BinaryHeap<Offer> {
        let awake: Vec<Point> = waiting.iter().copied().filter(|&p| self.least[p as usize] <= reach.near).collect();
        let parts: Vec<&[Point]> = awake.chunks(PART).collect();
        let searched = parallel::map(self.work.threads, parts.len(), |part| {
            if self.work.watch.is_enough() {
                return Vec::new();
            }
            let mut finder = Finder::<W>::new(self);
            parts[part].iter().map(|&point| finder.search(self, point, reach)).collect::<Vec<_>>()
        });
        let searched = parts.iter().zip(searched).flat_map(|(part, searched)| part.iter().zip(searched));
        searched.filter_map(|(&point, searched)| self.note(point, searched)).collect()
    }

    /// The cheapest box around one point.
    fn offer(&mut self, point: Point, reach: Reach, finder: &mut Finder<W>) -> Option<Offer> {
        let searched = finder.search(self, point, reach);
        self.note(point, searched)
    }

    /// Remembers what a search found.
    fn note(&mut self, point: Point, searched: Searched) -> Option<Offer> {
        let width = self.points.width();
        self.least[point as usize] = searched.least;
        if let Some(nearest) = searched.renewed {
            self.nearby.set(point, nearest);
        }
        let (found, labels) = searched.found?;
        self.boxes[point as usize * width..][..width].copy_from_slice(&labels);
        Some(Reverse((found.cost, Reverse(found.people), point)))
    }

    /// The labels of the last box found for a point.
    fn labels(&self, point: Point) -> &[Node] {
        let width = self.points.width();
        &self.boxes[point as usize * width..][..width]
    }

    /// Makes the box of a point a class, if it still costs no more than it was offered for.
    fn close(&mut self, point: Point, cost: u64, inside: &mut Vec<Point>) -> bool {
        let (points, k) = (self.points, self.requirement.k);
        let labels = self.labels(point).to_vec();
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
        self.work.watch.advance(members.len() as u64);
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

/// The result of a search around a point.
struct Searched {
    /// The cheapest box and its labels.
    found: Option<(FoundBox, Vec<Node>)>,
    /// No box costs less.
    least: u64,
    /// The nearest points that are still open, where the list that was known had too few of them.
    renewed: Option<Nearest>,
}

/// Finds the cheapest box around a point, with the memory for it.
struct Finder<const W: usize> {
    search: CheapestBox<W>,
    nearest: NearestFinder,
    near: Vec<(u64, Point)>,
    members: RefCell<Vec<Member>>,
}

impl<const W: usize> Finder<W> {
    fn new(cover: &Cover<W>) -> Finder<W> {
        let most = candidates_for(cover.requirement.k);
        Finder {
            search: CheapestBox::new(cover.points.width()),
            nearest: NearestFinder::new(cover.points, most),
            near: Vec::new(),
            members: RefCell::new(Vec::new()),
        }
    }

    fn search(&mut self, cover: &Cover<W>, point: Point, reach: Reach) -> Searched {
        let (points, k) = (cover.points, cover.requirement.k);
        let base = points.cost(points.nodes(point));
        // A list with fewer open points is renewed, once boxes may reach beyond it.
        let few = 8.max(k as usize * 8 / 5);
        let mut searched = Searched { found: None, least: 0, renewed: None };
        let known = cover.nearby.of(point);
        self.take_open(cover, point, &known.points);
        if known.within < base + reach.near && self.near.len() < few {
            let renewed = self.nearest.find(points, &cover.trie, point, reach.near);
            self.take_open(cover, point, &renewed.points);
            searched.renewed = Some(renewed);
        }
        let weights = &mut self.search.weights;
        weights.own.clear();
        weights.all.clear();
        let mut people = 0;
        for &(cost, near) in &self.near {
            if cost > base + reach.near && people >= u64::from(k) {
                break;
            }
            // The box around k people costs no less than what the last of them has in common with the point.
            if people < u64::from(k) {
                searched.least = cost - base;
            }
            let (own, spare) = (cover.people(near), cover.spare[near as usize]);
            people += u64::from(own + spare);
            weights.own.push(own);
            weights.all.push(own + spare);
        }
        if people < u64::from(k) {
            // All that is left may be too few; the last round decides.
            searched.least = points.removal;
        }
        if people < u64::from(k) || searched.least > reach.near {
            return searched;
        }
        self.near.truncate(weights.own.len());
        weights.settle();
        fill_choices(points, points.nodes(point), &self.near, &mut self.search.columns);
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
        let found = self.search.search(first(self.near.len()), k, reach.cost, holds);
        searched.found = found.map(|found| (found, self.search.labels.clone()));
        searched
    }

    /// Keeps those of these points that can still be grouped or lent.
    fn take_open(&mut self, cover: &Cover<W>, point: Point, listed: &[Point]) {
        let own = cover.points.nodes(point);
        let is_open = |&&near: &&Point| cover.open[near as usize] > 0 || cover.spare[near as usize] > 0;
        let open = listed.iter().filter(is_open).take(64 * W);
        self.near.clear();
        self.near.extend(open.map(|&near| (cover.points.joint_cost(own, cover.points.nodes(near)), near)));
    }
}
