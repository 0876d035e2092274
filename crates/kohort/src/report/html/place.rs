//! A number on the page knows where it is in metrics.json.

use super::escape::{disturbs, escape, prose};
use super::number::Shown;
use crate::evidence::metrics::{ByName, HiddenNumber, Masked, Noted, PowerRuleName, Trace, Unit};

/// States what the page shows where metrics.json holds nothing.
pub(super) const NONE: &str = "<span class=\"none\">–</span>";

/// A place in metrics.json: a value, and the path to it.
///
/// In a path, keys and positions are separated by dots. Within a key a dot or a backslash follows a
/// backslash, and what a page cannot hold is written as in JSON: `\u202e`.
#[derive(Debug)]
pub(super) struct MetricsPlace<'a, T> {
    /// The value there.
    pub(super) value: &'a T,
    path: String,
}

impl<T> Clone for MetricsPlace<'_, T> {
    fn clone(&self) -> Self {
        MetricsPlace { value: self.value, path: self.path.clone() }
    }
}

/// The place of a field: `at!(metrics, rows.out)` is `metrics.value.rows.out` with its path.
macro_rules! at {
    ($place:expr, $($field:ident).+) => {
        $place.below(|value| &value.$($field).+, concat!($(".", stringify!($field)),+))
    };
}
pub(super) use at;

/// The number, text or yes-or-no of a field: `figure!(metrics, rows.out)`.
macro_rules! figure {
    ($place:expr, $($field:ident).+) => {
        $crate::report::html::place::at!($place, $($field).+).figure()
    };
}
pub(super) use figure;

impl<'a, T> MetricsPlace<'a, T> {
    /// The whole of it.
    pub(super) fn root(value: &'a T) -> MetricsPlace<'a, T> {
        MetricsPlace { value, path: String::new() }
    }

    /// A field, by its path with a dot before each key: see `at!`.
    pub(super) fn below<U>(&self, field: impl FnOnce(&'a T) -> &'a U, path: &str) -> MetricsPlace<'a, U> {
        let path = path.replace(".r#", ".");
        let path = if self.path.is_empty() { path[1..].to_string() } else { format!("{}{path}", self.path) };
        MetricsPlace { value: field(self.value), path }
    }

    fn step<U>(&self, value: &'a U, step: &str) -> MetricsPlace<'a, U> {
        let path = if self.path.is_empty() { step.to_string() } else { format!("{}.{step}", self.path) };
        MetricsPlace { value, path }
    }
}

impl<T: PageValue> MetricsPlace<'_, T> {
    /// Shows what the page can show of it.
    pub(super) fn figure(&self) -> Figure {
        Figure { path: self.path.clone(), known: self.value.known() }
    }
}

impl<'a, T> MetricsPlace<'a, Option<T>> {
    /// The place, if there is anything.
    pub(super) fn some(&self) -> Option<MetricsPlace<'a, T>> {
        self.value.as_ref().map(|value| MetricsPlace { value, path: self.path.clone() })
    }
}

impl<'a, T> MetricsPlace<'a, Vec<T>> {
    /// The elements of a list.
    pub(super) fn elements(&self) -> Vec<MetricsPlace<'a, T>> {
        self.value.iter().enumerate().map(|(i, value)| self.step(value, &i.to_string())).collect()
    }
}

impl<'a, T> MetricsPlace<'a, Option<Vec<T>>> {
    /// The elements of a list, if there is one.
    pub(super) fn elements(&self) -> Vec<MetricsPlace<'a, T>> {
        self.some().map_or(Vec::new(), |list| list.elements())
    }
}

impl<'a, T> MetricsPlace<'a, ByName<T>> {
    /// The members of an object, in their order.
    pub(super) fn members(&self) -> Vec<(&'a str, MetricsPlace<'a, T>)> {
        self.value.0.iter().map(|(name, value)| (name.as_str(), self.step(value, &key(name)))).collect()
    }

    /// The member of this name.
    pub(super) fn member(&self, name: &str) -> Option<MetricsPlace<'a, T>> {
        self.value.get(name).map(|value| self.step(value, &key(name)))
    }
}

impl<'a> MetricsPlace<'a, Trace> {
    /// Shows what was noted, in its order.
    pub(super) fn members(&self) -> Vec<(&'a str, MetricsPlace<'a, Noted>)> {
        self.value.0.iter().map(|(name, value)| (name.as_str(), self.step(value, &key(name)))).collect()
    }
}

