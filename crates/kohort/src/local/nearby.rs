//! The nearest points of points, found once and used until too many of them are grouped.
//!
//! # Cost
//! A search through the trie is the dearest step of local recoding, and in a table whose rows have little in common
//! it is dearer still. A list of the nearest points serves many searches for boxes, and the repair as well.

use super::Work;
use super::points::{Point, Points};
use super::trie::Trie;
use kohort_core::parallel;

/// Points that one thread works on before it takes more.
const PART: usize = 256;
/// The most entries of all lists together.
const MOST_ENTRIES: usize = 1 << 26;
/// A list is never shorter than this, where there are as many points.
const SHORTEST: usize = 16;

/// The nearest points of a point.
#[derive(Debug, Clone, Default)]
pub struct Nearest {
    /// The points, nearest first.
    pub points: Box<[Point]>,
    /// Every point whose common labels cost this or less is listed, as far as the search looked.
    pub within: u64,
}

/// The nearest points of each of some points. The others have none.
#[derive(Debug, Clone, Default)]
pub struct Nearby {
    lists: Vec<Nearest>,
}

impl Nearby {
    /// Finds about `most` points for each of these, among all points. Where the work is to end, lists are empty.
    pub fn new(points: &Points, of: &[Point], most: usize, work: Work) -> Nearby {
        let trie = Trie::full(points);
        let most = most.min((MOST_ENTRIES / of.len().max(1)).max(SHORTEST));
        let parts: Vec<&[Point]> = of.chunks(PART).collect();
        work.watch.phase("comparing", of.len() as u64);
        let found = parallel::map(work.threads, parts.len(), |part| {
            let mut finder = NearestFinder::new(points, most);
            let find = |&point: &Point| finder.find(points, &trie, point, 0);
            if work.watch.is_enough() {
                return Vec::new();
            }
            let found = parts[part].iter().map(find).collect();
            work.watch.advance(parts[part].len() as u64);
            found
        });
        let mut nearby = Nearby { lists: vec![Nearest::default(); points.len()] };
        for (part, found) in parts.iter().zip(found) {
            for (&point, nearest) in part.iter().zip(found) {
                nearby.lists[point as usize] = nearest;
            }
        }
        nearby
    }

    /// The nearest points of a point.
    pub fn of(&self, point: Point) -> &Nearest {
        &self.lists[point as usize]
    }

    /// Replaces a list.
    pub fn set(&mut self, point: Point, nearest: Nearest) {
        self.lists[point as usize] = nearest;
    }

    /// The first `number` points of each list, without the point itself.
    pub fn first(&self, number: usize) -> Vec<Vec<Point>> {
        let first = |(point, nearest): (Point, &Nearest)| {
            nearest.points.iter().copied().filter(|&near| near != point).take(number).collect()
        };
        (0..).zip(&self.lists).map(first).collect()
    }
}

/// Searches for nearest points. The search starts with the limit that was enough for the point before: neighbours in
/// the order of the points are alike.
#[derive(Debug)]
pub struct NearestFinder {
    most: usize,
    limit: u64,
    found: Vec<(u64, Point)>,
}

impl NearestFinder {
    /// A search for so many points.
    pub fn new(points: &Points, most: usize) -> NearestFinder {
        let limit = points.removal * 150 / 1000 / points.width().max(1) as u64 + 1;
        NearestFinder { most, limit, found: Vec::new() }
    }

    /// Finds the nearest points among those of a trie, and at least those within a cost beyond the point's own.
    pub fn find(&mut self, points: &Points, trie: &Trie, point: Point, at_least: u64) -> Nearest {
        let own = points.nodes(point);
        let base = points.cost(own);
        let furthest = points.removal * 2;
        // As many points as were found before lie within what they cost together with this one.
        if self.found.len() >= self.most {
            let known = self.found.iter().map(|near| points.joint_cost(own, points.nodes(near.1)) - base).max();
            self.limit = self.limit.min(known.unwrap_or(self.limit));
        }
        self.limit = self.limit.max(at_least);
        // A limit that is too wide costs little, since it falls while points are found.
        loop {
            trie.near(points, own, base + self.limit, self.most, &mut self.found);
            if self.found.len() >= self.most || self.limit >= furthest {
                break;
            }
            self.limit += self.limit / 2 + 1;
        }
        let mut within = base + self.limit;
        if self.found.len() > self.most {
            let (_, last, _) = self.found.select_nth_unstable(self.most);
            within = last.0.saturating_sub(1);
            self.found.truncate(self.most);
        }
        self.found.sort_unstable();
        // Where points are found easily, a narrower limit will do.
        if self.found.len() == self.most
            && let Some(last) = self.found.last()
        {
            self.limit = self.limit.min((last.0 - base) * 5 / 4 + 1);
        }
        Nearest { points: self.found.iter().map(|near| near.1).collect(), within }
    }
}
