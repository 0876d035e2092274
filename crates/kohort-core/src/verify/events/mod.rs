//! Recounts a release of events from its bytes: ids, columns, patient-level classes, and of how many
//! patients fewer than k match what an attacker knows of their events.

mod at_risk;
mod finder;
mod original;
mod read;
mod total;

pub use original::EventsCompared;
use original::{as_multisets, row_by_row};
use read::Tables;

use super::{Checked, Outside, ReleaseFolder, dictionary};
use crate::parallel;
use crate::policy::{MOST_PAIRS, Policy, Power, PowerRule};
use crate::privacy::{Settled, ShareAtRisk};
use crate::random::Randomness;
use crate::release::{Certificate, EventsClaim};
use crate::shape::Events;
use crate::table::Source;
use crate::{Error, Result};
use at_risk::{ALL_SETS, Attacker};
use finder::{Finder, PatientLabels, powers};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

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

/// The share of patients with events for whom fewer than k match what is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventsFound {
    /// As claimed. With facts in total, patients with facts that fewer than k have.
    pub at_high_risk: ShareAtRisk,
    /// The same where one whole event is known.
    pub one_event_known: ShareAtRisk,
    /// The same where as many whole events are known as values.
    pub events_known: ShareAtRisk,
    /// The same where two columns of so many events of one table are known: for the two that reveal most. Counted for
    /// `power` alone, and where there are not too many pairs of columns.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::release::serial::maybe")]
    pub pairs_known: Option<ShareAtRisk>,
}

/// The most pairs of columns that are looked at where no limit is about them.
const MOST_PAIRS_SHOWN: usize = 64;

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
    dictionary::check_events(&dictionary::read(release)?, certificate, None)?;
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
    let column = |table: usize, name: &str| {
        let columns = match table.checked_sub(1) {
            None => &policy.own.patients,
            Some(table) => &policy.own.tables.get(table)?.columns,
        };
        columns.iter().find(|own| own.name == name)
    };
    dictionary::check_events(&dictionary::read(release)?, certificate, Some(&column))?;
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
    let (columns, whole) = parallel::both(threads, || tables.event_labels(threads), || tables.whole_events());
    let finder = Finder::new(&columns, &class_of, threads);
    let whole = Finder::new(&whole, &class_of, threads);
    let people = (tables.patients() - without.len()) as u64;
    let among = |sets: u64, finder: &Finder, power: &[Vec<u8>], max, threads| {
        Attacker { finder, known: finder.columns, number: None, power, k, draws: &draws, threads, sets }.share(max)
    };
    let share = |finder: &Finder, power: &[Vec<u8>], max| among(ALL_SETS, finder, power, max, threads);
    let asked = Some(claim.max_high_risk);
    let of_events = matches!(claim.power, Power::Events { .. });
    let mut found = EventsFound {
        one_event_known: share(&whole, &fixed(&whole, 1), None),
        events_known: share(&whole, &fixed(&whole, claim.power.p()), asked.filter(|_| of_events)),
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
            found.at_high_risk = ShareAtRisk::counted(violating, people);
        }
        Power::Events { .. } => found.at_high_risk = found.events_known,
        Power::Pairs { p } => {
            let pairs = tables.pairs();
            if pairs.len() > MOST_PAIRS {
                return Err(Error::refused("there are more pairs of event columns than can be counted."));
            }
            // The limit must hold for every two columns; the two that reveal most are shown.
            for (table, columns) in pairs {
                let labels = [tables.labels_of(table, &columns)];
                let pair = Finder::new(&labels, &class_of, threads);
                let own = share(&pair, &fixed(&pair, p), asked);
                is_within(claim, &own, "events")?;
                if own.share() >= found.at_high_risk.share() {
                    found.at_high_risk = own;
                }
            }
        }
        Power::Values { p, rule } => {
            let power: Vec<Vec<u8>> = columns.iter().map(|c| powers(c, p, rule)).collect();
            found.at_high_risk = share(&finder, &power, asked);
            is_within(claim, &found.at_high_risk, "events")?;
            let pairs: Vec<_> = tables.pairs().into_iter().filter(|(_, columns)| columns.len() == 2).collect();
            // All pairs together try as many sets as one attacker.
            let sets = ALL_SETS / pairs.len().max(1) as u64;
            // Each pair is one thread's work: most of it is sorting, which no other thread could share.
            let of_pair = |pair: usize| {
                let (table, columns) = &pairs[pair];
                let labels = [tables.labels_of(*table, columns)];
                let pair = Finder::new(&labels, &class_of, 1);
                among(sets, &pair, &fixed(&pair, p), None, 1)
            };
            if pairs.len() <= MOST_PAIRS_SHOWN {
                let shares = parallel::map(threads, pairs.len(), of_pair);
                found.pairs_known = shares.into_iter().max_by(|a, b| a.share().total_cmp(&b.share()));
            }
        }
    }
    is_within(claim, &found.at_high_risk, "events")?;
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

/// Refuses a share of patients at high risk that was not shown to be at most the claimed one.
fn is_within(claim: &EventsClaim, found: &ShareAtRisk, of: &str) -> Result<()> {
    let (k, max) = (claim.k, claim.max_high_risk);
    let counted = match found.is_exact() {
        true => String::new(),
        false => format!(" from {} draws", found.draws),
    };
    let about =
        format!("fewer than {k} patients match for {:.2} % of patients{counted} (of the {of})", 100.0 * found.share());
    match found.settled(max) {
        Settled::Below => Ok(()),
        Settled::Above => Err(Error::refused(format!("{about}, which is more than the claimed share {max}."))),
        Settled::Open => Err(Error::refused(format!(
            "{about}, which is too near the claimed share {max} to be sure that it is not exceeded."
        ))),
    }
}

/// Returns whether a patient has a label in any column.
fn has_labels(columns: &[PatientLabels], person: usize) -> bool {
    columns.iter().any(|column| column.number(person) > 0)
}

/// The number of values of each patient that are known, by column, if up to so many are known of everyone.
fn fixed(finder: &Finder, p: usize) -> Vec<Vec<u8>> {
    finder.columns.iter().map(|c| powers(c, p, PowerRule::Fixed)).collect()
}
