//! Unprepared tables, released by the suggestion of `init` as it is.

use kohort_falsify::first_contact::{Data, generated, judge, print};
use std::time::Duration;

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

#[test]
fn the_suggestion_of_init_is_safe_for_every_table_and_useful_for_most() {
    let results: Vec<_> = generated(1).iter().map(|table| judge(table, Duration::from_secs(300))).collect();
    let shown = print(&results);
    assert!(results.iter().all(|result| result.is_safe()), "{shown}");
    let useful = results.iter().filter(|result| result.is_useful()).count();
    assert!(useful * 10 >= results.len() * 9, "{shown}");
}
