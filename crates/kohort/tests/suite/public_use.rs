//! Public-use files end to end: what comes in, what adversaries may know together, what leaves, what is reported.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{put_data, rewrite_certificate};
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn policy(folder: &Path, table: &str, text: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let path = folder.join("p.toml");
    fs::write(&path, format!("[input]\ntable = \"t.csv\"\n{text}")).unwrap();
    path
}

/// Releases and returns the rows in an order of their own, and the metrics.
#[track_caller]
fn run(table: &str, text: &str) -> (Vec<Vec<String>>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (out, released) = release(&policy(folder.path(), table, text), "out", &options(1, 1)).unwrap();
    verify_release(&out, 1).unwrap();
    (Table::released(&out).sorted(), released.metrics.to_value())
}

fn error(table: &str, text: &str) -> (Kind, String) {
    let folder = tempfile::tempdir().unwrap();
    let error = release(&policy(folder.path(), table, text), "out", &options(1, 1)).unwrap_err();
    (error.kind, error.message)
}

/// Table 6 of the paper in shape: every record is unique on both levels together, each level alone has two.
const TABLE_6: &str = "prov,age,sex,mrdx,cmg\nON,40,F,a,x\nON,40,F,a,y\nON,40,F,b,x\nON,40,F,b,y\nAB,50,M,c,z\nAB,50,M,c,w\nAB,50,M,d,z\nAB,50,M,d,w\n";

fn table_6(more: &str) -> String {
    format!(
        "[columns]\nprov = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\n\
         mrdx = {{ role = \"quasi\", of = [\"cmg\"] }}\ncmg = {{ role = \"quasi\" }}\n[privacy]\nk = 2\n\
         knows = {{ always = [\"prov\", \"age\", \"sex\"], one_of = [[\"mrdx\", \"cmg\"]] }}\n{more}[method]\nname = \"suppress\"\n"
    )
}

#[test]
fn two_levels_that_are_known_together_are_protected_together() {
    let (_, apart) = run(TABLE_6, &table_6("not_together = [[\"mrdx\", \"cmg\"]]\n"));
    assert_eq!(apart["cells"]["suppressed"], 0);
    assert!(apart["guarantee"]["assumed"].to_string().contains("Nobody knows `mrdx` and `cmg` of a person together."));
    let (rows, together) = run(TABLE_6, &table_6(""));
    assert!(together["cells"]["suppressed"].as_u64().unwrap() > 0);
    let mut classes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    rows.into_iter().for_each(|row| *classes.entry(row).or_default() += 1);
    assert!(classes.values().all(|&n| n >= 2), "{classes:?}");
}

#[test]
fn a_finer_cell_beside_a_blank_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[columns]\na = { role = \"quasi\", of = [\"b\"] }\nb = { role = \"quasi\" }\n[privacy]\nk = 2\n\
                knows = [[\"a\"], [\"b\"]]\nnot_together = [[\"a\", \"b\"]]\n[method]\nname = \"suppress\"\n";
    let path = policy(folder.path(), "a,b\na1,b1\na1,b1\na2,b1\na2,b1\na3,b2\na3,b2\n", text);
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    verify_release(&out, 1).unwrap();
    let mut table = Table::released(&out);
    table.rows.iter_mut().filter(|row| row[1] == "b2").for_each(|row| row[1] = "*".into());
    put_data(&out, &table);
    rewrite_certificate(&out, 2);
    let error = verify_release(&out, 1).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("a detail is released"), "{error}");
}

/// The finer column says nothing more than the coarser one under `b2`, where only one value lies.
const ALONE: &str = "a,b,c\na1,b1,x\na1,b1,x\na2,b1,x\na2,b1,y\na3,b2,y\na3,b2,y\na3,b2,y\na3,b2,z\n";

#[test]
fn a_coarser_cell_that_tells_a_blank_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[columns]\na = { role = \"quasi\", of = [\"b\"] }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n[privacy]\nk = 2\n\
                knows = [[\"a\", \"c\"], [\"b\"]]\nnot_together = [[\"a\", \"b\"]]\n[method]\nname = \"suppress\"\n";
    let path = policy(folder.path(), ALONE, text);
    let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
    let table = Table::released(&out);
    let told = |row: &Vec<String>| row[0] == "*" && row[1] == "b2";
    assert!(!table.rows.iter().any(told), "{:?}", table.rows);
    // Someone shows b2 where a3 is blank: k holds as before, and the blank is told.
    fs::remove_dir_all(out.join("private")).unwrap();
    let changed = "a,b,c\n*,b1,x\n*,b1,x\n*,b2,y\n*,b2,y\n*,b2,y\n*,b2,y\n";
    fs::write(out.join("release/data.csv"), changed).unwrap();
    rewrite_certificate(&out, 3);
    verify_release(&out, 1).unwrap();
    let (source, bound) = kohort::pipeline::open(&path, &options(1, 1)).unwrap();
    let error = kohort_core::verify::verify_with_original(&out, &source, &bound).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("leaves only one possible value"), "{error}");
}

