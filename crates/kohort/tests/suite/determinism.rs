//! Same input, policy and seed: the same bytes with 1, 2 and 8 threads for codes and claims, and on
//! another order of rows the same guarantee. The same for tables is in conformance.rs. Patients have
//! long numbers, so that a few of them are more than one block of a file.

use crate::common::run::{options, release};
use kohort::pipeline::Released;
use kohort_core::verify::verify_release;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Chance of its own.
fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |n| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    }
}

/// Every file of release/ and what it holds.
fn bytes(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(out.join("release")).unwrap().map(|e| e.unwrap().path());
    files.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

/// Releases with 1, 2 and 8 threads, and after `turn` changed the order of the input.
fn same(folder: &Path, policy: &str, turn: impl Fn()) -> (Released, Released) {
    let path = folder.join("policy.toml");
    fs::write(&path, policy).unwrap();
    let (one, released) = release(&path, "one", &options(5, 1)).unwrap();
    for threads in [2, 8] {
        let (many, _) = release(&path, &format!("t{threads}"), &options(5, threads)).unwrap();
        assert!(bytes(&one) == bytes(&many), "{threads} threads, other bytes");
    }
    turn();
    let (other, turned) = release(&path, "turned", &options(5, 2)).unwrap();
    verify_release(&other, 2).unwrap();
    (released, turned)
}

/// The lines of a file behind its heading, the other way round.
fn turn(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let (heading, rest) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = rest.lines().rev().collect();
    fs::write(path, format!("{heading}\n{}\n", lines.join("\n"))).unwrap();
}

#[test]
fn codes_do_not_depend_on_threads_or_order() {
    let mut draw = dice(2);
    let mut table = "pid,dx\n".to_string();
    for patient in 0..5_000u64 {
        write!(table, "P{patient:0230},").unwrap();
        // Few codes are frequent.
        (0..2 + draw(5)).for_each(|_| write!(table, "{} ", 200 + draw(20).min(draw(20)) * draw(4)).unwrap());
        table.push('\n');
    }
    assert!(table.len() > 1 << 20, "more than one block");
    for method in ["", "aware = true\nclusters = \"paper\"\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        fs::write(&path, &table).unwrap();
        let policy = format!(
            "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\npid = {{ role = \"patient\" }}\ndx = {{ role = \"codes\", separator = \" \" }}\n\
             [privacy]\nk = 4\nknows = 2\n[method]\nname = \"disassociate\"\n{method}"
        );
        let (released, turned) = same(folder.path(), &policy, || turn(&path));
        // Records are sorted before anything else: the same clusters, whatever the order.
        assert_eq!(released.metrics.to_value()["guarantee"]["k"], turned.metrics.to_value()["guarantee"]["k"]);
        assert!(released.metrics.to_value()["clusters"]["clusters"].as_u64() > Some(1));
        assert_eq!(released.metrics.to_value()["clusters"], turned.metrics.to_value()["clusters"], "{method}");
    }
}

#[test]
fn claims_do_not_depend_on_threads_or_order() {
    let mut draw = dice(3);
    let (mut patients, mut claims) = ("id,sex,age\n".to_string(), "id,dx,days,cost\n".to_string());
    for patient in 0..1500u64 {
        writeln!(patients, "P{patient:0220},{},{}", draw(2), 20 * draw(4)).unwrap();
        for _ in 0..1 + draw(6) {
            writeln!(claims, "P{patient:0220},{},{},{}", draw(8).min(draw(8)), draw(3), draw(1000)).unwrap();
        }
    }
    assert!(claims.len() > 1 << 20, "more than one block");
    for privacy in ["power = 2\nmax_high_risk = 0.2", "power_total = 2\nmax_high_risk = 0.05"] {
        let folder = tempfile::tempdir().unwrap();
        let [p, c] = ["p.csv", "c.csv"].map(|name| folder.path().join(name));
        fs::write(&p, &patients).unwrap();
        fs::write(&c, &claims).unwrap();
        let policy = format!(
            "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = {{ role = \"patient\" }}\nsex = {{ role = \"quasi\" }}\n\
             age = {{ role = \"quasi\", hierarchy = {{ intervals = [40], from = 0, to = 80 }} }}\n[columns.claims]\nid = {{ role = \"patient\" }}\n\
             dx = {{ role = \"quasi\", hierarchy = {{ intervals = [2, 4], from = 0, to = 8 }} }}\ndays = {{ role = \"quasi\" }}\n\
             cost = {{ role = \"other\", reason = \"a test\" }}\n[privacy]\nk = 5\n{privacy}\n[method]\nname = \"claims\"\ndraws = 2000\n"
        );
        let (released, turned) = same(folder.path(), &policy, || {
            turn(&p);
            turn(&c);
        });
        for r in [&released, &turned] {
            assert!(r.metrics.to_value()["guarantee"]["found"]["share"].as_f64().unwrap() <= 0.2, "{privacy}");
        }
        let levels = |r: &Released| -> Vec<String> {
            r.metrics.to_value()["columns"].as_array().unwrap().iter().map(|c| c["level_name"].to_string()).collect()
        };
        if privacy.contains("total") {
            assert_eq!(levels(&released), levels(&turned), "what is counted exactly does not depend on the order");
        }
    }
}
