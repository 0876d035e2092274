//! A policy as it was written: keys with their lines, numbers as text, nothing decided yet.

use super::not_toml::advice;
use crate::number::{Decimal, Fraction};
use crate::{Error, Result};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The words with which a message goes on after its subject.
const VERBS: [&str; 6] = ["is", "must", "names", "needs", "lists", "cannot"];

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `"text"`.
    Text(String),
    /// `5`, `0.05`: its digits as written.
    Number(String),
    /// `true` or `false`.
    Flag(bool),
    /// `[…]`.
    List(Vec<Item>),
    /// `{…}` or `[…]` with keys.
    Section(Section),
    /// A date or time, which no key takes.
    Date,
}

/// A value and its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// The line, counted from 1.
    pub line: usize,
}

/// A table of keys: `[privacy]`, a column, a hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The policy file's name.
    pub file: String,
    /// Its name in messages: `[privacy]`, column `age`.
    pub name: String,
    /// The line it starts on.
    pub line: usize,
    /// Its keys in the order of the file.
    pub entries: Vec<(String, Item)>,
}

impl Section {
    /// Reads a whole file.
    pub fn parse(file: &str, text: &str) -> Result<Section> {
        let root = DeTable::parse(text).map_err(|e| {
            let line = e.span().map_or(1, |s| line_of(text, s.start));
            let own = text.lines().nth(line - 1).unwrap_or_default();
            Error::policy(match advice(own) {
                Some(advice) => format!("{file}, line {line}: this line cannot be read. {advice}"),
                None => format!("{file}, line {line}: {}.", e.message().trim_end_matches('.')),
            })
        })?;
        Ok(section(file, text, "the policy", &root))
    }

    /// An empty section, for what the file leaves out.
    pub fn empty(file: &str, name: &str) -> Section {
        Section { file: file.into(), name: name.into(), line: 0, entries: Vec::new() }
    }

    /// The section as the text of a policy: keys first, then sections.
    pub fn to_toml(&self) -> String {
        let is_section = |item: &Item| matches!(item.value, Value::Section(_));
        let mut text = String::new();
        for (key, item) in self.entries.iter().filter(|(_, item)| !is_section(item)) {
            text += &format!("{} = {}\n", written_key(key), written(&item.value));
        }
        for (key, item) in &self.entries {
            let Value::Section(section) = &item.value else { continue };
            text += &format!("\n[{}]\n", written_key(key));
            for (key, item) in &section.entries {
                text += &format!("{} = {}\n", written_key(key), written(&item.value));
            }
        }
        text
    }