#[test]
fn a_column_is_not_told_through_a_detail_of_another() {
    // Under block q lies one code alone, and the code tells its group: with q shown no blank group is one.
    let mut table = String::from("code,grp,block,sex\n");
    for (row, times) in [("m1,g1,q,F", 3), ("m1,g1,q,M", 1), ("m2,g2,r,M", 4), ("m3,g2,r,M", 4), ("m3,g3,r,F", 1)] {
        table += &format!("{row}\n").repeat(times);
    }
    let text = "[columns]\ncode = { role = \"detail\", of = [\"grp\", \"block\"] }\ngrp = { role = \"quasi\" }\nblock = { role = \"quasi\" }\n\
                sex = { role = \"quasi\" }\n[privacy]\nk = 3\nknows = [[\"grp\", \"sex\"], [\"block\"]]\n[method]\nname = \"suppress\"\norder = ORDER\n";
    for order in ["\"paper\"", "\"best\""] {
        let (rows, _) = run(&table, &text.replace("ORDER", order));
        assert!(!rows.iter().any(|row| row[1] == "*" && row[2] == "q"), "{rows:?}");
    }
}

#[test]
fn a_column_that_tells_another_undeclared_is_shown() {
    // The clinic tells the region, but for one row in forty. Ten people have an age, five of them in a region.
    let mut table = String::from("region,clinic,age\n");
    for i in 0..200 {
        let region = if i % 40 == 39 { "East" } else { ["North", "South"][i % 2] };
        table += &format!("{region},c{},{}\n", i % 2, i / 2 % 20);
    }
    let text = "[columns]\nregion = { role = \"quasi\" }\nclinic = { role = \"quasi\" }\nage = { role = \"quasi\" }\n[privacy]\nk = 6\n\
                knows = [[\"region\", \"age\"], [\"clinic\"]]\n[method]\nname = \"suppress\"\nweights = { region = 0.1 }\n";
    let folder = tempfile::tempdir().unwrap();
    let path = policy(folder.path(), &table, text);
    let (out, released) = release(&path, "out", &options(1, 1)).unwrap();
    let told = &released.metrics.to_value()["attacks"]["undeclared"][0];
    assert_eq!(
        (&told["column"], &told["tells"]),
        (&"clinic".into(), &"region".into()),
        "{}",
        released.metrics.to_value()["attacks"]
    );
    // By the plain definition.
    let blank = Table::released(&out).rows.iter().filter(|r| r[0] == "*" && r[1] != "*").count();
    assert_eq!(told["blanks"], blank);
    assert!(told["share"] == 0.975 && told["right"].as_u64().unwrap() > 0, "{told}");
    assert!(released.notes.iter().any(|n| n.contains("`clinic` predicts `region`")), "{:?}", released.notes);
    let report = fs::read_to_string(out.join("evidence/report.html")).unwrap();
    assert!(report.contains("attacks.undeclared.0.share"));
    // Declared, it is enforced, and no longer a surprise.
    let declared = text.replace("clinic = { role = \"quasi\" }", "clinic = { role = \"quasi\", of = [\"region\"] }");
    let (_, metrics) = run(&table, &declared);
    let listed = metrics["attacks"]["undeclared"].as_array().unwrap();
    assert!(!listed.iter().any(|t| t["column"] == "clinic" && t["tells"] == "region"), "{listed:?}");
}

