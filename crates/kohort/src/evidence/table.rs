//! The measurements of a table's release.

use super::metrics::{
    AskedOfSensitive, BlankedCells, ByName, ColumnChange, CommonMetrics, ComparedRows, Fineness, FoundOfSensitive,
    LevelShare, Levels, Metrics, OneValue, PeopleCounts, Preset, RecodedChange, RowCounts, Sides, SizeBin,
    TableGuarantee, TableMetrics, Unit,
};
use super::{Stopwatch, board, distributions, metrics, people, public_use, synthetic, utility};
use crate::methods::Method;
use kohort_core::Result;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::hierarchy::SUPPRESSED;
use kohort_core::number::Decimal;
use kohort_core::parallel;
use kohort_core::policy::{Policy, Role};
use kohort_core::privacy::Knows;
use kohort_core::release::{Certificate, Plan, Recoding, rows_by_level};
use kohort_core::risk::{self, RegistryAttacks, Risk, View};
use kohort_core::shape::{Shape, Table};
use kohort_core::verify::{Compared, Extremes, Recount, Verified};

/// The parts of a run from which it is measured.
pub struct TableRun<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The method.
    pub method: &'a Method,
    /// The original, with derived columns at their own level.
    pub cohort: &'a Cohort,
    /// The plan for it.
    pub plan: &'a Plan,
    /// The results of attacks on the original with each registry.
    pub attacks: &'a [RegistryAttacks],
}

