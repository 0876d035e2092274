//! Checks of a policy's columns against each other and against its requirements.

use super::any::CodesLayout;
use super::column::{Column, Role};
use super::privacy::Privacy;
use super::section::Section;
use crate::Result;

/// Checks that a table of codes releases the codes, of which one column holds all, and quasi-identifiers only.
pub(super) fn check_codes(root: &Section, layout: CodesLayout, columns: &[Column]) -> Result<()> {
    let wrong = |message: String| Err(root.error(root.get("columns").map_or(0, |i| i.line), message));
    let (codes, others): (Vec<&Column>, Vec<&Column>) =
        columns.iter().partition(|c| matches!(c.role, Role::Codes { .. }));
    match (&codes[..], layout) {
        ([one], CodesLayout::List) if one.role == (Role::Codes { separator: None }) => {
            return wrong(format!(
                "`{}` holds all codes of a patient, but has no `separator`. Set {{ role = \"codes\", separator \
                 = \" \" }}.",
                one.name
            ));
        }
        ([_], _) => {}
        _ => {
            return wrong(format!(
                "{} columns have role = \"codes\". Only one column may hold the codes.",
                codes.len()
            ));
        }
    }
    if let Some(other) = others.iter().find(|c| !matches!(c.role, Role::Identifier | Role::Patient | Role::Quasi)) {
        return wrong(format!(
            "`{}` has the role \"{}\", but of a table of codes \
             only the codes and quasi-identifiers are released. Drop the column with role = \"identifier\".",
            other.name,
            other.role.name()
        ));
    }
    if layout == CodesLayout::Long && others.iter().all(|c| c.role != Role::Patient) {
        return wrong(
            "layout = \"long\" needs a column with role = \"patient\" that states whose code each row \
             is."
            .into(),
        );
    }
    Ok(())
}

/// Checks the roles of a table's columns against each other. `is_table`: it is neither of codes nor of events.
pub(super) fn check_roles(section: &Section, columns: &[Column], is_table: bool) -> Result<()> {
    let patients: Vec<&str> = columns.iter().filter(|c| c.role == Role::Patient).map(|c| c.name.as_str()).collect();
    if let [one, other, ..] = patients[..] {
        return Err(section.error(
            section.line,
            format!("`{one}` and `{other}` both have role = \"patient\". A table has one patient column."),
        ));
    }
    for column in columns {
        if matches!(column.role, Role::Codes { .. }) && is_table {
            return Err(section.error(
                section.line,
                format!(
                    "`{}` has role = \"codes\". Set layout = \"list\" (one row per patient) or \"long\" \
                     (one row per code) under [input].",
                    column.name
                ),
            ));
        }
        let (of, is) = match &column.role {
            Role::Detail { of } => (of, "a detail of"),
            _ => (&column.of, "finer than"),
        };
        for name in of {
            if *name == column.name || !columns.iter().any(|c| c.name == *name && c.role == Role::Quasi) {
                return Err(section.error(
                    section.line,
                    format!("`{}` is {is} `{name}`, which is not another column with role = \"quasi\".", column.name),
                ));
            }
        }
    }
    Ok(())
}

/// The advice at the end of a note about sensitive columns that no requirement protects.
pub const ADD_CONFIDENCE: &str = "Add `confidence = 0.5`.";

/// Checks that requirements on sensitive values and sensitive columns go together.
pub(super) fn check_sensitive(
    section: &Section,
    privacy: &Privacy,
    columns: &[Column],
    notes: &mut Vec<String>,
) -> Result<()> {
    let sensitive: Vec<&str> =
        columns.iter().filter(|c| matches!(c.role, Role::Sensitive { .. })).map(|c| c.name.as_str()).collect();
    for key in ["confidence", "l_diversity", "t_closeness"] {
        if section.get(key).is_some() && sensitive.is_empty() {
            return Err(section.wrong(
                key,
                "limits what is revealed about sensitive values, but no column has role = \
                 \"sensitive\".",
            ));
        }
    }
    if !privacy.reads_sensitive() && !sensitive.is_empty() {
        let quoted: Vec<String> = sensitive.iter().map(|name| format!("`{name}`")).collect();
        let (last, others) = quoted.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
        let subject = match others {
            [] => format!("{last} is"),
            others => format!("{} and {last} are", others.join(", ")),
        };
        notes.push(format!(
            "{subject} not protected: if everyone in a group has the same value, it is revealed. {ADD_CONFIDENCE}"
        ));
    }
    Ok(())
}
