//! The part of dictionary.md about columns whose labels are of different levels.

use super::dictionary::markdown;
use super::label_levels::{ColumnLevels, HIERARCHY_FILE, levels_of};
use super::plan::Plan;
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::policy::Policy;
use std::collections::BTreeMap;

/// The first lines of this part.
pub(crate) const HEAD: &str = "\n## Labels of different fineness\n\nEvery record was coarsened by itself, so a column shows labels of \
                    different levels: an original value in one row, and a coarser label that holds it in another. Share of \
                    the rows with labels of each level:\n\n| column | levels, finest first |\n|---|---|\n";
/// The example where no column has a plain name.
pub(crate) const NO_EXAMPLE: &str = "age";
/// The lines about ranges.
pub(crate) const RANGES: &str = "\nSome labels of numbers or dates are the range of their own group of records, such as `[35,50)` or `[2010-03,2010-06)`, and counted here \
                 with the finest level of which one label holds it. Ranges overlap each other.\n";

/// Says how often each level occurs in each column, and how to analyse such columns.
pub(super) fn section(policy: &Policy, cohort: &Cohort, plan: &Plan, file: &str) -> String {
    let mut text = HEAD.to_string();
    let released = rows_by_cells(cohort, plan);
    let mut has_ranges = false;
    for (q, quasi) in cohort.quasi.iter().enumerate() {
        let labels = &plan.changed[q].labels;
        let mut rows: Vec<(&str, u64)> = labels.iter().map(|label| (label.text.as_str(), 0)).collect();
        for (cells, &own) in released.iter().enumerate() {
            rows[plan.row(cells as u32)[q] as usize].1 += own;
        }
        rows.retain(|(_, own)| *own > 0);
        let texts = rows.iter().map(|(text, _)| *text);
        let levels = levels_of(quasi, &policy.columns[quasi.column].rule, texts.clone());
        let levels = levels.unwrap_or_else(|| ColumnLevels::none(&quasi.name));
        has_ranges |= shows_ranges(&levels, texts);
        text += &line(&levels, rows.iter().copied());
    }
    if has_ranges {
        text += RANGES;
    }
    let (column, level) = example(cohort);
    text + &how_to_analyse(&column, level, file)
}

/// The line of a column: the share of its rows with labels of each level. `levels` are those that hierarchy.csv lists,
/// `rows` the released labels with their rows.
pub(crate) fn line<'a>(levels: &ColumnLevels, rows: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut by_level: BTreeMap<usize, u64> = BTreeMap::new();
    for (label, own) in rows.filter(|(_, own)| *own > 0) {
        let level = match levels.labels.get(label) {
            Some(own) => own.level,
            None if label.is_empty() => 0,
            // What is not listed has only `*` above it, or is `*`.
            None => usize::MAX,
        };
        *by_level.entry(level).or_default() += own;
    }
    let all: u64 = by_level.values().sum();
    let shares = by_level.iter().map(|(level, &own)| {
        let words = match (level, levels.names.get(level)) {
            (0, _) => "unchanged".to_string(),
            (level, Some(name)) => format!("level {level} ({})", markdown(name)),
            (_, None) => "suppressed".to_string(),
        };
        format!("{words}: {:.1} %", 100.0 * own as f64 / all.max(1) as f64)
    });
    format!("| {} | {} |\n", markdown(&levels.column), shares.collect::<Vec<_>>().join(", "))
}

/// Returns whether a released label is on none of the levels of its column.
pub(crate) fn shows_ranges<'a>(levels: &ColumnLevels, mut released: impl Iterator<Item = &'a str>) -> bool {
    released.any(|label| match levels.labels.get(label) {
        Some(own) => own.groups.first().is_none_or(|group| group != label),
        None => !label.is_empty() && label != SUPPRESSED,
    })
}

/// The released rows with labels of each level of a quasi-identifier. Synthetic records count, as whoever has the
/// release counts them.
pub fn rows_by_level(cohort: &Cohort, plan: &Plan, q: usize) -> BTreeMap<usize, u64> {
    let top = cohort.quasi[q].hierarchy.levels.len() - 1;
    let mut rows: BTreeMap<usize, u64> = BTreeMap::new();
    for (cells, &own) in rows_by_cells(cohort, plan).iter().enumerate().filter(|(_, rows)| **rows > 0) {
        let label = &plan.changed[q].labels[plan.row(cells as u32)[q] as usize];
        *rows.entry((label.height * top as f64).round() as usize).or_default() += own;
    }
    rows
}

