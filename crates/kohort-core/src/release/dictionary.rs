//! dictionary.md: what each column of a release now means, for the people who receive it.

use super::catalog::CATALOG_FILE;
use super::data_file::PARTS;
use super::events::{EventsPlan, PATIENTS_FILE, table_file};
use super::fineness;
use super::label_levels::HIERARCHY_FILE;
use super::plan::{Plan, Recoding};
use super::write::Written;
use crate::cohort::Cohort;
use crate::events::{Copied, Histories, QuasiColumn, ReleasedAs};
use crate::hierarchy::{Hierarchy, SUPPRESSED};
use crate::policy::{self, Policy, Role};
use crate::shape::{Codes, Events};
use crate::visible::is_shown;

/// The text about a quasi-identifier in which each value has one label.
pub(crate) const ONE_LABEL_EACH: &str = "original values and coarser labels; each original value has one label: ";
/// The text about a quasi-identifier in which every record was coarsened by itself.
pub(crate) const SEE_BELOW: &str = "original values and coarser labels, see below: ";
/// A column that shows nothing.
pub(crate) const SUPPRESSED_THROUGHOUT: &str = "suppressed";
/// Stands between what a column shows and how it was cleaned.
pub(crate) const BEFORE_THAT: &str = "; before that, ";
/// A column that is released unchanged.
pub(crate) const AS_IN_THE_SOURCE: &str = "as in the source";
/// A random number in place of a value.
pub(crate) const PSEUDONYM: &str = "a random number for each patient and value; it does not link patients";
/// The line about the random id that links the tables of patients and events.
pub(crate) const PATIENT_LINE: &str = "| patient | id | a random number for each patient |\n";
/// The text about synthetic records, in a release that has some.
pub(crate) const SOME_SYNTHETIC: &str = "\nSome rows may be synthetic records. They describe no real person, and nothing in the file marks them. They make counts too high.\n";
/// The text below the tables, in a release of events.
pub(crate) const SOME_MISSING: &str = "Some events may be missing: events of patients who would be at high risk are suppressed. A month is 1/12 of 365.25 days.\n\n";
/// The last line of every dictionary.
pub(crate) const LAST_LINE: &str = "`certificate.json` states what is guaranteed. `kohort verify` checks it.\n";

/// Returns whether a data file is Parquet, or a folder of its parts.
pub(crate) fn is_parquet(file: &str) -> bool {
    file == PARTS || file.ends_with(".parquet")
}

/// The first lines of a dictionary of a table.
pub(crate) fn head_of_table(file: &str, delimiter: u8) -> String {
    let separated = match delimiter {
        _ if is_parquet(file) => "Parquet".to_string(),
        b'\t' => "text, cells separated by tabs".to_string(),
        d => format!("text, cells separated by `{}`", char::from(d)),
    };
    format!(
        "# Data dictionary\n\n`{file}`: {separated}, UTF-8. Rows are in random order.\n\n\
         - `*`: suppressed.\n\
         - {}: missing in the source.\n\
         - `[30,60)`: from 30 up to but not including 60; `<0`: below 0; `>=100`: 100 or more.\n\
         - `123*`: begins with 123. `2010-Q1`: first quarter; `2010s`: 2010 to 2019.\n\n\
         | column | role | what it shows |\n|---|---|---|\n",
        if is_parquet(file) { "null" } else { "an empty cell" }
    )
}

/// The text about a release's catalog of the synthetic records with values in a column.
pub(crate) fn about_catalog(file: &str, column: &str) -> String {
    format!(
        "\n`{CATALOG_FILE}`: how many synthetic records there are. `classes` lists numbers of equivalence classes, separated by blanks. The rows of a class are equal in all columns with role quasi, and classes are numbered from 1 in the order in which they first occur in `{file}`. Of the rows of these classes with that value in {}, `counterfeits` are synthetic. `kohort truthful` makes a view of the release without them.\n",
        markdown(column)
    )
}

