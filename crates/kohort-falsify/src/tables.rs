//! Every original of a universe of tables is released, and every release is read by everyone.

use crate::aware::{Knowing, Outcome, Placed, Reader, Row, Rows};
use crate::make::{Alike, Made, Maker};
use crate::plain;
use crate::promise;
use crate::universe::{Person, Secret, Universe};
use std::collections::BTreeMap;

/// The cases that were examined, and the result.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Originals that were released, or for which no release can be.
    pub originals: u64,
    /// Those that were released.
    pub released: u64,
    /// Releases that were told apart.
    pub releases: u64,
    /// Originals released by the whole path beside.
    pub by_path: u64,
    /// The highest probability of a link where a limit was promised against an attacker who knows the algorithm, as a
    /// share of the limit.
    pub of_bound: f64,
    /// The highest chance of a link where none was.
    pub unbounded_link: f64,
    /// The highest belief in a secret to an attacker who knows the algorithm, where its prior share was lower.
    pub secret: f64,
    /// The first promise that was broken, with the case.
    pub broken: Option<String>,
}

/// From where the secrets of invented rows come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draws {
    /// From all that are listed, as the method does it.
    Listed,
    /// From those of the file: what the method must not do.
    FromTheFile,
}

/// Looks at every original of a universe; one of them also takes the whole path.
pub fn falsify(universe: &Universe, seed: u64) -> Result<Found, String> {
    let maker = Maker::new(universe)?;
    let mut found = Found::default();
    let mut rows = Rows::default();
    let mut readers = [Reader::new(Knowing::One), Reader::new(Knowing::Everybody)];
    let mut promised: Option<Option<u64>> = None;
    let by_path = seed % universe.originals();
    let mut failed = None;
    universe.each_original(|people, likely| {
        if failed.is_some() || found.broken.is_some() {
            return;
        }
        let number = found.originals;
        found.originals += 1;
        let seed = coins(universe, people, seed);
        let made = match maker.make(people, seed) {
            Ok(made) => made,
            Err(e) => return failed = Some(e),
        };
        if number == by_path {
            match maker.by_the_whole_path(people, seed) {
                Err(e) => return failed = Some(e),
                Ok(other) if other != made.as_ref().map(Made::sorted) => {
                    return failed =
                        Some(format!("the whole path releases {other:?} of {}", universe.table_text(people)));
                }
                Ok(_) => found.by_path += 1,
            }
        }
        let Some(made) = made else { return };
        found.released += 1;
        // Who of several patients has which row would matter.
        let is_split = |own: &Alike| own.shown.len() > 1 || own.shown.first().is_some_and(|part| part.1 < own.rows);
        let split = universe.requirement.has_several_rows() && made.alike.iter().any(is_split);
        let shown = match split {
            false => Ok(plain::rows(universe, people, &made)),
            true => maker.rows_by_path(people, seed),
        };
        let shown = match shown {
            Ok(shown) => shown,
            Err(e) => return failed = Some(e),
        };
        if let Some(what) = plain::broken(universe, people, &shown, &made.promise.claim) {
            return found.broken =
                Some(case(universe, people, &format!("to an attacker who does not know the algorithm: {what}")));
        }
        match promise::to_the_aware(&made.guarantee) {
            Err(e) => return failed = Some(e),
            Ok(own) => promised = Some(own),
        }
        if split && matches!(promised, Some(Some(_))) {
            let what = "a limit is promised to the aware, and rows of patients that are alike show different cells";
            return failed = Some(case(universe, people, what));
        }
        // Nothing is promised about such rows to an attacker who knows the algorithm.
        if split {
            return;
        }
        let of_everybody = combinations(universe, people);
        for outcome in outcomes(universe, people, &made, Draws::Listed, &mut rows) {
            readers.iter_mut().for_each(|r| r.consider(people, &of_everybody, likely, &outcome));
        }
    });
    if let Some(e) = failed {
        return Err(e);
    }
    for reader in &readers {
        found.releases = found.releases.max(reader.releases() as u64);
        let highest = reader.highest();
        found.secret = found.secret.max(if universe.secret == Secret::None { 0.0 } else { highest.secret });
        match promised {
            Some(Some(n)) => {
                found.of_bound = found.of_bound.max(highest.link * n as f64);
                if highest.link * n as f64 > 1.0 + 1e-9 && found.broken.is_none() {
                    let (shown, known, original) = highest.at.unwrap_or_default();
                    let shown: Vec<_> = shown.iter().map(|&r| rows.get(r)).collect();
                    let what = format!(
                        "to an attacker who knows the algorithm: a link of {:.4}, 1/{n} is promised; to one who knows combination {known} and sees {shown:?}",
                        highest.link
                    );
                    found.broken = Some(case(universe, &original, &what));
                }
            }
            _ => found.unbounded_link = found.unbounded_link.max(highest.link),
        }
    }
    Ok(found)
}

