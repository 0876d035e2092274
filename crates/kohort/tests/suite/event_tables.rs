//! Patients with events in several tables, as OMOP has them: one attacker over all of them.

use crate::common::run::{options, release};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{AnyFindings, verify_release, verify_with_original};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A generator of its own, so that no test shares randomness with what it tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

const POLICY: &str = r#"
[input]
patients = "person.csv"

[input.events]
visits = "visit_occurrence.csv"
conditions = "condition_occurrence.csv"
drugs = "drug_exposure.csv"

[columns.patients]
person_id = { role = "patient" }
sex = { role = "quasi" }
age = { role = "quasi", hierarchy = { intervals = [10, 20, 60], from = 0, to = 120 } }

[columns.visits]
person_id = { role = "patient" }
month = { from = "visit_start_date", role = "quasi", hierarchy = { months_since = "first", date = "%Y-%m-%d", groups = [3, 12] } }
place = { role = "quasi" }
visit_id = { role = "pseudonym", scope = "patient" }
visit_start_date = { role = "identifier" }

[columns.conditions]
person_id = { role = "patient" }
month = { from = "condition_start_date", role = "quasi", hierarchy = { months_since = "first", date = "%Y-%m-%d", groups = [3, 12] } }
code = { role = "quasi", hierarchy = "icd10" }
condition_start_date = { role = "identifier" }

[columns.drugs]
person_id = { role = "patient" }
code = { role = "quasi", hierarchy = { prefix = [3, 1] } }
days = { role = "other", reason = "a test" }

[[exclude]]
table = "conditions"
column = "code"
codes = ["B20"]
scope = "patient"
"#;
const METHOD: &str =
    "[method]\nname = \"claims\"\ndraws = 5000\nevent_date = [\"visit_start_date\", \"condition_start_date\"]\n";

fn hospital(seed: u64, people: u64, privacy: &str) -> tempfile::TempDir {
    let mut dice = Dice(seed);
    let folder = tempfile::tempdir().unwrap();
    let mut person = "person_id,sex,age\n".to_string();
    let mut visits = "person_id,visit_id,visit_start_date,place\n".to_string();
    let mut conditions = "person_id,condition_start_date,code\n".to_string();
    let mut drugs = "person_id,code,days\n".to_string();
    for p in 0..people {
        writeln!(person, "P{p},{},{}", ["F", "M"][dice.below(2) as usize], 20 + dice.below(60)).unwrap();
        for _ in 0..dice.below(3) {
            let (month, day) = (1 + dice.below(12), 1 + dice.below(28));
            let place = ["ward", "home", "clinic"][dice.below(3) as usize];
            writeln!(visits, "P{p},V{},2021-{month:02}-{day:02},{place}", dice.below(1000)).unwrap();
        }
        for _ in 0..dice.below(4) {
            let (month, day) = (1 + dice.below(12), 1 + dice.below(28));
            let most = if dice.below(20) == 0 { 5 } else { 4 };
            let code = ["I10", "E11.9", "J18.9", "I21.9", "B20"][dice.below(most) as usize];
            writeln!(conditions, "P{p},2021-{month:02}-{day:02},{code}").unwrap();
        }
        for _ in 0..dice.below(3) {
            let code = ["C09AA05", "A10BA02", "N02BE01"][dice.below(3) as usize];
            writeln!(drugs, "P{p},{code},{}", dice.below(30)).unwrap();
        }
    }
    let files = [
        ("person.csv", person),
        ("visit_occurrence.csv", visits),
        ("condition_occurrence.csv", conditions),
        ("drug_exposure.csv", drugs),
        ("policy.toml", format!("{POLICY}{privacy}{METHOD}")),
    ];
    files.iter().for_each(|(file, text)| fs::write(folder.path().join(file), text).unwrap());
    folder
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|r| r.unwrap().iter().map(str::to_string).collect()).collect()
}

const FILES: [&str; 4] = ["patients.csv", "visits.csv", "conditions.csv", "drugs.csv"];

