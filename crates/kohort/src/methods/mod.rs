//! The methods: each decides what happens to each tuple of a cohort. None does any I/O.

pub mod lattice;
pub mod specialize;
pub mod suppress;

use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Policy, nearest};
use kohort_core::release::Plan;

/// A method with its parameters, checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Full-domain generalization.
    Lattice(lattice::Params),
    /// Top-down specialization.
    Specialize(specialize::Params),
    /// Single cells go blank.
    Suppress(suppress::Params),
}

/// The methods a policy may name.
pub const NAMES: [&str; 3] = ["lattice", "specialize", "suppress"];
/// Methods of later versions, so that a policy for them is told so.
const LATER: [&str; 3] = ["ceiling", "disassociate", "claims"];

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
            later if LATER.contains(&later) => Err(section.wrong(
                "name",
                format!("\"{later}\" is not available in this version. Available: {}.", NAMES.join(", ")),
            )),
            other => {
                let hint = nearest(other, NAMES.into_iter().chain(LATER))
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
        }
    }

    /// Decides what happens to each tuple.
    pub fn plan(&self, cohort: &Cohort, policy: &Policy) -> Result<Plan> {
        match self {
            Method::Lattice(params) => lattice::plan(cohort, policy, params),
            Method::Specialize(params) => specialize::plan(cohort, policy, params),
            Method::Suppress(params) => suppress::plan(cohort, policy, params),
        }
    }
}
