//! The OMOP common data model in a schema, and out as a schema of its own.

use crate::server::Clinic;

/// Fills `cdm` with a small OMOP data model, and one table of its vocabularies that must not be read.
pub fn fill(clinic: &Clinic) {
    clinic.sql(
        "CREATE TABLE cdm.person AS SELECT i AS person_id, (ARRAY[8507, 8532])[1 + i % 2] AS gender_concept_id, \
           1935 + (i * 37) % 70 AS year_of_birth, 1 + i % 12 AS month_of_birth, 1 + i % 28 AS day_of_birth, \
           (ARRAY[8527, 8516, 8515])[1 + (i * 7) % 3] AS race_concept_id, 0 AS ethnicity_concept_id, \
           'S' || (i * 7919 % 900000) AS person_source_value FROM generate_series(1, 400) i; \
         CREATE TABLE cdm.visit_occurrence AS SELECT i AS visit_occurrence_id, 1 + (i * 7919) % 400 AS person_id, \
           (ARRAY[9201, 9202, 9203])[1 + (i * 13) % 3] AS visit_concept_id, DATE '2020-01-01' + (i * 31) % 600 AS \
           visit_start_date, DATE '2020-01-03' + (i * 31) % 600 AS visit_end_date, 44818518 AS visit_type_concept_id \
           FROM generate_series(1, 1200) i; \
         CREATE TABLE cdm.condition_occurrence AS SELECT i AS condition_occurrence_id, 1 + (i * 6007) % 400 AS person_id, \
           (ARRAY[320128, 201826, 255848, 312327, 4112343, 40481087])[1 + (i * 17) % 6] AS condition_concept_id, \
           DATE '2020-01-01' + (i * 29) % 600 AS condition_start_date, DATE '2020-01-04' + (i * 29) % 600 AS \
           condition_end_date, 32020 AS condition_type_concept_id, 1 + (i * 3) % 1200 AS visit_occurrence_id, \
           (ARRAY['I10', 'E11.9', 'J18.9', 'I21.4', 'J02.9', 'J20.9'])[1 + (i * 17) % 6] AS condition_source_value \
           FROM generate_series(1, 1600) i; \
         CREATE TABLE cdm.death AS SELECT 1 + i * 7 AS person_id, DATE '2021-06-01' + i AS death_date, 38003569 AS \
           death_type_concept_id FROM generate_series(1, 20) i; \
         CREATE TABLE cdm.concept AS SELECT i AS concept_id, 'a name' AS concept_name FROM generate_series(1, 50) i",
    );
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn an_omop_schema_comes_out_as_a_schema_of_its_own() {
    let clinic = Clinic::new("omop_schema");
    fill(&clinic);
    let address = clinic.address(&clinic.writer());
    let said = clinic.works(&["init", "--omop", &format!("{address}?schema=cdm"), "-o", "omop.toml"], 0);
    let policy = clinic.read("omop.toml");
    assert!(policy.contains("patients = \"cdm.person\""), "{policy}");
    assert!(policy.contains("condition_occurrence = \"cdm.condition_occurrence\""), "{policy}");
    assert!(policy.contains("visit_occurrence = \"cdm.visit_occurrence\""), "{policy}");
    assert!(
        !said.all().contains("cdm.concept") && said.all().contains("cdm.death has at most one row"),
        "{}",
        said.all()
    );
    // A schema with `person` and `concept` is recognised without being told.
    clinic.works(&["init", &format!("{address}?schema=cdm"), "-o", "found.toml"], 0);
    assert_eq!(policy, clinic.read("found.toml"));
    let policy = policy.replace("# k = 5\n", "k = 3\n") + "\n[output]\nschema = \"omop_release\"\n";
    clinic.write("omop.toml", &policy);
    clinic.works(&["anonymize", "omop.toml", "-o", "out", "--keep-rows"], 0);
    clinic.works(&["verify", "out", "--original", "omop.toml"], 0);
    let tables = "SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM information_schema.tables WHERE table_schema = \
                  'omop_release'";
    assert_eq!(clinic.sql(tables).trim(), "condition_occurrence kohort_certificate person visit_occurrence");
    // Every event belongs to a person of the release, and nobody has the number that they had.
    let lost = "SELECT count(*) FROM omop_release.condition_occurrence e LEFT JOIN omop_release.person p USING (person_id) \
                WHERE p.person_id IS NULL";
    assert_eq!(clinic.sql(lost).trim(), "0");
    for (table, file) in [("person", "patients"), ("condition_occurrence", "condition_occurrence")] {
        let counted = clinic.sql(&format!("SELECT count(*) FROM omop_release.{table}"));
        let rows = clinic.read(&format!("out/release/{file}.csv")).lines().count() - 1;
        assert_eq!(counted.trim(), rows.to_string(), "{table}");
        assert!(rows > 0);
    }
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn concepts_of_a_schema_get_hierarchies_from_its_vocabulary() {
    let clinic = Clinic::new("omop_concepts");
    fill(&clinic);
    // Under 1 are 20 ingredients (100, 200 …), under each of them 40 drugs (101, 102 …).
    clinic.sql(
        "DROP TABLE cdm.condition_occurrence, cdm.visit_occurrence; \
         CREATE TABLE cdm.drug_exposure AS SELECT i AS drug_exposure_id, 1 + (i * 7919) % 400 AS person_id, \
           100 * (2 + (i / 3) % 2) + 1 + (i / 7 * 5) % 8 AS drug_concept_id, DATE '2020-01-01' + (i * 31) % 600 AS \
           drug_exposure_start_date FROM generate_series(1, 1500) i; \
         CREATE TABLE cdm.concept_ancestor AS \
           SELECT 1 AS ancestor_concept_id, 1 AS descendant_concept_id, 0 AS min_levels_of_separation UNION ALL \
           SELECT 1, 100 * g, 1 FROM generate_series(1, 20) g UNION ALL \
           SELECT 100 * g, 100 * g, 0 FROM generate_series(1, 20) g UNION ALL \
           SELECT 1, 100 * g + d, 2 FROM generate_series(1, 20) g, generate_series(1, 40) d UNION ALL \
           SELECT 100 * g, 100 * g + d, 1 FROM generate_series(1, 20) g, generate_series(1, 40) d UNION ALL \
           SELECT 100 * g + d, 100 * g + d, 0 FROM generate_series(1, 20) g, generate_series(1, 40) d",
    );
    let address = clinic.address(&clinic.writer());
    clinic.works(&["init", "--omop", &format!("{address}?schema=cdm"), "-o", "omop.toml"], 0);
    let policy = clinic.read("omop.toml");
    assert!(policy.contains("hierarchy = \"drug_exposure-drug_concept_id.csv\""), "{policy}");
    let hierarchy = clinic.read("drug_exposure-drug_concept_id.csv");
    assert!(hierarchy.lines().any(|line| line == "205;200+;*"), "{hierarchy}");
    clinic.write("omop.toml", &policy.replace("# k = 5\n", "k = 3\n"));
    clinic.works(&["anonymize", "omop.toml", "-o", "out", "--keep-rows"], 0);
    clinic.works(&["verify", "out", "--original", "omop.toml"], 0);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn procedures_drugs_and_periods_of_observation_come_out() {
    let clinic = Clinic::new("omop_tables");
    fill(&clinic);
    // At most three tables of events are suggested: every further one costs detail in the others.
    clinic.sql(
        "DROP TABLE cdm.condition_occurrence, cdm.visit_occurrence; \
         CREATE TABLE cdm.procedure_occurrence AS SELECT i AS procedure_occurrence_id, 1 + (i * 5003) % 400 AS person_id, \
           (ARRAY[4230911, 4146536, 2313999])[1 + (i * 11) % 3] AS procedure_concept_id, DATE '2020-01-01' + (i * 23) % 600 AS \
           procedure_date, 32817 AS procedure_type_concept_id FROM generate_series(1, 900) i; \
         CREATE TABLE cdm.drug_exposure AS SELECT i AS drug_exposure_id, 1 + (i * 4001) % 400 AS person_id, \
           (ARRAY[1308216, 1503297, 1112807])[1 + (i * 7) % 3] AS drug_concept_id, DATE '2020-01-01' + (i * 19) % 600 AS \
           drug_exposure_start_date FROM generate_series(1, 1000) i; \
         CREATE TABLE cdm.observation_period AS SELECT i AS observation_period_id, 1 + (i - 1) % 400 AS person_id, \
           DATE '2019-01-01' + (i - 1) / 400 * 500 AS observation_period_start_date, DATE '2020-03-01' + (i - 1) / 400 * 500 AS \
           observation_period_end_date, 32817 AS period_type_concept_id FROM generate_series(1, 800) i",
    );
    let address = clinic.address(&clinic.writer());
    clinic.works(&["init", "--omop", &format!("{address}?schema=cdm"), "-o", "omop.toml"], 0);
    let policy = clinic.read("omop.toml");
    let events = ["drug_exposure", "observation_period", "procedure_occurrence"];
    for table in events {
        assert!(policy.contains(&format!("{table} = \"cdm.{table}\"")), "{table}: {policy}");
    }
    let policy = policy.replace("# k = 5\n", "k = 3\n") + "\n[output]\nschema = \"omop_release\"\n";
    clinic.write("omop.toml", &policy);
    clinic.works(&["anonymize", "omop.toml", "-o", "out", "--keep-rows"], 0);
    clinic.works(&["verify", "out", "--original", "omop.toml"], 0);
    for table in events {
        let counted = clinic.sql(&format!("SELECT count(*) FROM omop_release.{table}"));
        let rows = clinic.read(&format!("out/release/{table}.csv")).lines().count() - 1;
        assert_eq!(counted.trim(), rows.to_string(), "{table}");
        let lost = format!(
            "SELECT count(*) FROM omop_release.{table} e LEFT JOIN omop_release.person p USING (person_id) WHERE p.person_id IS NULL"
        );
        assert_eq!(clinic.sql(&lost).trim(), "0", "{table}");
    }
}
