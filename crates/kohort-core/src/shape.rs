//! The three shapes of data behind one trait: a table, sets of codes, and patients with events.
//!
//! A policy and a certificate know their shape when they are read ([`crate::policy::AnyPolicy`],
//! [`crate::release::AnyCertificate`]). Everything behind these two doors is generic over the
//! shape, so that a plan for codes cannot meet the certificate of a table.

use crate::Result;
use crate::codes::{self, Records};
use crate::cohort::{self, Cohort};
use crate::events::{self, Histories};
use crate::number::K;
use crate::policy::{CodesPolicy, EventsPolicy, Policy, TablePolicy, is_table_name};
use crate::privacy::ShareAtRisk;
use crate::random::Randomness;
use crate::release::{
    self, Basis, Certificate, Claim, Clusters, CodesClaim, ColumnClaim, EventsClaim, EventsPlan, Guarantee, Plan,
    Promise, Staged, Staging, SyntheticClaim, TableClaim, TableFacts, TableShown,
};
use crate::table::Source;
use crate::verify::{
    self, Checked, CodesCompared, CodesRecount, Compared, EventsCompared, EventsRecount, Outside, Recount,
    ReleaseFolder,
};
use crate::visible::is_visible;
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
    /// Whether its data files have cells and a delimiter; lines of JSON have neither.
    const HAS_CELLS: bool;
    /// Whether a release may be a random sample of a larger one.
    const MAY_BE_SAMPLE: bool;
    /// Whether the labels of columns are checked against hierarchies that every Kohort knows.
    const CHECKS_LABELS: bool;
    /// The part of a policy that only this shape has.
    type Own: Debug + Clone;
    /// The data as a method sees it.
    type Input;
    /// What a method decides about it.
    type Plan;
    /// What a certificate claims.
    type Claim: Debug + Clone + PartialEq + Serialize + DeserializeOwned;
    /// What the verifier counts from the released bytes.
    type Recount: Debug + Clone + PartialEq;
    /// The recount as a certificate shows it.
    type Shown: Debug + Clone + PartialEq + Default + Serialize + DeserializeOwned;
    /// What the verifier finds when it compares a release with the original.
    type Compared: Debug + Clone;

    /// The names that the data files of a release may have, and how many of them it has.
    fn data_files(claim: &Self::Claim) -> (Vec<String>, usize);

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

/// A table: each row belongs to a person, or is one of several rows of a patient.
#[derive(Debug, Clone, PartialEq)]
pub struct Table;

/// A set of codes for each patient.
#[derive(Debug, Clone, PartialEq)]
pub struct Codes;

/// Patients and their events, in linked tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Events;

impl Shape for Table {
    const NAME: &'static str = "table";
    const BESIDE: &'static [&'static str] = &[release::HIERARCHY_FILE];
    const HAS_CELLS: bool = true;
    const MAY_BE_SAMPLE: bool = true;
    const CHECKS_LABELS: bool = false;
    type Own = TablePolicy;
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
        release::data_dictionary(policy, cohort, plan, &staged.written.file, source.delimiter())
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

impl Shape for Codes {
    const NAME: &'static str = "codes";
    const HAS_CELLS: bool = false;
    const MAY_BE_SAMPLE: bool = false;
    const CHECKS_LABELS: bool = false;
    type Own = CodesPolicy;
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
        let claimed = (policy.privacy.k.get(), policy.privacy.known_codes());
        release::write_codes(records, clusters, claimed, staging, random)
    }

    fn dictionary(_: &Source, policy: &Policy<Codes>, _: (&Records, &Clusters), staged: &Staged<Codes>) -> String {
        release::codes_dictionary(&staged.written.file, (policy.privacy.k.get(), policy.privacy.known_codes()))
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
        release::guarantee_of_codes(&certificate.promise.claim)
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
        release::basis_of_codes(&promise.claim, promise.patients)
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
        let limited = certificate.promise.claim.confidence.is_some();
        let counted = compared.is_some_and(|own| own.highest_share.is_some());
        (limited && !counted)
            .then(|| "the share of a cluster's patients who have a sensitive code".to_string())
            .into_iter()
            .collect()
    }

    fn compared_in_words(_: &Certificate<Codes>, compared: &CodesCompared) -> String {
        format!(
            "The original has {} patients, {} of them with codes; at least {} patients could have each of the {} combinations of codes tried.",
            compared.patients, compared.matched, compared.fewest_candidates, compared.combinations
        )
    }
}

