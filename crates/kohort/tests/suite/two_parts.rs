//! A certificate has two parts: what anyone recounts, and what only the custodian can know. A stranger can
//! write anything into the second part, so that no verification may rest on it.

use crate::common::run::{options, release};
use crate::common::tamper::{certificate, put_certificate};
use kohort::{Examined, Verification};
use kohort_core::error::Kind;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = "pid,q,s,name\n1,a,flu,Ann\n2,a,hiv,Bob\n3,b,flu,Cid\n4,b,tb,Dea\n";

/// A release of the table, by these lines of [columns] beside the quasi-identifier `q`.
fn made(folder: &Path, columns: &str, privacy: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), TABLE).unwrap();
    let policy = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\nq = {{ role = \"quasi\" }}\n{columns}\n[privacy]\nk = 2\n{privacy}\n\
         [method]\nname = \"lattice\"\nmax_suppressed = 0\n"
    );
    fs::write(&policy, text).unwrap();
    release(&policy, "out", &options(1, 1)).unwrap().0
}

const ROWS: &str = "pid = { role = \"identifier\" }\ns = { role = \"sensitive\" }\nname = { role = \"identifier\" }";
const PATIENTS: &str = "pid = { role = \"patient\" }\ns = { role = \"sensitive\" }\nname = { role = \"identifier\" }";
const NAMES: &str = "pid = { role = \"identifier\" }\ns = { role = \"sensitive\" }\n\
    name = { role = \"other\", reason = \"a mistake\" }";

#[track_caller]
fn verified(out: &Path) -> Examined {
    match kohort::verify(out).unwrap() {
        Verification::Verified(own) => own,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn partly(out: &Path) -> Examined {
    match kohort::verify(out).unwrap() {
        Verification::Partly(own) => own,
        other => panic!("{other:?}"),
    }
}

/// The reason why a changed certificate is refused, or said not to be one.
#[track_caller]
fn refused(out: &Path, change: impl FnOnce(&mut Value)) -> String {
    let honest = certificate(out);
    let mut changed = honest.clone();
    change(&mut changed);
    assert_ne!(changed, honest);
    put_certificate(out, &changed);
    let reason = match kohort::verify(out) {
        Ok(Verification::Refused(refusal)) => refusal.reason,
        Err(error) if error.kind == Kind::Yours => error.message,
        other => panic!("{other:?}"),
    };
    put_certificate(out, &honest);
    reason
}

/// R2, to the letter: of the 7 rows 6 show hiv, of the 2 patients one. The sentence said "at most the share 0.5" of
/// rows. It is about patients, and whoever has only the rows is told no share at all.
#[test]
fn a_share_of_patients_is_never_said_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "p1,a,hiv\n".repeat(6) + "p2,a,flu\n";
    fs::write(folder.path().join("t.csv"), format!("pid,q,s\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        s = { role = \"sensitive\", domain = [\"flu\", \"hiv\"] }\n[privacy]\nk = 2\nconfidence = 0.5\n\
        [method]\nname = \"ceiling\"\nh = 1\nreal_k = 2\nmax_counterfeits = 1\npadding = \"exact\"\n";
    fs::write(&policy, text).unwrap();
    let out = release(&policy, "out", &options(1, 1)).unwrap().0;
    let data = fs::read_to_string(out.join("release/data.csv")).unwrap();
    assert_eq!((data.matches("hiv").count(), data.lines().count()), (6, 8), "{data}");
    let own = partly(&out);
    assert!(!own.counted().contains("0.5") && own.counted().contains("records"), "{}", own.counted());
    let stated = own.stated().join("\n");
    assert!(
        stated.contains("Of the matching patients (each synthetic record counts as one) that have a value in `s`"),
        "{stated}"
    );
    assert!(!stated.contains("Of the matching records") && !stated.contains("rows that have"), "{stated}");
    // A stranger who calls the patients rows is refused: 6 of 7 rows have the value.
    let reason = refused(&out, |c| c["attested"]["unit"] = json!("row"));
    assert!(!reason.is_empty());
}

#[test]
fn rows_are_verified_and_their_unit_is_only_stated() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), ROWS, "confidence = 0.5");
    let own = verified(&out);
    assert!(own.counted().contains("at least 2 matching records"), "{}", own.counted());
    assert!(own.counted().contains("at most the share 0.5"), "{}", own.counted());
    let stated = own.stated().join("\n");
    for sentence in ["The method is \"lattice\".", "Every row is a different person.", "this is a test"] {
        assert!(stated.contains(sentence) && !own.counted().contains(sentence), "{sentence}: {stated}");
    }
    assert!(stated.contains("against an attacker who knows the algorithm"), "{stated}");
    assert_eq!(own.signer().words(), "unsigned: nobody vouches for this");
    let text: Value = certificate(&out);
    assert!(text["counted"].get("method").is_none() && text["attested"].get("claim").is_none());
}

