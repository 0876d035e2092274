//! The part of dictionary.md about columns whose labels are of different levels.

use super::plan::{Plan, Recoding};
use crate::cohort::Cohort;
use std::collections::BTreeMap;

/// Says how often each level occurs in each column, and how to analyse such columns. Empty where every
/// column has one level, or each value one label.
pub(super) fn section(cohort: &Cohort, plan: &Plan, file: &str, markdown: impl Fn(&str) -> String) -> String {
    if plan.recoding != Recoding::ByRecord {
        return String::new();
    }
    let mut text = "\n## Labels of different fineness\n\nEvery record was coarsened by itself, so a column shows labels of \
                    different levels: an original value in one row, and a coarser label that holds it in another. Share of \
                    the rows with labels of each level:\n\n| column | levels, finest first |\n|---|---|\n"
        .to_string();
    for (q, quasi) in cohort.quasi.iter().enumerate() {
        let shares = shares(cohort, plan, q);
        let levels = shares.iter().map(|(level, share)| {
            let name = match *level {
                0 => "unchanged".to_string(),
                level if level + 1 == quasi.hierarchy.levels.len() => "suppressed".to_string(),
                level => format!("level {level} ({})", markdown(&quasi.hierarchy.levels[level].name)),
            };
            format!("{name}: {share:.1} %")
        });
        text += &format!("| {} | {} |\n", markdown(&quasi.name), levels.collect::<Vec<_>>().join(", "));
    }
    text + &how_to_analyse(file)
}

/// The share of released rows with labels of each level of a column, in percent.
fn shares(cohort: &Cohort, plan: &Plan, q: usize) -> BTreeMap<usize, f64> {
    let top = cohort.quasi[q].hierarchy.levels.len() - 1;
    let released = plan.rows_by_cells(cohort);
    let all: u64 = released.iter().sum();
    let mut rows: BTreeMap<usize, u64> = BTreeMap::new();
    for (cells, &own) in released.iter().enumerate().filter(|(_, rows)| **rows > 0) {
        let label = &plan.changed[q].labels[plan.row(cells as u32)[q] as usize];
        *rows.entry((label.height * top as f64).round() as usize).or_default() += own;
    }
    rows.into_iter().map(|(level, own)| (level, 100.0 * own as f64 / all.max(1) as f64)).collect()
}

fn how_to_analyse(file: &str) -> String {
    format!(
        "\nTo count or compare, choose groups that are as coarse as the question allows, and put every label into the \
         group that holds it. A label that is coarser than the groups belongs to several of them: give each an equal \
         part of the row, or set the row aside and say how many were. For a column of numbers in intervals, in Python \
         and in R (`age` and the groups are examples):\n\n\
         ```python\n\
         import pandas\n\
         labels = pandas.read_csv(\"{file}\", dtype=str)[\"age\"]\n\
         ends = labels.str.extract(r\"^\\[?(\\d+)(?:,(\\d+)\\))?$\").astype(float)\n\
         low, high = ends[0], ends[1].fillna(ends[0] + 1)\n\
         for start in range(0, 100, 20):   # rows in [start, start + 20); a label across a border counts in part\n\
         \x20   part = (high.clip(upper=start + 20) - low.clip(lower=start)).clip(lower=0) / (high - low)\n\
         \x20   print(start, part.sum())\n\
         ```\n\n\
         ```r\n\
         labels <- read.csv(\"{file}\", colClasses = \"character\")$age\n\
         low <- as.numeric(sub(\"^\\\\[?(\\\\d+).*\", \"\\\\1\", labels))   # NA where the label is *\n\
         high <- ifelse(grepl(\",\", labels), as.numeric(sub(\".*,(\\\\d+)\\\\)\", \"\\\\1\", labels)), low + 1)\n\
         for (start in seq(0, 80, 20)) {{\n\
         \x20 part <- pmax(pmin(high, start + 20) - pmax(low, start), 0) / (high - low)\n\
         \x20 print(c(start, sum(part, na.rm = TRUE)))\n\
         }}\n\
         ```\n"
    )
}
