//! What LKC-privacy promises and what it does not: the paper's Table 2 at the verifier, bad input, and
//! the counterexamples that keep the certificate from saying more.

use crate::common::run::{options, release};
use crate::common::table::Table;
use crate::common::tamper::{certificate, put_certificate};
use kohort::pipeline::Released;
use kohort_core::error::Kind;
use kohort_core::verify::{AnyRecounted, verify_release};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;

const TABLE_1: &str = "id,job,sex,age,transfuse,surgery
1,Janitor,M,34,Y,Transgender
2,Doctor,M,58,N,Plastic
3,Mover,M,34,Y,Transgender
4,Lawyer,M,24,N,Vascular
5,Mover,M,58,N,Urology
6,Janitor,M,44,Y,Plastic
7,Doctor,M,24,N,Urology
8,Lawyer,F,58,N,Plastic
9,Doctor,F,44,N,Vascular
10,Carpenter,F,63,Y,Vascular
11,Technician,F,63,Y,Plastic
";

const JOBS: &str = "Janitor;Non-Technical;Blue-collar;*\nMover;Non-Technical;Blue-collar;*\nCarpenter;Technical;Blue-collar;*\n\
Technician;Technical;Blue-collar;*\nDoctor;Professional;White-collar;*\nLawyer;Professional;White-collar;*\n";

struct Run {
    _folder: tempfile::TempDir,
    out: PathBuf,
    released: Released,
}

impl Run {
    fn sorted(&self) -> Vec<String> {
        Table::released(&self.out).sorted().into_iter().map(|row| row.join(" ")).collect()
    }

    fn aware(&self) -> String {
        certificate(&self.out)["attested"]["guarantee"]["aware"].as_str().unwrap().to_string()
    }
}

fn run(table: &str, columns: &str, privacy: &str, method: &str) -> kohort_core::Result<Run> {
    run_by("specialize", table, columns, privacy, method)
}

fn run_by(name: &str, table: &str, columns: &str, privacy: &str, method: &str) -> kohort_core::Result<Run> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    fs::write(folder.path().join("jobs.csv"), JOBS).unwrap();
    let policy = folder.path().join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\n{privacy}\n[method]\nname = \"{name}\"\n{method}"
    );
    fs::write(&policy, text).unwrap();
    let (out, released) = release(&policy, "out", &options(1, 2))?;
    Ok(Run { _folder: folder, out, released })
}

/// The paper's table, with jobs down to their third level, so that the result is the paper's Table 2.
const PAPER: &str = "id = { role = \"identifier\" }\njob = { role = \"quasi\", hierarchy = \"jobs.csv\", levels = [1, 2, 3] }\nsex = { role = \"quasi\" }\n\
    age = { role = \"quasi\", hierarchy = { cuts = [30, 60], from = 1, to = 99 } }\ntransfuse = { role = \"class\" }\n\
    surgery = { role = \"sensitive\", values = [\"Transgender\"] }\n";

#[test]
fn table_2_passes_the_gate_and_fails_2_anonymity() {
    let run = run(TABLE_1, PAPER, "k = 2\nknows = 2\nconfidence = 0.5", "").unwrap();
    assert_eq!(
        run.sorted(),
        [
            "Non-Technical M [30,60) N Urology",
            "Non-Technical M [30,60) Y Plastic",
            "Non-Technical M [30,60) Y Transgender",
            "Non-Technical M [30,60) Y Transgender",
            "Professional F [30,60) N Plastic",
            "Professional F [30,60) N Vascular",
            "Professional M [1,30) N Urology",
            "Professional M [1,30) N Vascular",
            "Professional M [30,60) N Plastic",
            "Technical F [60,99) Y Plastic",
            "Technical F [60,99) Y Vascular",
        ]
    );
    let metrics = &run.released.metrics.to_value();
    assert_eq!(metrics["utility"]["discernibility"], 29.0);
    assert_eq!(metrics["guarantee"]["smallest_class"], 2);
    assert_eq!(metrics["guarantee"]["highest_confidence"], 0.5);
    let AnyRecounted::Table(claimed) = verify_release(&run.out, 2).unwrap() else { panic!("a table") };
    assert!(claimed.certificate.guarantee.plain.contains("up to 2"));
    assert!(run.aware().contains("No limit is guaranteed"));
    // The same bytes under the claim of an adversary who knows everything.
    let mut other = certificate(&run.out);
    other["counted"]["claim"]["knows"] = serde_json::json!("all");
    put_certificate(&run.out, &other);
    let refused = verify_release(&run.out, 2).unwrap_err();
    assert_eq!(refused.kind, Kind::Refused);
    assert!(refused.message.contains("the smallest holds 1"), "{refused}");
}

#[test]
fn the_trace_stays_in_the_house() {
    let run = run(TABLE_1, PAPER, "k = 2\nknows = 2\nconfidence = 0.5", "max_steps = 2\n").unwrap();
    let trace = &run.released.metrics.to_value()["trace"];
    assert_eq!(trace["steps"].as_array().unwrap().len(), 2);
    assert_eq!(trace["stopped"], "max_steps");
    let report = fs::read_to_string(run.out.join("evidence/report.html")).unwrap();
    assert!(report.contains("Blue-collar") && report.contains("trace.steps.1.score"));
    for file in ["certificate.json", "dictionary.md"] {
        let text = fs::read_to_string(run.out.join("release").join(file)).unwrap();
        assert!(!text.contains("steps") && !text.contains("Blue-collar"), "{file}");
    }
}

