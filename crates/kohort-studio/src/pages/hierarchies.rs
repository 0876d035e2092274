//! Hierarchies: the levels of each column, how many people each leaves alone, and ways to change them.

use super::change;
use super::columns::{Known, PolicyColumn, columns_of};
use super::risk;
use crate::answer::{Answer, Fields};
use crate::count::{CountedColumn, Histogram};
use crate::folder::FileKind;
use crate::page::{Page, Step, button, hidden, input, select, shell, thousands};
use crate::policy_text::{get, quoted};
use crate::results::{Ladder, RiskFound, Rung};
use crate::studio::{Edit, Opened, Studio};
use kohort::applied_hierarchy::{AppliedHierarchy, Branch, applied, quoted as cell};
use kohort::pipeline::survey;
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
        "<p class=\"lead\">A hierarchy says how a value becomes coarser: the age 47 becomes 45 to 49, then 40 to 59. Kohort keeps \
         every value as fine as the protection of everybody allows.</p>\n",
    );
    body += &counts_or_button(&found);
    let quasi: Vec<(usize, &PolicyColumn)> = columns.iter().enumerate().filter(|(_, c)| c.role == "quasi").collect();
    if quasi.is_empty() {
        body += "<p>No column is one that others may know, so there is nothing to make coarser.</p>\n";
    }
    for (number, column) in quasi {
        let name = escape(&column.shown());
        let ladder = found.as_ref().and_then(|f| Some((f.unit, ladder(f, column)?)));
        body += &format!(
            "<section class=\"hierarchy\"><h2><code>{name}</code></h2>\n<p>{}</p>\n{}<p><a href=\"/hierarchy/{number}\">Change \
             how <code>{name}</code> becomes coarser</a></p></section>\n",
            kind(&opened, column),
            ladder.map_or(String::new(), |(unit, own)| picture(number, own) + &levels(column, own, unit))
        );
    }
    body += "<p class=\"actions\"><a class=\"go next\" href=\"/risk\">Next: risk</a> <a class=\"go\" href=\"/codes\">Search diagnosis \
             codes by word</a></p>\n";
    let command = Some(format!("kohort hierarchy {}", shell(&opened.name)));
    Ok(Answer::Page(Page { step: Step::Hierarchies, heading: "Hierarchies", body, command }))
}

/// The hierarchy of a column in words.
fn kind(opened: &Opened, column: &PolicyColumn) -> String {
    let Some(written) = get(&opened.text, &column.path("hierarchy")) else {
        return "No hierarchy: a cell shows the value or <code>*</code>.".into();
    };
    let section = column.section.section("hierarchy").ok().flatten();
    let has = |key: &str| section.as_ref().is_some_and(|own| own.get(key).is_some());
    let words = if has("intervals") {
        "Intervals of equal width."
    } else if has("cuts") {
        "Intervals between cut points."
    } else if has("prefix") {
        "The first characters are kept."
    } else if has("date") {
        "Dates become months, quarters and years."
    } else {
        match SYSTEMS.iter().find(|(system, _)| written.trim_matches('"') == *system) {
            Some((_, name)) => return format!("{name}."),
            None => "Groups of values, from a file.",
        }
    };
    format!("{words} <span class=\"soft\">In the policy: <code>{}</code></span>", escape(&written))
}

/// The code systems that a policy can name.
const SYSTEMS: [(&str, &str); 10] = [
    ("icd10", "ICD-10-CM diagnoses: code, category, block, chapter"),
    ("icd9", "ICD-9-CM diagnoses: code, category, section, chapter"),
    ("icd10-procedure", "ICD-10-PCS procedures"),
    ("icd9-procedure", "ICD-9-CM procedures"),
    ("pcg", "Primary condition groups, from ICD-9-CM"),
    ("pcg-icd10", "Primary condition groups, from ICD-10-CM"),
    ("cpt", "CPT procedure groups"),
    ("place", "Place of service"),
    ("specialty", "Specialty of the provider"),
    ("los", "Length of stay in groups"),
];

