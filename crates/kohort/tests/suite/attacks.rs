//! Attacks that are tried on releases: their scores by the plain definition, and where they go.

use crate::common::run::{options, release};
use crate::common::table::Table;
use kohort::attack::{Attack, Attacked, Trial, attack};
use kohort::report;
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use std::fs;
use std::path::{Path, PathBuf};

const TRIAL: Trial = Trial { targets: 10_000, seed: 1 };

fn put(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    folder.join("p.toml")
}

fn tried(policy: &Path) -> (PathBuf, Attacked) {
    let (out, _) = release(policy, "out", &options(1, 1)).unwrap();
    let attacked = attack(&out, policy, &options(1, 1), TRIAL).unwrap();
    (out, attacked)
}

#[track_caller]
fn find<'a>(attacked: &'a Attacked, name: &str, words: &str) -> &'a Attack {
    let found =
        attacked.attacks.iter().find(|a| a.name == name && (a.measure.contains(words) || a.about.contains(words)));
    found.unwrap_or_else(|| panic!("{name}, {words}: {:?}", attacked.attacks))
}

#[track_caller]
fn scores(a: &Attack, before: f64, after: f64, baseline: f64) {
    let close = |x: Option<f64>, y: f64| x.is_some_and(|x| (x - y).abs() < 1e-9);
    assert!(close(a.before, before) && close(a.after, after) && close(a.baseline, baseline), "{a:?}");
}

const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\ns = { role = \"sensitive\", domain = [\"x\", \"y\", \"z\"] }\n\
    [privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n";
/// Of a and b each: one r of its own, so that r goes.
const TABLE: &str = "q,r,s\na,1,x\na,2,x\nb,3,x\nb,4,y\n";

#[test]
fn a_table_is_attacked_by_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let (out, attacked) = tried(&put(folder.path(), &[("t.csv", TABLE), ("p.toml", POLICY)]));
    assert!(Table::released(&out).rows.iter().all(|row| row[1] == "*" && row[0] != "*"));
    scores(find(&attacked, "linkage", "average probability"), 1.0, 0.5, 0.25);
    scores(find(&attacked, "linkage", "exactly one"), 1.0, 0.0, 0.0);
    // Both a have x: known of half of the people. As it is, everybody's value is read off.
    scores(find(&attacked, "homogeneity", ""), 1.0, 0.5, 0.0);
    // x has three of four.
    scores(find(&attacked, "skew", ""), 1.0, 0.75, 0.625);
    scores(find(&attacked, "majority", ""), 1.0, 0.75, 0.75);
    assert_eq!(find(&attacked, "naive Bayes", "").before, Some(1.0));
    // What stood in r is nowhere to be seen.
    scores(find(&attacked, "downcoding", ""), 1.0, 0.0, 0.0);
    assert!(attacked.notes.is_empty());
}

/// Where nearly every value occurs once, what is learned from other rows must not be worse than guessing.
#[test]
fn naive_bayes_is_no_worse_than_guessing_where_values_are_nearly_unique() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "q,r,s\n".to_string();
    (0..300).for_each(|i| table += &format!("{i},{},{}\n", i * 7 % 299, ["x", "x", "y", "z"][i % 4]));
    let (_, attacked) = tried(&put(folder.path(), &[("t.csv", &table), ("p.toml", POLICY)]));
    let found = find(&attacked, "naive Bayes", "");
    let guessing = found.baseline.unwrap();
    assert!(found.before.unwrap() >= guessing - 0.05 && found.after.unwrap() >= guessing - 0.05, "{found:?}");
}

/// Homogeneity is about the listed values: y is nobody's for certain, x of both a is not counted.
#[test]
fn homogeneity_counts_the_listed_values_only() {
    let folder = tempfile::tempdir().unwrap();
    let policy = POLICY.replace("role = \"sensitive\"", "role = \"sensitive\", values = [\"y\"]");
    let (_, attacked) = tried(&put(folder.path(), &[("t.csv", TABLE), ("p.toml", &policy)]));
    scores(find(&attacked, "homogeneity", ""), 1.0, 0.0, 0.0);
}

#[test]
fn without_the_lines_of_rows_what_was_not_tried_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let policy = put(folder.path(), &[("t.csv", TABLE), ("p.toml", POLICY)]);
    let (out, _) = tried(&policy);
    fs::remove_dir_all(out.join("private")).unwrap();
    let attacked = attack(&out, &policy, &options(1, 1), TRIAL).unwrap();
    assert!(attacked.notes.iter().any(|n| n.contains("downcoding")) && attacked.attacks.len() == 6);
}

