//! The requirements on a class, as a vector of counts that can be added up.
//!
//! # Example
//! One sensitive column `dx` with `confidence` on the values HIV and flu needs four counters: 0 people,
//! 1 people with any `dx`, 2 people with HIV, 3 people with flu. A record with HIV adds 1 to the
//! counters 0, 1 and 2. Records with the same sensitive values share a *signature*; the signature of
//! HIV lists the counters `[1, 2]` (everybody adds to counter 0). A class of three people, one with
//! HIV and two with asthma, has the counts `[3, 3, 1, 0]`.

use kohort_core::cohort::Cohort;
use kohort_core::number::K;
use kohort_core::privacy::{Counts, Sensitive};
use kohort_core::table::Keys;

/// The result of checking a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassVerdict {
    /// The class meets every requirement.
    Holds,
    /// The class has fewer than k people. So has every finer class.
    TooFew,
    /// The sensitive values of the class break a requirement.
    Reveals,
}

/// The requirements over a vector of counts: `counts[0]` are the people.
#[derive(Debug, Clone)]
pub(super) struct Requirements {
    /// k.
    pub k: u32,
    /// The length of a vector of counts.
    pub width: usize,
    /// For each tuple: its signature; empty where nothing is required of sensitive values.
    pub signature: Vec<u32>,
    /// For each signature: the counters that a person with it adds to, beside counter 0.
    pub counters: Vec<Vec<u32>>,
    columns: Vec<ColumnRequirement>,
}

/// The requirement on one sensitive column.
#[derive(Debug, Clone)]
struct ColumnRequirement {
    requirement: Sensitive,
    /// The counter of people with any value.
    any: usize,
    /// Value codes, and the counter of each.
    values: Vec<(u32, usize)>,
    /// People by value code in the whole release, for t-closeness.
    table: Vec<u64>,
}

impl Requirements {
    /// The requirements of a cohort, over all its people.
    pub(super) fn new(cohort: &Cohort, k: K) -> Requirements {
        let mut columns = Vec::new();
        let mut positions = Vec::new();
        let mut width = 1;
        for required in &cohort.required {
            let mut requirement = required.requirement.clone();
            // All of a class is within confidence 1.
            requirement.confidence = requirement.confidence.filter(|c| !c.max.allows(1, 1));
            if requirement.is_empty() {
                continue;
            }
            let position = required.kept.position;
            let codes = 1..cohort.tuples.dictionaries[position].len() as u32;
            let listed = match &requirement {
                Sensitive { confidence: Some(c), l_diversity: None, t_closeness: None } => c.listed.as_ref(),
                _ => None,
            };
            let matters = codes.filter(|&c| listed.is_none_or(|listed| listed[c as usize]));
            let values: Vec<(u32, usize)> = matters.zip(width + 1..).collect();
            let any = width;
            width += 1 + values.len();
            let table = vec![0; cohort.tuples.dictionaries[position].len()];
            columns.push(ColumnRequirement { requirement, any, values, table });
            positions.push(position);
        }
        let mut keys = Keys::new(positions.len());
        let mut key = vec![0; positions.len()];
        let tuples = if columns.is_empty() { 0 } else { cohort.tuples.len() };
        let signature = (0..tuples).map(|t| {
            key.iter_mut().zip(&positions).for_each(|(slot, &p)| *slot = cohort.tuples.code(t, p));
            keys.intern(&key)
        });
        let signature: Vec<u32> = signature.collect();
        let counters = (0..keys.len() as u32).map(|s| {
            let own = columns.iter().zip(keys.get(s)).filter(|(_, code)| **code != 0);
            own.flat_map(|(demand, &code)| {
                let value = demand.values.binary_search_by_key(&code, |v| v.0).ok();
                std::iter::once(demand.any as u32).chain(value.map(|v| demand.values[v].1 as u32))
            })
            .collect()
        });
        let counters = counters.collect();
        let k = u32::try_from(k.get()).unwrap_or(u32::MAX);
        Requirements { k, width, signature, counters, columns }
    }

    /// k alone.
    #[cfg(test)]
    pub(super) fn of_k(k: u32) -> Requirements {
        Requirements { k, width: 1, signature: Vec::new(), counters: Vec::new(), columns: Vec::new() }
    }

    /// The signature of a tuple.
    pub(super) fn signature(&self, tuple: usize) -> u32 {
        self.signature.get(tuple).copied().unwrap_or(0)
    }

    /// Returns whether anything is required of sensitive values.
    pub(super) fn reads_sensitive(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Takes the counts of the whole release: t-closeness is measured against them.
    pub(super) fn set_table(&mut self, counts: &[u32]) {
        for demand in &mut self.columns {
            demand.table.fill(0);
            demand.values.iter().for_each(|&(code, at)| demand.table[code as usize] = u64::from(counts[at]));
        }
    }

    /// Checks a class with these counts. Without people there is no class, and nothing fails.
    pub(super) fn verdict(&self, counts: &[u32], scratch: &mut Vec<(u32, u64)>) -> ClassVerdict {
        if counts[0] == 0 {
            return ClassVerdict::Holds;
        }
        if counts[0] < self.k {
            return ClassVerdict::TooFew;
        }
        let holds = self.columns.iter().all(|demand| {
            scratch.clear();
            let values = demand.values.iter().map(|&(code, at)| (code, u64::from(counts[at])));
            scratch.extend(values.filter(|v| v.1 > 0));
            let class = Counts { values: scratch, people: u64::from(counts[demand.any]) };
            demand.requirement.holds(&class, &demand.table)
        });
        if holds { ClassVerdict::Holds } else { ClassVerdict::Reveals }
    }
}
