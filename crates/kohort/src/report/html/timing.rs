//! How long each stage took.

use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, figure};
use super::table::{NOTHING, section};
use crate::evidence::metrics::Timing;

/// Shows how long each stage took.
pub(super) fn timing(timing: &MetricsPlace<Option<Timing>>) -> String {
    let table = timing.some().map_or(NOTHING.into(), |own| {
        let stage = |figure: Figure, name: &'static str, read: &'static str| (figure, name, Shown::Seconds, read);
        let stages = [
            stage(
                figure!(own, read),
                "read",
                "Reading the original. Reading and counting are one pass, so both show the same time.",
            ),
            stage(figure!(own, count), "count", "Counting its combinations of values."),
            stage(figure!(own, method), "method", "Choosing what to change."),
            stage(figure!(own, write), "write", "Writing the release."),
            stage(figure!(own, verify), "verify", "Reading the release and counting the guarantee again."),
            stage(figure!(own, sample), "sample", "Drawing samples."),
            stage(figure!(own, total), "total", "All stages."),
        ];
        facts(["Stage", "Time"], stages)
    });
    section("How long it took", &table)
}
