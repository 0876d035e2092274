//! The cells that do not show the most frequent label of their column, and the points of each label.

use super::label_points::LabelPoints;
use crate::local::cells::failing::Shown;
use kohort_core::parallel;

/// The number of a label that nobody shows.
pub(super) const NOBODY: u32 = u32::MAX;

/// Points whose labels one thread lists before it takes more.
const POINTS: usize = 4096;

/// The columns in the order in which sets are counted: those with most less frequent cells first. Columns that show one
/// label tell nothing: they drop out, unless there are no three others.
pub(super) fn order(shown: &Shown, threads: usize) -> Vec<usize> {
    let shown_columns: Vec<usize> = (0..shown.codes.len()).filter(|&column| shown.widths[column] > 0).collect();
    let mut columns: Vec<(usize, usize)> = parallel::map(threads, shown_columns.len(), |place| {
        (most_frequent(shown, shown_columns[place]).1, shown_columns[place])
    });
    columns.sort_unstable();
    let several = columns.iter().filter(|own| shown.widths[own.1] > 1).count();
    columns.truncate(several.max(3));
    columns.into_iter().map(|own| own.1).collect()
}

/// The most frequent code of a column, and how many points show it.
fn most_frequent(shown: &Shown, column: usize) -> (u32, usize) {
    let mut counts = vec![0usize; shown.widths[column]];
    shown.codes[column].iter().for_each(|&code| counts[code as usize] += 1);
    let most = (0..counts.len()).max_by_key(|&code| (counts[code], std::cmp::Reverse(code))).unwrap_or(0);
    (most as u32, counts.get(most).copied().unwrap_or(0))
}

/// The cells that do not show the most frequent label of their column.
pub(super) struct LessFrequent<'a> {
    pub shown: &'a Shown<'a>,
    /// The columns, in the order of [`order`].
    pub columns: Vec<usize>,
    /// The most frequent code of each of them.
    pub most_frequent: Vec<u32>,
    /// The first label number of each of them, and one past the last.
    pub starts: Vec<u32>,
    /// The place in `columns` of each label number.
    pub column_of: Vec<u32>,
    /// The label numbers of each point, ascending.
    pub labels: Vec<Vec<u32>>,
    /// The points of each label, also of the most frequent ones.
    pub points_of: Vec<LabelPoints>,
}

impl<'a> LessFrequent<'a> {
    pub fn new(shown: &'a Shown<'a>, order: &[usize], threads: usize) -> LessFrequent<'a> {
        let columns: Vec<(usize, u32)> =
            parallel::map(threads, order.len(), |place| (order[place], most_frequent(shown, order[place]).0));
        let mut starts = vec![0];
        let mut column_of = Vec::new();
        for (place, &(column, _)) in (0..).zip(&columns) {
            column_of.resize(column_of.len() + shown.widths[column], place);
            starts.push(column_of.len() as u32);
        }
        let labels = |point: usize| {
            let cells = columns.iter().zip(&starts).map(|(&(column, most), &start)| {
                let code = shown.codes[column][point];
                (code != most).then_some(start + code)
            });
            cells.flatten().collect::<Vec<u32>>()
        };
        let points = shown.points.len();
        let labels = parallel::map(threads, points.div_ceil(POINTS), |part| {
            (part * POINTS..points.min((part + 1) * POINTS)).map(labels).collect::<Vec<_>>()
        });
        let points_of = parallel::map(threads, columns.len(), |place| {
            let column = columns[place].0;
            LabelPoints::of_labels(&shown.codes[column], shown.widths[column]).collect::<Vec<_>>()
        });
        LessFrequent {
            shown,
            labels: labels.into_iter().flatten().collect(),
            points_of: points_of.into_iter().flatten().collect(),
            most_frequent: columns.iter().map(|own| own.1).collect(),
            columns: order.to_vec(),
            starts,
            column_of,
        }
    }

    /// The label number of each node, by place; [`NOBODY`] where nobody shows it.
    pub fn label_of_node(&self) -> Vec<Vec<u32>> {
        let cells = self.shown.cells;
        let numbers = self.columns.iter().zip(&self.starts).map(|(&column, &start)| {
            let mut numbers = vec![NOBODY; cells.points.trees[column].len()];
            for (&point, &code) in self.shown.points.iter().zip(&self.shown.codes[column]) {
                numbers[cells.row(point)[column] as usize] = start + code;
            }
            numbers
        });
        numbers.collect()
    }

    pub fn labels_of(&self, place: usize) -> impl Iterator<Item = usize> {
        self.starts[place] as usize..self.starts[place + 1] as usize
    }
}
