//! The tables of docs/papers/disassociation.md: every figure of the paper that can be measured on
//! public data.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench codes_paper -- [informs-shaped | nhds | synpuf]`
//!
//! KOHORT_DATA names a folder with derived/ and synthetic/.

#[path = "shared/code_sets.rs"]
mod code_sets;
#[path = "shared/usage.rs"]
mod usage;

use code_sets::{SETS, read};
use kohort::baselines::cba;
use kohort::methods::disassociate::{CodeLevel, CodesRequirements, Constraints, Formed, Params, disassociate};
use kohort::queries::{Expected, OriginalCounts, Query, are, frequent_queries, mre, random_queries};
use kohort::sets_that_occur_once::sets_that_occur_once;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::random::Randomness;
use kohort_core::release::Clusters;
use kohort_core::statistics::welch;
use std::path::PathBuf;
use std::time::Instant;
use usage::usage;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    for (name, file) in SETS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name)) {
        let records = read(&data.join(file));
        let (start, before) = (Instant::now(), usage().0);
        println!("\n### {name}\n");
        figure_12(&records);
        figures_13_and_14(&records);
        figure_15(&records);
        figures_16_and_17(&records);
        figures_18_to_25(&records);
        let (cpu, peak) = usage();
        println!(
            "\nAll tables of {name}: {:.0} s, {:.0} CPU s, peak {peak} MB so far.",
            start.elapsed().as_secs_f64(),
            cpu - before
        );
    }
}

/// A utility policy of the paper by its name.
fn policy(records: &Records, name: &str) -> Constraints {
    let (kind, number) = name.split_once(' ').expect("a name and a number");
    match kind {
        "level" => {
            let level = [CodeLevel::Category, CodeLevel::Section, CodeLevel::Chapter]
                [number.parse::<usize>().expect("a level") - 1];
            Constraints::by_level(records, CodeSystem::Icd9, level).0
        }
        "sim" => Constraints::siblings(records, number.parse().expect("a number")),
        _ => {
            let share: f64 = number.parse().expect("a share");
            Constraints::frequent(records, (records.len() as f64 * share / 100.0).ceil() as u32, &[])
        }
    }
}

fn made(records: &Records, constraints: &Constraints, (k, m): (u64, usize), clusters: Formed) -> Clusters {
    let asked = CodesRequirements { k, m, constraints, sensitive: &[], confidence: None };
    disassociate(records, &asked, &Params { clusters, ..Params::default() }, 2)
}

fn frequent(records: &Records, percent: f64) -> Vec<Query> {
    frequent_queries(records, (records.len() as f64 * percent / 100.0).ceil() as u32, 5000)
}

fn figure_12(records: &Records) {
    println!("| Figure 12: codes in the set | sets counted | occur in one record |\n|---|---|---|");
    for found in sets_that_occur_once(records, 5).iter().skip(1) {
        let share = 100.0 * found.once as f64 / found.sets.max(1) as f64;
        println!("| {} | {} | {share:.1} % |", found.size, found.sets);
    }
}

