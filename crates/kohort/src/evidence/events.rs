//! The evidence about a release of patients and their events.

use super::metrics::{
    self, Adversaries, Apart, ColumnLoss, CommonMetrics, ComparedEvents, Correlation, Difference, EventsGuarantee,
    EventsMetrics, EventsPeople, EventsUtility, ExcludedAndKept, Exclusion, FactsKnown, FoundShare, HighRisk,
    LabelShares, Marketer, Metrics, MetricsShape, OtherRule, PowerBy, PowerRuleName, RowCounts, Sides, ThreeReadings,
    Unit, ValuesKnown,
};
use super::table::preset;
use super::{Stopwatch, distributions};
use crate::methods::claims::{Estimate, before_release, sensitivity};
use kohort_core::Result;
use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::number::number_of;
use kohort_core::policy::{self, EventsPolicy, Policy, Population, Power, PowerRule, Registry, Role};
use kohort_core::privacy::ShareAtRisk;
use kohort_core::release::{Certificate, EventsPlan, PATIENTS_TABLE};
use kohort_core::risk::marketer;
use kohort_core::shape::Events;
use kohort_core::statistics::Z95;
use kohort_core::table::Scope;
use kohort_core::verify::{EventsCompared, EventsRecount, Verified};
use std::collections::BTreeMap;

/// The parts of a run from which it is measured.
pub struct EventsRun<'a> {
    /// The policy.
    pub policy: &'a Policy<Events>,
    /// The part of the policy about events.
    pub asked: &'a EventsPolicy,
    /// The original.
    pub histories: &'a Histories,
    /// The plan for it.
    pub plan: &'a EventsPlan,
    /// How many threads work.
    pub threads: usize,
}

/// The knowledge of a column, or of events, for the table of other attackers.
const POWERS: [usize; 4] = [2, 3, 5, 10];
const SEED: u64 = 20_120_229;

/// Measures a release.
pub fn measure(
    run: &EventsRun,
    verified: &Verified<Events>,
    (recount, compared): (&EventsRecount, &EventsCompared),
    stopwatch: &Stopwatch,
) -> Result<Metrics> {
    let EventsRun { policy, asked, histories, plan, threads } = *run;
    let certificate = &verified.findings().certificate;
    let counts = &histories.counts;
    let k = policy.privacy.k.get();
    let of_events = |share: u64| share as f64 / histories.events().max(1) as f64;
    let gone = plan.removed() as u64;
    let patients_gone = plan.patients.iter().filter(|keep| !**keep).count() as u64;
    let dropped = counts.patients_in - counts.patients_excluded - counts.patients_emptied - histories.patients() as u64;
    let (powers, shown) = powers(asked.power);
    let after = sensitivity(histories, plan, k, (&powers, shown), threads, SEED);
    let before = before_release(histories, k, asked.power, threads, SEED);
    let p = asked.power.p();
    let found = match asked.power {
        Power::Values { rule: PowerRule::Variable, .. } => after.values.iter().find(|v| v.0 == p).map(|v| v.1[2]),
        Power::Values { rule: PowerRule::Fixed, .. } => after.values.iter().find(|v| v.0 == p).map(|v| v.2[2]),
        Power::Events { .. } => after.events.iter().find(|e| e.0 == p).map(|e| e.1),
        Power::Pairs { .. } => after.pairs.iter().find(|e| e.0 == p).map(|e| e.1),
        Power::Total { .. } => after.total.iter().find(|t| t.0 == p).map(|t| Estimate { hits: t.1, draws: t.2 }),
    };
    let high_risk = |e: Estimate| HighRisk { high_risk: e.share(), hits: Some(e.hits), of: Some(e.draws) };
    let lost = |name: String, column: &QuasiColumn, level: usize| ColumnLoss { column: name, loss: column.loss(level) };
    let patient_columns = histories.patient.iter().zip(&plan.patient_levels);
    let patient_columns = patient_columns.map(|(c, &level)| lost(c.name.clone(), c, level));
    let event_columns = histories.event.iter().zip(&plan.event_levels);
    let event_columns = event_columns.map(|(c, &level)| lost(histories.shown(c), c, level));
    let exclusion = |r: &kohort_core::events::RuleCount| Exclusion {
        rule: r.name.clone(),
        scope: if r.scope == Scope::Patient { "patient" } else { "row" }.into(),
        rows: r.rows.into(),
        patients: r.patients.into(),
    };
    Ok(Metrics::Events(Box::new(EventsMetrics {
        common: CommonMetrics::new(
            certificate,
            Some(MetricsShape::Events),
            RowCounts {
                r#in: counts.events_in.into(),
                excluded: counts.events_excluded.into(),
                suppressed: gone.into(),
                counterfeit: 0.into(),
                out: recount.events,
            },
            columns(run),
            (&plan.trace, stopwatch.read()),
        ),
        people: EventsPeople {
            unit: Unit::Patient,
            r#in: counts.patients_in.into(),
            excluded: counts.patients_excluded.into(),
            emptied: counts.patients_emptied.into(),
            without_events: counts.without_events.into(),
            dropped: dropped.into(),
            suppressed: patients_gone.into(),
            out: recount.patients,
        },
        exclusions: Some(histories.rules.iter().map(exclusion).collect()),
        risk: Sides { before: Some(high_risk(before)), after: found.map(high_risk) },
        adversaries: adversaries(
            &after,
            &[(1, recount.found.one_event_known), (asked.power.p(), recount.found.events_known)],
        ),
        correlation: correlation(histories, &after.correlation),
        distributions: Some(distributions::of_events(histories, plan)),
        missingness: Some(distributions::missingness_of_events(histories, plan)),
        utility: EventsUtility {
            loss: loss_with_suppressed(histories, plan),
            loss_of_levels: plan.loss,
            events_left: Some(1.0 - of_events(gone)),
            columns: patient_columns.chain(event_columns).collect(),
        },
        guarantee: guarantee_found(run, certificate, (recount, compared)),
        excluded_and_kept: differences(histories),
        marketer: policy.population().and_then(|p| marketer_risk(run, &asked.patients, p)),
        attacks: None,
    })))
}

