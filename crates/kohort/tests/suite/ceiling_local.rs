//! `ceiling` with `recode = "local"`: groups of their own labels below the ceiling, and synthetic records for outliers.

use crate::common;
use crate::common::case::{Case, Known, Quasi, cases};
use crate::common::definition::{Column, label, meets};
use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Forty people between 30 and 49 in two wards, and somebody of 88 in a ward of their own.
fn ward_with_an_outlier(folder: &Path, method: &str) -> PathBuf {
    let mut table = String::from("age,ward,disease\n");
    (0..40).for_each(|i| table += &format!("{},{},{}\n", 30 + i % 20, ["a", "b"][i / 20], ["Flu", "Gout"][i % 2]));
    table += "88,z,Flu\n";
    fs::write(folder.join("t.csv"), table).unwrap();
    let policy = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20], from = 0, to = 100 }} }}\n\
         ward = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\", domain = [\"Flu\", \"Gout\"] }}\n\
         [privacy]\nk = 4\n[method]\nname = \"ceiling\"\nrecode = \"local\"\n{method}\n"
    );
    fs::write(&policy, text).unwrap();
    policy
}

#[test]
fn an_outlier_keeps_its_values_among_synthetic_records() {
    let folder = tempfile::tempdir().unwrap();
    let method = "h = 0.1\nreal_k = 1\nmax_counterfeits = 0.2\npadding = \"exact\"";
    let policy = ward_with_an_outlier(folder.path(), method);
    let (out, released) = release(&policy, "out", &options(3, 1)).unwrap();
    let m = released.metrics.to_value();
    assert_eq!((&m["rows"]["suppressed"], &m["rows"]["counterfeit"]), (&0.into(), &3.into()));
    let table = Table::released(&out);
    let outlier = lines(&out).iter().position(|&line| line == 42).unwrap();
    assert_eq!(table.rows[outlier][..2], ["88", "z"]);
    let like_it = table.rows.iter().filter(|row| row[..2] == table.rows[outlier][..2]).count();
    assert_eq!(like_it, 4);
    // The others need no synthetic record, and no column has one level.
    assert!(m["trace"]["highest_degree"].as_f64().unwrap() <= 0.1);
    verify_release(&out, 1).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    // Labels of different fineness are explained, and synthetic records can be told from real ones by nobody.
    assert!(out.join("release/hierarchy.csv").exists());
    let certificate = fs::read_to_string(out.join("release/certificate.json")).unwrap();
    assert!(certificate.contains("\"single_cells\": true"), "labels overlap, and the certificate says so");
}

#[test]
fn what_cannot_be_met_is_said_with_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |method: &str| {
        let error = release(&ward_with_an_outlier(folder.path(), method), "out", &options(1, 1)).unwrap_err();
        assert!(!error.message.contains("88"), "no value of the data: {error}");
        error
    };
    let says = |method: &str, words: &[&str]| {
        let error = refused(method);
        assert_eq!(error.kind, Kind::Infeasible, "{error}");
        words.iter().for_each(|word| assert!(error.message.contains(word), "{word}: {error}"));
    };
    says(
        "h = 0.1\nreal_k = 1\nmax_counterfeits = 0\npadding = \"exact\"",
        &["synthetic records are needed by the groups that were found", "h = 0.1"],
    );
    says("h = 0.1\nreal_k = 2\nmax_counterfeits = 1", &["h = 0.1", "real_k = 2", "can be met with h = "]);
    let error = refused("h = 0.1\nreal_k = 2\nmax_counterfeits = 1").message;
    // The h that is named works.
    let h = error.split("with h = ").nth(1).unwrap().split(',').next().unwrap();
    let method = format!("h = {h}\nreal_k = 2\nmax_counterfeits = 1");
    release(&ward_with_an_outlier(folder.path(), &method), "named", &options(1, 1)).unwrap();
    let error = refused("h = 0.1\nreal_k = 1\nmax_counterfeits = 1\ncatalog = \"grouped\"");
    assert!(error.kind == Kind::Yours && error.message.contains("recode = \"global\""), "{error}");
}

