//! The codes that a group of patients cannot show: those that fewer than k of them have end in item chunks.

use super::GroupRules;
use kohort_core::codes::Records;

/// How many patients of a group have each code: codes ascending, none with zero patients.
pub(super) type CodeCounts = Vec<(u32, u32)>;

/// Counts the codes of groups.
pub(super) struct LostCodes<'a> {
    pub(super) records: &'a Records,
    pub(super) rules: GroupRules<'a>,
}

impl<'a> LostCodes<'a> {
    pub(super) fn new(records: &'a Records, rules: GroupRules<'a>) -> LostCodes<'a> {
        LostCodes { records, rules }
    }

    /// The codes of these patients.
    pub(super) fn count(&self, patients: impl Iterator<Item = u32>) -> CodeCounts {
        let mut codes: Vec<u32> = patients.flat_map(|r| self.records.get(r as usize)).copied().collect();
        codes.sort_unstable();
        codes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
    }

    /// The number of codes over all patients that the group cannot show.
    pub(super) fn lost(&self, counts: &[(u32, u32)]) -> u64 {
        counts.iter().map(|&(_, patients)| self.rare(patients)).sum()
    }

    fn rare(&self, patients: u32) -> u64 {
        if u64::from(patients) < self.rules.k { u64::from(patients) } else { 0 }
    }

    /// The number of codes that two groups lose together.
    pub(super) fn lost_together(&self, a: &[(u32, u32)], b: &[(u32, u32)]) -> u64 {
        let mut lost = 0;
        each_sum(a, b, |_, patients| lost += self.rare(patients));
        lost
    }

    /// Returns whether a group of so many patients is within the limit on sensitive codes.
    pub(super) fn is_within_limit(&self, counts: &[(u32, u32)], patients: u64) -> bool {
        let Some(max) = self.rules.confidence else { return true };
        let is_sensitive = |code: u32| self.rules.sensitive.get(code as usize).copied().unwrap_or(false);
        counts.iter().all(|&(code, hits)| !is_sensitive(code) || max.allows(u64::from(hits), patients))
    }

    /// The share of all codes.
    pub(super) fn share(&self, lost: u64) -> f64 {
        lost as f64 / self.records.occurrences().max(1) as f64
    }
}

/// The codes of two groups together.
pub(super) fn merged(a: &[(u32, u32)], b: &[(u32, u32)]) -> CodeCounts {
    let mut all = Vec::with_capacity(a.len() + b.len());
    each_sum(a, b, |code, patients| all.push((code, patients)));
    all
}

fn each_sum(mut a: &[(u32, u32)], mut b: &[(u32, u32)], mut each: impl FnMut(u32, u32)) {
    while let (Some(&(code, patients)), Some(&(other, more))) = (a.first(), b.first()) {
        each(code.min(other), if code <= other { patients } else { 0 } + if other <= code { more } else { 0 });
        a = &a[usize::from(code <= other)..];
        b = &b[usize::from(other <= code)..];
    }
    a.iter().chain(b).for_each(|&(code, patients)| each(code, patients));
}
