//! Canaries: every cell of every ward can be told from all other text. Whatever Kohort prints or writes is
//! searched for them.
//!
//! The rule: values of the data are in cells of release/ data files, and
//! - in DIR/evidence (report.html and metrics.json) labels of quasi-identifiers and codes, where distributions, a
//!   method's steps or what went missing are shown by value: it is the custodian's own folder, which nobody else can
//!   look into. What is made for others to see (`--shareable`) shows none;
//! - in DIR/evidence/policy.toml, the certificate and errors, values that the policy or a hierarchy names;
//! - on the screen, what was asked for with `--show-values` or `hierarchy --column`.
//!
//! Identifiers, patients, pseudonyms, excluded rows and leaves that never occur stand nowhere.
#![cfg(unix)]

use crate::common::ward::{Seen, Ward, wards};
use crate::common::{Said, is_whole, kohort, listing, run};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// What may be in a cell of a release.
const RELEASED: [Seen; 2] = [Seen::Released, Seen::Reported];

/// Counts what was looked for.
#[derive(Default)]
struct Search {
    outputs: usize,
}

impl Search {
    /// No canary but those allowed is in a text.
    #[track_caller]
    fn none(&mut self, ward: &Ward, allowed: &[Seen], what: &str, text: &str) {
        self.outputs += 1;
        let words = text.contains("CANARY");
        for (column, value) in ward.canaries(allowed) {
            let found = (words || !value.starts_with("CANARY")) && text.contains(value.as_str());
            assert!(!found, "{}: {value:?} of `{column}` in {what}", ward.method);
        }
    }

    /// Nothing that a command says holds a canary.
    #[track_caller]
    fn silent(&mut self, ward: &Ward, folder: &Path, args: &[&str], code: Option<i32>) -> Said {
        let said = run(folder, args);
        assert!(code.is_none() || said.code == code, "{}, {args:?}: {}", ward.method, said.all());
        assert!(matches!(said.code, Some(0..=5)), "{}, {args:?}: {}", ward.method, said.all());
        self.none(ward, &[], &format!("what {args:?} says"), &said.all());
        said
    }

    /// Every file below DIR holds only what it may.
    fn files(&mut self, ward: &Ward, folder: &Path) {
        for path in listing(folder).into_iter().filter(|p| p.is_file()) {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let data = ["data.csv", "clusters.jsonl", "patients.csv", "claims.csv", "catalog.csv", "hierarchy.csv"];
            match name.split_once('/') {
                Some(("release", file)) if data.contains(&file) => self.none(ward, &RELEASED, &name, &text),
                Some(("evidence", "metrics.json" | "report.html")) => self.none(ward, &[Seen::Reported], &name, &text),
                // The policy as it is; what it names may also be claimed.
                Some(("evidence", "policy.toml")) => assert_eq!(text, ward.policy()),
                Some(("release", "certificate.json")) => {
                    let named = ward.policy();
                    let shown =
                        ward.canaries(&[]).find(|(_, v)| text.contains(v.as_str()) && !named.contains(v.as_str()));
                    assert_eq!(shown, None, "{}: {name}", ward.method);
                }
                _ => self.none(ward, &[], &name, &text),
            }
        }
    }
}

