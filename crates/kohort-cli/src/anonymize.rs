//! `kohort anonymize POLICY`: the straight path.

use crate::Context;
use crate::output::{count, note, percent, say};
use crate::release_args::ReleaseArgs;
use kohort::evidence::Metrics;
use kohort::evidence::metrics::{CodesMetrics, EventsMetrics, Risk, Role, RowCounts, Sides, TableMetrics};
use kohort::methods::{Register, manual::overview};
use kohort::pipeline::{Readers, anonymize_for};
use kohort_core::Result;
use std::path::PathBuf;
use std::time::Duration;

/// Make a verified release of the data that a policy names
///
/// Reads the data, finds the best way to meet the policy, writes the release into a hidden folder
/// beside DIR, counts the guarantee again from the written bytes, and only then renames the folder
/// to DIR. If anything fails, nothing is published.
#[derive(clap::Args)]
#[command(after_help = format!("\
Examples:
  kohort anonymize policy.toml
  kohort anonymize policy.toml -o release-2026 --threads 4

Methods, by their name under [method]; docs/reference/policy.md explains their parameters:
{}
Hand over DIR/release/ and keep DIR/evidence/. If the policy sets `samples`, hand over
DIR/sample-1/release/ and so on, and keep the whole file in DIR/population/.", overview(&Register::built_in())))]
pub(crate) struct Args {
    /// The policy file
    policy: PathBuf,
    #[command(flatten)]
    release: ReleaseArgs,
    /// Also write DIR/evidence/shareable.html, a report that hides counts of fewer than 11 people
    #[arg(long)]
    shareable: bool,
    /// Stop improving the result after so many seconds and release the best one so far. The evidence says that such a release is not repeatable. Only `local` can be stopped early
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    deadline: Option<u64>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let out = args.release.folder(&args.policy);
    let options = args.release.options(context, args.deadline.map(Duration::from_secs));
    let extras = args.release.extras(if args.shareable { Readers::Others } else { Readers::House })?;
    let released = anonymize_for(&args.policy, &out, &options, &extras)?;
    drop(options);
    released.notes.iter().for_each(|n| note(n));
    for file in &released.files {
        let folder = released.folder.join(file);
        let sample = folder.join("sample-1");
        let folder = if sample.is_dir() { sample } else { folder };
        say(&format!("released and verified: {}", folder.join("release").display()));
    }
    match released.metrics.samples() {
        _ if !released.files.is_empty() => {}
        None => say(&format!("released and verified: {}", released.folder.join("release").display())),
        Some(samples) => samples.iter().for_each(|sample| {
            let folder = released.folder.join(&sample.folder).join("release");
            say(&format!("sampled and verified: {} ({} rows)", folder.display(), count(sample.rows)));
        }),
    }
    match &released.metrics {
        Metrics::Table(metrics) => say_table(metrics),
        Metrics::Codes(metrics) => say_codes(metrics),
        Metrics::Events(metrics) => say_events(metrics),
    }
    let evidence = released.folder.join("evidence");
    let evidence = released.files.first().map_or_else(|| evidence.clone(), |first| evidence.join(first));
    args.release.say_end(&extras, &evidence);
    if args.shareable {
        say(&format!("for others: {}", released.folder.join("evidence").join("shareable.html").display()));
    }
    Ok(())
}

