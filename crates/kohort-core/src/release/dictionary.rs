//! dictionary.md: what each column of a release now means, for the people who receive it.

use super::plan::Plan;
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, Role};

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
            Role::Sensitive { .. } | Role::Class | Role::Other { .. } => "as in the source".into(),
            Role::Identifier | Role::Patient => continue,
        };
        text += &format!("| {} | {} | {} |\n", escape(&bound.name), bound.role.name(), escape(&shows));
    }
    text += "\nWhat is guaranteed, and how to count it again: `certificate.json`, with `kohort verify`.\n";
    text
}

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
        (Some(q), None) => match &plan.changed[q].labels[..] {
            [one] if one.text == SUPPRESSED => "suppressed".into(),
            _ => format!("values and coarser labels side by side, each value under one label: {}", bound.rule_text),
        },
        _ => bound.rule_text.clone(),
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
