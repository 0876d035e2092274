//! A method's entry in the register: its name, what it does, what it takes, and how it is read.

use super::param::{Param, ValueKind};
use super::{Caption, CodesMethod, EventsMethod, TableMethod};
use kohort_core::number::K;
use kohort_core::policy::{Effects, Policy, Section};
use kohort_core::privacy::Knows;
use kohort_core::shape::{Codes, Events, Shape};
use kohort_core::{Error, Result};

/// A method as policies name it.
#[derive(Debug)]
pub struct Entry {
    /// The name in policies, certificates and reports.
    pub name: &'static str,
    /// A summary of what the method does to the data, in one or two sentences.
    pub summary: &'static str,
    /// The same as a clause for the report: it follows "Made by the method X: ".
    pub caption: &'static str,
    /// The attackers it protects against: what they may know of a person.
    pub knows: &'static [Knowledge],
    /// The requirements it can meet.
    pub requirements: &'static [Requirement],
    /// The method's additions to the promise of a release: the verifier and the certificate take them from here.
    pub effects: Effects,
    /// True if numbers without a hierarchy get intervals that follow the data.
    pub groups_numbers: bool,
    /// The keys of `[method]`, beside `name`.
    pub params: &'static [Param],
    /// The names of the values that the method records about its search, as the report shows them.
    pub captions: &'static [Caption],
    /// A policy by which the method releases the synthetic hospital.
    pub example: &'static str,
    /// Reads the parameters of a bound policy. The shape of the data follows from it.
    pub read: Read,
}

/// Reads and checks the parameters of a method, by the shape of its data.
#[derive(Debug, Clone, Copy)]
pub enum Read {
    /// A method for tables.
    Table(fn(&Policy) -> Result<Box<dyn TableMethod>>),
    /// A method for sets of codes.
    Codes(fn(&Policy<Codes>) -> Result<Box<dyn CodesMethod>>),
    /// A method for patient histories.
    Events(fn(&Policy<Events>) -> Result<Box<dyn EventsMethod>>),
}

/// A shape of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataShape {
    /// One table with a row for each person or stay.
    Table,
    /// A set of codes for each patient.
    Codes,
    /// Patients and their events.
    Events,
}

/// A kind of attacker, by what the policy's `knows` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// `knows = "all"`: every quasi-identifier.
    All,
    /// `knows = 3`: any three quasi-identifiers, or any three codes.
    Any,
    /// `knows = [[…], …]`: one of the listed sets of columns.
    Sets,
    /// `power` or `power_total`: some events of a patient history.
    Power,
}

/// A requirement of `[privacy]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// `k` (or `max_risk`, or `preset`).
    K,
    /// `confidence`.
    Confidence,
    /// `l_diversity`.
    LDiversity,
    /// `t_closeness`.
    TCloseness,
    /// `max_high_risk`.
    MaxHighRisk,
}

impl DataShape {
    /// The shape of this name.
    pub(super) fn of<S: Shape>() -> DataShape {
        match S::NAME {
            Codes::NAME => DataShape::Codes,
            Events::NAME => DataShape::Events,
            _ => DataShape::Table,
        }
    }

    /// Its name in messages and in the manual.
    pub fn name(self) -> &'static str {
        match self {
            DataShape::Table => "a table",
            DataShape::Codes => "sets of codes",
            DataShape::Events => "patient histories",
        }
    }

    /// Returns what `[input]` must say for it.
    pub(super) fn input(self) -> &'static str {
        match self {
            DataShape::Table => "set `table` under [input], without `layout`",
            DataShape::Codes => {
                "set layout = \"list\" (one row per patient) or \"long\" (one row per code) under [input]"
            }
            DataShape::Events => "name two linked tables under [input]: `patients` and `claims`",
        }
    }
}

impl Knowledge {
    /// The kind of attacker of a table's policy.
    pub(super) fn of(knows: &Knows) -> Knowledge {
        match knows {
            Knows::All => Knowledge::All,
            Knows::Any(_) => Knowledge::Any,
            Knows::Sets(_) => Knowledge::Sets,
        }
    }

    /// As it is written in a policy.
    pub fn written(self) -> &'static str {
        match self {
            Knowledge::All => "knows = \"all\"",
            Knowledge::Any => "knows = N",
            Knowledge::Sets => "knows = [[…], …]",
            Knowledge::Power => "power = N",
        }
    }
}

impl Requirement {
    /// The requirements of a bound policy.
    pub(super) fn of<S: Shape>(policy: &Policy<S>) -> Vec<Requirement> {
        let privacy = &policy.privacy;
        let asked = [
            (Requirement::K, true),
            (Requirement::Confidence, privacy.confidence.is_some()),
            (Requirement::LDiversity, privacy.l_diversity.is_some()),
            (Requirement::TCloseness, privacy.t_closeness.is_some()),
        ];
        asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(requirement, _)| requirement).collect()
    }

    /// Its key in `[privacy]`.
    pub fn key(self) -> &'static str {
        match self {
            Requirement::K => "k",
            Requirement::Confidence => "confidence",
            Requirement::LDiversity => "l_diversity",
            Requirement::TCloseness => "t_closeness",
            Requirement::MaxHighRisk => "max_high_risk",
        }
    }
}

impl Entry {
    /// The shape of the data it takes.
    pub fn shape(&self) -> DataShape {
        match self.read {
            Read::Table(_) => DataShape::Table,
            Read::Codes(_) => DataShape::Codes,
            Read::Events(_) => DataShape::Events,
        }
    }

    /// The keys that `[method]` may have, `name` first.
    pub fn keys(&self) -> Vec<&'static str> {
        std::iter::once("name").chain(self.params.iter().map(|param| param.key)).collect()
    }

    /// A `[method]` section with usual values for what has no default.
    pub fn usual(&self, k: K) -> Result<Section> {
        let mut text = format!("name = \"{}\"\n", self.name);
        for param in self.params {
            let value = param.usual().and_then(|usual| usual.value(Some(k)));
            text += &value.map_or(String::new(), |value| format!("{} = {value}\n", param.key));
        }
        Section::parse("the usual parameters", &text)
    }

    /// The error for a parameter that the policy must set, with its meaning and a usual value.
    pub fn missing<S: Shape>(&self, policy: &Policy<S>, key: &str) -> Error {
        let (section, k) = (&policy.method, policy.privacy.k);
        let Some(param) = self.params.iter().find(|param| param.key == key) else {
            return section.error(section.line, format!("[method] has no `{key}`."));
        };
        let usual = param.usual().and_then(|usual| usual.value(Some(k)));
        // The example of a value that depends on k may be too large for this k.
        let example = Some(param.example.to_string()).filter(|_| param.kind != ValueKind::UpToK);
        let mut examples: Vec<String> = usual.into_iter().chain(example).collect();
        examples.dedup();
        let examples: Vec<String> = examples.iter().map(|value| format!("{key} = {value}")).collect();
        section.error(
            section.line,
            format!(
                "[method] has no `{key}`, which has no default. {} Set it to {}, for example {}.",
                param.help,
                param.values(k),
                examples.join(" or ")
            ),
        )
    }
}
