//! The programs of the desktop: a browser for an address, a window for a folder.

use kohort_core::{Error, Result};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens an address in the browser. Others on this computer can see it, which is why it works once.
pub fn open_address(address: &str) -> Result<()> {
    let mut command = match std::env::consts::OS {
        "windows" => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ => opener(),
    };
    start(command.arg(address))
}

/// Shows a folder in the program that shows folders.
pub(crate) fn show_folder(folder: &Path) -> Result<()> {
    let is_there = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(all(unix, not(target_os = "macos"))) && !is_there("DISPLAY") && !is_there("WAYLAND_DISPLAY") {
        return Err(Error::yours("the studio runs without a desktop, so it cannot open a window."));
    }
    let mut command = match std::env::consts::OS {
        "windows" => Command::new("explorer"),
        _ => opener(),
    };
    start(command.arg::<&OsStr>(folder.as_ref()))
}

fn opener() -> Command {
    Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" })
}

fn start(command: &mut Command) -> Result<()> {
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|_| Error::yours("no program of this computer opens it."))?;
    // Nobody waits for it otherwise, and it would stay in the list of processes.
    let _ = std::thread::Builder::new().spawn(move || child.wait());
    Ok(())
}
