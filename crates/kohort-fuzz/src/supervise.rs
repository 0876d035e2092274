//! Starts children with a limit on their memory, and keeps what they could not bear.

use crate::child::{HANGS, PANICKED};
use crate::target::TARGETS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The settings of a run of the fuzzer.
pub struct Asked {
    pub seed: u64,
    /// Inputs for each target; else time for all of them.
    pub runs: Option<u64>,
    pub minutes: f64,
    /// One target, or all.
    pub target: Option<String>,
    /// The address space of a child in MB.
    pub memory: u64,
    /// Where findings go.
    pub findings: PathBuf,
    /// Where inputs are kept that showed something new, for the next run.
    pub kept: Option<PathBuf>,
}

/// Runs all targets; how many findings there are.
pub fn run(asked: &Asked) -> std::io::Result<usize> {
    let targets: Vec<&str> =
        TARGETS.iter().map(|t| t.name).filter(|name| asked.target.as_deref().is_none_or(|own| own == *name)).collect();
    let each = Duration::from_secs_f64(asked.minutes * 60.0 / targets.len().max(1) as f64);
    let scratch = std::env::temp_dir().join(format!("kohort-fuzz-{}", std::process::id()));
    println!("seed {}, {} MB for each reader", asked.seed, asked.memory);
    println!("{:<12} {:>10} {:>10} {:>11} {:>9}", "target", "read", "taken", "behaviours", "findings");
    let (mut all, mut total) = (0, 0);
    for target in targets {
        let (start, mut from, mut taken, mut seen, mut found) = (Instant::now(), 0, 0, 0, 0);
        // A target that fails again and again is no use to run on.
        while found < 5 && asked.runs.map_or(start.elapsed() < each, |runs| from < runs) {
            let left = each.saturating_sub(start.elapsed());
            let ([read, took, behaviours], fault) = child(asked, target, from, left, &scratch)?;
            taken += took;
            seen = behaviours.max(seen);
            if let Some(fault) = fault {
                found += 1;
                let kept = asked.findings.join(format!("{target}-{}-{}", asked.seed, from + read));
                keep(&scratch, &kept)?;
                println!("{target}: {fault}\n  kept in {}", kept.display());
            }
            from += read.max(1);
        }
        println!("{target:<12} {from:>10} {taken:>10} {seen:>11} {found:>9}");
        (all, total) = (all + found, total + from);
    }
    println!("{total} inputs read, {all} findings");
    let _ = fs::remove_dir_all(&scratch);
    Ok(all)
}

/// A child's inputs: how many it read and took, how many behaviours it saw, and what was too much for it.
fn child(
    asked: &Asked,
    target: &str,
    from: u64,
    left: Duration,
    scratch: &Path,
) -> std::io::Result<([u64; 3], Option<String>)> {
    let to = asked.runs.unwrap_or(u64::MAX);
    let own = std::env::current_exe()?;
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {} && exec \"$0\" \"$@\"", asked.memory * 1024)]).arg(own);
        shell
    } else {
        Command::new(own)
    };
    let seconds = if asked.runs.is_some() { 0 } else { left.as_secs().max(1) };
    command.args(["child", target]).args([asked.seed, from, to, seconds].map(|n| n.to_string())).arg(scratch);
    command.args(&asked.kept);
    let output = command.output()?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let counts = out.lines().rev().find_map(|line| {
        let numbers: Option<Vec<u64>> =
            line.strip_prefix("read ")?.split(' ').step_by(2).map(|n| n.parse().ok()).collect();
        numbers?.try_into().ok()
    });
    let fault = match output.status.code() {
        Some(0) => None,
        Some(PANICKED) => Some(out.lines().filter(|l| !l.starts_with("read ")).collect::<Vec<_>>().join(" ")),
        Some(HANGS) => Some("it hangs".into()),
        Some(2) => return Err(std::io::Error::other(out.into_owned())),
        code => Some(format!("ended with {code:?}: {}", err.lines().last().unwrap_or("nothing was said"))),
    };
    Ok((counts.unwrap_or_default(), fault))
}

fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let own = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => keep(&entry.path(), &own)?,
            false => drop(fs::copy(entry.path(), own)?),
        }
    }
    Ok(())
}
