//! Requirements for experts: l-diversity, t-closeness, and the sets of columns that somebody may know together.

use crate::answer::Fields;
use crate::page::{input, select};
use crate::policy_text::{get, quoted};
use crate::studio::{Edit, Opened};
use kohort::report::parts::escape;
use kohort_core::policy::{Section, Value};
use kohort_core::{Error, Result};

/// The choice of sets that are listed one by one.
pub(super) const LISTED: &str = "sets";

/// The kinds of l-diversity, in words.
const DIVERSITY: [(&str, &str); 4] = [
    ("", "no limit"),
    ("distinct", "this many different values"),
    ("entropy", "entropy of at least this many equally frequent values"),
    ("recursive", "recursive (c, l): written c, l"),
];
/// The distances of t-closeness, in words.
const DISTANCE: [(&str, &str); 3] = [
    ("equal", "all values are equally far apart"),
    ("ordered", "values have an order, as numbers have"),
    ("hierarchical", "values are as far apart as in their hierarchy"),
];

/// The words of the choice of listed sets.
pub(super) fn listed_words() -> String {
    "<strong>Only certain columns together.</strong> List them below, under \u{201c}More requirements\u{201d}."
        .to_string()
}

/// The fields, folded up unless one of them is in use.
pub(super) fn fields(opened: &Opened, quasi: &[&str], has_sensitive: bool) -> Result<String> {
    let privacy = opened.section()?.section("privacy")?;
    let sets = privacy.as_ref().map(listed_sets).unwrap_or_default();
    let (kind, number) = privacy.as_ref().map(diversity).unwrap_or_default();
    let (t, distance) = privacy.as_ref().map(closeness).unwrap_or_default();
    let open = if sets.is_empty() && kind.is_empty() && t.is_empty() { "" } else { " open" };
    let mut html = format!("<details{open}><summary>More requirements, for experts</summary>\n");
    html += &format!(
        "<label for=\"sets\">Columns that somebody may know together: one line for each set, names separated by commas. They count if \
         \u{201c}Only certain columns together\u{201d} is chosen above. Columns: {}</label><textarea name=\"sets\" id=\"sets\" rows=\"3\" \
         autocomplete=\"off\" spellcheck=\"false\">{}</textarea>",
        quasi.iter().map(|name| format!("<code>{}</code>", escape(name))).collect::<Vec<_>>().join(", "),
        // Escaping makes a blank of a line's end, so each line is escaped by itself.
        sets.iter().map(|set| escape(&set.join(", "))).collect::<Vec<_>>().join("\n")
    );
    if has_sensitive {
        let words = |all: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            all.iter().map(|(value, words)| (*value, words.to_string())).collect()
        };
        let numbers = "inputmode=\"decimal\" autocomplete=\"off\"";
        html += &select(
            "l-kind",
            "l-kind",
            "Sensitive values must differ among people who look the same (l-diversity)",
            &words(&DIVERSITY),
            &kind,
        );
        html += &input("l", "l", "l, for example 3", &number, numbers);
        html += &input(
            "t",
            "t",
            "Sensitive values must be distributed as in the whole table: at most this distance, for example 0.2 (t-closeness). \
             Empty: no limit",
            &t,
            numbers,
        );
        html += &select("t-distance", "t-distance", "How far apart values are", &words(&DISTANCE), &distance);
    }
    Ok(html + "</details>\n")
}

/// The changes that the fields ask for.
pub(super) fn edits(opened: &Opened, fields: &Fields) -> Result<Vec<Edit>> {
    let mut edits = Vec::new();
    if fields.get("knows") == LISTED {
        edits.push(Edit::set(&["privacy", "knows"], sets_of(opened, fields.get("sets"))?));
    }
    let mut put = |key: &str, value: Option<String>| match value {
        Some(value) => edits.push(Edit::set(&["privacy", key], value)),
        None if get(&opened.text, &["privacy", key]).is_some() => edits.push(Edit::remove(&["privacy", key])),
        None => {}
    };
    let is_shown = |name: &str| fields.0.iter().any(|(own, _)| own == name);
    // What nobody changed stays as it is written.
    let privacy = opened.section()?.section("privacy")?;
    let (kind, l) = (fields.get("l-kind"), fields.get("l").trim());
    let now = privacy.as_ref().map(diversity).unwrap_or_default();
    if is_shown("l-kind") && (now.0 != kind || (now.1 != l && !kind.is_empty())) {
        put("l_diversity", diversity_of(kind, l)?);
    }
    let (t, distance) = (fields.get("t").trim(), fields.get("t-distance"));
    let now = privacy.as_ref().map(closeness).unwrap_or_default();
    if is_shown("t") && (now.0 != t || (now.1 != distance && !t.is_empty())) {
        put("t_closeness", closeness_of(t, distance)?);
    }
    Ok(edits)
}

