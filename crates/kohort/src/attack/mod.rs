//! Published attacks, tried on a release by who has the original: what an attacker gains from the
//! data as it is, from what leaves, and from base rates alone.
//!
//! Each attack is a reader who knows some of a person's values and guesses: which row is theirs
//! (linkage), what their sensitive value is (homogeneity, skew, naive Bayes), which further code
//! they have (inference, cover), what stood in a cell (downcoding, minimality), which rows stand
//! for nobody (counterfeits). Targets are drawn from the original, so that every guess is scored.
//! A release that an attack fails on is not safe for that: see its certificate for what is promised.

mod cells;
mod codes;
mod events;
mod guess;
mod sides;
mod table;

use crate::evidence::metrics::TriedAttack;
use crate::pipeline::{self, Options};
use kohort_core::policy::{AnyPolicy, Policy};
use kohort_core::random::Randomness;
use kohort_core::release::Certificate;
use kohort_core::shape::{Shape, Table};
use kohort_core::table::{Input, Source, open};
use kohort_core::verify::verify_as;
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};

/// An attack and how often it was right.
#[derive(Debug, Clone, PartialEq)]
pub struct Attack {
    /// Its name.
    pub name: &'static str,
    /// The attacker's knowledge, and its subject.
    pub about: String,
    /// The measure that the shares refer to.
    pub measure: &'static str,
    /// States how many people, or cells, were attacked.
    pub targets: u64,
    /// If the data left as it is.
    pub before: Option<f64>,
    /// On the release.
    pub after: Option<f64>,
    /// The result from base rates alone.
    pub baseline: Option<f64>,
}

/// All attacks that were tried, and what could not be.
#[derive(Debug, Clone, Default)]
pub struct Attacked {
    /// The attacks.
    pub attacks: Vec<Attack>,
    /// The attacks that were not tried, and why.
    pub notes: Vec<String>,
}

/// Describes how attacks are tried.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// At most so many targets for each attack.
    pub targets: u64,
    /// Seed of the draw that chooses them.
    pub seed: u64,
}

/// Describes what the attacks are given.
struct Scene<'a, S: Shape = Table> {
    source: &'a Source,
    policy: &'a Policy<S>,
    certificate: &'a Certificate<S>,
    folder: &'a Path,
    trial: Trial,
}

impl<S: Shape> Scene<'_, S> {
    /// A released file, opened.
    fn open(&self, name: &str) -> Result<Source> {
        let release = [self.folder.join("release"), self.folder.to_path_buf()];
        let path = release.into_iter().map(|f| f.join(name)).find(|p| p.is_file()).unwrap_or_default();
        let mut input = Input::new(path);
        input.delimiter = Some(self.certificate.delimiter);
        Ok(open(&input)?.with_threads(self.source.threads()))
    }

    /// The input line of each released row, if it was kept.
    fn lines(&self) -> Option<PathBuf> {
        Some(self.folder.join("private").join("rows")).filter(|p| p.is_file())
    }

    fn random(&self) -> Result<Randomness> {
        Randomness::new(Some(self.trial.seed))
    }
}

/// Tries every attack that fits the shape of the release in `folder`, made of the data of this policy.
/// The release is verified against it first.
pub fn attack(folder: &Path, policy: &Path, options: &Options, trial: Trial) -> Result<Attacked> {
    let (source, policy) = pipeline::open(policy, options)?;
    match &policy {
        AnyPolicy::Table(policy) => {
            let certificate = &verify_as(folder, &source, policy)?.certificate;
            if certificate.sample.is_some() {
                return Err(Error::yours("this is a sample: attack the whole release from which it was drawn."));
            }
            table::attack(&Scene { source: &source, policy, certificate, folder, trial }, &certificate.promise.claim)
        }
        AnyPolicy::Codes(policy) => {
            let certificate = &verify_as(folder, &source, policy)?.certificate;
            codes::attack(&Scene { source: &source, policy, certificate, folder, trial }, &certificate.promise.claim)
        }
        AnyPolicy::Events(policy) => {
            let certificate = &verify_as(folder, &source, policy)?.certificate;
            events::attack(&Scene { source: &source, policy, certificate, folder, trial }, &certificate.promise.claim)
        }
    }
}

impl Attacked {
    /// As the evidence shows it.
    pub fn tried(&self) -> Vec<TriedAttack> {
        let one = |a: &Attack| TriedAttack {
            name: a.name.into(),
            about: a.about.clone(),
            measure: a.measure.into(),
            targets: a.targets,
            before: a.before,
            after: a.after,
            baseline: a.baseline,
        };
        self.attacks.iter().map(one).collect()
    }
}

/// A mean over targets.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    of: u64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        self.sum += x;
        self.of += 1;
    }

    fn get(self) -> Option<f64> {
        (self.of > 0).then(|| self.sum / self.of as f64)
    }
}
