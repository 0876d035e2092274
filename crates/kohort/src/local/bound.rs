//! Lower bounds on the cost of every release: what each row costs in the cheapest box around it, and prices of rows that
//! no class can undercut.
//!
//! In any release a row shows labels that cover at least k rows of the table, itself among them. So it
//! costs no less than the cheapest such labels, whatever happens to the others.

use super::cheapest_box::{CheapestBox, Choice, Mask, candidates, first};
use super::neighbourhood::fill_choices;
use super::points::{Point, Points};
use super::trie::Trie;
use kohort_core::parallel;
use std::cmp::Reverse;

/// Words of a set of neighbours: 1,024 neighbours at most.
const WORDS: usize = 16;
/// The most steps of one search, before the bound of the last limit is taken.
const MOST_VISITS: usize = 200_000;
/// Prices are raised to these many times the price that three quarters of the points do not exceed.
const LIMITS: [u64; 3] = [2, 3, 4];
/// Points that one thread works on before it takes more.
const PART: usize = 256;

/// The least that any release of these points costs in which every class has k rows.
pub fn lower_bound(points: &Points, k: u32, threads: usize) -> u64 {
    total(points, &of_rows(points, k, threads))
}

fn total(points: &Points, of_rows: &[u64]) -> u64 {
    of_rows.iter().zip(&points.rows).map(|(&bound, &rows)| bound * u64::from(rows)).sum()
}

/// The least that a row of each point costs.
fn of_rows(points: &Points, k: u32, threads: usize) -> Vec<u64> {
    let trie = Trie::full(points);
    let all: Vec<Point> = (0..points.len() as Point).collect();
    let parts: Vec<&[Point]> = all.chunks(PART).collect();
    let bounds = parallel::map(threads, parts.len(), |part| {
        let mut search = CheapestBox::<WORDS>::new(points.width());
        search.most_visits = MOST_VISITS;
        parts[part].iter().map(|&point| of_row(points, &trie, point, k, &mut search)).collect::<Vec<u64>>()
    });
    bounds.concat()
}

/// The same as [`lower_bound`], or more: a price for each row, such that the k highest prices in the labels of any class
/// add up to at most k times what these labels cost. Then the rows of a class cost at least the sum of their prices.
///
/// The first prices are the least that each row costs by itself. No class breaks them, since each of its labels costs at
/// least as much as each of its rows. Then prices are raised up to a limit, one point after the other, as far as all
/// labels around the point permit that cost less than the limit and cover k rows. Labels that cost more than the limit
/// cost more than every price under them: those that were raised are below the limit, and the others are first prices.
pub fn dual_bound(points: &Points, k: u32, threads: usize) -> u64 {
    let first = of_rows(points, k, threads);
    let mut sorted = first.clone();
    sorted.sort_unstable();
    let Some(&usual) = sorted.get(sorted.len() * 3 / 4) else { return 0 };
    // A higher limit permits higher prices, but there may be too many labels to look at.
    let bounds = parallel::map(threads, LIMITS.len(), |number| {
        let limit = (usual * LIMITS[number]).min(points.removal);
        total(points, &raised(points, k, limit, first.clone()))
    });
    bounds.into_iter().fold(total(points, &first), u64::max)
}

/// Raises prices up to a limit, one point after the other, the highest first.
fn raised(points: &Points, k: u32, limit: u64, mut prices: Vec<u64>) -> Vec<u64> {
    let trie = Trie::full(points);
    let mut order: Vec<Point> = (0..points.len() as Point).filter(|&p| prices[p as usize] < limit).collect();
    order.sort_by_key(|&point| (Reverse(prices[point as usize]), point));
    let mut around = LabelsAround { columns: vec![Vec::new(); points.width()], near: Vec::new(), visits: 0 };
    for point in order {
        if let Some(price) = around.highest_price(points, &trie, point, k, limit, &prices) {
            let own = &mut prices[point as usize];
            *own = price.max(*own);
        }
    }
    prices
}

/// The labels around a point, and the neighbours that they cover.
struct LabelsAround {
    columns: Vec<Vec<Choice<WORDS>>>,
    near: Vec<(u64, Point)>,
    visits: usize,
}