/// The seed of a release. A method that does not read secrets draws the same for every original with the same
/// quasi-identifiers: its coins cannot depend on what it does not read, and the reader may know how they fell.
fn coins(universe: &Universe, people: &[usize], seed: u64) -> u64 {
    let own = combinations(universe, people);
    own.iter().fold(seed, |all, &c| (all ^ c as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23))
}

/// Computes what a reader makes of every release of a universe; `known`: what they know of who has a combination.
pub fn read(
    universe: &Universe,
    knowing: Knowing,
    draws: Draws,
    known: impl Fn(usize) -> usize,
) -> Result<(Reader, Rows), String> {
    let maker = Maker::new(universe)?;
    let (mut reader, mut rows, mut failed) = (Reader::new(knowing), Rows::default(), None);
    universe.each_original(|people, likely| match maker.make(people, 1) {
        Ok(None) => {}
        Err(e) => failed = Some(e),
        Ok(Some(made)) => {
            let of_everybody = combinations(universe, people);
            for mut outcome in outcomes(universe, people, &made, draws, &mut rows) {
                outcome.people.iter_mut().flat_map(|p| &mut p.known).for_each(|own| *own = known(*own));
                reader.consider(people, &of_everybody, likely, &outcome);
            }
        }
    });
    failed.map_or(Ok((reader, rows)), Err)
}

fn case(universe: &Universe, people: &[usize], what: &str) -> String {
    format!("{what}\n--- policy.toml\n{}--- table.csv\n{}", universe.policy_text(), universe.table_text(people))
}

/// Lists what could be known of everybody in an original.
pub fn combinations(universe: &Universe, people: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = people.iter().flat_map(|&kind| universe.kinds[kind].0.rows.clone()).collect();
    all.sort_unstable();
    all
}

/// All releases that an original may lead to by what the method decided. None where invented rows
/// are drawn until a requirement holds: then nothing is promised.
pub fn outcomes(universe: &Universe, people: &[usize], made: &Made, draws: Draws, rows: &mut Rows) -> Vec<Outcome> {
    let real = match universe.requirement {
        own if own.has_several_rows() => vec![of_patients(universe, people, made, rows)],
        _ => of_rows(universe, people, made, rows),
    };
    match universe.invents {
        None => real,
        Some(_) if universe.requirement.has_limits() => vec![],
        Some(_) => real.into_iter().flat_map(|o| with_invented(universe, people, o, draws, rows)).collect(),
    }
}

