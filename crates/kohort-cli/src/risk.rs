//! `kohort risk POLICY`: how easily patients can be found in the data as it is.

use crate::output::{fit, note, say, thousands, wrap};
use crate::{Context, progress};
use kohort::evidence::events::differences;
use kohort::evidence::worst_sets;
use kohort::init::Location;
use kohort::methods::claims::sensitivity;
use kohort::original_risk::{Cost, RiskPart, TRIED_K, assess};
use kohort::pipeline::{AnySurvey, Options, survey, survey_table};
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use kohort_core::events::Histories;
use kohort_core::number::number_of;
use kohort_core::policy::Policy;
use kohort_core::release::EventsPlan;
use kohort_core::risk::{Models, RegistryAttacks, Risk, SinglingOut, Uniqueness, codes_known};
use kohort_core::shape::{Codes, Events};
use kohort_core::{Error, Result};
use std::path::PathBuf;

/// Show how easily patients can be found in the original data
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort risk policy.toml
  kohort risk patients.csv          with the roles that `kohort init` would suggest")]
pub(crate) struct Args {
    /// The policy file, or a table that has no policy yet
    #[arg(value_name = "POLICY OR TABLE")]
    policy: PathBuf,
    /// For a table without a policy: the sheet of a workbook
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// For a table without a policy: lines above the header, where Kohort does not find them
    #[arg(long, value_name = "LINES")]
    skip: Option<u64>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let options =
        Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress: progress::bar() };
    let guessed = args.policy.extension().is_none_or(|e| !e.eq_ignore_ascii_case("toml")) && args.policy.is_file();
    let surveyed = match guessed {
        true => {
            let at = Location { sheet: args.sheet.clone(), skip: args.skip };
            survey_table(&args.policy, &at, &options)?
        }
        false if args.sheet.is_some() || args.skip.is_some() => {
            return Err(Error::yours(
                "--sheet and --skip are for a table. A policy has `sheet` and `skip` under [input].",
            ));
        }
        false => survey(&args.policy, &options)?,
    };
    drop(options);
    if guessed {
        note("there is no policy, so roles are guessed. `kohort init` writes them to a policy that you can correct.");
    }
    match surveyed {
        AnySurvey::Table(own) => say_table(&own.policy, &own.input)?,
        AnySurvey::Codes(own) => say_codes(&own.policy, &own.input),
        AnySurvey::Events(own) => say_events(&own.policy, &own.input, context),
    }
    Ok(())
}

/// Prints how many patients are found by some of their events, with all values unchanged.
fn say_events(policy: &Policy<Events>, histories: &Histories, context: &Context) {
    policy.notes.iter().chain(&histories.notes).for_each(|n| note(n));
    let k = policy.privacy.k.get();
    say(&format!(
        "{} patients with {} events, after exclusions",
        thousands(histories.patients() as u64),
        thousands(histories.events() as u64)
    ));
    say("");
    let found = sensitivity(histories, &EventsPlan::unchanged(histories), k, (&[1, 2, 5], 2), context.threads, 1);
    say(&format!("{:<52} fewer than {k} match", "known in addition to all patient-level values"));
    let line = |known: String, share: f64| say(&format!("{known:<52} {:>8.1} %", 100.0 * share));
    for (p, variable, fixed) in &found.values {
        line(
            format!("{} of each event column, variable power", number_of(*p, ["value", "values"])),
            variable[2].share(),
        );
        line(format!("{} of each event column, fixed power", number_of(*p, ["value", "values"])), fixed[2].share());
    }
    for (p, estimate) in &found.pairs {
        line(format!("two columns of {} (the worst two)", number_of(*p, ["event", "events"])), estimate.share());
    }
    for (p, estimate) in &found.events {
        line(number_of(*p, ["whole event", "whole events"]), estimate.share());
    }
    for &(p, hits, of) in &found.total {
        line(
            format!("any {} about events (worst case)", number_of(p, ["fact", "facts"])),
            hits as f64 / of.max(1) as f64,
        );
    }
    say_excluded(histories, context.show_values);
    say_correlation(histories, &found.correlation);
}

/// More labels of a column are not printed.
const MOST_LABELS: usize = 12;