/// Measures a release.
pub fn measure(
    run: &TableRun,
    verified: &Verified,
    (recount, compared): (&Recount, &Compared),
    stopwatch: &Stopwatch,
) -> Result<Metrics> {
    let TableRun { policy, method, cohort, plan, attacks: _ } = *run;
    let certificate = &verified.findings().certificate;
    let all: Vec<usize> = (0..cohort.quasi.len()).collect();
    let (found, (mut useful, cells, distributions, missingness, one_value)) = parallel::both(
        cohort.threads,
        || who_is_found(run, &all),
        || {
            (
                utility::measure(cohort, plan),
                kohort_core::utility::cells(cohort, plan),
                distributions::of_table(cohort, plan),
                distributions::missingness(cohort, plan, policy),
                one_value(run, verified),
            )
        },
    );
    let WhoIsFound { sizes: Sides { before, after }, risk, risk_all, singling_out, blanks, attacks, missing } = found?;
    let by_column = plan.changed.iter().zip(&cells.by_column);
    let cells = BlankedCells {
        suppressed: cells.suppressed,
        share: cells.share,
        by_column: by_column.map(|(c, n)| (policy.columns[c.column].name.clone(), *n)).collect(),
    };
    let levels = plan.levels.as_ref().map(|levels| {
        cohort.quasi.iter().zip(levels).map(|(quasi, &level)| (quasi.name.clone(), level)).collect::<Levels>()
    });
    let mut guarantee = guarantee(policy, cohort, certificate, (recount, compared));
    useful.baseline = policy.baseline.as_ref().map(|baseline| metrics::Baseline {
        method: baseline.method.clone(),
        entropy: baseline.entropy,
        share: useful.entropy.and_then(|bits| baseline.share(bits)),
    });
    let mut counterfeits = None;
    if let Some(synthetic) = method.synthetic() {
        counterfeits = Some(synthetic::measure(run, synthetic, verified, (recount, compared))?);
        useful.loss_with_counterfeits = Some(synthetic::loss_with_counterfeits(cohort, plan, compared.added));
        guarantee.sensitive_real =
            compared.sensitive_real.iter().map(|(name, e)| (name.clone(), extremes(e))).collect();
    }
    let (rows, out) = (cohort.tuples.rows, recount.rows);
    Ok(Metrics::Table(Box::new(TableMetrics {
        common: CommonMetrics::new(
            certificate,
            None,
            RowCounts {
                r#in: (rows + cohort.excluded).into(),
                excluded: cohort.excluded.into(),
                suppressed: (rows + compared.added - out).into(),
                counterfeit: compared.added.into(),
                out,
            },
            (0..policy.columns.len()).map(|c| column(cohort, plan, policy, c)).collect(),
            (&plan.trace, stopwatch.read()),
        ),
        people: PeopleCounts { unit: Unit::of(policy), r#in: cohort.tuples.people().into() },
        tuples: Some(cohort.tuples.len()),
        cells: Some(cells),
        levels,
        risk,
        risk_all,
        class_sizes: Some(Sides { before: histogram(&before), after: histogram(&after) }),
        distributions: Some(distributions),
        missingness: Some(missingness),
        fineness: fineness(cohort, plan),
        utility: useful,
        guarantee,
        models: people::models(cohort, plan, policy, (&before, &after)),
        uniqueness: people::uniqueness(policy, (&before, &after)),
        singling_out,
        blanks,
        formulas: Some(recount.formulas.clone()).filter(|f| !f.is_empty()),
        counterfeits,
        samples: public_use::samples(cohort, verified),
        attacks,
        missing,
        removed: board::removed(cohort, plan, policy.privacy.k.get()),
        one_value: one_value?,
        derived: Vec::new(),
        checks: None,
    })))
}

/// The groups that share one sensitive value, counted in the released file. Not where samples are released instead.
fn one_value(run: &TableRun, verified: &Verified) -> Result<ByName<OneValue>> {
    match run.method.samples().is_empty() {
        true => board::one_value(verified, run.policy, run.cohort.threads),
        false => Ok(ByName::default()),
    }
}

/// How fine the labels of each quasi-identifier are, where each record was coarsened by itself.
fn fineness(cohort: &Cohort, plan: &Plan) -> Option<Vec<Fineness>> {
    if plan.recoding != Recoding::ByRecord {
        return None;
    }
    let column = |(q, quasi): (usize, &Quasi)| {
        let rows = rows_by_level(cohort, plan, q);
        let all: u64 = rows.values().sum();
        let top = quasi.hierarchy.levels.len() - 1;
        let share = |is: &dyn Fn(usize) -> bool| {
            let own: u64 = rows.iter().filter(|(level, _)| is(**level)).map(|(_, rows)| rows).sum();
            own as f64 / all.max(1) as f64
        };
        let level = |&level: &usize| LevelShare {
            level,
            name: quasi.hierarchy.levels[level].name.clone(),
            share: share(&|own| own == level),
        };
        Fineness {
            column: quasi.name.clone(),
            unchanged: share(&|level| level == 0),
            coarser: share(&|level| 0 < level && level < top),
            suppressed: share(&|level| level == top && top > 0),
            levels: rows.keys().map(level).collect(),
        }
    };
    Some(cohort.quasi.iter().enumerate().map(column).collect())
}

/// The people who can be found, by whom and by what.
struct WhoIsFound {
    sizes: Sides<Vec<u64>>,
    risk: Sides<Option<metrics::Risk>>,
    risk_all: Sides<metrics::Risk>,
    singling_out: metrics::SinglingOut,
    blanks: Option<metrics::Blanks>,
    attacks: Option<metrics::TableAttacks>,
    missing: Option<metrics::Missing>,
}

fn who_is_found(run: &TableRun, all: &[usize]) -> Result<WhoIsFound> {
    let TableRun { cohort, plan, attacks, .. } = *run;
    let views = Sides { before: View::Before, after: View::After(plan) };
    let sizes = Sides { before: risk::sizes(cohort, views.before, all), after: risk::sizes(cohort, views.after, all) };
    let of_all = |sizes: &[u64]| found(cohort, &Risk::of(all, sizes));
    let risk_all = Sides { before: of_all(&sizes.before), after: of_all(&sizes.after) };
    // An attacker who knows all quasi-identifiers knows one set of columns, which was just counted.
    let risk = match &cohort.sets[..] {
        [set] if set == all => Sides { before: Some(risk_all.before.clone()), after: Some(risk_all.after.clone()) },
        _ => Sides { before: highest(cohort, views.before)?, after: highest(cohort, views.after)? },
    };
    Ok(WhoIsFound {
        sizes,
        risk,
        risk_all,
        singling_out: people::singling_out(cohort),
        blanks: people::blanks(cohort, plan),
        attacks: public_use::against(run, attacks),
        missing: public_use::missing(run),
    })
}

/// The guarantee, and how it was recounted.
fn guarantee(
    policy: &Policy,
    cohort: &Cohort,
    certificate: &Certificate<Table>,
    (recount, compared): (&Recount, &Compared),
) -> TableGuarantee {
    let known_sets = match &policy.privacy.knows {
        Knows::Sets(sets) => {
            let names = |set: &Vec<usize>| set.iter().map(|&q| cohort.quasi[q].name.clone()).collect();
            Some(sets.iter().map(names).collect())
        }
        Knows::All | Knows::Any(_) => None,
    };
    let sensitive: ByName<FoundOfSensitive> =
        compared.sensitive.iter().map(|(name, e)| (name.clone(), extremes(e))).collect();
    let asked = certificate.promise.claim.sensitive.iter().map(|asked| {
        let own = AskedOfSensitive {
            confidence: asked.confidence.map(|c| c.to_string()),
            values: asked.values.as_ref().map(Vec::len),
            l_diversity: asked.l_diversity.as_ref().map(|l| l.describe()),
            t_closeness: asked.t_closeness.as_ref().map(|t| t.max.to_string()),
        };
        (asked.column.clone(), own)
    });
    TableGuarantee {
        k: policy.privacy.k.get(),
        knows: knows_text(policy),
        unit: Unit::of(policy),
        smallest_class: compared.smallest_class,
        sets: recount.sets,
        classes: recount.classes,
        plain: certificate.guarantee.plain.clone(),
        aware: certificate.guarantee.aware.clone(),
        assumed: certificate.promise.assumed.clone(),
        not_recountable: certificate.promise.not_recountable.clone(),
        known_sets,
        highest_confidence: sensitive.0.iter().filter_map(|(_, e)| e.highest_confidence).reduce(f64::max),
        sensitive,
        asked: asked.collect(),
        compared: Some(ComparedRows {
            rows: compared.rows,
            matched: compared.matched,
            smallest_class_in_rows: recount.smallest_class,
        }),
        sensitive_real: ByName::default(),
        preset: preset(policy),
    }
}

fn extremes(found: &Extremes) -> FoundOfSensitive {
    FoundOfSensitive {
        highest_confidence: found.confidence.map(|(h, n)| h as f64 / n.max(1) as f64),
        least_diversity: found.diversity,
        largest_distance: found.distance,
    }
}

/// The highest risk over the sets that the attacker may know.
pub(super) fn highest(cohort: &Cohort, view: View) -> Result<Option<metrics::Risk>> {
    let worst = risk::worst(cohort, view, cohort.threads)?;
    Ok(worst.map(|w| metrics::Risk { exact: (!w.is_exact).then_some(false), ..found(cohort, &w.risk) }))
}

fn found(cohort: &Cohort, risk: &Risk) -> metrics::Risk {
    metrics::Risk {
        set: names(cohort, &risk.set),
        max: risk.max,
        mean: risk.mean,
        unique: Some(risk.unique),
        people: Some(risk.people),
        classes: Some(risk.classes),
        exact: None,
    }
}

/// The names of quasi-identifiers.
pub(super) fn names(cohort: &Cohort, set: &[usize]) -> Vec<String> {
    set.iter().map(|&q| cohort.quasi[q].name.clone()).collect()
}

/// The preset that k comes from, if the policy names one.
pub(super) fn preset<S: Shape>(policy: &Policy<S>) -> Option<Preset> {
    policy.privacy.preset.map(|p| Preset {
        name: p.name.into(),
        max_risk: p.max_risk.map(String::from),
        meaning: p.meaning.into(),
        source: p.source.into(),
    })
}

pub(super) fn knows_text(policy: &Policy) -> String {
    match &policy.privacy.knows {
        Knows::All => "all".into(),
        Knows::Any(n) => format!("any {n}"),
        Knows::Sets(sets) => format!("one of {} sets", sets.len()),
    }
}

/// People by size of their class: 1, 2–4, 5–9, 10–19, 20–49, 50–99, 100 and more.
fn histogram(sizes: &[u64]) -> Vec<SizeBin> {
    const FROM: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];
    let mut people = [0; FROM.len()];
    for &size in sizes.iter().filter(|size| **size > 0) {
        people[FROM.partition_point(|from| *from <= size) - 1] += size;
    }
    let bin = |i: usize| SizeBin { from: FROM[i], to: FROM.get(i + 1).map(|next| next - 1), people: people[i].into() };
    (0..FROM.len()).map(bin).collect()
}

