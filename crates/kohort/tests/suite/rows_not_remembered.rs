//! Beyond sixteen million rows the tuple of a row is looked up again while writing: same bytes.

use kohort::hospital::{Hospital, POLICY};
use kohort::methods::Method;
use kohort_core::random::Randomness;
use kohort_core::release::{Staging, write};
use kohort_core::table::{self, Silent};
use kohort_core::{cohort, policy};

#[test]
fn rows_looked_up_again_leave_as_rows_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = Vec::new();
    Hospital { rows: 3000, seed: 3 }.write_patients(&mut text).unwrap();
    std::fs::write(folder.path().join("patients.csv"), text).unwrap();
    // Patients as the unit remember their rows in any case.
    let rows_as_unit = POLICY.replace("role = \"patient\"", "role = \"identifier\"");
    let path = folder.path().join("policy.toml");
    std::fs::write(&path, rows_as_unit.replace("# confidence", "confidence")).unwrap();
    let file = policy::read(&path).unwrap();
    let source = table::open(&file.input).unwrap().with_threads(2);
    let bound = file.bind(&source, &kohort::methods::Register::built_in()).unwrap().table().unwrap();
    let remembered = cohort::survey(&source, &bound).unwrap();
    assert!(remembered.tuples.of_row.is_some());
    let mut forgotten = remembered.clone();
    forgotten.tuples.of_row = None;
    let plan = Method::of(&bound)
        .unwrap()
        .plan(&remembered, &bound, &mut kohort_core::random::Randomness::new(Some(1)).unwrap())
        .unwrap();
    let mut written = Vec::new();
    for (name, cohort) in [("remembered", &remembered), ("forgotten", &forgotten)] {
        let staging = Staging::create(&folder.path().join(name), false, &Silent).unwrap();
        let mut random = Randomness::new(Some(1)).unwrap();
        let staged = write(&source, &bound, cohort, &plan, staging, &mut random).unwrap();
        let data = std::fs::read(staged.staging.release().join("data.csv")).unwrap();
        written.push((data, std::fs::read(&staged.written.lines).unwrap()));
    }
    assert!(!written[0].0.is_empty() && written[0] == written[1]);
}
