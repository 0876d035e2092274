//! The data of a comparison, read once, and what each setting would make of it.

use super::vary::RecodingBaseline;
use crate::baselines::{RecodedCodes, apriori, cba};
use crate::evidence::codes::Answers;
use crate::evidence::{self, CodesErrors, CodesOutlook, Metrics, Outlook};
use crate::methods::disassociate::{self, Constraints, ConstraintsBy, Params};
use crate::methods::{Method, Register};
use crate::pipeline::{Options, anonymize};
use crate::queries::Expected;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::{self, Records};
use kohort_core::cohort::{self, Cohort};
use kohort_core::parallel;
use kohort_core::policy::{AnyPolicy, Policy, PolicyFile};
use kohort_core::random::Randomness;
use kohort_core::release::Unfinished;
use kohort_core::shape::{Codes, Shape};
use kohort_core::table::{self, Source};
use kohort_core::{Error, Result};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A setting before it is measured.
pub(super) struct GridSetting<'a> {
    /// The path of its policy.
    pub(super) path: &'a Path,
    /// The policy.
    pub(super) text: &'a str,
    /// The baseline that replaces the method, if it is only compared and never released.
    pub(super) baseline: Option<RecodingBaseline>,
}

/// A setting bound to the table.
struct Bound {
    task: Task,
    baseline: Option<RecodingBaseline>,
    /// What of it the data are counted by.
    counted_by: String,
    /// The knowledge of its attacker.
    knows: String,
}

/// A policy with its method, by the shape of the data. Patient histories are released to be measured, so
/// that their method is looked up then.
enum Task {
    Table(Box<Policy>, Method),
    Codes(Box<Policy<Codes>>, Params),
    Events,
}

/// The data, counted for settings that can share them.
enum Counted {
    Table(Box<Cohort>),
    Codes(Records),
}

/// What a release by each setting would be like, or why there is none; nothing is written. The data are
/// read once, and again only for settings that count other columns. Settings are measured on all cores.
pub(super) fn measure(cells: &[GridSetting], unfinished: &Unfinished, options: &Options) -> Vec<Result<Outlook>> {
    let mut source = None;
    let bound: Vec<Result<Bound>> = cells.iter().map(|cell| bind(cell, unfinished, &mut source, options)).collect();
    let mut outcomes: Vec<Option<Result<Outlook>>> = cells.iter().map(|_| None).collect();
    // Settings that share what is counted, in the order of the first of each.
    let mut groups: Vec<(&str, &str, Vec<usize>)> = Vec::new();
    for (i, bound) in bound.iter().enumerate() {
        let Ok(bound) = bound else { continue };
        match groups.iter_mut().find(|g| (g.0, g.1) == (&bound.counted_by[..], &bound.knows[..])) {
            Some(group) => group.2.push(i),
            None => groups.push((&bound.counted_by, &bound.knows, vec![i])),
        }
    }
    groups.sort_by_key(|g| g.0);
    let mut counted: Option<(&str, Counted)> = None;
    for (counted_by, _, members) in &groups {
        let settings: Vec<(usize, &Bound)> =
            members.iter().filter_map(|&i| Some((i, bound[i].as_ref().ok()?))).collect();
        let (Some(source), Some((_, first))) = (&source, settings.first()) else { continue };
        if let Task::Events = first.task {
            for (i, _) in settings {
                outcomes[i] = Some(release(cells[i].path, unfinished, options));
            }
            continue;
        }
        let again = match counted.take() {
            Some((by, Counted::Table(mut cohort))) if by == *counted_by => {
                first.know(&mut cohort).map(|()| Counted::Table(cohort))
            }
            Some((by, codes @ Counted::Codes(_))) if by == *counted_by => Ok(codes),
            _ => count(source, first),
        };
        match again {
            Ok(data) => {
                let found = on_all_cores(&settings, options.threads, |own| own.measure(&data, source, options));
                found.into_iter().for_each(|(i, outcome)| outcomes[i] = Some(outcome));
                counted = Some((counted_by, data));
            }
            Err(error) => settings.iter().for_each(|(i, _)| outcomes[*i] = Some(Err(error.clone()))),
        }
    }
    let measured = bound.into_iter().zip(outcomes);
    let missed = || Err(Error::refused("one of the settings was not measured."));
    measured.map(|(bound, outcome)| bound.and_then(|_| outcome.unwrap_or_else(missed))).collect()
}

/// Binds a setting to the table, which is opened, without what is excluded, for the first of them.
fn bind(cell: &GridSetting, unfinished: &Unfinished, source: &mut Option<Source>, options: &Options) -> Result<Bound> {
    let name = cell.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let file = PolicyFile::parse(&name, cell.text, unfinished.folder())?;
    let register = Register::built_in();
    let policy = match source {
        Some(source) => file.bind(source, &register)?,
        None => {
            let opened =
                table::open(&file.input)?.with_threads(options.threads).with_progress(Arc::clone(&options.progress));
            let policy = file.bind(&opened, &register)?;
            *source = Some(policy.exclude(opened)?);
            policy
        }
    };
    let baseline = cell.baseline;
    let bound = |task, (counted_by, knows)| Bound { task, baseline, counted_by, knows };
    if let (Some(baseline), AnyPolicy::Table(_) | AnyPolicy::Events(_)) = (baseline, &policy) {
        return Err(Error::yours(format!("{} is for sets of codes.", baseline.name())));
    }
    Ok(match policy {
        AnyPolicy::Table(policy) => {
            let (method, counts) = (register.for_table(&policy)?, counted_by(&policy));
            bound(Task::Table(Box::new(policy), method), counts)
        }
        AnyPolicy::Codes(policy) => {
            let ((_, params), counts) = (register.for_codes(&policy)?, counted_by(&policy));
            bound(Task::Codes(Box::new(policy), params), counts)
        }
        AnyPolicy::Events(policy) => {
            register.for_events(&policy)?;
            bound(Task::Events, counted_by(&policy))
        }
    })
}

