//! Reads the bytes of another fuzzer, which knows one file and nothing of our formats.

use crate::bundle;
use crate::corpus::Seed;
use crate::dice::Dice;
use crate::examples::Examples;
use crate::scratch::Scratch;
use crate::target::{TARGETS, Target};
use std::cell::RefCell;

thread_local! {
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// Reads bytes as this reader would. Hashes are made to fit first, since no fuzzer guesses them.
///
/// # Panics
/// If the reader does, or if there is no reader of this name.
pub fn one(target: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|own| own.name == target).expect("a reader of this name");
    let mut files = files_of(target, bytes);
    if files.is_empty() {
        return;
    }
    (target.finish)(&mut files, &mut Dice::new(bytes.len() as u64));
    SCRATCH.with_borrow_mut(|scratch| {
        let place = || std::env::temp_dir().join(format!("kohort-fuzz-one-{}", std::process::id()));
        let scratch = scratch.get_or_insert_with(|| Scratch::new(&place()));
        if scratch.write(&files, target.writes).is_ok() {
            let _ = (target.read)(scratch.folder());
        }
    });
}

/// Inputs to begin with, as such a fuzzer has them.
pub fn seeds(target: &Target, examples: &Examples) -> Vec<Vec<u8>> {
    let made = (0..60).map(|number| (target.make)(&mut Dice::new(number), examples));
    let mut all: Vec<Vec<u8>> = made
        .map(|files| match target.single {
            Some(_) => files.into_iter().next().map(|(_, bytes)| bytes).unwrap_or_default(),
            None => bundle::pack(&files),
        })
        .filter(|bytes| bytes.len() < 16 << 10)
        .collect();
    all.sort();
    all.dedup();
    all
}

fn files_of(target: &Target, bytes: &[u8]) -> Seed {
    match target.single {
        Some(name) => vec![(name.to_string(), bytes.to_vec())],
        None => bundle::unpack(bytes),
    }
}
