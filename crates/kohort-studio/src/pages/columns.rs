//! The columns page: what each column is, in plain words, with what was found in it.

use super::change;
use crate::answer::{Answer, Fields};
use crate::count::{CountedColumn, CountedTable};
use crate::page::{Page, Step, button, hidden, input, percent, select, sentences, shell, thousands};
use crate::policy_text::{get, quoted};
use crate::studio::{Edit, Opened, Studio};
use kohort::ColumnAdvice;
use kohort::init::Confidence;
use kohort::report::parts::{escape, prose};
use kohort_core::policy::{Section, Value};
use kohort_core::{Error, Result};
use std::sync::Arc;

/// The roles in plain words, in the order in which people ask.
const ROLES: [(&str, &str); 7] = [
    ("identifier", "Names the person, or is not needed: removed"),
    ("patient", "Is the patient's number: counted, then removed"),
    ("quasi", "Others may know it: made coarser as needed"),
    ("sensitive", "Must not be learned about a person"),
    ("class", "Is what the study predicts: released as it is"),
    ("other", "May be released as it is, because …"),
    ("codes", "Holds the codes of a patient"),
];

/// A column of the policy.
pub(crate) struct PolicyColumn {
    /// The table it belongs to, where there are several.
    pub(crate) group: Option<String>,
    /// Its name.
    pub(crate) name: String,
    /// Its role.
    pub(crate) role: String,
    /// Its keys.
    pub(crate) section: Section,
}

impl PolicyColumn {
    /// Its name, with that of its table where there are several.
    pub(crate) fn shown(&self) -> String {
        self.group.as_ref().map_or(self.name.clone(), |group| format!("{group}.{}", self.name))
    }

    /// The path of one of its keys in the policy.
    pub(crate) fn path<'a>(&'a self, key: &'a str) -> Vec<&'a str> {
        let group = self.group.as_deref();
        ["columns"].into_iter().chain(group).chain([self.name.as_str(), key]).collect()
    }
}

/// The columns that a policy names, in its order.
pub(crate) fn columns_of(opened: &Opened) -> Result<Vec<PolicyColumn>> {
    let mut columns = Vec::new();
    let Some(section) = opened.section()?.section("columns")? else { return Ok(columns) };
    let has_role = |own: &Section| own.get("role").is_some();
    for (name, item) in &section.entries {
        let Value::Section(own) = &item.value else { continue };
        let one = |group: Option<String>, name: &str, own: &Section| -> Result<PolicyColumn> {
            let role = own.text("role")?.unwrap_or_default().to_string();
            Ok(PolicyColumn { group, name: name.into(), role, section: own.clone() })
        };
        if has_role(own) {
            columns.push(one(None, name, own)?);
            continue;
        }
        for (inner, item) in &own.entries {
            if let Value::Section(own) = &item.value {
                columns.push(one(Some(name.clone()), inner, own)?);
            }
        }
    }
    Ok(columns)
}

/// Shows every column.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    show(studio, None)
}

/// Shows every column, and the values of one of them, which the person asked for.
pub(crate) fn values(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    show(studio, fields.number("column"))
}

/// Counts the tables again, after they changed.
pub(crate) fn count_again(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    studio.start("Counting the data", "/columns", |studio, job| {
        super::start::count_tables(studio, job)?;
        Ok("/columns")
    })?;
    Ok(Answer::See("/job"))
}

/// Describes what is known of a column of the policy.
pub(crate) struct Known<'a> {
    pub(crate) column: &'a PolicyColumn,
    pub(crate) counted: Option<(&'a CountedTable, &'a CountedColumn)>,
    pub(crate) advice: Option<&'a ColumnAdvice>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(column: &'a PolicyColumn, tables: &'a [CountedTable]) -> Known<'a> {
        let table = tables.iter().find(|table| table.group == column.group);
        let counted = table.and_then(|t| Some((t, t.columns.iter().find(|c| c.name == column.name)?)));
        let advice = table.and_then(|t| t.advice.iter().find(|a| a.name == column.name));
        Known { column, counted, advice }
    }

    /// Returns whether a person should look at it first.
    fn is_uncertain(&self) -> bool {
        let doubtful = |advice: &ColumnAdvice| !advice.notes.is_empty() || advice.confidence == Confidence::Unsure;
        self.advice.is_some_and(doubtful) || self.counted.is_none()
    }
}

