//! Several releases of the same data side by side: what each would cost, and which of them no other beats.
//!
//! The data are read once; every setting is planned and measured, and nothing is released. What stays:
//! the policies, so that any of them can be released and verified, the numbers, and one page.

mod frontier;
mod grid;
mod page;
mod read;
mod vary;

pub use read::{ReadNumbers, ReadSetting, read};
pub use vary::Vary;

use crate::evidence::Outlook;
use crate::pipeline::Options;
use grid::GridSetting;
use kohort_core::error::Kind;
use kohort_core::policy::{self, PolicyFile, Section};
use kohort_core::release::{Unfinished, made};
use kohort_core::{Error, Result};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use vary::VariedPolicy;

/// Maximum number of settings. A larger table would be unreadable.
const MOST_SETTINGS: usize = 200;

/// A setting, and what its release would be like.
#[derive(Debug, Clone)]
pub struct MeasuredSetting {
    /// The keys that were varied, as written: `k=5 method=lattice`.
    pub name: String,
    /// The text of its policy; none for what is compared with and never released.
    pub text: Option<String>,
    /// The file of its policy, where policies were written.
    pub policy: Option<PathBuf>,
    /// The part of metrics.json that a plan determines, or the reason why there is no release.
    pub outcome: std::result::Result<Outlook, String>,
    /// True if no other setting has both less risk and less loss.
    pub on_frontier: bool,
    /// True if it is the setting at which a little less risk begins to cost much more.
    pub is_knee: bool,
}

/// The result of a comparison of settings.
#[derive(Debug)]
pub struct Comparison {
    /// DIR.
    pub folder: PathBuf,
    /// In the order of the grid.
    pub tried: Vec<MeasuredSetting>,
    /// The settings that were not measured, because the caller stopped the run.
    pub skipped: usize,
}

/// A setting that was just measured, while others are not yet.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlySetting {
    /// Its place in the order of the grid, from 0.
    pub place: usize,
    /// The number of settings of the grid.
    pub of: usize,
    /// The keys that were varied, as written.
    pub name: String,
    /// The highest risk and the loss; none if there is no release.
    pub risk_and_loss: Option<(f64, f64)>,
}

/// Is told each setting as soon as it is measured. Settings come in any order, from several threads.
pub type Watch<'a> = &'a (dyn Fn(EarlySetting) + Sync);

/// Measures every setting of the grid and lays them side by side in `out`: all of it, or nothing, and
/// then what stood there stays. If the caller stops the run, the settings that were measured by then are laid side by
/// side, and the others say that they were not measured.
pub fn compare(policy: &Path, vary: &[Vary], out: &Path, options: &Options) -> Result<Comparison> {
    compare_watched(policy, vary, out, options, &|_| ())
}

/// The same; `watch` is told each setting as soon as it is measured.
pub fn compare_watched(
    policy: &Path,
    vary: &[Vary],
    out: &Path,
    options: &Options,
    watch: Watch,
) -> Result<Comparison> {
    let text = fs::read_to_string(policy).map_err(|e| Error::io(policy, &e))?;
    let file = policy.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let settings = settings_of(&file, &text, vary)?;
    may_be_made(policy, out, options.force)?;
    let unfinished = Unfinished::beside(out, &*options.progress)?;
    let (mut tried, skipped) = run(policy, &settings, &unfinished, options, watch)?;
    frontier::mark(&mut tried);
    let numbers = serde_json::to_string_pretty(&numbers(&tried)).unwrap_or_default();
    write(&unfinished.folder().join("compare.json"), &(numbers + "\n"))?;
    write(&unfinished.folder().join("compare.html"), &page::page(&tried, out))?;
    unfinished.finish(options.force)?;
    // Where they stand now.
    for t in &mut tried {
        t.policy = t.policy.as_ref().and_then(|p| p.file_name()).map(|name| out.join("policies").join(name));
    }
    Ok(Comparison { folder: out.to_path_buf(), tried, skipped })
}

