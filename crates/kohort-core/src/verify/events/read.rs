//! Reads the tables of a release of events as a stranger wrote them.

use super::super::ReleaseFolder;
use super::super::outside::{Outside, of_rows};
use super::finder::PatientLabels;
use crate::hierarchy::StandardHierarchy;
use crate::parallel;
use crate::ragged::Bounds;
use crate::release::{Certificate, ColumnClaim, PATIENT, PATIENTS_FILE, table_file};
use crate::shape::Events;
use crate::table::{Input, Keys, Source, Texts, open};
use crate::{Error, Result};

/// A column of a table: its texts, and by row their numbers.
pub(in crate::verify) struct ColumnCells {
    pub(in crate::verify) name: String,
    pub(in crate::verify) role: String,
    pub(in crate::verify) texts: Texts,
    pub(in crate::verify) rows: Vec<u32>,
}

/// A table of events.
pub(in crate::verify) struct EventCells {
    pub(in crate::verify) name: String,
    pub(in crate::verify) columns: Vec<ColumnCells>,
    bounds: Bounds,
}

impl EventCells {
    pub(in crate::verify) fn events(&self) -> usize {
        self.bounds.total()
    }

    pub(in crate::verify) fn of(&self, patient: usize) -> std::ops::Range<usize> {
        self.bounds.range(patient)
    }

    pub(super) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Its quasi-identifiers.
    pub(super) fn quasi(&self) -> impl Iterator<Item = &ColumnCells> {
        self.columns.iter().filter(|c| c.role == "quasi")
    }
}

/// The tables. Patient i has the id i + 1.
pub(in crate::verify) struct Tables {
    pub(in crate::verify) patient: Vec<ColumnCells>,
    pub(in crate::verify) events: Vec<EventCells>,
    patients: usize,
}

impl Tables {
    pub(in crate::verify) fn patients(&self) -> usize {
        self.patients
    }

    pub(in crate::verify) fn number_of_events(&self) -> usize {
        self.events.iter().map(EventCells::events).sum()
    }

    pub(in crate::verify) fn has_events(&self, patient: usize) -> bool {
        self.events.iter().any(|table| !table.of(patient).is_empty())
    }

    /// The class of each patient: patients who look the same in all patient-level quasi-identifiers share one.
    pub(super) fn classes(&self) -> Vec<u32> {
        let quasi: Vec<&ColumnCells> = self.patient.iter().filter(|c| c.role == "quasi").collect();
        let mut keys = Keys::new(quasi.len().max(1));
        let key = |p: usize| -> Vec<u32> {
            if quasi.is_empty() { vec![0] } else { quasi.iter().map(|c| c.rows[p]).collect() }
        };
        (0..self.patients()).map(|p| keys.intern(&key(p))).collect()
    }

    /// The columns of all tables that are not quasi-identifiers.
    pub(super) fn outside(&self) -> Vec<Outside> {
        let of = |name: String, c: &ColumnCells| of_rows(&name, &c.rows, |text| c.texts.get(text).is_empty());
        let is_outside = |c: &&ColumnCells| c.role != "quasi";
        let mut all: Vec<Outside> = self.patient.iter().filter(is_outside).map(|c| of(c.name.clone(), c)).collect();
        for table in &self.events {
            let shown = |c: &ColumnCells| match self.events.len() {
                1 => c.name.clone(),
                _ => format!("{}.{}", table.name, c.name),
            };
            all.extend(table.columns.iter().filter(is_outside).map(|c| of(shown(c), c)));
        }
        all
    }

    /// The labels of each patient, for each event-level quasi-identifier of all tables.
    pub(super) fn event_labels(&self, threads: usize) -> Vec<PatientLabels> {
        let of = |table| EventCells::quasi(table).map(move |own| (table, own));
        let columns: Vec<(&EventCells, &ColumnCells)> = self.events.iter().flat_map(of).collect();
        parallel::map(threads, columns.len(), |c| {
            let (table, own) = columns[c];
            PatientLabels::new(table.bounds.clone(), own.rows.clone())
        })
    }

    /// Whole events as labels, by table: the same number for events that are the same in all quasi-identifiers.
    pub(super) fn whole_events(&self) -> Vec<PatientLabels> {
        self.events.iter().map(|table| linked(table, &table.quasi().collect::<Vec<_>>())).collect()
    }

    /// Every two quasi-identifiers of each table, by their positions; one where a table has no other.
    pub(super) fn pairs(&self) -> Vec<(usize, Vec<usize>)> {
        let of = |(t, table): (usize, &EventCells)| -> Vec<(usize, Vec<usize>)> {
            match table.quasi().count() {
                1 => vec![(t, vec![0])],
                n => (0..n).flat_map(|a| (a + 1..n).map(move |b| (t, vec![a, b]))).collect(),
            }
        };
        self.events.iter().enumerate().flat_map(of).collect()
    }

    /// The values of some quasi-identifiers of a table as labels: the same number for events that are the same in them.
    pub(super) fn labels_of(&self, table: usize, columns: &[usize]) -> PatientLabels {
        let own = &self.events[table];
        let quasi: Vec<&ColumnCells> = own.quasi().collect();
        linked(own, &columns.iter().map(|&c| quasi[c]).collect::<Vec<_>>())
    }
}

