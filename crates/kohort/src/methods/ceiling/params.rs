//! Parameters of `ceiling`: as written → as meant.

use super::METHOD;
use super::forbidden::Forbidden;
use kohort_core::Result;
use kohort_core::number::Fraction;
use kohort_core::policy::{Policy, Role, Value};
use kohort_core::privacy::Padding;

/// How far a record may be generalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceiling {
    /// As far as is best.
    Auto,
    /// No record further than this degree.
    At(Fraction),
}

impl Ceiling {
    /// The ceiling as in policies.
    pub fn name(self) -> String {
        match self {
            Ceiling::Auto => "auto".to_string(),
            Ceiling::At(h) => h.to_string(),
        }
    }
}

/// The measure by which the chosen levels are best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeilingObjective {
    /// Reconstruction error, attribute by attribute; synthetic records count.
    Rce,
    /// The mean share of leaves a cell no longer tells apart.
    Loss,
}

impl CeilingObjective {
    /// Names in policies.
    pub const NAMES: [(&'static str, CeilingObjective); 2] =
        [("rce", CeilingObjective::Rce), ("loss", CeilingObjective::Loss)];

    /// Its name in policies.
    pub fn name(self) -> &'static str {
        CeilingObjective::NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }
}

/// How many synthetic records are added within `max_counterfeits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefer {
    /// As many as pay: the bend of the curve of cost against synthetic records.
    Few,
    /// As many as make the cost least.
    Detail,
}

impl Prefer {
    /// Names in policies.
    pub const NAMES: [(&'static str, Prefer); 2] = [("few", Prefer::Few), ("detail", Prefer::Detail)];
}

/// How values are recoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recode {
    /// Each column at one level.
    Global,
    /// Each group of records only as far as it must be.
    Local,
}

impl Recode {
    /// Names in policies.
    pub const NAMES: [(&'static str, Recode); 2] = [("global", Recode::Global), ("local", Recode::Local)];
}

/// The records that the limits on sensitive values are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limits {
    /// The rows shown, and the real people among them.
    Real,
    /// The rows shown: synthetic records help to meet them.
    Shown,
}

impl Limits {
    /// Names in policies.
    pub const NAMES: [(&'static str, Limits); 2] = [("real", Limits::Real), ("shown", Limits::Shown)];
}

/// The parameters beside `name = "ceiling"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// `h`: the highest degree of generalization of any record, or "auto".
    pub ceiling: Ceiling,
    /// `recode`: default "global".
    pub recode: Recode,
    /// `real_k`: the least number of real people in a class, from 1 to k.
    pub real_k: u64,
    /// `max_counterfeits`: the share of the rows that may be added.
    pub max_counterfeits: Fraction,
    /// `padding`: whether classes are filled to k or to a number drawn for each. Default "randomized".
    pub padding: Padding,
    /// `catalog`: whether the recipient is told how many rows are synthetic. Default "none".
    pub catalog: bool,
    /// `objective`: default "rce".
    pub objective: CeilingObjective,
    /// `prefer`: default "few".
    pub prefer: Prefer,
    /// `limits`: default "real".
    pub limits: Limits,
    /// `forbidden`: combinations that no synthetic record may show.
    pub forbidden: Forbidden,
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy) -> Result<Params> {
        let section = &policy.method;
        let ceiling = match section.get("h").map(|item| &item.value) {
            None => return Err(METHOD.missing(policy, "h")),
            Some(Value::Text(word)) if word == "auto" => Ceiling::Auto,
            Some(Value::Text(_)) => return Err(section.wrong("h", "must be a share from 0 to 1, or \"auto\".")),
            Some(_) => Ceiling::At(section.share("h")?.unwrap_or(Fraction::ONE)),
        };
        let k = policy.privacy.k.get();
        let real_k = match section.whole("real_k")? {
            None => return Err(METHOD.missing(policy, "real_k")),
            Some(real_k) if real_k == 0 || real_k > k => {
                return Err(section.wrong("real_k", format!("must be from 1 to k = {k}.")));
            }
            Some(real_k) => real_k,
        };
        let Some(max_counterfeits) = section.share("max_counterfeits")? else {
            return Err(METHOD.missing(policy, "max_counterfeits"));
        };
        let sensitive = policy.positions(|r| matches!(r, Role::Sensitive { .. })).len();
        let catalog = policy.own.synthetic.as_ref().is_some_and(|i| i.catalog);
        if catalog && sensitive != 1 {
            let found = match sensitive {
                0 => "no column has role = \"sensitive\"".to_string(),
                n => format!("{n} columns have role = \"sensitive\""),
            };
            return Err(section.wrong(
                "catalog",
                format!(
                    "lists synthetic records by their sensitive value, but {found}. Exactly one column must \
                     have it."
                ),
            ));
        }
        let recode = section.word("recode", &Recode::NAMES)?.unwrap_or(Recode::Global);
        if catalog && recode == Recode::Local {
            return Err(section.wrong(
                "catalog",
                "\"grouped\" needs recode = \"global\": with \"local\" labels overlap, so that a person may match several \
                 classes, and the limit that a catalog promises is not known. Use catalog = \"none\".",
            ));
        }
        Ok(Params {
            ceiling,
            recode,
            real_k,
            max_counterfeits,
            padding: section.word("padding", &Padding::NAMES)?.unwrap_or(Padding::Randomized),
            catalog,
            objective: section.word("objective", &CeilingObjective::NAMES)?.unwrap_or(CeilingObjective::Rce),
            prefer: section.word("prefer", &Prefer::NAMES)?.unwrap_or(Prefer::Few),
            limits: section.word("limits", &Limits::NAMES)?.unwrap_or(Limits::Real),
            forbidden: Forbidden::read(policy)?,
        })
    }
}
