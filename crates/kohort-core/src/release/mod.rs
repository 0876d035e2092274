//! The shapes of a release: what a method plans, how it is written, and what its certificate says.

mod blanked;
mod catalog;
mod certificate;
mod codes;
mod dictionary;
mod events;
mod guarantee;
mod leftovers;
mod plan;
mod sample;
mod shuffle;
mod staging;
mod write;

pub use catalog::{CATALOG_FILE, CatalogLine, read_catalog};
pub use certificate::{
    Certificate, Claim, Claimed, CodesClaim, ColumnClaim, EventsClaim, EventsFound, FileEntry, InventedClaim,
    KnowsClaim, SensitiveClaim, TClaim,
};
pub use codes::{
    CLUSTERS_FILE, Cluster, Clusters, CodeChunk, Columns, DEEPEST, Header, Joint, Node, Shared, read_clusters,
    write_codes,
};
pub use dictionary::{codes_dictionary, data_dictionary, events_dictionary};
pub use events::{CLAIMS_FILE, EventsPlan, PATIENT, PATIENTS_FILE, write_events};
pub use guarantee::{Guarantee, guarantee, guarantee_of_sample};
pub use plan::{Added, Catalog, CatalogEntry, Changed, Part, Parts, Plan, Recoded, Recoding, ReleasedLabel, Share};
pub(crate) use sample::{SampleFile, UNDRAWN, draw, write_samples};
pub(crate) use staging::SAMPLE;
pub use staging::{Staged, Staging, Unfinished};
pub(crate) use write::NO_LINE;
pub use write::{Written, write};
