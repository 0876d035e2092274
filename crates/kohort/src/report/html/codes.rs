//! The page of a release of codes: its clusters, what is known outside, and what it still tells.

use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, Place, at, figure, of};
use super::svg::{Bars, Group, Name};
use super::table::{named, section, table};
use super::trace;
use super::verdict::unit;
use crate::evidence::metrics::{
    CodeCount, CodesGuarantee, CodesKnown, CodesMetrics, CodesRisk, CodesUtility, ErrorInterval, RandomWorkload,
};

/// The facts of the guarantee.
pub(super) fn facts_found(guarantee: &Place<CodesGuarantee>) -> Vec<(&'static str, String)> {
    vec![
        ("k, as asked", figure!(guarantee, k).show(Shown::Count)),
        ("Smallest cluster found", figure!(guarantee, smallest_cluster).show(Shown::Count)),
        ("Fewest candidates found", figure!(guarantee, fewest_candidates).show(Shown::Count)),
        ("Counted in", unit(guarantee.value.unit).to_string()),
    ]
}

/// What was asked of the codes.
pub(super) fn asked(guarantee: &Place<CodesGuarantee>) -> String {
    let rows = [
        (figure!(guarantee, k), "k", Shown::Count, "Whoever is looked for is one of at least so many."),
        (
            figure!(guarantee, m),
            "Codes known",
            Shown::Count,
            "Somebody outside is taken to know up to so many codes of a person.",
        ),
        (figure!(guarantee, unit), "Counted in", Shown::Count, "What k counts."),
        (
            figure!(guarantee, aware_reader),
            "Against a reader who reasons about the method",
            Shown::Count,
            "Every distinct fragment stands k times, not only every combination of the known codes.",
        ),
        (
            figure!(guarantee, no_cover),
            "No code tells another",
            Shown::Count,
            "No code is every patient’s of a cluster, and none comes only with another of its chunk.",
        ),
        (
            figure!(guarantee, sensitive_codes),
            "Sensitive codes",
            Shown::Count,
            "Kept in item chunks: it is told that somebody in the cluster has them, no more.",
        ),
    ];
    section("What was asked", &(super::asked::preset(&guarantee.value.preset) + &facts(["Asked", "Value"], rows)))
}

/// How it was recounted.
pub(super) fn recounted(guarantee: &Place<CodesGuarantee>) -> String {
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            figure!(guarantee, smallest_cluster),
            "Smallest cluster",
            Shown::Count,
            "Patients; it must not be smaller than k.",
        ),
        (
            figure!(guarantee, smallest_support),
            "Rarest combination of the known codes",
            Shown::Count,
            "How often it stands in its chunk; never fewer than k times.",
        ),
        (
            figure!(guarantee, smallest_subrecord),
            "Rarest fragment",
            Shown::Count,
            "How often it stands in its chunk. One divided by it bounds the link for a reader who reasons about the method; at one, nothing does.",
        ),
        (
            of(&compared, |own| figure!(own, patients)),
            "Patients of the original",
            Shown::Count,
            "Read again for the comparison.",
        ),
        (
            of(&compared, |own| figure!(own, matched)),
            "Patients found in the release",
            Shown::Count,
            "Each in one cluster, with all codes.",
        ),
        (
            of(&compared, |own| figure!(own, combinations)),
            "Combinations of codes looked for",
            Shown::Count,
            "Of as many codes of a patient as may be known.",
        ),
        (
            figure!(guarantee, fewest_candidates),
            "Fewest candidates",
            Shown::Count,
            "Patients who could have one of these combinations, in the worst case.",
        ),
        (figure!(guarantee, k), "k", Shown::Count, "What was asked."),
    ];
    let body = format!(
        "<p>Nothing leaves before its guarantee was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> Cluster sizes, every combination of as many codes as may be \
         known in every chunk, that no code stands in two chunks of a cluster, and that no patient must be without a code. \
         The recipient can repeat this with <code>kohort verify</code>.</li>\n<li><strong>Against the original, cluster by \
         cluster.</strong> Every chunk holds just what its patients have of its codes, every item chunk the rest.</li>\n\
         </ol>\n{}",
        facts(["Counted", "Number"], rows)
    );
    section("How it was recounted", &body)
}