/// The parts of a policy that determine how the data are counted, and its attacker's knowledge.
fn counted_by<S: Shape>(policy: &Policy<S>) -> (String, String) {
    let privacy = &policy.privacy;
    let asked = (&privacy.confidence, &privacy.l_diversity, &privacy.t_closeness);
    (format!("{asked:?} {:?}", policy.own), format!("{:?}", privacy.knows))
}

fn count(source: &Source, first: &Bound) -> Result<Counted> {
    match &first.task {
        Task::Table(policy, _) => Ok(Counted::Table(Box::new(cohort::survey(source, policy)?))),
        Task::Codes(policy, _) => Ok(Counted::Codes(codes::survey(source, policy)?)),
        Task::Events => Err(Error::refused("patient histories are counted when they are released.")),
    }
}

/// Measures settings, one after the other on each thread; the outcomes in their order.
fn on_all_cores<'b>(
    settings: &[(usize, &'b Bound)],
    threads: usize,
    measure: impl Fn(&'b Bound) -> Result<Outlook> + Sync,
) -> Vec<(usize, Result<Outlook>)> {
    parallel::map(threads, settings.len(), |number| {
        let (place, bound) = settings[number];
        (place, measure(bound))
    })
}

impl Bound {
    /// Sets what the attacker of this setting knows in the cohort.
    fn know(&self, cohort: &mut Cohort) -> Result<()> {
        match &self.task {
            Task::Table(policy, _) => cohort.know(policy),
            Task::Codes(..) | Task::Events => Ok(()),
        }
    }

    fn measure(&self, counted: &Counted, source: &Source, options: &Options) -> Result<Outlook> {
        match (&self.task, counted) {
            (Task::Table(policy, method), Counted::Table(cohort)) => table(policy, method, cohort, options),
            (Task::Codes(policy, params), Counted::Codes(records)) => self.codes(policy, params, records, source),
            _ => Err(Error::yours("the method is for another kind of data.")),
        }
    }

    fn codes(&self, policy: &Policy<Codes>, params: &Params, records: &Records, source: &Source) -> Result<Outlook> {
        let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
        let asked =
            |answers: Answers| evidence::codes::queries((records, policy, params), k, &answers).map(CodesErrors::from);
        // As in the paper, a baseline is asked only for codes that it did not suppress.
        let of_baseline = |recoded: RecodedCodes| {
            let utility = asked(Answers {
                with_all: &|codes| recoded.with_all(codes),
                with_any: &|codes| recoded.with_any(codes),
                keeps: &|codes| recoded.keeps(codes),
            })?;
            let (suppressed_codes, items) = (Some(recoded.suppressed() as u64), Some(recoded.items() as u64));
            Ok::<_, Error>(CodesErrors { suppressed_codes, items, ..utility })
        };
        let (utility, notes) = match self.baseline {
            None => {
                let clusters = disassociate::plan(records, policy, params, source.threads())?;
                let expected = Expected::new(&clusters.nodes, records.distinct(), k);
                let utility = asked(Answers {
                    with_all: &|codes| expected.with_all(codes),
                    with_any: &|codes| expected.with_any(codes),
                    keeps: &|_| true,
                })?;
                (utility, clusters.notes.clone())
            }
            Some(baseline) => {
                let least = u32::try_from(k).unwrap_or(u32::MAX);
                let (constraints, _) = Constraints::of(records, policy, params)?;
                let recoded = match baseline {
                    RecodingBaseline::Cba => cba(records, &constraints, least, m),
                    RecodingBaseline::Apriori => apriori(records, code_system(records, params), least, m),
                };
                let (all, suppressed) = (records.distinct(), recoded.suppressed());
                let mut notes = vec!["for comparison only: it is never published".to_string()];
                if suppressed > 0 {
                    notes.push(format!(
                        "its errors are those of counts over the {} of {all} codes that it did not suppress",
                        all - suppressed
                    ));
                }
                (of_baseline(recoded)?, notes)
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

/// Patient histories are released and verified, and the release is removed again.
fn release(path: &Path, unfinished: &Unfinished, options: &Options) -> Result<Outlook> {
    let folder = unfinished.folder().join("release");
    let options = Options { force: true, keep_rows: false, ..options.clone() };
    let released = anonymize(path, &folder, &options)?;
    fs::remove_dir_all(&folder).map_err(|e| Error::io(&folder, &e))?;
    match released.metrics {
        Metrics::Events(own) => Ok(Outlook::Events(own)),
        Metrics::Table(_) | Metrics::Codes(_) => Err(Error::refused(
            "the release is of another kind than its \
             policy.",
        )),
    }
}

/// The system that the codes are of: the one the policy names, or the one that holds more of them.
fn code_system(records: &Records, params: &Params) -> CodeSystem {
    if let ConstraintsBy::Level(system, _) = params.constraints {
        return system;
    }
    let held = |system: CodeSystem| records.texts().filter(|text| system.place(text).is_some()).count();
    if held(CodeSystem::Icd10) > held(CodeSystem::Icd9) { CodeSystem::Icd10 } else { CodeSystem::Icd9 }
}
