//! The distinct values of a column and their codes.

use super::intern::Texts;
use crate::hierarchy::MISSING;

/// The distinct values of a column. Code 0 is missing; the others are in byte order from 1.
#[derive(Debug, Clone, Default)]
pub struct Dictionary {
    pub(super) values: Vec<Box<str>>,
    /// True if a cell is missing anywhere.
    pub missing_occurs: bool,
}

impl Dictionary {
    /// The dictionary of texts that were numbered as they came, and the code of each number.
    pub fn of(texts: &Texts, is_missing: impl Fn(&[u8]) -> bool) -> (Dictionary, Vec<u32>) {
        let mut order: Vec<u32> = (0..texts.len() as u32).filter(|&n| !is_missing(texts.get(n))).collect();
        order.sort_unstable_by(|&a, &b| texts.get(a).cmp(texts.get(b)));
        let mut codes = vec![MISSING; texts.len()];
        order.iter().zip(1..).for_each(|(&n, code)| codes[n as usize] = code);
        // The reader checked that cells are UTF-8.
        let text = |&n: &u32| String::from_utf8_lossy(texts.get(n)).into();
        let values = std::iter::once("".into()).chain(order.iter().map(text)).collect();
        (Dictionary { values, missing_occurs: texts.len() > order.len() }, codes)
    }

    /// The text of a value; missing is empty.
    pub fn text(&self, code: u32) -> &str {
        &self.values[code as usize]
    }

    /// All texts by code; the first is missing.
    pub fn texts(&self) -> Vec<&str> {
        self.values.iter().map(|v| &**v).collect()
    }

    /// Returns how many codes there are, missing included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether no value occurs.
    pub fn is_empty(&self) -> bool {
        self.values.len() <= 1
    }

    /// The same values and `more`, in byte order; and the new code of each old one.
    pub(super) fn with(&self, more: &[String]) -> (Dictionary, Vec<u32>) {
        let mut values: Vec<Box<str>> = self.values[1..].to_vec();
        values.extend(more.iter().filter(|v| !v.is_empty()).map(|v| v.as_str().into()));
        values.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        values.dedup();
        values.insert(0, "".into());
        let all = Dictionary { values, missing_occurs: self.missing_occurs };
        let codes = self.values.iter().map(|v| all.code(v).unwrap_or(MISSING)).collect();
        (all, codes)
    }

    /// The code of a value, from its bytes.
    pub fn code_of(&self, text: &[u8]) -> Option<u32> {
        self.values[1..].binary_search_by(|v| v.as_bytes().cmp(text)).ok().map(|i| i as u32 + 1)
    }

    /// The code of a value.
    pub fn code(&self, text: &str) -> Option<u32> {
        if text.is_empty() {
            return Some(MISSING);
        }
        self.code_of(text.as_bytes())
    }
}
