//! The top of the page: what was released, and what is guaranteed of it.

use super::escape::{code, codes, escape, names, prose};
use super::number::Shown;
use super::place::{Figure, Place, figure};
use super::table::{cards, list};
use crate::evidence::metrics::{ByName, Column, File, FoundOfSensitive, Role, TableGuarantee, Unit};
use crate::methods::Register;

/// What every page says at its top.
pub(super) struct Head<'a> {
    pub(super) method: &'a str,
    pub(super) kohort: &'a str,
    pub(super) test: bool,
    /// How many of what were released.
    pub(super) out: (Figure, &'static str),
    pub(super) columns: &'a [Column],
    /// The smallest count that is shown, in a report for others.
    pub(super) least: Figure,
    pub(super) files: Place<'a, Vec<File>>,
    pub(super) plain: &'a str,
    pub(super) aware: &'a str,
}

/// The head of metrics of any shape.
macro_rules! head {
    ($metrics:expr, $unit:literal) => {{
        let shareable = $crate::report::html::place::at!($metrics, shareable).some();
        $crate::report::html::verdict::Head {
            method: &$metrics.value.method,
            kohort: &$metrics.value.kohort,
            test: $metrics.value.test,
            out: ($crate::report::html::place::figure!($metrics, rows.out), $unit),
            columns: &$metrics.value.columns,
            least: $crate::report::html::place::of(&shareable, |own| $crate::report::html::place::figure!(own, least)),
            files: $crate::report::html::place::at!($metrics, files),
            plain: &$metrics.value.guarantee.plain,
            aware: &$metrics.value.guarantee.aware,
        }
    }};
}
pub(super) use head;

/// The title: what was released, and how.
pub(super) fn title(head: &Head) -> String {
    let (out, unit) = &head.out;
    let names = |dropped: bool| {
        let wanted = head.columns.iter().filter(|c| matches!(c.role, Role::Identifier | Role::Patient) == dropped);
        codes(wanted.map(|c| c.name.as_str()))
    };
    let mut html = format!(
        "<header>\n<p class=\"brand\">Kohort {} · release report</p>\n<h1>A release of {} {unit}</h1>\n",
        escape(head.kohort),
        out.show(Shown::Count)
    );
    html += &format!("<p>Made by the method {}{}.</p>\n", code(head.method), describe(head.method));
    for (label, names) in [("Columns released", names(false)), ("Columns dropped", names(true))] {
        if !names.is_empty() {
            html += &format!("<p>{label}: {names}.</p>\n");
        }
    }
    html += &match head.least.exists() {
        true => format!(
            "<p class=\"keep\"><strong>Small counts are hidden.</strong> No count of people of the original below {} is \
             shown, and none can be computed from what is shown; what could not be made safe so is left out. The \
             custodian keeps the whole report.</p>\n</header>\n",
            head.least.show(Shown::Count)
        ),
        false => "<p class=\"keep\">Keep this page with the evidence: it shows counts of the original data, and is no part of what is handed over.</p>\n</header>\n".into(),
    };
    if head.test {
        html += "<p class=\"banner\" role=\"alert\"><strong>Made with a seed: a test, not a release.</strong> Its chance can be foreseen. Do not hand it over.</p>\n";
    }
    html
}

/// The method's caption from the register.
fn describe(method: &str) -> String {
    Register::built_in().find(method).map_or(String::new(), |entry| format!(": {}", entry.caption))
}

/// The guarantee, in a box: its sentences, its facts, its files, and what else is said of it.
pub(super) fn verdict(head: &Head, facts: &[(&str, String)], knows: &str, more: &str) -> String {
    let mut html = "<section class=\"verdict\">\n<h2><svg class=\"tick\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M4 13l5 5L20 6\"/></svg>Verified</h2>\n".to_string();
    html += &promise(head.plain);
    html += &promise(head.aware);
    html += "<dl class=\"facts\">\n";
    for (name, fact) in facts {
        html += &format!("<div><dt>{name}</dt><dd>{fact}</dd></div>\n");
    }
    html += &format!("<div class=\"wide\"><dt>The adversary may know</dt><dd>{knows}</dd></div>\n</dl>\n");
    html + &files(&head.files) + more + "</section>\n"
}

/// The files this is said of, and what tells them from any other.
fn files(files: &Place<Vec<File>>) -> String {
    let row = |file: &Place<File>| {
        vec![code(&file.value.name), figure!(file, rows).show(Shown::Count), code(&file.value.sha256)]
    };
    let rows: Vec<Vec<String>> = files.elements().iter().map(row).collect();
    if rows.is_empty() { String::new() } else { cards(&["File", "Rows", "Checksum"], &rows) }
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

/// What a class counts: patients or rows.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Patient => "patients",
        Unit::Row => "rows, each taken for a person",
    }
}

/// What the adversary of a table may know, in words.
pub(super) fn knows(guarantee: &TableGuarantee, columns: &[Column]) -> String {
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
pub(super) fn of_table(guarantee: &Place<TableGuarantee>) -> Vec<(&'static str, String)> {
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

/// What was found of sensitive columns that something is required of.
pub(super) fn sensitive(columns: &Place<ByName<FoundOfSensitive>>) -> String {
    let row = |(name, found): &(&str, Place<FoundOfSensitive>)| {
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
    format!(
        "<h3>Found of sensitive values</h3>\n{}<p class=\"read\">The worst class of each column. Share: of those with a value in a class, how many have the same one; lower is safer. Diversity: how many different values a class counts for; higher is safer. Distance: how far the values of a class are from those of the whole file; lower is safer. A dash: nothing is required. What was required stands in the guarantee above.</p>\n",
        cards(&headings, &rows)
    )
}

/// Whole where values are counted; what is weighed is not rounded up to the next one.
fn diversity(found: &Figure) -> String {
    let whole = found.number().is_none_or(|x| x.fract() == 0.0);
    found.show(if whole { Shown::Count } else { Shown::Decimals(3) })
}
