//! Questions of custodians and recipients of a public-use file: attacks, samples, blanks, and what could undo them.

use super::distributions::compare_labels;
use super::metrics::{
    self, BlankGroup, ByName, File, HighestAndMean, Missing, OnePatient, Role, SampleRisk, TableMetrics, TargetRisk,
    Targeted, Undeclared, WholeFile,
};
use super::people::matches;
use super::table::{TableRun, names};
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Covers, Policy};
use kohort_core::release::{Plan, Recoding};
use kohort_core::risk::{self, RegistryAttacks, View};
use kohort_core::utility;
use kohort_core::verify::{Sample, Verified};
use kohort_core::{Error, Result};

/// More columns that tell others are not listed.
const MOST_TOLD: usize = 20;
/// More sets of columns are not attacked one by one.
const MOST_TARGETED: usize = 50;

/// Measures what outside registries would reveal to an attacker, for each that the policy names.
pub fn attacks(cohort: &Cohort, policy: &Policy) -> Result<Vec<RegistryAttacks>> {
    let own = cohort.at_own_levels();
    policy.populations.iter().map(|p| risk::attacks(&own, p, policy.privacy.k.get())).collect()
}

/// Attacks on the release: with the registry, if there is one, and by what may be known where single cells are
/// suppressed.
pub(super) fn against(run: &TableRun, found: &[RegistryAttacks]) -> Option<metrics::TableAttacks> {
    let TableRun { cohort, plan, policy, .. } = *run;
    let blanks = plan.recoding == Recoding::ByCell;
    if found.is_empty() && !blanks {
        return None;
    }
    let shares: Vec<f64> = run.method.samples().iter().map(|share| share.to_f64()).collect();
    Some(metrics::TableAttacks {
        registries: (!found.is_empty()).then(|| found.iter().map(|own| registry(cohort, plan, own, &shares)).collect()),
        targeted: blanks.then(|| targeted(cohort, plan)),
        undeclared: blanks.then(|| undeclared(cohort, plan, policy.privacy.k.get())),
        tried: None,
    })
}

/// Attacks 1 and 2 with one registry. `shares`: the samples that are released instead of the whole.
fn registry(cohort: &Cohort, plan: &Plan, found: &RegistryAttacks, shares: &[f64]) -> metrics::RegistryAttack {
    let region = |(region, people, share): &(String, f64, f64)| OnePatient {
        region: region.clone(),
        people: people.round(),
        at_risk: *share,
    };
    // A random sample has its share of every class.
    let whole = found.whole_release(cohort, plan);
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let released = if shares.is_empty() { 1.0 } else { largest };
    let people = (cohort.tuples.people() as f64 * released).max(1.0);
    metrics::RegistryAttack {
        name: found.name.clone(),
        columns: names(cohort, &found.columns),
        estimated: found.estimated,
        part: found.covers == Covers::Part,
        people: found.people.round(),
        classes: found.classes,
        one_patient: found.one_patient.iter().map(region).collect(),
        whole_file: WholeFile {
            links: whole.map(|whole| whole * released),
            share: whole.map(|whole| whole * released / people),
            all_samples: whole.filter(|_| shares.len() > 1).map(|whole| whole * shares.iter().sum::<f64>()),
            original: found.whole_file,
        },
    }
}

/// A targeted neighbour, by what is known.
fn targeted(cohort: &Cohort, plan: &Plan) -> Vec<Targeted> {
    // More sets than anybody reads are left to `risk`, which shows the worst.
    let sets = cohort.sets.iter().take(MOST_TARGETED).map(|set| {
        let own = |view: View| {
            let risk = risk::risk(cohort, view, set);
            TargetRisk { max: risk.max, mean: risk.mean, unique: Some(risk.unique) }
        };
        Targeted {
            set: names(cohort, set),
            before: own(View::Before),
            after: own(View::After(plan)),
            wildcard: risk::wildcard_matches(cohort, plan, set).map(|(_, any)| matches(any)),
        }
    });
    sets.collect()
}

