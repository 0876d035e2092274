//! The numbers of `disassociate`: time, and how far counts are off, on public sets of codes.
//!
//! `KOHORT_DATA=… cargo bench -p kohort-cli --bench codes -- [once | sizes | k | policies | aware | baselines | sensitive | million] [nhds …]`
//!
//! KOHORT_DATA names a folder with derived/ and synthetic/. CPU seconds are user + system time of one
//! run. Errors are expectations over all reconstructions (crates/kohort/src/queries.rs).

#[path = "shared/code_sets.rs"]
mod code_sets;

use code_sets::{SETS, read};
use kohort::baselines::{RecodedCodes, apriori, cba};
use kohort::methods::disassociate::{
    CodeLevel, CodesRequirements, Constraints, Formed, Params, Subrecords, disassociate,
};
use kohort::queries::{Expected, OriginalCounts, Query, are, frequent_queries, mre, random_queries};
use kohort::sets_that_occur_once::sets_that_occur_once;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::random::Randomness;
use kohort_core::release::{ChunkOwner, Clusters};
use kohort_core::statistics::welch;
use nix::sys::resource::{UsageWho, getrusage};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else {
        println!("KOHORT_DATA names no folder: nothing to measure.");
        return;
    };
    let (sets, parts): (Vec<String>, Vec<String>) = args.into_iter().partition(|a| SETS.iter().any(|s| s.0 == a));
    let wanted = |name: &str| parts.is_empty() || parts.iter().any(|a| a == name);
    for (name, file) in SETS {
        let of_sets = ["once", "sizes", "k", "policies", "aware", "baselines", "sensitive"].iter().any(|n| wanted(n));
        if !of_sets || !(sets.is_empty() || sets.iter().any(|s| s == name)) {
            continue;
        }
        let records = read(&data.join(file));
        let work = Workloads::new(&records);
        println!(
            "\n{name}: {} patients, {} codes, {:.2} each; {} frequent sets",
            records.len(),
            records.distinct(),
            records.occurrences() as f64 / records.len() as f64,
            work.frequent.len()
        );
        if wanted("once") {
            once(&records);
        }
        if wanted("sensitive") {
            sensitive(&records, &work);
        }
        if wanted("sizes") {
            sizes(&records, &work);
        }
        if wanted("k") {
            by_k(&records, &work);
        }
        if wanted("aware") {
            aware(&records, &work);
        }
        if wanted("policies") {
            policies(&records, &work);
        }
        if wanted("baselines") {
            baselines(&records, &work);
        }
    }
    if wanted("million") {
        million();
    }
}

fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}

fn timed<T>(run: impl FnOnce() -> T) -> (String, T) {
    let (before, start) = (cpu(), Instant::now());
    let made = run();
    (format!("{:.2} CPU s, {:.2} s", (cpu() - before).as_secs_f64(), start.elapsed().as_secs_f64()), made)
}

/// Shares of the codes in record, shared and item chunks.
fn shares(clusters: &Clusters, records: &Records) -> String {
    let (mut record, mut shared) = (0, 0);
    for (chunk, _, whose) in clusters.nodes.iter().flat_map(|node| node.chunks()) {
        match whose {
            ChunkOwner::No => record += chunk.occurrences(),
            ChunkOwner::Yes => shared += chunk.occurrences(),
        }
    }
    let share = |n: usize| 100.0 * n as f64 / records.occurrences() as f64;
    let item = records.occurrences() - record - shared;
    format!("record {:.1} %, shared {:.1} %, item {:.1} %", share(record), share(shared), share(item))
}

/// W1: sets of up to four codes that 1.25 % of the patients have. W2: random sets of 1 to 4 codes.
struct Workloads {
    frequent: Vec<Query>,
    random: [Vec<Query>; 4],
}

impl Workloads {
    fn new(records: &Records) -> Workloads {
        let exact = OriginalCounts::new(records);
        let least = (records.len() * 125).div_ceil(10_000) as u32;
        Workloads {
            frequent: frequent_queries(records, least, 5000),
            random: random_queries(&exact, 1000, &mut Randomness::named("queries about codes")),
        }
    }

