//! Feeds hostile bytes to everything of Kohort's that reads: no panic, no hang, no memory beyond a bound.
//!
//! ```text
//! cargo run --release -p kohort-fuzz -- --minutes 10     every reader, one minute each
//! cargo run -p kohort-fuzz -- --target verify --runs 500 the same with checks on overflow
//! cargo run -p kohort-fuzz -- again verify FOLDER        reads a finding again
//! cargo run -p kohort-fuzz -- refresh                    releases the corpus' policies anew
//! ```

mod child;
mod corpus;
mod dice;
mod json;
mod mutate;
mod supervise;
mod target;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use supervise::Asked;

/// The address space of a reader, in MB. Inputs are below a few MB.
const MEMORY: u64 = 2048;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = match &words[..] {
        ["child", target, seed, from, to, seconds, folder] => {
            let [seed, from, to, seconds] = [seed, from, to, seconds].map(|n| n.parse().unwrap_or(0));
            let until = (seconds > 0).then(|| Duration::from_secs(seconds));
            child::run(target, seed, (from, to), Path::new(folder), until)
        }
        ["again", target, folder] => again(target, Path::new(folder)),
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
                    "usage: kohort-fuzz [--minutes N | --runs N] [--target NAME] [--seed N] [--memory MB] [--findings DIR]"
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

/// Reads one input in the open.
fn again(target: &str, folder: &Path) -> i32 {
    let Some(target) = target::TARGETS.iter().find(|t| t.name == target) else { return 2 };
    println!("{:?}", (target.read)(folder));
    0
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
            _ => return None,
        }
    }
    asked.target.as_ref().is_none_or(|own| target::TARGETS.iter().any(|t| t.name == own)).then_some(asked)
}
