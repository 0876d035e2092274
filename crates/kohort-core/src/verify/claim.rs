//! Whether a certificate claims what its policy asks for, and says what its claim means.

use crate::hierarchy::Known;
use crate::number::Fraction;
use crate::policy::{Column, EventsPolicy, Policy, Role, TDistance};
use crate::privacy::{Knows, Padding};
use crate::release::{
    Certificate, Claimed, EventsClaim, InventedClaim, KnowsClaim, SensitiveClaim, guarantee, guarantee_of_sample,
};
use crate::{Error, Result};

/// Refuses sentences that are not those of the claim: they are what a stranger reads.
pub(super) fn says_what_it_means(certificate: &Certificate) -> Result<()> {
    if certificate.sample.is_some() && !matches!(certificate.claim, Claimed::Table(_)) {
        return Err(Error::refused("only a table can be a sample."));
    }
    if certificate.columns.iter().any(|c| c.labels.is_some()) && !matches!(certificate.claim, Claimed::Events(_)) {
        return Err(Error::refused("labels of columns are checked in events alone."));
    }
    let sentences = if certificate.sample.is_some() { guarantee_of_sample } else { guarantee };
    if certificate.guarantee != sentences(&certificate.method, &certificate.claim, certificate.patients) {
        return Err(Error::refused("the sentences under `guarantee` in the certificate are not those of its claim."));
    }
    Ok(())
}

/// Refuses a certificate that claims anything else than the policy asks for.
pub(super) fn is_the_policys(certificate: &Certificate, policy: &Policy) -> Result<()> {
    let differs = |what: &str| {
        Err(Error::refused(format!("the certificate does not claim what the policy asks for: {what} differs.")))
    };
    says_what_it_means(certificate)?;
    if certificate.patients != policy.patient().is_some() {
        return differs("the unit (patient or row)");
    }
    if let (Claimed::Events(claim), Some(asked)) = (&certificate.claim, &policy.events) {
        return is_the_events(certificate, claim, policy, asked);
    }
    if let Some(share) = certificate.sample {
        let asked = policy.method.decimals("samples")?.unwrap_or_default();
        if !asked.into_iter().any(|own| Fraction::from_decimal(own) == Some(share)) {
            return differs("the share that was sampled");
        }
    }
    let columns = policy.released().into_iter().map(|c| &policy.columns[c]);
    // Where cells are blanked one by one, also a quasi-identifier is blank where what it is finer than is.
    let of = |column: &Column| match &column.role {
        Role::Detail { of } => of.clone(),
        _ if certificate.method == "suppress" => column.of.clone(),
        _ => Vec::new(),
    };
    if !columns
        .map(|c| (c.name.clone(), c.role.name().to_string(), of(c)))
        .eq(certificate.columns.iter().map(|c| (c.name.clone(), c.role.clone(), c.of.clone())))
    {
        return differs("the columns and their roles");
    }
    if certificate.claim.k() != policy.privacy.k {
        return differs("k");
    }
    let claim = match &certificate.claim {
        Claimed::Table(claim) => claim,
        Claimed::Codes(claim) => {
            let flag = |key: &str| Ok::<_, Error>(policy.method.flag(key)?.unwrap_or(false));
            if claim.m != policy.privacy.known_codes() {
                return differs("what the adversary knows");
            }
            if claim.aware != flag("aware")? || claim.no_cover != flag("no_cover")? {
                return differs("what a chunk must keep to");
            }
            if claim.sensitive != policy.method.texts("sensitive")?.unwrap_or_default() {
                return differs("which codes are sensitive");
            }
            return Ok(());
        }
        Claimed::Events(_) => return differs("the shape of the data"),
    };
    if !claim.invented.as_ref().map_or(Ok(policy.invents.is_none()), |own| is_invented(policy, own))? {
        return differs("what is said of invented rows");
    }
    let quasi = policy.quasi();
    let name = |q: &usize| policy.columns[quasi[*q]].name.clone();
    let knows = match &policy.privacy.knows {
        Knows::All => KnowsClaim::All,
        Knows::Any(n) => KnowsClaim::Any(*n),
        Knows::Sets(sets) => KnowsClaim::Sets(sets.iter().map(|s| s.iter().map(name).collect()).collect()),
    };
    if claim.knows != knows {
        return differs("what the adversary knows");
    }
    let required = policy.positions(|r| matches!(r, Role::Sensitive { .. }) && policy.privacy.reads_sensitive());
    let all = required.len() == claim.sensitive.len();
    if !all || !required.iter().zip(&claim.sensitive).all(|(&c, own)| is_required(policy, c, own)) {
        return differs("what is required of sensitive columns");
    }
    Ok(())
}

