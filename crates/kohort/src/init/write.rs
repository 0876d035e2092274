//! A suggestion as the text of a policy.

use super::related::TOO_MANY;
use super::suggest::NOBODY;
use super::{ColumnAdvice, Confidence, Draft, DraftTable};
use crate::methods::{Entry, PROPOSED, PROPOSED_FOR_EVENTS};
use kohort_core::policy::{Role, Unmapped};
use kohort_core::table::{Encoding, Place};
use std::fmt::Write;

/// Names and entries are aligned up to these widths. Longer ones are not.
const WIDEST_NAME: usize = 28;
const WIDEST_ENTRY: usize = 84;

const PRIVACY: &str = r#"
[privacy]
# At least k patients look the same, so the risk of being found is at most 1/k.
# Nobody else can choose k for you, so it has no default. Usual values are:
#   k = 3     risk 0.33    use inside one organisation, under restrictions
#   k = 5     risk 0.2     a recipient you trust, bound by an agreement     preset = "trusted-recipient"
#   k = 11                 the smallest cell that CMS publishes             preset = "cms-cells"
#   k = 12    risk 0.09    public reports to EMA and Health Canada          preset = "ema-health-canada"
#   k = 20    risk 0.05    a file that everybody may download               preset = "public-file"
#   k = 25    risk 0.04    the same, stricter                               preset = "public-file-strict"
# A preset sets k, and the report names its source. Choose one:
# k = 5
"#;

const KNOWS_ALL: &str = r#"knows = "all"                    # an attacker may know all quasi-identifiers: the strictest setting, and the default
"#;

const KNOWS_FACTS: &str = r#"power_total = 2                  # an attacker may know all patient-level values and any two facts about the events
max_high_risk = 0.1              # fewer than k patients match for at most one patient in ten
"#;

const SENSITIVE: &str = r#"# k hides whose row it is, but not a sensitive value that everyone in a group shares:
# confidence = 0.5               # in no group may more than half have the same sensitive value
"#;

/// Columns that are read together.
struct PolicyGroup {
    title: &'static str,
    holds: fn(&Role) -> bool,
}

const GROUPS: [PolicyGroup; 4] = [
    PolicyGroup {
        title: "Columns that identify the patient. They are never released.",
        holds: |role| matches!(role, Role::Identifier | Role::Patient),
    },
    PolicyGroup {
        title: "What outsiders may know: a neighbour, an employer, a newspaper. A hierarchy states how a value can \
             be\n# generalized; without one, a cell shows the value or *.",
        holds: |role| *role == Role::Quasi,
    },
    PolicyGroup {
        title: "What nobody should learn about a patient. These columns are released unchanged.",
        holds: |role| matches!(role, Role::Sensitive { .. }),
    },
    PolicyGroup {
        title: "What outsiders do not know. These columns are released unchanged; `reason` says why.",
        holds: |role| matches!(role, Role::Other { .. }),
    },
];

/// The whole text.
pub(super) fn policy(draft: &Draft, columns: &[ColumnAdvice]) -> String {
    let several = draft.tables.len() > 1;
    let what = if several { "these tables" } else { "this table" };
    let mut text = format!(
        "# A suggested policy for releasing {what}. Read every line and correct what is wrong: you know the data \
         best.\n\n"
    );
    text += &input_section(draft);
    text += "\n# Every column needs a role. A column that is not named here is an error, so nothing is released by \
         accident.\n";
    text += "# To release a column as it is: role = \"other\", with the reason why nobody outside can know it.\n";
    for table in &draft.tables {
        let own: Vec<&ColumnAdvice> =
            columns.iter().filter(|c| !several || c.table.as_ref() == Some(&table.key)).collect();
        text += &if several { format!("\n[columns.{}]\n", key(&table.key)) } else { "[columns]\n".into() };
        text += &columns_section(&own);
    }
    if !draft.offers.is_empty() {
        text += "\n# These columns could be derived. To use one, remove its # and follow the advice behind it.\n";
        draft.offers.iter().for_each(|offer| _ = writeln!(text, "# {offer}"));
    }
    let nobody = format!("\"\" = \"{NOBODY}\"");
    let is_unknown = |c: &&ColumnAdvice| c.role == Role::Patient && c.cleaning.iter().any(|key| key.contains(&nobody));
    for person in columns.iter().filter(is_unknown).filter(|_| !several) {
        let _ = write!(
            text,
            "\n# Rows that do not say whose they are:\n[[exclude]]\ncolumn = {}\ncodes = [{}]\nscope = \"row\"\n",
            quoted(&person.name),
            quoted(NOBODY)
        );
    }
    text += PRIVACY;
    text += if several { KNOWS_FACTS } else { KNOWS_ALL };
    let too_many = columns.iter().filter(|c| c.role == Role::Identifier && c.why.contains(TOO_MANY)).count();
    if too_many > 0 {
        let _ = write!(
            text,
            "# {too_many} columns that outsiders may know were dropped, so that the others keep their detail against an \
             attacker who\n# knows all of them. To keep those too, give them role = \"quasi\" and set how many an \
             attacker may know at once:\n# knows = 4\n"
        );
    }
    if columns.iter().any(|c| matches!(c.role, Role::Sensitive { .. })) {
        text += SENSITIVE;
    }
    text + &method_section(if several { PROPOSED_FOR_EVENTS } else { PROPOSED })
}

