//! The result of a verification: what was counted, what is only stated, and what follows.

use super::outside::Outside;
use crate::release::{Certificate, HIERARCHY_FILE};
use crate::shape::Shape;
use crate::signature::{PublicKey, Signers};
use crate::{Error, Result};

const WORDS_ABOUT_COLUMNS: &str = "dictionary.md was compared with what Kohort writes, but for its words about the quasi-identifiers and about cleaning: these are the custodian's.";
const GROUPS_OF_LABELS: &str = "hierarchy.csv lists the released labels and no others, and its groups contain each other; which groups a label belongs to is the custodian's word.";

/// The three results of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that is claimed was counted.
    Verified,
    /// Everything that was counted holds, but k or a limit on sensitive values could not be counted from what is
    /// here; or a column outside every requirement is nearly unique, values that look alike were counted as different
    /// ones, or a data file may hold more than its cells.
    Partly,
    /// The release does not keep what it claims.
    Refused,
}

impl Outcome {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Verified => "verified",
            Outcome::Partly => "partly",
            Outcome::Refused => "refused",
        }
    }

    /// The exit code of `kohort verify`.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Verified => 0,
            Outcome::Partly => 5,
            Outcome::Refused => 1,
        }
    }
}

/// The files that the verifier had before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The release alone, as its recipient has it.
    Release,
    /// The release and the original data.
    Original,
}

impl Depth {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Depth::Release => "release",
            Depth::Original => "original",
        }
    }

    /// The words for it in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Depth::Release => "from the release alone",
            Depth::Original => "with the original",
        }
    }
}

/// The one who vouches for what only the custodian can know. A signature that does not fit its certificate is a
/// refusal, and none of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signer {
    /// There is no signature.
    Unsigned,
    /// The signature is valid, but nobody said whose key it is.
    Unknown(PublicKey),
    /// The signature is valid, by a key that the verifier was given.
    Known {
        /// The key.
        key: PublicKey,
        /// The name under which the key was given.
        name: String,
    },
}

impl Signer {
    pub(super) fn of(key: Option<PublicKey>) -> Signer {
        key.map_or(Signer::Unsigned, Signer::Unknown)
    }

    /// Returns the key that signed, if there is a signature.
    pub fn key(&self) -> Option<PublicKey> {
        match self {
            Signer::Unsigned => None,
            Signer::Unknown(key) | Signer::Known { key, .. } => Some(*key),
        }
    }

    /// Names the signer. Refuses a release that is unsigned, or signed with a key that is not among these.
    pub fn known_by(&self, signers: &Signers) -> Result<Signer> {
        let name = signers.vouch(self.key())?.to_string();
        Ok(self.key().map_or(Signer::Unsigned, |key| Signer::Known { key, name }))
    }

    /// Says in words who vouches.
    pub fn words(&self) -> String {
        match self {
            Signer::Unsigned => "unsigned: nobody vouches for this".into(),
            Signer::Unknown(key) => format!("signed with the key {}, which is not known here", key.fingerprint()),
            Signer::Known { key, name } => format!("signed by {name}, key {}", key.fingerprint()),
        }
    }
}

/// The findings about a release that was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The files that the verifier had before it.
    pub depth: Depth,
    /// The guarantee as far as it was counted, in sentences.
    pub counted: String,
    /// The findings in the original, in a sentence.
    pub compared: Option<String>,
    /// Parts of the claim that were not counted: k, or a limit on sensitive values.
    pub not_counted: Vec<String>,
    /// Facts beside the claim that the comparison with the original could not show.
    pub not_shown: Vec<String>,
    /// Released columns that are not quasi-identifiers.
    pub outside: Vec<Outside>,
    /// Names of files and folders beside release/, which nobody verified.
    pub beside: Vec<String>,
    /// Columns with cells that a spreadsheet would take for formulas.
    pub formulas: Vec<String>,
    /// Statements of the custodian that nobody can check, in sentences.
    pub stated: Vec<String>,
    /// The one who vouches for these statements.
    pub signer: Signer,
}

