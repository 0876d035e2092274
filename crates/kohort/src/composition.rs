//! Compares a release with the earlier ones in the custodian's ledger, before it is published.

use crate::pipeline::Extras;
use crate::released_shape::ReleasedShape;
use kohort_core::ledger::{Composition, Ledger, LedgerRelease};
use kohort_core::policy::{LedgerRule, Policy};
use kohort_core::shape::Shape;
use kohort_core::table::Source;
use kohort_core::verify::Verified;
use kohort_core::{Error, Result};

/// Opens the ledger, if there is one. A policy that asks for the comparison is refused without it.
pub(crate) fn open_ledger<S: Shape>(extras: &Extras, policy: &Policy<S>) -> Result<Option<Ledger>> {
    match (&extras.ledger, policy.privacy.ledger) {
        (Some(path), _) => Ledger::open(path).map(Some),
        (None, LedgerRule::Tell) => Ok(None),
        (None, LedgerRule::Refuse) => Err(Error::yours(
            "the policy sets ledger = \"refuse\", so the release must be compared with earlier ones. Name the ledger \
             with --ledger FILE.",
        )),
    }
}

/// Counts what a verified release and the earlier ones reveal together. Refuses the release if the policy says
/// so. Returns the entry for the ledger, which is made once the release is published.
pub(crate) fn compare<S: ReleasedShape>(
    ledger: &Ledger,
    verified: &Verified<S>,
    source: &Source,
    policy: &Policy<S>,
) -> Result<(LedgerRelease, Composition)> {
    if source.has_engine() {
        return Err(Error::yours(format!(
            "{}: a ledger needs to know which person each released row is about, and the rows of an engine have no order.",
            source.name()
        )));
    }
    let mut entry = ledger.entry(verified, source, policy)?;
    entry.people = S::classes(ledger, verified, source, policy)?;
    let found = ledger.compose(&entry);
    let uncertain = found.exposed + found.too_many;
    if policy.privacy.ledger == LedgerRule::Refuse && (uncertain > 0 || found.not_compared > 0) {
        return Err(Error::infeasible(format!(
            "the policy sets ledger = \"refuse\". {} Release the same columns at the same levels, drop quasi-identifiers, or raise k.",
            found.sentences().join(" ")
        )));
    }
    entry.found = Some(found);
    Ok((entry, found))
}
