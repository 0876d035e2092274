//! Risk first: how many people are unique, on which columns, and what the custodian asks for.

use super::columns::columns_of;
use super::more_requirements;
use super::{change, in_page_words};
use crate::answer::{Answer, Fields};
use crate::job::Job;
use crate::page::{Page, Step, hidden, input, percent, radios, select, sentences, shell, thousands};
use crate::policy_text::{get, quoted};
use crate::results::{Ladder, RiskFound, RiskShape, Rung};
use crate::studio::{Edit, Opened, Studio};
use kohort::applied_hierarchy::{AppliedHierarchy, applied};
use kohort::evidence::worst_sets;
use kohort::methods::claims::sensitivity;
use kohort::methods::{DataShape, Register};
use kohort::original_risk::{OriginalRisk, assess as assess_table};
use kohort::pipeline::{AnySurvey, survey};
use kohort::report::parts::{cards, escape};
use kohort_core::number::number_of;
use kohort_core::policy::PRESETS;
use kohort_core::release::EventsPlan;
use kohort_core::risk::codes_known;
use kohort_core::{Error, Result};
use std::sync::Arc;

/// The most labels of a level that a tree shows.
const MOST_IN_TREE: usize = 400;
/// The most labels of a level that are listed.
const MOST_LISTED: usize = 50;

/// The risk that was found for the policy as it is now; nothing if it was found for another text.
pub(crate) fn current(studio: &Studio, opened: &Opened) -> Option<Arc<RiskFound>> {
    let desk = studio.desk();
    desk.risk.as_ref().filter(|(text, _)| *text == counted_text(opened)).map(|(_, found)| Arc::clone(found))
}

/// All that the risk of the data depends on: a part of the policy, and the tables as they are.
fn counted_text(opened: &Opened) -> String {
    let part = |key: &str| opened.section().ok()?.section(key).ok().flatten().map(|own| own.to_toml());
    let (input, columns) = (part("input").unwrap_or_default(), part("columns").unwrap_or_default());
    let exclude = opened.section().ok().and_then(|own| own.get("exclude").cloned());
    let knows = get(&opened.text, &["privacy", "knows"]);
    format!("{}{input}{columns}{exclude:?}{knows:?}{:?}", opened.name, opened.tables())
}

/// Measures the risk in the background.
pub(crate) fn assess(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let next = if fields.get("back") == "hierarchies" { "/hierarchies" } else { "/risk" };
    studio.start("Measuring the risk", "/columns", move |studio, job| {
        let opened = studio.opened()?;
        let found = Arc::new(find(studio, job, &opened)?);
        studio.desk().risk = Some((counted_text(&opened), found));
        Ok(next)
    })?;
    Ok(Answer::See("/job"))
}

fn find(studio: &Studio, job: &Arc<Job>, opened: &Opened) -> Result<RiskFound> {
    let options = studio.options(job);
    let surveyed = survey(&opened.path, &options)?;
    job_stage(job, "counting the levels of each column");
    let is_events = matches!(surveyed, AnySurvey::Events(_));
    let group = |own: &AppliedHierarchy| match own.events {
        None if is_events => Some("patients".to_string()),
        events => events.map(str::to_string),
    };
    let ladder = |own: &AppliedHierarchy| Ladder {
        group: group(own),
        column: own.column.to_string(),
        levels: own.levels().into_iter().map(|level| Rung::of(level, MOST_LISTED)).collect(),
        tree: own.tree(MOST_IN_TREE),
    };
    let ladders: Vec<Ladder> = applied(&surveyed).iter().map(ladder).collect();
    match &surveyed {
        AnySurvey::Table(own) => {
            let (policy, cohort) = (&own.policy, &own.input);
            job_stage(job, "looking for people who are unique");
            Ok(RiskFound {
                notes: [policy.notes.clone(), cohort.notes.clone()].concat(),
                ladders,
                unit: if policy.patient().is_some() { "patients" } else { "records" },
                shape: RiskShape::Table {
                    risk: Box::new(assess_table(policy, cohort, &mut |_| ())?),
                    names: cohort.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
                    rows: cohort.tuples.rows,
                },
            })
        }
        AnySurvey::Codes(own) => {
            let k = own.policy.privacy.k.get();
            Ok(RiskFound {
                notes: [own.policy.notes.clone(), own.input.notes.clone()].concat(),
                ladders,
                unit: "patients",
                shape: RiskShape::Codes { known: codes_known(&own.input, k), k },
            })
        }
        AnySurvey::Events(own) => {
            let (histories, k) = (&own.input, own.policy.privacy.k.get());
            let found =
                sensitivity(histories, &EventsPlan::unchanged(histories), k, (&[1, 2, 5], 2), studio.threads, 1);
            let mut lines = Vec::new();
            for (p, variable, _) in &found.values {
                lines.push((
                    format!("{} of each event column", number_of(*p, ["value", "values"])),
                    variable[2].share(),
                ));
            }
            for (p, estimate) in &found.events {
                lines.push((number_of(*p, ["whole event", "whole events"]), estimate.share()));
            }
            for &(p, hits, of) in &found.total {
                lines.push((
                    format!("any {} about events, the worst case", number_of(p, ["fact", "facts"])),
                    hits as f64 / of.max(1) as f64,
                ));
            }
            Ok(RiskFound {
                notes: [own.policy.notes.clone(), histories.notes.clone()].concat(),
                ladders,
                unit: "patients",
                shape: RiskShape::Events {
                    found: lines,
                    patients: histories.patients() as u64,
                    events: histories.events() as u64,
                    k,
                },
            })
        }
    }
}