fn figures_13_and_14(records: &Records) {
    println!(
        "\n| Figures 13, 14: policy | m | codes suppressed by CBA | queries of W1 over kept codes | CBA | disassociation, as printed | p (Welch) | best | p (Welch) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let queries = frequent(records, 1.25);
    for (name, m) in [("level 1", 2), ("level 3", 2), ("sim 10", 2), ("sup 1.25", 2), ("level 1", 3)] {
        let constraints = policy(records, name);
        let baseline = cba(records, constraints.sets(), 5, m);
        let kept: Vec<&Query> = queries.iter().filter(|q| baseline.keeps(&q.codes)).collect();
        let errors = |estimate: &dyn Fn(&[u32]) -> f64| -> Vec<f64> {
            kept.iter().map(|q| (estimate(&q.codes) - q.count as f64).abs() / q.count as f64).collect()
        };
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let theirs = errors(&|codes| baseline.with_all(codes));
        let ours = [Formed::Paper, Formed::Best].map(|clusters| {
            let made = made(records, &constraints, (5, m), clusters);
            let expected = Expected::new(&made.nodes, records.distinct(), 5);
            let own = errors(&|codes| expected.with_all(codes));
            let p = welch(&own, &theirs).map_or("–".into(), |w| format!("{:.0e}", w.p));
            format!("{:.3} | {p}", mean(&own))
        });
        println!(
            "| {name} | {m} | {} of {} | {} of {} | {:.3} | {} |",
            baseline.suppressed(),
            records.distinct(),
            kept.len(),
            queries.len(),
            mean(&theirs),
            ours.join(" | ")
        );
    }
}

fn figure_15(records: &Records) {
    println!(
        "\n| Figure 15: first records | codes suppressed by CBA | CBA, W2 over kept codes | disassociation, as printed | p (Welch) | CBA | disassociation |"
    );
    println!("|---|---|---|---|---|---|---|");
    for size in [2500, 5000, 10_000, 25_000] {
        let some = records.first(size);
        let constraints = policy(&some, "sup 1.25");
        let start = Instant::now();
        let baseline = cba(&some, constraints.sets(), 5, 2);
        let theirs_took = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let made = made(&some, &constraints, (5, 2), Formed::Paper);
        let ours_took = start.elapsed().as_secs_f64();
        let expected = Expected::new(&made.nodes, some.distinct(), 5);
        let exact = OriginalCounts::new(&some);
        let random = random_queries(&exact, 1000, &mut Randomness::named("queries about codes"));
        let kept: Vec<&Query> = random.iter().flatten().filter(|q| q.count > 0 && baseline.keeps(&q.codes)).collect();
        let errors = |estimate: &dyn Fn(&[u32]) -> f64| -> Vec<f64> {
            kept.iter().map(|q| (estimate(&q.codes) - q.count as f64).abs() / q.count as f64).collect()
        };
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let (own, other) = (errors(&|c| expected.with_all(c)), errors(&|c| baseline.with_all(c)));
        let p = welch(&own, &other).map_or("–".into(), |w| format!("{:.0e}", w.p));
        let occurring = some.supports().iter().filter(|n| **n > 0).count();
        println!(
            "| {size} | {} of {occurring} | {:.3} ({} queries) | {:.3} | {p} | {theirs_took:.2} s | {ours_took:.2} s |",
            baseline.suppressed().saturating_sub(some.distinct() - occurring),
            mean(&other),
            kept.len(),
            mean(&own)
        );
    }
}

fn figures_16_and_17(records: &Records) {
    println!(
        "\n| Figures 16, 17: policy | clusters | W2: 1, 2, 3, 4 codes | W1 at 0.625, 1.25, 2.5, 5 % |\n|---|---|---|---|"
    );
    let exact = OriginalCounts::new(records);
    let random = random_queries(&exact, 1000, &mut Randomness::named("queries about codes"));
    let workloads = [0.625, 1.25, 2.5, 5.0].map(|percent| frequent(records, percent));
    let names = ["level 1", "level 2", "level 3", "sim 5", "sim 10", "sim 25", "sim 100"];
    for name in names.into_iter().chain(["sup 0.625", "sup 1.25", "sup 2.5", "sup 5"]) {
        let constraints = policy(records, name);
        for clusters in [Formed::Paper, Formed::Best] {
            let made = made(records, &constraints, (5, 2), clusters);
            let expected = Expected::new(&made.nodes, records.distinct(), 5);
            let of = |queries: &[Query]| are(queries, records.len(), |codes| expected.with_all(codes));
            let w2: Vec<String> = random.iter().map(|queries| format!("{:.3}", of(queries).sane)).collect();
            let w1: Vec<String> = workloads.iter().map(|queries| format!("{:.3}", of(queries).error)).collect();
            println!("| {name} | {clusters:?} | {} | {} |", w2.join(" "), w1.join(" "));
        }
    }
}

fn figures_18_to_25(records: &Records) {
    println!(
        "\n| Figures 18 to 25: policy | k | m | clusters | W1 at 1.25 % | MRE within ±2.5 % | within ±5 % | all within |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let exact = OriginalCounts::new(records);
    let queries = frequent(records, 1.25);
    let names = ["level 1", "sim 5", "sim 10", "sup 0.625", "sup 2.5"];
    for name in names {
        let constraints = policy(records, name);
        for (k, m) in [(2, 2), (5, 2), (10, 2), (15, 2), (20, 2), (25, 2), (5, 5)] {
            for clusters in [Formed::Paper, Formed::Best] {
                let made = made(records, &constraints, (k, m), clusters);
                let expected = Expected::new(&made.nodes, records.distinct(), k);
                let error = are(&queries, records.len(), |codes| expected.with_all(codes)).error;
                let errors: Vec<f64> = (constraints.sets().iter())
                    .map(|set| 100.0 * mre(exact.with_any(set), expected.with_any(set)))
                    .collect();
                let within = |bound: f64| {
                    let near = errors.iter().filter(|e| (-bound..bound).contains(*e)).count();
                    100.0 * near as f64 / errors.len().max(1) as f64
                };
                let (least, most) = errors.iter().fold((f64::MAX, f64::MIN), |(a, b), e| (a.min(*e), b.max(*e)));
                println!(
                    "| {name} | {k} | {m} | {clusters:?} | {error:.3} | {:.1} % | {:.1} % | {least:.0} % … {most:.0} % |",
                    within(2.5),
                    within(5.0)
                );
            }
        }
    }
}
