//! The integration tests of the core, built as one program because each program is linked anew.
//! `cargo test -p kohort-core --test suite reader::` runs the tests of one file.

mod leftovers;
mod reader;
mod real_codes;
mod real_hierarchies;
