//! `local` on the command line: what a recipient does with labels of different levels, and bad input with its exit
//! codes.

use crate::common::{Said, folder, kohort, listing, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\n\
    age = { role = \"quasi\", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 } }\n\
    sex = { role = \"quasi\" }\njob = { role = \"quasi\", hierarchy = \"job.csv\" }\n\
    s = { role = \"other\", reason = \"a test\" }\n\
    [privacy]\nk = 5\n[method]\nname = \"local\"\n";

const JOBS: &str =
    "nurse;care;work;*\ndoctor;care;work;*\nclerk;office;work;*\njudge;office;work;*\nnone;none;none;*\n";

/// Rows that look random and are the same each time, some of them missing.
fn table() -> String {
    let mut text = "age,sex,job,s\n".to_string();
    let mut state = 7u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for i in 0..300 {
        let age = if i % 50 == 0 { String::new() } else { (18 + draw(40) + draw(40)).to_string() };
        let job = ["nurse", "doctor", "clerk", "judge", "none"][draw(5) as usize];
        text += &format!("{age},{},{job},value{}\n", ["F", "M"][draw(2) as usize], draw(3));
    }
    text
}

/// A folder with the table, its hierarchy and a policy.
fn ward(policy: &str) -> tempfile::TempDir {
    let folder = folder(table().as_bytes(), policy);
    fs::write(folder.path().join("job.csv"), JOBS).unwrap();
    folder
}

fn released() -> tempfile::TempDir {
    let folder = ward(POLICY);
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    folder
}

/// The cells of a text table; labels such as `[30,40)` are quoted.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    text.lines().map(line).collect()
}

/// The width of an interval label.
fn width(label: &str) -> Option<u32> {
    let (start, end) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(',')?;
    Some(end.parse::<u32>().ok()? - start.parse::<u32>().ok()?)
}

#[test]
fn the_recipient_brings_columns_to_one_level() {
    let home = released();
    // Only release/ is handed over.
    fs::rename(home.path().join("out/release"), home.path().join("received")).unwrap();
    let said = run(home.path(), &["flatten", "received", "--level", "age=10", "--level", "job=1", "-o", "flat"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.out.contains("age: level 2 (10)") && said.out.contains("job: level 1"), "{}", said.out);
    let (before, after) = (cells(&home.path().join("received/data.csv")), cells(&home.path().join("flat/data.csv")));
    assert_eq!((before.len(), &before[0]), (after.len(), &after[0]));
    let (mut labels, mut stars) = (0, 0);
    for (old, new) in before.iter().zip(&after).skip(1) {
        match (old[0].as_str(), new[0].as_str()) {
            ("", "") | ("*", "*") => {}
            (old, "*") => {
                stars += 1;
                assert!(width(old).is_some_and(|width| width > 10), "{old} is not coarser than 10 years");
            }
            (old, new) => {
                labels += 1;
                assert_eq!(width(new), Some(10), "{old} became {new}");
                let inside =
                    |text: &str| text.trim_start_matches('[').split(',').next().unwrap().parse::<u32>().unwrap();
                assert_eq!(inside(old) / 10 * 10, inside(new), "{old} became {new}");
            }
        }
        assert!(["care", "office", "none", "*"].contains(&new[2].as_str()), "{}", new[2]);
        assert_eq!(old[3], new[3], "other columns stay as they are");
    }
    assert!(labels > 100 && stars > 0, "{labels} labels, {stars} suppressed");
    let dictionary = fs::read_to_string(home.path().join("flat/dictionary.md")).unwrap();
    assert!(dictionary.contains("| age | 2 (10) |"), "{dictionary}");
    // A folder that Kohort made is replaced if somebody asks for it; the release is never touched.
    assert_eq!(run(home.path(), &["flatten", "received", "-o", "flat"]).code, Some(2));
    assert_eq!(run(home.path(), &["flatten", "received", "--force", "-o", "flat"]).code, Some(0));
    assert_eq!(run(home.path(), &["flatten", "received", "--force", "-o", "received"]).code, Some(2));
    assert_eq!(run(home.path(), &["verify", "received"]).code, Some(0));
}

#[test]
fn every_cell_is_the_finest_group_that_its_level_has() {
    let home = released();
    let lines = cells(&home.path().join("out/release/hierarchy.csv"));
    assert_eq!(lines[0], ["column", "label", "level", "level_name", "group"]);
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in &lines[1..] {
        labels.entry(&line[0]).or_default().insert(&line[1]);
    }
    let data = cells(&home.path().join("out/release/data.csv"));
    for (place, name) in ["age", "sex", "job"].into_iter().enumerate() {
        let shown = data[1..].iter().map(|row| row[place].as_str()).filter(|cell| !["", "*"].contains(cell));
        assert_eq!(shown.collect::<BTreeSet<_>>(), labels.get(name).cloned().unwrap_or_default(), "{name}");
    }
}

#[test]
fn a_flatten_that_cannot_be_is_refused() {
    let home = released();
    let before = listing(home.path());
    for (args, says) in [
        (&["--level", "age=month"][..], "1 (5), 2 (10), 3 (20), 4 (*)"),
        (&["--level", "age=9"], "no labels of level `9`"),
        (&["--level", "s=1"], "`s` is not a quasi-identifier of the release. Those are: age, sex, job"),
        (&["--level", "age"], "COLUMN=LEVEL"),
    ] {
        let said = run(home.path(), &[&["flatten", "out", "-o", "flat"], args].concat());
        assert_eq!(said.code, Some(2), "{}", said.all());
        assert!(said.err.contains(says), "{says:?} is not in: {}", said.err);
    }
    // A release in which every column has one level has nothing to flatten.
    let policy = POLICY.replace("name = \"local\"", "name = \"lattice\"\nmax_suppressed = 0.1");
    fs::write(home.path().join("p.toml"), policy).unwrap();
    assert_eq!(run(home.path(), &["anonymize", "p.toml", "-o", "one"]).code, Some(0));
    let said = run(home.path(), &["flatten", "one"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("nothing to flatten"), "{}", said.err);
    assert!(!home.path().join("one-flat").exists());
    // A release that was changed is refused, and nothing is made of it.
    let path = home.path().join("out/release/hierarchy.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(",2,10,", ",2,11,", 1)).unwrap();
    assert_eq!(run(home.path(), &["flatten", "out", "-o", "flat"]).code, Some(1));
    fs::write(&path, text).unwrap();
    fs::remove_dir_all(home.path().join("one")).unwrap();
    assert_eq!(listing(home.path()), before, "nothing is left behind");
}

#[test]
fn numbers_without_a_hierarchy_get_intervals_that_follow_the_data() {
    let flat = POLICY.replace(", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 }", "");
    let home = ward(&flat);
    let said = run(home.path(), &["hierarchy", "p.toml"]);
    assert!(said.out.contains("level 1  sixteenths"), "{}", said.all());
    assert!(said.out.contains("sex (2 values)\n  level 0  value      2 labels\n  level 1  *"), "{}", said.out);
    for out in ["out", "again"] {
        let said = run(home.path(), &["anonymize", "p.toml", "-o", out]);
        assert_eq!(said.code, Some(0), "{}", said.all());
    }
    assert_eq!(run(home.path(), &["verify", "out", "--original", "p.toml"]).code, Some(0));
    let sorted = |out: &str| {
        let mut rows = cells(&home.path().join(out).join("release/data.csv"));
        rows.sort();
        rows
    };
    assert_eq!(sorted("out").len(), sorted("again").len());
    let labels = |out: &str| fs::read_to_string(home.path().join(out).join("release/hierarchy.csv")).unwrap();
    assert_eq!(labels("out"), labels("again"), "the bounds are the same each time");
    // Whatever lies beyond the ends is shown as such.
    let ages: Vec<u32> = table().lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    let (least, greatest) = (ages.iter().min().unwrap(), ages.iter().max().unwrap());
    for row in &sorted("out")[1..] {
        assert!(row[0] != least.to_string() && row[0] != greatest.to_string(), "{}", row[0]);
    }
    let dictionary = fs::read_to_string(home.path().join("out/release/dictionary.md")).unwrap();
    assert!(dictionary.contains("intervals that follow the data"), "{dictionary}");
}

#[test]
fn local_is_compared_and_attacked_like_any_method() {
    let home = released();
    let said = run(home.path(), &["compare", "p.toml", "--vary", "method=local,lattice", "-o", "grid"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let grid: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(home.path().join("grid/compare.json")).unwrap()).unwrap();
    let loss = |i: usize| grid["settings"][i]["loss"].as_f64().unwrap();
    assert!(loss(0) < loss(1), "{} against {}", loss(0), loss(1));
    let said = run(home.path(), &["attack", "out", "--original", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
}

#[test]
fn a_group_may_show_its_own_range() {
    let home = ward(&POLICY.replace("name = \"local\"", "name = \"local\"\nlabels = \"range\""));
    let said = run(home.path(), &["anonymize", "p.toml", "-o", "out", "--keep-rows"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    let data = cells(&home.path().join("out/release/data.csv"));
    let end = |label: &str, place: usize| {
        let ends: Vec<u32> = label.trim_matches(['[', ')']).split(',').filter_map(|end| end.parse().ok()).collect();
        ends.get(place).copied()
    };
    // A label of the tree is as wide as its level and begins at a multiple of its width.
    let is_range = |label: &str| match (width(label), end(label, 0)) {
        (Some(width), Some(start)) => ![5, 10, 20].contains(&width) || start % width != 0,
        _ => false,
    };
    let ranges = data[1..].iter().filter(|row| is_range(&row[0])).count();
    assert!(ranges > 0, "no group shows a range");
    for row in data[1..].iter().filter(|row| is_range(&row[0])) {
        assert!(
            end(&row[0], 0).is_some_and(|e| e % 5 == 0) && end(&row[0], 1).is_some_and(|e| e % 5 == 0),
            "{}",
            row[0]
        );
    }
    for args in
        [&["verify", "out"][..], &["verify", "out", "--original", "p.toml"], &["attack", "out", "--original", "p.toml"]]
    {
        let said = run(home.path(), args);
        assert_eq!(said.code, Some(0), "{args:?}: {}", said.all());
    }
    // Also where nobody kept which row is which.
    fs::remove_dir_all(home.path().join("out/private")).unwrap();
    assert_eq!(run(home.path(), &["verify", "out", "--original", "p.toml"]).code, Some(0));
    assert_eq!(run(home.path(), &["flatten", "out", "--level", "age=20", "-o", "flat"]).code, Some(0));
    for row in &cells(&home.path().join("flat/data.csv"))[1..] {
        assert!(["", "*"].contains(&row[0].as_str()) || width(&row[0]) == Some(20), "{}", row[0]);
    }
    let metrics = |out: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(home.path().join(out).join("evidence/metrics.json")).unwrap()).unwrap()
    };
    fs::write(home.path().join("p.toml"), POLICY).unwrap();
    assert_eq!(run(home.path(), &["anonymize", "p.toml", "-o", "tree"]).code, Some(0));
    let loss = |out: &str| metrics(out)["utility"]["loss"].as_f64().unwrap();
    assert!(loss("out") < loss("tree"), "{} against {}", loss("out"), loss("tree"));
    // A policy without ranges does not accept them.
    assert_eq!(run(home.path(), &["verify", "out", "--original", "p.toml"]).code, Some(1));
    let known = "k = 5\nknows = 2\n[method]\nname = \"local\"\nlabels = \"range\"";
    ends(&table(), "k = 5\n[method]\nname = \"local\"", known, 2, &["`labels`", "knows = \"all\""]);
}

#[test]
fn the_dictionary_says_how_fine_labels_are_and_what_to_do() {
    let home = released();
    let text = fs::read_to_string(home.path().join("out/release/dictionary.md")).unwrap();
    for words in ["## Labels of different fineness", "| age | ", "kohort flatten", "hierarchy.csv", "```r", "```python"]
    {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
}

/// Runs the policy with `from` replaced by `to`, and checks how it ends.
#[track_caller]
fn ends(table: &str, from: &str, to: &str, code: i32, says: &[&str]) -> Said {
    assert!(POLICY.contains(from), "{from}");
    let home = ward(&POLICY.replacen(from, to, 1));
    fs::write(home.path().join("t.csv"), table).unwrap();
    let before = listing(home.path());
    let said = run(home.path(), &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(code), "{}", said.all());
    says.iter().for_each(|words| assert!(said.err.contains(words), "{words:?} is not in: {}", said.err));
    assert_eq!(listing(home.path()), before, "nothing is left behind");
    said
}

#[test]
fn a_k_that_cannot_be_met_is_refused_with_one_that_can() {
    let small: String = table().lines().take(8).map(|line| format!("{line}\n")).collect();
    ends(&small, "k = 5", "k = 8", 3, &["7"]);
    // Seven rows of three patients.
    let patients: String = small
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("pid,{line}\n"),
            i => format!("p{},{line}\n", i % 3),
        })
        .collect();
    ends(&patients, "[columns]\n", "[columns]\npid = { role = \"patient\" }\n", 3, &["3"]);
}

#[test]
fn a_label_of_two_nodes_and_a_column_without_a_level_are_refused() {
    let home = ward(POLICY);
    fs::write(home.path().join("job.csv"), JOBS.replace("clerk;office;work", "clerk;office;care")).unwrap();
    let said = run(home.path(), &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.err.contains("care"), "{}", said.err);
    let no_level = "sex = { role = \"quasi\", levels = [] }";
    ends(&table(), "sex = { role = \"quasi\" }", no_level, 2, &["levels"]);
    // One level is permitted, and it is too fine: records are removed, and more of them than may be.
    let value = "age = { role = \"quasi\", levels = [\"value\"]";
    ends(&table(), "age = { role = \"quasi\"", value, 3, &["permit coarser levels or more suppression"]);
}

/// Rows that differ in many columns, so that a thorough search takes long.
fn large(rows: u64) -> tempfile::TempDir {
    let mut text = "a,b,c,d,e,f\n".to_string();
    let mut state = 11u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..rows {
        let cells: Vec<String> = [100, 60, 40, 90, 20, 50].iter().map(|&n| draw(n).min(draw(n)).to_string()).collect();
        text += &format!("{}\n", cells.join(","));
    }
    let column = |name: &str| {
        format!("{name} = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20, 40], from = 0, to = 100 }} }}\n")
    };
    let columns: String = ["a", "b", "c", "d", "e", "f"].map(column).concat();
    let policy = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\nk = 25\n[method]\nname = \"local\"\neffort = \"thorough\"\n"
    );
    folder(text.as_bytes(), &policy)
}

/// What is released is whole, and the evidence says that the work ended early.
#[track_caller]
fn is_early_and_whole(home: &Path, err: &str) {
    assert!(err.contains("not repeatable"), "{err}");
    let metrics = fs::read_to_string(home.join("out/evidence/metrics.json")).unwrap();
    assert!(metrics.contains("\"stopped_early\": true"));
    let said = run(home, &["verify", "out"]);
    assert!(matches!(said.code, Some(0 | 5)), "{}", said.all());
}

#[test]
fn a_deadline_that_is_reached_releases_the_best_result_so_far() {
    let home = large(8_000);
    let said = run(home.path(), &["anonymize", "p.toml", "-o", "out", "--deadline", "1", "--threads", "1"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    is_early_and_whole(home.path(), &said.all());
}

#[test]
fn the_first_interrupt_releases_the_best_result_so_far() {
    let home = large(8_000);
    let args = ["anonymize", "p.toml", "-o", "out", "--threads", "1"];
    // An interrupt while the table is still read publishes nothing: then a later one is tried.
    for wait in [600, 1_200, 2_400, 4_800] {
        let child = kohort(home.path()).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => return is_early_and_whole(home.path(), &err),
            code => assert!(matches!(code, None | Some(4)), "{code:?}: {err}"),
        }
        assert!(!home.path().join("out").exists());
    }
    panic!("no interrupt found the method at work");
}