/// Columns from which others can be inferred, although the policy does not declare it.
fn undeclared(cohort: &Cohort, plan: &Plan, k: u64) -> Vec<Undeclared> {
    let column = |c: usize| match cohort.quasi.get(c) {
        Some(quasi) => quasi.name.clone(),
        None => cohort.details[c - cohort.quasi.len()].0.name.clone(),
    };
    let found = risk::undeclared(cohort, plan, k);
    let one = |t: &risk::Dependency| Undeclared {
        column: column(t.tells),
        tells: column(t.told),
        share: t.share,
        blanks: t.blanks,
        right: t.right,
    };
    found.iter().take(MOST_TOLD).map(one).collect()
}

/// Suppressed cells by group, where single cells are suppressed.
pub(super) fn missing(run: &TableRun) -> Option<Missing> {
    let TableRun { cohort, plan, .. } = *run;
    if plan.recoding != Recoding::ByCell {
        return None;
    }
    let out: u64 = plan.rows_by_cells(cohort).iter().sum();
    let blank = utility::rows_with_blanks(cohort, plan);
    let mut groups = utility::blanks_by_group(cohort, plan);
    let value = |group: &utility::BlanksByValue| cohort.tuples.dictionaries[group.by.0].text(group.by.1);
    groups.sort_by(|a, b| (a.column, a.by.0).cmp(&(b.column, b.by.0)).then_with(|| compare_labels(value(a), value(b))));
    // Readers must be told where more than half of the cells are suppressed.
    let flagged = |b: &utility::BlanksByValue| 2 * b.blank > b.rows;
    let name = |position: usize| {
        let details = cohort.details.iter().map(|(kept, _)| (kept.position, &kept.name));
        let quasi = cohort.quasi.iter().enumerate().map(|(q, quasi)| (q, &quasi.name));
        quasi.chain(details).find(|(p, _)| *p == position).map_or(String::new(), |(_, name)| name.clone())
    };
    let mut by: ByName<ByName<Vec<BlankGroup>>> = ByName::default();
    for group in groups.iter().filter(|b| plan.changed[b.column].position != b.by.0) {
        let column = by.entry(&name(plan.changed[group.column].position));
        column.entry(&name(group.by.0)).push(BlankGroup {
            value: value(group).to_string(),
            rows: group.rows,
            share: (group.blank as f64 / group.rows as f64).into(),
            weight: (group.blank < group.rows).then(|| group.rows as f64 / (group.rows - group.blank) as f64),
            flagged: flagged(group),
        });
    }
    let deleted = cohort.tuples.rows - out;
    let cells = utility::cells(cohort, plan);
    let columns = plan.changed.iter().zip(&cells.by_column);
    let columns = columns.map(|(c, blank)| (name(c.position), (blank - deleted) as f64 / out.max(1) as f64));
    Some(Missing {
        columns: columns.collect(),
        rows: blank.into(),
        share: Some(blank as f64 / out.max(1) as f64),
        flagged: Some(groups.iter().filter(|b| flagged(b)).count()),
        by,
    })
}

/// The samples that are released instead of the whole, and how easily their people are found.
pub(super) fn samples(cohort: &Cohort, verified: &Verified) -> Option<Vec<metrics::Sample>> {
    let samples = &verified.findings().samples;
    let one = |sample: &Sample| metrics::Sample {
        folder: sample.name.clone(),
        share: sample.certificate.sample.map(|s| s.to_f64()),
        files: File::listed(&sample.certificate),
        rows: sample.recount.rows,
        people: sample.people,
        classes: sample.recount.classes,
        smallest_class: sample.recount.smallest_class,
        sets: sample
            .risk
            .iter()
            .map(|r| SampleRisk {
                set: names(cohort, &r.set),
                unique: r.unique,
                unknown: HighestAndMean { max: r.unknown.0, mean: r.unknown.1 },
                known: HighestAndMean { max: r.known.0, mean: r.known.1 },
            })
            .collect(),
    };
    (!samples.is_empty()).then(|| samples.iter().map(one).collect())
}

