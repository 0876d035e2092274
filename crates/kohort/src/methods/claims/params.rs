//! The parameters of `claims`: as written → checked.

use kohort_core::number::Fraction;
use kohort_core::policy::{Policy, Value};
use kohort_core::shape::Events;
use kohort_core::{Error, Result};

/// Checked parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Percentiles of events per patient beyond which events are dropped; each is searched by
    /// itself. 1 drops none.
    pub truncate: Vec<Fraction>,
    /// A node is a candidate up to this share of patients at high risk.
    pub max_flagged: Fraction,
    /// A patient is flagged beyond this share of their draws. 1 flags nobody.
    pub residual: Fraction,
    /// The share of events that may be removed from flagged patients.
    pub max_suppressed: Fraction,
    /// Draws of the final estimate.
    pub draws: usize,
    /// Nodes that are tested at most.
    pub max_nodes: u64,
}

impl Params {
    /// Reads and checks the keys beside `name`.
    pub fn read(policy: &Policy<Events>) -> Result<Params> {
        let section = &policy.method;
        let claims = &policy.own;
        let share = |key: &str, usual: Fraction| Ok::<Fraction, Error>(section.share(key)?.unwrap_or(usual));
        let max_flagged = share("max_flagged", claims.max_high_risk)?;
        if max_flagged.to_f64() < claims.max_high_risk.to_f64() {
            return Err(
                section.wrong("max_flagged", "must not be below max_high_risk: suppression makes up the difference.")
            );
        }
        let draws = section.whole("draws")?.unwrap_or(100_000);
        if !(1_000..=10_000_000).contains(&draws) {
            return Err(section.wrong("draws", "must be from 1,000 to 10,000,000."));
        }
        let max_nodes = section.whole("max_nodes")?.unwrap_or(50_000);
        if max_nodes == 0 {
            return Err(section.wrong("max_nodes", "must be at least 1."));
        }
        Ok(Params {
            truncate: read_truncate(policy)?,
            max_flagged,
            residual: share("residual", half())?,
            max_suppressed: share("max_suppressed", tenth())?,
            draws: draws as usize,
            max_nodes,
        })
    }
}

fn fraction(text: &str) -> Fraction {
    kohort_core::number::Decimal::parse(text, b'.').and_then(Fraction::from_decimal).unwrap_or(Fraction::NONE)
}

fn half() -> Fraction {
    fraction("0.5")
}

fn tenth() -> Fraction {
    fraction("0.1")
}

/// One percentile or a list of them.
fn read_truncate(policy: &Policy<Events>) -> Result<Vec<Fraction>> {
    let section = &policy.method;
    let wrong = || {
        section.wrong("truncate", "must be shares above 0 and up to 1: 0.95, or [1.0, 0.99, 0.95]. 1 is off, and usually best (truncation raises the risk of those who keep their events).")
    };
    let numbers = match section.get("truncate").map(|item| &item.value) {
        None => return Ok(vec![fraction("1")]),
        Some(Value::List(_)) => section.decimals("truncate")?.unwrap_or_default(),
        Some(_) => section.decimal("truncate")?.into_iter().collect(),
    };
    let shares: Option<Vec<Fraction>> = numbers.into_iter().map(Fraction::from_decimal).collect();
    let shares = shares.filter(|s| !s.is_empty() && s.iter().all(|f| !f.is_zero())).ok_or_else(wrong)?;
    Ok(shares)
}