/// V3: with `unit: patient` nobody counts confidence, so that nothing is said to be verified about it.
#[test]
fn patients_and_their_sensitive_values_are_only_attested() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), PATIENTS, "confidence = 0.5");
    let own = partly(&out);
    assert!(own.counted().ends_with("at least 2 matching records in this file, or none."), "{}", own.counted());
    assert_eq!(own.not_counted().len(), 2, "{:?}", own.not_counted());
    assert!(own.stated().iter().any(|sentence| sentence.contains("at least 2 matching patients")));
    let strict = kohort::verify(&out).unwrap().strict();
    assert!(matches!(strict, Verification::Refused(ref why) if why.reason.contains("not counted here")), "{strict:?}");
    // A true statement about rows does not become one about patients by another unit.
    let reason = refused(&out, |c| c["attested"]["unit"] = json!("row"));
    assert!(reason.contains("recount") || reason.contains("sentences"), "{reason}");
}

#[test]
fn with_the_original_patients_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), PATIENTS, "confidence = 0.5");
    let policy = kohort::Policy::read(folder.path().join("p.toml")).unwrap();
    let found = kohort::verify_with_original(&out, policy.data().unwrap(), &policy).unwrap();
    let Verification::Verified(own) = found else { panic!("{found:?}") };
    assert!(own.counted().contains("at least 2 matching patients"), "{}", own.counted());
}

/// V4: a column of names with role "other".
#[test]
fn a_nearly_unique_column_outside_every_requirement_is_partly_verified() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), NAMES, "confidence = 0.5");
    let own = partly(&out);
    assert!(own.not_counted().is_empty());
    let name = own.outside().iter().find(|column| column.column == "name").unwrap();
    assert!(name.is_nearly_unique() && (name.unique, name.cells) == (4, 4), "{name:?}");
    let sensitive = own.outside().iter().find(|column| column.column == "s").unwrap();
    assert!(sensitive.limited && !sensitive.is_nearly_unique());
    let strict = kohort::verify(&out).unwrap().strict();
    assert!(matches!(strict, Verification::Refused(ref why) if why.reason.contains("`name`")), "{strict:?}");
}

/// V3: fields that nobody counts must not choose the sentence.
#[test]
fn a_strangers_statements_are_refused_where_they_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), ROWS, "confidence = 0.5");
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 13] = [
        (|c| c["attested"]["method"] = json!("ouija"), "a method that this version of Kohort does not know"),
        (|c| c["attested"]["assumed"] = json!([]), "`assumed`"),
        (|c| c["attested"]["assumed"][0] = json!("Nobody would attack this."), "`assumed`"),
        (|c| c["attested"]["not_recountable"] = json!(["Everything was counted."]), "`assumed` or `not_recountable`"),
        (|c| c["attested"]["effects"]["synthetic"] = json!(true), "contradict each other"),
        (|c| c["attested"]["synthetic"] = json!({ "real_k": 2, "padding": "exact" }), "contradict each other"),
        (|c| c["attested"]["guarantee"]["aware"] = json!("Nobody can be found."), "sentences under `guarantee`"),
        (|c| c["attested"]["guarantee"]["plain"] = json!("Nobody can be found."), "sentences under `guarantee`"),
        (|c| c["attested"]["cleaning"] = json!(["\u{202e}"]), "not a sentence"),
        (|c| c["counted"]["claim"]["sensitive"][0]["values"] = json!([]), "`values` of a sensitive column"),
        (|c| c["counted"]["claim"]["sensitive"][0]["values"] = json!(["\u{200b}"]), "`values` of a sensitive column"),
        (
            |c| c["counted"]["claim"]["sensitive"][0]["values"] = json!(["hiv\u{200b}"]),
            "`values` of a sensitive column",
        ),
        (
            |c| drop(c["counted"]["claim"]["sensitive"][0].as_object_mut().unwrap().remove("confidence")),
            "no requirement",
        ),
    ];
    for (change, expected) in changes {
        let reason = refused(&out, change);
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
}

/// V3: the aware attacker's 1/k comes back with `method` = lattice. It is stated, and never verified.
#[test]
fn another_method_changes_nothing_that_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), ROWS, "");
    let honest = verified(&out).counted().to_string();
    let mut changed = certificate(&out);
    changed["attested"]["method"] = json!("suppress");
    changed["attested"].as_object_mut().unwrap().remove("test");
    put_certificate(&out, &changed);
    let own = verified(&out);
    assert_eq!(own.counted(), honest);
    assert!(own.stated()[0].contains("suppress"));
    // Whoever has the policy sees it.
    let policy = kohort::Policy::read(folder.path().join("p.toml")).unwrap();
    let found = kohort::verify_with_original(&out, policy.data().unwrap(), &policy).unwrap();
    assert!(matches!(found, Verification::Refused(ref why) if why.reason.contains("another method")), "{found:?}");
}

