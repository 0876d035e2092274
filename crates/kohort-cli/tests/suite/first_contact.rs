//! From unprepared files to a release or a clear refusal: folders of tables, workbooks, files of other programs.

use crate::common::{Said, kohort, run};
use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A number that looks like chance, the same in every run.
fn random(n: u64, below: u64) -> u64 {
    let mixed = (n ^ below << 40).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) % below
}

fn day(n: u64) -> String {
    format!("{}-{:02}-{:02}", 2019 + n / 336 % 2, 1 + n / 28 % 12, 1 + n % 28)
}

/// Lines of a table.
fn table(path: &Path, header: &str, rows: u64, line: impl Fn(u64) -> String) {
    let text = (0..rows).fold(format!("{header}\n"), |mut text, row| {
        let _ = writeln!(text, "{}", line(row));
        text
    });
    fs::write(path, text).unwrap();
}

/// A folder of the OMOP common data model.
pub(crate) fn omop(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    table(
        &folder.join("person.csv"),
        "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,race_concept_id,ethnicity_concept_id,\
         person_source_value",
        400,
        |p| {
            let sex = [8507, 8532][random(p, 2) as usize];
            let race = [8527, 8516, 8515][random(p + 7, 3) as usize];
            format!(
                "{},{sex},{},{},{},{race},0,S{:06}",
                p + 1,
                1935 + random(p + 1, 70),
                1 + p % 12,
                1 + p % 28,
                random(p, 900_000)
            )
        },
    );
    table(
        &folder.join("visit_occurrence.csv"),
        "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_end_date,visit_type_concept_id",
        1200,
        |v| {
            let start = random(v, 600);
            let kind = [9201, 9202, 9203][random(v + 3, 3) as usize];
            format!("{},{},{kind},{},{},44818518", v + 1, 1 + random(v + 1, 400), day(start), day(start + 2))
        },
    );
    table(
        &folder.join("condition_occurrence.csv"),
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,condition_end_date,\
         condition_type_concept_id,visit_occurrence_id,condition_source_value",
        1600,
        |c| {
            let which = random(c + 5, 6) as usize;
            let concept = [320_128, 201_826, 255_848, 312_327, 4_112_343, 40_481_087][which];
            let code = ["I10", "E11.9", "J18.9", "I21.4", "J02.9", "J20.9"][which];
            let start = random(c, 600);
            format!(
                "{},{},{concept},{},{},32020,{},{code}",
                c + 1,
                1 + random(c + 2, 400),
                day(start),
                day(start + 3),
                1 + random(c, 1200)
            )
        },
    );
    table(&folder.join("death.csv"), "person_id,death_date,death_type_concept_id", 20, |d| {
        format!("{},{},38003569", 1 + d * 7, day(d))
    });
}

