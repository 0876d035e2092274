//! Recounts a release of events from its bytes: ids, columns, patient-level classes, and of how many
//! patients fewer than k match what an attacker knows of their events.

mod finder;
mod original;
mod read;
mod total;

pub use original::EventsCompared;
use original::{as_multisets, row_by_row};
use read::Tables;

use super::{Checked, Outside, ReleaseFolder};
use crate::policy::{Policy, Power, PowerRule};
use crate::random::Randomness;
use crate::release::{Certificate, EventsClaim};
use crate::shape::Events;
use crate::statistics::{Z95, wilson};
use crate::table::Source;
use crate::{Error, Result};
use finder::{Finder, PatientLabels, powers};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Draws of every estimate.
const DRAWS: u64 = 20_000;

/// The counts of a release of events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsRecount {
    /// Patients.
    pub patients: u64,
    /// Events.
    pub events: u64,
    /// Patient-level classes.
    pub classes: u64,
    /// Patients in the smallest of them.
    pub smallest_class: u64,
    /// Patients without events.
    pub without_events: u64,
    /// Those of them whose class is below k.
    pub without_events_at_risk: u64,
    /// The result for those with events.
    pub found: EventsFound,
}

/// The result for patients with events: hits, and the number of draws or patients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsFound {
    /// Fewer than k match, of draws; or patients with facts that fewer than k have, of all.
    #[serde(rename = "at_high_risk")]
    pub hits: (u64, u64),
    /// The same where one whole event is known.
    #[serde(rename = "one_event_known")]
    pub one_event: (u64, u64),
    /// The same where as many whole events are known as values.
    #[serde(rename = "events_known")]
    pub p_events: (u64, u64),
}

impl EventsFound {
    /// The least share that chance allows for, with 95 % confidence.
    pub fn low(&self) -> f64 {
        wilson(self.hits, Z95).0
    }
}

/// A release of events that was read and recounted.
struct RecountedEvents {
    recount: EventsRecount,
    tables: Tables,
    /// The randomness of every estimate from these files.
    draws: Randomness,
}

/// Counts patients and their events from the bytes alone.
pub(crate) fn recount_events(
    release: &ReleaseFolder,
    certificate: &Certificate<Events>,
    threads: usize,
) -> Result<(EventsRecount, Vec<Outside>)> {
    let read = recount(release, certificate, threads)?;
    let outside = read.tables.outside();
    Ok((read.recount, outside))
}

/// Counts patients and their events, and compares them with the original.
pub(crate) fn compare_events(
    release: &ReleaseFolder,
    certificate: &Certificate<Events>,
    source: &Source,
    policy: &Policy<Events>,
    lines: Option<&Path>,
) -> Result<Checked<Events>> {
    let claim = &certificate.promise.claim;
    let read = recount(release, certificate, source.threads())?;
    let (recount, outside) = (read.recount.clone(), read.tables.outside());
    let compared = match lines {
        Some(lines) => row_by_row(read, claim, source, policy, lines)?,
        None => as_multisets(read, source, policy)?,
    };
    Ok(Checked { claim: claim.clone(), recount, compared, outside })
}

