//! The page of a release of codes: its clusters, what is known outside, and what it still tells.

use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name};
use super::table::{named, section, table};

/// A number of metrics.json: its key, its name, how it is shown and how to read it.
pub(super) type Fact = (&'static str, &'static str, Shown, &'static str);

/// A table of those facts that are known.
pub(super) fn facts(headings: [&str; 2], place: &Place, facts: &[Fact]) -> String {
    let row = |&(key, name, shown, read): &Fact| {
        let own = place.at(key);
        own.exists().then(|| vec![named(name, read), own.show(shown)])
    };
    table(&headings, &facts.iter().filter_map(row).collect::<Vec<_>>())
}

/// What was asked of the codes.
pub(super) fn asked(metrics: &Place) -> String {
    const FACTS: [Fact; 6] = [
        ("k", "k", Shown::Count, "Whoever is looked for is one of at least so many."),
        ("m", "Codes known", Shown::Count, "Somebody outside is taken to know up to so many codes of a person."),
        ("unit", "Counted in", Shown::Count, "What k counts."),
        (
            "aware_reader",
            "Against a reader who reasons about the method",
            Shown::Count,
            "Every distinct fragment stands k times, not only every combination of the known codes.",
        ),
        (
            "no_cover",
            "No code tells another",
            Shown::Count,
            "No code is every patient’s of a cluster, and none comes only with another of its chunk.",
        ),
        (
            "sensitive_codes",
            "Sensitive codes",
            Shown::Count,
            "Kept in item chunks: it is told that somebody in the cluster has them, no more.",
        ),
    ];
    let facts = facts(["Asked", "Value"], &metrics.at("guarantee"), &FACTS);
    section("What was asked", &(super::asked::preset(metrics) + &facts))
}

/// How it was recounted.
pub(super) fn recounted(metrics: &Place) -> String {
    const FACTS: [Fact; 8] = [
        ("smallest_cluster", "Smallest cluster", Shown::Count, "Patients; it must not be smaller than k."),
        (
            "smallest_support",
            "Rarest combination of the known codes",
            Shown::Count,
            "How often it stands in its chunk; never fewer than k times.",
        ),
        (
            "smallest_subrecord",
            "Rarest fragment",
            Shown::Count,
            "How often it stands in its chunk. One divided by it bounds the link for a reader who reasons about the method; at one, nothing does.",
        ),
        ("compared.patients", "Patients of the original", Shown::Count, "Read again for the comparison."),
        ("compared.matched", "Patients found in the release", Shown::Count, "Each in one cluster, with all codes."),
        (
            "compared.combinations",
            "Combinations of codes looked for",
            Shown::Count,
            "Of as many codes of a patient as may be known.",
        ),
        (
            "fewest_candidates",
            "Fewest candidates",
            Shown::Count,
            "Patients who could have one of these combinations, in the worst case.",
        ),
        ("k", "k", Shown::Count, "What was asked."),
    ];
    let body = format!(
        "<p>Nothing leaves before its guarantee was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> Cluster sizes, every combination of as many codes as may be \
         known in every chunk, that no code stands in two chunks of a cluster, and that no patient must be without a code. \
         The recipient can repeat this with <code>kohort verify</code>.</li>\n<li><strong>Against the original, cluster by \
         cluster.</strong> Every chunk holds just what its patients have of its codes, every item chunk the rest.</li>\n\
         </ol>\n{}",
        facts(["Counted", "Number"], &metrics.at("guarantee"), &FACTS)
    );
    section("How it was recounted", &body)
}

/// What the release is made of.
pub(super) fn clusters(metrics: &Place) -> String {
    const CODES: [Fact; 3] = [
        ("distinct", "Different codes", Shown::Count, "Each leaves as it is."),
        ("occurrences", "Codes over all patients", Shown::Count, "Counted once for each patient who has them."),
        ("repeated", "Repeated codes", Shown::Count, "Stood once more in their record."),
    ];
    const CLUSTERS: [Fact; 14] = [
        ("patients", "Patients in clusters", Shown::Count, ""),
        ("clusters", "Clusters", Shown::Count, ""),
        ("joint", "Joint clusters", Shown::Count, "Clusters that share chunks, also such of such."),
        ("record_chunks", "Record chunks", Shown::Count, "Fragments of the patients of one cluster."),
        ("shared_chunks", "Shared chunks", Shown::Count, "Fragments of patients of several clusters."),
        ("occurrences_in_record_chunks", "Codes in record chunks", Shown::Count, "Over all fragments."),
        ("occurrences_in_shared_chunks", "Codes in shared chunks", Shown::Count, "Over all fragments."),
        (
            "entries_in_item_chunks",
            "Entries of item chunks",
            Shown::Count,
            "A code and a cluster of which it is told that somebody there has it.",
        ),
        ("codes", "Codes released", Shown::Count, ""),
        (
            "codes_in_item_chunks_only",
            "Codes in item chunks alone",
            Shown::Count,
            "How frequent they are can only be estimated.",
        ),
        (
            "covers",
            "Codes that a whole cluster has",
            Shown::Count,
            "Whoever is known to be in the cluster has them for certain.",
        ),
        (
            "implied",
            "Codes that tell another",
            Shown::Count,
            "Pairs within a chunk: whoever has the one has the other.",
        ),
        ("smallest_cluster", "Smallest cluster", Shown::Count, "Patients."),
        ("smallest_support", "Rarest combination", Shown::Count, "Of as many codes as may be known."),
    ];
    let extra = facts(
        ["Clusters", "Number"],
        &metrics.at("clusters"),
        &[("smallest_subrecord", "Rarest fragment", Shown::Count, "How often it stands in its chunk.")],
    );
    let body = facts(["Codes", "Number"], &metrics.at("codes"), &CODES)
        + &facts(["Clusters", "Number"], &metrics.at("clusters"), &CLUSTERS)
        + &extra;
    let trace = metrics.at("trace").members().into_iter().map(|(key, place)| {
        let name = match key {
            "clusters" => "Clusters formed",
            "max_cluster" => "Clusters have fewer patients than",
            "constraints" => "Utility constraints",
            other => other,
        };
        vec![super::escape::escape(&name.replace('_', " ")), place.show(Shown::Count)]
    });
    let trace = table(&["Step", "Value"], &trace.collect::<Vec<_>>());
    section("What it is made of", &(chunks(metrics) + &body + &trace))
}

/// Where codes went.
fn chunks(metrics: &Place) -> String {
    let utility = metrics.at("utility");
    let group = |name: &str, key: &str| Group { name: Name::text(name), bars: vec![utility.at(key)] };
    Bars {
        id: "chunks".into(),
        title: "Where the codes of all patients went: beside others, over several clusters, or without a count".into(),
        names: "Chunk".into(),
        lengths: "Share of all codes",
        legend: &[],
        groups: vec![
            group("record chunks", "in_record_chunks"),
            group("shared chunks", "in_shared_chunks"),
            group("item chunks", "in_item_chunks"),
        ],
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Who is alone with so many codes, in the original.
fn known(rows: &[Place]) -> String {
    let name = |row: &Place| match row.at("codes").exists() {
        true => {
            let number = |element: &str| row.at("codes").show_in(element, Shown::Count);
            Name::numbers(number("tspan"), number("span"))
        }
        false => Name::text("all"),
    };
    Bars {
        id: "known".into(),
        title: "Patients of the original who are found by some of their codes, by how many are known".into(),
        names: "Codes known".into(),
        lengths: "Share of patients",
        legend: &["unique", "fewer than k have them"],
        groups: rows.iter().map(|row| Group::of(name(row), row, &["unique", "fewer_than_k"])).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// The most frequent codes, before and after.
fn counts(utility: &Place) -> String {
    let name = |own: &Place| Name::text(own.at("code").text().unwrap_or("?"));
    let codes = utility.at("counts").elements();
    Bars {
        id: "counts".into(),
        title: "The most frequent codes: how many patients have them, and how many the release makes one expect".into(),
        names: "Code".into(),
        lengths: "Patients",
        legend: &["before", "after"],
        groups: codes.iter().map(|own| Group::of(name(own), own, &["before", "after"])).collect(),
        full: None,
        shown: Shown::Count,
    }
    .draw()
}

/// How easily patients were found, and are.
pub(super) fn risk(metrics: &Place) -> String {
    let known_codes = metrics.at("codes_known").elements();
    let rows: Vec<Vec<String>> = known_codes
        .iter()
        .map(|row| {
            let codes = row.at("codes");
            vec![
                if codes.exists() { codes.show(Shown::Count) } else { "all".into() },
                row.at("patients").show(Shown::Count),
                row.at("unique").show(Shown::Percent),
                row.at("fewer_than_k").show(Shown::Percent),
            ]
        })
        .collect();
    let headings = ["Codes known of a patient", "Patients asked about", "Unique", "Fewer than k have them"];
    let risk = metrics.at("risk");
    let both =
        |key: &str, shown: Shown| vec![risk.at("before").at(key).show(shown), risk.at("after").at(key).show(shown)];
    let row = |name: &str, read: &str, cells: Vec<String>| [vec![named(name, read)], cells].concat();
    let body = format!(
        "<p>In the original, someone who knows some codes of a patient, drawn by chance, finds so few others:</p>\n{}{}{}",
        known(&known_codes),
        table(&headings, &rows),
        table(
            &["With as many codes known as was asked", "Before", "After"],
            &[
                row(
                    "Highest risk",
                    "One divided by the patients who have these codes, or could have them.",
                    both("max", Shown::Percent)
                ),
                row("Mean risk", "On average over those asked about.", both("mean", Shown::Percent)),
                row("Unique patients", "Of those asked about.", both("unique", Shown::Count)),
                row("Patients asked about", "", both("people", Shown::Count)),
            ],
        )
    );
    section("Risk before and after", &body)
}

/// What was tried against it.
pub(super) fn attacks(metrics: &Place) -> String {
    const FACTS: [Fact; 2] = [
        (
            "compared.combinations",
            "Combinations of codes looked for",
            Shown::Count,
            "Every one that a patient of the original has, of as many codes as may be known.",
        ),
        ("fewest_candidates", "Fewest candidates", Shown::Count, "Patients who could have them, in the worst case."),
    ];
    const COVERS: [Fact; 2] = [
        (
            "covers",
            "Codes that a whole cluster has",
            Shown::Count,
            "Whoever is known to be in the cluster has them for certain: <code>no_cover</code> forbids them.",
        ),
        (
            "implied",
            "Codes that tell another",
            Shown::Count,
            "Pairs within a chunk: whoever has the one has the other.",
        ),
    ];
    let body = "<p>Somebody who knows some codes of a patient looks for the patient in the release:</p>\n".to_string()
        + &facts(["Attack", "Number"], &metrics.at("guarantee"), &FACTS)
        + &facts(["What tells more", "Number"], &metrics.at("clusters"), &COVERS);
    section("Attacks tried", &body)
}

/// What is not told.
pub(super) fn missing(metrics: &Place) -> String {
    const FACTS: [Fact; 3] = [
        (
            "in_item_chunks",
            "Codes without a count",
            Shown::Percent,
            "Of all codes of all patients: it is told that somebody in the cluster has them, not who, nor how many.",
        ),
        ("codes_in_item_chunks_only", "Different codes of which nothing else is told", Shown::Count, ""),
        ("rows.suppressed", "Patients left out", Shown::Count, "They have no code at all."),
    ];
    let place = |fact: &Fact| if fact.0.starts_with("rows") { metrics.clone() } else { metrics.at("utility") };
    let rows: String = FACTS.iter().map(|fact| facts(["Not told", "Number"], &place(fact), &[*fact])).collect();
    section("Missingness", &format!("<p>No code is left out and none is changed.</p>\n{rows}"))
}

/// What a researcher can still do with it.
pub(super) fn utility(metrics: &Place) -> String {
    const SHARES: [Fact; 4] = [
        (
            "in_record_chunks",
            "Codes in record chunks",
            Shown::Percent,
            "Of all codes of all patients: with exact counts, and beside others of their chunk. Higher is better.",
        ),
        ("in_shared_chunks", "Codes in shared chunks", Shown::Percent, "With exact counts, over several clusters."),
        (
            "in_item_chunks",
            "Codes in item chunks",
            Shown::Percent,
            "Their counts can only be estimated. Lower is better.",
        ),
        ("codes_in_item_chunks_only", "Different codes in item chunks alone", Shown::Count, ""),
    ];
    let utility = metrics.at("utility");
    let workload = |name: String, own: &Place| {
        vec![
            name,
            own.at("queries").show(Shown::Count),
            own.at("are").show(Shown::Decimals(3)),
            own.at("are_sane").show(Shown::Decimals(3)),
            own.at("dropped").show(Shown::Count),
        ]
    };
    let mut rows = vec![workload("Frequent combinations".into(), &utility.at("frequent"))];
    for own in utility.at("random").elements() {
        rows.push(workload(format!("Random combinations of {}", own.at("codes").show(Shown::Count)), &own));
    }
    let headings = [
        "How many patients have these codes?",
        "Questions",
        "Mean relative error",
        "The same, rare ones damped",
        "Left out: nobody has them",
    ];
    let mut body = facts(["Measure", "Value"], &utility, &SHARES) + &counts(&utility) + &table(&headings, &rows);
    body += "<p class=\"read\">Estimated as the mean over all data sets that the release allows. Damped: the error is divided by the count, but by no less than a thousandth of the patients. Lower is better.</p>\n";
    let mre = utility.at("mre");
    if mre.exists() {
        let rows: Vec<Vec<String>> = mre.at("intervals").elements().iter().map(interval).collect();
        body += &format!(
            "<p>Patients with any code of a utility constraint, by how far the estimate is off, over {} constraints:</p>\n{}",
            mre.at("constraints").show(Shown::Count),
            table(&["Error in percent", "Constraints"], &rows)
        );
    }
    section("What it is still good for", &body)
}

fn interval(bin: &Place) -> Vec<String> {
    let (from, to) = (bin.at("from_percent"), bin.at("to_percent"));
    let name = match (from.exists(), to.exists()) {
        (false, _) => format!("below {}", to.show(Shown::Decimals(1))),
        (_, false) => format!("{} and above", from.show(Shown::Decimals(1))),
        _ => format!("{} to {}", from.show(Shown::Decimals(1)), to.show(Shown::Decimals(1))),
    };
    vec![name, bin.at("constraints").show(Shown::Count)]
}
