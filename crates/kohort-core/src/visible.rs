//! Text that shows what it is. Names and values may come from a stranger's file, and some characters have no
//! shape of their own: they steer a terminal, turn the direction of a line, or take no room at all.

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
    let joins = |at: usize| {
        let letter =
            |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|c| !c.is_ascii() && c.is_alphabetic());
        matches!(letters[at], '\u{200c}' | '\u{200d}') && letter(at.checked_sub(1)) && letter(Some(at + 1))
    };
    letters.iter().any(|c| !c.is_whitespace() && !is_hidden(*c))
        && (0..letters.len()).all(|at| !is_hidden(letters[at]) || joins(at))
}

/// Returns how a text looks to somebody who reads over it: without case, white space and hidden characters. Texts
/// that look alike may be one value, written in two ways.
pub fn look_of(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !is_hidden(*c)).flat_map(char::to_lowercase).collect()
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