#[test]
fn bits_are_compared_with_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let paper = policy(
        folder.path(),
        ALONE,
        "[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n[privacy]\nk = 3\n[method]\nname = \"suppress\"\norder = \"paper\"\n",
    );
    let (_, first) = release(&paper, "first", &options(1, 1)).unwrap();
    let text = fs::read_to_string(&paper).unwrap();
    let compared = |dir: &str| {
        fs::write(&paper, text.replace("paper", "best") + &format!("[evidence]\nbaseline = \"{dir}\"\n")).unwrap();
        release(&paper, "second", &kohort::pipeline::Options { force: true, ..options(1, 1) })
    };
    let (out, second) = compared("first").unwrap();
    let bits = |m: &Value| m["utility"]["entropy"].as_f64().unwrap();
    let baseline = &second.metrics.to_value()["utility"]["baseline"];
    assert_eq!(baseline["entropy"].as_f64(), Some(bits(&first.metrics.to_value())));
    assert!(
        (baseline["share"].as_f64().unwrap() - bits(&second.metrics.to_value()) / bits(&first.metrics.to_value()))
            .abs()
            < 1e-12
    );
    let report = fs::read_to_string(out.join("evidence/report.html")).unwrap();
    assert!(report.contains("utility.baseline.share") && report.contains("utility.baseline.entropy"));
    let error = compared("nowhere").unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("no evidence/metrics.json"), "{error}");
    fs::write(folder.path().join("t.csv"), format!("{ALONE}a1,b1,x\n")).unwrap();
    let error = compared("first").unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("had 8 rows, but this table has 9"), "{error}");
}

const COLUMNS: &str = "[columns]\npid = { role = \"patient\" }\nsex = { role = \"quasi\" }\ndx = { role = \"other\", reason = \"a test\" }\n[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0.5\n";
const ROWS: &str = "pid,sex,dx\n1,F,4019\n1,F,042\n2,F,4280\n3,M,V08\n4,M,25000\n5,M,0443\n6,F,4019\n7,M,401\n";

#[test]
fn excluded_codes_never_come_in() {
    let rule = |scope: &str| {
        format!("{COLUMNS}[[exclude]]\ncolumn = \"dx\"\ncodes = [\"042-044\", \"V08\"]\nscope = \"{scope}\"\n")
    };
    let dx = |rows: &[Vec<String>]| rows.iter().map(|r| r[1].clone()).collect::<Vec<_>>();
    let (rows, metrics) = run(ROWS, &rule("row"));
    assert_eq!(dx(&rows), ["4019", "4019", "4280", "25000", "401"]);
    assert_eq!(
        metrics["rows"],
        serde_json::json!({ "in": 8, "excluded": 3, "suppressed": 0, "counterfeit": 0, "out": 5 })
    );
    let (rows, metrics) = run(ROWS, &rule("patient"));
    assert_eq!(dx(&rows), ["4019", "4280", "25000", "401"]);
    assert_eq!(metrics["rows"]["excluded"], 4);
    let (kind, message) = error(ROWS, &rule("patient").replace("\"dx\"\ncodes", "\"dz\"\ncodes"));
    assert!(kind == Kind::Yours && message.contains("Did you mean `dx`"), "{message}");
    let (_, message) = error(ROWS, &rule("patient").replace("scope = \"patient\"\n", ""));
    assert!(message.contains("scope"), "{message}");
}

#[test]
fn rows_are_traced_to_their_lines_where_others_were_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{COLUMNS}[[exclude]]\ncolumn = \"dx\"\ncodes = [\"042-044\", \"V08\"]\nscope = \"row\"\n");
    let (out, _) = release(&policy(folder.path(), ROWS, &text), "out", &options(1, 1)).unwrap();
    let mut lines = lines(&out);
    lines.sort();
    assert_eq!(lines, [2, 4, 6, 8, 9]);
}

#[test]
fn a_derived_column_is_published_beside_or_instead_of_its_own() {
    let text = "[columns]\ndx = { role = \"detail\", of = [\"section\"] }\nsection = { from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"section\", \"*\"] }\n\
                sex = { role = \"quasi\" }\n[privacy]\nk = 2\n[method]\nname = \"suppress\"\n";
    let (rows, _) = run("dx,sex\n4019,F\n4011,F\n25000,M\n25001,M\n0389,F\n", text);
    let found: Vec<String> = rows.iter().map(|r| r.join(" ")).collect();
    assert_eq!(found, ["25000 M 249-259", "25001 M 249-259", "4011 F 401-405", "4019 F 401-405"]);
    let (kind, message) = error("dx,sex\n4019,F\n", &text.replace("from = \"dx\"", "from = \"dy\""));
    assert!(kind == Kind::Yours && message.contains("`dy`"), "{message}");
}