#[test]
fn several_tables_are_released_verified_and_the_same_with_one_seed() {
    for (seed, privacy) in [
        (1, "[privacy]\nk = 4\npower = 2\nmax_high_risk = 0.2\n"),
        (2, "[privacy]\nk = 3\npower = 1\nknowledge = \"events\"\nmax_high_risk = 0.3\n"),
        (3, "[privacy]\nk = 4\npower_total = 2\nmax_high_risk = 0\n"),
        (4, "[privacy]\nk = 3\npower = 1\nknowledge = \"pairs\"\nmax_high_risk = 0.3\n"),
    ] {
        let folder = hospital(seed, 200, privacy);
        let policy = folder.path().join("policy.toml");
        let (out, released) = release(&policy, "one", &options(7, 1)).unwrap();
        let (again, _) = release(&policy, "two", &options(7, 2)).unwrap();
        for file in FILES.iter().chain(&["dictionary.md", "certificate.json"]) {
            let both = [&out, &again].map(|o| fs::read(o.join("release").join(file)).unwrap());
            assert!(both[0] == both[1], "{file}: another number of threads, other bytes");
        }
        verify_release(&out, 2).unwrap();
        let (source, bound) = pipeline::open(&policy, &options(1, 2)).unwrap();
        let by_row = verify_with_original(&out, &source, &bound).unwrap();
        assert!(by_row.not_shown().is_empty() && by_row.matched() > 0);
        fs::remove_dir_all(out.join("private")).unwrap();
        let by_multiset = verify_with_original(&out, &source, &bound).unwrap();
        assert!(!by_multiset.not_shown().is_empty() && by_multiset.matched() == by_row.matched());
        let number = |file: &str| rows(&out.join("release").join(file)).len() as u64 - 1;
        let metrics = released.metrics.to_value();
        let events: u64 = FILES[1..].iter().map(|file| number(file)).sum();
        assert_eq!(metrics["rows"]["out"].as_u64(), Some(events));
        assert_eq!(metrics["people"]["out"].as_u64(), Some(number("patients.csv")));
        let columns: Vec<String> =
            metrics["utility"]["columns"].as_array().unwrap().iter().map(|c| c["column"].to_string()).collect();
        assert!(columns.contains(&"\"conditions.code\"".into()) && columns.contains(&"\"drugs.code\"".into()));
    }
}

/// The values of one table that a patient has in a column.
struct Person {
    own: Vec<String>,
    facts: Vec<(usize, usize, String)>,
}

fn people(release: &Path) -> Vec<Person> {
    let patients = rows(&release.join("patients.csv"));
    let mut all: Vec<Person> =
        patients[1..].iter().map(|row| Person { own: row[1..].to_vec(), facts: Vec::new() }).collect();
    for (t, (file, quasi)) in FILES[1..].iter().zip([2, 2, 1]).enumerate() {
        for row in &rows(&release.join(file))[1..] {
            let person = row[0].parse::<usize>().unwrap() - 1;
            (0..quasi).for_each(|c| all[person].facts.push((t, c, row[1 + c].clone())));
        }
    }
    all
}

/// The plain definition: any two facts, from one table or from two, and all patient-level values.
#[test]
fn any_two_facts_of_different_tables_match_enough() {
    let folder = hospital(5, 150, "[privacy]\nk = 4\npower_total = 2\nmax_high_risk = 0\n");
    let (out, _) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let all = people(&out.join("release"));
    let has = |person: &Person, set: &[&(usize, usize, String)]| {
        let mut left: Vec<&(usize, usize, String)> = person.facts.iter().collect();
        set.iter().all(|fact| left.iter().position(|own| own == fact).map(|at| left.swap_remove(at)).is_some())
    };
    let mut across = 0;
    for person in &all {
        for (i, a) in person.facts.iter().enumerate() {
            for b in &person.facts[i + 1..] {
                across += u32::from(a.0 != b.0);
                let found = all.iter().filter(|other| other.own == person.own && has(other, &[a, b])).count();
                assert!(found >= 4, "{found} patients have these two facts");
            }
        }
    }
    assert!(across > 100, "facts of different tables were known together");
}

/// A value in another table gives a patient away; a verifier that looks at one table sees nothing.
#[test]
fn a_fact_of_any_table_is_counted() {
    let folder = hospital(6, 150, "[privacy]\nk = 4\npower_total = 1\nmax_high_risk = 0\n");
    let (out, _) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    for (file, column) in [("visits.csv", 2), ("conditions.csv", 2), ("drugs.csv", 1)] {
        let path = out.join("release").join(file);
        let before = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = before.lines().map(str::to_string).collect();
        let mut cells: Vec<String> = lines[1].split(',').map(str::to_string).collect();
        cells[column] = "Z99".into();
        lines[1] = cells.join(",");
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let certificate = out.join("release/certificate.json");
        let text = fs::read_to_string(&certificate).unwrap();
        fs::write(&certificate, rehashed(&text, &before, &fs::read_to_string(&path).unwrap())).unwrap();
        let error = verify_release(&out, 1).unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{file}: {}", error.message);
        fs::write(&path, before).unwrap();
        fs::write(&certificate, text).unwrap();
    }
    verify_release(&out, 1).unwrap();
}

