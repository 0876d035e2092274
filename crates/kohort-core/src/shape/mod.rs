//! The three shapes of data behind one trait: a table, sets of codes, and patients with events.
//!
//! A policy and a certificate know their shape when they are read ([`crate::policy::AnyPolicy`],
//! [`crate::release::AnyCertificate`]). Everything behind these two doors is generic over the
//! shape, so that a plan for codes cannot meet the certificate of a table.

mod codes;
mod events;
mod table;

pub use codes::Codes;
pub use events::Events;
pub use table::Table;

use crate::Result;
use crate::number::K;
use crate::policy::Policy;
use crate::random::Randomness;
use crate::release::{
    Basis, Certificate, ColumnClaim, Guarantee, Promise, Staged, Staging, SyntheticClaim, TableClaim,
};
use crate::table::Source;
use crate::verify::{Checked, Outside, ReleaseFolder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::Path;

/// A shape of data, from the input to the certificate.
pub trait Shape: Sized + Debug + Clone + PartialEq + 'static {
    /// The word for it in certificates and reports.
    const NAME: &'static str;
    /// The names that files which explain the data may have, beside the dictionary and a catalog.
    const BESIDE: &'static [&'static str] = &[];
    /// True if its data files have cells and a delimiter; lines of JSON have neither.
    const HAS_CELLS: bool;
    /// True if a release may be a random sample of a larger one.
    const MAY_BE_SAMPLE: bool;
    /// True if its people are always patients; otherwise they are rows where there is no patient column.
    const ALWAYS_PATIENTS: bool = false;
    /// True if the labels of columns are checked against hierarchies that every Kohort knows.
    const CHECKS_LABELS: bool;
    /// The part of a policy that only this shape has.
    type PolicyPart: Debug + Clone;
    /// The data as a method sees it.
    type Input;
    /// The decisions of a method about it.
    type Plan;
    /// The claim of a certificate.
    type Claim: Debug + Clone + PartialEq + Serialize + DeserializeOwned;
    /// The verifier's counts from the released bytes.
    type Recount: Debug + Clone + PartialEq;
    /// The recount as a certificate shows it.
    type Shown: Debug + Clone + PartialEq + Default + Serialize + DeserializeOwned;
    /// The verifier's result when it compares a release with the original.
    type Compared: Debug + Clone;

    /// The names that the data files of a release may have, and how many of them it has.
    fn data_files(claim: &Self::Claim) -> (Vec<String>, usize);

    /// The name that the column of the patient has in a table of the input, where a release gives patients new numbers.
    fn patient_name<'a>(_policy: &'a Policy<Self>, _table: &str) -> Option<&'a str> {
        None
    }

    /// Reads and counts the data.
    fn survey(source: &Source, policy: &Policy<Self>) -> Result<Self::Input>;

    /// Derives the promise from the policy, as far as it does not depend on released values.
    fn promise(policy: &Policy<Self>) -> Result<Promise<Self>>;

    /// Writes the data files of a release into a staging folder.
    fn write(
        source: &Source,
        policy: &Policy<Self>,
        data: (&Self::Input, &Self::Plan),
        staging: Staging,
        random: &mut Randomness,
    ) -> Result<Staged<Self>>;

    /// Describes every released column for the recipient.
    fn dictionary(
        source: &Source,
        policy: &Policy<Self>,
        data: (&Self::Input, &Self::Plan),
        staged: &Staged<Self>,
    ) -> String;

    /// Counts a release from its bytes alone, by what its certificate claims.
    fn recount(
        release: &ReleaseFolder,
        certificate: &Certificate<Self>,
        threads: usize,
    ) -> Result<(Self::Recount, Vec<Outside>)>;

    /// Counts a release from its bytes and compares it with the original. `lines` is the file that says
    /// which released row is which input line, where it was kept.
    fn compare(
        release: &ReleaseFolder,
        certificate: &Certificate<Self>,
        source: &Source,
        policy: &Policy<Self>,
        lines: Option<&Path>,
    ) -> Result<Checked<Self>>;

    /// The recount as a certificate shows it.
    fn shown(recount: &Self::Recount) -> Self::Shown;

    /// The guarantee in plain sentences, from the promise and from what was counted.
    fn guarantee(certificate: &Certificate<Self>) -> Guarantee;

    /// Returns the promise without what depends on the release: the order and tree of sensitive values, and
    /// whether labels overlap.
    fn without_values(promise: &Promise<Self>) -> Promise<Self> {
        promise.clone()
    }

    /// Completes a promise by what the comparison with the original found. It never becomes stronger by that
    /// than what was counted.
    fn complete(_: &mut Promise<Self>, _: &Self::Compared) {}

    /// k of a claim.
    fn k(claim: &Self::Claim) -> K;

    /// The only sentences that a certificate may have under `assumed` and `not_recountable`.
    fn basis(promise: &Promise<Self>, sample: bool) -> Basis;

    /// Returns what is claimed where some records are synthetic.
    fn synthetic(_: &Self::Claim) -> Option<&SyntheticClaim> {
        None
    }

    /// Adds what is claimed where some records are synthetic, if this shape has such records.
    fn set_synthetic(_: &mut Self::Claim, _: SyntheticClaim) -> std::result::Result<(), &'static str> {
        Err("only a table can have synthetic records")
    }

    /// Returns the tables of a release, if this shape may have several, with their columns.
    fn tables(_: &Self::Claim, _: &[ColumnClaim]) -> Option<Vec<TableClaim>> {
        None
    }

    /// Adds the tables of a release to its claim, and returns the columns of all of them.
    fn set_tables(_: &mut Self::Claim, _: Vec<TableClaim>) -> std::result::Result<Vec<ColumnClaim>, &'static str> {
        Err("only a release of events has `tables`")
    }

    /// Says what makes no sense in a claim or a recount that a stranger wrote.
    fn makes_sense(claim: &Self::Claim, shown: &Self::Shown) -> std::result::Result<(), &'static str>;

    /// Returns whether the release has a catalog of its synthetic records.
    fn has_catalog(claim: &Self::Claim) -> bool {
        Self::synthetic(claim).is_some_and(|own| own.catalog.is_some())
    }

    /// Rows of the release that match no original row, as far as the comparison shows.
    fn added(compared: &Self::Compared) -> u64;

    /// Rows or patients of the release that were found in the original.
    fn matched(compared: &Self::Compared) -> u64;

    /// Returns the facts that the comparison could not show.
    fn not_shown(compared: &Self::Compared) -> &[String];

    /// Parts of the claim (k, or a limit on sensitive values) that could not be counted: from the release
    /// alone, or with the original.
    fn not_counted(_: &Certificate<Self>, _: Option<&Self::Compared>) -> Vec<String> {
        Vec::new()
    }

    /// Says in a sentence what the comparison with the original found.
    fn compared_in_words(certificate: &Certificate<Self>, compared: &Self::Compared) -> String;

    /// Columns with cells that a spreadsheet would take for formulas.
    fn formulas(_: &Self::Recount) -> &[String] {
        &[]
    }
}
