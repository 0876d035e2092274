//! Kohort de-identifies health data so that it can be shared, and proves that the result keeps its promise.
//!
//! Columns go in, released columns come out, and no files are needed:
//!
//! ```
//! use kohort::{Hierarchy, Policy, Table};
//!
//! # fn main() -> kohort::Result<()> {
//! let table = Table::from_columns([
//!     ("name", ["Ann", "Bob", "Cid", "Dea", "Eve", "Fay"]),
//!     ("age", ["31", "34", "36", "52", "55", "58"]),
//!     ("sex", ["F", "M", "M", "F", "F", "F"]),
//!     ("diagnosis", ["flu", "asthma", "flu", "angina", "flu", "asthma"]),
//! ])?;
//! let policy = Policy::builder()
//!     .identifier("name")
//!     .quasi_with("age", Hierarchy::intervals([10, 20], 0, 100))
//!     .quasi("sex")
//!     .sensitive("diagnosis")
//!     .k(3)
//!     .confidence(0.67)
//!     .method("lattice")
//!     .parameter("max_suppressed", 0.05) // the share of records that may be removed
//!     .build()?;
//!
//! let release = kohort::anonymize(&table, &policy)?; // verified, or an error
//!
//! let released = release.columns()?;
//! assert_eq!(released.names(), ["age", "sex", "diagnosis"]);
//! assert_eq!(released.rows(), 6);
//! println!("{}", release.certificate()?.guarantee().plain);
//! # Ok(())
//! # }
//! ```
//!
//! # The words
//! - A **[`Table`]** is the data: columns in memory, the text of a CSV file, or a file. [`Data`] is a table, the codes
//!   of patients ([`Data::codes`]), or patients with their events ([`Data::events`]).
//! - A **[`Policy`]** is what the custodian decided: what each column is, what must hold, and by which method. It is
//!   built key by key ([`Policy::builder`]), or it is the text of a `policy.toml` ([`Policy::parse`],
//!   [`Policy::read`]). A [`Hierarchy`] says what the values of a column may become.
//! - A **[`Release`]** is what may be shared, together with the evidence that stays in the house. It exists only
//!   after its guarantee was recounted, from the very bytes it holds, by code that is independent of the method used.
//!
//! # The calls
//! | call | does |
//! |---|---|
//! | [`anonymize`] | makes a verified release in memory; [`Run::anonymize_into`] makes it in a folder |
//! | [`verify`] | recounts the guarantee of a published release from its bytes: verified, partly, or refused |
//! | [`verify_with_original`] | the same, and compares it with the original data |
//! | [`Release::sign`] | signs its certificate; [`Run::signed_by`] verifies only what a known key signed |
//! | [`risk`] | measures how easily people can be found in the data as it is |
//! | [`suggest`] | profiles a table and suggests a policy |
//!
//! [`Run`] sets threads, progress, cancellation and, for tests, the random seed. An [`Error`] has a [`Kind`], which
//! says whose it is (your data, no release possible, the machine), and never holds a value of the data.
//!
//! The programs in `examples/` are meant to be copied. How a run goes, step by step, is in [`pipeline`].

mod api;
pub mod applied_hierarchy;
pub mod apply;
pub mod attack;
pub mod baselines;
pub mod compare;
mod composition;
pub mod demo;
mod demographic_queries;
pub mod evidence;
pub mod flatten;
pub mod hospital;
pub mod init;
pub mod item_chunk_counts;
pub mod itemsets;
pub mod lattice;
pub mod local;
pub mod methods;
pub mod original_risk;
mod outside;
pub mod pipeline;
mod profile;
pub mod queries;
pub mod reconstruct;
pub mod released_shape;
pub mod report;
pub mod sets_that_occur_once;
mod several_files;
pub mod truthful;

pub use api::{
    Cancel, Cell, ColumnSettings, Data, DataRisk, Examined, Hierarchy, Policy, PolicyBuilder, Refusal, Release, Run,
    Setting, Table, TableBuilder, Verification, anonymize, risk, suggest, verify, verify_with_original,
};
pub use init::{ColumnAdvice, Suggestion};
pub use kohort_core::error::{Kind, Subject};
pub use kohort_core::ledger::{Composition, Ledger};
pub use kohort_core::release::{AnyCertificate, Certificate, RepeatedLines};
pub use kohort_core::signature::{PublicKey, SecretKey, Signers};
pub use kohort_core::table::{MemoryTable, Progress, Silent, TextColumn};
pub use kohort_core::verify::{Depth, Outcome, Outside, Signer};
pub use kohort_core::{Error, Result};
pub use pipeline::Released;
