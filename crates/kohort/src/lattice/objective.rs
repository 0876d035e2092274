//! The objective that the best node minimizes.
//!
//! Costs are whole numbers, so that sums do not depend on their order: a cell that is lost
//! entirely costs about 2⁶² / (rows × columns), everything else in proportion. Each level adds 1 to a
//! cell, so that of equally good nodes the finer one is best: a column of one value stays as it is.

use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::SUPPRESSED;

/// The cost that is minimized over all nodes that meet the requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Mean share of leaves a cell no longer tells apart.
    Loss,
    /// Mean share of the way to `*`: 1 − precision.
    Precision,
    /// Mean bits lost about a cell, by the frequencies of its values.
    Entropy,
    /// Sum of squared class sizes; a deleted record costs the table's size.
    Discernibility,
    /// Rows divided by classes.
    ClassSize,
}

impl Objective {
    /// Names in policies.
    pub const NAMES: [(&'static str, Objective); 5] = [
        ("loss", Objective::Loss),
        ("precision", Objective::Precision),
        ("entropy", Objective::Entropy),
        ("discernibility", Objective::Discernibility),
        ("class_size", Objective::ClassSize),
    ];

    /// Its name in policies.
    pub fn name(self) -> &'static str {
        Objective::NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }

    /// Returns whether it is a sum over cells: then [`Costs`] decide.
    pub fn is_separable(self) -> bool {
        matches!(self, Objective::Loss | Objective::Precision | Objective::Entropy)
    }
}

/// The cost of a row's cell, by column, level and value; and the cost if the record is deleted.
#[derive(Debug, Clone)]
pub struct Costs {
    /// `[column][level][code]`.
    pub cell: Vec<Vec<Vec<u64>>>,
    /// `[column][code]`, at least as much as on any level.
    pub deleted: Vec<Vec<u64>>,
}

impl Costs {
    /// The costs of a separable objective, all levels of each hierarchy included.
    pub fn new(cohort: &Cohort, objective: Objective) -> Costs {
        let columns = cohort.quasi.len();
        let cells = cohort.tuples.rows as f64 * columns as f64;
        let unit = (2f64.powi(62) / cells).min(2f64.powi(40));
        let weights: f64 = cohort.quasi.iter().map(|q| q.weight).sum();
        let (mut cell, mut deleted) = (Vec::new(), Vec::new());
        for (position, quasi) in cohort.quasi.iter().enumerate() {
            let levels = &quasi.hierarchy.levels;
            let scale = unit * quasi.weight / weights;
            let frequencies = cohort.tuples.frequencies(position);
            let total: u64 = frequencies.iter().sum();
            // At most log2(rows) bits can be lost about a cell.
            let bits = (total as f64).log2().max(1.0);
            let fixed = |share: f64| (share.clamp(0.0, 1.0) * scale).round() as u64;
            let lost = |code: usize, left: u64| match frequencies[code] {
                0 => 0.0,
                own => (left as f64 / own as f64).log2() / bits,
            };
            cell.push(
                levels
                    .iter()
                    .enumerate()
                    .map(|(l, level)| {
                        let mut sums = vec![0u64; level.labels.len()];
                        level.label_of.iter().zip(frequencies).for_each(|(&g, f)| sums[g as usize] += f);
                        let share = |code: usize| {
                            let label = level.label_of[code] as usize;
                            // A value the hierarchy does not cover is `*` on every level, and costs what `*` costs.
                            let gone = level.labels[label].text == SUPPRESSED;
                            match objective {
                                Objective::Precision if gone => 1.0,
                                Objective::Precision => l as f64 / (levels.len() - 1) as f64,
                                Objective::Entropy if gone => lost(code, total),
                                Objective::Entropy => lost(code, sums[label]),
                                _ => level.labels[label].loss,
                            }
                        };
                        (0..level.label_of.len()).map(|code| fixed(share(code)) + l as u64).collect()
                    })
                    .collect::<Vec<Vec<u64>>>(),
            );
            let gone = |code: usize| match objective {
                Objective::Entropy => lost(code, total),
                _ => 1.0,
            };
            deleted.push((0..frequencies.len()).map(|code| fixed(gone(code)) + levels.len() as u64).collect());
        }
        Costs { cell, deleted }
    }
}
