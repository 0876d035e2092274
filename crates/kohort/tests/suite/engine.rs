//! A table in another engine: the same tuples, the same plan, and nothing is published if the engine lies.

use crate::common::run;
use kohort::pipeline::{Extras, Options, anonymize_into};
use kohort_core::policy::{GivenTables, PolicyFile, PolicyFiles};
use kohort_core::table::{
    Counting, Dialect, Input, MemoryTable, PLAN_TABLE, Place, SqlConnection, SqlTable, TextColumn, count, open,
};
use kohort_core::verify::verify_release;
use kohort_core::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// In what an engine lies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    Nothing,
    /// A tuple has one row more, and another one fewer.
    Count,
    /// A tuple has a patient more.
    Patients,
    /// A row is missing from the join.
    Drop,
    /// A row comes twice.
    Twice,
    /// A row comes with the tuple of another.
    Swap,
    /// It breaks off.
    Cut,
    /// A tuple has five billion rows more, and so has the table.
    Huge,
}

/// An engine that holds a small table and understands the statements that Kohort makes, and no others.
#[derive(Debug)]
struct SmallEngine {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    plan: Mutex<Option<MemoryTable>>,
    lie: Lie,
}

const BATCH: usize = 7;
const HUGE: u64 = 5_000_000_000;

impl SmallEngine {
    /// The columns that a statement reads as `q0`, `q1` …, and as `p`.
    fn read(&self, statement: &str) -> (Vec<usize>, Option<usize>) {
        let inner = statement.rsplit("FROM (SELECT ").next().unwrap_or(statement);
        let (mut tuple, mut patient) = (Vec::new(), None);
        for piece in inner.split("CAST(t.\"").skip(1) {
            let column = self.place(piece);
            match piece.split(" AS ").nth(2).unwrap_or_default().starts_with('p') {
                true => patient = Some(column),
                false => tuple.push(column),
            }
        }
        (tuple, patient)
    }

    fn place(&self, piece: &str) -> usize {
        let name = piece.split('"').next().unwrap();
        self.columns.iter().position(|own| own == name).unwrap()
    }

    fn key(&self, row: &[String], columns: &[usize]) -> Vec<String> {
        columns.iter().map(|&column| row[column].clone()).collect()
    }

    fn answer(&self, statement: &str) -> Vec<Vec<String>> {
        if statement.starts_with("SELECT COUNT(*)") {
            let more = if self.lie == Lie::Huge { HUGE } else { 0 };
            return vec![vec![(self.rows.len() as u64 + more).to_string()]];
        }
        if statement.contains(" AS nobody ") {
            let patient = self.read(statement).0[0];
            return vec![vec![self.rows.iter().filter(|row| row[patient].is_empty()).count().to_string()]];
        }
        if statement.contains(&format!("JOIN {PLAN_TABLE}")) {
            return self.join(statement);
        }
        if !statement.contains("COUNT(*)") {
            return self.rows.clone();
        }
        let (tuple, patient) = self.read(statement);
        let mut rows: BTreeMap<Vec<String>, BTreeMap<String, u64>> = BTreeMap::new();
        let mut of_patient: BTreeMap<String, u64> = BTreeMap::new();
        for row in &self.rows {
            let patient = patient.map_or(String::new(), |patient| row[patient].clone());
            *of_patient.entry(patient.clone()).or_default() += 1;
            *rows.entry(self.key(row, &tuple)).or_default().entry(patient).or_default() += 1;
        }
        if statement.contains("HAVING COUNT(*) > 1") {
            let mut all = Vec::new();
            for (key, patients) in rows {
                for (patient, n) in patients.into_iter().filter(|(patient, _)| of_patient[patient] > 1) {
                    all.push([key.clone(), vec![patient, n.to_string()]].concat());
                }
            }
            return all;
        }
        let mut all: Vec<Vec<String>> = Vec::new();
        for (number, (key, patients)) in rows.into_iter().enumerate() {
            let mut n: u64 = patients.values().sum();
            let mut distinct = patients.len();
            match (self.lie, number) {
                (Lie::Count, 0) => n += 1,
                (Lie::Count, 1) => n -= 1,
                (Lie::Huge, 0) => n += HUGE,
                (Lie::Patients, 0) => distinct += 1,
                _ => {}
            }
            let counts =
                if patient.is_some() { vec![n.to_string(), distinct.to_string()] } else { vec![n.to_string()] };
            all.push([key, counts].concat());
        }
        all.retain(|row| row[tuple.len()] != "0");
        all
    }

