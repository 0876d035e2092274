//! The promise that a policy makes about a release: derived once, here, for the verifier itself.
//!
//! Nobody hands the verifier a promise. It derives one from the bound policy, writes it into the
//! certificate, and later compares a certificate with it.

use super::assumed::{Basis, TableFacts, basis_of_codes, basis_of_events};
use super::claim::{Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim, SensitiveClaim, SyntheticClaim, TClaim};
use super::events::PATIENTS_TABLE;
use crate::hierarchy::StandardHierarchy;
use crate::number::Fraction;
use crate::policy::{Acceptance, Column, Danger, Effects, Policy, Role, Unmapped, cleaning_sentences};
use crate::privacy::{Knows, Padding};
use crate::shape::{Codes, Events, Shape, Table};
use crate::{Error, Result};

/// The promise of a release, as far as it follows from the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise<S: Shape = Table> {
    /// True if people are patients (otherwise rows).
    pub patients: bool,
    /// The method's additions to the promise.
    pub effects: Effects,
    /// The released columns, in order.
    pub columns: Vec<ColumnClaim>,
    /// The claim.
    pub claim: S::Claim,
    /// Sentences about how the data was cleaned before it was counted: only the custodian can know it.
    pub cleaning: Vec<String>,
    /// The assumptions behind the claim.
    pub assumed: Vec<String>,
    /// Facts the recipient cannot count again.
    pub not_recountable: Vec<String>,
}

impl Promise<Table> {
    pub(crate) fn of_table(policy: &Policy) -> Result<Promise> {
        let patients = policy.patient().is_some();
        let effects = policy.effects;
        let claim = Claim {
            k: policy.privacy.k,
            knows: knows(policy),
            sensitive: sensitive(policy),
            synthetic: synthetic(policy)?,
        };
        let columns = policy.released().into_iter().map(|c| {
            let column = &policy.columns[c];
            // Where single cells are suppressed, a quasi-identifier is also suppressed where a coarser one is.
            let of = match &column.role {
                Role::Detail { of } => of.clone(),
                _ if effects.single_cells => column.of.clone(),
                _ => Vec::new(),
            };
            ColumnClaim { name: column.name.clone(), role: column.role.name().into(), of, labels: None }
        });
        let columns = columns.collect();
        let Basis { assumed, not_recountable } = facts(policy).basis(&claim);
        let cleaning = cleaning_sentences(&policy.columns);
        Ok(Promise { patients, effects, columns, claim, cleaning, assumed, not_recountable })
    }
}

impl<S: Shape> Promise<S> {
    /// The promise of a random sample of the release: it is about the whole file.
    pub(crate) fn sampled(mut self) -> Promise<S> {
        Basis { assumed: self.assumed, not_recountable: self.not_recountable } = S::basis(&self, true);
        self
    }
}

impl Promise<Table> {
    /// Sets whether labels overlap in the release, which is known once it was compared with the original.
    pub(crate) fn set_overlap(&mut self, overlap: bool) {
        let facts = TableFacts { only_in_groups: overlap, ..TableFacts::of(self) };
        Basis { assumed: self.assumed, not_recountable: self.not_recountable } = facts.basis(&self.claim);
    }
}

/// The facts of a policy that decide what its promise rests on.
fn facts(policy: &Policy) -> TableFacts {
    let quasi = policy.quasi();
    let name = |q: usize| policy.columns[quasi[q]].name.clone();
    let suppresses = |&c: &usize| policy.columns[c].unmapped == Unmapped::Suppressed;
    TableFacts {
        patients: policy.patient().is_some(),
        accepted: accepted(&policy.accept, &released_names(&policy.columns, str::to_string)),
        not_together: policy.privacy.not_together.iter().map(|&(a, b)| (name(a), name(b))).collect(),
        // Two classes at confidence ½ that share a patient merge to ⅔. Whether labels overlap is counted later.
        only_in_groups: policy.effects.single_cells || quasi.iter().any(suppresses),
        sample: false,
    }
}

/// The dangers that a policy accepts, with the columns they are about. A column that is not released has none.
fn accepted(accept: &[Acceptance], released: &[(String, bool)]) -> Vec<(Danger, Vec<String>)> {
    let has = |name: &String, quasi: bool| released.contains(&(name.clone(), quasi));
    let applies = |own: &&Acceptance| match &own.columns[..] {
        [one] => has(one, false),
        [reveals, revealed] => has(reveals, false) && has(revealed, true),
        _ => false,
    };
    accept.iter().filter(applies).map(|own| (own.finding, own.columns.clone())).collect()
}

/// The released columns with their names, each with whether it is a quasi-identifier.
fn released_names(columns: &[Column], shown: impl Fn(&str) -> String) -> Vec<(String, bool)> {
    let released = columns.iter().filter(|column| column.role.is_released());
    released.map(|column| (shown(&column.name), column.role == Role::Quasi)).collect()
}

fn knows(policy: &Policy) -> KnowsClaim {
    let quasi = policy.quasi();
    let name = |q: &usize| policy.columns[quasi[*q]].name.clone();
    match &policy.privacy.knows {
        Knows::All => KnowsClaim::All,
        Knows::Any(n) => KnowsClaim::Any(*n),
        Knows::Sets(sets) => KnowsClaim::Sets(sets.iter().map(|s| s.iter().map(name).collect()).collect()),
    }
}