/// The columns of one table, in groups that are read together.
fn columns_section(columns: &[&ColumnAdvice]) -> String {
    let mut text = String::new();
    let name_width = width(columns.iter().map(|c| key(&c.name)), WIDEST_NAME);
    for PolicyGroup { title, holds } in GROUPS {
        let group: Vec<&&ColumnAdvice> = columns.iter().filter(|c| holds(&c.role)).collect();
        if group.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n# {title}");
        let entry_width = width(group.iter().map(|c| entry(c)), WIDEST_ENTRY);
        let mut before: &[String] = &[];
        for column in group {
            // Neighbours often share their notes: fifteen columns of diagnoses need them once.
            for note in column.notes.iter().filter(|note| !before.contains(note)) {
                let _ = writeln!(text, "# {note}");
            }
            before = &column.notes;
            let (key, entry) = (key(&column.name), entry(column));
            let check = if column.confidence == Confidence::Unsure { "CHECK: " } else { "" };
            let why = match &column.role {
                Role::Other { .. } => column.confidence.name(),
                _ => &format!("{}; {}", column.why, column.confidence.name()),
            };
            let _ = writeln!(text, "{key:<name_width$} = {entry:<entry_width$}    # {check}{why} ({})", column.facts);
        }
    }
    text
}

/// The proposed method, with a usual value for each parameter that has no default.
fn method_section(entry: &Entry) -> String {
    let mut text = format!("\n[method]\n{:<32} # {}\n", format!("name = \"{}\"", entry.name), entry.summary);
    for param in entry.params {
        // A value that depends on k cannot be proposed before k is chosen.
        if let Some(value) = param.usual().and_then(|usual| usual.value(None)) {
            let _ = writeln!(text, "{:<32} # {}", format!("{} = {value}", param.key), param.help);
        }
    }
    text
}

fn input_section(draft: &Draft) -> String {
    let Draft { tables, input, reading, .. } = draft;
    let database = match &input.place {
        Place::Database(own) => Some(own.database().address().to_string()),
        _ => None,
    };
    let what =
        if database.is_some() { "a table or a view of the database" } else { "the path is relative to this file" };
    let path = |table: &DraftTable| (format!("{} = {}", key(&table.key), quoted(&table.path)), what);
    // Several tables of events are in a section of their own.
    let (named, events) = if tables.len() > 2 { tables.split_at(1) } else { (&tables[..], &[][..]) };
    let of_database = |own: String| {
        (format!("database = {}", quoted(&own)), "the password is in PGPASSWORD or ~/.pgpass, never here")
    };
    let mut lines: Vec<(String, &str)> = database.into_iter().map(of_database).chain(named.iter().map(path)).collect();
    let markers: Vec<String> = std::iter::once("").chain(reading.missing.iter().copied()).map(quoted).collect();
    lines.push((
        format!("missing = [{}]", markers.join(", ")),
        if reading.missing.is_empty() {
            "an empty cell is a value of its own: \"not recorded\""
        } else {
            "these occur; remove any that is an answer and not \"not recorded\""
        },
    ));
    if let Some(sheet) = &input.sheet {
        lines.push((format!("sheet = {}", quoted(sheet)), "the sheet of the workbook that is read"));
    }
    let is_sheet = input.sheet.is_some() || tables.iter().any(|table| table.path.to_lowercase().ends_with(".xlsx"));
    if input.skip > 0 {
        let why = if is_sheet { "rows above the header" } else { "lines above the header" };
        lines.push((format!("skip = {}", input.skip), if input.header { why } else { "lines above the first row" }));
    }
    if input.skip_end > 0 {
        let why = if is_sheet { "rows below the table" } else { "lines below the table" };
        lines.push((format!("skip_end = {}", input.skip_end), why));
    }
    if !input.header {
        lines.push(("header = false".into(), "the first line looks like data"));
    }
    if reading.trim {
        lines.push(("trim = true".into(), "cells have white space around them"));
    }
    if input.encoding == Encoding::Windows1252 {
        lines.push(("encoding = \"windows-1252\"".into(), "it is not UTF-8"));
    }
    if reading.decimal == b',' {
        lines.push(("decimal = \",\"".into(), "numbers are written 12,5"));
    }
    let mut text = String::from("[input]\n");
    for (line, why) in lines {
        let _ = writeln!(text, "{line:<32} # {why}");
    }
    if !events.is_empty() {
        text += "\n[input.events]\n";
        events.iter().map(path).for_each(|(line, _)| text += &(line + "\n"));
    }
    text
}

fn width(texts: impl Iterator<Item = String>, widest: usize) -> usize {
    texts.map(|text| text.chars().count()).filter(|&length| length <= widest).max().unwrap_or(0)
}

fn entry(column: &ColumnAdvice) -> String {
    let mut entry = format!("{{ role = \"{}\"", column.role.name());
    for key in &column.cleaning {
        let _ = write!(entry, ", {key}");
    }
    if let Some(hierarchy) = &column.hierarchy {
        let _ = write!(entry, ", hierarchy = {hierarchy}");
    }
    if let Some(levels) = column.levels.as_ref().filter(|_| column.role == Role::Quasi) {
        let _ = write!(entry, ", levels = {levels}");
    }
    if column.weight != 1 && column.role == Role::Quasi {
        let _ = write!(entry, ", weight = {}", column.weight);
    }
    if column.unmapped == Unmapped::Suppressed && column.role == Role::Quasi {
        entry += ", unmapped = \"suppress\"";
    }
    if let Role::Other { reason } = &column.role {
        let _ = write!(entry, ", reason = {}", quoted(reason));
    }
    entry + " }"
}

/// A column's name as a key of TOML.
pub(super) fn key(name: &str) -> String {
    let bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare && !name.is_empty() { name.into() } else { quoted(name) }
}

/// A text in quotes, as TOML reads it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            c if c.is_control() => _ = write!(quoted, "\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A column's name in a sentence.
pub(super) fn shown(name: &str) -> String {
    format!("`{}`", name.replace(char::is_control, " "))
}
