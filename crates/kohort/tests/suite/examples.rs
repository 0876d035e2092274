//! Every program in examples/ is built into this one and run.

#[path = "../../../../examples/add_hierarchy.rs"]
mod add_hierarchy;
#[path = "../../../../examples/anonymize_csv.rs"]
mod anonymize_csv;
#[path = "../../../../examples/diagnosis_codes.rs"]
mod diagnosis_codes;
#[path = "../../../../examples/in_memory.rs"]
mod in_memory;
#[path = "../../../../examples/measure_risk.rs"]
mod measure_risk;
#[path = "../../../../examples/patient_histories.rs"]
mod patient_histories;
#[path = "../../../../examples/verify_release.rs"]
mod verify_release;

use std::collections::BTreeSet;
use std::path::Path;

/// A program and its name.
type Program = (&'static str, fn() -> kohort::Result<()>);

const PROGRAMS: [Program; 7] = [
    ("add_hierarchy", add_hierarchy::main),
    ("anonymize_csv", anonymize_csv::main),
    ("diagnosis_codes", diagnosis_codes::main),
    ("in_memory", in_memory::main),
    ("measure_risk", measure_risk::main),
    ("patient_histories", patient_histories::main),
    ("verify_release", verify_release::main),
];

#[test]
fn every_example_runs() {
    for (name, main) in PROGRAMS {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn no_example_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let programs: BTreeSet<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    let manifest = include_str!("../../Cargo.toml");
    assert!(programs.iter().all(|name| manifest.contains(&format!("../../examples/{name}.rs"))));
    assert_eq!(programs, PROGRAMS.iter().map(|(name, _)| name.to_string()).collect());
}
