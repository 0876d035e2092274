//! The table as the engine sees it: trees of permitted labels, and distinct combinations of them.

use crate::local::{HiddenWith, Member, Node, Point, Points, Step, Tree};
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::release::ShownLabel;
use std::collections::HashMap;

/// The points of a cohort, with the way back to its tuples and labels.
pub struct Table<'a> {
    /// The cohort.
    pub cohort: &'a Cohort,
    /// Its points.
    pub points: Points,
    /// The tuples of each point: `tuples[starts[point]..starts[point + 1]]`, ascending.
    tuples: Vec<u32>,
    starts: Vec<u32>,
    /// For each column: its labels by key.
    labels: Vec<Vec<ShownLabel>>,
}

/// The cost of a row that is lost entirely. Products with the number of rows and columns fit into 63 bits.
fn unit(cohort: &Cohort) -> u64 {
    let cells = cohort.tuples.rows.max(1) * cohort.quasi.len().max(1) as u64;
    (1u64 << 36).min((1u64 << 60) / cells).max(1)
}

impl<'a> Table<'a> {
    /// Reads the hierarchies and the tuples of a cohort.
    pub fn new(cohort: &'a Cohort) -> Table<'a> {
        let unit = unit(cohort);
        let weights: f64 = cohort.quasi.iter().map(|q| q.weight).sum();
        let (mut trees, mut labels, mut stars) = (Vec::new(), Vec::new(), Vec::new());
        for (position, quasi) in cohort.quasi.iter().enumerate() {
            let occurs: Vec<bool> = cohort.tuples.frequencies(position).iter().map(|&rows| rows > 0).collect();
            let own = Column::new(quasi, &occurs, unit as f64 * quasi.weight / weights);
            let is_finer = cohort.dependencies.iter().any(|&(finer, _)| finer == position);
            let tree = if is_finer { Tree::with_top(&own.paths, 2 * unit) } else { Tree::new(&own.paths, 2 * unit) };
            stars.push(own.star.and_then(|star| tree.node_of(star)));
            trees.push(tree);
            labels.push(own.labels);
        }
        let tuples = &cohort.tuples;
        let finest = |t: usize| trees.iter().zip(tuples.codes(t)).map(|(tree, &code)| tree.leaf(code as usize));
        let cells: Vec<Node> = (0..tuples.len()).flat_map(finest).collect();
        let (mut points, point_of) = Points::new(trees, &cells, &tuples.weights, unit);
        points.hide(
            cohort
                .dependencies
                .iter()
                .map(|&(finer, coarser)| HiddenWith { finer, coarser, suppressed: stars[coarser] })
                .collect(),
        );
        let mut starts = vec![0u32; points.len() + 1];
        point_of.iter().for_each(|&point| starts[point as usize + 1] += 1);
        (0..points.len()).for_each(|p| starts[p + 1] += starts[p]);
        let mut at = starts.clone();
        let mut of_point = vec![0; tuples.len()];
        for (tuple, &point) in point_of.iter().enumerate() {
            of_point[at[point as usize] as usize] = tuple as u32;
            at[point as usize] += 1;
        }
        let mut table = Table { cohort, points, tuples: of_point, starts, labels };
        // Where every patient has one row, patients are counted like rows.
        let patients_add_up = tuples.patients.as_ref().is_none_or(|patients| patients.several() == 0);
        if !patients_add_up || !cohort.required.is_empty() {
            table.points.splits = false;
            let people = (0..table.points.len() as Point).map(|p| table.people(p) as u32).collect();
            table.points.people = people;
        }
        table
    }

    /// The tuples of a point.
    pub fn tuples(&self, point: Point) -> &[u32] {
        &self.tuples[self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize]
    }

    /// The tuples of the members of a class.
    pub fn tuples_of<'b>(&'b self, members: &'b [Member]) -> impl Iterator<Item = usize> + 'b {
        members.iter().flat_map(|member| self.tuples(member.point)).map(|&tuple| tuple as usize)
    }

    /// The people of a point.
    fn people(&self, point: Point) -> u64 {
        super::requirement::people(self.cohort, self.tuples(point).iter().map(|&t| t as usize))
    }

    /// The labels of a class, by quasi-identifier.
    pub fn shown(&self, labels: &[Node]) -> Vec<ShownLabel> {
        self.points.keys(labels).iter().zip(&self.labels).map(|(&key, labels)| labels[key as usize]).collect()
    }
}

/// The permitted labels of one column.
struct Column {
    /// For each key: the label on the lowest level that has it.
    labels: Vec<ShownLabel>,
    /// For each value: the keys and costs of its labels, finest first. Empty for a value that does not occur.
    paths: Vec<Vec<Step>>,
    /// The key of a suppressed cell.
    star: Option<u32>,
}

impl Column {
    fn new(quasi: &Quasi, occurs: &[bool], scale: f64) -> Column {
        let mut column = Column { labels: Vec::new(), paths: Vec::new(), star: None };
        let mut key_of: HashMap<&str, u32> = HashMap::new();
        for (code, _) in occurs.iter().enumerate() {
            let mut path: Vec<Step> = Vec::new();
            for &level in quasi.levels.iter().filter(|_| occurs[code]) {
                let own = &quasi.hierarchy.levels[level];
                let label = own.label_of[code];
                let Some(shown) = own.labels.get(label as usize) else { continue };
                let key = *key_of.entry(&shown.text).or_insert_with(|| {
                    column.labels.push(ShownLabel { level, label });
                    column.labels.len() as u32 - 1
                });
                if shown.text == SUPPRESSED {
                    column.star = Some(key);
                }
                if path.last().is_none_or(|last| last.key != key) {
                    path.push(Step { key, cost: (shown.loss.clamp(0.0, 1.0) * scale).round() as u64 });
                }
            }
            column.paths.push(path);
        }
        column
    }
}
