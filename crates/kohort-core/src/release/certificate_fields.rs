//! Tests that docs/certificate.md names every field of a certificate, and no others.

use super::claim::{Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim, SensitiveClaim, SyntheticClaim, TClaim};
use super::recounted::{CatalogShown, SensitiveShown, TableShown};
use super::{Certificate, FileEntry, Guarantee, Promise};
use crate::hierarchy::StandardHierarchy;
use crate::number::{Decimal, Fraction, K};
use crate::policy::{Effects, Power, PowerRule, TDistance};
use crate::privacy::{LDiversity, Padding, ShareAtRisk};
use crate::shape::{Codes, Events, Shape, Table};
use crate::verify::{CodesRecount, EventsFound, EventsRecount};
use serde_json::Value;
use std::collections::BTreeSet;

fn half() -> Fraction {
    Decimal::parse("0.5", b'.').and_then(Fraction::from_decimal).expect("a share")
}

/// A certificate in which every field of its shape has a value.
fn full<S: Shape>(claim: S::Claim, recount: S::Shown) -> Certificate<S> {
    let labels = S::CHECKS_LABELS.then(|| StandardHierarchy::named("los").expect("a hierarchy"));
    Certificate {
        kohort: "0".into(),
        method: "lattice".into(),
        test: true,
        sample: S::MAY_BE_SAMPLE.then(half),
        files: vec![
            FileEntry { name: "f".into(), sha256: "0".into(), rows: Some(1), parts: None },
            FileEntry::of_parts(&[1]),
        ],
        delimiter: b',',
        promise: Promise {
            patients: true,
            effects: Effects { synthetic: S::synthetic(&claim).is_some(), single_cells: true, class_steers: true },
            columns: vec![ColumnClaim { name: "q".into(), role: "quasi".into(), of: vec!["r".into()], labels }],
            claim,
            cleaning: vec!["A sentence.".into()],
            assumed: vec!["A sentence.".into()],
            not_recountable: vec!["A sentence.".into()],
        },
        recount,
        guarantee: Guarantee { counted: "a".into(), plain: "b".into(), aware: "c".into() },
    }
}

fn sensitive(l: LDiversity, distance: TDistance) -> SensitiveClaim {
    let (order, tree) = (Some(vec!["a".to_string()]), Some(vec![vec!["a".to_string(), "*".to_string()]]));
    SensitiveClaim {
        column: "s".into(),
        values: Some(vec!["a".into()]),
        confidence: Some(half()),
        l_diversity: Some(l),
        t_closeness: Some(TClaim { max: half(), distance, order, tree }),
    }
}

fn tables() -> Certificate<Table> {
    let synthetic =
        SyntheticClaim { real_k: 2, padding: Padding::Exact, catalog: Some("s".into()), limits_shown_only: true };
    let claim = Claim {
        k: K::LEAST,
        knows: KnowsClaim::All,
        sensitive: vec![
            sensitive(LDiversity::Distinct(2), TDistance::Equal),
            sensitive(LDiversity::Entropy(2), TDistance::Ordered),
            sensitive(LDiversity::Recursive { c: (2, 1), l: 2 }, TDistance::Hierarchical),
        ],
        synthetic: Some(synthetic),
    };
    let text = || Some("0.5".to_string());
    let found = SensitiveShown {
        column: "s".into(),
        highest_confidence: text(),
        least_diversity: text(),
        largest_distance: text(),
    };
    let catalog = CatalogShown { groups: 1, counterfeits: 1, highest_posterior: "0.5".into() };
    let shown =
        TableShown { rows: 2, sets: 1, classes: 1, smallest_class: 2, sensitive: vec![found], catalog: Some(catalog) };
    full(claim, shown)
}

fn codes() -> Certificate<Codes> {
    let sensitive = vec!["a".into()];
    let claim = CodesClaim { k: K::LEAST, m: 2, aware: true, no_cover: true, sensitive, confidence: Some(half()) };
    // Written out, so that a new field does not compile until it is here; a default could be skipped in the text.
    let recount = CodesRecount {
        patients: 2,
        clusters: 1,
        joint: 1,
        record_chunks: 1,
        shared_chunks: 1,
        smallest_cluster: 2,
        smallest_support: 2,
        smallest_subrecord: 2,
        covers: 1,
        implied: 1,
        codes: 1,
        codes_in_item_chunks_only: 1,
        occurrences_in_record_chunks: 1,
        occurrences_in_shared_chunks: 1,
        entries_in_item_chunks: 1,
        groups: 1,
        smallest_group: 1,
    };
    full(claim, recount)
}

fn events(power: Power) -> Certificate<Events> {
    let tables = vec![("t".to_string(), 1)];
    let claim = EventsClaim { k: K::LEAST, power, max_high_risk: half(), tables };
    let share = ShareAtRisk { patients: 2, enumerated: 1, enumerated_millionths: 1, hits: 1, draws: 2 };
    let found =
        EventsFound { at_high_risk: share, one_event_known: share, events_known: share, pairs_known: Some(share) };
    let recount = EventsRecount {
        patients: 2,
        events: 2,
        classes: 1,
        smallest_class: 2,
        without_events: 1,
        without_events_at_risk: 1,
        found,
    };
    full(claim, recount)
}

/// The names of all fields in a value, without the places in lists.
fn fields(value: &Value, name: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            let below = |key: &String| if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            map.iter().for_each(|(key, item)| fields(item, &below(key), all));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().for_each(|item| fields(item, name, all));
        }
        _ => drop(all.insert(name.to_string())),
    }
}

#[test]
fn the_table_names_every_field_of_a_certificate_and_no_others() {
    let mut written = BTreeSet::new();
    let powers = [
        Power::Values { p: 1, rule: PowerRule::Fixed },
        Power::Values { p: 1, rule: PowerRule::Variable },
        Power::Events { p: 1 },
        Power::Pairs { p: 1 },
        Power::Total { p: 1 },
    ];
    let texts = powers.map(|power| events(power).to_text());
    for text in [tables().to_text(), codes().to_text()].iter().chain(&texts) {
        fields(&serde_json::from_str(text).expect("JSON"), "", &mut written);
    }
    let page = include_str!("../../../../docs/certificate.md").replace("\r\n", "\n");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let first = rows.map(|line| line.trim_start_matches('|').split(" | ").next().unwrap_or_default());
    let named = first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_string);
    let named: BTreeSet<String> = named.collect();
    let lacking: Vec<&String> = written.difference(&named).collect();
    let gone: Vec<&String> = named.difference(&written).collect();
    assert!(lacking.is_empty(), "docs/certificate.md does not say what the verifier does with {lacking:?}");
    assert!(gone.is_empty(), "docs/certificate.md names fields that no certificate has: {gone:?}");
}
