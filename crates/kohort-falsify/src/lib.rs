//! An adversary who knows every method, its parameters and what was released, and not the data.
//!
//! On small data everything can be gone through: [`tables`] makes the release of *every* original of
//! a few rows over a few values, and [`codes`] of every set of records over a few codes. Originals
//! that could have made the same release are taken together, and what a reader then believes of a
//! person is a count ([`aware`]). A reader who only matches what they know against a release needs no
//! other originals ([`plain`], [`recombine`], [`events`]).
//!
//! The promise is read from the certificate; a belief above it is a broken promise. The
//! library `kohort` is asked for releases only: labels, matches and beliefs are counted here.

pub mod aware;
pub mod campaign;
pub mod codes;
pub mod dice;
pub mod events;
pub mod first_contact;
pub mod make;
pub mod plain;
pub mod promise;
pub mod recombine;
pub mod red_team;
pub mod tables;
pub mod universe;
