//! The straight path: a policy and its data go in, a verified release comes out.

use crate::composition;
use crate::evidence::{self, Metrics, Stage, Stopwatch};
use crate::init::{Location, init_at};
use crate::methods::Register;
use crate::released_shape::{MethodRun, ReleasedShape};
use crate::report;
pub use crate::report::Readers;
use crate::several_files;
use kohort_core::ledger::Composition;
use kohort_core::number::K;
use kohort_core::policy::{self, AnyPolicy, Policy, PolicyFile};
use kohort_core::random::Randomness;
use kohort_core::release::{Published, Staged, Staging, made};
use kohort_core::shape::{Codes, Events, Shape, Table};
use kohort_core::signature::SecretKey;
use kohort_core::table::{self, Loaded, OutputSchema, PopulationPart, Progress, Source};
use kohort_core::verify;
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings of a run. Only the policy determines what is guaranteed.
#[derive(Clone)]
pub struct Options {
    /// Replace an existing folder.
    pub force: bool,
    /// Keep private/rows: which released row is which input line.
    pub keep_rows: bool,
    /// Fixed random seed, for tests.
    pub seed: Option<u64>,
    /// The number of threads.
    pub threads: usize,
    /// The receiver of progress reports.
    pub progress: Arc<dyn Progress>,
}

/// Things that a run makes beside the release.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// The readers for whom reports are written.
    pub readers: Readers,
    /// The key that signs the certificate.
    pub sign: Option<SecretKey>,
    /// The custodian's ledger, with which the release is compared before it is published.
    pub ledger: Option<PathBuf>,
    /// The schema of a database that the release is written into as well, before it is published.
    pub schema: Option<OutputSchema>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Released<P = PathBuf> {
    /// DIR, or its files in memory.
    pub folder: P,
    /// The contents of metrics.json.
    pub metrics: Metrics,
    /// Notes for the custodian.
    pub notes: Vec<String>,
    /// The people whom this release and the earlier ones in the ledger reveal together.
    pub composition: Option<Composition>,
    /// The names of the files, where several are made of one population; the metrics are those of the first.
    pub files: Vec<String>,
}

/// Policy → verified release in `out`.
pub fn anonymize(policy: &Path, out: &Path, options: &Options) -> Result<Released> {
    anonymize_for(policy, out, options, &Extras::default())
}

/// Policy → verified release in `out`, with more beside it.
pub fn anonymize_for(policy: &Path, out: &Path, options: &Options, extras: &Extras) -> Result<Released> {
    anonymize_by(&Register::built_in(), policy, out, options, extras)
}

/// The same with the methods of a register, which may hold others than the built-in ones.
pub fn anonymize_by(
    register: &Register,
    policy: &Path,
    out: &Path,
    options: &Options,
    extras: &Extras,
) -> Result<Released> {
    into_folder(register, &policy::read(policy)?, out, options, extras)
}

/// The same for a policy that was read already, or whose tables a caller handed over.
pub fn anonymize_into(policy: &PolicyFile, out: &Path, options: &Options, extras: &Extras) -> Result<Released> {
    into_folder(&Register::built_in(), policy, out, options, extras)
}

/// Refuses a folder that is, holds or lies in what the run reads, or in which Kohort did not make everything: before
/// any data is read.
pub(crate) fn may_be_released_into(policy: &PolicyFile, out: &Path, options: &Options, extras: &Extras) -> Result<()> {
    made::keep_apart(out, &policy.files_read())?;
    made::keep_apart(out, extras.ledger.as_slice())?;
    made::may_become(out, options.force)?;
    policy.output.iter().try_for_each(|schema| schema.may_be_written(options.force))
}

fn into_folder(
    register: &Register,
    policy: &PolicyFile,
    out: &Path,
    options: &Options,
    extras: &Extras,
) -> Result<Released> {
    may_be_released_into(policy, out, options, extras)?;
    let files = policy.several_files()?;
    if !files.is_empty() {
        return several_files::release(register, &files, out, options, extras);
    }
    let staging = Staging::create(out, options.force, &*options.progress)?;
    let extras = &Extras { schema: policy.output.clone(), ..extras.clone() };
    let made = make(register, policy, staging, options, extras)?;
    let folder = match made.folder {
        Published::Folder(folder) => folder,
        Published::Memory(files) => files.save(out, options.force, &*options.progress)?,
    };
    Ok(Released { folder, metrics: made.metrics, notes: made.notes, composition: made.composition, files: Vec::new() })
}

