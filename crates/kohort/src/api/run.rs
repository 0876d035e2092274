//! Settings of a run: threads, seed, progress and cancelling. Only the policy determines what is guaranteed.

use super::data::{Data, Table};
use super::policy::Policy;
use super::release::Release;
use super::risk::DataRisk;
use super::verification::Verification;
use crate::compare::{MeasuredSetting, Vary, compare_texts};
use crate::init::{Location, Suggestion, suggest_for};
use crate::methods::Register;
use crate::pipeline::{self, Extras, Options, Readers, Released};
use crate::several_files;
use kohort_core::Result;
use kohort_core::release::Staging;
use kohort_core::signature::{SecretKey, Signers};
use kohort_core::table::{Progress, Silent};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The settings of a run. [`Run::new`] is what most callers want: all cores, randomness from the operating
/// system, no reports of progress.
///
/// ```
/// # fn main() -> kohort::Result<()> {
/// # let table = kohort::Table::from_columns([("sex", ["F", "F", "M", "M"])])?;
/// # let policy = kohort::Policy::builder().quasi("sex").k(2).method("lattice").parameter("max_suppressed", 0).build()?;
/// let release = kohort::Run::new().threads(2).seed(7).anonymize(&table, &policy)?;
/// assert!(release.certificate()?.is_test(), "a seed makes it a test");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Run {
    options: Options,
    cancel: Cancel,
    deadline: Option<Duration>,
    scratch: PathBuf,
    extras: Extras,
    signers: Option<Signers>,
}

/// Stops a run from another thread. The run ends with an error of kind
/// [`Kind::Cancelled`](crate::Kind::Cancelled), and publishes nothing.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nothing is stopped yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops every run that has this: methods and readers ask several times a second.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Progress that can be cancelled.
struct Watched {
    progress: Arc<dyn Progress>,
    cancel: Cancel,
    deadline: Option<Instant>,
}

impl Progress for Watched {
    fn stage(&self, name: &str, total: u64) {
        self.progress.stage(name, total);
    }

    fn advance(&self, steps: u64) {
        self.progress.advance(steps);
    }

    fn note(&self, text: &str) {
        self.progress.note(text);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.progress.is_cancelled()
    }

    fn improving(&self, at_work: bool) {
        self.progress.improving(at_work);
    }

    fn found(&self, loss: f64) {
        self.progress.found(loss);
    }

