//! The tests of the command, built as one program because each program is linked anew.
//! `cargo test -p kohort-cli --test suite commands::` runs the tests of one file. Only `failure.rs` stays
//! apart: it replaces the panic hook of its process.

mod attack;
mod bad_input;
mod canaries;
mod ceiling;
mod claims;
mod codes;
mod commands;
mod common;
mod docs;
mod first_contact;
mod hostile_targets;
mod kills;
mod ledger;
mod local;
mod machine;
mod parquet_folder;
mod reference;
mod signatures;
mod starved;
mod supply_chain;
mod voice;
