//! The kohort command: arguments → one library call → print. No logic.
//!
//! The command is a library, so that other packages can bring it along: the wheel for Python does.

mod anonymize;
mod apply;
mod attack;
mod compare;
mod demo;
mod failure;
mod flatten;
mod hierarchy;
mod init;
mod key;
mod ledger;
mod output;
mod progress;
mod reconstruct;
mod release_args;
mod risk;
mod sign;
#[cfg(feature = "studio")]
mod studio;
mod truthful;
mod verify;

pub use failure::caught;

use clap::{Parser, Subcommand};
use kohort_core::Result;
use kohort_core::error::Kind;
use kohort_core::table::{Address, NO_PASSWORD};
use kohort_core::verify::Outcome;
use std::ffi::OsString;

/// De-identifies health data so that it can be shared, and proves that the result keeps its promise.
#[derive(Parser)]
#[command(
    name = "kohort",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  kohort demo                       release a synthetic hospital with every method
  kohort init patients.csv          write policy.toml: read it, decide, set k
  kohort anonymize policy.toml      make a verified release and its report

Exit codes: 0 success; 1 the verifier refused the release; 2 wrong arguments, policy or data;
3 no release can meet the policy; 4 a problem of the machine (disk, memory) or an interrupt;
5 `verify` could not count everything that is claimed."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Number of threads [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Show values of the data in error messages. Use it only on your own screen
    #[arg(long, global = true)]
    show_values: bool,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Init(init::Args),
    Risk(risk::Args),
    Anonymize(anonymize::Args),
    Apply(apply::Args),
    Compare(compare::Args),
    Verify(verify::Args),
    Key(key::Args),
    Sign(sign::Args),
    Ledger(ledger::Args),
    Attack(attack::Args),
    Reconstruct(reconstruct::Args),
    Flatten(flatten::Args),
    Truthful(truthful::Args),
    Hierarchy(hierarchy::Args),
    #[cfg(feature = "studio")]
    Studio(studio::Args),
}

impl Command {
    /// Returns whether the command goes on after a release was published, so that only an interrupt ends it.
    fn serves(&self) -> bool {
        #[cfg(feature = "studio")]
        if matches!(self, Command::Studio(_)) {
            return true;
        }
        false
    }
}

/// Settings that every command receives.
pub(crate) struct Context {
    pub(crate) threads: usize,
    /// True if values of the data may be shown on this screen.
    pub(crate) show_values: bool,
}

/// Runs the command with these arguments, of which the first is the name of the program, and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Before any message can repeat it.
    if arguments.iter().any(|own| Address::with_password_in(&own.to_string_lossy())) {
        output::complain(&format!("error: the address {NO_PASSWORD}"));
        return 2;
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let serves = cli.command.serves();
    // An interrupt removes everything that was being made, so that no unfinished folder remains. A method that has a
    // result already keeps it at the first interrupt.
    let _ = ctrlc::set_handler(move || {
        if progress::keep_best_so_far() {
            output::complain("\ninterrupted: the best result so far is kept. Interrupt again to publish nothing.");
            return;
        }
        if progress::ends_early() {
            output::complain(
                "\ninterrupted: what is running is finished, then you see what is known. Press again to stop at once.",
            );
            return;
        }
        let gone = kohort_core::release::Staging::remove_all();
        if serves {
            output::complain("\nthe studio has ended. Your work is saved.");
            std::process::exit(0);
        }
        // The release was published just now: the command ends by itself.
        let Some(_gone) = gone else { return };
        output::complain("\ninterrupted: nothing was published.");
        std::process::exit(4);
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let context = Context { threads: cli.threads.unwrap_or(cores).clamp(1, 1024), show_values: cli.show_values };
    let result = failure::caught(|| -> Result<u8> {
        match cli.command {
            Command::Demo(args) => demo::run(&args, &context)?,
            Command::Init(args) => init::run(&args, &context)?,
            Command::Risk(args) => risk::run(&args, &context)?,
            Command::Anonymize(args) => anonymize::run(&args, &context)?,
            Command::Apply(args) => apply::run(&args, &context)?,
            Command::Compare(args) => compare::run(&args, &context)?,
            Command::Verify(args) => return verify::run(&args, &context).map(Outcome::exit_code),
            Command::Key(args) => key::run(&args)?,
            Command::Sign(args) => sign::run(&args, &context)?,
            Command::Ledger(args) => ledger::run(&args)?,
            Command::Attack(args) => attack::run(&args, &context)?,
            Command::Reconstruct(args) => reconstruct::run(&args, &context)?,
            Command::Flatten(args) => flatten::run(&args, &context)?,
            Command::Truthful(args) => truthful::run(&args, &context)?,
            Command::Hierarchy(args) => hierarchy::run(&args, &context)?,
            #[cfg(feature = "studio")]
            Command::Studio(args) => studio::run(&args, &context)?,
        }
        Ok(0)
    });
    match result {
        Ok(code) => code,
        Err(error) => {
            let word = match error.kind {
                Kind::Yours | Kind::Unaccepted => "error",
                Kind::Refused => "refused",
                Kind::Infeasible => "no release",
                Kind::Machine | Kind::Cancelled => "stopped",
            };
            output::complain(&format!("{word}: {}", output::printable(&error.message)));
            if cli.show_values {
                error.values.reveal().iter().for_each(|value| output::complain(&format!("  {value:?}")));
            }
            match error.kind {
                Kind::Refused => 1,
                Kind::Yours | Kind::Unaccepted => 2,
                Kind::Infeasible => 3,
                Kind::Machine | Kind::Cancelled => 4,
            }
        }
    }
}
