//! CBA: constraint-based anonymization. Codes of one utility constraint are pooled until every
//! combination is frequent; what cannot be pooled is suppressed.
//!
//! # Source
//! G. Loukides, A. Gkoulalas-Divanis, B. Malin: COAT and its kin (2010–2012), as used for comparison
//! in the paper on disassociation. The order of rare sets is ours: the most frequent first.

use super::{GroupReading, RecodedCodes};
use kohort_core::codes::Records;

/// Recodes until at least k patients have every set of up to m codes that occurs. The sets of codes in `constraints`
/// are disjoint.
pub fn cba(records: &Records, constraints: &[Vec<u32>], k: u32, m: usize) -> RecodedCodes {
    let mut recoded = RecodedCodes::new(records, GroupReading::AnySubset);
    let mut constraint = vec![usize::MAX; records.distinct()];
    for (u, set) in constraints.iter().enumerate() {
        set.iter().for_each(|&code| constraint[code as usize] = u);
    }
    for size in 1..=m {
        loop {
            let rare = recoded.rare(records, k, size);
            if rare.is_empty() {
                break;
            }
            for (_, codes) in rare {
                protect(&mut recoded, constraints, &constraint, &codes, k);
            }
        }
    }
    recoded
}

/// Pools, or suppresses, until the set is nobody's or k patients'.
fn protect(recoded: &mut RecodedCodes, constraints: &[Vec<u32>], constraint: &[usize], codes: &[u32], k: u32) {
    loop {
        let Some(groups) = recoded.groups_of(codes) else { return };
        let support = recoded.support(&groups);
        if support == 0 || support >= k {
            return;
        }
        // The pair that loses least, within a constraint.
        let mut best: Option<(f64, u32, u32)> = None;
        for &i in &groups {
            let u = constraint[recoded.groups[i as usize].codes[0] as usize];
            if u == usize::MAX {
                continue;
            }
            let mut others: Vec<u32> = constraints[u].iter().map(|&c| recoded.group_of[c as usize]).collect();
            others.retain(|&j| j != super::GONE && j != i);
            others.sort_unstable();
            others.dedup();
            for j in others {
                let loss = loss(recoded, i, j);
                if best.is_none_or(|b| (loss, i, j) < b) {
                    best = Some((loss, i, j));
                }
            }
        }
        match best {
            Some((_, i, j)) => recoded.merge(i.min(j), i.max(j)),
            None => {
                let least = groups.iter().copied().min_by_key(|&g| (recoded.groups[g as usize].support, g));
                least.into_iter().for_each(|g| recoded.suppress(g));
            }
        }
    }
}

/// The information loss of the pooled item, as a logarithm: (2^g − 1) × patients who have it. The
/// patients are at most those of both.
fn loss(recoded: &RecodedCodes, i: u32, j: u32) -> f64 {
    let (a, b) = (&recoded.groups[i as usize], &recoded.groups[j as usize]);
    let codes = (a.codes.len() + b.codes.len()) as f64;
    let sets = codes * std::f64::consts::LN_2 + (-(-codes * std::f64::consts::LN_2).exp()).ln_1p();
    sets + f64::from(a.support + b.support).ln()
}
