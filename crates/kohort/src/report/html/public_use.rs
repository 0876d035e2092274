//! Attacks with a registry, and suppressed cells by group: what recipients of a public-use file ask.

use super::escape::{code, escape, names};
use super::facts::facts;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Heat, Name, gallery};
use super::table::{cards, section, table};
use crate::evidence::metrics::{
    BlankGroup, ByName, Matches, OnePatient, RegistryAttack, TableMetrics, Targeted, Undeclared,
};

/// Attacks 1 to 3.
pub(super) fn attacks(metrics: &MetricsPlace<TableMetrics>) -> String {
    let Some(attacks) = at!(metrics, attacks).some() else {
        return section(
            "Attacks tried",
            "<p>The release was attacked as the guarantee describes: an attacker with the assumed knowledge looks for each person. The policy names no registry of the population (<code>[population]</code>), so no attack with a registry was tried.</p>\n",
        );
    };
    let body = at!(attacks, registries).elements().iter().map(of_registry).collect::<String>()
        + &neighbours(&at!(attacks, targeted).elements())
        + &inferred(&at!(attacks, undeclared).elements());
    if body.is_empty() { body } else { section("Attacks tried", &body) }
}

/// Attacks 1 and 2: with a registry.
fn of_registry(registry: &MetricsPlace<RegistryAttack>) -> String {
    let counted = match (registry.value.estimated, registry.value.part) {
        (true, _) => "Estimated from its size.",
        (false, true) => "As counted. It lists only some of the people.",
        (false, false) => "As counted.",
    };
    let mut rows = vec![
        (figure!(registry, people), "People in the registry", Shown::Count, counted),
        (
            figure!(registry, classes),
            "Classes in the registry",
            Shown::Count,
            "Groups of people who look the same in it.",
        ),
    ];
    let whole = at!(registry, whole_file);
    rows.push((
        figure!(whole, links),
        "Expected number of correct links (the second attack)",
        Shown::Decimals(1),
        "An attacker links the whole released file, or the largest sample, with the registry. A number of people, not a share.",
    ));
    rows.push((figure!(whole, share), "As a share of that file", Shown::Percent, ""));
    if whole.value.all_samples.is_some() {
        rows.push((figure!(whole, all_samples), "From all samples together", Shown::Decimals(1), ""));
    }
    rows.push((figure!(whole, original), "If the original were released", Shown::Decimals(1), ""));
    let region = |r: &MetricsPlace<OnePatient>| {
        vec![code(&r.value.region), figure!(r, people).show(Shown::Count), figure!(r, at_risk).show(Shown::Percent)]
    };
    let regions: Vec<Vec<String>> = at!(registry, one_patient).elements().iter().map(region).collect();
    let name = registry.value.name.as_ref().map_or(String::new(), |name| format!("{}: ", escape(name)));
    format!(
        "<h3>{name}Against a registry of {}</h3>\n{}<h3>One patient against the registry (the first attack)</h3>\n{}",
        names(&registry.value.columns),
        facts(["Attack", "Number"], rows),
        table(&["Region", "People", "In classes smaller than k"], &regions)
    )
}

/// Attack 3: a targeted neighbour.
fn neighbours(targeted: &[MetricsPlace<Targeted>]) -> String {
    if targeted.is_empty() {
        return String::new();
    }
    let row = |t: &MetricsPlace<Targeted>| {
        let wildcard = at!(t, wildcard).some();
        let matches = |shown: Shown, figure: fn(&MetricsPlace<Matches>) -> Figure| of(&wildcard, figure).show(shown);
        vec![
            names(&t.value.set),
            figure!(t, before.max).show(Shown::Percent),
            figure!(t, after.max).show(Shown::Percent),
            figure!(t, before.mean).show(Shown::Percent),
            figure!(t, after.mean).show(Shown::Percent),
            figure!(t, before.unique).show(Shown::Count),
            figure!(t, after.unique).show(Shown::Count),
            matches(Shown::Count, |own| figure!(own, fewest)),
            matches(Shown::Decimals(1), |own| figure!(own, mean)),
        ]
    };
    let headings = [
        "Known",
        "Highest risk before",
        "after",
        "Mean risk before",
        "after",
        "Unique before",
        "after",
        "Fewest matching rows if * matches every value",
        "Mean",
    ];
    format!(
        "<h3>A targeted neighbour (the third attack), by what is known</h3>\n{}{}",
        by_set(targeted),
        cards(&headings, &targeted.iter().map(row).collect::<Vec<_>>())
    )
}

/// Columns from which others can be inferred.
fn inferred(found: &[MetricsPlace<Undeclared>]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let row = |t: &MetricsPlace<Undeclared>| {
        vec![
            format!("{} predicts {}", code(&t.value.column), code(&t.value.tells)),
            figure!(t, share).show(Shown::Percent),
            figure!(t, blanks).show(Shown::Count),
            figure!(t, right).show(Shown::Count),
        ]
    };
    let headings = ["Columns", "Rows with the usual value", "Suppressed cells it could fill in", "Filled in correctly"];
    format!(
        "<h3>Columns that predict others, not declared in the policy</h3>\n<p>For values that at least k rows have, the second column usually has one value. An attacker who knows this relation could fill in suppressed cells. If others may know it, declare it with <code>of</code>.</p>\n{}",
        table(&headings, &found.iter().map(row).collect::<Vec<_>>())
    )
}

/// More sets than this are in the table alone.
const MOST_SETS: usize = 24;