/// Reads and recounts release/patients.csv and the tables of events.
fn recount(release: &ReleaseFolder, certificate: &Certificate<Events>, threads: usize) -> Result<RecountedEvents> {
    let claim = &certificate.promise.claim;
    let tables = read::read(release, certificate, threads)?;
    let draws = draws_of(release, certificate)?;
    let k = claim.k.get();
    let class_of = tables.classes();
    let classes = class_of.iter().max().map_or(0, |c| *c as usize + 1);
    let mut sizes = vec![0u64; classes];
    class_of.iter().for_each(|&c| sizes[c as usize] += 1);
    let without: Vec<usize> = (0..tables.patients()).filter(|&p| !tables.has_events(p)).collect();
    let at_risk = without.iter().filter(|&&p| sizes[class_of[p] as usize] < k).count() as u64;
    if !claim.max_high_risk.allows(at_risk, without.len() as u64) {
        return Err(Error::refused(format!(
            "of {} patients without events, {at_risk} look the same as fewer than {k} patients; the certificate \
             claims at most the share {}.",
            without.len(),
            claim.max_high_risk
        )));
    }
    let columns: Vec<PatientLabels> = tables.event_labels();
    let finder = Finder::new(&columns, &class_of);
    let whole = tables.whole_events();
    let whole = Finder::new(&whole, &class_of);
    let with = tables.with_events();
    let people = with.len() as u64;
    let mut found = EventsFound {
        one_event: estimate(&whole, &with, &fixed(&whole, 1), k, &draws),
        p_events: estimate(&whole, &with, &fixed(&whole, claim.power.p()), k, &draws),
        ..EventsFound::default()
    };
    match claim.power {
        Power::Total { p } => {
            let violating = total::violating(&columns, &class_of, (k, p))
                .ok_or_else(|| Error::refused("a patient has more sets of facts than can be counted."))?;
            if !claim.max_high_risk.allows(violating, people) {
                return Err(Error::refused(format!(
                    "of {people} patients, {violating} have up to {p} facts that fewer than {k} patients have; the \
                     certificate claims at most the share {}.",
                    claim.max_high_risk
                )));
            }
            found.hits = (violating, people);
        }
        Power::Events { .. } => found.hits = found.p_events,
        Power::Pairs { p } => {
            // The two columns that reveal most decide.
            for (table, columns) in tables.pairs() {
                let labels = [tables.labels_of(table, &columns)];
                let pair = Finder::new(&labels, &class_of);
                found.hits = found.hits.max(estimate(&pair, &with, &fixed(&pair, p), k, &draws));
            }
        }
        Power::Values { p, rule } => {
            let power: Vec<Vec<u8>> = columns.iter().map(|c| powers(c, p, rule)).collect();
            found.hits = estimate(&finder, &with, &power, k, &draws);
        }
    }
    if !matches!(claim.power, Power::Total { .. }) && found.low() > claim.max_high_risk.to_f64() {
        return Err(too_many(claim, found.hits, "events"));
    }
    let recount = EventsRecount {
        patients: tables.patients() as u64,
        events: tables.number_of_events() as u64,
        classes: classes as u64,
        smallest_class: sizes.iter().min().copied().unwrap_or(0),
        without_events: without.len() as u64,
        without_events_at_risk: at_risk,
        found,
    };
    Ok(RecountedEvents { recount, tables, draws })
}

/// The randomness of the draws comes from the SHA-256 of the data files: whoever recounts draws the same,
/// and nobody can arrange the data for draws that are known beforehand.
fn draws_of(release: &ReleaseFolder, certificate: &Certificate<Events>) -> Result<Randomness> {
    let mut digest = Sha256::new();
    for file in certificate.files.iter().filter(|file| file.rows.is_some()) {
        digest.update(release.sha256(&file.name)?);
    }
    Ok(Randomness::of_digest(digest.finalize().into()))
}

fn too_many(claim: &EventsClaim, (hits, draws): (u64, u64), of: &str) -> Error {
    Error::refused(format!(
        "in {hits} of {draws} draws from the {of} fewer than {} patients match. That is significantly more than the \
         claimed share {}.",
        claim.k, claim.max_high_risk
    ))
}

/// Returns whether a patient has a label in any column.
fn has_labels(columns: &[PatientLabels], person: usize) -> bool {
    columns.iter().any(|column| column.number(person) > 0)
}

/// By column, by patient: up to so many values.
fn fixed(finder: &Finder, p: usize) -> Vec<Vec<u8>> {
    finder.columns.iter().map(|c| powers(c, p, PowerRule::Fixed)).collect()
}

/// Draws in which fewer than k match what is known of a patient, and all draws.
fn estimate(finder: &Finder, people: &[usize], power: &[Vec<u8>], k: u64, draws: &Randomness) -> (u64, u64) {
    let mut random = draws.clone();
    if people.is_empty() {
        return (0, 0);
    }
    let mut hits = 0;
    let mut facts = Vec::new();
    for _ in 0..DRAWS {
        let person = people[random.below(people.len() as u64) as usize];
        facts.clear();
        for (c, column) in finder.columns.iter().enumerate() {
            let own = column.of_person(person);
            let known = finder::draw(own, usize::from(power[c][person]), &mut random);
            facts.extend(known.into_iter().map(|(label, copies)| (c, label, copies)));
        }
        hits += u64::from(finder.fewer_than(k, person, &facts));
    }
    (hits, DRAWS)
}
