//! Compares a release with its original as multisets, where nobody kept which row became which.

use super::original::{Columns, Compared, labels_of};
use super::possible_origins::PossibleOrigins;
use super::recount::Counted;
use crate::policy::Policy;
use crate::release::{Certificate, InventedClaim};
use crate::table::{Counting, Keys, Source, Tuples, count};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Compares as multisets: there must be enough original rows for the released ones.
pub(super) fn as_multisets(
    counted: &Counted,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
) -> Result<Compared> {
    let plan = Columns::new(counted, certificate, source)?;
    let columns: Vec<usize> = plan.changed.iter().map(|c| c.1).collect();
    let original = count(source, &Counting { columns, patient: None, remember: 0 })?;
    let mut not_shown = vec!["which released row belongs to which original row".to_string()];
    let maps =
        (0..plan.changed.len()).map(|i| possible(counted, &plan, policy, &original, i)).collect::<Result<Vec<_>>>()?;
    let claim = certificate.promise.claim.invented.as_ref();
    let added = match claim {
        None => 0,
        Some(_) => counted.tuples.rows.checked_sub(original.rows).ok_or_else(too_few)?,
    };
    let mut smallest_real_class = None;
    if maps.iter().all(|m| m.iter().all(|shown| shown.len() <= 1)) {
        smallest_real_class = exactly(counted, &original, &maps, claim)?;
    } else if claim.is_some() {
        not_shown.push("that every original row is released, and how many real rows a class has".into());
    } else {
        not_shown.push(
            "that the original rows can be assigned to all released rows at once: each released row was checked by \
             itself"
                .into(),
        );
        each_by_itself(counted, &original, &maps)?;
    }
    for &(released, own) in &plan.kept {
        kept_column(counted, source, released, own, claim.is_some())?;
    }
    if !plan.kept.is_empty() {
        not_shown.push("that unchanged cells are in the right rows: each column was compared by itself".into());
    }
    if claim.is_some() {
        not_shown.push("which records are synthetic, and what is claimed about sensitive values without them".into());
    }
    if certificate.promise.patients {
        not_shown.push("how many patients an equivalence class contains: only rows were counted".into());
    }
    Ok(Compared {
        rows: original.rows,
        matched: counted.tuples.rows - added,
        smallest_class: counted.recount.smallest_class,
        sensitive: counted.recount.sensitive.clone(),
        added,
        smallest_real_class,
        sensitive_real: Vec::new(),
        not_shown,
    })
}

/// By original value code of a column: the released codes it may be shown as.
fn possible(counted: &Counted, plan: &Columns, policy: &Policy, original: &Tuples, i: usize) -> Result<Vec<Vec<u32>>> {
    let (position, column) = plan.changed[i];
    let dictionary = &original.dictionaries[i];
    let mut values: Vec<String> = dictionary.texts()[1..].iter().map(|t| t.to_string()).collect();
    if dictionary.missing_occurs {
        values.push(String::new());
    }
    let released = &counted.tuples.dictionaries[position];
    let labels = labels_of(policy, column, &values, &released.texts())?;
    let mut shown: Vec<Vec<u32>> = Vec::new();
    let mut hit = vec![false; released.len()];
    for text in dictionary.texts() {
        let mut own: Vec<u32> = labels.get(text).into_iter().flatten().filter_map(|l| released.code(l)).collect();
        own.sort_unstable();
        own.dedup();
        own.retain(|&c| c != 0 || released.missing_occurs);
        own.iter().for_each(|&c| hit[c as usize] = true);
        shown.push(own);
    }
    if hit.iter().skip(1).any(|h| !h) {
        return Err(Error::refused(format!(
            "column `{}`: a released label does not cover any value of the original.",
            policy.columns[column].name
        )));
    }
    Ok(shown)
}

/// Every original value has at most one label in the release: each original row has its place. Where
/// rows may be invented, all original rows must be there, and enough of them in each class; returns
/// how many are in the smallest.
fn exactly(
    counted: &Counted,
    original: &Tuples,
    maps: &[Vec<Vec<u32>>],
    claim: Option<&InventedClaim>,
) -> Result<Option<u64>> {
    let mut keys = Keys::new(maps.len());
    let mut rows: Vec<u64> = Vec::new();
    for t in 0..original.len() {
        let key: Option<Vec<u32>> =
            maps.iter().enumerate().map(|(i, map)| map[original.code(t, i) as usize].first().copied()).collect();
        if key.is_none() && claim.is_some() {
            return Err(too_few());
        }
        if let Some(key) = key {
            let number = keys.intern(&key) as usize;
            rows.resize(keys.len(), 0);
            rows[number] += original.weights[t];
        }
    }
    let released = released_rows(counted, maps.len());
    let Some(claim) = claim else {
        for (key, needed) in released {
            if keys.find(&key).map_or(0, |n| rows[n as usize]) < needed {
                return Err(too_many());
            }
        }
        return Ok(None);
    };
    let mut real: BTreeMap<&[u32], u64> = released.keys().map(|key| (&key[..counted.quasi], 0)).collect();
    for (number, &own) in rows.iter().enumerate() {
        let key = keys.get(number as u32);
        if released.get(key).copied().unwrap_or(0) < own {
            return Err(too_few());
        }
        *real.entry(&key[..counted.quasi]).or_default() += own;
    }
    match real.values().min() {
        Some(&least) if least >= claim.real_k => Ok(Some(least)),
        _ => Err(Error::refused(format!("a class has fewer than {} real rows.", claim.real_k))),
    }
}

fn too_few() -> Error {
    Error::refused("some rows of the original are not released.")
}

/// Distinct released rows over the changed columns.
fn released_rows(counted: &Counted, width: usize) -> BTreeMap<Vec<u32>, u64> {
    let mut rows: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for t in 0..counted.tuples.len() {
        *rows.entry(counted.tuples.codes(t)[..width].to_vec()).or_default() += counted.tuples.weights[t];
    }
    rows
}

fn each_by_itself(counted: &Counted, original: &Tuples, maps: &[Vec<Vec<u32>>]) -> Result<()> {
    let origins = PossibleOrigins::new(original, maps);
    match released_rows(counted, maps.len()).iter().all(|(labels, &needed)| origins.suffice(labels, needed)) {
        true => Ok(()),
        false => Err(too_many()),
    }
}

fn too_many() -> Error {
    Error::refused("the release shows more rows of a kind than the original has.")
}

/// A column that leaves as it is shows no value more often than the original has it; where rows are
/// invented, none less often.
fn kept_column(counted: &Counted, source: &Source, released: usize, own: usize, invented: bool) -> Result<()> {
    let of =
        |source: &Source, column: usize| count(source, &Counting { columns: vec![column], patient: None, remember: 0 });
    let (mut released_tuples, mut original) = (of(&counted.source, released)?, of(source, own)?);
    if invented {
        std::mem::swap(&mut released_tuples, &mut original);
    }
    let rows = original.frequencies(0);
    for t in 0..released_tuples.len() {
        let text = released_tuples.dictionaries[0].text(released_tuples.code(t, 0));
        let has = original.dictionaries[0].code(text).map_or(0, |code| rows[code as usize]);
        if has < released_tuples.weights[t] {
            return Err(Error::refused(format!(
                "column `{}`: a value occurs {} often in the release than in the original.",
                counted.source.columns()[released],
                if invented { "less" } else { "more" }
            )));
        }
    }
    Ok(())
}
