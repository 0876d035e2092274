//! The labels of the events of a table: in one column, or in all columns together.

use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::table::Keys;

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

    /// Whole events of a table: the same number for events that are the same in all its columns.
    pub(crate) fn of_events(histories: &Histories, levels: &[usize], table: usize) -> EventLabels {
        let columns: Vec<usize> = histories.columns_of(table).collect();
        EventLabels::of_columns(histories, levels, &columns)
    }

    /// The same number for events that are the same in these columns, which are of one table.
    pub(crate) fn of_columns(histories: &Histories, levels: &[usize], columns: &[usize]) -> EventLabels {
        let table = columns.first().map_or(0, |&c| histories.event[c].table);
        let mut keys = Keys::new(columns.len());
        let mut key = vec![0; columns.len()];
        let number = |e: usize| {
            for (slot, &c) in key.iter_mut().zip(columns) {
                *slot = histories.event[c].label(levels[c], e);
            }
            keys.intern(&key)
        };
        let of: Vec<u32> = (0..histories.tables[table].len()).map(number).collect();
        EventLabels { table, of, distinct: keys.len() }
    }
}
