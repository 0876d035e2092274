//! Bad input: an exit code, a clear message that names no value of the data, and nothing left behind.

use crate::common;
use crate::common::{POLICY, Said, TABLE, folder, listing, run};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Runs `anonymize` in a folder and checks how it ends.
#[track_caller]
fn ends(folder: &Path, code: i32, says: &[&str]) -> Said {
    let before = listing(folder);
    let said = run(folder, &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(code), "{}", said.all());
    for words in says {
        assert!(said.err.contains(words), "{words:?} is not in: {}", said.err);
    }
    assert!(!said.all().contains("CANARY"), "a value of the data is shown: {}", said.all());
    assert_eq!(said.err.lines().count(), 1, "one line says it: {}", said.err);
    assert!(said.out.is_empty(), "{}", said.out);
    assert_eq!(listing(folder), before, "nothing is left behind");
    said
}

/// The usual table under the usual policy with `from` replaced by `to`.
#[track_caller]
fn policy(from: &str, to: &str, code: i32, says: &[&str]) {
    assert!(POLICY.contains(from), "{from}");
    ends(folder(TABLE.as_bytes(), &POLICY.replacen(from, to, 1)).path(), code, says);
}

/// Another table under the usual policy.
#[track_caller]
fn table(bytes: &[u8], code: i32, says: &[&str]) {
    ends(folder(bytes, POLICY).path(), code, says);
}

/// The usual table with `q` under a hierarchy file.
#[track_caller]
fn hierarchy(lines: &str, code: i32, says: &[&str]) {
    let own = POLICY.replace("q = { role = \"quasi\"", "q = { role = \"quasi\", hierarchy = \"h.csv\"");
    let folder = folder(TABLE.as_bytes(), &own);
    fs::write(folder.path().join("h.csv"), lines).unwrap();
    ends(folder.path(), code, says);
}

#[test]
fn a_deadline_of_no_time_is_refused_and_one_that_is_not_reached_changes_nothing() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let before = listing(folder.path());
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--deadline", "0"]);
    assert_eq!(said.code, Some(2), "{}", said.all());
    assert!(said.err.contains("--deadline"), "{}", said.err);
    assert_eq!(listing(folder.path()), before);
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--deadline", "600"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(!said.all().contains("not repeatable"), "{}", said.all());
}

#[test]
fn the_usual_policy_can_be_met() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(!said.all().contains("CANARY"));
    for file in ["metrics.json", "report.html", "log", "policy.toml"] {
        let text = fs::read_to_string(folder.path().join("out/evidence").join(file)).unwrap();
        // The custodian's own report may show quasi-identifiers by value, and nothing else.
        let shows = |column: &str| text.contains(&format!("CANARY-{column}"));
        let report = ["metrics.json", "report.html"].contains(&file);
        assert!(!["i", "p", "s", "o"].iter().any(|c| shows(c)), "{file}");
        assert!(report || !shows("q") && !shows("r"), "{file}");
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    policy("k = 2", "k = 0", 2, &["p.toml, line 11", "`k`", "protects nobody"]);
    policy("k = 2", "k = 1", 2, &["protects nobody"]);
    policy("k = 2", "k = -3", 2, &["`k`", "whole number"]);
    policy("k = 2", "k = 2.5", 2, &["`k`", "whole number"]);
    policy("k = 2", "k = \"2\"", 2, &["`k`", "number"]);
    policy("k = 2", "max_risk = 0", 2, &["max_risk"]);
    policy("k = 2", "max_risk = 1", 2, &["max_risk", "protects nobody"]);
    policy("k = 2", "k = 2\nmax_risk = 0.5", 2, &["the same limit"]);
    policy("k = 2", "k = 2\npreset = \"public-file\"", 2, &["preset", "k = 20", "line"]);
    policy("k = 2", "preset = \"public\"", 2, &["trusted-recipient", "public-file"]);
    policy("k = 2\n", "", 2, &["does not set `k`", "no default"]);
    policy("k = 2", "k = 2\nknows = 0", 2, &["knows nothing"]);
    policy("k = 2", "k = 2\nknows = [[\"q\"]]", 2, &["`r`", "not in any of the sets"]);
    policy("k = 2", "k = 2\nknows = [[\"q\", \"rr\"]]", 2, &["rr"]);
    policy("k = 2", "k = 2\nconfidence = 50", 2, &["confidence", "0.5"]);
    policy("k = 2", "k = 2\nconfidence = 0", 2, &["confidence", "above 0"]);
    policy("k = 2", "k = 2\nt_closeness = 1.5", 2, &["t_closeness", "from 0 to 1"]);
    policy("k = 2", "k = 2\nl_diversity = { distinct = 1 }", 2, &["l_diversity", "at least 2"]);
    policy("max_suppressed = 0", "max_suppressed = 5", 2, &["p.toml, line 14", "max_suppressed", "0.05"]);
    policy("max_suppressed = 0", "max_suppressed = -0.1", 2, &["max_suppressed"]);
    policy("max_suppressed = 0", "", 2, &["max_suppressed"]);
}

