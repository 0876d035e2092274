//! The part that others may see of a release of patients and their events.

use super::hide::{self, any_small, distribution, small, two};
use crate::evidence::metrics::{
    Adversaries, ColumnLoss, Correlation, EventsGuarantee, EventsMetrics, EventsPeople, EventsUtility, Exclusion,
    FactsKnown, FoundShare, HighRisk, Masked, OtherRule, Sides, ThreeReadings, ValuesKnown,
};

pub(super) fn shareable(whole: EventsMetrics) -> EventsMetrics {
    let EventsMetrics {
        common,
        people: patients,
        exclusions,
        risk,
        adversaries,
        correlation,
        distributions,
        missingness: _,
        utility,
        guarantee,
        excluded_and_kept: _,
        marketer: _,
        attacks: _,
    } = whole;
    let told = !any_small(&common.rows) && !any_small_of(&patients);
    let Sides { before, after } = risk;
    let pair = |pair: Correlation| {
        let Correlation { columns, r } = pair;
        Correlation { columns, r }
    };
    EventsMetrics {
        common: hide::common(common, told),
        people: people(patients, told),
        exclusions: exclusions.filter(|_| told).map(|rules| rules.into_iter().map(exclusion).collect()),
        risk: Sides { before: before.map(high_risk), after: after.map(high_risk) },
        adversaries: others(adversaries),
        correlation: correlation.into_iter().map(pair).collect(),
        distributions: distributions.filter(|_| told).map(|all| all.into_iter().filter_map(distribution).collect()),
        missingness: None,
        utility: useful(utility),
        guarantee: guaranteed(guarantee),
        excluded_and_kept: None,
        marketer: None,
        attacks: None,
    }
}

/// Returns whether any number of patients read and removed is small.
fn any_small_of(people: &EventsPeople) -> bool {
    let EventsPeople { unit: _, r#in, excluded, emptied, without_events, dropped, suppressed, out: _ } = *people;
    [r#in, excluded, emptied, without_events, dropped, suppressed].into_iter().any(small)
}

/// Patients read, removed and released: all of it, or only what is released.
fn people(people: EventsPeople, told: bool) -> EventsPeople {
    let EventsPeople { unit, r#in, excluded, emptied, without_events, dropped, suppressed, out } = people;
    let shown = |count: Masked<u64>| if told { count } else { Masked::HIDDEN };
    EventsPeople {
        unit,
        r#in: shown(r#in),
        excluded: shown(excluded),
        emptied: shown(emptied),
        without_events: shown(without_events),
        dropped: shown(dropped),
        suppressed: shown(suppressed),
        out,
    }
}

/// The records that a rule excluded: rules overlap, so that their counts have no total; small ones are hidden.
fn exclusion(rule: Exclusion) -> Exclusion {
    let Exclusion { rule, scope, rows, patients } = rule;
    let hides = small(rows) || small(patients);
    let shown = |count: Masked<u64>| if hides { Masked::HIDDEN } else { count };
    Exclusion { rule, scope, rows: shown(rows), patients: shown(patients) }
}

fn high_risk(risk: HighRisk) -> HighRisk {
    let HighRisk { high_risk, hits: _, of: _ } = risk;
    HighRisk { high_risk: two(high_risk), hits: None, of: None }
}

fn others(adversaries: Adversaries) -> Adversaries {
    let Adversaries { values, rules, events, pairs, worst_pair, total } = adversaries;
    let three = |own: ThreeReadings| {
        let ThreeReadings { tolerant, strict, release } = own;
        ThreeReadings { tolerant: two(tolerant), strict: two(strict), release: two(release) }
    };
    let value = |own: ValuesKnown| {
        let ValuesKnown { known, variable, fixed } = own;
        ValuesKnown { known, variable: three(variable), fixed: three(fixed) }
    };
    let rule = |own: OtherRule| {
        let OtherRule { rule, known, release } = own;
        OtherRule { rule, known, release: two(release) }
    };
    let facts = |own: FactsKnown| {
        let FactsKnown { known, release } = own;
        FactsKnown { known, release: two(release) }
    };
    Adversaries {
        values: values.into_iter().map(value).collect(),
        rules: rules.into_iter().map(rule).collect(),
        events: events.into_iter().map(facts).collect(),
        pairs: pairs.into_iter().map(facts).collect(),
        worst_pair,
        total: total.into_iter().map(facts).collect(),
    }
}

fn useful(utility: EventsUtility) -> EventsUtility {
    let EventsUtility { loss, loss_of_levels, events_left: _, columns } = utility;
    let one = |own: ColumnLoss| {
        let ColumnLoss { column, loss } = own;
        ColumnLoss { column, loss: two(loss) }
    };
    EventsUtility {
        loss: two(loss),
        loss_of_levels: two(loss_of_levels),
        events_left: None,
        columns: columns.into_iter().map(one).collect(),
    }
}

/// The guarantee: shares of patients are rounded, and nothing is counted of the original.
fn guaranteed(guarantee: EventsGuarantee) -> EventsGuarantee {
    let EventsGuarantee {
        k,
        unit,
        max_high_risk,
        knows,
        found,
        one_event_known,
        events_known,
        patients,
        events,
        classes,
        smallest_class,
        without_events: _,
        without_events_at_risk: _,
        plain,
        aware,
        assumed,
        not_recountable,
        compared: _,
        power,
        power_rule,
        events_power,
        pairs_power,
        power_total,
        preset,
    } = guarantee;
    let share = |found: FoundShare| {
        let FoundShare { hits: _, of: _, share, low, high } = found;
        FoundShare { hits: None, of: None, share: two(share), low: low.map(two), high: high.map(two) }
    };
    EventsGuarantee {
        k,
        unit,
        max_high_risk,
        knows,
        found: share(found),
        one_event_known: share(one_event_known),
        events_known: share(events_known),
        patients,
        events,
        classes,
        smallest_class,
        without_events: None,
        without_events_at_risk: None,
        plain,
        aware,
        assumed,
        not_recountable,
        compared: None,
        power,
        power_rule,
        events_power,
        pairs_power,
        power_total,
        preset,
    }
}