fn show(studio: &Arc<Studio>, asked: Option<usize>) -> Result<Answer> {
    let opened = studio.opened()?;
    let columns = columns_of(&opened)?;
    let counted = studio.desk().counted.clone();
    let tables = counted.as_ref().map_or(&[][..], |counted| &counted.tables);
    let mut body = String::from(
        "<p class=\"lead\">Say what each column is. Kohort's suggestion is chosen already, but you know the data best. The columns to look \
         at first are on top.</p>\n",
    );
    match &counted {
        None => {
            body += "<p class=\"note\">The data was not counted yet.</p>\n";
            body += &button("/count", "Count the data", &[]);
        }
        Some(counted) if !counted.tables.iter().all(|table| table.stamp.is_current()) => {
            body += "<p class=\"warning\" role=\"status\">A table has changed since it was counted. The numbers below are those of the older file.</p>\n";
            body += &button("/count", "Count it again", &[]);
        }
        Some(counted) => {
            let rows: Vec<String> = counted
                .tables
                .iter()
                .map(|t| {
                    let group = t.group.as_ref().map_or(String::new(), |g| format!(" in {}", escape(g)));
                    format!("{} rows{group}", thousands(t.rows))
                })
                .collect();
            let width = if columns.len() == 1 { "1 column".into() } else { format!("{} columns", columns.len()) };
            body += &format!(
                "<p>{}, {width}. Values are hidden until you ask for them. Tick several columns to give them one role.</p>\n",
                rows.join(", ")
            );
            if columns.len() > 20 {
                body += "<p class=\"find\"><label for=\"find\">Find a column by its name</label><input type=\"search\" id=\"find\" data-filter \
                         autocomplete=\"off\"> <button type=\"button\" class=\"quiet\" data-tick hidden>Tick all that are shown</button></p>\n";
            }
            if !counted.warnings.is_empty() {
                let warnings: Vec<String> = counted.warnings.iter().map(|own| warning_in_page_words(own)).collect();
                body += &format!("<div class=\"warning\">{}</div>\n", sentences(&warnings));
            }
        }
    }
    let known: Vec<Known> = columns.iter().map(|column| Known::of(column, tables)).collect();
    let (first, rest): (Vec<_>, Vec<_>) = known.iter().enumerate().partition(|(_, known)| known.is_uncertain());
    let revision = hidden("revision", &opened.revision());
    let list = |heading: &str, all: &[(usize, &Known)]| -> String {
        if all.is_empty() {
            return String::new();
        }
        let items: String = all.iter().map(|(i, known)| row(*i, known, &revision, asked == Some(*i))).collect();
        format!("<section><h2>{heading}</h2>\n<ol class=\"columns\">\n{items}</ol></section>\n")
    };
    let several = |n: usize, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    body += &list(&format!("Please check: {}", several(first.len(), "column", "columns")), &first);
    body += &list(&format!("Clear: {}", several(rest.len(), "column", "columns")), &rest);
    let unnamed: Vec<&CountedColumn> = tables
        .iter()
        .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
        .filter(|(table, column)| !columns.iter().any(|own| own.group == table.group && own.name == column.name))
        .map(|(_, column)| column)
        .collect();
    if !unnamed.is_empty() && !columns.iter().any(|own| own.name.ends_with('*')) {
        body += &format!(
            "<p class=\"warning\">{} of the table have no role in the policy yet, so nothing can be released.</p>\n",
            several(unnamed.len(), "column", "columns")
        );
    }
    if columns.len() > 1 {
        body += &several_at_once(&revision);
    }
    body += "<p class=\"actions\"><a class=\"go next\" href=\"/hierarchies\">Next: hierarchies</a> <a class=\"go\" href=\"/risk\">Risk</a></p>\n";
    let mut files: Vec<String> = tables.iter().filter_map(|table| Some(shell(&table.stamp.name()?))).collect();
    files.dedup();
    let command = (!files.is_empty()).then(|| format!("kohort init {} -o {}", files.join(" "), shell(&opened.name)));
    Ok(Answer::Page(Page { step: Step::Columns, heading: "Columns", body, command }))
}

/// A form that gives one role to all columns that are ticked.
fn several_at_once(revision: &str) -> String {
    let mut choices: Vec<(&str, String)> = vec![("", "Choose a role".to_string())];
    choices.extend(ROLES.iter().map(|(role, words)| (*role, words.to_string())));
    format!(
        "<form method=\"post\" action=\"/columns\" id=\"several\" class=\"several\">{revision}<h2>Change the ticked columns</h2>\n\
         <div>{}</div><div>{}</div><button>Change them</button></form>\n",
        select("role", "role-several", "Role", &choices, ""),
        input("reason", "reason-several", "Reason, if they are released as they are", "", "autocomplete=\"off\"")
    )
}

