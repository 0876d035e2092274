//! The building blocks of metrics: structs whose documentation is also the reference, maps that keep their order,
//! and numbers that may be hidden from other readers.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Declares parts of the metrics: structs whose keys in JSON are the names of their fields, and whose
/// documentation is the reference (`docs/reference/metrics.md`).
macro_rules! parts {
    ($(
        $(#[doc = $about:expr])*
        pub struct $name:ident {
            $($(#[doc = $doc:expr])* $(#[serde($($serde:tt)*)])? pub $field:ident: $kind:ty,)*
        }
    )*) => {$(
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? pub $field: $kind,)*
        }

        impl $crate::evidence::metrics::Described for $name {
            fn describe(path: &str, _: &str, described: &mut Vec<$crate::evidence::metrics::MetricsKey>) {
                $({
                    // The keys of a flattened part are keys of the whole.
                    let flattened = concat!("" $(, stringify!($($serde)*))?) == "flatten";
                    let field = $crate::evidence::metrics::below(path, stringify!($field));
                    let path = if flattened { path } else { &field };
                    <$kind as $crate::evidence::metrics::Described>::describe(path, concat!("" $(, $doc)*), described);
                })*
            }
        }
    )*};
}
pub(crate) use parts;

/// A key of metrics.json, for the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsKey {
    /// The path to it: keys separated by dots, `N` for a place in a list, `NAME` for a name in a map.
    pub path: String,
    /// The kind of value it has.
    pub kind: &'static str,
    /// The meaning, in words.
    pub meaning: String,
}

/// A type that knows its keys and what they mean.
pub trait Described {
    /// Adds what is at this path and below it. `meaning` is the documentation of the field that holds it.
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>);
}

/// The path of a field below another path.
pub(crate) fn below(path: &str, field: &str) -> String {
    let key = field.strip_prefix("r#").unwrap_or(field);
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

macro_rules! leaves {
    ($($kind:literal: $($type:ty),+;)*) => {$($(
        impl Described for $type {
            fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
                described.push(MetricsKey { path: path.into(), kind: $kind, meaning: meaning.trim().into() });
            }
        }
    )+)*};
}
pub(crate) use leaves;

leaves! {
    "count": u64, usize;
    "number": f64;
    "text": String;
    "yes or no": bool;
}

impl<T: Described> Described for Option<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(path, meaning, described);
    }
}

impl<T: Described> Described for Box<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(path, meaning, described);
    }
}

impl<T: Described> Described for Vec<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(&below(path, "N"), meaning, described);
    }
}

impl<T: Described, const N: usize> Described for [T; N] {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(&below(path, "N"), meaning, described);
    }
}

/// Values by name, in a fixed order.
#[derive(Debug, Clone, PartialEq)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T> ByName<T> {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }
}

impl<T: Default> ByName<T> {
    /// The value of this name; one is added if there is none.
    pub fn entry(&mut self, name: &str) -> &mut T {
        let at = self.0.iter().position(|(own, _)| own == name).unwrap_or_else(|| {
            self.0.push((name.to_string(), T::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(Vec::new())
    }
}

impl<T> FromIterator<(String, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(all: I) -> ByName<T> {
        ByName(all.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ByName<T>, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = ByName<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByName<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(ByName(all))
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

impl<T: Described> Described for ByName<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(&below(path, "NAME"), meaning, described);
    }
}

/// A number that a report for other readers may have to hide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Masked<T> {
    /// The number.
    Known(T),
    /// It is too small to be shown, or would reveal one that is.
    Hidden(HiddenNumber),
}

/// The text in place of a hidden number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HiddenNumber {
    /// `"hidden"`.
    Hidden,
}

impl HiddenNumber {
    /// The word in reports.
    pub const WORD: &str = "hidden";
}

impl<T: Copy> Masked<T> {
    /// A number that is not shown.
    pub const HIDDEN: Masked<T> = Masked::Hidden(HiddenNumber::Hidden);

    /// The number, unless it is hidden.
    pub fn known(self) -> Option<T> {
        match self {
            Masked::Known(number) => Some(number),
            Masked::Hidden(HiddenNumber::Hidden) => None,
        }
    }
}

impl<T> From<T> for Masked<T> {
    fn from(number: T) -> Masked<T> {
        Masked::Known(number)
    }
}

impl<T: Described> Described for Masked<T> {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        T::describe(path, meaning, described);
    }
}