    /// Every text in the section and in the sections and lists below it.
    pub fn texts_below(&self) -> Vec<&str> {
        fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
            match value {
                Value::Text(text) => texts.push(text),
                Value::List(items) => items.iter().for_each(|item| collect(&item.value, texts)),
                Value::Section(section) => section.entries.iter().for_each(|(_, item)| collect(&item.value, texts)),
                Value::Number(_) | Value::Flag(_) | Value::Date => {}
            }
        }
        let mut texts = Vec::new();
        self.entries.iter().for_each(|(_, item)| collect(&item.value, &mut texts));
        texts
    }

    /// The item at `key`.
    pub fn get(&self, key: &str) -> Option<&Item> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, item)| item)
    }

    /// Refuses any key that is not known here.
    pub fn only(&self, known: &[&str]) -> Result<()> {
        for (key, item) in &self.entries {
            if !known.contains(&key.as_str()) {
                let hint = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("Available keys: {}.", known.join(", ")),
                };
                return Err(self.error(item.line, format!("unknown key `{key}` in {}. {hint}", self.name)));
            }
        }
        Ok(())
    }

    /// An error at a line of this file.
    pub fn error(&self, line: usize, message: impl std::fmt::Display) -> Error {
        Error::policy(if line == 0 {
            format!("{}: {message}", self.file)
        } else {
            format!("{}, line {line}: {message}", self.file)
        })
    }

    /// An error about one of its keys: a sentence of which the key is the subject, or sentences of their own.
    pub fn wrong(&self, key: &str, message: impl std::fmt::Display) -> Error {
        let message = message.to_string();
        let goes_on = VERBS.contains(&message.split(' ').next().unwrap_or_default());
        let joint = if goes_on { " " } else { ": " };
        self.error(self.get(key).map_or(self.line, |i| i.line), format!("`{key}` in {}{joint}{message}", self.name))
    }

    /// The section at `key`, called `name` in messages.
    pub fn section(&self, key: &str) -> Result<Option<Section>> {
        match self.get(key).map(|i| &i.value) {
            None => Ok(None),
            Some(Value::Section(s)) => Ok(Some(s.clone())),
            Some(_) => Err(self.wrong(key, "must be a section with keys.")),
        }
    }

    /// The text at `key`.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        match self.get(key).map(|i| &i.value) {
            None => Ok(None),
            Some(Value::Text(t)) => Ok(Some(t)),
            Some(_) => Err(self.wrong(key, "must be text in quotes.")),
        }
    }

    /// One of a few words at `key`.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if let Some((_, value)) = words.iter().find(|(w, _)| *w == text) {
            return Ok(Some(*value));
        }
        let known: Vec<String> = words.iter().map(|(w, _)| format!("\"{w}\"")).collect();
        let hint = match nearest(text, words.iter().map(|w| w.0)) {
            Some(near) => format!(" Did you mean \"{near}\"?"),
            None => String::new(),
        };
        Err(self.wrong(key, format!("must be {}.{hint}", known.join(" or "))))
    }

    /// The flag at `key`.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key).map(|i| &i.value) {
            None => Ok(None),
            Some(Value::Flag(f)) => Ok(Some(*f)),
            Some(_) => Err(self.wrong(key, "must be true or false.")),
        }
    }

    /// The whole number at `key`.
    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        let Some(number) = self.decimal(key)? else { return Ok(None) };
        match number.to_whole().map(u64::try_from) {
            Some(Ok(n)) => Ok(Some(n)),
            _ => Err(self.wrong(key, "must be a whole number.")),
        }
    }

    /// The number at `key`, exactly as written.
    pub fn decimal(&self, key: &str) -> Result<Option<Decimal>> {
        self.get(key).map(|item| self.as_decimal(key, item)).transpose()
    }

    /// The share at `key`: from 0 to 1.
    pub fn share(&self, key: &str) -> Result<Option<Fraction>> {
        let Some(number) = self.decimal(key)? else { return Ok(None) };
        Fraction::from_decimal(number).map(Some).ok_or_else(|| {
            let meant = match number.to_whole() {
                Some(n @ 2..=99) => {
                    format!(" Did you mean {}?", Decimal::parse(&format!("0.{n:02}"), b'.').unwrap_or(number))
                }
                _ => String::new(),
            };
            self.wrong(key, format!("must be a share from 0 to 1.{meant}"))
        })
    }

    /// The texts of the list at `key`.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        let texts = items.iter().map(|item| match &item.value {
            Value::Text(t) => Ok(t.clone()),
            _ => Err(self.wrong(key, "must be a list of texts in quotes.")),
        });
        texts.collect::<Result<_>>().map(Some)
    }

    /// The numbers of the list at `key`.
    pub fn decimals(&self, key: &str) -> Result<Option<Vec<Decimal>>> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        items.iter().map(|item| self.as_decimal(key, item)).collect::<Result<_>>().map(Some)
    }

    /// The list at `key`.
    pub fn list(&self, key: &str) -> Result<Option<&[Item]>> {
        match self.get(key).map(|i| &i.value) {
            None => Ok(None),
            Some(Value::List(items)) => Ok(Some(items)),
            Some(_) => Err(self.wrong(key, "must be a list in brackets.")),
        }
    }

    fn as_decimal(&self, key: &str, item: &Item) -> Result<Decimal> {
        let Value::Number(number) = &item.value else {
            return Err(self.wrong(
                key,
                match &item.value {
                    Value::Text(text) if text.ends_with('%') => "must be a number without quotes: 50 % is 0.5.",
                    Value::Text(_) => "must be a number without quotes.",
                    _ => "must be a number.",
                },
            ));
        };
        let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b"+-._".contains(&b));
        Decimal::parse(&number.replace('_', ""), b'.').ok_or_else(|| match is_plain {
            true => self.wrong(key, "is too large, or has too many decimals."),
            false => self.wrong(key, "must be a number such as 12 or 0.5."),
        })
    }
}