#[test]
fn what_is_misspelt_is_told() {
    policy("k = 2", "k = 2\nconfidense = 0.5", 2, &["p.toml, line 12", "confidense", "Did you mean `confidence`?"]);
    policy("max_suppressed", "max_supressed", 2, &["Did you mean `max_suppressed`?"]);
    policy("[privacy]", "[privcy]", 2, &["Did you mean `privacy`?"]);
    policy("role = \"sensitive\"", "role = \"sensitiv\"", 2, &["Did you mean \"sensitive\"?"]);
    policy(
        "q = { role = \"quasi\" }",
        "q = { role = \"quasi\", heirarchy = \"x\" }",
        2,
        &["Did you mean `hierarchy`?"],
    );
    policy("\"lattice\"", "\"latice\"", 2, &["Did you mean \"lattice\"?"]);
    policy("q = {", "qq = {", 2, &["no column `qq`", "Did you mean `q`?"]);
    policy("k = 2", "k = 2 2", 2, &["p.toml, line 11"]);
    policy("k = 2", "k = 2\nk = 3", 2, &["p.toml, line 12"]);
}

#[test]
fn every_column_needs_its_role() {
    policy("o = { role = \"other\", reason = \"a test\" }\n", "", 2, &["does not name `o`"]);
    policy("s = {", "zz = { role = \"identifier\" }\ns = {", 2, &["no column `zz`"]);
    policy(", reason = \"a test\"", "", 2, &["`reason`", "required"]);
    policy("q = { role = \"quasi\" }", "q = { }", 2, &["no role"]);
    policy("id = { role = \"identifier\" }", "id = { role = \"patient\" }", 2, &["`id` and `pid`"]);
    // A column whose name is taken or empty gets one, and needs a role like any other.
    table(TABLE.replacen("q,r,s", "q,q,s", 1).as_bytes(), 2, &["no column `r`"]);
    table(TABLE.replacen("q,r,s", "q,,s", 1).as_bytes(), 2, &["no column `r`"]);
    for (header, name) in [("q,q,s", "q (2)"), ("q,,s", "column4"), ("column4,,s", "column4 (2)")] {
        let text = TABLE.replacen("q,r,s", header, 1);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        let source = kohort_core::table::open(&kohort_core::table::Input::new(folder.path().join("t.csv"))).unwrap();
        assert_eq!(source.columns()[3], name, "{header}");
    }
}

