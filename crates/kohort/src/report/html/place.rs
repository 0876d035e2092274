//! A number on the page knows where it is in metrics.json.

use super::escape::{disturbs, escape, prose};
use super::number::Shown;
use crate::evidence::metrics::{ByName, Hidden, Masked, Noted, PowerRuleName, Trace, Unit};

/// What the page shows where metrics.json holds nothing.
pub(super) const NONE: &str = "<span class=\"none\">–</span>";

/// A place in metrics.json: a value, and the path to it.
///
/// In a path, keys and positions are separated by dots. Within a key a dot or a backslash follows a
/// backslash, and what a page cannot hold is written as in JSON: `\u202e`.
#[derive(Debug)]
pub(super) struct Place<'a, T> {
    /// The value there.
    pub(super) value: &'a T,
    path: String,
}

impl<T> Clone for Place<'_, T> {
    fn clone(&self) -> Self {
        Place { value: self.value, path: self.path.clone() }
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

impl<'a, T> Place<'a, T> {
    /// The whole of it.
    pub(super) fn root(value: &'a T) -> Place<'a, T> {
        Place { value, path: String::new() }
    }

    /// A field, by its path with a dot before each key: see `at!`.
    pub(super) fn below<U>(&self, field: impl FnOnce(&'a T) -> &'a U, path: &str) -> Place<'a, U> {
        let path = path.replace(".r#", ".");
        let path = if self.path.is_empty() { path[1..].to_string() } else { format!("{}{path}", self.path) };
        Place { value: field(self.value), path }
    }

    fn step<U>(&self, value: &'a U, step: &str) -> Place<'a, U> {
        let path = if self.path.is_empty() { step.to_string() } else { format!("{}.{step}", self.path) };
        Place { value, path }
    }
}

impl<T: Leaf> Place<'_, T> {
    /// What the page can show of it.
    pub(super) fn figure(&self) -> Figure {
        Figure { path: self.path.clone(), known: self.value.known() }
    }
}

impl<'a, T> Place<'a, Option<T>> {
    /// The place, if there is anything.
    pub(super) fn some(&self) -> Option<Place<'a, T>> {
        self.value.as_ref().map(|value| Place { value, path: self.path.clone() })
    }
}

impl<'a, T> Place<'a, Vec<T>> {
    /// The elements of a list.
    pub(super) fn elements(&self) -> Vec<Place<'a, T>> {
        self.value.iter().enumerate().map(|(i, value)| self.step(value, &i.to_string())).collect()
    }
}

impl<'a, T> Place<'a, Option<Vec<T>>> {
    /// The elements of a list, if there is one.
    pub(super) fn elements(&self) -> Vec<Place<'a, T>> {
        self.some().map_or(Vec::new(), |list| list.elements())
    }
}

impl<'a, T> Place<'a, ByName<T>> {
    /// The members of an object, in their order.
    pub(super) fn members(&self) -> Vec<(&'a str, Place<'a, T>)> {
        self.value.0.iter().map(|(name, value)| (name.as_str(), self.step(value, &key(name)))).collect()
    }

    /// The member of this name.
    pub(super) fn member(&self, name: &str) -> Option<Place<'a, T>> {
        self.value.get(name).map(|value| self.step(value, &key(name)))
    }
}

impl<'a> Place<'a, Trace> {
    /// What was noted, in its order.
    pub(super) fn members(&self) -> Vec<(&'a str, Place<'a, Noted>)> {
        self.value.0.iter().map(|(name, value)| (name.as_str(), self.step(value, &key(name)))).collect()
    }
}

impl<'a> Place<'a, Noted> {
    /// The same place as what it is.
    pub(super) fn of<U>(&self, value: &'a U) -> Place<'a, U> {
        Place { value, path: self.path.clone() }
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
pub(super) trait Leaf {
    /// The value.
    fn known(&self) -> Known;
}

/// What is known of a value.
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

impl Leaf for u64 {
    fn known(&self) -> Known {
        Known::Number(*self as f64, self.to_string())
    }
}

impl Leaf for usize {
    fn known(&self) -> Known {
        Known::Number(*self as f64, self.to_string())
    }
}

impl Leaf for f64 {
    fn known(&self) -> Known {
        number(*self, serde_json::to_string(self))
    }
}

impl Leaf for bool {
    fn known(&self) -> Known {
        Known::Flag(*self)
    }
}

impl Leaf for String {
    fn known(&self) -> Known {
        Known::Text(self.clone())
    }
}

impl Leaf for Unit {
    fn known(&self) -> Known {
        Known::Text(match self {
            Unit::Patient => "patient".into(),
            Unit::Row => "row".into(),
        })
    }
}

impl Leaf for PowerRuleName {
    fn known(&self) -> Known {
        Known::Text(match self {
            PowerRuleName::Variable => "variable".into(),
            PowerRuleName::Fixed => "fixed".into(),
        })
    }
}

impl<T: Leaf> Leaf for Option<T> {
    fn known(&self) -> Known {
        self.as_ref().map_or(Known::Nothing, Leaf::known)
    }
}

impl<T: Leaf> Leaf for Masked<T> {
    fn known(&self) -> Known {
        match self {
            Masked::Known(value) => value.known(),
            Masked::Hidden(Hidden::Hidden) => Known::Text(Hidden::WORD.into()),
        }
    }
}

impl Leaf for Noted {
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

    /// Whether there is anything.
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
pub(super) fn of<T>(part: &Option<Place<T>>, figure: impl FnOnce(&Place<T>) -> Figure) -> Figure {
    part.as_ref().map_or(Figure::NOTHING, figure)
}
