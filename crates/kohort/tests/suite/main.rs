//! The integration tests of the library, built as one program because each program is linked anew.
//! `cargo test -p kohort --test suite golden::` runs the tests of one file.

mod apply;
mod attacks;
mod brute_force;
mod ceiling;
mod ceiling_local;
mod checks;
mod claims;
mod class_column;
mod cleaning;
mod codes;
mod common;
mod conformance;
mod deleted;
mod demographic_codes;
mod determinism;
mod dictionary_words;
mod elsewhere;
mod engine;
mod event_findings;
mod event_tables;
mod examples;
mod falsifier;
mod formats;
mod golden;
mod hostile_certificate;
mod known_sets;
mod levels;
mod lkc_guarantees;
mod local;
mod local_ranges;
mod new_method;
mod odd_tables;
mod parquet_parts;
mod public_use;
mod real_adult;
mod real_codes;
mod real_demographics;
mod real_init;
mod real_local;
mod real_missingness;
mod real_nhds;
mod regressions;
mod rows_not_remembered;
mod samples;
mod several_files;
mod shift;
mod specialize;
mod stages;
mod two_parts;
mod vectors;

// The example of a new method names this module as it would inside the crate.
use kohort::methods;
