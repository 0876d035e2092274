//! The guarantee in plain sentences, against an attacker who matches what they know with the release
//! and against one who also knows the algorithm. Never stronger than what survived attack, and in the
//! unit that was counted (docs/guarantees.md).

use super::assumed::TableFacts;
use super::claim::{Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim, SyntheticClaim};
use super::promise::Promise;
use super::recounted::TableShown;
use crate::number::number_of;
use crate::policy::{Effects, Power};
use crate::privacy::ShareAtRisk;
use crate::statistics::Z95;
use crate::verify::EventsFound;
use serde::{Deserialize, Serialize};

/// The guarantee in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The part of `plain` that anyone can recount from the released bytes, in the unit that is counted there.
    pub counted: String,
    /// The guarantee against an attacker who matches what they know with the release.
    pub plain: String,
    /// The guarantee against an attacker who also knows the algorithm and works backwards from its choices.
    pub aware: String,
}

const NO_LIMIT: &str =
    "No limit is guaranteed against an attacker who knows the algorithm and works backwards from its choices";

/// The sentences for patients and their events. Whoever has the release alone counts the records of the patients'
/// table: that each is a different patient is the custodian's word.
pub fn guarantee_of_events(claim: &EventsClaim, found: &EventsFound) -> Guarantee {
    Guarantee {
        counted: of_events(claim, found, "patient records"),
        plain: of_events(claim, found, "patients"),
        aware: format!(
            "{NO_LIMIT}. Missing events tend to be the rare ones; the number of events of a patient is visible."
        ),
    }
}

/// The guarantee about events, counted in these people.
fn of_events(claim: &EventsClaim, found: &EventsFound, people: &str) -> String {
    let (k, p) = (claim.k.get(), claim.power.p());
    let share = |own: &ShareAtRisk| 100.0 * own.share();
    // A share that was counted has no interval.
    let about = match found.at_high_risk.interval(Z95) {
        None => format!("For {:.1} % of {people} with events", share(&found.at_high_risk)),
        Some((low, high)) => format!(
            "For about {:.1} % of {people} with events (95 % interval {:.1}–{:.1} %, from {} draws)",
            share(&found.at_high_risk),
            100.0 * low,
            100.0 * high,
            found.at_high_risk.draws
        ),
    };
    let certain = format!("finds fewer than {k} matching {people}; some of them may be found with certainty.");
    let events = number_of(p, ["event", "events"]);
    let pairs = found.pairs_known.map_or(String::new(), |own| {
        format!(", {:.1} % (two columns of {events} known, the two that reveal most)", share(&own))
    });
    let whole = format!(
        " An attacker who knows which values belong to the same event finds fewer than {k} matching {people} for {:.1} % of them (1 event known){pairs} and {:.1} % ({events} known).",
        share(&found.one_event_known),
        share(&found.events_known)
    );
    let plain = match claim.power {
        Power::Values { .. } => format!(
            "{about} an attacker who knows all patient-level columns and, in each event column separately, up to {p} of the patient's values, {certain} The values were drawn at random; an attacker who chooses what to find out may do better.{whole}"
        ),
        Power::Events { .. } => format!(
            "{about} an attacker who knows all patient-level columns and up to {} of the patient {certain} The events were drawn at random; an attacker who chooses what to find out may do better.",
            number_of(p, ["whole event", "whole events"])
        ),
        Power::Pairs { .. } => format!(
            "{about} an attacker who knows all patient-level columns and two columns of up to {} of the patient in one table, which belong together, {certain} This is the share for the two columns that reveal most. The events were drawn at random; an attacker who chooses what to find out may do better.{whole}",
            number_of(p, ["event", "events"])
        ),
        Power::Total { .. } => {
            let all_but = match found.at_high_risk.enumerated_millionths {
                0 => format!("for all {people} with events"),
                _ => format!("for all but {:.1} % of {people} with events", share(&found.at_high_risk)),
            };
            let facts = if p == 1 { "Any one fact".to_string() } else { format!("Any up to {p} facts") };
            format!(
                "{facts} about a patient's events in total, a fact being a value in an event column, together with all patient-level values match at least {k} {people} or none, {all_but}.{whole}"
            )
        }
    };
    // An attacker can know only the patient-level columns of the others, and that may be enough.
    let others = format!(
        " Of the {people} without events, at most the share {} has fewer than {k} {people} with the same patient-level values.",
        claim.max_high_risk
    );
    plain + &others
}