fn counts_or_button(found: &Option<Arc<RiskFound>>) -> String {
    match found {
        Some(_) => String::new(),
        None => format!(
            "<p class=\"note\">The levels have not been counted for the policy as it is now.</p>\n{}",
            button("/risk", "Count the levels", &[("back", "hierarchies")])
        ),
    }
}

fn ladder<'a>(found: &'a RiskFound, column: &PolicyColumn) -> Option<&'a Ladder> {
    let named = |ladder: &&Ladder| ladder.column == column.name;
    let exact = found.ladders.iter().find(|own| named(own) && own.group == column.group);
    exact.or_else(|| found.ladders.iter().find(named))
}

/// A table of levels: labels, and people who are alone.
fn levels(column: &PolicyColumn, ladder: &Ladder, unit: &str) -> String {
    let row = |(number, rung): (usize, &Rung)| {
        vec![
            format!("{number}: {}", level_name(column, number, rung)),
            thousands(rung.labels),
            thousands(rung.alone),
            if rung.permitted { "yes".into() } else { "no".into() },
        ]
    };
    let rows: Vec<Vec<String>> = ladder.levels.iter().enumerate().map(row).collect();
    let alone = format!("{} alone with their label", crate::answer::capital(unit));
    cards(&["Level", "Labels", &alone, "May be used"], &rows)
}

/// The name of a level in words, as HTML.
fn level_name(column: &PolicyColumn, number: usize, rung: &Rung) -> String {
    let section = column.section.section("hierarchy").ok().flatten();
    let has = |key: &str| section.as_ref().is_some_and(|own| own.get(key).is_some());
    let name = escape(&rung.name);
    match rung.name.as_str() {
        _ if number == 0 => "the value as it is".into(),
        "*" => "<code>*</code> (suppressed)".into(),
        _ if has("intervals") => format!("intervals of {name}"),
        "1" if has("prefix") => "the first character".into(),
        _ if has("prefix") => format!("the first {name} characters"),
        _ => format!("<code>{name}</code>"),
    }
}

/// The levels as a picture: a strip for each level, a box for each label, as wide as the share of people who have it.
fn picture(number: usize, ladder: &Ladder) -> String {
    fn draw(all: &[Branch], from: f64, scale: f64, level: usize, drawn: &mut String) {
        let mut x = from;
        for branch in all {
            let wide = branch.people as f64 * scale;
            if wide > 0.3 {
                *drawn += &format!(
                    "<rect class=\"{}\" x=\"{x:.1}\" y=\"{}\" width=\"{:.1}\" height=\"17\"/>",
                    if branch.people == 1 { "alone" } else { "box" },
                    level * 20 + 1,
                    (wide - 0.6).max(0.3)
                );
            }
            draw(&branch.below, x, scale, level + 1, drawn);
            x += wide;
        }
    }
    // A person with several rows has several labels, so that the labels of a level may have more people than there are.
    let mut people = 1;
    let (mut levels, mut level) = (0, ladder.tree.iter().collect::<Vec<&Branch>>());
    while !level.is_empty() {
        people = people.max(level.iter().map(|own| own.people).sum());
        levels += 1;
        level = level.into_iter().flat_map(|own| &own.below).collect();
    }
    if levels < 2 {
        return String::new();
    }
    let mut drawn = String::new();
    draw(&ladder.tree, 0.0, 600.0 / people as f64, 0, &mut drawn);
    format!(
        "<svg class=\"chart strips\" viewBox=\"0 0 600 {}\" role=\"img\" aria-labelledby=\"strips-{number}\"><title id=\"strips-{number}\">The \
         levels, the coarsest above: a box for each label, as wide as the share of people who have it</title>{drawn}</svg>\n",
        levels * 20
    )
}