/// The data dictionary of a relational release, as it was written.
pub fn data_dictionary(policy: &Policy, cohort: &Cohort, plan: &Plan, written: &Written, delimiter: u8) -> String {
    let file = written.file.as_str();
    let mut text = head_of_table(file, delimiter);
    for column in policy.released() {
        let bound = &policy.columns[column];
        let shows = match &bound.role {
            Role::Quasi => quasi(policy, cohort, plan, column),
            Role::Detail { of } => match plan.changed.iter().find(|c| c.column == column) {
                Some(changed) if changed.labels.len() == 1 && changed.labels[0].text == "*" => {
                    SUPPRESSED_THROUGHOUT.into()
                }
                _ => detail_of(of),
            },
            Role::Sensitive { .. } | Role::Class | Role::Codes { .. } | Role::Pseudonym | Role::Other { .. } => {
                AS_IN_THE_SOURCE.into()
            }
            Role::Identifier | Role::Patient => continue,
        };
        text += &format!("| {} | {} | {shows}{} |\n", markdown(&bound.name), bound.role.name(), cleaned(bound));
    }
    if policy.own.synthetic.is_some() {
        text += SOME_SYNTHETIC;
    }
    if let Some(catalog) = &plan.catalog {
        text += &about_catalog(file, &policy.columns[catalog.column].name);
    }
    // The recipient needs the hierarchy for it.
    if written.beside.iter().any(|own| own == HIERARCHY_FILE) {
        text += &fineness::section(policy, cohort, plan, file);
    }
    text + "\n" + LAST_LINE
}

/// The first lines of a dictionary of codes, with labels of quasi-identifiers or without.
pub(crate) fn head_of_codes(file: &str, k: u64, m: usize, has_cells: bool) -> String {
    let (version, cells) = match has_cells {
        false => (1, ""),
        true => {
            (2, "| `cells` | the labels that all patients of the cluster share, one for each of the columns below |\n")
        }
    };
    format!(
        "# Data dictionary\n\n`{file}`: lines of JSON, UTF-8, in random order. The first line names the format \
         (`kohort-clusters`, version {version}), k = {k} and m = {m}. Every further line is a cluster of patients or a joint cluster.\n\n\
         | key | what it holds |\n|---|---|\n\
         | `size` | patients in the cluster |\n\
         {cells}| `record_chunks` | each with `domain` (its codes) and `subrecords`: the codes of the domain that single patients of the cluster have |\n\
         | `item_chunk` | codes that at least one patient of the cluster has; how many have them is not released |\n\
         | `members` | the clusters of a joint cluster, which may be joint themselves |\n\
         | `shared_chunks` | like `record_chunks`, but of patients of any member |\n\n\
         - Nothing links subrecords of different chunks that belong to the same patient.\n\
         - Patients without any code of a domain have no subrecord there. `size` minus the number of subrecords is the number of such patients.\n\
         - Codes are as in the source. A code with `#2` is the second occurrence of that code in a record.\n\
         - `kohort reconstruct` makes ordinary data sets from the release. Each is one of those that are consistent with the release.\n"
    )
}

/// The lines before the columns whose labels clusters of codes show.
pub(crate) const HEAD_OF_CELLS: &str = "\nThe columns of `cells`, in their order. Clusters show labels of different levels: `*` is suppressed, an empty label is missing in the source, and `[30,60)` is from 30 up to but not including 60.\n\n| column | what it shows |\n|---|---|\n";

/// The beginning of the line of such a column.
pub(crate) fn head_of_cell(column: &str) -> String {
    format!("| {} | original values and coarser labels: ", markdown(column))
}

/// The rest of the line of such a column, but for its end.
pub(crate) fn rule_of_cell(column: &policy::Column) -> String {
    format!("{}{}", markdown(&column.rule_text), cleaned(column))
}

