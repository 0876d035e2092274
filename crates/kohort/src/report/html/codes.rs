//! The page of a release of codes: its clusters, its risk and its usefulness.

use super::facts::facts;
use super::number::{Shown, counted};
use super::place::{Figure, MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{named, section, table};
use super::trace;
use super::verdict::unit;
use crate::evidence::metrics::{
    CodeCount, CodesGuarantee, CodesKnown, CodesMetrics, CodesRisk, CodesUtility, DemographicColumn,
    DemographicUtility, ErrorInterval, RandomWorkload,
};

/// The facts of the guarantee.
pub(super) fn facts_found(guarantee: &MetricsPlace<CodesGuarantee>) -> Vec<(&'static str, String)> {
    vec![
        ("k, as asked", figure!(guarantee, k).show(Shown::Count)),
        ("Smallest cluster found", figure!(guarantee, smallest_cluster).show(Shown::Count)),
        ("Fewest candidates found", figure!(guarantee, fewest_candidates).show(Shown::Count)),
        ("Counted in", unit(guarantee.value.unit).to_string()),
    ]
}

/// Shows what the policy asked for.
pub(super) fn asked(guarantee: &MetricsPlace<CodesGuarantee>) -> String {
    let rows = [
        (figure!(guarantee, k), "k", Shown::Count, "Each patient is one of at least this many candidates."),
        (
            figure!(guarantee, m),
            "Codes known",
            Shown::Count,
            "An attacker is assumed to know up to this many codes of a patient.",
        ),
        (figure!(guarantee, unit), "Counted in", Shown::Count, "What k counts."),
        (
            figure!(guarantee, aware_reader),
            "Protected against an attacker who knows the algorithm",
            Shown::Count,
            "Every distinct fragment occurs at least k times, not only every combination of the known codes.",
        ),
        (
            figure!(guarantee, no_cover),
            "No code reveals another",
            Shown::Count,
            "No code is held by every patient of a cluster, and none occurs only together with another code of its chunk.",
        ),
        (
            figure!(guarantee, sensitive_codes),
            "Sensitive codes",
            Shown::Count,
            "Kept in item chunks: the release shows only that somebody in the cluster has them.",
        ),
        (
            figure!(guarantee, confidence),
            "Highest share with a sensitive code",
            Shown::Percent,
            "At most this share of the patients of any cluster may have one of the sensitive codes.",
        ),
    ];
    section(
        "What was asked, in detail",
        &(super::asked::preset(&guarantee.value.preset) + &facts(["Asked", "Value"], rows)),
    )
}

/// Shows how the guarantee was verified.
pub(super) fn recounted(guarantee: &MetricsPlace<CodesGuarantee>) -> String {
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            figure!(guarantee, smallest_cluster),
            "Smallest cluster",
            Shown::Count,
            "In patients. It must not be smaller than k.",
        ),
        (
            figure!(guarantee, smallest_support),
            "Rarest combination of the known codes",
            Shown::Count,
            "How often it occurs in its chunk. It must be at least k times.",
        ),
        (
            figure!(guarantee, smallest_subrecord),
            "Rarest fragment",
            Shown::Count,
            "How often it occurs in its chunk. One divided by this number is the limit for an attacker who knows the algorithm; if it is one, there is no limit.",
        ),
        (
            of(&compared, |own| figure!(own, patients)),
            "Patients in the original",
            Shown::Count,
            "Read again for the comparison.",
        ),
        (
            of(&compared, |own| figure!(own, matched)),
            "Patients found in the release",
            Shown::Count,
            "Each is in one cluster, with all codes.",
        ),
        (
            of(&compared, |own| figure!(own, combinations)),
            "Combinations of codes looked for",
            Shown::Count,
            "With as many codes of a patient as the attacker may know.",
        ),
        (
            figure!(guarantee, fewest_candidates),
            "Fewest candidates",
            Shown::Count,
            "Patients who could have such a combination, in the worst case.",
        ),
        (
            figure!(guarantee, highest_confidence),
            "Highest share with a sensitive code",
            Shown::Percent,
            "Of the patients of a cluster, counted on the original. A recipient cannot count it.",
        ),
        (figure!(guarantee, k), "k", Shown::Count, "What was asked."),
    ];
    let body = format!(
        "<p>Kohort publishes nothing before its verifier, which is independent of the method used, has counted the guarantee \
         again in two ways:</p>\n<ol>\n<li><strong>From the released bytes.</strong> The verifier counted cluster sizes and \
         every combination of codes that an attacker may know, in every chunk. It checked that no code is in two chunks of a \
         cluster, and that every patient can have a code. The recipient can repeat this with <code>kohort verify</code>.</li>\n\
         <li><strong>Against the original, cluster by cluster.</strong> Every chunk holds exactly what its patients have of \
         its codes, and every item chunk holds the rest.</li>\n</ol>\n{}",
        facts(["Counted", "Number"], rows)
    );
    section("How the guarantee was verified", &body)
}