impl LabelsAround {
    /// The highest price of the rows of a point that all labels around it permit which cost less than the limit. `None`
    /// where there are too many of them to look at.
    fn highest_price(
        &mut self,
        points: &Points,
        trie: &Trie,
        point: Point,
        k: u32,
        limit: u64,
        prices: &[u64],
    ) -> Option<u64> {
        let own = points.nodes(point);
        let complete = trie.near(points, own, limit, 64 * WORDS + 1, &mut self.near);
        if !complete || self.near.len() > 64 * WORDS {
            return None;
        }
        // The highest price first, so that the first neighbours that labels cover are those that count.
        self.near.sort_unstable_by_key(|&(_, other)| (Reverse(prices[other as usize]), other));
        fill_choices(points, own, &self.near, &mut self.columns);
        let near = self.near.iter().map(|&(_, other)| PricedNeighbour {
            is_own: other == point,
            rows: points.rows[other as usize],
            price: prices[other as usize],
        });
        let near: Vec<PricedNeighbour> = near.collect();
        let rows = points.rows[point as usize];
        self.visits = 0;
        let boxes = BoxesAround { near: &near, k, limit, rows };
        let mut highest = limit;
        self.descend(0, &first(near.len()), points.cost(own), &boxes, &mut highest);
        (self.visits <= MOST_VISITS).then_some(highest)
    }

    fn descend(&mut self, column: usize, mask: &Mask<WORDS>, cost: u64, boxes: &BoxesAround, highest: &mut u64) {
        self.visits += 1;
        if cost >= boxes.limit || self.visits > MOST_VISITS {
            return;
        }
        if column == self.columns.len() {
            *highest = boxes.highest_price(mask, cost).map_or(*highest, |price| price.min(*highest));
            return;
        }
        for choice in 0..self.columns[column].len() {
            let choice = self.columns[column][choice];
            let both: Mask<WORDS> = std::array::from_fn(|w| mask[w] & choice.covers[w]);
            self.descend(column + 1, &both, cost + choice.cost, boxes, highest);
            // A coarser label covers no more, and costs more.
            if both == *mask {
                return;
            }
        }
    }
}

struct PricedNeighbour {
    is_own: bool,
    rows: u32,
    price: u64,
}

/// Labels around a point with these rows.
struct BoxesAround<'a> {
    /// The neighbours, by falling price.
    near: &'a [PricedNeighbour],
    k: u32,
    limit: u64,
    rows: u32,
}

impl BoxesAround<'_> {
    /// The highest price of the point that labels permit which cover these neighbours; `None` where they cover fewer
    /// than k rows.
    fn highest_price(&self, mask: &Mask<WORDS>, cost: u64) -> Option<u64> {
        // The highest prices of the others, one for each row.
        let (mut others, mut covered) = (Vec::with_capacity(self.k as usize), 0u64);
        for neighbour in candidates(*mask).map(|i| &self.near[i]) {
            covered += u64::from(neighbour.rows);
            if !neighbour.is_own {
                let left = self.k as usize - others.len();
                others.extend(std::iter::repeat_n(neighbour.price, left.min(neighbour.rows as usize)));
            }
            if others.len() == self.k as usize {
                break;
            }
        }
        if covered < u64::from(self.k) {
            return None;
        }
        let whole = cost * u64::from(self.k);
        // With so many rows of the point and the highest of the others, the sum is at most the whole.
        let permitted = |own: usize| {
            let rest = self.k as usize - own;
            let sum: u64 = others.get(..rest)?.iter().sum();
            Some(whole.saturating_sub(sum) / own as u64)
        };
        (1..=self.rows.min(self.k) as usize).filter_map(permitted).min()
    }
}

/// The least that a row of a point costs.
fn of_row(points: &Points, trie: &Trie, point: Point, k: u32, search: &mut CheapestBox<WORDS>) -> u64 {
    let own = points.nodes(point);
    let base = points.cost(own);
    if points.rows[point as usize] >= k {
        return base;
    }
    let mut near = Vec::new();
    let mut limit = points.trees.iter().filter_map(|tree| tree.least_step()).min().unwrap_or(1).max(1);
    // No box that costs this or less has k rows.
    let mut excluded = 0;
    loop {
        if !trie.near(points, own, base + limit, 64 * WORDS + 1, &mut near) {
            return base + excluded;
        }
        if near.len() > 64 * WORDS {
            // Too many neighbours to look at all of them: a limit in between may still exclude some boxes.
            let middle = excluded + (limit - excluded) / 2;
            if middle - excluded < limit / 64 {
                return base + excluded;
            }
            limit = middle;
            continue;
        }
        search.weights.own = near.iter().map(|&(_, p)| points.rows[p as usize]).collect();
        search.weights.all.clone_from(&search.weights.own);
        search.weights.settle();
        fill_choices(points, own, &near, &mut search.columns);
        match search.search(first(near.len()), k, limit, None) {
            _ if !search.is_complete() => return base + excluded,
            Some(found) => return base + found.cost,
            None if limit >= points.removal => return base + excluded,
            None => (excluded, limit) = (limit, (limit + limit / 4 + 1).min(points.removal)),
        }
    }
}
