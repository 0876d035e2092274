//! Reads the two tables of a release of events as a stranger wrote them.

use super::super::ReleaseFolder;
use super::super::outside::{Outside, of_rows};
use super::finder::PatientLabels;
use crate::hierarchy::StandardHierarchy;
use crate::ragged::Bounds;
use crate::release::{CLAIMS_FILE, Certificate, ColumnClaim, PATIENT, PATIENTS_FILE};
use crate::shape::Events;
use crate::table::{Input, Keys, Source, Texts, open};
use crate::{Error, Result};

/// A column of a table: its texts, and by row their numbers.
pub(in crate::verify) struct Cells {
    pub(in crate::verify) name: String,
    pub(in crate::verify) role: String,
    pub(in crate::verify) texts: Texts,
    pub(in crate::verify) rows: Vec<u32>,
}

/// The two tables. Patient i has the id i + 1.
pub(in crate::verify) struct Tables {
    pub(in crate::verify) patient: Vec<Cells>,
    pub(in crate::verify) event: Vec<Cells>,
    bounds: Bounds,
}

impl Tables {
    pub(in crate::verify) fn patients(&self) -> usize {
        self.bounds.len()
    }

    pub(in crate::verify) fn events(&self) -> usize {
        self.bounds.total()
    }

    pub(in crate::verify) fn events_of(&self, patient: usize) -> std::ops::Range<usize> {
        self.bounds.range(patient)
    }

    pub(super) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// By patient: who looks the same in all patient-level quasi-identifiers.
    pub(super) fn classes(&self) -> Vec<u32> {
        let quasi: Vec<&Cells> = self.patient.iter().filter(|c| c.role == "quasi").collect();
        let mut keys = Keys::new(quasi.len().max(1));
        let key = |p: usize| -> Vec<u32> {
            if quasi.is_empty() { vec![0] } else { quasi.iter().map(|c| c.rows[p]).collect() }
        };
        (0..self.patients()).map(|p| keys.intern(&key(p))).collect()
    }

    /// The columns of both tables that are not quasi-identifiers.
    pub(super) fn outside(&self) -> Vec<Outside> {
        let outside = self.patient.iter().chain(&self.event).filter(|c| c.role != "quasi");
        outside.map(|c| of_rows(&c.name, &c.rows, |text| c.texts.get(text).is_empty())).collect()
    }

    /// By event-level quasi-identifier: the labels of each patient.
    pub(super) fn event_labels(&self) -> Vec<PatientLabels> {
        let quasi = self.event.iter().filter(|c| c.role == "quasi");
        quasi.map(|c| PatientLabels::new(self.bounds.clone(), c.rows.clone())).collect()
    }

    /// Whole events as labels: the same number for events that are the same in all quasi-identifiers.
    pub(super) fn whole_events(&self) -> PatientLabels {
        let quasi: Vec<&Cells> = self.event.iter().filter(|c| c.role == "quasi").collect();
        let mut keys = Keys::new(quasi.len());
        let mut key = Vec::new();
        let number = |e: usize| {
            key.clear();
            key.extend(quasi.iter().map(|c| c.rows[e]));
            keys.intern(&key)
        };
        PatientLabels::new(self.bounds.clone(), (0..self.events()).map(number).collect())
    }
}

pub(super) fn read(release: &ReleaseFolder, certificate: &Certificate<Events>, threads: usize) -> Result<Tables> {
    let claim = &certificate.promise.claim;
    if claim.patient_columns > certificate.promise.columns.len() {
        return Err(Error::refused("the certificate lists fewer columns than it says are the patients'."));
    }
    let (of_patients, of_events) = certificate.promise.columns.split_at(claim.patient_columns);
    if !of_events.iter().any(|c| c.role == "quasi") {
        return Err(Error::refused("the certificate does not name a quasi-identifier of the events."));
    }
    let rows = |name: &str| certificate.files.iter().find(|f| f.name == name).and_then(|f| f.rows);
    let mut next = 0u64;
    let patient = table(release, PATIENTS_FILE, certificate, of_patients, threads, &mut |id| {
        next += 1;
        id == Some(next)
    })?;
    let patients = next as usize;
    let mut ends = vec![0usize; patients];
    let (mut last, mut events) = (1u64, 0);
    let event = table(release, CLAIMS_FILE, certificate, of_events, threads, &mut |id| {
        let Some(id) = id.filter(|&id| id >= last && id <= patients as u64) else { return false };
        events += 1;
        last = id;
        ends[id as usize - 1] = events;
        true
    })?;
    // Who has no event ends where the one before does.
    (1..patients).for_each(|p| ends[p] = ends[p].max(ends[p - 1]));
    if rows(PATIENTS_FILE) != Some(patients as u64) || rows(CLAIMS_FILE) != Some(events as u64) {
        return Err(Error::refused("the number of rows of a table differs from the certificate."));
    }
    if events == 0 {
        return Err(Error::refused("the release has no events."));
    }
    Ok(Tables { patient, event, bounds: Bounds::from_ends(ends) })
}

/// Reads a table: the id first, then the columns as declared. `accepts` sees the ids in their order.
fn table(
    release: &ReleaseFolder,
    file: &str,
    certificate: &Certificate<Events>,
    columns: &[ColumnClaim],
    threads: usize,
    accepts: &mut dyn FnMut(Option<u64>) -> bool,
) -> Result<Vec<Cells>> {
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
    let cells = |c: &ColumnClaim| Cells {
        name: c.name.clone(),
        role: c.role.clone(),
        texts: Texts::default(),
        rows: Vec::new(),
    };
    let mut all: Vec<Cells> = columns.iter().map(cells).collect();
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
