//! The reader who matches what they know of a person against the rows, and nothing more. A label
//! fits a value that may lie under it; `*` fits every value.

use crate::make::Made;
use crate::universe::Universe;
use kohort_core::policy::TDistance;
use kohort_core::privacy::LDiversity;
use kohort_core::release::{Claim, KnowsClaim, SensitiveClaim};
use std::collections::BTreeMap;

/// A row of a release: what it shows, and whether it is a real person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The quasi-identifiers.
    pub cells: Vec<String>,
    /// The secret.
    pub secret: usize,
    /// Names whose it is, where people are patients; else a number of its own.
    pub person: usize,
    /// True if it is a real person.
    pub real: bool,
}

/// The rows that `made` shows of an original.
pub fn rows(universe: &Universe, people: &[usize], made: &Made) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for alike in &made.alike {
        // Which rows of those that are alike get which cells is drawn: any choice will do.
        let mut own = people.iter().enumerate().flat_map(|(person, &kind)| {
            let whose = &universe.kinds[kind].0;
            let fits =
                |row: &&usize| **row == alike.combination && alike.secret.is_none_or(|secret| secret == whose.secret);
            whose.rows.iter().filter(fits).map(move |_| (person, whose.secret))
        });
        for (cells, times) in &alike.shown {
            for (person, secret) in own.by_ref().take(*times as usize) {
                rows.push(Row { cells: cells.clone(), secret, person, real: true });
            }
        }
    }
    for (i, (cells, secret)) in made.invented.iter().enumerate() {
        rows.push(Row { cells: cells.clone(), secret: *secret, person: people.len() + i, real: false });
    }
    rows
}

/// The sets of columns the claim lets a reader know.
pub fn known_sets(claim: &Claim, columns: usize) -> Vec<Vec<usize>> {
    match &claim.knows {
        KnowsClaim::All => vec![(0..columns).collect()],
        KnowsClaim::Any(n) => (1..1usize << columns)
            .map(|mask| (0..columns).filter(|c| mask >> c & 1 == 1).collect::<Vec<_>>())
            .filter(|set| set.len() <= *n)
            .collect(),
        KnowsClaim::Sets(sets) => {
            let place = |name: &String| ["a", "b", "c"].iter().position(|n| n == name).unwrap_or(0);
            sets.iter().map(|set| set.iter().map(place).collect()).collect()
        }
    }
}

/// The first promise to an attacker who does not know the algorithm that these rows break, if there is any.
pub fn broken(universe: &Universe, people: &[usize], rows: &[Row], claim: &Claim) -> Option<String> {
    let columns = universe.columns.len();
    let k = claim.k.get() as usize;
    for combination in people.iter().flat_map(|&kind| &universe.kinds[kind].0.rows) {
        for set in known_sets(claim, columns) {
            let fits = |row: &&Row| {
                set.iter().all(|&c| universe.columns[c].may_show(universe.value(*combination, c), &row.cells[c]))
            };
            let matching: Vec<&Row> = rows.iter().filter(fits).collect();
            let found = count(universe, &matching);
            if found > 0 && found < k {
                return Some(format!("{found} match combination {combination} in columns {set:?}, and k = {k}"));
            }
            let real: Vec<&Row> = matching.iter().copied().filter(|r| r.real).collect();
            if !matching.is_empty() && real.is_empty() {
                return Some(format!("nobody real matches combination {combination}"));
            }
            for (matching, all) in [(&matching, rows.iter().collect::<Vec<_>>()), (&real, only_real(rows))] {
                for (group, sensitive) in groups(universe, matching)
                    .iter()
                    .flat_map(|group| claim.sensitive.iter().map(move |own| (group, own)))
                {
                    if let Some(what) = too_much(universe, sensitive, group, &all) {
                        return Some(format!("{what} among those that match combination {combination} in {set:?}"));
                    }
                }
            }
        }
    }
    None
}