    fn join(&self, statement: &str) -> Vec<Vec<String>> {
        let plan = self.plan.lock().unwrap();
        let plan = plan.as_ref().expect("a plan was loaded");
        let (shown, on) = statement.split_once(" ON ").unwrap();
        let tuple: Vec<usize> =
            on.split("COALESCE(").skip(1).map(|p| self.place(p.split("t.\"").nth(1).unwrap())).collect();
        let cells: Vec<Vec<&str>> = plan.columns().map(|(_, own)| own.iter().collect()).collect();
        let mut number = BTreeMap::new();
        for (r, tuple_number) in cells[2 * tuple.len()].iter().enumerate() {
            let value = |i: usize| if cells[2 * i + 1][r] == "1" { "" } else { cells[2 * i][r] };
            let key: Vec<String> = (0..tuple.len()).map(|i| value(i).to_string()).collect();
            number.insert(key, tuple_number.to_string());
        }
        let patient = shown.split(", ").find(|piece| piece.contains(" AS patient"));
        let patient = patient.or(Some(shown)).filter(|_| !shown.contains("NULL AS patient"));
        let patient = patient.map(|_| self.place(shown.rsplit("t.\"").next().unwrap()));
        let copied = |column: usize| !shown.contains(&format!("NULL AS c{column},"));
        let mut all = Vec::new();
        for row in &self.rows {
            let mut out: Vec<String> =
                (0..row.len()).map(|c| if copied(c) { row[c].clone() } else { String::new() }).collect();
            out.push(number[&self.key(row, &tuple)].clone());
            out.push(patient.map_or(String::new(), |p| row[p].clone()));
            all.push(out);
        }
        let last = all.len() - 1;
        let at = self.columns.len();
        match self.lie {
            Lie::Drop => drop(all.pop()),
            Lie::Twice => all[last] = all[0].clone(),
            Lie::Swap => {
                let other = (0..last).find(|&r| all[r][at] != all[last][at]).unwrap();
                all[last][at] = all[other][at].clone();
            }
            _ => {}
        }
        // An engine has no order.
        all.reverse();
        all
    }
}

impl SqlConnection for SmallEngine {
    fn columns(&self, _: &str) -> Result<Vec<String>> {
        Ok(self.columns.clone())
    }

    fn query(&self, statement: &str, each: &mut dyn FnMut(MemoryTable) -> Result<()>) -> Result<()> {
        let rows = self.answer(statement);
        for (number, batch) in rows.chunks(BATCH).enumerate() {
            if self.lie == Lie::Cut && number > 1 {
                return Err(Error::machine("the connection was cut."));
            }
            let column = |c: usize| (format!("c{c}"), batch.iter().map(|row| &row[c]).collect::<TextColumn>());
            each(MemoryTable::new("an answer", (0..batch[0].len()).map(column))?)?;
        }
        Ok(())
    }

    fn load(&self, name: &str, table: &MemoryTable) -> Result<()> {
        assert_eq!(name, PLAN_TABLE);
        *self.plan.lock().unwrap() = Some(table.clone());
        Ok(())
    }
}

fn rows() -> Vec<Vec<String>> {
    let cell = |text: &str| text.to_string();
    let row = |n: usize| {
        let age = if n.is_multiple_of(11) { String::new() } else { (20 + n % 5).to_string() };
        // Every third patient has two rows.
        let patient = if n.is_multiple_of(3) { format!("CANARY-{}", n / 6) } else { format!("CANARY-single-{n}") };
        vec![patient, age, cell(["f", "m"][n % 2]), cell(["a", "b", "c"][n / 2 % 3]), format!("note {}", n % 4)]
    };
    (0..240).map(row).collect()
}

const COLUMNS: [&str; 5] = ["id", "age", "sex", "dx", "note"];

fn engine(lie: Lie) -> Place {
    let columns = COLUMNS.map(String::from).to_vec();
    let connection = Arc::new(SmallEngine { columns, rows: rows(), plan: Mutex::default(), lie });
    Place::Engine(Arc::new(SqlTable::of_table(connection, Dialect::DUCKDB, "cdm.stays").unwrap()))
}

fn memory() -> Place {
    let rows = rows();
    let column = |c: usize| (COLUMNS[c].to_string(), rows.iter().map(|row| &row[c]).collect::<TextColumn>());
    Place::Memory(Arc::new(MemoryTable::new("stays", (0..COLUMNS.len()).map(column)).unwrap()))
}

