//! The node of least loss that passes: greedy at first, then all that could be better.
//!
//! A generalization of a node that passes is taken to pass (H-5); what is chosen is estimated afresh.

use super::nodes::Nodes;
use kohort_core::table::Progress;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Open,
    /// It failed, or one above it did.
    Failed,
    Passed,
}

/// A search that can be taken up again after its result was refused.
pub(crate) struct ResumableSearch<'a> {
    nodes: &'a Nodes,
    tags: Vec<Tag>,
    passed: Vec<usize>,
    /// The number of nodes that were tested.
    pub(crate) tests: u64,
    most: u64,
    progress: &'a dyn Progress,
}

impl<'a> ResumableSearch<'a> {
    /// At most `most` tests.
    pub(crate) fn new(nodes: &'a Nodes, most: u64, progress: &'a dyn Progress) -> ResumableSearch<'a> {
        ResumableSearch { nodes, tags: vec![Tag::Open; nodes.len()], passed: Vec::new(), tests: 0, most, progress }
    }

    /// Returns whether the search ended because of the limit on tests, or because the caller stops the run.
    pub(crate) fn is_cut(&self) -> bool {
        self.tests >= self.most || self.progress.is_cancelled()
    }

    /// The number of nodes of which nothing is known.
    pub(crate) fn open(&self) -> u64 {
        self.tags.iter().filter(|tag| **tag == Tag::Open).count() as u64
    }

    /// The best node, or nothing where not even the top passes.
    pub(crate) fn best(&mut self, test: &mut dyn FnMut(&[usize]) -> bool) -> Option<usize> {
        let start = match self.least_passed() {
            Some(node) => node,
            None if self.passes(self.nodes.top(), test) => self.nodes.top(),
            None => return None,
        };
        self.descend(start, test);
        let mut incumbent = self.least_passed()?;
        let mut key = self.nodes.key(incumbent);
        let mut node = 0;
        while node < self.nodes.len() && !self.is_cut() {
            if self.tags[node] != Tag::Open
                || self.nodes.loss(node) > self.nodes.loss(incumbent)
                || !self.nodes.key(node).below(&key)
            {
                node += 1;
                continue;
            }
            // As high as it stays better: a failure there settles most.
            let mut high = node;
            while let Some(next) = self.nodes.above(high).into_iter().find(|&n| self.nodes.key(n).below(&key)) {
                high = next;
            }
            if self.passes(high, test) {
                self.descend(high, test);
                if let Some(better) = self.least_passed() {
                    (incumbent, key) = (better, self.nodes.key(better));
                }
            }
        }
        Some(incumbent)
    }

    /// Takes a node out, and all below it.
    pub(crate) fn refuse(&mut self, node: usize) {
        self.passed.retain(|&n| n != node);
        self.tags[node] = Tag::Open;
        self.fail(node);
        let tags = &self.tags;
        self.passed.retain(|&n| tags[n] == Tag::Passed);
    }

    fn least_passed(&self) -> Option<usize> {
        let mut best: Option<(usize, super::nodes::NodeOrder)> = None;
        for &node in &self.passed {
            let key = self.nodes.key(node);
            if best.as_ref().is_none_or(|(_, least)| key.below(least)) {
                best = Some((node, key));
            }
        }
        best.map(|b| b.0)
    }

    /// From a node that passes down to one of which no neighbour below passes.
    fn descend(&mut self, from: usize, test: &mut dyn FnMut(&[usize]) -> bool) {
        let mut node = from;
        loop {
            let mut below: Vec<_> = self.nodes.below(node).into_iter().map(|n| (self.nodes.key(n), n)).collect();
            below.sort_by(|a, b| if a.0.below(&b.0) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater });
            match below.into_iter().find(|(_, n)| !self.is_cut() && self.passes(*n, test)) {
                Some((_, next)) => node = next,
                None => return,
            }
        }
    }

    fn passes(&mut self, node: usize, test: &mut dyn FnMut(&[usize]) -> bool) -> bool {
        if self.tags[node] == Tag::Open {
            self.tests += 1;
            if test(&self.nodes.levels(node)) {
                self.tags[node] = Tag::Passed;
                self.passed.push(node);
                self.progress.advance(1);
            } else {
                let failed = self.fail(node);
                self.progress.advance(failed);
            }
        }
        self.tags[node] == Tag::Passed
    }

    /// Tags a node and all below as failed, and returns how many were not before. What is below a failed node is tagged
    /// already.
    fn fail(&mut self, node: usize) -> u64 {
        let mut open = vec![node];
        let mut tagged = 0;
        while let Some(node) = open.pop() {
            if self.tags[node] != Tag::Failed {
                self.tags[node] = Tag::Failed;
                tagged += 1;
                open.extend(self.nodes.below(node));
            }
        }
        tagged
    }
}
