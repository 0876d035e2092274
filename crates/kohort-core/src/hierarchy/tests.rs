use super::*;
use crate::number::Decimal;
use proptest::prelude::*;
use std::collections::HashSet;

/// Returns what the definition says a label of the column's own values costs: count the leaves under it.
fn slow_loss(hierarchy: &Hierarchy, level: usize, code: usize, missing_occurs: bool) -> f64 {
    let is_leaf = |code: usize| {
        if code == MISSING as usize { missing_occurs } else { !hierarchy.uncovered.contains(&(code as u32)) }
    };
    let level = &hierarchy.levels[level];
    let leaves = (0..level.label_of.len()).filter(|&code| is_leaf(code));
    let all = leaves.clone().count();
    let under = leaves.filter(|&other| level.label_of[other] == level.label_of[code]).count();
    if all == 1 { 0.0 } else { (under as f64 - 1.0) / (all as f64 - 1.0) }
}

/// Returns what holds for every rule on every column.
fn holds(rule: &Rule, values: &[&str], missing_occurs: bool) -> Hierarchy {
    let hierarchy = rule.apply(values, missing_occurs);
    assert!(hierarchy.is_consistent());
    let names: Vec<String> = hierarchy.levels.iter().map(|level| level.name.clone()).collect();
    assert_eq!(names, rule.level_names());
    let text = |level: &Level, code: usize| level.labels[level.label_of[code] as usize].text.clone();
    let (top, below) = hierarchy.levels.split_last().unwrap();
    assert_eq!(top.labels.len(), 1);
    for level in below {
        assert_eq!(level.label_of.len(), values.len());
        assert_eq!(text(level, 0), "", "missing keeps its label");
        for code in 1..values.len() {
            let uncovered = hierarchy.uncovered.contains(&(code as u32));
            assert_eq!(text(level, code) == SUPPRESSED, uncovered, "only the uncovered are suppressed");
        }
    }
    for pair in hierarchy.levels.windows(2) {
        for code in 0..values.len() {
            let loss = |level: &Level| level.labels[level.label_of[code] as usize].loss;
            assert!(loss(&pair[0]) <= loss(&pair[1]) && (0.0..=1.0).contains(&loss(&pair[0])), "loss grows");
        }
    }
    hierarchy
}

/// The same, for rules whose leaves are the values themselves.
fn holds_by_values(rule: &Rule, values: &[&str], missing_occurs: bool) {
    let hierarchy = holds(rule, values, missing_occurs);
    for (number, level) in hierarchy.levels.iter().enumerate() {
        for code in usize::from(!missing_occurs)..values.len() {
            let label = &level.labels[level.label_of[code] as usize];
            if label.text != SUPPRESSED {
                assert_eq!(label.loss, slow_loss(&hierarchy, number, code, missing_occurs));
            }
        }
    }
}

fn column(texts: &[String]) -> Vec<&str> {
    let mut seen = HashSet::from([""]);
    let fresh = texts.iter().map(String::as_str).filter(|text| seen.insert(text));
    std::iter::once("").chain(fresh.collect::<Vec<_>>()).collect()
}

fn texts(pattern: &'static str) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(pattern, 0..40)
}

/// A random tree as a hierarchy file: groups of leaves, and groups of groups.
fn tree_file(parents: &[u8], grandparents: &[u8]) -> String {
    let line = |(leaf, &parent): (usize, &u8)| {
        let parent = parent as usize % grandparents.len();
        format!("{leaf};p{parent};g{};*\n", grandparents[parent])
    };
    parents.iter().enumerate().map(line).collect()
}

