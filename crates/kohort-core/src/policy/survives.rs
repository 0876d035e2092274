//! `[[check]]`: means and models whose results are compared before and after. Nothing in them changes the release.

use super::column::Column;
use super::section::{Section, Value, nearest};
use crate::Result;

/// A result that an analyst will compute, by the places of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// The mean of a column, in each group of another if one is named.
    Mean {
        /// The column of numbers.
        of: usize,
        /// The column of groups.
        by: Option<usize>,
    },
    /// The coefficients of a model.
    Model {
        /// The kind of the model.
        kind: ModelKind,
        /// The column that it explains.
        outcome: usize,
        /// The columns that it explains it by.
        on: Vec<usize>,
    },
}

/// The kind of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelKind {
    /// Least squares.
    Linear,
    /// The log odds of the second of two values.
    Logistic,
}

/// Reads the checks over the released columns.
pub(super) fn read(root: &Section, columns: &[Column]) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for item in root.list("check")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("check", "must be [[check]] sections, each with mean, linear or logistic."));
        };
        section.only(&["mean", "by", "linear", "logistic", "on"])?;
        let find = |key: &str, name: &str| {
            let released = || columns.iter().filter(|column| column.role.is_released());
            match columns.iter().position(|column| column.name == name && column.role.is_released()) {
                Some(place) => Ok(place),
                None => {
                    let hint = nearest(name, released().map(|column| column.name.as_str()));
                    let hint = hint.map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
                    Err(section.wrong(key, format!("`{name}` is not a released column.{hint}")))
                }
            }
        };
        let named = |key: &str| section.text(key)?.map(|name| find(key, name)).transpose();
        let (mean, linear, logistic) = (named("mean")?, named("linear")?, named("logistic")?);
        let on = section.texts("on")?.unwrap_or_default();
        let on = on.iter().map(|name| find("on", name)).collect::<Result<Vec<usize>>>()?;
        let by = named("by")?;
        let model = |kind, outcome| match (by, &on[..]) {
            (Some(_), _) => Err(section.wrong("by", "can only be used with `mean`.")),
            (None, []) => {
                Err(section.error(section.line, "[[check]] needs `on`: the columns that explain the outcome."))
            }
            (None, on) if on.contains(&outcome) => Err(section.wrong("on", "names the outcome itself.")),
            (None, on) => Ok(Check::Model { kind, outcome, on: on.to_vec() }),
        };
        checks.push(match (mean, linear, logistic) {
            (Some(of), None, None) if on.is_empty() => Check::Mean { of, by },
            (None, Some(outcome), None) => model(ModelKind::Linear, outcome)?,
            (None, None, Some(outcome)) => model(ModelKind::Logistic, outcome)?,
            _ => {
                return Err(section.error(
                    section.line,
                    "[[check]] needs one of: mean = \"…\" (with `by`), linear = \"…\" or logistic = \"…\" (with `on`).",
                ));
            }
        });
    }
    Ok(checks)
}
