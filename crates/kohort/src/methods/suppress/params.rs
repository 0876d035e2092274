//! Parameters of `suppress`: as written → as meant.

pub use super::remainder::Remainder;

use kohort_core::Result;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::{Policy, Section, nearest};

/// In which order cells go blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Whatever blanks fewer cells.
    Best,
    /// As published: the rarest value first.
    Paper,
}

/// The parameters beside `name = "suppress"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// `weights`: by quasi-identifier, what a blank in it counts; the higher, the later it goes blank.
    /// Default: the column's `weight`.
    pub weights: Vec<f64>,
    /// `remainder`: what happens to records that nothing else helps. Default "delete".
    pub remainder: Remainder,
    /// `order`: default "best".
    pub order: Order,
    /// `samples`: disjoint random samples leave instead of the whole, each with so large a share of
    /// it. Default: none.
    pub samples: Vec<Fraction>,
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy) -> Result<Params> {
        let section = &policy.method;
        let quasi: Vec<_> = policy.quasi().into_iter().map(|c| &policy.columns[c]).collect();
        let mut weights: Vec<f64> = quasi.iter().map(|c| c.weight.to_f64()).collect();
        if let Some(own) = section.section("weights")? {
            for (name, item) in &own.entries {
                let Some(q) = quasi.iter().position(|c| c.name == *name) else {
                    let hint = nearest(name, quasi.iter().map(|c| c.name.as_str()))
                        .map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
                    return Err(own.error(
                        item.line,
                        format!(
                            "`weights` names `{name}`, which is not a \
                             quasi-identifier.{hint}"
                        ),
                    ));
                };
                let weight = own.decimal(name)?.unwrap_or(Decimal::whole(0));
                if weight <= Decimal::whole(0) || weight > Decimal::whole(1000) {
                    return Err(own.wrong(
                        name,
                        "must be above 0 and at most 1000: a column of weight 0 would always be blanked first.",
                    ));
                }
                weights[q] = weight.to_f64();
            }
        }
        let orders = [("best", Order::Best), ("paper", Order::Paper)];
        let remainders = [("delete", Remainder::Delete), ("grow", Remainder::Grow)];
        Ok(Params {
            weights,
            remainder: section.word("remainder", &remainders)?.unwrap_or(Remainder::Delete),
            order: section.word("order", &orders)?.unwrap_or(Order::Best),
            samples: samples(section)?,
        })
    }
}

/// The shares to be sampled: each above 0, together at most the whole.
fn samples(section: &Section) -> Result<Vec<Fraction>> {
    let Some(shares) = section.decimals("samples")? else { return Ok(Vec::new()) };
    if shares.is_empty() {
        return Err(
            section.wrong("samples", "is empty. Set samples = [0.1, 0.1], or remove it to release the whole file.")
        );
    }
    let all = shares.iter().fold(Decimal::whole(0), |sum, &share| sum.plus(share));
    let shares: Vec<Fraction> =
        shares.into_iter().filter(|s| *s > Decimal::whole(0)).filter_map(Fraction::from_decimal).collect();
    match section.list("samples")? {
        Some(written) if written.len() == shares.len() && all <= Decimal::whole(1) => Ok(shares),
        Some(written) if written.len() == shares.len() => Err(section.wrong(
            "samples",
            format!(
                "the shares add up to {all}, more than the whole file. Samples do not overlap, so the shares \
                 may add up to at most 1."
            ),
        )),
        _ => Err(section.wrong("samples", "every share must be above 0 and at most 1: 0.1 is a tenth of the file.")),
    }
}
