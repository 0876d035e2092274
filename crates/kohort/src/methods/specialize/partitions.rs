//! TIPS: the records in partitions, one for each combination of cut values, each a range of one
//! list. Rows (here: distinct tuples) are touched only when their own value is specialized.

use super::taxonomy::TaxonomyColumn;
use kohort_core::cohort::Cohort;

/// A leaf under none of the children, or a tuple in no partition.
const NONE: u32 = u32::MAX;

/// The partitions of a table under the present cut.
#[derive(Debug, Clone)]
pub(super) struct Partitions {
    /// Tuples, partition after partition.
    order: Vec<u32>,
    /// States where each partition starts and ends.
    ranges: Vec<(u32, u32)>,
    /// For each column and partition: the place of its value in the column's cut.
    slots: Vec<Vec<u32>>,
    /// For each column: the nodes of its cut.
    cuts: Vec<Vec<usize>>,
    /// For each column and tuple: its leaf.
    leaves: Vec<Vec<u32>>,
    /// Room for sorting the tuples of one partition.
    spare: Vec<u32>,
    /// True if every tuple is a partition of its own.
    dissolved: bool,
}

/// In a table with this many tuples, partitions are dissolved when most of them hold one tuple.
const WORTH_DISSOLVING: usize = 1 << 16;

impl Partitions {
    /// The tuples of a cohort with every column at its roots.
    pub(super) fn new(cohort: &Cohort, columns: &[TaxonomyColumn]) -> Partitions {
        let tuples = cohort.tuples.len();
        let leaf = |q: usize| {
            let leaf_of = &columns[q].leaf_of;
            (0..tuples).map(|t| leaf_of[cohort.tuples.code(t, q) as usize]).collect()
        };
        let leaves = kohort_core::parallel::map(cohort.threads, columns.len(), leaf);
        let mut partitions = Partitions {
            order: (0..tuples as u32).collect(),
            ranges: vec![(0, tuples as u32)],
            slots: vec![vec![0]; columns.len()],
            cuts: vec![vec![usize::MAX]; columns.len()],
            leaves,
            spare: Vec::new(),
            dissolved: false,
        };
        for (q, column) in columns.iter().enumerate() {
            partitions.split(q, 0, 0..column.leaves, column, &column.roots);
        }
        partitions
    }

    /// The number of partitions.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The nodes of a column's cut.
    pub(super) fn cut(&self, column: usize) -> &[usize] {
        &self.cuts[column]
    }

    /// For each partition: the place of its value in the column's cut.
    pub(super) fn slots(&self, column: usize) -> &[u32] {
        &self.slots[column]
    }

    /// The place of a node in its column's cut.
    pub(super) fn slot(&self, column: usize, node: usize) -> Option<usize> {
        self.cuts[column].iter().position(|&n| n == node)
    }

    /// The partitions with a value: Link of the paper, found by looking through all.
    pub(super) fn link(&self, column: usize, slot: usize) -> Vec<u32> {
        let slots = (0u32..).zip(&self.slots[column]);
        slots.filter(|(_, own)| **own as usize == slot).map(|(partition, _)| partition).collect()
    }

    /// The tuples of a partition.
    pub(super) fn tuples(&self, partition: u32) -> &[u32] {
        let (start, end) = self.ranges[partition as usize];
        &self.order[start as usize..end as usize]
    }

    /// For each tuple: its leaf in a column.
    pub(super) fn leaves(&self, column: usize) -> &[u32] {
        &self.leaves[column]
    }

    /// Specializes the value at a place of a column's cut into these nodes.
    pub(super) fn specialize(&mut self, q: usize, slot: usize, column: &TaxonomyColumn, children: &[usize]) {
        let leaves = column.nodes[self.cuts[q][slot]].leaves.clone();
        self.split(q, slot, leaves, column, children);
    }

    /// Returns whether most partitions hold one tuple: then they save nothing, and the tuples of a value are
    /// scattered over the table.
    pub(super) fn hold_few(&self) -> bool {
        let tuples = self.leaves.first().map_or(0, Vec::len);
        !self.dissolved && tuples >= WORTH_DISSOLVING && self.len() >= tuples / 2
    }

    /// Returns whether every tuple is a partition of its own, and some may have the same values.
    pub(super) fn are_dissolved(&self) -> bool {
        self.dissolved
    }

