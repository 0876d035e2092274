//! Attacks with a registry, and where cells are blank: what the recipients of a public-use file ask.

use super::escape::{code, codes, escape};
use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Heat, Name, gallery};
use super::table::{cards, named, section, table};

/// Attacks 1 to 3.
pub(super) fn attacks(metrics: &Place) -> String {
    let attacks = metrics.at("attacks");
    if !attacks.exists() {
        return section(
            "Attacks tried",
            "<p>The file was read back and attacked as the guarantee says: whoever knows what may be known looks for each person. No registry of people outside was named (<code>[population]</code>), so that none was tried with one.</p>\n",
        );
    }
    let mut body = String::new();
    let registry = attacks.at("registry");
    if registry.exists() {
        let estimated = if registry.at("estimated").is_true() { "Estimated from its size." } else { "As counted." };
        let rows = [
            ("People in the registry", estimated, registry.at("people"), Shown::Count),
            ("Classes in the registry", "People who look the same there.", registry.at("classes"), Shown::Count),
            (
                "Correct links to be expected (the second attack)",
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
                let name = r.at("region").text().map_or(String::new(), code);
                vec![name, r.at("people").show(Shown::Count), r.at("at_risk").show(Shown::Percent)]
            })
            .collect();
        body += "<h3>One patient against the registry (the first attack)</h3>\n";
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
        body += "<h3>A targeted neighbour (the third attack), by what is known</h3>\n";
        body += &by_set(&targeted);
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
    if body.is_empty() { body } else { section("Attacks tried", &body) }
}

/// More sets than this are in the table alone.
const MOST_SETS: usize = 24;

/// Mean risk by what is known. Sets are named by what tells them apart.
fn by_set(targeted: &[Place]) -> String {
    let sets: Vec<Vec<&str>> = targeted.iter().map(|t| t.at("set").texts()).collect();
    let common = |column: &&str| sets.iter().all(|set| set.contains(column));
    let name = |set: &Vec<&str>| {
        let own: Vec<&str> = set.iter().filter(|c| sets.len() == 1 || !common(c)).copied().collect();
        Name::text(&if own.is_empty() { "no more".into() } else { own.join(", ") })
    };
    let shared: Vec<&str> = sets.first().into_iter().flatten().filter(|c| common(c)).copied().collect();
    let with = match (sets.len(), shared.is_empty()) {
        (1, _) | (_, true) => String::new(),
        _ => format!(", each with {}", shared.join(", ")),
    };
    Bars {
        id: "targeted".into(),
        title: format!("Mean risk of whoever is looked for, by the columns known{with}, before and after"),
        names: "Known".into(),
        lengths: "Mean risk",
        legend: &["before", "after"],
        groups: targeted
            .iter()
            .zip(&sets)
            .take(MOST_SETS)
            .map(|(t, set)| Group::of(name(set), t, &["before.mean", "after.mean"]))
            .collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
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
    let by = missing.at("by");
    let mut body = table(&["Blanks", "Number"], &rows) + &gallery(heat_maps(&by));
    let mut tables = String::new();
    for (column, by) in by.members() {
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
            tables += &format!("<h3>{} blank, by {}</h3>\n", code(column), code(group));
            tables += &table(&["Value", "Rows", "Blank", ""], &rows);
        }
    }
    if !tables.is_empty() {
        body += &format!("<details><summary>Every column by every group</summary>\n{tables}</details>\n");
    }
    section("Missingness by group", &body)
}

/// More groups, or more columns, than this are in the tables alone.
const MOST_GROUPS: usize = 24;
const MOST_COLUMNS: usize = 8;

/// Where cells are blank: a map for each column that makes groups.
fn heat_maps(by: &Place) -> Vec<String> {
    let columns = by.members();
    let mut groupings: Vec<&str> = Vec::new();
    for (_, groups) in &columns {
        for (group, _) in groups.members() {
            if !groupings.contains(&group) {
                groupings.push(group);
            }
        }
    }
    let map = |(i, &grouping): (usize, &&str)| {
        let columns: Vec<(&str, Vec<Place>)> = columns
            .iter()
            .map(|(name, groups)| (*name, groups.key(grouping).elements()))
            .filter(|(_, values)| !values.is_empty())
            .take(MOST_COLUMNS)
            .collect();
        let values = columns.first().map_or(Vec::new(), |(_, values)| values.clone());
        // The largest groups, in their own order.
        let rows = |v: &Place| v.at("rows").number().unwrap_or(0.0);
        let mut sizes: Vec<f64> = values.iter().map(rows).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let least = sizes.get(MOST_GROUPS - 1).copied().unwrap_or(0.0);
        let group = |(place, value): (usize, &Place)| {
            let text = value.at("value").text().unwrap_or("?");
            let shares = columns.iter().map(|(_, values)| values[place.min(values.len() - 1)].at("share"));
            Group { name: Name::text(if text.is_empty() { "(missing)" } else { text }), bars: shares.collect() }
        };
        let kept = values.iter().enumerate().filter(|(_, v)| rows(v) >= least).take(MOST_GROUPS);
        let which = if sizes.len() > MOST_GROUPS { ", the largest groups" } else { "" };
        Heat {
            id: format!("blank-{i}"),
            title: format!("Where cells are blank: the share in each column, by {grouping}{which}"),
            names: grouping.to_string(),
            columns: columns.iter().map(|(name, _)| name.to_string()).collect(),
            rows: kept.map(group).collect(),
        }
        .draw()
    };
    groupings.iter().enumerate().map(map).collect()
}
