//! How long each stage took.

use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, Place, figure};
use super::table::{NOTHING, section};
use crate::evidence::metrics::Timing;

/// How long each stage took.
pub(super) fn timing(timing: &Place<Option<Timing>>) -> String {
    let table = timing.some().map_or(NOTHING.into(), |own| {
        let stage = |figure: Figure, name: &'static str, read: &'static str| (figure, name, Shown::Seconds, read);
        let stages = [
            stage(
                figure!(own, read),
                "read",
                "Reading the original; one pass together with counting, so both have the same time.",
            ),
            stage(figure!(own, count), "count", "Counting its combinations of values."),
            stage(figure!(own, method), "method", "Deciding what changes."),
            stage(figure!(own, write), "write", "Writing the release."),
            stage(figure!(own, verify), "verify", "Reading it back and recounting it."),
            stage(figure!(own, sample), "sample", "Drawing samples."),
            stage(figure!(own, total), "total", "All of it."),
        ];
        facts(["Stage", "Time"], stages)
    });
    section("How long it took", &table)
}
