//! Feeds hostile bytes to everything of Kohort's that reads: no panic, no hang, no memory beyond a bound.
//!
//! ```text
//! cargo run --release -p kohort-fuzz -- --minutes 10     every reader, one minute each
//! cargo run -p kohort-fuzz -- --target verify --runs 500 the same with checks on overflow
//! cargo run -p kohort-fuzz -- again verify FOLDER        reads a finding again
//! cargo run -p kohort-fuzz -- refresh                    releases the corpus' policies anew
//! cargo run -p kohort-fuzz -- seeds FOLDER               inputs to begin with, for the targets in fuzz/
//! ```

use kohort_fuzz::child::{self, Task};
use kohort_fuzz::examples::Examples;
use kohort_fuzz::supervise::{self, Asked};
use kohort_fuzz::target::TARGETS;
use kohort_fuzz::{corpus, one};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The address space of a reader, in MB. Inputs are below a few MB.
const MEMORY: u64 = 2048;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = match &words[..] {
        ["child", target, seed, from, to, seconds, folder, kept @ ..] => {
            let [seed, from, to, seconds] = [seed, from, to, seconds].map(|n| n.parse().unwrap_or(0));
            let until = (seconds > 0).then(|| Duration::from_secs(seconds));
            let kept = kept.first().map(PathBuf::from);
            child::run(&Task { target: target.to_string(), seed, from, to, folder: folder.into(), kept, until })
        }
        ["again", target, folder] => child::again(target, Path::new(folder)),
        ["seeds", folder] => match seeds(Path::new(folder)) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                2
            }
        },
        ["refresh"] => match corpus::refresh() {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                2
            }
        },
        words => match asked(words) {
            None => {
                eprintln!(
                    "usage: kohort-fuzz [--minutes N | --runs N] [--target NAME] [--seed N] [--memory MB] [--findings DIR] [--kept DIR]"
                );
                2
            }
            Some(asked) => match supervise::run(&asked) {
                Ok(found) => i32::from(found > 0),
                Err(error) => {
                    eprintln!("{error}");
                    2
                }
            },
        },
    };
    ExitCode::from(u8::try_from(ended).unwrap_or(1))
}

/// Writes inputs to begin with for another fuzzer, one folder for each reader.
fn seeds(folder: &Path) -> std::io::Result<()> {
    let examples = Examples::read();
    for target in &TARGETS {
        let own = folder.join(target.name);
        std::fs::create_dir_all(&own)?;
        for (number, bytes) in one::seeds(target, &examples).iter().enumerate() {
            std::fs::write(own.join(format!("seed-{number}")), bytes)?;
        }
    }
    Ok(())
}

fn asked(words: &[&str]) -> Option<Asked> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |t| t.as_secs());
    let mut asked = Asked {
        seed: clock,
        runs: None,
        minutes: 1.0,
        target: None,
        memory: MEMORY,
        findings: PathBuf::from("kohort-fuzz-findings"),
        kept: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next()?;
        match *word {
            "--minutes" => asked.minutes = value.parse().ok()?,
            "--runs" => asked.runs = Some(value.parse().ok()?),
            "--target" => asked.target = Some(value.to_string()),
            "--seed" => asked.seed = value.parse().ok()?,
            "--memory" => asked.memory = value.parse().ok()?,
            "--findings" => asked.findings = PathBuf::from(value),
            "--kept" => asked.kept = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    asked.target.as_ref().is_none_or(|own| TARGETS.iter().any(|t| t.name == own)).then_some(asked)
}
