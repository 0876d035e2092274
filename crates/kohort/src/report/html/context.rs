//! The recipient of a release, its purpose, and the controls: as the policy says.

use super::escape::escape;
use super::table::{section, table};
use crate::evidence::metrics::ReleaseContext;

/// The context of the release. Nothing where the policy does not state it.
pub(super) fn context(context: &Option<ReleaseContext>) -> String {
    let Some(ReleaseContext { recipient, purpose, controls }) = context else { return String::new() };
    let named = [("Recipient", recipient), ("Purpose", purpose), ("Controls", controls)];
    let row = |(name, text): (&str, &Option<String>)| {
        vec![name.to_string(), text.as_deref().map_or("not stated".to_string(), escape)]
    };
    let body = table(&["Context", "As the policy states it"], &named.map(row));
    section("Who receives the release, and what for", &body)
}
