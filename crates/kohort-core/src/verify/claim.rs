//! Checks that a certificate promises what its policy asks for, and says what its promise means.

use crate::policy::Policy;
use crate::release::{Certificate, Promise, asks_for_share};
use crate::shape::Shape;
use crate::{Error, Result};

/// Refuses a certificate whose numbers are not those of the data, or whose words are not its promise's:
/// they are what a stranger reads.
pub(super) fn says_what_was_counted<S: Shape>(certificate: &Certificate<S>, recount: &S::Recount) -> Result<()> {
    if S::shown(recount) != certificate.recount {
        return Err(Error::refused("the numbers under `recount` in the certificate are not those of the data."));
    }
    if certificate.sample.is_some() && !S::MAY_BE_SAMPLE {
        return Err(Error::refused("only a table can be a sample."));
    }
    if certificate.promise.columns.iter().any(|c| c.labels.is_some()) && !S::CHECKS_LABELS {
        return Err(Error::refused("labels of columns are checked in events alone."));
    }
    if certificate.guarantee != S::guarantee(certificate) {
        return Err(Error::refused("the sentences under `guarantee` in the certificate are not those of its claim."));
    }
    Ok(())
}

/// Refuses a certificate that promises anything else than the policy does. The order and tree of sensitive
/// values depend on the release: they are compared once it was read.
pub(super) fn is_the_policys<S: Shape>(certificate: &Certificate<S>, policy: &Policy<S>) -> Result<()> {
    let mut promise = S::promise(policy)?;
    if let Some(share) = certificate.sample {
        if !asks_for_share(policy, share)? {
            return Err(Error::refused(
                "the certificate does not claim what the policy asks for: the share that was sampled differs.",
            ));
        }
        promise = promise.sampled();
    }
    let own = Promise { claim: S::without_values(&certificate.promise.claim), ..certificate.promise.clone() };
    promise.must_be(&own)
}
