//! `kohort verify DIR`: recounts a release.

use crate::output::{note, say, thousands};
use crate::{Context, progress};
use kohort_core::release::KnowsClaim;
use kohort_core::verify::{verify_release, verify_with_original};
use kohort_core::{Result, policy, table};
use std::path::PathBuf;

/// Recount the guarantee of a release from its bytes
///
/// DIR is a folder made by `kohort anonymize`, or the release/ folder a recipient was given.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort verify policy-release
  kohort verify policy-release --original policy.toml")]
pub(crate) struct Args {
    /// The release
    folder: PathBuf,
    /// Also compare it with the original data, by this policy
    #[arg(long, value_name = "POLICY")]
    original: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let (certificate, recount, compared) = match &args.original {
        None => {
            let (certificate, recount) = verify_release(&args.folder, context.threads)?;
            (certificate, recount, None)
        }
        Some(path) => {
            let file = policy::read(path)?;
            let source = table::open(&file.input)?.with_threads(context.threads).with_progress(progress::bar());
            let bound = file.bind(&source)?;
            let (certificate, recount, compared) = verify_with_original(&args.folder, &source, &bound)?;
            (certificate, recount, Some(compared))
        }
    };
    let claim = &certificate.claim;
    let knows = match &claim.knows {
        KnowsClaim::All => "all quasi-identifiers".to_string(),
        KnowsClaim::Any(n) => format!("any {n} of the quasi-identifiers"),
        KnowsClaim::Sets(sets) => format!("one of {} sets of quasi-identifiers", sets.len()),
    };
    let unit = if certificate.patients { "patients" } else { "rows" };
    let quasi: Vec<&str> = certificate.columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
    say("verified");
    say(&format!("  claim      at least {} {unit} match whoever knows {knows}", claim.k));
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
    if let Some(compared) = &compared {
        say(&format!(
            "  original   {} rows; every released cell is the original or its ancestor; the smallest class holds {} {unit}",
            thousands(compared.rows),
            thousands(compared.smallest_class)
        ));
        compared.not_shown.iter().for_each(|n| note(&format!("not shown: {n}.")));
    } else if certificate.patients {
        // Said by this program, not by the certificate: a stranger may have written that.
        note("not counted here: how many patients stand behind the rows of a class. Rows were counted.");
        if !claim.sensitive.is_empty() {
            note("not counted here: what is claimed of sensitive values, since it is counted in patients.");
        }
    }
    if certificate.test {
        note("made with a seed: this is a test, no release.");
    }
    say(&format!("  guarantee  {}", certificate.guarantee.plain));
    say(&format!("             {}", certificate.guarantee.aware));
    Ok(())
}