/// Some columns of a table as labels.
fn linked(table: &EventCells, quasi: &[&ColumnCells]) -> PatientLabels {
    let mut keys = Keys::new(quasi.len());
    let mut key = Vec::new();
    let number = |e: usize| {
        key.clear();
        key.extend(quasi.iter().map(|c| c.rows[e]));
        keys.intern(&key)
    };
    PatientLabels::new(table.bounds.clone(), (0..table.events()).map(number).collect())
}

pub(super) fn read(release: &ReleaseFolder, certificate: &Certificate<Events>, threads: usize) -> Result<Tables> {
    let claim = &certificate.promise.claim;
    if claim.tables.iter().map(|own| own.1).sum::<usize>() != certificate.promise.columns.len() {
        return Err(Error::refused("the certificate lists other columns than those of its tables."));
    }
    let split = claim.columns_of(&certificate.promise.columns);
    let Some((&(_, of_patients), of_events)) = split.split_first() else {
        return Err(Error::refused("the certificate does not list a table."));
    };
    if of_events.is_empty() || !of_events.iter().all(|(_, own)| own.iter().any(|c| c.role == "quasi")) {
        return Err(Error::refused("the certificate does not name a quasi-identifier of the events."));
    }
    let rows = |name: &str| certificate.files.iter().find(|f| f.name == name).and_then(|f| f.rows);
    let mut next = 0u64;
    let patient = table(release, PATIENTS_FILE, certificate, of_patients, threads, &mut |id| {
        next += 1;
        id == Some(next)
    })?;
    let patients = next as usize;
    let wrong = || Error::refused("the number of rows of a table differs from the certificate.");
    if rows(PATIENTS_FILE) != Some(patients as u64) {
        return Err(wrong());
    }
    let mut all = Vec::new();
    for &(name, columns) in of_events {
        let mut ends = vec![0usize; patients];
        let (mut last, mut events) = (1u64, 0);
        let file = table_file(name);
        let columns = table(release, &file, certificate, columns, threads, &mut |id| {
            let Some(id) = id.filter(|&id| id >= last && id <= patients as u64) else { return false };
            events += 1;
            last = id;
            ends[id as usize - 1] = events;
            true
        })?;
        // Who has no event ends where the one before does.
        (1..patients).for_each(|p| ends[p] = ends[p].max(ends[p - 1]));
        if rows(&file) != Some(events as u64) {
            return Err(wrong());
        }
        all.push(EventCells { name: name.to_string(), columns, bounds: Bounds::from_ends(ends) });
    }
    let tables = Tables { patient, events: all, patients };
    if tables.number_of_events() == 0 {
        return Err(Error::refused("the release has no events."));
    }
    Ok(tables)
}

/// Reads a table: the id first, then the columns as declared. `accepts` sees the ids in their order.
fn table(
    release: &ReleaseFolder,
    file: &str,
    certificate: &Certificate<Events>,
    columns: &[ColumnClaim],
    threads: usize,
    accepts: &mut dyn FnMut(Option<u64>) -> bool,
) -> Result<Vec<ColumnCells>> {
    let input = Input { delimiter: Some(certificate.delimiter), ..release.input(file) };
    let source: Source = open(&input).map_err(|e| Error::refused(e.message))?.with_threads(threads);
    let names = std::iter::once(PATIENT).chain(columns.iter().map(|c| c.name.as_str()));
    if source.is_parquet()
        || source.is_gzip()
        || source.is_in_memory()
        || !names.eq(source.columns().iter().map(String::as_str))
    {
        return Err(Error::refused(format!("{file}: its columns are not those that the certificate lists.")));
    }
    let cells = |c: &ColumnClaim| ColumnCells {
        name: c.name.clone(),
        role: c.role.clone(),
        texts: Texts::default(),
        rows: Vec::new(),
    };
    let mut all: Vec<ColumnCells> = columns.iter().map(cells).collect();
    source
        .scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |chunk| {
                for row in 0..chunk.rows() {
                    let text = std::str::from_utf8(chunk.cell(row, 0)).unwrap_or_default();
                    let id = text.parse::<u64>().ok().filter(|id| id.to_string() == text);
                    if !accepts(id) {
                        return Err(Error::refused(format!(
                            "{file}, line {}: the patient's id is not the next one, or belongs to no patient.",
                            chunk.line(row)
                        )));
                    }
                    for (c, own) in all.iter_mut().enumerate() {
                        own.rows.push(own.texts.intern(chunk.cell(row, c + 1)));
                    }
                }
                Ok(())
            },
        )
        .map_err(|e| Error::refused(e.message))?;
    for (own, column) in all.iter().zip(columns) {
        if !column.labels.as_ref().is_none_or(|known| is_level(known, &own.texts)) {
            let name = &own.name;
            return Err(Error::refused(format!(
                "{file}: column \"{name}\" has labels that are not all of one level of its hierarchy."
            )));
        }
    }
    Ok(all)
}

fn is_level(known: &StandardHierarchy, texts: &Texts) -> bool {
    let labels: Option<Vec<&str>> = (0..texts.len() as u32).map(|n| std::str::from_utf8(texts.get(n)).ok()).collect();
    labels.is_some_and(|labels| known.is_level(&labels))
}