#[test]
fn what_the_policy_says_is_known_is_tried_beside_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "q,r,s\n".to_string();
    (0..60).for_each(|i| table += &format!("{},{},{}\n", i % 3, i % 20, ["x", "y", "z"][i % 3]));
    let policy =
        POLICY.replace("k = 2", "k = 3\nknows = 1").replace("lattice", "suppress").replace("max_suppressed = 0\n", "");
    let (_, attacked) = tried(&put(folder.path(), &[("t.csv", &table), ("p.toml", &policy)]));
    let (any, all) = (find(&attacked, "linkage", "any 1"), find(&attacked, "linkage", "all quasi"));
    assert!(any.after <= Some(1.0 / 3.0) && all.after >= any.after, "{attacked:?}");
    // q tells s, and is shown: all who match have one value.
    let s = attacked.attacks.iter().find(|a| a.name == "naive Bayes").unwrap();
    assert!(s.after > s.baseline, "{s:?}");
}

#[test]
fn a_blank_that_had_to_go_is_undone_by_who_knows_the_method() {
    let folder = tempfile::tempdir().unwrap();
    // With b, q is blank only where it is 1: beside q = 0 nothing had to go.
    let table = format!("q,r\n{}{}{}", "0,a\n".repeat(6), "0,b\n".repeat(6), "1,a\n".repeat(6)) + "1,b\n";
    let policy = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\n[privacy]\nk = 2\n[method]\nname = \"suppress\"\nremainder = \"grow\"\n";
    let (out, attacked) = tried(&put(folder.path(), &[("t.csv", &table), ("p.toml", policy)]));
    assert!(Table::released(&out).rows.iter().flatten().any(|cell| cell == "*"));
    let minimality = find(&attacked, "minimality", "");
    assert!(minimality.targets > 0 && minimality.after.is_some(), "{minimality:?}");
}

#[test]
fn invented_rows_are_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "q,r,s\n".to_string();
    (0..400).for_each(|i| table += &format!("{},{},{}\n", i % 80, i % 2, ["x", "y", "z"][i % 3]));
    let method = "\"ceiling\"\nh = 0\nreal_k = 2\nmax_counterfeits = 1\n";
    let policy = POLICY.replace("k = 2", "k = 8").replace("\"lattice\"\nmax_suppressed = 0\n", method);
    let (_, attacked) = tried(&put(folder.path(), &[("t.csv", &table), ("p.toml", &policy)]));
    let found = find(&attacked, "counterfeit detection", "");
    assert!(found.baseline == Some(0.5) && found.after.is_some_and(|auc| (0.3..0.8).contains(&auc)), "{found:?}");
}

#[test]
fn sets_of_codes_are_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "pid,dx\n".to_string();
    (0..60).for_each(|i| table += &format!("p{i},250 40{} 3{} 5{}\n", i % 3, i % 5, i % 7));
    let policy = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\npid = { role = \"patient\" }\ndx = { role = \"codes\", separator = \" \" }\n\
        [privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\n";
    let (_, attacked) = tried(&put(folder.path(), &[("t.csv", &table), ("p.toml", policy)]));
    let link = find(&attacked, "linkage", "average probability");
    assert!(link.before > link.after && link.after <= Some(0.2 + 1e-9), "{link:?}");
    // Everybody has 250, and the release shows it in every row: who does not know it learns it.
    let cover = find(&attacked, "cover", "");
    assert!(cover.after.is_some_and(|x| x > 0.1) && cover.before >= cover.after, "{cover:?}");
    assert!(find(&attacked, "inference", "").baseline.is_some());
}

#[test]
fn patients_with_events_are_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let (mut patients, mut claims) = ("id,sex\n".to_string(), "id,dx,place\n".to_string());
    for p in 0..80 {
        patients += &format!("P{p},{}\n", p % 2);
        (0..1 + p % 3).for_each(|e| claims += &format!("P{p},{},{}\n", (p * 7 + e) % 11, (p + e) % 3));
    }
    let policy = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\nsex = { role = \"quasi\" }\n\
        [columns.claims]\nid = { role = \"patient\" }\ndx = { role = \"quasi\", hierarchy = { intervals = [4], from = 0, to = 12 } }\nplace = { role = \"quasi\" }\n\
        [privacy]\nk = 4\npower_total = 2\nmax_high_risk = 0\n[method]\nname = \"claims\"\n";
    let (out, attacked) = tried(&put(folder.path(), &[("p.csv", &patients), ("c.csv", &claims), ("p.toml", policy)]));
    let values = find(&attacked, "linkage", "2 facts");
    let events = find(&attacked, "linkage", "2 whole events");
    assert!(values.before > values.after && events.before > events.after, "{attacked:?}");
    assert_eq!(values.baseline, Some(1.0 / 80.0));
    verify_release(&out, 1).unwrap();
}

