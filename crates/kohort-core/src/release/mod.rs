//! The shapes of a release: what a method plans, how it is written, and what its certificate says.

mod assumed;
mod blanked;
mod by_workers;
mod catalog;
mod certificate;
#[cfg(test)]
mod certificate_fields;
mod claim;
mod coarsened;
mod codes;
mod data_file;
mod deal;
pub(crate) mod dictionary;
mod events;
mod files;
pub(crate) mod fineness;
mod guarantee;
mod held_file;
mod input_rows;
mod label_levels;
mod leftovers;
pub mod made;
mod plan;
mod promise;
mod recounted;
mod row_form;
mod sample;
pub(crate) mod serial;
mod shuffle;
mod staging;
mod trace;
mod write;
mod write_parts;

pub use assumed::Basis;
pub(crate) use assumed::{TableFacts, accepted_of_events, basis_of_codes, basis_of_events};
pub use catalog::{CATALOG_FILE, CatalogLine, read_catalog};
pub(crate) use catalog::{LARGEST_CATALOG, catalog_text, parse_catalog};
pub(crate) use certificate::counts;
pub use certificate::{AnyCertificate, Certificate, FileEntry, PartEntry};
pub use claim::{
    Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim, SensitiveClaim, SyntheticClaim, TClaim, TableClaim,
};
pub use coarsened::{ClassLabel, ShownLabel};
pub use codes::{
    CLUSTERS_FILE, ChunkOwner, Cluster, ClusterNode, Clusters, CodeChunk, Columns, DEEPEST, Header, Joint,
    read_clusters, write_codes,
};
pub(crate) use codes::{is_as_written, read_clusters_from};
pub use data_file::{DataFile, PARTS, part_name};
pub use dictionary::{codes_dictionary, data_dictionary, events_dictionary, markdown};
pub(crate) use events::lines_file;
pub use events::{EventsPlan, PATIENT, PATIENTS_FILE, PATIENTS_TABLE, table_file, write_events};
pub use files::{Published, ReleaseFiles};
pub use fineness::rows_by_level;
pub use guarantee::{Guarantee, guarantee_of_codes, guarantee_of_events, guarantee_of_table};
pub use held_file::RepeatedLines;
pub use label_levels::{ColumnLevels, HIERARCHY_FILE, LabelGroups, read_label_levels};
pub(crate) use label_levels::{LARGEST_LEVELS, label_levels_text, parse_label_levels};
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
pub use write::{WorkersCounted, Written, write};