fn job_stage(job: &Arc<Job>, name: &str) {
    kohort::Progress::stage(&**job, name, 0);
}

/// Shows the risk, and what the custodian asks for.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let mut body = String::from("<p class=\"lead\">How easily could somebody be found in the data as it is?</p>\n");
    match current(studio, &opened) {
        None => {
            body += "<p>The risk has not been measured for the table and the columns as they are now. Kohort counts how many people are the only ones \
                     with their combination of values.</p>\n";
            body += "<form method=\"post\" action=\"/risk\"><button class=\"main\">Measure the risk</button></form>\n";
        }
        Some(found) => {
            if !found.notes.is_empty() {
                let notes: Vec<String> = found.notes.iter().map(|note| in_page_words(note, "below")).collect();
                body += &format!("<div class=\"note\">{}</div>\n", sentences(&notes));
            }
            body += &match &found.shape {
                RiskShape::Table { risk, names, rows } => table(risk, names, found.unit, *rows),
                RiskShape::Codes { known, k } => codes(known, *k),
                RiskShape::Events { found, patients, events, k } => histories(found, *patients, *events, *k),
            };
        }
    }
    body += &asked(&opened)?;
    body += "<p class=\"actions\"><a class=\"go next\" href=\"/explore\">Next: explore settings</a> <a class=\"go\" href=\"/release\">Release</a></p>\n";
    let command = Some(format!("kohort risk {}", shell(&opened.name)));
    Ok(Answer::Page(Page { step: Step::Risk, heading: "Risk", body, command }))
}

fn table(risk: &OriginalRisk, names: &[String], unit: &str, rows: u64) -> String {
    let all = &risk.all;
    let share = |n: u64| percent(n as f64 / all.people.max(1) as f64);
    let mut html = format!(
        "<section class=\"{}\"><p class=\"stamp\">{} of {} {unit} are unique</p>\n<p>Nobody else looks like them in the {} columns that others may \
         know. Someone who knows these columns finds {} of all {unit} with certainty. There are {} records.</p></section>\n",
        if all.unique == 0 { "verdict" } else { "warned" },
        thousands(all.unique),
        thousands(all.people),
        names.len(),
        share(all.unique),
        thousands(rows)
    );
    let name = |q: &usize| format!("<code>{}</code>", escape(&names[*q]));
    let worst = worst_sets(&risk.singling_out);
    let row = |(number, people): (usize, &u64)| {
        let set = worst.iter().find(|(set, _)| set.len() == number);
        let set = set.map_or("–".to_string(), |(set, alone)| {
            format!("{}: {}", set.iter().map(name).collect::<Vec<_>>().join(", "), thousands(*alone))
        });
        vec![number.to_string(), format!("{} ({})", thousands(*people), share(*people)), set]
    };
    let rows: Vec<Vec<String>> = (1..).zip(&risk.singling_out.people).map(row).collect();
    html += "<section><h2>How few columns are enough</h2>\n<p>Someone who knows only this many of the columns, whichever they are, finds the people in the next column.</p>\n";
    html += &cards(&["Columns known", "Unique on some of them", "The worst combination, and unique on it"], &rows);
    html += "</section>\n";
    if let Some(added) = &risk.singling_out.added {
        let mut order: Vec<usize> = (0..names.len()).filter(|&q| added.only_with[q] > 0).collect();
        order.sort_by_key(|&q| (std::cmp::Reverse(added.only_with[q]), q));
        let rows: Vec<Vec<String>> = order.iter().map(|q| vec![name(q), thousands(added.only_with[*q])]).collect();
        if !rows.is_empty() {
            html += &format!(
                "<section><h2>What each column adds</h2>\n<p>If the column were removed, this many {unit} would no longer be unique.</p>\n{}</section>\n",
                cards(&["Column", "No longer unique"], &rows)
            );
        }
    }
    html += &format!("<section><h2>What k = {} would cost</h2>\n", risk.cost.k);
    html += &match &risk.cost.outcome {
        Err(reason) => format!("<p>It cannot be met by <code>{}</code>: {}</p>\n", risk.cost.method, escape(reason)),
        Ok(lost) => {
            let names = |all: &[String]| {
                all.iter().map(|n| format!("<code>{}</code>", escape(n))).collect::<Vec<_>>().join(", ")
            };
            let line = |what: &str, all: &[String]| {
                if all.is_empty() { String::new() } else { format!("<li>{what}: {}</li>\n", names(all)) }
            };
            format!(
                "<p>If at least {} people must look the same, the method <code>{}</code> loses {} of the detail and removes {}.</p>\n<ul>{}{}</ul>\n",
                risk.cost.k,
                risk.cost.method,
                percent(lost.loss),
                if lost.rows == 1 { "1 record".to_string() } else { format!("{} records", thousands(lost.rows)) },
                line("Unchanged", &lost.untouched),
                line("Lost completely", &lost.gone)
            )
        }
    };
    html + "</section>\n"
}