/// V3: `sample: {share}` accepts a unique row. It does, and says that nothing was counted but the sample itself.
#[test]
fn a_sample_is_never_verified_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), ROWS, "");
    let honest = certificate(&out);
    let mut changed = honest.clone();
    changed["attested"]["sample"] = json!({ "share": "0.5" });
    put_certificate(&out, &changed);
    assert!(matches!(kohort::verify(&out).unwrap(), Verification::Refused(_)), "the sentences are not a sample's");
}

#[test]
fn the_result_as_json_has_both_parts_and_its_depth() {
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path(), PATIENTS, "");
    let value: Value = serde_json::from_str(&kohort::verify(&out).unwrap().to_json()).unwrap();
    assert_eq!((&value["result"], &value["depth"]), (&json!("partly"), &json!("release")));
    assert_eq!(value["counted"]["recount"]["smallest_class"], 2);
    assert_eq!(value["attested"]["method"], "lattice");
    assert_eq!(value["attested"]["signer"], json!({ "signed": false }));
    assert!(value["not_counted"].as_array().unwrap().len() == 1, "{value}");
    fs::write(out.join("release/more.csv"), "x").unwrap();
    let value: Value = serde_json::from_str(&kohort::verify(&out).unwrap().to_json()).unwrap();
    assert_eq!(value["result"], "refused");
    assert!(value["reason"].as_str().unwrap().contains("does not list"));
}

#[test]
fn the_verifier_knows_the_names_of_all_methods_and_no_others() {
    assert_eq!(kohort::methods::Register::built_in().all_names(), kohort_core::methods::NAMES);
}

/// A release whose policy and certificate say k, by another k.
fn forge(folder: &Path, out: &Path, from: u64, to: u64) {
    let policy = folder.join("p.toml");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace(&format!("k = {from}\n"), &format!("k = {to}\n"))).unwrap();
    let path = out.join("release/certificate.json");
    let text = fs::read_to_string(&path).unwrap();
    let text = text
        .replace(&format!("\"k\": {from},"), &format!("\"k\": {to},"))
        .replace(&format!("at least {from} "), &format!("at least {to} "))
        .replace(&format!("1/{from}"), &format!("1/{to}"));
    fs::write(path, text).unwrap();
}

