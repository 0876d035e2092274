//! Explains why no release can meet the requirement, and names the nearest requirement that can be met.

use super::requirements::Requirements;
use kohort_core::Error;
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Policy, Role};
use kohort_core::privacy::{Counts, LDiversity};
use std::collections::BTreeSet;

/// Explains which requirement the whole table fails, everything being `*`: some class always fails
/// what the whole fails. Where the whole is fine, the coarsest permitted levels are not.
pub(super) fn explain(cohort: &Cohort, policy: &Policy, requirements: &Requirements) -> Error {
    let people = if cohort.tuples.patients.is_some() { "patients" } else { "rows" };
    if let Some(error) = cohort.too_few_for(policy.privacy.k.get()) {
        return error;
    }
    if let Some(error) = confidence(cohort, policy, people) {
        return error;
    }
    for required in &cohort.required {
        let Some(l) = &required.requirement.l_diversity else { continue };
        let (values, anybody) = whole(cohort, required.kept.position);
        let counts = Counts { values: &values, people: anybody };
        if !l.holds(&counts) {
            let with = |n: u64| match l {
                LDiversity::Distinct(_) => LDiversity::Distinct(n),
                LDiversity::Entropy(_) => LDiversity::Entropy(n),
                LDiversity::Recursive { c, .. } => LDiversity::Recursive { c: *c, l: n },
            };
            let near = (2..l.l()).rev().find(|&n| with(n).holds(&counts));
            let near = near
                .map_or("No l of at least 2 can be met.".into(), |n| format!("The largest l that can be met is {n}."));
            return Error::infeasible(format!(
                "l_diversity ({}) is not met by the whole table in `{}`, so no release can meet it. {near}",
                l.describe(),
                required.kept.name
            ));
        }
    }
    let what = if requirements.reads_sensitive() { "what is required" } else { "k" };
    Error::infeasible(format!(
        "{what} cannot be met even with every column at its coarsest permitted level. Permit coarser levels \
         (`levels` in [columns]), require less, or allow more suppression (max_suppressed)."
    ))
}

/// Explains a limit on confidence that no generalization can meet: too large a share of all people with a value has a
/// listed one.
fn confidence(cohort: &Cohort, policy: &Policy, people: &str) -> Option<Error> {
    let mut highest: Option<(u64, u64, String)> = None;
    for required in &cohort.required {
        let confidence = required.requirement.confidence.as_ref()?;
        let (values, anybody) = whole(cohort, required.kept.position);
        let listed = |code: u32| confidence.listed.as_ref().is_none_or(|l| l[code as usize]);
        for &(code, hits) in values.iter().filter(|v| listed(v.0)) {
            let higher = highest
                .as_ref()
                .is_none_or(|(h, n, _)| u128::from(hits) * u128::from(*n) > u128::from(*h) * u128::from(anybody));
            if !confidence.max.allows(hits, anybody) && higher {
                // Only a value that is in the policy may be named.
                let text = cohort.tuples.dictionaries[required.kept.position].text(code);
                let named = match &policy.columns[required.kept.column].role {
                    Role::Sensitive { values: Some(values) } => values.iter().any(|v| v == text),
                    _ => false,
                };
                let value = if named { format!("\"{text}\"") } else { "one value".into() };
                highest = Some((hits, anybody, format!("{value} in `{}`", required.kept.name)));
            }
        }
    }
    let (hits, anybody, value) = highest?;
    let max = policy.privacy.confidence?;
    // Rounded up, so that what is proposed can be met.
    let least = (u128::from(hits) * 10_000).div_ceil(u128::from(anybody));
    Some(Error::infeasible(format!(
        "confidence = {max} cannot be met: of {anybody} {people} with a value {hits} have {value}, and no generalization lowers that share. The smallest that can be met is {hits}/{anybody}, {}.{:04} rounded up.",
        least / 10_000,
        least % 10_000
    )))
}

/// People by value code over the whole table, and people with any value.
fn whole(cohort: &Cohort, position: usize) -> (Vec<(u32, u64)>, u64) {
    let tuples = &cohort.tuples;
    let mut by_value = vec![0u64; tuples.dictionaries[position].len()];
    let mut anybody = 0;
    for t in 0..tuples.len() {
        let people = tuples.patients.as_ref().map_or(tuples.weights[t], |p| u64::from(p.single[t]));
        by_value[tuples.code(t, position) as usize] += people;
        anybody += if tuples.code(t, position) == 0 { 0 } else { people };
    }
    if let Some(patients) = &tuples.patients {
        for patient in 0..patients.several() {
            let own: BTreeSet<u32> =
                patients.tuples_of(patient).iter().map(|&t| tuples.code(t as usize, position)).collect();
            own.iter().for_each(|&code| by_value[code as usize] += 1);
            anybody += u64::from(own.iter().any(|&code| code != 0));
        }
    }
    let values = by_value.into_iter().enumerate().skip(1).filter(|(_, n)| *n > 0);
    (values.map(|(code, n)| (code as u32, n)).collect(), anybody)
}
