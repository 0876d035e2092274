//! The data of a comparison, read once, and what each setting would make of it.

use super::vary::RecodingBaseline;
use crate::baselines::{RecodedCodes, apriori, cba};
use crate::evidence::codes::Answers;
use crate::evidence::{self, CodesErrors, CodesOutlook, Metrics, Outlook};
use crate::methods::{CodesMethod, Method, Register, Work};
use crate::pipeline::{Extras, Options, make};
use crate::queries::Expected;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::{self, Records};
use kohort_core::cohort::{self, Cohort};
use kohort_core::parallel;
use kohort_core::policy::{AnyPolicy, Policy, PolicyFile};
use kohort_core::random::Randomness;
use kohort_core::release::Staging;
use kohort_core::shape::{Codes, Shape, Table};
use kohort_core::table::{self, Source, Watcher, WithinStep};
use kohort_core::utility::demographic_loss;
use kohort_core::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// A setting before it is measured.
pub(super) struct GridSetting {
    /// Its policy, or the reason why it cannot be read.
    pub(super) file: Result<PolicyFile>,
    /// The baseline that replaces the method, if it is only compared and never released.
    pub(super) baseline: Option<RecodingBaseline>,
}

/// A setting bound to the data, which has the shape `S`, with the method that its policy names.
struct BoundSetting<S: Shape, M> {
    /// Its place among all settings.
    place: usize,
    policy: Policy<S>,
    method: M,
    baseline: Option<RecodingBaseline>,
    /// The parts of its policy by which the data are counted.
    counted_by: String,
    /// The knowledge of its attacker.
    knows: String,
}

type TableSetting = BoundSetting<Table, Method>;
type CodesSetting = BoundSetting<Codes, Method<dyn CodesMethod>>;

/// A setting with its place, and what a release by it would be like.
type Measured = (usize, Result<Outlook>);

/// Is told the place and the outcome of each setting as soon as it is measured.
pub(super) type Told<'a> = &'a (dyn Fn(usize, &Result<Outlook>) + Sync);