    /// The queries of W1 over codes that a baseline kept, as in the paper: the mean error of both, and
    /// Welch's test of their difference.
    fn over_kept(&self, theirs: &RecodedCodes, ours: &Expected) -> String {
        let kept: Vec<&Query> = self.frequent.iter().filter(|q| theirs.keeps(&q.codes)).collect();
        let errors = |estimate: &dyn Fn(&[u32]) -> f64| -> Vec<f64> {
            kept.iter().map(|q| (estimate(&q.codes) - q.count as f64).abs() / q.count as f64).collect()
        };
        let (own, other) = (errors(&|codes| ours.with_all(codes)), errors(&|codes| theirs.with_all(codes)));
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let test = welch(&own, &other).map_or("no test".into(), |w| format!("t {:.1}, p {:.2e}", w.t, w.p));
        format!(
            "{} of {} queries of W1 are over kept codes: disassociation {:.3}, baseline {:.3}; Welch: {test}",
            kept.len(),
            self.frequent.len(),
            mean(&own),
            mean(&other)
        )
    }

    fn errors(&self, patients: usize, estimate: &dyn Fn(&[u32]) -> f64) -> String {
        let of = |size: std::ops::RangeInclusive<usize>| {
            let some: Vec<Query> = self.frequent.iter().filter(|q| size.contains(&q.codes.len())).cloned().collect();
            are(&some, patients, estimate).error
        };
        let random: Vec<String> =
            self.random.iter().map(|queries| format!("{:.3}", are(queries, patients, estimate).sane)).collect();
        format!(
            "W1 {:.3} (1: {:.3}, 2: {:.3}, 3–4: {:.3}), W2 {}",
            of(1..=4),
            of(1..=1),
            of(2..=2),
            of(3..=4),
            random.join(" ")
        )
    }
}

fn run(records: &Records, work: &Workloads, asked: &CodesRequirements, params: &Params, label: &str) -> Clusters {
    let (time, made) = timed(|| disassociate(records, asked, params, 2));
    let expected = Expected::new(&made.nodes, records.distinct(), asked.k);
    let errors = work.errors(records.len(), &|codes| expected.with_all(codes));
    println!("{label}: {time}; {}; {errors}", shares(&made, records));
    made
}

/// Figure 12: sets of codes that one patient has.
fn once(records: &Records) {
    for found in sets_that_occur_once(records, 5) {
        println!(
            "sets of {} codes: {:.1} % of {} counted occur in one record",
            found.size,
            100.0 * found.once as f64 / found.sets.max(1) as f64,
            found.sets
        );
    }
}

/// Section 7.2: the most frequent code is sensitive, and its share in a cluster is limited.
fn sensitive(records: &Records, work: &Workloads) {
    let supports = records.supports();
    let most = (0..supports.len()).max_by_key(|&c| supports[c]).expect("a code");
    let share = f64::from(supports[most]) / records.len() as f64;
    let sensitive: Vec<bool> = (0..supports.len()).map(|c| c == most).collect();
    let limits = ["", "0.8", "0.6", "0.5"].map(|text| Decimal::parse(text, b'.').and_then(Fraction::from_decimal));
    for confidence in limits.into_iter().filter(|c| c.is_none_or(|c| c.to_f64() >= share)) {
        let none = Constraints::none();
        let asked = CodesRequirements { k: 5, m: 2, constraints: &none, sensitive: &sensitive, confidence };
        for clusters in [Formed::Paper, Formed::Best] {
            let label = confidence.map_or("no limit".to_string(), |c| format!("confidence {c}"));
            let params = Params { clusters, ..Params::default() };
            let made = run(records, work, &asked, &params, &format!("sensitive, {label}, {clusters:?}"));
            let has = |r: &&u32| records.get(**r as usize).binary_search(&(most as u32)).is_ok();
            let highest = (made.nodes.iter().flat_map(|node| node.leaves()))
                .map(|leaf| leaf.records.iter().filter(has).count() as f64 / leaf.records.len() as f64)
                .fold(0.0, f64::max);
            println!("  {:.1} % of all patients have it; of a cluster at most {:.1} %", 100.0 * share, 100.0 * highest);
        }
    }
}