/// The sentences for a table, or for a random sample of one.
pub fn guarantee_of_table(promise: &Promise, sample: Option<&TableShown>) -> Guarantee {
    let people = People { patients: promise.patients, only_in_groups: TableFacts::of(promise).only_in_groups };
    let whole = of_table(promise.effects, &promise.claim, people);
    match sample {
        Some(shown) => of_sample(&whole, shown),
        None => whole,
    }
}

/// The sentences for a random sample of a table: what holds, holds for the whole file. Against someone
/// who knows that a person is in the sample only the sample's own classes protect, and these may hold
/// one person.
fn of_sample(whole: &Guarantee, shown: &TableShown) -> Guarantee {
    let plain = whole.plain.replace("in this file", "in the file that this is a random sample of");
    let plain = plain.replace("that of this whole file", "that of the whole of it");
    Guarantee {
        counted: format!(
            "The smallest group of records that look the same holds {} of this file's records.",
            shown.smallest_class
        ),
        plain: format!(
            "{plain} This was counted on that file and cannot be recounted from the sample. The sample holds some of the matching records, perhaps only one: no limit is guaranteed against someone who knows that the person is in the sample."
        ),
        aware: format!("{NO_LIMIT}."),
    }
}

/// The sentences for clusters of codes. With a patient column, whoever has the release alone counts records: that each
/// is a different patient is the custodian's word.
pub fn guarantee_of_codes(claim: &CodesClaim, columns: &[ColumnClaim], patients: bool) -> Guarantee {
    let (k, m) = (claim.k.get(), claim.m);
    let codes = if m == 1 { "one code".to_string() } else { format!("up to {m} codes") };
    let labels = columns.iter().any(|column| column.role == "quasi");
    let people = if patients { "patients" } else { "records" };
    let knows = if labels { format!("all quasi-identifiers and {codes}") } else { codes.clone() };
    let mut plain = format!(
        "An attacker who knows {knows} of a person, and takes every recombination of the fragments for equally likely, links the person to any particular non-empty fragment with probability at most 1/{k}. The attacker may learn which codes a person does not have"
    );
    plain += if claim.no_cover { "." } else { ", and codes that everyone in a cluster shares." };
    let mut counted = match patients {
        true => format!(
            "Every cluster has at least {k} records, and {codes} that occur together in a chunk occur together there at least {k} times."
        ),
        false => plain.clone(),
    };
    if labels {
        plain += &format!(" The quasi-identifiers that a person shows are shown by at least {k} {people}.");
        counted += &format!(" The quasi-identifiers that a record shows are shown by at least {k} records.");
    }
    if let Some(max) = claim.confidence.filter(|_| !claim.sensitive.is_empty()) {
        let (part, whole) = max.parts();
        let shown =
            " About the codes listed as sensitive the release shows only that somebody in the cluster has them.";
        counted += &format!(
            "{shown} It does not show how many do. A cluster with such a code has at least {} records.",
            whole.div_ceil(part.max(1))
        );
        plain += &format!(
            "{shown} In every cluster at most the share {max} of the {people} has any one of these codes; this was counted before release."
        );
    } else if !claim.sensitive.is_empty() {
        let shown = " About the codes listed as sensitive the release shows only that somebody in the cluster has them. It does not show how many do: it may be everyone, so this limits no probability.";
        plain += shown;
        counted += shown;
    }
    let aware = if claim.aware {
        format!(
            "An attacker who knows the algorithm also links the person to any particular non-empty fragment with probability at most 1/{k}. What the codes themselves reveal is not limited."
        )
    } else {
        format!("{NO_LIMIT}: certain re-identification is possible.")
    };
    Guarantee { counted, plain, aware }
}

