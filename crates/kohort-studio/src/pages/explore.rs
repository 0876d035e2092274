//! Explore: methods and settings are tried in the background and drawn as loss against risk. Choose one.

use super::change;
use super::columns::columns_of;
use crate::answer::{Answer, Fields};
use crate::page::{Page, Step, button, input, percent, thousands};
use crate::policy_text::get;
use crate::results::{Compared, Tried};
use crate::studio::{Edit, Opened, Studio};
use kohort::compare::{MeasuredSetting, Vary, compare as try_settings};
use kohort::evidence::Outlook;
use kohort::methods::{DataShape, Register};
use kohort::report::parts::{Point, Scatter, cards, escape};
use kohort::{Policy, Run};
use kohort_core::policy::Section;
use kohort_core::table::{open, read_text};
use kohort_core::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Example rows that are shown side by side.
const EXAMPLES: usize = 12;

/// Shows the settings that were tried, and what can be tried.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let mut body = String::from(
        "<p class=\"lead\">Try several settings and see what each would cost. Nothing is released here.</p>\n",
    );
    let compared = studio.desk().compared.clone();
    if let Some(compared) = &compared {
        body += &picture(compared, &opened);
    }
    body += &form(&opened)?;
    let options = compared.map_or_else(|| vec!["k=3,5,10".to_string()], |compared| compared.vary.clone());
    let options: String = options.iter().map(|vary| format!(" --vary {vary}")).collect();
    let command = Some(format!("kohort compare {}{options}", opened.name));
    Ok(Answer::Page(Page { step: Step::Explore, heading: "Explore", body, command }))
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