/// Tuples go whole: each row of a patient is where its combination is.
fn of_patients(universe: &Universe, people: &[usize], made: &Made, rows: &mut Rows) -> Outcome {
    let number =
        |a: &Alike, rows: &mut Rows| a.shown.first().map(|(cells, _)| rows.number(cells, a.secret.unwrap_or(0)));
    let row_of: BTreeMap<(usize, Option<usize>), Option<Row>> =
        made.alike.iter().map(|a| ((a.combination, a.secret), number(a, rows))).collect();
    let reads_secret = made.alike.iter().any(|a| a.secret.is_some());
    let place = |&kind: &usize| {
        let Person { rows: own, secret } = &universe.kinds[kind].0;
        let mut known = own.clone();
        known.dedup();
        let rows =
            own.iter().filter_map(|&combination| row_of[&(combination, reads_secret.then_some(*secret))]).collect();
        Placed { known, secret: *secret, rows, times: 1.0 }
    };
    let people: Vec<Placed> = people.iter().map(place).collect();
    let mut shown: Vec<Row> = people.iter().flat_map(|p| p.rows.clone()).collect();
    shown.sort_unstable();
    Outcome { chance: 1.0, shown, people }
}

/// Returns which of the rows that are alike get which cells is drawn: every way to deal their secrets out.
fn of_rows(universe: &Universe, people: &[usize], made: &Made, rows: &mut Rows) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome { chance: 1.0, shown: Vec::new(), people: Vec::new() }];
    for alike in &made.alike {
        let mut secrets = vec![0u64; universe.secret.values()];
        for &kind in people {
            let person = &universe.kinds[kind].0;
            if person.rows[0] == alike.combination && alike.secret.is_none_or(|s| s == person.secret) {
                secrets[person.secret] += 1;
            }
        }
        let mut parts: Vec<(Option<&Vec<String>>, u64)> = alike.shown.iter().map(|(c, n)| (Some(c), *n)).collect();
        let deleted = alike.rows - parts.iter().map(|p| p.1).sum::<u64>();
        if deleted > 0 {
            parts.push((None, deleted));
        }
        let ways = deal(&secrets, &parts.iter().map(|p| p.1).collect::<Vec<_>>());
        let mut next = Vec::new();
        for outcome in &outcomes {
            for (chance, dealt) in &ways {
                let mut own = outcome.clone();
                own.chance *= chance;
                for ((cells, _), by_secret) in parts.iter().zip(dealt) {
                    for (secret, &times) in by_secret.iter().enumerate().filter(|(_, n)| **n > 0) {
                        let row = cells.map(|cells| rows.number(cells, secret));
                        own.shown.extend(row.into_iter().flat_map(|r| std::iter::repeat_n(r, times as usize)));
                        let known = vec![alike.combination];
                        own.people.push(Placed { known, secret, rows: row.into_iter().collect(), times: times as f64 });
                    }
                }
                next.push(own);
            }
        }
        outcomes = next;
    }
    outcomes.iter_mut().for_each(|o| o.shown.sort_unstable());
    outcomes
}

/// Ways to deal so many cards of each kind to hands of these sizes, with their chances.
fn deal(cards: &[u64], hands: &[u64]) -> Vec<(f64, Vec<Vec<u64>>)> {
    let Some((&hand, rest)) = hands.split_first() else { return vec![(1.0, Vec::new())] };
    let all: u64 = cards.iter().sum();
    let mut ways = Vec::new();
    for own in choices(cards, hand) {
        // Multivariate hypergeometric.
        let chance = cards.iter().zip(&own).map(|(&n, &c)| choose(n, c)).product::<f64>() / choose(all, hand);
        let left: Vec<u64> = cards.iter().zip(&own).map(|(n, c)| n - c).collect();
        for (more, mut others) in deal(&left, rest) {
            others.insert(0, own.clone());
            ways.push((chance * more, others));
        }
    }
    ways
}

