//! Reads the number out of a text: `87 years` is 87, `> 89` is `>=90`.

use crate::number::Decimal;

/// A number found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    /// The number as a cell: `87`, or with one open end `>=90`, `<5`, `>1.5`, `<=2.5`.
    pub(super) text: String,
    /// The word after the number in lower case: `years`. Empty where there is none.
    pub(super) unit: String,
}

/// Describes what stands before a number with an open end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    AtLeast,
    Above,
    AtMost,
    Below,
}

const BEFORE: [(&str, Bound); 18] = [
    (">=", Bound::AtLeast),
    ("=>", Bound::AtLeast),
    ("≥", Bound::AtLeast),
    ("at least ", Bound::AtLeast),
    (">", Bound::Above),
    ("over ", Bound::Above),
    ("above ", Bound::Above),
    ("more than ", Bound::Above),
    ("older than ", Bound::Above),
    ("<=", Bound::AtMost),
    ("=<", Bound::AtMost),
    ("≤", Bound::AtMost),
    ("at most ", Bound::AtMost),
    ("up to ", Bound::AtMost),
    ("<", Bound::Below),
    ("under ", Bound::Below),
    ("below ", Bound::Below),
    ("less than ", Bound::Below),
];

const AFTER: [(&str, Bound); 8] = [
    ("+", Bound::AtLeast),
    (" or more", Bound::AtLeast),
    (" or older", Bound::AtLeast),
    (" or over", Bound::AtLeast),
    (" and more", Bound::AtLeast),
    (" and older", Bound::AtLeast),
    (" and over", Bound::AtLeast),
    (" or less", Bound::AtMost),
];

/// Reads the one number of a text, with the word that follows it. `point` is the decimal mark. Returns `None` for
/// a text with no number, with several, or with a word before the number: which one is meant would be a guess.
pub(super) fn read(text: &str, point: u8) -> Option<Reading> {
    let text = text.trim().to_lowercase();
    // A number as programs write it, with many decimals or an exponent, stays as it is.
    if Decimal::parse(&text, point).is_none() && Decimal::of_cell(&text, point).is_some() {
        return Some(Reading { text, unit: String::new() });
    }
    let (rest, before) = BEFORE
        .iter()
        .find_map(|(sign, bound)| text.strip_prefix(sign).map(|rest| (rest.trim_start(), *bound)))
        .unwrap_or((&text, Bound::Exact));
    let sign = usize::from(rest.starts_with(['-', '+']));
    let is_digit = |b: &u8| b.is_ascii_digit() || *b == point;
    let length = sign + rest.bytes().skip(sign).take_while(is_digit).count();
    let (digits, after) = rest.split_at(length);
    // `5.` at the end of a sentence is 5.
    let number = Decimal::parse(digits.strip_suffix(char::from(point)).unwrap_or(digits), point)?;
    let (unit, after) = AFTER
        .iter()
        .find_map(|(sign, bound)| after.trim_end().strip_suffix(sign).map(|unit| (unit, *bound)))
        .unwrap_or((after, Bound::Exact));
    let unit = unit.trim().trim_end_matches('.').trim();
    let clean = unit.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | '%' | '/' | '°' | '²' | '³' | 'µ'));
    let bound = match (before, after) {
        (bound, Bound::Exact) | (Bound::Exact, bound) => bound,
        _ => return None,
    };
    let one = Decimal::whole(1);
    let shown = |number: Decimal| number.to_string();
    let text = match bound {
        Bound::Exact => shown(number).replace('.', &char::from(point).to_string()),
        Bound::AtLeast => format!(">={}", shown(number)),
        Bound::Above if number.is_whole() => format!(">={}", shown(number.plus(one))),
        Bound::Above => format!(">{}", shown(number)),
        Bound::AtMost if number.is_whole() => format!("<{}", shown(number.plus(one))),
        Bound::AtMost => format!("<={}", shown(number)),
        Bound::Below => format!("<{}", shown(number)),
    };
    clean.then(|| Reading { text, unit: unit_name(unit).to_string() })
}

/// A unit of time, for ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeUnit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
}

/// The words for units of time, in the languages that exports of hospitals use.
const TIMES: [(TimeUnit, &str); 5] = [
    (
        TimeUnit::Years,
        "y|yo|y.o|y/o|yr|yrs|year|years|year old|years old|a|j|jr|jahr|jahre|an|ans|año|años|ano|anos|anno|anni|jaar",
    ),
    (
        TimeUnit::Months,
        "m|mo|mos|mth|mths|mon|month|months|month old|months old|monat|monate|mois|mes|meses|mese|mesi|maand|maanden|mnd",
    ),
    (TimeUnit::Weeks, "w|wk|wks|week|weeks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane|weken"),
    (TimeUnit::Days, "d|day|days|day old|days old|tag|tage|t|jour|jours|dia|dias|día|días|giorno|giorni|gg|dag|dagen"),
    (TimeUnit::Hours, "h|hr|hrs|hour|hours|stunde|stunden|heure|heures|hora|horas|ora|ore|uur"),
];