/// The same ceiling and synthetic records: local recoding keeps more.
#[test]
fn local_recoding_loses_less_than_one_level_for_each_column() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("age,zip,disease\n");
    let mut seed = 7u32;
    let mut draw = |n: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % n
    };
    for _ in 0..600 {
        table += &format!(
            "{},{},{}\n",
            20 + draw(30) + draw(40),
            100 + draw(20) * draw(20),
            ["Flu", "Gout"][draw(2) as usize]
        );
    }
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let lost = |recode: &str, h: &str| {
        let text = format!(
            "[input]\ntable = \"t.csv\"\n[columns]\n\
             age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20, 40], from = 0, to = 100 }} }}\n\
             zip = {{ role = \"quasi\", hierarchy = {{ prefix = [2, 1] }} }}\n\
             disease = {{ role = \"sensitive\", domain = [\"Flu\", \"Gout\"] }}\n\
             [privacy]\nk = 5\n[method]\nname = \"ceiling\"\nh = {h}\nreal_k = 2\nmax_counterfeits = 0.1\n\
             objective = \"loss\"\nprefer = \"detail\"\nrecode = \"{recode}\"\n"
        );
        fs::write(folder.path().join("p.toml"), text).unwrap();
        let forced = pipeline::Options { force: true, ..options(5, 1) };
        let (_, released) = release(&folder.path().join("p.toml"), "out", &forced).unwrap();
        let m = released.metrics.to_value();
        (m["utility"]["loss"].as_f64().unwrap(), m["trace"]["highest_degree"].as_f64().unwrap())
    };
    let (global, _) = lost("global", "\"auto\"");
    let (local, degree) = lost("local", "\"auto\"");
    assert!(local < 0.8 * global, "{local} and {global}");
    // The ceiling that was found can be asked for.
    let (below, highest) = lost("local", &format!("{:.4}", degree + 1e-4));
    assert!(highest <= degree + 2e-4 && below < global, "{highest} of {degree}, {below}");
}

/// The degree of a released row: the mean loss of its labels.
fn degree(case: &Case, columns: &[Column], original: &[Option<String>], row: &[String]) -> f64 {
    let loss = |(c, quasi): (usize, &Quasi)| {
        let value = original[c].as_deref();
        let level = (0..=quasi.kind.height()).find(|&level| label(quasi.kind, value, level) == row[c]).unwrap();
        columns[c].loss(value, level)
    };
    case.quasi.iter().enumerate().map(loss).sum::<f64>() / case.quasi.len() as f64
}

/// Counts everything again from the released rows, by the definitions.
fn check(case: &Case, h: u64, real_k: u64, padding: &str) {
    let folder = tempfile::tempdir().unwrap();
    let policy = case.write(folder.path());
    let text = fs::read_to_string(&policy).unwrap();
    let start = text.find("[method]").unwrap();
    let method = format!(
        "[method]\nname = \"ceiling\"\nrecode = \"local\"\nh = {}.{:02}\nreal_k = {real_k}\nmax_counterfeits = 1\npadding = \"{padding}\"\n",
        h / 100,
        h % 100
    );
    fs::write(&policy, format!("{}{method}", &text[..start])).unwrap();
    let (out, released) = match release(&policy, "out", &options(7, 2)) {
        Ok(made) => made,
        Err(error) => return assert_eq!(error.kind, Kind::Infeasible, "{error}"),
    };
    let columns: Vec<Column> = (0..case.quasi.len()).map(|c| Column::of(case, c)).collect();
    let (table, lines) = (Table::released(&out), lines(&out));
    let mut classes: BTreeMap<&[String], (Vec<usize>, u64)> = BTreeMap::new();
    for (row, &line) in table.rows.iter().zip(&lines) {
        let class = classes.entry(&row[..case.quasi.len()]).or_default();
        match line.checked_sub(2) {
            None => class.1 += 1,
            Some(own) => {
                class.0.push(own);
                let degree = degree(case, &columns, &case.rows[own].quasi, row);
                assert!(degree <= h as f64 / 100.0 + 1e-9, "{degree} above {h}: {row:?}");
            }
        }
    }
    let everybody: Vec<usize> = (0..case.rows.len()).collect();
    let real = Case { k: real_k, ..case.clone() };
    for (class, (own, added)) in &classes {
        let people = common::definition::people(case, own) as u64;
        assert!(people >= real_k && people + added >= case.k, "{people} and {added} in {class:?}");
        assert!(meets(&real, own, &everybody), "{class:?} fails without its synthetic records");
    }
    let added = lines.iter().filter(|line| **line == 0).count();
    assert_eq!(lines.len() - added, case.rows.len(), "every row is released");
    assert_eq!(released.metrics.to_value()["rows"]["counterfeit"], added);
}

proptest! {
    #![proptest_config(common::run::cases(40))]

    #[test]
    fn every_group_holds_below_the_ceiling(
        case in cases(true),
        h in 0u64..101,
        real_k in 1u64..3,
        padding in prop::sample::select(vec!["exact", "randomized"]),
    ) {
        let case = Case { known: Known::All, method: "ceiling", ..case };
        check(&case, h, real_k.min(case.k), padding);
    }
}
