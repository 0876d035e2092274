//! A parameter of a method, described once: the manual, `--help`, error messages, `init` and `compare`
//! all take their words from here.

use kohort_core::number::K;

/// The word for recoding record by record.
pub const LOCAL: &str = "local";

/// One key that `[method]` takes beside `name`.
#[derive(Debug)]
pub struct Param {
    /// The key in the policy file.
    pub key: &'static str,
    /// The meaning, in full sentences for a data manager.
    pub help: &'static str,
    /// The values it takes.
    pub kind: ValueKind,
    /// The value it has when the policy does not set it.
    pub default: DefaultValue,
    /// A value that a custodian could write, in TOML.
    pub example: &'static str,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A fraction from 0 to 1.
    Share,
    /// A whole number.
    Whole,
    /// A whole number from 1 to k.
    UpToK,
    /// Any number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Either `"global"`, each column at one level, or `"local"`, each record as far as it must be. With `"local"`
    /// labels overlap, whatever the method's entry says about its effects.
    Recoding,
    /// A list of texts in quotes.
    Texts,
    /// Anything else, described in words.
    Other(&'static str),
}

/// The value of a parameter that the policy does not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
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

impl ValueKind {
    /// The words that are permitted, where it is one of several.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            ValueKind::Word(words) => words,
            ValueKind::Recoding => &["global", LOCAL],
            _ => &[],
        }
    }

    /// The values in words.
    pub fn describe(self) -> String {
        match self {
            ValueKind::Share => "a share from 0 to 1".into(),
            ValueKind::Whole => "a whole number".into(),
            ValueKind::UpToK => "a whole number from 1 to k".into(),
            ValueKind::Number => "a number".into(),
            ValueKind::Flag => "`true` or `false`".into(),
            ValueKind::Word(_) | ValueKind::Recoding => {
                self.words().iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
            }
            ValueKind::Texts => "a list of texts".into(),
            ValueKind::Other(words) => words.into(),
        }
    }
}

impl Param {
    /// The values in words, for a policy with this k.
    pub fn values(&self, k: K) -> String {
        match self.kind {
            ValueKind::UpToK => format!("{} = {}", self.kind.describe(), k.get()),
            kind => kind.describe(),
        }
    }

    /// The default in words.
    pub fn describe_default(&self) -> String {
        match self.default {
            DefaultValue::Is(value) => format!("`{value}`"),
            DefaultValue::Means(words) => words.into(),
            DefaultValue::Required(Usual::Is(value)) => format!("none, must be set; `{value}` is usual"),
            DefaultValue::Required(Usual::HalfOfK) => "none, must be set; half of k is usual".into(),
        }
    }

    /// A usual value, if the policy must set the parameter.
    pub fn usual(&self) -> Option<Usual> {
        match self.default {
            DefaultValue::Required(usual) => Some(usual),
            DefaultValue::Is(_) | DefaultValue::Means(_) => None,
        }
    }
}
