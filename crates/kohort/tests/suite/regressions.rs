//! What went wrong once.

use crate::common::run::{options, release};
use crate::common::table::{Table, lines};
use crate::common::tamper::{certificate, put_certificate, put_data, rewrite_certificate};
use kohort::pipeline::open;
use kohort_core::error::Kind;
use kohort_core::verify::{verify_release, verify_with_original};
use std::fs;
use std::path::{Path, PathBuf};

/// Releases `table` under a policy with these columns, this privacy, and max_suppressed.
#[track_caller]
fn run(folder: &Path, table: &str, columns: &str, privacy: &str, max_suppressed: &str) -> PathBuf {
    fs::write(folder.join("t.csv"), table).unwrap();
    let policy = folder.join("p.toml");
    let method = format!("[method]\nname = \"lattice\"\nmax_suppressed = {max_suppressed}\n");
    fs::write(&policy, format!("[input]\ntable = \"t.csv\"\n{columns}[privacy]\n{privacy}{method}")).unwrap();
    release(&policy, "out", &options(1, 1)).unwrap_or_else(|e| panic!("{e}")).0
}

#[test]
fn a_detail_is_hidden_where_its_column_leaves_as_suppressed_on_level_0() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tree.csv"), "a;x;*\nb;x;*\n").unwrap();
    let columns = "[columns]\nq = { role = \"quasi\", hierarchy = \"tree.csv\", unmapped = \"suppress\" }\n\
                   n = { role = \"quasi\", hierarchy = { intervals = [5], from = 0, to = 10 } }\n\
                   d = { role = \"detail\", of = [\"q\"] }\ne = { role = \"detail\", of = [\"n\"] }\n";
    let table = "q,n,d,e\na,1,d1,e1\na,1,d2,e2\nzz,1,SHOWN,e3\nyy,1,SHOWN,e4\na,77,d3,SHOWN\na,88,d4,SHOWN\n";
    let out = run(folder.path(), table, columns, "k = 2\n", "0");
    let rows = Table::released(&out).sorted();
    assert_eq!(
        rows,
        [
            ["*", "1", "*", "e3"],
            ["*", "1", "*", "e4"],
            ["a", "1", "d1", "e1"],
            ["a", "1", "d2", "e2"],
            ["a", ">=10", "d3", "*"],
            ["a", ">=10", "d4", "*"]
        ]
    );
    // And the verifier sees a detail beside a suppressed cell.
    let mut table = Table::released(&out);
    table.rows.iter_mut().filter(|r| r[0] == "*").for_each(|r| r[2] = "SHOWN".into());
    put_data(&out, &table);
    rewrite_certificate(&out, 2);
    let error = verify_release(&out, 1).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("a detail is released"), "{error}");
}

#[test]
fn a_column_of_one_value_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\n";
    let out = run(folder.path(), "q,r\nUS,a\nUS,a\nUS,b\n", columns, "k = 3\n", "0");
    assert_eq!(Table::released(&out).sorted(), [["US", "*"], ["US", "*"], ["US", "*"]]);
}

/// R6: under `class_size` a suppressed column of one value costs nothing, so that it was released as `*`.
#[test]
fn a_column_of_one_value_stays_as_it_is_whatever_the_objective() {
    for objective in ["loss", "precision", "entropy", "discernibility", "class_size"] {
        let folder = tempfile::tempdir().unwrap();
        let columns = "[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\n";
        let asked = format!("0\nobjective = \"{objective}\"");
        let out = run(folder.path(), "q,r\nUS,a\nUS,a\nUS,b\n", columns, "k = 3\n", &asked);
        assert_eq!(Table::released(&out).sorted(), [["US", "*"], ["US", "*"], ["US", "*"]], "{objective}");
    }
}

#[test]
fn the_recount_shows_no_more_than_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\", values = [\"x\"] }\n";
    let mut table = "q,s\n".to_string();
    (0..100).for_each(|i| table += &format!("a,{}\n", if i < 7 { "x" } else { ["y", "z"][i % 2] }));
    let out = run(folder.path(), &table, columns, "k = 5\nconfidence = 0.07\n", "0");
    let shown = &certificate(&out)["counted"]["recount"]["sensitive"][0]["highest_confidence"];
    assert_eq!(shown, "0.0700", "7 of 100 are 0.07, not 0.0701");
    let folder = tempfile::tempdir().unwrap();
    for l in [3, 5, 6, 7, 10] {
        let mut table = "q,s\n".to_string();
        (0..10 * l).for_each(|i| table += &format!("a,v{}\n", i % l));
        let columns = "[columns]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";
        let folder = folder.path().join(l.to_string());
        fs::create_dir(&folder).unwrap();
        let out = run(&folder, &table, columns, &format!("k = 5\nl_diversity = {{ entropy = {l} }}\n"), "0");
        let shown = &certificate(&out)["counted"]["recount"]["sensitive"][0]["least_diversity"];
        assert_eq!(*shown, format!("{l}.0000"));
    }
}

