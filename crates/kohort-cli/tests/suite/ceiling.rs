//! `ceiling` on the command line: bad input with its exit codes, and the recipient's truthful view.

use crate::common;
use crate::common::{Said, folder, listing, run};
use std::fs;
use std::path::Path;

/// Two large classes and a small one.
fn table() -> String {
    let mut text = "q,r,s,o\n".to_string();
    for i in 0..60 {
        text += &format!("CANARY-q{},CANARY-r,{},CANARY-o{}\n", i % 2, ["flu", "gout", "hiv"][i % 3], i % 4);
    }
    text + "CANARY-q9,CANARY-r,flu,CANARY-o1\nCANARY-q9,CANARY-r,gout,CANARY-o2\n"
}

const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\n\
    s = { role = \"sensitive\", domain = [\"flu\", \"gout\", \"hiv\"] }\no = { role = \"other\", reason = \"a test\" }\n\
    [privacy]\nk = 5\n[method]\nname = \"ceiling\"\nh = 0\nreal_k = 2\nmax_counterfeits = 0.3\n";

/// Runs the policy with `from` replaced by `to`, and checks how it ends.
#[track_caller]
fn ends(from: &str, to: &str, code: i32, says: &[&str]) -> Said {
    assert!(POLICY.contains(from), "{from}");
    let folder = folder(table().as_bytes(), &POLICY.replacen(from, to, 1));
    fs::write(folder.path().join("ref.csv"), "flu;3\ngout;x\n").unwrap();
    let before = listing(folder.path());
    let said = run(folder.path(), &["anonymize", "p.toml", "-o", "out"]);
    assert_eq!(said.code, Some(code), "{}", said.all());
    says.iter().for_each(|words| assert!(said.err.contains(words), "{words:?} is not in: {}", said.err));
    assert!(!said.all().contains("CANARY"), "a value of the data is shown: {}", said.all());
    if code != 0 {
        assert_eq!(listing(folder.path()), before, "nothing is left behind");
    }
    said
}

#[test]
fn what_the_policy_leaves_out_is_asked_for() {
    ends("h = 0\n", "", 2, &["no `h`", "0.3", "auto"]);
    ends("real_k = 2\n", "", 2, &["no `real_k`", "no default", "1 to k = 5"]);
    ends("max_counterfeits = 0.3\n", "", 2, &["no `max_counterfeits`", "0.05"]);
    ends(", domain = [\"flu\", \"gout\", \"hiv\"]", "", 2, &["column `s`", "domain", "reference"]);
    ends("name = \"ceiling\"\n", "name = \"ceiling\"\nmax_suppressed = 0.1\n", 2, &["max_suppressed"]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    ends("h = 0\n", "h = 1.5\n", 2, &["`h`", "from 0 to 1"]);
    ends("h = 0\n", "h = -0.1\n", 2, &["`h`"]);
    ends("h = 0\n", "h = 30\n", 2, &["`h`", "0.3"]);
    ends("h = 0\n", "h = \"best\"\n", 2, &["`h`", "auto"]);
    ends("real_k = 2", "real_k = 6", 2, &["`real_k`", "1 to k = 5"]);
    ends("real_k = 2", "real_k = 0", 2, &["`real_k`"]);
    ends("max_counterfeits = 0.3", "max_counterfeits = 30", 2, &["max_counterfeits", "0.3"]);
    ends("k = 5", "k = 5\nknows = 1", 2, &["knows = \"all\""]);
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.3\npadding = \"exakt\"", 2, &["Did you mean \"exact\"?"]);
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.3\ncatalog = \"full\"", 2, &["\"none\" or \"grouped\""]);
}

#[test]
fn what_cannot_be_met_is_said_with_what_can() {
    // The finest permitted level of q is *: a degree of a half.
    ends(
        "q = { role = \"quasi\" }",
        "q = { role = \"quasi\", levels = [\"*\"] }",
        3,
        &["smallest h that can be met is 0.5"],
    );
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.01", 3, &["at least 5 synthetic records", "allows 0 of 62"]);
    ends("real_k = 2", "real_k = 3", 3, &["real_k = 3", "largest real_k that can be met is 2"]);
    ends("k = 5\n", "k = 5\nconfidence = 0.3\n", 3, &["required of sensitive values"]);
    let exact = "max_counterfeits = 0.3\npadding = \"exact\"\ncatalog = \"grouped\"";
    ends("max_counterfeits = 0.3", exact, 3, &["catalog"]);
}