fn form(opened: &Opened) -> Result<String> {
    let register = Register::built_in();
    let now = get(&opened.text, &["method", "name"]).unwrap_or_default();
    let mut boxes = String::new();
    for entry in register.for_shape(shape(opened)?) {
        let mark = if now.trim_matches('"') == entry.name { " checked" } else { "" };
        boxes += &format!(
            "<li><input type=\"checkbox\" name=\"method\" id=\"method-{0}\" value=\"{0}\"{mark}><label for=\"method-{0}\"><code>{0}</code> \
             <span class=\"soft\">{1}</span></label></li>\n",
            entry.name,
            escape(entry.summary)
        );
    }
    Ok(format!(
        "<section><h2>Try settings</h2>\n<form method=\"post\" action=\"/explore\" class=\"stacked\">{}{}\
         <fieldset><legend>Methods</legend><ul class=\"files\">{boxes}</ul></fieldset><button class=\"main\">Try them</button></form></section>\n",
        input("k", "vary-k", "Values of k", "3, 5, 10, 20", "required"),
        input(
            "suppressed",
            "vary-suppressed",
            "Share of records that may be removed (leave it empty to keep the policy's)",
            "0, 0.01, 0.05",
            ""
        ),
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
    add("max_suppressed", values("suppressed"));
    if vary.is_empty() {
        return Err(Error::yours("nothing was chosen to be tried. Give at least values of k."));
    }
    studio.start("Trying settings", "/explore", move |studio, job| {
        let opened = studio.opened()?;
        let folder = format!("{}-compare", opened.stem());
        let mut options = studio.options(job);
        options.force = true;
        let made = try_settings(&opened.path, &vary, &studio.folder.path(&folder)?, &options)?;
        let vary = vary.iter().map(|vary| format!("{}={}", vary.key, vary.values.join(","))).collect();
        let mut desk = studio.desk();
        desk.compared = Some(Arc::new(Compared { tried: made.tried, vary, folder }));
        desk.tried = None;
        Ok("/explore")
    })?;
    Ok(Answer::See("/job"))
}

fn picture(compared: &Compared, opened: &Opened) -> String {
    let point = |t: &MeasuredSetting| {
        Some(Point { name: t.name.clone(), at: (t.risk()?, t.loss()?), on_frontier: t.on_frontier, ringed: t.is_knee })
    };
    let scatter = Scatter {
        id: "frontier",
        title: "Loss against the highest risk of each setting; the dashed line joins those that no other beats",
        axes: ["Highest risk", "Loss"],
        points: compared.tried.iter().filter_map(point).collect(),
    };
    let revision = opened.revision();
    let row = |(place, t): (usize, &MeasuredSetting)| {
        let name = format!("<code>{}</code>", escape(&t.name));
        let place = place.to_string();
        match &t.outcome {
            Err(reason) => vec![name, "–".into(), "–".into(), "–".into(), escape(reason)],
            Ok(outlook) => {
                let mark = match (t.is_knee, t.on_frontier) {
                    (true, _) => "yes, where less risk begins to cost much more",
                    (_, true) => "yes",
                    _ => "–",
                };
                let number = |x: Option<f64>| x.map_or("–".into(), percent);
                let buttons = match t.policy {
                    None => "for comparison only".to_string(),
                    Some(_) => {
                        button(
                            "/setting",
                            &format!("Look closer<span class=\"hidden\"> at {}</span>", escape(&t.name)),
                            &[("place", &place)],
                        ) + &button(
                            "/choose",
                            &format!("Choose<span class=\"hidden\"> {}</span>", escape(&t.name)),
                            &[("place", &place), ("revision", &revision)],
                        )
                    }
                };
                let gone = if let Outlook::Table(own) = outlook { own.rows.suppressed.known() } else { None };
                let gone = gone.map_or(String::new(), |n| format!("<small>{} records removed</small>", thousands(n)));
                vec![name, number(t.risk()), number(t.loss()) + &gone, mark.into(), buttons]
            }
        }
    };
    let rows: Vec<Vec<String>> = compared.tried.iter().enumerate().map(row).collect();
    format!(
        "<section><h2>What each setting would cost</h2>\n{}{}</section>\n",
        scatter.draw(),
        cards(&["Setting", "Highest risk", "Loss", "On the frontier", "Choose"], &rows)
    )
}

/// The setting at a place, with its policy.
fn at(studio: &Studio, place: Option<usize>) -> Result<(usize, String, std::path::PathBuf)> {
    let Some(compared) = studio.desk().compared.clone() else {
        return Err(Error::yours("no settings were tried yet, or the studio was started again. Try them again."));
    };
    let found = place.and_then(|place| Some((place, compared.tried.get(place)?)));
    let policy = found.and_then(|(place, t)| Some((place, t, t.policy.as_ref()?.file_name()?)));
    let Some((place, tried, file)) = policy else { return Err(Error::yours("there is no such setting.")) };
    let path = studio.folder.path(&compared.folder)?.join("policies").join(file);
    studio.folder.is_inside(&path)?;
    Ok((place, tried.name.clone(), path))
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
    studio.start("Looking closer", "/explore", move |studio, job| {
        let policy = Policy::read(&path)?;
        let progress: Arc<dyn kohort::Progress> = job.clone();
        let run = Run::new().threads(studio.threads).progress(progress).keep_rows().scratch(studio.folder.own()?);
        let release = run.anonymize(policy.data()?, &policy)?;
        let (names, rows) = examples(studio, &path, &release)?;
        let report = release.report_html()?.to_string();
        studio.desk().tried = Some(Arc::new(Tried { place, report, names, rows }));
        Ok("/setting")
    })?;
    Ok(Answer::See("/job"))
}

/// Names of columns, and rows as they are and as they would be released.
type Examples = (Vec<String>, Vec<(Vec<String>, Vec<String>)>);

/// Some rows side by side. Only tables have them.
fn examples(studio: &Studio, policy: &std::path::Path, release: &kohort::Release) -> Result<Examples> {
    let (Ok(released), Some(lines)) = (release.columns(), release.file("private/rows")) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let lines: Vec<u64> = String::from_utf8_lossy(lines).lines().filter_map(|line| line.parse().ok()).collect();
    let rows = released.rows().min(lines.len());
    let step = (rows / EXAMPLES).max(1);
    let places: Vec<usize> = (0..rows).step_by(step).filter(|&row| lines[row] > 0).take(EXAMPLES).collect();
    let wanted: HashMap<u64, usize> = places.iter().map(|&row| (lines[row], row)).collect();
    let file = kohort_core::policy::read(policy)?;
    let source = open(&file.input)?.with_threads(studio.threads);
    let names: Vec<String> = released.names().to_vec();
    let columns: Vec<Option<usize>> =
        names.iter().map(|name| source.columns().iter().position(|c| c == name)).collect();
    let mut originals: HashMap<usize, Vec<String>> = HashMap::new();
    source.scan(
        |_| (),
        |(), chunk| {
            let hits = (0..chunk.rows()).filter_map(|row| Some((*wanted.get(&chunk.line(row))?, row)));
            let text = |row: usize, c: Option<usize>| {
                c.map_or(String::new(), |c| String::from_utf8_lossy(chunk.cell(row, c)).into_owned())
            };
            Ok(hits
                .map(|(place, row)| (place, columns.iter().map(|&c| text(row, c)).collect::<Vec<_>>()))
                .collect::<Vec<_>>())
        },
        |found| {
            originals.extend(found);
            Ok(())
        },
    )?;
    let pairs = places.iter().filter_map(|&row| {
        let after = released.columns().map(|(_, column)| column.get(row).unwrap_or_default().to_string()).collect();
        Some((originals.remove(&row)?, after))
    });
    Ok((names.clone(), pairs.collect()))
}

/// Shows the setting that was looked at closely.
pub(crate) fn setting(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let (tried, compared) = {
        let desk = studio.desk();
        (desk.tried.clone(), desk.compared.clone())
    };
    let (Some(tried), Some(compared)) = (tried, compared) else { return Ok(Answer::See("/explore")) };
    let name = compared.tried.get(tried.place).map_or(String::new(), |t| t.name.clone());
    let mut body = format!(
        "<p class=\"lead\"><code>{}</code></p>\n<p>It was tried in memory; nothing of it is stored.</p>\n\
         <p><a class=\"go\" href=\"/setting/report\" target=\"_blank\" rel=\"noopener\">Its report, with distributions before and after</a></p>\n",
        escape(&name)
    );
    body += &button(
        "/choose",
        "Choose this setting",
        &[("place", &tried.place.to_string()), ("revision", &opened.revision())],
    );
    if !tried.rows.is_empty() {
        body += "<section><h2>Example records</h2>\n<details class=\"values\"><summary>Show original and released records side by side (values of \
                 the data)</summary>\n<p>Only on this page, and never stored.</p>\n";
        for (number, (before, after)) in (1..).zip(&tried.rows) {
            let row = |c: usize| {
                let changed = before[c] != after[c];
                let released =
                    if changed { format!("<strong>{}</strong>", escape(&after[c])) } else { escape(&after[c]) };
                vec![format!("<code>{}</code>", escape(&tried.names[c])), escape(&before[c]), released]
            };
            let rows: Vec<Vec<String>> = (0..tried.names.len().min(before.len()).min(after.len())).map(row).collect();
            body += &format!("<h3>Record {number}</h3>\n{}", cards(&["Column", "Original", "Released"], &rows));
        }
        body += "</details></section>\n";
    }
    body += "<p><a href=\"/explore\">Back to all settings</a></p>\n";
    Ok(Answer::Page(Page { step: Step::Explore, heading: "A setting", body, command: None }))
}

/// The report of the setting that was looked at closely.
pub(crate) fn report(studio: &Arc<Studio>) -> Result<Answer> {
    let tried = studio.desk().tried.clone();
    let Some(tried) = tried else { return Ok(Answer::See("/explore")) };
    Ok(Answer::Report(tried.report.clone()))
}
