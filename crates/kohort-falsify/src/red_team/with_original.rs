//! The independent definition with the original: whose rows these are, and whether they are true.

use super::count::{Counted, count};
use super::draw::{Case, Row};
use super::form::{put_table, table};
use super::release::Release;
use std::collections::{BTreeMap, BTreeSet};

/// The person of each released row, where private/rows says which row it is: the number of a synthetic record is
/// nobody's. Otherwise what is untrue.
pub fn people(case: &Case, release: &Release) -> Result<Vec<usize>, String> {
    let (header, rows) = table(release).ok_or("no data")?;
    let lines = release.private.get("rows").ok_or("no rows")?;
    let lines = String::from_utf8_lossy(lines).into_owned();
    let lines: Vec<usize> = lines.lines().map(str::parse).collect::<Result<_, _>>().map_err(|_| "not numbers")?;
    if lines.len() != rows.len() {
        return Err("not as many lines as rows".into());
    }
    let synthetic = !release.certificate["attested"]["synthetic"].is_null();
    let mut used = BTreeSet::new();
    let mut people = Vec::new();
    for (at, (row, &line)) in rows.iter().zip(&lines).enumerate() {
        if line == 0 && synthetic {
            people.push(1_000_000 + at);
            continue;
        }
        let own = line
            .checked_sub(case.form.first_line())
            .and_then(|at| case.rows.get(at))
            .ok_or("a line that is not there")?;
        if !used.insert(line) {
            return Err("a line twice".into());
        }
        if !may_be(case, own, &header, row) {
            return Err(format!("released row {at} is not line {line}"));
        }
        people.push(own.person);
    }
    Ok(people)
}

/// Returns whether an original row may have been released as this one.
fn may_be(case: &Case, own: &Row, header: &[String], row: &[String]) -> bool {
    !is_excluded(case, own)
        && header.iter().zip(row).all(|(name, cell)| match case.quasi.iter().position(|q| q.name == name) {
            Some(at) => case.quasi[at].may_show(&own.quasi[at], cell, case.ranges),
            None if name == "e" => cell == "*" || own.detail.as_ref() == Some(cell),
            None => own.kept.iter().any(|(column, value)| column == name && value == cell),
        })
}

fn is_excluded(case: &Case, own: &Row) -> bool {
    match case.policy.contains("scope = \"patient\"") {
        true => case.rows.iter().any(|row| row.person == own.person && row.excluded),
        false => own.excluded,
    }
}

/// Returns whether different original rows can be found for all released ones, by their quasi-identifiers, details and
/// those unchanged columns that are not said to be compared alone.
pub fn can_be_true(case: &Case, release: &Release, is_alone: impl Fn(&str) -> bool) -> bool {
    let Some((mut header, mut rows)) = table(release) else { return false };
    let is_changed = |name: &str| name == "e" || case.quasi.iter().any(|q| q.name == name);
    let together: Vec<bool> = header.iter().map(|name| is_changed(name) || !is_alone(name)).collect();
    let only = |row: &mut Vec<String>| {
        let mut at = together.iter();
        row.retain(|_| at.next() == Some(&true));
    };
    only(&mut header);
    rows.iter_mut().for_each(only);
    let may: Vec<Vec<usize>> = rows
        .iter()
        .map(|row| (0..case.rows.len()).filter(|&own| may_be(case, &case.rows[own], &header, row)).collect())
        .collect();
    let mut of: BTreeMap<usize, usize> = BTreeMap::new();
    (0..rows.len()).all(|row| place(row, &may, &mut of, &mut BTreeSet::new()))
}

/// Finds an original row for this released one; others may have to take another.
fn place(row: usize, may: &[Vec<usize>], of: &mut BTreeMap<usize, usize>, tried: &mut BTreeSet<usize>) -> bool {
    for &own in &may[row] {
        if tried.insert(own) && of.get(&own).copied().is_none_or(|other| place(other, may, of, tried)) {
            of.insert(own, row);
            return true;
        }
    }
    false
}

/// Counts without the synthetic records, for `real_k` instead of k.
pub fn without_synthetic(release: &Release) -> Option<Counted> {
    let real_k = release.certificate["attested"]["synthetic"]["real_k"].as_u64()?;
    let (header, rows) = table(release)?;
    let lines = String::from_utf8_lossy(release.private.get("rows")?).into_owned();
    let real: Vec<Vec<String>> =
        rows.into_iter().zip(lines.lines()).filter(|(_, line)| *line != "0").map(|(row, _)| row).collect();
    let mut own = release.clone();
    put_table(&mut own, &(header, real));
    own.certificate["counted"]["claim"]["k"] = real_k.max(2).into();
    let mut counted = count(&own, None);
    counted.problems.retain(|problem| match problem {
        super::count::Problem::Listed(_) => false,
        super::count::Problem::Small { people, .. } => (*people as u64) < real_k,
        _ => true,
    });
    Some(counted)
}
