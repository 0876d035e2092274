//! What went wrong in other tools must not happen here: one test for each.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use kohort::methods::{DataShape, Register};
use kohort::pipeline::{Options, Released};
use kohort_core::Error;
use kohort_core::error::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How each method for tables is asked for, with nothing to spare.
fn method(name: &str) -> String {
    let more = match name {
        "lattice" | "local" => "max_suppressed = 0.5\n",
        "ceiling" => "h = \"auto\"\nreal_k = 2\nmax_counterfeits = 0.5\n",
        _ => "",
    };
    format!("[method]\nname = \"{name}\"\n{more}")
}

const COLUMNS: &str = "name = { role = \"identifier\" }\nage = { role = \"quasi\", hierarchy = { intervals = [10, 20], from = 0, to = 100 } }\n\
    sex = { role = \"quasi\" }\ndx = { role = \"sensitive\", domain = [\"flu\", \"gout\", \"hiv\"] }\n";

/// Twenty-four people, two of whom are alike in all that is known, and no line of whom is a number of theirs.
fn people() -> String {
    let mut text = "name,age,sex,dx\n".to_string();
    for i in 0..24 {
        let (age, sex, dx) = (20 + 10 * (i % 4) + i / 12, ["F", "M"][i / 2 % 2], ["flu", "gout", "hiv"][i % 3]);
        text += &format!("Name{i:03},{age},{sex},{dx}\n");
    }
    text
}

fn policy(folder: &Path, table: &str, columns: &str, privacy: &str, method: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let path = folder.join("p.toml");
    fs::write(&path, format!("[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\n{privacy}\n{method}"))
        .unwrap();
    path
}

#[track_caller]
fn run(folder: &Path, table: &str, columns: &str, privacy: &str, method: &str) -> Result<(PathBuf, Released), Error> {
    release(&policy(folder, table, columns, privacy, method), "out", &Options { force: true, ..options(1, 1) })
}

fn fails(table: &str, columns: &str, privacy: &str, method: &str) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let error = run(folder.path(), table, columns, privacy, method).unwrap_err();
    assert!(!folder.path().join("out").exists(), "nothing is left behind");
    error
}

#[test]
fn no_index_of_original_row_positions_leaves() {
    for name in Register::built_in().names(DataShape::Table) {
        let folder = tempfile::tempdir().unwrap();
        let (out, _) = run(folder.path(), &people(), COLUMNS, "k = 2", &method(name)).unwrap();
        let table = Table::released(&out);
        assert_eq!(table.columns, ["age", "sex", "dx"], "{name}");
        // Nor is the order that of the file.
        assert!(!lines(&out).is_sorted(), "{name}");
    }
}

#[test]
fn an_undeclared_column_is_an_error_and_does_not_pass_through() {
    let columns = COLUMNS.replace("sex = { role = \"quasi\" }\n", "");
    for name in Register::built_in().names(DataShape::Table) {
        let error = fails(&people(), &columns, "k = 2", &method(name));
        assert!(error.kind == Kind::Yours && error.message.contains("`sex`"), "{name}: {error}");
    }
}

#[test]
fn a_direct_identifier_is_not_kept() {
    for name in Register::built_in().names(DataShape::Table) {
        let folder = tempfile::tempdir().unwrap();
        let (out, _) = run(folder.path(), &people(), COLUMNS, "k = 2", &method(name)).unwrap();
        for part in ["release", "evidence"] {
            for file in fs::read_dir(out.join(part)).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                assert!(!text.contains("Name0"), "{name}");
            }
        }
    }
}

#[test]
fn a_row_with_a_missing_value_is_not_silently_dropped() {
    let table = "q,r\n,a\n,a\n,a\nx,a\nx,a\nx,\nx,\n";
    let columns = "q = { role = \"quasi\" }\nr = { role = \"quasi\" }\n";
    for name in Register::built_in().names(DataShape::Table) {
        let folder = tempfile::tempdir().unwrap();
        let (out, released) = run(folder.path(), table, columns, "k = 2", &method(name)).unwrap();
        let rows = &released.metrics.to_value()["rows"];
        let count = |key: &str| rows[key].as_u64().unwrap();
        assert_eq!(count("in"), 7, "{name}");
        assert_eq!(
            count("in") + count("counterfeit"),
            count("suppressed") + count("out"),
            "{name}: every row is counted"
        );
        // Nothing here needs to go, so nothing does; missing stays missing where the column is shown.
        assert_eq!(count("suppressed"), 0, "{name}");
        let real = Table::released(&out).rows.iter().zip(lines(&out)).filter(|(_, l)| *l != 0).count();
        assert_eq!(real, 7, "{name}");
    }
}

