//! Runs the commands of the guides about databases, as they are printed.

use crate::server::{Clinic, port};
use std::fs;
use std::path::Path;

/// Runs the commands of a page on the clinic: its host is the test's server.
#[track_caller]
fn check(clinic: &Clinic, page: &str) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let text = fs::read_to_string(project.join(page)).unwrap();
    let (reader, writer) = (clinic.reader(), clinic.writer());
    let here = |line: &str| {
        line.replace("reader@db.example.org/clinic", &format!("{reader}@127.0.0.1:{}/{}", port(), clinic.name))
            .replace("writer@db.example.org/clinic", &format!("{writer}@127.0.0.1:{}/{}", port(), clinic.name))
    };
    let (mut commands, mut block): (usize, Option<String>) = (0, None);
    let mut file = String::new();
    for line in text.lines() {
        match (line.strip_prefix("```"), &block) {
            (Some(_), Some(info)) => {
                if let Some((_, name)) = info.split_once(' ') {
                    clinic.write(name, &here(&file));
                }
                block = None;
            }
            (Some(info), None) => {
                block = Some(info.to_string());
                file.clear();
            }
            (None, Some(info)) if info == "sh" => {
                let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
                let code = comment.split_once("exit code ").map_or(0, |(_, code)| code[..1].parse().unwrap());
                let line = here(line.trim());
                match line.split_once(' ') {
                    Some(("kohort", args)) => {
                        let args: Vec<String> =
                            args.split_whitespace().map(|own| own.trim_matches('"').to_string()).collect();
                        clinic.works(&args.iter().map(String::as_str).collect::<Vec<_>>(), code);
                        commands += 1;
                    }
                    // It makes the command that is tested here.
                    Some(("cargo", _)) => {}
                    // The passwords of the test's roles are in a file.
                    Some(("export", "PGPASSFILE=~/.pgpass")) => {}
                    _ => panic!("{page} shows a command that no test can run: {line}"),
                }
            }
            (None, Some(_)) => file += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(commands > 2, "{page} shows {commands} commands");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_table_in_postgresql_is_published_as_the_guide_says() {
    let clinic = Clinic::new("guide_table");
    clinic.sql(
        "CREATE TABLE cdm.visits AS SELECT i AS visit_id, i / 3 AS patient_id, 20 + (i * 7919) % 60 AS age, \
         CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END AS sex, (ARRAY['north', 'south', 'east'])[1 + i % 3] AS region, \
         DATE '2024-01-01' + i % 300 AS admitted, (ARRAY['I10', 'E11', 'J18', 'C50'])[1 + (i * 31) % 4] AS diagnosis \
         FROM generate_series(1, 3000) i",
    );
    check(&clinic, "docs/guides/postgresql.md");
    assert_ne!(clinic.sql("SELECT count(*) FROM study_2024.visits").trim(), "0");
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn an_omop_database_is_published_as_the_guide_says() {
    let clinic = Clinic::new("guide_omop");
    crate::omop::fill(&clinic);
    check(&clinic, "docs/guides/omop-database.md");
    assert_ne!(clinic.sql("SELECT count(DISTINCT person_id) FROM omop_release.person").trim(), "0");
}