/// The guarantee, and how it was recounted.
fn guarantee_found(
    run: &EventsRun,
    certificate: &Certificate<Events>,
    (recount, compared): (&EventsRecount, &EventsCompared),
) -> EventsGuarantee {
    let EventsRun { policy, asked, .. } = *run;
    let mut guarantee = EventsGuarantee {
        k: policy.privacy.k.get(),
        unit: Unit::Patient,
        max_high_risk: asked.max_high_risk.to_f64(),
        knows: knows(asked.power),
        found: share(recount.found.at_high_risk),
        one_event_known: share(recount.found.one_event_known),
        events_known: share(recount.found.events_known),
        patients: recount.patients,
        events: recount.events,
        classes: recount.classes,
        smallest_class: Some(recount.smallest_class),
        without_events: Some(recount.without_events),
        without_events_at_risk: Some(recount.without_events_at_risk),
        plain: certificate.guarantee.plain.clone(),
        aware: certificate.guarantee.aware.clone(),
        assumed: certificate.promise.assumed.clone(),
        not_recountable: certificate.promise.not_recountable.clone(),
        compared: Some(ComparedEvents {
            patients: compared.patients,
            events: compared.events,
            matched: compared.matched,
            original: compared.original.map(share),
        }),
        power: None,
        power_rule: None,
        events_power: None,
        pairs_power: None,
        power_total: None,
        preset: preset(policy),
    };
    match asked.power {
        Power::Values { p, rule } => {
            guarantee.power = Some(p);
            guarantee.power_rule = Some(match rule {
                PowerRule::Variable => PowerRuleName::Variable,
                PowerRule::Fixed => PowerRuleName::Fixed,
            });
        }
        Power::Events { p } => guarantee.events_power = Some(p),
        Power::Pairs { p } => guarantee.pairs_power = Some(p),
        Power::Total { p } => guarantee.power_total = Some(p),
    }
    guarantee
}

/// The powers of the table of other attackers, the policy's own among them; and the one that is
/// shown with other rules.
fn powers(power: Power) -> (Vec<usize>, usize) {
    let mut powers = POWERS.to_vec();
    if !matches!(power, Power::Total { .. }) && !powers.contains(&power.p()) {
        powers.push(power.p());
        powers.sort_unstable();
    }
    let shown = if let Power::Values { p, .. } = power { p } else { 5 };
    (powers, shown)
}

fn knows(power: Power) -> String {
    match power {
        Power::Values { p, .. } => {
            format!("all patient-level columns, and up to {} of each event column", number_of(p, ["value", "values"]))
        }
        Power::Events { p } => {
            format!("all patient-level columns, and up to {}", number_of(p, ["whole event", "whole events"]))
        }
        Power::Pairs { p } => {
            format!("all patient-level columns, and two columns of up to {}", number_of(p, ["event", "events"]))
        }
        Power::Total { p } => {
            format!("all patient-level columns, and any {} about events", number_of(p, ["fact", "facts"]))
        }
    }
}

/// A share, with its interval where draws were needed.
fn share(found: ShareAtRisk) -> FoundShare {
    let interval = found.interval(Z95);
    let drawn = |number: u64| interval.map(|_| number);
    FoundShare {
        hits: drawn(found.hits),
        of: drawn(found.draws),
        share: found.share(),
        low: interval.map(|own| own.0),
        high: interval.map(|own| own.1),
    }
}