/// Mean risk by what is known. A set is named by the columns in which it differs from the others.
fn by_set(targeted: &[MetricsPlace<Targeted>]) -> String {
    let sets: Vec<&Vec<String>> = targeted.iter().map(|t| &t.value.set).collect();
    let common = |column: &String| sets.iter().all(|set| set.contains(column));
    let name = |set: &[String]| {
        let own: Vec<&str> = set.iter().filter(|c| sets.len() == 1 || !common(c)).map(String::as_str).collect();
        Name::text(&if own.is_empty() { "nothing else".into() } else { own.join(", ") })
    };
    let shared: Vec<&str> =
        sets.first().into_iter().flat_map(|set| set.iter()).filter(|c| common(c)).map(String::as_str).collect();
    let with = match (sets.len(), shared.is_empty()) {
        (1, _) | (_, true) => String::new(),
        _ => format!(", each with {}", shared.join(", ")),
    };
    let group =
        |t: &MetricsPlace<Targeted>| Group::of(name(&t.value.set), [figure!(t, before.mean), figure!(t, after.mean)]);
    Bars {
        id: "targeted".into(),
        title: format!("Mean risk of a targeted person by the columns known{with}, before and after"),
        names: "Known".into(),
        lengths: "Mean risk",
        legend: &["before", "after"],
        groups: targeted.iter().take(MOST_SETS).map(group).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Suppressed cells by column and by group.
pub(super) fn missing(metrics: &MetricsPlace<TableMetrics>) -> String {
    let Some(missing) = at!(metrics, missing).some() else { return String::new() };
    let rows = [
        (figure!(missing, rows), "Rows with a suppressed cell", Shown::Count, ""),
        (figure!(missing, share), "As a share of the released rows", Shown::Percent, ""),
        (figure!(missing, flagged), "Groups in which most cells of a column are suppressed", Shown::Count, ""),
    ];
    let by = at!(missing, by);
    let columns = at!(missing, columns);
    let columns: Vec<Vec<String>> = columns
        .members()
        .into_iter()
        .map(|(name, share)| vec![code(name), share.figure().show(Shown::Percent)])
        .collect();
    let mut body = gallery(heat_maps(&by))
        + &facts(["Suppressed cells", "Number"], rows)
        + &table(&["Column", "Suppressed"], &columns);
    let row = |v: &MetricsPlace<BlankGroup>| {
        let flag = if v.value.flagged { "<strong>most are suppressed</strong>" } else { "" };
        let (rows, share, weight) = (figure!(v, rows), figure!(v, share), figure!(v, weight));
        vec![
            if v.value.value.is_empty() { "missing".into() } else { escape(&v.value.value) },
            rows.show(Shown::Count),
            share.show(Shown::Percent),
            weight.show(Shown::Decimals(3)),
            flag.into(),
        ]
    };
    let mut tables = String::new();
    for (column, by) in by.members() {
        for (group, values) in by.members() {
            let rows: Vec<Vec<String>> = values.elements().iter().map(row).collect();
            tables += &format!("<h3>{} suppressed, by {}</h3>\n", code(column), code(group));
            tables += &table(&["Value", "Rows", "Suppressed", "Weight", "Warning"], &rows);
        }
    }
    if !tables.is_empty() {
        body += &format!(
            "<details><summary>Every column by every group</summary>\n<p>The weight of a row that shows a value makes up for the suppressed ones of its group: counts and means with it are those of all rows, as far as suppression within a group does not depend on the value.</p>\n{tables}</details>\n"
        );
    }
    section("Missingness by group", &body)
}

/// More groups, or more columns, than this are in the tables alone.
const MOST_GROUPS: usize = 24;
const MOST_COLUMNS: usize = 8;

/// Where cells are suppressed: a map for each column that makes groups.
fn heat_maps(by: &MetricsPlace<ByName<ByName<Vec<BlankGroup>>>>) -> Vec<String> {
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
        let columns: Vec<(&str, Vec<MetricsPlace<BlankGroup>>)> = columns
            .iter()
            .map(|(name, groups)| (*name, groups.member(grouping).map_or(Vec::new(), |values| values.elements())))
            .filter(|(_, values)| !values.is_empty())
            .take(MOST_COLUMNS)
            .collect();
        let values = columns.first().map_or(&[][..], |(_, values)| &values[..]);
        // The largest groups, in their own order.
        let mut sizes: Vec<u64> = values.iter().map(|v| v.value.rows).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes.get(MOST_GROUPS - 1).copied().unwrap_or(0);
        let group = |(place, own): (usize, &MetricsPlace<BlankGroup>)| {
            let text = own.value.value.as_str();
            let shares = columns.iter().map(|(_, values)| figure!(values[place.min(values.len() - 1)], share));
            Group { name: Name::text(if text.is_empty() { "(missing)" } else { text }), bars: shares.collect() }
        };
        let kept = values.iter().enumerate().filter(|(_, v)| v.value.rows >= least).take(MOST_GROUPS);
        let which = if sizes.len() > MOST_GROUPS { ", the largest groups" } else { "" };
        Heat {
            id: format!("blank-{i}"),
            title: format!("Share of suppressed cells in each column, by {grouping}{which}"),
            names: grouping.to_string(),
            columns: columns.iter().map(|(name, _)| name.to_string()).collect(),
            rows: kept.map(group).collect(),
        }
        .draw()
    };
    groupings.iter().enumerate().map(map).collect()
}