/// Refuses a baseline that is of another table.
pub fn baseline_fits(cohort: &Cohort, policy: &Policy) -> Result<()> {
    let rows = cohort.tuples.rows + cohort.excluded;
    match &policy.baseline {
        Some(baseline) if baseline.rows != rows => Err(Error::yours(format!(
            "`baseline` under [evidence]: that run had {} rows, but this table has {rows}. Bits can only be \
             compared between releases of the same table.",
            baseline.rows
        ))),
        _ => Ok(()),
    }
}

/// Notes that the numbers of a table give reason for.
pub(super) fn notes(metrics: &TableMetrics) -> Vec<String> {
    let told = metrics.attacks.iter().flat_map(|a| &a.undeclared).flatten();
    let told = told.filter(|t| t.right > 0).take(5).map(|Undeclared { column, tells, blanks, right, .. }| {
        format!(
            "`{column}` predicts `{tells}`, and the policy does not say so: of {blanks} suppressed cells of \
             `{tells}`, {right} hold the value that usually occurs with `{column}`. If outsiders may know this, set \
             of = [\"{tells}\"] for `{column}`."
        )
    });
    let samples = metrics.samples.as_ref().map(|samples| {
        let released = match samples.len() {
            1 => "1 sample is".to_string(),
            n => format!("{n} samples are"),
        };
        format!(
            "{released} released instead of the whole file, which you keep (population/). No outsider may learn who is \
             in a sample: if they do, the risk is that of the classes in the sample itself."
        )
    });
    let formulas = metrics.formulas.iter().flatten().map(|c| formula_note(c));
    told.chain(samples).chain(mostly_suppressed(metrics)).chain(formulas).collect()
}

/// The most columns that one note names.
const MOST_NAMED: usize = 8;

/// Notes about quasi-identifiers of which the release shows little.
fn mostly_suppressed(metrics: &TableMetrics) -> Vec<String> {
    // A detail is suppressed with the column that it belongs to, and has no weight of its own.
    let is_quasi = |name: &str| metrics.columns.iter().any(|c| c.name == name && c.role == Role::Quasi);
    if let Some(missing) = &metrics.missing {
        let blank = missing.columns.0.iter().filter(|(column, share)| *share > 0.5 && is_quasi(column));
        let note = |(column, share): &(String, f64)| {
            format!(
                "`{column}` is blank in {:.0} % of the released rows. To keep more of it, raise its weight, for \
                 example weights = {{ {column} = 5 }}, limit its blanks with `max_blank`, or publish coarser values.",
                100.0 * share
            )
        };
        return blank.map(note).collect();
    }
    let mut columns: Vec<(f64, &str)> = metrics
        .missingness
        .iter()
        .flatten()
        .filter(|own| own.suppressed > 0.5 && is_quasi(&own.column))
        .map(|own| (own.suppressed, own.column.as_str()))
        .collect();
    columns.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    if columns.is_empty() {
        return Vec::new();
    }
    let more = columns.len().saturating_sub(MOST_NAMED);
    let named = columns.iter().take(MOST_NAMED).map(|(share, name)| format!("`{name}` ({:.0} %)", 100.0 * share));
    let named: Vec<String> = named.chain((more > 0).then(|| format!("{more} more"))).collect();
    let (verb, it) = if columns.len() == 1 { ("is", "it") } else { ("are", "them") };
    vec![format!(
        "{} {verb} suppressed in more than half of the released rows. To keep more of {it}, raise the `weight` of a \
         column, give it a hierarchy if it has none, or drop columns that the study does not need.",
        named.join(", ")
    )]
}

/// Writes the note about a column with cells that a spreadsheet would take for formulas.
pub fn formula_note(column: &str) -> String {
    format!(
        "column `{column}`: cells begin with =, +, - or @ and are not numbers. They are released unchanged. A \
         spreadsheet may run them as formulas, so import the file as text."
    )
}
