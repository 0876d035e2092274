//! Days of a stay: the day, groups as the Heritage Health Prize has them, spans, weeks.

use std::borrow::Cow;

/// The levels below `*`.
pub(super) const LEVELS: [&str; 4] = ["day", "group", "span", "week"];

/// States where groups and spans begin; the last has no end.
const GROUPS: [u64; 12] = [0, 2, 3, 4, 5, 6, 7, 14, 28, 56, 84, 182];
const SPANS: [u64; 4] = [0, 4, 7, 14];
const WEEKS: [u64; 2] = [0, 7];

/// The labels of a whole number of days; nothing for what is none, or negative.
pub(super) fn path<'v>(value: &str) -> Option<Vec<Cow<'v, str>>> {
    let is_number = !value.is_empty() && value.len() <= 9 && value.bytes().all(|b| b.is_ascii_digit());
    let days: u64 = is_number.then(|| value.parse().ok())??;
    Some(vec![
        Cow::Owned(days.to_string()),
        Cow::Owned(within(&GROUPS, days)),
        Cow::Owned(within(&SPANS, days)),
        Cow::Owned(within(&WEEKS, days)),
    ])
}

fn within(starts: &[u64], days: u64) -> String {
    let after = starts.partition_point(|&start| start <= days);
    let start = starts[after - 1];
    match starts.get(after) {
        Some(&end) if end == start + 1 => start.to_string(),
        Some(end) => format!("[{start},{end})"),
        None => format!(">={start}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;

    #[test]
    fn a_stay_has_its_day_group_span_and_week() {
        for (days, labels) in [
            ("0", ["0", "[0,2)", "[0,4)", "[0,7)"]),
            ("1", ["1", "[0,2)", "[0,4)", "[0,7)"]),
            ("6", ["6", "6", "[4,7)", "[0,7)"]),
            ("007", ["7", "[7,14)", "[7,14)", ">=7"]),
            ("181", ["181", "[84,182)", ">=14", ">=7"]),
            ("182", ["182", ">=182", ">=14", ">=7"]),
        ] {
            assert_eq!(path(days).unwrap(), labels);
        }
        for wrong in ["-1", "", "1.5", "x", "9999999999"] {
            assert_eq!(path(wrong), None, "{wrong}");
        }
        let values: Vec<String> = std::iter::once(String::new()).chain((0..400).map(|d| d.to_string())).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).chain(["007"]).collect();
        assert!(Rule::Stay.apply(&values, true).is_consistent());
    }
}
