//! Reads data, describes it and decides whether it is safe. Changes no data and is independent of the methods.

pub mod calendar;
mod classes;
pub mod code_systems;
pub mod codes;
pub mod cohort;
mod composed;
pub mod error;
pub mod events;
pub mod hierarchy;
pub mod ledger;
pub mod methods;
pub mod number;
pub mod parallel;
pub mod policy;
pub mod privacy;
pub mod ragged;
pub mod random;
pub mod release;
pub mod risk;
pub mod shape;
pub mod signature;
pub mod statistics;
pub mod synthetic_values;
pub mod table;
pub mod utility;
pub mod verify;
pub mod visible;

pub use error::{Error, Result};
