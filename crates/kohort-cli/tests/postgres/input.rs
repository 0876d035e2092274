//! Rows that come from a database are those that a file with the same rows would give.

use crate::server::{Clinic, LATTICE, STAYS, policy, stays};
use std::fs;

/// Releases the same rows in the same order from a file and from the database, and compares every byte that is handed
/// over.
#[track_caller]
fn same(clinic: &Clinic, input: &str, person: &str, method: &str) {
    release_both(clinic, input, person, method);
    for file in ["release/data.csv", "release/certificate.json"] {
        let of_database = clinic.read(&format!("of-database/{file}"));
        assert!(clinic.read(&format!("of-file/{file}")) == of_database, "{method}: {file} differs");
    }
}

/// Releases the same rows from a file and from the database, and verifies what came from the database.
#[track_caller]
fn release_both(clinic: &Clinic, input: &str, person: &str, method: &str) {
    clinic.write("file.toml", &policy("table = \"stays.csv\"", person, method, ""));
    let input = format!("database = \"{}\"\n{input}", clinic.address(&clinic.reader()));
    clinic.write("database.toml", &policy(&input, person, method, ""));
    for (own, out) in [("file.toml", "of-file"), ("database.toml", "of-database")] {
        clinic.works(&["anonymize", own, "-o", out, "--seed", "7", "--force"], 0);
    }
    let rows = clinic.read("of-database/release/data.csv").lines().count();
    assert!(rows > 500, "{rows}");
    let code = if person == "patient" { 5 } else { 0 };
    let alone = clinic.run(&["verify", "of-database"]);
    assert!(matches!(alone.code, Some(0 | 5)) && alone.code >= Some(code), "{}", alone.all());
    clinic.works(&["verify", "of-database", "--original", "database.toml"], 0);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn the_same_rows_give_the_same_release_with_and_without_patients() {
    let clinic = Clinic::new("same_rows");
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    clinic.sql("CREATE VIEW cdm.in_order AS SELECT * FROM cdm.stays ORDER BY stay");
    let local = "name = \"local\"";
    for person in ["patient", "identifier"] {
        for method in [LATTICE, local] {
            same(&clinic, "table = \"cdm.in_order\"", person, method);
        }
    }
    // The server stores the rows of a table in an order of its own.
    release_both(&clinic, "table = \"cdm.stays\"", "patient", LATTICE);
    let rows = |out: &str| {
        let text = clinic.read(&format!("{out}/release/data.csv"));
        let mut rows: Vec<String> = text.lines().map(str::to_string).collect();
        rows.sort();
        rows
    };
    assert!(rows("of-file") == rows("of-database"), "other rows");
    // A query, with a semicolon and a comment at its end.
    same(&clinic, "query = \"SELECT * FROM cdm.stays ORDER BY stay -- by key\"", "patient", LATTICE);
    same(&clinic, "query = \"SELECT * FROM cdm.stays ORDER BY stay;\"", "patient", LATTICE);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn the_risk_of_a_table_is_that_of_the_file() {
    let clinic = Clinic::new("same_risk");
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    clinic.write("file.toml", &policy("table = \"stays.csv\"", "patient", LATTICE, ""));
    let input = format!("database = \"{}\"\ntable = \"cdm.stays\"", clinic.address(&clinic.reader()));
    clinic.write("database.toml", &policy(&input, "patient", LATTICE, ""));
    let (file, database) = (clinic.works(&["risk", "file.toml"], 0), clinic.works(&["risk", "database.toml"], 0));
    let plain = |text: String| text.replace("stays.csv", "TABLE").replace("cdm.stays", "TABLE");
    assert_eq!(plain(file.out), plain(database.out));
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn an_empty_text_and_a_null_are_missing_and_a_lone_column_loses_no_row() {
    let clinic = Clinic::new("missing_cells");
    clinic.sql("CREATE TABLE cdm.t (sex text); INSERT INTO cdm.t VALUES ('F'), ('F'), (NULL), (''), (NULL), ('F')");
    clinic.write(
        "p.toml",
        &format!(
            "[input]\ndatabase = \"{}\"\ntable = \"cdm.t\"\n[columns]\nsex = {{ role = \"quasi\" }}\n[privacy]\nk = 3\n\
             [method]\n{LATTICE}\n",
            clinic.address(&clinic.reader())
        ),
    );
    clinic.works(&["anonymize", "p.toml", "-o", "out"], 0);
    let mut cells: Vec<String> = clinic.read("out/release/data.csv").lines().skip(1).map(str::to_string).collect();
    cells.sort();
    // A lone cell without a value has quotes in the file, so that its line is not empty.
    assert_eq!(cells, ["\"\"", "\"\"", "\"\"", "F", "F", "F"]);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_change_while_kohort_runs_is_not_seen() {
    let clinic = Clinic::new("changed_meanwhile");
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    // Each pass takes half a second longer than it must.
    let slow = "query = \"SELECT s.* FROM cdm.stays s WHERE (SELECT pg_sleep(0.5)) IS NOT NULL ORDER BY stay\"";
    let input = format!("database = \"{}\"\n{slow}", clinic.address(&clinic.reader()));
    clinic.write("database.toml", &policy(&input, "patient", LATTICE, ""));
    clinic.write("file.toml", &policy("table = \"stays.csv\"", "patient", LATTICE, ""));
    clinic.works(&["anonymize", "file.toml", "-o", "of-file", "--seed", "7"], 0);
    let mut run = clinic.start(&["anonymize", "database.toml", "-o", "of-database", "--seed", "7"]);
    clinic.wait_for("query LIKE 'COPY%LIMIT 0%' OR query LIKE 'COPY%pg_sleep%'");
    clinic.sql("UPDATE cdm.stays SET sex = 'X', age = 99; DELETE FROM cdm.stays WHERE stay % 2 = 0");
    assert!(run.try_wait().unwrap().is_none(), "the change came too late to show anything");
    assert!(run.wait().unwrap().success());
    assert!(clinic.read("of-file/release/data.csv") == clinic.read("of-database/release/data.csv"), "other rows");
    // Later, the original is another one, and the comparison says so.
    let said = clinic.run(&["verify", "of-database", "--original", "database.toml"]);
    assert!(matches!(said.code, Some(1 | 2)), "{}", said.all());
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn rows_in_an_order_that_changes_are_refused() {
    let clinic = Clinic::new("random_order");
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    let input = format!(
        "database = \"{}\"\nquery = \"SELECT * FROM cdm.stays ORDER BY random()\"",
        clinic.address(&clinic.reader())
    );
    clinic.write("p.toml", &policy(&input, "patient", LATTICE, ""));
    let said = clinic.run(&["anonymize", "p.toml", "-o", "out"]);
    assert!(said.err.contains("ORDER BY") && said.err.contains("another order"), "{}", said.all());
    assert_ne!(said.code, Some(0));
    assert!(!clinic.path().join("out").exists());
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_query_changes_nothing() {
    let clinic = Clinic::new("only_reads");
    clinic.sql(&format!(
        "CREATE TABLE cdm.t (a text); INSERT INTO cdm.t VALUES ('x'); GRANT ALL ON cdm.t TO {}",
        clinic.writer()
    ));
    for query in ["DELETE FROM cdm.t RETURNING a", "SELECT a FROM cdm.t) TO STDOUT; DELETE FROM cdm.t; COPY (SELECT 1"]
    {
        let input = format!("[input]\ndatabase = \"{}\"\nquery = \"{query}\"\n", clinic.address(&clinic.writer()));
        clinic
            .write("p.toml", &(input + "[columns]\na = { role = \"quasi\" }\n[privacy]\nk = 2\n[method]\n" + LATTICE));
        let said = clinic.run(&["risk", "p.toml"]);
        assert_eq!(said.code, Some(2), "{}", said.all());
        assert_eq!(clinic.sql("SELECT count(*) FROM cdm.t").trim(), "1");
    }
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_schema_or_a_table_gets_a_policy() {
    let clinic = Clinic::new("suggested");
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    let address = clinic.address(&clinic.reader());
    clinic.works(&["init", &address, "--table", "cdm.stays", "-o", "one.toml"], 0);
    clinic.works(&["init", &format!("{address}?schema=cdm"), "-o", "all.toml"], 0);
    let (one, all) = (clinic.read("one.toml"), clinic.read("all.toml"));
    assert_eq!(one, all, "one table is all there is");
    assert!(one.contains(&format!("database = \"{address}\"")) && one.contains("table = \"cdm.stays\""), "{one}");
    clinic.write("one.toml", &one.replace("# k = 5\n", "k = 5\n"));
    clinic.works(&["risk", "one.toml"], 0);
    for (args, what) in [
        (vec!["init", &*address, "-o", "x.toml"], "name a schema in the address"),
        (vec!["init", &*address, "--table", "cdm.none", "-o", "x.toml"], "there is no such table"),
        (vec!["init", "stays.csv", "--table", "cdm.stays", "-o", "x.toml"], "--table is for tables of a database"),
        (vec!["init", &*address, "stays.csv", "-o", "x.toml"], "name one database"),
    ] {
        let said = clinic.works(&args, 2);
        assert!(said.err.contains(what), "{}", said.all());
    }
    assert!(fs::metadata(clinic.path().join("x.toml")).is_err());
}
