//! The policy: as written ([`PolicyFile`]), and as bound to a table ([`Policy`]).
//!
//! Reading checks what can be checked without the data, binding checks it against the columns;
//! after that it is trusted.

mod any;
mod baseline;
mod bind;
mod bound;
mod check;
mod column;
mod effects;
mod events;
mod exclude;
mod exclude_events;
mod files;
mod population;
mod preset;
mod privacy;
mod section;
mod synthetic;

pub use any::{AnyPolicy, CodesLayout, CodesPolicy, TablePolicy};
pub use baseline::BaselineLoss;
pub use bind::{GivenTables, NamedText, PolicyFile, read};
pub use bound::Policy;
pub use column::{Column, MonthsSince, Origin, Role, Unmapped};
pub use effects::{Effects, Methods};
pub use events::{EventsPolicy, Power, PowerRule, WithoutEvents};
pub use exclude_events::{EventsRule, EventsTable, RuleKind};
pub use files::PolicyFiles;
pub use population::{Population, Registry};
pub use preset::{PRESETS, Preset};
pub use privacy::{Privacy, TDistance};
pub use section::{Item, Section, Value, nearest};
pub use synthetic::SyntheticRules;
