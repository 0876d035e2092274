//! Random samples that leave instead of the whole file: what is in them, what their certificates say, what is refused.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{certificate, copy, put_certificate, put_data, rewrite_certificate};
use kohort::pipeline::{self, Options};
use kohort_core::error::Kind;
use kohort_core::verify::{AnyRecounted, verify_release, verify_with_original};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// 60 patients with up to three rows each, some of them rare.
fn table() -> String {
    let mut text = String::from("pid,sex,age,dx,ward\n");
    for i in 0..120u32 {
        let (sex, age) = (["F", "M"][(i % 7 % 2) as usize], i % 11 / 3);
        text += &format!("p{},{sex},{age},d{},w{}\n", i % 60 - i % 3 * u32::from(i % 60 > 2), i % 5, i % 2);
    }
    text
}

fn policy(folder: &Path, samples: &str, patients: bool) -> PathBuf {
    fs::write(folder.join("t.csv"), table()).unwrap();
    let role = if patients { "patient" } else { "identifier" };
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\npid = {{ role = \"{role}\" }}\nsex = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\" }}\n\
         dx = {{ role = \"quasi\" }}\nward = {{ role = \"other\", reason = \"a test\" }}\n[privacy]\nk = 4\nknows = [[\"sex\", \"age\"], [\"sex\", \"dx\"]]\n\
         [method]\nname = \"suppress\"\nsamples = {samples}\n"
    );
    let path = folder.join("p.toml");
    fs::write(&path, text).unwrap();
    path
}

fn counts(rows: &[Vec<String>]) -> BTreeMap<&Vec<String>, usize> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(row).or_default() += 1);
    counts
}

#[test]
fn samples_are_disjoint_parts_of_a_verified_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), "[0.1, 0.25]", false);
    let (out, released) = release(&path, "out", &options(3, 2)).unwrap();
    assert!(!out.join("release").exists());
    verify_release(&out.join("population"), 1).unwrap();
    let population = Table::released(&out.join("population"));
    let all = population.rows.len();
    let whole: BTreeSet<usize> = lines(&out.join("population")).into_iter().collect();
    let mut seen = BTreeSet::new();
    for (n, share) in [(1, 0.1), (2, 0.25)] {
        let own = out.join(format!("sample-{n}"));
        let AnyRecounted::Table(recounted) = verify_release(&own, 1).unwrap() else { panic!("a table") };
        let certificate = recounted.certificate;
        let sample = Table::released(&own);
        assert_eq!(sample.rows.len(), (all as f64 * share).floor() as usize);
        let (few, many) = (counts(&sample.rows), counts(&population.rows));
        assert!(few.iter().all(|(row, n)| many[row] >= *n));
        let lines = lines(&own);
        assert_eq!(lines.len(), sample.rows.len());
        assert!(lines.iter().all(|line| whole.contains(line) && seen.insert(*line)), "a row is in two samples");
        // The claim is the population's, and nobody is told that it holds of the sample.
        assert_eq!(certificate.sample.unwrap().to_f64(), share);
        assert!(certificate.promise.not_recountable[0].contains("recounted on the whole file"), "{certificate:?}");
        assert!(
            certificate.guarantee.plain.contains("random sample")
                && certificate.guarantee.plain.contains("no limit is guaranteed")
        );
        assert!(certificate.promise.assumed.iter().any(|a| a.contains("who is in this sample")));
        let (source, bound) = pipeline::open(&path, &options(1, 1)).unwrap();
        verify_with_original(&own, &source, &bound).unwrap();
    }
    let report = fs::read_to_string(out.join("evidence/report.html")).unwrap();
    let sample = &released.metrics.to_value()["samples"][0];
    assert!(report.contains("samples.0.sets.0.known.max") && report.contains("samples.0.sets.0.unknown.max"));
    for set in sample["sets"].as_array().unwrap() {
        let risk = |key: &str| set[key]["max"].as_f64().unwrap();
        assert!(risk("unknown") <= 0.25 && risk("known") >= risk("unknown"), "{set}");
    }
    assert!(released.notes.iter().any(|n| n.contains("who is in a sample")));
    // Nothing that tells who is in a sample is kept unless it is asked for, and a folder of samples can be replaced.
    let plain = Options { keep_rows: false, force: true, ..options(4, 1) };
    let (out, _) = release(&path, "out", &plain).unwrap();
    assert!(["population", "sample-1", "sample-2"].iter().all(|f| !out.join(f).join("private").exists()));
    let error = verify_release(&out, 1).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("sample-1"), "{error}");
}

#[test]
fn all_rows_of_a_patient_are_in_one_sample() {
    let folder = tempfile::tempdir().unwrap();
    let (out, released) = release(&policy(folder.path(), "[0.3, 0.3]", true), "out", &options(5, 1)).unwrap();
    let patient: Vec<String> = table().lines().map(|l| l.split(',').next().unwrap().to_string()).collect();
    let of = |name: &str| -> Vec<String> { lines(&out.join(name)).iter().map(|l| patient[l - 1].clone()).collect() };
    let (whole, first, second) = (of("population"), of("sample-1"), of("sample-2"));
    let distinct = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    assert!(distinct(&first).is_disjoint(&distinct(&second)));
    for sample in [&first, &second] {
        assert_eq!(distinct(sample).len(), (distinct(&whole).len() as f64 * 0.3).floor() as usize);
        let times = |names: &[String], who: &String| names.iter().filter(|n| *n == who).count();
        assert!(sample.iter().all(|who| times(sample, who) == times(&whole, who)));
    }
    assert_eq!(released.metrics.to_value()["samples"][0]["people"], distinct(&first).len());
    assert_eq!(released.metrics.to_value()["samples"][0]["rows"], first.len());
}

