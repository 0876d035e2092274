//! Other ways to make sets of codes k^m-anonymous, to compare with. They are never published.

mod apriori;
mod cba;

pub use apriori::apriori;
pub use cba::cba;

use kohort_core::codes::Records;
use std::collections::HashMap;

/// Describes how a recipient reads a generalized item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupReading {
    /// Any non-empty set of its codes, each as likely.
    AnySubset,
    /// One of its codes, each as likely.
    OneCode,
}

/// Codes recoded to groups, everywhere alike. A group stands for one or more of its codes; a code
/// without a group is suppressed.
pub struct RecodedCodes {
    group_of: Vec<u32>,
    groups: Vec<RecodedGroup>,
    reading: GroupReading,
    patients: usize,
}

const GONE: u32 = u32::MAX;

#[derive(Debug, Clone, Default)]
struct RecodedGroup {
    codes: Vec<u32>,
    /// The patients with any of its codes, a bit each.
    rows: Vec<u64>,
    support: u32,
}

impl RecodedCodes {
    /// Every code by itself.
    fn new(records: &Records, reading: GroupReading) -> RecodedCodes {
        let words = records.len().div_ceil(64);
        let mut groups: Vec<RecodedGroup> = (0..records.distinct() as u32)
            .map(|code| RecodedGroup { codes: vec![code], rows: vec![0; words], support: 0 })
            .collect();
        for (r, record) in records.iter().enumerate() {
            for &code in record {
                groups[code as usize].rows[r / 64] |= 1 << (r % 64);
                groups[code as usize].support += 1;
            }
        }
        let group_of = (0..records.distinct() as u32).collect();
        RecodedCodes { group_of, groups, reading, patients: records.len() }
    }

    /// Makes one group of two.
    fn merge(&mut self, into: u32, other: u32) {
        let gone = std::mem::take(&mut self.groups[other as usize]);
        let group = &mut self.groups[into as usize];
        gone.codes.iter().for_each(|&code| self.group_of[code as usize] = into);
        group.codes.extend(gone.codes);
        group.rows.iter_mut().zip(gone.rows).for_each(|(a, b)| *a |= b);
        group.support = group.rows.iter().map(|w| w.count_ones()).sum();
    }

    /// Takes a group out everywhere.
    fn suppress(&mut self, group: u32) {
        let gone = std::mem::take(&mut self.groups[group as usize]);
        gone.codes.iter().for_each(|&code| self.group_of[code as usize] = GONE);
    }

    /// Patients with all of these groups.
    fn support(&self, groups: &[u32]) -> u32 {
        let Some((first, others)) = groups.split_first() else { return self.patients as u32 };
        let mut rows = self.groups[*first as usize].rows.clone();
        for &group in others {
            rows.iter_mut().zip(&self.groups[group as usize].rows).for_each(|(a, b)| *a &= b);
        }
        rows.iter().map(|w| w.count_ones()).sum()
    }

    /// The groups of these codes now; `None` if one is suppressed.
    fn groups_of(&self, codes: &[u32]) -> Option<Vec<u32>> {
        let mut groups = Vec::with_capacity(codes.len());
        for &code in codes {
            match self.group_of[code as usize] {
                GONE => return None,
                group => groups.push(group),
            }
        }
        groups.sort_unstable();
        groups.dedup();
        Some(groups)
    }

    /// Every set of `size` groups that fewer than k patients have, but some: one code of each group,
    /// and how many have them. The most frequent first.
    fn rare(&self, records: &Records, k: u32, size: usize) -> Vec<(u32, Vec<u32>)> {
        let mut counts: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut set = Vec::new();
        for record in records.iter() {
            let mut own: Vec<u32> =
                record.iter().map(|&code| self.group_of[code as usize]).filter(|&g| g != GONE).collect();
            own.sort_unstable();
            own.dedup();
            subsets(&own, size, &mut set, &mut |set| *counts.entry(set.to_vec()).or_default() += 1);
        }
        let mut rare: Vec<(u32, Vec<u32>)> = counts
            .into_iter()
            .filter(|(_, n)| *n < k)
            .map(|(set, n)| (n, set.iter().map(|&g| self.groups[g as usize].codes[0]).collect()))
            .collect();
        rare.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        rare
    }

    /// Returns whether every set of up to m groups that occurs is k patients'.
    pub fn is_safe(&self, records: &Records, k: u32, m: usize) -> bool {
        (1..=m).all(|size| self.rare(records, k, size).is_empty())
    }

