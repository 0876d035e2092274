//! Attacks on a table: linkage by known values, and what those who match tell of sensitive values.

use super::cells;
use super::guess::Learned;
use super::sides::{MISSING, TableSide, TableSides};
use super::{Attack, Attacked, Mean, Scene};
use kohort_core::Result;
use kohort_core::policy::Role;
use kohort_core::random::Randomness;
use kohort_core::release::{Claim, KnowsClaim};
use kohort_core::utility;

/// Sets of known columns that are tried, at most; of more some are drawn.
const MOST_SETS: usize = 8;

pub(super) fn attack(scene: &Scene, claim: &Claim) -> Result<Attacked> {
    let sides = TableSides::read(scene)?;
    let mut random = scene.random()?;
    let mut attacked = Attacked::default();
    let targets = random.sample(sides.original.rows(), scene.trial.targets as usize);
    if targets.is_empty() {
        return Ok(attacked);
    }
    let all: Vec<usize> = (0..sides.quasi).collect();
    let known = known(claim, &sides, &mut random);
    if let Some((about, sets)) = &known {
        link(&sides, about, sets, &targets, &mut attacked);
    }
    link(&sides, "all quasi-identifiers known", std::slice::from_ref(&all), &targets, &mut attacked);
    let (about, sets) = known.unwrap_or_else(|| ("all quasi-identifiers known".into(), vec![all]));
    for sensitive in sides.quasi..sides.names.len() {
        // The policy's list: a column without a requirement is not in the claim.
        let own = scene.policy.columns.iter().find(|own| own.name == sides.names[sensitive]);
        let listed = own.and_then(|own| match &own.role {
            Role::Sensitive { values } => values.as_deref(),
            _ => None,
        });
        learn(&sides, (&about, &sets), (sensitive, listed), &targets, &mut attacked);
    }
    match scene.lines() {
        None => attacked.notes.push(
            "downcoding, minimality and counterfeit detection were not tried: without private/rows (--keep-rows) no guess can be scored."
                .into(),
        ),
        Some(lines) => {
            cells::attack(scene, &sides, &lines, claim.k.get(), &mut random, &mut attacked)?;
            if claim.synthetic.is_some() {
                let data = scene.certificate.files.iter().find(|f| f.rows.is_some()).map_or("", |f| f.name.as_str());
                match utility::distinguish_synthetic(&scene.open(data)?, &lines)? {
                    None => attacked.notes.push("there are too few synthetic records to try counterfeit detection.".into()),
                    Some(told) => attacked.attacks.push(Attack {
                        name: "counterfeit detection",
                        about: "a decision tree trained on all released columns".into(),
                        measure: "pairs of a real and a synthetic record distinguished",
                        targets: told.synthetic,
                        before: None,
                        after: Some(told.auc),
                        baseline: Some(0.5),
                    }),
                }
            }
        }
    }
    Ok(attacked)
}

/// The knowledge that the policy allows, where that is less than all: in words, and as sets of columns.
fn known(claim: &Claim, sides: &TableSides, random: &mut Randomness) -> Option<(String, Vec<Vec<usize>>)> {
    match &claim.knows {
        KnowsClaim::All => None,
        KnowsClaim::Any(n) if *n >= sides.quasi => None,
        KnowsClaim::Any(n) => {
            let sets = (0..MOST_SETS).map(|_| {
                let mut set = random.sample(sides.quasi, *n);
                set.sort_unstable();
                set
            });
            Some((format!("any {n} quasi-identifiers known"), sets.collect()))
        }
        KnowsClaim::Sets(sets) => {
            let place = |name: &String| sides.names.iter().position(|n| n == name).unwrap_or(0);
            let own = sets.iter().take(MOST_SETS).map(|set| set.iter().map(place).collect());
            Some(("one of the listed sets known".into(), own.collect()))
        }
    }
}

/// The rows that match what is known of a target: by set, on both sides.
struct Matching<'s> {
    sides: &'s TableSides,
    set: &'s [usize],
    before: (kohort_core::table::Keys, Vec<Vec<u32>>),
    after: (kohort_core::table::Keys, Vec<Vec<u32>>),
}

impl<'s> Matching<'s> {
    fn new(sides: &'s TableSides, set: &'s [usize]) -> Matching<'s> {
        Matching { sides, set, before: sides.original.classes(set), after: sides.release.classes(set) }
    }

    fn in_original(&self, target: usize) -> impl Iterator<Item = u32> + '_ {
        let class = self.before.0.find(&self.sides.original.row(target, self.set));
        class.into_iter().flat_map(|c| self.before.1[c as usize].iter().copied())
    }

    fn in_release(&self, target: usize) -> impl Iterator<Item = u32> + '_ {
        let values = self.sides.original.row(target, self.set);
        let classes = (0..self.after.1.len())
            .filter(move |&class| self.sides.fits(self.set, &values, self.after.0.get(class as u32)));
        classes.flat_map(|class| self.after.1[class].iter().copied())
    }
}

