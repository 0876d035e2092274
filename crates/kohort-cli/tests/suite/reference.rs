//! docs/reference is made from the code: what the command says of itself, the keys that policies are read by, and
//! what the code says of them. `KOHORT_DOCS=write cargo test -p kohort-cli --test suite reference::` writes it anew.

use crate::common::run;
use std::fs;
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The page is what the code says now.
#[track_caller]
fn check(page: &str, text: &str) {
    let path = project().join("docs/reference").join(page);
    if std::env::var_os("KOHORT_DOCS").is_some_and(|v| v == "write") {
        fs::write(&path, text).unwrap();
    }
    let old = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let differs = old.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(
        old == text,
        "{page} is not what the code says ({differs:?}). KOHORT_DOCS=write cargo test -p kohort-cli --test suite reference::"
    );
}

#[test]
fn commands_are_those_of_the_command() {
    let here = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| {
        let said = run(here.path(), args);
        assert_eq!(said.code, Some(0), "{args:?}");
        let lines: Vec<&str> = said.out.lines().map(str::trim_end).collect();
        lines.join("\n").trim().to_string()
    };
    let all = help(&["--help"]);
    let mut text = format!(
        "# Commands\n\nMade from the code. `kohort COMMAND --help` prints the same.\n\n## kohort\n\n```text\n{all}\n```\n"
    );
    let listed = all.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = listed.lines().filter(|l| l.starts_with("  ") && !l.starts_with("   "));
    for name in names.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help") {
        text += &format!("\n## kohort {name}\n\n```text\n{}\n```\n", help(&[name, "--help"]));
    }
    check("commands.md", &text);
}

/// A section of a policy: its heading, where its keys are listed in the code, and what they mean. A key of a method
/// may be left out here where the code says it.
struct Section {
    heading: &'static str,
    /// A file, and which of its lists.
    lists: &'static [(&'static str, usize)],
    keys: &'static [(&'static str, &'static str)],
}

