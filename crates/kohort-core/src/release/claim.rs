//! The claim of a certificate, for each shape.

use super::serial::{self, Bounded, OURS};
use crate::hierarchy::StandardHierarchy;
use crate::number::{Fraction, K};
use crate::policy::{Power, PowerRule, TDistance};
use crate::privacy::{LDiversity, Padding};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A column of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnClaim {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// The columns a detail is finer than.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "serial::list")]
    pub of: Vec<String>,
    /// The hierarchy its labels are of, where every Kohort knows it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub labels: Option<StandardHierarchy>,
}

/// The knowledge that the attacker may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnowsClaim {
    /// All quasi-identifiers.
    All,
    /// Any so many of them, or fewer.
    Any(usize),
    /// One of these sets of columns.
    Sets(Vec<Vec<String>>),
}

/// t-closeness in the release's own values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TClaim {
    /// t.
    pub max: Fraction,
    /// How far apart two values are.
    pub distance: TDistance,
    /// The order of the released values, for distance by order.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_list")]
    pub order: Option<Vec<String>>,
    /// The path of each released value up to the root, for distance by hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_lists")]
    pub tree: Option<Vec<Vec<String>>>,
}

impl TClaim {
    /// Says in words how far apart two values are.
    pub fn words(&self) -> &'static str {
        match self.distance {
            TDistance::Equal => "every two values being equally far apart",
            TDistance::Ordered => "measured along the order that the certificate lists",
            TDistance::Hierarchical => "measured in the tree that the certificate lists",
        }
    }
}

/// The claim about one sensitive column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitiveClaim {
    /// The column.
    pub column: String,
    /// The values that confidence is about; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe_list")]
    pub values: Option<Vec<String>>,
    /// C.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub confidence: Option<Fraction>,
    /// l.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub l_diversity: Option<LDiversity>,
    /// t.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub t_closeness: Option<TClaim>,
}

/// The claim of a release of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The least number of people in a class.
    pub k: K,
    /// The knowledge that the attacker may have.
    pub knows: KnowsClaim,
    /// Sensitive columns with requirements.
    #[serde(deserialize_with = "serial::list")]
    pub sensitive: Vec<SensitiveClaim>,
    /// Where records may be synthetic: what is claimed of the others. Only the custodian can know it, so that
    /// a certificate writes it among what is attested.
    #[serde(skip)]
    pub synthetic: Option<SyntheticClaim>,
}

/// The claim of a release in which some records are synthetic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticClaim {
    /// The least number of real people in a class.
    pub real_k: u64,
    /// How classes were filled.
    pub padding: Padding,
    /// The sensitive column of the catalog, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub catalog: Option<String>,
    /// True if the limits on sensitive values hold with the synthetic records, but perhaps not without them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits_shown_only: bool,
}

/// The claim of a release of codes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodesClaim {
    /// The least number of patients who may have any m codes that a patient has.
    pub k: K,
    /// The number of a patient's codes that the attacker may know.
    #[serde(deserialize_with = "known_codes")]
    pub m: usize,
    /// True if every distinct subrecord, not only every m codes of it, is there k times (S7).
    pub aware: bool,
    /// True if no code reveals another.
    pub no_cover: bool,
    /// Codes that are in item chunks only.
    #[serde(deserialize_with = "serial::list")]
    pub sensitive: Vec<String>,
    /// The largest share of a cluster's patients who have one of them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "serial::maybe")]
    pub confidence: Option<Fraction>,
}

/// A table of a release of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableClaim {
    /// Its name: the file is NAME.csv.
    pub name: String,
    /// Its columns, in order.
    #[serde(deserialize_with = "serial::list")]
    pub columns: Vec<ColumnClaim>,
}

/// The claim of a release of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "EventsWritten", into = "EventsWritten")]
pub struct EventsClaim {
    /// A patient is at high risk where fewer match.
    pub k: K,
    /// The facts that the attacker knows about a patient's events.
    pub power: Power,
    /// The share of patients who may be at high risk.
    pub max_high_risk: Fraction,
    /// The tables, patients first: the name of each and its number of columns. A certificate writes them with
    /// their columns, so that they are not part of the claim there.
    pub tables: Vec<(String, usize)>,
}