    /// From now on every tuple is a partition of its own, in the table's order.
    pub(super) fn dissolve(&mut self) {
        let tuples = self.leaves.first().map_or(0, Vec::len);
        // Tuples that were removed from their partition stay removed.
        let mut of_tuple = vec![NONE; tuples];
        for (number, &(start, end)) in (0u32..).zip(&self.ranges) {
            self.order[start as usize..end as usize].iter().for_each(|&t| of_tuple[t as usize] = number);
        }
        let slot = |slots: &[u32], partition: u32| if partition == NONE { 0 } else { slots[partition as usize] };
        for slots in &mut self.slots {
            *slots = of_tuple.iter().map(|&partition| slot(slots, partition)).collect();
        }
        let range = |(t, &partition): (u32, &u32)| (t, t + u32::from(partition != NONE));
        self.ranges = (0u32..).zip(&of_tuple).map(range).collect();
        self.order = (0..tuples as u32).collect();
        self.dissolved = true;
    }

    fn split(
        &mut self,
        q: usize,
        slot: usize,
        leaves: std::ops::Range<u32>,
        column: &TaxonomyColumn,
        children: &[usize],
    ) {
        // The first child takes the place of its parent.
        let first_new = self.cuts[q].len();
        let place = |child: usize| if child == 0 { slot } else { first_new + child - 1 };
        self.cuts[q][slot] = children[0];
        self.cuts[q].extend(&children[1..]);
        let of_leaf = child_of_leaf(&leaves, column, children);
        if self.dissolved {
            let leaf = &self.leaves[q];
            for (own, &leaf) in self.slots[q].iter_mut().zip(leaf).filter(|(own, _)| **own as usize == slot) {
                let of = of_leaf.get(leaf.wrapping_sub(leaves.start) as usize).copied().unwrap_or(NONE);
                *own = if of == NONE { *own } else { place(of as usize) as u32 };
            }
            return;
        }
        let mut counts = vec![0u32; children.len()];
        let mut starts = vec![0u32; children.len()];
        for partition in self.link(q, slot) {
            let (start, end) = self.ranges[partition as usize];
            let own = &mut self.order[start as usize..end as usize];
            let leaf = &self.leaves[q];
            let child = |t: u32| of_leaf[(leaf[t as usize] - leaves.start) as usize] as usize;
            counts.fill(0);
            own.iter().for_each(|&t| counts[child(t)] += 1);
            let mut at = 0;
            for (start, &n) in starts.iter_mut().zip(&counts) {
                *start = at;
                at += n;
            }
            if counts.iter().filter(|&&n| n > 0).count() > 1 {
                self.spare.resize(own.len().max(self.spare.len()), 0);
                for &t in own.iter() {
                    let at = &mut starts[child(t)];
                    self.spare[*at as usize] = t;
                    *at += 1;
                }
                own.copy_from_slice(&self.spare[..own.len()]);
            }
            let mut number = Some(partition);
            let mut at = start;
            for (child, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                let number = number.take().unwrap_or_else(|| {
                    self.ranges.push((0, 0));
                    self.slots.iter_mut().for_each(|s| s.push(s[partition as usize]));
                    self.ranges.len() as u32 - 1
                });
                self.ranges[number as usize] = (at, at + n);
                self.slots[q][number as usize] = place(child) as u32;
                at += n;
            }
        }
    }

    /// Removes tuples from their partitions; a partition may become empty.
    pub(super) fn remove(&mut self, gone: &[bool]) {
        for range in &mut self.ranges {
            let mut end = range.0;
            for at in range.0..range.1 {
                let tuple = self.order[at as usize];
                if !gone[tuple as usize] {
                    self.order[end as usize] = tuple;
                    end += 1;
                }
            }
            range.1 = end;
        }
    }
}

/// Returns, for each leaf under a node, the child that it is in.
pub(super) fn child_of_leaf(leaves: &std::ops::Range<u32>, column: &TaxonomyColumn, children: &[usize]) -> Vec<u32> {
    let mut of_leaf = vec![NONE; leaves.len()];
    for (number, &child) in (0u32..).zip(children) {
        let own = &column.nodes[child].leaves;
        of_leaf[(own.start - leaves.start) as usize..(own.end - leaves.start) as usize].fill(number);
    }
    of_leaf
}
