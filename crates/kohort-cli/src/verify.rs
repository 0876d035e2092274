//! `kohort verify DIR`: recounts a release.

use crate::output::{note, say, thousands};
use crate::{Context, progress};
use kohort::{AnyCertificate, Certificate, Examined, Policy, Run, Verification};
use kohort_core::number::number_of;
use kohort_core::policy::Power;
use kohort_core::release::{KnowsClaim, SensitiveClaim};
use kohort_core::shape::{Codes, Events};
use kohort_core::signature::Signers;
use kohort_core::verify::{Outcome, Outside};
use kohort_core::{Error, Result};
use std::path::PathBuf;

/// Up to so many listed values of a sensitive column are printed.
const MOST_VALUES: usize = 10;

/// Count the guarantee of a release again from its bytes
///
/// FOLDER was made by `kohort anonymize`, or is the release/ folder that you received. The result is
/// `verified` (exit code 0), `partly verified` (5: k or a limit on sensitive values is only stated by the
/// custodian, a column outside every requirement is nearly unique, sensitive values look alike, or a file
/// may hold more than its cells), or `refused` (1). An exit code of 2 means that FOLDER is not a release.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort verify policy-release
  kohort verify policy-release --original policy.toml
  kohort verify policy-release --json
  kohort verify policy-release --signer custodian.pub")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// Also compare the release with the original data that this policy names
    #[arg(long, value_name = "POLICY")]
    original: Option<PathBuf>,
    /// Refuse the release unless it is signed with this public key, or with one of the keys in this file
    #[arg(long, value_name = "KEY")]
    signer: Option<PathBuf>,
    /// Refuse what is verified only in part, and statements without a valid signature by a known key
    #[arg(long)]
    strict: bool,
    /// Print the result as JSON: what was counted, and what is only stated
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Outcome> {
    let mut run = Run::new().threads(context.threads);
    if let Some(signers) = &args.signer {
        run = run.signed_by(&Signers::read(signers)?);
    }
    let found = match &args.original {
        None => run.verify(&args.folder)?,
        Some(policy) => {
            let policy = Policy::read(policy)?;
            run.progress(progress::bar()).verify_with_original(&args.folder, policy.data()?, &policy)?
        }
    };
    let found = if args.strict { found.strict() } else { found };
    if args.json {
        found.to_json().lines().for_each(say);
        return Ok(found.outcome());
    }
    match &found {
        Verification::Verified(own) => print("verified", own),
        Verification::Partly(own) => print("partly verified", own),
        Verification::Refused(refusal) => return Err(Error::refused(refusal.reason.clone())),
    }
    Ok(found.outcome())
}

fn print(result: &str, own: &Examined) {
    say(&format!("{result} {}", own.depth().words()));
    match own.certificate() {
        AnyCertificate::Table(certificate) => table_lines(certificate),
        AnyCertificate::Codes(certificate) => codes_lines(certificate),
        AnyCertificate::Events(certificate) => events_lines(certificate),
    }
    own.compared().iter().for_each(|found| say(&format!("  original   {found}")));
    say(&format!("  guarantee  {}", own.counted()));
    if !own.not_counted().is_empty() {
        say("not counted here");
        own.not_counted().iter().for_each(|gap| say(&format!("  - {gap}")));
    }
    let outside: Vec<&Outside> =
        own.outside().iter().filter(|column| !column.limited || column.unique + column.alike > 0).collect();
    if !outside.is_empty() {
        say("released beside the quasi-identifiers");
        outside.iter().for_each(|column| say(&format!("  - {}", in_words(column))));
    }
    say(&format!("stated by the custodian, not checked here ({})", own.signer().words()));
    own.stated().iter().for_each(|sentence| say(&format!("  - {sentence}")));
    if !own.beside().is_empty() {
        note(&format!("not part of the release, and not verified: {}.", own.beside().join(", ")));
    }
    own.not_shown().iter().for_each(|n| note(&format!("not shown: {n}.")));
    own.formulas().iter().for_each(|column| note(&kohort::evidence::formula_note(column)));
    if own.certificate().is_test() {
        note("made with a fixed random seed: this is a test, not a release.");
    }
}

/// A column outside the quasi-identifiers, and how many of its values occur once.
fn in_words(column: &Outside) -> String {
    let covered = match (column.limited, column.is_nearly_unique()) {
        (true, _) => "a requirement limits what it reveals",
        (false, false) => "no requirement covers it",
        (false, true) => "no requirement covers it, and it is nearly unique: it may name people",
    };
    let alike = match column.alike {
        0 => String::new(),
        n => format!(", but {} of its values look like another one and count as different values", thousands(n)),
    };
    format!(
        "`{}`: {} of {} values occur once; {covered}{alike}",
        column.column,
        thousands(column.unique),
        thousands(column.cells)
    )
}

