//! Turns health data that must not leave the house into data that may.

pub mod hospital;
pub mod lattice;
