//! Explore: methods and settings are tried in the background and drawn as loss against risk. Choose one.

use super::change;
use super::columns::columns_of;
use super::release::facts;
use crate::answer::{Answer, Fields};
use crate::closer;
use crate::count::Stamp;
use crate::folder::keep_to_owner;
use crate::job::Job;
use crate::page::{Page, Step, button, hidden, input, percent, shell, thousands};
use crate::policy_text::get;
use crate::results::{Closer, Tried};
use crate::studio::{Edit, Opened, Studio};
use kohort::compare::{EarlySetting, ReadSetting, Vary, compare_watched, read as read_comparison};
use kohort::methods::{DataShape, Register};
use kohort::report::parts::{Point, Scatter, cards, changed, escape};
use kohort::{Policy, Run};
use kohort_core::policy::Section;
use kohort_core::table::read_text;
use kohort_core::{Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The title of the picture.
const PICTURE: &str = "Each setting by its number in the table: to the left is safer, further down keeps more detail. Full dots are on \
                       the frontier; the ring marks its bend";

/// Shows the settings that were tried, and what can be tried.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let mut body = String::from(
        "<p class=\"lead\">More protection costs more detail. Try several settings at once and see what each would cost. \
         Nothing is released here.</p>\n",
    );
    let tried = tried(studio, &opened);
    if !tried.is_empty() {
        if is_stale(&tried, &opened) {
            body += "<p class=\"warning\" role=\"status\">The table, the columns or the hierarchies were changed after these settings were tried. \
                     Try them again.</p>\n";
        }
        body += &picture(&tried, &opened);
    }
    body += &form(&opened)?;
    let options = if tried.is_empty() { vec!["k=3,5,10".to_string()] } else { varied(&tried) };
    let options: String = options.iter().map(|vary| format!(" --vary {vary}")).collect();
    let command = Some(format!("kohort compare {}{options}", shell(&opened.name)));
    Ok(Answer::Page(Page { step: Step::Explore, heading: "Explore", body, command }))
}

/// The folder of the comparison of a policy, by its name.
fn folder_name(opened: &Opened) -> String {
    format!("{}-compare", opened.stem())
}

/// The settings that were tried for the open policy. They are on disk, so that a restart does not lose them.
fn tried(studio: &Studio, opened: &Opened) -> Vec<ReadSetting> {
    let folder = studio.folder.path(&folder_name(opened)).ok().filter(|folder| folder.is_dir());
    folder.and_then(|folder| read_comparison(&folder).ok()).unwrap_or_default()
}

/// Returns whether the columns of the policy are others than those that were tried, or a table was written since then.
fn is_stale(tried: &[ReadSetting], opened: &Opened) -> bool {
    let columns = |section: Section| section.section("columns").ok().flatten().map(|own| own.to_toml());
    let Some(path) = tried.iter().find_map(|own| own.policy.as_ref()) else { return false };
    if opened.tables().iter().any(|table| table.is_newer_than(&Stamp::of(path))) {
        return true;
    }
    let then = read_text(path, 16 << 20).ok();
    let then = then.and_then(|text| Section::parse("the setting", &text).ok()).and_then(columns);
    then != opened.section().ok().and_then(columns)
}

/// The options of the command that tries them again, from the names of the settings.
fn varied(tried: &[ReadSetting]) -> Vec<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, value) in tried.iter().flat_map(|own| own.name.split(' ')).filter_map(|pair| pair.split_once('=')) {
        match all.iter_mut().find(|(own, _)| *own == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => all.push((key, vec![value])),
        }
    }
    all.iter().map(|(key, values)| format!("{key}={}", values.join(","))).collect()
}

