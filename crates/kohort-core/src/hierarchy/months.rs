//! Months since a patient's start: `7`, `[6,9)`, `[0,12)`.

use crate::{Error, Result};
use std::borrow::Cow;

/// Groups of months, each a multiple of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Months {
    groups: Vec<u32>,
}

impl Months {
    /// Groups such as 3, 6 and 12 months.
    pub fn new(groups: &[u32]) -> Result<Months> {
        let nest = groups.windows(2).all(|pair| pair[1] > pair[0] && pair[1].is_multiple_of(pair[0]));
        if groups.iter().any(|&g| !(2..=1200).contains(&g)) || !nest {
            return Err(Error::yours(
                "`groups` must be numbers of months of at least 2, each a multiple of the one before, for example \
                 [3, 6, 12].",
            ));
        }
        Ok(Months { groups: groups.to_vec() })
    }

    pub(super) fn level_names(&self) -> Vec<String> {
        std::iter::once("month".to_string()).chain(self.groups.iter().map(u32::to_string)).collect()
    }

    /// The labels of a month's number.
    pub(super) fn path<'v>(&self, value: &str) -> Option<Vec<Cow<'v, str>>> {
        let month: u32 = value.parse().ok().filter(|m| *m < 100_000)?;
        let group = |&width: &u32| {
            let start = month / width * width;
            Cow::Owned(format!("[{start},{})", start + width))
        };
        Some(std::iter::once(Cow::Owned(month.to_string())).chain(self.groups.iter().map(group)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_become_groups() {
        let months = Months::new(&[3, 6, 12]).unwrap();
        assert_eq!(months.path("7").unwrap(), ["7", "[6,9)", "[6,12)", "[0,12)"]);
        assert_eq!(months.level_names(), ["month", "3", "6", "12"]);
        assert!(Months::new(&[3, 7]).is_err() && Months::new(&[1]).is_err());
    }
}
