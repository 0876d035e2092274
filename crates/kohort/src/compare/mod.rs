//! Several releases of the same data side by side: what each costs, and which of them no other beats.
//!
//! Every setting is released and verified like any other; its numbers are taken, the release goes.
//! What stays: the policies, so that any of them can be released, the numbers, and one page.

mod frontier;
mod page;
mod vary;

pub use vary::Vary;

use crate::pipeline::{Options, anonymize};
use kohort_core::error::Kind;
use kohort_core::policy::Section;
use kohort_core::{Error, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// More settings than this are refused: nobody would read their table.
const MOST_SETTINGS: usize = 200;

/// A setting, and what its release was like.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What was varied, as written: `k=5 method=lattice`.
    pub name: String,
    /// Its policy.
    pub policy: PathBuf,
    /// The metrics of its release, or why there is none.
    pub outcome: std::result::Result<Value, String>,
    /// Whether no other setting has both less risk and less loss.
    pub on_frontier: bool,
    /// Whether it is the setting at which a little less risk begins to cost much more.
    pub is_knee: bool,
}

/// What a comparison made.
#[derive(Debug)]
pub struct Compared {
    /// DIR.
    pub folder: PathBuf,
    /// In the order of the grid.
    pub tried: Vec<Tried>,
}

/// Releases every setting of the grid and lays them side by side in `out`.
pub fn compare(policy: &Path, vary: &[Vary], out: &Path, options: &Options) -> Result<Compared> {
    let text = fs::read_to_string(policy).map_err(|e| Error::io(policy, &e))?;
    let file = policy.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let settings = vary::settings(&Section::parse(&file, &text)?, vary)?;
    if settings.len() > MOST_SETTINGS {
        return Err(Error::yours(format!(
            "{} settings are more than the {MOST_SETTINGS} that one table can show. Vary less.",
            settings.len()
        )));
    }
    prepare(out, options.force)?;
    let made = run(policy, &settings, out, options);
    if made.is_err() {
        // Whatever went wrong, nothing half done stays. That it cannot be removed would hide why.
        let _ = fs::remove_dir_all(out);
    }
    made
}

/// Makes the folder; an older comparison is replaced if it may be.
fn prepare(out: &Path, force: bool) -> Result<()> {
    if fs::symlink_metadata(out).is_ok() {
        if !force {
            return Err(Error::yours(format!(
                "{} exists. Choose another folder with -o, or replace it with --force.",
                out.display()
            )));
        }
        if !out.join("compare.json").is_file() {
            return Err(Error::yours(format!(
                "{} exists and is no comparison of Kohort's. Choose another folder with -o, or remove it yourself.",
                out.display()
            )));
        }
        fs::remove_dir_all(out).map_err(|e| Error::io(out, &e))?;
    }
    let policies = out.join("policies");
    fs::create_dir_all(&policies).map_err(|e| Error::io(&policies, &e))
}

fn run(policy: &Path, settings: &[vary::Setting], out: &Path, options: &Options) -> Result<Compared> {
    let source = policy.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let source = source.canonicalize().map_err(|e| Error::io(source, &e))?;
    let mut tried = Vec::new();
    for (number, setting) in settings.iter().enumerate() {
        let path = out.join("policies").join(format!("{:03}.toml", number + 1));
        let text = setting.policy(&source.display().to_string());
        fs::write(&path, text).map_err(|e| Error::io(&path, &e))?;
        let release = out.join("release");
        let options = Options { force: true, keep_rows: false, ..options.clone() };
        let outcome = match anonymize(&path, &release, &options) {
            Ok(released) => {
                fs::remove_dir_all(&release).map_err(|e| Error::io(&release, &e))?;
                Ok(released.metrics)
            }
            // The machine's errors would meet every setting.
            Err(error) if error.kind == Kind::Machine => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        let name = setting.name.clone();
        tried.push(Tried { name, policy: path, outcome, on_frontier: false, is_knee: false });
    }
    if let [Tried { outcome: Err(reason), .. }, ..] = &tried[..]
        && tried.iter().all(|t| t.outcome.is_err())
    {
        return Err(Error::infeasible(format!("none of the settings can be released. The first one: {reason}")));
    }
    frontier::mark(&mut tried);
    let numbers = serde_json::to_string_pretty(&numbers(&tried)).unwrap_or_default();
    write(&out.join("compare.json"), &(numbers + "\n"))?;
    write(&out.join("compare.html"), &page::page(&tried))?;
    Ok(Compared { folder: out.to_path_buf(), tried })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| Error::io(path, &e))
}

/// What compare.json holds.
fn numbers(tried: &[Tried]) -> Value {
    let one = |t: &Tried| {
        let mut value = json!({
            "setting": t.name,
            "policy": t.policy.file_name().map(|n| n.to_string_lossy().into_owned()),
            "on_frontier": t.on_frontier,
            "is_knee": t.is_knee,
        });
        match &t.outcome {
            Ok(metrics) => {
                value["risk"] = json!(t.risk());
                value["loss"] = json!(t.loss());
                value["metrics"] = metrics.clone();
            }
            Err(reason) => value["refused"] = json!(reason),
        }
        value
    };
    json!({ "settings": tried.iter().map(one).collect::<Vec<_>>() })
}

impl Tried {
    /// The highest risk of being found that anybody is left with.
    pub fn risk(&self) -> Option<f64> {
        let metrics = self.outcome.as_ref().ok()?;
        let measured = metrics["risk"]["after"]["max"].as_f64();
        // Where classes are no measure of it, what was asked for.
        measured.or_else(|| metrics["guarantee"]["k"].as_f64().filter(|k| *k > 0.0).map(|k| 1.0 / k))
    }

    /// What was lost: the mean loss of a cell, or for codes the mean error of a count.
    pub fn loss(&self) -> Option<f64> {
        let utility = &self.outcome.as_ref().ok()?["utility"];
        utility["loss"].as_f64().or_else(|| utility["frequent"]["are"].as_f64())
    }
}

#[cfg(test)]
mod tests;
