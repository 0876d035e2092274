//! dictionary.md: what each column of a release now means, for the people who receive it.

use super::catalog::CATALOG_FILE;
use super::events::{EventsPlan, PATIENTS_FILE, table_file};
use super::fineness;
use super::plan::{Plan, Recoding};
use crate::cohort::Cohort;
use crate::events::{Copied, Histories, QuasiColumn, ReleasedAs};
use crate::hierarchy::SUPPRESSED;
use crate::policy::{self, Policy, Role};
use crate::shape::Events;

/// The data dictionary of a relational release.
pub fn data_dictionary(policy: &Policy, cohort: &Cohort, plan: &Plan, file: &str, delimiter: u8) -> String {
    let separated = match delimiter {
        _ if file.ends_with(".parquet") => "Parquet".to_string(),
        b'\t' => "text, cells separated by tabs".to_string(),
        d => format!("text, cells separated by `{}`", char::from(d)),
    };
    let mut text = format!(
        "# Data dictionary\n\n`{file}`: {separated}, UTF-8. Rows are in random order.\n\n\
         - `*`: suppressed.\n\
         - {}: missing in the source.\n\
         - `[30,60)`: from 30 up to but not including 60; `<0`: below 0; `>=100`: 100 or more.\n\
         - `123*`: begins with 123. `2010-Q1`: first quarter; `2010s`: 2010 to 2019.\n\n\
         | column | role | what it shows |\n|---|---|---|\n",
        if file.ends_with(".parquet") { "null" } else { "an empty cell" }
    );
    for column in policy.released() {
        let bound = &policy.columns[column];
        let shows = match &bound.role {
            Role::Quasi => quasi(policy, cohort, plan, column),
            Role::Detail { of } => match plan.changed.iter().find(|c| c.column == column) {
                Some(changed) if changed.labels.len() == 1 && changed.labels[0].text == "*" => "suppressed".into(),
                _ => format!("as in the source, or suppressed; a detail of {}", markdown(&of.join(", "))),
            },
            Role::Sensitive { .. } | Role::Class | Role::Codes { .. } | Role::Pseudonym | Role::Other { .. } => {
                "as in the source".into()
            }
            Role::Identifier | Role::Patient => continue,
        };
        text += &format!("| {} | {} | {shows}{} |\n", markdown(&bound.name), bound.role.name(), cleaned(bound));
    }
    if policy.own.synthetic.is_some() {
        text += "\nSome rows may be synthetic records. They describe no real person, and nothing in the file marks them. They make counts too high.\n";
    }
    if let Some(catalog) = &plan.catalog {
        text += &format!(
            "\n`{CATALOG_FILE}`: how many synthetic records there are. `classes` lists numbers of equivalence classes, separated by blanks. The rows of a class are equal in all columns with role quasi, and classes are numbered from 1 in the order in which they first occur in `{file}`. Of the rows of these classes with that value in {}, `counterfeits` are synthetic. `kohort truthful` makes a view of the release without them.\n",
            markdown(&policy.columns[catalog.column].name)
        );
    }
    text += &fineness::section(cohort, plan, file, markdown);
    text += "\n`certificate.json` states what is guaranteed. `kohort verify` checks it.\n";
    text
}

/// The data dictionary of a release of codes.
pub fn codes_dictionary(file: &str, (k, m): (u64, usize)) -> String {
    format!(
        "# Data dictionary\n\n`{file}`: lines of JSON, UTF-8, in random order. The first line names the format \
         (`kohort-clusters`, version 1), k = {k} and m = {m}. Every further line is a cluster of patients or a joint cluster.\n\n\
         | key | what it holds |\n|---|---|\n\
         | `size` | patients in the cluster |\n\
         | `record_chunks` | each with `domain` (its codes) and `subrecords`: the codes of the domain that single patients of the cluster have |\n\
         | `item_chunk` | codes that at least one patient of the cluster has; how many have them is not released |\n\
         | `members` | the clusters of a joint cluster, which may be joint themselves |\n\
         | `shared_chunks` | like `record_chunks`, but of patients of any member |\n\n\
         - Nothing links subrecords of different chunks that belong to the same patient.\n\
         - Patients without any code of a domain have no subrecord there. `size` minus the number of subrecords is the number of such patients.\n\
         - Codes are as in the source. A code with `#2` is the second occurrence of that code in a record.\n\
         - `kohort reconstruct` makes ordinary data sets from the release. Each is one of those that are consistent with the release.\n\n\
         `certificate.json` states what is guaranteed. `kohort verify` checks it.\n"
    )
}

