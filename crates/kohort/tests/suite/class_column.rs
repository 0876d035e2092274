//! The column that a classification is to predict.

use crate::common::run::{options, plan, release};
use crate::common::table::Table;
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
fn a_class_is_in_the_tuples_and_is_released_unchanged() {
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
    assert_eq!(released.metrics.to_value()["risk_all"]["before"]["classes"], 2);
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
    assert!(cohort.notes.iter().any(|n| n.contains("`c` has more than 100 values")), "{:?}", cohort.notes);
    let two = policy(folder.path(), "q,c,d\na,1,2\na,1,2\n", "c = { role = \"class\" }\nd = { role = \"class\" }\n");
    let (_, cohort, _) = plan(&two).unwrap();
    assert!(cohort.class.is_none() && cohort.notes.iter().any(|n| n.starts_with("several columns")));
}

/// Rows (q, c), each so often, released with all of `q` as it is or as `*`.
fn errors(folder: &Path, rows: &[(&str, &str, usize)], k: u64, max_suppressed: &str) -> [f64; 3] {
    let lines = rows.iter().flat_map(|(q, c, n)| vec![format!("{q},{c}\n"); *n]);
    let path = policy(folder, &format!("q,c\n{}", lines.collect::<String>()), "c = { role = \"class\" }\n");
    let text = fs::read_to_string(&path).unwrap().replace("k = 2", &format!("k = {k}"));
    fs::write(&path, text.replace("max_suppressed = 0", &format!("max_suppressed = {max_suppressed}"))).unwrap();
    let name = format!("out-{k}-{max_suppressed}-{}", rows.len());
    let metrics = release(&path, &name, &options(1, 1)).unwrap().1.metrics.to_value();
    let own = &metrics["utility"]["classification"];
    assert_eq!(own["column"], "c");
    ["baseline_error", "error", "upper_bound_error"].map(|key| own[key].as_f64().unwrap())
}

#[test]
fn a_class_is_predicted_from_the_release() {
    let folder = tempfile::tempdir().unwrap();
    // Where q stays, it tells all; where it goes, most rows decide: a third of each class is predicted.
    let rows = [("a", "yes", 60), ("b", "no", 30)];
    assert_eq!(errors(folder.path(), &rows, 2, "0"), [0.0, 0.0, 10.0 / 30.0]);
    assert_eq!(errors(folder.path(), &rows, 40, "0"), [0.0, 10.0 / 30.0, 10.0 / 30.0]);
    // Deleting the rows of one class does not make the others easier: they are predicted all the same.
    assert_eq!(errors(folder.path(), &rows, 40, "0.5"), [0.0, 10.0 / 30.0, 10.0 / 30.0]);
    // Missing classes are left out.
    let missing = [("a", "yes", 60), ("b", "no", 30), ("b", "", 50)];
    assert_eq!(errors(folder.path(), &missing, 2, "0"), [0.0, 0.0, 10.0 / 30.0]);
}

#[test]
fn one_class_alone_is_not_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), "q,c\na,x\na,x\na,x\na,x\n", "c = { role = \"class\" }\n");
    let metrics = release(&path, "out", &options(1, 1)).unwrap().1.metrics.to_value();
    assert!(metrics["utility"]["classification"].is_null());
}
