//! Accepts the suggestion of `init` at k = 5, releases the table and compares the release with the truth.

use super::{Counts, Data, Truth, Unprepared};
use kohort::init::init;
use kohort::pipeline::{Options, anonymize};
use kohort_core::policy::{self, Role};
use kohort_core::table::{Encoding, Input, Place, Silent, Source, locate, open};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The k that is chosen.
const K: usize = 5;

/// The judgement of one table.
#[derive(Debug, Clone, Default)]
pub struct Result {
    /// The table.
    pub name: String,
    /// Rows and columns of the table.
    pub size: (usize, usize),
    /// Seconds from the table to the release.
    pub seconds: f64,
    /// The reason why nothing was released.
    pub stopped: Option<String>,
    /// True if people are counted as they are.
    pub person: bool,
    /// Keys and direct identifiers that were released.
    pub keys: Vec<String>,
    /// Reasons why the release is unsafe.
    pub dangers: Vec<String>,
    /// Reasons why the release is less useful than it should be.
    pub losses: Vec<String>,
    /// The suggested policy.
    pub policy: String,
}

impl Result {
    /// Returns whether people were counted as they are and nothing that was released is dangerous. A table that was not
    /// finished in time is not known to be safe.
    pub fn is_safe(&self) -> bool {
        self.person && self.keys.is_empty() && self.dangers.is_empty()
    }

    /// Returns whether there is a release, safe and useful.
    pub fn is_useful(&self) -> bool {
        self.stopped.is_none() && self.is_safe() && self.losses.is_empty()
    }
}

/// Judges a table; a run that takes longer than the limit counts as stopped.
pub fn judge(table: &Unprepared, limit: Duration) -> Result {
    let (send, receive) = mpsc::channel();
    let (own, start) = (table.clone(), Instant::now());
    std::thread::spawn(move || {
        // Nobody waits any more after the limit.
        let _ = send.send(run(&own));
    });
    let mut result = receive.recv_timeout(limit).unwrap_or_else(|_| Result {
        stopped: Some(format!("not finished within {} s", limit.as_secs())),
        ..Result::default()
    });
    result.name.clone_from(&table.name);
    result.seconds = start.elapsed().as_secs_f64();
    result
}

fn run(table: &Unprepared) -> Result {
    let mut result = Result::default();
    if let Err(why) = release(table, &mut result) {
        result.stopped = Some(why.lines().next().unwrap_or_default().to_string());
    }
    result
}

fn release(table: &Unprepared, result: &mut Result) -> std::result::Result<(), String> {
    let say = |e: kohort_core::Error| e.to_string();
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = match &table.data {
        Data::File(path) => path.clone(),
        Data::Bytes(bytes) => {
            let path = folder.path().join("table.csv");
            fs::write(&path, bytes).map_err(|e| e.to_string())?;
            path
        }
        Data::Folder(files) => return release_folder(table, files, folder.path(), result),
    };
    let suggestion = init(std::slice::from_ref(&path), folder.path(), 2, Arc::new(Silent)).map_err(say)?;
    result.policy = suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n");
    let original = Cells::read(&path)?;
    result.size = (original.rows.len(), original.columns.len());
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, &result.policy).map_err(|e| e.to_string())?;
    // People are counted by the cells that the policy makes of the table.
    let cleaned = Cells::of(&open(&policy::read(&policy).map_err(say)?.input).map_err(say)?)?;
    let patient = suggestion.columns.iter().find(|column| column.role == Role::Patient);
    let chosen = cleaned.groups(patient.map(|column| column.name.as_str()));
    let people = match &table.truth.who {
        Some(who) => first_rows(who),
        None => original.groups(table.truth.person.as_deref()),
    };
    if people.len() != original.rows.len() {
        return Err("the truth names the people of another number of rows".into());
    }
    result.person = chosen == people;
    let options = Options { force: false, keep_rows: true, seed: None, threads: 2, progress: Arc::new(Silent) };
    let out = folder.path().join("out");
    anonymize(&policy, &out, &options).map_err(say)?;
    // A release is compressed if its table is.
    let [plain, gzipped] = ["data.csv", "data.csv.gz"].map(|name| out.join("release").join(name));
    let released = Cells::read(if plain.is_file() { &plain } else { &gzipped })?;
    let rows = fs::read_to_string(out.join("private").join("rows")).map_err(|e| e.to_string())?;
    let lines: Vec<usize> = rows.lines().filter_map(|line| line.parse().ok()).collect();
    let everybody = people;
    let people: Vec<usize> =
        lines.iter().filter_map(|line| original.lines.binary_search(line).ok()).map(|row| everybody[row]).collect();
    if people.len() < lines.len() {
        return Err("private/rows names lines that are no rows".into());
    }
    // Whose the rows without a key are does not matter where none of them is released.
    let place = patient.and_then(|column| cleaned.place(&column.name));
    let released_lines: BTreeSet<usize> = lines.iter().copied().collect();
    let is_without = |row: usize| {
        place.is_some_and(|place| ["", "unknown"].contains(&cleaned.rows[row][place].as_str()))
            && !released_lines.contains(&original.lines[row])
    };
    if !result.person && (0..original.rows.len()).any(is_without) {
        let with: Vec<usize> = (0..original.rows.len()).filter(|&row| !is_without(row)).collect();
        let groups = |all: &[usize]| first_rows(&with.iter().map(|&row| all[row]).collect::<Vec<_>>());
        result.person = groups(&chosen) == groups(&everybody);
    }
    compare(&table.truth, &original, &released, &people, result);
    Ok(())
}

