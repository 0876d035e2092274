//! `[evidence] baseline`: another run of the same table, which this one is compared with.

use super::files::PolicyFiles;
use super::section::Section;
use crate::Result;
use crate::table::read_text;
use serde::Deserialize;

/// The information loss of another run.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineLoss {
    /// Its method.
    pub method: String,
    /// Rows it was given.
    pub rows: u64,
    /// Non-uniform entropy it lost, in bits.
    pub entropy: f64,
}

/// The part of another run's metrics.json that is compared.
#[derive(Deserialize)]
struct RunMetrics {
    method: String,
    rows: RunRows,
    utility: RunUtility,
}

#[derive(Deserialize)]
struct RunRows {
    #[serde(rename = "in")]
    read: u64,
}

#[derive(Deserialize)]
struct RunUtility {
    entropy: f64,
}

/// The largest metrics.json that is read.
const LARGEST: u64 = 256 << 20;

impl BaselineLoss {
    /// Reads the section, and the numbers of the run it names.
    pub(super) fn read(root: &Section, files: &PolicyFiles) -> Result<Option<BaselineLoss>> {
        let Some(section) = root.section("evidence")? else { return Ok(None) };
        section.only(&["baseline"])?;
        let Some(name) = section.text("baseline")? else { return Ok(None) };
        let path = files.path(name).map(|folder| folder.join("evidence").join("metrics.json"));
        let Some(path) = path.filter(|path| path.is_file()) else {
            return Err(section.wrong(
                "baseline",
                "there is no evidence/metrics.json in that folder. Name a folder that `kohort anonymize` created.",
            ));
        };
        match serde_json::from_str(&read_text(&path, LARGEST)?) {
            Ok(RunMetrics { method, rows, utility }) => {
                Ok(Some(BaselineLoss { method, rows: rows.read, entropy: utility.entropy }))
            }
            Err(_) => Err(section.wrong(
                "baseline",
                "the metrics.json in that folder does not state how many bits were lost. Name a release of a table.",
            )),
        }
    }

    /// The loss as a share of the loss of the baseline.
    pub fn share(&self, entropy: f64) -> Option<f64> {
        (self.entropy > 0.0).then(|| entropy / self.entropy)
    }
}
