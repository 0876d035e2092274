//! The result of verifying a published release: verified, verified in part, or refused.

use kohort_core::error::Kind;
use kohort_core::policy::AnyPolicy;
use kohort_core::release::AnyCertificate;
use kohort_core::signature::Signers;
use kohort_core::table::Source;
use kohort_core::verify::{
    AnyFindings, AnyRecounted, Depth, Outcome, Outside, Signer, Verdict, verify_release, verify_with_original,
};
use kohort_core::{Error, Result};
use serde_json::{Value, json};
use std::path::Path;

/// The three results of a verification. Errors are about something else: a folder that is not a release, a
/// file that cannot be read.
#[derive(Debug, Clone)]
#[must_use = "a release may have been refused"]
pub enum Verification {
    /// Everything that the certificate claims was counted, and holds.
    Verified(Examined),
    /// Holds what was counted holds. But k or a limit on sensitive values is only stated by the custodian
    /// ([`Examined::not_counted`]), or a released column outside every requirement is nearly unique
    /// ([`Examined::outside`]).
    Partly(Examined),
    /// The release does not keep what it claims, or holds something that nobody verified.
    Refused(Refusal),
}

/// A release that was not refused, and what was found about it.
#[derive(Debug, Clone)]
pub struct Examined {
    certificate: AnyCertificate,
    verdict: Verdict,
}

/// A release that was refused.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The reason, in a sentence. It holds no value of the data.
    pub reason: String,
}

impl Verification {
    pub(super) fn of_release(folder: &Path, threads: usize) -> Result<Verification> {
        let examined = verify_release(folder, threads).map(|found| match found {
            AnyRecounted::Table(own) => Examined::new(AnyCertificate::Table(own.certificate), own.verdict),
            AnyRecounted::Codes(own) => Examined::new(AnyCertificate::Codes(own.certificate), own.verdict),
            AnyRecounted::Events(own) => Examined::new(AnyCertificate::Events(own.certificate), own.verdict),
        });
        Verification::of(examined)
    }

    pub(super) fn with_original(folder: &Path, source: &Source, policy: &AnyPolicy) -> Result<Verification> {
        let examined = verify_with_original(folder, source, policy).map(|found| match found {
            AnyFindings::Table(own) => Examined::new(AnyCertificate::Table(own.certificate), own.verdict),
            AnyFindings::Codes(own) => Examined::new(AnyCertificate::Codes(own.certificate), own.verdict),
            AnyFindings::Events(own) => Examined::new(AnyCertificate::Events(own.certificate), own.verdict),
        });
        Verification::of(examined)
    }

    /// Refuses a release that none of these keys signed.
    pub(super) fn signed_by(self, known: Option<&Signers>) -> Verification {
        let Some(known) = known else { return self };
        match self {
            Verification::Verified(own) => {
                own.signed_by(known).map_or_else(Verification::Refused, Verification::Verified)
            }
            Verification::Partly(own) => own.signed_by(known).map_or_else(Verification::Refused, Verification::Partly),
            Verification::Refused(refusal) => Verification::Refused(refusal),
        }
    }

    fn of(examined: Result<Examined>) -> Result<Verification> {
        match examined {
            Ok(own) if own.verdict.outcome() == Outcome::Verified => Ok(Verification::Verified(own)),
            Ok(own) => Ok(Verification::Partly(own)),
            Err(error) if error.kind == Kind::Refused => Ok(Verification::Refused(Refusal { reason: error.message })),
            Err(error) => Err(error),
        }
    }

    /// Refuses what was verified only in part, and whatever is stated without a valid signature by a known key.
    pub fn strict(self) -> Verification {
        match self {
            Verification::Verified(own) | Verification::Partly(own) => match own.verdict.strict() {
                Ok(()) => Verification::Verified(own),
                Err(error) => Verification::Refused(Refusal { reason: error.message }),
            },
            refused => refused,
        }
    }

    /// Returns the result alone.
    pub fn outcome(&self) -> Outcome {
        match self {
            Verification::Verified(_) => Outcome::Verified,
            Verification::Partly(_) => Outcome::Partly,
            Verification::Refused(_) => Outcome::Refused,
        }
    }