fn section(file: &str, text: &str, name: &str, table: &Spanned<DeTable<'_>>) -> Section {
    let mut entries: Vec<(usize, String, Item)> = table
        .get_ref()
        .iter()
        .map(|(key, value)| {
            let key_text = key.get_ref().to_string();
            let below = if name == "the policy" { format!("[{key_text}]") } else { format!("`{key_text}`") };
            let line = line_of(text, key.span().start);
            (key.span().start, key_text, Item { value: convert(file, text, &below, value), line })
        })
        .collect();
    entries.sort_by_key(|e| e.0);
    Section {
        file: file.into(),
        name: name.into(),
        line: line_of(text, table.span().start),
        entries: entries.into_iter().map(|(_, k, i)| (k, i)).collect(),
    }
}

fn convert(file: &str, text: &str, name: &str, value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) if i.radix() == 10 => Value::Number(i.as_str().to_string()),
        DeValue::Integer(_) | DeValue::Datetime(_) => Value::Date,
        DeValue::Float(f) => Value::Number(f.as_str().to_string()),
        DeValue::Boolean(b) => Value::Flag(*b),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|i| Item { value: convert(file, text, name, i), line: line_of(text, i.span().start) })
                .collect(),
        ),
        DeValue::Table(t) => Value::Section(section(file, text, name, &Spanned::new(value.span(), t.clone()))),
    }
}

/// A key as it is written.
fn written_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.into() } else { written_text(key) }
}

fn written_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04X}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A value on one line.
fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => written_text(text),
        Value::Number(digits) => digits.clone(),
        Value::Flag(flag) => flag.to_string(),
        // No key takes one: reading refuses it.
        Value::Date => "\"\"".into(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| written(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Section(section) => {
            let one = |(key, item): &(String, Item)| format!("{} = {}", written_key(key), written(&item.value));
            let entries: Vec<String> = section.entries.iter().map(one).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|&&b| b == b'\n').count()
}

/// The known word nearest to what was typed, if it is near: at most a third of it differs.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let best = known.into_iter().map(|word| (edits(&typed, &word.to_lowercase()), word)).min();
    best.filter(|(edits, word)| *edits <= word.chars().count().max(3) / 3).map(|(_, word)| word)
}

/// Letters to put in, take out, change or swap.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut best =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_written_and_lines_are_known() {
        let s = Section::parse("p.toml", "[privacy]\nk = 5\n\nmax_risk = 0.30\n").unwrap();
        let privacy = s.section("privacy").unwrap().unwrap();
        assert_eq!(privacy.decimal("max_risk").unwrap().unwrap().to_string(), "0.3");
        assert_eq!(privacy.get("max_risk").unwrap().line, 4);
        let error = privacy.only(&["k", "max_rsik"]).unwrap_err();
        assert_eq!(error.message, "p.toml, line 4: unknown key `max_risk` in [privacy]. Did you mean `max_rsik`?");
    }

    #[test]
    fn five_is_no_share() {
        let s = Section::parse("p.toml", "x = 5").unwrap();
        assert_eq!(
            s.share("x").unwrap_err().message,
            "p.toml, line 1: `x` in the policy must be a share from 0 to 1. Did you mean 0.05?"
        );
    }

    #[test]
    fn near_words_are_suggested() {
        assert_eq!(nearest("heirarchy", ["hierarchy", "role"]), Some("hierarchy"));
        assert_eq!(nearest("K", ["k", "knows"]), Some("k"));
        assert_eq!(nearest("banana", ["k", "knows"]), None);
    }
}
