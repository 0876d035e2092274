//! Patients with quasi-identifiers beside their codes (P4): whoever knows the quasi-identifiers and up to m codes of a
//! patient finds at least k patients who could have them.

use crate::codes::{lottery, passes_every_gate, put_clusters};
use crate::common::run::{options, release};
use crate::common::tamper::{certificate, copy, put_certificate};
use kohort::pipeline;
use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
struct Patient {
    age: String,
    sex: String,
    codes: Vec<String>,
}

#[derive(Debug, Clone)]
struct Case {
    patients: Vec<Patient>,
    k: u64,
    m: u64,
    long: bool,
    privacy: String,
    method: String,
}

fn case(draw: &mut dyn FnMut(u64) -> u64) -> Case {
    let (codes, dense) = (2 + draw(8), 2 + draw(4));
    let patients = (0..20 + draw(60)).map(|_| {
        let mut own: Vec<String> = (0..codes).filter(|_| draw(dense) == 0).map(|c| format!("c{c}")).collect();
        if own.is_empty() && draw(4) > 0 {
            own.push("c0".into());
        }
        let age = if draw(15) == 0 { String::new() } else { draw(80).to_string() };
        Patient { age, sex: ["f", "m", "x"][draw(3) as usize].into(), codes: own }
    });
    let patients: Vec<Patient> = patients.collect();
    let mut method = String::from("[method]\nname = \"disassociate\"\n");
    for (line, one_in) in [
        ("group_by = \"lattice\"\n", 3),
        ("max_demographic_loss = 0\n", 4),
        ("clusters = \"paper\"\n", 2),
        ("refine = false\n", 5),
        ("no_cover = true\n", 5),
        ("constraints = { siblings = 2 }\n", 4),
    ] {
        if draw(one_in) == 0 {
            method += line;
        }
    }
    if !method.contains("max_demographic_loss") {
        method += &format!("max_demographic_loss = 0.{}\n", 1 + draw(9));
    }
    let limited = draw(4) == 0;
    if limited {
        method += "sensitive = [\"c1\"]\n";
    }
    let privacy = if limited { "confidence = 0.7\n" } else { "" };
    Case { patients, k: 2 + draw(4), m: 1 + draw(3), long: draw(2) == 0, privacy: privacy.into(), method }
}

impl Case {
    fn write(&self, folder: &Path) -> PathBuf {
        let mut text = String::from("pid,age,sex,dx\n");
        for (i, Patient { age, sex, codes }) in self.patients.iter().enumerate() {
            match self.long {
                false => text += &format!("p{i},{age},{sex},{}\n", codes.join(" ")),
                true if codes.is_empty() => text += &format!("p{i},{age},{sex},\n"),
                true => codes.iter().for_each(|code| text += &format!("p{i},{age},{sex},{code}\n")),
            }
        }
        fs::write(folder.join("codes.csv"), text).unwrap();
        let (layout, separator) = if self.long { ("long", "") } else { ("list", ", separator = \" \"") };
        let policy = format!(
            "[input]\ntable = \"codes.csv\"\nlayout = \"{layout}\"\n[columns]\npid = {{ role = \"patient\" }}\n\
             age = {{ role = \"quasi\", hierarchy = {{ intervals = [10, 40], from = 0, to = 80 }} }}\n\
             sex = {{ role = \"quasi\" }}\ndx = {{ role = \"codes\"{separator} }}\n\
             [privacy]\nk = {}\nknows = {}\n{}{}",
            self.k, self.m, self.privacy, self.method
        );
        let path = folder.join("policy.toml");
        fs::write(&path, policy).unwrap();
        path
    }
}

