//! What a policy promises of a release: derived once, here, for the verifier itself.
//!
//! Nobody hands the verifier a promise. It derives one from the bound policy, writes it into the
//! certificate, and later compares a certificate with it.

use super::claim::{Claim, CodesClaim, ColumnClaim, EventsClaim, InventedClaim, KnowsClaim, SensitiveClaim, TClaim};
use crate::hierarchy::StandardHierarchy;
use crate::number::Fraction;
use crate::policy::{Column, Effects, Policy, Power, PowerRule, Role, Unmapped};
use crate::privacy::{Knows, Padding};
use crate::shape::{Codes, Events, Shape, Table};
use crate::{Error, Result};

/// What is promised of a release, as far as it follows from the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise<S: Shape = Table> {
    /// Whether people are patients (otherwise rows).
    pub patients: bool,
    /// What the method adds to the promise.
    pub effects: Effects,
    /// The released columns, in order.
    pub columns: Vec<ColumnClaim>,
    /// What is claimed.
    pub claim: S::Claim,
    /// What the claim rests on.
    pub assumed: Vec<String>,
    /// What the recipient cannot count again.
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
            invented: invented(policy)?,
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
        let assumed = assumed_of_table(policy, &claim);
        let mut not_recountable = Vec::new();
        if patients {
            not_recountable.push("How many patients are behind the rows of a group: they were counted before release; a recipient can count rows only.".into());
            if !claim.sensitive.is_empty() {
                not_recountable.push("The limits on sensitive values, since they are counted in patients.".into());
            }
        }
        if claim.invented.is_some() {
            not_recountable.push("Which records are synthetic, and how many people a group holds without them.".into());
            if !claim.sensitive.is_empty() {
                not_recountable.push("The limits on sensitive values without the synthetic records.".into());
            }
        }
        Ok(Promise { patients, effects, columns, claim, assumed, not_recountable })
    }
}

impl<S: Shape> Promise<S> {
    /// The promise of a random sample of the release: it is about the whole file.
    pub(crate) fn sampled(mut self) -> Promise<S> {
        self.assumed.push("Nobody outside knows who is in this sample.".into());
        let unit = if self.patients { "patients" } else { "rows" };
        self.not_recountable.insert(
            0,
            format!("The guarantee itself: it was recounted on the whole file. This is a random sample of that file, and its recipient does not have the rest. From the sample one can check that the files are those listed, that the columns are those declared, that no detail is shown where the column it belongs to is suppressed, and how many {unit} of the sample look the same."),
        );
        self
    }
}

fn assumed_of_table(policy: &Policy, claim: &Claim) -> Vec<String> {
    let mut assumed = vec![
        "An attacker knows at most the columns of a person that are declared as quasi-identifiers, in the sets listed."
            .to_string(),
        "An attacker does not know columns with another role.".to_string(),
    ];
    let quasi = policy.quasi();
    let name = |q: usize| &policy.columns[quasi[q]].name;
    for &(a, b) in &policy.privacy.not_together {
        assumed.push(format!("Nobody knows `{}` and `{}` of a person together.", name(a), name(b)));
    }
    if policy.patient().is_none() {
        assumed.push("Every row is a different person.".into());
        return assumed;
    }
    assumed.push("An attacker who knows several rows of one patient is not covered.".into());
    if !claim.sensitive.is_empty() {
        // Two classes at confidence ½ that share a patient merge to ⅔.
        let suppresses = |&c: &usize| policy.columns[c].unmapped == Unmapped::Suppressed;
        if policy.effects.single_cells || quasi.iter().any(suppresses) {
            assumed.push("The limits on sensitive values hold in each group of identical records. A suppressed cell counts as a value of its own there; an attacker who takes it for any value matches several groups at once, and may learn more.".into());
        }
        if claim.knows == KnowsClaim::All {
            assumed.push("The limits on sensitive values were counted for an attacker who knows all quasi-identifiers, not fewer.".into());
        }
    }
    assumed
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

/// What is required of sensitive columns. The order or tree of their values is added by the verifier,
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

fn invented(policy: &Policy) -> Result<Option<InventedClaim>> {
    let Some(rules) = &policy.own.synthetic else { return Ok(None) };
    let column = policy.positions(|r| matches!(r, Role::Sensitive { .. })).first().copied();
    let catalog = column.filter(|_| rules.catalog).map(|c| policy.columns[c].name.clone());
    let padding = policy.method.word("padding", &Padding::NAMES)?.unwrap_or(Padding::Randomized);
    let Some(real_k) = policy.method.whole("real_k")? else {
        return Err(policy.error(
            "[method] has no `real_k`: the least number of real records in a group. Set it, for example real_k = 2.",
        ));
    };
    Ok(Some(InventedClaim { real_k, padding, catalog }))
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
        let mut assumed = vec![
            "An attacker knows at most m codes of a person, and not which codes the person does not have.".to_string(),
            "Every person has at least one code.".to_string(),
        ];
        if !patients {
            assumed.push("Every row is a different person.".into());
        }
        if claim.confidence.is_some() {
            assumed.push("An attacker does not know who has the codes listed as sensitive.".into());
        }
        let mut not_recountable = vec![
            "Whether the chunks hold the codes of the original patients: they were compared before release."
                .to_string(),
        ];
        if claim.confidence.is_some() {
            not_recountable.push("How many patients of a cluster have a sensitive code: they were counted before release. The release shows only that somebody has it, and how large the cluster is.".into());
        }
        Ok(Promise { patients, effects: policy.effects, columns: columns.collect(), claim, assumed, not_recountable })
    }
}