#[test]
fn a_catalog_needs_one_sensitive_column() {
    let grouped = "max_counterfeits = 0.3\ncatalog = \"grouped\"";
    let other = POLICY
        .replace("s = { role = \"sensitive\", domain = [\"flu\", \"gout\", \"hiv\"] }", "s = { role = \"class\" }");
    let none = folder(table().as_bytes(), &other.replace("max_counterfeits = 0.3", grouped));
    let said = run(none.path(), &["anonymize", "p.toml"]);
    assert!(said.code == Some(2) && said.err.contains("no column has role = \"sensitive\""), "{}", said.all());
    let two = POLICY
        .replace("o = { role = \"other\", reason = \"a test\" }", "o = { role = \"sensitive\", domain = [\"x\"] }");
    let two = folder(table().as_bytes(), &two.replace("max_counterfeits = 0.3", grouped));
    let said = run(two.path(), &["anonymize", "p.toml"]);
    assert!(said.code == Some(2) && said.err.contains("2 columns"), "{}", said.all());
}

#[test]
fn values_that_may_be_drawn_are_listed() {
    ends("\"gout\", \"hiv\"]", "\"gout\"]", 2, &["column `s`", "1 of its values", "--show-values"]);
    ends(
        "max_counterfeits = 0.3",
        "max_counterfeits = 0.3\nreference = \"ref.csv\"",
        2,
        &["ref.csv, line 2", "value;share"],
    );
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.3\nreference = { o = \"ref.csv\" }", 2, &["`o`", "sensitive"]);
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.3\nreference = \"none.csv\"", 2, &["none.csv"]);
    let nothing = "max_counterfeits = 0.3\nforbidden = [{ q = \"CANARY-q9\", s = [\"flu\", \"gout\", \"hiv\"] }]";
    let folder = folder(table().as_bytes(), &POLICY.replace("max_counterfeits = 0.3", nothing));
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert!(said.code == Some(2) && said.err.contains("`s` has no permitted value left"), "{}", said.all());
    ends(
        "max_counterfeits = 0.3",
        "max_counterfeits = 0.3\nforbidden = [{ qq = \"x\" }]",
        2,
        &["`qq`", "Did you mean `q`?"],
    );
    ends("max_counterfeits = 0.3", "max_counterfeits = 0.3\nforbidden = [[\"q\"]]", 2, &["forbidden", "combinations"]);
}

/// Makes a release with a catalog, whatever chance needs for it.
fn with_catalog(folder: &Path) {
    let said = run(folder, &["anonymize", "p.toml", "-o", "out", "--force"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
}

#[test]
fn the_recipient_makes_the_truthful_view() {
    let text = POLICY.replace("max_counterfeits = 0.3", "max_counterfeits = 0.5\ncatalog = \"grouped\"");
    let folder = folder(table().as_bytes(), &text);
    with_catalog(folder.path());
    let said = run(folder.path(), &["verify", "out"]);
    assert!(said.code == Some(5) && said.out.contains("synthetic records in"), "{}", said.all());
    // The recipient has release/ alone.
    fs::rename(folder.path().join("out/release"), folder.path().join("received")).unwrap();
    let said = run(folder.path(), &["truthful", "received", "-o", "real.csv"]);
    assert!(said.code == Some(0) && said.out.contains("62 real rows"), "{}", said.all());
    assert_eq!(fs::read_to_string(folder.path().join("real.csv")).unwrap().lines().count(), 63);
    assert_eq!(run(folder.path(), &["truthful", "received", "-o", "real.csv"]).code, Some(2), "the file exists");
    let plain = common::folder(table().as_bytes(), POLICY);
    with_catalog(plain.path());
    let said = run(plain.path(), &["truthful", "out"]);
    assert!(said.code == Some(2) && said.err.contains("has no catalog"), "{}", said.all());
    assert!(!plain.path().join("out-truthful.csv").exists());
}