impl EventsClaim {
    /// The columns of each table, patients first.
    pub fn columns_of<'a>(&self, columns: &'a [ColumnClaim]) -> Vec<(&str, &'a [ColumnClaim])> {
        let mut rest = columns;
        let mut tables = Vec::new();
        for (name, number) in &self.tables {
            let (own, behind) = rest.split_at((*number).min(rest.len()));
            rest = behind;
            tables.push((name.as_str(), own));
        }
        tables
    }
}

/// As a certificate writes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventsWritten {
    k: K,
    power: PowerWritten,
    max_high_risk: Fraction,
}

/// The attacker's knowledge, as a certificate writes it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum PowerWritten {
    /// Values of each column, as many of every patient.
    Values(Few<20>),
    /// Values of each column, more of patients with more events.
    VariableValues(Few<20>),
    /// Whole events.
    Events(Few<20>),
    /// Two columns of events.
    Pairs(Few<20>),
    /// Facts in total.
    Total(Few<3>),
}

/// A number from 1 to `MOST`.
#[derive(Clone, Copy)]
struct Few<const MOST: usize>(usize);

impl<const MOST: usize> Serialize for Few<MOST> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(self.0 as u64)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Few<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Few<MOST>, D::Error> {
        match usize::deserialize(from)? {
            p if (1..=MOST).contains(&p) => Ok(Few(p)),
            _ => Err(D::Error::custom(format!("{OURS}`claim.power` is not a number of values"))),
        }
    }
}

impl From<EventsWritten> for EventsClaim {
    fn from(written: EventsWritten) -> EventsClaim {
        let power = match written.power {
            PowerWritten::Values(p) => Power::Values { p: p.0, rule: PowerRule::Fixed },
            PowerWritten::VariableValues(p) => Power::Values { p: p.0, rule: PowerRule::Variable },
            PowerWritten::Events(p) => Power::Events { p: p.0 },
            PowerWritten::Pairs(p) => Power::Pairs { p: p.0 },
            PowerWritten::Total(p) => Power::Total { p: p.0 },
        };
        let EventsWritten { k, max_high_risk, .. } = written;
        EventsClaim { k, power, max_high_risk, tables: Vec::new() }
    }
}

impl From<EventsClaim> for EventsWritten {
    fn from(claim: EventsClaim) -> EventsWritten {
        let power = match claim.power {
            Power::Values { p, rule: PowerRule::Fixed } => PowerWritten::Values(Few(p)),
            Power::Values { p, rule: PowerRule::Variable } => PowerWritten::VariableValues(Few(p)),
            Power::Events { p } => PowerWritten::Events(Few(p)),
            Power::Pairs { p } => PowerWritten::Pairs(Few(p)),
            Power::Total { p } => PowerWritten::Total(Few(p)),
        };
        let EventsClaim { k, max_high_risk, .. } = claim;
        EventsWritten { k, power, max_high_risk }
    }
}

fn known_codes<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match usize::deserialize(from)? {
        m if (1..=20).contains(&m) => Ok(m),
        _ => Err(D::Error::custom(format!("{OURS}`claim.m` is not a number of codes"))),
    }
}

impl Serialize for KnowsClaim {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            KnowsClaim::All => to.serialize_str("all"),
            KnowsClaim::Any(n) => n.serialize(to),
            KnowsClaim::Sets(sets) => sets.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for KnowsClaim {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<KnowsClaim, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Word(String),
            Number(usize),
            Sets(Bounded<Bounded<String>>),
        }
        match Written::deserialize(from)? {
            Written::Word(word) if word == "all" => Ok(KnowsClaim::All),
            Written::Word(_) => Err(D::Error::custom(format!("{OURS}`claim.knows` is unknown"))),
            Written::Number(n) => Ok(KnowsClaim::Any(n)),
            Written::Sets(sets) => Ok(KnowsClaim::Sets(sets.0.into_iter().map(|own| own.0).collect())),
        }
    }
}
