//! The program `kohort`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(kohort_cli::run(std::env::args_os()))
}