/// The name of a setting in words: "k = 5, local, at most 1 % of records removed".
fn in_words(name: &str) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some(("method", method)) => method.to_string(),
        Some(("max_suppressed", share)) => match share.parse::<f64>() {
            Ok(0.0) => "no record removed".into(),
            Ok(share) => format!("at most {} of records removed", percent(share).replace(".0 %", " %")),
            Err(_) => format!("max_suppressed = {share}"),
        },
        Some(("max_high_risk", share)) => match share.parse::<f64>() {
            Ok(share) => format!("at most {} of patients at risk", percent(share).replace(".0 %", " %")),
            Err(_) => format!("max_high_risk = {share}"),
        },
        Some((key, value)) => format!("{key} = {value}"),
        None => pair.to_string(),
    };
    let words: Vec<String> = name.split(' ').filter(|part| !part.is_empty()).map(pair).collect();
    if words.is_empty() { "as the policy is".into() } else { words.join(", ") }
}

fn shape(opened: &Opened) -> Result<DataShape> {
    let columns = columns_of(opened)?;
    Ok(if columns.iter().any(|c| c.group.is_some()) {
        DataShape::Events
    } else if columns.iter().any(|c| c.role == "codes") {
        DataShape::Codes
    } else {
        DataShape::Table
    })
}

/// The number of methods that are tried unless the custodian chooses others: the first ones of the manual.
const USUAL: usize = 2;

fn form(opened: &Opened) -> Result<String> {
    let register = Register::built_in();
    let now = get(&opened.text, &["method", "name"]).unwrap_or_default();
    let (mut usual, mut others) = (String::new(), String::new());
    let shape = shape(opened)?;
    for (place, entry) in register.for_shape(shape).enumerate() {
        let is_usual = now.trim_matches('"') == entry.name || place < USUAL;
        let mark = if is_usual { " checked" } else { "" };
        let list = if is_usual { &mut usual } else { &mut others };
        *list += &format!(
            "<li><input type=\"checkbox\" name=\"method\" id=\"method-{0}\" value=\"{0}\"{mark}><label for=\"method-{0}\"><code>{0}</code> \
             <span class=\"soft\">{1}</span></label></li>\n",
            entry.name,
            escape(entry.summary)
        );
    }
    let others = match others.is_empty() {
        true => String::new(),
        false => {
            format!("<details><summary>Other methods, for experts</summary><ul class=\"files\">{others}</ul></details>")
        }
    };
    let removes = register.for_shape(shape).any(|entry| entry.params.iter().any(|param| param.key == "max_suppressed"));
    let suppressed = match removes {
        true => input(
            "suppressed",
            "vary-suppressed",
            "Share of records that may be removed: 0.01 is 1 in 100. Empty keeps the policy's",
            // Few patients are removed from histories; what counts there is how many may be at risk.
            if shape == DataShape::Events { "" } else { "0, 0.01, 0.05" },
            "",
        ),
        false => String::new(),
    };
    let at_risk = match shape {
        DataShape::Events => input(
            "high-risk",
            "vary-high-risk",
            "Share of patients who may have fewer than k matches: 0.1 is 1 in 10. Empty keeps the policy's",
            "0.05, 0.1, 0.2",
            "",
        ),
        _ => String::new(),
    };
    Ok(format!(
        "<section><h2>Try settings</h2>\n<form method=\"post\" action=\"/explore\" class=\"stacked\">{}{at_risk}{suppressed}\
         <fieldset><legend>Methods: ways to change the data</legend><ul class=\"files\">{usual}</ul>{others}</fieldset>\
         <button class=\"main\">Try them</button></form></section>\n",
        input("k", "vary-k", "Values of k: at least this many people look the same", "3, 5, 10, 20", "required"),
    ))
}

/// Tries settings in the background.
pub(crate) fn compare(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let values = |name: &str| -> Vec<String> {
        fields.get(name).split([',', ' ', ';']).filter(|v| !v.is_empty()).map(str::to_string).collect()
    };
    let mut vary = Vec::new();
    let mut add = |key: &str, values: Vec<String>| {
        if !values.is_empty() {
            vary.push(Vary { key: key.into(), values });
        }
    };
    add("k", values("k"));
    add("method", fields.all("method").map(str::to_string).collect());
    add("max_high_risk", values("high-risk"));
    add("max_suppressed", values("suppressed"));
    if vary.is_empty() {
        return Err(Error::yours("nothing was chosen to be tried. Give at least values of k."));
    }
    studio.start("Trying settings", "/explore", move |studio, job| {
        let opened = studio.opened()?;
        let mut options = studio.options(job);
        options.force = true;
        let found = Mutex::new(Vec::new());
        let watch = |early: EarlySetting| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(early);
            show_early(job, &found);
        };
        let folder = studio.folder.path(&folder_name(&opened))?;
        compare_watched(&opened.path, &vary, &folder, &options, &watch)?;
        keep_to_owner(&folder)?;
        studio.desk().tried = None;
        Ok("/explore")
    })?;
    Ok(Answer::See("/job"))
}