/// What the release is made of.
pub(super) fn clusters(metrics: &Place<CodesMetrics>) -> String {
    let mut body = chunks(&at!(metrics, utility));
    if let Some(codes) = at!(metrics, codes).some() {
        let rows = [
            (figure!(codes, distinct), "Different codes", Shown::Count, "Each leaves as it is."),
            (
                figure!(codes, occurrences),
                "Codes over all patients",
                Shown::Count,
                "Counted once for each patient who has them.",
            ),
            (figure!(codes, repeated), "Repeated codes", Shown::Count, "Stood once more in their record."),
        ];
        body += &facts(["Codes", "Number"], rows);
    }
    let clusters = at!(metrics, clusters);
    let rows = [
        (figure!(clusters, patients), "Patients in clusters", Shown::Count, ""),
        (figure!(clusters, clusters), "Clusters", Shown::Count, ""),
        (figure!(clusters, joint), "Joint clusters", Shown::Count, "Clusters that share chunks, also such of such."),
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
            "A code and a cluster of which it is told that somebody there has it.",
        ),
        (figure!(clusters, codes), "Codes released", Shown::Count, ""),
        (
            figure!(clusters, codes_in_item_chunks_only),
            "Codes in item chunks alone",
            Shown::Count,
            "How frequent they are can only be estimated.",
        ),
        (
            figure!(clusters, covers),
            "Codes that a whole cluster has",
            Shown::Count,
            "Whoever is known to be in the cluster has them for certain.",
        ),
        (
            figure!(clusters, implied),
            "Codes that tell another",
            Shown::Count,
            "Pairs within a chunk: whoever has the one has the other.",
        ),
        (figure!(clusters, smallest_cluster), "Smallest cluster", Shown::Count, "Patients."),
        (figure!(clusters, smallest_support), "Rarest combination", Shown::Count, "Of as many codes as may be known."),
        (figure!(clusters, smallest_subrecord), "Rarest fragment", Shown::Count, "How often it stands in its chunk."),
    ];
    body += &facts(["Clusters", "Number"], rows);
    body += &at!(metrics, trace).some().map_or(String::new(), |own| trace::noted(&own, Vec::new()));
    section("What it is made of", &body)
}