#[test]
fn no_command_shows_a_value() {
    let (mut search, mut planted, mut columns) = (Search::default(), 0, 0);
    for ward in &wards(120) {
        planted += ward.planted.iter().map(|p| p.values.len()).sum::<usize>();
        columns += ward.planted.len();
        let folder = tempfile::tempdir().unwrap();
        ward.write(folder.path());
        let ok = Some(0);
        search.silent(ward, folder.path(), &["anonymize", "p.toml", "-o", "out", "--keep-rows", "--shareable"], ok);
        search.files(ward, &folder.path().join("out"));
        search.silent(ward, folder.path(), &["anonymize", "p.toml", "-o", "out"], Some(2));
        // What a release alone cannot show is named, and the exit code says so.
        for args in [&["verify", "out"][..], &["verify", "out", "--json"], &["verify", "out", "--original", "p.toml"]] {
            let code = run(folder.path(), args).code;
            assert!(is_whole(code), "{}: {args:?}: {code:?}", ward.method);
            search.silent(ward, folder.path(), args, code);
        }
        search.silent(ward, folder.path(), &["risk", "p.toml"], ok);
        search.silent(ward, folder.path(), &["attack", "out", "--original", "p.toml"], None);
        search.silent(ward, folder.path(), &["hierarchy", "p.toml"], None);
        search.silent(ward, folder.path(), &["compare", "p.toml", "--vary", "k=2,4", "-o", "all"], ok);
        let made = folder.path().join("all");
        for file in ["compare.html", "compare.json"] {
            let text = fs::read_to_string(made.join(file)).unwrap();
            search.none(ward, &[Seen::Reported], file, &text);
        }
        search.silent(ward, folder.path(), &["init", "t.csv", "-o", "first.toml"], None);
        if let Ok(text) = fs::read_to_string(folder.path().join("first.toml")) {
            search.none(ward, &[], "a policy that init wrote", &text);
        }
        let made = match ward.method {
            "disassociate" => search.silent(ward, folder.path(), &["reconstruct", "out", "-o", "made"], ok),
            _ => search.silent(ward, folder.path(), &["reconstruct", "out", "-o", "made"], Some(2)),
        };
        assert!(made.code == Some(2) || folder.path().join("made").is_dir());
        search.silent(ward, folder.path(), &["truthful", "out", "-o", "view.csv"], Some(2));
        // Releases of mixed levels hold their hierarchy, and only those can be flattened.
        let code = if folder.path().join("out/release/hierarchy.csv").is_file() { ok } else { Some(2) };
        search.silent(ward, folder.path(), &["flatten", "out", "-o", "flat"], code);
    }
    println!("{planted} canaries in {columns} columns of 6 wards; {} outputs searched", search.outputs);
}

/// What may be in a cell that is wrong.
const BAD: [&str; 12] = [
    "CANARYbad",
    "*",
    "",
    "\"CANARYbad",
    "CANARYbad\"",
    "CANARYbad,CANARYbad",
    "CANARYbad\nCANARYbad",
    "-CANARYbad",
    "=CANARYbad",
    "7310137.CANARYbad",
    "1931-02-CANARYbad",
    "CANARYbad\u{fffd}\u{1b}[2J",
];

/// Every column of every ward with a bad cell in it, under policies that can and cannot be met: whatever
/// is said holds no value of the data.
#[test]
fn no_error_shows_a_value() {
    let (mut search, mut errors) = (Search::default(), std::collections::BTreeSet::new());
    for ward in &wards(60) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in ward.files.iter().filter(|(file, _)| ["t.csv", "c.csv"].contains(file)) {
            let width = text.lines().next().unwrap().split(',').count();
            for column in 0..width {
                for (n, bad) in BAD.iter().enumerate() {
                    // All of them once, the others for one method only: the readers are the same.
                    if ward.method != "lattice" && (n + column) % 9 != 0 {
                        continue;
                    }
                    ward.write(folder.path());
                    fs::write(folder.path().join(file), with_cell(text, 20, column, bad)).unwrap();
                    let said =
                        search.silent(ward, folder.path(), &["anonymize", "p.toml", "-o", "out", "--force"], None);
                    assert!(!said.all().contains("CANARY"), "{}: {}", ward.method, said.all());
                    errors.extend((said.code != Some(0)).then(|| shape(&said.err)));
                }
            }
        }
        let replaced = [
            ("k = 3", "k = 3000"),
            ("k = 3", "k = 0"),
            ("role = \"quasi\"", "role = \"quasy\""),
            ("[privacy]", "[privcy]"),
            ("t.csv", "none.csv"),
            ("[method]", "[method]\nfoo = 1"),
            ("scope = \"row\"", "scope = \"patient\""),
            ("job.csv", "none.csv"),
            ("dx.csv", "t.csv"),
            ("job.csv", "t.csv"),
            ("\"identifier\"", "\"quasi\""),
            ("\"patient\"", "\"identifier\""),
            ("from = 7310000", "from = 7340000"),
            ("%Y-%m-%d", "%d.%m.%Y"),
            ("k = 3\n", "k = 3\nl_diversity = { distinct = 50 }\n"),
            ("k = 3\n", "k = 3\nt_closeness = 0\n"),
            ("[11, 10, 9]", "[1]"),
            ("name = { role = \"identifier\" }\n", ""),
            ("max_suppressed = 0.3", "max_suppressed = 0"),
            ("max_counterfeits = 0.5", "max_counterfeits = 0"),
            ("h = \"auto\"", "h = 0"),
            ("separator = \" \"", "separator = \";\""),
            ("max_high_risk = 0.5", "max_high_risk = 0.001"),
            ("power = 2", "power = 20"),
            ("\"042\"", "\"V01\""),
            ("\"042\"", "\"401\""),
            ("[columns]", "[columns]\nmore = { from = \"sex\", role = \"quasi\" }"),
            ("t.csv\"\n", "t.csv\"\nheader = false\n"),
            ("t.csv\"\n", "t.csv\"\ndelimiter = \";\"\n"),
            ("t.csv\"\n", "t.csv\"\nmissing = [\"V01\"]\n"),
        ];
        for (from, to) in replaced.iter().filter(|(from, _)| ward.policy().contains(from)) {
            ward.write(folder.path());
            fs::write(folder.path().join("p.toml"), ward.policy().replacen(from, to, 1)).unwrap();
            let anonymize = &["anonymize", "p.toml", "-o", "out", "--force"][..];
            // Questions about the data are answered alike for every table.
            let asks = if ["lattice", "claims"].contains(&ward.method) { 3 } else { 1 };
            for command in [anonymize, &["risk", "p.toml"], &["hierarchy", "p.toml"]].into_iter().take(asks) {
                let said = search.silent(ward, folder.path(), command, None);
                errors.extend((said.code != Some(0)).then(|| shape(&said.err)));
            }
        }
    }
    println!("{} outputs searched, {} different errors among them", search.outputs, errors.len());
    assert!(errors.len() > 40, "{errors:#?}");
}