fn codes(known: &[kohort_core::risk::CodesKnown], k: u64) -> String {
    let row = |risk: &kohort_core::risk::CodesKnown| {
        let share = |n: u64| percent(n as f64 / risk.patients.max(1) as f64);
        let codes = risk.codes.map_or("all".to_string(), |n| format!("{n}, at random"));
        vec![codes, thousands(risk.patients), share(risk.unique), share(risk.fewer_than_k)]
    };
    let few = format!("Fewer than {k} match");
    cards(&["Known codes of a patient", "Asked about", "Unique", &few], &known.iter().map(row).collect::<Vec<_>>())
}

fn histories(found: &[(String, f64)], patients: u64, events: u64, k: u64) -> String {
    let rows: Vec<Vec<String>> = found.iter().map(|(known, share)| vec![escape(known), percent(*share)]).collect();
    let few = format!("Fewer than {k} match");
    let (whole, share) = found.iter().find(|(known, _)| known.contains("whole event")).cloned().unwrap_or_default();
    let stamp = match k {
        2 => "of the patients are unique".to_string(),
        k => format!("of the patients have fewer than {k} matches"),
    };
    format!(
        "<section class=\"{}\"><p class=\"stamp\">{} {stamp}</p>\n<p>This holds for somebody who knows {} of a patient, and everything in the \
         table of patients. There are {} patients with {} events.</p></section>\n<section><h2>How little is enough</h2>\n{}</section>\n",
        if share == 0.0 { "verdict" } else { "warned" },
        percent(share),
        escape(&whole),
        thousands(patients),
        thousands(events),
        cards(&["Known in addition to all patient-level values", &few], &rows)
    )
}