/// Shows what the release consists of.
pub(super) fn clusters(metrics: &MetricsPlace<CodesMetrics>) -> String {
    let mut body = String::new();
    if let Some(codes) = at!(metrics, codes).some() {
        let rows = [
            (figure!(codes, distinct), "Different codes", Shown::Count, "Each is released unchanged."),
            (
                figure!(codes, occurrences),
                "Codes over all patients",
                Shown::Count,
                "Counted once for each patient who has them.",
            ),
            (figure!(codes, repeated), "Repeated codes", Shown::Count, "They occur more than once in a record."),
        ];
        body += &facts(["Codes", "Number"], rows);
    }
    let clusters = at!(metrics, clusters);
    let rows = [
        (figure!(clusters, patients), "Patients in clusters", Shown::Count, ""),
        (figure!(clusters, clusters), "Clusters", Shown::Count, ""),
        (
            figure!(clusters, joint),
            "Joint clusters",
            Shown::Count,
            "Clusters that share chunks. They may contain joint clusters.",
        ),
        (figure!(clusters, record_chunks), "Record chunks", Shown::Count, "Fragments of the patients of one cluster."),
        (figure!(clusters, shared_chunks), "Shared chunks", Shown::Count, "Fragments of patients of several clusters."),
        (
            figure!(clusters, occurrences_in_record_chunks),
            "Codes in record chunks",
            Shown::Count,
            "Over all fragments.",
        ),
        (
            figure!(clusters, occurrences_in_shared_chunks),
            "Codes in shared chunks",
            Shown::Count,
            "Over all fragments.",
        ),
        (
            figure!(clusters, entries_in_item_chunks),
            "Entries of item chunks",
            Shown::Count,
            "Pairs of a code and a cluster in which somebody has it.",
        ),
        (figure!(clusters, codes), "Codes released", Shown::Count, ""),
        (
            figure!(clusters, codes_in_item_chunks_only),
            "Codes in item chunks only",
            Shown::Count,
            "Their frequency can only be estimated.",
        ),
        (
            figure!(clusters, covers),
            "Codes held by a whole cluster",
            Shown::Count,
            "Anyone known to be in the cluster has them for certain.",
        ),
        (
            figure!(clusters, implied),
            "Codes that reveal another",
            Shown::Count,
            "Pairs within a chunk: everyone who has the first has the second.",
        ),
        (figure!(clusters, smallest_cluster), "Smallest cluster", Shown::Count, "Patients."),
        (
            figure!(clusters, smallest_support),
            "Rarest combination",
            Shown::Count,
            "Of as many codes as the attacker may know.",
        ),
        (figure!(clusters, smallest_subrecord), "Rarest fragment", Shown::Count, "How often it occurs in its chunk."),
    ];
    body += &facts(["Clusters", "Number"], rows);
    body +=
        &at!(metrics, trace).some().map_or(String::new(), |own| trace::noted(&metrics.value.method, &own, Vec::new()));
    section("What the release consists of", &body)
}

