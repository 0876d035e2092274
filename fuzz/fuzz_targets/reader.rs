//! One of Kohort's readers, named by `KOHORT_READER`, as a target of libFuzzer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static READER: LazyLock<String> = LazyLock::new(|| std::env::var("KOHORT_READER").unwrap_or_else(|_| "csv".into()));

fuzz_target!(|bytes: &[u8]| kohort_fuzz::one(&READER, bytes));
