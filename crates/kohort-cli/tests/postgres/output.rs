//! A verified release in a schema: whole and compared, or not there.

use crate::server::{Clinic, LATTICE, STAYS, policy, stays};

/// A clinic whose writer releases the stays into `released`.
fn clinic(name: &'static str) -> Clinic {
    let clinic = Clinic::new(name);
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    let input = format!("database = \"{}\"\ntable = \"cdm.stays\"", clinic.address(&clinic.writer()));
    clinic.write("p.toml", &policy(&input, "patient", LATTICE, "[output]\nschema = \"released\"\n"));
    clinic
}

/// The rows of a release as the database and as the file have them, in one order.
fn rows(clinic: &Clinic, out: &str) -> (Vec<String>, Vec<String>) {
    let own = clinic.sql("COPY (SELECT age, sex, ward, dx, replace(note, E'\\n', ' '), weight FROM released.stays) TO STDOUT (FORMAT csv)");
    let file = clinic.read(&format!("{out}/release/data.csv")).replace("two\nlines", "two lines");
    // What a cell without a quote and one with a quote around it mean is the same.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(|line| line.replace('"', "")).collect();
        lines.sort();
        lines
    };
    (sorted(&own), sorted(file.split_once('\n').unwrap().1))
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_release_is_in_its_schema_with_its_certificate() {
    let clinic = clinic("into_schema");
    clinic.works(&["anonymize", "p.toml", "-o", "out"], 0);
    let (database, file) = rows(&clinic, "out");
    assert!(database.len() > 500);
    assert_eq!(database, file);
    let types = "SELECT column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = 'released' AND \
                 table_name = 'stays' ORDER BY ordinal_position";
    let types = clinic.sql(types);
    // A column whose values are as they were keeps its type; one with intervals cannot.
    assert_eq!(
        types.lines().collect::<Vec<_>>(),
        ["age text", "sex text", "ward text", "dx text", "note text", "weight numeric"]
    );
    let texts = clinic.sql("SELECT string_agg(file, ' ' ORDER BY file) FROM released.kohort_certificate");
    assert_eq!(texts.trim(), "certificate.json dictionary.md");
    let certificate = clinic.sql("SELECT contents FROM released.kohort_certificate WHERE file = 'certificate.json'");
    assert_eq!(certificate.trim(), clinic.read("out/release/certificate.json").trim());
    let marks = clinic.sql(
        "SELECT count(DISTINCT obj_description(c.oid)) || ' ' || min(obj_description(c.oid)) FROM pg_class c WHERE \
         c.relnamespace = 'released'::regnamespace AND c.relkind = 'r'",
    );
    assert!(marks.starts_with("1 made by Kohort, certificate sha256:"), "{marks}");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn force_replaces_what_kohort_made_and_nothing_else() {
    let clinic = clinic("replaced");
    clinic.works(&["anonymize", "p.toml", "-o", "out"], 0);
    let before = clinic.sql("SELECT obj_description('released.stays'::regclass)");
    let said = clinic.works(&["anonymize", "p.toml", "-o", "other"], 2);
    assert!(said.err.contains("it holds an earlier release"), "{}", said.all());
    assert!(!clinic.path().join("other").exists());
    clinic.works(&["anonymize", "p.toml", "-o", "out", "--force"], 0);
    assert_ne!(before, clinic.sql("SELECT obj_description('released.stays'::regclass)"), "it is another release");
    assert_eq!(rows(&clinic, "out").0, rows(&clinic, "out").1);
    for (make, remove) in [
        ("CREATE TABLE released.mine (a int)", "DROP TABLE released.mine"),
        ("CREATE VIEW released.mine AS SELECT 1 AS a", "DROP VIEW released.mine"),
        ("CREATE FUNCTION released.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION released.mine()"),
        ("CREATE TYPE released.mine AS ENUM ('a')", "DROP TYPE released.mine"),
        ("CREATE SEQUENCE released.mine", "DROP SEQUENCE released.mine"),
        ("COMMENT ON TABLE released.stays IS 'my own words'", "SELECT 1"),
    ] {
        let mark = clinic.sql("SELECT obj_description('released.stays'::regclass)");
        clinic.sql(make);
        let said = clinic.works(&["anonymize", "p.toml", "-o", "out", "--force"], 2);
        assert!(said.err.contains("it holds 1 object that Kohort did not make"), "{make}: {}", said.all());
        clinic.sql(remove);
        clinic.sql(&format!("COMMENT ON TABLE released.stays IS '{}'", mark.trim()));
    }
    // A view elsewhere that was made of the released table is not removed with it.
    clinic.sql("CREATE VIEW public.study AS SELECT sex FROM released.stays");
    let said = clinic.works(&["anonymize", "p.toml", "-o", "out", "--force"], 2);
    assert!(said.err.contains("depends on a table that would be replaced"), "{}", said.all());
    assert_ne!(clinic.sql("SELECT count(*) FROM public.study").trim(), "0");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn an_empty_schema_is_filled_and_a_file_can_go_into_a_database() {
    let clinic = clinic("from_file");
    clinic.sql(&format!("CREATE SCHEMA released AUTHORIZATION {}", clinic.writer()));
    let output = format!("[output]\ndatabase = \"{}\"\nschema = \"released\"\n", clinic.address(&clinic.writer()));
    clinic.write("p.toml", &policy("table = \"stays.csv\"", "identifier", LATTICE, &output));
    clinic.works(&["anonymize", "p.toml", "-o", "out"], 0);
    let rows = clinic.read("out/release/certificate.json");
    let counted = clinic.sql("SELECT count(*) FROM released.data");
    assert!(rows.contains(&format!("\"rows\": {}", counted.trim())), "{counted} in {rows}");
    // Nothing that compares settings writes anywhere.
    clinic.sql("DROP SCHEMA released CASCADE");
    clinic.works(&["compare", "p.toml", "--vary", "k=3,5"], 0);
    assert_eq!(clinic.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'released'").trim(), "0");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_release_of_codes_is_refused_before_anything_is_read() {
    let clinic = clinic("not_tables");
    let output = format!("[output]\ndatabase = \"{}\"\nschema = \"released\"\n", clinic.address(&clinic.writer()));
    clinic.write("p.toml", &policy("table = \"stays.csv\"\nlayout = \"long\"", "patient", LATTICE, &output));
    let said = clinic.works(&["anonymize", "p.toml", "-o", "out"], 2);
    assert!(said.err.contains("a release of codes is a file of clusters"), "{}", said.all());
}