/// Prints how the excluded patients differ from the others (the paper's Tables 1 to 4).
fn say_excluded(histories: &Histories, show_values: bool) {
    let Some(found) = differences(histories) else { return };
    say("");
    say(&format!(
        "{} patients are excluded, with a median of {} events; {} are kept, with {}",
        thousands(found.patients.excluded),
        found.median_events.excluded,
        thousands(found.patients.kept),
        found.median_events.kept
    ));
    match show_values {
        true => say(&format!("{:<36} {:>10} {:>10}", "column and value", "excluded", "kept")),
        false => say("--show-values adds the shares of each value."),
    }
    for column in &found.columns {
        let test = match column.p_value {
            Some(p) => format!("Kolmogorov-Smirnov {:.3}, p = {p:.3}", column.statistic),
            None => format!("shares differ by up to {:.3}", column.statistic),
        };
        say(&format!("{} ({test})", column.column));
        if !show_values {
            continue;
        }
        for label in column.labels.iter().take(MOST_LABELS) {
            say(&format!(
                "  {:<34} {:>8.1} % {:>8.1} %",
                label.label.chars().take(34).collect::<String>(),
                100.0 * label.excluded,
                100.0 * label.kept
            ));
        }
        if column.labels.len() > MOST_LABELS {
            say(&format!("  and {} more", column.labels.len() - MOST_LABELS));
        }
    }
}

/// Prints how the diversities of event columns correlate (the paper's Table 5).
fn say_correlation(histories: &Histories, found: &[Vec<Option<f64>>]) {
    if found.len() < 2 {
        return;
    }
    say("");
    say("correlation of how much a patient's values differ, by event columns");
    for (a, own) in found.iter().enumerate().skip(1) {
        for (b, r) in own.iter().enumerate().take(a) {
            let name = |column: usize| histories.shown(&histories.event[column]);
            let r = r.map_or("-".to_string(), |r| format!("{r:.3}"));
            say(&format!("{:<52} {r:>10}", format!("{} and {}", name(b), name(a))));
        }
    }
}

