//! Frequent names of people. A column in which most cells consist of them holds names, however few there are.

use std::collections::HashSet;
use std::sync::LazyLock;

static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("names.txt").split_whitespace().collect());

/// Words inside names that are no names by themselves.
const PARTICLES: [&str; 20] = [
    "de", "del", "della", "den", "der", "di", "da", "do", "dos", "das", "du", "la", "le", "van", "von", "zu", "ter",
    "ten", "y", "e",
];

/// Returns whether every word of a text is a frequent name, an initial or a particle, and one at least is a name. Of two
/// words, one may be any other that is written as names are.
pub(super) fn is_frequent_name(text: &str) -> bool {
    if text.len() > 60
        || text.bytes().any(|b| b.is_ascii_digit())
        || !text.split_whitespace().any(|word| word.starts_with(char::is_uppercase))
    {
        return false;
    }
    let (mut names, mut others, mut words) = (0, 0, 0);
    for word in super::shape::words_of(text) {
        words += 1;
        match NAMES.contains(word.as_str()) {
            true => names += 1,
            false if word.chars().count() == 1 || PARTICLES.contains(&word.as_str()) => {}
            false => others += 1,
        }
    }
    let capital = text.split_whitespace().all(|word| word.starts_with(char::is_uppercase));
    names > 0 && (others == 0 || others == 1 && words == 2 && capital)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_and_other_words_are_not() {
        for text in ["Mary Smith", "SMITH, J", "de Vries", "García López, María", "Müller", "Jean-Pierre Dubois"] {
            assert!(is_frequent_name(text), "{text}");
        }
        for text in ["White", "Black", "April", "Medicare", "Boston", "mary", "M", "Heart failure", "Mary 2", ""] {
            assert!(!is_frequent_name(text), "{text}");
        }
    }
}
