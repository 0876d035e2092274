//! Why no release can meet the policy, and the nearest that can.

use super::best::CatalogSearch;
use super::catalog::Unsafe;
use super::fill::Refusal;
use super::padding::{ROW, allows};
use super::params::{Ceiling, Params};
use kohort_core::Error;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;

/// Nodes that are counted again to say what is missing, at most.
const MOST: usize = 2000;

/// Says what is in the way; `refused` is why nodes that seemed possible could not be filled.
pub(super) fn explain(
    search: &mut CatalogSearch,
    cohort: &Cohort,
    policy: &Policy,
    params: &Params,
    refused: Option<Refusal>,
) -> Error {
    let people = if cohort.tuples.patients.is_some() { "patients" } else { "rows" };
    if let Some(why) = refused {
        return Error::infeasible(could_not_be_filled(policy, params, &why));
    }
    let h = match params.ceiling {
        Ceiling::At(h) => Some(h),
        Ceiling::Auto => None,
    };
    let within = |search: &CatalogSearch, node: usize| h.is_none_or(|h| search.degrees.is_within(node, h.to_f64()));
    let finest = search.degrees.highest(0);
    if let Some(h) = h.filter(|_| !within(search, 0)) {
        // Rounded up, so that what is said is met.
        let least = (finest * 1e6 - 1e-6).ceil() / 1e6;
        return Error::infeasible(format!(
            "h = {h}: even the finest permitted levels generalize some record further. The smallest h that can be \
             met is {least}."
        ));
    }
    // The coarsest nodes under the ceiling: each finer one needs no fewer counterfeits.
    let space = search.space;
    let nodes: Vec<usize> = match h {
        None => vec![space.top()],
        Some(h) => {
            let beyond = search.degrees.beyond(h.to_f64(), &|| false).unwrap_or_default();
            let is_within: Vec<bool> = beyond.iter().map(|beyond| !beyond).collect();
            let coarser = |n: usize| (0..space.width()).filter_map(move |q| space.coarser(n, q));
            let coarsest = |&n: &usize| is_within[n] && coarser(n).all(|up| !is_within[up]);
            (0..space.len()).filter(coarsest).take(MOST).collect()
        }
    };
    let counted: Vec<_> = nodes.iter().map(|&n| search.count(&space.level_vector(n))).collect();
    let under = h.map_or(String::new(), |h| format!(" under the ceiling h = {h}"));
    let most_real = counted.iter().map(|c| c.smallest).max().unwrap_or(0);
    if !counted.is_empty() && most_real < params.real_k {
        return Error::infeasible(format!(
            "real_k = {}: with any levels{under}, some class has fewer real {people}. The largest real_k that can \
             be met is {most_real}; raise h, or permit coarser levels.",
            params.real_k
        ));
    }
    let rows = cohort.tuples.rows;
    let able = counted.iter().filter(|c| c.smallest >= params.real_k);
    let least = able.clone().map(|c| c.needs).min();
    if let Some(needs) = least.filter(|&needs| !allows(params.max_counterfeits, needs, rows)) {
        return Error::infeasible(needs_more(params, needs, rows));
    }
    if able.clone().all(|c| !c.holds) {
        return Error::infeasible(format!(
            "what is required of sensitive values cannot be met by the real {people} of every class, with any \
             levels{under}. Require less, raise h, or permit coarser levels."
        ));
    }
    Error::infeasible(format!(
        "each of h, real_k, max_counterfeits and the requirements can be met by itself, but not all of them \
         together{under}. Require less, or permit coarser levels."
    ))
}

/// Says that more synthetic records are needed (in units of 2⁻³²) than `max_counterfeits` allows.
pub(super) fn needs_more(params: &Params, needs: u128, rows: u64) -> String {
    format!("at least {}", enough(params, needs, rows, ""))
}

/// The same for groups that were found: other groups may need fewer.
pub(super) fn found_needs_more(params: &Params, needs: u128, rows: u64) -> String {
    enough(params, needs, rows, " by the groups that were found")
}

fn enough(params: &Params, needs: u128, rows: u64, by: &str) -> String {
    let under = match params.ceiling {
        Ceiling::At(h) => format!(" under the ceiling h = {h}"),
        Ceiling::Auto => String::new(),
    };
    let needed = match needs.div_ceil(u128::from(ROW)) {
        1 => "1 synthetic record is".to_string(),
        n => format!("{n} synthetic records are"),
    };
    // More than all rows cannot be asked for.
    let enough = ((needs as f64 / ROW as f64 / rows as f64) * 1e4).ceil() / 1e4;
    let raise =
        if enough > 1.0 { "Raise h".to_string() } else { format!("Raise max_counterfeits to {enough:.4}, raise h") };
    format!(
        "{needed} needed{by}{under}, but max_counterfeits = {} allows {} of {rows} rows. {raise}, or lower k.",
        params.max_counterfeits,
        params.max_counterfeits.of(rows),
    )
}

/// Says why classes could not be filled.
pub(super) fn could_not_be_filled(policy: &Policy, params: &Params, why: &Refusal) -> String {
    let k = policy.privacy.k;
    match why {
        Refusal::TooMany => {
            format!("max_counterfeits = {} allows too few synthetic records. Raise it.", params.max_counterfeits)
        }
        Refusal::Requirement => "what is required of sensitive values cannot be met with the synthetic records. \
             Require less, or permit coarser levels."
            .into(),
        Refusal::Catalog(Unsafe::NoPartner) => "the catalog would reveal which records are synthetic: no other \
             classes have enough real records with the same values. Use catalog = \"none\", or permit coarser \
             levels."
            .into(),
        Refusal::Catalog(Unsafe::Likely(_, highest)) => {
            let more = match params.padding {
                kohort_core::privacy::Padding::Exact => {
                    "use padding = \"randomized\": exact padding leaves exactly k records in a class, so that a catalog \
                     is safe only where all values of a class are synthetic equally often. A smaller table does not help"
                }
                kohort_core::privacy::Padding::Randomized => {
                    "raise max_counterfeits, so that classes may be filled further"
                }
            };
            format!(
                "with the catalog, a row would belong to a person with probability {highest:.4}, above 1/{k}: the \
                 effective k is {} instead of {k}. Use catalog = \"none\", or {more}.",
                (1.0 / highest + 1e-9).floor()
            )
        }
    }
}
