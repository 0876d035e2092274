//! What was counted and what a method decided about it, by the shape of the data. Every station
//! behind the method thinks about each shape here.

use crate::evidence::{self, Timing};
use crate::methods::claims;
use crate::methods::disassociate::{self, Params};
use crate::methods::{Method, Register, Task};
use crate::report;
use kohort_core::codes::{self, Records};
use kohort_core::cohort::{self, Cohort};
use kohort_core::events::{self, Histories};
use kohort_core::policy::{EventsPolicy, Policy};
use kohort_core::random::Randomness;
use kohort_core::release::{self, Certificate, Clusters, EventsPlan, Plan, Staged, Staging};
use kohort_core::risk::Attacks;
use kohort_core::table::Source;
use kohort_core::verify::{Found, Verified};
use kohort_core::{Error, Result};
use serde_json::Value;

/// A release before it is written.
pub enum Planned {
    /// What happens to each tuple of a table.
    Table {
        /// The method.
        method: Method,
        /// The tuples.
        cohort: Box<Cohort>,
        /// What happens to them.
        plan: Plan,
        /// What someone with a registry finds in the table as it is.
        attacks: Option<Attacks>,
    },
    /// How records of codes are split.
    Codes {
        /// The method's parameters.
        params: Params,
        /// The records.
        records: Records,
        /// Their clusters.
        clusters: Clusters,
    },
    /// What happens to patients and their events.
    Events {
        /// What the policy says of them.
        asked: Box<EventsPolicy>,
        /// The patients and their events.
        histories: Box<Histories>,
        /// What happens to them.
        plan: EventsPlan,
    },
}

impl Planned {
    /// Counts the data and asks the policy's method what is to happen to it.
    pub fn of(
        register: &Register,
        source: &Source,
        policy: &Policy,
        random: &mut Randomness,
        timing: &mut Timing,
    ) -> Result<Planned> {
        match register.task(policy)? {
            Task::Table(method) => {
                let cohort = timing.stage("count", || cohort::survey(source, policy))?;
                evidence::baseline_fits(&cohort, policy)?;
                let attacks = evidence::attacks(&cohort, policy)?;
                let plan = timing.stage("method", || method.plan(&cohort, policy, random))?;
                Ok(Planned::Table { method, cohort: Box::new(cohort), plan, attacks })
            }
            Task::Codes(params) => {
                let records = timing.stage("count", || codes::survey(source, policy))?;
                let threads = source.threads();
                let clusters = timing.stage("method", || disassociate::plan(&records, policy, &params, threads))?;
                Ok(Planned::Codes { params, records, clusters })
            }
            Task::Events(params) => {
                let histories = timing.stage("count", || events::survey(source, policy))?;
                let (threads, progress) = (source.threads(), &**source.progress());
                let decide = || claims::plan(&histories, policy, &params, random, threads, progress);
                let plan = timing.stage("method", decide)?;
                let Some(asked) = policy.events.clone() else {
                    return Err(policy.error("the policy is not about claims."));
                };
                Ok(Planned::Events { asked: Box::new(asked), histories: Box::new(histories), plan })
            }
        }
    }

    /// The certificate as far as the policy decides it: the gate fills in what it counts.
    pub fn draft_certificate(&self, source: &Source, policy: &Policy, random: &Randomness) -> Certificate {
        match self {
            Planned::Table { method, cohort, plan, .. } => {
                evidence::draft_certificate(source, policy, cohort, plan, method, random)
            }
            Planned::Codes { params, .. } => evidence::codes::draft_certificate(policy, params, random),
            Planned::Events { asked, .. } => evidence::events::draft_certificate(source, policy, asked, random),
        }
    }

    /// Writes the release and its dictionary into a staging folder.
    pub fn write(&self, source: &Source, policy: &Policy, staging: Staging, random: &mut Randomness) -> Result<Staged> {
        match self {
            Planned::Table { cohort, plan, .. } => {
                let staged = release::write(source, policy, cohort, plan, staging, random)?;
                report::write_dictionary(&staged, source, policy, cohort, plan)?;
                Ok(staged)
            }
            Planned::Codes { records, clusters, .. } => {
                let privacy = &policy.privacy;
                let claimed = (privacy.k.get(), privacy.known_codes());
                let staged = release::write_codes(records, clusters, claimed, staging, random)?;
                report::write_codes_dictionary(&staged, policy)?;
                Ok(staged)
            }
            Planned::Events { histories, plan, .. } => {
                let staged = release::write_events(histories, plan, source.delimiter(), staging, random)?;
                report::write_events_dictionary(&staged, policy, histories, plan)?;
                Ok(staged)
            }
        }
    }

    /// Draws the samples that leave instead of the whole, if the policy asks for any.
    pub fn sample(
        &self,
        verified: Verified,
        source: &Source,
        policy: &Policy,
        random: &mut Randomness,
        timing: &mut Timing,
    ) -> Result<Verified> {
        match self {
            Planned::Table { method, .. } if !method.samples().is_empty() => {
                timing.stage("sample", || verified.sample(method.samples(), source, policy, random))
            }
            Planned::Table { .. } | Planned::Codes { .. } | Planned::Events { .. } => Ok(verified),
        }
    }

    /// What metrics.json holds.
    pub fn measure(&self, policy: &Policy, verified: &Verified, threads: usize, timing: &mut Timing) -> Result<Value> {
        let mut metrics = match (self, &verified.findings().found) {
            (Planned::Table { method, cohort, plan, attacks }, Found::Table(recount, compared)) => {
                let found = (recount, compared);
                let mut metrics = evidence::measure(cohort, plan, policy, method, verified, found, timing)?;
                evidence::add_public_use(&mut metrics, cohort, plan, attacks.as_ref(), verified);
                metrics
            }
            (Planned::Codes { params, records, clusters }, Found::Codes(recount, compared)) => {
                let run = evidence::codes::Run { policy, params, records, clusters, threads };
                evidence::codes::measure(&run, verified, (recount, compared), timing)?
            }
            (Planned::Events { asked, histories, plan }, Found::Events(recount, compared)) => {
                let run = evidence::events::Run { policy, asked, histories, plan, threads };
                evidence::events::measure(&run, verified, (recount, compared), timing)?
            }
            (Planned::Table { .. } | Planned::Codes { .. } | Planned::Events { .. }, _) => {
                return Err(Error::refused("what was verified has another shape than what was planned."));
            }
        };
        evidence::add_preset(&mut metrics, policy);
        Ok(metrics)
    }

    /// What the custodian should know.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Planned::Table { cohort, .. } => cohort.notes.clone(),
            Planned::Codes { records, clusters, .. } => [&records.notes[..], &clusters.notes].concat(),
            Planned::Events { histories, .. } => histories.notes.clone(),
        }
    }
}