/// The sentences for a table. Where single cells are suppressed, a suppressed cell matches whatever
/// is known.
fn of_table(effects: Effects, claim: &Claim, unit: People) -> Guarantee {
    let patients = unit.patients;
    if let Some(synthetic) = &claim.synthetic {
        return of_synthetic(claim, synthetic, unit);
    }
    let k = claim.k.get();
    let people = if patients { "patients" } else { "records" };
    let mut plain = at_least(claim, people);
    if claim.knows == KnowsClaim::All {
        plain += &format!(" {}", capital(&second_sentence(patients, k)));
    }
    plain += &of_sensitive(claim, people, unit);
    // Where the class column steers the method, its choices reveal something about that column.
    let aware = if effects.class_steers || claim.knows != KnowsClaim::All || !claim.sensitive.is_empty() {
        format!("{NO_LIMIT}.")
    } else if patients {
        uneven(&format!("{k} patients match"))
    } else {
        let cells = if effects.single_cells { " The values of suppressed cells may be inferred." } else { "" };
        format!(
            "The same holds against an attacker who knows the algorithm: {}{cells} What the attacker learns about sensitive values is not limited.",
            second_sentence(patients, k)
        )
    };
    if claim.sensitive.is_empty() {
        plain += " What the attacker learns about sensitive values is not limited.";
    }
    // Whoever has only the rows counts rows: who they belong to, and what they share, is not in them.
    let counted = if patients { at_least(claim, "records") } else { plain.clone() };
    Guarantee { counted, plain, aware }
}

/// The first sentence: what is counted.
fn at_least(claim: &Claim, people: &str) -> String {
    let k = claim.k.get();
    match &claim.knows {
        KnowsClaim::All => format!(
            "An attacker who knows all quasi-identifiers of a person finds at least {k} matching {people} in this file, or none."
        ),
        KnowsClaim::Any(n) => format!(
            "An attacker who knows up to {n} of a person's quasi-identifiers finds at least {k} matching {people} in this file, or none."
        ),
        KnowsClaim::Sets(_) => format!(
            "An attacker who knows a person's values in one of the listed sets of quasi-identifiers finds at least {k} matching {people} in this file, or none."
        ),
    }
}

