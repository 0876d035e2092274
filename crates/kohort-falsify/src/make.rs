//! Releases of the originals of a universe, made by the library: by its methods on tables that were
//! never on disk, and now and then by the whole path, so that it is the same.

use crate::plain;
use crate::universe::{Secret, TREE, Universe};
use kohort::methods::Method;
use kohort::pipeline::{self, Options};
use kohort_core::cohort::{self, Cohort};
use kohort_core::error::Kind;
use kohort_core::policy::Policy;
use kohort_core::privacy::{Confidence, Distance, TCloseness};
use kohort_core::random::Randomness;
use kohort_core::release::{Guarantee, Plan, Promise, guarantee_of_table};
use kohort_core::shape::{Shape, Table};
use kohort_core::synthetic_values::SyntheticValues;
use kohort_core::table::{Silent, Tuples};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of an original that are alike in all that the method reads, and what became of them.
#[derive(Debug, Clone)]
pub struct Alike {
    /// The combination of quasi-identifier values.
    pub combination: usize,
    /// The secret, where the method reads it.
    pub secret: Option<usize>,
    /// The number of rows.
    pub rows: u64,
    /// The cells that are shown, and for how many of them; the others were deleted.
    pub shown: Vec<(Vec<String>, u64)>,
}

/// The decision of a method about one original.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its rows.
    pub alike: Vec<Alike>,
    /// Synthetic rows, as they were drawn: cells and secret.
    pub invented: Vec<(Vec<String>, usize)>,
    /// The promise about it.
    pub promise: Promise,
    /// The promise in words.
    pub guarantee: Guarantee,
}

/// Makes releases under the policy of a universe.
pub struct Maker<'u> {
    universe: &'u Universe,
    folder: tempfile::TempDir,
    policy: Policy,
    method: Method,
    like: Cohort,
}

fn options(seed: u64) -> Options {
    Options { force: true, keep_rows: true, seed: Some(seed), threads: 1, progress: Arc::new(Silent) }
}

impl<'u> Maker<'u> {
    /// Binds the policy to the columns of the universe.
    pub fn new(universe: &'u Universe) -> Result<Maker<'u>, String> {
        Maker::with_policy(universe, &universe.policy_text())
    }

    /// The same with another policy for the same columns.
    pub fn with_policy(universe: &'u Universe, text: &str) -> Result<Maker<'u>, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).map_err(|e| e.to_string());
        write("tree.csv", TREE)?;
        write("policy.toml", text)?;
        write("table.csv", &universe.table_text(&(0..universe.kinds.len()).collect::<Vec<_>>()))?;
        let say = |e: kohort_core::Error| format!("{text}\n{e}");
        let (source, policy) = pipeline::open(&folder.path().join("policy.toml"), &options(1)).map_err(say)?;
        let policy = policy.table().map_err(say)?;
        let like = cohort::survey(&source, &policy).map_err(say)?;
        let method = Method::of(&policy).map_err(say)?;
        Ok(Maker { universe, folder, policy, method, like })
    }

    /// Returns whether the method is given the secret of each row.
    fn reads_secret(&self) -> bool {
        !self.like.required.is_empty() || self.like.class.is_some()
    }

    /// The table of an original as a method sees it.
    fn cohort(&self, people: &[usize]) -> Cohort {
        let universe = self.universe;
        let (mut rows, mut patients) = (Vec::new(), Vec::new());
        for (id, &kind) in people.iter().enumerate() {
            let person = &universe.kinds[kind].0;
            for &row in &person.rows {
                let mut cells = universe.cells(row, person.secret);
                if !self.reads_secret() {
                    cells.truncate(universe.columns.len());
                }
                rows.push(cells);
                patients.push(id as u32);
            }
        }
        let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let unit = universe.requirement.has_patients();
        let mut tuples = Tuples::from_rows(&texts, unit.then_some(&patients[..]));
        let mut cohort = self.like.clone();
        for drawn in &mut cohort.synthetic_values {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            counts.extend((0..universe.secret.part(0, &drawn.name).1).map(|s| (format!("s{s}"), 1)));
            people.iter().for_each(|&kind| {
                let value = universe.secret.part(universe.kinds[kind].0.secret, &drawn.name).0;
                *counts.entry(format!("s{value}")).or_default() += 1;
            });
            if let Some(position) = drawn.position {
                tuples.know(position, &counts.keys().cloned().collect::<Vec<_>>());
            }
            let (values, weights) = std::iter::once((String::new(), 0)).chain(counts).unzip();
            *drawn = SyntheticValues { values, weights, ..drawn.clone() };
        }
        for (position, quasi) in cohort.quasi.iter_mut().enumerate() {
            let dictionary = &tuples.dictionaries[position];
            quasi.hierarchy = self.policy.columns[quasi.column].rule.apply(&dictionary.texts(), false);
        }
        for required in &mut cohort.required {
            let (own, like) = (&tuples.dictionaries[required.kept.position], &self.like.tuples);
            let like = &like.dictionaries[required.kept.position];
            if let Some(Confidence { listed: Some(listed), .. }) = &mut required.requirement.confidence {
                let is_listed = |text: &&str| like.code(text).is_some_and(|code| listed[code as usize]);
                *listed = own.texts().iter().map(is_listed).collect();
            }
            if let Some(TCloseness { distance: Distance::Ordered(order), .. }) = &mut required.requirement.t_closeness {
                *order = order.iter().filter_map(|&code| own.code(like.text(code))).collect();
            }
        }
        cohort.tuples = tuples;
        cohort
    }

