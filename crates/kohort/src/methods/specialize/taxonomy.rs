//! The taxonomy tree of a column: its leaves are in an order in which every node is a
//! range. Intervals of numbers get their children while the method runs.

use kohort_core::Result;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::{CutPoints, Hierarchy, Label, MISSING, Rule, SUPPRESSED, ValuePosition};
use kohort_core::policy::Policy;
use kohort_core::release::Recoded;
use std::collections::BTreeMap;
use std::ops::Range;

/// A value of a column at some depth.
#[derive(Debug, Clone)]
pub(super) struct TaxonomyNode {
    /// The label in the release.
    pub label: Label,
    /// Its height in the tree, as a share of the way from a leaf (0) to `*` (1).
    pub height: f64,
    /// The name in the trace: an interval that is released as `*` has its bounds there.
    pub name: String,
    /// The leaves under it.
    pub leaves: Range<u32>,
    /// The ways in which it can be split.
    pub below: Below,
}

/// The children of a node.
#[derive(Debug, Clone)]
pub(super) enum Below {
    /// Nothing.
    Nothing,
    /// These nodes.
    Given(Vec<usize>),
    /// Two intervals, wherever it is cut, beside what is no number inside the range.
    Found {
        /// Its leaves that are numbers inside the range.
        inside: Range<u32>,
        /// Its cells.
        cells: Range<u64>,
        /// Nodes of its other leaves: missing, below and above the range, not covered.
        beside: Vec<usize>,
    },
}

/// A column and its tree.
#[derive(Debug, Clone)]
pub(super) struct TaxonomyColumn {
    /// The leaf of each value, by value code.
    pub leaf_of: Vec<u32>,
    /// The number of leaves.
    pub leaves: u32,
    /// All nodes so far.
    pub nodes: Vec<TaxonomyNode>,
    /// States where the method starts.
    pub roots: Vec<usize>,
    numbers: Option<NumericTaxonomy>,
}

/// Numbers that are cut while the method runs.
#[derive(Debug, Clone)]
struct NumericTaxonomy {
    cells: CutPoints,
    /// The first leaf inside the range.
    first: u32,
    /// The cell of each leaf inside.
    occupied: Vec<u64>,
}

/// The trees of all quasi-identifiers.
pub(super) fn columns(cohort: &Cohort, policy: &Policy) -> Result<Vec<TaxonomyColumn>> {
    cohort.quasi.iter().enumerate().map(|(q, quasi)| column(cohort, policy, q, quasi)).collect()
}

fn column(cohort: &Cohort, policy: &Policy, q: usize, quasi: &Quasi) -> Result<TaxonomyColumn> {
    let dictionary = &cohort.tuples.dictionaries[q];
    let texts = dictionary.texts();
    let first = if dictionary.missing_occurs { MISSING } else { MISSING + 1 };
    let codes: Vec<u32> = (first..texts.len() as u32).collect();
    if let Rule::Intervals(intervals) = &policy.columns[quasi.column].rule
        && let Some(cells) = intervals.cells(&texts, dictionary.missing_occurs)
    {
        if quasi.levels.len() != quasi.hierarchy.levels.len() {
            return Err(policy.error(format!(
                "column `{}`: specialize finds its intervals itself, so `levels` has no effect. Remove `levels`, or \
                 set intervals = […].",
                quasi.name
            )));
        }
        return Ok(numbers(cells, &quasi.hierarchy, &texts, &codes));
    }
    Ok(TaxonomyBuilder::grow(&quasi.hierarchy, &quasi.levels, codes, texts.len()))
}

/// Grows a column from the levels of its hierarchy.
struct TaxonomyBuilder<'a> {
    hierarchy: &'a Hierarchy,
    /// The permitted levels, ascending.
    levels: &'a [usize],
    column: TaxonomyColumn,
}

impl TaxonomyBuilder<'_> {
    fn grow(hierarchy: &Hierarchy, levels: &[usize], codes: Vec<u32>, values: usize) -> TaxonomyColumn {
        let column =
            TaxonomyColumn { leaf_of: vec![0; values], leaves: 0, nodes: Vec::new(), roots: Vec::new(), numbers: None };
        let mut tree = TaxonomyBuilder { hierarchy, levels, column };
        let top = levels.len() - 1;
        let roots = tree.by_label(top, &codes).into_iter().map(|codes| tree.node(top, &codes)).collect();
        tree.column.roots = roots;
        tree.column
    }

    /// The codes of each label on the i-th permitted level.
    fn by_label(&self, i: usize, codes: &[u32]) -> Vec<Vec<u32>> {
        let mut by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let level = &self.hierarchy.levels[self.levels[i]];
        codes.iter().for_each(|&c| by.entry(level.label_of[c as usize]).or_default().push(c));
        by.into_values().collect()
    }

    /// The node of these codes, which share a label on the i-th permitted level. A label that
    /// is on several levels is one node.
    fn node(&mut self, i: usize, codes: &[u32]) -> usize {
        let text = |i: usize| {
            let level = &self.hierarchy.levels[self.levels[i]];
            &level.labels[level.label_of[codes[0] as usize] as usize]
        };
        let (mut i, mut parts) = (i, vec![codes.to_vec()]);
        while i > 0 {
            parts = self.by_label(i - 1, codes);
            if parts.len() > 1 || text(i - 1).text != text(i).text {
                break;
            }
            i -= 1;
        }
        let label = text(i).clone();
        let height = self.levels[i] as f64 / (self.hierarchy.levels.len() - 1) as f64;
        let first = self.column.leaves;
        let below = if i == 0 {
            codes.iter().for_each(|&c| self.column.leaf_of[c as usize] = first);
            self.column.leaves += 1;
            Below::Nothing
        } else {
            Below::Given(parts.iter().map(|codes| self.node(i - 1, codes)).collect())
        };
        let name = label.text.clone();
        self.column.nodes.push(TaxonomyNode { label, height, name, leaves: first..self.column.leaves, below });
        self.column.nodes.len() - 1
    }
}

