//! The evidence about a release: its risk and utility before and after.

mod board;
mod checks;
pub mod codes;
mod distributions;
pub mod events;
pub mod metrics;
mod outlook;
mod people;
mod public_use;
mod regression;
mod stopwatch;
mod synthetic;
pub mod table;
mod utility;

pub(crate) use checks::compare as compare_checks;
pub use metrics::Metrics;
pub use outlook::{CodesErrors, CodesOutlook, Outlook, TableOutlook, outlook};
pub use people::worst_sets;
pub use public_use::{attacks, baseline_fits, formula_note};
pub use stopwatch::{Stage, Stopwatch};

/// Writes the notes that the numbers give reason for.
pub fn notes(metrics: &Metrics) -> Vec<String> {
    match metrics {
        Metrics::Table(own) => {
            [public_use::notes(own), own.counterfeits.as_ref().map_or(Vec::new(), synthetic::warnings)].concat()
        }
        Metrics::Codes(_) | Metrics::Events(_) => Vec::new(),
    }
}
