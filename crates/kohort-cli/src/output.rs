//! How results are printed: plain lines, numbers grouped by thousands.

use serde_json::Value;

/// 1234567 → 1,234,567.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count in metrics.json.
pub(crate) fn count(value: &Value) -> String {
    value.as_u64().map_or("–".into(), thousands)
}

/// A share in metrics.json as a percentage.
pub(crate) fn percent(value: &Value) -> String {
    value.as_f64().map_or("–".into(), |x| format!("{:.1} %", x * 100.0))
}

/// A number in metrics.json with four decimals.
pub(crate) fn decimal(value: &Value) -> String {
    value.as_f64().map_or("–".into(), |x| format!("{x:.4}"))
}

/// Prints a line; a closed pipe is no error of ours.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{}", printable(line));
}

/// Prints a note.
pub(crate) fn note(line: &str) {
    complain(&format!("note: {}", printable(line)));
}

/// Prints a line to standard error; that nobody listens is no error of ours.
pub(crate) fn complain(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A line without characters that steer a terminal: names may come from a stranger's file.
pub(crate) fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}
