//! Confidence bounding: nobody in a class can be said to have a listed value with more than C.

use super::Counts;
use crate::number::Fraction;

/// For every listed value: at most the share `max` of a class's people has it.
/// People whose value is missing count neither as hits nor in the class.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// C.
    pub max: Fraction,
    /// One entry per value code: whether the value is listed. `None`: every value is.
    pub listed: Option<Vec<bool>>,
}

impl Confidence {
    /// Returns whether the class meets it.
    pub fn holds(&self, class: &Counts) -> bool {
        self.highest(class).is_none_or(|(hits, people)| self.max.allows(hits, people))
    }

    /// The most frequent listed value of the class as (people who have it, people with any value).
    pub fn highest(&self, class: &Counts) -> Option<(u64, u64)> {
        let listed = class.values.iter().filter(|(value, _)| self.lists(*value));
        listed.map(|v| v.1).max().map(|hits| (hits, class.people))
    }

    fn lists(&self, value: u32) -> bool {
        self.listed.as_ref().is_none_or(|l| l.get(value as usize).copied().unwrap_or(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    #[test]
    fn a_share_equal_to_the_bound_is_within_it() {
        let max = Decimal::parse("0.5", b'.').and_then(Fraction::from_decimal).unwrap();
        let all = Confidence { max, listed: None };
        let some = Confidence { max, listed: Some(vec![false, false, true]) };
        let holds = |c: &Confidence, values: &[(u32, u64)], people| c.holds(&Counts { values, people });
        assert!(holds(&all, &[(1, 2), (2, 2)], 4));
        assert!(!holds(&all, &[(1, 3), (2, 2)], 5));
        assert!(holds(&some, &[(1, 3), (2, 2)], 5));
        assert!(holds(&all, &[], 0));
        // Two people, one of them with both values: each value has half of… two of two is all.
        assert!(!holds(&all, &[(1, 2), (2, 1)], 2));
    }
}
