//! Runs every command that the README and the guides show, in the order shown, on the demo's data, and checks links.

use crate::common::{kohort, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The project's folder.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The command with which every guide begins; its output is made once and copied.
const DEMO: &str = "demo --rows 2000";

fn demo() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let said = run(folder.path(), &DEMO.split(' ').collect::<Vec<_>>());
        assert_eq!(said.code, Some(0), "{}", said.all());
        folder
    });
    made.path()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Fenced blocks: the text behind the opening fence, and the lines of the block.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(info) => {
                blocks.push((info.to_string(), Vec::new()));
                open = true;
            }
            None if open => blocks.last_mut().unwrap().1.push(line.to_string()),
            None => {}
        }
    }
    assert!(!open, "a block stays open");
    blocks
}

/// Runs the commands of a page: `sh` blocks line by line; a block with a file name behind its fence becomes that file.
#[track_caller]
fn check(page: &str, begin: impl Fn(&Path)) {
    let text = fs::read_to_string(project().join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    begin(folder.path());
    let mut here = folder.path().to_path_buf();
    let mut commands = 0;
    for (info, lines) in blocks(&text) {
        match info.split_once(' ') {
            Some((_, file)) => fs::write(here.join(file), lines.join("\n")).unwrap(),
            None if info == "sh" => {
                for line in &lines {
                    let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
                    let line = line.trim();
                    // A comment says where another exit code than 0 is expected.
                    let code = comment.split_once("exit code ").map_or(0, |(_, code)| code[..1].parse().unwrap());
                    match line.split_once(' ') {
                        Some(("kohort", DEMO)) => copy(demo(), &here),
                        Some(("kohort", args)) => {
                            let said = kohort(&here).args(args.split_whitespace()).output().unwrap();
                            let err = String::from_utf8_lossy(&said.stderr);
                            assert_eq!(said.status.code(), Some(code), "{page}: {line}\n{err}");
                        }
                        Some(("cd", to)) => here = here.join(to),
                        // They make the command that is tested here.
                        Some(("cargo", _)) => {}
                        _ => panic!("{page} shows a command that no test can run: {line}"),
                    }
                    commands += usize::from(line.starts_with("kohort "));
                }
            }
            None => {}
        }
    }
    assert!(commands > 0, "{page} shows no command");
}

#[test]
fn a_table_is_published_as_the_guide_says() {
    check("docs/guides/publish-a-table.md", |_| {});
}

#[test]
fn a_release_by_local_is_analysed_as_the_guide_says() {
    check("docs/guides/analyse-local.md", |_| {});
}

#[test]
fn a_public_use_file_is_published_as_the_guide_says() {
    check("docs/guides/public-use-file.md", |_| {});
}

#[test]
fn codes_are_published_as_the_guide_says() {
    check("docs/guides/diagnosis-codes.md", |_| {});
}

#[test]
fn claims_are_published_as_the_guide_says() {
    check("docs/guides/claims.md", |_| {});
}

#[test]
fn k_is_chosen_as_the_guide_says() {
    check("docs/guides/choose-k.md", |_| {});
}

#[test]
fn a_release_is_signed_as_the_guide_says() {
    check("docs/guides/sign-a-release.md", |_| {});
}

#[test]
fn the_same_patients_are_released_again_as_the_guide_says() {
    check("docs/guides/release-again.md", |_| {});
}

#[test]
fn what_the_studio_does_is_done_without_it_as_the_guide_says() {
    check("docs/guides/studio.md", |_| {});
}

#[test]
fn an_excel_export_is_published_as_the_guide_says() {
    check("docs/guides/excel-export.md", |folder| {
        fs::copy(project().join("data/guides/ward.xlsx"), folder.join("ward.xlsx")).unwrap();
    });
}

#[test]
fn an_omop_folder_is_published_as_the_guide_says() {
    check("docs/guides/omop-folder.md", |folder| crate::first_contact::omop(&folder.join("omop")));
}

#[test]
fn a_wide_survey_is_published_as_the_guide_says() {
    check("docs/guides/wide-survey.md", |folder| crate::first_contact::survey(&folder.join("survey.csv")));
}

#[test]
fn a_folder_of_parquet_files_is_published_as_the_guide_says() {
    check("docs/guides/parquet-folder.md", |folder| crate::parquet_folder::claims(&folder.join("claims")));
}

#[test]
fn next_month_is_released_as_the_guide_says() {
    check("docs/guides/next-month.md", |_| {});
}

#[test]
fn the_readme_works() {
    check("README.md", |folder| {
        fs::copy(demo().join("kohort-demo/patients.csv"), folder.join("patients.csv")).unwrap();
    });
}

#[test]
fn every_guide_is_run() {
    let own = include_str!("docs.rs");
    for entry in fs::read_dir(project().join("docs/guides")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Their examples are run in Python: tests/python/test_guide.py, test_spark.py and test_notebook.py.
        let in_python = ["python.md", "spark.md", "python.ipynb"];
        // These need a server: tests/postgres/guides.rs.
        let in_database = ["postgresql.md", "omop-database.md"];
        if in_python.contains(&&*name) || in_database.contains(&&*name) {
            continue;
        }
        assert!(own.contains(&format!("check(\"docs/guides/{name}\"")), "no test runs {name}");
    }
}

/// Markdown files below a folder.
fn pages(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, all);
        } else if path.extension().is_some_and(|e| e == "md") {
            all.push(path);
        }
    }
}

