//! A lower bound on the cost of every release: what each row costs in the cheapest box around it.
//!
//! In any release a row shows labels that cover at least k rows of the table, itself among them. So it
//! costs no less than the cheapest such labels, whatever happens to the others.

use super::cheapest_box::{CheapestBox, first};
use super::neighbourhood::fill_choices;
use super::points::{Point, Points};
use super::trie::Trie;
use kohort_core::parallel;

/// Words of a set of neighbours: 1,024 neighbours at most.
const WORDS: usize = 16;
/// The most steps of one search, before the bound of the last limit is taken.
const MOST_VISITS: usize = 200_000;
/// Points that one thread works on before it takes more.
const PART: usize = 256;

/// The least that any release of these points costs in which every class has k rows.
pub fn lower_bound(points: &Points, k: u32, threads: usize) -> u64 {
    let trie = Trie::full(points);
    let all: Vec<Point> = (0..points.len() as Point).collect();
    let parts: Vec<&[Point]> = all.chunks(PART).collect();
    let bounds = parallel::map(threads, parts.len(), |part| {
        let mut search = CheapestBox::<WORDS>::new(points.width());
        search.most_visits = MOST_VISITS;
        let bound =
            |&point: &Point| u64::from(points.rows[point as usize]) * of_row(points, &trie, point, k, &mut search);
        parts[part].iter().map(bound).sum::<u64>()
    });
    bounds.iter().sum()
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
        trie.near(points, own, base + limit, 64 * WORDS + 1, &mut near);
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