/// The labels as nested lists.
fn tree(all: &[Branch]) -> String {
    let item = |own: &Branch| {
        let name = format!(
            "<code>{}</code> <span class=\"soft\">{}</span>",
            escape(if own.label.is_empty() { "(missing)" } else { &own.label }),
            thousands(own.people)
        );
        match &own.below[..] {
            [] => format!("<li>{name}</li>\n"),
            // A level that only repeats a label is not shown again.
            [only] if only.below.is_empty() && only.label == own.label => format!("<li>{name}</li>\n"),
            below => format!("<li><details open><summary>{name}</summary>{}</details></li>\n", tree(below)),
        }
    };
    let items: String = all.iter().map(item).collect();
    format!("<ul class=\"tree\">{items}</ul>\n")
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
    let name = escape(&column.shown());
    let mut body =
        format!("<p class=\"lead\">How <code>{name}</code> becomes coarser</p>\n<p>{}</p>\n", kind(&opened, &column));
    body += &counts_or_button(&found);
    if let Some((unit, own)) = found.as_ref().and_then(|f| Some((f.unit, ladder(f, &column)?))) {
        body += &picture(number, own);
        body += &levels(&column, own, unit);
        body += &format!(
            "<details class=\"values\"><summary>Show the labels as a tree (values of the data)</summary>\n<p>With the number of {unit} who \
             have each label.{}</p>\n{}</details>\n",
            if own.levels.first().is_some_and(|own| own.labels > 400) {
                " Levels with more than 400 labels are not shown."
            } else {
                ""
            },
            tree(&own.tree)
        );
        body +=
            "<details class=\"values\"><summary>Show the rarest labels of each level (values of the data)</summary>\n";
        for rung in own.levels.iter().skip(1) {
            let rows: Vec<Vec<String>> = rung
                .rarest
                .iter()
                .map(|(label, people)| vec![format!("<code>{}</code>", escape(label)), thousands(*people)])
                .collect();
            body += &format!(
                "<h2>Level: {}</h2>\n{}",
                level_name(&column, 1, rung),
                cards(&["Label", &crate::answer::capital(unit)], &rows)
            );
        }
        body += "</details>\n";
        body += &permitted(&column, own, number, &revision);
    }
    body += "<h2 class=\"ways\">Change it</h2>\n<p>Choose one of these ways. It replaces the hierarchy that the column has now; you can undo it.</p>\n";
    body += &forms(studio, &column, number, known.counted.map(|c| c.1), &written, &revision)?;
    body += "<p class=\"actions\"><a class=\"go\" href=\"/hierarchies\">All hierarchies</a></p>\n";
    let command = Some(format!("kohort hierarchy {} --column {}", shell(&opened.name), shell(&column.name)));
    Ok(Answer::Page(Page { step: Step::Hierarchies, heading: "Hierarchy of a column", body, command }))
}

/// Shows which levels a method may choose.
fn permitted(column: &PolicyColumn, ladder: &Ladder, number: usize, revision: &str) -> String {
    let one = |(i, rung): (usize, &Rung)| {
        let mark = if rung.permitted { " checked" } else { "" };
        format!(
            "<li><input type=\"checkbox\" name=\"level\" id=\"level-{i}\" value=\"{i}\"{mark}><label for=\"level-{i}\">{i}: \
             {}</label></li>\n",
            level_name(column, i, rung)
        )
    };
    let boxes: String = ladder.levels.iter().enumerate().map(one).collect();
    format!(
        "<form method=\"post\" action=\"/hierarchy/{number}\">{revision}{}<fieldset><legend>Levels that may be used</legend><ul class=\"files\">{boxes}</ul></fieldset><button>Save the levels</button></form>\n",
        hidden("kind", "levels")
    )
}