/// Where codes went.
fn chunks(utility: &Place<CodesUtility>) -> String {
    Bars {
        id: "chunks".into(),
        title: "Where the codes of all patients went: beside others, over several clusters, or without a count".into(),
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

/// Who is alone with so many codes, in the original.
fn known(rows: &[Place<CodesKnown>]) -> String {
    let name = |row: &Place<CodesKnown>| match row.value.codes {
        Some(_) => {
            let number = |element: &str| figure!(row, codes).show_in(element, Shown::Count);
            Name::numbers(number("tspan"), number("span"))
        }
        None => Name::text("all"),
    };
    let group = |row: &Place<CodesKnown>| Group::of(name(row), [figure!(row, unique), figure!(row, fewer_than_k)]);
    Bars {
        id: "known".into(),
        title: "Patients of the original who are found by some of their codes, by how many are known".into(),
        names: "Codes known".into(),
        lengths: "Share of patients",
        legend: &["unique", "fewer than k have them"],
        groups: rows.iter().map(group).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// The most frequent codes, before and after.
fn counts(utility: &Place<CodesUtility>) -> String {
    let group =
        |own: &Place<CodeCount>| Group::of(Name::text(&own.value.code), [figure!(own, before), figure!(own, after)]);
    Bars {
        id: "counts".into(),
        title: "The most frequent codes: how many patients have them, and how many the release makes one expect".into(),
        names: "Code".into(),
        lengths: "Patients",
        legend: &["before", "after"],
        groups: at!(utility, counts).elements().iter().map(group).collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// How easily patients were found, and are.
pub(super) fn risk(metrics: &Place<CodesMetrics>) -> String {
    let known_codes = at!(metrics, codes_known).elements();
    let row = |row: &Place<CodesKnown>| {
        let codes = figure!(row, codes);
        vec![
            if codes.exists() { codes.show(Shown::Count) } else { "all".into() },
            figure!(row, patients).show(Shown::Count),
            figure!(row, unique).show(Shown::Percent),
            figure!(row, fewer_than_k).show(Shown::Percent),
        ]
    };
    let rows: Vec<Vec<String>> = known_codes.iter().map(row).collect();
    let headings = ["Codes known of a patient", "Patients asked about", "Unique", "Fewer than k have them"];
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let both = |name: &str, read: &str, shown: Shown, figure: fn(&Place<CodesRisk>) -> Figure| {
        let [before, after] = sides.each_ref().map(|side| of(side, figure).show(shown));
        vec![named(name, read), before, after]
    };
    let asked = [
        both(
            "Highest risk",
            "One divided by the patients who have these codes, or could have them.",
            Shown::Percent,
            |own| figure!(own, max),
        ),
        both("Mean risk", "On average over those asked about.", Shown::Percent, |own| figure!(own, mean)),
        both("Unique patients", "Of those asked about.", Shown::Count, |own| figure!(own, unique)),
        both("Patients asked about", "", Shown::Count, |own| figure!(own, people)),
    ];
    let body = format!(
        "<p>In the original, someone who knows some codes of a patient, drawn by chance, finds so few others:</p>\n{}{}{}",
        known(&known_codes),
        table(&headings, &rows),
        table(&["With as many codes known as was asked", "Before", "After"], &asked)
    );
    section("Risk before and after", &body)
}

/// What was tried against it.
pub(super) fn attacks(metrics: &Place<CodesMetrics>) -> String {
    let (guarantee, clusters) = (at!(metrics, guarantee), at!(metrics, clusters));
    let compared = at!(guarantee, compared).some();
    let rows = [
        (
            of(&compared, |own| figure!(own, combinations)),
            "Combinations of codes looked for",
            Shown::Count,
            "Every one that a patient of the original has, of as many codes as may be known.",
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
            "Codes that a whole cluster has",
            Shown::Count,
            "Whoever is known to be in the cluster has them for certain: <code>no_cover</code> forbids them.",
        ),
        (
            figure!(clusters, implied),
            "Codes that tell another",
            Shown::Count,
            "Pairs within a chunk: whoever has the one has the other.",
        ),
    ];
    let body = "<p>Somebody who knows some codes of a patient looks for the patient in the release:</p>\n".to_string()
        + &facts(["Attack", "Number"], rows)
        + &facts(["What tells more", "Number"], covers);
    section("Attacks tried", &body)
}

/// What is not told.
pub(super) fn missing(metrics: &Place<CodesMetrics>) -> String {
    let (utility, rows) = (at!(metrics, utility), at!(metrics, rows));
    let rows = [
        (
            figure!(utility, in_item_chunks),
            "Codes without a count",
            Shown::Percent,
            "Of all codes of all patients: it is told that somebody in the cluster has them, not who, nor how many.",
        ),
        (
            figure!(utility, codes_in_item_chunks_only),
            "Different codes of which nothing else is told",
            Shown::Count,
            "",
        ),
        (figure!(rows, suppressed), "Patients left out", Shown::Count, "They have no code at all."),
    ];
    let body = format!("<p>No code is left out and none is changed.</p>\n{}", facts(["Not told", "Number"], rows));
    section("Missingness", &body)
}

/// What a researcher can still do with it.
pub(super) fn utility(utility: &Place<CodesUtility>) -> String {
    let shares = [
        (
            figure!(utility, in_record_chunks),
            "Codes in record chunks",
            Shown::Percent,
            "Of all codes of all patients: with exact counts, and beside others of their chunk. Higher is better.",
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
        (figure!(utility, codes_in_item_chunks_only), "Different codes in item chunks alone", Shown::Count, ""),
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
        let own: Place<RandomWorkload> = own;
        let name = format!("Random combinations of {}", figure!(own, codes).show(Shown::Count));
        let figures = [figure!(own, queries), figure!(own, are), figure!(own, are_sane), figure!(own, dropped)];
        rows.push(workload(name, figures));
    }
    let headings = [
        "How many patients have these codes?",
        "Questions",
        "Mean relative error",
        "The same, rare ones damped",
        "Left out: nobody has them",
    ];
    let mut body = facts(["Measure", "Value"], shares) + &counts(utility) + &table(&headings, &rows);
    body += "<p class=\"read\">Estimated as the mean over all data sets that the release allows. Damped: the error is divided by the count, but by no less than a thousandth of the patients. Lower is better.</p>\n";
    if let Some(mre) = at!(utility, mre).some() {
        let rows: Vec<Vec<String>> = at!(mre, intervals).elements().iter().map(interval).collect();
        body += &format!(
            "<p>Patients with any code of a utility constraint, by how far the estimate is off, over {} constraints:</p>\n{}",
            figure!(mre, constraints).show(Shown::Count),
            table(&["Error in percent", "Constraints"], &rows)
        );
    }
    section("What it is still good for", &body)
}

fn interval(bin: &Place<ErrorInterval>) -> Vec<String> {
    let (from, to) = (figure!(bin, from_percent), figure!(bin, to_percent));
    let name = match (from.exists(), to.exists()) {
        (false, _) => format!("below {}", to.show(Shown::Decimals(1))),
        (_, false) => format!("{} and above", from.show(Shown::Decimals(1))),
        _ => format!("{} to {}", from.show(Shown::Decimals(1)), to.show(Shown::Decimals(1))),
    };
    vec![name, figure!(bin, constraints).show(Shown::Count)]
}
