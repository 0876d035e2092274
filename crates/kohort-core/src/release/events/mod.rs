//! The shape of a release of events: a table of patients and tables of their events.

mod write;

pub use write::write_events;

use crate::events::Histories;

/// The table of patients in release/.
pub const PATIENTS_FILE: &str = "patients.csv";
/// The name of the table of patients.
pub const PATIENTS_TABLE: &str = "patients";
/// The column of all tables that links them: a random number for each patient.
pub const PATIENT: &str = "patient";

/// The decisions of a method about patients and their events.
#[derive(Debug, Clone)]
pub struct EventsPlan {
    /// One entry per patient-level quasi-identifier: the level at which all patients are released.
    pub patient_levels: Vec<usize>,
    /// One entry per event-level quasi-identifier: the level at which all events are released.
    pub event_levels: Vec<usize>,
    /// One entry per patient of the histories: whether they are released.
    pub patients: Vec<bool>,
    /// One entry per table and event of the histories: whether it is released.
    pub events: Vec<Vec<bool>>,
    /// The loss of the levels, by the method's objective.
    pub loss: f64,
    /// How the method came to it, for the evidence.
    pub trace: crate::release::Trace,
}

/// The file of a table in release/.
pub fn table_file(name: &str) -> String {
    format!("{name}.csv")
}

/// The file in private/ that holds the input lines of a table's rows: `rows` is the first table's.
pub(crate) fn lines_file(table: usize, name: &str) -> String {
    if table == 0 { "rows".to_string() } else { format!("rows-{name}") }
}

impl EventsPlan {
    /// The number of events that are not released.
    pub fn removed(&self) -> usize {
        self.events.iter().flatten().filter(|keep| !**keep).count()
    }

    /// Nothing happens: for questions about the data as it is.
    pub fn unchanged(histories: &Histories) -> EventsPlan {
        EventsPlan {
            patient_levels: vec![0; histories.patient.len()],
            event_levels: vec![0; histories.event.len()],
            patients: vec![true; histories.patients()],
            events: histories.tables.iter().map(|table| vec![true; table.len()]).collect(),
            loss: 0.0,
            trace: crate::release::Trace::default(),
        }
    }
}
