//! The library's face: tables and policies in memory, one call for each thing that Kohort does.

mod data;
mod hierarchy;
mod policy;
mod policy_builder;
mod release;
mod risk;
mod run;
mod setting;
#[cfg(test)]
mod tests;
mod verification;

pub use data::{Cell, Data, Table, TableBuilder};
pub use hierarchy::Hierarchy;
pub use policy::Policy;
pub use policy_builder::{ColumnSettings, PolicyBuilder};
pub use release::Release;
pub use risk::DataRisk;
pub use run::{Cancel, Run, anonymize, risk, suggest, verify, verify_with_original};
pub use setting::Setting;
pub use verification::{Examined, Refusal, Verification};
