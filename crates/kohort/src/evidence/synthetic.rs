//! The evidence about synthetic records: how many there are, how many people a class holds without
//! them, what a reader of the catalog makes of it, and whether they can be told from real ones.

use super::metrics::{CatalogFound, ClassKind, Counterfeits, DistinguishableRecords};
use super::table::TableRun;
use crate::methods::Synthetic;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::release::{CatalogLine, Plan};
use kohort_core::table::Keys;
use kohort_core::utility;
use kohort_core::verify::{Compared, Recount, Verified, catalog_groups};
use std::collections::BTreeMap;

/// Above this, synthetic records are recognised too well.
pub const MOST_AUC: f64 = 0.55;
/// Kinds of class that are listed, at most.
const MOST_KINDS: usize = 200;

/// A class of the release.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ReleasedClass {
    real: u64,
    rows: u64,
    added: u64,
    /// The number of rows a reader of the catalog is left with: 1 / the posterior of the likeliest.
    effective: f64,
}

/// Measures synthetic records.
pub(super) fn measure(
    run: &TableRun,
    synthetic: Synthetic,
    verified: &Verified,
    (recount, compared): (&Recount, &Compared),
) -> Result<Counterfeits> {
    let TableRun { policy, cohort, plan, .. } = *run;
    let classes = classes(cohort, plan, policy, synthetic);
    let told = match verified.has_rows() {
        true => {
            let (released, lines) = verified.released(cohort.threads)?;
            utility::distinguish_synthetic(&released, &lines)?
        }
        false => None,
    };
    Ok(Counterfeits {
        rows: compared.added,
        share: compared.added as f64 / cohort.tuples.rows as f64,
        real_k: synthetic.real_k,
        smallest_real_class: compared.smallest_real_class,
        smallest_effective_k: classes.iter().map(|c| c.effective).fold(f64::INFINITY, f64::min),
        classes: classes.len(),
        filled_classes: classes.iter().filter(|c| c.added > 0).count(),
        kinds: kinds(&classes, policy.privacy.k.get()),
        distinguishable: told.map(|t| DistinguishableRecords {
            auc: t.auc,
            synthetic: t.synthetic,
            real: t.real,
            warning: t.auc > MOST_AUC,
        }),
        catalog: recount.catalog.as_ref().map(|catalog| CatalogFound {
            groups: catalog.groups,
            rows: catalog.rows,
            highest_posterior: catalog.highest_posterior,
        }),
    })
}

/// The loss if synthetic records count too.
pub(super) fn loss_with_counterfeits(cohort: &Cohort, plan: &Plan, added: u64) -> f64 {
    let width = cohort.quasi.len().max(1) as f64;
    let of_added: f64 = plan.added.iter().map(|a| loss(cohort, plan, a.cells) / width).sum();
    let of_real: f64 = (0..cohort.tuples.len())
        .flat_map(|t| plan.rows(cohort, t))
        .map(|(cells, rows)| rows as f64 * loss(cohort, plan, cells) / width)
        .sum();
    (of_real + of_added) / (cohort.tuples.rows + added) as f64
}

/// Returns what the custodian must be told.
pub(super) fn warnings(found: &Counterfeits) -> Vec<String> {
    match &found.distinguishable {
        Some(told) if told.warning => vec![format!(
            "a decision tree can distinguish synthetic records from real ones (AUC {:.3}, above {MOST_AUC}), so an \
             attacker may recognise some of them. Permit coarser levels, raise real_k, or list impossible \
             combinations under `forbidden`.",
            told.auc
        )],
        _ => Vec::new(),
    }
}

/// Returns what a row loses, over its quasi-identifiers together.
fn loss(cohort: &Cohort, plan: &Plan, cells: u32) -> f64 {
    let labels = plan.row(cells)[..cohort.quasi.len()].iter().zip(&plan.changed);
    labels.map(|(&label, changed)| changed.labels[label as usize].loss).sum()
}