impl Verdict {
    pub(super) fn of<S: Shape>(
        certificate: &Certificate<S>,
        recount: &S::Recount,
        outside: Vec<Outside>,
        compared: Option<&S::Compared>,
    ) -> Verdict {
        let not_counted = S::not_counted(certificate, compared);
        let guarantee = &certificate.guarantee;
        let counted = if not_counted.is_empty() { &guarantee.plain } else { &guarantee.counted };
        Verdict {
            depth: if compared.is_some() { Depth::Original } else { Depth::Release },
            counted: counted.clone(),
            compared: compared.map(|own| S::compared_in_words(certificate, own)),
            stated: stated(certificate, not_counted.is_empty(), compared.is_some()),
            not_counted,
            not_shown: compared.map_or(Vec::new(), |own| S::not_shown(own).to_vec()),
            outside,
            beside: Vec::new(),
            formulas: S::formulas(recount).to_vec(),
            signer: Signer::Unsigned,
        }
    }

    /// Returns verified or partly: a release that is refused has no verdict.
    pub fn outcome(&self) -> Outcome {
        let is_open = |own: &Outside| own.is_nearly_unique() || own.alike > 0;
        match self.not_counted.is_empty() && !self.outside.iter().any(is_open) {
            true => Outcome::Verified,
            false => Outcome::Partly,
        }
    }

    /// Refuses what was verified only partly, and statements that nobody known vouches for.
    pub fn strict(&self) -> Result<()> {
        if let Some(first) = self.not_counted.first() {
            return Err(Error::refused(format!("not counted here: {first}.")));
        }
        if let Some(own) = self.outside.iter().find(|own| own.is_nearly_unique()) {
            return Err(Error::refused(format!(
                "column `{}` is outside every requirement, and {} of its {} values occur once.",
                own.column, own.unique, own.cells
            )));
        }
        if let Some(own) = self.outside.iter().find(|own| own.alike > 0) {
            return Err(Error::refused(format!(
                "column `{}`: {} of its values look like another one, and were counted as different values.",
                own.column, own.alike
            )));
        }
        match &self.signer {
            Signer::Known { .. } => Ok(()),
            other => Err(Error::refused(format!("what the custodian states is {}.", other.words()))),
        }
    }
}

/// Returns what only the custodian can know, in sentences. `original`: the original is there.
fn stated<S: Shape>(certificate: &Certificate<S>, all_counted: bool, original: bool) -> Vec<String> {
    let promise = &certificate.promise;
    let mut all = vec![format!("The method is \"{}\".", certificate.method)];
    if certificate.test {
        all.push("Randomness came from a fixed seed: this is a test, not a release.".into());
    }
    all.push(match certificate.sample {
        Some(share) => format!("This is a random sample of a larger file (share {share})."),
        None => "This is not a sample of a larger file.".into(),
    });
    all.push(match S::synthetic(&promise.claim) {
        Some(own) => format!(
            "Some records are synthetic. Each group of records that look the same holds at least {} real.",
            own.real_k
        ),
        None => "No record is synthetic.".into(),
    });
    all.push(if promise.patients { "The unit is the patient." } else { "The unit is the row." }.into());
    all.extend(promise.cleaning.iter().cloned());
    if !all_counted {
        all.push(certificate.guarantee.plain.clone());
    }
    all.push(certificate.guarantee.aware.clone());
    let groups = certificate.files.iter().any(|file| file.name == HIERARCHY_FILE);
    if S::HAS_CELLS && !original {
        all.push(WORDS_ABOUT_COLUMNS.into());
    }
    if groups && !original {
        all.push(GROUPS_OF_LABELS.into());
    }
    all.extend(promise.assumed.iter().map(|own| format!("Assumed: {own}")));
    all
}