/// Clusters as printed and larger ones, with and without constraints.
fn sizes(records: &Records, work: &Workloads) {
    let level = |level| Constraints::by_level(records, CodeSystem::Icd9, level).0;
    let all = [
        ("free", Constraints::none()),
        ("level 1", level(CodeLevel::Category)),
        ("level 3", level(CodeLevel::Chapter)),
    ];
    for (name, constraints) in &all {
        let asked = CodesRequirements { k: 5, m: 2, constraints, sensitive: &[], confidence: None };
        for size in [2, 4, 8, 16, 32, 64, 256, 1024] {
            let params = Params { clusters: Formed::Paper, max_cluster: Some(5 * size), ..Params::default() };
            run(records, work, &asked, &params, &format!("{name}, fewer than {size}k"));
        }
    }
}

fn by_k(records: &Records, work: &Workloads) {
    for (k, m) in [(5, 2), (5, 3), (5, 5), (10, 2), (25, 2), (25, 5)] {
        let asked = CodesRequirements { k, m, constraints: &Constraints::none(), sensitive: &[], confidence: None };
        for clusters in [Formed::Paper, Formed::Best] {
            let params = Params { clusters, ..Params::default() };
            run(records, work, &asked, &params, &format!("k {k}, m {m}, {clusters:?}"));
        }
    }
}

/// Returns what S7 costs.
fn aware(records: &Records, work: &Workloads) {
    let asked = CodesRequirements { k: 5, m: 2, constraints: &Constraints::none(), sensitive: &[], confidence: None };
    for size in [4, 64, 256] {
        let subrecords = Subrecords::Whole;
        let params = Params { subrecords, max_cluster: Some(5 * size), ..Params::default() };
        run(records, work, &asked, &params, &format!("aware, fewer than {size}k"));
    }
}

/// The paper's policies, and the baselines.
fn policies(records: &Records, work: &Workloads) {
    let level = |level| Constraints::by_level(records, CodeSystem::Icd9, level).0;
    let frequent = |per_100_000: usize| {
        Constraints::frequent(records, (records.len() * per_100_000).div_ceil(100_000) as u32, &[])
    };
    let all = [
        ("level 1", level(CodeLevel::Category)),
        ("level 2", level(CodeLevel::Section)),
        ("level 3", level(CodeLevel::Chapter)),
        ("sim 5", Constraints::siblings(records, 5)),
        ("sim 10", Constraints::siblings(records, 10)),
        ("sim 25", Constraints::siblings(records, 25)),
        ("sim 100", Constraints::siblings(records, 100)),
        ("sup 0.625", frequent(625)),
        ("sup 1.25", frequent(1250)),
        ("sup 2.5", frequent(2500)),
        ("sup 5", frequent(5000)),
    ];
    let exact = OriginalCounts::new(records);
    let near = |constraints: &Constraints, estimate: &dyn Fn(&[u32]) -> f64| {
        let errors: Vec<f64> = constraints
            .sets()
            .iter()
            .map(|set| {
                let mut codes = set.clone();
                codes.sort_unstable();
                100.0 * mre(exact.with_any(&codes), estimate(&codes))
            })
            .collect();
        let within = |bound: f64| {
            100.0 * errors.iter().filter(|e| (-bound..bound).contains(*e)).count() as f64 / errors.len().max(1) as f64
        };
        let (least, most) = errors.iter().fold((f64::MAX, f64::MIN), |(a, b), e| (a.min(*e), b.max(*e)));
        format!(
            "MRE within ±2.5 %: {:.1} %, ±5 %: {:.1} %, all in [{least:.1} %, {most:.1} %]",
            within(2.5),
            within(5.0)
        )
    };
    for (name, constraints) in &all {
        let asked = CodesRequirements { k: 5, m: 2, constraints, sensitive: &[], confidence: None };
        let mut ours = Vec::new();
        for clusters in [Formed::Paper, Formed::Best] {
            let params = Params { clusters, ..Params::default() };
            let made = run(records, work, &asked, &params, &format!("{name}, {clusters:?}"));
            let expected = Expected::new(&made.nodes, records.distinct(), 5);
            println!("  {}", near(constraints, &|codes| expected.with_any(codes)));
            ours.push(made);
        }
        if ["level 1", "level 3", "sim 10"].contains(name) {
            let say = |what: &str, (time, made): (String, RecodedCodes)| {
                let errors = work.errors(records.len(), &|codes| made.with_all(codes));
                println!(
                    "{name}, {what}: {time}; {} of {} codes suppressed, {} groups remain, safe: {}; {errors}\n  {}",
                    made.suppressed(),
                    records.distinct(),
                    made.items(),
                    made.is_safe(records, 5, 2),
                    near(constraints, &|codes| made.with_any(codes))
                );
                for (order, own) in ["as printed", "best"].iter().zip(&ours) {
                    let expected = Expected::new(&own.nodes, records.distinct(), 5);
                    println!("  {order}: {}", work.over_kept(&made, &expected));
                }
            };
            say("cba", timed(|| cba(records, constraints.sets(), 5, 2)));
            if *name == "level 1" {
                say("apriori", timed(|| apriori(records, CodeSystem::Icd9, 5, 2)));
            }
        }
    }
}