/// Prints how many patients are unique by some of their codes.
fn say_codes(policy: &Policy<Codes>, records: &Records) {
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
        if records.demographics.is_some() { "quasi-identifiers and…" } else { "known codes of a patient" },
        "asked about",
        "unique",
        few,
        "mean risk"
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

/// The first look, on one screen. Each part is printed as soon as it is known.
fn say_table(policy: &Policy, cohort: &Cohort) -> Result<()> {
    let unit = if policy.patient().is_some() { "patients" } else { "rows" };
    policy.notes.iter().chain(&cohort.notes).for_each(|n| note(n));
    let people = if policy.patient().is_some() {
        format!(", {} patients", thousands(cohort.tuples.people()))
    } else {
        String::new()
    };
    say(&format!("{} rows{people}", thousands(cohort.tuples.rows)));
    let mut known = |part: RiskPart| match part {
        RiskPart::Classes(all, models) => say(&format!(
            "mean risk {:.1} %; {:.1} % of {unit} have a risk above 1 in {TRIED_K}",
            100.0 * all.mean,
            100.0 * models.prosecutor.above,
        )),
        RiskPart::SinglingOut(all, found) => {
            say_unique(policy, cohort, all, found, unit);
            say_columns(cohort, found, unit);
        }
        RiskPart::Outside { all, models, attacks, uniqueness } => {
            say_outside(policy, (all, models), attacks, uniqueness)
        }
        RiskPart::Cost(cost) => say_cost(cohort, cost),
    };
    assess(policy, cohort, &mut known).map(drop)
}

fn say_unique(policy: &Policy, cohort: &Cohort, all: &Risk, found: &SinglingOut, unit: &str) {
    // A patient with several rows may be in several classes: who is unique in one of them counts once.
    let (unique, among) = match (&found.added, policy.patient()) {
        (Some(added), Some(_)) => (added.all, cohort.tuples.people()),
        _ => (all.unique, all.people),
    };
    say(&format!(
        "unique on all {} quasi-identifiers: {} of {} {unit} ({:.1} %)",
        cohort.quasi.len(),
        thousands(unique),
        thousands(among),
        100.0 * unique as f64 / among.max(1) as f64,
    ));
}

/// Prints the risk from what is known about the population.
fn say_outside(
    policy: &Policy,
    (all, models): (&Risk, &Models),
    attacks: &[RegistryAttacks],
    unique: Option<&Uniqueness>,
) {
    attacks.iter().for_each(|found| say_registry(policy, (all, models), found));
    let Some(unique) = unique else { return };
    if let (Some(chosen), Some(most)) = (unique.chosen, unique.largest()) {
        say(&format!(
            "  unique in the population as well: about {} by {}; highest {}",
            thousands(unique.estimate(chosen).unwrap_or(most).round() as u64),
            chosen.name(),
            thousands(most.round() as u64)
        ));
    }
}

/// Prints the results of attacks with one registry.
fn say_registry(policy: &Policy, (all, models): (&Risk, &Models), found: &RegistryAttacks) {
    let estimated = if found.estimated { ", estimated" } else { "" };
    say("");
    let name = found.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
    say(&fit(&format!("{name}a registry of {} people{estimated}", thousands(found.people.round() as u64))));
    let mut regions: Vec<_> = found.one_patient.iter().collect();
    regions.sort_by(|a, b| b.2.total_cmp(&a.2));
    for (region, people, share) in regions.iter().take(2) {
        say(&fit(&format!(
            "  attack 1, one patient, {region}: {:.1} % of {} are in classes smaller than {}",
            100.0 * share,
            thousands(people.round() as u64),
            policy.privacy.k
        )));
    }
    // Classes outside that are merely as much larger as the file is smaller understate it.
    let expected = models.marketer * all.people as f64;
    let links = if found.estimated { found.whole_file.max(expected) } else { found.whole_file };
    say(&format!("  attack 2, the whole file: {links:.1} correct links expected"));
    say(&format!("  attack 3, a targeted neighbour: highest risk {:.1} %", 100.0 * all.max));
}

/// Which columns single people out.
fn say_columns(cohort: &Cohort, found: &SinglingOut, unit: &str) {
    let name = |q: usize| cohort.quasi[q].name.as_str();
    let share = |n: u64| 100.0 * n as f64 / cohort.tuples.people().max(1) as f64;
    say("");
    say(&format!("{:<8} {:>19} {:>12}   on the worst set", "known", "singled out", "of these"));
    let worst = worst_sets(found);
    for (number, &people) in (1..).zip(&found.people) {
        let set = worst.iter().find(|(set, _)| set.len() == number);
        let set = set.map_or(format!("{:>12}", 0), |(set, alone)| {
            let names: Vec<&str> = set.iter().map(|&q| name(q)).collect();
            format!("{:>12}   {}", thousands(*alone), names.join(" + "))
        });
        let columns = if number == 1 { "1 column" } else { &format!("{number}") };
        say(&fit(&format!("{columns:<8} {:>10} {:>6.1} % {set}", thousands(people), share(people))));
    }
    let Some(added) = &found.added else { return };
    let mut columns: Vec<usize> = (0..cohort.quasi.len()).filter(|&q| added.only_with[q] > 0).collect();
    columns.sort_by_key(|&q| (std::cmp::Reverse(added.only_with[q]), q));
    if !columns.is_empty() {
        say("");
        say(&format!("if one column were unknown, this many {unit} would no longer be unique:"));
    }
    for &q in columns.iter().take(5) {
        say(&fit(&format!("{:>10}   {}", thousands(added.only_with[q]), name(q))));
    }
}

/// Prints the information loss that k would cost.
fn say_cost(cohort: &Cohort, cost: &Cost) {
    say("");
    match &cost.outcome {
        Ok(lost) => {
            let share = 100.0 * lost.rows as f64 / cohort.tuples.rows.max(1) as f64;
            say(&format!(
                "k = {} by {} would cost {:.1} % of the detail and {} rows ({share:.1} %)",
                cost.k,
                cost.method,
                100.0 * lost.loss,
                thousands(lost.rows)
            ));
            for (what, names) in [("unchanged", &lost.untouched), ("fully suppressed", &lost.gone)] {
                if !names.is_empty() {
                    say(&fit(&format!("  {what}: {}", names.join(", "))));
                }
            }
        }
        Err(reason) => {
            wrap(&format!("k = {} by {} cannot be met: {reason}", cost.k, cost.method)).iter().for_each(|l| say(l));
        }
    }
}
