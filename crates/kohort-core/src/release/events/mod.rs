//! The shape of a release of events: a table of patients and a table of their events.

mod write;

pub use write::write_events;

use crate::events::Histories;

/// The table of patients in release/.
pub const PATIENTS_FILE: &str = "patients.csv";
/// The table of events in release/.
pub const CLAIMS_FILE: &str = "claims.csv";
/// The column of both that links them: a random number for each patient.
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
    /// One entry per event of the histories: whether it is released.
    pub events: Vec<bool>,
    /// The loss of the levels, by the method's objective.
    pub loss: f64,
    /// How the method came to it, for the evidence.
    pub trace: crate::release::Trace,
}

impl EventsPlan {
    /// Nothing happens: for questions about the data as it is.
    pub fn unchanged(histories: &Histories) -> EventsPlan {
        EventsPlan {
            patient_levels: vec![0; histories.patient.len()],
            event_levels: vec![0; histories.event.len()],
            patients: vec![true; histories.patients()],
            events: vec![true; histories.events()],
            loss: 0.0,
            trace: crate::release::Trace::default(),
        }
    }
}
