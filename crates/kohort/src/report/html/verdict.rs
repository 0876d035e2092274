//! The top of the page: what was released, and what is guaranteed.

use super::escape::{code, codes, escape, names, prose};
use super::number::{Shown, counted};
use super::place::{Figure, MetricsPlace, figure};
use super::table::{cards, list, section};
use crate::evidence::metrics::{ByName, ColumnChange, File, FoundOfSensitive, Role, TableGuarantee, Unit};
use crate::methods::Register;

/// Describes what every page says at its top.
pub(super) struct PageHead<'a> {
    pub(super) method: &'a str,
    pub(super) kohort: &'a str,
    pub(super) test: bool,
    /// States how many of what were released.
    pub(super) out: (Figure, [&'static str; 2]),
    pub(super) columns: &'a [ColumnChange],
    /// The smallest count that is shown, in a report for others.
    pub(super) least: Figure,
    pub(super) plain: &'a str,
    pub(super) aware: &'a str,
}

/// The head of metrics of any shape.
macro_rules! head {
    ($metrics:expr, $units:expr) => {{
        let shareable = $crate::report::html::place::at!($metrics, shareable).some();
        $crate::report::html::verdict::PageHead {
            method: &$metrics.value.method,
            kohort: &$metrics.value.kohort,
            test: $metrics.value.test,
            out: ($crate::report::html::place::figure!($metrics, rows.out), $units),
            columns: &$metrics.value.columns,
            least: $crate::report::html::place::of(&shareable, |own| $crate::report::html::place::figure!(own, least)),
            plain: &$metrics.value.guarantee.plain,
            aware: &$metrics.value.guarantee.aware,
        }
    }};
}
pub(super) use head;

/// The title: what was released, and how.
pub(super) fn title(head: &PageHead) -> String {
    let (out, units) = &head.out;
    let names = |dropped: bool| {
        let wanted = head.columns.iter().filter(|c| matches!(c.role, Role::Identifier | Role::Patient) == dropped);
        by_table(&wanted.collect::<Vec<_>>())
    };
    let mut html = format!(
        "<header>\n<p class=\"brand\">Kohort {} · release report</p>\n<h1>A release of {}</h1>\n",
        escape(head.kohort),
        counted(out, *units)
    );
    html += &format!("<p>Made by the method {}{}.</p>\n", code(head.method), describe(head.method));
    for (label, names) in [("Columns released", names(false)), ("Columns dropped", names(true))] {
        if !names.is_empty() {
            html += &format!("<p>{label}: {names}.</p>\n");
        }
    }
    html += &match head.least.exists() {
        true => format!(
            "<p class=\"keep\"><strong>Small counts are hidden.</strong> No count of people in the original below {} is \
             shown, and none can be computed from what is shown. Whatever could not be made safe in this way is omitted. \
             The custodian keeps the complete report.</p>\n</header>\n",
            head.least.show(Shown::Count)
        ),
        false => "<p class=\"keep\">Keep this page with the evidence. It shows counts of the original data and is not part of the release.</p>\n</header>\n".into(),
    };
    if head.test {
        html += "<p class=\"banner\" role=\"alert\"><strong>Made with a seed: a test, not a release.</strong> Its randomness can be predicted. Do not hand it over.</p>\n";
    }
    html
}

/// The names of columns; those of several tables follow the name of their table.
fn by_table(columns: &[&ColumnChange]) -> String {
    let mut tables: Vec<Option<&str>> = Vec::new();
    for column in columns {
        if !tables.contains(&column.table.as_deref()) {
            tables.push(column.table.as_deref());
        }
    }
    let listed = |table: &Option<&str>| {
        let own = codes(columns.iter().filter(|c| c.table.as_deref() == *table).map(|c| c.name.as_str()));
        table.map_or(own.clone(), |table| format!("{own} (in {})", escape(table)))
    };
    tables.iter().map(listed).collect::<Vec<_>>().join("; ")
}

/// The method's caption from the register.
fn describe(method: &str) -> String {
    Register::built_in().find(method).map_or(String::new(), |entry| format!(": {}", entry.caption))
}

/// The guarantee: verified, in sentences, with its picture and its facts.
pub(super) fn verdict(head: &PageHead, facts: &[(&str, String)], picture: &str) -> String {
    let mut html = "<p class=\"stamp\"><svg class=\"tick\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M4 13l5 5L20 6\"/></svg>Verified</p>\n".to_string();
    html += &format!(
        "<div class=\"beside\">\n<div>\n{}{}</div>\n{picture}</div>\n",
        promise(head.plain),
        promise(head.aware)
    );
    html += "<dl class=\"facts\">\n";
    for (name, fact) in facts {
        html += &format!("<div><dt>{name}</dt><dd>{fact}</dd></div>\n");
    }
    html + "</dl>\n"
}

/// The files that the guarantee is about, with their checksums.
pub(super) fn files(files: &MetricsPlace<Vec<File>>) -> String {
    let row = |file: &MetricsPlace<File>| {
        vec![code(&file.value.name), figure!(file, rows).show(Shown::Count), code(&file.value.sha256)]
    };
    let rows: Vec<Vec<String>> = files.elements().iter().map(row).collect();
    match rows.is_empty() {
        true => String::new(),
        false => section("The files that were verified", &cards(&["File", "Rows", "Checksum"], &rows)),
    }
}

/// A promise; of many sentences each gets its own line.
fn promise(text: &str) -> String {
    let sentences: Vec<&str> = text.split_inclusive(". ").collect();
    match &sentences[..] {
        [first, others @ ..] if others.len() > 1 => {
            let others: Vec<String> = others.iter().map(|s| prose(s.trim_end())).collect();
            format!("<p>{}</p>\n{}", prose(first.trim_end()), list(&others))
        }
        _ => format!("<p>{}</p>\n", prose(text)),
    }
}

/// Shows what a class counts: patients or rows.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Patient => "patients",
        Unit::Row => "rows (each row is counted as a person)",
    }
}