/// The sets as TOML.
fn sets_of(opened: &Opened, text: &str) -> Result<String> {
    let known = super::columns::columns_of(opened)?;
    let is_quasi = |name: &str| known.iter().any(|column| column.name == name && column.role == "quasi");
    let (mut sets, mut listed) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let names: Vec<&str> = line.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if let Some(wrong) = names.iter().find(|name| !is_quasi(name)) {
            return Err(Error::yours(format!(
                "`{wrong}` is not one of the columns that others may know. Write the names as they are listed above the field."
            )));
        }
        sets.push(format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")));
        listed.extend(names);
    }
    if sets.is_empty() {
        return Err(Error::yours("no columns are listed. Write one set on each line, for example: age, sex."));
    }
    let left_out = known.iter().find(|column| column.role == "quasi" && !listed.contains(&&column.name[..]));
    if let Some(column) = left_out {
        return Err(Error::yours(format!(
            "`{}` is in none of the sets. Add it to one, or say under Columns that others do not know it.",
            column.name
        )));
    }
    Ok(format!("[{}]", sets.join(", ")))
}

fn diversity_of(kind: &str, number: &str) -> Result<Option<String>> {
    let whole = |text: &str| text.parse::<u64>().is_ok_and(|l| l >= 2);
    match kind {
        "" => Ok(None),
        "recursive" => match number.split_once(',').map(|(c, l)| (c.trim(), l.trim())) {
            Some((c, l)) if whole(l) && c.parse::<f64>().is_ok_and(|c| c > 0.0 && c.is_finite()) => {
                Ok(Some(format!("{{ recursive = [{c}, {l}] }}")))
            }
            _ => Err(Error::yours("recursive l-diversity needs c and l, for example: 2, 3.")),
        },
        kind if DIVERSITY.iter().any(|(own, _)| *own == kind) && whole(number) => {
            Ok(Some(format!("{{ {kind} = {number} }}")))
        }
        _ => Err(Error::yours("l must be a whole number of at least 2, for example 3.")),
    }
}

fn closeness_of(max: &str, distance: &str) -> Result<Option<String>> {
    if max.is_empty() {
        return Ok(None);
    }
    if !max.parse::<f64>().is_ok_and(|t| t > 0.0 && t <= 1.0) || !DISTANCE.iter().any(|(own, _)| *own == distance) {
        return Err(Error::yours("t must be between 0 and 1, for example 0.2."));
    }
    Ok(Some(match distance {
        "equal" => max.to_string(),
        distance => format!("{{ max = {max}, distance = {} }}", quoted(distance)),
    }))
}

/// The sets as the policy lists them; nothing where it states them otherwise.
fn listed_sets(privacy: &Section) -> Vec<Vec<String>> {
    let Some(Value::List(sets)) = privacy.get("knows").map(|item| &item.value) else { return Vec::new() };
    let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
    let set = |value: &Value| match value {
        Value::List(names) => names.iter().map(|item| text(&item.value)).collect(),
        _ => None,
    };
    sets.iter().map(|item| set(&item.value)).collect::<Option<Vec<Vec<String>>>>().unwrap_or_default()
}

/// The kind of l-diversity and its number, as the policy states them.
fn diversity(privacy: &Section) -> (String, String) {
    let Some(own) = privacy.section("l_diversity").ok().flatten() else { return Default::default() };
    let Some((kind, item)) = own.entries.first() else { return Default::default() };
    let number = |value: &Value| if let Value::Number(digits) = value { digits.clone() } else { String::new() };
    let numbers = match &item.value {
        Value::List(items) => items.iter().map(|item| number(&item.value)).collect::<Vec<_>>().join(", "),
        value => number(value),
    };
    (kind.clone(), numbers)
}

/// t and its distance, as the policy states them.
fn closeness(privacy: &Section) -> (String, String) {
    let number = |value: &Value| if let Value::Number(digits) = value { digits.clone() } else { String::new() };
    match privacy.get("t_closeness").map(|item| &item.value) {
        Some(Value::Section(own)) => {
            let max = own.get("max").map(|item| number(&item.value)).unwrap_or_default();
            (max, own.text("distance").ok().flatten().unwrap_or("equal").to_string())
        }
        Some(value) => (number(value), "equal".to_string()),
        None => Default::default(),
    }
}
