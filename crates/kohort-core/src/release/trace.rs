//! Notes that a method takes of its search, for the custodian: it stays in the evidence and is never shared.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The name of the note of an early stop.
const STOPPED_EARLY: &str = "stopped_early";

/// Notes that a method takes of its search: values by name, in the method's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace(pub Vec<(String, Noted)>);

/// A value that a method notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Noted {
    /// There is none.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Steps, one after the other.
    Steps(Vec<TraceStep>),
    /// An estimated share.
    Share(TraceShare),
    /// Values that belong together.
    Part(Trace),
}

/// A step of a method that goes from coarse to fine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its number, from 1.
    pub step: usize,
    /// The column that became finer.
    pub column: String,
    /// The label that was replaced.
    pub value: String,
    /// The labels that replace it.
    pub into: Vec<String>,
    /// The gain of the step, by the objective.
    pub score: f64,
    /// Rows it changed.
    pub rows: u64,
    /// Labels that cannot become finer, up to here.
    pub invalid: usize,
    /// The point at which an interval was split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The mean loss of a cell after this step, from 0 (as in the original) to 1 (fully general).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Rows suppressed, up to here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<u64>,
}

/// An estimated share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TraceShare {
    /// Hits.
    pub hits: u64,
    /// Draws.
    pub draws: u64,
    /// The share.
    pub share: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

impl Trace {
    /// These values.
    pub fn of<const N: usize>(values: [(&str, Noted); N]) -> Trace {
        Trace(values.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }

    /// Adds a value.
    pub fn note(&mut self, name: &str, value: impl Into<Noted>) {
        self.0.push((name.to_string(), value.into()));
    }

    /// Notes that the method stopped early and kept its best result so far.
    pub fn note_early_stop(&mut self) {
        self.note(STOPPED_EARLY, true);
    }

    /// Returns whether the method stopped early, so that its result cannot be repeated.
    pub fn stopped_early(&self) -> bool {
        self.0.iter().any(|(name, value)| name == STOPPED_EARLY && *value == Noted::Flag(true))
    }

    /// The steps, where the method goes step by step.
    pub fn steps(&self) -> &[TraceStep] {
        let steps =
            self.0.iter().find_map(|(_, value)| if let Noted::Steps(steps) = value { Some(steps) } else { None });
        steps.map_or(&[], Vec::as_slice)
    }
}

macro_rules! noted {
    ($($type:ty => |$value:ident| $noted:expr;)*) => {$(
        impl From<$type> for Noted {
            fn from($value: $type) -> Noted {
                $noted
            }
        }
    )*};
}

noted! {
    bool => |flag| Noted::Flag(flag);
    u64 => |count| Noted::Count(count);
    usize => |count| Noted::Count(count as u64);
    f64 => |number| Noted::Number(number);
    &str => |text| Noted::Text(text.to_string());
    String => |text| Noted::Text(text);
    Vec<TraceStep> => |steps| Noted::Steps(steps);
    TraceShare => |share| Noted::Share(share);
    Trace => |part| Noted::Part(part);
}

impl<T: Into<Noted>> From<Option<T>> for Noted {
    fn from(value: Option<T>) -> Noted {
        value.map_or(Noted::Nothing, Into::into)
    }
}

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Trace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Trace, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Trace;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Trace, A::Error> {
                let mut values = Vec::new();
                while let Some(member) = map.next_entry()? {
                    values.push(member);
                }
                Ok(Trace(values))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
