//! Recounts a catalog from the release alone: whether it conceals which rows are synthetic, and how
//! likely any row is somebody's to whoever reads it.

use super::ReleaseFolder;
use super::recount::CountedRelease;
use crate::privacy::{CatalogGroup, ClassRows, Posterior};
use crate::release::{CATALOG_FILE, CatalogLine, CatalogShown, Claim, LARGEST_CATALOG, parse_catalog};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Classes times classes times values, over all groups: no catalog of Kohort's has more.
const MOST_COST: u64 = 1 << 32;

/// The counts of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogRecount {
    /// Groups of classes.
    pub groups: u64,
    /// Synthetic records that it lists.
    pub rows: u64,
    /// How likely the likeliest row of any class is somebody's.
    pub highest_posterior: f64,
}

impl CatalogRecount {
    /// The recount as the certificate shows it.
    pub fn shown(&self) -> CatalogShown {
        // Rounded up, so that the text is never below the number itself.
        let up = (self.highest_posterior * 1e4 - 1e-8).ceil().max(0.0) / 1e4 + 0.0;
        CatalogShown { groups: self.groups, counterfeits: self.rows, highest_posterior: format!("{up:.4}") }
    }
}

/// The classes of a catalog's groups, by number from 1, with what a reader takes them to be.
pub fn catalog_groups(
    lines: &[CatalogLine],
    rows_of: &dyn Fn(u64) -> BTreeMap<String, u64>,
    may_fill: &dyn Fn(u64) -> bool,
) -> Option<Vec<(Vec<u64>, CatalogGroup)>> {
    let mut groups: BTreeMap<&[u64], Vec<&CatalogLine>> = BTreeMap::new();
    lines.iter().for_each(|line| groups.entry(&line.classes).or_default().push(line));
    let mut seen = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    for (ids, lines) in groups {
        // A class is in one group, a value once in a group.
        let values: std::collections::BTreeSet<&str> = lines.iter().map(|l| l.value.as_str()).collect();
        if values.len() != lines.len() || !ids.iter().all(|id| seen.insert(*id)) {
            return None;
        }
        let classes = ids.iter().map(|&id| {
            let rows = rows_of(id);
            let size: u64 = rows.values().sum();
            let named: Vec<u64> = lines.iter().map(|l| rows.get(&l.value).copied().unwrap_or(0)).collect();
            ClassRows { others: size - named.iter().sum::<u64>(), named, may_hold_synthetic: may_fill(size) }
        });
        let group = CatalogGroup { classes: classes.collect(), synthetic: lines.iter().map(|l| l.rows).collect() };
        all.push((ids.to_vec(), group));
    }
    Some(all)
}

/// Reads the catalog of a release that claims one.
pub(super) fn read(release: &ReleaseFolder, counted: &CountedRelease, claim: &Claim) -> Result<Vec<CatalogLine>> {
    let column = claim.synthetic.as_ref().and_then(|i| i.catalog.as_deref()).unwrap_or_default();
    let classes = counted.class_of_tuple().iter().max().map_or(0, |&c| u64::from(c) + 1);
    parse_catalog(&release.text(CATALOG_FILE, LARGEST_CATALOG)?, column, classes)
}

/// Recounts it: no row may be somebody's with a probability above 1/k.
pub(super) fn recount(
    release: &ReleaseFolder,
    counted: &CountedRelease,
    claim: &Claim,
) -> Result<Option<CatalogRecount>> {
    let (Some(position), Some(synthetic)) = (counted.catalogued, &claim.synthetic) else { return Ok(None) };
    let lines = read(release, counted, claim)?;
    let of = counted.class_of_tuple();
    let mut rows: BTreeMap<u64, BTreeMap<String, u64>> = BTreeMap::new();
    for line in &lines {
        line.classes.iter().for_each(|&id| {
            rows.entry(id).or_default();
        });
    }
    for (tuple, &class) in of.iter().enumerate() {
        if let Some(own) = rows.get_mut(&(u64::from(class) + 1)) {
            let value = counted.tuples.dictionaries[position].text(counted.tuples.code(tuple, position));
            *own.entry(value.to_string()).or_default() += counted.tuples.weights[tuple];
        }
    }
    let rows_of = |id: u64| rows.get(&id).cloned().unwrap_or_default();
    let groups = catalog_groups(&lines, &rows_of, &|shown| synthetic.padding.may_fill(shown, claim.k));
    let groups = groups.ok_or_else(|| Error::refused("the catalog names a class in two groups, or a value twice."))?;
    let too_many = || Error::refused("the groups of the catalog are too large to be counted.");
    let cost = |(ids, group): &(Vec<u64>, CatalogGroup)| {
        (ids.len() as u64).checked_pow(2).and_then(|n| n.checked_mul(group.synthetic.len() as u64))
    };
    let cost = groups.iter().map(cost).try_fold(0u64, |sum, own| sum.checked_add(own?));
    if cost.is_none_or(|cost| cost > MOST_COST) {
        return Err(too_many());
    }
    // A class in no group holds no synthetic record; with k rows or more none of them is likelier than 1/k.
    let mut found = CatalogRecount {
        groups: groups.len() as u64,
        rows: lines.iter().try_fold(0u64, |sum, l| sum.checked_add(l.rows)).ok_or_else(too_many)?,
        highest_posterior: 1.0 / counted.recount.smallest_class.max(1) as f64,
    };
    for (_, group) in &groups {
        if !group.conceals() {
            return Err(Error::refused("the catalog reveals that a class contains synthetic records."));
        }
        for least in [1, synthetic.real_k] {
            for Posterior { highest, holds } in group.posteriors(claim.k, least) {
                found.highest_posterior = found.highest_posterior.max(highest);
                if !holds {
                    return Err(Error::refused(format!(
                        "with the catalog, a row belongs to a person with probability {highest:.4}, above 1/{}.",
                        claim.k
                    )));
                }
            }
        }
    }
    Ok(Some(found))
}