    fn is_enough(&self) -> bool {
        self.progress.is_enough() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Default for Run {
    fn default() -> Run {
        Run::new()
    }
}

impl Run {
    /// All cores, randomness from the operating system, no reports of progress.
    pub fn new() -> Run {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let progress: Arc<dyn Progress> = Arc::new(Silent);
        Run {
            options: Options { force: false, keep_rows: false, seed: None, threads, progress },
            cancel: Cancel::new(),
            deadline: None,
            scratch: std::env::temp_dir(),
            extras: Extras::default(),
            signers: None,
        }
    }

    /// Works with this number of threads. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Run {
        self.options.threads = threads.clamp(1, 1024);
        self
    }

    /// Fixes the random seed, for tests only: the certificate then says that the release is a test.
    pub fn seed(mut self, seed: u64) -> Run {
        self.options.seed = Some(seed);
        self
    }

    /// Tells a caller how far the run is.
    pub fn progress(mut self, progress: Arc<dyn Progress>) -> Run {
        self.options.progress = progress;
        self
    }

    /// Lets another thread stop the run.
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Run {
        self.cancel = cancel.clone();
        self
    }

    /// Lets a method that gets better with more work (`local`) keep its best result after this time. A release that
    /// was ended so cannot be repeated, and its evidence says so.
    pub fn deadline(mut self, deadline: Duration) -> Run {
        self.deadline = Some(deadline);
        self
    }

    /// Writes the release that is being made into this folder until it is verified, instead of the system's
    /// folder for temporary files. Only its owner can look into what is there, and nothing stays.
    pub fn scratch(mut self, folder: impl Into<PathBuf>) -> Run {
        self.scratch = folder.into();
        self
    }

    /// Replaces a release that is in the folder already.
    pub fn replace(mut self) -> Run {
        self.options.force = true;
        self
    }

    /// Keeps private/rows, which says which released row is which row of the data. It undoes the release:
    /// destroy it when the release is settled.
    pub fn keep_rows(mut self) -> Run {
        self.options.keep_rows = true;
        self
    }

    /// Also writes a report in which small counts are hidden, for readers outside.
    pub fn shareable(mut self) -> Run {
        self.extras.readers = Readers::Others;
        self
    }

    /// Signs the certificate of the release, before it is published.
    pub fn sign(mut self, key: &SecretKey) -> Run {
        self.extras.sign = Some(key.clone());
        self
    }

    /// Compares the release with the earlier ones in the custodian's ledger before it is published, and enters it
    /// there afterwards.
    pub fn ledger(mut self, ledger: impl Into<PathBuf>) -> Run {
        self.extras.ledger = Some(ledger.into());
        self
    }

    /// Refuses to verify a release that is not signed with one of these keys.
    pub fn signed_by(mut self, signers: &Signers) -> Run {
        self.signers = Some(signers.clone());
        self
    }

    fn options(&self) -> Options {
        let progress = Arc::clone(&self.options.progress);
        // A time that no clock can show never comes.
        let deadline = self.deadline.and_then(|deadline| Instant::now().checked_add(deadline));
        let watched = Watched { progress, cancel: self.cancel.clone(), deadline };
        Options { progress: Arc::new(watched), ..self.options.clone() }
    }

    /// Makes a verified release in memory.
    pub fn anonymize(&self, data: impl Into<Data>, policy: &Policy) -> Result<Release> {
        let file = policy.with_data(&data.into())?;
        let staging = Staging::in_memory(&self.scratch)?;
        let extras = Extras { schema: file.output.clone(), ..self.extras.clone() };
        let made = pipeline::make(&Register::built_in(), &file, staging, &self.options(), &extras)?;
        Release::new(made)
    }

    /// Makes a verified release in a folder, without holding its data in memory.
    pub fn anonymize_into(&self, data: impl Into<Data>, policy: &Policy, out: impl AsRef<Path>) -> Result<Released> {
        pipeline::anonymize_into(&policy.with_data(&data.into())?, out.as_ref(), &self.options(), &self.extras)
    }

    /// Measures how easily people can be found in the data as it is. The policy need not set `k`.
    pub fn risk(&self, data: impl Into<Data>, policy: &Policy) -> Result<DataRisk> {
        DataRisk::of(&policy.with_data(&data.into())?, &self.options())
    }

    /// Profiles a table and suggests a policy, which lacks `k`: only the custodian can choose that.
    pub fn suggest(&self, table: &Table) -> Result<Suggestion> {
        let place = table.place();
        let name = place.name();
        suggest_for(place, &name, &Location::default(), self.options.threads, self.options().progress)
    }

    /// Plans and measures a release by every combination of these settings, and releases nothing. The settings that
    /// no other beats in both risk and loss are marked.
    ///
    /// ```
    /// # fn main() -> kohort::Result<()> {
    /// # let table = kohort::Table::from_columns([("sex", ["F", "F", "M", "M"])])?;
    /// # let policy = kohort::Policy::builder().quasi("sex").k(2).method("lattice").parameter("max_suppressed", 0).build()?;
    /// let vary = ["k=2,3".parse().expect("a key and its values")];
    /// for setting in kohort::Run::new().compare(&table, &policy, &vary)? {
    ///     println!("{}: risk {:?}, loss {:?}", setting.name, setting.risk(), setting.loss());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare(&self, data: impl Into<Data>, policy: &Policy, vary: &[Vary]) -> Result<Vec<MeasuredSetting>> {
        let data: Data = data.into();
        let read = |text: &str| policy.with_text(text).with_data(&data);
        compare_texts((policy.name(), policy.text()), vary, read, &self.scratch, &self.options())
    }

    /// Recounts the guarantee of a published release from its bytes, as its recipient can.
    pub fn verify(&self, folder: impl AsRef<Path>) -> Result<Verification> {
        Ok(Verification::of_release(folder.as_ref(), self.options.threads)?.signed_by(self.signers.as_ref()))
    }

    /// Recounts the guarantee of a published release, and compares it with the original data.
    pub fn verify_with_original(
        &self,
        folder: impl AsRef<Path>,
        data: impl Into<Data>,
        policy: &Policy,
    ) -> Result<Verification> {
        let policy = policy.with_data(&data.into())?;
        let policy = several_files::policy_of(policy, folder.as_ref())?;
        let (source, policy) = pipeline::open_tables(&Register::built_in(), &policy, &self.options())?;
        Ok(Verification::with_original(folder.as_ref(), &source, &policy)?.signed_by(self.signers.as_ref()))
    }
}

/// Makes a verified release in memory: columns in, released columns out.
///
/// # Guarantee
/// What is returned was verified: its guarantee was recounted, from the very bytes it holds, by code that is
/// independent of the method used. Whatever fails is an error, and no release.
pub fn anonymize(data: impl Into<Data>, policy: &Policy) -> Result<Release> {
    Run::new().anonymize(data, policy)
}

/// Measures how easily people can be found in the data as it is. The policy need not set `k`.
pub fn risk(data: impl Into<Data>, policy: &Policy) -> Result<DataRisk> {
    Run::new().risk(data, policy)
}

/// Profiles a table and suggests a policy, which lacks `k`: only the custodian can choose that.
pub fn suggest(table: &Table) -> Result<Suggestion> {
    Run::new().suggest(table)
}

/// Recounts the guarantee of a published release from its bytes, as its recipient can.
pub fn verify(folder: impl AsRef<Path>) -> Result<Verification> {
    Run::new().verify(folder)
}

/// Recounts the guarantee of a published release, and compares it with the original data.
pub fn verify_with_original(folder: impl AsRef<Path>, data: impl Into<Data>, policy: &Policy) -> Result<Verification> {
    Run::new().verify_with_original(folder, data, policy)
}