/// The same for patients and their events.
fn is_the_events(certificate: &Certificate, claim: &EventsClaim, policy: &Policy, asked: &EventsPolicy) -> Result<()> {
    let differs = |what: &str| {
        Err(Error::refused(format!("the certificate does not claim what the policy asks for: {what} differs.")))
    };
    let (of_patients, of_events) = (released(&asked.patients), released(&policy.columns));
    let all = certificate.columns.iter().map(|c| (c.name.as_str(), c.role.as_str()));
    let known = released_columns(&asked.patients).into_iter().chain(released_columns(&policy.columns));
    let known = known.map(|c| Known::of(&c.rule).filter(|_| c.role == Role::Quasi));
    if !known.eq(certificate.columns.iter().map(|c| c.labels.clone())) {
        return differs("what labels the columns have");
    }
    if claim.patient_columns != of_patients.len() || !of_patients.into_iter().chain(of_events).eq(all) {
        return differs("the columns and their roles");
    }
    if claim.k != policy.privacy.k || claim.max_high_risk != asked.max_high_risk {
        return differs("k or the share at high risk");
    }
    if claim.power != asked.power {
        return differs("what the adversary knows");
    }
    Ok(())
}

/// The columns of a table of claims that leave, as they leave: quasi-identifiers first.
pub(super) fn released(columns: &[Column]) -> Vec<(&str, &str)> {
    released_columns(columns).into_iter().map(|c| (c.name.as_str(), c.role.name())).collect()
}

fn released_columns(columns: &[Column]) -> Vec<&Column> {
    let mut own: Vec<&Column> = columns.iter().filter(|c| c.role.is_released()).collect();
    own.sort_by_key(|c| (c.role != Role::Quasi, c.place));
    own
}

/// Whether this is what the policy says of rows that stand for nobody.
fn is_invented(policy: &Policy, claim: &InventedClaim) -> Result<bool> {
    let Some(invents) = &policy.invents else { return Ok(false) };
    let column = policy.positions(|r| matches!(r, Role::Sensitive { .. })).first().copied();
    let catalog = column.filter(|_| invents.catalog).map(|c| policy.columns[c].name.clone());
    let padding = policy.method.word("padding", &Padding::NAMES)?.unwrap_or(Padding::Randomized);
    Ok(policy.method.whole("real_k")? == Some(claim.real_k) && padding == claim.padding && catalog == claim.catalog)
}

fn is_required(policy: &Policy, column: usize, claim: &SensitiveClaim) -> bool {
    let (column, privacy) = (&policy.columns[column], &policy.privacy);
    let listed = match &column.role {
        Role::Sensitive { values } => values,
        _ => &None,
    };
    let t = claim.t_closeness.as_ref().map(|t| {
        let distance = match (&t.order, &t.tree) {
            (Some(_), _) => TDistance::Ordered,
            (_, Some(_)) => TDistance::Hierarchical,
            _ => TDistance::Equal,
        };
        (t.max, distance)
    });
    claim.column == column.name
        && claim.values == *listed
        && claim.confidence == privacy.confidence
        && claim.l_diversity == privacy.l_diversity
        && t == privacy.t_closeness
}