/// Prints what was claimed and counted for a table.
fn table_lines(certificate: &Certificate) {
    let (claim, recount) = (&certificate.promise.claim, &certificate.recount);
    let knows = match &claim.knows {
        KnowsClaim::All => "all quasi-identifiers".to_string(),
        KnowsClaim::Any(n) => format!("any {n} of the quasi-identifiers"),
        KnowsClaim::Sets(sets) => format!("one of {} sets of quasi-identifiers", sets.len()),
    };
    let quasi: Vec<&str> =
        certificate.promise.columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
    match certificate.sample {
        None => say(&format!("  claim      at least {} rows match an attacker's knowledge of {knows}", claim.k)),
        Some(_) => say("  claim      about the file of which this is a sample, not about this file"),
    }
    say(&format!("  columns    {}", quasi.join(", ")));
    if certificate.sample.is_none() && !certificate.promise.patients {
        claim.sensitive.iter().for_each(|own| say(&format!("  sensitive  {}", sensitive_line(own))));
    }
    say(&format!(
        "  counted    {}, {}, {} of columns; the smallest class holds {}",
        number_of(recount.rows, ["row", "rows"]),
        number_of(recount.classes, ["class", "classes"]),
        number_of(recount.sets, ["set", "sets"]),
        number_of(recount.smallest_class, ["row", "rows"])
    ));
    if let Some(catalog) = &recount.catalog {
        say(&format!(
            "  catalog    {} synthetic records in {} groups of classes; no row belongs to a person with probability above {}",
            thousands(catalog.counterfeits),
            thousands(catalog.groups),
            catalog.highest_posterior
        ));
    }
}

/// The claim about a sensitive column, with everything that a stranger may have chosen to make it easy: the values,
/// the order or the tree.
fn sensitive_line(own: &SensitiveClaim) -> String {
    let mut parts = Vec::new();
    if let Some(confidence) = &own.confidence {
        let values = match &own.values {
            None => "any value".to_string(),
            Some(values) => {
                let more = if values.len() > MOST_VALUES { ", …" } else { "" };
                let first: Vec<&str> = values.iter().take(MOST_VALUES).map(String::as_str).collect();
                format!("the listed values ({}{more})", first.join(", "))
            }
        };
        parts.push(format!("confidence at most {confidence} in {values}"));
    }
    own.l_diversity.iter().for_each(|l| parts.push(l.describe()));
    own.t_closeness
        .iter()
        .for_each(|t| parts.push(format!("distance from the table at most {}, {}", t.max, t.words())));
    format!("{}: {}", own.column, parts.join("; "))
}

/// Prints what was claimed and counted for patients and their events.
fn events_lines(certificate: &Certificate<Events>) {
    let (claim, recount) = (&certificate.promise.claim, &certificate.recount);
    let known = match claim.power {
        Power::Values { p, .. } => format!("up to {} of each event column", number_of(p, ["value", "values"])),
        Power::Events { p } => format!("up to {}", number_of(p, ["whole event", "whole events"])),
        Power::Pairs { p } => format!("two columns of up to {} of one table", number_of(p, ["event", "events"])),
        Power::Total { p } => format!("any {} about events", number_of(p, ["fact", "facts"])),
    };
    say(&format!(
        "  claim      for at most the share {} of patients, fewer than {} match an attacker's knowledge of all patient-level values and {known}",
        claim.max_high_risk, claim.k
    ));
    say(&format!(
        "  counted    {} patient records, {} events, {} patient-level classes; the smallest holds {}",
        thousands(recount.patients),
        thousands(recount.events),
        thousands(recount.classes),
        thousands(recount.smallest_class)
    ));
    let found = &recount.found.at_high_risk;
    let drawn = match found.is_exact() {
        true => String::new(),
        false => format!(
            ": all knowledge of {} patient records was counted, and {} draws were made from the others",
            thousands(found.enumerated),
            thousands(found.draws)
        ),
    };
    say(&format!(
        "  counted    fewer than {} match for {:.2} % of patient records with events{drawn}",
        claim.k,
        100.0 * found.share()
    ));
}

/// Prints what was claimed and counted for clusters of codes.
fn codes_lines(certificate: &Certificate<Codes>) {
    let (claim, recount) = (&certificate.promise.claim, &certificate.recount);
    let unit = if certificate.promise.patients { "patients" } else { "rows" };
    let labels = certificate.promise.columns.iter().any(|column| column.role == "quasi");
    let known = if labels { "the quasi-identifiers and any" } else { "any" };
    say(&format!("  claim      {known} {} codes of a person could belong to at least {} {unit}", claim.m, claim.k));
    if claim.aware {
        say("  claim      every distinct fragment appears at least k times in its chunk");
    }
    if claim.no_cover {
        say("  claim      no code reveals another code of its chunk, and no code is shared by a whole cluster");
    }
    if !claim.sensitive.is_empty() {
        say(&format!("  claim      {} sensitive codes appear only in item chunks", claim.sensitive.len()));
    }
    if let Some(max) = claim.confidence {
        say(&format!(
            "  claim      at most the share {max} of the patients of a cluster has any one sensitive code; a recipient can check only that the clusters are large enough for it"
        ));
    }
    say(&format!(
        "  counted    {} records in {} clusters, {} of them joint; {} record chunks, {} shared chunks",
        thousands(recount.patients),
        thousands(recount.clusters),
        thousands(recount.joint),
        thousands(recount.record_chunks),
        thousands(recount.shared_chunks)
    ));
    if labels {
        say(&format!(
            "  counted    {} combinations of labels; the smallest is shown by {} {unit}",
            thousands(recount.groups),
            thousands(recount.smallest_group)
        ));
    }
    say(&format!(
        "  counted    smallest cluster {}, rarest combination of up to {} codes {} times, rarest fragment {} times; {} covers",
        thousands(recount.smallest_cluster),
        claim.m,
        thousands(recount.smallest_support),
        thousands(recount.smallest_subrecord),
        thousands(recount.covers)
    ));
}