/// One form for each kind of hierarchy that fits the column.
fn forms(
    studio: &Studio,
    column: &PolicyColumn,
    number: usize,
    counted: Option<&CountedColumn>,
    written: &str,
    revision: &str,
) -> Result<String> {
    let section = column.section.section("hierarchy").ok().flatten();
    let has = |key: &str| section.as_ref().is_some_and(|own| own.get(key).is_some());
    let form = |kind: &str, heading: &str, explained: &str, fields: &str, open: bool| {
        format!(
            "<details class=\"way\"{}><summary><h3>{heading}</h3></summary>\n<p>{explained}</p>\n<form method=\"post\" \
             action=\"/hierarchy/{number}\">{revision}{}{fields}<button>Use this</button></form></details>\n",
            if open { " open" } else { "" },
            hidden("kind", kind)
        )
    };
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
    let numeric = counted.is_none_or(|c| c.numeric);
    if numeric {
        html += &form(
            "intervals",
            "Intervals of equal width",
            "Widths from fine to coarse, each a multiple of the one before: 5, 10, 20.",
            &(input("list", "widths", "Widths", &list("intervals"), "inputmode=\"decimal\"") + &bounds("intervals")),
            has("intervals"),
        );
        html += &form(
            "cuts",
            "Cut points of your own",
            "The numbers at which a new interval begins. Drag the points in the picture, move them with the arrow keys, or type the numbers.",
            &(input(
                "list",
                "cuts",
                "Cut points",
                &list("cuts"),
                "inputmode=\"decimal\" data-cuts autocomplete=\"off\"",
            ) + &counted.and_then(|own| own.fine.as_ref()).map_or(String::new(), cutter)
                + &bounds("cuts")),
            has("cuts"),
        );
    }
    html += &groups(number, counted, revision);
    html += &form(
        "prefix",
        "First characters",
        "For codes and postcodes: the numbers of characters that are kept, from fine to coarse: 4, 3, 2.",
        &input("list", "prefix", "Characters kept", &list("prefix"), "inputmode=\"numeric\""),
        has("prefix"),
    );
    let date = section.as_ref().and_then(|s| s.text("date").ok().flatten()).unwrap_or_default();
    html += &form(
        "date",
        "Dates",
        "Day, month, quarter, year and decade. The format is written like %Y-%m-%d.",
        &input("format", "date-format", "Format", date, "autocomplete=\"off\""),
        has("date"),
    );
    let choices: Vec<(&str, String)> = SYSTEMS.iter().map(|(system, name)| (*system, name.to_string())).collect();
    html += &form(
        "system",
        "A code system",
        "Codes become categories, sections and chapters. <a href=\"/codes\">Search diagnosis codes by word</a>",
        &select("system", "system", "Code system", &choices, written.trim_matches('"')),
        SYSTEMS.iter().any(|(system, _)| *system == written.trim_matches('"')),
    );
    let listed = studio.folder.listed()?;
    let files: Vec<(&str, String)> = listed
        .iter()
        .filter(|own| own.kind == FileKind::Table && [".csv", ".txt"].iter().any(|end| own.name.ends_with(end)))
        .map(|own| (own.name.as_str(), own.name.clone()))
        .collect();
    let choice = match files.is_empty() {
        true => "<p>There is no file in the folder yet.</p>\n".to_string(),
        false => select("file", "hierarchy-file", "File in the folder", &files, written.trim_matches('"')),
    };
    html += &form(
        "file",
        "A file",
        "One line for each value: <code>value;parent;…;*</code>.",
        &format!(
            "<div class=\"drop\" data-drop=\"hierarchy\"><label for=\"hierarchy-pick\">Drop a hierarchy file here, or choose one. It is copied \
             into the studio's folder.</label> <input type=\"file\" id=\"hierarchy-pick\" accept=\".csv,.txt\"></div>{choice}"
        ),
        written.ends_with(".csv\"") || written.ends_with(".txt\""),
    );
    html += &form("none", "None", "A cell shows the value or <code>*</code>.", "", false);
    html += &format!(
        "<section><h3>Save it as a file</h3>\n<p>Writes the hierarchy as it is now into the folder, with all values that occur, so that you can \
         edit it in a spreadsheet and use it for other tables.</p>\n<form method=\"post\" action=\"/hierarchy-file/{number}\">\
         <button class=\"quiet\">Save the hierarchy as a file</button></form></section>\n"
    );
    Ok(html)
}

