//! Numbers as people read them.

use super::place::Figure;
use kohort_core::number as digits;

/// Describes how a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// With thousands separators, and one decimal if it is not whole.
    Count,
    /// A share, as a percentage with one decimal.
    Percent,
    /// With this number of decimals.
    Decimals(usize),
    /// A duration in seconds.
    Seconds,
}

impl Shown {
    /// The number as text. What is not zero is not shown as zero, and what is not all is not shown as all.
    pub(super) fn text(self, x: f64) -> String {
        match self {
            Shown::Count if x.fract() == 0.0 => grouped(x, 0),
            Shown::Count => grouped(x, 1),
            Shown::Percent if x > 0.0 && x < 0.001 => "< 0.1\u{a0}%".into(),
            Shown::Percent if x > 0.999 && x < 1.0 => "> 99.9\u{a0}%".into(),
            Shown::Percent => format!("{}\u{a0}%", grouped(x * 100.0, 1)),
            Shown::Decimals(places) => grouped(x, places),
            Shown::Seconds if x > 0.0 && x < 0.001 => "< 0.001\u{a0}s".into(),
            Shown::Seconds => format!("{}\u{a0}s", grouped(x, 3)),
        }
    }
}

/// A number with its noun, in the singular or the plural: "1 row", "2 rows".
pub(super) fn counted(figure: &Figure, [one, many]: [&str; 2]) -> String {
    format!("{} {}", figure.show(Shown::Count), if figure.number() == Some(1.0) { one } else { many })
}

/// Rounded to this number of decimals, its whole part grouped by thousands.
fn grouped(x: f64, places: usize) -> String {
    let text = format!("{:.places$}", x.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}{}{rest}", digits::grouped(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_rounded() {
        for (shown, x, expected) in [
            (Shown::Count, 0.0, "0"),
            (Shown::Count, 999.0, "999"),
            (Shown::Count, 1_234_567.0, "1,234,567"),
            (Shown::Count, 234_820.599, "234,820.6"),
            (Shown::Percent, 0.30243, "30.2\u{a0}%"),
            (Shown::Percent, 0.0, "0.0\u{a0}%"),
            (Shown::Percent, 0.0004, "< 0.1\u{a0}%"),
            (Shown::Percent, 0.9999, "> 99.9\u{a0}%"),
            (Shown::Percent, 1.0, "100.0\u{a0}%"),
            (Shown::Decimals(4), 0.67784, "0.6778"),
            (Shown::Seconds, 0.0000004, "< 0.001\u{a0}s"),
            (Shown::Seconds, 1234.5, "1,234.500\u{a0}s"),
            (Shown::Count, -1500.0, "−1,500"),
        ] {
            assert_eq!(shown.text(x), expected);
        }
    }
}
