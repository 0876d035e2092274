//! Patients with events, from the policy to the certificate.

use super::Shape;
use crate::Result;
use crate::events::{self, Histories};
use crate::number::K;
use crate::policy::{EventsPolicy, Policy, Role, is_table_name};
use crate::privacy::ShareAtRisk;
use crate::random::Randomness;
use crate::release::{
    self, Basis, Certificate, ColumnClaim, EventsClaim, EventsPlan, Guarantee, Promise, Staged, Staging, TableClaim,
};
use crate::table::Source;
use crate::verify::{self, Checked, EventsCompared, EventsRecount, Outside, ReleaseFolder};
use std::path::Path;

/// Patients and their events, in linked tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Events;

impl Shape for Events {
    const NAME: &'static str = "events";
    const HAS_CELLS: bool = true;
    const MAY_BE_SAMPLE: bool = false;
    const ALWAYS_PATIENTS: bool = true;
    const CHECKS_LABELS: bool = true;
    type PolicyPart = EventsPolicy;
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

    fn patient_name<'a>(policy: &'a Policy<Events>, table: &str) -> Option<&'a str> {
        let own = policy.own.tables.iter().find(|own| own.name == table);
        let columns = own.map_or(&policy.own.patients, |own| &own.columns);
        columns.iter().find(|column| column.role == Role::Patient).map(|column| column.name.as_str())
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
        let shares = [found.at_high_risk, found.one_event_known, found.events_known];
        match shares.iter().chain(&found.pairs_known).all(ShareAtRisk::makes_sense) {
            true => Ok(()),
            false => Err("`recount.found` is damaged"),
        }
    }

    fn basis(promise: &Promise<Events>, _: bool) -> Basis {
        let accepted = release::accepted_of_events(&promise.assumed, &promise.claim, &promise.columns);
        release::basis_of_events(&promise.claim, &promise.columns, &accepted)
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

    fn not_counted(_: &Certificate<Events>, compared: Option<&EventsCompared>) -> Vec<String> {
        match compared {
            Some(_) => Vec::new(),
            None => {
                vec!["that every record of patients.csv is a different patient: records were counted instead".into()]
            }
        }
    }

    fn compared_in_words(_: &Certificate<Events>, compared: &EventsCompared) -> String {
        format!(
            "The original has {} patients with {} events after exclusions; {} released patients were found in it, and every cell is the original or its ancestor.",
            compared.patients, compared.events, compared.matched
        )
    }
}