/// Measures what a release by each setting would be like, or why there is none; nothing is written. The data are
/// read once, and again only for settings that count other columns. Settings are measured on all cores.
/// Whatever must be written meanwhile is in `scratch`, and nothing stays there.
pub(super) fn measure(cells: &[GridSetting], scratch: &Path, options: &Options, told: Told) -> Vec<Result<Outlook>> {
    let mut source = None;
    let (mut tables, mut codes): (Vec<TableSetting>, Vec<CodesSetting>) = (Vec::new(), Vec::new());
    let mut measured: Vec<Measured> = Vec::new();
    let mut events = Vec::new();
    for (place, cell) in cells.iter().enumerate() {
        let register = Register::built_in();
        let policy = bind(cell, &mut source, &register, options);
        let sorted = policy.and_then(|policy| {
            match policy {
                AnyPolicy::Table(policy) => {
                    let method = register.for_table(&policy)?;
                    tables.push(BoundSetting::new(place, cell, policy, method));
                }
                AnyPolicy::Codes(policy) => {
                    let method = register.for_codes(&policy)?;
                    codes.push(BoundSetting::new(place, cell, policy, method));
                }
                AnyPolicy::Events(policy) => {
                    register.for_events(&policy)?;
                    events.push(place);
                }
            }
            Ok(())
        });
        measured.extend(sorted.err().map(|error| told_of(told, place, Err(error))));
    }
    if let Some(source) = &source {
        measured.extend(measure_tables(tables, source, options, told));
        measured.extend(measure_codes(codes, source, options, told));
    }
    // Patient histories are released to be measured.
    measured.extend(events.into_iter().map(|place| {
        let going = options.progress.go_on();
        told_of(told, place, going.and_then(|()| release(&cells[place], scratch, options)))
    }));
    measured.sort_by_key(|(place, _)| *place);
    measured.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The setting with its outcome, after the caller was told.
fn told_of(told: Told, place: usize, outcome: Result<Outlook>) -> Measured {
    told(place, &outcome);
    (place, outcome)
}

/// Binds a setting to the table, which is opened, without what is excluded, for the first of them.
fn bind(cell: &GridSetting, source: &mut Option<Source>, register: &Register, options: &Options) -> Result<AnyPolicy> {
    let file = cell.file.as_ref().map_err(Error::clone)?;
    let mut policy = match source {
        Some(source) => file.bind(source, register)?,
        None => {
            let opened =
                table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
            let policy = file.bind(&opened, register)?;
            *source = Some(policy.exclude(opened)?);
            policy
        }
    };
    if let Some(source) = source {
        register.group_numbers(&mut policy, source)?;
    }
    match (cell.baseline, &policy) {
        (Some(baseline), AnyPolicy::Table(_) | AnyPolicy::Events(_)) => {
            Err(Error::yours(format!("{} is for sets of codes.", baseline.name())))
        }
        _ => Ok(policy),
    }
}

impl<S: Shape, M> BoundSetting<S, M> {
    fn new(place: usize, cell: &GridSetting, policy: Policy<S>, method: M) -> BoundSetting<S, M> {
        let privacy = &policy.privacy;
        let asked = (&privacy.confidence, &privacy.l_diversity, &privacy.t_closeness);
        let rules: Vec<&str> = policy.columns.iter().map(|column| column.rule_text.as_str()).collect();
        let counted_by = format!("{asked:?} {:?} {rules:?}", policy.own);
        let knows = format!("{:?}", privacy.knows);
        BoundSetting { place, policy, method, baseline: cell.baseline, counted_by, knows }
    }
}

/// Measures the settings of tables. Those that count the same columns share a cohort, and those whose attackers
/// know the same are measured side by side.
fn measure_tables(mut settings: Vec<TableSetting>, source: &Source, options: &Options, told: Told) -> Vec<Measured> {
    settings.sort_by(|a, b| (&a.counted_by, &a.knows).cmp(&(&b.counted_by, &b.knows)));
    let mut measured = Vec::new();
    for counted in settings.chunk_by(|a, b| a.counted_by == b.counted_by) {
        let mut cohort: Option<Cohort> = None;
        for alike in counted.chunk_by(|a, b| a.knows == b.knows) {
            let policy = &alike[0].policy;
            let known = match cohort.take() {
                Some(mut own) => own.know(policy).map(|()| own),
                None => cohort::survey(source, policy).map(|mut own| {
                    own.watcher = Watcher(Arc::new(WithinStep(Arc::clone(&options.progress))));
                    own
                }),
            };
            measured.extend(on_all_cores(alike, options, told, |setting| {
                table(&setting.policy, &setting.method, known.as_ref().map_err(|error| error.clone())?, options)
            }));
            cohort = known.ok();
        }
    }
    measured
}

/// Measures the settings of codes. Those that read the same codes share the records.
fn measure_codes(mut settings: Vec<CodesSetting>, source: &Source, options: &Options, told: Told) -> Vec<Measured> {
    settings.sort_by(|a, b| a.counted_by.cmp(&b.counted_by));
    let mut measured = Vec::new();
    for counted in settings.chunk_by(|a, b| a.counted_by == b.counted_by) {
        let records = codes::survey(source, &counted[0].policy);
        measured.extend(on_all_cores(counted, options, told, |setting| {
            setting.measure(records.as_ref().map_err(|error| error.clone())?, source, options.seed)
        }));
    }
    measured
}

/// Measures settings, one after the other on each thread, until the caller stops the run.
fn on_all_cores<S: Shape, M: Sync>(
    settings: &[BoundSetting<S, M>],
    options: &Options,
    told: Told,
    measure: impl Fn(&BoundSetting<S, M>) -> Result<Outlook> + Sync,
) -> Vec<Measured>
where
    BoundSetting<S, M>: Sync,
{
    options.progress.stage("comparing", settings.len() as u64);
    parallel::map(options.threads, settings.len(), |number| {
        let setting = &settings[number];
        let outlook = options.progress.go_on().and_then(|()| measure(setting));
        options.progress.advance(1);
        told_of(told, setting.place, outlook)
    })
}

impl CodesSetting {
    fn measure(&self, records: &Records, source: &Source, seed: Option<u64>) -> Result<Outlook> {
        let (policy, method) = (&self.policy, &self.method);
        let constraints = method.needed_together(records, policy)?;
        let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
        let asked = |answers: Answers| CodesErrors::from(evidence::codes::queries(records, &constraints, k, &answers));
        // As in the paper, a baseline is asked only for codes that it did not suppress.
        let of_baseline = |recoded: RecodedCodes| {
            let utility = asked(Answers {
                with_all: &|codes| recoded.with_all(codes),
                with_any: &|codes| recoded.with_any(codes),
                keeps: &|codes| recoded.keeps(codes),
            });
            let (suppressed_codes, items) = (Some(recoded.suppressed() as u64), Some(recoded.items() as u64));
            CodesErrors { suppressed_codes, items, ..utility }
        };
        let (utility, notes) = match self.baseline {
            None => {
                let mut random = Randomness::new(seed)?;
                let progress = WithinStep(Arc::clone(source.progress()));
                let work = Work { random: &mut random, threads: source.threads(), progress: &progress };
                let clusters = method.plan(records, policy, work)?;
                let expected = Expected::new(&clusters.nodes, records.distinct(), k);
                let utility = asked(Answers {
                    with_all: &|codes| expected.with_all(codes),
                    with_any: &|codes| expected.with_any(codes),
                    keeps: &|_| true,
                });
                let demographic_loss = demographic_loss(records, &clusters.nodes).map(|loss| loss.mean);
                let loses = |loss: f64| {
                    format!("The quasi-identifiers beside the codes lose {:.1} % of their detail.", 100.0 * loss)
                };
                let notes = clusters.notes.iter().cloned().chain(demographic_loss.map(loses)).collect();
                (CodesErrors { demographic_loss, ..utility }, notes)
            }
            Some(baseline) => {
                let least = u32::try_from(k).unwrap_or(u32::MAX);
                let recoded = match baseline {
                    RecodingBaseline::Cba => cba(records, &constraints, least, m),
                    RecodingBaseline::Apriori => apriori(records, code_system(records, &**method), least, m),
                };
                let (all, suppressed) = (records.distinct(), recoded.suppressed());
                let mut notes = vec!["for comparison only: it is never published".to_string()];
                if suppressed > 0 {
                    notes.push(format!(
                        "its errors are those of counts over the {} of {all} codes that it did not suppress",
                        all - suppressed
                    ));
                }
                (of_baseline(recoded), notes)
            }
        };
        let named = policy.method.text("name")?.unwrap_or_default();
        let method = self.baseline.map_or(named, |baseline| baseline.name());
        Ok(CodesOutlook::of(method, records, policy, utility, notes))
    }
}

fn table(policy: &Policy, method: &Method, cohort: &Cohort, options: &Options) -> Result<Outlook> {
    evidence::baseline_fits(cohort, policy)?;
    evidence::attacks(cohort, policy)?;
    let plan = method.plan(cohort, policy, &mut Randomness::new(options.seed)?)?;
    evidence::outlook(cohort, &plan, policy, method)
}

/// Patient histories are released in memory and verified.
fn release(cell: &GridSetting, scratch: &Path, options: &Options) -> Result<Outlook> {
    let file = cell.file.as_ref().map_err(Error::clone)?;
    let options = Options { keep_rows: false, ..options.clone() };
    let staging = Staging::in_memory(scratch)?;
    let released = make(&Register::built_in(), file, staging, &options, &Extras::default())?;
    match released.metrics {
        Metrics::Events(own) => Ok(Outlook::Events(own)),
        Metrics::Table(_) | Metrics::Codes(_) => Err(Error::refused(
            "the release is of another kind than its \
             policy.",
        )),
    }
}

/// The system that the codes are of: the one the policy names, or the one that holds more of them.
fn code_system(records: &Records, method: &dyn CodesMethod) -> CodeSystem {
    if let Some(system) = method.code_system() {
        return system;
    }
    let held = |system: CodeSystem| records.texts().filter(|text| system.place(text).is_some()).count();
    if held(CodeSystem::Icd10) > held(CodeSystem::Icd9) { CodeSystem::Icd10 } else { CodeSystem::Icd9 }
}