#[test]
fn a_table_that_is_none_is_refused() {
    table(b"", 2, &["t.csv", "empty"]);
    table(b"\xef\xbb\xbf", 2, &["t.csv", "empty"]);
    table(b"id,pid,q,r,s,o\n", 2, &["t.csv", "no rows"]);
    table(b"id,pid,q,r,s,o", 2, &["t.csv", "no rows"]);
    table(b"id,pid,q,r,s,o\n\n\n", 2, &["t.csv", "no rows"]);
    table(format!("{TABLE}CANARY,CANARY\n").as_bytes(), 2, &["t.csv, line 6: 2 cells, but the header has 6"]);
    table(format!("{TABLE}\nCANARY,,,,,,CANARY\n").as_bytes(), 2, &["t.csv, line 7: 7 cells"]);
    table(format!("{TABLE}CANARY,\"CANARY,CANARY\nCANARY").as_bytes(), 2, &["t.csv, line 6"]);
    table(
        &[TABLE.as_bytes(), b"i,p,CANARY\xff,r,s,o\n"].concat(),
        2,
        &["t.csv, line 6, column 3", "UTF-8", "windows-1252"],
    );
    let utf16: Vec<u8> = [0xfeffu16].into_iter().chain(TABLE.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    table(&[&utf16[..], b"C"].concat(), 2, &["t.csv, line 6"]);
    table(TABLE.replace('\n', "\r").as_bytes(), 2, &["CR only"]);
    table(b"PAR1 CANARY PAR1", 2, &["t.csv"]);
    table(format!("{TABLE}CANARY-i5,,CANARY-qa,CANARY-rx,x,x\n").as_bytes(), 2, &["t.csv, line 6", "`pid`", "empty"]);
}

#[test]
fn a_damaged_gzip_file_is_refused() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(TABLE.repeat(50).as_bytes()).unwrap();
    let whole = gzip.finish().unwrap();
    table(&whole[..whole.len() / 2], 2, &["t.csv", "gzip"]);
    table(&whole[..whole.len() - 3], 2, &["t.csv", "gzip"]);
    table(&whole[..12], 2, &["t.csv", "gzip"]);
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    table(&flipped, 2, &["t.csv"]);
}

#[test]
fn a_star_in_the_data_is_refused() {
    for column in ["q", "s", "o"] {
        let row: Vec<&str> =
            ["id", "pid", "q", "r", "s", "o"].map(|c| if c == column { "*" } else { "CANARY" }).to_vec();
        let bytes = format!("{TABLE}{}\n", row.join(","));
        table(bytes.as_bytes(), 2, &[&format!("column `{column}`"), "line 6", "missing"]);
        let folder = folder(
            bytes.as_bytes(),
            &POLICY
                .replace("[columns]", "missing = [\"*\"]\n[columns]")
                .replace("max_suppressed = 0", "max_suppressed = 0.5"),
        );
        assert_eq!(
            run(folder.path(), &["anonymize", "p.toml"]).code,
            Some(0),
            "{column}: listed under missing it may stay"
        );
    }
}

#[test]
fn a_hierarchy_that_is_no_tree_is_refused() {
    hierarchy("a;b;*\nb;a;*\n", 2, &["h.csv, line", "cycle"]);
    hierarchy("a;x;*\na;x;*\n", 2, &["h.csv, line 2", "line 1"]);
    hierarchy("a;x;*\nb;*\n", 2, &["h.csv, line 2", "2 labels", "3"]);
    hierarchy("a;x;y;*\nb;x;z;*\n", 2, &["h.csv, line 2", "belongs to"]);
    hierarchy("", 2, &["h.csv", "empty"]);
    hierarchy("a;;*\n", 2, &["h.csv, line 1", "empty"]);
    hierarchy("*;x\n", 2, &["h.csv, line 1"]);
    policy("q = { role = \"quasi\"", "q = { role = \"quasi\", hierarchy = \"none.csv\"", 2, &["none.csv"]);
    policy(
        "q = { role = \"quasi\"",
        "q = { role = \"quasi\", hierarchy = { intervals = [5, 7], from = 0, to = 9 }",
        2,
        &["multiple"],
    );
    policy("q = { role = \"quasi\"", "q = { role = \"quasi\", hierarchy = { prefix = [2, 3] }", 2, &["prefix"]);
    policy("q = { role = \"quasi\"", "q = { role = \"quasi\", hierarchy = { date = \"%Q\" }", 2, &["date"]);
    policy("q = { role = \"quasi\"", "q = { role = \"quasi\", levels = [7]", 2, &["levels"]);
    policy("q = { role = \"quasi\"", "q = { role = \"quasi\", levels = []", 2, &["levels"]);
}