    /// Returns the findings, whether all of the claim was counted or not. A refusal is an error of kind
    /// [`Kind::Refused`](crate::Kind::Refused).
    pub fn examined(self) -> Result<Examined> {
        match self {
            Verification::Verified(own) | Verification::Partly(own) => Ok(own),
            Verification::Refused(refusal) => Err(Error::refused(refusal.reason)),
        }
    }

    /// Writes the result as JSON, indented: `result`, `depth`, and the two parts `counted` and `attested`.
    pub fn to_json(&self) -> String {
        let value = match self {
            Verification::Verified(own) | Verification::Partly(own) => own.to_value(self.outcome()),
            Verification::Refused(refusal) => json!({ "result": self.outcome().name(), "reason": refusal.reason }),
        };
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }
}

impl Examined {
    fn signed_by(mut self, known: &Signers) -> std::result::Result<Examined, Refusal> {
        let named = self.verdict.signer.known_by(known).map_err(|error| Refusal { reason: error.message })?;
        self.verdict.signer = named;
        Ok(self)
    }

    fn new(certificate: AnyCertificate, verdict: Verdict) -> Examined {
        Examined { certificate, verdict }
    }

    /// Returns the certificate. The numbers of its counted part are those that were recounted.
    pub fn certificate(&self) -> &AnyCertificate {
        &self.certificate
    }

    /// Returns what the verifier had before it: the release alone, or also the original.
    pub fn depth(&self) -> Depth {
        self.verdict.depth
    }

    /// Returns the guarantee as far as it was counted, in sentences.
    pub fn counted(&self) -> &str {
        &self.verdict.counted
    }

    /// Returns the parts of the claim that were not counted: k, or a limit on sensitive values.
    pub fn not_counted(&self) -> &[String] {
        &self.verdict.not_counted
    }

    /// Returns what the custodian states and nobody can check, in sentences.
    pub fn stated(&self) -> &[String] {
        &self.verdict.stated
    }

    /// Returns who vouches for what is stated.
    pub fn signer(&self) -> &Signer {
        &self.verdict.signer
    }

    /// Returns the released columns that are not quasi-identifiers, and how many of their values occur once.
    pub fn outside(&self) -> &[Outside] {
        &self.verdict.outside
    }

    /// Says in a sentence what was found in the original.
    pub fn compared(&self) -> Option<&str> {
        self.verdict.compared.as_deref()
    }

    /// Returns the facts beside the claim that the comparison with the original could not show, in sentences.
    pub fn not_shown(&self) -> &[String] {
        &self.verdict.not_shown
    }

    /// Returns the names of files and folders beside release/, which nobody verified.
    pub fn beside(&self) -> &[String] {
        &self.verdict.beside
    }

    /// Returns the columns with cells that a spreadsheet would take for formulas.
    pub fn formulas(&self) -> &[String] {
        &self.verdict.formulas
    }

    fn to_value(&self, outcome: Outcome) -> Value {
        let verdict = &self.verdict;
        let mut certificate: Value = serde_json::from_str(&self.certificate.to_text()).unwrap_or_default();
        let (mut counted, mut attested) = (certificate["counted"].take(), certificate["attested"].take());
        // The sentence of the certificate is about the release alone; with the original more may be counted.
        counted["guarantee"] = json!(verdict.counted);
        if let Some(compared) = &verdict.compared {
            counted["original"] = json!(compared);
        }
        let outside = verdict.outside.iter().map(|own| {
            json!({
                "column": own.column, "limited": own.limited, "values": own.cells, "unique": own.unique,
                "nearly_unique": own.is_nearly_unique(),
                "alike": own.alike,
            })
        });
        counted["outside"] = outside.collect();
        attested["sentences"] = json!(verdict.stated);
        attested["signer"] = match &verdict.signer {
            Signer::Unsigned => json!({ "signed": false }),
            Signer::Unknown(key) => json!({ "signed": true, "known": false, "key": key.fingerprint() }),
            Signer::Known { key, name } => {
                json!({ "signed": true, "known": true, "key": key.fingerprint(), "name": name })
            }
        };
        json!({
            "result": outcome.name(),
            "depth": verdict.depth.name(),
            "counted": counted,
            "attested": attested,
            "not_counted": verdict.not_counted,
            "not_shown": verdict.not_shown,
            "not_part_of_the_release": verdict.beside,
        })
    }
}
