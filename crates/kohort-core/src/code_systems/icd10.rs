//! ICD-10-CM diagnosis codes: `E11.9`, `C7A.00`, `S52.521A`, with or without the dot.

use super::ranges::{Range, read};
use std::sync::LazyLock;

pub(super) static BLOCKS: LazyLock<Vec<Range>> = LazyLock::new(|| read(include_str!("tables/icd10_blocks.csv")));
/// Every category with its title, for those who search by word.
pub(super) static CATEGORIES: LazyLock<Vec<Range>> =
    LazyLock::new(|| read(include_str!("tables/icd10_categories.csv")));
pub(super) static CHAPTERS: LazyLock<Vec<Range>> = LazyLock::new(|| read(include_str!("tables/icd10_chapters.csv")));

/// Returns whether a text has the shape of a code; whether the code exists is another question.
pub fn looks_like(text: &str) -> bool {
    category(text).is_some()
}

/// The category in capitals: a letter and two digits, where the last may be a letter (`C7A`),
/// or the first an `A` (`QA0`).
pub(super) fn category(text: &str) -> Option<String> {
    let (category, rest) = text.split_at_checked(3)?;
    let details = match rest.strip_prefix('.') {
        Some("") => return None,
        Some(details) => details,
        None => rest,
    };
    let category = category.to_ascii_uppercase();
    let shaped = matches!(
        category.as_bytes(),
        [b'A'..=b'Z', b'0'..=b'9', b'0'..=b'9' | b'A'..=b'Z'] | [b'A'..=b'Z', b'A', b'0'..=b'9']
    );
    let is_code = shaped && details.len() <= 4 && details.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(category)
}