/// Every page that somebody may read: those of the project's folder, the manual, and the pages beside the code.
fn every_page() -> Vec<PathBuf> {
    let top = fs::read_dir(project()).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = top.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    for folder in ["docs", "crates", "data"] {
        pages(&project().join(folder), &mut all);
    }
    all
}

/// The anchor that a heading gets: lower case, without punctuation, spaces as hyphens.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn no_link_leads_nowhere() {
    for page in every_page() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.starts_with("http") || link.contains(' ') {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !place.is_empty() {
                let headings = fs::read_to_string(&target).unwrap();
                let mut headings = headings.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|heading| anchor(heading) == place), "{}: {link}", page.display());
            }
        }
    }
}

#[test]
fn the_tour_names_files_that_exist() {
    let text = fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let (_, tour) = text.split_once("\n## A tour").unwrap();
    let named: Vec<&str> = tour.split('`').filter(|word| word.starts_with("crates/")).collect();
    assert!(named.len() >= 10, "{named:?}");
    for path in named {
        assert!(project().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}

#[test]
fn the_manual_lists_every_page() {
    let index = fs::read_to_string(project().join("docs/README.md")).unwrap();
    let mut all = Vec::new();
    pages(&project().join("docs"), &mut all);
    for page in all {
        let name = page.strip_prefix(project().join("docs")).unwrap().to_str().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "docs/README.md does not list {name}");
    }
}

/// Every page about a paper has tables that docs/papers/make.py measures again: each mark names a benchmark or a test
/// that exists, and holds a table.
#[test]
fn measured_tables_name_a_command_that_exists() {
    let manifest = fs::read_to_string(project().join("crates/kohort-cli/Cargo.toml")).unwrap();
    let suite = project().join("crates/kohort/tests/suite");
    let pages = |folder: &str| {
        let entries = fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut pages: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
        pages.sort();
        pages
    };
    let papers = pages("docs/papers");
    assert_eq!(papers.len(), 5, "{papers:?}");
    for page in papers.iter().chain(&pages("docs")) {
        let text = fs::read_to_string(page).unwrap();
        let marked: Vec<&str> = text.split("<!-- measured: ").skip(1).collect();
        assert!(!marked.is_empty() || !papers.contains(page), "{}: nothing in it is measured", page.display());
        assert_eq!(text.matches("<!-- end -->").count(), marked.len(), "{}", page.display());
        for mark in marked {
            let (command, rest) = mark.split_once(" -->\n").unwrap();
            let (measured, _) =
                rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("{}: {command}", page.display()));
            let mut words = command.split(' ');
            let exists = match (words.next(), words.next()) {
                (Some("test"), Some(module)) => suite.join(format!("{module}.rs")).is_file(),
                (Some(bench), _) => manifest.contains(&format!("[[bench]]\nname = \"{bench}\"\n")),
                _ => false,
            };
            assert!(exists, "{}: {command} is not a benchmark or a test", page.display());
            assert!(measured.contains("|---|"), "{}: {command} has no table", page.display());
        }
    }
}

/// docs/papers-and-tests.md names tests for each of the nineteen findings, and each of them is a test.
#[test]
fn every_finding_about_the_papers_has_tests_that_exist() {
    let text = fs::read_to_string(project().join("docs/papers-and-tests.md")).unwrap();
    for number in 1..=19 {
        let begin = format!("| P{number} | ");
        let line = text.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("P{number} is missing"));
        let named: Vec<&str> = line.split('`').filter(|part| part.starts_with("crates/")).collect();
        assert!(!named.is_empty(), "P{number} has no test");
        for test in named {
            let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{test} names no function"));
            let source = fs::read_to_string(project().join(file)).unwrap_or_else(|_| panic!("there is no {file}"));
            let at = source.find(&format!("fn {name}(")).unwrap_or_else(|| panic!("{file} has no {name}"));
            let above = source[..at].trim_end();
            assert!(above.ends_with("#[test]"), "{test} is not a test");
        }
    }
}
