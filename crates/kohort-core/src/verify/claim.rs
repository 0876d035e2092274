//! Checks that a certificate promises what its policy asks for, and says what its promise means.

use crate::policy::Policy;
use crate::release::{Certificate, asks_for_share};
use crate::shape::Shape;
use crate::{Error, Result};

/// Refuses a certificate whose numbers are not those of the data, or whose words are not its promise's:
/// they are what a stranger reads.
pub(super) fn says_what_was_counted<S: Shape>(certificate: &Certificate<S>, recount: &S::Recount) -> Result<()> {
    if S::shown(recount) != certificate.recount {
        return Err(Error::refused("the numbers under `recount` in the certificate are not those of the data."));
    }
    let basis = S::basis(&certificate.promise, certificate.sample.is_some());
    if certificate.promise.assumed != basis.assumed || certificate.promise.not_recountable != basis.not_recountable {
        return Err(Error::refused(
            "the sentences under `assumed` or `not_recountable` in the certificate are not those that Kohort writes.",
        ));
    }
    if certificate.sample.is_some() && !S::MAY_BE_SAMPLE {
        return Err(Error::refused("only a table can be a sample."));
    }
    if S::ALWAYS_PATIENTS && !certificate.promise.patients {
        return Err(Error::refused("events are counted in patients: `unit` must be \"patient\"."));
    }
    if certificate.promise.columns.iter().any(|c| c.labels.is_some()) && !S::CHECKS_LABELS {
        return Err(Error::refused("labels of columns are checked in events alone."));
    }
    if certificate.guarantee != S::guarantee(certificate) {
        return Err(Error::refused("the sentences under `guarantee` in the certificate are not those of its claim."));
    }
    Ok(())
}

/// Refuses a certificate that promises more than the comparison with the original allows.
pub(super) fn admits_what_was_found<S: Shape>(certificate: &Certificate<S>, compared: &S::Compared) -> Result<()> {
    let mut counted = certificate.promise.clone();
    S::complete(&mut counted, compared);
    // A certificate may say less: a sample shows fewer labels than the file it was drawn from.
    match certificate.promise.assumed.len() >= counted.assumed.len() {
        true => Ok(()),
        false => Err(Error::refused(
            "labels overlap in the release, and the certificate does not say that the limits on sensitive values \
             hold in each group of identical records only.",
        )),
    }
}

/// Refuses a certificate by a method that is not among the known ones.
pub(super) fn names_a_method<S: Shape>(certificate: &Certificate<S>, known: &[&str]) -> Result<()> {
    match known.contains(&certificate.method.as_str()) {
        true => Ok(()),
        false => Err(Error::refused("the certificate names a method that this version of Kohort does not know.")),
    }
}

/// Refuses a certificate that promises anything else than the policy does. The order and tree of sensitive
/// values depend on the release: they are compared once it was read.
pub(super) fn is_the_policys<S: Shape>(certificate: &Certificate<S>, policy: &Policy<S>) -> Result<()> {
    if policy.method.text("name")? != Some(&certificate.method) {
        return Err(Error::refused("the certificate names another method than the policy."));
    }
    let mut promise = S::promise(policy)?;
    if let Some(share) = certificate.sample {
        if !asks_for_share(policy, share)? {
            return Err(Error::refused(
                "the certificate does not claim what the policy asks for: the share that was sampled differs.",
            ));
        }
        promise = promise.sampled();
    }
    S::without_values(&promise).must_be(&S::without_values(&certificate.promise))
}

/// Refuses a certificate that contradicts itself.
pub(super) fn damaged(what: &str) -> Error {
    Error::refused(format!("certificate.json: {what}."))
}
