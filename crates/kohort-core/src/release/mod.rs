//! The shapes of a release: what a method plans, how it is written, and what its certificate says.

mod assumed;
mod blanked;
mod catalog;
mod certificate;
#[cfg(test)]
mod certificate_fields;
mod claim;
mod coarsened;
mod codes;
mod data_file;
mod dictionary;
mod events;
mod files;
mod fineness;
mod guarantee;
mod label_levels;
mod leftovers;
pub mod made;
mod plan;
mod promise;
mod recounted;
mod sample;
mod serial;
mod shuffle;
mod staging;
mod trace;
mod write;

pub use assumed::Basis;
pub(crate) use assumed::{TableFacts, basis_of_codes, basis_of_events};
pub use catalog::{CATALOG_FILE, CatalogLine, read_catalog};
pub(crate) use catalog::{LARGEST_CATALOG, parse_catalog};
pub(crate) use certificate::counts;
pub use certificate::{AnyCertificate, Certificate, FileEntry};
pub use claim::{
    Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim, SensitiveClaim, SyntheticClaim, TClaim, TableClaim,
};
pub use coarsened::ShownLabel;
pub(crate) use codes::read_clusters_from;
pub use codes::{
    CLUSTERS_FILE, ChunkOwner, Cluster, Clusters, CodeChunk, Columns, DEEPEST, Header, Joint, Node, read_clusters,
    write_codes,
};
pub use data_file::DataFile;
pub use dictionary::{codes_dictionary, data_dictionary, events_dictionary, markdown};
pub(crate) use events::lines_file;
pub use events::{EventsPlan, PATIENT, PATIENTS_FILE, PATIENTS_TABLE, table_file, write_events};
pub use files::{Published, ReleaseFiles};
pub use fineness::rows_by_level;
pub use guarantee::{Guarantee, guarantee_of_codes, guarantee_of_events, guarantee_of_table};
pub use label_levels::{ColumnLevels, HIERARCHY_FILE, LabelGroups, read_label_levels};
pub(crate) use label_levels::{LARGEST_LEVELS, parse_label_levels};
pub use plan::{
    Catalog, CatalogEntry, Changed, Part, Parts, Plan, Recoded, Recoding, ReleasedLabel, Share, SyntheticRecord,
};
pub use promise::Promise;
pub(crate) use promise::asks_for_share;
pub use recounted::{CatalogShown, SensitiveShown, TableShown};
pub(crate) use sample::{SampleFile, UNDRAWN, draw, write_samples};
pub(crate) use staging::SAMPLE;
pub use staging::{Staged, Staging, Unfinished};
pub use trace::{Noted, Trace, TraceShare, TraceStep};
pub(crate) use write::NO_LINE;
pub use write::{Written, write};