fn lines(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("release/clusters.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns whether a label is one of a value, by the definition of the policy above.
fn covers(cell: &str, value: &str) -> bool {
    let interval = |width: u64| {
        let from = value.parse::<u64>().ok()? / width * width;
        Some(format!("[{from},{})", from + width))
    };
    cell == "*" || cell == value || [10, 40].into_iter().any(|width| interval(width).as_deref() == Some(cell))
}

/// The clusters below a node, each with its chunks and those above it.
fn leaves<'a>(node: &'a Value, above: &[&'a Value], all: &mut Vec<(&'a Value, Vec<&'a Value>)>) {
    let chunks = |key: &str| node[key].as_array().map_or(&[][..], Vec::as_slice).iter().collect::<Vec<_>>();
    match node["members"].as_array() {
        Some(members) => {
            let above = [above, &chunks("shared_chunks")].concat();
            members.iter().for_each(|member| leaves(member, &above, all));
        }
        None => all.push((node, [above, &chunks("record_chunks")].concat())),
    }
}

fn has(list: &Value, text: &str) -> bool {
    list.as_array().unwrap().iter().any(|own| own == text)
}

/// The definition: how many patients with labels that fit could have these codes, in the cluster where they are most.
fn candidates(nodes: &[Value], patient: &Patient, known: &[&String]) -> u64 {
    let mut all = Vec::new();
    nodes.iter().for_each(|node| leaves(node, &[], &mut all));
    let of_leaf = |(leaf, chunks): &(&Value, Vec<&Value>)| {
        let cells = leaf["cells"].as_array().unwrap();
        let fits = covers(cells[0].as_str().unwrap(), &patient.age) && covers(cells[1].as_str().unwrap(), &patient.sex);
        let mut most = leaf["size"].as_u64().unwrap();
        let mut left: BTreeSet<&str> = known.iter().map(|code| code.as_str()).collect();
        for chunk in chunks {
            let part: Vec<&str> = left.iter().copied().filter(|code| has(&chunk["domain"], code)).collect();
            if !part.is_empty() {
                let with_all = |own: &&Value| part.iter().all(|code| has(own, code));
                most = most.min(chunk["subrecords"].as_array().unwrap().iter().filter(with_all).count() as u64);
                left.retain(|code| !part.contains(code));
            }
        }
        let rest = left.iter().all(|code| has(&leaf["item_chunk"], code));
        if fits && rest { most } else { 0 }
    };
    all.iter().map(of_leaf).max().unwrap_or(0)
}

/// Every set of one to m codes.
fn known_sets(codes: &[String], m: usize) -> Vec<Vec<&String>> {
    let mut sets = vec![Vec::new()];
    for code in codes {
        let more: Vec<Vec<&String>> =
            sets.iter().filter(|set| set.len() < m).map(|set| [&set[..], &[code]].concat()).collect();
        sets.extend(more);
    }
    sets
}

#[test]
fn whoever_knows_the_demographics_and_m_codes_finds_k_patients() {
    let mut draw = lottery(4);
    let (mut released_cases, mut groups) = (0, 0);
    let rounds: u64 = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for round in 0..rounds {
        let case = case(&mut draw);
        let folder = tempfile::tempdir().unwrap();
        let policy = case.write(folder.path());
        let with_codes: Vec<&Patient> = case.patients.iter().filter(|patient| !patient.codes.is_empty()).collect();
        let (out, released) = match release(&policy, "out", &options(7, 1)) {
            Ok(made) => made,
            Err(error) => {
                assert_eq!(error.kind, Kind::Infeasible, "round {round}: {error}");
                continue;
            }
        };
        passes_every_gate(&policy, &out);
        let nodes = lines(&out).split_off(1);
        for patient in &with_codes {
            for known in known_sets(&patient.codes, case.m as usize) {
                let found = candidates(&nodes, patient, &known);
                assert!(found >= case.k, "round {round}: {found} for {patient:?} with {known:?} known\n{case:?}");
            }
        }
        let metrics = released.metrics.to_value();
        let counted = &certificate(&out)["counted"]["recount"];
        assert!(counted["smallest_group"].as_u64().unwrap() >= case.k);
        assert_eq!(metrics["utility"]["demographics"]["groups"], counted["groups"]);
        assert_eq!(metrics["rows"]["out"].as_u64(), Some(with_codes.len() as u64));
        released_cases += 1;
        groups = groups.max(counted["groups"].as_u64().unwrap());
        let (again, _) = release(&policy, "again", &options(7, 8)).unwrap();
        let bytes = |folder: &Path| fs::read(folder.join("release/clusters.jsonl")).unwrap();
        assert_eq!(bytes(&out), bytes(&again), "round {round}: the same seed, the same bytes");
        let turned = Case { patients: case.patients.iter().rev().cloned().collect(), ..case.clone() };
        let (other, _) = release(&turned.write(folder.path()), "turned", &options(8, 1)).unwrap();
        assert_eq!(sizes(&nodes), sizes(&lines(&other).split_off(1)), "round {round}: row order changes no cluster");
    }
    assert!(2 * released_cases > rounds && groups > 3, "{released_cases} of {rounds} releases, up to {groups} groups");
}

/// The patients by their labels, and the codes of item chunks.
fn sizes(nodes: &[Value]) -> BTreeMap<String, (u64, BTreeSet<String>)> {
    let mut all = Vec::new();
    nodes.iter().for_each(|node| leaves(node, &[], &mut all));
    let mut sizes: BTreeMap<String, (u64, BTreeSet<String>)> = BTreeMap::new();
    for (leaf, _) in all {
        let own = sizes.entry(leaf["cells"].to_string()).or_default();
        own.0 += leaf["size"].as_u64().unwrap();
        own.1.extend(leaf["item_chunk"].as_array().unwrap().iter().map(Value::to_string));
    }
    sizes
}

/// A release with two groups of labels at least, k = m = 2.
fn two_groups(folder: &Path, method: &str) -> (PathBuf, PathBuf) {
    let patient = |i: u64| Patient {
        age: (i % 40 * 2).to_string(),
        sex: if i.is_multiple_of(2) { "f" } else { "m" }.into(),
        codes: (0..4).filter(|c| !(i / 3 + c * c).is_multiple_of(3)).map(|c| format!("c{c}")).collect(),
    };
    let method = format!("[method]\nname = \"disassociate\"\n{method}");
    let case =
        Case { patients: (1..90).map(patient).collect(), k: 2, m: 2, long: false, privacy: String::new(), method };
    let policy = case.write(folder);
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    (policy, out)
}

fn put_lines(folder: &Path, lines: &[Value]) {
    put_clusters(folder, &lines[0].to_string(), &lines[1..]);
}

#[test]
fn false_labels_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, out) = two_groups(folder.path(), "max_demographic_loss = 0.2\nrefine = false\n");
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    let good = lines(&out);
    let groups: BTreeSet<String> = good[1..].iter().map(|node| node["cells"].to_string()).collect();
    assert!(groups.len() > 1, "{groups:?}");
    let differs = good[1..].iter().position(|node| node["cells"] != good[1]["cells"]).unwrap() + 1;
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let other = folder.path().join("other");
        let _ = fs::remove_dir_all(&other);
        copy(&out, &other);
        let mut lines = good.clone();
        change(&mut lines);
        put_lines(&other, &lines);
        other
    };
    // The bytes show it.
    type Change<'a> = &'a dyn Fn(&mut Vec<Value>);
    let by_bytes: [(&str, Change); 6] = [
        ("documented format", &|lines| drop(lines[1].as_object_mut().unwrap().remove("cells"))),
        ("documented format", &|lines| lines[1]["cells"] = json!(["*"])),
        ("header", &|lines| lines[0]["columns"] = json!(["age", "race"])),
        ("header", &|lines| lines[0]["columns"] = json!(["sex", "age"])),
        ("different labels", &|lines| {
            let (a, b) = (lines[1].clone(), lines[differs].clone());
            let shared = json!([{ "domain": ["zz"], "subrecords": [["zz"], ["zz"]] }]);
            lines[1] = json!({ "members": [a, b], "shared_chunks": shared });
        }),
        ("recount", &|lines| lines[1..].iter_mut().for_each(|line| line["cells"] = json!(["*", "*"]))),
    ];
    for (what, change) in by_bytes {
        let refused = verify_release(&with(change), 1).unwrap_err();
        assert_eq!(refused.kind, Kind::Refused);
        assert!(refused.message.contains(what), "{what}: {refused}");
    }
    // The original shows it, with a list of patients and without.
    let swap: &dyn Fn(&mut Vec<Value>) = &|lines| {
        let cells = (lines[1]["cells"].clone(), lines[differs]["cells"].clone());
        (lines[1]["cells"], lines[differs]["cells"]) = (cells.1, cells.0);
    };
    let of_nobody: &dyn Fn(&mut Vec<Value>) = &|lines| lines[1]["cells"] = json!(["[10,20)", "x"]);
    for (change, without_list) in [(swap, false), (of_nobody, true)] {
        let other = with(change);
        // Whoever forges labels counts them again.
        let mut forged = certificate(&other);
        let sizes = sizes(&lines(&other)[1..]);
        forged["counted"]["recount"]["groups"] = json!(sizes.len());
        forged["counted"]["recount"]["smallest_group"] = json!(sizes.values().map(|own| own.0).min());
        put_certificate(&other, &forged);
        verify_release(&other, 1).unwrap();
        let refused = verify_with_original(&other, &source, &bound).unwrap_err();
        assert!(refused.message.contains("label"), "{refused}");
        if without_list {
            fs::remove_dir_all(other.join("private")).unwrap();
            assert_eq!(verify_with_original(&other, &source, &bound).unwrap_err().kind, Kind::Refused);
        }
    }
    // Nothing is promised against an attacker who knows the algorithm, and no certificate may say so.
    let mut claimed = certificate(&out);
    claimed["counted"]["claim"]["aware"] = json!(true);
    put_certificate(&out, &claimed);
    assert_eq!(verify_release(&out, 1).unwrap_err().kind, Kind::Refused);
}

