//! The findings of our own audit about patient histories (P8 to P12), each as a test that failed before.

use crate::common::run::{options, release};
use kohort::compare::{self, Vary};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::events::survey;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A generator of its own, so that no test shares randomness with what it tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

const COLUMNS: &str = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n\
    [columns.patients]\nid = { role = \"patient\" }\nsex = { role = \"quasi\" }\n\
    [columns.claims]\nid = { role = \"patient\" }\nmonth = { role = \"quasi\", hierarchy = { intervals = [3, 12], from = 0, to = 24 } }\n\
    code = { role = \"quasi\", hierarchy = { prefix = [1] } }\nward = { role = \"quasi\" }\n";

/// Patients with events in three columns.
fn hospital(people: u64, rest: &str) -> tempfile::TempDir {
    let mut dice = Dice(people);
    let folder = tempfile::tempdir().unwrap();
    let (mut patients, mut claims) = ("id,sex\n".to_string(), "id,month,code,ward\n".to_string());
    for p in 0..people {
        writeln!(patients, "{p},{}", ["F", "M"][dice.below(2) as usize]).unwrap();
        for _ in 0..1 + dice.below(4) {
            let code = [10, 11, 12, 20, 21, 30][dice.below(6) as usize];
            writeln!(claims, "{p},{},{code},{}", dice.below(24), dice.below(4)).unwrap();
        }
    }
    for (file, text) in [("p.csv", patients), ("c.csv", claims), ("policy.toml", format!("{COLUMNS}{rest}"))] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().skip(1).map(|r| r.unwrap().iter().map(str::to_string).collect()).collect()
}

const METHOD: &str = "[method]\nname = \"claims\"\ndraws = 5000\n";

/// P12: the share by the plain definition, for every two columns: of each patient, over all their events.
#[test]
fn two_linked_columns_are_limited_whichever_they_are() {
    let privacy = "[privacy]\nk = 5\npower = 1\nknowledge = \"pairs\"\nmax_high_risk = 0.2\n";
    let folder = hospital(300, &format!("{privacy}{METHOD}"));
    let (out, released) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let sex: HashMap<String, String> =
        rows(&out.join("release/patients.csv")).into_iter().map(|r| (r[0].clone(), r[1].clone())).collect();
    let claims = rows(&out.join("release/claims.csv"));
    for (a, b) in [(1, 2), (1, 3), (2, 3)] {
        let mut having: HashMap<(&str, &str, &str), Vec<&str>> = HashMap::new();
        for row in &claims {
            let own = having.entry((&sex[&row[0]], &row[a], &row[b])).or_default();
            if own.last() != Some(&row[0].as_str()) {
                own.push(&row[0]);
            }
        }
        let mut share: HashMap<&str, (f64, f64)> = HashMap::new();
        for row in &claims {
            let few = having[&(&*sex[&row[0]], &*row[a], &*row[b])].len() < 5;
            let own = share.entry(&row[0]).or_default();
            *own = (own.0 + f64::from(u8::from(few)), own.1 + 1.0);
        }
        let found = share.values().map(|(few, all)| few / all).sum::<f64>() / share.len() as f64;
        assert!(found <= 0.21, "columns {a} and {b}: {found}");
    }
    // The first page shows single values, pairs and whole events side by side.
    let page = fs::read_to_string(out.join("evidence/report.html")).unwrap();
    assert!(page.contains("Two columns of events, the two that reveal most"));
    let metrics = released.metrics.to_value();
    let share = |of: &str, at: usize| metrics["adversaries"][of][at]["release"].as_f64().unwrap();
    assert!(share("pairs", 0) <= share("events", 0) + 0.02, "a part of an event reveals no more than all of it");
    assert_eq!(metrics["guarantee"]["pairs_power"].as_u64(), Some(1));
    // The table and the sentence above it state the same share.
    assert_eq!(metrics["adversaries"]["events"][0]["known"].as_u64(), Some(1));
    assert_eq!(metrics["adversaries"]["events"][0]["release"], metrics["guarantee"]["one_event_known"]["share"]);
}

/// P10: a looser `max_flagged` is never worse than none.
#[test]
fn a_looser_limit_for_candidates_does_not_make_a_policy_infeasible() {
    let privacy = "[privacy]\nk = 5\npower = 2\npower_rule = \"fixed\"\nmax_high_risk = 0.1\n";
    for more in ["", "max_flagged = 0.5\n", "max_flagged = 0.95\n", "max_flagged = 0.95\nmax_suppressed = 0.01\n"] {
        let folder = hospital(250, &format!("{privacy}{METHOD}{more}"));
        let made = release(&folder.path().join("policy.toml"), "out", &options(3, 2));
        assert!(made.is_ok(), "{more}: {}", made.unwrap_err().message);
    }
}

/// P10: what meets the limit already loses nothing more.
#[test]
fn suppression_stops_where_the_limit_is_met() {
    let privacy = "[privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0.1\n";
    let folder = hospital(250, &format!("{privacy}{METHOD}"));
    let (_, released) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let metrics = released.metrics.to_value();
    assert_eq!(metrics["rows"]["suppressed"].as_u64(), Some(0), "the chosen levels meet the limit by themselves");
    // Where suppression is asked for, it does not go far beyond the limit.
    let folder = hospital(250, &format!("{privacy}{METHOD}max_flagged = 0.3\n"));
    let (_, released) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let metrics = released.metrics.to_value();
    let (found, gone) = (metrics["guarantee"]["found"]["share"].as_f64(), metrics["rows"]["suppressed"].as_u64());
    assert!(found.unwrap() <= 0.1 && (gone == Some(0) || found.unwrap() > 0.02), "{found:?}, {gone:?} events removed");
}

/// P9: the risk of a setting is what was counted, and every key of the attacker can be varied.
#[test]
fn settings_of_histories_are_compared_by_their_true_risk() {
    let folder = hospital(200, &format!("[privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0.15\n{METHOD}"));
    let vary: Vec<Vary> =
        ["power=1,2", "max_high_risk=0.15,0.3", "knowledge=values,pairs"].map(|text| text.parse().unwrap()).to_vec();
    let out = folder.path().join("compare");
    let compared = compare::compare(&folder.path().join("policy.toml"), &vary, &out, &options(3, 2)).unwrap();
    assert_eq!(compared.tried.len(), 8);
    for tried in &compared.tried {
        let (Some(risk), Some(loss)) = (tried.risk(), tried.loss()) else { panic!("{} was not made", tried.name) };
        assert!(risk <= 0.3 && (risk - 0.2).abs() > 1e-9, "{}: risk {risk}, loss {loss}", tried.name);
    }
}

/// P9: the rule for the power and the total power are varied as well; a policy may go from one to the other.
#[test]
fn the_rule_and_the_total_power_are_varied() {
    let policy = format!("[privacy]\nk = 5\npower = 3\nmax_high_risk = 0.3\n{METHOD}");
    let folder = hospital(200, &policy);
    let tried = |vary: &str, out: &str| {
        let vary = [vary.parse::<Vary>().unwrap()];
        compare::compare(&folder.path().join("policy.toml"), &vary, &folder.path().join(out), &options(3, 2)).unwrap()
    };
    let rules = tried("power_rule=variable,fixed", "rules").tried;
    let names: Vec<&str> = rules.iter().map(|own| own.name.as_str()).collect();
    assert!(names[0].contains("variable") && names[1].contains("fixed"), "{names:?}");
    let loss: Vec<f64> = rules.iter().map(|own| own.loss().unwrap()).collect();
    // Whoever knows three values of everybody knows more than by the variable rule.
    assert!(loss[0] <= loss[1], "{loss:?}");
    let totals = tried("power_total=1,2", "totals").tried;
    let risk: Vec<f64> = totals.iter().map(|own| own.risk().unwrap()).collect();
    assert!(totals.len() == 2 && risk.iter().all(|&risk| risk <= 0.3), "{risk:?}");
    assert!(totals[0].loss() < totals[1].loss(), "two facts cost more than one");
}

/// P11: what is counted has no interval. So few sets of values are enumerated, not drawn, whatever the attacker knows.
#[test]
fn an_exact_share_has_no_interval() {
    for power in ["power_total = 1", "power = 2"] {
        let folder = hospital(200, &format!("[privacy]\nk = 5\n{power}\nmax_high_risk = 0.3\n{METHOD}"));
        let (out, released) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
        let found = &released.metrics.to_value()["guarantee"]["found"];
        assert!(found["share"].is_f64() && found["low"].is_null() && found["high"].is_null(), "{power}: {found}");
        let certificate = fs::read_to_string(out.join("release/certificate.json")).unwrap();
        assert!(!certificate.contains("\"high\""), "{power}: {certificate}");
    }
}

/// P11: a column that is suppressed is lost, also where no other level is permitted.
#[test]
fn what_is_never_shown_counts_as_lost() {
    let rest = format!("[privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0.15\n{METHOD}");
    let folder = hospital(200, &rest);
    let path = folder.path().join("policy.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("ward = { role = \"quasi\" }", "ward = { role = \"quasi\", levels = [\"*\"] }"))
        .unwrap();
    let (_, released) = release(&path, "out", &options(3, 2)).unwrap();
    let metrics = released.metrics.to_value();
    let columns = metrics["utility"]["columns"].as_array().unwrap();
    let ward = columns.iter().find(|c| c["column"] == "ward").unwrap();
    assert_eq!(ward["loss"].as_f64(), Some(1.0));
    assert!(metrics["utility"]["loss"].as_f64().unwrap() >= 0.25);
}

/// P11: codes that happen to be digits have no order; months and intervals have one.
#[test]
fn only_ordered_columns_are_tested_by_their_order() {
    let rest = format!(
        "[[exclude]]\ntable = \"claims\"\ncolumn = \"code\"\ncodes = [\"30\"]\nscope = \"patient\"\n\
         [privacy]\nk = 5\npower_total = 1\nmax_high_risk = 0.2\n{METHOD}"
    );
    let folder = hospital(200, &rest);
    let (_, released) = release(&folder.path().join("policy.toml"), "out", &options(3, 2)).unwrap();
    let metrics = released.metrics.to_value();
    let columns = metrics["excluded_and_kept"]["columns"].as_array().unwrap();
    let p_value = |name: &str| columns.iter().find(|c| c["column"] == name).unwrap()["p_value"].is_number();
    assert!(p_value("month") && !p_value("code") && !p_value("ward"));
    // The tables show the original, whatever levels are released.
    let labels = |name: &str| columns.iter().find(|c| c["column"] == name).unwrap()["labels"].as_array().unwrap().len();
    assert_eq!((labels("month"), labels("ward")), (24, 4));
    // 2 comes before 10.
    let months = columns.iter().find(|c| c["column"] == "month").unwrap()["labels"].as_array().unwrap();
    let months: Vec<u64> = months.iter().map(|own| own["label"].as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(months, (0..24).collect::<Vec<u64>>());
}

fn coded(dx: &[&str], exclude: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut patients, mut claims) = ("id\n".to_string(), "id,dx\n".to_string());
    for (p, code) in dx.iter().enumerate() {
        writeln!(patients, "{p}").unwrap();
        writeln!(claims, "{p},{code}").unwrap();
    }
    let policy = format!(
        "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = {{ role = \"patient\" }}\n\
         [columns.claims]\nid = {{ role = \"patient\" }}\ndx = {{ role = \"quasi\" }}\n\
         [[exclude]]\ntable = \"claims\"\nrules = \"hhp\"\n{exclude}\n\
         [privacy]\nk = 2\npower = 1\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\n"
    );
    let list = "code;name\nE84;cystic fibrosis\nG12.2;motor neuron disease\n# nothing else\n";
    let empty = "code;name\n# nobody yet\n";
    let files =
        [("p.csv", &*patients), ("c.csv", &claims), ("policy.toml", &policy), ("list.csv", list), ("empty.csv", empty)];
    for (file, text) in files {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

/// P8: a code of a system that the rules do not know is never released in silence.
#[test]
fn icd10_does_not_slip_through_rules_for_icd9() {
    let read = |folder: &tempfile::TempDir| {
        let (source, policy) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 1))?;
        let policy = policy.events().unwrap();
        let mut histories = survey(&source, &policy)?;
        histories.notes.splice(0..0, policy.notes.clone());
        Ok::<_, kohort_core::Error>(histories)
    };
    let codes = ["B20", "I10", "E11.9", "E84.0", "I10"];
    let error = read(&coded(&codes, "icd9 = [\"dx\"]")).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("ICD10"), "{}", error.message);
    assert!(!error.message.contains("B20"));

    let histories = read(&coded(&codes, "icd10 = [\"dx\"]")).unwrap();
    assert_eq!(histories.counts.patients_excluded, 1);
    assert!(histories.notes.iter().any(|note| note.contains("does not print their list")));
    let histories = read(&coded(&codes, "icd10 = [\"dx\"]\nvisible = \"list.csv\"")).unwrap();
    assert_eq!(histories.counts.patients_excluded, 2);
    assert!(!histories.notes.iter().any(|note| note.contains("does not print their list")));

    let histories = read(&coded(&codes, "icd10 = [\"dx\"]\nvisible = \"empty.csv\"")).unwrap();
    assert_eq!(histories.counts.patients_excluded, 1);
    assert!(histories.notes.iter().any(|note| note.contains("the list of rare and visible diseases is empty")));

    // Both systems in one column.
    let both = read(&coded(&["B20", "042", "401.9", "I10"], "icd9 = [\"dx\"]\nicd10 = [\"dx\"]")).unwrap();
    assert_eq!(both.counts.patients_excluded, 2);
    // Procedures: abortion, creation of a perineum, treatment of substance abuse, and an appendectomy.
    let procedures = ["10A07Z6", "0W4M070", "0W4N0J1", "HZ2ZZZZ", "0DTJ4ZZ", "10D00Z1"];
    let histories = read(&coded(&procedures, "icd10_procedure = [\"dx\"]")).unwrap();
    assert_eq!(histories.counts.patients_excluded, 4);
    // A rule that one section applies is not missed in another, and nothing is said twice.
    let twice =
        coded(&codes, "icd10 = [\"dx\"]\nvisible = \"list.csv\"\n[[exclude]]\ntable = \"claims\"\nrules = \"hhp\"");
    let histories = read(&twice).unwrap();
    let about = |text: &str| histories.notes.iter().filter(|note| note.contains(text)).count();
    assert_eq!((about("\"hiv\" was not applied"), about("\"newborn\" was not"), about("print their list")), (0, 1, 0));
    // Nothing matches: this is said.
    let none = read(&coded(&["I10", "I10"], "icd10 = [\"dx\"]")).unwrap();
    assert!(none.notes.iter().any(|note| note.contains("no exclusion matched any row")), "{:?}", none.notes);
}
