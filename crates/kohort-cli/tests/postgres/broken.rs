//! Cut connections, missing rights and full disks: nothing is published, and no value is in a message.

use crate::common::Said;
use crate::server::{Clinic, LATTICE, STAYS, policy, sql, stays};

fn clinic(name: &'static str, input: &str, output: &str) -> Clinic {
    let clinic = Clinic::new(name);
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    let input = format!("database = \"{}\"\n{input}", clinic.address(&clinic.writer()));
    clinic.write("p.toml", &policy(&input, "patient", LATTICE, output));
    clinic
}

/// Nothing is in the schema, nothing in the folder, and no cell in what was said.
#[track_caller]
fn nothing_happened(clinic: &Clinic, said: &Said) {
    let all = said.all();
    assert_eq!(clinic.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'released'").trim(), "0", "{all}");
    let left: Vec<String> = std::fs::read_dir(clinic.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["p.toml", "stays.csv", "passwords"].contains(&&**name))
        .collect();
    assert!(left.is_empty(), "{left:?}\n{all}");
    for value in ["north", "South", "Zürich", "east, wing", "two\nlines", "I10", "C50"] {
        assert!(!all.contains(value), "{value}: {all}");
    }
}

const SCHEMA: &str = "[output]\nschema = \"released\"\n";

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_connection_that_is_cut_while_rows_are_read_ends_the_run() {
    let slow = "query = \"SELECT s.* FROM cdm.stays s WHERE (SELECT pg_sleep(3)) IS NOT NULL ORDER BY stay\"";
    let clinic = clinic("cut_reading", slow, SCHEMA);
    let run = clinic.start(&["anonymize", "p.toml", "-o", "out"]);
    clinic.wait_for("query LIKE 'COPY%pg_sleep%' AND query NOT LIKE '%LIMIT 0%' AND state = 'active'");
    sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut_reading' AND query LIKE 'COPY%pg_sleep%'",
    );
    let said: Said = run.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(4), "{}", said.all());
    assert!(said.err.contains("the server ended the connection"), "{}", said.all());
    nothing_happened(&clinic, &said);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_snapshot_that_is_lost_between_two_passes_ends_the_run() {
    let slow = "query = \"SELECT s.* FROM cdm.stays s WHERE (SELECT pg_sleep(1)) IS NOT NULL ORDER BY stay\"";
    let clinic = clinic("cut_keeper", slow, SCHEMA);
    let run = clinic.start(&["anonymize", "p.toml", "-o", "out"]);
    clinic.wait_for("query LIKE 'COPY%pg_sleep%' AND query NOT LIKE '%LIMIT 0%' AND state = 'active'");
    sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut_keeper' AND query LIKE '%pg_export_snapshot%' AND state = 'idle in transaction'",
    );
    let said: Said = run.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(4), "{}", said.all());
    assert!(said.err.contains("no longer keeps the snapshot"), "{}", said.all());
    nothing_happened(&clinic, &said);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_connection_that_is_cut_while_a_release_is_written_leaves_nothing() {
    let clinic = clinic("cut_writing", "table = \"cdm.stays\"", SCHEMA);
    // Whoever makes a table waits, so that there is time to cut the connection.
    clinic.sql(
        "CREATE FUNCTION public.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3); END $$; \
         CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.wait()",
    );
    let run = clinic.start(&["anonymize", "p.toml", "-o", "out"]);
    clinic.wait_for("query LIKE 'CREATE TABLE%'");
    sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut_writing' AND query LIKE 'CREATE TABLE%'",
    );
    let said: Said = run.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(4), "{}", said.all());
    nothing_happened(&clinic, &said);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_database_that_changes_what_was_written_is_found_out() {
    let clinic = clinic("lying_server", "table = \"cdm.stays\"", SCHEMA);
    // A trigger on every new table changes one of the rows that are written.
    clinic.sql(
        "CREATE FUNCTION public.lie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           IF NEW.sex = 'F' AND random() < 0.1 THEN NEW.sex = 'M'; END IF; RETURN NEW; END $$; \
         CREATE FUNCTION public.infect() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
           IF EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('released.stays')) THEN \
             CREATE TRIGGER lie BEFORE INSERT ON released.stays FOR EACH ROW EXECUTE FUNCTION public.lie(); END IF; END $$; \
         CREATE EVENT TRIGGER infect ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.infect()",
    );
    let said = clinic.run(&["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(1), "{}", said.all());
    assert!(said.err.contains("what the database holds is not what was verified"), "{}", said.all());
    nothing_happened(&clinic, &said);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_role_without_rights_is_told_so() {
    let clinic = clinic("no_rights", "table = \"cdm.stays\"", SCHEMA);
    clinic.sql(&format!("REVOKE CREATE ON DATABASE no_rights FROM {}", clinic.writer()));
    let said = clinic.works(&["anonymize", "p.toml", "-o", "out"], 2);
    assert!(said.err.contains("the role has no right to do this"), "{}", said.all());
    nothing_happened(&clinic, &said);
    clinic.sql(&format!("REVOKE SELECT ON cdm.stays FROM {}", clinic.writer()));
    for args in [&["risk", "p.toml"][..], &["anonymize", "p.toml", "-o", "out"]] {
        let said = clinic.works(args, 2);
        assert!(said.err.contains("cdm.stays: the role has no right to do this"), "{}", said.all());
        nothing_happened(&clinic, &said);
    }
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn what_the_server_says_about_a_cell_is_not_repeated() {
    // The server's own message quotes the first ward that is not a number.
    let clinic = clinic(
        "quoting_server",
        "query = \"SELECT stay, patient, age, sex, ward::int AS ward, dx, note, weight FROM cdm.stays\"",
        SCHEMA,
    );
    let said = clinic.run(&["anonymize", "p.toml", "-o", "out"]);
    assert!(said.err.contains("the server reported error 22P02"), "{}", said.all());
    assert_ne!(said.code, Some(0));
    nothing_happened(&clinic, &said);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_full_disk_of_the_server_leaves_nothing() {
    let Ok(small) = std::env::var("KOHORT_POSTGRES_SMALL") else {
        println!("left out: no small disk could be mounted");
        return;
    };
    let clinic = Clinic::new("full_disk");
    clinic.sql(
        "CREATE TABLE cdm.stays AS SELECT i AS stay, i AS patient, (20 + i % 5)::smallint AS age, 'F'::text AS sex, \
         'north'::text AS ward, 'I10'::text AS dx, repeat('x', 40) AS note, 1.5 AS weight FROM generate_series(1, 150000) i",
    );
    sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{small}'"));
    sql("postgres", &format!("GRANT CREATE ON TABLESPACE small TO {}", clinic.writer()));
    sql("postgres", &format!("ALTER ROLE {} SET default_tablespace = small", clinic.writer()));
    let input = format!("database = \"{}\"\ntable = \"cdm.stays\"", clinic.address(&clinic.writer()));
    clinic.write("p.toml", &policy(&input, "patient", LATTICE, SCHEMA));
    let said = clinic.run(&["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(4), "{}", said.all());
    assert!(said.err.contains("the server's disk is full"), "{}", said.all());
    nothing_happened(&clinic, &said);
    sql("postgres", "DROP TABLESPACE small");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_server_that_is_not_there_is_said_to_be_not_there() {
    let clinic = Clinic::new("no_server");
    let input = "database = \"postgresql://me@127.0.0.1:1/x\"\ntable = \"cdm.stays\"";
    clinic.write("p.toml", &policy(input, "patient", LATTICE, ""));
    let said = clinic.works(&["risk", "p.toml"], 4);
    assert!(said.err.contains("the connection failed (connection refused)"), "{}", said.all());
    let input = format!("database = \"{}x\"\ntable = \"cdm.stays\"", clinic.address(&clinic.reader()));
    clinic.write("p.toml", &policy(&input, "patient", LATTICE, ""));
    let said = clinic.works(&["risk", "p.toml"], 2);
    assert!(said.err.contains("there is no such database"), "{}", said.all());
}
