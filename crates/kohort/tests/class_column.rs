//! The column that a classification is to foretell.

mod common;

use common::run::{options, plan, release};
use common::table::Table;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn policy(folder: &Path, table: &str, columns: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\nq = {{ role = \"quasi\" }}\n{columns}[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n"
    );
    let path = folder.join("p.toml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_class_is_in_the_tuples_and_leaves_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let table = "c,q\nyes,a\nno,a\nyes,b\nyes,b\n,b\n";
    let policy = policy(folder.path(), table, "c = { role = \"class\" }\n");
    let (_, cohort, _) = plan(&policy).unwrap();
    let class = cohort.class.as_ref().unwrap();
    assert_eq!((class.name.as_str(), class.column, class.position), ("c", 0, 1));
    assert_eq!((cohort.columns(), cohort.tuples.len()), (vec![1, 0], 4));
    let (out, released) = release(&policy, "out", &options(1, 2)).unwrap();
    assert_eq!(Table::released(&out).sorted(), [["", "b"], ["no", "a"], ["yes", "a"], ["yes", "b"], ["yes", "b"]]);
    // Classes are those of the quasi-identifiers: nobody is alone for their class.
    assert_eq!(released.metrics["risk_all"]["before"]["classes"], 2);
}

#[test]
fn a_class_of_too_many_values_or_several_classes_are_not_carried() {
    let folder = tempfile::tempdir().unwrap();
    let table = (0..202).fold("q,c\n".to_string(), |mut table, i| {
        writeln!(table, "a,{}", i / 2).unwrap();
        table
    });
    let many = policy(folder.path(), &table, "c = { role = \"class\" }\n");
    let (_, cohort, _) = plan(&many).unwrap();
    assert!(cohort.class.is_none() && cohort.tuples.len() == 1);
    assert!(cohort.notes.iter().any(|n| n.contains("`c`: more than 100 values")), "{:?}", cohort.notes);
    let two = policy(folder.path(), "q,c,d\na,1,2\na,1,2\n", "c = { role = \"class\" }\nd = { role = \"class\" }\n");
    let (_, cohort, _) = plan(&two).unwrap();
    assert!(cohort.class.is_none() && cohort.notes.iter().any(|n| n.starts_with("several columns")));
}
