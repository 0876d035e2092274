//! Attacks with a registry, and where cells are blank: what the recipients of a public-use file ask.

use super::escape::{code, codes, escape};
use super::number::Shown;
use super::place::Place;
use super::table::{cards, named, section, table};

/// Attacks 1 to 3.
pub(super) fn attacks(metrics: &Place) -> String {
    let attacks = metrics.at("attacks");
    if !attacks.exists() {
        return String::new();
    }
    let mut body = String::new();
    let registry = attacks.at("registry");
    if registry.exists() {
        let estimated = if registry.at("estimated").is_true() { "Estimated from its size." } else { "As counted." };
        let rows = [
            ("People in the registry", estimated, registry.at("people"), Shown::Count),
            ("Classes in the registry", "People who look the same there.", registry.at("classes"), Shown::Count),
            (
                "Correct links to be expected (attack 2)",
                "Someone matches the whole file with the registry. A number of people, not a share.",
                attacks.at("whole_file.links"),
                Shown::Decimals(1),
            ),
            ("As a share of the file", "", attacks.at("whole_file.share"), Shown::Percent),
        ];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|(name, read, place, shown)| vec![named(name, read), place.show(*shown)]).collect();
        body += &format!("<h3>Against a registry of {}</h3>\n", codes(registry.at("columns").texts()));
        body += &table(&["Attack", "Number"], &rows);
        let regions = attacks.at("one_patient").elements();
        let regions: Vec<Vec<String>> = regions
            .iter()
            .map(|r| {
                let name = r.at("region").text().map_or(String::new(), escape);
                vec![name, r.at("people").show(Shown::Count), r.at("at_risk").show(Shown::Percent)]
            })
            .collect();
        body += "<h3>One patient against the registry (attack 1)</h3>\n";
        body += &table(&["Region", "People", "In classes smaller than k"], &regions);
    }
    let targeted = attacks.at("targeted").elements();
    let rows: Vec<Vec<String>> = targeted
        .iter()
        .map(|t| {
            let mut row = vec![codes(t.at("set").texts())];
            for (key, shown) in [("max", Shown::Percent), ("mean", Shown::Percent), ("unique", Shown::Count)] {
                row.push(t.at("before").at(key).show(shown));
                row.push(t.at("after").at(key).show(shown));
            }
            row.push(t.at("wildcard.fewest").show(Shown::Count));
            row.push(t.at("wildcard.mean").show(Shown::Decimals(1)));
            row
        })
        .collect();
    if !rows.is_empty() {
        body += "<h3>A targeted neighbour (attack 3), by what is known</h3>\n";
        let headings = [
            "Known",
            "Highest risk before",
            "after",
            "Mean risk before",
            "after",
            "Unique before",
            "after",
            "Fewest rows that match if * matches anything",
            "Mean",
        ];
        body += &cards(&headings, &rows);
    }
    let told = attacks.at("undeclared").elements();
    let told: Vec<Vec<String>> = told
        .iter()
        .map(|t| {
            let name = |key: &str| t.at(key).text().map_or(String::new(), code);
            let (share, blanks, right) = (t.at("share"), t.at("blanks"), t.at("right"));
            vec![
                format!("{} tells {}", name("column"), name("tells")),
                share.show(Shown::Percent),
                blanks.show(Shown::Count),
                right.show(Shown::Count),
            ]
        })
        .collect();
    if !told.is_empty() {
        body += "<h3>Columns that tell others, which nobody declared</h3>\n";
        body += "<p>Beside a value that k rows or more have, the other column usually has one value. Whoever knows which could fill in its blanks. Declare it with <code>of</code>, if that is known outside.</p>\n";
        body += &table(
            &["Columns", "Rows with the usual value", "Blanks beside a cell that tells", "Filled in rightly"],
            &told,
        );
    }
    if body.is_empty() { body } else { section("Attacks", &body) }
}

/// Samples that leave instead of the whole.
pub(super) fn samples(metrics: &Place) -> String {
    let samples = metrics.at("samples").elements();
    if samples.is_empty() {
        return String::new();
    }
    let mut body = String::from(
        "<p>Disjoint random samples leave; the whole file stays in the house. Each sample has a folder and a certificate of its own.</p>\n",
    );
    for sample in &samples {
        let rows = [
            ("Share of the released rows or patients", sample.at("share"), Shown::Percent),
            ("Rows", sample.at("rows"), Shown::Count),
            ("People", sample.at("people"), Shown::Count),
            ("Classes over all quasi-identifiers", sample.at("classes"), Shown::Count),
            ("Rows of the smallest class of any set", sample.at("smallest_class"), Shown::Count),
        ];
        let mut rows: Vec<Vec<String>> =
            rows.iter().map(|(name, place, shown)| vec![name.to_string(), place.show(*shown)]).collect();
        for file in sample.at("files").elements() {
            let hash = file.at("sha256").text().map_or(String::new(), code);
            let rows_of = file.at("rows");
            let count = if rows_of.exists() { format!(" {}", rows_of.show(Shown::Count)) } else { String::new() };
            rows.push(vec![file.at("name").text().map_or(String::new(), code), format!("{hash}{count}")]);
        }
        body += &format!("<h3>{}</h3>\n", sample.at("folder").text().map_or(String::new(), code));
        body += &table(&["Sample", "Number"], &rows);
        let sets: Vec<Vec<String>> = sample
            .at("sets")
            .elements()
            .iter()
            .map(|set| {
                let mut row = vec![codes(set.at("set").texts())];
                for path in ["unknown.max", "unknown.mean", "known.max", "known.mean"] {
                    row.push(set.at(path).show(Shown::Percent));
                }
                row.push(set.at("unique").show(Shown::Count));
                row
            })
            .collect();
        body += &cards(
            &[
                "Known",
                "Highest risk if it is not known who is in the sample",
                "Mean",
                "Highest risk if it is known",
                "Mean",
                "Alone in the sample",
            ],
            &sets,
        );
    }
    section("Samples", &body)
}

/// Blanks by column and by group.
pub(super) fn missing(metrics: &Place) -> String {
    let missing = metrics.at("missing");
    if !missing.exists() {
        return String::new();
    }
    let rows = vec![
        vec!["Rows with any blank".into(), missing.at("rows").show(Shown::Count)],
        vec!["As a share of the released rows".into(), missing.at("share").show(Shown::Percent)],
        vec!["Groups in which most cells of a column are blank".into(), missing.at("flagged").show(Shown::Count)],
    ];
    let mut body = table(&["Blanks", "Number"], &rows);
    for (column, by) in missing.at("by").members() {
        for (group, values) in by.members() {
            let rows: Vec<Vec<String>> = values
                .elements()
                .iter()
                .map(|v| {
                    let value = v.at("value").text().map_or(String::new(), escape);
                    let flag = if v.at("flagged").is_true() { "<strong>most are blank</strong>" } else { "" };
                    vec![value, v.at("rows").show(Shown::Count), v.at("share").show(Shown::Percent), flag.into()]
                })
                .collect();
            body += &format!("<h3>{} blank, by {}</h3>\n", code(column), code(group));
            body += &table(&["Value", "Rows", "Blank", ""], &rows);
        }
    }
    section("Missingness", &body)
}
