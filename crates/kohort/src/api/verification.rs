//! A release that was verified again.

use kohort_core::Result;
use kohort_core::policy;
use kohort_core::release::Certificate;
use kohort_core::table::Source;
use kohort_core::verify::{verify_release, verify_with_original};
use std::path::Path;

/// A published release whose guarantee was recounted. A release that does not keep it is an error of kind
/// [`Kind::Refused`](crate::Kind::Refused) instead.
#[derive(Debug, Clone)]
pub struct Verification {
    certificate: Certificate,
    recount: serde_json::Value,
    not_shown: Vec<String>,
}

impl Verification {
    pub(super) fn of_release(folder: &Path, threads: usize) -> Result<Verification> {
        let (certificate, recounted) = verify_release(folder, threads)?;
        Ok(Verification { certificate, recount: recounted.to_json(), not_shown: Vec::new() })
    }

    pub(super) fn with_original(folder: &Path, source: &Source, policy: &policy::Policy) -> Result<Verification> {
        let (certificate, found) = verify_with_original(folder, source, policy)?;
        Ok(Verification { certificate, recount: found.recounted().to_json(), not_shown: found.not_shown().to_vec() })
    }

    /// The certificate, whose claim was recounted.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The guarantee in a sentence.
    pub fn guarantee(&self) -> &str {
        &self.certificate.guarantee.plain
    }

    /// What was counted from the released bytes, as the certificate shows it.
    pub fn recount(&self) -> &serde_json::Value {
        &self.recount
    }

    /// What the comparison with the original could not show, in sentences.
    pub fn not_shown(&self) -> &[String] {
        &self.not_shown
    }
}
