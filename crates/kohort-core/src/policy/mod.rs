//! The policy: as written ([`PolicyFile`]), and as bound to a table ([`Policy`]).
//!
//! Reading checks what can be checked without the data, binding checks it against the columns;
//! after that it is trusted.

mod accept;
mod any;
mod baseline;
mod bind;
mod column;
mod effects;
mod events;
mod exclude;
mod files;
mod invents;
mod population;
mod preset;
mod privacy;
mod section;

pub use accept::{Acceptance, Danger};
pub use any::{AnyPolicy, CodesLayout, CodesPolicy, TablePolicy};
pub use baseline::Baseline;
pub use bind::{GivenTables, NamedText, Policy, PolicyFile, files_named, read};
pub use column::{Column, MonthsSince, Origin, Role, Unmapped};
pub use effects::{Effects, Methods};
pub use events::{EventsPolicy, EventsRule, Power, PowerRule, RuleKind, Table, WithoutEvents};
pub use files::PolicyFiles;
pub use invents::Invents;
pub use population::{Population, Registry};
pub use preset::{PRESETS, Preset};
pub use privacy::{Privacy, TDistance};
pub use section::{Item, Section, Value, nearest};
