//! Chooses the columns that are shown first, so that there is a useful result long before all columns are done.
//!
//! Half of the columns have an eighth of the sets of three, and a third of them a ninth of the sets of two. So first a few
//! columns are shown and all others are suppressed, then two or three times as many, and so on: all of this takes about a
//! seventh of the time of the last part, in which every column is shown.

use super::frequent;
use crate::local::points::Points;

/// The least number of columns of a part that is not the last one.
const FEWEST: usize = 12;

/// The columns that each part shows, the fewest first, for an attacker who knows so many of them. Those that save most
/// are in all parts, and those that may not be suppressed.
pub fn column_parts(points: &Points, k: u32, known: usize, threads: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..points.width()).collect();
    let people = points.people.iter().map(|&people| u64::from(people)).sum();
    let least = frequent::numbers(people, k).next().unwrap_or(people);
    let labels = frequent::start(points, &all, least, threads);
    let saved = |&column: &usize| -> u64 {
        let (tree, labels) = (&points.trees[column], labels.iter().skip(column).step_by(points.width()));
        labels.zip(&points.rows).map(|(&label, &rows)| (tree.cost(0) - tree.cost(label)) * u64::from(rows)).sum()
    };
    let (mut shown, mut others): (Vec<usize>, Vec<usize>) =
        all.iter().partition(|&&column| !points.is_permitted(points.trees[column].cost(0)));
    let fewest = shown.len().max(FEWEST);
    others.sort_by_cached_key(|column| std::cmp::Reverse(saved(column)));
    shown.extend(others);
    let times = if known < 3 { 3 } else { 2 };
    let fewer = std::iter::successors(Some(all.len() / times), |columns| Some(columns / times));
    let mut parts: Vec<Vec<usize>> = fewer
        .take_while(|&columns| columns >= fewest)
        .map(|columns| {
            let mut part = shown[..columns].to_vec();
            part.sort_unstable();
            part
        })
        .collect();
    parts.reverse();
    parts.push(all);
    parts
}