/// The straight path, from a policy to what was verified and published.
pub(crate) fn make(
    register: &Register,
    policy: &PolicyFile,
    staging: Staging,
    options: &Options,
    extras: &Extras,
) -> Result<Released<Published>> {
    if !policy.several_files()?.is_empty() {
        return Err(Error::yours("[[file]] makes several files, which need a folder."));
    }
    make_of(register, policy, None, staging, options, extras)
}

/// The same for a part of the people, where several files are made of one population.
pub(crate) fn make_of(
    register: &Register,
    policy: &PolicyFile,
    part: Option<PopulationPart>,
    staging: Staging,
    options: &Options,
    extras: &Extras,
) -> Result<Released<Published>> {
    let stopwatch = Stopwatch::start();
    let (source, policy) = open_tables(register, policy, options)?;
    let source = match part {
        None => source,
        Some(part) => source.of_people(part, policy.patient()),
    };
    let source = policy.shift(source, options.seed)?;
    let start = Start { register, source: &source, staging, stopwatch, options, extras };
    match &policy {
        AnyPolicy::Table(policy) => start.release(policy),
        AnyPolicy::Codes(policy) => start.release(policy),
        AnyPolicy::Events(policy) => start.release(policy),
    }
}

/// A run before it is known what shape the data have.
struct Start<'a> {
    register: &'a Register,
    source: &'a Source,
    staging: Staging,
    stopwatch: Stopwatch,
    options: &'a Options,
    extras: &'a Extras,
}

impl Start<'_> {
    /// The whole path, the same for every shape of data.
    fn release<S: ReleasedShape>(self, policy: &Policy<S>) -> Result<Released<Published>> {
        let Start { register, source, staging, mut stopwatch, options, extras } = self;
        let mut random = Randomness::new(options.seed)?;
        let ledger = composition::open_ledger(extras, policy)?;
        let method = S::method(register, policy)?;
        let input = stopwatch.stage(Stage::Count, || S::survey(source, policy))?;
        let before = S::before(&input, policy)?;
        let outside = S::look_outside(source, policy)?;
        let plan = stopwatch.stage(Stage::Method, || S::plan(&method, &input, policy, source, &mut random))?;
        let unasked = S::check_outside(&outside, source, (&input, &plan), policy)?;
        options.progress.go_on()?;
        let staged =
            stopwatch.stage(Stage::Write, || write::<S>(source, policy, (&input, &plan), staging, &mut random))?;
        let verified =
            stopwatch.stage(Stage::Verify, || verify::verify(staged, source, policy, method.name(), random.test))?;
        options.progress.go_on()?;
        let checks = match &policy.checks[..] {
            [] => Vec::new(),
            checks => {
                let (released, _) = verified.released(options.threads)?;
                evidence::compare_checks(checks, &policy.columns, source, &released)?
            }
        };
        let compared = ledger.as_ref().map(|own| composition::compare(own, &verified, source, policy)).transpose()?;
        let verified = S::sample(&method, verified, source, policy, &mut random, &mut stopwatch)?;
        let run = MethodRun {
            policy,
            method: &method,
            input: &input,
            before: &before,
            plan: &plan,
            threads: options.threads,
        };
        let mut metrics = S::measure(&run, &verified, &stopwatch)?;
        metrics.clean(source);
        metrics.set_context(&policy.context);
        metrics.set_checks(checks);
        metrics.set_derived(unasked.derived);
        let own = [policy.notes.clone(), unasked.notes, S::notes(&input, &plan), evidence::notes(&metrics)].concat();
        let notes: Vec<String> = own.into_iter().chain(verified.notes()).collect();
        metrics.note(notes.clone());
        report::write(&verified.evidence(), &policy.text, &metrics, extras.readers)?;
        options.progress.go_on()?;
        extras.sign.iter().try_for_each(|key| verified.sign(key))?;
        // The custodian is told before anything is published, and a test is not a release.
        let composition = compared.as_ref().map(|(_, found)| *found);
        composition.iter().flat_map(Composition::sentences).for_each(|text| options.progress.note(&text));
        // All of it is in the database, or nothing: others see it when the folder is published.
        let schema = extras.schema.as_ref();
        let loaded = schema.map(|schema| verified.load_into(schema, source, policy, options.force)).transpose()?;
        let folder = verified.publish(options.keep_rows)?;
        if let (Some(ledger), Some((entry, _)), false) = (ledger, compared, random.test) {
            ledger.enter(entry)?;
        }
        loaded.map(Loaded::commit).transpose()?;
        Ok(Released { folder, metrics, notes, composition, files: Vec::new() })
    }
}

