//! The contents of metrics.json, as values.
//!
//! One struct per chapter; a field's name is its key in JSON, and its documentation is its line in the reference.
//! A field that is `None` was not measured, or may not be shown to the readers of this report. What others may see
//! is decided in `report/shareable`, which takes every struct apart to its last field.

mod attacks;
mod codes;
mod common;
mod events;
mod part;
mod risk;
mod synthetic;
mod table;
mod utility;

pub use attacks::*;
pub use codes::*;
pub use common::*;
pub use events::*;
pub use kohort_core::release::{Noted, Trace, TraceShare, TraceStep};
pub use part::{ByName, Described, HiddenNumber, Masked, MetricsKey};
pub(crate) use part::{below, parts};
pub use risk::*;
pub use synthetic::*;
pub use table::*;
pub use utility::*;

use kohort_core::table::Source;
use part::leaves;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// The measurements of a release: its guarantee, its risk and its utility, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Metrics {
    /// Metrics of a table.
    Table(Box<TableMetrics>),
    /// Metrics of codes.
    Codes(Box<CodesMetrics>),
    /// Metrics of patients and their events.
    Events(Box<EventsMetrics>),
}

/// The shape of the data, where it is not a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricsShape {
    /// A set of codes for each patient.
    Codes,
    /// Patients and their events.
    Events,
}

leaves! {
    "text": MetricsShape;
}

/// The keys of the common part are keys of the whole, in JSON as in Rust.
macro_rules! has_common {
    ($($metrics:ty),*) => {$(
        impl Deref for $metrics {
            type Target = CommonMetrics;

            fn deref(&self) -> &CommonMetrics {
                &self.common
            }
        }
    )*};
}
has_common!(TableMetrics, CodesMetrics, EventsMetrics);

impl Described for Trace {
    fn describe(path: &str, meaning: &str, described: &mut Vec<MetricsKey>) {
        described.push(MetricsKey { path: below(path, "NAME"), kind: "", meaning: meaning.trim().into() });
    }
}

impl Metrics {
    /// Reads metrics.json.
    pub fn parse(text: &str) -> serde_json::Result<Metrics> {
        #[derive(Deserialize)]
        struct MetricsHead {
            shape: Option<MetricsShape>,
        }
        Ok(match serde_json::from_str::<MetricsHead>(text)?.shape {
            None => Metrics::Table(serde_json::from_str(text)?),
            Some(MetricsShape::Codes) => Metrics::Codes(serde_json::from_str(text)?),
            Some(MetricsShape::Events) => Metrics::Events(serde_json::from_str(text)?),
        })
    }

    /// The same as a JSON value, for whoever looks up keys by name.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The parts that all shapes have.
    pub fn common(&self) -> &CommonMetrics {
        match self {
            Metrics::Table(own) => &own.common,
            Metrics::Codes(own) => &own.common,
            Metrics::Events(own) => &own.common,
        }
    }

    fn common_mut(&mut self) -> &mut CommonMetrics {
        match self {
            Metrics::Table(own) => &mut own.common,
            Metrics::Codes(own) => &mut own.common,
            Metrics::Events(own) => &mut own.common,
        }
    }

    /// Keeps what the custodian should know.
    pub fn note(&mut self, notes: Vec<String>) {
        self.common_mut().notes = Some(notes);
    }

    /// Keeps means and models that the policy names.
    pub fn set_checks(&mut self, checks: Vec<CheckResult>) {
        if let Metrics::Table(own) = self {
            own.checks = Some(checks).filter(|checks| !checks.is_empty());
        }
    }

    /// Keeps the released columns that derive from columns that are kept back.
    pub fn set_derived(&mut self, derived: Vec<DerivedColumn>) {
        if let Metrics::Table(own) = self {
            own.derived = derived;
        }
    }

    /// Keeps who receives the release, and what for.
    pub fn set_context(&mut self, context: &Option<kohort_core::policy::Context>) {
        self.common_mut().context =
            context.clone().map(|kohort_core::policy::Context { recipient, purpose, controls }| ReleaseContext {
                recipient,
                purpose,
                controls,
            });
    }

    /// Keeps what cleaning the tables changed.
    pub fn clean(&mut self, source: &Source) {
        let tables = source.patients().into_iter().chain(source.event_tables());
        let steps = tables.flat_map(|table| {
            let name = source.patients().map(|_| table.name().to_string());
            table.cleaned().steps.iter().map(move |step| Cleaning {
                table: name.clone(),
                column: step.column.clone(),
                what: step.what.clone(),
                cells: step.cells.into(),
            })
        });
        let steps: Vec<Cleaning> = steps.collect();
        self.common_mut().cleaning = Some(steps).filter(|steps| !steps.is_empty());
    }

    /// Returns notes for the custodian.
    pub fn notes(&self) -> &[String] {
        self.common().notes.as_deref().unwrap_or_default()
    }

    /// How long each stage took.
    pub fn timing(&self) -> Option<&Timing> {
        self.common().timing.as_ref()
    }

    /// The samples that are released instead of the whole, if there are any.
    pub fn samples(&self) -> Option<&[Sample]> {
        match self {
            Metrics::Table(own) => own.samples.as_deref(),
            Metrics::Codes(_) | Metrics::Events(_) => None,
        }
    }

    /// Adds attacks that were tried on the release.
    pub fn add_attacks(&mut self, tried: Vec<TriedAttack>) {
        let own = match self {
            Metrics::Table(own) => &mut own.attacks.get_or_insert(TableAttacks::NONE).tried,
            Metrics::Codes(own) => &mut own.attacks.get_or_insert(AttackTrials { tried: None }).tried,
            Metrics::Events(own) => &mut own.attacks.get_or_insert(AttackTrials { tried: None }).tried,
        };
        *own = Some(tried);
    }

    /// As metrics.json has it.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