const SECTIONS: [Section; 9] = [
    Section {
        heading: "[input]",
        lists: &[("kohort-core/src/policy/bind.rs", 2)],
        keys: &[
            ("table", "The table: CSV, TSV or Parquet, also .gz."),
            ("patients", "Of claims: the table of patients."),
            ("claims", "Of claims: the table of events."),
            ("layout", "Of codes: `\"list\"`, a row for each patient, or `\"long\"`, a row for each code."),
            ("folder", "What paths are relative to. Default: the policy's folder."),
            ("missing", "Cells that mean missing. Default `[\"\"]`."),
            ("delimiter", "What separates cells, if it cannot be found out."),
            ("header", "`false`: there is no line of names; columns are c1, c2 …"),
            ("trim", "`true`: spaces around cells do not count."),
            ("encoding", "`\"windows-1252\"`, if it is not UTF-8."),
            ("decimal", "`\",\"`, if numbers are written so."),
        ],
    },
    Section {
        heading: "[columns]: keys of a column",
        lists: &[("kohort-core/src/policy/column.rs", 0)],
        keys: &[
            ("role", "What the column is: [roles](../concepts/roles.md)."),
            (
                "hierarchy",
                "How a value becomes coarser: a file, a code system, or one of the forms below. Without it: the value or `*`.",
            ),
            (
                "levels",
                "The levels a method may choose, by name or number. Without `\"*\"` the column is never given up.",
            ),
            ("weight", "What its loss counts. Default 1."),
            ("from", "Another column that this one is made out of."),
            ("domain", "The values that could occur, where no hierarchy says so."),
            (
                "unmapped",
                "`\"suppress\"`: a value that the hierarchy does not cover leaves as `*`; of groups of codes, the group it goes to. Without it: an error.",
            ),
            ("of", "Of a detail, or of a quasi-identifier that is finer than another: what it is finer than."),
            ("values", "Of a sensitive column: the values that are a secret. Without it: all."),
            ("reason", "Of role `other`: why nobody outside can know it. Printed in the report."),
            ("separator", "Of role `codes` in layout `list`: what separates codes."),
            ("scope", "Of role `pseudonym`: `\"patient\"`."),
        ],
    },
    Section {
        heading: "hierarchy = { … }",
        lists: &[("kohort-core/src/policy/column.rs", 2), ("kohort-core/src/policy/column.rs", 1)],
        keys: &[
            ("intervals", "Widths of intervals, each a multiple of the one before, with `from` and `to`."),
            ("cuts", "Where to cut, with `from` and `to`."),
            ("from", "Where the range begins; below it is `<from`."),
            ("to", "Where it ends; from there on is `>=to`."),
            ("step", "With `from` and `to` alone: the grid on which `specialize` finds cuts. Default 1."),
            ("prefix", "How many characters stay, from fine to coarse."),
            ("date", "How dates are written: `%Y-%m-%d`. Levels: day, month, quarter, year, decade."),
            (
                "months_since",
                "Of claims: months since the patient's `\"first\"` event, `\"first-in-year\"`, or a date column of the patients.",
            ),
            ("groups", "Groups of these months."),
        ],
    },
    Section {
        heading: "[[exclude]]",
        lists: &[("kohort-core/src/policy/exclude.rs", 0), ("kohort-core/src/policy/claims.rs", 1)],
        keys: &[
            ("column", "Where the codes stand."),
            ("codes", "Codes and ranges; a code holds all that begin with it."),
            ("scope", "`\"row\"`, or `\"patient\"`: all rows of the patient go."),
            ("table", "Of claims: `\"patients\"` or `\"claims\"`."),
            ("rules", "Of claims: a table of rules, a file or `\"hhp\"`."),
            ("icd9", "Columns that its ICD-9-CM rules look at."),
            ("cpt", "Columns that its CPT rules look at."),
            ("place", "Columns that its place-of-service rules look at."),
            ("except", "Codes that do not count."),
            ("birth", "For rules about days after birth: the patients' column of births."),
            ("date", "For these: the events' column of dates."),
            ("dates", "How dates are written."),
        ],
    },
    Section {
        heading: "[privacy]",
        lists: &[("kohort-core/src/policy/privacy.rs", 0), ("kohort-core/src/policy/claims.rs", 0)],
        keys: &[
            ("k", "Whoever is looked for is one of at least k. No default."),
            ("max_risk", "The same as a risk: k = ceil(1 / max_risk)."),
            ("preset", "k from a regulator's or publisher's number, spelled out in the evidence."),
            ("knows", "`\"all\"` (default), a number, a list of sets, or `{ always, one_of }`; of codes, how many."),
            ("confidence", "The largest share of a class that may have one sensitive value."),
            ("l_diversity", "`{ distinct = 3 }`, `{ entropy = 3 }` or `{ recursive = [2, 3] }`."),
            ("t_closeness", "`0.2`, or `{ max = 0.2, distance = \"ordered\" }` or `\"hierarchical\"`."),
            ("not_together", "Pairs of columns taken not to be known together; printed in the certificate."),
            ("power", "Of claims: values known of each event column, at most."),
            ("power_total", "Of claims, instead: facts known in total, 1 to 3, counted exactly."),
            ("power_rule", "`\"variable\"` (default: by the patient's events) or `\"fixed\"`."),
            ("knowledge", "`\"values\"` (default), or `\"events\"`: whole events are known."),
            ("max_high_risk", "Of claims: the share of patients of whom fewer than k may match. No default."),
        ],
    },
    Section {
        heading: "[population]",
        lists: &[("kohort-core/src/policy/population.rs", 0)],
        keys: &[
            ("counts", "A file: some quasi-identifiers and a column `count`."),
            ("size", "Instead: how many people there are outside."),
            ("region", "A quasi-identifier by which attacks are shown."),
        ],
    },
    Section {
        heading: "[evidence]",
        lists: &[("kohort-core/src/policy/baseline.rs", 0)],
        keys: &[("baseline", "A folder of another run of the same table: bits lost are shown as a share of its.")],
    },
    Section {
        heading: "[method] name = \"claims\"",
        lists: &[("kohort/src/methods/claims/params.rs", 0)],
        keys: &[
            ("truncate", "Percentiles of events per patient beyond which events are dropped; 1.0 is off. Default off."),
            ("event_date", "The column that says which event is later."),
            ("max_flagged", "A node is a candidate up to this share of patients at high risk. Default max_high_risk."),
            ("residual", "A patient is flagged beyond this share of their draws."),
            ("max_suppressed", "The share of events that may be removed from flagged patients."),
            ("without_events", "`\"keep\"` (default) or `\"drop\"` patients who never had an event."),
            ("draws", "Draws of the final estimate."),
            ("max_nodes", "Nodes that are tested at most."),
        ],
    },
    Section {
        heading: "[method]: what only some say",
        lists: &[],
        keys: &[
            ("refine_max_passes", "At most so many sweeps of refining."),
            ("multiset", "A code that stands several times counts each time: `250#2`. Default false."),
            ("reference", "A file of value;share: what invented rows show in a sensitive column without a domain."),
            (
                "numeric_split",
                "Which cut of an interval is considered: \"best_valid\" (default) or \"best_then_check\", as printed.",
            ),
            ("score_mode", "What discernibility ranks by, to reproduce the paper. Default \"reduction\"."),
        ],
    },
];

