//! Apriori k^m: codes are generalized along their hierarchy, whole subtrees at a time and everywhere
//! alike, until every combination is frequent.
//!
//! # Source
//! M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data, PVLDB 1
//! (2008). The cheapest next step is taken, by normalized certainty penalty.

use super::{GroupReading, RecodedCodes};
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use std::collections::BTreeMap;

/// Levels above the code: category, section, chapter, all.
const LEVELS: usize = 4;

/// Generalizes until every set of up to m codes that occurs is k patients'. Codes that the system
/// does not hold are a chapter of their own.
pub fn apriori(records: &Records, system: CodeSystem, k: u32, m: usize) -> RecodedCodes {
    let tree = CodeTree::new(records, system);
    let mut recoded = RecodedCodes::new(records, GroupReading::OneCode);
    let mut level = vec![0usize; records.distinct()];
    for size in 1..=m {
        loop {
            let rare = recoded.rare(records, k, size);
            if rare.is_empty() {
                break;
            }
            for (_, codes) in rare {
                protect(&mut recoded, &tree, &mut level, &codes, k);
            }
        }
    }
    recoded
}

struct CodeTree {
    /// One entry per level and code: the number of its ancestor.
    ancestor: [Vec<u32>; LEVELS],
    /// One entry per level and ancestor: its codes.
    below: [Vec<Vec<u32>>; LEVELS],
}

impl CodeTree {
    fn new(records: &Records, system: CodeSystem) -> CodeTree {
        let mut numbers: [BTreeMap<String, u32>; LEVELS] = Default::default();
        let mut tree = CodeTree { ancestor: Default::default(), below: Default::default() };
        for (code, text) in (0u32..).zip(records.texts()) {
            let labels = match system.place(text) {
                Some(p) => [p.category, p.section.label.clone(), p.chapter.label.clone(), String::new()],
                None => ["?".into(), "?".into(), "?".into(), String::new()],
            };
            for (level, label) in labels.into_iter().enumerate() {
                let next = numbers[level].len() as u32;
                let number = *numbers[level].entry(label).or_insert(next);
                if number == next {
                    tree.below[level].push(Vec::new());
                }
                tree.ancestor[level].push(number);
                tree.below[level][number as usize].push(code);
            }
        }
        tree
    }

    /// The codes under the ancestor of a code, `level` steps up.
    fn under(&self, code: u32, level: usize) -> &[u32] {
        &self.below[level - 1][self.ancestor[level - 1][code as usize] as usize]
    }
}

/// Raises items of the set, the cheapest step first, until it is nobody's or k patients'.
fn protect(recoded: &mut RecodedCodes, tree: &CodeTree, level: &mut [usize], codes: &[u32], k: u32) {
    loop {
        let Some(groups) = recoded.groups_of(codes) else { return };
        let support = recoded.support(&groups);
        if support == 0 || support >= k {
            return;
        }
        let cost = |&code: &u32| {
            let under = tree.under(code, level[code as usize] + 1);
            let occurrences: u64 =
                under.iter().map(|&c| u64::from(recoded.groups[recoded.group_of[c as usize] as usize].support)).sum();
            (under.len() as u64 * occurrences, code)
        };
        let Some(code) = codes.iter().copied().filter(|&c| level[c as usize] < LEVELS).min_by_key(cost) else {
            // Everything is one item, and fewer than k patients have any: it goes.
            groups.iter().for_each(|&g| recoded.suppress(g));
            return;
        };
        let up = level[code as usize] + 1;
        let into = recoded.group_of[code as usize];
        for &other in tree.under(code, up) {
            level[other as usize] = level[other as usize].max(up);
            let group = recoded.group_of[other as usize];
            if group != recoded.group_of[code as usize] && group != super::GONE {
                recoded.merge(into, group);
            }
        }
    }
}
