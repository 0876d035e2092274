//! The part that others may see of a release of codes.

use super::hide::{self, any_small, small, two};
use crate::evidence::metrics::{
    CodesGuarantee, CodesKnown, CodesMetrics, CodesRisk, CodesUtility, DemographicColumn, DemographicUtility, Masked,
    PeopleCounts, RandomWorkload, Sides, Workload,
};

pub(super) fn shareable(whole: CodesMetrics) -> CodesMetrics {
    let CodesMetrics { common, people, codes: _, clusters, risk, codes_known, utility, guarantee, attacks: _ } = whole;
    let PeopleCounts { unit, r#in: people_in } = people;
    let told = !any_small(&common.rows) && !small(people_in);
    let Sides { before, after } = risk;
    CodesMetrics {
        common: hide::common(common, told),
        people: PeopleCounts { unit, r#in: if told { people_in } else { Masked::HIDDEN } },
        codes: None,
        // It can be counted in the release.
        clusters,
        risk: Sides { before: before.map(of_risk), after: after.map(of_risk) },
        codes_known: codes_known.into_iter().map(known).collect(),
        utility: useful(utility),
        guarantee: guaranteed(guarantee),
        attacks: None,
    }
}

fn of_risk(risk: CodesRisk) -> CodesRisk {
    let CodesRisk { max, mean, unique: _, people: _ } = risk;
    CodesRisk { max: two(max), mean: mean.map(two), unique: None, people: None }
}

fn known(known: CodesKnown) -> CodesKnown {
    let CodesKnown { codes, patients: _, unique, fewer_than_k } = known;
    CodesKnown { codes, patients: None, unique: two(unique), fewer_than_k: two(fewer_than_k) }
}

fn useful(utility: CodesUtility) -> CodesUtility {
    let CodesUtility {
        in_record_chunks,
        in_shared_chunks,
        in_item_chunks: _,
        codes_in_item_chunks_only: _,
        frequent,
        counts: _,
        random,
        mre: _,
        demographics,
    } = utility;
    let one = |own: RandomWorkload| {
        let RandomWorkload { are, are_sane, queries, dropped, codes } = own;
        RandomWorkload { are: two(are), are_sane: two(are_sane), queries, dropped, codes }
    };
    CodesUtility {
        in_record_chunks: two(in_record_chunks),
        in_shared_chunks: two(in_shared_chunks),
        in_item_chunks: None,
        codes_in_item_chunks_only: None,
        frequent: workload(frequent),
        counts: None,
        random: random.into_iter().map(one).collect(),
        mre: None,
        demographics: demographics.map(demographic),
    }
}

fn workload(own: Workload) -> Workload {
    let Workload { are, are_sane, queries, dropped } = own;
    Workload { are: two(are), are_sane: two(are_sane), queries, dropped }
}

/// Combinations of labels can be counted in the release.
fn demographic(own: DemographicUtility) -> DemographicUtility {
    let DemographicUtility { loss, columns, groups, smallest_group, queries } = own;
    let column = |own: DemographicColumn| {
        let DemographicColumn { column, loss } = own;
        DemographicColumn { column, loss: two(loss) }
    };
    DemographicUtility {
        loss: two(loss),
        columns: columns.into_iter().map(column).collect(),
        groups,
        smallest_group,
        queries: queries.map(workload),
    }
}

/// The guarantee: nothing of it counts people of the original, but for the comparison.
fn guaranteed(guarantee: CodesGuarantee) -> CodesGuarantee {
    let CodesGuarantee {
        k,
        m,
        knows,
        unit,
        smallest_cluster,
        smallest_support,
        smallest_subrecord,
        fewest_candidates,
        aware_reader,
        no_cover,
        sensitive_codes,
        confidence,
        highest_confidence: _,
        plain,
        aware,
        assumed,
        not_recountable,
        compared: _,
        preset,
    } = guarantee;
    CodesGuarantee {
        k,
        m,
        knows,
        unit,
        smallest_cluster,
        smallest_support,
        smallest_subrecord,
        fewest_candidates,
        aware_reader,
        no_cover,
        sensitive_codes,
        confidence,
        highest_confidence: None,
        plain,
        aware,
        assumed,
        not_recountable,
        compared: None,
        preset,
    }
}
