//! How a reader behaved, so that inputs which reach something new are kept and changed further.
//!
//! The compiler's counters of visited code need a nightly compiler or unsafe code, which Kohort's crates do not
//! contain. What a reader says shows nearly as much: each error has its own message, and an input that was read
//! to its end has numbers (rows, columns, levels). A message is compared without its numbers and names, and
//! numbers by their magnitude, so that behaviours are few. Inputs that take unusually long are new as well.

use kohort_core::{Error, Result};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Numbers that describe what was read.
pub type Counts = Vec<u64>;

/// A time below this is not unusual.
const UNREMARKABLE: Duration = Duration::from_millis(2);

/// The behaviours of a reader that were seen, each with its longest time.
#[derive(Default)]
pub struct Seen(HashMap<u64, Duration>);

impl Seen {
    /// Returns whether a behaviour is new, or took more than twice as long as ever before.
    pub fn is_new(&mut self, result: &Result<Counts>, took: Duration) -> bool {
        match self.0.get_mut(&behaviour(result)) {
            None => {
                self.0.insert(behaviour(result), took);
                true
            }
            Some(longest) => {
                let unusual = took > UNREMARKABLE && took > *longest * 2;
                *longest = (*longest).max(took);
                unusual
            }
        }
    }

    /// The number of different behaviours.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn behaviour(result: &Result<Counts>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match result {
        Ok(counts) => counts.iter().for_each(|&n| magnitude(n).hash(&mut hasher)),
        Err(error) => said(error).hash(&mut hasher),
    }
    hasher.finish()
}

fn magnitude(n: u64) -> u32 {
    64 - n.leading_zeros()
}

/// The message without names and numbers, and the magnitude of its first number: mostly a line.
fn said(error: &Error) -> (u8, String, u32) {
    let (mut text, mut quote, mut digits, mut first) = (String::new(), None, false, None);
    let mut chars = error.message.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            // A quote within a name is written with this in front.
            (Some('"'), '\\') => {
                chars.next();
            }
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => {
                quote = Some(c);
                text.push(c);
            }
            (None, '0'..='9') => {
                if !digits {
                    text.push('0');
                }
                let digit = u64::from(c) - u64::from('0');
                if digits || first.is_none() {
                    first = first.or(Some(0u64)).map(|n: u64| n.saturating_mul(10).saturating_add(digit));
                }
            }
            (None, c) => text.push(c),
        }
        digits = quote.is_none() && c.is_ascii_digit();
    }
    (error.kind as u8, text, magnitude(first.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_near_numbers_are_one_behaviour_and_messages_are_not() {
        let mut seen = Seen::default();
        let mut new = |result: Result<Counts>| seen.is_new(&result, Duration::ZERO);
        assert!(new(Err(Error::yours("t.csv, line 5: `age` is unknown."))));
        assert!(!new(Err(Error::yours("t.csv, line 6: `sex` is unknown."))));
        assert!(new(Err(Error::yours("t.csv, line 900: `sex` is unknown."))));
        assert!(new(Err(Error::refused("t.csv, line 5: `age` is unknown."))));
        assert!(new(Ok(vec![3, 3])));
        assert!(!new(Ok(vec![2, 2])));
        assert!(new(Ok(vec![2, 9])));
    }

    #[test]
    fn an_input_that_takes_much_longer_is_new() {
        let mut seen = Seen::default();
        let mut new = |ms: u64| seen.is_new(&Ok(vec![]), Duration::from_millis(ms));
        assert!(new(3));
        assert!(!new(5));
        assert!(new(11));
        assert!(!new(12));
    }
}