/// Suppressed events lose everything.
fn loss_with_suppressed(histories: &Histories, plan: &EventsPlan) -> f64 {
    let left = |keep: &[bool]| keep.iter().filter(|k| **k).count() as f64 / keep.len().max(1) as f64;
    let patients = left(&plan.patients);
    let lost =
        |column: &QuasiColumn, level: usize, left: f64| column.weight * (1.0 - (1.0 - column.loss(level)) * left);
    let of_patients = histories.patient.iter().zip(&plan.patient_levels).map(|(c, &l)| lost(c, l, patients));
    let of_events =
        histories.event.iter().zip(&plan.event_levels).map(|(c, &l)| lost(c, l, left(&plan.events[c.table])));
    let weights: f64 = histories.patient.iter().chain(&histories.event).map(|c| c.weight).sum();
    of_patients.chain(of_events).sum::<f64>() / weights
}

/// The changes of each column of all tables.
fn columns(run: &EventsRun) -> Vec<metrics::ColumnChange> {
    let EventsRun { asked, histories, plan, .. } = *run;
    let patients = (PATIENTS_TABLE, &asked.patients[..], &histories.patient[..], &plan.patient_levels[..]);
    let events = asked.tables.iter().enumerate().map(|(t, own)| {
        let columns = histories.columns_of(t);
        (own.name.as_str(), &own.columns[..], &histories.event[columns.clone()], &plan.event_levels[columns])
    });
    let tables = std::iter::once(patients).chain(events);
    let mut all = Vec::new();
    for (table, columns, quasi, levels) in tables {
        for (c, own) in columns.iter().enumerate() {
            let mut found = metrics::ColumnChange {
                table: Some(table.into()),
                ..metrics::ColumnChange::named(&own.name, &own.role)
            };
            if let Role::Other { reason } = &own.role {
                found.reason = Some(reason.clone());
            }
            if let Some((column, &level)) = quasi.iter().zip(levels).find(|(q, _)| q.column == c) {
                found.hierarchy = Some(own.rule_text.clone());
                found.values = Some(column.dictionary.len() - 1);
                found.level = Some(level);
                found.level_name = Some(column.level(level).name.clone());
                found.levels = Some(column.hierarchy.levels.len() - 1);
                found.labels = Some(column.level(level).labels.len());
                found.unmapped = Some(column.unmapped);
            }
            all.push(found);
        }
    }
    all
}

/// The findings of other attackers in the release. For whole events, the shares that the verifier `counted` for some
/// numbers of them are the ones that the certificate states.
fn adversaries(found: &crate::methods::claims::Sensitivity, counted: &[(usize, ShareAtRisk)]) -> Adversaries {
    let three =
        |e: &[Estimate; 3]| ThreeReadings { tolerant: e[0].share(), strict: e[1].share(), release: e[2].share() };
    let values = found.values.iter().map(|(known, variable, fixed)| ValuesKnown {
        known: *known,
        variable: three(variable),
        fixed: three(fixed),
    });
    let rule = |rule: PowerBy, (known, e): (usize, Estimate)| OtherRule { rule, known, release: e.share() };
    let whole = |known: usize| counted.iter().find(|own| own.0 == known).map(|own| share(own.1).share);
    let events = found
        .events
        .iter()
        .map(|(known, e)| FactsKnown { known: *known, release: whole(*known).unwrap_or_else(|| e.share()) });
    let pairs = found.pairs.iter().map(|(known, e)| FactsKnown { known: *known, release: e.share() });
    let total = found.total.iter();
    let total = total.map(|&(known, hits, of)| FactsKnown { known, release: hits as f64 / of.max(1) as f64 });
    Adversaries {
        values: values.collect(),
        rules: vec![rule(PowerBy::Nearest, found.rules[0]), rule(PowerBy::P95, found.rules[1])],
        events: events.collect(),
        pairs: pairs.collect(),
        worst_pair: found.worst_pair.clone().map(|(a, b)| [a, b]),
        total: total.collect(),
    }
}

/// The correlation of diversities (the paper's Table 5) at the levels of reports, below the diagonal.
fn correlation(histories: &Histories, found: &[Vec<Option<f64>>]) -> Vec<Correlation> {
    let name = |c: usize| histories.shown(&histories.event[c]);
    let pairs = (1..found.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| Correlation { columns: [name(b), name(a)], r: found[a][b] }).collect()
}