/// The released rows with each combination of cells, synthetic records included.
fn rows_by_cells(cohort: &Cohort, plan: &Plan) -> Vec<u64> {
    let mut released = plan.rows_by_cells(cohort).into_owned();
    plan.added.iter().for_each(|own| released[own.cells as usize] += 1);
    released
}

/// Returns whether a name can be written in a program as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty()
}

/// A column whose name can be written in a program as it is, and one of its middle levels, for the examples.
fn example(cohort: &Cohort) -> (String, usize) {
    let found = cohort.quasi.iter().filter(|q| is_plain(&q.name)).max_by_key(|q| q.hierarchy.levels.len() > 2);
    found.map_or((NO_EXAMPLE.to_string(), 1), |q| (q.name.clone(), (q.hierarchy.levels.len() - 1) / 2))
}

/// The lines about analysing such columns, with a column and a level as examples.
pub(crate) fn how_to_analyse(column: &str, level: usize, file: &str) -> String {
    let (python, r) = match super::dictionary::is_parquet(file) {
        true => (
            format!("pandas.read_parquet(\"{file}\").fillna(\"\").astype(str)"),
            format!("arrow::read_parquet(\"{file}\")"),
        ),
        false => (
            format!("pandas.read_csv(\"{file}\", dtype=str, keep_default_na=False)"),
            format!("read.csv(\"{file}\", colClasses = \"character\", na.strings = character())"),
        ),
    };
    format!(
        "\n`{HIERARCHY_FILE}` lists the coarser labels that each released label belongs to: on level `level`, which is \
         called `level_name`, the cell `label` of the column `column` belongs to `group`. A label without a line for a \
         level is coarser than this level.\n\n\
         There are two ways to analyse such a column.\n\n\
         **Bring it to one level.** Labels that are finer than this level become its groups, and coarser ones become `*`. \
         `kohort flatten` does it for all columns; the level is yours to choose. In Python and in R, for one column \
         (`{column}` and the level are examples):\n\n\
         ```python\n\
         import pandas\n\
         data = {python}\n\
         groups = pandas.read_csv(\"{HIERARCHY_FILE}\", dtype=str)\n\
         groups = groups[(groups[\"column\"] == \"{column}\") & (groups[\"level\"] == \"{level}\")].set_index(\"label\")[\"group\"]\n\
         data[\"flat\"] = data[\"{column}\"].map(groups).fillna(\"*\").where(data[\"{column}\"] != \"\", \"\")\n\
         ```\n\n\
         ```r\n\
         data <- {r}\n\
         groups <- read.csv(\"{HIERARCHY_FILE}\", colClasses = \"character\")\n\
         groups <- groups[groups$column == \"{column}\" & groups$level == \"{level}\", ]\n\
         flat <- groups$group[match(data${column}, groups$label)]\n\
         data$flat <- ifelse(data${column} == \"\", \"\", ifelse(is.na(flat), \"*\", flat))\n\
         ```\n\n\
         Rows with `*` are not a random part of all rows: records that resemble few others were coarsened more. Say how \
         many there are, and compare with a coarser level.\n\n\
         **Spread each label over its values.** A label that holds several groups of the question counts in each of \
         them in part, so that no row is lost. For a column of numbers in intervals (`age` and the groups are \
         examples):\n\n\
         ```python\n\
         ends = data[\"age\"].str.extract(r\"^\\[?(-?[\\d.]+)(?:,(-?[\\d.]+)\\))?$\").astype(float)\n\
         low, high = ends[0], ends[1].fillna(ends[0] + 1)\n\
         for start in range(0, 100, 20):   # rows in [start, start + 20); a label across a border counts in part\n\
         \x20   part = (high.clip(upper=start + 20) - low.clip(lower=start)).clip(lower=0) / (high - low)\n\
         \x20   print(start, part.sum())\n\
         ```\n\n\
         ```r\n\
         number <- function(x) suppressWarnings(as.numeric(x))   # NA where the label is *\n\
         low <- number(sub(\"^\\\\[?(-?[0-9.]+).*\", \"\\\\1\", data$age))\n\
         high <- ifelse(grepl(\",\", data$age), number(sub(\".*,(-?[0-9.]+)\\\\)\", \"\\\\1\", data$age)), low + 1)\n\
         for (start in seq(0, 80, 20)) {{\n\
         \x20 part <- pmax(pmin(high, start + 20) - pmax(low, start), 0) / (high - low)\n\
         \x20 print(c(start, sum(part, na.rm = TRUE)))\n\
         }}\n\
         ```\n"
    )
}