impl Shape for Events {
    const NAME: &'static str = "events";
    const HAS_CELLS: bool = true;
    const MAY_BE_SAMPLE: bool = false;
    const CHECKS_LABELS: bool = true;
    type Own = EventsPolicy;
    type Input = Histories;
    type Plan = EventsPlan;
    type Claim = EventsClaim;
    type Recount = EventsRecount;
    type Shown = EventsRecount;
    type Compared = EventsCompared;

    fn data_files(claim: &EventsClaim) -> (Vec<String>, usize) {
        let files: Vec<String> = claim.tables.iter().map(|(name, _)| release::table_file(name)).collect();
        let number = files.len();
        (files, number)
    }

    fn survey(source: &Source, policy: &Policy<Events>) -> Result<Histories> {
        events::survey(source, policy)
    }

    fn promise(policy: &Policy<Events>) -> Result<Promise<Events>> {
        Ok(Promise::of_events(policy))
    }

    fn write(
        source: &Source,
        _: &Policy<Events>,
        (histories, plan): (&Histories, &EventsPlan),
        staging: Staging,
        random: &mut Randomness,
    ) -> Result<Staged<Events>> {
        release::write_events(histories, plan, source.delimiter(), staging, random)
    }

    fn dictionary(
        _: &Source,
        policy: &Policy<Events>,
        (histories, plan): (&Histories, &EventsPlan),
        _: &Staged<Events>,
    ) -> String {
        release::events_dictionary(policy, histories, plan)
    }

    fn recount(
        release: &ReleaseFolder,
        certificate: &Certificate<Events>,
        threads: usize,
    ) -> Result<(EventsRecount, Vec<Outside>)> {
        verify::recount_events(release, certificate, threads)
    }

    fn compare(
        release: &ReleaseFolder,
        certificate: &Certificate<Events>,
        source: &Source,
        policy: &Policy<Events>,
        lines: Option<&Path>,
    ) -> Result<Checked<Events>> {
        verify::compare_events(release, certificate, source, policy, lines)
    }

    fn shown(recount: &EventsRecount) -> EventsRecount {
        recount.clone()
    }

    fn guarantee(certificate: &Certificate<Events>) -> Guarantee {
        release::guarantee_of_events(&certificate.promise.claim, &certificate.recount.found)
    }

    fn k(claim: &EventsClaim) -> K {
        claim.k
    }

    fn tables(claim: &EventsClaim, columns: &[ColumnClaim]) -> Option<Vec<TableClaim>> {
        let tables = claim.columns_of(columns).into_iter();
        Some(tables.map(|(name, own)| TableClaim { name: name.into(), columns: own.to_vec() }).collect())
    }

    fn set_tables(
        claim: &mut EventsClaim,
        tables: Vec<TableClaim>,
    ) -> std::result::Result<Vec<ColumnClaim>, &'static str> {
        let mut names: Vec<String> = tables.iter().map(|own| own.name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        names.dedup();
        let (patients, events) = tables.split_first().ok_or("`tables` is empty")?;
        if patients.name != release::PATIENTS_TABLE
            || events.is_empty()
            || names.len() < tables.len()
            || !events.iter().all(|own| is_table_name(&own.name))
        {
            return Err("`tables` does not list the patients and then tables of events, each once");
        }
        claim.tables = tables.iter().map(|own| (own.name.clone(), own.columns.len())).collect();
        Ok(tables.into_iter().flat_map(|own| own.columns).collect())
    }

    fn makes_sense(_: &EventsClaim, shown: &EventsRecount) -> std::result::Result<(), &'static str> {
        let found = &shown.found;
        match [found.at_high_risk, found.one_event_known, found.events_known].iter().all(ShareAtRisk::makes_sense) {
            true => Ok(()),
            false => Err("`recount.found` is damaged"),
        }
    }

    fn basis(promise: &Promise<Events>, _: bool) -> Basis {
        release::basis_of_events(&promise.claim, &promise.columns)
    }

    fn added(_: &EventsCompared) -> u64 {
        0
    }

    fn matched(compared: &EventsCompared) -> u64 {
        compared.matched
    }

    fn not_shown(compared: &EventsCompared) -> &[String] {
        &compared.not_shown
    }

    fn compared_in_words(_: &Certificate<Events>, compared: &EventsCompared) -> String {
        format!(
            "The original has {} patients with {} events after exclusions; {} released patients were found in it, and every cell is the original or its ancestor.",
            compared.patients, compared.events, compared.matched
        )
    }
}
