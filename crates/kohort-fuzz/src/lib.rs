//! Malformed input for everything of Kohort's that reads: no panic, no hang, no memory beyond a limit.
//!
//! [`target`] lists the readers. [`child`] changes inputs, reads them in a process of its own and keeps those
//! that make a reader behave in a new way ([`behaviour`]). [`supervise`] starts these processes with limits and
//! keeps what they could not bear. `one` reads the bytes of another fuzzer: see the folder fuzz/.

#![allow(missing_docs)]

pub mod behaviour;
pub mod bundle;
pub mod change;
pub mod child;
pub mod corpus;
pub mod dice;
pub mod examples;
pub mod json;
pub mod make;
pub mod mutate;
pub mod one;
pub mod pool;
pub mod read;
pub mod scratch;
pub mod supervise;
pub mod target;

pub use one::one;
