//! The straight path: a policy and its data go in, a verified release comes out.

use crate::evidence::{self, Timing};
use crate::init::init;
use crate::methods::Register;
use crate::planned::Planned;
use crate::report;
pub use crate::report::Readers;
use kohort_core::Result;
use kohort_core::codes::{self, Records};
use kohort_core::cohort::{self, Cohort};
use kohort_core::events::{self, Histories};
use kohort_core::number::K;
use kohort_core::policy::{self, Layout, Policy, PolicyFile};
use kohort_core::random::Randomness;
use kohort_core::release::Staging;
use kohort_core::table::{self, Progress, Source};
use kohort_core::verify;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a run goes; what it guarantees stands in the policy alone.
#[derive(Clone)]
pub struct Options {
    /// Replace an existing folder.
    pub force: bool,
    /// Keep private/rows: which released row is which input line.
    pub keep_rows: bool,
    /// Fixed random seed, for tests.
    pub seed: Option<u64>,
    /// How many threads work.
    pub threads: usize,
    /// Who is told how far it is.
    pub progress: Arc<dyn Progress>,
}

/// What a run made.
#[derive(Debug)]
pub struct Released {
    /// DIR.
    pub folder: PathBuf,
    /// What metrics.json holds.
    pub metrics: serde_json::Value,
    /// What the custodian should know.
    pub notes: Vec<String>,
}

/// Policy → verified release in `out`.
pub fn anonymize(policy: &Path, out: &Path, options: &Options) -> Result<Released> {
    anonymize_for(policy, out, options, Readers::House)
}

/// Policy → verified release in `out`, with reports for these readers.
pub fn anonymize_for(policy: &Path, out: &Path, options: &Options, readers: Readers) -> Result<Released> {
    anonymize_by(&Register::built_in(), policy, out, options, readers)
}

/// The same with the methods of a register, which may hold others than the built-in ones.
pub fn anonymize_by(
    register: &Register,
    policy: &Path,
    out: &Path,
    options: &Options,
    readers: Readers,
) -> Result<Released> {
    let mut timing = Timing::start();
    let staging = Staging::create(out, options.force, &*options.progress)?;
    let (source, policy) = open(policy, options)?;
    let mut random = Randomness::new(options.seed)?;
    let planned = Planned::of(register, &source, &policy, &mut random, &mut timing)?;
    let draft = planned.draft_certificate(&source, &policy, &random);
    let staged = timing.stage("write", || planned.write(&source, &policy, staging, &mut random))?;
    let verified = timing.stage("verify", || verify::verify(staged, draft, &source, &policy))?;
    let verified = planned.sample(verified, &source, &policy, &mut random, &mut timing)?;
    let metrics = planned.measure(&policy, &verified, options.threads, &mut timing)?;
    let notes =
        [policy.notes.clone(), planned.notes(), evidence::notes(&metrics), evidence::invented::warnings(&metrics)]
            .concat();
    report::write(&verified, &policy, &metrics, &notes, readers)?;
    let folder = verified.publish(options.keep_rows)?;
    Ok(Released { folder, metrics, notes })
}

/// Opens a policy's table and binds the policy to it.
pub fn open(policy: &Path, options: &Options) -> Result<(Source, Policy)> {
    let file = policy::read(policy)?;
    let source = table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
    let policy = file.bind(&source)?;
    let source = source.excluding(policy.exclude.clone(), policy.patient())?;
    Ok((source, policy))
}

/// What a method would see, by the shape of the data.
pub enum Surveyed {
    /// The tuples of a table.
    Table(Box<Cohort>),
    /// Records of codes.
    Codes(Records),
    /// Patients and their events.
    Events(Box<Histories>),
}

/// The data as a method would see it, for questions about the data as it is: they need no k, so
/// that a policy in which it is still to be chosen will do.
pub fn survey(policy: &Path, options: &Options) -> Result<(Policy, Surveyed)> {
    survey_by(&policy::read(policy)?, options)
}

/// The same for a table without a policy: by what `init` would suggest for it.
pub fn survey_table(table: &Path, options: &Options) -> Result<(Policy, Surveyed)> {
    let folder = table.parent().unwrap_or(Path::new("")).to_path_buf();
    let suggested = init(&[table.to_path_buf()], &folder, options.threads, Arc::clone(&options.progress))?;
    survey_by(&PolicyFile::parse("the suggestion of `kohort init`", &suggested.policy, &folder)?, options)
}

fn survey_by(file: &PolicyFile, options: &Options) -> Result<(Policy, Surveyed)> {
    let source = table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
    // Nothing is invented to answer a question.
    let policy = Policy { invents: None, ..file.bind_to_ask(&source, K::LEAST)? };
    let source = source.excluding(policy.exclude.clone(), policy.patient())?;
    let surveyed = match policy.layout {
        Layout::Table => Surveyed::Table(Box::new(cohort::survey(&source, &policy)?)),
        Layout::List | Layout::Long => Surveyed::Codes(codes::survey(&source, &policy)?),
        Layout::Events => Surveyed::Events(Box::new(events::survey(&source, &policy)?)),
    };
    Ok((policy, surveyed))
}