/// Shows what must hold: k, what others may know, limits on sensitive values, and the method.
fn asked(opened: &Opened) -> Result<String> {
    let text = |path: &[&str]| get(&opened.text, path).unwrap_or_default().trim_matches('"').to_string();
    let columns = columns_of(opened)?;
    let has = |role: &str| columns.iter().any(|column| column.role == role);
    let shape = if columns.iter().any(|c| c.group.is_some()) {
        DataShape::Events
    } else if has("codes") {
        DataShape::Codes
    } else {
        DataShape::Table
    };
    let now = text(&["privacy", "preset"]);
    let mut choices: Vec<(&str, String)> =
        PRESETS.iter().map(|p| (p.name, format!("<strong>k = {}</strong> {}", p.k(), escape(p.meaning)))).collect();
    choices.push(("", "<strong>A number of my own</strong>".to_string()));
    let mut fields =
        radios("preset", "Who receives the data? This sets how many people must look the same (k)", &choices, &now);
    fields += &input(
        "k",
        "k",
        "My own number: at least this many people look the same (k)",
        &text(&["privacy", "k"]),
        "inputmode=\"numeric\" autocomplete=\"off\"",
    );
    if shape == DataShape::Table {
        let knows = text(&["privacy", "knows"]);
        let quasi: Vec<&str> = columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
        let example = |n: usize| -> String {
            let names: Vec<String> =
                quasi.iter().take(n).map(|name| format!("<code>{}</code>", escape(name))).collect();
            names.join(", ")
        };
        let all = format!(
            "<strong>All {} columns that others may know.</strong> For example a relative, or somebody with another file about the same people. The \
             strictest choice.",
            quasi.len()
        );
        let mut choices = vec![("all".to_string(), all)];
        for (n, who) in [(2, "a neighbour"), (3, "a colleague"), (4, "a friend"), (5, "a close friend")] {
            if n < quasi.len() {
                let words =
                    format!("<strong>Any {n} of them at once.</strong> For example {who} who knows {}.", example(n));
                choices.push((n.to_string(), words));
            }
        }
        let listed = knows.starts_with('[');
        choices.push((more_requirements::LISTED.to_string(), more_requirements::listed_words()));
        if !knows.is_empty() && !listed && choices.iter().all(|(value, _)| *value != knows) {
            choices.push((knows.clone(), "<strong>As written in the policy.</strong>".to_string()));
        }
        let choices: Vec<(&str, String)> =
            choices.iter().map(|(value, words)| (value.as_str(), words.clone())).collect();
        let chosen = match &knows[..] {
            "" => "all",
            _ if listed => more_requirements::LISTED,
            knows => knows,
        };
        fields += &radios("knows", "What may somebody know about a person?", &choices, chosen);
        if has("sensitive") {
            fields += &input(
                "confidence",
                "confidence",
                "At most this share of people who look the same may have the same sensitive value, for example 0.5. Empty: no limit",
                &text(&["privacy", "confidence"]),
                "inputmode=\"decimal\" autocomplete=\"off\"",
            );
        }
        fields += &more_requirements::fields(opened, &quasi, has("sensitive"))?;
    }
    if shape == DataShape::Codes {
        let choices = [
            ("1", "<strong>Any 1 code.</strong> For example a neighbour who heard of one diagnosis."),
            (
                "2",
                "<strong>Any 2 codes.</strong> For example a colleague who knows a chronic disease and a reason for sick leave.",
            ),
            ("3", "<strong>Any 3 codes.</strong> For example a friend."),
            ("4", "<strong>Any 4 codes.</strong> For example a close relative."),
        ];
        fields += &numbered(
            "knows",
            "What may somebody know about a patient's codes?",
            &choices,
            &text(&["privacy", "knows"]),
        );
    }
    if shape == DataShape::Events {
        let choices = [
            ("1", "<strong>Any 1 fact about the events.</strong> For example a neighbour who heard of one diagnosis."),
            (
                "2",
                "<strong>Any 2 facts.</strong> For example a colleague who knows a diagnosis and the month of a stay.",
            ),
            (
                "3",
                "<strong>Any 3 facts.</strong> For example a friend who knows a diagnosis, a drug and the month of a stay.",
            ),
        ];
        let legend = "What may somebody know about a patient's events, beside everything in the table of patients?";
        fields += &numbered(FACTS, legend, &choices, &text(&["privacy", FACTS]));
        fields += &input(
            HIGH_RISK,
            "high-risk",
            "At most this share of the patients may have fewer than k matches, for example 0.1",
            &text(&["privacy", HIGH_RISK]),
            "inputmode=\"decimal\" autocomplete=\"off\"",
        );
    }
    let register = Register::built_in();
    let methods: Vec<(&str, String)> =
        register.for_shape(shape).map(|entry| (entry.name, format!("{}: {}", entry.name, entry.summary))).collect();
    let method = text(&["method", "name"]);
    fields += &format!(
        "<details><summary>The method, for experts</summary>{}</details>",
        select("method", "method", "How the data is changed", &methods, &method)
    );
    Ok(format!(
        "<section><h2>What must hold</h2>\n<p>Everybody looks the same as several other people, so that nobody can be singled out. The more they \
         are, the safer everybody is, and the coarser the data becomes.</p>\n<form method=\"post\" action=\"/privacy\" \
         class=\"stacked\">{}{fields}<button class=\"main\">Save</button></form></section>\n",
        hidden("revision", &opened.revision())
    ))
}

/// A choice of a number, with examples. What a policy states in another way stays a choice.
fn numbered(name: &'static str, legend: &str, choices: &[(&'static str, &str)], now: &str) -> String {
    let mut choices: Vec<(&str, String)> = choices.iter().map(|(value, words)| (*value, words.to_string())).collect();
    if choices.iter().all(|(value, _)| *value != now) {
        let words = match now.parse::<u64>() {
            Ok(number) => format!("Any {number}."),
            Err(_) => "As written in the policy.".into(),
        };
        choices.push((now, format!("<strong>{words}</strong>")));
    }
    radios(name, legend, &choices, now)
}