/// How the excluded differ from the kept (the paper's Tables 1 to 4), at the levels of reports, whatever is released.
pub fn differences(histories: &Histories) -> Option<ExcludedAndKept> {
    let found = histories.differences.as_ref()?;
    let columns = histories.patient.iter().chain(&histories.event);
    let one = |(own, column): (&kohort_core::events::ColumnDifference, &QuasiColumn)| {
        let labels = column.level(column.reporting_level());
        let mut counts = vec![(0u64, 0u64); labels.labels.len()];
        // Labels of values with an order are listed in it, missing last; others by their text.
        let mut places = vec![u32::MAX; labels.labels.len()];
        for (code, (a, b)) in own.counts.iter().enumerate() {
            let label = labels.label_of[code] as usize;
            counts[label] = (counts[label].0 + a, counts[label].1 + b);
            if let Some(own) = own.places.as_ref().filter(|_| code > 0) {
                places[label] = places[label].min(own[code]);
            }
        }
        let all = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
        let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
        let mut rows: Vec<(u32, &str, u64, u64)> =
            labels.labels.iter().zip(counts).zip(places).map(|((l, (a, b)), at)| (at, l.text.as_str(), a, b)).collect();
        rows.sort_unstable();
        let shares = rows.iter().filter(|r| r.2 + r.3 > 0).map(|&(_, label, a, b)| LabelShares {
            label: label.to_string(),
            excluded: share(a, all.0),
            kept: share(b, all.1),
        });
        Difference {
            column: own.name.clone(),
            of: if own.of_patients { "patients" } else { "events" }.into(),
            statistic: own.statistic,
            p_value: own.p_value,
            labels: shares.collect(),
        }
    };
    let apart = |(excluded, kept)| Apart { excluded, kept };
    let medians = found.median_events;
    Some(ExcludedAndKept {
        patients: apart(found.patients),
        median_events: Apart { excluded: medians.0, kept: medians.1 },
        columns: found.columns.iter().zip(columns).map(one).collect(),
    })
}

/// The share of the patients whom someone with a list of the population links correctly.
fn marketer_risk(run: &EventsRun, policies: &[policy::Column], population: &Population) -> Option<Marketer> {
    let EventsRun { histories, plan, .. } = *run;
    let quasi: Vec<&QuasiColumn> = histories.patient.iter().collect();
    // The population section names quasi-identifiers by their place in the table.
    let in_table: Vec<usize> = (0..policies.len()).filter(|&c| policies[c].role == Role::Quasi).collect();
    let place = |p: &usize| quasi.iter().position(|q| q.column == in_table[*p]);
    let own_levels =
        |c: &QuasiColumn| plan.patient_levels[quasi.iter().position(|q| q.column == c.column).unwrap_or(0)];
    let released: Vec<usize> = (0..histories.patients()).filter(|&p| plan.patients[p]).collect();
    let n = released.len() as u64;
    let class = |columns: &[usize], patient: usize| -> Vec<String> {
        columns.iter().map(|&c| quasi[c].text(own_levels(quasi[c]), patient).to_string()).collect()
    };
    match &population.registry {
        Registry::Size(size, columns) => {
            let all: Vec<usize> = columns.iter().map(place).collect::<Option<_>>()?;
            let classes: std::collections::BTreeSet<Vec<String>> = released.iter().map(|&p| class(&all, p)).collect();
            // Classes are taken to be as much larger outside as the file is smaller.
            let realized = classes.len() as f64 / (*size).max(n) as f64;
            Some(Marketer {
                estimated: true,
                population: *size,
                patients: n,
                classes: classes.len(),
                realized,
                expected: None,
                paper_eq2: None,
            })
        }
        Registry::Counts(places, counts) => {
            let columns: Vec<usize> = places.iter().map(place).collect::<Option<_>>()?;
            // The population's own values at the levels that leave.
            let mut labels: Vec<BTreeMap<&str, String>> = Vec::new();
            for (i, &c) in columns.iter().enumerate() {
                let mut values: Vec<&str> =
                    counts.keys().map(|key| key[i].as_str()).filter(|v| !v.is_empty()).collect();
                values.sort_unstable();
                values.dedup();
                values.insert(0, "");
                let level = &policies[quasi[c].column].rule.apply(&values, true).levels[own_levels(quasi[c])];
                let text = |code: usize| level.labels[level.label_of[code] as usize].text.clone();
                labels.push(values.iter().enumerate().map(|(code, v)| (*v, text(code))).collect());
            }
            let mut outside: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            for (key, people) in counts {
                let key = key.iter().zip(&labels).map(|(v, l)| l.get(v.as_str()).cloned().unwrap_or_default());
                *outside.entry(key.collect()).or_default() += people.floor() as u64;
            }
            let mut inside: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            released.iter().for_each(|&p| *inside.entry(class(&columns, p)).or_default() += 1);
            let sizes: Vec<u64> = outside.values().copied().collect();
            let pairs = inside.iter().map(|(key, &own)| (own, outside.get(key).copied().unwrap_or(0)));
            Some(Marketer {
                estimated: false,
                population: sizes.iter().sum(),
                patients: n,
                classes: sizes.len(),
                realized: marketer::realized(pairs),
                expected: Some(marketer::expected(&sizes)),
                paper_eq2: Some(marketer::paper_eq2(&sizes, n)),
            })
        }
    }
}