#[test]
fn missing_values_do_not_raise_k() {
    // Taken for a wildcard the blank would be like both others: a class of three. It is a value of its own.
    let table = "q\na\na\n\n";
    let error =
        fails(table, "q = { role = \"quasi\", levels = [0] }\n", "k = 2", &method("lattice").replace("0.5", "0"));
    assert_eq!(error.kind, Kind::Infeasible);
    let folder = tempfile::tempdir().unwrap();
    let columns = "q = { role = \"quasi\", levels = [0] }\n";
    let (out, released) = run(folder.path(), table, columns, "k = 2", &method("lattice")).unwrap();
    assert_eq!(Table::released(&out).sorted(), [["a"], ["a"]]);
    assert_eq!(
        (
            &released.metrics.to_value()["guarantee"]["smallest_class"],
            &released.metrics.to_value()["rows"]["suppressed"]
        ),
        (&2.into(), &1.into())
    );
}

#[test]
fn results_do_not_change_with_the_order_of_rows() {
    let text = people();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut turned: Vec<&str> = rows.lines().collect();
    turned.reverse();
    turned.rotate_left(7);
    let turned = format!("{header}\n{}\n", turned.join("\n"));
    for name in Register::built_in().names(DataShape::Table).into_iter().filter(|n| *n != "ceiling") {
        let folder = tempfile::tempdir().unwrap();
        let sorted = |table: &str| {
            let (out, released) = run(folder.path(), table, COLUMNS, "k = 3", &method(name)).unwrap();
            let mut rows = Table::released(&out);
            rows.rows.iter_mut().for_each(|row| row.truncate(2));
            (rows.sorted(), released.metrics.to_value()["guarantee"]["smallest_class"].clone())
        };
        assert_eq!(sorted(&text), sorted(&turned), "{name}");
    }
}

#[test]
fn a_second_run_in_one_process_has_nothing_of_the_first() {
    let other = people().replace("flu", "gout").replace(",F,", ",X,").replace(",M,", ",Y,");
    for name in Register::built_in().names(DataShape::Table) {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &people(), COLUMNS, "k = 2", &method(name)).unwrap();
        let (out, _) = run(folder.path(), &other, COLUMNS, "k = 2", &method(name)).unwrap();
        let shown: BTreeSet<String> = Table::released(&out).rows.into_iter().map(|row| row[1].clone()).collect();
        assert!(shown.iter().all(|sex| ["X", "Y", "*"].contains(&sex.as_str())), "{name}: {shown:?}");
        let alone = tempfile::tempdir().unwrap();
        let (fresh, _) = run(alone.path(), &other, COLUMNS, "k = 2", &method(name)).unwrap();
        let bytes = |out: &Path| fs::read(out.join("release/data.csv")).unwrap();
        assert_eq!(bytes(&out), bytes(&fresh), "{name}");
    }
}

#[test]
fn an_interval_holds_its_lower_end_and_not_its_upper() {
    // 30 is in [30,40) and not in [20,30); 0 and 100 are the ends of the range.
    let ages = [0, 9, 10, 29, 30, 39, 40, 99, 100];
    let text: String = ages.iter().map(|age| format!("{age}\n").repeat(2)).collect();
    let columns = "age = { role = \"quasi\", hierarchy = { intervals = [10], from = 0, to = 100 }, levels = [1] }\n";
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = run(folder.path(), &format!("age\n{text}"), columns, "k = 2", &method("lattice")).unwrap();
    let table = Table::released(&out);
    let label: BTreeMap<usize, &String> = lines(&out).into_iter().zip(table.rows.iter().map(|r| &r[0])).collect();
    let expected = ["[0,10)", "[0,10)", "[10,20)", "[20,30)", "[30,40)", "[30,40)", "[40,50)", "[90,100)", ">=100"];
    for (i, expected) in expected.iter().enumerate() {
        assert_eq!(label[&(2 + 2 * i)], expected, "{}", ages[i]);
    }
}

#[test]
fn no_threshold_is_ignored() {
    let bound = |privacy: &str, name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (_, released) = run(folder.path(), &people(), COLUMNS, privacy, &method(name)).unwrap();
        released.metrics.to_value()["guarantee"].clone()
    };
    for name in Register::built_in().names(DataShape::Table) {
        for k in [2, 3, 6, 12] {
            let found = bound(&format!("k = {k}"), name)["smallest_class"].as_u64().unwrap();
            assert!(found >= k, "{name}: {found} < {k}");
        }
        let found = bound("k = 2\nconfidence = 0.4", name)["highest_confidence"].as_f64().unwrap();
        assert!(found <= 0.4, "{name}: {found}");
        let found = bound("k = 2\nl_diversity = { distinct = 3 }", name)["sensitive"]["dx"]["least_diversity"]
            .as_f64()
            .unwrap();
        assert!(found >= 3.0, "{name}: {found}");
        let found = bound("k = 2\nt_closeness = 0.1", name)["sensitive"]["dx"]["largest_distance"].as_f64().unwrap();
        assert!(found <= 0.1 + 1e-9, "{name}: {found}");
    }
    // And a key that nobody reads is an error.
    let error = fails(&people(), COLUMNS, "k = 2\nconfidense = 0.4", &method("lattice"));
    assert!(error.kind == Kind::Yours && error.message.contains("confidense"), "{error}");
}

