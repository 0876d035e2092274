//! How results are printed: plain lines, numbers grouped by thousands.

pub(crate) use kohort_core::number::thousands;

/// A count, unless it is unknown or hidden.
pub(crate) fn count(count: impl Into<Option<u64>>) -> String {
    count.into().map_or("–".into(), thousands)
}

/// A share as a percentage.
pub(crate) fn percent(share: impl Into<Option<f64>>) -> String {
    share.into().map_or("–".into(), |x| format!("{:.1} %", x * 100.0))
}

/// Prints a line. A closed pipe is not an error.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{}", printable(line));
}

/// The width of a screen.
const WIDTH: usize = 80;

/// A line that fits on a screen; what is too long ends in `…`.
pub(crate) fn fit(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        None => line.to_string(),
        Some(_) => line.chars().take(WIDTH - 1).chain(['…']).collect(),
    }
}

/// A text in lines that fit on a screen, those after the first set in.
pub(crate) fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + 1 + word.chars().count() > WIDTH && !lines[last].trim().is_empty() {
            lines.push(format!("  {word}"));
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last] += &format!("{space}{word}");
        }
    }
    lines.iter().map(|line| fit(line)).collect()
}

/// Prints a note.
pub(crate) fn note(line: &str) {
    complain(&format!("note: {}", printable(line)));
}

/// Prints a line to standard error. A closed pipe is not an error.
pub(crate) fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A line without characters that steer a terminal: names may come from a stranger's file.
pub(crate) fn printable(line: &str) -> String {
    kohort_core::visible::printable(line)
}
