//! Sets of codes, from the policy to the certificate.

use super::Shape;
use crate::Result;
use crate::codes::{self, Records};
use crate::number::K;
use crate::policy::{CodesPolicy, Policy};
use crate::random::Randomness;
use crate::release::{self, Basis, Certificate, Clusters, CodesClaim, Guarantee, Promise, Staged, Staging};
use crate::table::Source;
use crate::verify::{self, Checked, CodesCompared, CodesRecount, Outside, ReleaseFolder};
use std::path::Path;

/// A set of codes for each patient.
#[derive(Debug, Clone, PartialEq)]
pub struct Codes;

impl Shape for Codes {
    const NAME: &'static str = "codes";
    const HAS_CELLS: bool = false;
    const MAY_BE_SAMPLE: bool = false;
    const CHECKS_LABELS: bool = false;
    type PolicyPart = CodesPolicy;
    type Input = Records;
    type Plan = Clusters;
    type Claim = CodesClaim;
    type Recount = CodesRecount;
    type Shown = CodesRecount;
    type Compared = CodesCompared;

    fn data_files(_: &CodesClaim) -> (Vec<String>, usize) {
        (vec![release::CLUSTERS_FILE.into()], 1)
    }

    fn survey(source: &Source, policy: &Policy<Codes>) -> Result<Records> {
        codes::survey(source, policy)
    }

    fn promise(policy: &Policy<Codes>) -> Result<Promise<Codes>> {
        Promise::of_codes(policy)
    }

    fn write(
        _: &Source,
        policy: &Policy<Codes>,
        (records, clusters): (&Records, &Clusters),
        staging: Staging,
        random: &mut Randomness,
    ) -> Result<Staged<Codes>> {
        release::write_codes(records, clusters, &policy.header(), staging, random)
    }

    fn dictionary(_: &Source, policy: &Policy<Codes>, _: (&Records, &Clusters), staged: &Staged<Codes>) -> String {
        release::codes_dictionary(&staged.written.file, policy)
    }

    fn recount(
        release: &ReleaseFolder,
        certificate: &Certificate<Codes>,
        threads: usize,
    ) -> Result<(CodesRecount, Vec<Outside>)> {
        Ok((verify::recount_codes(release, certificate, threads)?, Vec::new()))
    }

    fn compare(
        release: &ReleaseFolder,
        certificate: &Certificate<Codes>,
        source: &Source,
        policy: &Policy<Codes>,
        lines: Option<&Path>,
    ) -> Result<Checked<Codes>> {
        verify::compare_codes(release, certificate, source, policy, lines)
    }

    fn shown(recount: &CodesRecount) -> CodesRecount {
        recount.clone()
    }

    fn guarantee(certificate: &Certificate<Codes>) -> Guarantee {
        let promise = &certificate.promise;
        release::guarantee_of_codes(&promise.claim, &promise.columns, promise.patients)
    }

    fn k(claim: &CodesClaim) -> K {
        claim.k
    }

    fn makes_sense(claim: &CodesClaim, _: &CodesRecount) -> std::result::Result<(), &'static str> {
        match claim.confidence {
            Some(max) if claim.sensitive.is_empty() || max.is_zero() => {
                Err("`claim.confidence` is 0, or limits no sensitive code")
            }
            _ => Ok(()),
        }
    }

    fn basis(promise: &Promise<Codes>, _: bool) -> Basis {
        release::basis_of_codes(&promise.claim, &promise.columns, promise.patients)
    }

    fn added(_: &CodesCompared) -> u64 {
        0
    }

    fn matched(compared: &CodesCompared) -> u64 {
        compared.matched
    }

    fn not_shown(compared: &CodesCompared) -> &[String] {
        &compared.not_shown
    }

    fn not_counted(certificate: &Certificate<Codes>, compared: Option<&CodesCompared>) -> Vec<String> {
        let promise = &certificate.promise;
        let mut all = Vec::new();
        if promise.patients && compared.is_none() {
            all.push("that every record is a different patient: records were counted instead".to_string());
        }
        if promise.claim.confidence.is_some() && compared.is_none_or(|own| own.highest_share.is_none()) {
            all.push("the share of a cluster's patients who have a sensitive code".into());
        }
        all
    }

    fn compared_in_words(_: &Certificate<Codes>, compared: &CodesCompared) -> String {
        format!(
            "The original has {} patients, {} of them with codes; at least {} patients could have each of the {} combinations of codes tried.",
            compared.patients, compared.matched, compared.fewest_candidates, compared.combinations
        )
    }
}
