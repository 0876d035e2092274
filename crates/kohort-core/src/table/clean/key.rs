//! One spelling for the keys of people, so that a person whose key was typed in several ways counts once.

/// Declares what counts in a key. All else may differ between two spellings of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySpelling {
    /// Letters and digits, and a sign between two digits. Capital letters, spaces, other signs and zeros at the start of
    /// a number do not count: `P-0012`, `p 12` and `P0012` are `p12`.
    Characters,
    /// Digits alone, without zeros at the start: `P-0012`, `pat 12` and `12` are `12`, and `078-05-1120` is `78051120`.
    Digits,
}

impl KeySpelling {
    /// Writes a key in its one spelling. A text without letters and digits, and in [`KeySpelling::Digits`] one without
    /// digits, keeps the others that it has.
    pub fn spell(self, key: &str) -> String {
        let key = without_fraction(key.trim());
        let spelled = match self {
            KeySpelling::Characters => characters(key),
            KeySpelling::Digits => without_zeros(key.chars().filter_map(|c| c.to_digit(10))),
        };
        match (self, spelled.is_empty()) {
            (_, false) => spelled,
            (KeySpelling::Digits, true) => KeySpelling::Characters.spell(key),
            (KeySpelling::Characters, true) => key.to_string(),
        }
    }
}

/// A whole number that was stored with decimals: `12` for `12.0`.
fn without_fraction(key: &str) -> &str {
    match key.split_once('.') {
        Some((whole, zeros))
            if !whole.is_empty()
                && whole.bytes().all(|b| b.is_ascii_digit())
                && !zeros.is_empty()
                && zeros.bytes().all(|b| b == b'0') =>
        {
            whole
        }
        _ => key,
    }
}

fn without_zeros(digits: impl Iterator<Item = u32>) -> String {
    let all: String = digits.filter_map(|digit| char::from_digit(digit, 10)).collect();
    match all.trim_start_matches('0') {
        "" if !all.is_empty() => "0".into(),
        rest => rest.into(),
    }
}

fn characters(key: &str) -> String {
    let mut spelled = String::with_capacity(key.len());
    let (mut number, mut signs) = (String::new(), false);
    let finish = |number: &mut String, spelled: &mut String| {
        spelled.push_str(&without_zeros(number.chars().filter_map(|c| c.to_digit(10))));
        number.clear();
    };
    for c in key.chars() {
        if c.is_ascii_digit() {
            // 1-23 and 12-3 are two keys.
            if signs && !number.is_empty() {
                finish(&mut number, &mut spelled);
                spelled.push('-');
            }
            number.push(c);
            signs = false;
        } else if c.is_alphanumeric() {
            finish(&mut number, &mut spelled);
            spelled.extend(c.to_lowercase());
            signs = false;
        } else {
            signs = true;
        }
    }
    finish(&mut number, &mut spelled);
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spelling: KeySpelling, keys: &[&str], expected: &str) {
        for key in keys {
            assert_eq!(spelling.spell(key), expected, "{key}");
            assert_eq!(spelling.spell(expected), expected, "spelling twice changes nothing");
        }
    }

    #[test]
    fn a_key_has_one_spelling() {
        check(KeySpelling::Characters, &["P-0012", "p12", "P 0012", " p_12. ", "P-12", "(P)12"], "p12");
        check(KeySpelling::Characters, &["0012", "12", "12.0", "12.00", "#12"], "12");
        check(KeySpelling::Characters, &["1-23", "01-023", "1/23", "1 - 23"], "1-23");
        check(KeySpelling::Characters, &["12-3"], "12-3");
        check(KeySpelling::Characters, &["A0B00", "a0b0"], "a0b0");
        check(KeySpelling::Characters, &["{AB-CD}", "ab cd"], "abcd");
        check(KeySpelling::Characters, &["1.5"], "1-5");
        check(KeySpelling::Characters, &["?"], "?");
        check(KeySpelling::Characters, &["000", "0"], "0");
    }

    #[test]
    fn the_digits_of_a_key_are_its_number() {
        check(KeySpelling::Digits, &["P-0012", "pat 12", "0012", "12", "12.0"], "12");
        check(KeySpelling::Digits, &["078-05-1120", "078051120", "78 051 120"], "78051120");
        check(KeySpelling::Digits, &["Anna", "ANNA "], "anna");
        check(KeySpelling::Digits, &["unknown"], "unknown");
    }
}
