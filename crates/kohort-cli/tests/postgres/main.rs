//! Tables in PostgreSQL, in and out, with a server that `tests/postgres/run` starts. Every test has a database of its own.

#[path = "../suite/common/mod.rs"]
#[allow(dead_code)]
mod common;

mod broken;
mod guides;
mod input;
mod omop;
mod output;
mod secrets;
mod server;
