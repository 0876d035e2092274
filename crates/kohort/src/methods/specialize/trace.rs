//! The steps of a run, as the evidence shows them.

use super::pais::{Pais, Specialization};
use kohort_core::release::TraceStep;

impl Pais<'_> {
    /// Lists the steps, each with what it leaves to be lost. A value that only suppressed rows had is not
    /// named.
    pub(super) fn trace(&self) -> Vec<TraceStep> {
        let may_suppress = self.params.max_suppressed.of(self.cohort.tuples.rows) > 0;
        let mut lost: f64 = (0..self.columns.len())
            .map(|q| self.columns[q].roots.iter().map(|&root| self.lost(q, root)).sum::<f64>())
            .sum();
        let cells = (self.cohort.tuples.rows - self.suppressed) as f64 * self.columns.len() as f64;
        let step = |(number, step): (usize, &Specialization)| {
            let q = step.candidate.column;
            let nodes = &self.columns[q].nodes;
            let is_released = |node: usize| self.histograms[q].rows(&nodes[node].leaves) > 0;
            let into = step.children.iter().filter(|&&c| is_released(c)).map(|&c| nodes[c].name.clone());
            lost -= self.lost(q, step.candidate.node) - step.children.iter().map(|&c| self.lost(q, c)).sum::<f64>();
            TraceStep {
                step: number + 1,
                column: self.cohort.quasi[q].name.clone(),
                value: if is_released(step.candidate.node) { step.candidate.name.clone() } else { String::new() },
                into: into.collect(),
                score: step.candidate.score.gain,
                rows: step.candidate.rows,
                invalid: step.blocked,
                at: step.point.clone(),
                loss: Some((lost / cells.max(1.0)).clamp(0.0, 1.0)),
                suppressed: may_suppress.then_some(step.suppressed),
            }
        };
        self.steps.iter().enumerate().map(step).collect()
    }

    /// The loss over all rows that show a value.
    fn lost(&self, q: usize, node: usize) -> f64 {
        let own = &self.columns[q].nodes[node];
        self.histograms[q].rows(&own.leaves) as f64 * own.label.loss
    }
}
