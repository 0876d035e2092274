//! The labels of events in a column.

use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::parallel;

/// A label for each event of a table.
pub(crate) struct EventLabels {
    /// The table.
    pub(crate) table: usize,
    pub(crate) of: Vec<u32>,
    /// The number of different labels.
    pub(crate) distinct: usize,
}

impl EventLabels {
    /// Those of a column at a level.
    pub(crate) fn of_column(column: &QuasiColumn, level: usize) -> EventLabels {
        let own = column.level(level);
        let of = column.codes.iter().map(|&code| own.label_of[code as usize]).collect();
        EventLabels { table: column.table, of, distinct: own.labels.len() }
    }

    /// Those of all event columns, each at its level.
    pub(crate) fn of_columns(histories: &Histories, levels: &[usize], threads: usize) -> Vec<EventLabels> {
        parallel::map(threads, levels.len(), |c| EventLabels::of_column(&histories.event[c], levels[c]))
    }
}
