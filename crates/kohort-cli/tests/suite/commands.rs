//! The commands: what they print, how they end, what they leave.

use crate::common::{POLICY, TABLE, folder, is_whole, listing, run};
use std::fs;

#[test]
fn every_command_shows_an_example() {
    let here = tempfile::tempdir().unwrap();
    for command in ["demo", "init", "risk", "anonymize", "verify", "hierarchy"] {
        let said = run(here.path(), &[command, "--help"]);
        assert_eq!(said.code, Some(0));
        assert!(said.out.contains("Example") && said.out.contains(&format!("\n  kohort {command}")), "{}", said.out);
        assert!(said.err.is_empty());
    }
    let said = run(here.path(), &["--help"]);
    assert!(said.code == Some(0) && said.out.contains("Exit codes"));
    assert_eq!(run(here.path(), &[]).code, Some(2));
    assert_eq!(run(here.path(), &["anonymise"]).code, Some(2));
    assert_eq!(run(here.path(), &["anonymize", "--sed", "1"]).code, Some(2));
    assert!(run(here.path(), &["--version"]).out.starts_with("kohort "));
}

#[test]
fn a_release_is_made_verified_and_replaced() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.out.starts_with("released and verified: p-release/release\n"), "{}", said.out);
    let out = folder.path().join("p-release");
    let names = |path: &str| {
        let mut names: Vec<String> =
            fs::read_dir(out.join(path)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(""), [".kohort", "evidence", "release"]);
    assert_eq!(names("release"), ["certificate.json", "data.csv", "dictionary.md"]);
    assert_eq!(names("evidence"), ["log", "metrics.json", "policy.toml", "report.html"]);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml"]).code, Some(2), "it exists");
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "--force", "--keep-rows"]).code, Some(0));
    assert_eq!(names(""), [".kohort", "evidence", "private", "release"]);
    assert_eq!(listing(folder.path()).iter().filter(|p| p.parent() == Some(folder.path())).count(), 3, "no leftover");
    for dir in ["p-release", "p-release/release"] {
        let said = run(folder.path(), &["verify", dir]);
        // The recipient counts rows; that there are two patients is the custodian's word.
        assert_eq!(said.code, Some(5), "{}", said.all());
        assert!(said.out.starts_with("partly verified from the release alone\n"), "{}", said.out);
        let (counted, stated) = said.out.split_once("stated by the custodian, not checked here (unsigned").unwrap();
        assert!(counted.contains("at least 2 rows") && !counted.contains("at least 2 matching patients"), "{counted}");
        assert!(stated.contains("at least 2 matching patients"), "{stated}");
        assert!(counted.contains("not counted here\n  - how many patients"), "{counted}");
    }
    // `o` names every row, and no requirement covers it: exit code 5, although the patients were counted here.
    let said = run(folder.path(), &["verify", "p-release", "--original", "p.toml"]);
    assert_eq!(said.code, Some(5), "{}", said.all());
    assert!(said.out.contains("`o`: 4 of 4 values occur once") && said.out.contains("nearly unique"), "{}", said.out);
    assert!(!said.out.contains("not counted here"), "{}", said.out);
    assert!(said.out.contains("every released cell is the original or its ancestor"));
}

/// Whoever is excluded is not in the release, and is not missed there.
#[test]
fn a_release_with_exclusions_is_compared_with_its_original() {
    let rows: String = (0..12).map(|i| format!("{},{}\n", i % 2, if i % 3 == 0 { "042" } else { "4019" })).collect();
    let table = format!("region,dx\n{rows}");
    let policy = "[input]\ntable = \"t.csv\"\n[columns]\nregion = { role = \"quasi\" }\ndx = { role = \"identifier\" }\n\
        [[exclude]]\ncolumn = \"dx\"\ncodes = [\"042-044\"]\nscope = \"row\"\n[privacy]\nk = 2\n\
        [method]\nname = \"lattice\"\nmax_suppressed = 0\n";
    let folder = folder(table.as_bytes(), policy);
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    for keep in [false, true] {
        if keep {
            assert_eq!(run(folder.path(), &["anonymize", "p.toml", "--force", "--keep-rows"]).code, Some(0));
        }
        let said = run(folder.path(), &["verify", "p-release", "--original", "p.toml"]);
        assert_eq!(said.code, Some(0), "{}", said.all());
    }
}

