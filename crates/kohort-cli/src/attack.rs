//! `kohort attack DIR --original POLICY`: tries published attacks on a release.

use crate::output::{note, say, thousands};
use crate::{Context, progress};
use kohort::attack::{Attack, Trial, attack};
use kohort::pipeline::Options;
use kohort::report;
use kohort_core::Result;
use std::path::PathBuf;

/// Run published attacks on a release and on the original data
///
/// Tries linkage by known values; homogeneity, skew and naive Bayes for sensitive values; cover and
/// inference for codes; and, if private/rows was kept, downcoding, minimality and counterfeit
/// detection. Shows the success before and after the release, and for guesses from base rates
/// alone. Adds the results to attacks.json, metrics.json and the report in DIR/evidence.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  kohort anonymize policy.toml --keep-rows
  kohort attack policy-release --original policy.toml")]
pub(crate) struct Args {
    /// Folder made by `kohort anonymize`
    folder: PathBuf,
    /// Policy with which the release was made; its data is used to score the attacks
    #[arg(long, value_name = "POLICY")]
    original: PathBuf,
    /// Maximum number of targets per attack
    #[arg(long, value_name = "N", default_value_t = 1000)]
    targets: u64,
    /// Random seed for the choice of targets, so that a run can be repeated
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let options =
        Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress: progress::bar() };
    let trial = Trial { targets: args.targets, seed: args.seed };
    let attacked = attack(&args.folder, &args.original, &options, trial)?;
    drop(options);
    say(&format!("{:<66} {:>8} {:>9} {:>9} {:>9}", "attack", "targets", "before", "after", "guessing"));
    let mut about = "";
    for a in &attacked.attacks {
        if about != a.about {
            say(&a.about);
            about = &a.about;
        }
        say(&line(a));
    }
    attacked.notes.iter().for_each(|n| note(n));
    if report::add_attacks(&args.folder, &attacked)? {
        say("");
        say(&format!("written to {}", args.folder.join("evidence").display()));
    } else if args.folder.join("evidence/metrics.json").exists() {
        note(&format!(
            "{}: not changed, because Kohort did not make a file there, or it was changed afterwards.",
            args.folder.join("evidence").display()
        ));
    }
    Ok(())
}

fn line(a: &Attack) -> String {
    let share = |x: Option<f64>| match x {
        None => "–".into(),
        Some(x) if x > 0.0 && x < 0.0005 => "<0.1 %".into(),
        Some(x) => format!("{:.1} %", 100.0 * x),
    };
    let what = format!("{}: {}", a.name, a.measure);
    format!(
        "  {what:<64} {:>8} {:>9} {:>9} {:>9}",
        thousands(a.targets),
        share(a.before),
        share(a.after),
        share(a.baseline)
    )
}