fn classes(cohort: &Cohort, plan: &Plan, policy: &Policy, synthetic: Synthetic) -> Vec<ReleasedClass> {
    let mut keys = Keys::new(cohort.quasi.len());
    let rows = plan.cells.len() / plan.changed.len().max(1);
    let class_of: Vec<u32> =
        (0..rows).map(|cells| keys.intern(&plan.row(cells as u32)[..cohort.quasi.len()])).collect();
    let mut classes = vec![ReleasedClass { real: 0, rows: 0, added: 0, effective: 0.0 }; keys.len()];
    for (cells, n) in plan.rows_by_cells(cohort).iter().enumerate() {
        classes[class_of[cells] as usize].rows += n;
    }
    plan.added.iter().for_each(|a| classes[class_of[a.cells as usize] as usize].added += 1);
    match &cohort.tuples.patients {
        None => classes.iter_mut().for_each(|c| c.real = c.rows),
        Some(patients) => {
            let mut named: Vec<(u32, u32)> = Vec::new();
            for t in 0..cohort.tuples.len() {
                for part in plan.parts.of(t) {
                    let class = class_of[part.cells as usize];
                    let (single, own) = part.share.people(patients, t);
                    classes[class as usize].real += single;
                    named.extend(own.iter().map(|&p| (class, p)));
                }
            }
            named.sort_unstable();
            named.dedup();
            named.iter().for_each(|&(class, _)| classes[class as usize].real += 1);
        }
    }
    classes.iter_mut().for_each(|c| c.effective = (c.rows + c.added) as f64);
    let (Some(catalog), Some(listed)) = (&plan.catalog, &cohort.catalogued) else { return classes };
    let stock = cohort.synthetic_values.iter().position(|s| s.position == Some(listed.position)).unwrap_or(0);
    let mut shown: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); classes.len()];
    let text = |code: u32| cohort.tuples.dictionaries[listed.position].text(code).to_string();
    for t in 0..cohort.tuples.len() {
        for (cells, n) in plan.rows(cohort, t) {
            let own = &mut shown[class_of[cells as usize] as usize];
            *own.entry(text(cohort.tuples.code(t, listed.position))).or_default() += n;
        }
    }
    for added in &plan.added {
        *shown[class_of[added.cells as usize] as usize].entry(text(added.values[stock])).or_default() += 1;
    }
    let lines: Vec<CatalogLine> = catalog
        .entries
        .iter()
        .map(|entry| {
            let mut ids: Vec<u64> = entry.classes.iter().map(|&c| u64::from(class_of[c as usize])).collect();
            ids.sort_unstable();
            CatalogLine { classes: ids, value: entry.value.clone(), rows: entry.rows }
        })
        .collect();
    let k = policy.privacy.k;
    let groups = catalog_groups(&lines, &|id| shown[id as usize].clone(), &|n| synthetic.padding.may_fill(n, k));
    for (ids, group) in groups.unwrap_or_default() {
        for least in [1, synthetic.real_k] {
            for (id, found) in ids.iter().zip(group.posteriors(k, least)) {
                let own = &mut classes[*id as usize].effective;
                *own = own.min(1.0 / found.highest);
            }
        }
    }
    classes
}

/// Returns how many classes there are of each kind: real people, rows shown, effective k. Larger ones to which nothing
/// was added are of no interest.
fn kinds(classes: &[ReleasedClass], k: u64) -> Vec<ClassKind> {
    let mut kinds: BTreeMap<(u64, u64, u64), u64> = BTreeMap::new();
    for class in classes.iter().filter(|c| c.added > 0 || c.real <= k || c.effective < c.rows as f64) {
        let effective = (class.effective * 1e4 + 1e-6).floor() as u64;
        *kinds.entry((effective, class.real, class.rows + class.added)).or_default() += 1;
    }
    let kinds = kinds.into_iter().take(MOST_KINDS);
    let kinds = kinds.map(|((effective, real, published), classes)| ClassKind {
        real,
        published,
        effective_k: effective as f64 / 1e4,
        classes,
    });
    kinds.collect()
}
