//! A parameter of a method, described once: the manual, `--help`, error messages, `init` and `compare`
//! all take their words from here.

use kohort_core::number::K;

/// One key that `[method]` takes beside `name`.
#[derive(Debug)]
pub struct Param {
    /// The key in the policy file.
    pub key: &'static str,
    /// What it means, in full sentences for a data manager.
    pub help: &'static str,
    /// The values it takes.
    pub kind: Kind,
    /// The value it has when the policy does not set it.
    pub default: Default,
    /// A value that a custodian could write, in TOML.
    pub example: &'static str,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A fraction from 0 to 1.
    Share,
    /// A whole number.
    Whole,
    /// Any number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts in quotes.
    Texts,
    /// Anything else, described in words.
    Other(&'static str),
}

/// The value of a parameter that the policy does not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// This value, in TOML.
    Is(&'static str),
    /// A behaviour that no single value describes, in words.
    Means(&'static str),
    /// The policy must set it. Kohort shows a usual value, but never assumes one for a release.
    Required(Usual),
}

/// A usual value of a parameter that has no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usual {
    /// This value, in TOML.
    Is(&'static str),
    /// Half of k, rounded up.
    HalfOfK,
}

impl Usual {
    /// The value as written in a policy with this k. It is unknown if it depends on an unknown k.
    pub fn value(self, k: Option<K>) -> Option<String> {
        match self {
            Usual::Is(value) => Some(value.into()),
            Usual::HalfOfK => k.map(|k| k.get().div_ceil(2).to_string()),
        }
    }
}

impl Kind {
    /// The values in words.
    pub fn describe(self) -> String {
        match self {
            Kind::Share => "a share from 0 to 1".into(),
            Kind::Whole => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Flag => "`true` or `false`".into(),
            Kind::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
            Kind::Texts => "a list of texts".into(),
            Kind::Other(words) => words.into(),
        }
    }
}

impl Param {
    /// The default in words.
    pub fn describe_default(&self) -> String {
        match self.default {
            Default::Is(value) => format!("`{value}`"),
            Default::Means(words) => words.into(),
            Default::Required(Usual::Is(value)) => format!("none, must be set; `{value}` is usual"),
            Default::Required(Usual::HalfOfK) => "none, must be set; half of k is usual".into(),
        }
    }

    /// A usual value, if the policy must set the parameter.
    pub fn usual(&self) -> Option<Usual> {
        match self.default {
            Default::Required(usual) => Some(usual),
            Default::Is(_) | Default::Means(_) => None,
        }
    }
}
