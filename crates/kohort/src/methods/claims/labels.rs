//! The labels of events: in one column, or in all columns together.

use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::table::Keys;

/// A label for each event.
pub(crate) struct EventLabels {
    pub(crate) of: Vec<u32>,
    /// The number of different labels.
    pub(crate) distinct: usize,
}

impl EventLabels {
    /// Those of a column at a level.
    pub(crate) fn of_column(column: &QuasiColumn, level: usize) -> EventLabels {
        let own = column.level(level);
        let of = column.codes.iter().map(|&code| own.label_of[code as usize]).collect();
        EventLabels { of, distinct: own.labels.len() }
    }

    /// Whole events: the same number for events that are the same in all columns.
    pub(crate) fn of_events(histories: &Histories, levels: &[usize]) -> EventLabels {
        let mut keys = Keys::new(levels.len());
        let mut key = vec![0; levels.len()];
        let number = |e: usize| {
            for (slot, (column, &level)) in key.iter_mut().zip(histories.event.iter().zip(levels)) {
                *slot = column.label(level, e);
            }
            keys.intern(&key)
        };
        let of: Vec<u32> = (0..histories.events()).map(number).collect();
        EventLabels { of, distinct: keys.len() }
    }
}
