//! Hierarchies: the levels of each column, how many people each leaves alone, and ways to change them.

use super::change;
use super::columns::{Known, PolicyColumn, columns_of, histogram};
use super::risk;
use crate::answer::{Answer, Fields};
use crate::count::CountedColumn;
use crate::page::{Page, Step, button, hidden, input, select, thousands};
use crate::policy_text::{get, quoted};
use crate::results::{Ladder, RiskFound};
use crate::studio::{Edit, Opened, Studio};
use kohort::report::parts::{cards, escape};
use kohort_core::code_systems::{CodeSystem, titled};
use kohort_core::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Shows the levels of every quasi-identifier.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let columns = columns_of(&opened)?;
    let found = risk::current(studio, &opened);
    let mut body = String::from(
        "<p class=\"lead\">A hierarchy says how a value becomes coarser: 47, then 45 to 49, then 40 to 59. Kohort uses \
         the finest level that protects everyone.</p>\n",
    );
    body += &counts_or_button(&found);
    body += "<p><a href=\"/codes\">Search diagnosis codes by word</a></p>\n";
    let quasi: Vec<(usize, &PolicyColumn)> = columns.iter().enumerate().filter(|(_, c)| c.role == "quasi").collect();
    if quasi.is_empty() {
        body += "<p>No column is one that others may know, so there is nothing to make coarser.</p>\n";
    }
    for (number, column) in quasi {
        let written = get(&opened.text, &column.path("hierarchy")).unwrap_or_else(|| "none: the value or *".into());
        body += &format!(
            "<section><h2><code>{}</code></h2>\n<p>Hierarchy: <code>{}</code></p>\n{}<p><a href=\"/hierarchy/{number}\">Change \
             the hierarchy of <code>{0}</code></a></p></section>\n",
            escape(&column.name),
            escape(&written),
            found.as_ref().and_then(|f| ladder(f, column)).map_or(String::new(), levels)
        );
    }
    body += "<p><a class=\"go\" href=\"/risk\">Next: risk</a></p>\n";
    let command = Some(format!("kohort hierarchy {}", opened.name));
    Ok(Answer::Page(Page { step: Step::Hierarchies, heading: "Hierarchies", body, command }))
}

fn counts_or_button(found: &Option<Arc<RiskFound>>) -> String {
    match found {
        Some(_) => String::new(),
        None => format!(
            "<p class=\"note\">The levels have not been counted for the policy as it is now.</p>\n{}",
            button("/risk", "Count the levels and the risk", &[("back", "hierarchies")])
        ),
    }
}

fn ladder<'a>(found: &'a RiskFound, column: &PolicyColumn) -> Option<&'a Ladder> {
    found.ladders.iter().find(|ladder| ladder.column == column.name)
}

/// A table of levels: labels, and records that are alone.
fn levels(ladder: &Ladder) -> String {
    let row = |(number, rung): (usize, &crate::results::Rung)| {
        vec![
            format!("{number}: <code>{}</code>", escape(&rung.name)),
            thousands(rung.labels.len() as u64),
            thousands(rung.alone()),
            if rung.permitted { "yes".into() } else { "no".into() },
        ]
    };
    let rows: Vec<Vec<String>> = ladder.levels.iter().enumerate().map(row).collect();
    cards(&["Level", "Labels", "Records alone", "May be chosen"], &rows)
}

fn column_at(opened: &Opened, number: usize) -> Result<PolicyColumn> {
    let column = columns_of(opened)?.into_iter().nth(number);
    column.ok_or_else(|| Error::yours("there is no such column in the policy any more. Go back to the columns."))
}

