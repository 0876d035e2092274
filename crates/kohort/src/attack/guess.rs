//! Naive Bayes over columns of numbers: what is learned from some rows, and the likeliest value.

/// How often each value of a target column occurs with each value of other columns.
pub(super) struct Learned {
    /// One entry per value of the target: rows.
    pub(super) prior: Vec<f64>,
    /// By column, then by its value, then by value of the target: rows.
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
        let score = |value: usize| {
            let prior = self.prior[value];
            let of_columns =
                self.beside.iter().zip(seen).filter(|(_, seen)| seen.contains(&true)).map(|(column, seen)| {
                    let with: f64 =
                        column.iter().zip(*seen).filter(|(_, s)| **s).map(|(counts, _)| counts[value]).sum();
                    ((with + 0.5) / (prior + 1.0)).ln()
                });
            prior.ln() + of_columns.sum::<f64>()
        };
        let values = (0..self.prior.len()).filter(|&v| self.prior[v] > 0.0 && may(v));
        values.map(|v| (score(v), v)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, v)| v)
    }
}