/// The keys of what may be known about events, and of the share of patients who may be at risk.
const FACTS: &str = "power_total";
const HIGH_RISK: &str = "max_high_risk";

/// The changes to what may be known about events.
fn event_edits(opened: &Opened, fields: &Fields) -> Result<Vec<Edit>> {
    let mut edits = Vec::new();
    let facts = fields.get(FACTS);
    if facts.parse::<u64>().is_ok() && get(&opened.text, &["privacy", FACTS]).as_deref() != Some(facts) {
        edits.push(Edit::set(&["privacy", FACTS], facts));
        // Other ways to state what is known cannot be combined with it.
        let others = ["power", "power_rule", "knowledge"].iter().map(|key| ["privacy", *key]);
        edits.extend(others.filter(|path| get(&opened.text, path).is_some()).map(|path| Edit::remove(&path)));
    }
    if fields.0.iter().any(|(name, _)| name == HIGH_RISK) {
        match fields.get(HIGH_RISK) {
            share if share.parse::<f64>().is_ok_and(|share| (0.0..1.0).contains(&share)) => {
                edits.push(Edit::set(&["privacy", HIGH_RISK], share));
            }
            _ => {
                return Err(Error::yours(
                    "the share of patients with fewer than k matches must be at least 0 and below 1, for example 0.1.",
                ));
            }
        }
    }
    Ok(edits)
}

/// Changes what must hold.
pub(crate) fn save(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let opened = studio.opened()?;
    let (preset, k) = (fields.get("preset"), fields.get("k"));
    let mut edits = Vec::new();
    let remove = |path: &[&str], edits: &mut Vec<Edit>| {
        if get(&opened.text, path).is_some() {
            edits.push(Edit::remove(path));
        }
    };
    remove(&["privacy", "max_risk"], &mut edits);
    if preset.is_empty() {
        remove(&["privacy", "preset"], &mut edits);
        if k.parse::<u64>().is_ok_and(|k| k >= 2) {
            edits.push(Edit::set(&["privacy", "k"], k));
        } else {
            return Err(Error::yours(
                "k must be a whole number of at least 2. Usual are 5 for a trusted recipient, 11 or 20 for the public.",
            ));
        }
    } else {
        remove(&["privacy", "k"], &mut edits);
        edits.push(Edit::set(&["privacy", "preset"], quoted(preset)));
    }
    match fields.get("knows") {
        "" => {}
        number if number.parse::<u64>().is_ok() => edits.push(Edit::set(&["privacy", "knows"], number)),
        "all" => edits.push(Edit::set(&["privacy", "knows"], "\"all\"")),
        // Sets that are listed, or as written in the policy.
        _ => {}
    }
    edits.extend(more_requirements::edits(&opened, fields)?);
    edits.extend(event_edits(&opened, fields)?);
    if fields.0.iter().any(|(name, _)| name == "confidence") {
        match fields.get("confidence") {
            "" => remove(&["privacy", "confidence"], &mut edits),
            share if share.parse::<f64>().is_ok_and(|s| s > 0.0 && s <= 1.0) => {
                edits.push(Edit::set(&["privacy", "confidence"], share));
            }
            _ => return Err(Error::yours("the share must be between 0 and 1, for example 0.5.")),
        }
    }
    edits.extend(method_edits(&opened, fields.get("method"))?);
    change(studio, fields, "/privacy", "/risk", "Changed what must hold", &edits)
}

/// Changes the method, with usual values for the parameters it has no default for.
fn method_edits(opened: &Opened, method: &str) -> Result<Vec<Edit>> {
    let now = get(&opened.text, &["method", "name"]).unwrap_or_default();
    if method.is_empty() || now.trim_matches('"') == method {
        return Ok(Vec::new());
    }
    let register = Register::built_in();
    let Some(entry) = register.find(method) else { return Err(Error::yours("there is no such method.")) };
    let mut edits = vec![Edit::set(&["method", "name"], quoted(method))];
    let own = opened.section()?.section("method")?;
    for (key, _) in own.iter().flat_map(|section| &section.entries) {
        if key != "name" && entry.params.iter().all(|param| param.key != key) {
            edits.push(Edit::remove(&["method", key]));
        }
    }
    for param in entry.params {
        if let (Some(value), None) =
            (param.usual().and_then(|usual| usual.value(None)), get(&opened.text, &["method", param.key]))
        {
            edits.push(Edit::set(&["method", param.key], value));
        }
    }
    Ok(edits)
}