/// Shows the hierarchy of one column, with ways to change it.
pub(crate) fn one(studio: &Arc<Studio>, number: usize) -> Result<Answer> {
    let opened = studio.opened()?;
    let column = column_at(&opened, number)?;
    let counted = studio.desk().counted.clone();
    let tables = counted.as_ref().map_or(&[][..], |counted| &counted.tables);
    let known = Known::of(&column, tables);
    let found = risk::current(studio, &opened);
    let revision = hidden("revision", &opened.revision());
    let written = get(&opened.text, &column.path("hierarchy")).unwrap_or_default();
    let mut body = format!("<p class=\"lead\">Column <code>{}</code></p>\n", escape(&column.name));
    if let Some((_, counted)) = known.counted {
        body += &histogram(number, counted, false);
    }
    body += &counts_or_button(&found);
    if let Some(own) = found.as_ref().and_then(|f| ladder(f, &column)) {
        body += &levels(own);
        body += &permitted(own, number, &revision);
        body += "<details class=\"values\"><summary>Show the labels of each level (values of the data)</summary>\n";
        for rung in own.levels.iter().skip(1) {
            let rows: Vec<Vec<String>> = rung
                .labels
                .iter()
                .take(50)
                .map(|(label, records)| vec![format!("<code>{}</code>", escape(label)), thousands(*records)])
                .collect();
            body += &format!(
                "<h2>Level <code>{}</code>, the rarest first</h2>\n{}",
                escape(&rung.name),
                cards(&["Label", "Records"], &rows)
            );
        }
        body += "</details>\n";
    }
    body += &forms(&column, number, known.counted.map(|c| c.1), &written, &revision);
    body += "<p><a href=\"/hierarchies\">All hierarchies</a></p>\n";
    let command = Some(format!("kohort hierarchy {} --column '{}'", opened.name, column.name.replace('\'', "'\\''")));
    Ok(Answer::Page(Page { step: Step::Hierarchies, heading: "Hierarchy of a column", body, command }))
}

/// Shows which levels a method may choose.
fn permitted(ladder: &Ladder, number: usize, revision: &str) -> String {
    let one = |(i, rung): (usize, &crate::results::Rung)| {
        let mark = if rung.permitted { " checked" } else { "" };
        format!(
            "<li><input type=\"checkbox\" name=\"level\" id=\"level-{i}\" value=\"{i}\"{mark}><label for=\"level-{i}\">{i}: \
             <code>{}</code></label></li>\n",
            escape(&rung.name)
        )
    };
    let boxes: String = ladder.levels.iter().enumerate().map(one).collect();
    format!(
        "<form method=\"post\" action=\"/hierarchy/{number}\">{revision}{}<fieldset><legend>Levels that a method may \
         choose</legend><ul class=\"files\">{boxes}</ul></fieldset><button>Save the levels</button></form>\n",
        hidden("kind", "levels")
    )
}