/// The groups of rows for which a limit is promised: all that match; with patients, who may be in several groups where
/// labels overlap, each group of identical records.
fn groups<'a>(universe: &Universe, matching: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    if !universe.requirement.has_patients() {
        return vec![matching.to_vec()];
    }
    let mut groups: BTreeMap<&[String], Vec<&Row>> = BTreeMap::new();
    matching.iter().for_each(|row| groups.entry(&row.cells).or_default().push(row));
    groups.into_values().collect()
}

fn only_real(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|r| r.real).collect()
}

fn count(universe: &Universe, rows: &[&Row]) -> usize {
    if !universe.requirement.has_patients() {
        return rows.len();
    }
    let mut people: Vec<usize> = rows.iter().map(|r| r.person).collect();
    people.sort_unstable();
    people.dedup();
    people.len()
}

/// Returns what is claimed of sensitive values and does not hold of these rows of a file.
fn too_much(universe: &Universe, claim: &SensitiveClaim, rows: &[&Row], file: &[&Row]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let counts = |rows: &[&Row]| -> Vec<u64> {
        let value = |row: &&&Row| universe.secret.part(row.secret, &claim.column).0;
        // A patient counts once for each value; a row that is nobody's has a number of its own.
        let mut people: Vec<(usize, usize)> = rows.iter().map(|row| (row.person, value(&row))).collect();
        if universe.requirement.has_patients() {
            people.sort_unstable();
            people.dedup();
        }
        let mut counts = vec![0; 8];
        people.iter().for_each(|(_, value)| counts[*value] += 1);
        counts
    };
    let (own, whole) = (counts(rows), counts(file));
    let (n, all) = (own.iter().sum::<u64>(), whole.iter().sum::<u64>());
    let most = own.iter().copied().max().unwrap_or(0);
    if let Some(c) = claim.confidence {
        let (num, den) = c.parts();
        if u128::from(most) * u128::from(den) > u128::from(n) * u128::from(num) {
            return Some(format!("{most} of {n} have one value, above {c}"));
        }
    }
    let mut sorted: Vec<u64> = own.iter().copied().filter(|c| *c > 0).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let diverse = claim.l_diversity.as_ref().is_none_or(|l| match l {
        LDiversity::Distinct(l) => sorted.len() as u64 >= *l,
        LDiversity::Entropy(l) => {
            let share = |c: &u64| *c as f64 / n as f64;
            sorted.iter().map(|c| -share(c) * share(c).ln()).sum::<f64>() >= (*l as f64).ln() - 1e-9
        }
        LDiversity::Recursive { c, l } => {
            let (num, den) = *c;
            u128::from(sorted[0]) * u128::from(den)
                < u128::from(num) * u128::from(sorted.iter().skip(*l as usize - 1).sum::<u64>())
        }
    });
    if !diverse {
        return Some(format!("values {sorted:?} are not as diverse as claimed"));
    }
    if let Some(t) = &claim.t_closeness {
        let extra = own.iter().zip(&whole).map(|(o, w)| (o * all) as i64 - (w * n) as i64);
        // Equal distance: half of Σ |own/n − whole/all|. In an order: what must be carried past each value that occurs.
        let (apart, full) = match t.distance {
            TDistance::Ordered => {
                let mut carried = 0;
                let occurs = extra.zip(&whole).filter(|(_, w)| **w > 0).map(|(e, _)| e);
                let steps = whole.iter().filter(|w| **w > 0).count().saturating_sub(1).max(1) as u64;
                let work = occurs.map(|e| {
                    carried += e;
                    carried.unsigned_abs()
                });
                (work.sum::<u64>(), steps * n * all)
            }
            _ => (extra.map(i64::unsigned_abs).sum::<u64>(), 2 * n * all),
        };
        let (num, den) = t.max.parts();
        if u128::from(apart) * u128::from(den) > u128::from(full) * u128::from(num) {
            return Some(format!("their values {own:?} are further than {} from {whole:?}", t.max));
        }
    }
    None
}
