//! `kohort studio FOLDER`: Kohort in the browser.

use crate::Context;
use crate::output::{note, say};
use kohort_core::Result;
use kohort_studio::{Addresses, Server, open_address};
use std::io::BufRead;
use std::path::PathBuf;

/// Work in the browser: from a file to a verified release
///
/// Serves a page on 127.0.0.1 that only your browser can open, and that reads and writes FOLDER alone.
/// Everything it does is a change to a policy file and one command, both shown.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort studio
  kohort studio study-7 --no-browser --port 8017")]
pub(crate) struct Args {
    /// The folder to work in
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Print the address and open no browser
    #[arg(long)]
    no_browser: bool,
    /// Port to use [default: a free one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let server = Server::bind(&args.folder, args.port, context.threads)?;
    if !server.may_write() {
        note("another studio is working in this folder, so this one only shows.");
    }
    let addresses = server.addresses();
    offer(&addresses, !args.no_browser)?;
    say("The address works once. Press Enter for a new one, and Ctrl-C to end.");
    let browse = !args.no_browser;
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || offer(&addresses, browse).is_err() {
                return;
            }
        }
    });
    server.serve()
}

/// Prints a new address, and opens it in the browser.
fn offer(addresses: &Addresses, browse: bool) -> Result<()> {
    let address = addresses.new_address()?;
    say(&address);
    if browse && open_address(&address).is_err() {
        note("no browser could be opened. Open the address yourself.");
    }
    Ok(())
}