/// R3: 10 rows of 2 patients are not 10 patients, also where nobody kept which row is which.
#[test]
fn rows_are_not_called_patients_where_private_rows_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..10).map(|i| format!("p{},a,{}\n", i % 2, if i % 2 == 0 { "flu" } else { "hiv" })).collect();
    fs::write(folder.path().join("t.csv"), format!("pid,q,s\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        s = { role = \"sensitive\" }\n[privacy]\nk = 2\nconfidence = 0.5\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n";
    fs::write(&policy, text).unwrap();
    let out = release(&policy, "out", &options(1, 1)).unwrap().0;
    fs::remove_dir_all(out.join("private")).unwrap();
    let compare = || {
        let policy = kohort::Policy::read(&policy).unwrap();
        kohort::verify_with_original(&out, policy.data().unwrap(), &policy).unwrap()
    };
    let Verification::Verified(own) = compare() else { panic!("{:?}", compare()) };
    assert!(own.compared().unwrap().contains("the smallest class holds 2 patients"), "{:?}", own.compared());
    forge(folder.path(), &out, 2, 10);
    let Verification::Refused(why) = compare() else { panic!("{:?}", compare()) };
    assert!(why.reason.contains("the smallest holds 2"), "{}", why.reason);
    forge(folder.path(), &out, 10, 2);
    let path = out.join("release/certificate.json");
    for file in [&path, &policy] {
        let text = fs::read_to_string(file).unwrap();
        fs::write(file, text.replace("\"0.5\"", "\"0.1\"").replace("share 0.5", "share 0.1").replace("= 0.5", "= 0.1"))
            .unwrap();
    }
    let Verification::Refused(why) = compare() else { panic!("{:?}", compare()) };
    assert!(why.reason.contains("what is claimed about `s`"), "{}", why.reason);
}

/// R3: where cells differ by row, what multisets cannot show is named and is not verified.
#[test]
fn patients_behind_single_suppressed_cells_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    // a and b: three patients each. c and d are too rare, so that their cells are suppressed.
    let rows = "p1,a\np2,a\np3,a\np4,b\np5,b\np6,b\np7,c\np8,d\np7,c\n";
    fs::write(folder.path().join("t.csv"), format!("pid,q\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        [privacy]\nk = 2\n[method]\nname = \"suppress\"\n";
    fs::write(&policy, text).unwrap();
    let out = release(&policy, "out", &options(1, 1)).unwrap().0;
    let read = || {
        let policy = kohort::Policy::read(&policy).unwrap();
        kohort::verify_with_original(&out, policy.data().unwrap(), &policy).unwrap()
    };
    assert!(matches!(read(), Verification::Verified(_)), "row by row: {:?}", read());
    fs::remove_dir_all(out.join("private")).unwrap();
    match read() {
        Verification::Verified(own) => assert!(own.not_counted().is_empty()),
        Verification::Partly(own) => {
            assert!(own.not_counted()[0].contains("how many patients an equivalence class contains"));
            assert!(!own.counted().contains("patients"), "{}", own.counted());
        }
        Verification::Refused(why) => panic!("{}", why.reason),
    }
}

/// R3: where labels overlap and nobody kept which row became which, a limit in patients is bounded by what the original
/// allows: it holds whichever rows they were, it is broken whichever they were, or it is named as not counted.
#[test]
fn limits_on_patients_are_bounded_from_multisets() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        s = { role = \"sensitive\" }\n[privacy]\nk = 2\nconfidence = 0.5\n[method]\nname = \"suppress\"\n";
    fs::write(&policy, text).unwrap();
    let read = |table: &str, out: &Path| {
        fs::write(folder.path().join("t.csv"), format!("pid,q,s\n{table}")).unwrap();
        let policy = kohort::Policy::read(&policy).unwrap();
        kohort::verify_with_original(out, policy.data().unwrap(), &policy).unwrap()
    };
    // Every patient has one row; c and d are too rare, so that labels overlap.
    let honest = "p1,a,hiv\np2,a,flu\np3,b,hiv\np4,b,flu\np5,c,hiv\np6,d,flu\n";
    fs::write(folder.path().join("t.csv"), format!("pid,q,s\n{honest}")).unwrap();
    let out = release(&policy, "out", &options(1, 1)).unwrap().0;
    assert!(fs::read_to_string(out.join("release/data.csv")).unwrap().contains("*,"));
    fs::remove_dir_all(out.join("private")).unwrap();
    let Verification::Verified(own) = read(honest, &out) else { panic!("{:?}", read(honest, &out)) };
    assert!(own.not_counted().is_empty() && own.compared().is_some());
    // If p1 has another row that may be the one in a class, the class may hold one patient.
    let more = format!("{honest}p1,c,flu\np1,a,tb\n");
    let Verification::Partly(own) = read(&more, &out) else { panic!("{:?}", read(&more, &out)) };
    assert!(own.not_counted().iter().any(|gap| gap.contains("limits on sensitive values")), "{:?}", own.not_counted());
}

/// R7: whoever knows a0 matches a0 and `*`, where 2 of 3 patients have hiv. The sentence is about each group
/// of identical records, and names the gap.
#[test]
fn limits_over_overlapping_labels_are_claimed_for_identical_records_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "pid,q,s\np1,a0,hiv\np2,a0,flu\np3,a1,hiv\np2,a2,flu\n").unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        s = { role = \"sensitive\" }\n[privacy]\nk = 2\nconfidence = 0.5\n[method]\nname = \"suppress\"\n";
    fs::write(&policy, text).unwrap();
    let out = release(&policy, "out", &options(1, 1)).unwrap().0;
    let data = fs::read_to_string(out.join("release/data.csv")).unwrap();
    let sentence = certificate(&out)["attested"]["guarantee"]["plain"].as_str().unwrap().to_string();
    assert!(data.contains("a0,") && data.contains("*,"), "labels overlap: {data}");
    assert!(sentence.contains("In each group of identical records, of the patients"), "{sentence}");
    assert!(sentence.contains("matches several groups at once, and may learn more"), "{sentence}");
    assert!(!sentence.contains("Of the matching patients"), "{sentence}");
    // A certificate that keeps the gap to itself is refused beside the original.
    let mut stronger = certificate(&out);
    let plain = sentence
        .replace("In each group of identical records, of the patients", "Of the matching patients")
        .replace(" Someone who takes a suppressed or coarser cell for any value that it covers matches several groups at once, and may learn more.", "");
    stronger["attested"]["guarantee"]["plain"] = json!(plain);
    let assumed = stronger["attested"]["assumed"].as_array_mut().unwrap();
    assumed.retain(|own| !own.as_str().unwrap().starts_with("The limits on sensitive values hold in each group"));
    put_certificate(&out, &stronger);
    assert!(matches!(kohort::verify(&out).unwrap(), Verification::Partly(_)));
    let policy = kohort::Policy::read(&policy).unwrap();
    let found = kohort::verify_with_original(&out, policy.data().unwrap(), &policy).unwrap();
    let Verification::Refused(why) = found else { panic!("{found:?}") };
    assert!(why.reason.contains("labels overlap"), "{}", why.reason);
}
