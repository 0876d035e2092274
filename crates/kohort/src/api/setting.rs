//! The value of a key in a policy, from a value of Rust.

use kohort_core::policy::{Item, Section, Value};

/// A value as a policy writes it: a number, a text, true or false, a list, or a section of keys.
/// Anything that converts into one can be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting(pub(super) Value);

impl Setting {
    /// A section of keys: `{ distinct = 3 }`.
    ///
    /// ```
    /// let setting = kohort::Setting::keys([("distinct", 3)]);
    /// ```
    pub fn keys<K: Into<String>, V: Into<Setting>>(entries: impl IntoIterator<Item = (K, V)>) -> Setting {
        let mut section = empty();
        for (key, value) in entries {
            let key: String = key.into();
            put(&mut section, &key, value.into());
        }
        Setting(Value::Section(section))
    }
}

pub(super) fn empty() -> Section {
    Section::empty("the policy", "the policy")
}

/// Sets a key, in place of what it was.
pub(super) fn put(section: &mut Section, key: &str, value: Setting) {
    let item = Item { value: value.0, line: 0 };
    match section.entries.iter_mut().find(|(own, _)| own == key) {
        Some((_, own)) => *own = item,
        None => section.entries.push((key.to_string(), item)),
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Setting {
            /// The shortest decimal that means this number, which is the one that was typed.
            fn from(number: $number) -> Setting {
                Setting(Value::Number(number.to_string()))
            }
        }
    )*};
}
numbers!(i8 i16 i32 i64 u8 u16 u32 u64 usize f64);

impl From<bool> for Setting {
    fn from(flag: bool) -> Setting {
        Setting(Value::Flag(flag))
    }
}

impl From<&str> for Setting {
    fn from(text: &str) -> Setting {
        Setting(Value::Text(text.into()))
    }
}

impl From<String> for Setting {
    fn from(text: String) -> Setting {
        Setting(Value::Text(text))
    }
}

impl<T: Into<Setting>> From<Vec<T>> for Setting {
    fn from(items: Vec<T>) -> Setting {
        let item = |value: T| Item { value: value.into().0, line: 0 };
        Setting(Value::List(items.into_iter().map(item).collect()))
    }
}

impl<T: Into<Setting>, const N: usize> From<[T; N]> for Setting {
    fn from(items: [T; N]) -> Setting {
        Setting::from(Vec::from(items))
    }
}