#[test]
fn bad_input_is_said_in_words() {
    let refused = |table: &str, columns: &str, privacy: &str, method: &str, kind: Kind, says: &str| {
        let error = run(table, columns, privacy, method).err().unwrap_or_else(|| panic!("{says}"));
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(says), "{error}");
    };
    let lkc = "k = 2\nknows = 2\nconfidence = 0.1";
    refused(TABLE_1, PAPER, lkc, "", Kind::Infeasible, "2/11");
    let no_class = PAPER.replace("role = \"class\"", "role = \"identifier\"");
    refused(TABLE_1, &no_class, "k = 2", "objective = \"class\"\n", Kind::Yours, "no column has it");
    let quasi = "q = { role = \"quasi\" }\nr = { role = \"quasi\" }\n";
    refused("q,r\na,b\n", quasi, "k = 2", "", Kind::Infeasible, "the table has 1 row. At least 2 are needed.");
    let wide: Vec<String> = (0..41).map(|c| format!("q{c}")).collect();
    let table = format!("{}\n{}\n", wide.join(","), vec!["a"; 41].join(","));
    let columns: String = wide.iter().map(|q| format!("{q} = {{ role = \"quasi\" }}\n")).collect();
    let limit = "max_suppressed = 0\n";
    let error = run_by("lattice", &table, &columns, "k = 2\nknows = 6", limit).err().unwrap();
    assert_eq!(error.kind, Kind::Yours);
    for says in ["4496388 sets", "Largest supported value here: knows = 5"] {
        assert!(error.message.contains(says), "{error}");
    }
}

/// P6: L = 6 over 42 columns was refused with 5,245,786 sets, though only columns that are made more
/// detailed need counting. The verifier and the recipient count these, too.
#[test]
fn six_known_values_of_forty_two_columns_are_counted_where_few_columns_are_split() {
    let columns: Vec<String> = (0..42).map(|c| format!("q{c}")).collect();
    let value = |row: usize, column: usize| match column {
        0..5 => ["a", "b"][(row >> column) & 1].to_string(),
        _ => format!("v{row}"),
    };
    let mut table = format!("{}\n", columns.join(","));
    for row in 0..640 {
        let cells: Vec<String> = (0..42).map(|column| value(row, column)).collect();
        table += &format!("{}\n", cells.join(","));
    }
    let roles: String = columns.iter().map(|q| format!("{q} = {{ role = \"quasi\" }}\n")).collect();
    let run = run(&table, &roles, "k = 20\nknows = 6", "").unwrap();
    assert!(matches!(verify_release(&run.out, 1).unwrap(), AnyRecounted::Table(_)));
    let recount = &certificate(&run.out)["counted"]["recount"];
    assert_eq!((recount["sets"].as_u64(), recount["smallest_class"].as_u64()), (Some(1), Some(20)), "{recount}");
    assert_eq!(run.sorted()[0].split(' ').filter(|cell| *cell != "*").count(), 5);
    // Classes of fewer than k rows are still found: one row shows another value than the others.
    let data = run.out.join("release/data.csv");
    let text = fs::read_to_string(&data).unwrap();
    let (first, rest) = text.split_once("\na,").unwrap();
    fs::write(&data, format!("{first}\nc,{rest}")).unwrap();
    let mut forged = certificate(&run.out);
    let sha = Sha256::digest(fs::read(&data).unwrap()).iter().map(|b| format!("{b:02x}")).collect::<String>();
    forged["counted"]["files"].as_array_mut().unwrap().iter_mut().filter(|f| f["name"] == "data.csv").for_each(|f| {
        f["sha256"] = serde_json::json!(sha);
    });
    put_certificate(&run.out, &forged);
    assert_eq!(verify_release(&run.out, 1).unwrap_err().kind, Kind::Refused);
}

#[test]
fn all_rows_equal_leave_as_they_are() {
    let columns = "q = { role = \"quasi\" }\nr = { role = \"quasi\", hierarchy = { from = 0, to = 10 } }\n";
    let run = run("q,r\na,5\na,5\na,5\n", columns, "k = 3\nknows = 7", "").unwrap();
    // One value cannot be cut: it leaves as *, and so tells nothing of what else might occur.
    assert_eq!(run.sorted(), ["a *", "a *", "a *"]);
    assert!(run.released.notes.iter().any(|n| n.contains("knows = 7") && n.contains("all of them")));
}

/// Whoever knows the method, and everybody's quasi-identifiers, knows whose class is Y: had it been
/// the other one, both columns would have tied, and the first would have been split.
#[test]
fn what_is_split_tells_of_the_class() {
    let columns = "a = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"class\" }\n";
    let one = run("a,b,c\n0,0,N\n0,0,N\n0,1,Y\n1,0,N\n1,1,N\n", columns, "k = 2", "").unwrap();
    assert_eq!(one.sorted(), ["* 0 N", "* 0 N", "* 0 N", "* 1 N", "* 1 Y"]);
    let other = run("a,b,c\n0,0,N\n0,0,N\n0,1,N\n1,0,N\n1,1,Y\n", columns, "k = 2", "").unwrap();
    assert_eq!(other.sorted(), ["0 * N", "0 * N", "0 * N", "1 * N", "1 * Y"]);
    assert!(one.aware().contains("No limit is guaranteed"));
}

/// Nothing is split, because the ones are all sensitive: whoever knows everyone's value knows that.
#[test]
fn what_is_not_split_tells_of_sensitive_values() {
    let columns = "q = { role = \"quasi\" }\ns = { role = \"sensitive\", values = [\"yes\"] }\n";
    let table = "q,s\n0,no\n0,no\n0,no\n0,no\n1,yes\n1,yes\n";
    let run = run(table, columns, "k = 2\nconfidence = 0.5", "").unwrap();
    assert!(run.sorted().iter().all(|row| row.starts_with("* ")));
    assert!(run.aware().contains("No limit is guaranteed"));
}