pub(crate) fn say_table(metrics: &TableMetrics) {
    let RowCounts { r#in, excluded, suppressed, counterfeit, out } = metrics.rows;
    say(&format!(
        "  rows       {} in, {} excluded, {} suppressed, {} out",
        count(r#in.known()),
        count(excluded.known()),
        count(suppressed.known()),
        count(out)
    ));
    if let Some(found) = &metrics.counterfeits {
        say(&format!(
            "  synthetic  {} of these rows; the smallest class holds {} real people",
            count(counterfeit.known()),
            count(found.smallest_real_class)
        ));
    }
    let unique = |side: &Option<Risk>| count(side.as_ref().and_then(|risk| risk.unique));
    let Sides { before, after } = &metrics.risk;
    say(&format!("  unique     {} before, {} after", unique(before), unique(after)));
    let share = |side: &Option<Risk>, of: fn(&Risk) -> f64| percent(side.as_ref().map(of));
    say(&format!(
        "  risk       highest {} before, {} after; mean {} before, {} after",
        share(before, |risk| risk.max),
        share(after, |risk| risk.max),
        share(before, |risk| risk.mean),
        share(after, |risk| risk.mean)
    ));
    say(&format!(
        "  guarantee  smallest class {}, k = {}",
        count(metrics.guarantee.smallest_class),
        count(metrics.guarantee.k)
    ));
    if let Some(cells) = &metrics.cells {
        say(&format!("  cells      {} of those that others may know are suppressed", percent(Some(cells.share))));
    }
    let is_weighted = metrics.columns.iter().any(|column| column.weight.is_some());
    say_loss(metrics.utility.loss, if is_weighted { "; columns count by their weights" } else { "" });
}

fn say_loss(loss: f64, how: &str) {
    say(&format!("  loss       {loss:.4} (0: nothing lost, 1: everything{how})"));
}

fn say_events(metrics: &EventsMetrics) {
    let EventsMetrics { people, guarantee, utility, .. } = metrics;
    let rows = &metrics.rows;
    say(&format!(
        "  patients   {} in, {} excluded, {} without events, {} suppressed, {} out",
        count(people.r#in.known()),
        count(people.excluded.known()),
        count(people.emptied.known().zip(people.dropped.known()).map(|(emptied, dropped)| emptied + dropped)),
        count(people.suppressed.known()),
        count(people.out)
    ));
    say(&format!(
        "  events     {} in, {} excluded, {} truncated or suppressed, {} out",
        count(rows.r#in.known()),
        count(rows.excluded.known()),
        count(rows.suppressed.known()),
        count(rows.out)
    ));
    let quasi = metrics.columns.iter().filter(|c| c.role == Role::Quasi);
    let levels: Vec<String> =
        quasi.map(|c| format!("{} {}", c.name, c.level_name.as_deref().unwrap_or_default())).collect();
    say(&format!("  levels     {}", levels.join(", ")));
    let interval = match (guarantee.found.low, guarantee.found.high) {
        (Some(low), Some(high)) => format!(" (interval {} to {})", percent(low), percent(high)),
        _ => String::new(),
    };
    say(&format!(
        "  high risk  {} of patients before, {} after{interval}, at most {} asked; known: {}",
        percent(metrics.risk.before.as_ref().map(|risk| risk.high_risk)),
        percent(guarantee.found.share),
        percent(guarantee.max_high_risk),
        guarantee.knows
    ));
    say(&format!(
        "             {} if the attacker knows one whole event, {} if the same number of facts are whole events",
        percent(guarantee.one_event_known.share),
        percent(guarantee.events_known.share)
    ));
    say_loss(utility.loss, "");
}

fn say_codes(metrics: &CodesMetrics) {
    let CodesMetrics { clusters, utility, guarantee, .. } = metrics;
    let rows = &metrics.rows;
    say(&format!(
        "  patients   {} in, {} excluded, {} without codes, {} out",
        count(rows.r#in.known()),
        count(rows.excluded.known()),
        count(rows.suppressed.known()),
        count(rows.out)
    ));
    say(&format!(
        "  clusters   {}, {} of them joint; {} different codes, each unchanged",
        count(clusters.clusters),
        count(clusters.joint),
        count(clusters.codes)
    ));
    say(&format!(
        "  guarantee  at least {1} patients could have any {0} codes, k = {2}; smallest cluster {3}",
        guarantee.m,
        count(guarantee.fewest_candidates),
        count(guarantee.k),
        count(guarantee.smallest_cluster)
    ));
    say(&format!(
        "  codes      {} in record chunks, {} in shared chunks, {} in item chunks",
        percent(utility.in_record_chunks),
        percent(utility.in_shared_chunks),
        percent(utility.in_item_chunks)
    ));
    if let Some(own) = &utility.demographics {
        say(&format!(
            "  labels     {} combinations, the smallest of {} patients; the quasi-identifiers lost {}",
            count(own.groups),
            count(own.smallest_group),
            percent(own.loss)
        ));
    }
    say(&format!("  counts     of frequent combinations are off by {} on average", percent(utility.frequent.are)));
}