/// A column of numbers under one root.
fn numbers(cells: CutPoints, hierarchy: &Hierarchy, texts: &[&str], codes: &[u32]) -> TaxonomyColumn {
    let mut column = TaxonomyColumn {
        leaf_of: vec![0; texts.len()],
        leaves: 0,
        nodes: Vec::new(),
        roots: Vec::new(),
        numbers: None,
    };
    let cell_of = |code: u32| if code == MISSING { None } else { cells.cell(texts[code as usize]) };
    let lowest = &hierarchy.levels[0];
    let label_of = |code: u32| &lowest.labels[lowest.label_of[code as usize] as usize];
    let mut beside = Vec::new();
    let mut leaf_for = |column: &mut TaxonomyColumn, codes: Vec<u32>| {
        let Some(&one) = codes.first() else { return };
        codes.iter().for_each(|&c| column.leaf_of[c as usize] = column.leaves);
        let label = label_of(one).clone();
        let leaves = column.leaves..column.leaves + 1;
        column.leaves += 1;
        let name = label.text.clone();
        column.nodes.push(TaxonomyNode { label, height: 0.0, name, leaves, below: Below::Nothing });
        beside.push(column.nodes.len() - 1);
    };
    let those = |which: &dyn Fn(u32) -> bool| codes.iter().copied().filter(|&c| which(c)).collect::<Vec<u32>>();
    leaf_for(&mut column, those(&|c| c == MISSING));
    leaf_for(&mut column, those(&|c| cell_of(c) == Some(ValuePosition::Below)));
    let mut inside: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for &code in codes {
        if let Some(ValuePosition::Inside(cell)) = cell_of(code) {
            inside.entry(cell).or_default().push(code);
        }
    }
    let first = column.leaves;
    for codes in inside.values() {
        codes.iter().for_each(|&c| column.leaf_of[c as usize] = column.leaves);
        column.leaves += 1;
    }
    let last = column.leaves;
    leaf_for(&mut column, those(&|c| cell_of(c) == Some(ValuePosition::Above)));
    leaf_for(&mut column, those(&|c| c != MISSING && cell_of(c).is_none()));
    let count = cells.count();
    let top = hierarchy.levels.last().and_then(|l| l.labels.first());
    let label = top.cloned().unwrap_or(Label { text: SUPPRESSED.into(), loss: 1.0 });
    let name = if beside.is_empty() { cells.label(0, count).text } else { label.text.clone() };
    let below = Below::Found { inside: first..last, cells: 0..count, beside };
    column.nodes.push(TaxonomyNode { label, height: 1.0, name, leaves: 0..column.leaves, below });
    column.roots = vec![column.nodes.len() - 1];
    column.numbers = Some(NumericTaxonomy { cells, first, occupied: inside.into_keys().collect() });
    column
}

impl TaxonomyColumn {
    /// Cuts an interval before a leaf inside it, or (`None`) only parts it from what is beside it.
    /// Of the points that part the same records, the one nearest the middle is taken. Returns the
    /// children, and the point as text.
    pub(super) fn cut(&mut self, node: usize, before: Option<u32>) -> (Vec<usize>, Option<String>) {
        let (Below::Found { inside, cells, beside }, Some(numbers)) = (self.nodes[node].below.clone(), &self.numbers)
        else {
            return (Vec::new(), None);
        };
        let interval = |leaves: Range<u32>, cells: Range<u64>| {
            let label = numbers.cells.label(cells.start, cells.end);
            let (name, height) = (label.text.clone(), label.loss);
            let below = Below::Found { inside: leaves.clone(), cells, beside: Vec::new() };
            TaxonomyNode { label, height, name, leaves, below }
        };
        let (made, point) = match before {
            None => (vec![interval(inside, cells)], None),
            Some(leaf) => {
                let occupied = |leaf: u32| numbers.occupied[(leaf - numbers.first) as usize];
                // Any point after the cell before and up to this cell parts the same records.
                let point = (occupied(leaf - 1) + 1 + occupied(leaf)) / 2;
                let left = interval(inside.start..leaf, cells.start..point);
                let right = interval(leaf..inside.end, point..cells.end);
                (vec![left, right], Some(numbers.cells.point(point)))
            }
        };
        let first = self.nodes.len();
        self.nodes.extend(made);
        (beside.into_iter().chain(first..self.nodes.len()).collect(), point)
    }

    /// The released labels of the column when it is cut into these nodes.
    pub(super) fn recoded(&self, cohort: &Cohort, position: usize, cut: &[usize]) -> Recoded {
        let labels = cut.iter().map(|&n| (self.nodes[n].label.clone(), self.nodes[n].height)).collect();
        let mut of_leaf = vec![0u32; self.leaves as usize];
        for (slot, &node) in (0u32..).zip(cut) {
            let leaves = &self.nodes[node].leaves;
            of_leaf[leaves.start as usize..leaves.end as usize].fill(slot);
        }
        let label_of = self.leaf_of.iter().map(|&leaf| of_leaf.get(leaf as usize).copied().unwrap_or(0)).collect();
        Recoded::new(cohort, position, labels, label_of)
    }
}