#[test]
fn a_value_that_no_hierarchy_covers_is_counted_and_shown_only_where_asked_for() {
    let own = POLICY.replace("q = { role = \"quasi\"", "q = { role = \"quasi\", hierarchy = \"h.csv\"");
    let folder = folder(TABLE.as_bytes(), &own);
    fs::write(folder.path().join("h.csv"), "CANARY-qa;x;*\nz;x;*\n").unwrap();
    let covered = "column `q`: 1 value in 2 rows (lines 4, 5) is not covered by the file h.csv";
    ends(folder.path(), 2, &["t.csv", covered, "unmapped = \"suppress\"", "--show-values"]);
    let said = run(folder.path(), &["anonymize", "p.toml", "--show-values"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("CANARY-qb") && !said.err.contains("CANARY-qa"), "{}", said.err);
    fs::write(folder.path().join("p.toml"), own.replace("\"h.csv\"", "\"h.csv\", unmapped = \"suppress\"")).unwrap();
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.err.contains("the release shows * for") && !said.all().contains("CANARY"), "{}", said.err);
    let released = fs::read_to_string(folder.path().join("p-release/release/data.csv")).unwrap();
    assert!(!released.contains("CANARY-qb"));
}

#[test]
fn a_requirement_that_cannot_be_met_is_named_with_the_nearest_that_can() {
    policy("k = 2", "k = 5", 3, &["k = 5", "4 patients", "largest k that can be met is 4"]);
    policy("k = 2", "k = 1000000000000", 3, &["4 patients"]);
    policy("k = 2", "k = 2\nconfidence = 0.4", 3, &["confidence = 0.4", "0.5"]);
    policy("k = 2", "k = 2\nl_diversity = { distinct = 3 }", 3, &["l_diversity", "largest l that can be met is 2"]);
    policy("k = 2", "k = 2\nl_diversity = { entropy = 4 }", 3, &["l_diversity", "is 2"]);
    let fixed = "r = { role = \"quasi\", levels = [\"value\"] }";
    policy("r = { role = \"quasi\" }", fixed, 3, &["k = 2", "coarsest permitted level"]);
    let t = "q = { role = \"quasi\", levels = [0] }\nr = { role = \"quasi\", levels = [1] }";
    let own = POLICY
        .replace("q = { role = \"quasi\" }\nr = { role = \"quasi\" }", t)
        .replace("k = 2", "k = 2\nt_closeness = 0.1");
    let skewed = TABLE.replace("CANARY-qa,CANARY-rx,CANARY-s2", "CANARY-qa,CANARY-rx,CANARY-s1");
    ends(folder(skewed.as_bytes(), &own).path(), 3, &["t_closeness = 0.1", "smallest that can be met is about"]);
    // Each by itself can be met, both together cannot.
    let both = POLICY
        .replace("r = { role = \"quasi\" }", fixed)
        .replace("k = 2", "k = 2\nl_diversity = { distinct = 2 }")
        .replace("max_suppressed = 0", "max_suppressed = 0.25");
    let skewed = TABLE.replace("CANARY-s2,CANARY-o2", "CANARY-s1,CANARY-o2");
    ends(folder(skewed.as_bytes(), &both).path(), 3, &["cannot be met"]);
}

#[test]
fn sensitive_requirements_need_a_column_and_an_order() {
    let plain = POLICY.replace("s = { role = \"sensitive\" }", "s = { role = \"class\" }");
    ends(
        folder(TABLE.as_bytes(), &plain.replace("k = 2", "k = 2\nconfidence = 0.5")).path(),
        2,
        &["confidence", "sensitive"],
    );
    let t = |distance: &str| format!("k = 2\nt_closeness = {{ max = 0.5, distance = \"{distance}\" }}");
    policy("k = 2", &t("ordered"), 2, &["order", "`s`", "domain"]);
    policy("k = 2", &t("hierarchical"), 2, &["hierarchy", "`s`"]);
    policy("k = 2", &t("euclidean"), 2, &["distance", "ordered"]);
}

