//! Text → HTML: whatever a column is called, it stays text.

/// Escapes text for element content and for attributes in double quotes.
///
/// Control characters have no place in HTML and leave as the replacement character, and so do the
/// marks that turn the direction of writing: a name must not rearrange the text around it.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            c if disturbs(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Control characters, and marks that turn the direction of writing.
pub(super) fn disturbs(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a sentence; what stands between backticks becomes code.
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(i, part): (usize, &&str)| match i % 2 {
        0 => escape(part),
        _ => code(part),
    };
    parts.iter().enumerate().map(part).collect()
}

/// A name: of a column, a method, a level.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// Names, separated by commas.
pub(super) fn codes<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

/// The same for owned names.
pub(super) fn names(names: &[String]) -> String {
    codes(names.iter().map(String::as_str))
}

/// At most `width` columns of a fixed-width font, and an ellipsis if something was cut.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    // Scripts from Hangul on are drawn about twice as wide.
    let wide = |c: char| if c >= '\u{1100}' { 2 } else { 1 };
    if text.chars().map(wide).sum::<usize>() <= width {
        return text.to_string();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let fits = wide(*c) <= left;
        left = left.saturating_sub(wide(*c));
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        for (text, expected) in [
            ("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"),
            ("&amp;", "&amp;amp;"),
            ("line\nfeed\u{0}", "line feed\u{fffd}"),
            ("\u{202e}txt", "\u{fffd}txt"),
            ("größe", "größe"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn names_in_backticks_are_code_and_a_lone_backtick_is_itself() {
        assert_eq!(prose("at most `a<b` of it"), "at most <code>a&lt;b</code> of it");
        assert_eq!(prose("a ` b"), "a ` b");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shorten("occupation", 10), "occupation");
        assert_eq!(shorten("occupations", 10), "occupatio…");
        assert_eq!(shorten("診断診断", 4), "診…");
    }
}
