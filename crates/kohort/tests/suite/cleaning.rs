//! Cleaning and deriving end to end: every reader of the input sees the same cleaned cells.

use crate::common::run::{options, release};
use crate::common::table::Table;
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PRIVACY: &str = "[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0.5\n";

fn policy(folder: &Path, table: &str, columns: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let path = folder.join("p.toml");
    let rest = if columns.contains("[privacy]") { "" } else { PRIVACY };
    fs::write(&path, format!("[input]\ntable = \"t.csv\"\n[columns]\n{columns}\n{rest}")).unwrap();
    path
}

/// Releases, verifies against the original as the policy cleans it, and returns rows and metrics.
#[track_caller]
fn run(table: &str, columns: &str) -> (Vec<Vec<String>>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), table, columns);
    let (out, released) = release(&path, "out", &options(1, 1)).unwrap();
    verify_release(&out, 1).unwrap();
    let (source, bound) = pipeline::open(&path, &options(1, 2)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    (Table::released(&out).sorted(), released.metrics.to_value())
}

#[track_caller]
fn refused(table: &str, columns: &str, part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let error = release(&policy(folder.path(), table, columns), "out", &options(1, 1)).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains(part), "{error}");
}

const VISITS: &str = "pid,dob,admitted,discharged,sex,dx\n\
    1,01.02.1980,2020-02-01,2020-02-03,m,E119\n2,31.01.1980,2020-02-01,2020-02-03,male,E11.9\n\
    3,15.06.1925,2020-02-01,2020-02-02,F,I10\n4,14.06.1924,2020-02-01,2020-02-02,f,I10-\n";

const VISIT_COLUMNS: &str = "pid = { role = \"patient\" }\n\
    dob = { role = \"identifier\" }\n\
    admitted = { role = \"identifier\" }\n\
    discharged = { role = \"identifier\" }\n\
    sex = { role = \"quasi\", recode = { m = \"male\", F = \"female\", f = \"female\" } }\n\
    dx = { role = \"sensitive\", spelling = \"icd10\" }\n\
    age = { role = \"quasi\", age = { born = \"dob\", at = \"admitted\" }, top = 90 }\n\
    days = { role = \"quasi\", between = [\"admitted\", \"discharged\"], hierarchy = \"los\" }\n";

#[test]
fn a_release_holds_cleaned_and_derived_cells() {
    let (rows, metrics) = run(VISITS, VISIT_COLUMNS);
    let rows: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["female I10 >=90 1", "female I10 >=90 1", "male E11.9 40 2", "male E11.9 40 2"]);
    let steps: Vec<(String, u64)> = metrics["cleaning"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["column"].as_str().unwrap().to_string(), step["cells"].as_u64().unwrap()))
        .collect();
    let expected = [("sex", 3), ("dx", 2), ("age", 4), ("age", 2), ("days", 4)];
    assert_eq!(steps, expected.map(|(column, cells)| (column.to_string(), cells)));
    let notes = metrics["notes"].to_string();
    assert!(notes.contains("the dates of `dob` are read as %d.%m.%Y"), "{notes}");
}

#[test]
fn the_reader_of_a_release_is_told_what_was_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    release(&policy(folder.path(), VISITS, VISIT_COLUMNS), "out", &options(1, 1)).unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let dictionary = read("release/dictionary.md");
    assert!(dictionary.contains("full years from"), "{dictionary}");
    assert!(dictionary.contains("ICD-10 codes in one spelling"), "{dictionary}");
    let report = read("evidence/report.html");
    assert!(report.contains("How the data were cleaned") && report.contains("released as cleaned"), "{report}");
    let certificate = read("release/certificate.json");
    assert!(certificate.contains("`age`: full years from `dob` to `admitted`; numbers from 90 on become >=90."));
    assert!(!certificate.contains("1980"), "{certificate}");
}

#[test]
fn the_verifier_cleans_the_original_as_the_policy_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), VISITS, VISIT_COLUMNS);
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    let other = VISIT_COLUMNS.replace("m = \"male\"", "m = \"female\"");
    let path = policy(folder.path(), VISITS, &other);
    let (source, bound) = pipeline::open(&path, &options(1, 1)).unwrap();
    assert_eq!(verify_with_original(&out, &source, &bound).unwrap_err().kind, Kind::Refused);
}

/// Without one spelling, 2 of 3 patients with the same disease were certified as 1 of 3.
#[test]
fn codes_in_two_spellings_count_as_one_value() {
    let columns = |dx: &str| {
        format!(
            "sex = {{ role = \"quasi\" }}\ndx = {{ role = \"sensitive\"{dx} }}\n[privacy]\nk = 3\nconfidence = 0.5\n\
             [method]\nname = \"lattice\"\nmax_suppressed = 0\n"
        )
    };
    let table = "sex,dx\nF,E11.9\nF,E119\nF,I10\n";
    let folder = tempfile::tempdir().unwrap();
    assert!(release(&policy(folder.path(), table, &columns("")), "two", &options(1, 1)).is_ok());
    let one = policy(folder.path(), table, &columns(", spelling = \"icd10\""));
    assert_eq!(release(&one, "one", &options(1, 1)).unwrap_err().kind, Kind::Infeasible);
}

