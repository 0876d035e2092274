//! Text that shows what it is. Names and values may come from a stranger's file, and some characters have no
//! shape of their own: they steer a terminal, turn the direction of a line, or take no room at all.

use crate::composed::taken_apart;
use std::collections::{HashMap, HashSet};

/// Returns whether a character has no shape of its own, or changes how the others are shown.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a text shows all that it holds: at least one character that can be seen, and none that is hidden.
/// The joiners of Arabic and Indian scripts are let pass between two of their letters.
pub fn is_visible(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    letters.iter().any(|c| !c.is_whitespace() && !is_hidden(*c)) && (0..letters.len()).all(|at| is_shown(&letters, at))
}

/// Returns whether the character at this place of a text shows itself, or joins two letters that need it.
pub(crate) fn is_shown(text: &[char], at: usize) -> bool {
    let letter = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| !c.is_ascii() && c.is_alphabetic());
    let joins = || matches!(text[at], '\u{200c}' | '\u{200d}') && letter(at.checked_sub(1)) && letter(Some(at + 1));
    !is_hidden(text[at]) || joins()
}

/// Returns how a text looks to somebody who reads over it: without case, white space and hidden characters, and with
/// each letter apart from its marks. Texts that look alike may be one value, written in two ways.
pub fn look_of(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_whitespace() && !is_hidden(*c));
    shown.flat_map(taken_apart).flat_map(char::to_lowercase).collect()
}

/// Counts the values that look like another one, or like nothing.
pub(crate) fn alike<'a>(values: impl Iterator<Item = &'a str>) -> u64 {
    // An empty cell looks like nothing.
    let mut looks: HashSet<String> = HashSet::from([String::new()]);
    values.filter(|value| !looks.insert(look_of(value))).count() as u64
}

/// Finds a listed text that looks like one of the others, which may be another spelling of it.
pub fn other_spelling<'a, 'b>(
    listed: impl IntoIterator<Item = &'a str>,
    others: impl IntoIterator<Item = &'b str>,
) -> Option<&'a str> {
    let of_look: HashMap<String, &str> = listed.into_iter().map(|text| (look_of(text), text)).collect();
    others.into_iter().find_map(|text| of_look.get(&look_of(text)).copied())
}

/// Returns a line in which every character that is hidden is shown as a replacement character.
pub fn printable(line: &str) -> String {
    line.chars().map(|c| if is_hidden(c) && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_look_alike() {
        for (a, b) in
            [("HIV", "hiv"), ("flu", " flu"), ("flu", "flu\u{200b}"), ("type 2", "type\u{a0}2"), ("", "\u{feff}")]
        {
            assert_eq!(look_of(a), look_of(b), "{a:?} {b:?}");
        }
        assert_ne!(look_of("E11.9"), look_of("E11.8"));
        assert_ne!(look_of("Resume"), look_of("R\u{e9}sum\u{e9}"));
    }

    /// Some systems write é as one character, others as e and an accent: both counted as values of their own.
    #[test]
    fn a_letter_and_its_mark_look_like_the_letter_with_the_mark() {
        for (a, b) in [
            ("M\u{e9}ni\u{e8}re", "Me\u{301}nie\u{300}re"),
            ("Sch\u{e4}del", "scha\u{308}del"),
            ("HIV", "\u{ff28}\u{ff29}\u{ff36}"),
            ("\u{ac80}\u{c0ac}", "\u{1100}\u{1165}\u{11b7}\u{1109}\u{1161}"),
        ] {
            assert_eq!(look_of(a), look_of(b), "{a} {b}");
        }
    }

    #[test]
    fn spellings_of_one_value_are_counted() {
        assert_eq!(alike(["hiv", "HIV", "flu", "flu ", "flu\u{200b}", "\u{feff}"].into_iter()), 4);
        assert_eq!(alike(["hiv", "flu", "tb"].into_iter()), 0);
    }

    #[test]
    fn what_cannot_be_seen_is_not_visible() {
        for text in [
            "",
            " ",
            "\t",
            "\u{200b}",
            "hiv\u{200b}",
            "\u{202e}vih",
            "a\u{0}",
            "\u{3164}",
            "hi\u{200d}v",
            "\u{feff}hiv",
            "a\nb",
        ] {
            assert!(!is_visible(text), "{text:?}");
        }
        for text in ["hiv", "HIV positive", "*", "042", "Ménière", "糖尿病", "می\u{200c}خواهم", "سرطان"]
        {
            assert!(is_visible(text), "{text:?}");
        }
    }

    /// R6: U+202E turns the rest of a line around, so that a name can look like another one.
    #[test]
    fn a_line_is_printed_without_characters_that_steer_it() {
        assert_eq!(printable("a\u{202e}b\u{1b}[2J\tc\u{2066}"), "a\u{fffd}b\u{fffd}[2J\tc\u{fffd}");
        assert_eq!(printable("Ménière, 糖尿病"), "Ménière, 糖尿病");
    }
}