/// P11: under variable power the attack knew as much about everybody as about the one who is known best. Each of four
/// patients has three of the codes a, b, c and d, so two codes match two of them and three codes match one. The fifth has
/// ten events of which nine are equal, and sets the scale: of the others two codes are known, by the fixed rule three.
#[test]
fn the_attack_knows_what_the_certificate_says() {
    let (mut patients, mut claims) = ("id,sex\n".to_string(), "id,dx\n".to_string());
    for (person, codes) in ["abc", "abd", "acd", "bcd", "zzzzzzzzzy"].into_iter().enumerate() {
        patients += &format!("P{person},F\n");
        codes.chars().for_each(|code| claims += &format!("P{person},{code}\n"));
    }
    let found = |rule: &str| {
        let folder = tempfile::tempdir().unwrap();
        let policy = format!(
            "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = {{ role = \"patient\" }}\n\
             sex = {{ role = \"quasi\" }}\n[columns.claims]\nid = {{ role = \"patient\" }}\ndx = {{ role = \"quasi\" }}\n\
             [privacy]\nk = 2\npower = 5\npower_rule = \"{rule}\"\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\n"
        );
        let files = [("p.csv", &*patients), ("c.csv", &claims), ("p.toml", &policy)];
        let (_, attacked) = tried(&put(folder.path(), &files));
        let of = |measure: &str| find(&attacked, "linkage", measure).before.unwrap();
        (of("average probability"), of("exactly one"))
    };
    let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9;
    let (variable, fixed) = (found("variable"), found("fixed"));
    // Four have one of two chances, the fifth is alone.
    assert!(close(variable, (0.6, 0.2)), "{variable:?}");
    assert!(close(fixed, (1.0, 1.0)), "{fixed:?}");
}

/// The evidence has them, every number on the page is in metrics.json, and the release stays verified.
#[test]
fn attacks_go_into_the_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let policy = put(folder.path(), &[("t.csv", TABLE), ("p.toml", POLICY)]);
    let (out, attacked) = tried(&policy);
    let page = |out: &Path| fs::read_to_string(out.join("evidence/report.html")).unwrap();
    assert!(!page(&out).contains("Targets were drawn from the original"));
    let notes = |page: &str| page.matches("<li>").count();
    let before = notes(&page(&out));
    assert!(report::add_attacks(&out, &attacked).unwrap());
    assert!(report::add_attacks(&out, &attacked).unwrap(), "again");
    let text = page(&out);
    assert_eq!(text.matches("Targets were drawn from the original").count(), 1);
    assert_eq!(notes(&text), before, "the notes stay");
    for i in 0..attacked.attacks.len() {
        assert!(text.contains(&format!("data-metric=\"attacks.tried.{i}.after\"")), "{i}");
    }
    let metrics: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("evidence/metrics.json")).unwrap()).unwrap();
    assert_eq!(metrics["attacks"]["tried"], serde_json::to_value(attacked.tried()).unwrap());
    assert_eq!(metrics["rows"]["in"], 4, "the rest stays");
    let file: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("evidence/attacks.json")).unwrap()).unwrap();
    assert_eq!(file, serde_json::to_value(attacked.tried()).unwrap());
    verify_release(&out, 1).unwrap();
    // A folder of a recipient has no evidence.
    assert!(!report::add_attacks(&out.join("release"), &attacked).unwrap());
}

#[test]
fn another_table_s_release_is_not_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let policy = put(folder.path(), &[("t.csv", TABLE), ("p.toml", POLICY)]);
    let (out, _) = tried(&policy);
    fs::write(folder.path().join("t.csv"), TABLE.replace("a,", "c,")).unwrap();
    assert_eq!(attack(&out, &policy, &options(1, 1), TRIAL).unwrap_err().kind, Kind::Refused);
}
