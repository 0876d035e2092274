//! Hierarchies that others wrote are read. Runs where KOHORT_DATA names the folder that holds `adult_arx`.

use kohort_core::hierarchy::{FileHierarchy, Rule};
use std::path::PathBuf;

#[test]
fn the_hierarchies_of_adult_are_read() {
    let Some(folder) = std::env::var_os("KOHORT_DATA") else { return };
    for (column, levels, leaf) in [
        ("age", 5, "37"),
        ("education", 4, "Bachelors"),
        ("marital-status", 3, "Divorced"),
        ("native-country", 3, "Cambodia"),
        ("occupation", 3, "Sales"),
        ("race", 2, "White"),
        ("salary-class", 2, ">50K"),
        ("sex", 2, "Male"),
        ("workclass", 3, "Private"),
    ] {
        let path = PathBuf::from(&folder).join(format!("adult_arx/adult_hierarchy_{column}.csv"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let rule = Rule::File(FileHierarchy::parse(column, &text).unwrap());
        assert_eq!(rule.level_names().len(), levels, "{column}");
        assert!(rule.apply(&["", leaf], false).uncovered.is_empty(), "{column}");
    }
}