/// A histogram on which cut points are moved. The points are drawn by the script; without it they are typed.
fn cutter(fine: &Histogram) -> String {
    let most = fine.heights.iter().copied().max().unwrap_or(0).max(1) as f64;
    let wide = 600.0 / fine.heights.len().max(1) as f64;
    let bar = |(i, &cells): (usize, &u64)| {
        let high = 100.0 * cells as f64 / most;
        format!(
            "<rect class=\"solid\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\"/>",
            i as f64 * wide,
            112.0 - high,
            (wide - 0.8).max(0.5)
        )
    };
    let bars: String = fine.heights.iter().enumerate().map(bar).collect();
    let heights: Vec<String> = fine.heights.iter().map(u64::to_string).collect();
    format!(
        "<div class=\"cutter\" data-from=\"{}\" data-to=\"{}\" data-heights=\"{}\"><svg class=\"chart\" viewBox=\"0 0 600 136\" role=\"group\" \
         aria-label=\"Histogram with cut points\">{bars}<path class=\"line\" d=\"M0 112.5H600\"/><g class=\"cuts\"></g></svg></div>\n",
        fine.from,
        fine.to(),
        heights.join(",")
    )
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
        "<details class=\"way values\"><summary><h3>Groups of values that you select (shows values of the data)</h3></summary>\n<p>Select values that belong \
         together and name their group. Repeat it for every group. The groups are written to a file in the folder, which the policy names.</p>\n\
         <form method=\"post\" action=\"/group/{number}\">{revision}<fieldset><legend>Values</legend><ul class=\"files tiles\">{boxes}</ul></fieldset>{}\
         <button>Make this group</button></form></details>\n",
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
    // Every change gets a file of its own, so that undoing the policy brings back the groups of before.
    let file = studio.folder.free_name(&format!("{}-groups.csv", safe(&column.name)))?;
    let path = studio.folder.path(&file)?;
    let mut group_of = BTreeMap::new();
    let now = column.section.text("hierarchy").ok().flatten().unwrap_or_default();
    if now.starts_with(&format!("{}-groups", safe(&column.name))) {
        let text = std::fs::read_to_string(studio.folder.path(now)?).unwrap_or_default();
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
    let mut text = String::new();
    for (value, _) in &counted.values {
        let group = group_of.get(value).map_or(value.as_str(), String::as_str);
        text += &format!("{};{};*\n", cell(value), cell(group));
    }
    studio.folder.write(&path, text.as_bytes())?;
    let edits = [Edit::set(&column.path("hierarchy"), quoted(&file)), Edit::remove(&column.path("levels"))];
    saved(studio, number, fields, &format!("Groups of `{}`", column.name), &edits)
}

/// Writes the hierarchy of a column into the folder.
pub(crate) fn save_file(studio: &Arc<Studio>, number: usize, _: &Fields) -> Result<Answer> {
    let column = column_at(&studio.opened()?, number)?;
    studio.start("Saving the hierarchy", "/hierarchies", move |studio, job| {
        let opened = studio.opened()?;
        let surveyed = survey(&opened.path, &studio.options(job))?;
        let all = applied(&surveyed);
        let group = column.group.as_deref().filter(|group| *group != "patients");
        let is_own = |own: &&AppliedHierarchy| own.column == column.name && own.events == group;
        let Some(own) = all.iter().find(is_own) else {
            return Err(Error::yours("the column has no hierarchy: it is not one that others may know."));
        };
        let name = studio.folder.free_name(&format!("{}-hierarchy.csv", safe(&column.name)))?;
        studio.folder.write(&studio.folder.path(&name)?, own.csv().as_bytes())?;
        studio.say(format!("The hierarchy of `{}` is in the file `{name}` in the studio's folder.", column.name));
        Ok("/hierarchies")
    })?;
    Ok(Answer::See("/job"))
}

/// A name of letters and digits.
fn safe(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
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
        for own in titled(system, &word) {
            let label = format!("<code>{}</code>", escape(own.label));
            let inside =
                own.inside.map_or(String::new(), |(label, title)| format!("<code>{label}</code> {}", escape(title)));
            rows.push(vec![escape(own.title), label, own.level.to_string(), inside, name.to_string()]);
        }
    }
    let found = match rows.is_empty() {
        true => {
            "<p role=\"status\">No title has this word. Try a shorter one, for example \"diabet\".</p>\n".to_string()
        }
        false => {
            let found = if rows.len() == 1 { "1 title has".to_string() } else { format!("{} titles have", rows.len()) };
            let more = if rows.len() > 200 { " Only the first 200 are listed." } else { "" };
            rows.truncate(200);
            format!("<p role=\"status\">{found} this word.{more}</p>\n")
                + &cards(&["Title", "Label", "Level", "Part of", "System"], &rows)
        }
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
