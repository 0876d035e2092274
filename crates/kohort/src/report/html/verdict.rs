//! The top of the page: what was released, and what is guaranteed of it.

use super::escape::{code, codes, escape, prose};
use super::number::Shown;
use super::place::Place;
use super::table::{cards, list};
use crate::methods::Register;

/// The title: what was released, and how.
pub(super) fn title(metrics: &Place) -> String {
    let out = metrics.at("rows.out");
    let unit = match metrics.at("shape").text() {
        Some("codes") => "patients",
        Some("events") => "events",
        _ => "rows",
    };
    let what =
        if out.exists() { format!("A release of {} {unit}", out.show(Shown::Count)) } else { "A release".into() };
    let version = metrics.at("kohort").text().map_or(String::new(), |v| format!(" {}", escape(v)));
    let names = |dropped: bool| {
        let columns = metrics.at("columns").elements();
        let wanted =
            columns.iter().filter(|c| matches!(c.at("role").text(), Some("identifier" | "patient")) == dropped);
        codes(wanted.filter_map(|c| c.at("name").text()))
    };
    let mut html = format!("<header>\n<p class=\"brand\">Kohort{version} · release report</p>\n<h1>{what}</h1>\n");
    if let Some(name) = metrics.at("method").text() {
        html += &format!("<p>Made by the method {}{}.</p>\n", code(name), describe(name));
    }
    for (label, names) in [("Columns released", names(false)), ("Columns dropped", names(true))] {
        if !names.is_empty() {
            html += &format!("<p>{label}: {names}.</p>\n");
        }
    }
    let least = metrics.at("shareable.least");
    html += &match least.exists() {
        true => format!(
            "<p class=\"keep\"><strong>Small counts are hidden.</strong> No count of people of the original below {} is \
             shown, and none can be computed from what is shown; what could not be made safe so is left out. The \
             custodian keeps the whole report.</p>\n</header>\n",
            least.show(Shown::Count)
        ),
        false => "<p class=\"keep\">Keep this page with the evidence: it shows counts of the original data, and is no part of what is handed over.</p>\n</header>\n".into(),
    };
    if metrics.at("test").is_true() {
        html += "<p class=\"banner\" role=\"alert\"><strong>Made with a seed: a test, not a release.</strong> Its chance can be foreseen. Do not hand it over.</p>\n";
    }
    html
}

/// The method's caption from the register.
fn describe(method: &str) -> String {
    Register::built_in().find(method).map_or(String::new(), |entry| format!(": {}", entry.caption))
}

const ADVERSARY: &str = "The adversary may know";

/// The guarantee, in a box.
pub(super) fn verdict(metrics: &Place) -> String {
    let guarantee = metrics.at("guarantee");
    let Some(plain) = guarantee.at("plain").text() else {
        return "<section class=\"verdict open\">\n<h2>No verdict</h2>\n<p>No guarantee is stated. Do not hand this over.</p>\n</section>\n"
            .into();
    };
    let mut html = "<section class=\"verdict\">\n<h2><svg class=\"tick\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M4 13l5 5L20 6\"/></svg>Verified</h2>\n".to_string();
    html += &promise(plain);
    html += &guarantee.at("aware").text().map_or(String::new(), promise);
    let facts = [
        ("k, as asked", show(&guarantee.at("k"), Shown::Count)),
        ("Smallest class found", show(&guarantee.at("smallest_class"), Shown::Count)),
        ("Smallest cluster found", show(&guarantee.at("smallest_cluster"), Shown::Count)),
        ("Fewest candidates found", show(&guarantee.at("fewest_candidates"), Shown::Count)),
        ("Counted in", unit(metrics).map(str::to_string)),
        ("Highest share of one value", show(&guarantee.at("highest_confidence"), Shown::Percent)),
        (ADVERSARY, knows(metrics)),
    ];
    html += "<dl class=\"facts\">\n";
    for (name, fact) in facts.iter().filter_map(|(name, fact)| Some((name, fact.as_ref()?))) {
        let wide = if *name == ADVERSARY { " class=\"wide\"" } else { "" };
        html += &format!("<div{wide}><dt>{name}</dt><dd>{fact}</dd></div>\n");
    }
    html += "</dl>\n";
    html += &files(&metrics.at("files"));
    html + &sensitive(&guarantee.at("sensitive")) + "</section>\n"
}

/// The files this is said of, and what tells them from any other.
fn files(files: &Place) -> String {
    let row = |file: &Place| {
        let text = |key: &str| file.at(key).text().map_or(String::new(), code);
        vec![text("name"), file.at("rows").show(Shown::Count), text("sha256")]
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

fn show(place: &Place, shown: Shown) -> Option<String> {
    place.exists().then(|| place.show(shown))
}

/// What a class counts: patients or rows.
pub(super) fn unit(metrics: &Place) -> Option<&'static str> {
    match metrics.at("guarantee.unit").text().or(metrics.at("people.unit").text())? {
        "patient" => Some("patients"),
        "row" => Some("rows, each taken for a person"),
        _ => None,
    }
}

/// What the adversary may know, in words.
pub(super) fn knows(metrics: &Place) -> Option<String> {
    let knows = metrics.at("guarantee.knows").text()?;
    let columns = metrics.at("columns").elements();
    let quasi = columns.iter().filter(|c| c.at("role").text() == Some("quasi"));
    let names = codes(quasi.filter_map(|c| c.at("name").text()));
    let among = if names.is_empty() { String::new() } else { format!(": {names}") };
    Some(match knows {
        codes if codes.ends_with("codes") => format!("{} of a person", escape(codes)),
        "all" => format!("all quasi-identifiers of a person{among}"),
        sets if sets.ends_with("sets") => {
            let listed = metrics.at("guarantee.known_sets").elements();
            let listed: Vec<String> = listed.iter().map(|set| codes(set.texts())).collect();
            format!("{} of quasi-identifiers: {}", escape(sets), listed.join("; "))
        }
        some => format!("{} of a person’s quasi-identifiers{among}", escape(some)),
    })
}

/// What was found of sensitive columns that something is required of.
fn sensitive(columns: &Place) -> String {
    let row = |(name, found): &(&str, Place)| {
        vec![
            code(name),
            found.at("highest_confidence").show(Shown::Percent),
            diversity(&found.at("least_diversity")),
            found.at("largest_distance").show(Shown::Decimals(4)),
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
fn diversity(found: &Place) -> String {
    let whole = found.number().is_none_or(|x| x.fract() == 0.0);
    found.show(if whole { Shown::Count } else { Shown::Decimals(3) })
}
