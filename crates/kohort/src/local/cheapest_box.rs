//! The cheapest labels around a point that cover enough people.
//!
//! Candidates are bits of a mask. For each column and each label above the point, a mask holds the
//! candidates that the label covers; the masks of a choice of labels are intersected column by column.
//!
//! # Cost
//! Depth-first over the columns, the costliest first label first. A branch ends when it costs more than
//! the best found or covers too few people; after [`MOST_VISITS`] steps the best so far is taken.

use super::tree::Node;
use std::cmp::Reverse;

/// The most steps of one search.
const MOST_VISITS: usize = 3000;

/// A set of candidates, `W` times 64 at most.
pub type Mask<const W: usize> = [u64; W];

/// A label that a column may show, and the candidates that it covers.
#[derive(Debug, Clone, Copy)]
pub struct Choice<const W: usize> {
    /// The cost beyond that of the point's own label.
    pub cost: u64,
    /// The label.
    pub node: Node,
    /// The candidates that it covers.
    pub covers: Mask<W>,
}

/// The people of each candidate.
#[derive(Debug, Default)]
pub struct Weights {
    /// Those who are still to be grouped.
    pub own: Vec<u32>,
    /// These, and those whom a large class can spare.
    pub all: Vec<u32>,
    is_one: bool,
}

impl Weights {
    /// Notes whether every candidate is one person, which makes counting quick.
    pub fn settle(&mut self) {
        self.is_one = self.all.iter().all(|&weight| weight == 1);
    }
}

/// A box that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBox {
    /// The cost of a row beyond that of the point, divided among those who are still to be grouped.
    pub cost: u64,
    /// People who are still to be grouped.
    pub people: u32,
}

/// The search, with its memory.
#[derive(Debug)]
pub struct CheapestBox<const W: usize> {
    /// The choices of each column, cheapest first.
    pub columns: Vec<Vec<Choice<W>>>,
    /// The candidates' people.
    pub weights: Weights,
    /// The labels of the best box, by column.
    pub labels: Vec<Node>,
    /// The most steps of a search.
    pub most_visits: usize,
    order: Vec<usize>,
    chosen: Vec<Node>,
    visits: usize,
    best: Option<FoundBox>,
}

impl<const W: usize> CheapestBox<W> {
    /// A search over so many columns.
    pub fn new(width: usize) -> CheapestBox<W> {
        CheapestBox {
            columns: vec![Vec::new(); width],
            weights: Weights::default(),
            labels: vec![0; width],
            most_visits: MOST_VISITS,
            order: (0..width).collect(),
            chosen: vec![0; width],
            visits: 0,
            best: None,
        }
    }

    /// Finds the cheapest box with at least `need` people that costs at most `most`. `holds` decides
    /// about the candidates of a box where more than the number of people is required.
    pub fn search(
        &mut self,
        candidates: Mask<W>,
        need: u32,
        most: u64,
        holds: Option<&dyn Fn(&Mask<W>) -> bool>,
    ) -> Option<FoundBox> {
        let columns = &self.columns;
        self.order.sort_by_key(|&c| (Reverse(columns[c].get(1).map_or(u64::MAX, |choice| choice.cost)), c));
        (self.visits, self.best) = (0, None);
        let goal = Goal { need, most, holds };
        self.descend(0, &candidates, 0, &goal);
        self.best.take()
    }

    /// Returns whether the last search looked at everything.
    pub fn is_complete(&self) -> bool {
        self.visits <= self.most_visits
    }

    fn descend(&mut self, depth: usize, mask: &Mask<W>, cost: u64, goal: &Goal<W>) {
        self.visits += 1;
        if self.visits > self.most_visits {
            return;
        }
        let Some(&column) = self.order.get(depth) else { return self.finish(mask, cost, goal) };
        for i in 0..self.columns[column].len() {
            let choice = self.columns[column][i];
            let here = cost + choice.cost;
            let too_much = match &self.best {
                None => here > goal.most,
                Some(best) => here > best.cost || (here == best.cost && depth + 1 < self.order.len()),
            };
            if too_much {
                return;
            }
            let both: Mask<W> = std::array::from_fn(|w| mask[w] & choice.covers[w]);
            if !self.is_enough(&both, goal.need) {
                continue;
            }
            self.chosen[column] = choice.node;
            self.descend(depth + 1, &both, here, goal);
            // A coarser label covers no more.
            if both == *mask {
                return;
            }
        }
    }

    fn finish(&mut self, mask: &Mask<W>, cost: u64, goal: &Goal<W>) {
        let people = sum(mask, &self.weights.own);
        if people == 0 {
            return;
        }
        // Borrowed people cost as well, so that a box with few of its own is dearer.
        let cost = if people >= goal.need { cost } else { cost * u64::from(goal.need) / u64::from(people) };
        let is_better = match &self.best {
            None => cost <= goal.most,
            Some(best) => (cost, Reverse(people)) < (best.cost, Reverse(best.people)),
        };
        if is_better && goal.holds.is_none_or(|holds| holds(mask)) {
            self.best = Some(FoundBox { cost, people });
            self.labels.copy_from_slice(&self.chosen);
        }
    }

    #[inline]
    fn is_enough(&self, mask: &Mask<W>, need: u32) -> bool {
        let candidates: u32 = mask.iter().map(|word| word.count_ones()).sum();
        candidates >= need || (!self.weights.is_one && sum(mask, &self.weights.all) >= need)
    }
}

/// Describes what a box must meet.
struct Goal<'a, const W: usize> {
    need: u32,
    most: u64,
    holds: Option<&'a dyn Fn(&Mask<W>) -> bool>,
}

/// The sum of the weights of a set of candidates.
#[inline]
fn sum<const W: usize>(mask: &Mask<W>, weights: &[u32]) -> u32 {
    candidates(*mask).map(|i| weights[i]).sum()
}

/// The numbers of the candidates in a set.
#[inline]
pub fn candidates<const W: usize>(mask: Mask<W>) -> impl Iterator<Item = usize> {
    mask.into_iter().enumerate().flat_map(|(word, bits)| {
        std::iter::successors((bits != 0).then_some(bits), |bits| {
            let rest = bits & (bits - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

/// The set of the first candidates.
pub fn first<const W: usize>(number: usize) -> Mask<W> {
    std::array::from_fn(|word| match number.saturating_sub(word * 64) {
        0 => 0,
        bits if bits < 64 => (1 << bits) - 1,
        _ => u64::MAX,
    })
}