#[test]
fn files_that_are_not_there_are_named() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    fs::create_dir(folder.path().join("dir")).unwrap();
    for (args, says) in [
        (["anonymize", "none.toml"], "none.toml"),
        (["anonymize", "dir"], "dir"),
        (["risk", "none.toml"], "none.toml"),
        (["hierarchy", "none.toml"], "none.toml"),
        (["verify", "none"], "not a release"),
        (["verify", "dir"], "not a release"),
        (["verify", "p.toml"], "not a release"),
    ] {
        let before = listing(folder.path());
        let said = run(folder.path(), &args);
        assert_eq!(said.code, Some(2), "{args:?}: {}", said.all());
        assert!(said.err.contains(says), "{args:?}: {}", said.err);
        assert_eq!(listing(folder.path()), before, "{args:?}");
    }
    policy("t.csv", "none.csv", 2, &["none.csv"]);
    policy("t.csv", ".", 2, &[]);
    policy("[input]\ntable = \"t.csv\"\n", "", 2, &["[input]"]);
    policy("table = \"t.csv\"\n", "", 2, &["table"]);
    policy("[method]\nname = \"lattice\"\nmax_suppressed = 0\n", "", 2, &["[method]"]);
    policy("[privacy]\nk = 2\n", "", 2, &["[privacy]"]);
    policy("\"lattice\"", "\"claims\"", 2, &["claims", "two linked tables"]);
    ends(common::folder(TABLE.as_bytes(), "").path(), 2, &["[input]"]);
}

#[test]
fn an_output_folder_that_exists_is_not_touched() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/mine.txt"), "mine").unwrap();
    ends(folder.path(), 2, &["out exists"]);
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out", "--force"]);
    assert_eq!(said.code, Some(2), "what is no release is not replaced: {}", said.all());
    assert_eq!(fs::read_to_string(folder.path().join("out/mine.txt")).unwrap(), "mine");
    for target in [".", "..", "/", "t.csv"] {
        let said = run(folder.path(), &["anonymize", "p.toml", "-o", target]);
        assert_eq!(said.code, Some(2), "{target}: {}", said.all());
    }
    assert_eq!(fs::read_to_string(folder.path().join("t.csv")).unwrap(), TABLE);
}

#[test]
fn a_bad_policy_makes_no_folders_on_the_way_to_the_output() {
    let folder = folder(TABLE.as_bytes(), &POLICY.replace("k = 2", "k = 1"));
    let before = listing(folder.path());
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "a/b/out"]);
    assert_eq!(said.code, Some(2));
    assert_eq!(listing(folder.path()), before);
}

/// The mistakes that somebody makes with a first policy. Some were answered in words of the parser ("invalid boolean,
/// expected `false`").
#[test]
fn first_mistakes_are_answered_with_what_to_do() {
    policy("k = 2", "k: 2", 2, &["p.toml, line ", "Join a key and its value with an equals sign"]);
    policy("k = 2", "k = two", 2, &["Put text in quotes"]);
    policy("k = 2", "k = \"2\"", 2, &["`k` in [privacy] must be a number without quotes."]);
    policy("k = 2", "k = 2\nconfidence = 0,5", 2, &["Write numbers with a decimal point: 0.5."]);
    policy("k = 2", "k = 2\nconfidence = \"50 %\"", 2, &["50 % is 0.5"]);
    policy("k = 2", "k = 2\nl_diversity = 3", 2, &["must be one of { distinct = 3 }"]);
    policy("\"t.csv\"", "“t.csv”", 2, &["Write straight quotes"]);
    policy("\"t.csv\"", "\"u.csv\"", 2, &["p.toml, line 2: `table` in [input] names a file that does not exist: "]);
    let here = folder(TABLE.as_bytes(), POLICY);
    let said = run(here.path(), &["anonymize", "t.csv"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("`kohort init t.csv` suggests a policy"), "{}", said.err);
    fs::create_dir_all(here.path().join("files/one/release")).unwrap();
    fs::write(here.path().join("files/one/release/certificate.json"), "{}").unwrap();
    for (name, words) in [
        ("files", "It holds several releases. Verify each of them, starting with files/one."),
        ("nothing", "because there is no such folder"),
        ("p.toml", "but a file. Name the folder"),
    ] {
        let said = run(here.path(), &["verify", name]);
        assert_eq!(said.code, Some(2));
        assert!(said.err.contains(words), "{}", said.err);
    }
}