/// A survey with 300 columns.
pub(crate) fn survey(path: &Path) {
    let answers = (1..=290).map(|n| format!("q{n:03}")).collect::<Vec<_>>().join(",");
    let header = format!("respondent,interviewer,age,sex,region,education,marital,weight_final,stratum,day,{answers}");
    table(path, &header, 1500, |r| {
        let pick = |salt: u64, texts: &[&'static str]| texts[random(r + 100_000 * salt, texts.len() as u64) as usize];
        let weight = 3000.0 + random(r + 8, 9_000_000) as f64 / 1000.0;
        let mut line = format!(
            "{},{},{},{},{},{},{},{weight:.3},{},{}",
            100_000 + r * 7,
            random(r + 1, 30) + 100,
            18 + random(r + 2, 70),
            pick(1, &["m", "f"]),
            pick(2, &["north", "south", "east", "west"]),
            pick(3, &["primary", "secondary", "tertiary"]),
            pick(4, &["single", "married", "widowed", "divorced"]),
            1 + random(r + 3, 12),
            day(random(r + 4, 200))
        );
        for q in 0..290 {
            let answer = match random(r * 290 + q, 12) {
                0 => -8,
                1 => -9,
                other => 1 + (other % 5) as i64,
            };
            let _ = write!(line, ",{answer}");
        }
        line
    });
}

/// A folder with one file.
fn with(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

#[track_caller]
fn refused(said: &Said, says: &[&str]) {
    assert_eq!(said.code, Some(2), "{}", said.all());
    for words in says {
        assert!(said.err.contains(words), "{words:?} is not in: {}", said.err);
    }
    assert!(!said.all().contains("CANARY"), "{}", said.all());
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// `concept_ancestor`: under 1 are 20 ingredients (100, 200 …), under each of them 40 drugs (101, 102 …).
fn concept_ancestor(path: &Path) {
    let header = "ancestor_concept_id,descendant_concept_id,min_levels_of_separation,max_levels_of_separation";
    let drugs: Vec<(u64, u64)> = (1..=20).flat_map(|group| (1..=40).map(move |drug| (group, drug))).collect();
    let mut lines = vec!["1,1,0,0".to_string()];
    for group in 1..=20 {
        lines.extend([format!("1,{},1,1", 100 * group), format!("{0},{0},0,0", 100 * group)]);
    }
    for (group, drug) in drugs {
        let (above, own) = (100 * group, 100 * group + drug);
        lines.extend([format!("1,{own},2,2"), format!("{above},{own},1,1"), format!("{own},{own},0,0")]);
    }
    table(path, header, lines.len() as u64, |line| lines[line as usize].clone());
}

#[test]
fn concepts_of_an_omop_folder_get_hierarchies_from_its_vocabulary() {
    let folder = tempfile::tempdir().unwrap();
    omop(folder.path());
    for other in ["condition_occurrence.csv", "visit_occurrence.csv"] {
        fs::remove_file(folder.path().join(other)).unwrap();
    }
    concept_ancestor(&folder.path().join("concept_ancestor.csv"));
    table(
        &folder.path().join("drug_exposure.csv"),
        "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date",
        1500,
        |d| {
            let drug = 100 * (2 + random(d, 2)) + 1 + random(d + 3, 8);
            format!("{},{},{drug},{}", d + 1, 1 + random(d + 1, 400), day(random(d, 600)))
        },
    );
    let said = run(folder.path(), &["init", "--omop", ".", "-o", "omop.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let name = "drug_exposure-drug_concept_id.csv";
    assert!(said.all().contains(&format!("written: {name}")), "{}", said.all());
    let policy = fs::read_to_string(folder.path().join("omop.toml")).unwrap();
    assert!(policy.contains(&format!("hierarchy = \"{name}\"")) && !policy.contains("concept_ancestor"), "{policy}");
    let hierarchy = fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(hierarchy.lines().any(|line| line == "305;300+;*"), "{hierarchy}");
    // The custodian may have changed the file: it is not written over, and with --force it is kept.
    refused(&run(folder.path(), &["init", "--omop", ".", "-o", "again.toml"]), &[name, "exists"]);
    assert_eq!(run(folder.path(), &["init", "--omop", ".", "-o", "again.toml", "--force"]).code, Some(0));
    assert!(folder.path().join(format!("{name}.old")).exists());
    fs::write(folder.path().join("omop.toml"), policy.replace("# k = 5\n", "k = 3\n")).unwrap();
    let said = run(folder.path(), &["anonymize", "omop.toml", "-o", "out", "--keep-rows"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let said = run(folder.path(), &["verify", "out", "--original", "omop.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let released = fs::read_to_string(folder.path().join("out/release/claims.csv")).unwrap();
    assert!(released.contains("00+"), "{}", &released[..200]);
}

#[test]
fn a_folder_of_events_without_its_people_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    omop(folder.path());
    fs::remove_file(folder.path().join("person.csv")).unwrap();
    refused(&run(folder.path(), &["init", "."]), &["`person` is missing", "Export it into the same folder"]);
    assert!(!folder.path().join("policy.toml").exists());
}

#[test]
fn workbooks_that_hold_no_single_table_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(data("two-tables.xlsx"), folder.path().join("two.xlsx")).unwrap();
    refused(&run(folder.path(), &["init", "two.xlsx"]), &["row 4 is empty", "two tables"]);
    let locked = with("locked.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1CANARY");
    refused(&run(locked.path(), &["init", "locked.xlsx"]), &["password"]);
}

#[test]
fn a_title_over_all_columns_of_a_sheet_is_skipped_and_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(data("merged.xlsx"), folder.path().join("merged.xlsx")).unwrap();
    let said = run(folder.path(), &["init", "merged.xlsx"]);
    assert!(
        said.code == Some(0) && said.err.contains("skip = 1. Check that line 2 names the columns"),
        "{}",
        said.all()
    );
    let policy = fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    assert!(policy.contains("skip = 1") && !(policy + &said.all()).contains("CANARY"));
    // A policy that skips nothing finds the merged cells.
    let whole = "[input]\ntable = \"merged.xlsx\"\n[columns]\n\"*\" = { role = \"identifier\" }\n[privacy]\nk = 2\n\
                 [method]\nname = \"local\"\n";
    fs::write(folder.path().join("whole.toml"), whole).unwrap();
    refused(&run(folder.path(), &["anonymize", "whole.toml"]), &["merged in row 1"]);
}

#[test]
fn a_fhir_file_with_broken_lines_is_refused_with_its_line() {
    let lines = "{\"resourceType\":\"Patient\",\"id\":\"a\",\"gender\":\"male\"}\n{\"resourceType\":\"Patient\",\"id\":\"CANARY\n";
    let folder = with("patients.ndjson", lines.as_bytes());
    refused(&run(folder.path(), &["init", "patients.ndjson"]), &["patients.ndjson, line 2"]);
}

/// A table with dates, under a policy whose line for `admitted` is given.
fn dated(dates: &[&str], columns: &str) -> tempfile::TempDir {
    let rows: String = dates.iter().enumerate().map(|(n, date)| format!("CANARY{},{date},m\n", n / 2)).collect();
    let folder = with("t.csv", format!("pid,admitted,sex\n{rows}").as_bytes());
    let policy = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\npid = {{ role = \"patient\" }}\n{columns}\nsex = {{ role = \"quasi\" }}\n\
         [privacy]\nk = 2\n[method]\nname = \"local\"\n"
    );
    fs::write(folder.path().join("p.toml"), policy).unwrap();
    folder
}

#[test]
fn a_date_that_fits_two_formats_is_asked_about() {
    let dates = ["03/04/2019", "05/06/2019", "07/08/2020", "01/02/2020"];
    let folder = dated(&dates, "admitted = { role = \"quasi\", date = true, hierarchy = { date = \"%Y-%m-%d\" } }");
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
    refused(&said, &["more than one way", "%m/%d/%Y", "%d/%m/%Y"]);
}

#[test]
fn an_offset_that_would_leave_the_calendar_is_refused() {
    let dates = ["9999-12-30", "9999-12-31", "9999-12-30", "9999-12-31"];
    let folder = dated(&dates, "admitted = { role = \"quasi\", shift = 3650, hierarchy = { date = \"%Y-%m-%d\" } }");
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
    refused(&said, &["`shift`", "out of the years 1 to 9999"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_column_cannot_be_derived_from_one_that_is_not_there_or_that_is_the_person() {
    let dates = ["2019-01-01", "2019-01-02", "2019-01-03", "2019-01-04"];
    let unknown =
        "admitted = { role = \"identifier\" }\nage = { role = \"quasi\", age = { born = \"dob\", at = \"admitted\" } }";
    refused(&run(dated(&dates, unknown).path(), &["anonymize", "p.toml"]), &["dob"]);
    let dropped =
        "admitted = { role = \"identifier\" }\nday = { role = \"other\", from = \"admitted\", reason = \"a test\" }";
    refused(&run(dated(&dates, dropped).path(), &["anonymize", "p.toml"]), &["`day`"]);
    let person = "admitted = { role = \"identifier\" }\nagain = { role = \"quasi\", from = \"pid\" }";
    refused(&run(dated(&dates, person).path(), &["anonymize", "p.toml"]), &["`again`"]);
}

#[test]
fn files_of_statistics_programs_are_tables() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kohort-core/src/table/statistics/fixtures");
    for file in ["t5.xpt", "t15.dta", "t.sav"] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(fixtures.join(file), folder.path().join(file)).unwrap();
        let said = run(folder.path(), &["init", file]);
        assert_eq!(said.code, Some(0), "{}", said.all());
        let policy = fs::read_to_string(folder.path().join("policy.toml")).unwrap();
        assert!(policy.contains("\nadmitted "), "{policy}");
    }
    let folder = with("t.sas7bdat", &[0; 600]);
    refused(&run(folder.path(), &["init", "t.sas7bdat"]), &["not documented", ".xpt"]);
}

#[test]
fn a_hierarchy_counts_the_labels_of_values_that_occur() {
    let folder = dated(&["2019-01-01", "2019-01-02"], "admitted = { role = \"identifier\" }");
    let said = run(folder.path(), &["hierarchy", "p.toml"]);
    assert!(said.out.contains("sex (1 value") && said.out.contains("1 label\n"), "{}", said.all());
}

#[test]
fn the_only_sheet_that_is_a_table_is_read_and_another_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::copy(data("one-table-of-two-sheets.xlsx"), here.join("one.xlsx")).unwrap();
    fs::copy(data("two-sheets.xlsx"), here.join("two.xlsx")).unwrap();
    assert_eq!(run(here, &["init", "one.xlsx", "-o", "one.toml"]).code, Some(0));
    let policy = fs::read_to_string(here.join("one.toml")).unwrap();
    assert!(policy.contains("sheet = \"Stays\""), "{policy}");
    fs::write(here.join("one.toml"), policy.replace("\n# k = 5\n", "\nk = 5\n")).unwrap();
    assert_eq!(run(here, &["anonymize", "one.toml", "-o", "out"]).code, Some(0));

    refused(&run(here, &["init", "two.xlsx"]), &["2 sheets", "--sheet", "\"Stays\", \"Visits\""]);
    refused(&run(here, &["risk", "two.xlsx"]), &["2 sheets", "--sheet"]);
    refused(&run(here, &["init", "two.xlsx", "--sheet", "Beds"]), &["no sheet of the name"]);
    assert_eq!(run(here, &["init", "two.xlsx", "--sheet", "Visits", "-o", "two.toml"]).code, Some(0));
    assert!(fs::read_to_string(here.join("two.toml")).unwrap().contains("sheet = \"Visits\""));
    let said = run(here, &["risk", "two.xlsx", "--sheet", "Visits"]);
    assert!(said.code == Some(0) && said.out.contains("60"), "{}", said.all());
}

#[test]
fn questions_are_asked_and_their_answers_are_in_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    table(&folder.path().join("t.csv"), "age,sex,zqa,zqb,zqc", 400, |n| {
        let (a, b, c) = (random(n, 7), random(n + 1, 7), random(n + 2, 7));
        format!("{},{},a{a},b{b},c{c}", 20 + random(n + 3, 60), ["M", "F"][random(n, 2) as usize])
    });
    let mut child = kohort(folder.path())
        .args(["init", "t.csv", "--ask"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A word that is no answer is asked again; the last question gets none.
    child.stdin.take().unwrap().write_all(b"perhaps\nn\nd\n").unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.err.contains("question 1 of 3: `zqa`") && said.err.contains("please answer"), "{}", said.err);
    let policy = fs::read_to_string(folder.path().join("policy.toml")).unwrap();
    let line = |name: &str| policy.lines().find(|line| line.starts_with(name)).unwrap().to_string();
    assert!(line("zqa").contains("role = \"other\"") && line("zqa").contains("the custodian says"), "{policy}");
    assert!(line("zqb").contains("role = \"identifier\"") && line("zqb").contains("as the custodian answered"));
    assert!(line("zqc").contains("role = \"quasi\"") && line("zqc").contains("CHECK"), "{policy}");
}