/// Draws the settings that are measured already.
fn show_early(job: &Job, found: &[EarlySetting]) {
    let of = found.first().map_or(0, |early| early.of);
    let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
    let all: Vec<(f64, f64)> = found.iter().filter_map(|early| early.risk_and_loss).collect();
    let point = |early: &EarlySetting| {
        let at = early.risk_and_loss?;
        let on_frontier = !all.iter().any(|&other| beats(other, at));
        Some(Point { name: (early.place + 1).to_string(), at, on_frontier, ringed: false, link: None })
    };
    let points: Vec<Point> = found.iter().filter_map(point).collect();
    let picture = Scatter { id: "early", title: PICTURE, axes: ["Highest risk", "Detail lost"], points };
    job.show(format!(
        "<section class=\"wide\"><h2>{} of {of} settings so far</h2>\n{}</section>\n",
        found.len(),
        picture.draw()
    ));
}

fn picture(tried: &[ReadSetting], opened: &Opened) -> String {
    let point = |(place, t): (usize, &ReadSetting)| {
        let numbers = t.outcome.as_ref().ok()?;
        let name = (place + 1).to_string();
        let link = t.policy.as_ref().map(|_| format!("#setting-{place}"));
        Some(Point { name, at: (numbers.risk?, numbers.loss?), on_frontier: t.on_frontier, ringed: t.is_knee, link })
    };
    let scatter = Scatter {
        id: "frontier",
        title: PICTURE,
        axes: ["Highest risk", "Detail lost"],
        points: tried.iter().enumerate().filter_map(point).collect(),
    };
    let revision = opened.revision();
    let row = |(place, t): (usize, &ReadSetting)| {
        let name = format!("<span id=\"setting-{place}\">{}. {}</span>", place + 1, escape(&in_words(&t.name)));
        let number = |x: Option<f64>| x.map_or("–".into(), percent);
        match &t.outcome {
            Err(reason) => {
                vec![name, "–".into(), "–".into(), "–".into(), "–".into(), escape(&crate::answer::capital(reason))]
            }
            Ok(own) => {
                let mark = match (t.is_knee, t.on_frontier) {
                    (true, _) => "yes: the bend",
                    (_, true) => "yes",
                    _ => "no",
                };
                let buttons = match t.policy {
                    None => "for comparison only".to_string(),
                    Some(_) => format!(
                        "<form method=\"post\" action=\"/setting\" class=\"inline\" id=\"look-{place}\">{}<button class=\"quiet\">Look closer<span \
                         class=\"hidden\"> at setting {1}</span></button></form>{2}",
                        hidden("place", &place.to_string()),
                        place + 1,
                        button(
                            "/choose",
                            &format!("Choose<span class=\"hidden\"> setting {}</span>", place + 1),
                            &[("place", &place.to_string()), ("revision", &revision)],
                        )
                    ),
                };
                let removed = own.removed.map_or("–".into(), thousands);
                vec![name, number(own.risk), number(own.loss), removed, mark.into(), buttons]
            }
        }
    };
    let rows: Vec<Vec<String>> = tried.iter().enumerate().map(row).collect();
    let bend = tried.iter().position(|t| t.is_knee).map_or(String::new(), |place| {
        format!(
            " Setting {} is at the bend of the frontier: below its risk, the loss grows quickly. It is a suggestion; the decision is yours.",
            place + 1
        )
    });
    format!(
        "<section class=\"wide\"><h2>What each setting would cost</h2>\n<p>The highest risk is the chance that somebody who looks for a person \
         finds them. Settings on the frontier are worth a look: no other one both risks less and loses less.{bend} Click a dot to look \
         closer.</p>\n{}{}</section>\n",
        scatter.draw(),
        cards(&["Setting", "Highest risk", "Detail lost", "Records removed", "On the frontier", "Choose"], &rows)
    )
}