/// The same for a folder of tables: people, and the events of these people.
fn release_folder(
    table: &Unprepared,
    files: &[(String, Vec<u8>)],
    folder: &Path,
    result: &mut Result,
) -> std::result::Result<(), String> {
    let say = |e: kohort_core::Error| e.to_string();
    let data = folder.join("data");
    fs::create_dir(&data).map_err(|e| e.to_string())?;
    for (name, bytes) in files {
        fs::write(data.join(name), bytes).map_err(|e| e.to_string())?;
    }
    let suggestion = init(std::slice::from_ref(&data), folder, 2, Arc::new(Silent)).map_err(say)?;
    result.policy = suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n");
    let chosen = suggestion.columns.iter().filter(|column| column.role == Role::Patient);
    let person = table.truth.person.clone();
    result.person = chosen.clone().count() > 0 && chosen.clone().all(|column| Some(&column.name) == person.as_ref());
    let policy = folder.join("policy.toml");
    fs::write(&policy, &result.policy).map_err(|e| e.to_string())?;
    let options = Options { force: false, keep_rows: false, seed: None, threads: 2, progress: Arc::new(Silent) };
    let out = folder.join("out");
    anonymize(&policy, &out, &options).map_err(say)?;
    let mut people = None;
    for file in fs::read_dir(out.join("release")).map_err(|e| e.to_string())?.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".csv") || name == "hierarchy.csv" {
            continue;
        }
        let released = Cells::read(&file.path())?;
        // The new number of a person has the name `patient` in every table.
        let keys = table.truth.keys.iter().chain(&table.truth.person).filter(|key| *key != "patient");
        result.keys.extend(keys.filter(|key| released.place(key).is_some()).cloned());
        let own: Vec<&str> = released.rows.iter().map(|row| row[0].as_str()).collect();
        for (place, column) in released.columns.iter().enumerate().skip(1) {
            let mut holders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (row, person) in released.rows.iter().zip(&own) {
                holders.entry(&row[place]).or_default().insert(person);
            }
            let alone =
                released.rows.iter().filter(|row| !row[place].is_empty() && holders[row[place].as_str()].len() == 1);
            if own.len() >= 20 && alone.count() * 2 > own.len() {
                result.dangers.push(format!("{name}: {column} is nearly unique"));
            }
        }
        if name == "patients.csv" {
            people = Some(released);
        }
    }
    let people = people.ok_or("no patients.csv was released")?;
    result.size = (people.rows.len(), people.columns.len());
    judge_use(&table.truth, &people, table.truth.people, result);
    Ok(())
}

/// Compares a release with the truth. Everything is counted here, from the released cells.
fn compare(truth: &Truth, original: &Cells, released: &Cells, people: &[usize], result: &mut Result) {
    let keys = truth.keys.iter().chain(&truth.person).filter(|key| released.place(key).is_some());
    result.keys = keys.cloned().collect();
    let known: Vec<usize> = truth.known.iter().filter_map(|name| released.place(name)).collect();
    let mut classes: BTreeMap<Vec<&str>, BTreeSet<usize>> = BTreeMap::new();
    for (row, &person) in released.rows.iter().zip(people) {
        classes.entry(known.iter().map(|&c| row[c].as_str()).collect()).or_default().insert(person);
    }
    let small = classes.values().filter(|people| people.len() < K).count();
    if small > 0 {
        result.dangers.push(format!("{small} classes of fewer than {K} people"));
    }
    let kept = released.rows.len();
    for (place, name) in released.columns.iter().enumerate() {
        let mut counts: Counts<&str> = Counts::new();
        released.rows.iter().for_each(|row| *counts.entry(row[place].as_str()).or_default() += 1);
        let alone = counts.iter().filter(|(cell, rows)| **rows == 1 && !cell.is_empty()).count();
        if kept >= 20 && alone * 2 > kept {
            result.dangers.push(format!("{name} is nearly unique"));
        }
    }
    judge_use(truth, released, original.rows.len(), result);
}