proptest! {
    #[test]
    fn flat_columns_are_consistent(texts in texts("[ab*]{0,2}"), missing: bool) {
        holds_by_values(&Rule::Flat, &column(&texts), missing);
    }

    #[test]
    fn prefixes_are_consistent(texts in texts("[1ä*]{0,5}"), missing: bool) {
        holds_by_values(&Rule::Prefix(Prefix::new(&[4, 2, 1]).unwrap()), &column(&texts), missing);
    }

    #[test]
    fn dates_are_consistent(texts in texts("(19|20)[019][0-3]-[01]?[0-9]-[0-3]?[0-9] 1?[0-9]"), missing: bool) {
        holds_by_values(&Rule::Date(crate::calendar::DateFormat::new("%Y-%m-%d %H").unwrap()), &column(&texts), missing);
    }

    #[test]
    fn codes_are_consistent(texts in texts("(042|25[01]|V0[78]|E80[01]|e800|[0-9]{3})([.]?[01]{0,2})"), missing: bool) {
        holds_by_values(&Rule::Codes(CodeSystem::Icd9), &column(&texts), missing);
    }

    #[test]
    fn codes_of_the_tenth_revision_are_consistent(texts in texts("[DEde][134][17A]([.]?[01A]{0,2})"), missing: bool) {
        holds_by_values(&Rule::Codes(CodeSystem::Icd10), &column(&texts), missing);
    }

    #[test]
    fn intervals_are_consistent(
        texts in texts("-?[0-9]{1,2}([.][05])?|x"),
        from in -20i64..20,
        range in 1i64..40,
        width in 1i64..9,
        times in 2i64..4,
        missing: bool,
    ) {
        let [from, to] = [from, from + range].map(Decimal::whole);
        let widths = [width, width * times, width * times * 2].map(Decimal::whole);
        let rule = Rule::Intervals(Intervals::new(&widths, &[], from, to, b'.').unwrap());
        holds(&rule, &column(&texts), missing);
    }

    #[test]
    fn whole_numbers_are_the_leaves_of_intervals(from in -20i64..20, range in 2i64..40, width in 1i64..9, missing: bool) {
        let [start, end] = [from, from + range].map(Decimal::whole);
        let rule = Rule::Intervals(Intervals::new(&[Decimal::whole(width)], &[], start, end, b'.').unwrap());
        // With every whole number in the column, the leaves are its values.
        let texts: Vec<String> = (from..from + range).map(|number| number.to_string()).collect();
        holds_by_values(&rule, &column(&texts), missing);
    }

    #[test]
    fn files_are_consistent(
        parents in prop::collection::vec(0u8..6, 1..30),
        grandparents in prop::collection::vec(0u8..3, 1..6),
        missing: bool,
    ) {
        let rule = Rule::File(FileHierarchy::parse("tree.csv", &tree_file(&parents, &grandparents)).unwrap());
        let texts: Vec<String> = (0..parents.len()).rev().map(|leaf| leaf.to_string()).collect();
        holds_by_values(&rule, &column(&texts), missing);
        let some: Vec<String> = texts.iter().step_by(2).cloned().chain(["p0".into(), "new".into()]).collect();
        holds(&rule, &column(&some), missing);
    }

    #[test]
    fn no_file_makes_the_reader_fail_badly(lines in prop::collection::vec("[abc*][;][abc*][;][abc*]", 1..5)) {
        if let Ok(file) = FileHierarchy::parse("tree.csv", &lines.join("\n")) {
            holds(&Rule::File(file), &["", "a", "b", "c"], true);
        }
    }
}

#[test]
fn a_column_without_a_rule_has_the_value_and_a_star() {
    let hierarchy = Rule::Flat.apply(&["", "F", "M"], true);
    assert_eq!(Rule::Flat.level_names(), ["value", "*"]);
    assert_eq!(hierarchy.levels[0].label_of, [0, 1, 2]);
    assert_eq!(hierarchy.levels[1].labels, [Label { text: "*".into(), loss: 1.0 }]);
}

#[test]
fn one_leaf_loses_nothing() {
    assert_eq!(Rule::Flat.apply(&["", "F"], false).levels[1].labels[0].loss, 0.0);
    assert_eq!(Rule::Flat.apply(&[""], true).levels[1].labels[0].loss, 0.0);
    assert_eq!(Rule::Flat.apply(&["", "F"], true).levels[1].labels[0].loss, 1.0);
}

#[test]
fn a_cell_that_reads_as_a_mark_is_uncovered() {
    assert_eq!(Rule::Flat.apply(&["", "F", "*"], true).uncovered, [2]);
}
