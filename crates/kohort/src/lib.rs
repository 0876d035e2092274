//! Turns health data that must not leave the house into data that may.
//!
//! Start with [`pipeline`]: it is the whole product in one page.

pub mod attack;
pub mod baselines;
pub mod compare;
pub mod demo;
pub mod evidence;
pub mod hospital;
pub mod init;
pub mod item_chunk_counts;
pub mod itemsets;
pub mod lattice;
pub mod methods;
pub mod original_risk;
pub mod pipeline;
pub mod queries;
pub mod reconstruct;
pub mod released_shape;
pub mod report;
pub mod truthful;
