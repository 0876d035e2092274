//! Compares a release with its original as multisets, where nobody kept which row became which.

use super::original::{Columns, Compared, labels_of, star_beside_values};
use super::places::{LabelMaps, Limits, Places, bounds, limits};
use super::possible_origins::PossibleOrigins;
use super::recount::{CountedRelease, Required};
use super::synthetic_rows::SyntheticRows;
use crate::classes::People;
use crate::hierarchy::MISSING;
use crate::policy::Policy;
use crate::release::{Certificate, SyntheticClaim};
use crate::table::{Counting, Keys, Source, Tuples, count};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Compares as multisets: there must be enough original rows for the released ones. `patients`: the people behind the
/// released tuples, where they are known.
pub(super) fn as_multisets(
    counted: &CountedRelease,
    certificate: &Certificate,
    source: &Source,
    policy: &Policy,
    patients: Option<People>,
) -> Result<Compared> {
    let plan = Columns::new(counted, certificate, source)?;
    let patient = policy.patient();
    if certificate.promise.patients != patient.is_some() {
        return Err(Error::refused("the certificate and the policy differ in whether patients or rows are counted."));
    }
    let original = count(source, &Counting { columns: plan.of_tuples(counted, source)?, patient, remember: 0 })?;
    let mut not_counted = Vec::new();
    let mut not_shown = vec!["which released row belongs to which original row".to_string()];
    let changed = plan.changed.len();
    let map =
        |i| if i < changed { possible(counted, &plan, policy, &original, i) } else { Ok(same(counted, &original, i)) };
    let maps = (0..counted.tuples.width()).map(map).collect::<Result<Vec<_>>>()?;
    // The first columns of tuples, which were compared together.
    let mut together = maps.len();
    let claim = certificate.promise.claim.synthetic.as_ref();
    let added = match claim {
        None => 0,
        Some(_) => counted.tuples.rows.checked_sub(original.rows).ok_or_else(too_few)?,
    };
    let places = Places::find(counted, &original, &maps);
    let mut smallest_real_class = None;
    if places.is_some() {
        smallest_real_class = exactly(counted, &original, &maps, claim)?;
    } else if claim.is_some() {
        together = changed;
        not_shown.push("that every original row is released".into());
        not_counted.push("how many real rows a class has".into());
    } else {
        not_shown.push(
            "that the original rows can be assigned to all released rows at once: each released row was checked by \
             itself"
                .into(),
        );
        let rows = counted.tuples.len();
        together = if PossibleOrigins::are_quick(&original, &maps, rows) { together } else { changed };
        each_by_itself(counted, &original, &maps[..together])?;
    }
    for &(released, own) in &plan.kept {
        kept_column(counted, source, released, own, claim.is_some())?;
    }
    not_shown.extend(counted.workers.as_ref().and_then(|workers| workers.not_shown()));
    let alone =
        plan.kept.iter().filter(|(released, _)| !counted.columns[..together].iter().any(|(c, _)| c == released));
    let alone: Vec<String> = alone.map(|&(c, _)| format!("`{}`", counted.source.columns()[c])).collect();
    if !alone.is_empty() {
        not_shown.push(format!(
            "that the unchanged cells of {} are in the right rows: each column was compared by itself",
            alone.join(", ")
        ));
    }
    if claim.is_some() {
        not_shown.push("which records are synthetic".into());
    }
    let mut compared = Compared {
        rows: original.rows,
        matched: counted.tuples.rows - added,
        smallest_class: counted.recount.smallest_class,
        sensitive: counted.recount.sensitive.clone(),
        added,
        smallest_real_class,
        sensitive_real: Vec::new(),
        labels_overlap: maps[..counted.quasi].iter().flatten().any(|labels| labels.len() > 1)
            || plan.changed[..counted.quasi]
                .iter()
                .any(|&(at, _)| star_beside_values(&counted.tuples.dictionaries[at])),
        not_counted,
        not_shown,
    };
    match patients.filter(|_| claim.is_none()) {
        Some(known) => {
            // No more people than the original has.
            if known.number() > original.people() {
                return Err(Error::refused("the release has more patients than the original."));
            }
            let recount = counted.check(certificate.promise.claim.k.get(), known, Required::Everything)?;
            (compared.smallest_class, compared.sensitive) = (recount.smallest_class, recount.sensitive);
        }
        None => people(counted, certificate, &original, (&maps, places.as_ref()), &mut compared)?,
    }
    Ok(compared)
}

