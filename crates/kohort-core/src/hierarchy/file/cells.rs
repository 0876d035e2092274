//! The lines of a hierarchy file as rows of labels, all of one length.

use super::SUPPRESSED;
use crate::visible::is_visible;
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// Rows of labels, row i from line i + 1: of equal length, no label empty, every leaf once.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Vec<String>>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(Error::yours(format!("{name}: the file is empty. Write one line per value: value;group;…;*")));
    }
    // Old programs end lines in CR alone.
    let text = &if text.contains('\n') { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\r', "\n")) };
    let separator = separator(text.lines().next().unwrap_or_default());
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut line_of_leaf = HashMap::new();
    for (line, text) in (1usize..).zip(text.lines()) {
        let wrong = |what: String| Err(Error::yours(format!("{name}, line {line}: {what}")));
        let Some(row) = split(text, separator) else {
            return wrong("a quote is not closed, or text follows it. Double the quotes inside a quoted label.".into());
        };
        if let Some(empty) = row.iter().position(String::is_empty) {
            return wrong(format!(
                "the label in column {} is empty. Give it a name. Missing values need no line.",
                empty + 1
            ));
        }
        // Labels are released, and two that look the same would be two groups.
        if let Some(hidden) = row.iter().position(|label| *label != row[0] && !is_visible(label)) {
            return wrong(format!(
                "the label in column {} holds a character that nobody sees, or nothing else. Write it again.",
                hidden + 1
            ));
        }
        let columns = rows.first().map_or(row.len(), Vec::len);
        if row.len() != columns {
            return wrong(format!(
                "{} labels, but line 1 has {columns}. In an uneven tree, repeat a label in neighbouring columns: \
                 a;a;b;*",
                row.len()
            ));
        }
        if row[0] == SUPPRESSED {
            return wrong("the first label is *, which means a suppressed cell. Remove the line.".into());
        }
        if let Some(first) = line_of_leaf.insert(row[0].clone(), line) {
            return wrong(format!("the value {:?} is already on line {first}. Keep one of the two lines.", row[0]));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// `;` if the first line has one outside of quotes, else a tab if it has one, else `,`.
fn separator(line: &str) -> char {
    let has = |separator: char| {
        let mut quoted = false;
        line.chars().any(|letter| {
            quoted ^= letter == '"';
            letter == separator && !quoted
        })
    };
    [';', '\t'].into_iter().find(|separator| has(*separator)).unwrap_or(',')
}

/// The cells of a line; `None` where a quote is open at its end or closed before the cell's end.
fn split(line: &str, separator: char) -> Option<Vec<String>> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let (cell, after) = rest.split_at(rest.find(separator).unwrap_or(rest.len()));
                (cell.to_string(), after)
            }
        };
        cells.push(cell);
        if after.is_empty() {
            return Some(cells);
        }
        rest = after.strip_prefix(separator)?;
    }
}

/// A cell from behind its opening quote, and what follows its closing one.
fn quoted(inside: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = inside;
    loop {
        let (text, after) = rest.split_once('"')?;
        cell.push_str(text);
        match after.strip_prefix('"') {
            Some(more) => {
                cell.push('"');
                rest = more;
            }
            None => return Some((cell, after)),
        }
    }
}
