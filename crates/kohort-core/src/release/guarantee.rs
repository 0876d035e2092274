//! The guarantee in plain sentences, for a reader who does not reason about the method and for
//! one who does. Never stronger than what survived attack (see docs/guarantees.md).

use super::claim::{Claim, CodesClaim, EventsClaim, InventedClaim, KnowsClaim};
use super::promise::Promise;
use crate::policy::{Effects, Power};
use crate::statistics::{Z95, wilson};
use crate::verify::EventsFound;
use serde::{Deserialize, Serialize};

/// What is promised, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// To a reader who matches what they know against the release.
    pub plain: String,
    /// To a reader who also knows the method and reasons backwards from the release.
    pub aware: String,
}

/// The sentences for patients and their events.
pub fn guarantee_of_events(claim: &EventsClaim, found: &EventsFound) -> Guarantee {
    let (k, p) = (claim.k.get(), claim.power.p());
    let share = |(hits, of): (u64, u64)| 100.0 * hits as f64 / of.max(1) as f64;
    let (low, high) = wilson(found.hits, Z95);
    let about = format!(
        "For about {:.1} % of patients with events (95 % interval {:.1}–{:.1} %, from {} draws)",
        share(found.hits),
        100.0 * low,
        100.0 * high,
        found.hits.1
    );
    let certain = format!("finds fewer than {k} matching patients; some of them may be found with certainty.");
    let apart = format!(
        " Who knows which values belong to one event finds fewer than {k} for {:.1} % (one event) and {:.1} % ({p} events).",
        share(found.one_event),
        share(found.p_events)
    );
    let plain = match claim.power {
        Power::Values { .. } => format!(
            "{about} a reader who knows all patient-level columns and, in each event column separately, up to {p} of the patient's values, {certain} Values were drawn at random; a reader who chooses what they know may do better.{apart}"
        ),
        Power::Events { .. } => format!(
            "{about} a reader who knows all patient-level columns and up to {p} whole events of the patient {certain} Events were drawn at random; a reader who chooses what they know may do better."
        ),
        Power::Total { .. } => {
            let all_but = match found.hits.0 {
                0 => "for all patients with events".to_string(),
                _ => format!("for all but {:.1} % of patients with events", share(found.hits)),
            };
            let facts = if p == 1 { "Any one fact" } else { "Any up to" };
            let number = if p == 1 { String::new() } else { format!(" {p} facts") };
            format!(
                "{facts}{number} about a patient's events in total, a fact being a value in an event column, together with all patient-level values match at least {k} patients or none, {all_but}.{apart}"
            )
        }
    };
    // Nothing but their own columns can be known of the others, and that may be enough.
    let others = format!(
        " Of patients without events, at most the share {} has fewer than {k} patients alike in all patient-level columns.",
        claim.max_high_risk
    );
    Guarantee {
        plain: plain + &others,
        aware: "To a reader who also reasons about the method no bound is promised. Missing events tend to be the rare ones; the number of events of a patient is visible.".into(),
    }
}

/// The sentences for a table, or for a random sample of one.
pub fn guarantee_of_table(promise: &Promise, is_sample: bool) -> Guarantee {
    let whole = of_table(promise.effects, &promise.claim, promise.patients);
    if is_sample { of_sample(&whole) } else { whole }
}

/// The sentences for a random sample of a table: what holds, holds for the whole file. Someone who knows
/// that a person is in the sample is held off by the sample's own classes alone, which may hold one person.
fn of_sample(whole: &Guarantee) -> Guarantee {
    let plain = whole.plain.replace("in this file", "in the file that this is a random sample of");
    let plain = plain.replace("that of this whole file", "that of the whole of it");
    Guarantee {
        plain: format!(
            "{plain} This was recounted on that file, and cannot be on the sample. Of those that match, the sample holds some, perhaps one: to someone who knows that the person is in the sample, no bound is promised."
        ),
        aware: "To a reader who also reasons about the method no bound is promised.".into(),
    }
}

