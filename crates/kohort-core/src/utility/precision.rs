//! Precision (Sweeney 2002): how far cells are from `*`.

use crate::cohort::Cohort;
use crate::release::Plan;

/// 1 − the mean over cells of level / height; a deleted record counts as `*` throughout.
pub fn precision(cohort: &Cohort, plan: &Plan) -> f64 {
    1.0 - super::loss::mean(cohort, plan, |label| label.height)
}
