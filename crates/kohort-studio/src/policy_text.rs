//! Changes to the text of a policy, key by key. Comments, order and everything else stay as they were written.

use kohort_core::{Error, Result};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Sets the value at a path of keys: `["columns", "age", "role"]`. The value is TOML.
pub(crate) fn set(text: &str, path: &[&str], value: &str) -> Result<String> {
    let root = parse(text)?;
    let mut table = root.get_ref();
    let mut place = TablePlace::Root;
    for (depth, key) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        let Some((_, item)) = entry(table, key) else {
            return Ok(insert(text, table, &place, key, rest, value));
        };
        match item.get_ref() {
            DeValue::Table(below) if !rest.is_empty() => {
                table = below;
                place = TablePlace::of(text, item.span());
            }
            _ => return Ok(replaced(text, item.span(), &nested(rest, value))),
        }
    }
    Ok(text.to_string())
}

/// Removes the key at the end of a path, if it is there.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String> {
    let root = parse(text)?;
    let mut table = root.get_ref();
    let mut place = TablePlace::Root;
    for (depth, key) in path.iter().enumerate() {
        let Some((name, item)) = entry(table, key) else { return Ok(text.to_string()) };
        if depth + 1 == path.len() {
            return Ok(without(text, &place, name.span().start..item.span().end));
        }
        let DeValue::Table(below) = item.get_ref() else { return Ok(text.to_string()) };
        table = below;
        place = TablePlace::of(text, item.span());
    }
    Ok(text.to_string())
}

/// Reads the value at a path, as it is written.
pub(crate) fn get(text: &str, path: &[&str]) -> Option<String> {
    let root = parse(text).ok()?;
    let mut table = root.get_ref();
    for (depth, key) in path.iter().enumerate() {
        let (_, item) = entry(table, key)?;
        match item.get_ref() {
            _ if depth + 1 == path.len() => return text.get(item.span()).map(str::to_string),
            DeValue::Table(below) => table = below,
            _ => return None,
        }
    }
    None
}

/// Writes a text as TOML does.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Writes a name as a key of TOML.
fn key_text(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_string() } else { quoted(name) }
}

fn parse(text: &str) -> Result<Spanned<DeTable<'_>>> {
    DeTable::parse(text).map_err(|e| {
        let start = e.span().map_or(0, |span| span.start).min(text.len());
        let line = 1 + text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        Error::yours(format!("the policy, line {line}: {}.", e.message().trim_end_matches('.')))
    })
}

type Entry<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

fn entry<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<Entry<'a, 'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key)
}

/// Describes where a table is written.
enum TablePlace {
    /// The whole file.
    Root,
    /// `{ … }`, at these bytes.
    Inline(Range<usize>),
    /// Below `[…]`, whose header is at these bytes.
    Below(Range<usize>),
}

impl TablePlace {
    fn of(text: &str, span: Range<usize>) -> TablePlace {
        if text[span.clone()].starts_with('{') { TablePlace::Inline(span) } else { TablePlace::Below(span) }
    }
}

/// A value below further keys: `{ a = { b = value } }`.
fn nested(path: &[&str], value: &str) -> String {
    match path {
        [] => value.to_string(),
        [key, rest @ ..] => format!("{{ {} = {} }}", key_text(key), nested(rest, value)),
    }
}

fn replaced(text: &str, span: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..span.start], &text[span.end..])
}

fn insert(text: &str, table: &DeTable, place: &TablePlace, key: &str, rest: &[&str], value: &str) -> String {
    let line = format!("{} = {}", key_text(key), nested(rest, value));
    match place {
        TablePlace::Root => {
            let space = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            match rest {
                // A key of its own must come before every section.
                [] => format!("{line}\n{text}"),
                [below, rest @ ..] => {
                    let line = format!("{} = {}", key_text(below), nested(rest, value));
                    format!("{text}{space}\n[{}]\n{line}\n", key_text(key))
                }
            }
        }
        TablePlace::Inline(span) => {
            let end = text[..span.end].trim_end_matches('}').trim_end().len();
            let comma = if table.is_empty() { " " } else { ", " };
            format!("{}{comma}{line} {}", &text[..end], &text[span.end - 1..])
        }
        TablePlace::Below(header) => {
            let is_below = |item: &Spanned<DeValue>| {
                matches!(item.get_ref(), DeValue::Table(_)) && text[item.span()].starts_with('[')
            };
            let own = table.iter().filter(|(_, item)| !is_below(item)).map(|(_, item)| item.span().end);
            let last = own.max().unwrap_or(header.end);
            let end = last + text[last..].find('\n').unwrap_or(text.len() - last);
            format!("{}\n{line}{}", &text[..end], &text[end..])
        }
    }
}

fn without(text: &str, place: &TablePlace, span: Range<usize>) -> String {
    if let TablePlace::Inline(_) = place {
        let after = &text[span.end..];
        if let Some(rest) = after.trim_start().strip_prefix(',') {
            return format!("{}{}", &text[..span.start], rest.trim_start());
        }
        let before = text[..span.start].trim_end();
        return format!("{} {}", before.strip_suffix(',').unwrap_or(before), after.trim_start());
    }
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
    format!("{}{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "# head\n[input]\ntable = \"a.csv\" # here\n\n[columns]\nage = { role = \"quasi\", levels = [1, 2] } # years\n\"first name\" = { role = \"identifier\" }\n\n[columns.sex]\nrole = \"quasi\"\n\n[privacy]\n# k = 5\nknows = \"all\"\n";

    #[track_caller]
    fn check(changed: Result<String>, from: &str, to: &str) {
        let changed = changed.unwrap();
        assert_eq!(changed, POLICY.replace(from, to));
        parse(&changed).unwrap();
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        check(
            set(POLICY, &["columns", "age", "role"], "\"sensitive\""),
            "age = { role = \"quasi\"",
            "age = { role = \"sensitive\"",
        );
        check(
            set(POLICY, &["columns", "sex", "role"], "\"class\""),
            "role = \"quasi\"\n\n[privacy]",
            "role = \"class\"\n\n[privacy]",
        );
    }

    #[test]
    fn a_missing_key_is_added_where_it_belongs() {
        check(set(POLICY, &["privacy", "k"], "5"), "knows = \"all\"\n", "knows = \"all\"\nk = 5\n");
        check(set(POLICY, &["columns", "age", "weight"], "2"), "levels = [1, 2] }", "levels = [1, 2], weight = 2 }");
        check(
            set(POLICY, &["columns", "zip code", "role"], "\"quasi\""),
            "{ role = \"identifier\" }\n",
            "{ role = \"identifier\" }\n\"zip code\" = { role = \"quasi\" }\n",
        );
        assert!(set(POLICY, &["method", "name"], "\"lattice\"").unwrap().ends_with("\n[method]\nname = \"lattice\"\n"));
    }

    #[test]
    fn a_key_is_removed_with_its_comma_or_line() {
        check(remove(POLICY, &["columns", "age", "levels"]), ", levels = [1, 2] }", " }");
        check(remove(POLICY, &["columns", "age", "role"]), "role = \"quasi\", levels", "levels");
        check(remove(POLICY, &["privacy", "knows"]), "knows = \"all\"\n", "");
        check(remove(POLICY, &["privacy", "k"]), "", "");
    }

    #[test]
    fn values_are_read_as_written() {
        assert_eq!(get(POLICY, &["columns", "age", "levels"]).as_deref(), Some("[1, 2]"));
        assert_eq!(get(POLICY, &["columns", "sex", "role"]).as_deref(), Some("\"quasi\""));
        assert_eq!(get(POLICY, &["privacy", "k"]), None);
    }
}