/// The sentences for clusters of codes.
pub fn guarantee_of_codes(claim: &CodesClaim) -> Guarantee {
    let (k, m) = (claim.k.get(), claim.m);
    let codes = if m == 1 { "one code".to_string() } else { format!("up to {m} codes") };
    let mut plain = format!(
        "Whoever knows {codes} of a person and treats every recombination of the fragments as equally likely links the person to any particular non-empty fragment with probability at most 1/{k}. Which codes a person does not have may be learned"
    );
    plain += if claim.no_cover { "." } else { ", and codes that a whole cluster shares." };
    if !claim.sensitive.is_empty() {
        plain += " Of the codes listed as sensitive nothing is told but that somebody in the cluster has them; how many have them is not told, it may be all, so that no probability is bounded by this.";
    }
    let aware = if claim.aware {
        format!(
            "To a reader who also reasons about the method: the person is linked to any particular non-empty fragment with probability at most 1/{k}. What the codes reveal is not bounded."
        )
    } else {
        "To a reader who also reasons about the method no bound is promised: certain re-identification is possible."
            .to_string()
    };
    Guarantee { plain, aware }
}

/// The sentences for a table. Where single cells are suppressed, a suppressed cell matches whatever
/// is known.
fn of_table(effects: Effects, claim: &Claim, patients: bool) -> Guarantee {
    if let Some(invented) = &claim.invented {
        return of_invented(claim, invented, patients);
    }
    let k = claim.k.get();
    // Who has several rows has several chances to own a row, but is still one patient among k.
    let (people, link) = if patients {
        ("patients", format!("the person is any one of them with probability at most 1/{k}"))
    } else {
        ("rows", format!("the person is linked to any one row with probability at most 1/{k}"))
    };
    let mut plain = match &claim.knows {
        KnowsClaim::All => format!(
            "Whoever knows all quasi-identifiers of a person finds at least {k} {people} in this file that match, or none; {link}."
        ),
        KnowsClaim::Any(n) => format!(
            "Whoever knows up to {n} of a person's quasi-identifiers finds at least {k} {people} in this file that match, or none."
        ),
        KnowsClaim::Sets(_) => format!(
            "Whoever knows a person's values in one of the listed sets of quasi-identifiers finds at least {k} {people} in this file that match, or none."
        ),
    };
    plain += &of_sensitive(claim, people);
    // Where the class column steers the method, its choices reveal something about that column.
    let aware = if effects.class_steers || claim.knows != KnowsClaim::All || !claim.sensitive.is_empty() {
        "To a reader who also reasons about the method no bound is promised.".to_string()
    } else if patients {
        uneven(&format!("{k} patients match"))
    } else {
        let cells = if effects.single_cells { " What stood in a suppressed cell may be inferred." } else { "" };
        format!(
            "To a reader who also reasons about the method the same holds: {link}.{cells} What is learned about sensitive values is not bounded."
        )
    };
    if claim.sensitive.is_empty() {
        plain += " What is learned about sensitive values is not bounded.";
    }
    Guarantee { plain, aware }
}

/// The sentences where some rows stand for nobody: they are never counted as protection.
fn of_invented(claim: &Claim, invented: &InventedClaim, patients: bool) -> Guarantee {
    let (k, real_k) = (claim.k.get(), invented.real_k);
    let mut plain = format!(
        "Whoever knows all quasi-identifiers of a person finds at least {k} rows in this file that match, or none; some of them may be invented and stand for nobody."
    );
    if invented.catalog.is_some() {
        plain += &format!(
            " Whoever also reads the catalog, and takes all placements of the invented rows that it allows for equally likely, or each for as likely as it leaves real rows among those that match, links the person to any one row with probability at most 1/{k}."
        );
    }
    plain += &of_sensitive(claim, "rows");
    plain += if claim.sensitive.is_empty() {
        " What is learned about sensitive values is not bounded."
    } else {
        " The same was counted without the invented rows."
    };
    let aware = if !claim.sensitive.is_empty() || invented.catalog.is_some() {
        "To a reader who also reasons about the method no bound is promised.".to_string()
    } else if real_k == 1 {
        "To a reader who also reasons about the method no bound is promised: invented rows are not counted as protection, and a class may hold one real person.".to_string()
    } else if patients {
        uneven(&format!("{real_k} patients that match are real")) + " Invented rows are not counted as protection."
    } else {
        format!(
            "To a reader who also reasons about the method: at least {real_k} rows that match are real, and the person is linked to any one row with probability at most 1/{real_k}; invented rows are not counted as protection. What is learned about sensitive values is not bounded."
        )
    };
    Guarantee { plain, aware }
}

