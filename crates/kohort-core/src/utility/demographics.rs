//! The loss of the quasi-identifiers beside codes: what the labels of clusters show less than the original.

use crate::codes::Records;
use crate::release::ClusterNode;

/// The loss of quasi-identifiers, from 0 (as in the original) to 1 (fully general).
#[derive(Debug, Clone, PartialEq)]
pub struct DemographicLoss {
    /// The mean over all cells, columns weighted as the policy weights them.
    pub mean: f64,
    /// The mean of each column.
    pub columns: Vec<(String, f64)>,
}

/// Measures the labels of clusters whose records are known; nothing where the patients have no quasi-identifiers.
pub fn demographic_loss(records: &Records, nodes: &[ClusterNode]) -> Option<DemographicLoss> {
    let own = records.demographics.as_deref()?;
    let mut sums = vec![0.0; own.quasi.len()];
    let mut patients = 0u64;
    for cluster in nodes.iter().flat_map(ClusterNode::leaves) {
        for &record in &cluster.records {
            let tuple = records.tuple(record as usize)?;
            patients += 1;
            for (((quasi, &value), cell), sum) in
                own.quasi.iter().zip(own.tuples.codes(tuple)).zip(&cluster.cells).zip(&mut sums)
            {
                // A cell that is none of the patient's labels tells nothing true.
                *sum += quasi.label_shown(value, cell).map_or(1.0, |label| label.loss);
            }
        }
    }
    let weights: f64 = own.quasi.iter().map(|quasi| quasi.weight).sum();
    let means: Vec<f64> = sums.iter().map(|sum| sum / patients.max(1) as f64).collect();
    let weighted = own.quasi.iter().zip(&means).map(|(quasi, mean)| quasi.weight * mean);
    Some(DemographicLoss {
        mean: weighted.sum::<f64>() / weights.max(f64::MIN_POSITIVE),
        columns: own.quasi.iter().map(|quasi| quasi.name.clone()).zip(means.iter().copied()).collect(),
    })
}