/// One form for each kind of hierarchy that fits the column.
fn forms(
    column: &PolicyColumn,
    number: usize,
    counted: Option<&CountedColumn>,
    written: &str,
    revision: &str,
) -> String {
    let form = |kind: &str, heading: &str, explained: &str, fields: &str| {
        format!(
            "<section><h2>{heading}</h2>\n<p>{explained}</p>\n<form method=\"post\" action=\"/hierarchy/{number}\">{revision}{}{fields}\
             <button>Use this</button></form></section>\n",
            hidden("kind", kind)
        )
    };
    let section = column.section.section("hierarchy").ok().flatten();
    let list = |key: &str| -> String {
        let own = section.as_ref().and_then(|s| s.decimals(key).ok().flatten());
        own.map_or(String::new(), |all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    };
    let bound = |key: &str| section.as_ref().and_then(|s| s.decimal(key).ok().flatten()).map(|d| d.to_string());
    let range = counted.and_then(|c| c.range);
    let from = bound("from").or_else(|| range.map(|r| r.0.floor().to_string())).unwrap_or_default();
    let to = bound("to").or_else(|| range.map(|r| (r.1.floor() + 1.0).to_string())).unwrap_or_default();
    let bounds = |kind: &str| {
        input("from", &format!("{kind}-from"), "From", &from, "inputmode=\"decimal\"")
            + &input("to", &format!("{kind}-to"), "Up to, not including", &to, "inputmode=\"decimal\"")
    };
    let mut html = String::new();
    if counted.is_none_or(|c| c.numeric) {
        html += &form(
            "intervals",
            "Intervals of equal width",
            "Widths from fine to coarse, each a multiple of the one before: 5, 10, 20.",
            &(input("list", "widths", "Widths", &list("intervals"), "inputmode=\"decimal\"") + &bounds("intervals")),
        );
        html += &form(
            "cuts",
            "Cut points of your own",
            "The numbers at which a new interval begins. Drag the points, or type them.",
            &(input("list", "cuts", "Cut points", &list("cuts"), "inputmode=\"decimal\" data-cuts") + &bounds("cuts")),
        );
    }
    html += &form(
        "prefix",
        "First characters",
        "For codes and postcodes: the numbers of characters that are kept, from fine to coarse: 4, 3, 2.",
        &input("list", "prefix", "Characters kept", &list("prefix"), "inputmode=\"numeric\""),
    );
    let date = section.as_ref().and_then(|s| s.text("date").ok().flatten()).unwrap_or_default();
    html += &form(
        "date",
        "Dates",
        "Day, month, quarter, year and decade. The format is written like %Y-%m-%d.",
        &input("format", "date-format", "Format", date, "autocomplete=\"off\""),
    );
    let systems =
        ["icd9", "icd10", "icd9-procedure", "icd10-procedure", "pcg", "pcg-icd10", "cpt", "place", "specialty", "los"];
    let choices: Vec<(&str, String)> = systems.iter().map(|system| (*system, system.to_string())).collect();
    html += &form(
        "system",
        "A code system",
        "Codes become categories, sections and chapters.",
        &select("system", "system", "Code system", &choices, written.trim_matches('"')),
    );
    html += &form(
        "file",
        "A file",
        "One line for each value: value;parent;…;*. Drop the file on the start page, or save the present hierarchy with the command below.",
        &input("file", "hierarchy-file", "File in the folder", "", "autocomplete=\"off\""),
    );
    html += &groups(number, counted, revision);
    html += &form("none", "None", "A cell shows the value or *.", "");
    html
}

/// Groups made by selecting values. The values are on the page only if the person asks for them.
fn groups(number: usize, counted: Option<&CountedColumn>, revision: &str) -> String {
    let Some(counted) = counted.filter(|c| c.others == 0 && c.values.len() <= 200 && !c.values.is_empty()) else {
        return String::new();
    };
    let one = |(i, (value, cells)): (usize, &(String, u64))| {
        format!(
            "<li><input type=\"checkbox\" name=\"value\" id=\"value-{i}\" value=\"{i}\"><label for=\"value-{i}\"><code>{}</code> \
             <span class=\"soft\">{}</span></label></li>\n",
            escape(value),
            thousands(*cells)
        )
    };
    let boxes: String = counted.values.iter().enumerate().map(one).collect();
    format!(
        "<section><h2>Groups of values</h2>\n<p>Select values that belong together and name their group. The groups are \
         written to a file in the folder, which the policy names.</p>\n\
         <details class=\"values\"><summary>Show the values and select</summary>\n\
         <form method=\"post\" action=\"/group/{number}\">{revision}<fieldset><legend>Values</legend><ul class=\"files\">{boxes}</ul></fieldset>{}\
         <button>Make this group</button></form></details></section>\n",
        input("group", "group", "Name of the group", "", "autocomplete=\"off\" required")
    )
}

/// Changes the hierarchy or the permitted levels of a column.
pub(crate) fn save(studio: &Arc<Studio>, number: usize, fields: &Fields) -> Result<Answer> {
    let opened = studio.opened()?;
    let column = column_at(&opened, number)?;
    let path = column.path("hierarchy");
    let list = || numbers(fields.get("list"));
    let bounds = || -> Result<String> {
        Ok(format!("from = {}, to = {}", number_text(fields.get("from"))?, number_text(fields.get("to"))?))
    };
    let value = match fields.get("kind") {
        "levels" => {
            let levels: Vec<&str> = fields.all("level").filter(|level| level.parse::<usize>().is_ok()).collect();
            if levels.is_empty() {
                return Err(Error::yours("choose at least one level."));
            }
            let edit = Edit::set(&column.path("levels"), format!("[{}]", levels.join(", ")));
            return saved(studio, number, fields, &format!("Levels of `{}`", column.name), &[edit]);
        }
        "intervals" => Some(format!("{{ intervals = {}, {} }}", list()?, bounds()?)),
        "cuts" => Some(format!("{{ cuts = {}, {} }}", list()?, bounds()?)),
        "prefix" => Some(format!("{{ prefix = {} }}", list()?)),
        "date" => Some(format!("{{ date = {} }}", quoted(fields.get("format")))),
        "system" => Some(quoted(fields.get("system"))),
        "file" => {
            let file = studio.folder.path(fields.get("file"))?;
            if !file.is_file() {
                return Err(Error::yours("there is no such file in the folder."));
            }
            Some(quoted(fields.get("file")))
        }
        _ => None,
    };
    let mut edits = vec![Edit { path: path.iter().map(|key| key.to_string()).collect(), value }];
    // Levels are those of the hierarchy that is replaced.
    edits.push(Edit::remove(&column.path("levels")));
    saved(studio, number, fields, &format!("Hierarchy of `{}`", column.name), &edits)
}

fn saved(studio: &Arc<Studio>, number: usize, fields: &Fields, what: &str, edits: &[Edit]) -> Result<Answer> {
    let address = format!("/hierarchy/{number}");
    match change(studio, fields, &address, "/hierarchies", what, edits)? {
        Answer::See(_) => one(studio, number),
        other => Ok(other),
    }
}

/// A list of numbers as a policy writes it.
fn numbers(text: &str) -> Result<String> {
    let parts = text.split([',', ' ', ';']).filter(|part| !part.is_empty());
    let all: Vec<String> = parts.map(number_text).collect::<Result<_>>()?;
    if all.is_empty() {
        return Err(Error::yours("no number was given. Write numbers with commas between them: 5, 10, 20."));
    }
    Ok(format!("[{}]", all.join(", ")))
}

fn number_text(text: &str) -> Result<String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && text.chars().all(|c| c.is_ascii_digit() || ".-".contains(c)) => {
            Ok(text.into())
        }
        _ => Err(Error::yours("this is not a number. Write it like 12 or 12.5.")),
    }
}

