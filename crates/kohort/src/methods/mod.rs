//! The methods: each decides what happens to each tuple of a cohort. None does any I/O.

pub mod ceiling;
pub mod claims;
pub mod disassociate;
pub mod lattice;
pub mod specialize;
pub mod suppress;

use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Layout, Policy, nearest};
use kohort_core::random::Randomness;
use kohort_core::release::Plan;

/// What a policy asks for, by the shape of its data.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// A table, changed by a method that decides about tuples.
    Table(Method),
    /// Sets of codes, disassociated.
    Codes(disassociate::Params),
    /// Patients and their events.
    Events(claims::Params),
}

impl Task {
    /// The task of a policy: its method must be one for the data it names.
    pub fn of(policy: &Policy) -> Result<Task> {
        let section = &policy.method;
        let name = section.text("name")?;
        let codes = name == Some("disassociate");
        match policy.layout {
            Layout::Events if name == Some("claims") => Ok(Task::Events(claims::Params::read(policy)?)),
            Layout::Events => Err(section.wrong("name", "patients and claims are for the method \"claims\": say name = \"claims\".")),
            Layout::Table if name == Some("claims") => Err(section.wrong(
                "name",
                "\"claims\" is for two linked tables: say patients = \"…\" and claims = \"…\" under [input].",
            )),
            Layout::Table if codes => Err(section.wrong(
                "name",
                "\"disassociate\" is for sets of codes: say layout = \"list\" (a patient a row) or \"long\" (a code a row) under [input].",
            )),
            Layout::Table => Ok(Task::Table(Method::of(policy)?)),
            Layout::List | Layout::Long if codes => Ok(Task::Codes(disassociate::Params::read(policy)?)),
            Layout::List | Layout::Long => Err(match section.get("name") {
                None => section.error(section.line, "[method] has no `name`. For sets of codes say name = \"disassociate\"."),
                Some(_) => section.wrong("name", "is no method for sets of codes. Say name = \"disassociate\"."),
            }),
        }
    }

    /// The method's name in policies, certificates and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Task::Table(method) => method.name(),
            Task::Codes(_) => "disassociate",
            Task::Events(_) => "claims",
        }
    }
}

/// A method for tables with its parameters, checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Full-domain generalization.
    Lattice(lattice::Params),
    /// Top-down specialization.
    Specialize(specialize::Params),
    /// Single cells go blank.
    Suppress(suppress::Params),
    /// Nothing is generalized beyond a ceiling; rows are added.
    Ceiling(ceiling::Params),
}

/// The methods a policy may name for a table.
pub const NAMES: [&str; 4] = ["lattice", "specialize", "suppress", "ceiling"];

/// The methods a policy may name, whatever its data.
pub const ALL_NAMES: [&str; 6] = ["lattice", "specialize", "suppress", "ceiling", "disassociate", "claims"];

/// The keys that [method] may have beside this name.
pub fn keys_of(method: &str) -> &'static [&'static str] {
    match method {
        "lattice" => &lattice::KEYS,
        "specialize" => &specialize::KEYS,
        "suppress" => &suppress::KEYS,
        "ceiling" => &ceiling::KEYS,
        "disassociate" => &disassociate::KEYS,
        "claims" => &claims::KEYS,
        _ => &[],
    }
}

impl Method {
    /// The method the policy names.
    pub fn of(policy: &Policy) -> Result<Method> {
        let section = &policy.method;
        let Some(name) = section.text("name")? else {
            return Err(section.error(section.line, "[method] has no `name`. Say name = \"lattice\"."));
        };
        match name {
            "lattice" => Ok(Method::Lattice(lattice::Params::read(section)?)),
            "specialize" => Ok(Method::Specialize(specialize::Params::read(policy)?)),
            "suppress" => Ok(Method::Suppress(suppress::Params::read(policy)?)),
            "ceiling" => Ok(Method::Ceiling(ceiling::Params::read(policy)?)),
            other => {
                let hint = nearest(other, NAMES.into_iter().chain(["disassociate", "claims"]))
                    .map_or(String::new(), |n| format!(" Did you mean \"{n}\"?"));
                Err(section
                    .wrong("name", format!("there is no method of this name. Available: {}.{hint}", NAMES.join(", "))))
            }
        }
    }

    /// Its name in policies, certificates and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Lattice(_) => "lattice",
            Method::Specialize(_) => "specialize",
            Method::Suppress(_) => "suppress",
            Method::Ceiling(_) => "ceiling",
        }
    }

    /// Decides what happens to each tuple. Only steps that are random by design use `random`.
    pub fn plan(&self, cohort: &Cohort, policy: &Policy, random: &mut Randomness) -> Result<Plan> {
        match self {
            Method::Lattice(params) => lattice::plan(cohort, policy, params),
            Method::Specialize(params) => specialize::plan(cohort, policy, params),
            Method::Suppress(params) => suppress::plan(cohort, policy, params),
            Method::Ceiling(params) => ceiling::plan(cohort, policy, params, random),
        }
    }
}
