//! Text that keeps its first characters: `12345`, `123*`, `12*`.

use super::SUPPRESSED;
use crate::{Error, Result};
use std::borrow::Cow;

/// One level for each number of characters that stay.
#[derive(Debug, Clone)]
pub struct Prefix {
    lengths: Vec<usize>,
}

impl Prefix {
    /// `lengths` are the characters that stay, the longest first: `[4, 3, 2]`.
    pub fn new(lengths: &[usize]) -> Result<Prefix> {
        if lengths.is_empty() || lengths.contains(&0) || lengths.windows(2).any(|pair| pair[0] <= pair[1]) {
            return Err(Error::yours(
                "`prefix` must list how many characters are kept, each number above 0 and smaller than the one \
                 before, for example [4, 3, 2].",
            ));
        }
        Ok(Prefix { lengths: lengths.to_vec() })
    }

    pub(super) fn level_names(&self) -> Vec<String> {
        let lengths = self.lengths.iter().map(usize::to_string);
        std::iter::once("value".to_string()).chain(lengths).collect()
    }

    /// A value that ends with `*` is not covered: it would read as a prefix.
    pub(super) fn path<'v>(&self, value: &'v str) -> Option<Vec<Cow<'v, str>>> {
        let shorten = |&length: &usize| match value.char_indices().nth(length) {
            Some((end, _)) => Cow::Owned(format!("{}{SUPPRESSED}", &value[..end])),
            None => Cow::Borrowed(value),
        };
        let shortened = self.lengths.iter().map(shorten);
        (!value.ends_with(SUPPRESSED)).then(|| std::iter::once(Cow::Borrowed(value)).chain(shortened).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: Option<[&str; 4]>) {
        let path = Prefix::new(&[4, 3, 2]).unwrap().path(value);
        assert_eq!(path, expected.map(|labels| labels.map(Cow::Borrowed).to_vec()));
    }

    #[test]
    fn the_first_characters_stay() {
        check("12345", Some(["12345", "1234*", "123*", "12*"]));
        check("K1A 0B1", Some(["K1A 0B1", "K1A *", "K1A*", "K1*"]));
    }

    #[test]
    fn a_short_value_stays_as_it_is() {
        check("123", Some(["123", "123", "123", "12*"]));
        check("7", Some(["7", "7", "7", "7"]));
    }

    #[test]
    fn characters_count_and_not_bytes() {
        check("äöüß", Some(["äöüß", "äöüß", "äöü*", "äö*"]));
    }

    #[test]
    fn a_value_that_reads_as_a_prefix_is_uncovered() {
        check("12*", None);
        check("1*2", Some(["1*2", "1*2", "1*2", "1**"]));
    }

    #[test]
    fn lengths_shrink_and_stay_above_zero() {
        for lengths in [&[][..], &[0], &[3, 3], &[2, 3], &[2, 0]] {
            assert!(Prefix::new(lengths).is_err(), "{lengths:?}");
        }
        assert_eq!(Prefix::new(&[4, 3, 2]).unwrap().level_names(), ["value", "4", "3", "2"]);
    }
}