fn row(number: usize, known: &Known, revision: &str, show_values: bool) -> String {
    let column = known.column;
    let group =
        column.group.as_ref().map_or(String::new(), |group| format!("<span class=\"soft\">{}.</span>", escape(group)));
    let mut about = String::new();
    if let Some((table, counted)) = known.counted {
        let missing = counted.missing as f64 / table.rows.max(1) as f64;
        about +=
            &format!("<p class=\"facts-line\">{}, {} missing</p>\n", counted.distinct(known.advice), percent(missing));
        about += &histogram(number, counted, show_values);
    }
    if let Some(advice) = known.advice {
        let sure = match advice.confidence {
            Confidence::Sure => "Sure",
            Confidence::Likely => "Likely",
            Confidence::Unsure => "Unsure",
        };
        let other = match advice.role.name() == column.role {
            true => String::new(),
            false => format!(" Suggested: {}.", escape(&in_words(advice.role.name()).to_lowercase())),
        };
        about += &format!(
            "<p class=\"why\"><span class=\"sure {}\">{sure}</span>{other} {}.</p>\n",
            sure.to_lowercase(),
            prose(crate::answer::capital(&advice.why).trim_end_matches('.'))
        );
        about += &sentences(&advice.notes.iter().map(|note| in_page_words(note)).collect::<Vec<_>>());
    }
    let choices: Vec<(&str, String)> = ROLES.iter().map(|(role, words)| (*role, words.to_string())).collect();
    let choices = match choices.iter().any(|(role, _)| *role == column.role) {
        true => choices,
        false => [choices, vec![(column.role.as_str(), format!("As in the policy: {}", column.role))]].concat(),
    };
    let reason = column.section.text("reason").ok().flatten().unwrap_or_default();
    let hierarchy = match column.role.as_str() {
        "quasi" => format!("<p><a href=\"/hierarchy/{number}\">How it is made coarser</a></p>\n"),
        _ => String::new(),
    };
    let values = match known.counted {
        Some(_) if !show_values => format!(
            "<form method=\"post\" action=\"/values#column-{number}\" class=\"inline\">{}<button class=\"link\">Show \
             values<span class=\"hidden\"> of column {}</span></button></form>\n",
            hidden("column", &number.to_string()),
            escape(&column.name)
        ),
        _ => String::new(),
    };
    format!(
        "<li id=\"column-{number}\"><div class=\"named\"><input type=\"checkbox\" name=\"column\" value=\"{number}\" form=\"several\" \
         id=\"pick-{number}\" aria-labelledby=\"name-{number}\" autocomplete=\"off\"><h3 id=\"name-{number}\">{group}<code>{}</code></h3></div>\n\
         <div class=\"about\">{about}{values}</div>\n\
         <div><form method=\"post\" action=\"/columns\" data-save>{revision}{}{}{}<button>Save</button></form>\n{hierarchy}</div></li>\n",
        escape(&column.name),
        hidden("column", &number.to_string()),
        select("role", &format!("role-{number}"), "Role", &choices, &column.role),
        input(
            "reason",
            &format!("reason-{number}"),
            "Reason, if it is released as it is",
            reason,
            "autocomplete=\"off\""
        ),
    )
}

/// A small histogram. Its labels are values, so they are drawn only on request.
pub(crate) fn histogram(number: usize, counted: &CountedColumn, show_values: bool) -> String {
    let most = counted.bars.iter().copied().max().unwrap_or(0).max(1) as f64;
    let wide = 240.0 / counted.bars.len().max(1) as f64;
    let bar = |(i, &cells): (usize, &u64)| {
        let high = (40.0 * cells as f64 / most).max(if cells > 0 { 1.0 } else { 0.0 });
        format!(
            "<rect class=\"solid\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\"/>",
            i as f64 * wide,
            42.0 - high,
            (wide - 1.0).max(0.5)
        )
    };
    let bars: String = counted.bars.iter().enumerate().map(bar).collect();
    let order = if counted.numeric { "in their order" } else { "the most frequent first" };
    let mut html = format!(
        "<svg class=\"chart spark\" viewBox=\"0 0 240 44\" role=\"img\" aria-labelledby=\"spark-{number}\">\
         <title id=\"spark-{number}\">Cells by value, {order}</title><path class=\"line\" d=\"M0 43H240\"/>{bars}</svg>\n"
    );
    if show_values {
        let rows: Vec<Vec<String>> = counted
            .values
            .iter()
            .take(200)
            .map(|(value, cells)| vec![format!("<code>{}</code>", escape(value)), thousands(*cells)])
            .collect();
        let more = counted.values.len().saturating_sub(200);
        html += &format!(
            "<details open class=\"values\"><summary>Values</summary>{}{}</details>\n",
            kohort::report::parts::cards(&["Value", "Cells"], &rows),
            if more > 0 || counted.others > 0 { "<p>Only the first 200 values are listed.</p>\n" } else { "" }
        );
    }
    html
}