/// The setting at a place, with its policy.
fn at(studio: &Studio, place: Option<usize>) -> Result<(usize, String, PathBuf)> {
    let tried = tried(studio, &studio.opened()?);
    if tried.is_empty() {
        return Err(Error::yours("no settings were tried yet. Try some on the page Explore."));
    }
    let found = place.and_then(|place| Some((place, tried.get(place)?)));
    let Some((place, setting, path)) = found.and_then(|(place, t)| Some((place, t, t.policy.clone()?))) else {
        return Err(Error::yours("there is no such setting."));
    };
    studio.folder.is_inside(&path)?;
    Ok((place, in_words(&setting.name), path))
}

/// Makes a setting the policy: its keys of `[privacy]` and `[method]`.
pub(crate) fn choose(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let (_, name, path) = at(studio, fields.number("place"))?;
    let text = read_text(&path, 16 << 20)?;
    let (chosen, opened) = (Section::parse("the setting", &text)?, studio.opened()?);
    let now = opened.section()?;
    let mut edits = Vec::new();
    for part in ["privacy", "method"] {
        let (from, to) = (now.section(part)?, chosen.section(part)?);
        for (key, _) in from.iter().flat_map(|own| &own.entries) {
            if to.as_ref().is_none_or(|to| to.get(key).is_none()) {
                edits.push(Edit::remove(&[part, key]));
            }
        }
        for (key, _) in to.iter().flat_map(|own| &own.entries) {
            if let Some(value) =
                get(&text, &[part, key]).filter(|value| get(&opened.text, &[part, key]).as_ref() != Some(value))
            {
                edits.push(Edit::set(&[part, key], value));
            }
        }
    }
    change(studio, fields, "/choose", "/release", &format!("Chose {name}"), &edits)
}

/// Looks closer at a setting, in the background: it is released in memory, and nothing is stored.
pub(crate) fn look(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let (place, _, path) = at(studio, fields.number("place"))?;
    let text = read_text(&path, 16 << 20)?;
    let tables = studio.opened()?.tables();
    let is_shown = |tried: &Arc<Tried>| tried.place == place && tried.policy == text && tried.tables == tables;
    if studio.desk().tried.as_ref().is_some_and(is_shown) {
        return Ok(Answer::See("/setting"));
    }
    studio.start("Looking closer", "/explore", move |studio, job| {
        let policy = Policy::read(&path)?;
        let progress: Arc<dyn kohort::Progress> = job.clone();
        let run = Run::new().threads(studio.threads).progress(progress).keep_rows().scratch(studio.folder.own()?);
        let release = run.anonymize(policy.data()?, &policy)?;
        let counted = studio.desk().counted.clone();
        let closer = closer::look(&path, &release, counted.as_ref(), studio.threads)?;
        let (facts, changed) = (facts(release.metrics()), changed(release.metrics()));
        let report = release.report_html()?.to_string();
        studio.desk().tried = Some(Arc::new(Tried { policy: text, tables, place, facts, changed, report, closer }));
        Ok("/setting")
    })?;
    Ok(Answer::See("/job"))
}

/// Shows the setting that was looked at closely.
pub(crate) fn setting(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let tried_closely = studio.desk().tried.clone();
    let Some(closely) = tried_closely else { return Ok(Answer::See("/explore")) };
    let name = tried(studio, &opened).get(closely.place).map_or(String::new(), |t| in_words(&t.name));
    let mut body = format!(
        "<p class=\"lead\">Setting {}: {}.</p>\n<p>It was tried in memory. Nothing of it is stored, and nothing was released.</p>\n{}\
         <div class=\"actions\">{}<a class=\"go\" href=\"/setting/report\" target=\"_blank\" rel=\"noopener\">Open the whole report</a> \
         <a class=\"go\" href=\"/explore\">Back to all settings</a></div>\n",
        closely.place + 1,
        escape(&name),
        closely.facts,
        button(
            "/choose",
            "Choose this setting",
            &[("place", &closely.place.to_string()), ("revision", &opened.revision())],
        )
    );
    if let Some(closer) = &closely.closer {
        body += &suppressed(closer);
        body += &examples(closer);
    }
    body += &closely.changed;
    Ok(Answer::Page(Page { step: Step::Explore, heading: "A setting", body, command: None }))
}

