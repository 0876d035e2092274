//! `[context]`: who receives a release, what for, and under which controls. Nothing in it changes the release.

use super::section::Section;
use crate::Result;

/// A longer text belongs into an agreement, not into a report.
const LONGEST: usize = 2000;

/// The context of a release, in the custodian's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Names who receives it.
    pub recipient: Option<String>,
    /// Holds what it is for.
    pub purpose: Option<String>,
    /// Holds what the recipient must do and must not do.
    pub controls: Option<String>,
}

impl Context {
    /// Reads `[context]`, if there is one.
    pub(super) fn read(root: &Section) -> Result<Option<Context>> {
        let Some(section) = root.section("context")? else { return Ok(None) };
        section.only(&["recipient", "purpose", "controls"])?;
        let text = |key: &str| match section.text(key)?.map(str::trim) {
            Some(text) if text.chars().count() > LONGEST => {
                Err(section.wrong(key, format!("has more than {LONGEST} characters. Refer to the agreement instead.")))
            }
            text => Ok(text.filter(|text| !text.is_empty()).map(str::to_string)),
        };
        Ok(Some(Context { recipient: text("recipient")?, purpose: text("purpose")?, controls: text("controls")? }))
    }
}
