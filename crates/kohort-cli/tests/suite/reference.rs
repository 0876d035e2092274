//! docs/reference is made from the code: the help of each command, the keys that policies are read by, and the
//! register of methods. `KOHORT_DOCS=write cargo test -p kohort-cli --test suite reference::` writes it again.

use crate::common::run;
use kohort::methods::{Register, manual::page};
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

/// A section of a policy: its heading, where its keys are listed in the code, and what they mean. Methods describe
/// their own keys in the register.
struct Section {
    heading: &'static str,
    /// A file, and which of its lists.
    lists: &'static [(&'static str, usize)],
    keys: &'static [(&'static str, &'static str)],
}

const SECTIONS: [Section; 12] = [
    Section {
        heading: "[input]",
        lists: &[("kohort-core/src/policy/bind.rs", 1)],
        keys: &[
            (
                "table",
                "The table: CSV, TSV, Parquet or an Excel workbook (.xlsx); text also as .gz. A folder or a pattern such as `claims/*.parquet` is one table in several Parquet files.",
            ),
            (
                "database",
                "The address of a PostgreSQL database, without a password: `\"postgresql://reader@db.example.org/clinic\"`. `table`, `patients`, `claims` and `events` then name tables or views of it, such as `\"cdm.visits\"`. Needs Kohort with the feature `postgres`: see [the guide](../guides/postgresql.md).",
            ),
            ("query", "For a database, instead of `table`: a `SELECT` that ends with `ORDER BY` and a unique key."),
            ("sheet", "The sheet of a workbook. Needed if the workbook has several."),
            (
                "skip",
                "Lines above the header that are not part of the table, such as a title: lines of a text file, rows of a sheet. Default 0.",
            ),
            (
                "skip_end",
                "Lines at the end that are not rows of the table, such as notes or a total. A line that does not fit the table is an error, so rows are not lost by accident. Default 0.",
            ),
            ("patients", "For patient histories: the table of patients."),
            ("claims", "For patient histories: the table of events."),
            (
                "events",
                "For patient histories in several tables, instead of `claims`: `[input.events]` with a name and a path for each, for example `visits = \"visits.csv\"`. Each has a section `[columns.NAME]` and is released as NAME.csv.",
            ),
            ("layout", "For sets of codes: `\"list\"` (one row per patient) or `\"long\"` (one row per code)."),
            ("folder", "The folder that paths are relative to. Default: the folder of the policy."),
            ("missing", "Cells that mean missing. Default `[\"\"]`."),
            ("delimiter", "The character between cells. Default: detected."),
            (
                "header",
                "`false` if the file has no header line; the columns are then called column1, column2 and so on. Default `true`.",
            ),
            ("trim", "`true` removes spaces around cells. Default `false`."),
            ("encoding", "`\"windows-1252\"` if the file is not in UTF-8."),
            ("decimal", "Decimal separator, for example `\",\"`. Default `\".\"`."),
        ],
    },
    Section {
        heading: "[output]",
        lists: &[("kohort-core/src/policy/database.rs", 0)],
        keys: &[
            (
                "schema",
                "The schema of a PostgreSQL database that the release is also written into: a new or empty one.",
            ),
            ("database", "The address of the database, without a password. Default: that of `[input]`."),
        ],
    },
    Section {
        heading: "[columns]: keys of a column",
        lists: &[("kohort-core/src/policy/column.rs", 0)],
        keys: &[
            ("role", "The role of the column: see [roles](../concepts/roles.md)."),
            (
                "hierarchy",
                "How values are generalized: a file, a code system, or one of the forms below. Default: two levels, the value and `*`; with `local`, numbers get intervals that follow the data.",
            ),
            (
                "levels",
                "The levels a method may choose, by name or number. Without `\"*\"` the column is never fully generalized. Default: all levels.",
            ),
            ("weight", "Weight of this column when the loss is added up. Default 1."),
            ("from", "Derives the column as a copy of another, to be released in another way."),
            (
                "missing",
                "Cells that mean missing in this column, instead of the list under `[input]`: `[\"-8\", \"unknown\"]`.",
            ),
            (
                "recode",
                "Cells and what they become: `{ \"m\" = \"male\" }`. An empty text means missing, on either side.",
            ),
            (
                "number",
                "`true` reads the number out of the text: `87 years` is 87, `> 89` is `>=90`. Numbers with different units are an error. `\"years\"` reads ages in years, months, weeks and days as full years: `6 months` is 0.",
            ),
            (
                "date",
                "Turns dates into the form 2010-03-14: a format such as `\"%d.%m.%Y\"`, or `true` to find it out. With `{ year = \"…\", month = \"…\", day = \"…\" }` it derives the date from three columns.",
            ),
            (
                "spelling",
                "`\"icd9\"` or `\"icd10\"`: codes get one spelling, with the dot and without trailing marks. `\"key\"`: capital letters, signs and zeros at the start of a number do not count in a key. `\"key-digits\"`: only its digits count.",
            ),
            ("top", "Numbers from this one on become one value: with 90, `>=90`."),
            (
                "age",
                "Derives full years: `{ born = \"dob\", at = \"admitted\" }`. `at` is a column of dates or one day, such as `\"2020-01-01\"`.",
            ),
            (
                "shift",
                "Moves the dates of each patient by one secret number of days, at most this many in either direction.",
            ),
            ("between", "Derives the days between two dates: `[\"admitted\", \"discharged\"]`."),
            (
                "join",
                "Derives the cells of several columns together, for a key in several columns: `[\"household\", \"number\"]`.",
            ),
            ("domain", "The values that can occur, if no hierarchy lists them."),
            (
                "unmapped",
                "`\"suppress\"` releases values that the hierarchy does not cover as `*`. For groups of codes: the group that other codes go to. Default: such a value is an error.",
            ),
            ("of", "For a detail, or for a quasi-identifier that is finer than another: the coarser columns."),
            ("values", "For a sensitive column: the values to protect. Default: all values."),
            ("reason", "For role `other`, required: why nobody outside can know the column. Printed in the report."),
            ("separator", "For role `codes` with layout `list`: the text between two codes."),
            ("scope", "For role `pseudonym`: `\"patient\"`."),
        ],
    },
    Section {
        heading: "hierarchy = { … }",
        lists: &[("kohort-core/src/policy/column.rs", 2), ("kohort-core/src/policy/column.rs", 1)],
        keys: &[
            ("intervals", "Widths of intervals, each a multiple of the one before, with `from` and `to`."),
            ("cuts", "The points at which the range is cut, with `from` and `to`."),
            ("from", "Start of the range. Smaller values are released as `<from`."),
            ("to", "End of the range. This value and larger ones are released as `>=to`."),
            ("step", "With `from` and `to` alone: the grid on which `specialize` finds cuts. Default 1."),
            ("prefix", "The numbers of characters that are kept, from fine to coarse."),
            ("date", "Format of the dates, for example `%Y-%m-%d`. Levels: day, month, quarter, year, decade."),
            (
                "months_since",
                "For patient histories: months since the `\"first\"` event of the patient, since the `\"first-in-year\"`, or since a date column of the patients.",
            ),
            ("groups", "Widths of groups of these months."),
        ],
    },
    Section {
        heading: "[[exclude]]",
        lists: &[("kohort-core/src/policy/exclude.rs", 0), ("kohort-core/src/policy/exclude_events.rs", 0)],
        keys: &[
            ("column", "The column that holds the codes."),
            ("codes", "Codes and ranges of codes. A code includes all codes that begin with it."),
            ("scope", "`\"row\"` excludes the row, `\"patient\"` all rows of the patient."),
            ("table", "For patient histories: the table: `\"patients\"`, `\"claims\"`, or a name of `[input.events]`."),
            ("rules", "For patient histories: a table of exclusion rules, as a file or `\"hhp\"`."),
            ("icd9", "Columns that the ICD-9-CM rules apply to."),
            ("icd10", "Columns that the ICD-10-CM rules apply to. A column may be under both."),
            ("icd10_procedure", "Columns that the ICD-10-PCS rules apply to."),
            ("cpt", "Columns that the CPT rules apply to."),
            ("place", "Columns that the place-of-service rules apply to."),
            ("except", "Codes that are not excluded."),
            ("birth", "For rules about days after birth: the birth date column of the patients."),
            ("date", "For these rules: the date column of the events."),
            ("dates", "Format of these dates."),
            (
                "visible",
                "A file with the codes of rare and visible diseases, one or a range on each line: patients who have one are excluded.",
            ),
        ],
    },
    Section {
        heading: "[[accept]]",
        lists: &[("kohort-core/src/policy/accept.rs", 0)],
        keys: &[
            (
                "finding",
                "A danger of a released column outside every requirement that you accept: `\"nearly-unique\"`, `\"consecutive\"`, `\"timestamp\"` or `\"reveals\"`. Without it, such a column stops the release.",
            ),
            (
                "columns",
                "The column that the finding is about; for `\"reveals\"` also the column that is revealed. Of patient histories, name the table too: `\"visits.note\"`.",
            ),
            ("reason", "Required: why the release is safe all the same."),
        ],
    },
    Section {
        heading: "[privacy]",
        lists: &[("kohort-core/src/policy/privacy.rs", 0), ("kohort-core/src/policy/events.rs", 0)],
        keys: &[
            ("k", "Minimum number of people in an equivalence class. No default."),
            ("max_risk", "The same as a maximum risk: k = ceil(1 / max_risk)."),
            ("preset", "A published threshold for k, by name. The report cites its source."),
            (
                "knows",
                "What an attacker may know: `\"all\"` quasi-identifiers (default), any number of them, a list of sets, or `{ always, one_of }`. For sets of codes: the number of codes, no default.",
            ),
            (
                "confidence",
                "Maximum share of an equivalence class that may have the same sensitive value. For codes: maximum share of the patients of a cluster who may have one of the `sensitive` codes.",
            ),
            (
                "l_diversity",
                "Minimum diversity of the sensitive values of a class: `{ distinct = 3 }`, `{ entropy = 3 }` or `{ recursive = [2, 3] }`.",
            ),
            (
                "t_closeness",
                "Maximum distance of a class from the whole table: `0.2`, or `{ max = 0.2, distance = \"ordered\" }` (or `\"hierarchical\"`).",
            ),
            (
                "ledger",
                "`\"refuse\"` publishes nothing if this release and the earlier ones in the ledger (`--ledger FILE`) together leave fewer than k candidates for anybody. Default `\"tell\"`: the custodian is told.",
            ),
            ("not_together", "Pairs of columns that nobody knows together. An assumption, printed in the certificate."),
            ("power", "For patient histories: maximum number of values that an attacker knows of each event column."),
            (
                "power_total",
                "Instead of `power`: number of facts that an attacker knows in total, 1 to 3. Counted exactly.",
            ),
            (
                "power_rule",
                "`\"variable\"` (default) derives what is known of a patient from the number and diversity of their events, `\"fixed\"` is the same for all patients.",
            ),
            (
                "knowledge",
                "`\"values\"` (default), `\"pairs\"` or `\"events\"`: whether an attacker knows single values, any two columns of events of one table, or whole events.",
            ),
            (
                "max_high_risk",
                "For patient histories: maximum share of patients for whom an attacker finds fewer than k matches. No default.",
            ),
        ],
    },
    Section {
        heading: "[population]",
        lists: &[("kohort-core/src/policy/population.rs", 0)],
        keys: &[
            (
                "name",
                "The name of the registry in reports. Several registries are described by `[[population]]` sections.",
            ),
            ("counts", "A file with some of the quasi-identifiers and a column `count`."),
            (
                "weight",
                "The column of `counts` with the number of people, which may be survey weights. Default `\"count\"`.",
            ),
            ("size", "Instead of `counts`: the number of people in the population."),
            (
                "columns",
                "The quasi-identifiers that the registry has. Default: all columns of the file, or all quasi-identifiers.",
            ),
            (
                "covers",
                "`\"all\"` (default), or `\"part\"` for a registry that lists only some people, such as doctors or homeowners.",
            ),
            ("region", "A quasi-identifier by which the attacks are broken down."),
        ],
    },
    Section {
        heading: "[[file]]",
        lists: &[("kohort-core/src/policy/several_files.rs", 0)],
        keys: &[
            ("name", "The name of one of several files that are made of the table, and of its folder."),
            ("columns", "The columns that the file releases. All others are dropped from it."),
            ("knows", "What an attacker may know of the people in this file. Default: `knows` under `[privacy]`."),
            ("share", "The share of the people that are in this file. Nobody is in two files."),
            (
                "sampled",
                "`\"before\"` (default) draws the people of the file first, so that k is counted in the file itself. `\"after\"` changes the whole table and draws a sample of it.",
            ),
            ("method", "Parameters of the method that differ for this file."),
        ],
    },
    Section {
        heading: "[[check]]",
        lists: &[("kohort-core/src/policy/survives.rs", 0)],
        keys: &[
            ("mean", "The column whose mean is compared before and after."),
            ("by", "For `mean`: the column of groups."),
            ("linear", "The outcome of a linear model whose coefficients are compared."),
            ("logistic", "The outcome, of two values, of a logistic model whose coefficients are compared."),
            ("on", "For a model: the columns that explain the outcome."),
        ],
    },
    Section {
        heading: "[context]",
        lists: &[("kohort-core/src/policy/context.rs", 0)],
        keys: &[
            ("recipient", "Who receives the release. Printed in the report and on its page for approval."),
            ("purpose", "What the release is for. Printed in the same places."),
            ("controls", "What the recipient must do and must not do. Printed in the same places."),
        ],
    },
    Section {
        heading: "[evidence]",
        lists: &[("kohort-core/src/policy/baseline.rs", 0)],
        keys: &[(
            "baseline",
            "The folder of another run on the same table. The report compares the lost information with it.",
        )],
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

fn table(heading: &str, rows: &[(String, String)]) -> String {
    let mut text = format!("\n## {heading}\n\n| key | means |\n|---|---|\n");
    rows.iter().for_each(|(key, means)| text += &format!("| `{key}` | {} |\n", means.replace('|', "\\|")));
    text
}

#[test]
fn policies_have_the_keys_that_the_code_reads() {
    let mut text = String::from(
        "# Policies\n\nGenerated from the code. Kohort refuses any other key and suggests the nearest one. Write shares as fractions: 0.05, not 5. The [guides](../README.md) explain what the keys are for.\n",
    );
    let named = |keys: &[(&str, &str)], key: &str| keys.iter().find(|(k, _)| *k == key).map(|(_, m)| m.to_string());
    for section in &SECTIONS {
        let mut keys: Vec<String> = Vec::new();
        for (file, which) in section.lists {
            for key in &lists(file)[*which] {
                if !keys.contains(key) {
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
    for entry in Register::built_in().entries() {
        text += &page(entry);
    }
    check("policy.md", &text);
}
