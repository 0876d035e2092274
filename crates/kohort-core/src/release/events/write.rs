//! Writes patients and their events with fresh random ids, events of a patient in random order.

use super::{EventsPlan, PATIENT, PATIENTS_FILE, lines_file, table_file};
use crate::events::{Copied, Histories, QuasiColumn, ReleasedAs};
use crate::random::Randomness;
use crate::release::{Staged, Staging, Written};
use crate::shape::Events;
use crate::table::write_cell;
use crate::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes release/patients.csv and a file for each table of events; private/patients, private/rows and
/// private/rows-NAME hold the input lines of their rows.
///
/// The ids are a random permutation of 1 to n. Patients are in the order of their ids, events by them, and
/// within a patient in an order that is drawn.
pub fn write_events(
    histories: &Histories,
    plan: &EventsPlan,
    delimiter: u8,
    staging: Staging,
    random: &mut Randomness,
) -> Result<Staged<Events>> {
    let mut order: Vec<u32> = (0..histories.patients() as u32).filter(|&p| plan.patients[p as usize]).collect();
    random.shuffle(&mut order);
    let (release, private) = (staging.release(), staging.private());
    let lines = private.join("rows");
    let mut patients = TableLines::create(&release.join(PATIENTS_FILE), &private.join("patients"))?;
    let names = |quasi: &[QuasiColumn], copied: &[Copied]| -> Vec<String> {
        let quasi = quasi.iter().map(|c| c.name.clone());
        std::iter::once(PATIENT.to_string()).chain(quasi).chain(copied.iter().map(|c| c.name.clone())).collect()
    };
    patients.header(&names(&histories.patient, &histories.patient_copied), delimiter)?;
    let mut tables = Vec::new();
    for (t, table) in histories.tables.iter().enumerate() {
        let lines = private.join(lines_file(t, &table.name));
        let mut own = TableLines::create(&release.join(table_file(&table.name)), &lines)?;
        let header = names(&histories.event[histories.columns_of(t)], &table.copied);
        own.header(&header, delimiter)?;
        tables.push((own, header));
    }
    let (mut events, mut pseudonyms) = (Vec::new(), Pseudonyms::default());
    for (id, &patient) in (1u64..).zip(&order) {
        let patient = patient as usize;
        patients.start(id);
        for (column, &level) in histories.patient.iter().zip(&plan.patient_levels) {
            patients.cell(column.text(level, patient).as_bytes(), delimiter);
        }
        for column in &histories.patient_copied {
            patients.cell(column.dictionary.text(column.codes[patient]).as_bytes(), delimiter);
        }
        patients.end(histories.patient_lines[patient])?;
        pseudonyms.next_patient();
        for (t, (out, _)) in tables.iter_mut().enumerate() {
            let (table, columns) = (&histories.tables[t], histories.columns_of(t));
            events.clear();
            events.extend(table.of(patient).filter(|&e| plan.events[t][e]).map(|e| e as u32));
            random.shuffle(&mut events);
            for &event in &events {
                let event = event as usize;
                out.start(id);
                for (column, &level) in histories.event[columns.clone()].iter().zip(&plan.event_levels[columns.clone()])
                {
                    out.cell(column.text(level, event).as_bytes(), delimiter);
                }
                for (c, column) in table.copied.iter().enumerate() {
                    let code = column.codes[event];
                    match column.leaves {
                        ReleasedAs::Unchanged => out.cell(column.dictionary.text(code).as_bytes(), delimiter),
                        ReleasedAs::AsPseudonym => out.cell(pseudonyms.of((t, c), code, random).as_bytes(), delimiter),
                    }
                }
                out.end(table.lines[event])?;
            }
        }
    }
    let mut more = vec![(PATIENTS_FILE.to_string(), patients.finish()?)];
    let mut first: Option<(String, u64, Vec<String>)> = None;
    for ((out, header), table) in tables.into_iter().zip(&histories.tables) {
        let (file, rows) = (table_file(&table.name), out.finish()?);
        match first {
            None => first = Some((file, rows, header)),
            Some(_) => more.push((file, rows)),
        }
    }
    let (file, rows, columns) = first.unwrap_or_default();
    Ok(Staged::new(
        staging,
        Written { file, rows, lines, columns, added: 0, beside: Vec::new(), more, parts: Vec::new(), workers: None },
    ))
}

/// Random numbers for the values of one patient; missing stays missing.
#[derive(Default)]
struct Pseudonyms {
    /// The random number of each value, by table and column.
    of: HashMap<((usize, usize), u32), String>,
}

impl Pseudonyms {
    fn next_patient(&mut self) {
        self.of.clear();
    }

    fn of(&mut self, column: (usize, usize), code: u32, random: &mut Randomness) -> &str {
        if code == crate::hierarchy::MISSING {
            return "";
        }
        // Nobody's numbers repeat by chance: two values of one patient would be taken for one.
        self.of.entry((column, code)).or_insert_with(|| format!("{:016x}", random.below(u64::MAX)))
    }
}

/// A table that is written line by line, and the input lines of its rows beside it.
struct TableLines {
    table: BufWriter<File>,
    lines: BufWriter<File>,
    row: Vec<u8>,
    rows: u64,
    path: std::path::PathBuf,
}

impl TableLines {
    fn create(path: &Path, lines: &Path) -> Result<TableLines> {
        let create = |path: &Path| {
            let file = File::create(path).map_err(|e| Error::io(path, &e))?;
            Ok::<_, Error>(BufWriter::with_capacity(1 << 18, file))
        };
        Ok(TableLines { table: create(path)?, lines: create(lines)?, row: Vec::new(), rows: 0, path: path.into() })
    }

    fn header(&mut self, names: &[String], delimiter: u8) -> Result<()> {
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                self.row.push(delimiter);
            }
            write_cell(&mut self.row, name.as_bytes(), delimiter);
        }
        self.row.push(b'\n');
        self.flush_row()
    }

    fn start(&mut self, id: u64) {
        self.row.extend_from_slice(id.to_string().as_bytes());
    }

    fn cell(&mut self, text: &[u8], delimiter: u8) {
        self.row.push(delimiter);
        write_cell(&mut self.row, text, delimiter);
    }

    fn end(&mut self, line: u64) -> Result<()> {
        self.row.push(b'\n');
        self.rows += 1;
        writeln!(self.lines, "{line}").map_err(|e| Error::io(&self.path, &e))?;
        self.flush_row()
    }

    fn flush_row(&mut self) -> Result<()> {
        let written = self.table.write_all(&self.row).map_err(|e| Error::io(&self.path, &e));
        self.row.clear();
        written
    }

    fn finish(mut self) -> Result<u64> {
        let flushed = self.table.flush().and_then(|()| self.lines.flush());
        flushed.map_err(|e| Error::io(&self.path, &e))?;
        Ok(self.rows)
    }
}
