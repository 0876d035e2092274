//! Parameters of `local`: as written → as meant.

use crate::local::Effort;
use kohort_core::Result;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::Policy;
use kohort_core::privacy::Knows;

/// Describes what the policy says beside `name = "local"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// `max_suppressed`: the share of records that may be removed. Default 0.01.
    pub max_suppressed: Fraction,
    /// `effort`: how much work is done. Default "fast".
    pub effort: Effort,
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy) -> Result<Params> {
        let section = &policy.method;
        let usual = || Decimal::parse("0.01", b'.').and_then(Fraction::from_decimal);
        let max_suppressed = match section.share("max_suppressed")? {
            Some(own) => own,
            None => usual().ok_or_else(|| policy.error("`max_suppressed` is not a share."))?,
        };
        let labels = section.word("labels", &[("tree", false), ("range", true)])?;
        if labels == Some(true) && policy.privacy.knows != Knows::All {
            return Err(section.wrong(
                "labels",
                "\"range\" needs knows = \"all\": where an attacker knows some of the columns, records must share labels over \
                 each set of them. Use \"tree\".",
            ));
        }
        let efforts = [("fast", Effort::Fast), ("thorough", Effort::Thorough)];
        Ok(Params { max_suppressed, effort: section.word("effort", &efforts)?.unwrap_or(Effort::Fast) })
    }
}
