//! The policy: as written ([`PolicyFile`]), and as bound to a table ([`Policy`]).
//!
//! Reading checks what can be checked without the data, binding checks it against the columns;
//! after that it is trusted.

mod accept;
mod any;
mod at_levels;
mod baseline;
mod bind;
mod bound;
mod check;
mod cleaning;
mod column;
mod context;
mod database;
mod effects;
mod events;
mod exclude;
mod exclude_events;
mod files;
mod not_toml;
mod numbers;
mod population;
mod preset;
mod privacy;
mod section;
mod several_files;
mod shift;
mod survives;
mod synthetic;

pub use accept::{Acceptance, Danger};
pub use any::{AnyPolicy, CodesLayout, CodesPolicy, TablePolicy};
pub use baseline::BaselineLoss;
pub(crate) use bind::is_table_name;
pub use bind::{GivenTables, NamedText, PolicyFile, read};
pub use bound::{CommonSections, Policy};
pub use check::ADD_CONFIDENCE;
pub(crate) use cleaning::sentences as cleaning_sentences;
pub use column::{Column, MonthsSince, Origin, Role, Unmapped};
pub use context::Context;
pub use effects::{Effects, Methods};
pub(crate) use events::MOST_PAIRS;
pub use events::{EventTable, EventsPolicy, Power, PowerRule, WithoutEvents};
pub use exclude_events::{EventsRule, EventsTable, RuleKind};
pub use files::PolicyFiles;
pub use population::{Covers, Population, Registry};
pub use preset::{PRESETS, Preset};
pub use privacy::{LedgerRule, Privacy, TDistance};
pub use section::{Item, Section, Value, nearest};
pub use several_files::{OneFile, Sampled};
pub use shift::Shifted;
pub use survives::{Check, ModelKind};
pub use synthetic::SyntheticRules;
