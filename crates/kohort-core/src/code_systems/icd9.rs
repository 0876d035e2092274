//! ICD-9-CM diagnosis codes: `250.01`, `V10.3`, `E880.9`, with or without the dot. Files of fixed width
//! write a dash where a code has no further digit: `486-` is the category 486.

use super::ranges::{Range, read};
use std::sync::LazyLock;

pub(super) static SECTIONS: LazyLock<Vec<Range>> = LazyLock::new(|| read(include_str!("tables/icd9_sections.csv")));
pub(super) static CHAPTERS: LazyLock<Vec<Range>> = LazyLock::new(|| read(include_str!("tables/icd9_chapters.csv")));

/// Returns whether a text has the shape of a code; whether the code exists is another question.
pub fn looks_like(text: &str) -> bool {
    category(text).is_some()
}

/// The category in capitals: three digits, `V` and two digits, or `E` and three digits.
pub(super) fn category(text: &str) -> Option<String> {
    let (length, most_details) = match text.as_bytes().first()? {
        b'E' | b'e' => (4, 1),
        b'V' | b'v' => (3, 2),
        b'0'..=b'9' => (3, 2),
        _ => return None,
    };
    let (category, rest) = text.split_at_checked(length)?;
    let details = match rest.strip_prefix('.') {
        Some("") => return None,
        Some(details) => details,
        None => rest,
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_details = details.len() <= most_details && digits(details.trim_end_matches('-'));
    let is_code = digits(&category[1..]) && is_details;
    is_code.then(|| category.to_ascii_uppercase())
}
