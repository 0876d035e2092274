//! The part that others may see of a table's release.

use super::cells::{hide_list, hide_table};
use super::hide::{self, any_small, distribution, small, two};
use crate::evidence::metrics::{
    Attackers, BlankGroup, ByName, Chances, Classification, ColumnUtility, DerivedColumn, Masked, Missing, Models,
    PeopleCounts, Relation, Risk, Sides, SingledByNumber, SingledBySet, SinglingOut, SizeBin, TableAttacks,
    TableGuarantee, TableMetrics, TargetRisk, Targeted, Utility,
};

pub(super) fn shareable(whole: TableMetrics) -> TableMetrics {
    let TableMetrics {
        common,
        people,
        tuples: _,
        cells: _,
        levels,
        risk,
        risk_all,
        class_sizes,
        distributions,
        missingness: _,
        // Whoever has the release counts the same.
        fineness,
        utility,
        guarantee,
        models,
        uniqueness: _,
        singling_out,
        blanks: _,
        formulas: _,
        counterfeits,
        samples: _,
        attacks,
        missing,
        // Groups of few people are in it.
        removed: _,
        // Groups of few people are in it.
        one_value: _,
        derived,
        // Means of few people are in them.
        checks: _,
    } = whole;
    let PeopleCounts { unit, r#in: people_in } = people;
    // The number of synthetic records is not told, nor anything from which it could be computed; nor how many rows
    // were removed if they are few.
    let told = counterfeits.is_none() && !any_small(&common.rows) && !small(people_in);
    TableMetrics {
        common: hide::common(common, told),
        people: PeopleCounts { unit, r#in: if told { people_in } else { Masked::HIDDEN } },
        tuples: None,
        cells: None,
        levels,
        risk: Sides { before: risk.before.map(risk_before), after: risk.after.map(risk_after) },
        risk_all: Sides { before: risk_before(risk_all.before), after: risk_after(risk_all.after) },
        class_sizes: class_sizes.filter(|_| told).and_then(sizes),
        distributions: distributions.filter(|_| told).map(|all| all.into_iter().filter_map(distribution).collect()),
        missingness: None,
        fineness,
        utility: useful(utility, told),
        guarantee: guaranteed(guarantee),
        models: of_models(models),
        uniqueness: None,
        singling_out: singled(singling_out),
        blanks: None,
        formulas: None,
        counterfeits: None,
        samples: None,
        attacks: attacks.and_then(attacked),
        missing: missing.filter(|_| told).map(blank),
        removed: ByName::default(),
        one_value: ByName::default(),
        derived: derived.into_iter().filter_map(declared).collect(),
        checks: None,
    }
}

/// Keeps what the policy derives: the dictionary of the release has it as well. What was found in the original is for
/// its custodian, because it would say which values belong together.
fn declared(own: DerivedColumn) -> Option<DerivedColumn> {
    let DerivedColumn { column, from, kept_back, relation, unchanged } = own;
    let own = DerivedColumn { column, from, kept_back, relation, unchanged: two(unchanged) };
    (relation == Relation::Declared).then_some(own)
}

/// The risk before: no counts of people.
fn risk_before(risk: Risk) -> Risk {
    let Risk { set, max, mean, unique: _, people: _, classes: _, exact: _ } = risk;
    Risk { set, max: two(max), mean: two(mean), unique: None, people: None, classes: None, exact: None }
}

/// The risk after: the classes can be counted in the release.
fn risk_after(risk: Risk) -> Risk {
    let Risk { set, max, mean, unique: _, people: _, classes, exact: _ } = risk;
    Risk { set, max: two(max), mean: two(mean), unique: None, people: None, classes, exact: None }
}

/// People by class size: before with what must be hidden, after as the release has it.
fn sizes(sizes: Sides<Vec<SizeBin>>) -> Option<Sides<Vec<SizeBin>>> {
    let Sides { before, after } = sizes;
    let counts: Vec<u64> = before.iter().map(|bin| bin.people.known().unwrap_or(0)).collect();
    let hidden = hide_list(&counts)?;
    let one = |(bin, hidden): (SizeBin, bool)| {
        let SizeBin { from, to, people } = bin;
        SizeBin { from, to, people: if hidden { Masked::HIDDEN } else { people } }
    };
    Some(Sides { before: before.into_iter().zip(hidden).map(one).collect(), after })
}

/// Measures of utility, rounded.
fn useful(utility: Utility, told: bool) -> Utility {
    let Utility {
        loss,
        precision,
        discernibility: _,
        discernibility_ratio,
        average_class_size: _,
        entropy: _,
        rce,
        rce_joint: _,
        range_error: _,
        analyst_error: _,
        by_column,
        distribution: _,
        association: _,
        query_error,
        classification,
        baseline: _,
        loss_with_counterfeits: _,
    } = utility;
    let column = |(name, column): (String, ColumnUtility)| {
        let ColumnUtility { rce, query_error, distribution, association_change } = column;
        let column = ColumnUtility {
            rce: two(rce),
            query_error: two(query_error),
            distribution: two(distribution),
            association_change: association_change.map(two),
        };
        (name, column)
    };
    // Where few rows were removed, these come close to their share.
    let by_column = if told { by_column.0.into_iter().map(column).collect() } else { ByName::default() };
    let query_error = if told { query_error.0 } else { Vec::new() };
    Utility {
        loss: two(loss),
        precision: two(precision),
        discernibility: None,
        discernibility_ratio: two(discernibility_ratio),
        average_class_size: None,
        entropy: None,
        rce: rce.filter(|_| told).map(two),
        rce_joint: None,
        range_error: None,
        analyst_error: None,
        by_column,
        distribution: None,
        association: None,
        query_error: query_error.into_iter().map(|(number, error)| (number, two(error))).collect(),
        classification: classification.map(classified),
        baseline: None,
        loss_with_counterfeits: None,
    }
}

fn classified(found: Classification) -> Classification {
    let Classification { column, learned: _, foretold: _, baseline_error, error, upper_bound_error } = found;
    Classification {
        column,
        learned: None,
        foretold: None,
        baseline_error: two(baseline_error),
        error: two(error),
        upper_bound_error: two(upper_bound_error),
    }
}

/// The guarantee: nothing of it counts people of the original, but for the comparison and what holds without synthetic
/// records.
fn guaranteed(guarantee: TableGuarantee) -> TableGuarantee {
    let TableGuarantee {
        k,
        knows,
        unit,
        smallest_class,
        sets,
        classes,
        plain,
        aware,
        assumed,
        not_recountable,
        known_sets,
        highest_confidence,
        sensitive,
        asked,
        compared: _,
        sensitive_real: _,
        preset,
    } = guarantee;
    TableGuarantee {
        k,
        knows,
        unit,
        smallest_class,
        sets,
        classes,
        plain,
        aware,
        assumed,
        not_recountable,
        known_sets,
        highest_confidence,
        sensitive,
        asked,
        compared: None,
        sensitive_real: ByName::default(),
        preset,
    }
}

fn of_models(models: Models) -> Models {
    let Models { threshold, before, after } = models;
    let chances = |found: Chances| {
        let Chances { max, mean, above } = found;
        Chances { max: two(max), mean: two(mean), above: two(above) }
    };
    let attackers = |own: Attackers| {
        let Attackers { prosecutor, journalist, marketer } = own;
        Attackers { prosecutor: chances(prosecutor), journalist: journalist.map(chances), marketer: two(marketer) }
    };
    Models { threshold: two(threshold), before: attackers(before), after: attackers(after) }
}

/// Which columns single people out: shares, rounded.
fn singled(found: SinglingOut) -> SinglingOut {
    let SinglingOut { by_number, sets, by_column: _ } = found;
    let number = |own: SingledByNumber| {
        let SingledByNumber { columns, people: _, share } = own;
        SingledByNumber { columns, people: None, share: two(share) }
    };
    let set = |own: SingledBySet| {
        let SingledBySet { set, people: _, share } = own;
        SingledBySet { set, people: None, share: two(share) }
    };
    SinglingOut {
        by_number: by_number.into_iter().map(number).collect(),
        sets: sets.into_iter().map(set).collect(),
        by_column: None,
    }
}

/// Attacks: only the risk of a targeted neighbour.
fn attacked(attacks: TableAttacks) -> Option<TableAttacks> {
    let TableAttacks { registries: _, targeted, undeclared: _, tried: _ } = attacks;
    let risk = |risk: TargetRisk| {
        let TargetRisk { max, mean, unique: _ } = risk;
        TargetRisk { max: two(max), mean: two(mean), unique: None }
    };
    let one = |own: Targeted| {
        let Targeted { set, before, after, wildcard: _ } = own;
        Targeted { set, before: risk(before), after: risk(after), wildcard: None }
    };
    let targeted: Vec<Targeted> = targeted?.into_iter().map(one).collect();
    Some(TableAttacks { targeted: Some(targeted), ..TableAttacks::NONE })
}

/// Suppressed cells by group: groups of few rows are left out with as many others as that takes, and of the rest
/// shares from which a small count could be computed are hidden.
fn blank(missing: Missing) -> Missing {
    let Missing { rows: _, share: _, flagged: _, columns, by } = missing;
    let column = |(name, groups): (String, ByName<Vec<BlankGroup>>)| {
        let groups: ByName<Vec<BlankGroup>> =
            groups.0.into_iter().filter_map(|(grouping, values)| Some((grouping, blanks(values)?))).collect();
        (!groups.is_empty()).then_some((name, groups))
    };
    Missing {
        rows: Masked::HIDDEN,
        share: None,
        flagged: None,
        columns: columns.0.into_iter().map(|(name, share)| (name, two(share))).collect(),
        by: by.0.into_iter().filter_map(column).collect(),
    }
}

fn blanks(values: Vec<BlankGroup>) -> Option<Vec<BlankGroup>> {
    let rows: Vec<u64> = values.iter().map(|v| v.rows).collect();
    let left_out = hide_list(&rows)?;
    let kept: Vec<BlankGroup> = values.into_iter().zip(left_out).filter(|(_, out)| !out).map(|(v, _)| v).collect();
    let counts = kept.iter().map(|v| {
        let blank = (v.share.known().unwrap_or(0.0) * v.rows as f64).round() as u64;
        vec![blank, v.rows - blank.min(v.rows)]
    });
    let counts: Vec<Vec<u64>> = counts.collect();
    let hidden = if counts.is_empty() { Vec::new() } else { hide_table(&counts)? };
    let one = |(own, hidden): (BlankGroup, Vec<bool>)| {
        let BlankGroup { value, rows, share, weight, flagged } = own;
        let hides = hidden.iter().any(|h| *h);
        let (share, weight) = if hides { (Masked::HIDDEN, None) } else { (share, weight) };
        BlankGroup { value, rows, share, weight, flagged: flagged && !hides }
    };
    Some(kept.into_iter().zip(hidden).map(one).collect())
}