#[test]
fn exclusions_see_cleaned_cells() {
    let columns = format!(
        "sex = {{ role = \"quasi\" }}\ndx = {{ role = \"sensitive\", recode = {{ hiv = \"B20\" }} }}\n{PRIVACY}\
         [[exclude]]\ncolumn = \"dx\"\ncodes = [\"B20\"]\nscope = \"row\"\n"
    );
    let (rows, metrics) = run("sex,dx\nF,hiv\nF,B20\nF,I10\nF,I10\n", &columns);
    assert_eq!((rows.len(), &metrics["rows"]["excluded"]), (2, &Value::from(2)));
}

#[test]
fn a_word_is_missing_only_in_the_columns_that_say_so() {
    let columns = "mood = { role = \"quasi\", missing = [] }\nscore = { role = \"quasi\", missing = [\"-8\"] }\n";
    let text = format!("{columns}{PRIVACY}");
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), "mood,score\nNone,-8\nNone,\nNone,NA\nNone,NA\n", &text);
    let with_list = fs::read_to_string(&path).unwrap().replace("[columns]", "missing = [\"None\", \"NA\"]\n[columns]");
    fs::write(&path, with_list).unwrap();
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    assert_eq!(Table::released(&out).sorted(), [["None", ""], ["None", ""], ["None", "NA"], ["None", "NA"]]);
}

#[test]
fn what_is_derived_from_a_dropped_or_known_column_is_a_quasi_identifier() {
    let age = "age = { role = \"quasi\"";
    for role in ["other\", reason = \"nobody knows it", "sensitive", "class"] {
        let columns = VISIT_COLUMNS.replace(age, &format!("age = {{ role = \"{role}\""));
        refused(VISITS, &columns, "`age` is derived from `dob` (role \"identifier\"), so it may not have role");
    }
    let dropped = VISIT_COLUMNS.replace(age, "age = { role = \"identifier\"");
    assert!(run(VISITS, &dropped).0.iter().all(|row| row.len() == 3));
    let copy = |role: &str| format!("{}key = {{ role = \"{role}\", from = \"pid\" }}\n", VISIT_COLUMNS);
    refused(VISITS, &copy("quasi"), "`key` is derived from `pid` (role \"patient\")");
    assert!(run(VISITS, &copy("identifier")).0[0].len() == 4);
}

#[test]
fn lost_information_is_measured_against_the_values_before_cleaning() {
    let table = "sex,zip\nm,1\nM,1\nf,1\nf,1\n";
    let loss = |columns: &str| run(table, columns).1["utility"]["loss"].as_f64().unwrap();
    let raw = loss("sex = { role = \"identifier\" }\nzip = { role = \"quasi\" }\n");
    assert_eq!(raw, 0.0);
    let all_one = loss(
        "sex = { role = \"quasi\", recode = { m = \"x\", M = \"x\", f = \"x\" } }\nzip = { role = \"identifier\" }\n",
    );
    assert_eq!(all_one, 1.0);
    let merged = loss("sex = { role = \"quasi\", recode = { M = \"m\" } }\nzip = { role = \"identifier\" }\n");
    assert_eq!(merged, 0.25);
}

#[test]
fn exact_ages_beside_exact_dates_are_pointed_out() {
    let columns = VISIT_COLUMNS.replace(
        "admitted = { role = \"identifier\"",
        "admitted = { role = \"quasi\", hierarchy = { date = \"%Y-%m-%d\" }",
    );
    let notes = run(VISITS, &columns).1["notes"].to_string();
    assert!(notes.contains("reveal the birthday"), "{notes}");
    let coarse = columns.replace("\"%Y-%m-%d\" }", "\"%Y-%m-%d\" }, levels = [\"year\", \"*\"]");
    let notes = run(VISITS, &coarse).1["notes"].to_string();
    assert!(!notes.contains("reveal the birthday"), "{notes}");
}

#[test]
fn top_coded_ages_fit_intervals_that_reach_further() {
    let table = "age\n95 years\n> 89\n88\n85\n12\n14\n";
    let columns = "age = { role = \"quasi\", number = true, top = 90, hierarchy = { intervals = [5, 10], from = 0, to = 120 }, levels = [\"5\"] }";
    let rows: Vec<String> = run(table, columns).0.into_iter().map(|row| row.join("")).collect();
    assert_eq!(rows, [">=90", ">=90", "[10,15)", "[10,15)", "[85,90)", "[85,90)"]);
}