#[test]
fn attacks_and_missingness_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let table = "prov,age,cmg\n".to_string() + &"ON,40,a\n".repeat(6) + &"AB,40,a\n".repeat(2) + "AB,50,b\nON,50,c\n";
    let text = "[columns]\nprov = { role = \"quasi\" }\nage = { role = \"quasi\" }\ncmg = { role = \"quasi\" }\n[privacy]\nk = 3\n\
                [population]\ncounts = \"registry.csv\"\nregion = \"prov\"\n[method]\nname = \"suppress\"\norder = \"paper\"\n";
    fs::write(folder.path().join("registry.csv"), "prov,age,count\nON,40,60\nON,50,10\nAB,40,20\nAB,50,2\n").unwrap();
    let path = policy(folder.path(), &table, text);
    let (_, released) = release(&path, "out", &options(1, 1)).unwrap();
    let attacks = &released.metrics.to_value()["attacks"];
    let registry = &attacks["registries"][0];
    let expected = 6.0 / 60.0 + 1.0 / 10.0 + 2.0 / 20.0 + 1.0 / 2.0;
    assert!((registry["whole_file"]["original"].as_f64().unwrap() - expected).abs() < 1e-12);
    assert!(registry["whole_file"]["links"].as_f64().unwrap() < expected);
    assert_eq!(registry["one_patient"][0]["region"], "AB");
    assert!((registry["one_patient"][0]["at_risk"].as_f64().unwrap() - 2.0 / 22.0).abs() < 1e-12);
    assert!(attacks["targeted"][0]["wildcard"]["fewest"].as_u64().unwrap() >= 3);
    let metrics = released.metrics.to_value();
    let groups = metrics["missing"]["by"]["cmg"]["prov"].as_array().unwrap();
    assert!(groups.iter().any(|g| g["value"] == "AB" && g["flagged"] == true), "{groups:?}");
    let report = fs::read_to_string(folder.path().join("out/evidence/report.html")).unwrap();
    assert!(report.contains("Missingness") && report.contains("whole_file.links"));
    fs::write(folder.path().join("registry.csv"), "prov,age,count\nON,40,5\nON,50,10\nAB,40,20\nAB,50,2\n").unwrap();
    let error = release(&path, "again", &options(1, 1)).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("in 1 of 4 equivalence classes"), "{error}");
}

/// What no certificate promises: two combinations, and a reader who reasons about the method.
#[test]
fn an_aware_reader_of_several_combinations_is_promised_nothing() {
    let columns =
        "[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n[privacy]\nk = 2\n";
    let two = "a,b,c\na0,b0,c0\na0,b0,c0\na0,b0,c1\na1,b0,c0\na1,b1,c0\na1,b1,c1\n";
    let text = format!(
        "{columns}knows = [[\"a\", \"b\"], [\"a\", \"c\"]]\n[method]\nname = \"suppress\"\norder = \"paper\"\n"
    );
    let (rows, metrics) = run(two, &text);
    // Known (a1, b0): of all that is released only (*, b0, c0) can be that person's.
    assert!(rows.contains(&["*", "b0", "c0"].map(String::from).to_vec()), "{rows:?}");
    assert!(metrics["guarantee"]["aware"].as_str().unwrap().contains("No limit is guaranteed"));
    // Undoing: both blank cells of a are a1, and one combination of all promises no more than the link.
    let one = "a,b,c\na0,b0,c0\na0,b0,c0\na1,b1,c0\na1,b1,c1\n";
    let (_, metrics) = run(one, &format!("{columns}[method]\nname = \"suppress\"\norder = \"paper\"\n"));
    assert!(metrics["guarantee"]["aware"].as_str().unwrap().contains("The values of suppressed cells may be inferred"));
}

