use super::FileHierarchy;
use crate::hierarchy::Rule;

/// The levels of `values` as text: a line per value, its labels with their losses, and what is uncovered.
#[track_caller]
fn check(file: &str, values: &[&str], missing_occurs: bool, expected: &[&str]) {
    let rule = Rule::File(FileHierarchy::parse("job.csv", file).unwrap());
    let all: Vec<&str> = [""].iter().chain(values).copied().collect();
    let hierarchy = rule.apply(&all, missing_occurs);
    let names: Vec<&str> = hierarchy.levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, rule.level_names());
    let of = |code: usize| {
        let labels = hierarchy.levels.iter().map(|level| &level.labels[level.label_of[code] as usize]);
        let labels: Vec<String> = labels.map(|label| format!("{} {}", label.text, label.loss)).collect();
        labels.join("; ")
    };
    let found: Vec<String> = (1..all.len()).map(of).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn refused(file: &str, line: usize, words: &str) {
    let message = FileHierarchy::parse("job.csv", file).unwrap_err().message;
    let place = if line == 0 { "job.csv: ".to_string() } else { format!("job.csv, line {line}: ") };
    assert!(message.starts_with(&place) && message.contains(words), "{message}");
}

const JOBS: &str =
    "nurse;health;paid;*\nsurgeon;health;paid;*\nclerk;office;paid;*\nat home;none;none;*\nretired;none;none;*\n";

#[test]
fn labels_lose_the_leaves_under_them() {
    check(
        JOBS,
        &["clerk", "nurse"],
        false,
        &["clerk 0; office 0; paid 0.5; * 1", "nurse 0; health 0.25; paid 0.5; * 1"],
    );
    check(JOBS, &["retired"], true, &["retired 0; none 0.2; none 0.2; * 1"]);
}

#[test]
fn values_of_no_leaf_are_uncovered() {
    check(JOBS, &["Clerk", "office"], false, &["* 1; * 1; * 1; * 1", "* 1; * 1; * 1; * 1"]);
}

#[test]
fn a_root_of_any_name_leaves_as_a_star() {
    check("a;x;all\nb;y;all\n", &["a"], false, &["a 0; x 0; * 1"]);
    check("a;all;all\nb;all;all\n", &["a"], false, &["a 0; * 1"]);
}

#[test]
fn a_root_is_added_where_the_last_column_is_not_one_value() {
    check("a;x\nb;y\nc;y\n", &["c"], false, &["c 0; y 0.5; * 1"]);
    check("a\nb\nc\n", &["c"], false, &["c 0; * 1"]);
    check("a", &["a"], false, &["a 0; * 0"]);
    check("a;a", &["a"], true, &["a 0; * 1"]);
}

#[test]
fn files_of_other_programs_are_read() {
    check("\u{feff}a;x;*\r\nb;x;*\r\n\r\n\n", &["a"], false, &["a 0; x 1; * 1"]);
    check("a,1;x;*\nb;x;*\n", &["a,1"], false, &["a,1 0; x 1; * 1"]);
    check("a,x,*\nb,x,*\n", &["b"], false, &["b 0; x 1; * 1"]);
    check("\"a;1\",\"say \"\"x\"\"\",*\nb,c,*\n", &["a;1"], false, &["a;1 0; say \"x\" 0; * 1"]);
}

#[test]
fn broken_lines_are_refused() {
    refused("", 0, "empty");
    refused("\u{feff}\r\n", 0, "empty");
    refused("a;x;*\nb;*\n", 2, "2 labels, but line 1 has 3");
    refused("a;x;*\n\nb;x;*\n", 2, "empty");
    refused("a;;*\n", 1, "column 2 is empty");
    refused("a;x;*\nb;y;*\na;x;*\n", 3, "already on line 1");
    refused("a;x;*\n*;*;*\n", 2, "the first label is *");
    refused("a;\"x;*\n", 1, "quote");
    refused("a;\"x\"y;*\n", 1, "quote");
}

#[test]
fn a_label_has_one_parent() {
    refused("a;x;p;*\nb;x;q;*\n", 2, "\"q\" here, but to \"p\" on line 1");
}

#[test]
fn a_label_does_not_come_again_above_itself() {
    refused("a;b;a;*\n", 1, "cycle");
    refused("a;b;*\nb;a;*\n", 2, "cycle");
    refused("l;x;*\na;b;*\nb;c;*\nc;a;*\n", 4, "cycle");
    refused("a;b;c\nd;c;b\n", 2, "cycle");
}

#[test]
fn a_label_means_one_set_of_leaves() {
    refused("a;x;p\nx;q;p\n", 2, "\"x\"");
    refused("a;x;*\nx;x;*\n", 1, "in column 2 covers other values than in column 1");
    refused("a;x;x;*\nb;y;x;*\n", 2, "\"x\" in column 3 covers other values");
    refused("a;x;all\nb;all;all\n", 1, "\"all\" in column 3 covers other values");
}

#[test]
fn a_star_stands_in_the_last_column_only() {
    refused("a;x\nb;*\n", 2, "* means all values");
    refused("a;*;all\nb;*;all\n", 1, "* means all values");
    refused("a;x;*\nb;*;*\n", 1, "\"*\" in column 3 covers other values");
}

#[test]
fn a_file_may_have_tabs_or_lines_that_end_in_cr_alone() {
    check("a\tx\t*\nb\ty\t*\n", &["a"], false, &["a 0; x 0; * 1"]);
    check("a;x;*\rb;y;*\r", &["a"], false, &["a 0; x 0; * 1"]);
    // A tab inside a label of another file is part of it.
    check("a\t1;x;*\nb;y;*\n", &["b"], false, &["b 0; y 0; * 1"]);
}

#[test]
fn a_label_that_nobody_can_tell_from_another_is_refused() {
    for hidden in ["x\u{200b}", "x\u{0}", "x\u{202e}", "\u{feff}"] {
        refused(&format!("a;x;*\nb;{hidden};*\n"), 2, "nobody sees");
    }
    // A value is as the data has it.
    check("a\u{200b};x;*\nb;x;*\n", &["a\u{200b}"], false, &["a\u{200b} 0; x 1; * 1"]);
}

#[test]
fn values_that_differ_from_a_leaf_in_spaces_or_capitals_are_counted() {
    let file = FileHierarchy::parse("job.csv", "Nurse ;x;*\nclerk;y;*\n").unwrap();
    assert_eq!(file.nearly_covered(&["Nurse", "CLERK", "surgeon"]), 2);
}
