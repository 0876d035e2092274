//! Advice about a line of a policy that cannot be read: the mistakes that people make who write their first one.

/// Returns advice about a line that cannot be read, where it looks like a usual mistake.
pub(super) fn advice(line: &str) -> Option<&'static str> {
    if line.contains(['“', '”', '„', '‘', '’']) {
        return Some("Write straight quotes: \"text\".");
    }
    let (plain, values) = outside_quotes(line);
    if values.iter().any(|value| is_decimal_with_comma(value)) {
        return Some("Write numbers with a decimal point: 0.5.");
    }
    if !plain.contains('=') && plain.contains(':') {
        return Some("Join a key and its value with an equals sign: k = 5.");
    }
    if values.iter().any(|value| value.starts_with(char::is_alphabetic) && !is_word(value)) {
        return Some("Put text in quotes, as in name = \"local\", and write numbers in digits.");
    }
    None
}

/// The line without its comment and without what is in quotes, and the text behind each equals sign in it.
fn outside_quotes(line: &str) -> (String, Vec<String>) {
    let (mut plain, mut quote) = (String::new(), None);
    for c in line.chars() {
        match quote {
            Some(own) if c == own => quote = None,
            Some(_) => continue,
            None if c == '#' => break,
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
        plain.push(c);
    }
    let values = plain.split('=').skip(1).map(|value| value.trim().to_string()).collect();
    (plain, values)
}

/// Returns whether a value begins with a number such as `0,5`.
fn is_decimal_with_comma(value: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(value);
    whole > 0 && value[whole..].strip_prefix(',').is_some_and(|rest| digits(rest) > 0)
}

/// Returns whether a value begins with one of the words that need no quotes.
fn is_word(value: &str) -> bool {
    let word: String = value.chars().take_while(|c| c.is_alphanumeric()).collect();
    ["true", "false", "inf", "nan"].contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_mistakes_are_recognised() {
        let begins = |line: &str, words: &str| {
            assert!(advice(line).is_some_and(|own| own.starts_with(words)), "{line}: {:?}", advice(line));
        };
        begins("k: 5", "Join a key");
        begins("table: \"patients.csv\" # = here", "Join a key");
        begins("confidence = 0,5", "Write numbers");
        begins("age = { role = \"quasi\", weight = 1,5 }", "Write numbers");
        begins("k = five", "Put text");
        begins("sex = { role = quasi }", "Put text");
        begins("table = “patients.csv”", "Write straight");
        for line in ["k = 5 5", "k = ", "[privacy", "a = [5,10", "a = true false", "a = \"x: 0,5\" b", "", "5,10"] {
            assert_eq!(advice(line), None, "{line}");
        }
    }
}
