//! Words for what others know about a person, whatever a column is called: places, and origins (ethnicity, nationality,
//! religion, marital status).

use std::collections::HashSet;
use std::sync::LazyLock;

static PLACES: LazyLock<HashSet<&str>> = LazyLock::new(|| entries(include_str!("places.txt")));
static ORIGINS: LazyLock<HashSet<&str>> = LazyLock::new(|| entries(include_str!("origins.txt")));

fn entries(list: &'static str) -> HashSet<&'static str> {
    list.split(['|', '\n']).map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

/// Returns whether a text is a country, a region or a large town, by its name or its usual code. A code is written in
/// capital letters.
pub(super) fn is_place(text: &str) -> bool {
    let (lower, is_code) = (bare(text), text.chars().count() <= 3);
    PLACES.contains(lower.as_str()) && (!is_code || !text.chars().any(char::is_lowercase))
}

/// Returns whether a text is a word for an ethnicity, a nationality, a religion or a marital status.
pub(super) fn is_origin(text: &str) -> bool {
    ORIGINS.contains(bare(text).as_str())
}

/// A text in small letters, without a code before it: `1 - White` is `white`.
fn bare(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || " .:=)-".contains(c));
    if text.len() > 60 { String::new() } else { text.trim().to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_origins_are_recognised_and_other_words_are_not() {
        for text in ["Bayern", "TX", "New York", "Île-de-France", "DEU", "03 - Ohio", "South"] {
            assert!(is_place(text), "{text}");
        }
        for text in ["White", "2 - Black or African American", "türkisch", "mestiza", "widowed"] {
            assert!(is_origin(text), "{text}");
        }
        for text in ["in", "or", "Placebo", "positive", "", "12", "MICU"] {
            assert!(!is_place(text) && !is_origin(text), "{text}");
        }
    }
}
