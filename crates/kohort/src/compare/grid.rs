//! The data of a comparison, read once, and what each setting would make of it.

use super::vary::Baseline;
use crate::baselines::{Recoded, apriori, cba};
use crate::evidence::{self, codes::Answers};
use crate::methods::disassociate::{self, Constraints, ConstraintsBy, Params};
use crate::methods::{Method, Task};
use crate::pipeline::{Options, anonymize};
use crate::queries::Expected;
use kohort_core::codes::CodeSystem;
use kohort_core::cohort::{self, Cohort};
use kohort_core::policy::{Policy, PolicyFile};
use kohort_core::records::{self, Records};
use kohort_core::release::{Chance, Unfinished};
use kohort_core::table::{self, Source};
use kohort_core::{Error, Result};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// What was read, for as many settings as can share it.
pub(super) struct Grid<'a> {
    options: &'a Options,
    source: Option<Source>,
    /// What of a policy the tuples were counted by, what its adversary knows, and the tuples.
    cohort: Option<(String, String, Box<Cohort>)>,
    /// What a repeated code counts for, and the records.
    records: Option<(String, Records)>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(options: &'a Options) -> Grid<'a> {
        Grid { options, source: None, cohort: None, records: None }
    }

    /// What a release by this policy would be like. Nothing is written; for a baseline, which is never
    /// published, what it would lose.
    pub(super) fn measure(
        &mut self,
        (path, text): (&Path, &str),
        baseline: Option<Baseline>,
        unfinished: &Unfinished,
    ) -> Result<Value> {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let file = PolicyFile::parse(&name, text, unfinished.folder())?;
        let policy = self.bind(&file)?;
        match (Task::of(&policy)?, baseline) {
            (Task::Codes(params), baseline) => self.codes(&policy, &params, baseline),
            (_, Some(baseline)) => Err(Error::yours(format!("{} is for sets of codes.", baseline.name()))),
            (Task::Table(method), None) => self.table(&policy, &method),
            (Task::Claims(_), None) => self.release(path, unfinished),
        }
    }

    /// Binds a policy to the table, which is opened, and without what is excluded, for the first of them.
    fn bind(&mut self, file: &PolicyFile) -> Result<Policy> {
        if let Some(source) = &self.source {
            return file.bind(source);
        }
        let source = table::open(&file.input)?
            .with_threads(self.options.threads)
            .with_progress(Arc::clone(&self.options.progress));
        let policy = file.bind(&source)?;
        self.source = Some(source.excluding(policy.exclude.clone(), policy.patient())?);
        Ok(policy)
    }

    fn table(&mut self, policy: &Policy, method: &Method) -> Result<Value> {
        let Some(source) = &self.source else { return Err(policy.error("the table was not opened.")) };
        let privacy = &policy.privacy;
        let counted_by = format!(
            "{:?} {:?} {:?} {:?}",
            privacy.confidence, privacy.l_diversity, privacy.t_closeness, policy.invents
        );
        let knows = format!("{:?}", privacy.knows);
        let cohort = match self.cohort.take().filter(|(by, ..)| *by == counted_by) {
            Some((_, known, cohort)) if known == knows => cohort,
            Some((_, _, mut cohort)) => {
                cohort.know(policy)?;
                cohort
            }
            None => Box::new(cohort::survey(source, policy)?),
        };
        let cohort = &self.cohort.insert((counted_by, knows, cohort)).2;
        evidence::baseline_fits(cohort, policy)?;
        evidence::attacks(cohort, policy)?;
        let plan = method.plan(cohort, policy, &mut Chance::new(self.options.seed)?)?;
        evidence::outlook(cohort, &plan, policy, method)
    }

    fn codes(&mut self, policy: &Policy, params: &Params, baseline: Option<Baseline>) -> Result<Value> {
        let Some(source) = &self.source else { return Err(policy.error("the table was not opened.")) };
        let counted_by = format!("{:?}", policy.repeats);
        let records = match self.records.take().filter(|(by, _)| *by == counted_by) {
            Some((_, records)) => records,
            None => records::survey(source, policy)?,
        };
        let records = &self.records.insert((counted_by, records)).1;
        let (k, m) = (policy.privacy.k.get(), policy.privacy.known_codes());
        let asked = |with_all: &dyn Fn(&[u32]) -> f64, with_any: &dyn Fn(&[u32]) -> f64| {
            let (mut utility, errors) =
                evidence::codes::queries((records, policy, params), k, &Answers { with_all, with_any })?;
            if !errors.is_empty() {
                let sum: f64 = errors.iter().map(|e| e.abs()).sum();
                utility["mre"]["mean"] = json!(sum / errors.len() as f64);
            }
            Ok::<Value, Error>(utility)
        };
        let of_baseline = |recoded: Recoded| {
            let mut utility = asked(&|codes| recoded.with_all(codes), &|codes| recoded.with_any(codes))?;
            utility["suppressed_codes"] = json!(recoded.suppressed());
            utility["items"] = json!(recoded.items());
            Ok(utility)
        };
        let (utility, notes) = match baseline {
            None => {
                let clusters = disassociate::plan(records, policy, params, source.threads())?;
                let expected = Expected::new(&clusters.nodes, records.distinct(), k);
                let utility = asked(&|codes| expected.with_all(codes), &|codes| expected.with_any(codes))?;
                (utility, clusters.notes.clone())
            }
            Some(baseline) => {
                let least = u32::try_from(k).unwrap_or(u32::MAX);
                let (constraints, _) = Constraints::of(records, policy, params)?;
                let recoded = match baseline {
                    Baseline::Cba => cba(records, &constraints, least, m),
                    Baseline::Apriori => apriori(records, code_system(records, params), least, m),
                };
                (of_baseline(recoded)?, vec!["for comparison only: it is never published".to_string()])
            }
        };
        let all = records.len() as u64 + records.without_codes;
        Ok(json!({
            "method": baseline.map_or("disassociate", Baseline::name),
            "shape": "clusters",
            "rows": { "in": all, "excluded": 0, "suppressed": records.without_codes, "counterfeit": 0, "out": records.len() },
            "utility": utility,
            "guarantee": { "k": k, "m": m, "knows": format!("up to {m} codes") },
            "notes": notes,
        }))
    }

    /// Claims are released and verified, and the release goes.
    fn release(&self, path: &Path, unfinished: &Unfinished) -> Result<Value> {
        let folder = unfinished.folder().join("release");
        let options = Options { force: true, keep_rows: false, ..self.options.clone() };
        let released = anonymize(path, &folder, &options)?;
        fs::remove_dir_all(&folder).map_err(|e| Error::io(&folder, &e))?;
        Ok(released.metrics)
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
