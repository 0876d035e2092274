//! The table as the engine sees it: trees of permitted labels, and distinct combinations of them.

use super::classes::{Class, Grouping, Member};
use super::node_ranges::RangeLabel;
use super::points::{HiddenWith, Point, Points};
use super::tree::{Node, PathLabel, Tree};
use crate::lattice::NodeClasses;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::{Label, RangeCells, SUPPRESSED};
use kohort_core::release::{ClassLabel, ReleasedLabel, ShownLabel};
use std::collections::{BTreeSet, HashMap};

/// The points of a cohort, with the way back to its tuples and labels.
pub struct PointTable<'a> {
    /// The cohort.
    pub cohort: &'a Cohort,
    /// Its points.
    pub points: Points,
    /// The tuples of each point: `tuples[starts[point]..starts[point + 1]]`, ascending.
    tuples: Vec<u32>,
    starts: Vec<u32>,
    /// For each column: its labels by key.
    labels: Vec<Vec<ShownLabel>>,
    /// For each column: the ranges that its classes may show.
    ranges: Vec<Option<ColumnRanges>>,
}

/// The cells of a column's values, and the ranges between them.
struct ColumnRanges {
    cells: RangeCells,
    /// The cells that occur, ascending.
    occurring: Vec<u64>,
    /// The number of its cell among those, by value.
    of_value: Vec<Option<usize>>,
}

impl ColumnRanges {
    /// The ranges over the values that occur.
    fn new(cells: RangeCells, texts: &[&str], occurs: &[bool]) -> ColumnRanges {
        let own = |(text, occurs): (&&str, &bool)| cells.cell(text).filter(|_| *occurs);
        let of_value: Vec<Option<u64>> = texts.iter().zip(occurs).map(own).collect();
        let occurring: BTreeSet<u64> = of_value.iter().flatten().copied().collect();
        let occurring: Vec<u64> = occurring.into_iter().collect();
        let place = |cell: &Option<u64>| cell.and_then(|cell| occurring.binary_search(&cell).ok());
        ColumnRanges { of_value: of_value.iter().map(place).collect(), cells, occurring }
    }

    /// The label from one of the cells that occur to another.
    fn label(&self, first: usize, last: usize) -> Option<Label> {
        self.cells.label(self.occurring[first], self.occurring[last] + 1)
    }
}

/// The cost of a row that is lost entirely. Products with the number of rows and columns fit into 63 bits.
fn unit(cohort: &Cohort) -> u64 {
    let cells = cohort.tuples.rows.max(1) * cohort.quasi.len().max(1) as u64;
    (1u64 << 36).min((1u64 << 60) / cells).max(1)
}