#[test]
fn the_certificate_names_the_attacker_and_the_dictionary_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (_, out) = two_groups(folder.path(), "");
    let certificate = certificate(&out);
    let plain = certificate["attested"]["guarantee"]["plain"].as_str().unwrap();
    assert!(plain.contains("all quasi-identifiers and up to 2 codes"), "{plain}");
    assert!(plain.contains("are shown by at least 2 patients"), "{plain}");
    // From the bytes records are counted, and nobody can count patients.
    let counted = certificate["counted"]["guarantee"].as_str().unwrap();
    assert!(counted.contains("are shown by at least 2 records") && !counted.contains("patients"), "{counted}");
    let roles: Vec<&Value> = certificate["counted"]["columns"].as_array().unwrap().iter().map(|c| &c["role"]).collect();
    assert_eq!(roles, ["quasi", "quasi", "codes"]);
    let dictionary = fs::read_to_string(out.join("release/dictionary.md")).unwrap();
    assert!(dictionary.contains("`cells`") && dictionary.contains("| age |"), "{dictionary}");
    assert!(
        fs::read_to_string(out.join("evidence/report.html")).unwrap().contains("Quasi-identifiers beside the codes")
    );
}

#[test]
fn reconstructions_are_plain_tables_with_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (_, out) = two_groups(folder.path(), "");
    for (form, header) in [(DataForm::List, "age,sex,codes"), (DataForm::Long, "patient,age,sex,code")] {
        let asked = Reconstruct { copies: 1, form, items: ItemMode::Rare, seed: Some(3), threads: 1 };
        let to = folder.path().join(format!("{form:?}"));
        let (files, patients) = reconstruct_release(&out, &to, &asked).unwrap();
        let text = fs::read_to_string(&files[0]).unwrap();
        assert_eq!((text.lines().next(), patients), (Some(header), 89));
        if form == DataForm::List {
            assert_eq!(text.lines().count(), 90);
            let mut all = Vec::new();
            let nodes = lines(&out).split_off(1);
            nodes.iter().for_each(|node| leaves(node, &[], &mut all));
            let shown: BTreeSet<String> =
                all.iter().map(|(leaf, _)| leaf["cells"][1].as_str().unwrap().into()).collect();
            let written: BTreeSet<String> =
                text.lines().skip(1).map(|l| l.rsplit(',').nth(1).unwrap().into()).collect();
            assert_eq!(written, shown);
        }
    }
}