#[test]
fn bad_input_says_what_to_do() {
    let columns = "[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"identifier\" }\n[privacy]\nk = 3\n";
    let method = "[method]\nname = \"suppress\"\n";
    let table = "a,b,c\n1,2,3\n1,2,3\n1,2,3\n";
    let cases = [
        (format!("{columns}knows = [[\"a\", \"x\"], [\"b\"]]\n{method}"), Kind::Yours, "`x` is not a column"),
        (format!("{columns}knows = [[\"a\", \"c\"], [\"b\"]]\n{method}"), Kind::Yours, "`c` is not a column"),
        (format!("{columns}{method}weights = {{ a = 0 }}\n"), Kind::Yours, "must be above 0"),
        (format!("{columns}{method}weights = {{ a = -1 }}\n"), Kind::Yours, "must be above 0"),
        (format!("{columns}{method}weights = {{ d = 1 }}\n"), Kind::Yours, "not a quasi-identifier"),
        (format!("{columns}not_together = [[\"a\", \"b\"]]\n{method}"), Kind::Yours, "levels of one variable"),
        (format!("{}{method}", columns.replace("k = 3", "k = 4")), Kind::Infeasible, "the table has 3 rows"),
        (format!("{columns}[population]\nsize = 2\n{method}"), Kind::Yours, "the table itself has 3 people"),
    ];
    for (text, kind, message) in cases {
        let (found, said) = error(table, &text);
        assert!(found == kind && said.contains(message), "{said}");
    }
    let (kind, said) = error("a,b,c\n1,2,3\n", &format!("{columns}{method}"));
    assert!(kind == Kind::Infeasible && said.contains("the table has 1 row. At least 2 are needed."), "{said}");
    // Every value is rarer than k: all cells go blank, and the rows stay.
    let (rows, metrics) = run("a,b,c\n1,2,3\n4,5,3\n7,8,3\n", &format!("{columns}{method}"));
    assert!(rows.iter().flatten().all(|cell| cell == "*") && rows.len() == 3);
    assert_eq!(metrics["cells"]["share"], 1.0);
}

/// Two hundred discharges in which demographics are many and diagnoses few.
fn discharges() -> String {
    let mut table = String::from("age,sex,region,dx\n");
    for i in 0..240u32 {
        let dx = ["486-", "4280-", "410.1", "25000", "V30-"][(i * 7 % 23 % 5) as usize];
        let sex = ["F", "M"][(i / 3 % 2) as usize];
        table += &format!("{},{sex},{},{dx}\n", 20 + 10 * (i * 13 % 7), ["N", "S"][(i * 5 % 11 % 2) as usize]);
    }
    table
}

const DISCHARGES: &str = "[columns]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\nregion = { role = \"quasi\" }\n\
    dx = { role = \"detail\", of = [\"category\"] }\n\
    category = { from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"category\", \"*\"] }\n\
    chapter = { from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"chapter\", \"*\"] }\n\
    [privacy]\nk = 5\nknows = { always = [\"age\", \"sex\", \"region\"], one_of = [[\"category\", \"chapter\"]] }\n";

/// P15: chapter and category were measured as if they were the code, so that both had the same people alone.
/// P19: codes with a trailing dash were not covered.
#[test]
fn derived_columns_are_measured_at_their_own_level_and_details_count() {
    let (_, metrics) = run(&discharges(), &format!("{DISCHARGES}[method]\nname = \"suppress\"\n"));
    let targeted = metrics["attacks"]["targeted"].as_array().unwrap();
    let mean = |column: &str| {
        let own = targeted.iter().find(|t| t["set"].to_string().contains(column)).unwrap();
        own["before"]["mean"].as_f64().unwrap()
    };
    assert!(mean("chapter") < mean("category"), "{targeted:?}");
    // The detail is listed, and what is lost of it counts.
    let columns = metrics["utility"]["by_column"].as_object().unwrap();
    assert!(columns.contains_key("dx"), "{columns:?}");
    // With equal weights only ages are blanked: the chapters are exact, and so are counts by them, although the codes
    // that they are made of are finer.
    let equal = "[method]\nname = \"suppress\"\nweights = { age = 1, sex = 1, region = 1 }\n";
    let (_, metrics) = run(&discharges(), &format!("{DISCHARGES}{equal}"));
    assert_eq!(metrics["cells"]["by_column"]["chapter"], 0, "{}", metrics["cells"]);
    assert_eq!(metrics["utility"]["by_column"]["chapter"]["query_error"], 0.0);
}