/// The kinds of chunk that codes are released in.
pub(super) fn chunks(utility: &MetricsPlace<CodesUtility>) -> String {
    Bars {
        id: "chunks".into(),
        title: "How the codes of all patients are released: in record chunks and shared chunks with exact counts, in item chunks without".into(),
        names: "Chunk".into(),
        lengths: "Share of all codes",
        legend: &[],
        groups: vec![
            Group::of(Name::text("record chunks"), [figure!(utility, in_record_chunks)]),
            Group::of(Name::text("shared chunks"), [figure!(utility, in_shared_chunks)]),
            Group::of(Name::text("item chunks"), [figure!(utility, in_item_chunks)]),
        ],
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Patients of the original who are found by some of their codes.
fn known(rows: &[MetricsPlace<CodesKnown>]) -> String {
    let name = |row: &MetricsPlace<CodesKnown>| match row.value.codes {
        Some(_) => {
            let number = |element: &str| figure!(row, codes).show_in(element, Shown::Count);
            Name::numbers(number("tspan"), number("span"))
        }
        None => Name::text("all"),
    };
    let group =
        |row: &MetricsPlace<CodesKnown>| Group::of(name(row), [figure!(row, unique), figure!(row, fewer_than_k)]);
    Bars {
        id: "known".into(),
        title: "Patients of the original who can be found by some of their codes, by the number of codes known".into(),
        names: "Codes known".into(),
        lengths: "Share of patients",
        legend: &["unique", "fewer than k match"],
        groups: rows.iter().map(group).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// The most frequent codes, before and after.
fn counts(utility: &MetricsPlace<CodesUtility>) -> String {
    let group = |own: &MetricsPlace<CodeCount>| {
        Group::of(Name::text(&own.value.code), [figure!(own, before), figure!(own, after)])
    };
    Bars {
        id: "counts".into(),
        title: "The most frequent codes: how many patients have them, and how many are expected from the release"
            .into(),
        names: "Code".into(),
        lengths: "Patients",
        legend: &["before", "after"],
        groups: at!(utility, counts).elements().iter().map(group).collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// Risk before and after.
pub(super) fn risk(metrics: &MetricsPlace<CodesMetrics>) -> String {
    let known_codes = at!(metrics, codes_known).elements();
    let row = |row: &MetricsPlace<CodesKnown>| {
        let codes = figure!(row, codes);
        vec![
            if codes.exists() { codes.show(Shown::Count) } else { "all".into() },
            figure!(row, patients).show(Shown::Count),
            figure!(row, unique).show(Shown::Percent),
            figure!(row, fewer_than_k).show(Shown::Percent),
        ]
    };
    let rows: Vec<Vec<String>> = known_codes.iter().map(row).collect();
    let headings = ["Codes known of a patient", "Patients drawn", "Unique", "Fewer than k match"];
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let both = |name: &str, read: &str, shown: Shown, figure: fn(&MetricsPlace<CodesRisk>) -> Figure| {
        let [before, after] = sides.each_ref().map(|side| of(side, figure).show(shown));
        vec![named(name, read), before, after]
    };
    let asked = [
        both(
            "Highest risk",
            "One divided by the number of patients who have, or could have, the known codes.",
            Shown::Percent,
            |own| figure!(own, max),
        ),
        both("Mean risk", "On average over the patients drawn.", Shown::Percent, |own| figure!(own, mean)),
        both("Unique patients", "Of the patients drawn.", Shown::Count, |own| figure!(own, unique)),
        both("Patients drawn", "", Shown::Count, |own| figure!(own, people)),
    ];
    let body = format!(
        "<p>What an attacker who knows some randomly drawn codes of a patient finds in the original:</p>\n{}{}{}",
        known(&known_codes),
        table(&headings, &rows),
        table(&["If the attacker knows what the policy assumes", "Before", "After"], &asked)
    );
    section("Risk before and after", &body)
}

/// Shows what was tried against it.
pub(super) fn attacks(metrics: &MetricsPlace<CodesMetrics>) -> String {
    let (guarantee, clusters) = (at!(metrics, guarantee), at!(metrics, clusters));
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            of(&compared, |own| figure!(own, combinations)),
            "Combinations of codes looked for",
            Shown::Count,
            "Every combination that a patient of the original has, of as many codes as the attacker may know.",
        ),
        (
            figure!(guarantee, fewest_candidates),
            "Fewest candidates",
            Shown::Count,
            "Patients who could have them, in the worst case.",
        ),
    ];
    let covers = [
        (
            figure!(clusters, covers),
            "Codes held by a whole cluster",
            Shown::Count,
            "Anyone known to be in the cluster has them for certain. <code>no_cover</code> prevents this.",
        ),
        (
            figure!(clusters, implied),
            "Codes that reveal another",
            Shown::Count,
            "Pairs within a chunk: everyone who has the first has the second.",
        ),
    ];
    let body = "<p>An attacker who knows some codes of a patient looks for that patient in the release:</p>\n"
        .to_string()
        + &facts(["Attack", "Number"], rows)
        + &facts(["What is revealed", "Number"], covers);
    section("Attacks tried", &body)
}

/// Shows what is not in the release.
pub(super) fn missing(metrics: &MetricsPlace<CodesMetrics>) -> String {
    let (utility, rows) = (at!(metrics, utility), at!(metrics, rows));
    let rows = [
        (
            figure!(utility, in_item_chunks),
            "Codes without a count",
            Shown::Percent,
            "Of all codes of all patients: the release shows that somebody in the cluster has them, but not who or how many.",
        ),
        (figure!(utility, codes_in_item_chunks_only), "Different codes released only in this way", Shown::Count, ""),
        (figure!(rows, suppressed), "Patients suppressed", Shown::Count, "They have no code."),
    ];
    let body = format!("<p>No code is removed and none is changed.</p>\n{}", facts(["Not released", "Number"], rows));
    section("Missingness", &body)
}

/// Shows how useful the release is for research.
pub(super) fn utility(utility: &MetricsPlace<CodesUtility>) -> String {
    let shares = [
        (
            figure!(utility, in_record_chunks),
            "Codes in record chunks",
            Shown::Percent,
            "Of all codes of all patients: with exact counts, together with other codes of their chunk. Higher is better.",
        ),
        (
            figure!(utility, in_shared_chunks),
            "Codes in shared chunks",
            Shown::Percent,
            "With exact counts, over several clusters.",
        ),
        (
            figure!(utility, in_item_chunks),
            "Codes in item chunks",
            Shown::Percent,
            "Their counts can only be estimated. Lower is better.",
        ),
        (figure!(utility, codes_in_item_chunks_only), "Different codes in item chunks only", Shown::Count, ""),
    ];
    let workload = |name: String, [queries, are, sane, dropped]: [Figure; 4]| {
        vec![
            name,
            queries.show(Shown::Count),
            are.show(Shown::Decimals(3)),
            sane.show(Shown::Decimals(3)),
            dropped.show(Shown::Count),
        ]
    };
    let own = at!(utility, frequent);
    let figures = [figure!(own, queries), figure!(own, are), figure!(own, are_sane), figure!(own, dropped)];
    let mut rows = vec![workload("Frequent combinations".into(), figures)];
    for own in at!(utility, random).elements() {
        let own: MetricsPlace<RandomWorkload> = own;
        let name = format!("Random combinations of {}", figure!(own, codes).show(Shown::Count));
        let figures = [figure!(own, queries), figure!(own, are), figure!(own, are_sane), figure!(own, dropped)];
        rows.push(workload(name, figures));
    }
    let headings = [
        "How many patients have these codes?",
        "Questions",
        "Mean relative error",
        "The same, damped",
        "Not counted: nobody has them",
    ];
    let mut body = counts(utility) + &facts(["Measure", "Value"], shares) + &table(&headings, &rows);
    body += "<p class=\"read\">Estimated as the mean over all data sets that are consistent with the release. Damped: the error is divided by the count, or by a thousandth of the patients if that is more. Lower is better.</p>\n";
    if let Some(own) = at!(utility, demographics).some() {
        body += &demographics(&own);
    }
    if let Some(mre) = at!(utility, mre).some() {
        let rows: Vec<Vec<String>> = at!(mre, intervals).elements().iter().map(interval).collect();
        body += &format!(
            "<p>How far the estimated number of patients with any code of a utility constraint is off, over {}:</p>\n{}",
            counted(&figure!(mre, constraints), ["constraint", "constraints"]),
            table(&["Error in percent", "Constraints"], &rows)
        );
    }
    section("How useful the release is", &body)
}

/// Shows how useful the quasi-identifiers beside the codes are.
fn demographics(own: &MetricsPlace<DemographicUtility>) -> String {
    let columns = at!(own, columns).elements();
    let group =
        |column: &MetricsPlace<DemographicColumn>| Group::of(Name::text(&column.value.column), [figure!(column, loss)]);
    let drawn = Bars {
        id: "demographics".into(),
        title: "How much detail each quasi-identifier lost beside the codes".into(),
        names: "Quasi-identifier".into(),
        lengths: "Loss",
        legend: &[],
        groups: columns.iter().map(group).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    };
    let queries = at!(own, queries).some();
    let rows = [
        (
            figure!(own, loss),
            "Loss of the quasi-identifiers",
            Shown::Percent,
            "Mean over all cells: 0 % is as in the original, 100 % is fully general. <code>max_demographic_loss</code> trades it for codes.",
        ),
        (
            figure!(own, groups),
            "Combinations of labels",
            Shown::Count,
            "Patients in one of them show the same quasi-identifiers.",
        ),
        (
            figure!(own, smallest_group),
            "Patients with the rarest combination",
            Shown::Count,
            "It must not be smaller than k.",
        ),
        (
            of(&queries, |own| figure!(own, are)),
            "Mean relative error of counts by label and codes",
            Shown::Decimals(3),
            "How many patients with some label have one or two codes? Lower is better.",
        ),
        (
            of(&queries, |own| figure!(own, are_sane)),
            "The same, damped",
            Shown::Decimals(3),
            "The error is divided by the count, or by a thousandth of the patients if that is more.",
        ),
    ];
    drawn.draw() + &facts(["Quasi-identifiers beside the codes", "Value"], rows)
}

fn interval(bin: &MetricsPlace<ErrorInterval>) -> Vec<String> {
    let (from, to) = (figure!(bin, from_percent), figure!(bin, to_percent));
    let name = match (from.exists(), to.exists()) {
        (false, _) => format!("below {}", to.show(Shown::Decimals(1))),
        (_, false) => format!("{} and above", from.show(Shown::Decimals(1))),
        _ => format!("{} to {}", from.show(Shown::Decimals(1)), to.show(Shown::Decimals(1))),
    };
    vec![name, figure!(bin, constraints).show(Shown::Count)]
}