/// Shows who is suppressed.
fn suppressed(closer: &Closer) -> String {
    let share = |n: u64| percent(n as f64 / closer.records.max(1) as f64);
    let mut html = format!(
        "<section><h2>Who is suppressed</h2>\n<p>Of {} records, {} ({}) would be removed, and {} ({}) would have at least one cell that shows \
         only <code>*</code>. Columns that are suppressed for everybody are not counted.</p>\n",
        thousands(closer.records),
        thousands(closer.removed),
        share(closer.removed),
        thousands(closer.blanked),
        share(closer.blanked)
    );
    if !closer.affected.is_empty() {
        let row = |own: &crate::results::AffectedGroup| {
            vec![
                format!("<code>{}</code>: {}", escape(&own.column), escape(&own.label)),
                percent(own.of_all),
                percent(own.of_suppressed),
            ]
        };
        let rows: Vec<Vec<String>> = closer.affected.iter().map(row).collect();
        html += &format!(
            "<p>These groups are hit harder than others. A study about them would notice.</p>\n{}",
            cards(&["Group", "Share of all records", "Share of the suppressed"], &rows)
        );
    }
    html + "</section>\n"
}

/// Shows records side by side.
fn examples(closer: &Closer) -> String {
    if closer.rows.is_empty() {
        return String::new();
    }
    let headings: String = closer.names.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    let mut rows = String::new();
    for (number, (before, after)) in (1..).zip(&closer.rows) {
        let cells = |own: &[String], other: &[String], mark: bool| -> String {
            let cell = |(a, b): (&String, &String)| match mark && a != b {
                true => format!("<td><strong>{}</strong></td>", escape(a)),
                false => format!("<td>{}</td>", escape(a)),
            };
            own.iter().zip(other).map(cell).collect()
        };
        rows += &format!(
            "<tr><th scope=\"row\">{number}, original</th>{}</tr>\n<tr class=\"after\"><th scope=\"row\">{number}, released</th>{}</tr>\n",
            cells(before, after, false),
            cells(after, before, true)
        );
    }
    format!(
        "<section><h2>Example records</h2>\n<details class=\"values\"><summary>Show some records, original and released (values of the \
         data)</summary>\n<p>They are on this page only, and never stored. What changed is bold.</p>\n<div class=\"scroll\" role=\"region\" \
         aria-label=\"Example records\" tabindex=\"0\"><table class=\"pairs\"><thead><tr><th scope=\"col\">Record</th>{headings}</tr></thead>\
         <tbody>{rows}</tbody></table></div></details></section>\n"
    )
}

/// The report of the setting that was looked at closely.
pub(crate) fn report(studio: &Arc<Studio>) -> Result<Answer> {
    let tried = studio.desk().tried.clone();
    let Some(tried) = tried else { return Ok(Answer::See("/explore")) };
    Ok(Answer::Report(tried.report.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_named_in_words_and_its_command_found_again() {
        assert_eq!(in_words("k=5 method=local max_suppressed=0.01"), "k = 5, local, at most 1 % of records removed");
        assert_eq!(in_words("k=5 max_suppressed=0"), "k = 5, no record removed");
        assert_eq!(in_words("k=5 max_high_risk=0.1"), "k = 5, at most 10 % of patients at risk");
        assert_eq!(in_words(""), "as the policy is");
        let named = |name: &str| ReadSetting {
            name: name.into(),
            policy: None,
            outcome: Err(String::new()),
            on_frontier: false,
            is_knee: false,
        };
        let tried = ["k=3 method=local", "k=5 method=local", "k=3 method=suppress"].map(named);
        assert_eq!(varied(&tried), ["k=3,5", "method=local,suppress"]);
    }
}
