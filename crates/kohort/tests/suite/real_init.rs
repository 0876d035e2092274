//! Public tables get sensible roles. Runs where KOHORT_DATA names the folder that holds them.

use kohort::init::{Suggestion, init};
use kohort_core::cohort::survey;
use kohort_core::policy::PolicyFile;
use kohort_core::table::{Silent, open};
use std::path::PathBuf;
use std::sync::Arc;

/// What is suggested for a table; it binds and covers every value once k is chosen.
/// `None` where KOHORT_DATA is not set.
fn suggest(table: &str) -> Option<Suggestion> {
    let folder = PathBuf::from(std::env::var_os("KOHORT_DATA")?);
    let path = folder.join(table);
    assert!(path.exists(), "{table} is not in KOHORT_DATA");
    let suggestion = init(&[path], &folder, 2, Arc::new(Silent)).unwrap_or_else(|e| panic!("{table}: {e}"));
    let text = suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n");
    let policy = PolicyFile::parse("policy.toml", &text, &folder).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let source = open(&policy.input).unwrap();
    let bound = policy.bind(&source, &kohort::methods::Register::built_in()).and_then(|bound| bound.table());
    let policy = bound.unwrap_or_else(|e| panic!("{e}\n{text}"));
    survey(&source, &policy).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Some(suggestion)
}

/// Lines of a role and the columns that have it.
#[track_caller]
fn check(suggestion: &Suggestion, roles: &[&str]) {
    for line in roles {
        let (role, columns) = line.split_once(' ').unwrap();
        for column in columns.split(' ') {
            let advice = suggestion.columns.iter().find(|c| c.name == column).unwrap_or_else(|| panic!("no {column}"));
            assert_eq!(advice.role.name(), role, "{column}: {}", advice.why);
        }
    }
}

#[test]
fn adult() {
    let Some(suggestion) = suggest("adult_arx/adult_subset.csv") else { return };
    check(
        &suggestion,
        &["quasi sex age race marital-status education native-country workclass occupation salary-class"],
    );
}

#[test]
fn patients_of_synthea() {
    let Some(suggestion) = suggest("synthea_ibm/patients.csv.gz") else { return };
    check(
        &suggestion,
        &[
            "patient ID",
            "identifier SSN DRIVERS PASSPORT PREFIX FIRST LAST SUFFIX MAIDEN ADDRESS",
            "quasi BIRTHDATE DEATHDATE MARITAL RACE ETHNICITY GENDER BIRTHPLACE CITY ZIP",
            "other STATE",
        ],
    );
}

#[test]
fn discharges_of_the_national_survey() {
    let Some(suggestion) = suggest("nhds2010/nhds2010.partA.csv.gz") else { return };
    check(
        &suggestion,
        &[
            "patient id",
            "identifier newborn",
            "quasi age sex race marital_status region payor_primary",
            "sensitive dc_status dx01 dx02 dx15 dx_adm pc01 pc08 DRG",
        ],
    );
    let age = suggestion.columns.iter().find(|c| c.name == "age").unwrap();
    assert_eq!(age.hierarchy.as_deref(), Some("{ intervals = [5, 10, 20], from = 0, to = 90 }"));
    assert!(suggestion.columns.iter().filter(|c| c.name.starts_with("dx")).all(|c| c.why.starts_with("ICD-9")));
}

#[test]
fn encounters_of_diabetes_patients() {
    let Some(suggestion) = suggest("diabetes130/diabetic_data.csv.gz") else { return };
    check(
        &suggestion,
        &[
            "patient patient_nbr",
            "identifier encounter_id",
            "quasi race gender age weight time_in_hospital payer_code medical_specialty",
            "sensitive diag_1 diag_2 diag_3 discharge_disposition_id readmitted",
        ],
    );
    let repeats = "`patient_nbr` repeats: 101,766 rows belong to 71,518 people.";
    assert!(suggestion.warnings.iter().any(|warning| warning.starts_with(repeats)), "{:?}", suggestion.warnings);
    assert!(suggestion.policy.contains("missing = [\"\", \"?\"]"));
}