/// The certificate with the hash of other bytes.
fn rehashed(certificate: &str, before: &str, after: &str) -> String {
    use sha2::{Digest, Sha256};
    let hash = |text: &str| Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>();
    certificate.replace(&hash(before), &hash(after))
}

#[test]
fn the_certificate_lists_the_tables_and_a_changed_list_is_refused() {
    let folder = hospital(8, 120, "[privacy]\nk = 3\npower = 1\nmax_high_risk = 0.3\n");
    let (out, _) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let path: PathBuf = out.join("release/certificate.json");
    let text = fs::read_to_string(&path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tables: Vec<&str> =
        value["counted"]["tables"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(tables, ["patients", "visits", "conditions", "drugs"]);
    for (from, to) in
        [("\"name\": \"drugs\"", "\"name\": \"../drugs\""), ("\"drugs\"", "\"Visits\""), ("drugs", "drogs")]
    {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        assert!(verify_release(&out, 1).is_err(), "{to}");
    }
    fs::write(&path, &text).unwrap();
    verify_release(&out, 1).unwrap();
}

#[test]
fn the_first_event_is_the_earliest_of_all_tables() {
    let folder = tempfile::tempdir().unwrap();
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    put("p.csv", "id\na\nb\n");
    put("v.csv", "id,day\na,2020-03-15\nb,2020-01-15\n");
    put("c.csv", "id,day\na,2020-01-10\nb,2020-06-20\n");
    let months = "month = { from = \"day\", role = \"quasi\", hierarchy = { months_since = \"first\", date = \"%Y-%m-%d\" } }\nday = { role = \"identifier\" }\n";
    put(
        "policy.toml",
        &format!(
            "[input]\npatients = \"p.csv\"\n[input.events]\nvisits = \"v.csv\"\nconditions = \"c.csv\"\n\
             [columns.patients]\nid = {{ role = \"patient\" }}\n[columns.visits]\nid = {{ role = \"patient\" }}\n{months}\
             [columns.conditions]\nid = {{ role = \"patient\" }}\n{months}\
             [privacy]\nk = 2\npower = 1\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\n"
        ),
    );
    let (source, policy) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 1)).unwrap();
    let histories = kohort_core::events::survey(&source, &policy.events().unwrap()).unwrap();
    let text = |table: usize, event: usize| histories.event[table].text(0, event).to_string();
    assert_eq!([text(0, 0), text(0, 1)], ["2", "0"]);
    assert_eq!([text(1, 0), text(1, 1)], ["0", "5"]);
}

#[test]
fn names_of_tables_are_checked() {
    let folder = hospital(9, 60, "[privacy]\nk = 3\npower = 1\nmax_high_risk = 0.3\n");
    let path = folder.path().join("policy.toml");
    let good = fs::read_to_string(&path).unwrap();
    let check = |from: &str, to: &str, words: &str| {
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let error = pipeline::open(&path, &options(1, 1)).map(|_| ()).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains(words), "{to}: {}", error.message);
    };
    check("visits = \"visit", "patients = \"visit", "cannot name a table");
    check("visits = \"visit", "\"../visits\" = \"visit", "cannot name a table");
    check("visits = \"visit", "Drugs = \"visit", "cannot name a table");
    check("[columns.drugs]", "[columns.drug]", "drug");
    check("table = \"conditions\"", "table = \"claims\"", "\"visits\"");
    check("patients = \"person.csv\"", "patients = \"person.csv\"\nclaims = \"drug_exposure.csv\"", "alternatives");
    check(
        "code = { role = \"quasi\", hierarchy = { prefix = [3, 1] } }",
        "code = { role = \"identifier\" }",
        "[columns.drugs]",
    );
    check("\"condition_start_date\"]", "\"condition_begin_date\"]", "condition_begin_date");
}

#[test]
fn findings_name_the_patients_of_all_tables() {
    let folder = hospital(10, 120, "[privacy]\nk = 3\npower = 1\nmax_high_risk = 0.3\n");
    let (out, _) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let (source, bound) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 2)).unwrap();
    let AnyFindings::Events(findings) = verify_with_original(&out, &source, &bound).unwrap() else { panic!("events") };
    let patients = people(&out.join("release"));
    let with = patients.iter().filter(|person| !person.facts.is_empty()).count() as u64;
    assert_eq!(findings.recount.patients - findings.recount.without_events, with);
}
