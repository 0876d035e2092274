//! A table, from the policy to the certificate.

use super::Shape;
use crate::Result;
use crate::cohort::{self, Cohort};
use crate::number::K;
use crate::policy::{Policy, TablePolicy};
use crate::random::Randomness;
use crate::release::{
    self, Basis, Certificate, Claim, Guarantee, Plan, Promise, Staged, Staging, SyntheticClaim, TableFacts, TableShown,
};
use crate::table::Source;
use crate::verify::{self, Checked, Compared, Outside, Recount, ReleaseFolder};
use crate::visible::is_visible;
use std::path::Path;

/// A table: each row belongs to a person, or is one of several rows of a patient.
#[derive(Debug, Clone, PartialEq)]
pub struct Table;

impl Shape for Table {
    const NAME: &'static str = "table";
    const BESIDE: &'static [&'static str] = &[release::HIERARCHY_FILE];
    const HAS_CELLS: bool = true;
    const MAY_BE_SAMPLE: bool = true;
    const CHECKS_LABELS: bool = false;
    type PolicyPart = TablePolicy;
    type Input = Cohort;
    type Plan = Plan;
    type Claim = Claim;
    type Recount = Recount;
    type Shown = TableShown;
    type Compared = Compared;

    fn data_files(_: &Claim) -> (Vec<String>, usize) {
        (verify::DATA.map(String::from).to_vec(), 1)
    }

    fn survey(source: &Source, policy: &Policy) -> Result<Cohort> {
        cohort::survey(source, policy)
    }

    fn promise(policy: &Policy) -> Result<Promise> {
        Promise::of_table(policy)
    }

    fn write(
        source: &Source,
        policy: &Policy,
        (cohort, plan): (&Cohort, &Plan),
        staging: Staging,
        random: &mut Randomness,
    ) -> Result<Staged> {
        release::write(source, policy, cohort, plan, staging, random)
    }

    fn dictionary(source: &Source, policy: &Policy, (cohort, plan): (&Cohort, &Plan), staged: &Staged) -> String {
        release::data_dictionary(policy, cohort, plan, &staged.written, source.delimiter())
    }

    fn recount(release: &ReleaseFolder, certificate: &Certificate, threads: usize) -> Result<(Recount, Vec<Outside>)> {
        verify::recount_table(release, certificate, threads)
    }

    fn compare(
        release: &ReleaseFolder,
        certificate: &Certificate,
        source: &Source,
        policy: &Policy,
        lines: Option<&Path>,
    ) -> Result<Checked<Table>> {
        verify::compare_table(release, certificate, source, policy, lines)
    }

    fn shown(recount: &Recount) -> TableShown {
        recount.shown()
    }

    fn guarantee(certificate: &Certificate) -> Guarantee {
        release::guarantee_of_table(&certificate.promise, certificate.sample.map(|_| &certificate.recount))
    }

    fn without_values(promise: &Promise) -> Promise {
        let mut own = promise.clone();
        for t in own.claim.sensitive.iter_mut().filter_map(|s| s.t_closeness.as_mut()) {
            (t.order, t.tree) = (None, None);
        }
        own.set_overlap(false);
        own
    }

    fn complete(promise: &mut Promise, compared: &Compared) {
        promise.set_overlap(compared.labels_overlap);
    }

    fn k(claim: &Claim) -> K {
        claim.k
    }

    fn makes_sense(claim: &Claim, _: &TableShown) -> std::result::Result<(), &'static str> {
        if claim.synthetic.as_ref().is_some_and(|own| own.real_k == 0 || own.real_k > claim.k.get()) {
            return Err("`attested.synthetic.real_k` is not from 1 to k");
        }
        for own in &claim.sensitive {
            let values = own.values.as_deref();
            if values.is_some_and(|all| all.is_empty() || !all.iter().all(|value| is_visible(value))) {
                return Err("`values` of a sensitive column is empty, or lists a value that cannot be seen");
            }
            if own.confidence.is_none() && own.l_diversity.is_none() && own.t_closeness.is_none() {
                return Err("a sensitive column of the claim has no requirement");
            }
        }
        match claim.sensitive.iter().filter_map(|own| own.l_diversity.as_ref()).all(release::counts) {
            true => Ok(()),
            false => Err("`l_diversity` requires nothing"),
        }
    }

    fn basis(promise: &Promise, sample: bool) -> Basis {
        TableFacts::read(&promise.assumed, &promise.columns, promise.patients, sample).basis(&promise.claim)
    }

    fn synthetic(claim: &Claim) -> Option<&SyntheticClaim> {
        claim.synthetic.as_ref()
    }

    fn set_synthetic(claim: &mut Claim, own: SyntheticClaim) -> std::result::Result<(), &'static str> {
        claim.synthetic = Some(own);
        Ok(())
    }

    fn added(compared: &Compared) -> u64 {
        compared.added
    }

    fn matched(compared: &Compared) -> u64 {
        compared.matched
    }

    fn not_shown(compared: &Compared) -> &[String] {
        &compared.not_shown
    }

    fn not_counted(certificate: &Certificate, compared: Option<&Compared>) -> Vec<String> {
        verify::not_counted_in_table(certificate, compared)
    }

    fn compared_in_words(certificate: &Certificate, compared: &Compared) -> String {
        let unit = if certificate.promise.patients && compared.not_counted.is_empty() { "patients" } else { "rows" };
        format!(
            "The original has {} rows; every released cell is the original or its ancestor; the smallest class holds {} {unit}.",
            compared.rows, compared.smallest_class
        )
    }

    fn formulas(recount: &Recount) -> &[String] {
        &recount.formulas
    }
}
