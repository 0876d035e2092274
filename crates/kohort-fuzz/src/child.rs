//! Reads one input after the other, in a process that may be lost.

use crate::behaviour::{Counts, Seen};
use crate::change::change;
use crate::corpus::Seed;
use crate::dice::Dice;
use crate::examples::Examples;
use crate::pool::Pool;
use crate::scratch::Scratch;
use crate::target::{TARGETS, Target};
use kohort_core::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Exit codes of a child that found something.
pub const PANICKED: i32 = 71;
pub const HANGS: i32 = 72;

/// How long one input may take, on a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(60);

/// The inputs that a child is to read.
pub struct Task {
    pub target: String,
    pub seed: u64,
    /// The numbers of the inputs.
    pub from: u64,
    pub to: u64,
    /// The folder that holds the input which is being read.
    pub folder: PathBuf,
    /// The folder of the inputs that showed something new.
    pub kept: Option<PathBuf>,
    pub until: Option<Duration>,
}

/// Reads inputs until the task is done. Prints how many were read and taken, how many behaviours were seen, and
/// what the last one did if it was too much.
pub fn run(task: &Task) -> i32 {
    let Some(target) = TARGETS.iter().find(|t| t.name == task.target) else { return 2 };
    let mut loops = Loop::new(target, task);
    let (start, mut said) = (Instant::now(), Instant::now());
    for number in task.from..task.to {
        if task.until.is_some_and(|until| start.elapsed() > until) {
            break;
        }
        match loops.next(number) {
            Ok(()) => {}
            Err((code, what)) => {
                println!("{what}");
                println!("{}", loops.counts());
                return code;
            }
        }
        if said.elapsed() > Duration::from_millis(200) {
            println!("{}", loops.counts());
            said = Instant::now();
        }
    }
    println!("{}", loops.counts());
    0
}

struct Loop<'t> {
    target: &'t Target,
    seed: u64,
    examples: Examples,
    pool: Pool,
    seen: Seen,
    scratch: Scratch,
    /// When the input that is being read was begun.
    began: Arc<Mutex<Instant>>,
    /// The words of the last panic.
    panic: Arc<Mutex<String>>,
    read: u64,
    taken: u64,
}

impl<'t> Loop<'t> {
    fn new(target: &'t Target, task: &Task) -> Loop<'t> {
        let panic = Arc::new(Mutex::new(String::new()));
        let hook = Arc::clone(&panic);
        std::panic::set_hook(Box::new(move |panic| {
            let mut text = panic.to_string();
            // A long value is not worth its screen.
            text.truncate(text.char_indices().nth(600).map_or(text.len(), |(at, _)| at));
            *hook.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }));
        let began = Arc::new(Mutex::new(Instant::now()));
        watch(Arc::clone(&began));
        let mut own = Loop {
            target,
            seed: task.seed,
            examples: Examples::read(),
            pool: Pool::read(task.kept.as_deref(), target.name),
            seen: Seen::default(),
            scratch: Scratch::new(&task.folder),
            began,
            panic,
            read: 0,
            taken: 0,
        };
        // What earlier runs kept shows nothing new.
        for files in own.pool.inputs().to_vec() {
            if let Ok((result, took)) = own.read_one(&files) {
                own.seen.is_new(&result, took);
            }
        }
        own
    }

    /// Makes the input of this number, reads it, and keeps it if it shows something new.
    fn next(&mut self, number: u64) -> std::result::Result<(), (i32, String)> {
        let mut dice = Dice::new(self.seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        let made = catch_unwind(AssertUnwindSafe(|| self.make(&mut dice)));
        let files = made.map_err(|_| (2, format!("the fuzzer itself failed: {}", self.words())))?;
        self.read += 1;
        let (result, took) = self.read_one(&files).map_err(|(code, what)| (code, format!("input {number}: {what}")))?;
        self.taken += u64::from(result.is_ok());
        if self.seen.is_new(&result, took) {
            self.pool.keep(files);
        }
        Ok(())
    }

    fn make(&self, dice: &mut Dice) -> Seed {
        let kept = if dice.once_in(4) { None } else { self.pool.pick(dice) };
        let mut files = match kept {
            None => (self.target.make)(dice, &self.examples),
            Some(kept) => {
                let mut files = kept.clone();
                change(&mut files, self.pool.pick(dice).unwrap_or(kept), dice);
                files
            }
        };
        (self.target.finish)(&mut files, dice);
        files
    }

    fn read_one(&mut self, files: &Seed) -> std::result::Result<(Result<Counts>, Duration), (i32, String)> {
        if let Err(error) = self.scratch.write(files, self.target.writes) {
            return Err((2, format!("the input cannot be written: {error}")));
        }
        let start = Instant::now();
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = start;
        match catch_unwind(AssertUnwindSafe(|| (self.target.read)(self.scratch.folder()))) {
            Ok(result) => Ok((result, start.elapsed())),
            Err(_) => Err((PANICKED, self.words())),
        }
    }

    fn words(&self) -> String {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn counts(&self) -> String {
        format!("read {} taken {} behaviours {}", self.read, self.taken, self.seen.len())
    }
}

/// Reads one input in the open.
pub fn again(target: &str, folder: &Path) -> i32 {
    let Some(target) = TARGETS.iter().find(|t| t.name == target) else { return 2 };
    let start = Instant::now();
    println!("{:?} after {:?}", (target.read)(folder), start.elapsed());
    0
}

/// Ends the process if one input takes too long.
fn watch(began: Arc<Mutex<Instant>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            if began.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > LONGEST {
                std::process::exit(HANGS);
            }
        }
    });
}
