//! The limit on sensitive codes: in every cluster at most the share `confidence` of the patients has any
//! one of them (the paper's ℓ-diversity of section 7.2, with ℓ = 1/confidence).

use super::horpart::Sorted;
use super::rules::ClusterRules;
use kohort_core::codes::Records;
use kohort_core::number::Fraction;
use kohort_core::release::Clusters;
use kohort_core::{Error, Result};

/// Refuses a limit that the patients as a whole do not meet: then no clusters can.
pub(super) fn must_be_feasible(records: &Records, sensitive: &[bool], max: Fraction) -> Result<()> {
    let supports = records.supports();
    let of_sensitive = supports.iter().zip(sensitive).filter(|(_, is)| **is).map(|(&patients, _)| u64::from(patients));
    let most = of_sensitive.max().unwrap_or(0);
    if max.allows(most, records.len() as u64) {
        return Ok(());
    }
    Err(Error::infeasible(format!(
        "confidence = {max}, but {:.1} % of all patients with codes have one of the sensitive codes, so some cluster \
         exceeds it. Set `confidence` to at least {:.3}, or remove this code from `sensitive`.",
        100.0 * most as f64 / records.len() as f64,
        (1000.0 * most as f64 / records.len() as f64).ceil() / 1000.0
    )))
}

/// A note for a custodian who lists sensitive codes without a limit.
pub(super) fn unlimited(records: &Records, sensitive: &[bool], clusters: &Clusters) -> Option<String> {
    let mut highest = 0.0f64;
    let mut counts = vec![0u32; records.distinct()];
    for leaf in clusters.nodes.iter().flat_map(|node| node.leaves()) {
        let own = || leaf.records.iter().flat_map(|&r| records.get(r as usize)).map(|&code| code as usize);
        let own = || own().filter(|&code| sensitive.get(code).copied().unwrap_or(false));
        own().for_each(|code| counts[code] += 1);
        highest = own().map(|code| f64::from(counts[code]) / leaf.records.len() as f64).fold(highest, f64::max);
        own().for_each(|code| counts[code] = 0);
    }
    (highest > 0.0).then(|| {
        format!(
            "The sensitive codes are hidden among the codes of their clusters, but nothing limits how many patients \
             of a cluster have one of them: here it is up to {:.0} %. Add `confidence = 0.5` under [privacy].",
            100.0 * highest
        )
    })
}

/// The sensitive codes while clusters are formed. Without a limit it allows everything.
pub(super) struct Limited {
    max: Option<Fraction>,
    /// The sensitive codes.
    codes: Vec<u32>,
    /// For each code: patients of the part at hand; 0 between calls.
    counts: Vec<u32>,
}

impl Limited {
    /// The limit of these rules, over so many codes.
    pub(super) fn new(rules: &ClusterRules, codes: usize) -> Limited {
        match rules.confidence {
            None => Limited { max: None, codes: Vec::new(), counts: Vec::new() },
            max => Limited {
                max,
                codes: (0..codes as u32).filter(|&code| rules.is_sensitive(code)).collect(),
                counts: vec![0; codes],
            },
        }
    }

    /// Returns whether the limit holds in the records with a code, which are `with`, and in the others of
    /// the `alive` ones. `counts` holds, by code, the records of both together.
    pub(super) fn allows_split(
        &mut self,
        with: impl Iterator<Item = u32>,
        records: &Sorted,
        counts: &[u32],
        alive: usize,
    ) -> bool {
        let Some(max) = self.max else { return true };
        let mut size = 0;
        for row in with {
            size += 1;
            records.get(row).iter().for_each(|&code| self.counts[code as usize] += 1);
        }
        let holds = self.codes.iter().all(|&code| {
            let (own, all) = (u64::from(self.counts[code as usize]), u64::from(counts[code as usize]));
            max.allows(own, size) && max.allows(all - own, alive as u64 - size)
        });
        self.counts.fill(0);
        holds
    }

    /// Joins neighbouring parts until the limit holds in each. It holds in all of them together.
    pub(super) fn joined(&mut self, parts: Vec<Vec<u32>>, records: &Sorted) -> Vec<Vec<u32>> {
        if self.max.is_none() {
            return parts;
        }
        let mut joined: Vec<Vec<u32>> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        for part in parts {
            open.extend(part);
            if self.holds(&open, records) {
                joined.push(std::mem::take(&mut open));
            }
        }
        // The last ones take back from those before them.
        while !open.is_empty() && !self.holds(&open, records) {
            match joined.pop() {
                Some(before) => open.extend(before),
                None => break,
            }
        }
        if !open.is_empty() {
            joined.push(open);
        }
        joined
    }

    fn holds(&mut self, rows: &[u32], records: &Sorted) -> bool {
        let Some(max) = self.max else { return true };
        for &row in rows {
            records.get(row).iter().for_each(|&code| self.counts[code as usize] += 1);
        }
        let holds = self.codes.iter().all(|&c| max.allows(u64::from(self.counts[c as usize]), rows.len() as u64));
        self.counts.fill(0);
        holds
    }
}