impl<'a> MetricsPlace<'a, Noted> {
    /// The same place as what it is.
    pub(super) fn of<U>(&self, value: &'a U) -> MetricsPlace<'a, U> {
        MetricsPlace { value, path: self.path.clone() }
    }
}

/// A name as a step of a path.
fn key(name: &str) -> String {
    let mut step = String::new();
    for c in name.chars() {
        match c {
            '.' | '\\' => step.extend(['\\', c]),
            c if disturbs(c) => step += &format!("\\u{:04x}", u32::from(c)),
            c => step.push(c),
        }
    }
    step
}

/// A value that the page can show.
pub(super) trait PageValue {
    /// The value.
    fn known(&self) -> Known;
}

/// Describes what is known of a value.
#[derive(Debug, Clone)]
pub(super) enum Known {
    /// A number, and as JSON writes it.
    Number(f64, String),
    /// A text, not yet escaped.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Nothing.
    Nothing,
}

fn number(x: f64, json: serde_json::Result<String>) -> Known {
    match json {
        Ok(json) if x.is_finite() => Known::Number(x, json),
        _ => Known::Nothing,
    }
}

impl PageValue for u64 {
    fn known(&self) -> Known {
        Known::Number(*self as f64, self.to_string())
    }
}

impl PageValue for usize {
    fn known(&self) -> Known {
        Known::Number(*self as f64, self.to_string())
    }
}

impl PageValue for f64 {
    fn known(&self) -> Known {
        number(*self, serde_json::to_string(self))
    }
}

impl PageValue for bool {
    fn known(&self) -> Known {
        Known::Flag(*self)
    }
}

impl PageValue for String {
    fn known(&self) -> Known {
        Known::Text(self.clone())
    }
}

impl PageValue for Unit {
    fn known(&self) -> Known {
        Known::Text(match self {
            Unit::Patient => "patient".into(),
            Unit::Row => "row".into(),
        })
    }
}

impl PageValue for PowerRuleName {
    fn known(&self) -> Known {
        Known::Text(match self {
            PowerRuleName::Variable => "variable".into(),
            PowerRuleName::Fixed => "fixed".into(),
        })
    }
}

impl<T: PageValue> PageValue for Option<T> {
    fn known(&self) -> Known {
        self.as_ref().map_or(Known::Nothing, PageValue::known)
    }
}

impl<T: PageValue> PageValue for Masked<T> {
    fn known(&self) -> Known {
        match self {
            Masked::Known(value) => value.known(),
            Masked::Hidden(HiddenNumber::Hidden) => Known::Text(HiddenNumber::WORD.into()),
        }
    }
}

impl PageValue for Noted {
    fn known(&self) -> Known {
        match self {
            Noted::Flag(flag) => flag.known(),
            Noted::Count(count) => count.known(),
            Noted::Number(number) => number.known(),
            Noted::Text(text) => text.known(),
            Noted::Nothing | Noted::Steps(_) | Noted::Share(_) | Noted::Part(_) => Known::Nothing,
        }
    }
}

/// A value of metrics.json that the page shows.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    path: String,
    known: Known,
}

impl Figure {
    /// Nothing.
    pub(super) const NOTHING: Figure = Figure { path: String::new(), known: Known::Nothing };

    /// The number.
    pub(super) fn number(&self) -> Option<f64> {
        if let Known::Number(x, _) = self.known { Some(x) } else { None }
    }

    /// The text, as it is: not yet escaped.
    pub(super) fn text(&self) -> Option<&str> {
        if let Known::Text(text) = &self.known { Some(text) } else { None }
    }

    /// Returns whether there is anything.
    pub(super) fn exists(&self) -> bool {
        !matches!(self.known, Known::Nothing)
    }

    /// For the page; a dash for nothing.
    pub(super) fn show(&self, shown: Shown) -> String {
        self.show_in("span", shown)
    }

    /// The same, but empty for nothing.
    pub(super) fn show_or_empty(&self, shown: Shown) -> String {
        if self.exists() { self.show(shown) } else { String::new() }
    }

    /// The same in another element than a span.
    pub(super) fn show_in(&self, element: &str, shown: Shown) -> String {
        match &self.known {
            Known::Number(x, json) => {
                let title = if element == "span" { format!(" title=\"{json}\"") } else { String::new() };
                let text = escape(&shown.text(*x));
                let path = escape(&self.path);
                format!("<{element} class=\"n\" data-metric=\"{path}\" data-value=\"{json}\"{title}>{text}</{element}>")
            }
            Known::Text(text) => prose(text),
            Known::Flag(true) => "yes".into(),
            Known::Flag(false) => "no".into(),
            Known::Nothing => NONE.into(),
        }
    }

    /// The number as people read it, nothing if there is none.
    pub(super) fn written(&self, shown: Shown) -> String {
        self.number().map_or(String::new(), |x| shown.text(x))
    }
}

/// A figure of a part that may be missing.
pub(super) fn of<T>(part: &Option<MetricsPlace<T>>, figure: impl FnOnce(&MetricsPlace<T>) -> Figure) -> Figure {
    part.as_ref().map_or(Figure::NOTHING, figure)
}