/// Makes a group of values: writes a hierarchy file, with the groups that are there already.
pub(crate) fn group(studio: &Arc<Studio>, number: usize, fields: &Fields) -> Result<Answer> {
    studio.must_write()?;
    let opened = studio.opened()?;
    let column = column_at(&opened, number)?;
    let counted = studio.desk().counted.clone();
    let tables = counted.as_ref().map_or(&[][..], |counted| &counted.tables);
    let known = Known::of(&column, tables);
    let Some((_, counted)) = known.counted else {
        return Err(Error::yours("the values were not counted yet. Count the data on the columns page."));
    };
    let chosen: Vec<usize> = fields.all("value").filter_map(|n| n.parse().ok()).collect();
    let name = fields.get("group");
    if chosen.is_empty() || name.is_empty() || name == "*" {
        return Err(Error::yours("select at least one value, and name the group."));
    }
    if counted.values.iter().any(|(value, _)| value == name) {
        return Err(Error::yours("the name of the group is also a value of the column. Choose another name."));
    }
    let safe: String = column.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let file = format!("{safe}-groups.csv");
    let path = studio.folder.path(&file)?;
    let mut group_of = BTreeMap::new();
    if get(&opened.text, &column.path("hierarchy")) == Some(quoted(&file)) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for line in text.lines() {
            let (cells, _) = kohort_core::table::split_cells(line.as_bytes(), b';');
            if let [value, group, ..] = &cells[..] {
                group_of
                    .insert(String::from_utf8_lossy(value).into_owned(), String::from_utf8_lossy(group).into_owned());
            }
        }
    }
    for value in chosen.iter().filter_map(|&i| counted.values.get(i)) {
        group_of.insert(value.0.clone(), name.to_string());
    }
    let cell = |text: &str| {
        if text.contains([';', '"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
    };
    let mut text = String::new();
    for (value, _) in &counted.values {
        let group = group_of.get(value).map_or(value.as_str(), String::as_str);
        text += &format!("{};{};*\n", cell(value), cell(group));
    }
    studio.folder.write(&path, text.as_bytes())?;
    let edits = [Edit::set(&column.path("hierarchy"), quoted(&file)), Edit::remove(&column.path("levels"))];
    saved(studio, number, fields, &format!("Groups of `{}`", column.name), &edits)
}

/// A form to search codes.
pub(crate) fn codes(_: &Arc<Studio>) -> Result<Answer> {
    Ok(codes_page("", ""))
}

/// Searches the chapters and sections of ICD by word.
pub(crate) fn search(_: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let word = fields.get("word").to_lowercase();
    if word.len() < 2 {
        return Err(Error::yours("write at least two letters of a word, for example \"heart\"."));
    }
    let mut rows = Vec::new();
    for (name, system) in [("ICD-9-CM", CodeSystem::Icd9), ("ICD-10-CM", CodeSystem::Icd10)] {
        for (level, range) in titled(system, &word) {
            let label = format!("<code>{}</code>", escape(&range.label));
            rows.push(vec![escape(range.title), label, level.to_string(), name.to_string()]);
        }
    }
    let found = match rows.is_empty() {
        true => "<p role=\"status\">No chapter or section has this word in its title.</p>\n".to_string(),
        false => cards(&["Title", "Label", "Level", "System"], &rows),
    };
    Ok(codes_page(fields.get("word"), &found))
}

fn codes_page(word: &str, found: &str) -> Answer {
    let body = format!(
        "<p class=\"lead\">Find the label under which a diagnosis is released when codes become coarser.</p>\n\
         <form method=\"post\" action=\"/codes\">{}<button>Search</button></form>\n{found}\
         <p><a href=\"/hierarchies\">Back to the hierarchies</a></p>\n",
        input("word", "word", "Word in a title", word, "required")
    );
    Answer::Page(Page { step: Step::Hierarchies, heading: "Search diagnosis codes", body, command: None })
}