/// Linkage: of the rows that match, one is taken for the target's.
fn link(sides: &TableSides, about: &str, sets: &[Vec<usize>], targets: &[usize], attacked: &mut Attacked) {
    let [mut right_before, mut right_after, mut alone_before, mut alone_after] = [Mean::default(); 4];
    for set in sets {
        let matching = Matching::new(sides, set);
        for &target in targets {
            let (before, after) = (matching.in_original(target).count(), matching.in_release(target).count());
            // A target whose record was deleted is found by nobody: none match, or others do.
            let right = |n: usize| if n == 0 { 0.0 } else { 1.0 / n as f64 };
            right_before.add(right(before));
            right_after.add(right(after));
            alone_before.add(f64::from(u8::from(before == 1)));
            alone_after.add(f64::from(u8::from(after == 1)));
        }
    }
    let rows = sides.original.rows().max(1) as f64;
    for (measure, before, after, baseline) in [
        ("average probability of picking the right row", right_before, right_after, Some(1.0 / rows)),
        ("people whom exactly one row matches", alone_before, alone_after, Some(0.0)),
    ] {
        let (before, after, targets) = (before.get(), after.get(), targets.len() as u64);
        attacked.attacks.push(Attack {
            name: "linkage",
            about: about.into(),
            measure,
            targets,
            before,
            after,
            baseline,
        });
    }
}

/// How often each value of a column occurs in some rows, without missing cells.
fn counts(side: &TableSide, column: usize, rows: impl Iterator<Item = u32>, texts: &[Option<u32>]) -> Vec<u64> {
    let mut counts = vec![0; texts.iter().flatten().max().map_or(0, |m| *m as usize + 1)];
    for row in rows {
        let cell = side.cells[column][row as usize];
        if let Some(value) = texts[cell as usize].filter(|_| cell != MISSING) {
            counts[value as usize] += 1;
        }
    }
    counts
}

fn most(counts: &[u64]) -> Option<usize> {
    let best = counts.iter().enumerate().filter(|(_, n)| **n > 0).max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(&a.0)));
    best.map(|(value, _)| value)
}

/// Counts what the matching rows reveal about the target's sensitive value. Homogeneity is about the listed values, if
/// there is a list.
fn learn(
    sides: &TableSides,
    (about, sets): (&str, &[Vec<usize>]),
    (column, listed): (usize, Option<&[String]>),
    targets: &[usize],
    attacked: &mut Attacked,
) {
    let (original, release) = (&sides.original, &sides.release);
    // One number for a value on both sides.
    let own: Vec<Option<u32>> = (0..original.texts[column].len() as u32).map(Some).collect();
    let more = original.texts[column].len() as u32;
    let shown: Vec<Option<u32>> = (0..release.texts[column].len() as u32)
        .map(|n| original.texts[column].find(release.texts[column].get(n)).or(Some(more)))
        .collect();
    let values = more as usize + 1;
    let base = counts(original, column, 0..original.rows() as u32, &own);
    let all: u64 = base.iter().sum();
    if all == 0 {
        return;
    }
    let share = |n: u64| n as f64 / all as f64;
    let is_listed = |value: u32| {
        let text = original.texts[column].get(value);
        listed.is_none_or(|listed| listed.iter().any(|own| own.as_bytes() == text))
    };
    let [mut certain, mut majority, mut belief, mut bayes] = [[Mean::default(); 2]; 4];
    for set in sets {
        let matching = Matching::new(sides, set);
        let learned = [(original, &own), (release, &shown)].map(|(side, texts)| {
            let widths: Vec<usize> = set.iter().map(|&c| side.texts[c].len()).collect();
            let mut learned = Learned::new(values, &widths);
            for row in 0..side.rows() {
                let cell = side.cells[column][row];
                if let Some(value) = texts[cell as usize].filter(|_| cell != MISSING) {
                    learned.learn(value, &side.row(row, set));
                }
            }
            learned
        });
        for &target in targets {
            let truth = original.cells[column][target];
            if truth == MISSING {
                continue;
            }
            let of_target = original.row(target, set);
            let found = [
                counts(original, column, matching.in_original(target), &own),
                counts(release, column, matching.in_release(target), &shown),
            ];
            for (side, found) in found.iter().enumerate() {
                let n: u64 = found.iter().sum();
                let right = |guess: Option<usize>| f64::from(u8::from(guess == Some(truth as usize)));
                let of_truth = found.get(truth as usize).copied().unwrap_or(0);
                if is_listed(truth) {
                    certain[side].add(f64::from(u8::from(n > 0 && of_truth == n)));
                }
                majority[side].add(right(most(found).or_else(|| most(&base))));
                belief[side].add(if n == 0 { share(base[truth as usize]) } else { of_truth as f64 / n as f64 });
                let exact: Vec<Vec<bool>> = set
                    .iter()
                    .zip(&of_target)
                    .map(|(&c, &value)| match side {
                        0 => (0..original.texts[c].len() as u32).map(|v| v == value).collect(),
                        _ => sides.labels[c][value as usize].clone(),
                    })
                    .collect();
                let seen: Vec<&[bool]> = exact.iter().map(Vec::as_slice).collect();
                // Values that nobody has who matches are ruled out, on the release.
                let may = |value: usize| side == 0 || n == 0 || found.get(value).copied().unwrap_or(0) > 0;
                bayes[side].add(right(learned[side].likeliest(&seen, may)));
            }
        }
    }
    let guessed = base.iter().copied().max().map(share);
    let believed = base.iter().map(|&n| share(n) * share(n)).sum::<f64>();
    for (name, measure, [before, after], baseline) in [
        ("homogeneity", "people whose value all matching rows have", certain, Some(0.0)),
        ("skew", "average belief in the true value", belief, Some(believed)),
        ("majority", "values guessed correctly from the matching rows", majority, guessed),
        ("naive Bayes", "values guessed correctly from all known columns", bayes, guessed),
    ] {
        attacked.attacks.push(Attack {
            name,
            about: format!("`{}`, {about}", sides.names[column]),
            measure,
            targets: before.of / sets.len().max(1) as u64,
            before: before.get(),
            after: after.get(),
            baseline,
        });
    }
}
