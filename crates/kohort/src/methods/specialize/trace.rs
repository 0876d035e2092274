//! The steps of a run, as the evidence shows them.

use super::pais::{Pais, Step};
use serde_json::{Value, json};

impl Pais<'_> {
    /// Lists the steps. A value that only suppressed rows had is not named.
    pub(super) fn trace(&self) -> Vec<Value> {
        let may_suppress = self.params.max_suppressed.of(self.cohort.tuples.rows) > 0;
        let step = |(number, step): (usize, &Step)| {
            let q = step.candidate.column;
            let nodes = &self.columns[q].nodes;
            let is_released = |node: usize| self.histograms[q].rows(&nodes[node].leaves) > 0;
            let into = step.children.iter().filter(|&&c| is_released(c)).map(|&c| nodes[c].name.as_str());
            let mut value = json!({
                "step": number + 1,
                "column": self.cohort.quasi[q].name,
                "value": if is_released(step.candidate.node) { &step.candidate.name } else { "" },
                "into": into.collect::<Vec<_>>(),
                "score": step.candidate.score.gain,
                "rows": step.candidate.rows,
                "invalid": step.blocked,
            });
            if let Some(point) = &step.point {
                value["at"] = json!(point);
            }
            if may_suppress {
                value["suppressed"] = json!(step.suppressed);
            }
            value
        };
        self.steps.iter().enumerate().map(step).collect()
    }
}
