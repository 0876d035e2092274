//! How useful a table's release is.

use super::metrics::{AnalystError, AssociatedPair, Association, Classification, ColumnUtility, RangeError, Utility};
use kohort_core::cohort::Cohort;
use kohort_core::release::Plan;
use kohort_core::utility;

/// More pairs of columns than this are not listed.
const MOST_PAIRS: usize = 10;

/// Measures it. Bits lost, errors of counts and distances between distributions are about details as well.
pub(super) fn measure(cohort: &Cohort, plan: &Plan) -> Utility {
    let rows = cohort.tuples.rows as f64;
    let discernibility = utility::discernibility(cohort, plan);
    let reconstruction = utility::reconstruction(cohort, plan);
    let all = cohort.with_details();
    let with_details = utility::reconstruction(&all, plan);
    let published = utility::PublishedCounts::new(&all, plan);
    let error = utility::query_error(&published);
    let ranges = utility::range_error(&published);
    let analyst = utility::analyst_error(&published);
    let distances = utility::distribution_distance(&published);
    let associations = utility::associations(&all, plan);
    let by_column = all.quasi.iter().enumerate().map(|(q, quasi)| {
        let own = associations.iter().filter(|a| a.columns.0 == q || a.columns.1 == q);
        let column = ColumnUtility {
            rce: with_details.by_column[q],
            query_error: error.by_column[q],
            distribution: distances[q],
            association_change: mean(own.map(utility::Association::change)),
        };
        (quasi.name.clone(), column)
    });
    Utility {
        loss: utility::loss(cohort, plan),
        precision: utility::precision(cohort, plan),
        discernibility: Some(discernibility),
        discernibility_ratio: discernibility / (rows * rows),
        average_class_size: Some(utility::average_class_size(cohort, plan)),
        entropy: Some(utility::entropy(&all, plan)),
        rce: Some(reconstruction.attribute),
        rce_joint: Some(reconstruction.joint),
        range_error: Some(RangeError { mean: ranges.mean, median: ranges.median, queries: ranges.queries }),
        analyst_error: analyst.map(|own| AnalystError {
            counts: own.counts,
            averages: own.averages,
            questions: own.questions,
        }),
        by_column: by_column.collect(),
        distribution: mean(distances.iter().copied()),
        association: association(&all, &associations),
        query_error: (1..)
            .zip(&error.by_number)
            .map(|(number, error): (usize, _)| (number.to_string(), *error))
            .collect(),
        classification: utility::classification(cohort, plan).map(|c| Classification {
            column: c.column,
            learned: Some(c.learned),
            foretold: Some(c.predicted),
            baseline_error: c.baseline_error,
            error: c.error,
            upper_bound_error: c.upper_bound_error,
        }),
        baseline: None,
        loss_with_counterfeits: None,
    }
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// How association changed: on average, and the pairs where it changed most.
fn association(cohort: &Cohort, all: &[utility::Association]) -> Option<Association> {
    let change = mean(all.iter().map(utility::Association::change))?;
    let mut most: Vec<&utility::Association> = all.iter().collect();
    most.sort_by(|a, b| b.change().total_cmp(&a.change()).then(a.columns.cmp(&b.columns)));
    let name = |q: usize| cohort.quasi[q].name.clone();
    let pairs = most.iter().take(MOST_PAIRS).map(|a| AssociatedPair {
        columns: [name(a.columns.0), name(a.columns.1)],
        before: a.before,
        after: a.after,
    });
    Some(Association { change, measured: all.len(), pairs: pairs.collect() })
}
