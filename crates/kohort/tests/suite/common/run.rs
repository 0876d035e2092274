//! Runs of the real path.

use kohort::methods::Method;
use kohort::pipeline::{self, Options, Released};
use kohort_core::Result;
use kohort_core::cohort::{self, Cohort};
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::Plan;
use kohort_core::table::Silent;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the suites run: with a seed, so that a failure can be seen again.
pub fn options(seed: u64, threads: usize) -> Options {
    Options { force: false, keep_rows: true, seed: Some(seed), threads, progress: Arc::new(Silent) }
}

/// Policy → plan, as the pipeline does it; nothing is written.
pub fn plan(policy: &Path) -> Result<(Policy, Cohort, Plan)> {
    let (source, policy) = pipeline::open(policy, &options(1, 1))?;
    let policy = policy.table()?;
    let cohort = cohort::survey(&source, &policy)?;
    let plan = Method::of(&policy)?.plan(&cohort, &policy, &mut Randomness::new(Some(1))?)?;
    Ok((policy, cohort, plan))
}

/// Policy → release in a new folder beside it.
pub fn release(policy: &Path, name: &str, options: &Options) -> Result<(PathBuf, Released)> {
    let out = policy.with_file_name(name);
    let released = pipeline::anonymize(policy, &out, options)?;
    Ok((out, released))
}

/// How many random cases: more where KOHORT_CASES says so.
pub fn cases(usual: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