/// Judges whether most rows are there, and age and sex are still of use: in most rows, and an age with at least three
/// different labels. An age of one interval says nothing.
fn judge_use(truth: &Truth, released: &Cells, rows: usize, result: &mut Result) {
    let kept = released.rows.len();
    if kept * 100 < rows * 95 {
        result.losses.push(format!("{} % of the rows", kept * 100 / rows.max(1)));
    }
    for (what, names, fewest) in [("age", &truth.age, 3), ("sex", &truth.sex, 2)] {
        let is_shown = |name: &String| {
            let Some(place) = released.place(name) else { return false };
            let blank = released.rows.iter().filter(|row| row[place] == "*").count();
            let labels: BTreeSet<&str> = released.rows.iter().map(|row| row[place].as_str()).collect();
            let fewest = fewest.min(truth.fewest_labels);
            blank * 2 < kept && labels.iter().filter(|label| !["*", ""].contains(label)).count() >= fewest
        };
        if !names.is_empty() && !names.iter().any(is_shown) {
            result.losses.push(format!("no {what}"));
        }
    }
}

/// A table in memory.
struct Cells {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The line on which each row begins.
    lines: Vec<usize>,
}

impl Cells {
    fn read(path: &Path) -> std::result::Result<Cells, String> {
        Cells::read_as(path, Encoding::Utf8).or_else(|_| Cells::read_as(path, Encoding::Windows1252))
    }

    fn read_as(path: &Path, encoding: Encoding) -> std::result::Result<Cells, String> {
        let say = |e: kohort_core::Error| e.to_string();
        // Titles above the header and notes below the table are not part of it.
        let input = locate(&Input { encoding, ..Input::at(Place::File(path.to_path_buf())) }, None).map_err(say)?;
        Cells::of(&open(&input).map_err(say)?)
    }

    fn of(source: &Source) -> std::result::Result<Cells, String> {
        let say = |e: kohort_core::Error| e.to_string();
        let width = source.columns().len();
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        source
            .scan(
                |_| (),
                |(), chunk| {
                    let row = |r: usize| {
                        ((0..width).map(|c| text(chunk.cell(r, c))).collect::<Vec<_>>(), chunk.line(r) as usize)
                    };
                    Ok((0..chunk.rows()).map(row).collect::<Vec<_>>())
                },
                |part| {
                    for (row, line) in part {
                        rows.push(row);
                        lines.push(line);
                    }
                    Ok(())
                },
            )
            .map_err(say)?;
        Ok(Cells { columns: source.columns().to_vec(), rows, lines })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The number of the group of each row: the first row with the same key, or the row itself without a key.
    fn groups(&self, key: Option<&str>) -> Vec<usize> {
        let Some(place) = key.and_then(|key| self.place(key)) else { return (0..self.rows.len()).collect() };
        let keys: Vec<&str> = self.rows.iter().map(|row| row[place].as_str()).collect();
        first_rows(&keys)
    }
}

/// The first row with the same key, for each row.
fn first_rows<T: Ord>(keys: &[T]) -> Vec<usize> {
    let mut first: BTreeMap<&T, usize> = BTreeMap::new();
    keys.iter().enumerate().map(|(row, key)| *first.entry(key).or_insert(row)).collect()
}

/// The results as a table, with their sums in the last line.
pub fn print(results: &[Result]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{:<48} {:>7} {:>5} {:>7}  person  keys  safe  useful", "table", "rows", "cols", "seconds");
    let word = |is: bool| if is { "yes" } else { "NO" };
    for result in results {
        let _ = writeln!(
            text,
            "{:<48} {:>7} {:>5} {:>7.1}  {:<6}  {:<4}  {:<4}  {:<6} {}",
            result.name.chars().take(48).collect::<String>(),
            result.size.0,
            result.size.1,
            result.seconds,
            word(result.person),
            word(result.keys.is_empty()),
            word(result.is_safe()),
            word(result.is_useful()),
            [
                result.stopped.iter().cloned().collect(),
                result.keys.clone(),
                result.dangers.clone(),
                result.losses.clone()
            ]
            .concat()
            .join("; ")
        );
    }
    let count = |is: &dyn Fn(&Result) -> bool| results.iter().filter(|result| is(result)).count();
    let _ = writeln!(
        text,
        "{} tables: {} released, person right in {}, keys kept back in {}, {} unsafe, {} safe and useful",
        results.len(),
        count(&|r| r.stopped.is_none()),
        count(&|r| r.person),
        count(&|r| r.keys.is_empty()),
        count(&|r| !r.is_safe()),
        count(&Result::is_useful)
    );
    text
}
