//! The steps of a run, as the evidence shows them.

use super::pais::{Pais, Specialization};
use kohort_core::release::TraceStep;

impl Pais<'_> {
    /// Lists the steps. A value that only suppressed rows had is not named.
    pub(super) fn trace(&self) -> Vec<TraceStep> {
        let may_suppress = self.params.max_suppressed.of(self.cohort.tuples.rows) > 0;
        let step = |(number, step): (usize, &Specialization)| {
            let q = step.candidate.column;
            let nodes = &self.columns[q].nodes;
            let is_released = |node: usize| self.histograms[q].rows(&nodes[node].leaves) > 0;
            let into = step.children.iter().filter(|&&c| is_released(c)).map(|&c| nodes[c].name.clone());
            TraceStep {
                step: number + 1,
                column: self.cohort.quasi[q].name.clone(),
                value: if is_released(step.candidate.node) { step.candidate.name.clone() } else { String::new() },
                into: into.collect(),
                score: step.candidate.score.gain,
                rows: step.candidate.rows,
                invalid: step.blocked,
                at: step.point.clone(),
                suppressed: may_suppress.then_some(step.suppressed),
            }
        };
        self.steps.iter().enumerate().map(step).collect()
    }
}