/// A probability needs an assumption, and the assumption is printed with it: what is suppressed in one
/// column may be inferred from another one (a man of 30 among `30,*,pregnancy` and `30,*,prostate cancer`).
fn second_sentence(patients: bool, k: u64) -> String {
    let (these, one) = if patients { ("patients", "patient") } else { ("records", "record") };
    format!(
        "if nothing else the attacker knows about the other released columns tells these {these} apart, the chance of picking the right {one} is at most 1/{k}."
    )
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The sentences where some records are synthetic: they are never counted as protection.
fn of_synthetic(claim: &Claim, synthetic: &SyntheticClaim, unit: People) -> Guarantee {
    let patients = unit.patients;
    let (k, real_k) = (claim.k.get(), synthetic.real_k);
    let mut counted = at_least(claim, "records");
    let mut plain = counted.strip_suffix('.').unwrap_or(&counted).to_string() + "; some of them may be synthetic.";
    if synthetic.catalog.is_some() {
        plain += &format!(
            " An attacker who also reads the catalog, and takes all placements of the synthetic records that it allows for equally likely, or each for as likely as the number of real records it gives to those that match, links the person to any one record with probability at most 1/{k}."
        );
    }
    // With a patient column, patients were counted, and every synthetic record as a patient of its own.
    plain +=
        &of_sensitive(claim, if patients { "patients (each synthetic record counts as one)" } else { "records" }, unit);
    plain += if claim.sensitive.is_empty() {
        " What the attacker learns about sensitive values is not limited."
    } else if synthetic.limits_shown_only {
        " Without the synthetic records this may not hold: what the real people of a group reveal is not limited."
    } else {
        " The same was counted without the synthetic records."
    };
    if !patients {
        counted += &of_sensitive(claim, "records", unit);
    }
    let aware = if !claim.sensitive.is_empty() || synthetic.catalog.is_some() {
        format!("{NO_LIMIT}.")
    } else if real_k == 1 {
        format!(
            "{NO_LIMIT}: synthetic records do not count as protection, and a group of records that look the same may hold one real person."
        )
    } else if patients {
        uneven(&format!("{real_k} patients that match are real")) + " Synthetic records do not count as protection."
    } else {
        format!(
            "Against an attacker who knows the algorithm synthetic records do not count as protection. At least {real_k} matching records are real: {} What the attacker learns about sensitive values is not limited.",
            second_sentence(patients, real_k)
        )
    };
    Guarantee { counted, plain, aware }
}

/// The sentence for patients with several rows: a patient who has more rows in a group than the others
/// is behind more of its rows, and it is likelier that one of them shows what is known.
fn uneven(at_least: &str) -> String {
    format!("{NO_LIMIT}: at least {at_least}, but a patient with more rows than the others is found more easily.")
}

/// The people that were counted.
#[derive(Debug, Clone, Copy)]
struct People {
    /// True if they are patients, who may have several rows.
    patients: bool,
    /// True if labels overlap, so that whoever knows a value may match several groups of identical records.
    only_in_groups: bool,
}

/// The sentences about sensitive columns, counted in these people. Rows that match in several groups keep every
/// limit that each of the groups keeps; patients do not, since one of them may be in several groups.
fn of_sensitive(claim: &Claim, people: &str, unit: People) -> String {
    let in_groups = unit.patients && unit.only_in_groups;
    let (of, show, their) = match in_groups {
        false => {
            (format!("Of the matching {people}"), format!("The matching {people} show"), "Their distribution".into())
        }
        true => (
            format!("In each group of identical records, of the {people}"),
            format!("In each group of identical records, the {people} show"),
            format!("In each group of identical records, the {people}' distribution"),
        ),
    };
    let mut plain = String::new();
    for sensitive in &claim.sensitive {
        let column = &sensitive.column;
        if let Some(c) = &sensitive.confidence {
            let values = if sensitive.values.is_some() { "any one listed value" } else { "any one value" };
            plain += &format!(" {of} that have a value in `{column}`, at most the share {c} has {values}.");
        }
        if let Some(l) = &sensitive.l_diversity {
            plain += &format!(" {show} {} in `{column}`, unless all of their values are missing.", l.describe());
        }
        if let Some(t) = &sensitive.t_closeness {
            let distance = t.words();
            plain += &format!(
                " {their} of `{column}` differs from that of this whole file by at most {}, {distance}, unless all of their values are missing.",
                t.max
            );
        }
    }
    if in_groups && !claim.sensitive.is_empty() {
        plain += " Someone who takes a suppressed or coarser cell for any value that it covers matches several groups at once, and may learn more.";
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::claim::{SensitiveClaim, TClaim};
    use super::*;
    use crate::number::{Decimal, Fraction, K};
    use crate::policy::TDistance;
    use crate::privacy::LDiversity;

    const STEERED: Effects = Effects { class_steers: true, ..Effects::NONE };
    fn unit(patients: bool) -> People {
        People { patients, only_in_groups: false }
    }

    const CELLS: Effects = Effects { single_cells: true, ..Effects::NONE };

    #[test]
    fn an_attacker_who_knows_the_algorithm_is_limited_only_by_k_over_all_columns() {
        let claim = |knows| Claim { k: K::new(5).unwrap(), knows, sensitive: Vec::new(), synthetic: None };
        let said = |knows, patients| of_table(Effects::NONE, &claim(knows), unit(patients));
        assert!(said(KnowsClaim::All, false).aware.contains("at most 1/5"));
        // Patients may have several rows, and one more than another: see kohort-falsify.
        assert!(said(KnowsClaim::All, true).aware.contains("No limit is guaranteed"));
        assert!(said(KnowsClaim::Any(2), true).aware.contains("No limit is guaranteed"));
        assert!(said(KnowsClaim::Sets(vec![]), true).aware.contains("No limit is guaranteed"));
        assert!(of_table(STEERED, &claim(KnowsClaim::All), unit(true)).aware.contains("No limit is guaranteed"));
        assert!(of_table(STEERED, &claim(KnowsClaim::All), unit(false)).aware.contains("No limit is guaranteed"));
        assert!(!said(KnowsClaim::Any(2), true).plain.contains("1/5"));
        let blanked = |knows| of_table(CELLS, &claim(knows), unit(false)).aware;
        assert!(blanked(KnowsClaim::All).contains("may be inferred"));
        assert!(blanked(KnowsClaim::Sets(vec![])).contains("No limit is guaranteed"));
    }

    /// R4: (30,M,prostate cancer), (30,F,pregnancy), … at k = 2 releases `30,*,prostate cancer`, and the
    /// man of 30 is found with certainty. The probability stands only with its assumption.
    #[test]
    fn a_probability_is_printed_with_its_assumption() {
        let claim = Claim { k: K::new(2).unwrap(), knows: KnowsClaim::All, sensitive: Vec::new(), synthetic: None };
        for (patients, people) in [(false, "records"), (true, "patients")] {
            let said = of_table(Effects::NONE, &claim, unit(patients));
            let (counted, probability) = said.plain.split_once(". ").unwrap();
            assert!(counted.ends_with(&format!("at least 2 matching {people} in this file, or none")), "{counted}");
            assert!(probability.starts_with("If nothing else the attacker knows"), "{probability}");
            assert!(!counted.contains("1/2") && probability.contains("at most 1/2"));
        }
        let said = of_table(Effects::NONE, &claim, unit(false));
        assert!(said.aware.contains("if nothing else") && said.aware.contains("at most 1/2"));
    }

    /// R5: in a class whose values are all missing no two values differ. R2: what was counted in
    /// patients is not said of rows.
    #[test]
    fn sentences_name_missing_values_and_the_unit_that_was_counted() {
        let sensitive = SensitiveClaim {
            column: "dx".into(),
            values: None,
            confidence: Fraction::from_decimal(Decimal::parse("0.5", b'.').unwrap()),
            l_diversity: Some(LDiversity::Distinct(3)),
            t_closeness: Some(TClaim {
                max: Fraction::from_decimal(Decimal::parse("0.2", b'.').unwrap()).unwrap(),
                distance: TDistance::Hierarchical,
                order: None,
                tree: None,
            }),
        };
        let synthetic = SyntheticClaim {
            real_k: 2,
            padding: crate::privacy::Padding::Exact,
            catalog: None,
            limits_shown_only: false,
        };
        for synthetic in [None, Some(synthetic)] {
            let claim =
                Claim { k: K::new(2).unwrap(), knows: KnowsClaim::All, sensitive: vec![sensitive.clone()], synthetic };
            let said = |patients| of_table(Effects::NONE, &claim, unit(patients)).plain;
            assert_eq!(said(true).matches("unless all of their values are missing").count(), 2);
            assert!(said(true).contains("in the tree that the certificate lists"));
            assert!(said(true).contains("Of the matching patients"), "{}", said(true));
            assert!(said(false).contains("Of the matching records"), "{}", said(false));
            // R7: where labels overlap, whoever knows a value matches several groups, which may share a patient.
            let overlap = |patients| of_table(Effects::NONE, &claim, People { patients, only_in_groups: true }).plain;
            assert!(!overlap(true).contains("matching patients that") && overlap(true).contains("may learn more"));
            assert_eq!(overlap(true).matches("In each group of identical records").count(), 3, "{}", overlap(true));
            assert_eq!(overlap(false), said(false), "rows keep every limit in a union of groups");
        }
    }

    #[test]
    fn synthetic_records_are_never_counted_as_protection() {
        let claim = |real_k, catalog: Option<&str>| {
            let catalog = catalog.map(str::to_string);
            let padding = crate::privacy::Padding::Randomized;
            let synthetic = Some(SyntheticClaim { real_k, padding, catalog, limits_shown_only: false });
            Claim { k: K::new(5).unwrap(), knows: KnowsClaim::All, sensitive: Vec::new(), synthetic }
        };
        let said = |real_k, catalog| of_table(Effects::NONE, &claim(real_k, catalog), unit(false));
        assert!(
            said(3, None).plain.contains("at least 5 matching records") && said(3, None).plain.contains("synthetic")
        );
        assert!(said(3, None).aware.contains("at most 1/3") && !said(3, None).aware.contains("1/5"));
        assert!(said(1, None).aware.contains("No limit is guaranteed"));
        assert!(!said(3, None).plain.contains("1/5"));
        assert!(
            said(3, Some("s")).plain.contains("1/5") && said(3, Some("s")).aware.contains("No limit is guaranteed")
        );
    }

    #[test]
    fn of_codes_an_attacker_who_knows_the_algorithm_is_not_limited_without_whole_subrecords() {
        let claim = |aware| CodesClaim {
            k: K::new(5).unwrap(),
            m: 2,
            aware,
            no_cover: false,
            sensitive: Vec::new(),
            confidence: None,
        };
        let plain = guarantee_of_codes(&claim(false), &[], true);
        assert!(plain.plain.contains("non-empty fragment") && plain.plain.contains("equally likely"));
        assert!(plain.aware.contains("No limit is guaranteed") && plain.aware.contains("certain re-identification"));
        let aware = guarantee_of_codes(&claim(true), &[], true);
        assert!(aware.aware.contains("1/5") && aware.aware.contains("not limited"));
        let sensitive = CodesClaim { sensitive: vec!["042".into()], ..claim(false) };
        assert!(guarantee_of_codes(&sensitive, &[], true).plain.contains("limits no probability"));
        let limited =
            CodesClaim { confidence: Decimal::parse("0.2", b'.').and_then(Fraction::from_decimal), ..sensitive };
        let said = guarantee_of_codes(&limited, &[], true).plain;
        assert!(said.contains("at most the share 0.2") && said.contains("counted before release"), "{said}");
        let counted = guarantee_of_codes(&limited, &[], true).counted;
        assert!(counted.contains("at least 5 records") && !counted.contains("0.2"), "{counted}");
    }

    /// The rows of one patient are one record: that a record is a different patient is not in the bytes, and neither
    /// is any probability that rests on it.
    #[test]
    fn of_codes_and_events_the_release_alone_shows_records() {
        let claim = CodesClaim {
            k: K::new(5).unwrap(),
            m: 2,
            aware: false,
            no_cover: false,
            sensitive: Vec::new(),
            confidence: None,
        };
        let quasi = ColumnClaim { name: "age".into(), role: "quasi".into(), of: Vec::new(), labels: None };
        let said = guarantee_of_codes(&claim, std::slice::from_ref(&quasi), true);
        assert!(said.plain.contains("1/5") && said.plain.contains("shown by at least 5 patients"), "{}", said.plain);
        assert!(!said.counted.contains("patients") && !said.counted.contains("1/5"), "{}", said.counted);
        assert!(said.counted.contains("shown by at least 5 records"), "{}", said.counted);
        let rows = guarantee_of_codes(&claim, &[quasi], false);
        assert!(!rows.plain.contains("patients") && rows.counted.contains("1/5"), "{}", rows.plain);

        let claim = EventsClaim {
            k: K::new(5).unwrap(),
            tables: Vec::new(),
            max_high_risk: Decimal::parse("0.1", b'.').and_then(Fraction::from_decimal).unwrap(),
            power: Power::Values { p: 2, rule: crate::policy::PowerRule::Fixed },
        };
        let found = EventsFound { pairs_known: Some(ShareAtRisk::counted(3, 10)), ..EventsFound::default() };
        let said = guarantee_of_events(&claim, &found);
        assert!(said.plain.contains("of patients with events") && !said.plain.contains("records"), "{}", said.plain);
        assert!(said.counted.contains("of patient records with events"), "{}", said.counted);
        assert!(!said.counted.contains("patients"), "{}", said.counted);
        assert!(said.plain.contains("30.0 % (two columns of 2 events known, the two that reveal most)"));
    }
}