/// Only what Kohort made is replaced, and only if it may be; never what the policy reads.
fn may_be_made(policy: &Path, out: &Path, force: bool) -> Result<()> {
    made::keep_apart(out, &policy::read(policy)?.files_read())?;
    made::may_become(out, force)
}

/// Measures every setting of the grid for data and a policy that are in memory. Nothing is written.
pub(crate) fn compare_texts(
    (name, text): (&str, &str),
    vary: &[Vary],
    read: impl Fn(&str) -> Result<PolicyFile>,
    scratch: &Path,
    options: &Options,
) -> Result<Vec<MeasuredSetting>> {
    let settings = settings_of(name, text, vary)?;
    let texts: Vec<String> = settings.iter().map(VariedPolicy::text).collect();
    let (mut tried, skipped) = measure(&settings, &texts, read, scratch, options, &|_| ())?;
    if skipped > 0 {
        return Err(Error::cancelled());
    }
    frontier::mark(&mut tried);
    Ok(tried)
}

/// The settings of a grid, unless there are too many.
fn settings_of(name: &str, text: &str, vary: &[Vary]) -> Result<Vec<VariedPolicy>> {
    let settings = vary::settings(&Section::parse(name, text)?, vary)?;
    if settings.len() > MOST_SETTINGS {
        return Err(Error::yours(format!(
            "there are {} settings, more than the maximum of {MOST_SETTINGS}. Vary fewer values.",
            settings.len()
        )));
    }
    Ok(settings)
}

/// Writes the policy of every setting, and measures it.
fn run(
    policy: &Path,
    settings: &[VariedPolicy],
    unfinished: &Unfinished,
    options: &Options,
    watch: Watch,
) -> Result<(Vec<MeasuredSetting>, usize)> {
    let source = policy.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let source = source.canonicalize().map_err(|e| Error::io(source, &e))?;
    let policies = unfinished.folder().join("policies");
    fs::create_dir_all(&policies).map_err(|e| Error::io(&policies, &e))?;
    let texts: Vec<String> = settings.iter().map(|own| own.policy(&source.display().to_string())).collect();
    let read = |text: &str| PolicyFile::parse("the policy", text, unfinished.folder());
    let (mut tried, skipped) = measure(settings, &texts, read, unfinished.folder(), options, watch)?;
    for (number, own) in (1..).zip(&mut tried) {
        let Some(text) = &own.text else { continue };
        let path = policies.join(format!("{number:03}.toml"));
        write(&path, text)?;
        own.policy = Some(path);
    }
    Ok((tried, skipped))
}

/// Measures every setting. If none can be released, the reason is that of the first.
fn measure(
    settings: &[VariedPolicy],
    texts: &[String],
    read: impl Fn(&str) -> Result<PolicyFile>,
    scratch: &Path,
    options: &Options,
    watch: Watch,
) -> Result<(Vec<MeasuredSetting>, usize)> {
    let told = |place: usize, outcome: &Result<Outlook>| {
        let found = outcome.as_ref().ok().and_then(|outlook| Some((outlook.risk()?, outlook.loss())));
        watch(EarlySetting { place, of: settings.len(), name: settings[place].name.clone(), risk_and_loss: found });
    };
    let cells: Vec<GridSetting> = settings
        .iter()
        .zip(texts)
        .map(|(setting, text)| GridSetting { file: read(text), baseline: setting.baseline })
        .collect();
    let (mut tried, mut first_error, mut skipped) = (Vec::new(), None, 0);
    for ((outcome, setting), text) in
        grid::measure(&cells, scratch, options, &told).into_iter().zip(settings).zip(texts)
    {
        let outcome = match outcome {
            Ok(metrics) => Ok(metrics),
            // The machine's errors would meet every setting.
            Err(error) if error.kind == Kind::Machine => return Err(error),
            Err(error) if error.kind == Kind::Cancelled => {
                skipped += 1;
                first_error.get_or_insert(error);
                Err("not measured, because the run was interrupted.".into())
            }
            Err(error) => {
                let reason = error.to_string();
                first_error.get_or_insert(error);
                Err(reason)
            }
        };
        let text = setting.baseline.is_none().then(|| text.clone());
        let name = setting.name.clone();
        tried.push(MeasuredSetting { name, text, policy: None, outcome, on_frontier: false, is_knee: false });
    }
    match first_error {
        Some(error) if skipped > 0 && tried.iter().all(|t| t.outcome.is_err()) => Err(error),
        Some(error) if tried.iter().all(|t| t.outcome.is_err()) => Err(Error {
            message: format!("none of the settings can be released. The first one: {}", error.message),
            ..error
        }),
        _ => Ok((tried, skipped)),
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| Error::io(path, &e))
}