#[test]
fn rows_of_thousands_of_lines_are_released() {
    let folder = tempfile::tempdir().unwrap();
    let note = "\n".repeat(3000);
    let mut table = "q,note\n".to_string();
    (0..700).for_each(|_| table += &format!("a,\"{note}\"\n"));
    let columns = "[columns]\nq = { role = \"quasi\" }\nnote = { role = \"other\", reason = \"a test\" }\n";
    let out = run(folder.path(), &table, columns, "k = 5\n", "0");
    let mut lines = lines(&out);
    lines.sort_unstable();
    assert_eq!(lines, (0..700).map(|i| 2 + 3001 * i).collect::<Vec<_>>());
}

#[test]
fn the_folder_of_a_hierarchy_is_not_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join("hidden-place");
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("tree.csv"), "a;x;*\nb;x;*\nc;y;*\n").unwrap();
    let columns = format!("[columns]\nq = {{ role = \"quasi\", hierarchy = {:?} }}\n", hidden.join("tree.csv"));
    let out = run(folder.path(), "q\na\nb\n", &columns, "k = 2\n", "0");
    assert!(fs::read_to_string(out.join("release/dictionary.md")).unwrap().contains("the file tree.csv"));
    for file in ["dictionary.md", "certificate.json", "data.csv"] {
        assert!(!fs::read_to_string(out.join("release").join(file)).unwrap().contains("hidden-place"), "{file}");
    }
}

#[test]
fn values_are_ordered_as_numbers_with_the_decimal_mark_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "decimal = \",\"\n[columns]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";
    let table = "q;s\na;1,5\na;10\na;9,25\n";
    let out = run(folder.path(), table, columns, "k = 3\nt_closeness = { max = 0.5, distance = \"ordered\" }\n", "0");
    let order = &certificate(&out)["counted"]["claim"]["sensitive"][0]["t_closeness"]["order"];
    assert_eq!(*order, serde_json::json!(["1,5", "9,25", "10"]));
}

#[test]
fn a_certificate_that_claims_less_than_the_policy_is_refused_beside_it() {
    use kohort_core::verify::verify_with_original;
    let folder = tempfile::tempdir().unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\n";
    let table = "q,r\na,1\na,1\na,1\na,1\n";
    let out = run(folder.path(), table, columns, "k = 4\n", "0");
    let mut weaker = certificate(&out);
    weaker["counted"]["claim"]["k"] = serde_json::json!(2);
    for place in ["/counted/guarantee", "/attested/guarantee/aware"] {
        let sentence = weaker.pointer_mut(place).unwrap();
        let text = sentence.as_str().unwrap().replace("at least 4", "at least 2").replace("1/4", "1/2");
        *sentence = serde_json::json!(text);
    }
    put_certificate(&out, &weaker);
    verify_release(&out, 1).expect("what it claims is true");
    let (source, policy) = kohort::pipeline::open(&folder.path().join("p.toml"), &options(1, 1)).unwrap();
    let error = verify_with_original(&out, &source, &policy).unwrap_err();
    assert!(error.kind == Kind::Refused && error.message.contains("k differs"), "{error}");
}

#[test]
fn force_replaces_a_release_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\n";
    let out = run(folder.path(), "q\na\na\n", columns, "k = 2\n", "0");
    let policy = folder.path().join("p.toml");
    let force = kohort::pipeline::Options { force: true, ..options(1, 1) };
    release(&policy, "out", &force).expect("a release is replaced");
    fs::create_dir(folder.path().join("empty")).unwrap();
    release(&policy, "empty", &force).expect("an empty folder is replaced");
    let precious = folder.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::copy(folder.path().join("t.csv"), precious.join("t.csv")).unwrap();
    for (target, why) in [("precious", "not a folder that Kohort made"), ("t.csv", "which this command reads")] {
        let error = release(&policy, target, &force).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains(why), "{error}");
    }
    assert!(precious.join("t.csv").exists() && folder.path().join("t.csv").exists() && out.exists());
}

