//! Accepts the suggestion of `init` at k = 5, releases the table and compares the release with the truth.

use super::{Counts, Data, Truth, Unprepared};
use kohort::init::init;
use kohort::pipeline::{Options, anonymize};
use kohort_core::policy::Role;
use kohort_core::table::{Input, Place, Silent, open};
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
    /// Returns whether nothing that was released is dangerous. A table without a release is safe.
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
        person: true,
        ..Result::default()
    });
    result.name.clone_from(&table.name);
    result.seconds = start.elapsed().as_secs_f64();
    result
}

fn run(table: &Unprepared) -> Result {
    let mut result = Result { person: true, ..Result::default() };
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
        Data::Text(text) => {
            let path = folder.path().join("table.csv");
            fs::write(&path, text).map_err(|e| e.to_string())?;
            path
        }
    };
    let suggestion = init(std::slice::from_ref(&path), folder.path(), 2, Arc::new(Silent)).map_err(say)?;
    result.policy = suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n");
    let original = Cells::read(&path)?;
    result.size = (original.rows.len(), original.columns.len());
    let patient = suggestion.columns.iter().find(|column| column.role == Role::Patient);
    let chosen = original.groups(patient.map(|column| column.name.as_str()));
    let people = original.groups(table.truth.person.as_deref());
    result.person = chosen == people;
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, &result.policy).map_err(|e| e.to_string())?;
    let options = Options { force: false, keep_rows: true, seed: None, threads: 2, progress: Arc::new(Silent) };
    let out = folder.path().join("out");
    anonymize(&policy, &out, &options).map_err(say)?;
    // A release is compressed if its table is.
    let [plain, gzipped] = ["data.csv", "data.csv.gz"].map(|name| out.join("release").join(name));
    let released = Cells::read(if plain.is_file() { &plain } else { &gzipped })?;
    let rows = fs::read_to_string(out.join("private").join("rows")).map_err(|e| e.to_string())?;
    let lines: Vec<usize> = rows.lines().filter_map(|line| line.parse().ok()).collect();
    // The header is line 1.
    let people: Vec<usize> = lines.iter().map(|&line| people[line.saturating_sub(2)]).collect();
    compare(&table.truth, &original, &released, &people, result);
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
    if kept * 100 < original.rows.len() * 95 {
        result.losses.push(format!("{} % of the rows", kept * 100 / original.rows.len().max(1)));
    }
    for (what, names) in [("age", &truth.age), ("sex", &truth.sex)] {
        let is_shown = |name: &String| {
            let Some(place) = released.place(name) else { return false };
            let blank = released.rows.iter().filter(|row| row[place] == "*").count();
            blank * 2 < kept
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
}

impl Cells {
    fn read(path: &Path) -> std::result::Result<Cells, String> {
        let say = |e: kohort_core::Error| e.to_string();
        let source = open(&Input::at(Place::File(path.to_path_buf()))).map_err(say)?;
        let width = source.columns().len();
        let mut rows = Vec::new();
        let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        source
            .scan(
                |_| (),
                |(), chunk| {
                    let row = |r: usize| (0..width).map(|c| text(chunk.cell(r, c))).collect::<Vec<_>>();
                    Ok((0..chunk.rows()).map(row).collect::<Vec<_>>())
                },
                |part| {
                    rows.extend(part);
                    Ok(())
                },
            )
            .map_err(say)?;
        Ok(Cells { columns: source.columns().to_vec(), rows })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The number of the group of each row: the first row with the same key, or the row itself without a key.
    fn groups(&self, key: Option<&str>) -> Vec<usize> {
        let Some(place) = key.and_then(|key| self.place(key)) else { return (0..self.rows.len()).collect() };
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        self.rows.iter().enumerate().map(|(r, row)| *first.entry(row[place].as_str()).or_insert(r)).collect()
    }
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