/// The lists of strings of a file that sections are read by: `only(&[…])` and `KEYS`.
fn lists(file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(project().join("crates").join(file)).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let mut all = Vec::new();
    let starts = ["only(&[", "KEYS: [&str"];
    for (at, start) in starts.iter().flat_map(|s| text.match_indices(s)).collect::<std::collections::BTreeMap<_, _>>() {
        let rest = &text[at + start.len()..];
        let rest = if start.starts_with("KEYS") { rest.split_once('[').unwrap().1 } else { rest };
        let list = rest.split(']').next().unwrap();
        all.push(list.split('"').skip(1).step_by(2).map(String::from).collect());
    }
    all
}

/// What the fields of a method's parameters say of their keys: `/// `key`: what it means`.
fn documented(file: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(project().join("crates").join(file)).unwrap();
    let mut all: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("/// ") {
            Some(said) if said.starts_with('`') && said.contains("`: ") => {
                let (key, means) = said[1..].split_once("`: ").unwrap();
                let mut means = means.to_string();
                means[..1].make_ascii_uppercase();
                all.push((key.to_string(), means));
                open = true;
            }
            Some(more) if open => all.last_mut().unwrap().1 += &format!(" {more}"),
            _ => open = false,
        }
    }
    all
}

fn table(heading: &str, rows: &[(String, String)]) -> String {
    let mut text = format!("\n## {heading}\n\n| key | means |\n|---|---|\n");
    rows.iter().for_each(|(key, means)| text += &format!("| `{key}` | {} |\n", means.replace('|', "\\|")));
    text
}

#[test]
fn policies_have_the_keys_that_the_code_reads() {
    let mut text = String::from(
        "# Policies\n\nMade from the code. A key that is not here is an error, with the nearest one as a hint. Shares are fractions: 5 is an error, 0.05 is meant. What the keys are for: [the guides](../README.md).\n",
    );
    let named = |keys: &[(&str, &str)], key: &str| keys.iter().find(|(k, _)| *k == key).map(|(_, m)| m.to_string());
    for section in SECTIONS.iter().filter(|s| !s.lists.is_empty()) {
        let mut keys: Vec<String> = Vec::new();
        for (file, which) in section.lists {
            for key in &lists(file)[*which] {
                if !keys.contains(key) && key != "name" {
                    keys.push(key.clone());
                }
            }
        }
        let rows = keys.iter().map(|key| {
            let means = named(section.keys, key);
            (key.clone(), means.unwrap_or_else(|| panic!("{}: say in this test what `{key}` means", section.heading)))
        });
        text += &table(section.heading, &rows.collect::<Vec<_>>());
    }
    let others = SECTIONS[SECTIONS.len() - 1].keys;
    for method in ["lattice", "specialize", "suppress", "ceiling", "disassociate"] {
        let file = format!("kohort/src/methods/{method}/params.rs");
        let documented = documented(&file);
        let keys = lists(&file).into_iter().next().unwrap();
        let rows = keys.iter().filter(|key| *key != "name").map(|key| {
            let said = documented.iter().find(|(k, _)| k == key).map(|(_, means)| means.clone());
            let means = said.or_else(|| named(others, key));
            (key.clone(), means.unwrap_or_else(|| panic!("{method}: nothing says what `{key}` means")))
        });
        text += &table(&format!("[method] name = \"{method}\""), &rows.collect::<Vec<_>>());
    }
    check("policy.md", &text);
}