/// So many cards taken from these, by kind.
fn choices(cards: &[u64], take: u64) -> Vec<Vec<u64>> {
    let Some((&first, rest)) = cards.split_first() else {
        return if take == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    (0..=first.min(take))
        .flat_map(|own| choices(rest, take - own).into_iter().map(move |more| [&[own], &more[..]].concat()))
        .collect()
}

fn choose(n: u64, k: u64) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Adds the synthetic rows, in every way they may be drawn.
fn with_invented(
    universe: &Universe,
    people: &[usize],
    outcome: Outcome,
    draws: Draws,
    rows: &mut Rows,
) -> Vec<Outcome> {
    let Some((_, percent, exact)) = universe.invents else { return vec![outcome] };
    let mut classes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for placed in &outcome.people {
        let mut own: Vec<Vec<String>> = placed.rows.iter().map(|&r| rows.get(r).0.clone()).collect();
        own.sort();
        own.dedup();
        own.into_iter().for_each(|class| *classes.entry(class).or_default() += placed.times as u64);
    }
    let in_file: u64 = people.iter().map(|&kind| universe.kinds[kind].0.rows.len() as u64).sum();
    let most = in_file * percent / 100;
    let classes: Vec<(Vec<String>, u64)> = classes.into_iter().collect();
    let mut numbers: Vec<(f64, Vec<u64>)> = vec![(1.0, Vec::new())];
    for (_, n) in &classes {
        let mut next = Vec::new();
        for (chance, added) in &numbers {
            for (more, own) in padding(*n, universe.k, most, exact) {
                if added.iter().sum::<u64>() + own <= most {
                    next.push((chance * more, [&added[..], &[own]].concat()));
                }
            }
        }
        numbers = next;
    }
    // Draws that exceed what may be added are drawn again.
    let kept: f64 = numbers.iter().map(|n| n.0).sum();
    let mut counts = vec![u64::from(draws == Draws::Listed); universe.secret.values()];
    people.iter().for_each(|&kind| counts[universe.kinds[kind].0.secret] += 1);
    let all: u64 = counts.iter().sum();
    let share: Vec<f64> = counts.iter().map(|&c| c as f64 / all as f64).collect();
    let mut outcomes = Vec::new();
    for (chance, added) in numbers {
        let mut own = vec![Outcome { chance: outcome.chance * chance / kept, ..outcome.clone() }];
        for ((cells, _), n) in classes.iter().zip(added) {
            let drawn = secrets_of(&share, n);
            own = own
                .iter()
                .flat_map(|before| {
                    drawn
                        .iter()
                        .map(|(chance, secrets)| {
                            let mut after = before.clone();
                            after.chance *= chance;
                            for (secret, &times) in secrets.iter().enumerate().filter(|(_, n)| **n > 0) {
                                let row = rows.number(cells, secret);
                                after.shown.extend(std::iter::repeat_n(row, times as usize));
                            }
                            after
                        })
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        outcomes.extend(own);
    }
    outcomes.iter_mut().for_each(|o| o.shown.sort_unstable());
    outcomes.retain(|o| o.chance > 0.0);
    outcomes
}

/// Returns how many rows a class of n people gets, and how likely that is: to k, or to k + G with P(G = g) = 2^−(g+1).
fn padding(n: u64, k: u64, most: u64, exact: bool) -> Vec<(f64, u64)> {
    if exact {
        return vec![(1.0, k.saturating_sub(n))];
    }
    let half = |times: u64| 0.5f64.powi(times as i32);
    (0..=most)
        .filter_map(|added| match added {
            0 if n >= k => Some((1.0 - half(n - k + 1), 0)),
            0 => None,
            added if n + added >= k => Some((half(n + added - k + 1), added)),
            _ => None,
        })
        .collect()
}

/// The secrets of n rows drawn one by one, and how likely they are.
fn secrets_of(share: &[f64], n: u64) -> Vec<(f64, Vec<u64>)> {
    choices(&vec![n; share.len()], n)
        .into_iter()
        .map(|secrets| {
            let mut chance = (1..=n).map(|i| i as f64).product::<f64>();
            for (&times, share) in secrets.iter().zip(share) {
                chance *= share.powi(times as i32) / (1..=times).map(|i| i as f64).product::<f64>();
            }
            (chance, secrets)
        })
        .collect()
}