#[test]
fn a_k_larger_than_the_table_gives_no_release() {
    for name in Register::built_in().names(DataShape::Table) {
        let error = fails(&people(), COLUMNS, "k = 25", &method(name).replace("real_k = 2", "real_k = 25"));
        assert_eq!(error.kind, Kind::Infeasible, "{name}: {error}");
    }
}

#[test]
fn k_of_0_or_1_and_equal_keys_end_at_once() {
    for name in Register::built_in().names(DataShape::Table) {
        for k in ["0", "1", "-1"] {
            let error = fails(&people(), COLUMNS, &format!("k = {k}"), &method(name));
            assert!(error.kind == Kind::Yours && error.message.contains('k'), "{name}, {k}: {error}");
        }
        // All people alike in everything.
        let same = format!("name,age,sex,dx\n{}", "n,30,F,flu\n".repeat(40));
        let folder = tempfile::tempdir().unwrap();
        let (out, _) = run(folder.path(), &same, COLUMNS, "k = 2", &method(name)).unwrap();
        assert!(Table::released(&out).rows.len() >= 40, "{name}");
        let column = "q = { role = \"quasi\" }\n";
        let error = fails("q,q\na,b\na,b\n", column, "k = 2", &method(name));
        assert!(error.kind == Kind::Yours, "{name}: two columns of one name: {error}");
    }
}

#[test]
fn a_suppression_limit_of_5_is_an_error_and_0_05_is_meant() {
    for (name, key) in
        [("lattice", "max_suppressed"), ("specialize", "max_suppressed"), ("ceiling", "max_counterfeits")]
    {
        let own: String = method(name).lines().filter(|l| !l.starts_with(key)).map(|l| format!("{l}\n")).collect();
        let error = fails(&people(), COLUMNS, "k = 2", &format!("{own}{key} = 5\n"));
        assert!(error.kind == Kind::Yours && error.message.contains(key), "{name}: {error}");
        assert!(error.message.contains("0.05"), "{name}: {error}");
    }
}

#[test]
fn an_error_in_a_hierarchy_names_the_file_the_line_and_the_column() {
    let columns = "sex = { role = \"quasi\", hierarchy = \"h.csv\" }\nname = { role = \"identifier\" }\n\
                   age = { role = \"identifier\" }\ndx = { role = \"identifier\" }\n";
    for (lines, says) in [
        ("F;women;*\nM\n", &["h.csv", "line 2"][..]),
        ("F;women;*\nF;men;*\nM;men;*\n", &["h.csv", "line 2"]),
        ("F;women;*\n", &["`sex`", "h.csv"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("h.csv"), lines).unwrap();
        let error = run(folder.path(), &people(), columns, "k = 2", &method("lattice")).unwrap_err();
        assert_eq!(error.kind, Kind::Yours, "{error}");
        says.iter().for_each(|word| assert!(error.message.contains(word), "{word}: {error}"));
    }
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_reported() {
    let columns = "q = { role = \"quasi\" }\nnote = { role = \"other\", reason = \"a test\" }\nless = { role = \"other\", reason = \"a test\" }\n";
    for formula in ["=1+1", "+1+1", "-1+1", "@SUM(1)"] {
        let table = format!("q,note,less\na,{formula},-1\na,b,+2\na,c,-3.5\n");
        for name in Register::built_in().names(DataShape::Table) {
            let folder = tempfile::tempdir().unwrap();
            let made = run(folder.path(), &table, columns, "k = 3", &method(name));
            // Where rows are invented, a column of nobody's own values would tell.
            let Ok((out, released)) = made else {
                assert_eq!(name, "ceiling");
                continue;
            };
            assert_eq!(released.metrics.to_value()["formulas"], serde_json::json!(["note"]), "{name}: {formula}");
            let said = |note: &String| note.contains("`note`") && note.contains("spreadsheet");
            assert!(released.notes.iter().any(said), "{:?}", released.notes);
            assert!(!released.notes.iter().any(|n| n.contains(formula)), "the cell is not shown");
            let report = fs::read_to_string(out.join("evidence/report.html")).unwrap();
            assert!(report.contains("spreadsheet"));
        }
    }
}