/// Other k and m beside the baselines, with the constraints of level 1.
fn baselines(records: &Records, work: &Workloads) {
    let constraints = &Constraints::by_level(records, CodeSystem::Icd9, CodeLevel::Category).0;
    for (k, m) in [(5u32, 2), (10, 2), (25, 2), (5, 3), (25, 3), (5, 5)] {
        let asked = CodesRequirements { k: u64::from(k), m, constraints, sensitive: &[], confidence: None };
        let mut ours = Vec::new();
        for clusters in [Formed::Paper, Formed::Best] {
            let params = Params { clusters, ..Params::default() };
            ours.push(run(records, work, &asked, &params, &format!("k {k}, m {m}, level 1, {clusters:?}")));
        }
        let say = |what: &str, (time, made): (String, RecodedCodes)| {
            println!(
                "k {k}, m {m}, level 1, {what}: {time}; {} of {} codes suppressed, {} groups remain, safe: {}; {}",
                made.suppressed(),
                records.distinct(),
                made.items(),
                made.is_safe(records, k, m),
                work.errors(records.len(), &|codes| made.with_all(codes))
            );
            for (name, own) in ["as printed", "best"].iter().zip(&ours) {
                let expected = Expected::new(&own.nodes, records.distinct(), u64::from(k));
                println!("  {name}: {}", work.over_kept(&made, &expected));
            }
        };
        say("cba", timed(|| cba(records, constraints.sets(), k, m)));
        say("apriori", timed(|| apriori(records, CodeSystem::Icd9, k, m)));
    }
}

/// One million patients with ten codes each of 5,000, rarer and rarer.
fn million() {
    let mut random = Randomness::seeded(9);
    let mut draw = |n: u64| random.below(n);
    let names: Vec<String> = (0..5000).map(|c| format!("{c:04}")).collect();
    let rows: Vec<Vec<&str>> = (0..1_000_000)
        .map(|_| {
            (0..10)
                .map(|_| {
                    // A product of two draws: a few codes are everybody's, most are rare.
                    let (a, b) = (draw(5000) + 1, draw(5000) + 1);
                    names[(a * b / 5001) as usize % 5000].as_str()
                })
                .collect()
        })
        .collect();
    let records = Records::from_texts(rows);
    println!(
        "\n{} patients, {} codes, {} codes over all patients",
        records.len(),
        records.distinct(),
        records.occurrences()
    );
    for (k, m) in [(5, 2), (5, 5)] {
        let asked = CodesRequirements { k, m, constraints: &Constraints::none(), sensitive: &[], confidence: None };
        for clusters in [Formed::Paper, Formed::Best] {
            let params = Params { clusters, ..Params::default() };
            let (time, made) = timed(|| disassociate(&records, &asked, &params, 2));
            println!("k {k}, m {m}, {clusters:?}: {time}; {}", shares(&made, &records));
        }
    }
    let peak = getrusage(UsageWho::RUSAGE_SELF).expect("usage").max_rss();
    println!("peak memory {} MB, input and both results included", peak / 1024);
}