impl Promise<Events> {
    pub(crate) fn of_events(policy: &Policy<Events>) -> Promise<Events> {
        let asked = &policy.own;
        let of_patients = released(&asked.patients);
        let claim = EventsClaim {
            k: policy.privacy.k,
            power: asked.power,
            max_high_risk: asked.max_high_risk,
            patient_columns: of_patients.len(),
        };
        let mut assumed = match asked.power {
            Power::Values { p, rule } => vec![
                format!("An attacker knows all patient-level quasi-identifiers and, in each event column separately, at most {p} of the patient's values, but not which of them belong to the same event, nor their order."),
                match rule {
                    PowerRule::Variable => "How many values they know of a patient depends on the number of events and on how much their values differ (power rule \"variable\"). This is a model; no data supports it.".to_string(),
                    PowerRule::Fixed => "They know the same number of values of every patient.".to_string(),
                },
                "Every event of a patient is as likely to be known as any other.".to_string(),
            ],
            Power::Events { p } => vec![
                format!("An attacker knows all patient-level quasi-identifiers and at most {p} whole events of the patient."),
                "Every event of a patient is as likely to be known as any other.".to_string(),
            ],
            Power::Total { p } => vec![format!(
                "An attacker knows all patient-level quasi-identifiers and at most {p} facts about the patient's events in total, but not which of them belong to the same event, nor their order."
            )],
        };
        assumed.push("An attacker does not know which values a patient does not have, the number of the patient's events, or the time between them.".into());
        if policy.columns.iter().chain(&asked.patients).any(|c| matches!(c.role, Role::Other { .. })) {
            assumed.push("Nobody outside knows columns with role \"other\".".into());
        }
        Promise {
            patients: true,
            effects: policy.effects,
            columns: of_patients.into_iter().chain(released(&policy.columns)).collect(),
            claim,
            assumed,
            not_recountable: vec![
                "Which of the original events were excluded, truncated or suppressed. Each released cell was compared with the original before release.".into(),
                "The estimate from the original events. It was at or below the threshold before release.".into(),
            ],
        }
    }
}

/// The released columns of one of the two tables, quasi-identifiers first.
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
            "the unit (patient or row)"
        } else if self.columns != other.columns {
            "the columns and their roles"
        } else if self.effects != other.effects {
            "what the method adds to the promise"
        } else if S::k(&self.claim) != S::k(&other.claim) {
            "k"
        } else if self.claim != other.claim {
            "what the adversary knows or what is required"
        } else {
            "what is assumed or cannot be recounted"
        };
        Err(Error::refused(format!("the certificate does not claim what the policy asks for: {what} differs.")))
    }
}

/// Whether a policy asks for samples of this share.
pub(crate) fn asks_for_share<S: Shape>(policy: &Policy<S>, share: Fraction) -> Result<bool> {
    let asked = policy.method.decimals("samples")?.unwrap_or_default();
    Ok(asked.into_iter().any(|own| Fraction::from_decimal(own) == Some(share)))
}