/// The data dictionary of patients and their events.
pub fn events_dictionary(policy: &Policy<Events>, histories: &Histories, plan: &EventsPlan) -> String {
    let events: Vec<String> = histories.tables.iter().map(|table| table_file(&table.name)).collect();
    let mut text = format!(
        "# Data dictionary\n\n`{PATIENTS_FILE}`: a row for each patient. `{}`: a row for each event. They are \
         text, UTF-8, and are linked by `patient`, a random number that is in no other file. The events of a patient are in random order.\n\n\
         - `*`: suppressed.\n\
         - an empty cell: missing in the source.\n\
         - `[30,60)`: from 30 up to but not including 60; `<0`: below 0; `>=182`: 182 or more.\n\
         - `123*`: begins with 123. `2010-Q1`: first quarter; `2010s`: 2010 to 2019.\n\n",
        events.join("`, `")
    );
    let of_patients = &policy.own.patients[..];
    let mut tables: Vec<Described> =
        vec![(PATIENTS_FILE, of_patients, &histories.patient, &plan.patient_levels, &histories.patient_copied)];
    for (t, (table, file)) in histories.tables.iter().zip(&events).enumerate() {
        let own = histories.columns_of(t);
        let (quasi, levels) = (&histories.event[own.clone()], &plan.event_levels[own]);
        tables.push((file, &policy.own.tables[t].columns, quasi, levels, &table.copied));
    }
    for (file, policies, quasi, levels, copied) in tables {
        text += &format!("## {file}\n\n| column | role | what it shows |\n|---|---|---|\n");
        text += "| patient | id | a random number for each patient |\n";
        for (column, &level) in quasi.iter().zip(levels) {
            let (own, top) = (&policies[column.column], column.hierarchy.levels.len() - 1);
            let shows = match level {
                level if level == top => "suppressed".to_string(),
                level => at_level(level, top, &column.level(level).name, &own.rule_text),
            };
            text += &format!("| {} | quasi | {shows}{} |\n", markdown(&column.name), cleaned(own));
        }
        for column in copied {
            let shows = match column.leaves {
                ReleasedAs::Unchanged => "as in the source",
                ReleasedAs::AsPseudonym => "a random number for each patient and value; it does not link patients",
            };
            let own = &policies[column.column];
            text += &format!("| {} | {} | {shows}{} |\n", markdown(&column.name), own.role.name(), cleaned(own));
        }
        text.push('\n');
    }
    text += "Some events may be missing: events of patients who would be at high risk are suppressed. A month is 1/12 of 365.25 days.\n\n";
    text += "`certificate.json` states what is guaranteed. `kohort verify` checks it.\n";
    text
}

/// A table's file, what the policy says of its columns, those that were generalized and to which
/// levels, and the others.
type Described<'a> = (&'a str, &'a [policy::Column], &'a [QuasiColumn], &'a [usize], &'a [Copied]);

fn quasi(policy: &Policy, cohort: &Cohort, plan: &Plan, column: usize) -> String {
    let bound = &policy.columns[column];
    let position = cohort.quasi.iter().position(|q| q.column == column);
    match (position, &plan.levels) {
        (Some(q), Some(levels)) => {
            let own = &cohort.quasi[q].hierarchy.levels;
            let level = levels[q];
            if level + 1 == own.len() {
                "suppressed".into()
            } else if level == 0 {
                format!("level 0 of {}: unchanged ({})", own.len() - 1, markdown(&bound.rule_text))
            } else {
                at_level(level, own.len() - 1, &own[level].name, &bound.rule_text)
            }
        }
        (Some(q), None) if plan.recoding == Recoding::ByValue => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => "suppressed".into(),
            _ => format!(
                "original values and coarser labels; each original value has one label: {}",
                markdown(&bound.rule_text)
            ),
        },
        (Some(q), None) if plan.recoding == Recoding::ByRecord => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => "suppressed".into(),
            _ => format!("original values and coarser labels, see below: {}", markdown(&bound.rule_text)),
        },
        _ => markdown(&bound.rule_text),
    }
}

/// How a column was cleaned or derived before it was generalized.
fn cleaned(column: &policy::Column) -> String {
    match &column.cleaning[..] {
        [] => String::new(),
        steps => format!("; before that, {}", markdown(&steps.join("; "))),
    }
}

/// A level of a hierarchy, with its name and the rule it comes from.
fn at_level(level: usize, top: usize, name: &str, rule: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric());
    let name = if plain { format!("`{name}`") } else { markdown(name) };
    format!("level {level} of {top} ({name}): {}", markdown(rule))
}

/// Text as Markdown shows it: no markup, no HTML, no line break, and nothing that changes the direction of writing.
///
/// Names of columns come from the data and may hold anything. A dictionary may be opened in a browser.
pub fn markdown(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut escaped = String::with_capacity(text.len());
    for (i, &c) in chars.iter().enumerate() {
        let alphanumeric = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            c if c.is_control() || turns(c) => escaped.push('\u{fffd}'),
            // Within a word, an underscore is itself.
            '_' if alphanumeric(i.checked_sub(1)) && alphanumeric(Some(i + 1)) => escaped.push('_'),
            '\\' | '`' | '*' | '_' | '~' | '|' | '[' | ']' | '#' | '!' | '$' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Marks that change the direction of writing.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn names_of_columns_make_no_markup() {
        for (name, expected) in [
            ("age", "age"),
            ("length_of_stay", "length_of_stay"),
            ("_hidden_", "\\_hidden\\_"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a&amp;b", "a&amp;amp;b"),
            ("![x](http://a)", "\\!\\[x\\](http://a)"),
            ("a|b\nc `d` *e* ~~f~~", "a\\|b c \\`d\\` \\*e\\* \\~\\~f\\~\\~"),
            ("back\\slash", "back\\\\slash"),
            ("\u{202e}txt\u{0}", "\u{fffd}txt\u{fffd}"),
        ] {
            assert_eq!(markdown(name), expected);
        }
    }
}
