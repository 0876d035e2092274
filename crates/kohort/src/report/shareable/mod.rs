//! metrics.json → what of it may be shown to others: no count of 1 to 10 people of the original, and none that can be
//! computed from what is shown.
//!
//! The content of release/ is taken to be known: counts of it are not hidden, and nothing is hidden behind them.
//!
//! Every struct is taken apart to its last field: a new field does not compile until somebody decided here whether
//! others may see it.

pub(crate) mod cells;
mod codes;
mod events;
mod hide;
mod table;
#[cfg(test)]
mod tests;

use crate::evidence::Metrics;
pub(crate) use hide::two;

/// Returns what of the metrics may be shown to others.
pub(crate) fn shareable(metrics: Metrics) -> Metrics {
    match metrics {
        Metrics::Table(own) => Metrics::Table(Box::new(table::shareable(*own))),
        Metrics::Codes(own) => Metrics::Codes(Box::new(codes::shareable(*own))),
        Metrics::Events(own) => Metrics::Events(Box::new(events::shareable(*own))),
    }
}
