//! A comparison as it was written, for a program that shows it again.

use kohort_core::table::read_text;
use kohort_core::{Error, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The largest compare.json that is read.
const LARGEST: u64 = 256 << 20;

/// A setting of a comparison that is in a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSetting {
    /// The keys that were varied, as written.
    pub name: String,
    /// The file of its policy; none for what is compared with and never released.
    pub policy: Option<PathBuf>,
    /// The highest risk, the loss and the number of removed records as far as they are known, or the reason why there
    /// is no release.
    pub outcome: std::result::Result<ReadNumbers, String>,
    /// True if no other setting has both less risk and less loss.
    pub on_frontier: bool,
    /// True if it is the setting at which a little less risk begins to cost much more.
    pub is_knee: bool,
}

/// The numbers of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadNumbers {
    /// The highest risk of being found that anybody is left with.
    pub risk: Option<f64>,
    /// The loss.
    pub loss: Option<f64>,
    /// Records that would be removed.
    pub removed: Option<u64>,
}

/// Reads the settings of the comparison in a folder, in the order of the grid.
pub fn read(folder: &Path) -> Result<Vec<ReadSetting>> {
    let path = folder.join("compare.json");
    let wrong = || Error::yours(format!("{}: this is not a comparison of Kohort.", path.display()));
    let whole: Value = serde_json::from_str(&read_text(&path, LARGEST)?).map_err(|_| wrong())?;
    let settings = whole.get("settings").and_then(Value::as_array).ok_or_else(wrong)?;
    settings.iter().map(|own| setting(own, folder).ok_or_else(wrong)).collect()
}

fn setting(own: &Value, folder: &Path) -> Option<ReadSetting> {
    let is = |key: &str| own.get(key).and_then(Value::as_bool);
    let number = |key: &str| own.get(key).and_then(Value::as_f64);
    let removed = own.pointer("/metrics/rows/suppressed").and_then(Value::as_u64);
    let policy = match own.get("policy")? {
        Value::String(file) if !file.contains(['/', '\\']) => Some(folder.join("policies").join(file)),
        Value::Null => None,
        _ => return None,
    };
    Some(ReadSetting {
        name: own.get("setting")?.as_str()?.to_string(),
        policy,
        outcome: match own.get("refused").and_then(Value::as_str) {
            Some(reason) => Err(reason.to_string()),
            None => Ok(ReadNumbers { risk: number("risk"), loss: number("loss"), removed }),
        },
        on_frontier: is("on_frontier")?,
        is_knee: is("is_knee")?,
    })
}