    /// Runs the method on an original; `None`: no release can meet the requirement.
    pub fn make(&self, people: &[usize], seed: u64) -> Result<Option<Made>, String> {
        let cohort = self.cohort(people);
        let say = |e: kohort_core::Error| e.to_string();
        let mut random = Randomness::new(Some(seed)).map_err(say)?;
        let plan = match self.method.plan(&cohort, &self.policy, &mut random) {
            Ok(plan) => plan,
            Err(e) if e.kind == Kind::Infeasible => return Ok(None),
            Err(e) => return Err(say(e)),
        };
        let promise = Table::promise(&self.policy).map_err(say)?;
        let guarantee = guarantee_of_table(&promise, None);
        let text = |tuple: usize, position: usize| {
            cohort.tuples.dictionaries[position].text(cohort.tuples.code(tuple, position)).to_string()
        };
        let alike = (0..cohort.tuples.len()).map(|tuple| {
            let mut combination = 0;
            for c in (0..self.universe.columns.len()).rev() {
                combination = combination * self.universe.columns[c].values() + text(tuple, c).parse().unwrap_or(0);
            }
            let secret = self.reads_secret().then(|| {
                let parts = (0..self.universe.secret.columns().len())
                    .map(|at| secret_of(&text(tuple, self.universe.columns.len() + at)));
                self.joined(&parts.collect::<Vec<_>>())
            });
            let shown = plan.rows(&cohort, tuple).map(|(cells, rows)| (labels(&plan, cells), rows));
            Alike { combination, secret, rows: cohort.tuples.weights[tuple], shown: shown.collect() }
        });
        let invented = plan.added.iter().map(|added| {
            let parts =
                cohort.synthetic_values.iter().zip(&added.values).map(|(s, &v)| secret_of(&s.values[v as usize]));
            (labels(&plan, added.cells), self.joined(&parts.collect::<Vec<_>>()))
        });
        Ok(Some(Made { alike: alike.collect(), invented: invented.collect(), promise, guarantee }))
    }

    /// The secret that has these values in its columns.
    fn joined(&self, parts: &[usize]) -> usize {
        match (self.universe.secret, parts) {
            (Secret::Two(n, _), &[s, u]) => u * n + s,
            (_, parts) => parts.first().copied().unwrap_or(0),
        }
    }

    /// The rows of a release by the whole path, each with whose it is.
    pub fn rows_by_path(&self, people: &[usize], seed: u64) -> Result<Vec<plain::Row>, String> {
        self.by_the_whole_path(people, seed)?;
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).map_err(|e| e.to_string());
        let (data, lines) = (read("out/release/data.csv")?, read("out/private/rows")?);
        let whose: Vec<usize> = people
            .iter()
            .enumerate()
            .flat_map(|(person, &kind)| self.universe.kinds[kind].0.rows.iter().map(move |_| person))
            .collect();
        let quasi = self.universe.columns.len();
        let row = |(at, (row, line)): (usize, (&str, &str))| {
            let mut own = cells(row);
            let secret = self.joined(&own.split_off(quasi).iter().map(|text| secret_of(text)).collect::<Vec<_>>());
            // The first line of the table is its header.
            let person = line.parse::<usize>().ok().and_then(|line| whose.get(line.checked_sub(2)?).copied());
            plain::Row { cells: own, secret, person: person.unwrap_or(people.len() + at), real: person.is_some() }
        };
        Ok(data.lines().skip(1).zip(lines.lines()).enumerate().map(row).collect())
    }

    /// The rows that leave when the whole path is taken, in an order of their own, without those
    /// that are synthetic; `None`: there is no release.
    pub fn by_the_whole_path(&self, people: &[usize], seed: u64) -> Result<Option<Vec<Vec<String>>>, String> {
        let at = |name: &str| -> PathBuf { self.folder.path().join(name) };
        fs::write(at("table.csv"), self.universe.table_text(people)).map_err(|e| e.to_string())?;
        match pipeline::anonymize(&at("policy.toml"), &at("out"), &options(seed)) {
            Ok(_) => {}
            Err(e) if e.kind == Kind::Infeasible => return Ok(None),
            Err(e) => return Err(e.to_string()),
        }
        let read = |name: &str| fs::read_to_string(at(name)).map_err(|e| e.to_string());
        let (data, lines) = (read("out/release/data.csv")?, read("out/private/rows")?);
        let quasi = self.universe.columns.len();
        let mut rows: Vec<Vec<String>> = data
            .lines()
            .skip(1)
            .zip(lines.lines())
            .filter(|(_, line)| *line != "0")
            .map(|(row, _)| cells(row).into_iter().take(quasi).collect())
            .collect();
        rows.sort();
        Ok(Some(rows))
    }
}

impl Made {
    /// The quasi-identifiers of the rows of real people, in an order of their own.
    pub fn sorted(&self) -> Vec<Vec<String>> {
        let shown = self.alike.iter().flat_map(|a| &a.shown);
        let mut rows: Vec<Vec<String>> =
            shown.flat_map(|(cells, rows)| std::iter::repeat_n(cells.clone(), *rows as usize)).collect();
        rows.sort();
        rows
    }
}

fn labels(plan: &Plan, cells: u32) -> Vec<String> {
    let row = plan.row(cells);
    plan.changed.iter().zip(row).map(|(c, &label)| c.labels[label as usize].text.clone()).collect()
}

fn secret_of(text: &str) -> usize {
    text.trim_start_matches('s').parse().unwrap_or(0)
}

/// The cells of a line; a cell with a comma is in quotes.
fn cells(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            c => {
                if let Some(own) = all.last_mut() {
                    own.push(c);
                }
            }
        }
    }
    all
}