fn time_unit(unit: &str) -> Option<TimeUnit> {
    TIMES.iter().find(|(_, words)| words.split('|').any(|word| word == unit)).map(|(time, _)| *time)
}

/// The words for a year are one unit.
fn unit_name(unit: &str) -> &str {
    if time_unit(unit) == Some(TimeUnit::Years) { "years" } else { unit }
}

/// Reads an age in full years. A number without a unit is in years. Returns `None` for a unit that is not one of time,
/// and for an open end in another unit than years.
pub(super) fn read_years(text: &str, point: u8) -> Option<Reading> {
    let own = read(text, point)?;
    let years = |text: String| Some(Reading { text, unit: "years".to_string() });
    let in_a_year = match time_unit(&own.unit) {
        None if own.unit.is_empty() => return years(own.text),
        None => return None,
        Some(TimeUnit::Years) => return years(own.text),
        Some(TimeUnit::Months) => 12,
        Some(TimeUnit::Weeks) => 52,
        Some(TimeUnit::Days) => 365,
        Some(TimeUnit::Hours) => 8_760,
    };
    let number = Decimal::of_cell(&own.text, point)?;
    years(number.floor_div(Decimal::whole(in_a_year)).to_string())
}

/// Returns whether numbers with these units can be compared. Numbers without a unit go with any one unit, except with
/// months, weeks, days and hours: beside `6 months`, a bare 87 is probably in years.
pub(super) fn comparable(units: &std::collections::BTreeSet<String>) -> bool {
    let named: Vec<&String> = units.iter().filter(|unit| !unit.is_empty()).collect();
    match named[..] {
        [] => true,
        [one] => units.len() == 1 || matches!(time_unit(one), None | Some(TimeUnit::Years)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(read(text, b'.').map(|own| own.text).as_deref(), expected, "{text}");
    }

    #[test]
    fn the_number_of_a_text_is_read() {
        for (text, number) in [
            ("87", "87"),
            ("87 years", "87"),
            ("087", "87"),
            (" 87y.o. ", "87"),
            ("-8", "-8"),
            ("1.50 mg/dl", "1.5"),
            ("37.5 °C", "37.5"),
            ("> 89", ">=90"),
            (">89 years", ">=90"),
            (">= 90", ">=90"),
            ("≥90", ">=90"),
            ("90+", ">=90"),
            ("90 or older", ">=90"),
            ("90 years and over", ">=90"),
            ("over 89", ">=90"),
            ("< 1", "<1"),
            ("<=4", "<5"),
            ("up to 4", "<5"),
            (">1.5", ">1.5"),
            ("<=2.5", "<=2.5"),
            ("0.22700809999999905", "0.22700809999999905"),
            ("1E-05", "1e-05"),
        ] {
            check(text, Some(number));
        }
        assert_eq!(read("7,50 kg", b',').unwrap().text, "7,5");
    }

    #[test]
    fn ages_in_other_units_become_full_years() {
        let years = |text: &str| read_years(text, b'.').map(|own| own.text);
        for (text, number) in [
            ("87", "87"),
            ("87 years", "87"),
            ("> 89", ">=90"),
            ("6m", "0"),
            ("18 months", "1"),
            ("24 Monate", "2"),
            ("3 wk", "0"),
            ("400 d", "1"),
            ("5 h", "0"),
            ("11 meses", "0"),
        ] {
            assert_eq!(years(text).as_deref(), Some(number), "{text}");
        }
        for text in ["5 kg", "> 6 months", "6 m 3 d", "", "old"] {
            assert_eq!(years(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_without_one_plain_number_is_not_guessed() {
        for text in [
            "",
            "unknown",
            "5-9",
            "10 to 20",
            "1,234",
            "covid-19",
            "age 87",
            "87 years 3 months",
            "> 5+",
            "1e3",
            "--5",
            "*",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn units_that_differ_cannot_be_compared() {
        let units = |words: &[&str]| words.iter().map(|w| read(&format!("5 {w}"), b'.').unwrap().unit).collect();
        assert!(comparable(&units(&["years", "yrs", "Jahre", ""])));
        assert!(comparable(&units(&["kg", ""])));
        assert!(comparable(&units(&["months"])));
        assert!(!comparable(&units(&["years", "months"])));
        assert!(!comparable(&units(&["", "months"])));
        assert!(!comparable(&units(&["kg", "lb"])));
    }

    proptest! {
        #[test]
        fn reading_twice_changes_nothing(text in "(>|<|>=|<=|)( |)[0-9]{1,4}([.][0-9]{1,3})?( years| kg|[+]|)") {
            if let Some(once) = read(&text, b'.') {
                let twice = read(&once.text, b'.').expect("a number");
                prop_assert_eq!(twice.text, once.text);
            }
        }
    }
}
