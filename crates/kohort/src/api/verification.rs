//! A release that was verified again.

use kohort_core::Result;
use kohort_core::policy::AnyPolicy;
use kohort_core::release::AnyCertificate;
use kohort_core::signature::{PublicKey, Signers};
use kohort_core::table::Source;
use kohort_core::verify::{AnyFindings, AnyRecounted, verify_release, verify_with_original};
use std::path::Path;

/// A published release whose guarantee was recounted. A release that does not keep it is an error of kind
/// [`Kind::Refused`](crate::Kind::Refused) instead.
#[derive(Debug, Clone)]
pub struct Verification {
    certificate: AnyCertificate,
    not_shown: Vec<String>,
    signer: Option<PublicKey>,
}

impl Verification {
    pub(super) fn of_release(folder: &Path, threads: usize) -> Result<Verification> {
        let found = verify_release(folder, threads)?;
        let signer = found.signer();
        let certificate = match found {
            AnyRecounted::Table(own) => AnyCertificate::Table(own.certificate),
            AnyRecounted::Codes(own) => AnyCertificate::Codes(own.certificate),
            AnyRecounted::Events(own) => AnyCertificate::Events(own.certificate),
        };
        Ok(Verification { certificate, not_shown: Vec::new(), signer })
    }

    pub(super) fn with_original(folder: &Path, source: &Source, policy: &AnyPolicy) -> Result<Verification> {
        let found = verify_with_original(folder, source, policy)?;
        let (not_shown, signer) = (found.not_shown().to_vec(), found.signer());
        let certificate = match found {
            AnyFindings::Table(own) => AnyCertificate::Table(own.certificate),
            AnyFindings::Codes(own) => AnyCertificate::Codes(own.certificate),
            AnyFindings::Events(own) => AnyCertificate::Events(own.certificate),
        };
        Ok(Verification { certificate, not_shown, signer })
    }

    /// Refuses a release that none of these keys signed.
    pub(super) fn signed_by(self, known: Option<&Signers>) -> Result<Verification> {
        known.map_or(Ok(""), |known| known.vouch(self.signer))?;
        Ok(self)
    }

    /// The key that signed the certificate; none if it is unsigned and nobody vouches for it.
    pub fn signer(&self) -> Option<PublicKey> {
        self.signer
    }

    /// The certificate. Its claim holds, and its numbers are those that were recounted.
    pub fn certificate(&self) -> &AnyCertificate {
        &self.certificate
    }

    /// The guarantee in a sentence.
    pub fn guarantee(&self) -> &str {
        &self.certificate.guarantee().plain
    }

    /// Returns the facts that the comparison with the original could not show, in sentences.
    pub fn not_shown(&self) -> &[String] {
        &self.not_shown
    }
}
