//! `kohort verify DIR`: recounts a release.

use crate::output::{note, say, thousands};
use crate::{Context, progress};
use kohort::pipeline::{Options, open};
use kohort_core::Result;
use kohort_core::policy::Power;
use kohort_core::release::{Certificate, KnowsClaim};
use kohort_core::shape::{Codes, Events, Shape};
use kohort_core::verify::{
    AnyFindings, AnyRecounted, CodesRecount, EventsRecount, Findings, Recount, Recounted, verify_release,
    verify_with_original,
};
use std::path::PathBuf;

/// Count the guarantee of a release again from its bytes
///
/// FOLDER was made by `kohort anonymize`, or is the release/ folder that you received.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort verify policy-release
  kohort verify policy-release --original policy.toml")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// Also compare the release with the original data that this policy names
    #[arg(long, value_name = "POLICY")]
    original: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let Some(policy) = &args.original else {
        match verify_release(&args.folder, context.threads)? {
            AnyRecounted::Table(Recounted { certificate, recount }) => {
                table_lines(&certificate, &recount);
                not_counted(&certificate);
                formulas(&recount);
                ending(&certificate);
            }
            AnyRecounted::Codes(Recounted { certificate, recount }) => {
                codes_lines(&certificate, &recount);
                note("not counted here: whether the fragments come from the original.");
                ending(&certificate);
            }
            AnyRecounted::Events(Recounted { certificate, recount }) => {
                events_lines(&certificate, &recount);
                note(
                    "not counted here: which events were excluded, truncated or suppressed, and what an attacker who knows them would find.",
                );
                ending(&certificate);
            }
        }
        return Ok(());
    };
    let progress = progress::bar();
    let options = Options { force: false, keep_rows: false, seed: None, threads: context.threads, progress };
    let (source, bound) = open(policy, &options)?;
    match verify_with_original(&args.folder, &source, &bound)? {
        AnyFindings::Table(Findings { certificate, recount, compared, .. }) => {
            table_lines(&certificate, &recount);
            say(&format!(
                "  original   {} rows; every released cell is the original or its ancestor; the smallest class holds {} {}",
                thousands(compared.rows),
                thousands(compared.smallest_class),
                unit(&certificate)
            ));
            not_shown(&compared.not_shown);
            formulas(&recount);
            ending(&certificate);
        }
        AnyFindings::Codes(Findings { certificate, recount, compared, .. }) => {
            codes_lines(&certificate, &recount);
            say(&format!(
                "  original   {} patients, {} with codes; at least {} patients could have each of the {} combinations of codes tried",
                thousands(compared.patients),
                thousands(compared.matched),
                thousands(compared.fewest_candidates),
                thousands(compared.combinations)
            ));
            not_shown(&compared.not_shown);
            ending(&certificate);
        }
        AnyFindings::Events(Findings { certificate, recount, compared, .. }) => {
            events_lines(&certificate, &recount);
            say(&format!(
                "  original   {} patients with {} events after exclusions; {} released patients found, every cell is the original or its ancestor",
                thousands(compared.patients),
                thousands(compared.events),
                thousands(compared.matched)
            ));
            not_shown(&compared.not_shown);
            ending(&certificate);
        }
    }
    Ok(())
}

fn not_shown(all: &[String]) {
    all.iter().for_each(|n| note(&format!("not shown: {n}.")));
}

fn formulas(recount: &Recount) {
    recount.formulas.iter().for_each(|column| note(&kohort::evidence::formula_note(column)));
}

/// The guarantee in words, and whether it is only a test.
fn ending<S: Shape>(certificate: &Certificate<S>) {
    if certificate.test {
        note("made with a fixed random seed: this is a test, not a release.");
    }
    say(&format!("  guarantee  {}", certificate.guarantee.plain));
    say(&format!("             {}", certificate.guarantee.aware));
}

fn unit<S: Shape>(certificate: &Certificate<S>) -> &'static str {
    if certificate.promise.patients { "patients" } else { "rows" }
}

