//! `kohort compare POLICY`: several settings side by side.

use crate::output::{count, note, percent, say};
use crate::{Context, progress};
use kohort::compare::{Vary, compare};
use kohort::evidence::Outlook;
use kohort::methods::{Register, manual::parameters};
use kohort::pipeline::Options;
use kohort_core::Result;
use std::path::PathBuf;

/// Compare several settings before you release one
///
/// Reads the data once, then plans and measures every setting. Nothing is released. The page shows
/// risk against loss and marks the settings that no other setting beats. For each setting, a policy
/// is written with which you can release it.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  kohort compare policy.toml --vary k=3,5,10
  kohort compare policy.toml --vary k=5,11,20 --vary method=lattice,suppress --vary max_suppressed=0,0.05
  kohort compare codes.toml --vary method=disassociate,cba,apriori   codes, with two baselines

Keys of [privacy] to vary: {}. Keys of [method], by method:
{}", Vary::PRIVACY.join(", "), parameters(&Register::built_in())))]
pub(crate) struct Args {
    /// The policy file
    policy: PathBuf,
    /// A key of [privacy] or [method] and its values; `method` is the name of the method. Can be repeated
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    vary: Vec<Vary>,
    /// Folder to create [default: the policy's name with -compare]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace DIR if it is an older comparison
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.output.clone().unwrap_or_else(|| {
        let stem = args.policy.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        args.policy.with_file_name(format!("{stem}-compare"))
    });
    let options = Options {
        force: args.force,
        keep_rows: false,
        seed: None,
        threads: context.threads,
        progress: progress::bar(),
    };
    progress::keep_what_is_known();
    let made = compare(&args.policy, &args.vary, &out, &options)?;
    drop(options);
    let widest = made.tried.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).clamp(7, 60);
    let codes = made.tried.iter().any(|t| t.errors().is_some());
    let headings = if codes { ["sets", "pairs", "constraints"] } else { ["loss", "suppressed", "cells"] };
    let [a, b, c] = headings;
    say(&format!("{:<widest$}  {:>12} {a:>8} {b:>10} {c:>11}  ", "setting", "highest risk"));
    for t in &made.tried {
        match &t.outcome {
            Ok(outlook) => {
                let cells = if let Outlook::Table(own) = outlook { Some(own.cells.share) } else { None };
                let share = |x: Option<f64>| x.map_or("–".into(), |x| format!("{:.1} %", 100.0 * x));
                let [a, b, c] = match t.errors() {
                    Some(errors) => errors.map(share),
                    None => [
                        t.loss().map_or("–".into(), |x| format!("{x:.4}")),
                        count(outlook.rows().suppressed.known()),
                        percent(cells),
                    ],
                };
                let mark = match (t.is_baseline(), t.is_knee, t.on_frontier) {
                    (true, ..) => "for comparison only",
                    (_, true, _) => "frontier, its bend",
                    (_, _, true) => "frontier",
                    _ => "",
                };
                let risk = t.risk().map_or("–".into(), |x| format!("{x:.4}"));
                say(&format!("{:<widest$}  {risk:>12} {a:>8} {b:>10} {c:>11}  {mark}", t.name));
            }
            Err(reason) => say(&format!("{:<widest$}  none: {reason}", t.name)),
        }
    }
    if codes {
        note(
            "the columns show the relative error of counts: of frequent sets of codes and random pairs (ARE), and of constraints (MRE).",
        );
    }
    if made.skipped > 0 {
        let (skipped, all) = (made.skipped, made.tried.len());
        note(&format!("interrupted: {skipped} of {all} settings were not measured. The others are in the page."));
    }
    note("the bend of the frontier is only a suggestion: you decide which risk is acceptable.");
    say(&format!("page: {}", made.folder.join("compare.html").display()));
    say(&format!("to release one: kohort anonymize {}", made.folder.join("policies").join("NNN.toml").display()));
    Ok(())
}
