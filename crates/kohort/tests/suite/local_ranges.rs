//! `labels = "range"`: groups show the range of their own numbers or dates, and the verifier checks it.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{put_data, rewrite_certificate, without_label_levels};
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use std::fs;
use std::path::{Path, PathBuf};

/// Visits on 300 days of two years at ages from 20 to 79.
fn visits(folder: &Path, columns: &str, method: &str) -> PathBuf {
    let mut table = String::from("age,day\n");
    let mut seed = 3u32;
    let mut draw = |n: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % n
    };
    for _ in 0..300 {
        table += &format!("{},{}-{:02}-{:02}\n", 20 + draw(60), 2010 + draw(2), 1 + draw(12), 1 + draw(28));
    }
    fs::write(folder.join("t.csv"), table).unwrap();
    let policy = folder.join("p.toml");
    let text = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}\n[privacy]\nk = 5\n[method]\nname = \"local\"\n{method}\n"
    );
    fs::write(&policy, text).unwrap();
    policy
}

const AGE: &str = "age = { role = \"quasi\", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 } }\n";
const DAY: &str = "day = { role = \"quasi\", hierarchy = { date = \"%Y-%m-%d\" } }\n";

/// The ends of a label `[a,b)`.
fn ends(label: &str) -> Option<(&str, &str)> {
    label.strip_prefix('[')?.strip_suffix(')')?.split_once(',')
}

#[test]
fn a_group_shows_the_range_of_its_own_dates() {
    let folder = tempfile::tempdir().unwrap();
    let policy = visits(folder.path(), &format!("{AGE}{DAY}"), "labels = \"range\"");
    let (out, released) = release(&policy, "out", &options(1, 1)).unwrap();
    let original = Table::read(&folder.path().join("t.csv"), b',');
    let table = Table::released(&out);
    let mut ranges = 0;
    for (row, line) in table.rows.iter().zip(lines(&out)) {
        let day = &original.rows[line - 2][1];
        let Some((from, to)) = ends(&row[1]) else { continue };
        ranges += 1;
        // Ends are months, so that no day of the data is one, and months are in order as texts.
        assert!(from.len() == 7 && to.len() == 7 && from <= &day[..7] && &day[..7] < to, "{} from {day}", row[1]);
    }
    assert!(ranges > 50, "{ranges} rows show a range of dates");
    verify_release(&out, 1).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    // A range of one's own loses less than the months, quarters and years of the hierarchy.
    let tree = visits(folder.path(), &format!("{AGE}{DAY}"), "labels = \"tree\"");
    let (_, by_tree) = release(&tree, "tree", &options(1, 1)).unwrap();
    let loss = |metrics: serde_json::Value| metrics["utility"]["loss"].as_f64().unwrap();
    let (own, fixed) = (loss(released.metrics.to_value()), loss(by_tree.metrics.to_value()));
    assert!(own < fixed, "{own} and {fixed}");
    let text = fs::read_to_string(out.join("release/dictionary.md")).unwrap();
    assert!(text.contains("[2010-03,2010-06)"), "the dictionary explains ranges");
    // The levels of hierarchy.csv hold what they say.
    let flat = kohort_core::release::read_label_levels(&out.join("release")).unwrap();
    let day = flat.iter().find(|column| column.column == "day").unwrap();
    let held = day.labels.iter().filter(|(label, _)| ends(label).is_some());
    assert!(held.clone().count() > 0 && held.into_iter().all(|(label, own)| own.groups[0] != *label), "{day:?}");
}

/// Ranges that do not hold the original, end between two months, or are wider than the policy permits are refused.
#[test]
fn a_range_that_is_not_true_or_not_permitted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "age = { role = \"quasi\", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 }, levels = [0, 2, 3] }\n\
                   day = { role = \"identifier\" }";
    let policy = visits(folder.path(), columns, "labels = \"range\"\nmax_suppressed = 0.2");
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    let table = Table::released(&out);
    let numbers = |label: &str| -> Option<(u32, u32)> {
        let (from, to) = ends(label)?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    for (from, to) in table.rows.iter().filter_map(|row| numbers(&row[0])) {
        // Ends are bounds of decades, the finest permitted intervals, and none is wider than 20 years.
        assert!(from % 10 == 0 && to % 10 == 0 && to - from <= 20 && from / 20 == (to - 1) / 20, "[{from},{to})");
    }
    let verified = |label: &str, without_rows: bool| {
        let copy = folder.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        crate::common::tamper::copy(&out, &copy);
        let mut changed = Table::released(&copy);
        let class = changed.rows.iter().find(|row| ends(&row[0]).is_some()).unwrap()[0].clone();
        // The whole class is renamed, so that k holds.
        let label = if label.is_empty() { class.clone() } else { label.to_string() };
        changed.rows.iter_mut().filter(|row| row[0] == class).for_each(|row| row[0].clone_from(&label));
        put_data(&copy, &changed);
        without_label_levels(&copy);
        rewrite_certificate(&copy, 1);
        if without_rows {
            fs::remove_dir_all(copy.join("private")).unwrap();
        }
        verify_with_original(&copy, &source, &bound).map(|_| ())
    };
    for without_rows in [false, true] {
        verified("", without_rows).unwrap();
        for label in ["[0,100)", "[10,90)", "[30,50)", "[25,40)"] {
            let error = verified(label, without_rows).unwrap_err();
            assert_eq!(error.kind, Kind::Refused, "{label}: {error}");
            assert!(error.message.contains("column `age`"), "{label}: {error}");
        }
    }
}

/// Between intervals of 1, `[34,38)` said that the youngest of a group is 34 and the oldest 37.
#[test]
fn no_range_shows_the_smallest_or_the_largest_number_of_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "age = { role = \"quasi\", hierarchy = { intervals = [1, 20], from = 0, to = 101 } }\n\
                   day = { role = \"identifier\" }";
    let policy = visits(folder.path(), columns, "labels = \"range\"");
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    let (source, bound) = pipeline::open(&policy, &options(1, 1)).unwrap();
    verify_with_original(&out, &source, &bound).unwrap();
    let shown: Vec<String> = Table::released(&out).rows.into_iter().map(|row| row[0].clone()).collect();
    let ranges = shown.iter().filter_map(|label| ends(label));
    let bounds: Vec<(u32, u32)> = ranges.map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap())).collect();
    assert!(bounds.len() > 20, "{} of {} rows show a range", bounds.len(), shown.len());
    // Bounds are 0, 2, … 98 and 101: between two of them there is room for two numbers.
    assert!(bounds.iter().all(|(from, to)| from % 2 == 0 && (to % 2 == 0 || *to == 101)), "{bounds:?}");
    // A release that shows the ends all the same is refused.
    let original = Table::read(&folder.path().join("t.csv"), b',');
    let mut changed = Table::released(&out);
    let exact_of = |class: &str| {
        let ages = shown.iter().zip(lines(&out)).filter(|(label, _)| *label == class);
        let ages: Vec<u32> = ages.map(|(_, line)| original.rows[line - 2][0].parse().unwrap()).collect();
        format!("[{},{})", ages.iter().min().unwrap(), ages.iter().max().unwrap() + 1)
    };
    let class = shown.iter().find(|label| ends(label).is_some() && exact_of(label) != **label).unwrap();
    let exact = exact_of(class);
    changed.rows.iter_mut().filter(|row| row[0] == *class).for_each(|row| row[0].clone_from(&exact));
    put_data(&out, &changed);
    without_label_levels(&out);
    rewrite_certificate(&out, 1);
    let error = verify_with_original(&out, &source, &bound).map(|_| ()).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("column `age`"), "{error}");
}
