//! The tests of the fuzzer, built as one program because each program is linked anew.
//! `cargo test -p kohort-fuzz --test suite hostile::` runs the tests of one file.

mod hostile;
mod short;
