//! Every promise of every method, on thousands of small originals. KOHORT_CASES scales how many;
//! `cargo run --release -p kohort-falsify -- falsify --minutes 30` looks longer.

use kohort::methods::disassociate::{Formed, Params};
use kohort_falsify::campaign::{Campaign, METHODS, pairs, run, table};
use kohort_falsify::codes;
use kohort_falsify::dice::Dice;
use std::time::Duration;

/// At least so many originals for each method and requirement.
fn originals() -> u64 {
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse::<u64>().ok());
    cases.map_or(1000, |n| 10 * n)
}

fn check(method: &'static str) {
    let campaign =
        Campaign { seed: 1, methods: vec![method], originals: originals(), time: Duration::ZERO, most: 1000 };
    let found = run(&campaign, |_| ()).unwrap();
    println!("{}", table(&found));
    assert_eq!(found.len(), pairs(&[method]).len());
    for ((_, requirement), found) in &found {
        assert_eq!(found.broken, None, "{method}, {requirement}");
        assert!(found.released > 10, "{method}, {requirement}: nothing was released: {found:?}");
        assert!(found.by_path > 0, "{method}, {requirement}: the whole path was not taken");
    }
    // A bound that nothing comes near was not tried.
    let tight = found.values().map(|f| f.of_bound).fold(0.0, f64::max);
    let promises = METHODS.iter().position(|m| *m == method).is_some_and(|m| ![1, 5].contains(&m));
    assert_eq!(tight > 0.999, promises, "{method}: {tight}");
}

#[test]
fn local_keeps_what_it_promises() {
    check("local");
}

#[test]
fn lattice_keeps_what_it_promises() {
    check("lattice");
}

#[test]
fn specialize_keeps_what_it_promises() {
    check("specialize");
}

#[test]
fn suppress_keeps_what_it_promises() {
    check("suppress");
}

#[test]
fn ceiling_keeps_what_it_promises() {
    check("ceiling");
}

#[test]
fn disassociate_keeps_what_it_promises() {
    check("disassociate");
}

#[test]
fn claims_keeps_what_it_promises() {
    check("claims");
}

/// More codes and more records than can be gone through, in clusters as printed, some of them joint.
#[test]
fn larger_sets_of_codes_keep_what_is_promised() {
    let (mut joint, mut nested) = (0, 0);
    for seed in 0..originals() / 4 {
        let mut dice = Dice::new(seed);
        let codes = 3 + dice.below(4) as u32;
        let params = Params { clusters: Formed::Paper, ..Params::default() };
        let universe = codes::Universe::even(codes, 4 + dice.below(8), (2, 1 + dice.below(3)), params);
        let record = |dice: &mut Dice| (0..codes).filter(|_| dice.below(3) == 0).fold(0, |all, c| all | 1 << c);
        let records: Vec<u32> = (0..universe.records).map(|_| record(&mut dice)).filter(|r| *r != 0).collect();
        if records.len() < 2 {
            continue;
        }
        let (broken, own, of_joint) = codes::plain_of(&universe, &records).unwrap();
        assert_eq!(broken, None, "{records:x?}, {universe:?}");
        (joint, nested) = (joint + own, nested + of_joint);
    }
    assert!(joint > 20 && nested > 0, "{joint} joint, {nested} nested");
}