/// Patients with several rows: of one who has more of them than the others in a class, more rows are
/// there to be taken for theirs, and it is likelier that one of them shows what is known.
fn uneven(at_least: &str) -> String {
    format!(
        "To a reader who also reasons about the method no bound is promised: at least {at_least}, but a patient with more rows than the others is found more easily."
    )
}

/// What is claimed of sensitive columns, counted in these people.
fn of_sensitive(claim: &Claim, people: &str) -> String {
    let mut plain = String::new();
    for sensitive in &claim.sensitive {
        let column = &sensitive.column;
        if let Some(c) = &sensitive.confidence {
            let values = if sensitive.values.is_some() { "any one listed value" } else { "any one value" };
            plain += &format!(
                " Of the {people} that match and have a value in `{column}`, at most the share {c} has {values}."
            );
        }
        if let Some(l) = &sensitive.l_diversity {
            plain += &format!(" Those that match show in `{column}` {}.", l.describe());
        }
        if let Some(t) = &sensitive.t_closeness {
            plain += &format!(
                " Their distribution of `{column}` is no further than {} from that of this whole file.",
                t.max
            );
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::K;

    const STEERED: Effects = Effects { class_steers: true, ..Effects::NONE };
    const CELLS: Effects = Effects { single_cells: true, ..Effects::NONE };

    #[test]
    fn an_aware_reader_is_promised_nothing_beyond_k_over_all_columns() {
        let claim = |knows| Claim { k: K::new(5).unwrap(), knows, sensitive: Vec::new(), invented: None };
        let said = |knows, patients| of_table(Effects::NONE, &claim(knows), patients);
        assert!(said(KnowsClaim::All, false).aware.contains("at most 1/5"));
        // Patients may have several rows, and one more than another: see kohort-falsify.
        assert!(said(KnowsClaim::All, true).aware.contains("no bound is promised"));
        assert!(said(KnowsClaim::Any(2), true).aware.contains("no bound is promised"));
        assert!(said(KnowsClaim::Sets(vec![]), true).aware.contains("no bound is promised"));
        assert!(of_table(STEERED, &claim(KnowsClaim::All), true).aware.contains("no bound is promised"));
        assert!(of_table(STEERED, &claim(KnowsClaim::All), false).aware.contains("no bound is promised"));
        assert!(!said(KnowsClaim::Any(2), true).plain.contains("1/5"));
        let blanked = |knows| of_table(CELLS, &claim(knows), false).aware;
        assert!(blanked(KnowsClaim::All).contains("may be inferred"));
        assert!(blanked(KnowsClaim::Sets(vec![])).contains("no bound is promised"));
    }

    #[test]
    fn invented_rows_are_never_counted_as_protection() {
        let claim = |real_k, catalog: Option<&str>| {
            let catalog = catalog.map(str::to_string);
            let invented = Some(InventedClaim { real_k, padding: crate::privacy::Padding::Randomized, catalog });
            Claim { k: K::new(5).unwrap(), knows: KnowsClaim::All, sensitive: Vec::new(), invented }
        };
        let said = |real_k, catalog| of_table(Effects::NONE, &claim(real_k, catalog), false);
        assert!(said(3, None).plain.contains("at least 5 rows") && said(3, None).plain.contains("invented"));
        assert!(said(3, None).aware.contains("at most 1/3") && !said(3, None).aware.contains("1/5"));
        assert!(said(1, None).aware.contains("no bound is promised"));
        assert!(!said(3, None).plain.contains("1/5"));
        assert!(said(3, Some("s")).plain.contains("1/5") && said(3, Some("s")).aware.contains("no bound is promised"));
    }

    #[test]
    fn of_codes_an_aware_reader_is_promised_nothing_without_whole_subrecords() {
        let claim = |aware| CodesClaim { k: K::new(5).unwrap(), m: 2, aware, no_cover: false, sensitive: Vec::new() };
        let plain = guarantee_of_codes(&claim(false));
        assert!(plain.plain.contains("non-empty fragment") && plain.plain.contains("equally likely"));
        assert!(plain.aware.contains("no bound is promised") && plain.aware.contains("certain re-identification"));
        let aware = guarantee_of_codes(&claim(true));
        assert!(aware.aware.contains("1/5") && aware.aware.contains("not bounded"));
    }
}
