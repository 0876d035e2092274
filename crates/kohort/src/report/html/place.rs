//! A number on the page knows where it stands in metrics.json.

use super::escape::{disturbs, escape, prose};
use super::number::Shown;
use serde_json::Value;

const NOTHING: Value = Value::Null;

/// What the page shows where metrics.json holds nothing.
pub(super) const NONE: &str = "<span class=\"none\">–</span>";

/// A place in metrics.json: what stands there, and the path to it.
///
/// In a path, keys and positions are separated by dots. Within a key a dot or a backslash follows a
/// backslash, and what a page cannot hold is written as in JSON: `\u202e`.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Place<'a> {
    /// The whole of it.
    pub(super) fn root(metrics: &'a Value) -> Place<'a> {
        Place { value: metrics, path: String::new() }
    }

    /// The place at a path of plain keys.
    pub(super) fn at(&self, path: &str) -> Place<'a> {
        path.split('.').fold(self.clone(), |place, key| place.key(key))
    }

    /// What stands under a key, whatever is in it.
    pub(super) fn key(&self, key: &str) -> Place<'a> {
        let mut step = String::new();
        for c in key.chars() {
            match c {
                '.' | '\\' => step.extend(['\\', c]),
                c if disturbs(c) => step += &format!("\\u{:04x}", u32::from(c)),
                c => step.push(c),
            }
        }
        self.below(self.value.get(key).unwrap_or(&NOTHING), &step)
    }

    fn below(&self, value: &'a Value, step: &str) -> Place<'a> {
        let path = if self.path.is_empty() { step.to_string() } else { format!("{}.{step}", self.path) };
        Place { value, path }
    }

    /// The members of an object, in their order.
    pub(super) fn members(&self) -> Vec<(&'a str, Place<'a>)> {
        self.value.as_object().into_iter().flatten().map(|(key, _)| (key.as_str(), self.key(key))).collect()
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> Vec<Place<'a>> {
        let elements = self.value.as_array().into_iter().flatten().enumerate();
        elements.map(|(i, value)| self.below(value, &i.to_string())).collect()
    }

    /// The strings of an array.
    pub(super) fn texts(&self) -> Vec<&'a str> {
        self.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The string that stands here, as it is: not yet escaped.
    pub(super) fn text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The number that stands here.
    pub(super) fn number(&self) -> Option<f64> {
        self.value.as_f64()
    }

    /// Whether anything stands here.
    pub(super) fn exists(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether the same stands in both places.
    pub(super) fn same(&self, other: &Place) -> bool {
        self.value == other.value
    }

    /// Whether a plain yes stands here.
    pub(super) fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// Whether a plain no stands here.
    pub(super) fn is_false(&self) -> bool {
        self.value == &Value::Bool(false)
    }

    /// What stands here as JSON, escaped.
    pub(super) fn json(&self) -> String {
        escape(&self.value.to_string())
    }

    /// What stands here, for the page; a dash for nothing.
    pub(super) fn show(&self, shown: Shown) -> String {
        self.show_in("span", shown)
    }

    /// The same in another element than a span.
    pub(super) fn show_in(&self, element: &str, shown: Shown) -> String {
        match self.value {
            Value::Number(_) => {
                let title = if element == "span" { format!(" title=\"{}\"", self.json()) } else { String::new() };
                let text = escape(&self.figure(shown));
                format!("<{element} class=\"n\" {}{title}>{text}</{element}>", self.attributes())
            }
            Value::String(text) => prose(text),
            Value::Bool(true) => "yes".into(),
            Value::Bool(false) => "no".into(),
            Value::Null => NONE.into(),
            Value::Array(_) | Value::Object(_) => format!("<code>{}</code>", self.json()),
        }
    }

    /// The number as people read it, nothing if there is none.
    pub(super) fn figure(&self, shown: Shown) -> String {
        self.number().map_or(String::new(), |x| shown.text(x))
    }

    /// Where a number stands and what it exactly is.
    pub(super) fn attributes(&self) -> String {
        format!("data-metric=\"{}\" data-value=\"{}\"", escape(&self.path), self.json())
    }
}
