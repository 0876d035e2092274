//! What is known of a release: the claim it makes, and its risk and utility before and after.

pub mod codes;
mod distributions;
pub mod events;
mod invented;
pub mod metrics;
mod outlook;
mod people;
mod public_use;
mod stopwatch;
pub mod table;
mod utility;

pub use metrics::Metrics;
pub use outlook::{CodesErrors, CodesOutlook, Outlook, TableOutlook, outlook};
pub use people::worst_sets;
pub use public_use::{attacks, baseline_fits, formula_note};
pub use stopwatch::{Stage, Stopwatch};

use crate::methods::Method;
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Policy, Role};
use kohort_core::privacy::{Distance, Knows};
use kohort_core::release::{
    Certificate, Chance, Claim, Claimed, ColumnClaim, InventedClaim, KnowsClaim, Plan, Recoding, SensitiveClaim,
    TClaim, guarantee,
};
use kohort_core::table::Source;
use serde_json::Value;

/// What the numbers give reason to say.
pub fn notes(metrics: &Metrics) -> Vec<String> {
    match metrics {
        Metrics::Table(own) => {
            [public_use::notes(own), own.counterfeits.as_ref().map_or(Vec::new(), invented::warnings)].concat()
        }
        Metrics::Codes(_) | Metrics::Events(_) => Vec::new(),
    }
}

/// The certificate as far as the policy decides it: the gate fills in what it counts.
pub fn draft_certificate(
    source: &Source,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
    method: &Method,
    chance: &Chance,
) -> Certificate {
    let patients = policy.patient().is_some();
    let claim = claim(policy, cohort, plan, method);
    let columns = policy.released().into_iter().map(|c| {
        let column = &policy.columns[c];
        let of = match &column.role {
            Role::Detail { of } => of.clone(),
            _ if plan.recoding == Recoding::ByCell => column.of.clone(),
            _ => Vec::new(),
        };
        ColumnClaim { name: column.name.clone(), role: column.role.name().into(), of, labels: None }
    });
    let mut assumed = vec![
        "The adversary knows of a person at most what is declared as quasi-identifiers, in the sets listed."
            .to_string(),
        "Columns with another role are not known to the adversary.".to_string(),
    ];
    let name = |q: usize| &cohort.quasi[q].name;
    for &(a, b) in &policy.privacy.not_together {
        assumed.push(format!("Nobody knows `{}` and `{}` of a person together.", name(a), name(b)));
    }
    let mut not_recountable = Vec::new();
    if patients {
        assumed.push("A reader who knows several rows of one patient is not covered.".into());
        not_recountable.push("How many patients stand behind the rows of a class: it was counted before release; the recipient counts rows.".into());
        if !claim.sensitive.is_empty() {
            not_recountable.push("What is claimed of sensitive values, since it is counted in patients.".into());
            // Two classes at confidence ½ that share a patient merge to ⅔.
            let blanks =
                plan.recoding == Recoding::ByCell || cohort.quasi.iter().any(|q| !q.hierarchy.uncovered.is_empty());
            if blanks {
                assumed.push("What is claimed of sensitive values counts a suppressed cell as a value of its own; to a reader who takes it for any value, rows with it match as well, and more may be learned.".into());
            }
            if claim.knows == KnowsClaim::All {
                assumed.push("What is claimed of sensitive values was counted for a reader who knows all quasi-identifiers, not fewer.".into());
            }
        }
    } else {
        assumed.push("Every row is another person.".into());
    }
    if claim.invented.is_some() {
        not_recountable.push("Which rows are invented, and how many people a class holds without them.".into());
        if !claim.sensitive.is_empty() {
            not_recountable.push("What is claimed of sensitive values without the invented rows.".into());
        }
    }
    let claim = Claimed::Table(claim);
    Certificate {
        kohort: env!("CARGO_PKG_VERSION").into(),
        method: method.name().into(),
        patients,
        test: chance.test,
        sample: None,
        files: Vec::new(),
        delimiter: source.delimiter(),
        columns: columns.collect(),
        guarantee: guarantee(method.name(), &claim, patients),
        claim,
        recount: Value::Null,
        assumed,
        not_recountable,
    }
}

fn claim(policy: &Policy, cohort: &Cohort, plan: &Plan, method: &Method) -> Claim {
    let name = |q: &usize| cohort.quasi[*q].name.clone();
    let knows = match &policy.privacy.knows {
        Knows::All => KnowsClaim::All,
        Knows::Any(n) => KnowsClaim::Any(*n),
        Knows::Sets(sets) => KnowsClaim::Sets(sets.iter().map(|s| s.iter().map(name).collect()).collect()),
    };
    let sensitive = cohort.required.iter().map(|required| {
        let dictionary = &cohort.tuples.dictionaries[required.kept.position];
        let column = &policy.columns[required.kept.column];
        let values = match &column.role {
            Role::Sensitive { values } => values.clone(),
            _ => None,
        };
        let t_closeness = required.requirement.t_closeness.as_ref().map(|t| {
            // A value that only deleted rows had must not be named.
            let leaves = leaving(cohort, plan, required.kept.position);
            let text = |code: &u32| dictionary.text(*code).to_string();
            let leaving = |code: &&u32| leaves[**code as usize];
            TClaim {
                max: t.max,
                order: match &t.distance {
                    Distance::Ordered(order) => Some(order.iter().filter(leaving).map(text).collect()),
                    _ => None,
                },
                tree: match &t.distance {
                    Distance::Hierarchical(_) => {
                        let codes: Vec<u32> = (1..dictionary.len() as u32).collect();
                        Some(paths(column, codes.iter().filter(leaving).map(|&c| dictionary.text(c)).collect()))
                    }
                    _ => None,
                },
            }
        });
        SensitiveClaim {
            column: required.kept.name.clone(),
            values,
            confidence: required.requirement.confidence.as_ref().map(|c| c.max),
            l_diversity: required.requirement.l_diversity.clone(),
            t_closeness,
        }
    });
    let invented = method.synthetic().map(|synthetic| InventedClaim {
        real_k: synthetic.real_k,
        padding: synthetic.padding,
        catalog: plan.catalog.as_ref().map(|c| policy.columns[c.column].name.clone()),
    });
    Claim { k: policy.privacy.k, knows, sensitive: sensitive.collect(), invented }
}

/// By value code of a tuple column: whether any released row has it.
fn leaving(cohort: &Cohort, plan: &Plan, position: usize) -> Vec<bool> {
    let mut leaves = vec![false; cohort.tuples.dictionaries[position].len()];
    for t in (0..cohort.tuples.len()).filter(|&t| plan.rows(cohort, t).any(|(_, rows)| rows > 0)) {
        leaves[cohort.tuples.code(t, position) as usize] = true;
    }
    // What only invented rows show leaves as well.
    if let Some(stock) = cohort.stocks.iter().position(|s| s.position == Some(position)) {
        plan.added.iter().for_each(|added| leaves[added.values[stock] as usize] = true);
    }
    leaves
}

/// The path of each value up to the root.
fn paths(column: &kohort_core::policy::Column, values: Vec<&str>) -> Vec<Vec<String>> {
    let texts = [&[""], &values[..]].concat();
    let hierarchy = column.rule.apply(&texts, false);
    let path = |code: usize| {
        let above = hierarchy.levels.iter().skip(1).map(|l| l.labels[l.label_of[code] as usize].text.clone());
        std::iter::once(texts[code].to_string()).chain(above).collect()
    };
    (1..texts.len()).map(path).collect()
}