/// A note of `init` in the words of this page, where it names keys of the policy.
fn in_page_words(note: &str) -> String {
    match note.split_once(", set ") {
        Some((when, keys)) if keys.contains("role = \"quasi\"") => {
            format!("{when}, choose \"Others may know it\".")
        }
        _ => note.to_string(),
    }
}

/// A warning of `init` in the words of this page, where it names keys of the policy or another command.
fn warning_in_page_words(warning: &str) -> String {
    if let Some((found, _)) = warning.split_once(" The policy marks them with CHECK") {
        return format!("{found} They are among the first ones below, marked \u{201c}Unsure\u{201d}.");
    }
    warning.replace("With role = \"patient\", people", "If it is the patient's number, people")
}

fn in_words(role: &str) -> &str {
    ROLES.iter().find(|(name, _)| *name == role).map_or(role, |(_, words)| words)
}

/// Changes the role of a column, or of several at once.
pub(crate) fn save(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let opened = studio.opened()?;
    let columns = columns_of(&opened)?;
    let mut chosen = Vec::new();
    for number in fields.all("column") {
        let Some(column) = number.parse::<usize>().ok().and_then(|number| columns.get(number)) else {
            return Err(Error::yours("there is no such column in the policy any more. Load the page again."));
        };
        chosen.push(column);
    }
    let (role, reason) = (fields.get("role"), fields.get("reason"));
    let named = match chosen[..] {
        [] => return Err(Error::yours("no column is ticked. Tick at least one.")),
        [column] => format!("Column `{}`", column.name),
        [first, second] => format!("Columns `{}` and `{}`", first.name, second.name),
        [first, ..] => format!("Column `{}` and {} more", first.name, chosen.len() - 1),
    };
    if role.is_empty() {
        return Err(Error::yours("no role was chosen."));
    }
    if role == "other" && reason.is_empty() {
        return Err(Error::yours(format!(
            "{named}: to be released as it is. Write the reason why nobody outside can know it; the report prints it."
        )));
    }
    let counted = studio.desk().counted.clone();
    let tables = counted.as_ref().map_or(&[][..], |counted| &counted.tables);
    let edits: Vec<Edit> = chosen.iter().flat_map(|column| role_edits(&opened, column, tables, role, reason)).collect();
    let what = format!("{named}: {}", in_words(role).to_lowercase());
    change(studio, fields, "/columns", "/columns", &what, &edits)
}

/// The changes that give a column another role.
fn role_edits(opened: &Opened, column: &PolicyColumn, tables: &[CountedTable], role: &str, reason: &str) -> Vec<Edit> {
    let mut edits = vec![Edit::set(&column.path("role"), quoted(role))];
    if role == "other" {
        edits.push(Edit::set(&column.path("reason"), quoted(reason)));
    } else if get(&opened.text, &column.path("reason")).is_some() {
        edits.push(Edit::remove(&column.path("reason")));
    }
    // Keys that belong to another role would be refused.
    let keys: &[&str] = match role {
        "quasi" => &["values", "separator"],
        "sensitive" => &["separator", "hierarchy", "levels", "weight", "unmapped"],
        _ => &["values", "hierarchy", "levels", "weight", "unmapped"],
    };
    edits.extend(
        keys.iter()
            .filter(|key| get(&opened.text, &column.path(key)).is_some())
            .map(|key| Edit::remove(&column.path(key))),
    );
    // A role that is chosen again gets the hierarchy that was suggested for it.
    let advice = Known::of(column, tables).advice.and_then(|advice| advice.hierarchy.clone());
    if let (true, Some(hierarchy), None) = (role == "quasi", advice, get(&opened.text, &column.path("hierarchy"))) {
        edits.push(Edit::set(&column.path("hierarchy"), hierarchy));
    }
    edits
}
