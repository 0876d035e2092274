//! Why no release can meet the requirement, and the nearest that can.

use super::{NodeClasses, SearchLimits, Which, apply_rule};
use kohort_core::Error;
use kohort_core::cohort::Cohort;
use kohort_core::number::{Decimal, Fraction, K};
use kohort_core::policy::Policy;
use kohort_core::privacy::{LDiversity, Sensitive};

/// Explains which requirement fails even at the coarsest permitted levels.
pub fn explain(cohort: &Cohort, policy: &Policy, top: &[usize], limits: SearchLimits) -> Error {
    let k = policy.privacy.k.get();
    if let Some(error) = cohort.too_few_for(k) {
        return error;
    }
    let holds = |k: K, keep: &dyn Fn(&Sensitive) -> Sensitive| {
        let mut part = cohort.clone();
        part.required.iter_mut().for_each(|r| r.requirement = keep(&r.requirement));
        part.required.retain(|r| !r.requirement.is_empty());
        let mut classes = NodeClasses::new(&part);
        let outcome = apply_rule(&part, &mut classes, top, k, Which::Everything, limits.suppressed);
        outcome.is_some_and(|o| o.suppressed < cohort.tuples.rows)
    };
    let nothing = |_: &Sensitive| Sensitive::default();
    let coarsest = "even with every column at its coarsest permitted level";
    if !holds(policy.privacy.k, &nothing) {
        // The largest k that holds: it holds below, it fails above.
        let (mut low, mut high) = (1, k);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let k = K::new(middle);
            if k.is_some_and(|k| holds(k, &nothing)) { low = middle } else { high = middle }
        }
        let near = if low < 2 {
            "No k can be met; permit coarser levels or more suppression.".into()
        } else {
            format!("The largest k that can be met is {low}.")
        };
        return Error::infeasible(format!("k = {k} cannot be met {coarsest}. {near}"));
    }
    let least = K::LEAST;
    let share = |hundredths: u64| {
        Decimal::parse(&format!("{}.{:02}", hundredths / 100, hundredths % 100), b'.').and_then(Fraction::from_decimal)
    };
    if let Some(max) = policy.privacy.confidence {
        let only = |c: Fraction| {
            move |s: &Sensitive| {
                let confidence = s.confidence.clone().map(|own| kohort_core::privacy::Confidence { max: c, ..own });
                Sensitive { confidence, ..Sensitive::default() }
            }
        };
        if !holds(least, &only(max)) {
            let near = (1..=100).filter_map(share).find(|&c| holds(least, &only(c)));
            let near = near.map_or(String::new(), |c| format!(" The smallest that can be met is about {c}."));
            return Error::infeasible(format!(
                "confidence = {max} cannot be met {coarsest}: no generalization lowers how frequent a value is in the whole table.{near}"
            ));
        }
    }
    if let Some(l) = &policy.privacy.l_diversity {
        let only =
            |own: LDiversity| move |_: &Sensitive| Sensitive { l_diversity: Some(own.clone()), ..Sensitive::default() };
        if !holds(least, &only(l.clone())) {
            let with = |n: u64| match l {
                LDiversity::Distinct(_) => LDiversity::Distinct(n),
                LDiversity::Entropy(_) => LDiversity::Entropy(n),
                LDiversity::Recursive { c, .. } => LDiversity::Recursive { c: *c, l: n },
            };
            let near = (2..l.l()).rev().find(|&n| holds(least, &only(with(n))));
            let near = near
                .map_or("No l of at least 2 can be met.".into(), |n| format!("The largest l that can be met is {n}."));
            return Error::infeasible(format!("l_diversity ({}) cannot be met {coarsest}. {near}", l.describe()));
        }
    }
    if let Some((max, _)) = policy.privacy.t_closeness {
        let only = |t: Fraction| {
            move |s: &Sensitive| {
                let t_closeness = s.t_closeness.clone().map(|own| kohort_core::privacy::TCloseness { max: t, ..own });
                Sensitive { t_closeness, ..Sensitive::default() }
            }
        };
        if !holds(least, &only(max)) {
            let near = (0..=100).filter_map(share).find(|&t| holds(least, &only(t)));
            let near = near.map_or(String::new(), |t| format!(" The smallest that can be met is about {t}."));
            return Error::infeasible(format!("t_closeness = {max} cannot be met {coarsest}.{near}"));
        }
    }
    Error::infeasible(format!(
        "each requirement can be met by itself, but not all of them together {coarsest}. Require less, permit \
         coarser levels, or allow more suppression (max_suppressed)."
    ))
}