/// Writes the data files and the dictionary of a release.
fn write<S: ReleasedShape>(
    source: &Source,
    policy: &Policy<S>,
    data: (&S::Input, &S::Plan),
    staging: Staging,
    random: &mut Randomness,
) -> Result<Staged<S>> {
    let staged = S::write(source, policy, data, staging, random)?;
    staged.describe(&S::dictionary(source, policy, data, &staged))?;
    Ok(staged)
}

/// Opens a policy's data and binds the policy to them.
pub fn open(policy: &Path, options: &Options) -> Result<(Source, AnyPolicy)> {
    open_by(&Register::built_in(), policy, options)
}

/// The same with the methods of a register.
pub fn open_by(register: &Register, policy: &Path, options: &Options) -> Result<(Source, AnyPolicy)> {
    open_tables(register, &policy::read(policy)?, options)
}

/// The same for a policy that was read already, or whose tables a caller handed over.
pub fn open_tables(register: &Register, file: &PolicyFile, options: &Options) -> Result<(Source, AnyPolicy)> {
    file.table_is_there()?;
    let source = table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
    let mut policy = file.bind(&source, register)?;
    let source = policy.exclude(source)?;
    register.group_numbers(&mut policy, &source)?;
    Ok((source, policy))
}

/// The data as a method would see it, with its policy.
pub struct Survey<S: Shape> {
    /// The policy.
    pub policy: Policy<S>,
    /// The data.
    pub input: S::Input,
}

/// The data as a method would see it, by its shape.
pub enum AnySurvey {
    /// The tuples of a table.
    Table(Box<Survey<Table>>),
    /// Records of codes.
    Codes(Box<Survey<Codes>>),
    /// Patients and their events.
    Events(Box<Survey<Events>>),
}

/// Reads the data as a method would see it, for questions about the data as it is. They need no k, so
/// that a policy in which it is still to be chosen will do.
pub fn survey(policy: &Path, options: &Options) -> Result<AnySurvey> {
    survey_by(&policy::read(policy)?, options)
}

/// The same for a table without a policy: by what `init` would suggest for it.
pub fn survey_table(table: &Path, at: &Location, options: &Options) -> Result<AnySurvey> {
    let folder = table.parent().unwrap_or(Path::new("")).to_path_buf();
    let suggested = init_at(&[table.to_path_buf()], at, &folder, options.threads, Arc::clone(&options.progress))?;
    survey_by(&PolicyFile::parse("the suggestion of `kohort init`", &suggested.policy, &folder)?, options)
}

/// The same for a policy that was read already, or whose tables a caller handed over.
pub fn survey_by(file: &PolicyFile, options: &Options) -> Result<AnySurvey> {
    fn read<S: Shape>(source: &Source, policy: Policy<S>) -> Result<Box<Survey<S>>> {
        let input = S::survey(source, &policy)?;
        Ok(Box::new(Survey { policy, input }))
    }
    file.table_is_there()?;
    let source = table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
    let register = Register::built_in();
    let mut policy = file.bind_to_ask(&source, &register, K::LEAST)?;
    let source = policy.exclude(source)?;
    register.group_numbers(&mut policy, &source)?;
    Ok(match policy {
        AnyPolicy::Table(policy) => AnySurvey::Table(read(&source, policy)?),
        AnyPolicy::Codes(policy) => AnySurvey::Codes(read(&source, policy)?),
        AnyPolicy::Events(policy) => AnySurvey::Events(read(&source, policy)?),
    })
}