/// The verifier refused the release: an empty tree of values was taken for a damaged one.
#[test]
fn a_tree_of_sensitive_values_of_which_all_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.csv"), "1;low;*\n2;low;*\n3;high;*\n").unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\", hierarchy = \"s.csv\" }\n";
    let privacy = "k = 2\nt_closeness = { max = 0.3, distance = \"hierarchical\" }\n";
    let out = run(folder.path(), "q,s\na,\na,\nb,\nb,\n", columns, privacy, "0");
    verify_release(&out, 1).expect("it verifies");
}

/// A limit on `hiv` was accepted for a table that says `HIV`: nobody was protected, and a note was all that said so.
#[test]
fn a_listed_value_in_another_spelling_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |table: &str, values: &str| {
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let policy = folder.path().join("p.toml");
        let text = format!(
            "[input]\ntable = \"t.csv\"\n[columns]\nq = {{ role = \"quasi\" }}\n\
             s = {{ role = \"sensitive\", values = [{values}] }}\n[privacy]\nk = 2\nconfidence = 0.5\n\
             [method]\nname = \"lattice\"\nmax_suppressed = 0\n"
        );
        fs::write(&policy, text).unwrap();
        release(&policy, &format!("out-{}", values.len()), &options(1, 1))
    };
    let error = write("q,s\na,HIV\na,flu\n", "\"hiv\"").unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("another spelling"), "{error}");
    assert!(!error.message.contains("HIV"), "{error}");
    // One spelling is listed, and the table has a second one.
    let error = write("q,s\na,HIV\na,hiv \n", "\"HIV\"").unwrap_err();
    assert!(error.message.contains("lists \"HIV\""), "{error}");
    write("q,s\na,HIV\na,flu\n", "\"HIV\", \"hiv\"").unwrap();
    let (_, honest) = write("q,s\na,HIV\na,flu\n", "\"HIV\"").unwrap();
    assert!(!honest.notes.iter().any(|note| note.contains("looks like")), "{:?}", honest.notes);
    let (_, two) = write("q,s\na,HIV\na,flu\na,Flu\na,tb\n", "\"HIV\", \"TB\", \"tb\"").unwrap();
    assert!(two.notes.iter().any(|note| note.contains("`s`: 1 value looks like another one")), "{:?}", two.notes);
}

/// The same for the sensitive codes of a patient.
#[test]
fn a_sensitive_code_in_another_spelling_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "dx\nB20 I10\nB20 I10\nb20 I10\nI10\n").unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\ndx = { role = \"codes\", separator = \" \" }\n\
                [privacy]\nk = 2\nknows = 1\n[method]\nname = \"disassociate\"\nsensitive = [\"B20\"]\n";
    fs::write(&policy, text).unwrap();
    let error = release(&policy, "out", &options(1, 1)).unwrap_err();
    assert!(error.kind == Kind::Yours && error.message.contains("lists \"B20\""), "{error}");
}

/// Without private/rows each unchanged column was compared by itself, so that two people could change their diagnoses.
#[test]
fn sensitive_values_of_two_classes_do_not_change_places() {
    let folder = tempfile::tempdir().unwrap();
    let columns = "[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";
    let table = "q,r,s\na,1,hiv\na,1,flu\na,1,flu\nb,2,tb\nb,2,flu\nb,2,flu\n";
    for (method, name) in [("lattice", "lattice\"\nmax_suppressed = 0"), ("suppress", "suppress\"")] {
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let policy = folder.path().join("p.toml");
        let text = format!(
            "[input]\ntable = \"t.csv\"\n{columns}[privacy]\nk = 3\nconfidence = 0.7\n[method]\nname = \"{name}\n"
        );
        fs::write(&policy, text).unwrap();
        let (out, _) = release(&policy, method, &options(1, 1)).unwrap();
        fs::remove_dir_all(out.join("private")).unwrap();
        let (source, policy) = open(&policy, &options(1, 1)).unwrap();
        let honest = verify_with_original(&out, &source, &policy).unwrap();
        assert!(honest.not_shown().iter().all(|gap| !gap.contains("`s`")), "{:?}", honest.not_shown());
        let mut released = Table::released(&out);
        for row in &mut released.rows {
            row[2] = match row[2].as_str() {
                "hiv" => "tb".into(),
                "tb" => "hiv".into(),
                own => own.into(),
            };
        }
        put_data(&out, &released);
        rewrite_certificate(&out, 2);
        let error = verify_with_original(&out, &source, &policy).unwrap_err();
        assert!(error.kind == Kind::Refused && error.message.contains("more rows of a kind"), "{method}: {error}");
    }
}