/// The data dictionary of a release of codes.
pub fn codes_dictionary(file: &str, policy: &Policy<Codes>) -> String {
    let quasi = policy.quasi();
    let mut text = head_of_codes(file, policy.privacy.k.get(), policy.privacy.known_codes(), !quasi.is_empty());
    if !quasi.is_empty() {
        text += HEAD_OF_CELLS;
        for column in quasi.into_iter().map(|column| &policy.columns[column]) {
            text += &format!("{}{} |\n", head_of_cell(&column.name), rule_of_cell(column));
        }
    }
    text + "\n" + LAST_LINE
}

/// The text about a column that is a detail of others.
pub(crate) fn detail_of(of: &[String]) -> String {
    format!("as in the source, or suppressed; a detail of {}", markdown(&of.join(", ")))
}

/// The first lines of a dictionary of patients and their events.
pub(crate) fn head_of_events(events: &[String]) -> String {
    format!(
        "# Data dictionary\n\n`{PATIENTS_FILE}`: a row for each patient. `{}`: a row for each event. They are \
         text, UTF-8, and are linked by `patient`, a random number that is in no other file. The events of a patient are in random order.\n\n\
         - `*`: suppressed.\n\
         - an empty cell: missing in the source.\n\
         - `[30,60)`: from 30 up to but not including 60; `<0`: below 0; `>=182`: 182 or more.\n\
         - `123*`: begins with 123. `2010-Q1`: first quarter; `2010s`: 2010 to 2019.\n\n",
        events.join("`, `")
    )
}

/// The line before the columns of a file of patients or events.
pub(crate) fn head_of_file(file: &str) -> String {
    format!("## {file}\n\n| column | role | what it shows |\n|---|---|---|\n")
}

/// The data dictionary of patients and their events.
pub fn events_dictionary(policy: &Policy<Events>, histories: &Histories, plan: &EventsPlan) -> String {
    let events: Vec<String> = histories.tables.iter().map(|table| table_file(&table.name)).collect();
    let mut text = head_of_events(&events);
    let of_patients = &policy.own.patients[..];
    let mut tables: Vec<Described> =
        vec![(PATIENTS_FILE, of_patients, &histories.patient, &plan.patient_levels, &histories.patient_copied)];
    for (t, (table, file)) in histories.tables.iter().zip(&events).enumerate() {
        let own = histories.columns_of(t);
        let (quasi, levels) = (&histories.event[own.clone()], &plan.event_levels[own]);
        tables.push((file, &policy.own.tables[t].columns, quasi, levels, &table.copied));
    }
    for (file, policies, quasi, levels, copied) in tables {
        text += &head_of_file(file);
        text += PATIENT_LINE;
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
                ReleasedAs::Unchanged => AS_IN_THE_SOURCE,
                ReleasedAs::AsPseudonym => PSEUDONYM,
            };
            let own = &policies[column.column];
            text += &format!("| {} | {} | {shows}{} |\n", markdown(&column.name), own.role.name(), cleaned(own));
        }
        text.push('\n');
    }
    text + SOME_MISSING + LAST_LINE
}

/// A table's file, what the policy says of its columns, those that were generalized and to which
/// levels, and the others.
type Described<'a> = (&'a str, &'a [policy::Column], &'a [QuasiColumn], &'a [usize], &'a [Copied]);

fn quasi(policy: &Policy, cohort: &Cohort, plan: &Plan, column: usize) -> String {
    let bound = &policy.columns[column];
    let position = cohort.quasi.iter().position(|q| q.column == column);
    match (position, &plan.levels) {
        (Some(q), Some(levels)) => at_one_level(&cohort.quasi[q].hierarchy, levels[q], &bound.rule_text),
        (Some(q), None) if plan.recoding == Recoding::ByValue => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => SUPPRESSED_THROUGHOUT.into(),
            _ => format!("{ONE_LABEL_EACH}{}", markdown(&bound.rule_text)),
        },
        (Some(q), None) if plan.recoding == Recoding::ByRecord => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => SUPPRESSED_THROUGHOUT.into(),
            _ => format!("{SEE_BELOW}{}", markdown(&bound.rule_text)),
        },
        _ => markdown(&bound.rule_text),
    }
}