#[cfg(unix)]
#[test]
fn private_rows_are_readable_by_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(TABLE.as_bytes(), POLICY);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "--keep-rows"]).code, Some(0));
    let mode =
        |path: &str| fs::metadata(folder.path().join("p-release").join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("private"), mode("evidence"), mode("release")), (0o700, 0o700, 0o755));
    // Also one by one: a folder may be opened to others later, or copied without its mode.
    for file in
        ["private/rows", "evidence/report.html", "evidence/metrics.json", "evidence/policy.toml", "evidence/log"]
    {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[test]
fn a_tampered_release_is_refused() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    assert_eq!(run(folder.path(), &["anonymize", "p.toml"]).code, Some(0));
    let data = folder.path().join("p-release/release/data.csv");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replacen("CANARY-s1", "CANARY-s9", 1)).unwrap();
    for args in [vec!["verify", "p-release"], vec!["verify", "p-release", "--original", "p.toml"]] {
        let said = run(folder.path(), &args);
        assert_eq!(said.code, Some(1));
        assert!(said.err.starts_with("refused: ") && said.err.contains("SHA-256"), "{}", said.err);
        assert!(!said.all().contains("CANARY") && !said.out.contains("verified"));
    }
}

#[test]
fn a_hostile_name_does_not_steer_the_terminal() {
    let table = TABLE.replacen("q,r", "\"q\u{1b}[2Jx\",r", 1);
    let policy = POLICY.replace("q = {", "\"q\\u001b[2Jx\" = {");
    let folder = folder(table.as_bytes(), &policy);
    for (args, code) in
        [(vec!["anonymize", "p.toml"], 0), (vec!["verify", "p-release"], 5), (vec!["risk", "p.toml"], 0)]
    {
        let said = run(folder.path(), &args);
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(!said.all().contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn a_seed_makes_the_same_bytes_and_says_so() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let release = |name: &str, threads: &str| {
        let args = ["anonymize", "p.toml", "-o", name, "--seed", "5", "--threads", threads];
        assert_eq!(run(folder.path(), &args).code, Some(0));
        ["data.csv", "certificate.json", "dictionary.md"]
            .map(|f| fs::read_to_string(folder.path().join(name).join("release").join(f)).unwrap())
    };
    let one = release("a", "1");
    assert_eq!(one, release("b", "3"));
    assert!(one[1].contains("\"test\": true"));
    assert!(run(folder.path(), &["verify", "a"]).err.contains("this is a test, not a release"));
    assert_eq!(run(folder.path(), &["anonymize", "p.toml", "-o", "c"]).code, Some(0));
    assert!(!fs::read_to_string(folder.path().join("c/release/certificate.json")).unwrap().contains("\"test\""));
}

#[test]
fn risk_and_hierarchy_tell_and_write_nothing() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let before = listing(folder.path());
    let said = run(folder.path(), &["risk", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.out.starts_with("4 rows, 4 patients\n") && said.out.contains("2 of 4 patients"), "{}", said.out);
    assert!(!said.all().contains("CANARY"));
    let said = run(folder.path(), &["hierarchy", "p.toml"]);
    assert!(
        said.code == Some(0) && said.out.contains("q (2 values)") && !said.all().contains("CANARY"),
        "{}",
        said.all()
    );
    let said = run(folder.path(), &["hierarchy", "p.toml", "--column", "q"]);
    assert_eq!(said.out, "CANARY-qa;*\nCANARY-qb;*\n", "asked for");
    assert_eq!(run(folder.path(), &["hierarchy", "p.toml", "--column", "zz"]).code, Some(2));
    assert_eq!(listing(folder.path()), before);
}

#[test]
fn the_first_look_fits_on_a_screen_and_needs_no_policy() {
    let rows: String = (0..400)
        .map(|i| i % 350)
        .map(|i| format!("CANARY-{i},{},{},{}\n", 20 + i * 7 % 59, ["f", "m"][i / 2 % 2], 10_000 + i * i % 900))
        .collect();
    let folder = folder(format!("patient_id,age,sex,zip\n{rows}").as_bytes(), POLICY);
    let before = listing(folder.path());
    for name in ["t.csv", "p.toml"] {
        if name == "p.toml" {
            let policy = "[input]\ntable = \"t.csv\"\n[columns]\npatient_id = { role = \"patient\" }\nage = { role = \"quasi\" }\n\
                sex = { role = \"quasi\" }\nzip = { role = \"quasi\" }\n[population]\nsize = 5000\n[privacy]\n[method]\nname = \"suppress\"\n";
            fs::write(folder.path().join(name), policy).unwrap();
        }
        let said = run(folder.path(), &["risk", name]);
        assert_eq!(said.code, Some(0), "{}", said.all());
        let lines: Vec<&str> = said.out.lines().collect();
        assert!(lines.len() <= 24 && lines.iter().all(|l| l.chars().count() <= 80), "{}", said.out);
        assert!(said.out.starts_with("400 rows, 350 patients\nmean risk "), "{}", said.out);
        assert!(said.out.contains("\nunique on all 3 quasi-identifiers: "), "{}", said.out);
        for words in ["singled out", "2 ", "age + zip", "would no longer be unique", "k = 5 by "] {
            assert!(said.out.contains(words), "{words}: {}", said.out);
        }
        assert!(!said.all().contains("CANARY") && !said.all().contains("10000"));
        assert_eq!(said.out.contains("unique in the population as well"), name == "p.toml", "{}", said.out);
        assert_eq!(said.err.contains("roles are guessed"), name == "t.csv");
    }
    assert_eq!(listing(folder.path()), before);
}

#[test]
fn the_demo_prints_a_table_that_programs_and_people_can_read() {
    let here = tempfile::tempdir().unwrap();
    let said = run(here.path(), &["demo", "--rows", "2000"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.err.is_empty(), "no progress in a pipe: {}", said.err);
    assert!(said.out.ends_with('\n') && !said.out.contains(['\r', '\t', '\u{1b}']));
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines.iter().all(|l| l.chars().count() <= 100 && *l == l.trim_end()), "{}", said.out);
    assert_eq!(lines[0], "A synthetic hospital of 2,000 patients, and a policy for each method:");
    let header = lines.iter().position(|l| l.starts_with("method ")).unwrap();
    let rows: Vec<&&str> = lines[header + 1..].iter().take_while(|l| !l.is_empty()).collect();
    assert!(rows.iter().all(|r| r.chars().count() == lines[header].chars().count()), "columns are aligned");
    let methods = ["local", "lattice", "specialize", "suppress", "ceiling", "disassociate", "claims"];
    assert_eq!(rows.iter().map(|r| r.split_whitespace().next().unwrap()).collect::<Vec<_>>(), methods);
    assert!(rows.iter().all(|r| r.ends_with(" yes")), "{}", said.out);
    for path in lines.iter().filter_map(|l| l.strip_prefix("  ")).filter(|l| !l.starts_with("kohort ")) {
        assert!(here.path().join(path).is_file(), "{path}");
    }
    for method in methods {
        let folder = format!("kohort-demo/{method}");
        let verify = run(here.path(), &["verify", &folder]);
        // Patients and synthetic records cannot be counted from the release alone.
        assert_eq!(verify.code, Some(5), "{method}: {}", verify.all());
        assert!(said.out.contains(&format!("{folder}/evidence/report.html")));
        let metrics = fs::read_to_string(here.path().join(&folder).join("evidence/metrics.json")).unwrap();
        assert!(metrics.contains("\"test\": false"), "{method} is no test");
    }
    assert!(lines.last().unwrap().starts_with("  kohort verify "));
    assert_eq!(run(here.path(), &["demo", "--rows", "2000"]).code, Some(2), "it exists");
    let tiny = run(here.path(), &["demo", "--rows", "60", "--force"]);
    assert_eq!(tiny.code, Some(0), "{}", tiny.all());
    assert!(tiny.out.contains("no release meets the policy"), "so few patients: {}", tiny.out);
    fs::create_dir(here.path().join("mine")).unwrap();
    fs::write(here.path().join("mine/x"), "x").unwrap();
    assert_eq!(run(here.path(), &["demo", "-o", "mine", "--force"]).code, Some(2));
    assert!(here.path().join("mine/x").exists());
}

#[test]
fn a_closed_pipe_is_no_error_of_ours() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let script = format!("'{}' risk p.toml | true; '{0}' --help | true", env!("CARGO_BIN_EXE_kohort"));
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

/// R6: a patient who is unique by two of their rows is one patient.
#[test]
fn risk_counts_patients_once() {
    let table = "pid,q\np1,a\np1,b\np2,c\np2,d\np3,e\np4,e\n";
    let policy = "[input]\ntable = \"t.csv\"\n[columns]\npid = { role = \"patient\" }\nq = { role = \"quasi\" }\n\
        [privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n";
    let folder = folder(table.as_bytes(), policy);
    let said = run(folder.path(), &["risk", "p.toml"]);
    assert!(said.out.contains("unique on all 1 quasi-identifiers: 2 of 4 patients (50.0 %)"), "{}", said.out);
}

/// R6: "45 in, 17 out, 7 suppressed" left out 21 excluded rows: what went in is what was excluded, suppressed and
/// released.
#[test]
fn the_rows_that_are_printed_add_up() {
    let table: String = (0..45).fold("q,dx\n".into(), |text, i| {
        let (q, dx) = match i {
            0..21 => ("a".to_string(), "042"),
            21..28 => (format!("rare{i}"), "401"),
            _ => ("a".to_string(), "250"),
        };
        text + &format!("{q},{dx}\n")
    });
    let policy = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\ndx = { role = \"identifier\" }\n\
        [[exclude]]\ncolumn = \"dx\"\ncodes = [\"042\"]\nscope = \"row\"\n\
        [privacy]\nk = 5\n[method]\nname = \"lattice\"\nmax_suppressed = 0.5\n";
    let folder = folder(table.as_bytes(), policy);
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(said.out.contains("rows       45 in, 21 excluded, 7 suppressed, 17 out"), "{}", said.out);
    assert!(said.out.contains("cells      29.2 % of those that others may know are suppressed"), "{}", said.out);
    assert!(said.out.contains("(0: nothing lost, 1: everything)"), "{}", said.out);
}

#[test]
fn a_loss_with_weights_is_called_so() {
    let policy = "[input]\ntable = \"t.csv\"\n[columns]\nsex = { role = \"quasi\", weight = 40 }\njob = { role = \"quasi\" }\n\
        [privacy]\nk = 2\n[method]\nname = \"local\"\n";
    let folder = folder(b"sex,job\nF,a\nF,b\nM,c\nM,d\n", policy);
    let said = run(folder.path(), &["anonymize", "p.toml"]);
    assert!(said.out.contains("cells      50.0 % of those that others may know are suppressed"), "{}", said.out);
    assert!(said.out.contains("(0: nothing lost, 1: everything; columns count by their weights)"), "{}", said.out);
    assert!(said.all().contains("`job` (100 %) is suppressed in more than half"), "{}", said.all());
}

/// R6: U+202E turns the rest of a line around, so that a name can look like another one.
#[test]
fn a_name_cannot_turn_a_line_around() {
    let table = TABLE.replacen("q,r", "\"q\u{202e}x\",r", 1);
    let policy = POLICY.replace("q = {", "\"q\\u202ex\" = {");
    let folder = folder(table.as_bytes(), &policy);
    for args in [vec!["anonymize", "p.toml"], vec!["verify", "p-release"], vec!["verify", "p-release", "--json"]] {
        let said = run(folder.path(), &args);
        assert!(is_whole(said.code), "{}", said.all());
        assert!(!said.all().contains('\u{202e}'), "{args:?}");
    }
}

/// A script sees by the exit code what was not counted.
#[test]
fn verify_has_three_results_for_scripts() {
    let rows = POLICY.replace("pid = { role = \"patient\" }", "pid = { role = \"identifier\" }");
    let rows = rows.replace("o = { role = \"other\", reason = \"a test\" }", "o = { role = \"identifier\" }");
    let all = folder(TABLE.as_bytes(), &rows);
    assert_eq!(run(all.path(), &["anonymize", "p.toml"]).code, Some(0));
    let said = run(all.path(), &["verify", "p-release", "--json"]);
    assert!(said.code == Some(0) && said.out.contains("\"result\": \"verified\""), "{}", said.all());
    assert!(said.out.contains("\"depth\": \"release\""), "{}", said.out);
    let said = run(all.path(), &["verify", "p-release", "--strict"]);
    assert!(said.code == Some(1) && said.err.contains("unsigned: nobody vouches for this"), "{}", said.all());
    let part = folder(TABLE.as_bytes(), POLICY);
    assert_eq!(run(part.path(), &["anonymize", "p.toml"]).code, Some(0));
    let said = run(part.path(), &["verify", "p-release", "--json"]);
    assert!(said.code == Some(5) && said.out.contains("\"result\": \"partly\""), "{}", said.all());
    let said = run(part.path(), &["verify", "p-release", "--strict", "--json"]);
    assert!(said.code == Some(1) && said.out.contains("\"result\": \"refused\""), "{}", said.all());
}
