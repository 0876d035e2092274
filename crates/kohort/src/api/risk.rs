//! The re-identification risk of the original data.

use crate::methods::claims::{Sensitivity, sensitivity};
use crate::original_risk::{OriginalRisk, assess};
use crate::pipeline::{AnySurvey, Options, survey_by};
use kohort_core::Result;
use kohort_core::policy::PolicyFile;
use kohort_core::release::EventsPlan;
use kohort_core::risk::{CodesKnown, codes_known};

/// The re-identification risk of the original data, for each kind of data.
#[derive(Debug, Clone)]
pub enum DataRisk {
    /// In a table: who is unique, on which columns, and what k = 5 would cost.
    Table(Box<OriginalRisk>),
    /// Among the codes of patients: who is found by some of their codes.
    Codes(Vec<CodesKnown>),
    /// Among patients and their events: who is found by some of their events.
    Events(Box<Sensitivity>),
}

impl DataRisk {
    pub(super) fn of(file: &PolicyFile, options: &Options) -> Result<DataRisk> {
        Ok(match survey_by(file, options)? {
            AnySurvey::Table(own) => DataRisk::Table(Box::new(assess(&own.policy, &own.input, &mut |_| ())?)),
            AnySurvey::Codes(own) => DataRisk::Codes(codes_known(&own.input, own.policy.privacy.k.get())),
            AnySurvey::Events(own) => {
                let (unchanged, k) = (EventsPlan::unchanged(&own.input), own.policy.privacy.k.get());
                let found = sensitivity(&own.input, &unchanged, k, (&[1, 2, 5], 2), options.threads, 1);
                DataRisk::Events(Box::new(found))
            }
        })
    }

    /// The share of people who are unique when everything that others may know about them is known: all
    /// quasi-identifiers of a table, or all codes of a patient. `None` for events, where it depends on how many
    /// events are known.
    pub fn unique(&self) -> Option<f64> {
        let share = |unique: u64, people: u64| unique as f64 / people.max(1) as f64;
        match self {
            DataRisk::Table(risk) => Some(share(risk.all.unique, risk.all.people)),
            DataRisk::Codes(known) => {
                known.iter().find(|risk| risk.codes.is_none()).map(|all| share(all.unique, all.patients))
            }
            DataRisk::Events(_) => None,
        }
    }
}
