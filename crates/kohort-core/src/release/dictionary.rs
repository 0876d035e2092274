//! dictionary.md: what each column of a release now means, for the people who receive it.

use super::catalog::CATALOG_FILE;
use super::events::{CLAIMS_FILE, EventsPlan, PATIENTS_FILE};
use super::plan::{Plan, Recoding};
use crate::cohort::Cohort;
use crate::events::{Column, Copied, Histories, Leaves};
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
         - `*`: suppressed, or generalized to nothing.\n\
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
                _ => format!("as in the source; a detail of {}", of.join(", ")),
            },
            Role::Sensitive { .. } | Role::Class | Role::Codes { .. } | Role::Pseudonym | Role::Other { .. } => {
                "as in the source".into()
            }
            Role::Identifier | Role::Patient => continue,
        };
        text += &format!("| {} | {} | {} |\n", escape(&bound.name), bound.role.name(), escape(&shows));
    }
    if policy.own.invents.is_some() {
        text += "\nSome rows may be invented: they stand for nobody, and nothing in them tells so. Counts are too high by them.\n";
    }
    if let Some(catalog) = &plan.catalog {
        text += &format!(
            "\n`{CATALOG_FILE}`: how many invented rows there are. `classes` are numbers of classes, separated by blanks; the rows of a class are alike in all columns with role quasi, and classes are numbered from 1 in the order in which they first come in `{file}`. Among the rows of these classes with that value in `{}`, `counterfeits` are invented. `kohort truthful` makes a view of the release without them.\n",
            escape(&policy.columns[catalog.column].name)
        );
    }
    text += "\nWhat is guaranteed, and how to count it again: `certificate.json`, with `kohort verify`.\n";
    text
}

/// The data dictionary of a release of codes.
pub fn codes_dictionary(file: &str, (k, m): (u64, usize)) -> String {
    format!(
        "# Data dictionary\n\n`{file}`: lines of JSON, UTF-8, in random order. The first line names the format \
         (`kohort-clusters`, version 1), k = {k} and m = {m}. Every further line is a cluster of patients, or a joint one.\n\n\
         | key | what it holds |\n|---|---|\n\
         | `size` | patients in the cluster |\n\
         | `record_chunks` | each with `domain` (its codes) and `subrecords`: what single patients of the cluster have of these codes |\n\
         | `item_chunk` | codes that at least one patient of the cluster has; how many is not told |\n\
         | `members` | the clusters of a joint cluster, which may be joint themselves |\n\
         | `shared_chunks` | as `record_chunks`, but of patients of any member |\n\n\
         - Subrecords of different chunks do not tell which belong to one patient.\n\
         - Patients without any code of a domain have no subrecord there: `size` tells how many there are.\n\
         - Codes are as in the source; a code with `#2` is its second time in a record.\n\
         - `kohort reconstruct` makes plain data sets out of it: each is one that could have been.\n\n\
         What is guaranteed, and how to count it again: `certificate.json`, with `kohort verify`.\n"
    )
}

/// The data dictionary of patients and their events.
pub fn events_dictionary(policy: &Policy<Events>, histories: &Histories, plan: &EventsPlan) -> String {
    let mut text = format!(
        "# Data dictionary\n\n`{PATIENTS_FILE}`: a row for each patient. `{CLAIMS_FILE}`: a row for each event. Both are \
         text, UTF-8, and are linked by `patient`, a random number that stands in no other file. Events of a patient are in random order.\n\n\
         - `*`: suppressed, or generalized to nothing.\n\
         - an empty cell: missing in the source.\n\
         - `[30,60)`: from 30 up to but not including 60; `<0`: below 0; `>=182`: 182 or more.\n\
         - `123*`: begins with 123. `2010-Q1`: first quarter; `2010s`: 2010 to 2019.\n\n"
    );
    let of_patients = &policy.own.patients[..];
    let tables: [Described; 2] = [
        (PATIENTS_FILE, of_patients, &histories.patient, &plan.patient_levels, &histories.patient_copied),
        (CLAIMS_FILE, &policy.columns, &histories.event, &plan.event_levels, &histories.event_copied),
    ];
    for (file, policies, quasi, levels, copied) in tables {
        text += &format!("## {file}\n\n| column | role | what it shows |\n|---|---|---|\n");
        text += "| patient | id | a random number for each patient |\n";
        for (column, &level) in quasi.iter().zip(levels) {
            let (own, top) = (&policies[column.column], column.hierarchy.levels.len() - 1);
            let shows = match level {
                level if level == top => "suppressed".to_string(),
                level => format!("level {level} of {top} (`{}`): {}", column.level(level).name, own.rule_text),
            };
            text += &format!("| {} | quasi | {} |\n", escape(&column.name), escape(&shows));
        }
        for column in copied {
            let shows = match column.leaves {
                Leaves::AsItIs => "as in the source",
                Leaves::AsPseudonym => "a random number for each patient and value: it gathers nothing across patients",
            };
            text += &format!("| {} | {} | {shows} |\n", escape(&column.name), policies[column.column].role.name());
        }
        text.push('\n');
    }
    text += "Some events may be missing: those of patients who would stand out. Months are counted as 1/12 of 365.25 days.\n\n";
    text += "What is guaranteed, and how to count it again: `certificate.json`, with `kohort verify`.\n";
    text
}

/// A table's file, what the policy says of its columns, those that were generalized and to which
/// levels, and the others.
type Described<'a> = (&'a str, &'a [policy::Column], &'a [Column], &'a [usize], &'a [Copied]);

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
                format!(
                    "level 0 of {}: as in the source, but for what the hierarchy pools ({})",
                    own.len() - 1,
                    bound.rule_text
                )
            } else {
                format!("level {level} of {} (`{}`): {}", own.len() - 1, own[level].name, bound.rule_text)
            }
        }
        (Some(q), None) if plan.recoding == Recoding::ByValue => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => "suppressed".into(),
            _ => format!("values and coarser labels side by side, each value under one label: {}", bound.rule_text),
        },
        _ => bound.rule_text.clone(),
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
