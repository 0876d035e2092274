//! The kohort command: arguments → one library call → print. No logic.

mod anonymize;
mod attack;
mod compare;
mod demo;
mod failure;
mod hierarchy;
mod init;
mod output;
mod progress;
mod reconstruct;
mod risk;
mod truthful;
mod verify;

use clap::{Parser, Subcommand};
use kohort_core::error::Kind;
use std::process::ExitCode;

/// Turns health data that must not leave the house into data that may.
#[derive(Parser)]
#[command(
    name = "kohort",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  kohort demo                       a synthetic hospital, released and verified
  kohort init patients.csv          writes policy.toml: read it, decide, set k
  kohort anonymize policy.toml      a verified release and its report

Exit codes: 0 released or verified; 1 refused by the verifier; 2 arguments, policy or data;
3 no release can meet the requirement; 4 the machine (disk, memory, interrupted)."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to work with [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Let errors show values of the data: only on the custodian's own screen
    #[arg(long, global = true)]
    show_values: bool,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Init(init::Args),
    Risk(risk::Args),
    Anonymize(anonymize::Args),
    Compare(compare::Args),
    Verify(verify::Args),
    Attack(attack::Args),
    Reconstruct(reconstruct::Args),
    Truthful(truthful::Args),
    Hierarchy(hierarchy::Args),
}

/// What every command is given.
pub(crate) struct Context {
    pub(crate) threads: usize,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    // An interrupt leaves nothing behind: no folder, no half of one.
    let _ = ctrlc::set_handler(|| {
        let Some(_gone) = kohort_core::release::Staging::remove_all() else { return };
        output::complain("\ninterrupted: nothing was published.");
        std::process::exit(4);
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let context = Context { threads: cli.threads.unwrap_or(cores).clamp(1, 1024) };
    let result = failure::caught(|| match cli.command {
        Command::Demo(args) => demo::run(&args, &context),
        Command::Init(args) => init::run(&args, &context),
        Command::Risk(args) => risk::run(&args, &context),
        Command::Anonymize(args) => anonymize::run(&args, &context),
        Command::Compare(args) => compare::run(&args, &context),
        Command::Verify(args) => verify::run(&args, &context),
        Command::Attack(args) => attack::run(&args, &context),
        Command::Reconstruct(args) => reconstruct::run(&args, &context),
        Command::Truthful(args) => truthful::run(&args, &context),
        Command::Hierarchy(args) => hierarchy::run(&args, &context),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let word = match error.kind {
                Kind::Yours => "error",
                Kind::Refused => "refused",
                Kind::Infeasible => "no release",
                Kind::Machine | Kind::Cancelled => "stopped",
            };
            output::complain(&format!("{word}: {}", output::printable(&error.message)));
            if cli.show_values {
                error.values.reveal().iter().for_each(|value| output::complain(&format!("  {value:?}")));
            }
            ExitCode::from(match error.kind {
                Kind::Refused => 1,
                Kind::Yours => 2,
                Kind::Infeasible => 3,
                Kind::Machine | Kind::Cancelled => 4,
            })
        }
    }
}
