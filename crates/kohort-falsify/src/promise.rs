//! The promise of a certificate to an attacker who knows the algorithm: read from its sentence.

use kohort_core::release::Guarantee;

/// A bound on the chance of a link, as 1 / n; `None`: the sentence says that there is none.
///
/// # Errors
/// A sentence that neither promises a bound nor says that none is promised says nothing.
pub fn to_the_aware(guarantee: &Guarantee) -> Result<Option<u64>, String> {
    let text = &guarantee.aware;
    let number = |after: &str| -> Option<u64> {
        let start = text.find(after)? + after.len();
        let digits: String = text[start..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    match (number("at most 1/"), text.contains("No limit is guaranteed")) {
        (Some(n), false) => Ok(Some(n)),
        (None, true) => Ok(None),
        _ => Err(format!("the sentence to an attacker who knows the algorithm says neither: {text}")),
    }
}
