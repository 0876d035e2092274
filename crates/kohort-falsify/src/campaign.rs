//! A falsifier at work: method by method and requirement by requirement, as long as it may.

use crate::dice::Dice;
use crate::tables::Found;
use crate::universe::{Requirement, Universe};
use crate::{codes, events, tables};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The methods that are attacked.
pub const METHODS: [&str; 7] = ["lattice", "specialize", "suppress", "ceiling", "disassociate", "claims", "local"];

/// Describes how far to go.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The first seed; each universe has the next.
    pub seed: u64,
    /// The methods to attack.
    pub methods: Vec<&'static str>,
    /// At least so many originals for each method and requirement.
    pub originals: u64,
    /// Further rounds until this time has passed.
    pub time: Duration,
    /// A universe has at most so many originals.
    pub most: u64,
}

/// The results, by method and requirement.
pub type Findings = BTreeMap<(usize, String), Found>;

/// Every method with every requirement it takes.
pub fn pairs(methods: &[&'static str]) -> Vec<(&'static str, String)> {
    let of = |method: &'static str| -> Vec<String> {
        match method {
            "disassociate" => ["k^m", "k^m, aware", "k^m, no_cover"].map(String::from).to_vec(),
            "claims" => events::REQUIREMENTS.map(String::from).to_vec(),
            _ => Requirement::of(method).iter().map(|r| r.name().to_string()).collect(),
        }
    };
    methods.iter().flat_map(|&method| of(method).into_iter().map(move |r| (method, r))).collect()
}

/// Goes on until enough was looked at, or a promise is broken.
pub fn run(campaign: &Campaign, mut progress: impl FnMut(&Findings)) -> Result<Findings, String> {
    let start = Instant::now();
    let mut findings = Findings::new();
    let mut seed = campaign.seed;
    loop {
        let mut open = false;
        for (method, requirement) in pairs(&campaign.methods) {
            let place = METHODS.iter().position(|m| *m == method).unwrap_or(0);
            let all = findings.entry((place, requirement.clone())).or_default();
            // What is gone through case by case counts a case as an original.
            let enough = if method == "claims" { campaign.originals.div_ceil(50) } else { campaign.originals };
            while all.originals < enough || start.elapsed() < campaign.time {
                seed += 1;
                let found = one(method, &requirement, seed, campaign.most)
                    .map_err(|e| format!("{method}, {requirement}, seed {seed}: {e}"))?;
                all.add(found, seed);
                if all.broken.is_some() {
                    progress(&findings);
                    return Ok(findings);
                }
                if start.elapsed() < campaign.time && all.originals >= enough {
                    break;
                }
            }
            open |= start.elapsed() < campaign.time;
        }
        progress(&findings);
        if !open {
            return Ok(findings);
        }
    }
}

/// Cases of claims in a turn.
const CASES: usize = 10;

/// One universe, or some cases, by a seed.
pub fn one(method: &'static str, requirement: &str, seed: u64, most: u64) -> Result<Found, String> {
    let mut dice = Dice::new(seed);
    match method {
        "disassociate" => {
            let (aware, no_cover) = (requirement.contains("aware"), requirement.contains("no_cover"));
            codes::falsify(&codes::Universe::random(aware, no_cover, most, &mut dice), seed)
        }
        "claims" => {
            // As many as it takes to be worth a turn.
            let mut all = Found::default();
            for _ in 0..CASES {
                let case = events::Case::random(requirement, &mut dice);
                all.add(events::falsify(&case, &mut dice)?, seed);
                if all.broken.is_some() {
                    break;
                }
            }
            Ok(all)
        }
        _ => {
            let own = Requirement::of(method).iter().find(|r| r.name() == requirement);
            let Some(&own) = own else { return Err("there is no such requirement".into()) };
            tables::falsify(&Universe::random(method, own, most, &mut dice), seed)
        }
    }
}

impl Found {
    fn add(&mut self, other: Found, seed: u64) {
        self.originals += other.originals;
        self.released += other.released;
        self.releases += other.releases;
        self.by_path += other.by_path;
        self.of_bound = self.of_bound.max(other.of_bound);
        self.unbounded_link = self.unbounded_link.max(other.unbounded_link);
        self.secret = self.secret.max(other.secret);
        self.broken = other.broken.map(|case| format!("seed {seed}: {case}"));
    }
}

/// A line for each method and requirement.
pub fn table(findings: &Findings) -> String {
    let mut text = format!(
        "{:<14} {:<22} {:>10} {:>10} {:>10} {:>8} {:>12} {:>12}\n",
        "method", "requirement", "originals", "released", "releases", "by path", "of 1/k", "unpromised"
    );
    let share = |x: f64| if x == 0.0 { "–".to_string() } else { format!("{x:.3}") };
    for ((method, requirement), f) in findings {
        text += &format!(
            "{:<14} {:<22} {:>10} {:>10} {:>10} {:>8} {:>12} {:>12}{}\n",
            METHODS[*method],
            requirement,
            f.originals,
            f.released,
            f.releases,
            f.by_path,
            share(f.of_bound),
            share(f.unbounded_link),
            if f.broken.is_some() { "  BROKEN" } else { "" }
        );
    }
    text
}