/// How a column was cleaned or derived before it was generalized.
pub(crate) fn cleaned(column: &policy::Column) -> String {
    match &column.cleaning[..] {
        [] => String::new(),
        steps => format!("{BEFORE_THAT}{}", markdown(&steps.join("; "))),
    }
}

/// Describes a column whose cells are all at one level of its hierarchy.
pub(crate) fn at_one_level(hierarchy: &Hierarchy, level: usize, rule: &str) -> String {
    let top = hierarchy.levels.len() - 1;
    match level {
        level if level == top => SUPPRESSED_THROUGHOUT.into(),
        0 => format!("level 0 of {top}: unchanged ({})", markdown(rule)),
        level => at_level(level, top, &hierarchy.levels[level].name, rule),
    }
}

/// A level of a hierarchy, with its name and the rule it comes from.
fn at_level(level: usize, top: usize, name: &str, rule: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric());
    let name = if plain { format!("`{name}`") } else { markdown(name) };
    format!("level {level} of {top} ({name}): {}", markdown(rule))
}

/// Text as Markdown shows it: no markup, no HTML, no line break, and no character that is hidden or steers a line.
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
            _ if !is_shown(&chars, i) => escaped.push('\u{fffd}'),
            // Within a word, an underscore is itself.
            '_' if alphanumeric(i.checked_sub(1)) && alphanumeric(Some(i + 1)) => escaped.push('_'),
            c if MARKS.contains(&c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns whether a line is Markdown without any markup, as [`markdown`] writes it. A single word between backquotes
/// is none: names of levels are written so.
pub(crate) fn is_without_markup(line: &str) -> bool {
    let chars: Vec<char> = line.chars().collect();
    let is_word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    let starts_with = |at: usize, words: &str| words.chars().eq(chars[at..].iter().copied().take(words.len()));
    let mut at = 0;
    while at < chars.len() {
        at += match chars[at] {
            '\\' if chars.get(at + 1).is_some_and(|c| MARKS.contains(c)) => 2,
            '`' => match chars[at + 1..].iter().position(|c| !c.is_alphanumeric()) {
                Some(word) if word > 0 && chars[at + 1 + word] == '`' => word + 2,
                _ => return false,
            },
            '&' => match ["&amp;", "&lt;", "&gt;"].into_iter().find(|own| starts_with(at, own)) {
                Some(own) => own.len(),
                None => return false,
            },
            '_' if is_word(at.checked_sub(1)) && is_word(Some(at + 1)) => 1,
            c if MARKS.contains(&c) || matches!(c, '<' | '>') || !is_shown(&chars, at) => return false,
            _ => 1,
        };
    }
    true
}

/// The characters that mean something in Markdown, wherever they are in a line.
const MARKS: [char; 11] = ['\\', '`', '*', '_', '~', '|', '[', ']', '#', '!', '$'];

#[cfg(test)]
mod tests {
    use super::{is_without_markup, markdown};

    #[test]
    fn markup_is_recognised() {
        for text in [
            "![x](http://a.example/x.png)",
            "[the data](http://a.example)",
            "**k = 100**",
            "~~not~~",
            "`a b`",
            "``",
            "a|b",
            "a &nbsp; b",
            "a & b",
            "<b>",
            "_so_",
            "$x$",
            "\\",
            "a \u{202e}b",
            "a\u{200b}b",
        ] {
            assert!(!is_without_markup(text), "{text}");
        }
        assert!(is_without_markup("level 1 of 3 (`20`): intervals of \\[0,20) &amp; length_of_stay"));
    }

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
            ("a\u{200b}b \u{645}\u{6cc}\u{200c}\u{62e}", "a\u{fffd}b \u{645}\u{6cc}\u{200c}\u{62e}"),
        ] {
            assert_eq!(markdown(name), expected);
            assert!(is_without_markup(expected), "{expected}");
        }
    }
}