/// Counts patients, and what is claimed about sensitive values of them or of real rows, as far as the original
/// tells; says what it could not count.
fn people(
    counted: &CountedRelease,
    certificate: &Certificate,
    original: &Tuples,
    (maps, places): (&LabelMaps, Option<&Places>),
    compared: &mut Compared,
) -> Result<()> {
    let claim = &certificate.promise.claim;
    let (patients, synthetic) = (certificate.promise.patients, claim.synthetic.as_ref());
    // The promise of a sample is about the whole file, which is not here.
    if certificate.sample.is_some() || !(patients || synthetic.is_some()) {
        return Ok(());
    }
    let weights = &counted.tuples.weights;
    let is_exact = |places: &&Places| match synthetic {
        None => places.rows == *weights,
        Some(_) => places.hold_every_row() && places.rows.iter().zip(weights).all(|(own, all)| own <= all),
    };
    if let Some(places) = places.filter(is_exact) {
        let more: Vec<u64> = weights.iter().zip(&places.rows).map(|(all, own)| all - own).collect();
        if patients {
            let recount = counted.check(claim.k.get(), places.people(original, &more), Required::Everything)?;
            compared.smallest_class = recount.smallest_class;
            compared.sensitive = recount.sensitive;
        }
        if let Some(synthetic) = synthetic {
            let real = places.people(original, &vec![0; weights.len()]);
            let real = SyntheticRows::of(more).check(counted, synthetic, real)?;
            compared.smallest_real_class = Some(real.smallest_class);
            compared.sensitive_real = real.sensitive;
        }
        return Ok(());
    }
    if patients {
        let k = claim.k.get();
        match bounds(counted, original, maps).filter(|_| synthetic.is_none()) {
            Some(found) if found.most < k => {
                return Err(Error::refused(format!(
                    "an equivalence class holds at most {} patients of the original, and the certificate claims {k}.",
                    found.most
                )));
            }
            Some(found) if found.least >= k => compared.smallest_class = found.least,
            Some(found) => compared.not_counted.push(format!(
                "how many patients an equivalence class contains: by the original it may be {} only",
                found.least
            )),
            None => compared
                .not_counted
                .push("how many patients an equivalence class contains: only rows were counted".into()),
        }
    }
    if claim.sensitive.is_empty() {
        return Ok(());
    }
    let found = if synthetic.is_none() { limits(counted, original, maps) } else { Limits::Open };
    match found {
        Limits::Hold => {}
        Limits::Broken => {
            return Err(Error::refused(
                "a limit on sensitive values does not hold in patients, whichever rows of the original were released.",
            ));
        }
        Limits::Open => compared.not_counted.push(match patients {
            true => "the limits on sensitive values, since they are counted in patients".into(),
            false => "the limits on sensitive values without the synthetic records".into(),
        }),
    }
    Ok(())
}

/// The released codes that each original value code of a column may be shown as.
fn possible(
    counted: &CountedRelease,
    plan: &Columns,
    policy: &Policy,
    original: &Tuples,
    i: usize,
) -> Result<Vec<Vec<u32>>> {
    let (position, column) = plan.changed[i];
    let dictionary = &original.dictionaries[i];
    let mut values: Vec<String> = dictionary.texts()[1..].iter().map(|t| t.to_string()).collect();
    if dictionary.missing_occurs {
        values.push(String::new());
    }
    let released = &counted.tuples.dictionaries[position];
    let labels = labels_of(policy, column, &values, &counted.stated(position))?;
    let mut shown: Vec<Vec<u32>> = Vec::new();
    let mut hit = vec![false; released.len()];
    for text in dictionary.texts() {
        let mut own: Vec<u32> = labels.get(text).into_iter().flatten().filter_map(|l| released.code(l)).collect();
        own.sort_unstable();
        own.dedup();
        own.retain(|&c| c != MISSING || released.missing_occurs);
        own.iter().for_each(|&c| hit[c as usize] = true);
        shown.push(own);
    }
    if hit.iter().skip(1).any(|h| !h) {
        return Err(Error::refused(format!(
            "column `{}`: a released label does not cover any value of the original at a level that the policy permits.",
            policy.columns[column].name
        )));
    }
    Ok(shown)
}

/// The released code that each original value code of an unchanged column has.
fn same(counted: &CountedRelease, original: &Tuples, i: usize) -> Vec<Vec<u32>> {
    let released = &counted.tuples.dictionaries[i];
    let code = |text: &str| released.code(text).filter(|&code| code != MISSING || released.missing_occurs);
    original.dictionaries[i].texts().into_iter().map(|text| code(text).into_iter().collect()).collect()
}

/// Every original value has at most one label in the release: each original row has its place. Where
/// rows may be synthetic, all original rows must be there, and enough of them in each class; returns
/// how many are in the smallest.
fn exactly(
    counted: &CountedRelease,
    original: &Tuples,
    maps: &[Vec<Vec<u32>>],
    claim: Option<&SyntheticClaim>,
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
fn released_rows(counted: &CountedRelease, width: usize) -> BTreeMap<Vec<u32>, u64> {
    let mut rows: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for t in 0..counted.tuples.len() {
        *rows.entry(counted.tuples.codes(t)[..width].to_vec()).or_default() += counted.tuples.weights[t];
    }
    rows
}

fn each_by_itself(counted: &CountedRelease, original: &Tuples, maps: &[Vec<Vec<u32>>]) -> Result<()> {
    let origins = PossibleOrigins::new(original, maps);
    match released_rows(counted, maps.len()).iter().all(|(labels, &needed)| origins.suffice(labels, needed)) {
        true => Ok(()),
        false => Err(too_many()),
    }
}

fn too_many() -> Error {
    Error::refused("the release shows more rows of a kind than the original has.")
}

/// A column that is released as it is shows no value more often than the original has it; where rows are
/// synthetic, none less often.
fn kept_column(
    counted: &CountedRelease,
    source: &Source,
    released: usize,
    own: usize,
    synthetic_rows: bool,
) -> Result<()> {
    let of =
        |source: &Source, column: usize| count(source, &Counting { columns: vec![column], patient: None, remember: 0 });
    let by_workers = counted.workers.as_ref().and_then(|workers| workers.column(released));
    let (mut released_tuples, mut original) =
        (by_workers.map_or_else(|| of(&counted.source, released), Ok)?, of(source, own)?);
    if synthetic_rows {
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
                if synthetic_rows { "less" } else { "more" }
            )));
        }
    }
    Ok(())
}