/// Shows what the adversary of a table may know, in words.
pub(super) fn knows(guarantee: &TableGuarantee, columns: &[ColumnChange]) -> String {
    if let Some(sets) = &guarantee.known_sets {
        let listed: Vec<String> = sets.iter().map(|set| names(set)).collect();
        return format!("{} of quasi-identifiers: {}", escape(&guarantee.knows), listed.join("; "));
    }
    let quasi = codes(columns.iter().filter(|c| c.role == Role::Quasi).map(|c| c.name.as_str()));
    let among = if quasi.is_empty() { String::new() } else { format!(": {quasi}") };
    match guarantee.knows.as_str() {
        "all" => format!("all quasi-identifiers of a person{among}"),
        some => format!("{} of a person’s quasi-identifiers{among}", escape(some)),
    }
}

/// The facts of a table's guarantee.
pub(super) fn of_table(guarantee: &MetricsPlace<TableGuarantee>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("k, as asked", figure!(guarantee, k).show(Shown::Count)),
        ("Smallest class found", figure!(guarantee, smallest_class).show(Shown::Count)),
        ("Counted in", unit(guarantee.value.unit).to_string()),
    ];
    if guarantee.value.highest_confidence.is_some() {
        facts.push(("Highest share of one value", figure!(guarantee, highest_confidence).show(Shown::Percent)));
    }
    facts
}

/// States how to read the table of sensitive columns.
const SENSITIVE: &str = "<p class=\"read\">The worst group of each column. Share: how many of those in a group with a value have the same one; lower is safer. Diversity: how many different values a group has in effect; higher is safer. Distance: how far the values of a group are from those of the whole file; lower is safer. A dash means that nothing was asked.</p>\n";

/// The sensitive columns with a requirement, as counted from the release.
pub(super) fn sensitive(columns: &MetricsPlace<ByName<FoundOfSensitive>>) -> String {
    let row = |(name, found): &(&str, MetricsPlace<FoundOfSensitive>)| {
        vec![
            code(name),
            figure!(found, highest_confidence).show(Shown::Percent),
            diversity(&figure!(found, least_diversity)),
            figure!(found, largest_distance).show(Shown::Decimals(4)),
        ]
    };
    let rows: Vec<Vec<String>> = columns.members().iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Sensitive column", "Highest share of one value", "Least diversity", "Largest distance"];
    section("What can be learned about sensitive values", &format!("{}{SENSITIVE}", cards(&headings, &rows)))
}

/// Whole where values are counted; what is weighed is not rounded up to the next one.
fn diversity(found: &Figure) -> String {
    let whole = found.number().is_none_or(|x| x.fract() == 0.0);
    found.show(if whole { Shown::Count } else { Shown::Decimals(3) })
}
