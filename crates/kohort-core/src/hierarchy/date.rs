//! Levels of a date: `2010-03-14`, `2010-03`, `2010-Q1`, `2010`, `2010s`.

use crate::calendar::DateFormat;
use std::borrow::Cow;

/// The names of the levels below `*`.
pub(super) const LEVELS: [&str; 5] = ["day", "month", "quarter", "year", "decade"];

/// The labels of a date, level by level. No level shows the time of day.
pub(super) fn path<'v>(format: &DateFormat, value: &str) -> Option<Vec<Cow<'v, str>>> {
    let date = format.parse(value)?;
    let (year, month) = (date.year(), date.month());
    let mut day = Vec::new();
    date.push_iso(&mut day);
    let labels = [
        String::from_utf8(day).ok()?,
        format!("{year:04}-{month:02}"),
        format!("{year:04}-Q{}", date.quarter()),
        format!("{year:04}"),
        format!("{:03}0s", year / 10),
    ];
    Some(labels.map(Cow::Owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_five_levels() {
        let format = DateFormat::new("%Y-%m-%d").unwrap();
        assert_eq!(path(&format, "2010-03-14").unwrap(), ["2010-03-14", "2010-03", "2010-Q1", "2010", "2010s"]);
        assert_eq!(path(&format, "1999-12-31").unwrap(), ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990s"]);
        assert_eq!(path(&format, "0999-02-01").unwrap(), ["0999-02-01", "0999-02", "0999-Q1", "0999", "0990s"]);
    }
}
