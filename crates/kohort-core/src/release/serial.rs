//! How the values of a certificate are written and read: numbers with a meaning as their types,
//! lists with a bound, and errors that never show what a stranger wrote.

use crate::hierarchy::StandardHierarchy;
use crate::number::{Decimal, Fraction, K};
use crate::privacy::Padding;
use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A certificate is small; a stranger's may not be.
const LONGEST_LIST: usize = 2_000_000;

/// States what errors of this module begin with: the rest was written here and holds no value.
pub(super) const OURS: &str = "kohort: ";

/// A list of at most [`LONGEST_LIST`] items.
pub(super) struct Bounded<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bounded<T>, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = Bounded<T>;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bounded<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    if all.len() == LONGEST_LIST {
                        return Err(A::Error::custom(format!("{OURS}a list is longer than in any certificate")));
                    }
                    all.push(item);
                }
                Ok(Bounded(all))
            }
        }
        from.deserialize_seq(Items(PhantomData))
    }
}

/// Reads a list.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Bounded::deserialize(from)?.0)
}

/// Reads a list that may be left out, but not be null.
pub(super) fn maybe_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Vec<T>>, D::Error> {
    list(from).map(Some)
}

/// Reads a list of lists that may be left out.
pub(super) fn maybe_lists<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Vec<String>>>, D::Error> {
    let lists: Bounded<Bounded<String>> = Bounded::deserialize(from)?;
    Ok(Some(lists.0.into_iter().map(|own| own.0).collect()))
}

/// Reads a value that may be left out, but not be null.
pub(crate) fn maybe<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Serialize for K {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(self.get())
    }
}

impl<'de> Deserialize<'de> for K {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<K, D::Error> {
        K::new(u64::deserialize(from)?).ok_or_else(|| D::Error::custom(format!("{OURS}`claim.k` protects nobody")))
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fraction, D::Error> {
        let text = String::deserialize(from)?;
        // One share is written in one way: no sign, no needless zeros.
        let share = Decimal::parse(&text, b'.').and_then(Fraction::from_decimal).filter(|own| own.to_string() == text);
        share.ok_or_else(|| D::Error::custom(format!("{OURS}a share is not a number from 0 to 1")))
    }
}

impl Serialize for StandardHierarchy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for StandardHierarchy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StandardHierarchy, D::Error> {
        let known = StandardHierarchy::named(&String::deserialize(from)?);
        known.ok_or_else(|| D::Error::custom(format!("{OURS}`labels` of a column names an unknown hierarchy")))
    }
}

impl Serialize for Padding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Padding {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Padding, D::Error> {
        let padding = Padding::named(&String::deserialize(from)?);
        padding.ok_or_else(|| D::Error::custom(format!("{OURS}`padding` is unknown")))
    }
}

/// Reads JSON; the error says where and what, never which value.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        let at = format!("line {}, column {}", e.line(), e.column());
        let quoted = message.split('`').nth(1).unwrap_or_default();
        if !e.is_data() {
            return format!("not valid JSON ({at})");
        }
        // Names of fields that are missing or stand twice are ours; unknown ones are a stranger's.
        match message.strip_prefix(OURS) {
            Some(own) => own.split(" at line ").next().unwrap_or_default().to_string(),
            None if message.starts_with("missing field") => format!("`{quoted}` is missing"),
            None if message.starts_with("duplicate field") => format!("`{quoted}` appears twice ({at})"),
            None if message.starts_with("unknown field") => format!("an unknown key ({at})"),
            None if message.starts_with("unknown variant") => format!("an unknown word ({at})"),
            None => format!("a value of the wrong type ({at})"),
        }
    })
}