/// P16: attack 2 was about the whole file, whatever share of it was released; a registry of some people was refused.
#[test]
fn the_second_attack_is_on_what_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = String::from("age,sex,region,count,job\n");
    for age in (20..90).step_by(10) {
        for (sex, region) in [("F", "N"), ("F", "S"), ("M", "N"), ("M", "S")] {
            counts += &format!("{age},{sex},{region},99.5,nurse\n{age},{sex},{region},0.5,lawyer\n");
        }
    }
    fs::write(folder.path().join("people.csv"), &counts).unwrap();
    fs::write(folder.path().join("doctors.csv"), "age,sex,count\n30,F,1\n40,M,2\n").unwrap();
    let registries = "[[population]]\nname = \"census\"\ncounts = \"people.csv\"\ncolumns = [\"age\", \"sex\", \"region\"]\n\
        region = \"region\"\n[[population]]\nname = \"doctors\"\ncounts = \"doctors.csv\"\ncovers = \"part\"\n\
        [[population]]\nsize = 10000\ncolumns = [\"sex\", \"region\"]\n";
    let text = |method: &str| format!("{DISCHARGES}{registries}[method]\nname = \"suppress\"\n{method}");
    let attacked = |name: &str, method: &str| {
        let path = policy(folder.path(), &discharges(), &text(method));
        let (_, released) = release(&path, name, &options(1, 1)).unwrap();
        released.metrics.to_value()["attacks"]["registries"].clone()
    };
    let whole = attacked("whole", "");
    let sampled = attacked("sampled", "samples = [0.25, 0.1]\n");
    let number = |value: &Value| value.as_f64().unwrap();
    // 28 classes of 100 people each: 240 of 2,800 are linked, if nothing is blank.
    assert!((number(&whole[0]["whole_file"]["original"]) - 2.4).abs() < 1e-9);
    assert!(number(&whole[0]["whole_file"]["links"]) <= 2.4 + 1e-9);
    for registry in 0..3 {
        let (all, own) = (&whole[registry]["whole_file"], &sampled[registry]["whole_file"]);
        assert!((number(&own["links"]) - 0.25 * number(&all["links"])).abs() < 1e-9, "{own}");
        assert!((number(&own["all_samples"]) - 0.35 * number(&all["links"])).abs() < 1e-9, "{own}");
    }
    assert_eq!((&whole[1]["name"], &whole[1]["part"]), (&"doctors".into(), &true.into()));
    // A doctor is at most one of the people who look the same.
    assert!(number(&whole[1]["whole_file"]["original"]) <= 2.0);
    assert_eq!(whole[2]["columns"], serde_json::json!(["sex", "region"]));
    assert_eq!(whole[2]["classes"], 4);
}

/// P18: fewest blanks were bought with ages, and nobody said so.
#[test]
fn blanks_of_a_column_are_limited_and_said() {
    let share = |metrics: &Value, column: &str| metrics["missing"]["columns"][column].as_f64().unwrap();
    let text = |method: &str| format!("{DISCHARGES}[method]\nname = \"suppress\"\n{method}");
    let (_, equal) = run(&discharges(), &text("weights = { age = 1, sex = 1, region = 1 }\n"));
    let (_, usual) = run(&discharges(), &text(""));
    assert!(share(&usual, "age") < share(&equal, "age"), "{} {}", share(&usual, "age"), share(&equal, "age"));
    let (_, capped) = run(&discharges(), &text("max_blank = { age = 0.05, sex = 0 }\n"));
    assert!(share(&capped, "age") <= 0.05 && share(&capped, "sex") == 0.0);
    let (rows, few) = run(&discharges(), &text("max_blank_record = 0.4\n"));
    assert!(rows.iter().all(|row| [0, 1, 2, 4, 5].iter().filter(|&&c| row[c] == "*").count() <= 2), "{rows:?}");
    assert!(few["rows"]["out"].as_u64().unwrap() > 0);
    let (_, dx) = run(&discharges(), &text("weights = { category = 0.001, chapter = 0.001 }\n"));
    assert!(share(&dx, "category") > 0.5, "{}", dx["missing"]["columns"]);
    assert!(dx["notes"].to_string().contains("`category` is blank in"), "{}", dx["notes"]);
    // A detail has no weight of its own: the advice is about the column that it belongs to.
    assert!(!dx["notes"].to_string().contains("`dx` is blank in"), "{}", dx["notes"]);
    assert!(!usual["notes"].to_string().contains("`region` is blank in"), "{}", usual["notes"]);
    // A row with a value counts for those of its group without one.
    let groups = &equal["missing"]["by"]["age"]["region"];
    for group in groups.as_array().unwrap().iter().filter(|group| group["share"].as_f64().unwrap() < 1.0) {
        let (share, weight) = (group["share"].as_f64().unwrap(), group["weight"].as_f64().unwrap());
        assert!((weight * (1.0 - share) - 1.0).abs() < 1e-9);
    }
    let (kind, message) = error(&discharges(), &text("max_blank = { ages = 0.05 }\n"));
    assert!(kind == Kind::Yours && message.contains("Did you mean `age`?"), "{message}");
}