/// Settings side by side, for a notebook.
#[derive(Debug, Clone)]
pub struct ShownSettings {
    /// The exact numbers, as compare.json has them.
    pub numbers: String,
    /// Risk against loss with rounded numbers, as a piece of HTML that others may see.
    pub picture: String,
    /// The same with a table behind it.
    pub summary: String,
}

/// The settings for a notebook: no script, no network.
pub fn shown(tried: &[MeasuredSetting]) -> ShownSettings {
    let numbers = serde_json::to_string_pretty(&numbers(tried)).unwrap_or_default();
    let (picture, summary) = page::shareable(tried);
    ShownSettings { numbers, picture, summary }
}

/// The content of compare.json.
#[derive(Serialize)]
struct ComparisonJson<'a> {
    settings: Vec<SettingNumbers<'a>>,
}

#[derive(Serialize)]
struct SettingNumbers<'a> {
    setting: &'a str,
    policy: Option<String>,
    on_frontier: bool,
    is_knee: bool,
    #[serde(flatten)]
    outcome: OutcomeNumbers<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OutcomeNumbers<'a> {
    Measured { risk: Option<f64>, loss: Option<f64>, metrics: &'a Outlook },
    Refused { refused: &'a str },
}

fn numbers(tried: &[MeasuredSetting]) -> ComparisonJson<'_> {
    ComparisonJson { settings: tried.iter().map(numbers_of).collect() }
}

fn numbers_of(t: &MeasuredSetting) -> SettingNumbers<'_> {
    SettingNumbers {
        setting: &t.name,
        policy: t.policy.as_ref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned()),
        on_frontier: t.on_frontier,
        is_knee: t.is_knee,
        outcome: match &t.outcome {
            Ok(metrics) => OutcomeNumbers::Measured { risk: t.risk(), loss: t.loss(), metrics },
            Err(reason) => OutcomeNumbers::Refused { refused: reason },
        },
    }
}

/// Returns whether codes are compared and not tables.
fn is_of_codes(tried: &[MeasuredSetting]) -> bool {
    tried.iter().any(|t| matches!(t.outcome, Ok(Outlook::Codes(_))))
}

impl MeasuredSetting {
    /// The highest risk of being found that anybody is left with.
    pub fn risk(&self) -> Option<f64> {
        self.outcome.as_ref().ok()?.risk()
    }

    /// Returns whether it is there to be compared with, and never released.
    pub fn is_baseline(&self) -> bool {
        self.text.is_none()
    }

    /// Returns, for codes, how far counts of frequent sets, of random pairs and of constraints are off.
    pub fn errors(&self) -> Option<[Option<f64>; 3]> {
        self.outcome.as_ref().ok()?.errors()
    }

    /// Returns the loss: the mean loss of a cell, or for codes the mean error of a count.
    pub fn loss(&self) -> Option<f64> {
        self.outcome.as_ref().ok().map(Outlook::loss)
    }
}

#[cfg(test)]
mod tests;