/// Prints what was claimed and counted for a table.
fn table_lines(certificate: &Certificate, recount: &Recount) {
    say(if certificate.sample.is_some() { "verified as a sample" } else { "verified" });
    let claim = &certificate.promise.claim;
    let knows = match &claim.knows {
        KnowsClaim::All => "all quasi-identifiers".to_string(),
        KnowsClaim::Any(n) => format!("any {n} of the quasi-identifiers"),
        KnowsClaim::Sets(sets) => format!("one of {} sets of quasi-identifiers", sets.len()),
    };
    let quasi: Vec<&str> =
        certificate.promise.columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
    match &claim.invented {
        None => say(&format!(
            "  claim      at least {} {} match an attacker's knowledge of {knows}",
            claim.k,
            unit(certificate)
        )),
        Some(invented) => say(&format!(
            "  claim      at least {} rows match an attacker's knowledge of {knows}; some are synthetic, at least {} {} are real",
            claim.k,
            invented.real_k,
            unit(certificate)
        )),
    }
    if let Some(share) = certificate.sample {
        say(&format!("             in the whole file, of which this is a random sample (share {share})"));
    }
    say(&format!("  columns    {}", quasi.join(", ")));
    for sensitive in &claim.sensitive {
        let mut parts = Vec::new();
        sensitive.confidence.iter().for_each(|c| parts.push(format!("confidence at most {c}")));
        sensitive.l_diversity.iter().for_each(|l| parts.push(l.describe()));
        sensitive.t_closeness.iter().for_each(|t| parts.push(format!("distance from the table at most {}", t.max)));
        say(&format!("  sensitive  {}: {}", sensitive.column, parts.join("; ")));
    }
    say(&format!(
        "  counted    {} rows, {} classes, {} sets of columns; the smallest class holds {} rows",
        thousands(recount.rows),
        thousands(recount.classes),
        thousands(recount.sets),
        thousands(recount.smallest_class)
    ));
    if let Some(catalog) = &recount.catalog {
        say(&format!(
            "  catalog    {} synthetic records in {} groups of classes; no row belongs to a person with probability above {:.4}",
            thousands(catalog.rows),
            thousands(catalog.groups),
            catalog.highest_posterior
        ));
    }
}

/// Prints what was claimed and counted for patients and their events.
fn events_lines(certificate: &Certificate<Events>, recount: &EventsRecount) {
    say("verified");
    let claim = &certificate.promise.claim;
    let known = match claim.power {
        Power::Values { p, .. } => format!("up to {p} values of each event column"),
        Power::Events { p } => format!("up to {p} whole events"),
        Power::Total { p } => format!("any {p} facts about events"),
    };
    say(&format!(
        "  claim      for at most the share {} of patients, fewer than {} match an attacker's knowledge of all patient-level values and {known}",
        claim.max_high_risk, claim.k
    ));
    say(&format!(
        "  counted    {} patients, {} events, {} patient-level classes; the smallest holds {}",
        thousands(recount.patients),
        thousands(recount.events),
        thousands(recount.classes),
        thousands(recount.smallest_class)
    ));
    let hits = recount.found.hits;
    let of = if matches!(claim.power, Power::Total { .. }) { "patients" } else { "draws" };
    say(&format!("  counted    fewer than {} match in {} of {} {of}", claim.k, thousands(hits.0), thousands(hits.1)));
}

/// Prints what was claimed and counted for clusters of codes.
fn codes_lines(certificate: &Certificate<Codes>, recount: &CodesRecount) {
    say("verified");
    let claim = &certificate.promise.claim;
    say(&format!(
        "  claim      any {} codes of a person could belong to at least {} {}",
        claim.m,
        claim.k,
        unit(certificate)
    ));
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
        "  counted    {} patients in {} clusters, {} of them joint; {} record chunks, {} shared chunks",
        thousands(recount.patients),
        thousands(recount.clusters),
        thousands(recount.joint),
        thousands(recount.record_chunks),
        thousands(recount.shared_chunks)
    ));
    say(&format!(
        "  counted    smallest cluster {}, rarest combination of up to {} codes {} times, rarest fragment {} times; {} covers",
        thousands(recount.smallest_cluster),
        claim.m,
        thousands(recount.smallest_support),
        thousands(recount.smallest_subrecord),
        thousands(recount.covers)
    ));
}

/// What a recipient cannot count. Said by this program, not by the certificate: a stranger may have
/// written that.
fn not_counted(certificate: &Certificate) {
    if certificate.sample.is_some() {
        note(
            "not counted here: the guarantee. It was counted on the whole file; the recipient of a sample cannot repeat that.",
        );
        note(
            "checked here: the files and columns match the certificate, no cell is shown where the coarser cell it belongs to is suppressed, and how many rows of the sample look the same.",
        );
        return;
    }
    let claim = &certificate.promise.claim;
    if claim.invented.is_some() {
        note("not counted here: which records are synthetic, and how many real people each class contains.");
    }
    if certificate.promise.patients {
        note("not counted here: how many patients the rows of a class belong to. Rows were counted instead.");
        if !claim.sensitive.is_empty() {
            note("not counted here: the limits on sensitive values, since they are counted in patients.");
        }
    }
}
