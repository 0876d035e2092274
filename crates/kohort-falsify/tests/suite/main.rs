//! The tests of the falsifier, built as one program because each program is linked anew.
//! `cargo test -p kohort-falsify --test suite promises::` runs the tests of one file.

mod counterexamples;
mod first_contact;
mod promises;
mod red_team;
