//! `kohort demo`: a synthetic hospital, released by every method.

use crate::output::{count, note, percent, say, thousands};
use crate::{Context, progress};
use kohort::demo::demo;
use kohort_core::Result;
use serde_json::Value;
use std::path::PathBuf;

/// Create a synthetic hospital and release it with every method
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort demo
  kohort demo --rows 100000 -o /tmp/hospital

The data is synthetic: none of the patients exist.")]
pub(crate) struct Args {
    /// Number of patients
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    rows: u64,
    /// Random seed: another number makes another hospital
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Folder to create
    #[arg(short, long, default_value = "kohort-demo", value_name = "DIR")]
    output: PathBuf,
    /// Replace DIR if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let made = demo(&args.output, args.rows, args.seed, args.force, context.threads, progress::bar())?;
    say(&format!("A synthetic hospital of {} patients, and a policy for each method:", thousands(args.rows)));
    for path in made.tables.iter().chain(made.runs.iter().map(|run| &run.policy)) {
        say(&format!("  {}", path.display()));
    }
    say("");
    say(&line(["method", "guarantee in short", "k", "lost", "suppressed", "seconds", "verified"]));
    for run in &made.runs {
        match &run.outcome {
            Ok(released) => say(&row(run.method, &released.metrics)),
            Err(_) => say(&line([run.method, "no release meets the policy", "–", "–", "–", "–", "–"])),
        }
    }
    say("");
    say("lost: detail of the columns that may be known; of codes, the error of frequent counts.");
    say("suppressed: rows or events; of codes, entries that do not tell how many have them.");
    say("verified: recounted from the bytes, against the original, and again as the recipient would.");
    say("");
    say("Reports, with notes and warnings:");
    for run in &made.runs {
        match &run.outcome {
            Ok(released) => say(&format!("  {}", released.folder.join("evidence").join("report.html").display())),
            Err(reason) => note(&format!("{}: {reason}", run.method)),
        }
    }
    if let Some(run) = made.runs.iter().find(|run| run.outcome.is_ok()) {
        say("");
        say("Edit a policy and release again, or check a release as its recipient would:");
        say(&format!("  kohort anonymize {}", run.policy.display()));
        say(&format!("  kohort verify {}", run.policy.with_extension("").display()));
    }
    Ok(())
}

fn line([method, guarantee, k, lost, suppressed, seconds, verified]: [&str; 7]) -> String {
    format!("{method:<12} {guarantee:<46} {k:>3} {lost:>7} {suppressed:>10} {seconds:>7} {verified:>8}")
}

/// A release in one line.
fn row(method: &str, m: &Value) -> String {
    let guarantee = &m["guarantee"];
    let (lost, suppressed) = match m["shape"].as_str() {
        Some("codes") => (&m["utility"]["frequent"]["are"], &m["clusters"]["entries_in_item_chunks"]),
        _ => (&m["utility"]["loss"], &m["rows"]["suppressed"]),
    };
    let seconds = m["timing"]["total"].as_f64().map_or("–".into(), |s| format!("{s:.1}"));
    line([method, &in_short(m), &count(&guarantee["k"]), &percent(lost), &count(suppressed), &seconds, "yes"])
}

/// What is guaranteed, in a few words: the certificate has the sentences.
fn in_short(m: &Value) -> String {
    let guarantee = &m["guarantee"];
    let k = count(&guarantee["k"]);
    match m["shape"].as_str() {
        Some("codes") => format!("any {} codes: {k} patients could have them", count(&guarantee["m"])),
        Some("events") => format!(
            "fewer than k match for {} (asked: {})",
            percent(&guarantee["found"]["share"]),
            percent(&guarantee["max_high_risk"])
        ),
        _ => {
            let known = match guarantee["knows"].as_str() {
                Some("all") | None => "all columns known".to_string(),
                Some(some) => format!("{some} known"),
            };
            match m["counterfeits"]["real_k"].as_u64() {
                Some(real) => format!("{known}: {k} match, {real} of them real"),
                None => format!("{known}: {k} match, or nobody"),
            }
        }
    }
}
