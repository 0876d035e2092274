//! Ranges of categories, and the tables that list them.

/// A run of categories with a title.
#[derive(Debug, PartialEq, Eq)]
pub struct Range {
    /// Its first category.
    pub start: &'static str,
    /// Its last category.
    pub end: &'static str,
    /// The label in releases: `249-259`, also where start and end are one category.
    pub label: String,
    /// The subject.
    pub title: &'static str,
}

impl Range {
    /// Returns whether a category lies in the range. `V` and `E` codes lie in no range of numbers.
    pub fn holds(&self, category: &str) -> bool {
        self.start.len() == category.len() && self.start <= category && category <= self.end
    }
}

/// Reads a table `start;end;title` with a header line. Where ranges overlap, the first one holds.
pub(super) fn read(table: &'static str) -> Vec<Range> {
    let range = |line: &'static str| {
        let (start, rest) = line.split_once(';')?;
        let (end, title) = rest.split_once(';')?;
        Some(Range { start, end, label: format!("{start}-{end}"), title })
    };
    table.lines().skip(1).filter_map(range).collect()
}