fn policy(place: Place, patients: bool, method: &str) -> PolicyFile {
    let id = if patients { "patient" } else { "identifier" };
    let text = format!(
        "[columns]\nid = {{ role = \"{id}\" }}\nage = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\n\
         dx = {{ role = \"sensitive\" }}\nnote = {{ role = \"other\", reason = \"a test\" }}\n[privacy]\nk = 3\n{method}"
    );
    PolicyFile::parse_with("policy.toml", &text, &PolicyFiles::default(), Some(&GivenTables::One(place))).unwrap()
}

const LATTICE: &str = "[method]\nname = \"lattice\"\nmax_suppressed = 0.2\n";

fn release(place: Place, patients: bool, out: &Path) -> Result<()> {
    let options = Options { keep_rows: true, ..run::options(1, 2) };
    anonymize_into(&policy(place, patients, LATTICE), out, &options, &Extras::default()).map(|_| ())
}

#[test]
fn an_engine_counts_what_kohort_counts() {
    let (own, other) = (open(&Input::at(memory())).unwrap(), open(&Input::at(engine(Lie::Nothing))).unwrap());
    assert_eq!(own.columns(), other.columns());
    for (columns, patient) in [(vec![1, 2, 3], None), (vec![2], Some(0)), (vec![3, 1], Some(0)), (vec![4], None)] {
        let counting = Counting { columns, patient, remember: 0 };
        let (own, other) = (count(&own, &counting).unwrap(), count(&other, &counting).unwrap());
        assert_eq!((own.rows, own.len(), own.people()), (other.rows, other.len(), other.people()));
        for t in 0..own.len() {
            let same = (0..other.len()).find(|&o| other.codes(o) == own.codes(t)).expect("the same tuple");
            assert_eq!(own.weights[t], other.weights[same]);
            if let (Some(own), Some(other)) = (&own.patients, &other.patients) {
                assert_eq!(own.single[t], other.single[same]);
                assert_eq!(own.having(t).len(), other.having(same).len());
            }
        }
    }
}

#[test]
fn an_engines_release_has_the_rows_of_kohorts_own() {
    for patients in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let read = |place: Place, name: &str| {
            let out = folder.path().join(name);
            release(place, patients, &out).unwrap();
            verify_release(&out, 1).unwrap();
            let text = std::fs::read_to_string(out.join("release/data.csv")).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
            lines.sort();
            (lines, std::fs::read_to_string(out.join("release/certificate.json")).unwrap(), out)
        };
        let (own, _, _) = read(memory(), "own");
        let (other, certificate, out) = read(engine(Lie::Nothing), "other");
        assert_eq!(own, other);
        assert!(!certificate.contains("CANARY") && !out.join("private").exists());
    }
}

#[test]
fn nothing_is_published_if_the_engine_lies() {
    for patients in [false, true] {
        for lie in [Lie::Count, Lie::Patients, Lie::Drop, Lie::Twice, Lie::Swap, Lie::Cut] {
            if lie == Lie::Patients && !patients {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("out");
            let error = release(engine(lie), patients, &out).err().unwrap_or_else(|| panic!("{lie:?} is believed"));
            assert!(!error.message.contains("CANARY") && !error.message.contains("note "), "{error}");
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "{lie:?} left something behind");
        }
    }
}

#[test]
fn more_rows_than_a_class_can_count_are_refused_before_anything_is_planned() {
    let folder = tempfile::tempdir().unwrap();
    let error = release(engine(Lie::Huge), false, &folder.path().join("out")).err().unwrap();
    assert!(error.message.contains("more than four billion rows"), "{error}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[input]\nmissing = [\"NA\"]\n[columns]\nid = { role = \"identifier\" }\nage = { role = \"quasi\" }\n\
                sex = { role = \"quasi\" }\ndx = { role = \"sensitive\" }\nnote = { role = \"identifier\" }\n[privacy]\nk = 3\n";
    let given = GivenTables::One(engine(Lie::Nothing));
    let policy = PolicyFile::parse_with("p.toml", &format!("{text}{LATTICE}"), &PolicyFiles::default(), Some(&given));
    let made = anonymize_into(&policy.unwrap(), &folder.path().join("out"), &run::options(1, 1), &Extras::default());
    assert!(made.err().unwrap().message.contains("Make a view"));
    let ledger = Extras { ledger: Some(folder.path().join("ledger.json")), ..Extras::default() };
    let policy = self::policy(engine(Lie::Nothing), false, LATTICE);
    let made =
        anonymize_into(&policy, &folder.path().join("out"), &Options { seed: None, ..run::options(1, 1) }, &ledger);
    assert!(made.is_err());
}