/// How many labels of a quasi-identifier are released, missing not counted.
fn shown_labels(cohort: &Cohort, plan: &Plan, q: usize) -> usize {
    let mut shown = vec![false; plan.changed[q].labels.len()];
    for (cells, _) in plan.rows_by_cells(cohort).iter().enumerate().filter(|(_, rows)| **rows > 0) {
        shown[plan.row(cells as u32)[q] as usize] = true;
    }
    let labels = plan.changed[q].labels.iter().zip(shown);
    labels.filter(|(label, shown)| *shown && !label.text.is_empty()).count()
}

/// The changes of one column.
fn column(cohort: &Cohort, plan: &Plan, policy: &Policy, place: usize) -> ColumnChange {
    let bound = &policy.columns[place];
    let mut column = ColumnChange::named(&bound.name, &bound.role);
    if let Role::Other { reason } = &bound.role {
        column.reason = Some(reason.clone());
    }
    if let Some((q, quasi)) = cohort.quasi.iter().enumerate().find(|(_, q)| q.column == place) {
        column.hierarchy = Some(bound.rule_text.clone());
        column.weight = (bound.weight != Decimal::whole(1)).then(|| bound.weight.to_f64());
        column.values = Some(cohort.tuples.dictionaries[q].len() - 1);
        if let Some(levels) = &plan.levels {
            let own = &quasi.hierarchy.levels;
            column.level = Some(levels[q]);
            column.level_name = Some(own[levels[q]].name.clone());
            column.levels = Some(own.len() - 1);
        } else if plan.recoding != Recoding::ByCell {
            column.recoded = Some(match &plan.changed[q].labels[..] {
                [one] if one.text == SUPPRESSED => RecodedChange::Suppressed,
                _ => RecodedChange::Mixed,
            });
        }
        if plan.recoding != Recoding::ByCell {
            column.labels = Some(shown_labels(cohort, plan, q));
        }
    }
    column
}