#[test]
fn a_sample_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = release(&policy(folder.path(), "[0.2]", false), "out", &options(6, 1)).unwrap();
    let original = out.join("sample-1");
    let refused = |change: &dyn Fn(&Path)| {
        let own = folder.path().join("changed");
        let _ = fs::remove_dir_all(&own);
        copy(&original, &own);
        change(&own);
        let error = verify_release(&own, 1).unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{error}");
        error.message
    };
    refused(&|own| {
        let mut table = Table::released(own);
        table.rows[0][0] = "X".into();
        put_data(own, &table);
    });
    // It is no release by itself: as one, its classes are too small.
    let message = refused(&|own| {
        let mut whole = certificate(&out.join("population"));
        let sample = certificate(own);
        whole["counted"]["files"] = sample["counted"]["files"].clone();
        put_certificate(own, &whole);
    });
    assert!(message.contains("hold fewer than 4"), "{message}");
    let message = refused(&|own| {
        let mut own_certificate = certificate(own);
        let whole = certificate(&out.join("population"));
        own_certificate["attested"]["guarantee"] = whole["attested"]["guarantee"].clone();
        own_certificate["counted"]["guarantee"] = whole["counted"]["guarantee"].clone();
        put_certificate(own, &own_certificate);
    });
    assert!(message.contains("sentences"), "{message}");
    // A share that the policy does not ask for.
    let own = folder.path().join("share");
    copy(&original, &own);
    let mut other = certificate(&own);
    other["attested"]["sample"]["share"] = "0.5".into();
    put_certificate(&own, &other);
    let (source, bound) = pipeline::open(&folder.path().join("p.toml"), &options(1, 1)).unwrap();
    let error = verify_with_original(&own, &source, &bound).unwrap_err();
    assert!(error.message.contains("share that was sampled"), "{error}");
    // A row that is nobody's.
    let own = folder.path().join("invented");
    copy(&original, &own);
    let mut table = Table::released(&own);
    table.rows[0][0] = "X".into();
    put_data(&own, &table);
    rewrite_certificate(&own, 3);
    assert!(verify_with_original(&own, &source, &bound).is_err());
}

#[test]
fn shares_that_cannot_be_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for (samples, message) in [
        ("[0.6, 0.5]", "add up to 1.1"),
        ("[0.1, 0]", "above 0"),
        ("[-0.1]", "above 0"),
        ("[10, 0.1]", "at most 1"),
        ("[500]", "at most 1"),
        ("[]", "is empty"),
        ("0.1", "list"),
        ("[\"a\"]", "number"),
        ("[0.1, 0.001]", "less than one"),
    ] {
        let error = release(&policy(folder.path(), samples, false), "out", &options(1, 1)).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains(message), "{samples}: {error}");
        assert!(!folder.path().join("out").exists(), "all or nothing");
    }
    // The whole in parts.
    let (out, _) = release(&policy(folder.path(), "[0.5, 0.5]", false), "halves", &options(1, 1)).unwrap();
    let rows = |name: &str| Table::released(&out.join(name)).rows.len();
    assert_eq!(rows("sample-1") + rows("sample-2"), rows("population") / 2 * 2);
}

/// What is said of a sample is said of a table's; codes and claims have no such sentence.
#[test]
fn nothing_but_a_table_may_call_itself_a_sample() {
    let codes = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\npid = { role = \"patient\" }\ndx = { role = \"codes\", separator = \" \" }\n\
        [privacy]\nk = 2\nknows = 1\n[method]\nname = \"disassociate\"\n";
    let claims = "[input]\npatients = \"p.csv\"\nclaims = \"t.csv\"\n[columns.patients]\npid = { role = \"patient\" }\n\
        [columns.claims]\npid = { role = \"patient\" }\ndx = { role = \"quasi\" }\n[privacy]\nk = 2\npower_total = 1\nmax_high_risk = 0\n[method]\nname = \"claims\"\n";
    for text in [codes, claims] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.csv"), "pid\n1\n2\n3\n4\n").unwrap();
        fs::write(folder.path().join("t.csv"), "pid,dx\n1,a\n2,a\n3,a\n4,a\n").unwrap();
        let policy = folder.path().join("policy.toml");
        fs::write(&policy, text).unwrap();
        let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
        verify_release(&out, 1).unwrap();
        let mut own = certificate(&out);
        own["attested"]["sample"] = serde_json::json!({ "share": "0.5" });
        put_certificate(&out, &own);
        let error = verify_release(&out, 1).unwrap_err();
        assert!(error.kind == Kind::Refused && error.message.contains("only a table can be a sample"), "{error}");
        let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
        assert_eq!(verify_with_original(&out, &source, &bound).unwrap_err().kind, Kind::Refused);
    }
}
