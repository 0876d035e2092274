//! The shapes of a release: what a method plans, how it is written, and what its certificate says.

mod blanked;
mod catalog;
mod certificate;
mod clusters;
mod dictionary;
mod guarantee;
mod leftovers;
mod linked;
mod plan;
mod sample;
mod shuffle;
mod staging;
mod write;

pub use catalog::{CATALOG_FILE, CatalogLine, read_catalog};
pub use certificate::{
    Certificate, Claim, Claimed, ClaimsClaim, ClaimsFound, ClustersClaim, ColumnClaim, FileEntry, InventedClaim,
    KnowsClaim, SensitiveClaim, TClaim, wilson,
};
pub use clusters::{
    CLUSTERS_FILE, Cluster, Clusters, CodeChunk, Columns, DEEPEST, Header, Joint, Node, Shared, read_clusters,
    write_clusters,
};
pub use dictionary::{codes_dictionary, data_dictionary, linked_dictionary};
pub use guarantee::{Guarantee, guarantee, guarantee_of_sample};
pub use linked::{CLAIMS_FILE, LinkedPlan, PATIENT, PATIENTS_FILE, write_linked};
pub use plan::{Added, Catalog, CatalogEntry, Changed, Part, Parts, Plan, Recoded, Recoding, ReleasedLabel, Share};
pub(crate) use sample::{SampleFile, UNDRAWN, draw, write_samples};
pub(crate) use staging::SAMPLE;
pub use staging::{Staged, Staging, Unfinished};
pub(crate) use write::NO_LINE;
pub use write::{Written, write};
