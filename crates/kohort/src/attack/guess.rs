//! Naive Bayes over columns of numbers: what is learned from some rows, and the likeliest value.

/// How often each value of a target column occurs with each value of other columns.
pub(super) struct Learned {
    /// One entry per value of the target: rows.
    pub(super) prior: Vec<f64>,
    /// Rows by column, then by its value, then by value of the target.
    beside: Vec<Vec<Vec<f64>>>,
}

impl Learned {
    /// Nothing yet: so many values of the target, and of each column.
    pub(super) fn new(target: usize, columns: &[usize]) -> Learned {
        let beside = columns.iter().map(|&n| vec![vec![0.0; target]; n]).collect();
        Learned { prior: vec![0.0; target], beside }
    }

    /// A row.
    pub(super) fn learn(&mut self, target: u32, row: &[u32]) {
        self.prior[target as usize] += 1.0;
        for (column, &value) in self.beside.iter_mut().zip(row) {
            column[value as usize][target as usize] += 1.0;
        }
    }

    /// The likeliest of the values that `may` holds of: `seen` says for each column which of its
    /// values may be there; a column without any tells nothing.
    pub(super) fn likeliest(&self, seen: &[&[bool]], may: impl Fn(usize) -> bool) -> Option<usize> {
        let rows: f64 = self.prior.iter().sum();
        let counts_of = |column: &Vec<Vec<f64>>, seen: &[bool], count: &dyn Fn(&Vec<f64>) -> f64| -> f64 {
            column.iter().zip(seen).filter(|(_, seen)| **seen).map(|(counts, _)| count(counts)).sum()
        };
        let telling: Vec<_> = self
            .beside
            .iter()
            .zip(seen)
            .filter(|(_, seen)| seen.contains(&true))
            .map(|(column, seen)| (column, *seen, counts_of(column, seen, &|counts| counts.iter().sum())))
            .collect();
        let score = |value: usize| {
            let prior = self.prior[value];
            // One more row is imagined, with the column's values as all rows have them: a rare target value whose
            // few rows do not have them becomes less likely, and not more.
            let of_columns = telling.iter().map(|(column, seen, all)| {
                let with = counts_of(column, seen, &|counts| counts[value]);
                ((with + (all + 1.0) / (rows + 1.0)) / (prior + 1.0)).ln()
            });
            prior.ln() + of_columns.sum::<f64>()
        };
        let values = (0..self.prior.len()).filter(|&v| self.prior[v] > 0.0 && may(v));
        values.map(|v| (score(v), v)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, v)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With half a row for whatever was not seen, every value that occurs once beat the one that is likely.
    #[test]
    fn a_value_that_occurs_once_is_not_guessed_because_it_was_never_seen() {
        let mut learned = Learned::new(42, &[100]);
        for row in 0..1000u32 {
            learned.learn(row % 2, &[row % 100]);
        }
        (2..42).for_each(|rare| learned.learn(rare, &[0]));
        let seen: Vec<bool> = (0..100).map(|label| label == 50).collect();
        assert_eq!(learned.likeliest(&[&seen], |_| true), Some(0));
        let seen: Vec<bool> = (0..100).map(|label| label == 51).collect();
        assert_eq!(learned.likeliest(&[&seen], |_| true), Some(1));
    }
}
