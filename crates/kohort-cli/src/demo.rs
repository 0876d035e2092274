//! `kohort demo`: a synthetic hospital, released by every method.

use crate::output::{count, note, percent, say, thousands};
use crate::{Context, progress};
use kohort::demo::demo;
use kohort::evidence::Metrics;
use kohort_core::Result;
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
    say("lost: share of detail lost in the quasi-identifiers; for codes, the error of frequent counts.");
    say("suppressed: rows or events removed; for codes, entries released without a count.");
    say("verified: recounted from the released files, with the original and without it.");
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
fn row(method: &str, metrics: &Metrics) -> String {
    let (k, lost, suppressed) = match metrics {
        Metrics::Table(own) => (own.guarantee.k, own.utility.loss, own.rows.suppressed.known()),
        Metrics::Codes(own) => (own.guarantee.k, own.utility.frequent.are, Some(own.clusters.entries_in_item_chunks)),
        Metrics::Events(own) => (own.guarantee.k, own.utility.loss, own.rows.suppressed.known()),
    };
    let seconds = metrics.timing().map_or("–".into(), |timing| format!("{:.1}", timing.total));
    line([method, &in_short(metrics), &count(k), &percent(lost), &count(suppressed), &seconds, "yes"])
}

/// What is guaranteed, in a few words: the certificate has the sentences.
fn in_short(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Codes(own) => {
            format!("any {} codes: {} patients could have them", own.guarantee.m, count(own.guarantee.k))
        }
        Metrics::Events(own) => format!(
            "fewer than k match for {} (limit: {})",
            percent(own.guarantee.found.share),
            percent(own.guarantee.max_high_risk)
        ),
        Metrics::Table(own) => {
            let k = count(own.guarantee.k);
            let known = match own.guarantee.knows.as_str() {
                "all" => "all columns known".to_string(),
                some => format!("{some} known"),
            };
            match &own.counterfeits {
                Some(found) => format!("{known}: {k} match, {} of them real", found.real_k),
                None => format!("{known}: {k} match, or none"),
            }
        }
    }
}
