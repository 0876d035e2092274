//! `kohort risk POLICY`: how easily patients can be found in the data as it is.

use crate::output::{note, say, thousands};
use crate::{Context, progress};
use kohort::methods::claims::sensitivity;
use kohort::pipeline::{Options, Surveyed, survey};
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::histories::Histories;
use kohort_core::policy::Policy;
use kohort_core::records::Records;
use kohort_core::release::LinkedPlan;
use kohort_core::risk::{View, codes_known, risk};
use std::path::PathBuf;

/// Show how easily patients can be found in the data as it is
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  kohort risk policy.toml")]
pub(crate) struct Args {
    /// The policy file
    policy: PathBuf,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let options =
        Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress: progress::bar() };
    let (policy, surveyed) = survey(&args.policy, &options)?;
    drop(options);
    match surveyed {
        Surveyed::Table(cohort) => say_table(&policy, &cohort)?,
        Surveyed::Codes(records) => say_codes(&policy, &records),
        Surveyed::Claims(histories) => say_claims(&policy, &histories, context.threads),
    }
    Ok(())
}

/// How many patients are found by some of their events, all values as they are.
fn say_claims(policy: &Policy, histories: &Histories, threads: usize) {
    policy.notes.iter().chain(&histories.notes).for_each(|n| note(n));
    let k = policy.privacy.k.get();
    say(&format!(
        "{} patients with {} events, after exclusions",
        thousands(histories.patients() as u64),
        thousands(histories.events() as u64)
    ));
    say("");
    let found = sensitivity(histories, &LinkedPlan::as_it_is(histories), k, (&[1, 2, 5], 5), threads, 1);
    say(&format!("{:<52} fewer than {k} match", "known beside all patient-level values"));
    let line = |known: String, share: f64| say(&format!("{known:<52} {:>8.1} %", 100.0 * share));
    for (p, variable, fixed) in &found.values {
        line(format!("{p} values of each event column, variable power"), variable[2].share());
        line(format!("{p} values of each event column, fixed power"), fixed[2].share());
    }
    for (p, estimate) in &found.events {
        line(format!("{p} whole events"), estimate.share());
    }
    for &(p, hits, of) in &found.total {
        line(format!("any {p} facts about events, at worst"), hits as f64 / of.max(1) as f64);
    }
}

/// How many patients are alone with some of their codes.
fn say_codes(policy: &Policy, records: &Records) {
    policy.notes.iter().chain(&records.notes).for_each(|n| note(n));
    let k = policy.privacy.k.get();
    say(&format!(
        "{} patients with codes, {} different codes, {} codes over all patients",
        thousands(records.len() as u64),
        thousands(records.distinct() as u64),
        thousands(records.occurrences() as u64)
    ));
    say("");
    let few = format!("fewer than {k}");
    say(&format!(
        "{:<24} {:>14} {:>10} {:>14} {:>10}",
        "known codes of a patient", "asked about", "unique", few, "mean risk"
    ));
    for risk in codes_known(records, k) {
        let share = |n: u64| 100.0 * n as f64 / risk.patients.max(1) as f64;
        say(&format!(
            "{:<24} {:>14} {:>9.1}% {:>13.1}% {:>9.1}%",
            risk.codes.map_or("all".to_string(), |n| format!("{n}, at random")),
            thousands(risk.patients),
            share(risk.unique),
            share(risk.fewer_than_k),
            100.0 * risk.mean
        ));
    }
}

/// How many people are alone in the quasi-identifiers.
fn say_table(policy: &Policy, cohort: &Cohort) -> Result<()> {
    let unit = if policy.patient().is_some() { "patients" } else { "rows" };
    policy.notes.iter().chain(&cohort.notes).for_each(|n| note(n));
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let everything = risk(cohort, View::Before, &all);
    let share = |n: u64| 100.0 * n as f64 / everything.people.max(1) as f64;
    say(&format!("{} rows, {} {unit}", thousands(cohort.tuples.rows), thousands(cohort.tuples.people())));
    say(&format!(
        "unique on all {} quasi-identifiers: {} of {} {unit} ({:.1} %); mean risk {:.1} %",
        all.len(),
        thousands(everything.unique),
        thousands(everything.people),
        share(everything.unique),
        100.0 * everything.mean
    ));
    say("");
    say(&format!("{:<32} {:>12} {:>10} {:>10}", "known to the adversary", "unique", "mean risk", "classes"));
    let mut sets: Vec<Vec<usize>> = all.iter().map(|&q| vec![q]).collect();
    sets.extend(all.iter().flat_map(|&a| all.iter().filter(move |&&b| b > a).map(move |&b| vec![a, b])));
    let mut risks: Vec<_> = sets.iter().map(|set| risk(cohort, View::Before, set)).collect();
    risks.sort_by(|a, b| b.unique.cmp(&a.unique).then(b.mean.total_cmp(&a.mean)).then(a.set.cmp(&b.set)));
    for own in risks.iter().take(12) {
        let names: Vec<&str> = own.set.iter().map(|&q| cohort.quasi[q].name.as_str()).collect();
        say(&format!(
            "{:<32} {:>12} {:>9.1}% {:>10}",
            names.join(" + "),
            thousands(own.unique),
            100.0 * own.mean,
            thousands(own.classes)
        ));
    }
    if let Some(found) = kohort::evidence::attacks(cohort, policy)? {
        say("");
        let estimated = if found.estimated { ", estimated" } else { "" };
        say(&format!("a registry of {} people{estimated}", thousands(found.people.round() as u64)));
        for (region, people, share) in &found.one_patient {
            say(&format!(
                "  attack 1, one patient, {region}: {:.1} % of {} people are in classes smaller than {}",
                100.0 * share,
                thousands(people.round() as u64),
                policy.privacy.k
            ));
        }
        say(&format!("  attack 2, the whole file: {:.1} correct links to be expected", found.whole_file));
        say(&format!(
            "  attack 3, a targeted neighbour: highest risk {:.1} %, see above for what is known",
            100.0 * everything.max
        ));
    }
    Ok(())
}
