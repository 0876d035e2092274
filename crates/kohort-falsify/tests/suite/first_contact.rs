//! Unprepared tables, released by the suggestion of `init` as it is.

use kohort_falsify::first_contact::{Data, generated};

#[test]
fn every_generated_table_has_the_columns_that_its_truth_names() {
    let tables = generated(1);
    assert!(tables.len() >= 30, "{} tables", tables.len());
    for table in &tables {
        let Data::Text(text) = &table.data else { panic!("{} is not generated", table.name) };
        let header = text.lines().next().unwrap();
        let names: Vec<&str> = header.split([',', ';']).collect();
        let truth = &table.truth;
        let named = [&truth.keys, &truth.known, &truth.age, &truth.sex].into_iter().flatten().chain(&truth.person);
        for name in named {
            assert!(names.contains(&name.as_str()), "{}: {name}", table.name);
        }
        assert!(!truth.known.is_empty(), "{}", table.name);
    }
}
