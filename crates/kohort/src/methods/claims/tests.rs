//! The worked example, with shares known exactly, and the fast counts against the plain definition.

use super::classes::PatientClasses;
use super::draws::{Draws, Who};
use super::estimate::{Estimate, EstimateInput, KnowledgeKind, estimate, hits_of};
use super::labels::EventLabels;
use super::linked::LinkedColumns;
use super::nodes::Nodes;
use super::patient_events::{PatientEvents, PatientOrder};
use super::power::cap_of_events;
use super::total::{violating, violating_are_few};
use super::{truncate, truncate::supports};
use crate::pipeline::{Options, open};
use kohort_core::events::{Histories, survey};
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::PowerRule::{self, Fixed, Variable};
use kohort_core::random::Randomness;
use kohort_core::table::Silent;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

fn read(policy: &Path) -> Histories {
    let options = Options { force: false, keep_rows: false, seed: None, threads: 1, progress: Arc::new(Silent) };
    let (source, policy) = open(policy, &options).unwrap();
    survey(&source, &policy.events().unwrap()).unwrap()
}

fn example() -> Histories {
    let folder = "../../tests/golden/who_knows_three_values_of_a_patient_finds_two_or_more";
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("policy.toml"))
}

/// Places of the example's patients 1 to 8.
fn place(people: &PatientOrder, patient: u32) -> usize {
    people.patient.iter().position(|&p| p == patient - 1).unwrap()
}

fn share(text: &str) -> Fraction {
    Fraction::from_decimal(Decimal::parse(text, b'.').unwrap()).unwrap()
}

fn powers(events: &PatientEvents, labels: EventLabels, p: usize, rule: PowerRule) -> Vec<u8> {
    KnowledgeKind::Values(rule).power(events, &[labels], p, 1).remove(0)
}

#[test]
fn powers_are_the_examples() {
    let histories = example();
    let people = PatientOrder::of(&histories);
    let all = PatientEvents::of(&histories, &people, |_, _| true);
    assert!((cap_of_events(&all, 0) - 4.85218).abs() < 5e-6);
    let own = |column: usize, level: usize| {
        let found = powers(&all, EventLabels::of_column(&histories.event[column], level), 3, Variable);
        (1..=8).map(|p| found[place(&people, p)]).collect::<Vec<u8>>()
    };
    assert_eq!(own(0, 0), [2, 2, 1, 1, 3, 1, 2, 1]);
    assert_eq!(own(1, 0), [2, 2, 1, 1, 3, 1, 2, 1]);
    // Grouped, the first patient's diagnoses differ less: more of them are known.
    assert_eq!(own(0, 1)[0], 3);
}

#[test]
fn truncation_drops_the_examples_claims() {
    let histories = example();
    let people = PatientOrder::of(&histories);
    let all = PatientEvents::of(&histories, &people, |_, _| true);
    let least = supports(&histories);
    let line = |claim: u64| histories.tables[0].lines.iter().position(|&l| l == claim + 1).unwrap();
    // Scores are 1 − support / 8.
    let eighths = [4, 5, 8, 4, 5, 5, 5, 4, 6, 6, 6, 4, 6, 6, 4, 6, 5];
    for (claim, score) in (1..).zip(eighths) {
        assert_eq!(8 - least[0][line(claim)], score, "claim {claim}");
    }
    assert_eq!(truncate::limit(&all, 0, share("0.6")), 2);
    let keep = truncate::truncated(&histories, &people, &all, &least, share("0.6"));
    let dropped: Vec<u64> = (1..=17).filter(|&claim| !keep[0][line(claim)]).collect();
    assert_eq!(dropped, [3, 6, 10, 11, 13]);
}