/// The claims about sensitive columns. The order or tree of their values is added by the verifier,
/// when it has read which values are released.
fn sensitive(policy: &Policy) -> Vec<SensitiveClaim> {
    let privacy = &policy.privacy;
    if !privacy.reads_sensitive() {
        return Vec::new();
    }
    let claim = |column: &Column| match &column.role {
        Role::Sensitive { values } => Some(SensitiveClaim {
            column: column.name.clone(),
            values: values.clone(),
            confidence: privacy.confidence,
            l_diversity: privacy.l_diversity.clone(),
            t_closeness: privacy.t_closeness.map(|(max, distance)| TClaim { max, distance, order: None, tree: None }),
        }),
        _ => None,
    };
    policy.columns.iter().filter_map(claim).collect()
}

/// The rows that limits on sensitive values are about where some records are synthetic: the names in policies, and
/// whether the limits hold only for the rows as shown.
const LIMITS: [(&str, bool); 2] = [("real", false), ("shown", true)];

fn synthetic(policy: &Policy) -> Result<Option<SyntheticClaim>> {
    let Some(rules) = &policy.own.synthetic else { return Ok(None) };
    let column = policy.positions(|r| matches!(r, Role::Sensitive { .. })).first().copied();
    let catalog = column.filter(|_| rules.catalog).map(|c| policy.columns[c].name.clone());
    let padding = policy.method.word("padding", &Padding::NAMES)?.unwrap_or(Padding::Randomized);
    let Some(real_k) = policy.method.whole("real_k")? else {
        return Err(policy.error(
            "[method] has no `real_k`: the least number of real records in a group. Set it, for example real_k = 2.",
        ));
    };
    let limits_shown_only = policy.method.word("limits", &LIMITS)?.unwrap_or(false);
    Ok(Some(SyntheticClaim { real_k, padding, catalog, limits_shown_only }))
}

impl Promise<Codes> {
    pub(crate) fn of_codes(policy: &Policy<Codes>) -> Result<Promise<Codes>> {
        let patients = policy.patient().is_some();
        let flag = |key: &str| Ok::<_, Error>(policy.method.flag(key)?.unwrap_or(false));
        let claim = CodesClaim {
            k: policy.privacy.k,
            m: policy.privacy.known_codes(),
            aware: flag("aware")?,
            no_cover: flag("no_cover")?,
            sensitive: policy.method.texts("sensitive")?.unwrap_or_default(),
            confidence: policy.privacy.confidence,
        };
        let columns = policy.released().into_iter().map(|c| {
            let column = &policy.columns[c];
            ColumnClaim { name: column.name.clone(), role: column.role.name().into(), of: Vec::new(), labels: None }
        });
        let columns: Vec<ColumnClaim> = columns.collect();
        let Basis { assumed, not_recountable } = basis_of_codes(&claim, &columns, patients);
        Ok(Promise {
            patients,
            effects: policy.effects,
            columns,
            claim,
            cleaning: cleaning_sentences(&policy.columns),
            assumed,
            not_recountable,
        })
    }
}

impl Promise<Events> {
    pub(crate) fn of_events(policy: &Policy<Events>) -> Promise<Events> {
        let asked = &policy.own;
        let patients = (PATIENTS_TABLE, &asked.patients[..]);
        let events = asked.tables.iter().map(|own| (own.name.as_str(), &own.columns[..]));
        let (mut tables, mut columns, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (name, own) in std::iter::once(patients).chain(events) {
            names.extend(released_names(own, |column| format!("{name}.{column}")));
            let own = released(own);
            tables.push((name.to_string(), own.len()));
            columns.extend(own);
        }
        let claim = EventsClaim { k: policy.privacy.k, power: asked.power, max_high_risk: asked.max_high_risk, tables };
        let Basis { assumed, not_recountable } = basis_of_events(&claim, &columns, &accepted(&policy.accept, &names));
        Promise {
            patients: true,
            effects: policy.effects,
            columns,
            claim,
            cleaning: [cleaning_sentences(&asked.patients), cleaning_sentences(&policy.columns)].concat(),
            assumed,
            not_recountable,
        }
    }
}

/// The released columns of one of the tables, quasi-identifiers first.
fn released(columns: &[Column]) -> Vec<ColumnClaim> {
    let mut own: Vec<&Column> = columns.iter().filter(|c| c.role.is_released()).collect();
    own.sort_by_key(|c| (c.role != Role::Quasi, c.place));
    let labels = |c: &Column| StandardHierarchy::of(&c.rule).filter(|_| c.role == Role::Quasi);
    own.iter()
        .map(|c| ColumnClaim { name: c.name.clone(), role: c.role.name().into(), of: Vec::new(), labels: labels(c) })
        .collect()
}

impl<S: Shape> Promise<S> {
    /// Refuses a certificate that promises anything else. Equality decides; the words only say where to look.
    pub(crate) fn must_be(&self, other: &Promise<S>) -> Result<()> {
        if self == other {
            return Ok(());
        }
        let what = if self.patients != other.patients {
            "the unit (patient or row) differs"
        } else if self.columns != other.columns {
            "the columns and their roles differ"
        } else if self.effects != other.effects {
            "what the method adds to the promise differs"
        } else if S::k(&self.claim) != S::k(&other.claim) {
            "k differs"
        } else if self.claim != other.claim {
            "what the adversary knows or what is required differs"
        } else if self.cleaning != other.cleaning {
            "how the data was cleaned differs"
        } else {
            "what is assumed or cannot be recounted differs"
        };
        Err(Error::refused(format!("the certificate does not claim what the policy asks for: {what}.")))
    }
}

/// Returns whether a policy asks for samples of this share.
pub(crate) fn asks_for_share<S: Shape>(policy: &Policy<S>, share: Fraction) -> Result<bool> {
    let asked = policy.method.decimals("samples")?.unwrap_or_default();
    Ok(asked.into_iter().any(|own| Fraction::from_decimal(own) == Some(share)))
}