impl<'a> PointTable<'a> {
    /// Reads the hierarchies and the tuples of a cohort.
    pub fn new(cohort: &'a Cohort) -> PointTable<'a> {
        PointTable::with_ranges(cohort, |_| None)
    }

    /// The same, where the classes of some columns may show ranges between these cells.
    pub fn with_ranges(cohort: &'a Cohort, cells: impl Fn(usize) -> Option<RangeCells>) -> PointTable<'a> {
        let mut ranges = Vec::new();
        let unit = unit(cohort);
        let weights: f64 = cohort.quasi.iter().map(|q| q.weight).sum();
        let (mut trees, mut labels, mut stars) = (Vec::new(), Vec::new(), Vec::new());
        for (position, quasi) in cohort.quasi.iter().enumerate() {
            let occurs: Vec<bool> = cohort.tuples.frequencies(position).iter().map(|&rows| rows > 0).collect();
            let scale = unit as f64 * quasi.weight / weights;
            let own = LabelColumn::new(quasi, &occurs, scale);
            let is_finer = cohort.dependencies.iter().any(|&(finer, _)| finer == position);
            let mut tree =
                if is_finer { Tree::with_top(&own.paths, 2 * unit) } else { Tree::new(&own.paths, 2 * unit) };
            stars.push(own.star.and_then(|star| tree.node_of(star)));
            // A column that reveals another is `*` wherever the other one is coarsened.
            let texts = cohort.tuples.dictionaries[position].texts();
            let own_ranges =
                cells(position).filter(|_| !is_finer).map(|cells| ColumnRanges::new(cells, &texts, &occurs));
            if let Some(ranges) = &own_ranges {
                tree.show_ranges(&ranges.of_value, |first, last| {
                    own.range_label(ranges.label(first, last), scale, 2 * unit)
                });
            }
            ranges.push(own_ranges);
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
        let mut table = PointTable { cohort, points, tuples: of_point, starts, labels, ranges };
        // Where every patient has one row, patients are counted like rows.
        let patients_add_up = tuples.patients.as_ref().is_none_or(|patients| patients.several() == 0);
        if !patients_add_up || !cohort.required.is_empty() {
            table.points.splits = false;
            let people = (0..table.points.len() as Point).map(|p| table.people(p) as u32).collect();
            table.points.people = people;
            table.points.most_points = most_points(cohort, &point_of);
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

    /// The classes with one level for each column, of the tuples that are kept. They show the lowest labels that
    /// their records share.
    pub fn at_levels(&self, levels: &[usize], kept: &[bool]) -> Grouping {
        let points = &self.points;
        let mut classes = NodeClasses::new(self.cohort);
        classes.count(levels);
        let mut members: Vec<Vec<Member>> = vec![Vec::new(); classes.rows().len()];
        let mut removed = Vec::new();
        for point in 0..points.len() as Point {
            let member = Member { point, rows: points.rows[point as usize] };
            // All tuples of a point are in one class, which is kept or removed as a whole.
            let Some(&tuple) = self.tuples(point).first() else { continue };
            match kept[tuple as usize] {
                true => members[classes.of_tuple()[tuple as usize] as usize].push(member),
                false => removed.push(member),
            }
        }
        members.retain(|own| !own.is_empty());
        Grouping { classes: members.into_iter().map(|own| Class::new(points, own)).collect(), removed }
    }

    /// The labels of a point with one level for each column.
    pub fn labels_at(&self, levels: &[usize], point: Point) -> Vec<Node> {
        let mut labels = self.points.nodes(point).to_vec();
        for (q, &level) in levels.iter().enumerate() {
            let place = self.points.place(q);
            let tree = &self.points.trees[place];
            let is_within = |&node: &Node| {
                let shown = self.labels[q].get(tree.key(node) as usize);
                shown.is_some_and(|shown| shown.level <= level)
            };
            let highest = tree.upwards(labels[place]).take_while(is_within).last();
            labels[place] = highest.unwrap_or(labels[place]);
        }
        labels
    }

    /// The people of these members. Where they are patients, points are whole.
    pub fn people_of(&self, members: &[Member]) -> u64 {
        match self.points.splits {
            true => members.iter().map(|member| u64::from(member.rows)).sum(),
            false => super::class_check::people(self.cohort, self.tuples_of(members)),
        }
    }

    /// The people of a point.
    fn people(&self, point: Point) -> u64 {
        super::class_check::people(self.cohort, self.tuples(point).iter().map(|&t| t as usize))
    }

    /// The labels of a class, by quasi-identifier.
    pub fn shown(&self, labels: &[Node]) -> Vec<ShownLabel> {
        self.points.keys(labels).iter().zip(&self.labels).map(|(&key, labels)| labels[key as usize]).collect()
    }

    /// The labels of a class as they are released, by quasi-identifier: labels of levels, or ranges inside them.
    pub fn released(&self, labels: &[Node]) -> Vec<ClassLabel> {
        let shown = self.shown(labels).into_iter().enumerate();
        shown.map(|(q, shown)| ClassLabel { shown, range: self.range(q, labels, shown) }).collect()
    }

    /// The range that a class shows in a column, if it shows one.
    fn range(&self, q: usize, labels: &[Node], held_by: ShownLabel) -> Option<ReleasedLabel> {
        let (ranges, place) = (self.ranges[q].as_ref()?, self.points.place(q));
        let (first, last) = self.points.trees[place].range_of(labels[place])?;
        let label = ranges.label(first, last)?;
        let is_inside = |cell: &Option<usize>| cell.is_some_and(|cell| (first..=last).contains(&cell));
        let frequencies = self.cohort.tuples.frequencies(q);
        let rows = ranges.of_value.iter().zip(frequencies).filter(|(cell, _)| is_inside(cell)).map(|own| own.1).sum();
        let top = self.cohort.quasi[q].hierarchy.levels.len() - 1;
        let height = held_by.level as f64 / top.max(1) as f64;
        Some(ReleasedLabel { text: label.text, loss: label.loss, height, rows })
    }
}

/// The most points that the tuples of one patient are in.
fn most_points(cohort: &Cohort, point_of: &[Point]) -> u32 {
    let Some(patients) = &cohort.tuples.patients else { return 1 };
    let points = |patient: usize| {
        let tuples = patients.tuples_of(patient).iter();
        tuples.map(|&tuple| point_of[tuple as usize]).collect::<BTreeSet<Point>>().len() as u32
    };
    (0..patients.several()).map(points).max().unwrap_or(1)
}

/// The permitted labels of one column.
struct LabelColumn<'a> {
    /// The key of each label.
    key_of: HashMap<&'a str, u32>,
    /// For each key: the label on the lowest level that has it.
    labels: Vec<ShownLabel>,
    /// For each value: the keys and costs of its labels, finest first. Empty for a value that does not occur.
    paths: Vec<Vec<PathLabel>>,
    /// The key of a suppressed cell.
    star: Option<u32>,
}

impl<'a> LabelColumn<'a> {
    /// Describes a range; one that cannot be written costs what is forbidden.
    fn range_label(&self, label: Option<Label>, scale: f64, forbidden: u64) -> RangeLabel {
        let Some(label) = label else { return RangeLabel { cost: forbidden, same_as: None } };
        let cost = (label.loss.clamp(0.0, 1.0) * scale).round() as u64;
        RangeLabel { cost, same_as: self.key_of.get(label.text.as_str()).copied() }
    }

    fn new(quasi: &'a Quasi, occurs: &[bool], scale: f64) -> LabelColumn<'a> {
        let mut column = LabelColumn { key_of: HashMap::new(), labels: Vec::new(), paths: Vec::new(), star: None };
        for (code, _) in occurs.iter().enumerate() {
            let mut path: Vec<PathLabel> = Vec::new();
            for &level in quasi.levels.iter().filter(|_| occurs[code]) {
                let own = &quasi.hierarchy.levels[level];
                let label = own.label_of[code];
                let Some(shown) = own.labels.get(label as usize) else { continue };
                let labels = &mut column.labels;
                let key = *column.key_of.entry(&shown.text).or_insert_with(|| {
                    labels.push(ShownLabel { level, label });
                    labels.len() as u32 - 1
                });
                if shown.text == SUPPRESSED {
                    column.star = Some(key);
                }
                if path.last().is_none_or(|last| last.key != key) {
                    path.push(PathLabel { key, cost: (shown.loss.clamp(0.0, 1.0) * scale).round() as u64 });
                }
            }
            column.paths.push(path);
        }
        column
    }
}