/// The paper's score: of 100 patients, a claim whose rarest value 3 others have.
#[test]
fn a_claim_scores_by_its_rarest_value() {
    let folder = tempfile::tempdir().unwrap();
    let patients = (0..100).fold("id\n".to_string(), |text, p| text + &format!("{p}\n"));
    // The first patient's values a, b and c are those of 40, 3 and 77 others.
    let value = |p: u32, others: u32, text: &str| if p <= others { text.to_string() } else { "-".into() };
    let claims = (0..100).fold("id,x,y,z\n".to_string(), |text, p| {
        text + &format!("{p},{},{},{}\n", value(p, 40, "a"), value(p, 3, "b"), value(p, 77, "c"))
    });
    let policy = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\n\
        [columns.claims]\nid = { role = \"patient\" }\nx = { role = \"quasi\" }\ny = { role = \"quasi\" }\nz = { role = \"quasi\" }\n\
        [privacy]\nk = 2\npower = 2\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\n";
    for (file, text) in [("p.csv", &*patients), ("c.csv", &claims), ("policy.toml", policy)] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let histories = read(&folder.path().join("policy.toml"));
    assert_eq!(1.0 - f64::from(supports(&histories)[0][0]) / histories.patients() as f64, 0.97);
}

#[track_caller]
fn near(found: Estimate, exact: f64) {
    assert!((found.share() - exact).abs() < 0.006, "{} is not {exact}", found.share());
}

/// Tolerant and strict shares after truncation at `share`.
fn shares(histories: &Histories, levels: [usize; 2], at: &str, rule: PowerRule, p: usize) -> (Estimate, Estimate) {
    let people = PatientOrder::of(histories);
    let all = PatientEvents::of(histories, &people, |_, _| true);
    let keep = truncate::truncated(histories, &people, &all, &supports(histories), share(at));
    let left = PatientEvents::of(histories, &people, |table, e| keep[table][e]);
    let known = KnowledgeKind::Values(rule);
    let levels = (&[0][..], &levels[..]);
    let asked =
        EstimateInput { histories, people: &people, levels, drawn: &all, left: &left, k: 2, known, p, threads: 1 };
    estimate(&asked, 100_000, 5)
}

#[test]
fn shares_are_the_examples() {
    let histories = example();
    for (levels, at, rule, strict, tolerant) in [
        ([0, 0], "1", Variable, 3.0 / 8.0, 3.0 / 8.0),
        ([0, 0], "1", Fixed, 0.5, 0.5),
        ([0, 0], "0.6", Variable, 0.25, 3.0 / 8.0),
        ([0, 0], "0.6", Fixed, 0.25, 3.0 / 8.0),
        ([1, 0], "1", Variable, 0.25, 0.25),
        // Truncation raises the risk (H-13).
        ([1, 0], "0.6", Variable, 0.25, 3.0 / 8.0),
        ([1, 0], "0.6", Fixed, 0.25, 3.0 / 8.0),
        ([0, 1], "1", Variable, 3.0 / 8.0, 3.0 / 8.0),
        ([2, 0], "1", Variable, 1.0 / 8.0, 1.0 / 8.0),
        ([2, 1], "1", Variable, 1.0 / 8.0, 1.0 / 8.0),
    ] {
        let found = shares(&histories, levels, at, rule, 3);
        near(found.0, tolerant);
        near(found.1, strict);
    }
}

#[test]
fn whole_events_and_any_facts_are_the_examples() {
    let histories = example();
    let people = PatientOrder::of(&histories);
    let all = PatientEvents::of(&histories, &people, |_, _| true);
    for (levels, events, total) in [([0, 0], 0.5, 4), ([1, 0], 0.2, 2)] {
        let both = (&[0][..], &levels[..]);
        let asked = EstimateInput {
            histories: &histories,
            people: &people,
            levels: both,
            drawn: &all,
            left: &all,
            k: 2,
            known: KnowledgeKind::Events,
            p: 2,
            threads: 2,
        };
        near(estimate(&asked, 100_000, 3).0, events);
        let classes = PatientClasses::of(&histories, &people, &[0], |_| true, 2);
        let found = violating(&histories, &levels, &all, &classes, (2, 2), 2);
        assert_eq!(found.iter().filter(|f| **f).count(), total);
        assert_eq!((classes.without.patients, classes.without.at_risk), (1, 0));
    }
}

#[test]
fn losses_are_the_examples() {
    let histories = example();
    let nodes = Nodes::of(&histories, 1.0).unwrap();
    assert_eq!(nodes.len(), 6);
    for (levels, loss) in [
        ([0, 0, 0], 0.0),
        ([0, 0, 1], 0.333333),
        ([0, 1, 0], 0.160766),
        ([0, 1, 1], 0.4941),
        ([0, 2, 0], 0.333333),
        ([0, 2, 1], 0.666667),
    ] {
        let node = (0..6).find(|&n| nodes.levels(n) == levels).unwrap();
        assert!((nodes.loss(node) - loss).abs() < 1e-6, "{levels:?}: {}", nodes.loss(node));
    }
}

/// Random patients with random events over two columns with trees: in one table, or each in a table of its own.
fn random(seed: u64) -> Histories {
    let mut lots = Randomness::numbered(seed, 0);
    let folder = tempfile::tempdir().unwrap();
    let tree: String = "abcdefgh".chars().zip("xxyyzzww".chars()).zip("ppppqqqq".chars()).fold(
        String::new(),
        |mut text, ((a, b), c)| {
            writeln!(text, "{a};{b};{c};*").unwrap();
            text
        },
    );
    let (mut patients, mut claims) = ("id,sex,age\n".to_string(), "id,dx,place\n".to_string());
    let (mut visits, mut stays) = ("id,dx\n".to_string(), "id,place\n".to_string());
    let people = 20 + lots.below(60);
    for p in 0..people {
        writeln!(patients, "{p},{},{}", ["F", "M", ""][lots.below(3) as usize], lots.below(3)).unwrap();
        for _ in 0..lots.below(6) {
            let dx = ["a", "b", "c", "d", "e", "f", "g", "h", "", "a"][lots.below(10) as usize];
            writeln!(claims, "{p},{dx},{}", ["u", "v", "w"][lots.below(3) as usize]).unwrap();
            writeln!(visits, "{p},{dx}").unwrap();
        }
        for _ in 0..lots.below(4) {
            writeln!(stays, "{p},{}", ["u", "v", "w"][lots.below(3) as usize]).unwrap();
        }
    }
    let tables = [("t.csv", &tree), ("p.csv", &patients), ("c.csv", &claims), ("v.csv", &visits), ("s.csv", &stays)];
    for (file, text) in tables {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let (input, between) = match seed % 2 {
        0 => ("claims = \"c.csv\"\n[columns.claims]", ""),
        _ => (
            "[input.events]\nvisits = \"v.csv\"\nstays = \"s.csv\"\n[columns.visits]",
            "[columns.stays]\nid = { role = \"patient\" }\n",
        ),
    };
    let policy = format!(
        "[input]\npatients = \"p.csv\"\n{input}\nid = {{ role = \"patient\" }}\n\
        dx = {{ role = \"quasi\", hierarchy = \"t.csv\" }}\n{between}place = {{ role = \"quasi\" }}\n\
        [columns.patients]\nid = {{ role = \"patient\" }}\nsex = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\" }}\n\
        [privacy]\nk = 2\npower = 2\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\n"
    );
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    read(&folder.path().join("policy.toml"))
}

fn cases() -> u64 {
    std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// The knowledge of a draw, by the definition: per column the labels of the first events drawn, as
/// far as copies of them are left.
fn known_labels(
    histories: &Histories,
    levels: &[usize],
    draws: &Draws,
    draw: usize,
    power: &[Vec<u8>],
    left: &PatientEvents,
) -> Vec<Vec<u32>> {
    let person = draws.person[draw] as usize;
    (0..histories.event.len())
        .map(|c| {
            let label = |e: u32| histories.event[c].label(levels[c], e as usize);
            let known = draws.events(draw, c).iter().take(usize::from(power[c][person])).map(|&e| label(e));
            let table = histories.event[c].table;
            let mut there: Vec<u32> = left.of_person(table, person).iter().map(|&e| label(e)).collect();
            known.filter(|l| there.iter().position(|t| t == l).map(|at| there.swap_remove(at)).is_some()).collect()
        })
        .collect()
}

fn contains(mut own: Vec<u32>, known: &[u32]) -> bool {
    known.iter().all(|k| own.iter().position(|o| o == k).map(|at| own.swap_remove(at)).is_some())
}

#[test]
fn fast_matching_is_the_plain_definition() {
    for seed in 0..cases() {
        let histories = random(seed);
        let mut lots = Randomness::numbered(seed, 1);
        let people = PatientOrder::of(&histories);
        let all = PatientEvents::of(&histories, &people, |_, _| true);
        let mut some = |events: usize| (0..events).map(|_| lots.below(4) > 0).collect::<Vec<bool>>();
        let keep: Vec<Vec<bool>> = histories.tables.iter().map(|table| some(table.len())).collect();
        let left = PatientEvents::of(&histories, &people, |table, e| keep[table][e]);
        let levels =
            ([lots.below(2) as usize, lots.below(2) as usize], [lots.below(4) as usize, lots.below(2) as usize]);
        let (k, p) = (2 + lots.below(3), 1 + lots.below(3) as usize);
        let rule = if lots.below(2) == 0 { Variable } else { Fixed };
        let pairs = KnowledgeKind::pairs(&histories);
        for known in [KnowledgeKind::Values(rule), KnowledgeKind::Events].into_iter().chain(pairs) {
            let streams = known.streams(&histories);
            let draws = Draws::of(&all, Who::Any(&left.with_events(), 60), 0..60, &streams, |_, _| p, seed);
            let levels = (&levels.0[..], &levels.1[..]);
            let asked = EstimateInput {
                histories: &histories,
                people: &people,
                levels,
                drawn: &all,
                left: &left,
                k,
                known,
                p,
                threads: 2,
            };
            let fast = asked.prepare(|knows, crowd| hits_of(knows, crowd, &draws));
            let power: Vec<Vec<u8>> = (0..2)
                .map(|c| powers(&all, EventLabels::of_column(&histories.event[c], levels.1[c]), p, rule))
                .collect();
            for (draw, own) in fast.iter().enumerate() {
                let person = draws.person[draw] as usize;
                let alike = |other: usize| {
                    let label =
                        |c: usize, at: usize| histories.patient[c].label(levels.0[c], people.patient[at] as usize);
                    (0..2).all(|c| label(c, person) == label(c, other)) && left.has_events(other)
                };
                let labels = |other: usize, c: usize| -> Vec<u32> {
                    let column = &histories.event[c];
                    left.of_person(column.table, other).iter().map(|&e| column.label(levels.1[c], e as usize)).collect()
                };
                let tuple = |set: &LinkedColumns, e: u32| {
                    let label = |c: usize| histories.event[c].label(levels.1[c], e as usize);
                    set.columns.iter().fold(0, |key, &c| key * 1000 + label(c))
                };
                let tuples = |set: &LinkedColumns, other: usize| -> Vec<u32> {
                    left.of_person(set.table, other).iter().map(|&e| tuple(set, e)).collect()
                };
                let matches = match known {
                    KnowledgeKind::Values(_) => {
                        let known = known_labels(&histories, levels.1, &draws, draw, &power, &left);
                        let fits = |o: &usize| alike(*o) && (0..2).all(|c| contains(labels(*o, c), &known[c]));
                        (0..people.len()).filter(fits).count()
                    }
                    KnowledgeKind::Events | KnowledgeKind::Pair(..) => {
                        let sets = known.linked(&histories);
                        let of_set = |set: &LinkedColumns| -> Vec<u32> {
                            let mut there = tuples(set, person);
                            let known = draws.events(draw, set.table).iter().take(p).map(|&e| tuple(set, e));
                            known
                                .filter(|t| there.iter().position(|o| o == t).map(|at| there.swap_remove(at)).is_some())
                                .collect()
                        };
                        let known: Vec<Vec<u32>> = sets.iter().map(of_set).collect();
                        let fits = |o: usize| sets.iter().zip(&known).all(|(set, own)| contains(tuples(set, o), own));
                        (0..people.len()).filter(|&o| alike(o) && fits(o)).count()
                    }
                };
                assert_eq!(own.0, (matches as u64) < k, "seed {seed}, draw {draw}, {known:?}: {matches} of {k}");
            }
        }
    }
}

#[test]
fn exact_counts_are_the_plain_definition() {
    for seed in 0..cases() {
        let histories = random(seed);
        let people = PatientOrder::of(&histories);
        let all = PatientEvents::of(&histories, &people, |_, _| true);
        let levels = [(seed % 4) as usize, (seed / 4 % 2) as usize];
        let classes = PatientClasses::of(&histories, &people, &[0, 1], |_| true, 3);
        for p in 1..=3 {
            let fast = violating(&histories, &levels, &all, &classes, (3, p), 1 + p);
            let number = fast.iter().filter(|found| **found).count() as u64;
            for most in [0, number.saturating_sub(1), number, number + 1] {
                let few = (2, &(|found: u64| found <= most) as &dyn Fn(u64) -> bool);
                assert_eq!(violating_are_few(&histories, &levels, &all, &classes, (3, p), few), number <= most);
            }
            for (person, own) in fast.iter().enumerate() {
                // All facts of a patient, and all subsets of at most p of them.
                let facts = |other: usize| -> Vec<u32> {
                    let of = |c: usize| {
                        let events = all.of_person(histories.event[c].table, other).iter();
                        events.map(move |&e| (c, e)).collect::<Vec<_>>()
                    };
                    let label =
                        |(c, e): (usize, u32)| c as u32 * 1000 + histories.event[c].label(levels[c], e as usize);
                    (0..2).flat_map(of).map(label).collect()
                };
                let mine = facts(person);
                let few = |set: &[u32]| {
                    let alike = |o: usize| classes.of[o] == classes.of[person];
                    (0..people.len()).filter(|&o| alike(o) && contains(facts(o), set)).count() < 3
                };
                let n = mine.len();
                let violates = (1u32..1 << n.min(16)).any(|mask| {
                    let set: Vec<u32> = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| mine[i]).collect();
                    set.len() <= p && few(&set)
                });
                assert_eq!(*own, violates, "seed {seed}, p {p}, person {person}");
            }
        }
    }
}

/// With the same draws and fixed power, a coarser node never finds more (H-5).
#[test]
fn the_share_is_monotone_in_the_lattice() {
    for seed in 0..cases() {
        let histories = random(seed);
        let people = PatientOrder::of(&histories);
        let all = PatientEvents::of(&histories, &people, |_, _| true);
        let draws = Draws::of(
            &all,
            Who::Any(&all.with_events(), 200),
            0..200,
            &KnowledgeKind::Values(Fixed).streams(&histories),
            |_, _| 2,
            seed,
        );
        let found = |levels: ([usize; 2], [usize; 2])| {
            let levels = (&levels.0[..], &levels.1[..]);
            let known = KnowledgeKind::Values(Fixed);
            let asked = EstimateInput {
                histories: &histories,
                people: &people,
                levels,
                drawn: &all,
                left: &all,
                k: 3,
                known,
                p: 2,
                threads: 1,
            };
            let found = asked.prepare(|knows, crowd| hits_of(knows, crowd, &draws));
            found.into_iter().map(|h| h.0).collect::<Vec<bool>>()
        };
        let fine = found(([0, 0], [1, 0]));
        for coarser in [([1, 0], [1, 0]), ([0, 1], [1, 0]), ([0, 0], [2, 0]), ([0, 0], [1, 1])] {
            assert!(fine.iter().zip(found(coarser)).all(|(fine, coarse)| *fine || !coarse), "seed {seed}");
        }
    }
}