#[test]
fn a_wider_bound_keeps_more_codes_and_less_detail() {
    for group_by in ["local", "lattice"] {
        let mut found = Vec::new();
        for bound in ["0", "0.4", "1"] {
            let folder = tempfile::tempdir().unwrap();
            let method = format!("group_by = \"{group_by}\"\nmax_demographic_loss = {bound}\n");
            let mut draw = lottery(9);
            let patient = |_| Patient {
                age: draw(80).to_string(),
                sex: if draw(2) == 0 { "f" } else { "m" }.into(),
                codes: (0..30).filter(|c| draw(3 + c) == 0).map(|c| format!("c{c}")).collect(),
            };
            let patients: Vec<Patient> = (0..400).map(patient).collect();
            let method = format!("[method]\nname = \"disassociate\"\n{method}");
            let case = Case { patients, k: 5, m: 2, long: false, privacy: String::new(), method };
            let (_, released) = release(&case.write(folder.path()), "out", &options(1, 1)).unwrap();
            let utility = &released.metrics.to_value()["utility"];
            let number = |at: &Value| at.as_f64().unwrap();
            found.push((number(&utility["demographics"]["loss"]), number(&utility["in_item_chunks"])));
        }
        let [(fine, rare), (middle, fewer), (coarse, fewest)] = found[..] else { unreachable!() };
        assert!(fine <= middle && middle <= coarse && middle <= 0.4, "{group_by}: {found:?}");
        assert!(rare >= fewer && fewer >= fewest && rare > fewest, "{group_by}: {found:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = |policy: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(policy).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(policy, text.replace(from, to)).unwrap();
        release(policy, "refused", &options(1, 1)).unwrap_err()
    };
    let method = "[method]\nname = \"disassociate\"\n".to_string();
    let patients = |n: u64| (0..n).map(|i| Patient { age: i.to_string(), sex: "f".into(), codes: vec!["a".into()] });
    let case = Case { patients: patients(9).collect(), k: 2, m: 2, long: true, privacy: String::new(), method };
    let aware = text(&case.write(folder.path()), "\"disassociate\"", "\"disassociate\"\naware = true");
    assert!(aware.to_string().contains("aware"), "{aware}");
    let without = text(&case.write(folder.path()), "\"disassociate\"", "\"disassociate\"\ngroup_by = \"nearest\"");
    assert!(without.to_string().contains("group_by"), "{without}");
    let share = text(&case.write(folder.path()), "\"disassociate\"", "\"disassociate\"\nmax_demographic_loss = 30");
    assert!(share.to_string().contains("max_demographic_loss"), "{share}");
    // Another age in another row of the same patient.
    let policy = case.write(folder.path());
    let table = folder.path().join("codes.csv");
    fs::write(&table, fs::read_to_string(&table).unwrap() + "p1,70,f,b\n").unwrap();
    let changed = release(&policy, "changed", &options(1, 1)).unwrap_err();
    assert_eq!(changed.kind, Kind::Yours);
    assert!(changed.to_string().contains("line 11") && !changed.to_string().contains("70"), "{changed}");
    // No permitted label is coarse enough for k patients.
    let finest = "to = 80 }, levels = [0] }";
    let infeasible = text(&case.write(folder.path()), "to = 80 } }", finest);
    assert!(infeasible.to_string().contains("`levels`"), "{infeasible}");
}
