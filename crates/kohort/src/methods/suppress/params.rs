//! Parameters of `suppress`: as written → as meant.

pub use super::remainder::Remainder;

use kohort_core::Result;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::{Column, Item, Policy, Section, nearest};
use kohort_core::privacy::Knows;

/// In which order cells go blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Whatever blanks fewer cells.
    Best,
    /// As published: the rarest value first.
    Paper,
}

/// Default weight of a column that is in every combination an attacker may know: age, sex, region.
/// Researchers need these columns with every question.
pub const WEIGHT_IN_ALL: f64 = 3.0;

/// The parameters beside `name = "suppress"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// `weights`: by quasi-identifier, what a blank in it counts; the higher, the later it goes blank.
    /// Default: the column's `weight`; three times that for a column in every combination, unless the
    /// order is the paper's.
    pub weights: Vec<f64>,
    /// `max_blank`: by quasi-identifier, the largest share of released records in which it may be blank.
    pub max_blank: Vec<Option<Fraction>>,
    /// `max_blank_record`: records with a larger share of blank quasi-identifiers are removed.
    pub max_blank_record: Option<Fraction>,
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
        let quasi: Vec<&Column> = policy.quasi().into_iter().map(|c| &policy.columns[c]).collect();
        let orders = [("best", Order::Best), ("paper", Order::Paper)];
        let order = section.word("order", &orders)?.unwrap_or(Order::Best);
        let in_all = |q: usize| match &policy.privacy.knows {
            Knows::Sets(sets) => sets.len() > 1 && sets.iter().all(|set| set.contains(&q)),
            _ => false,
        };
        let usual = |(q, column): (usize, &&Column)| match order {
            Order::Best if in_all(q) => column.weight.to_f64() * WEIGHT_IN_ALL,
            _ => column.weight.to_f64(),
        };
        let mut weights: Vec<f64> = quasi.iter().enumerate().map(usual).collect();
        for (q, own, name) in by_column(section, "weights", &quasi)? {
            let weight = own.decimal(&name)?.unwrap_or(Decimal::whole(0));
            if weight <= Decimal::whole(0) || weight > Decimal::whole(1000) {
                return Err(own.wrong(
                    &name,
                    "must be above 0 and at most 1000: a column of weight 0 would always be blanked first.",
                ));
            }
            weights[q] = weight.to_f64();
        }
        let mut max_blank = vec![None; quasi.len()];
        for (q, own, name) in by_column(section, "max_blank", &quasi)? {
            max_blank[q] = own.share(&name)?;
        }
        let remainders = [("delete", Remainder::Delete), ("grow", Remainder::Grow)];
        Ok(Params {
            weights,
            max_blank,
            max_blank_record: section.share("max_blank_record")?,
            remainder: section.word("remainder", &remainders)?.unwrap_or(Remainder::Delete),
            order,
            samples: samples(section)?,
        })
    }
}

/// The quasi-identifiers that a section gives something for, each with the section and its name.
fn by_column(section: &Section, key: &str, quasi: &[&Column]) -> Result<Vec<(usize, Section, String)>> {
    let Some(own) = section.section(key)? else { return Ok(Vec::new()) };
    let one = |(name, item): &(String, Item)| match quasi.iter().position(|c| c.name == *name) {
        Some(q) => Ok((q, own.clone(), name.clone())),
        None => {
            let hint = nearest(name, quasi.iter().map(|c| c.name.as_str()))
                .map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
            Err(own.error(item.line, format!("`{key}` names `{name}`, which is not a quasi-identifier.{hint}")))
        }
    };
    own.entries.iter().map(one).collect()
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