    /// Returns how many patients are expected to have all of these codes.
    pub fn with_all(&self, codes: &[u32]) -> f64 {
        let Some(groups) = self.groups_of(codes) else { return 0.0 };
        let mut expected = f64::from(self.support(&groups));
        for group in groups {
            let size = self.groups[group as usize].codes.len() as f64;
            let asked = codes.iter().filter(|&&code| self.group_of[code as usize] == group).count() as f64;
            expected *= match self.reading {
                // 2^(g − c) of the 2^g − 1 sets hold the c codes asked for.
                GroupReading::AnySubset => {
                    (-asked * std::f64::consts::LN_2).exp() / (1.0 - (-size * std::f64::consts::LN_2).exp())
                }
                GroupReading::OneCode if asked > 1.0 => 0.0,
                GroupReading::OneCode => 1.0 / size,
            };
        }
        expected
    }

    /// Returns how many patients have any of these codes, as far as it can be told: each group counts by the share of
    /// its codes that are asked for.
    pub fn with_any(&self, codes: &[u32]) -> f64 {
        let mut groups: Vec<u32> = codes.iter().map(|&c| self.group_of[c as usize]).filter(|&g| g != GONE).collect();
        groups.sort_unstable();
        groups.dedup();
        let whole = |g: &u32| self.groups[*g as usize].codes.iter().all(|c| codes.contains(c));
        let (whole, parts): (Vec<u32>, Vec<u32>) = groups.into_iter().partition(whole);
        let words = self.patients.div_ceil(64);
        let mut rows = vec![0u64; words];
        for group in whole {
            rows.iter_mut().zip(&self.groups[group as usize].rows).for_each(|(a, b)| *a |= b);
        }
        let mut none = 1.0 - rows.iter().map(|w| f64::from(w.count_ones())).sum::<f64>() / self.patients as f64;
        for group in parts {
            let group = &self.groups[group as usize];
            let asked = group.codes.iter().filter(|c| codes.contains(c)).count() as f64 / group.codes.len() as f64;
            none *= 1.0 - asked * f64::from(group.support) / self.patients as f64;
        }
        self.patients as f64 * (1.0 - none)
    }

    /// Returns whether none of these codes is suppressed. The paper asks only for such codes.
    pub fn keeps(&self, codes: &[u32]) -> bool {
        codes.iter().all(|&code| self.group_of[code as usize] != GONE)
    }

    /// Codes that are suppressed.
    pub fn suppressed(&self) -> usize {
        self.group_of.iter().filter(|&&g| g == GONE).count()
    }

    /// Different items that are left.
    pub fn items(&self) -> usize {
        self.groups.iter().filter(|g| !g.codes.is_empty()).count()
    }
}

/// Every choice of `size` of the items. Depth is `size`, which is m.
fn subsets(items: &[u32], size: usize, set: &mut Vec<u32>, each: &mut dyn FnMut(&[u32])) {
    if size == 0 {
        return each(set);
    }
    for i in 0..items.len() {
        set.push(items[i]);
        subsets(&items[i + 1..], size - 1, set, each);
        set.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::disassociate::Constraints;
    use kohort_core::random::Randomness;

    #[test]
    fn what_the_baselines_make_is_safe() {
        let mut random = Randomness::seeded(5);
        let mut draw = |n: u64| random.below(n);
        for round in 0..40u64 {
            let names = ["250.0", "250.1", "250.2", "401.0", "401.1", "402.0", "493.1", "V10.1", "x"];
            let dense = 2 + draw(3);
            let rows: Vec<Vec<&str>> =
                (0..10 + draw(60)).map(|_| names.into_iter().filter(|_| draw(dense) == 0).collect()).collect();
            let records = Records::from_texts(rows);
            let (k, m) = (2 + (round % 4) as u32, 1 + (round % 3) as usize);
            let constraints = Constraints::siblings(&records, 3);
            let made = cba(&records, constraints.sets(), k, m);
            assert!(made.is_safe(&records, k, m), "cba");
            let made = apriori(&records, kohort_core::code_systems::CodeSystem::Icd9, k, m);
            assert!(made.is_safe(&records, k, m), "apriori");
        }
    }

    /// P3: a suppressed code was answered with 0 and counted as an error of 100 %, which the paper does not do.
    #[test]
    fn a_suppressed_code_is_not_kept() {
        let records = Records::from_texts([vec!["a", "b"], vec!["a", "b"], vec!["a", "c"]]);
        let made = cba(&records, &[], 2, 1);
        assert_eq!((made.suppressed(), made.keeps(&[0, 1]), made.keeps(&[0, 2])), (1, true, false));
    }

    #[test]
    fn a_code_by_itself_is_counted_exactly() {
        let records = Records::from_texts([vec!["a", "b"], vec!["a"], vec!["b", "c"]]);
        let recoded = RecodedCodes::new(&records, GroupReading::AnySubset);
        assert_eq!((recoded.with_all(&[0]), recoded.with_all(&[0, 1]), recoded.with_any(&[0, 2])), (2.0, 1.0, 3.0));
    }
}
