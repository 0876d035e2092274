//! The straight path: a policy and its data go in, a verified release comes out.

use crate::evidence::{self, Timing};
use crate::methods::Method;
use crate::report;
use kohort_core::Result;
use kohort_core::cohort::{self, Cohort};
use kohort_core::number::K;
use kohort_core::policy::{self, Policy};
use kohort_core::release::{self, Chance, Staging};
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
    /// Chance that can be foreseen, for tests.
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
    let mut timing = Timing::start();
    let staging = Staging::create(out, options.force)?;
    let (source, policy) = open(policy, options)?;
    let method = Method::of(&policy)?;
    let cohort = timing.stage("count", || cohort::survey(&source, &policy))?;
    let attacks = evidence::attacks(&cohort, &policy)?;
    let plan = timing.stage("method", || method.plan(&cohort, &policy))?;
    let mut chance = Chance::new(options.seed)?;
    let draft = evidence::draft_certificate(&source, &policy, &cohort, &plan, &method, &chance);
    let staged = timing.stage("write", || {
        let staged = release::write(&source, &policy, &cohort, &plan, staging, &mut chance)?;
        report::write_dictionary(&staged, &source, &policy, &cohort, &plan)?;
        Ok(staged)
    })?;
    let verified = timing.stage("verify", || verify::verify(staged, draft, &source, &policy))?;
    let mut metrics = evidence::measure(&cohort, &plan, &policy, &method, &verified, &mut timing);
    evidence::add_public_use(&mut metrics, &cohort, &plan, &method, attacks.as_ref());
    let notes = [&policy.notes[..], &cohort.notes].concat();
    report::write(&verified, &policy, &metrics, &notes)?;
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

/// The table as a method would see it, for questions about the data as it is: they need no k, so
/// that a policy in which it is still to be chosen will do.
pub fn survey(policy: &Path, options: &Options) -> Result<(Policy, Cohort)> {
    let file = policy::read(policy)?;
    let source = table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
    let policy = file.bind_to_ask(&source, K::LEAST)?;
    let source = source.excluding(policy.exclude.clone(), policy.patient())?;
    let cohort = cohort::survey(&source, &policy)?;
    Ok((policy, cohort))
}