/// The table with another cell at a row and column.
fn with_cell(text: &str, row: usize, column: usize, cell: &str) -> String {
    let lines = text.lines().enumerate().map(|(n, line)| {
        let cells = line.split(',').enumerate();
        let cells = cells.map(|(c, own)| if (n, c) == (row, column) { cell } else { own });
        cells.collect::<Vec<_>>().join(",") + "\n"
    });
    lines.collect()
}

/// An error without its numbers: what kind it is.
fn shape(error: &str) -> String {
    error.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// While it runs: the process list, its environment, its threads' names, temporary files, and what lies
/// beside the target. Nobody who can list processes or read a shared folder learns a value.
#[test]
fn nothing_is_seen_from_outside_while_it_runs() {
    let mut search = Search::default();
    for ward in &wards(400) {
        let folder = tempfile::tempdir().unwrap();
        let temporary = tempfile::tempdir().unwrap();
        ward.write(folder.path());
        let mut command = kohort(folder.path());
        command.args(["anonymize", "p.toml", "-o", "out", "--keep-rows", "--threads", "2"]);
        command.env("TMPDIR", temporary.path()).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let process = Path::new("/proc").join(child.id().to_string());
        while child.try_wait().unwrap().is_none() {
            let tasks =
                fs::read_dir(process.join("task")).into_iter().flatten().flatten().map(|t| t.path().join("comm"));
            for file in
                [process.join("cmdline"), process.join("environ"), process.join("comm")].into_iter().chain(tasks)
            {
                let text = String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned();
                search.none(ward, &[], "the process list", &text);
            }
            // What is being made holds released values, never what must leave nowhere. Files come and go meanwhile.
            for path in staged(folder.path()) {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
                search.none(ward, &RELEASED, &path.display().to_string(), &text);
            }
            assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "no file but in the staging folder");
        }
        let said: Said = child.wait_with_output().unwrap().into();
        assert_eq!(said.code, Some(0), "{}", said.all());
        search.none(ward, &[], "what a run with every log level says", &said.all());
    }
    println!("{} outputs searched", search.outputs);
}

/// Files in staging folders, as far as they are still there.
fn staged(folder: &Path) -> Vec<std::path::PathBuf> {
    let hidden = |p: &std::path::PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(".out."));
    let mut open: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).filter(hidden).collect();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.flatten().map(|e| e.path())),
            Err(_) => files.push(path),
        }
    }
    files
}

/// The two ways to see a value are asked for by name, and show no other column's.
#[test]
fn values_are_shown_where_they_are_asked_for() {
    let wards = wards(60);
    let ward = &wards[0];
    let folder = tempfile::tempdir().unwrap();
    ward.write(folder.path());
    let said = run(folder.path(), &["hierarchy", "p.toml", "--column", "sex"]);
    assert!(said.out.contains("CANARYsex0x") && !said.all().contains("CANARYzip"), "{}", said.all());
    let text = &ward.files[0].1;
    fs::write(folder.path().join("t.csv"), with_cell(text, 20, 6, "CANARYnojob")).unwrap();
    let said = run(folder.path(), &["anonymize", "p.toml", "--show-values"]);
    assert!(said.code == Some(2) && said.err.contains("CANARYnojob"), "{}", said.all());
    assert_eq!(said.err.matches("CANARY").count(), 1, "{}", said.err);
}
