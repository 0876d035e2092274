//! The set of columns with the highest risk, among all that an attacker may know.

use super::classes::{Risk, View};
use crate::Result;
use crate::classes::{ColumnCodes, Judge, KnownPeople, People, any_three, each_set};
use crate::cohort::{Cohort, MOST_SETS, MOST_SETS_OF_THREE, NotAllSets};
use crate::privacy::{Counts, Knows, Shorter};

/// The highest risk over the sets that a policy lists.
#[derive(Debug, Clone, PartialEq)]
pub struct HighestRisk {
    /// The risk over one of the sets that have it.
    pub risk: Risk,
    /// True if it is known that no other set has a higher one.
    pub is_exact: bool,
}

/// States where all sets together look at no more tuples, all are counted.
const ALL_LOOKS: usize = 30_000_000;
/// Else the most promising sets are, up to so many tuples.
const MOST_LOOKS: usize = 10_000_000;
/// With no more labels in any column, all sets are counted together.
const FEW: usize = 8;
/// Up to so many sets are looked at before it is asked whether any other could be worse.
const TOGETHER: usize = 256;

/// The risk over the set with the highest risk of all the policy lists: with the smallest class,
/// then with the highest mean. `None` if nothing is listed.
///
/// Sets that could have most classes come first. Once somebody is found to be alone, only sets that
/// could have more classes than found so far are counted: exact, and few in a table as it is.
///
/// Where the sets are too many to be listed, those of the columns that differ are counted if these are few enough. If they
/// are not, sets of fewer columns are, and any three columns together.
pub fn worst(cohort: &Cohort, view: View, threads: usize) -> Result<Option<HighestRisk>> {
    let crowd = crowd(cohort, view);
    let Some(not_all) = &cohort.sets_not_all else { return worst_of(&crowd, &cohort.sets, threads) };
    if let Some(sets) = sets_that_differ(&crowd, not_all) {
        return worst_of(&crowd, &sets, threads);
    }
    let listed = worst_of(&crowd, &cohort.sets, threads)?;
    let three = worst_of_three(&crowd, not_all, threads)?;
    let all = listed.map(|own| HighestRisk { is_exact: false, ..own }).into_iter().chain(three);
    Ok(all.reduce(|a, b| if (b.risk.max, b.risk.mean) > (a.risk.max, a.risk.mean) || b.is_exact { b } else { a }))
}

/// The sets that an attacker may know, without the columns that show the same to everybody: whoever knows these knows no
/// more. `None` where they are too many to be listed.
fn sets_that_differ(crowd: &KnownPeople, not_all: &NotAllSets) -> Option<Vec<Vec<usize>>> {
    let columns: Vec<usize> = (0..crowd.known.len()).filter(|&column| crowd.known[column].len > 1).collect();
    let knows = Knows::Any(not_all.known);
    if columns.is_empty() || knows.number(columns.len(), Shorter::Implied)? > MOST_SETS {
        return None;
    }
    let mut sets = knows.sets(columns.len(), Shorter::Implied);
    sets.iter_mut().flatten().for_each(|column| *column = columns[*column]);
    Some(sets)
}

/// The highest risk over any three columns, if they can be counted together. It is exact if an attacker knows no more.
fn worst_of_three(crowd: &KnownPeople, not_all: &NotAllSets, threads: usize) -> Result<Option<HighestRisk>> {
    let columns: Vec<usize> = (0..crowd.known.len()).collect();
    let number = Knows::Any(3).number(columns.len(), Shorter::Implied);
    if not_all.known < 3 || number.is_none_or(|number| number > MOST_SETS_OF_THREE) {
        return Ok(None);
    }
    let Some(found) = any_three(crowd, &columns, 1, threads) else { return Ok(None) };
    // The first set with a class as small as the smallest of all.
    let first = any_three(crowd, &columns, found.people + 1, threads).and_then(|found| found.failing);
    let Some(set) = first else { return Ok(None) };
    let worst = worst_of(crowd, &[set.to_vec()], threads)?;
    Ok(worst.map(|own| HighestRisk { is_exact: not_all.known == 3, ..own }))
}

/// The risk over the set with the highest risk of these.
fn worst_of(crowd: &KnownPeople, all: &[Vec<usize>], threads: usize) -> Result<Option<HighestRisk>> {
    let tuples = crowd.people.tuples();
    let few = crowd.known.iter().all(|c| c.len <= FEW) || all.len().saturating_mul(tuples) <= ALL_LOOKS;
    // The most people that could be counted as classes, and how promising the set is beyond.
    let possible = |set: &[usize]| set.iter().map(|&c| crowd.known[c].len as f64).product::<f64>();
    let mut order: Vec<(usize, f64, usize)> = all
        .iter()
        .enumerate()
        .map(|(number, set)| {
            let possible = possible(set);
            (if possible < tuples as f64 { possible as usize } else { tuples }, possible, number)
        })
        .collect();
    order.sort_by(|a, b| (b.0, b.1).partial_cmp(&(a.0, a.1)).unwrap_or(std::cmp::Ordering::Equal).then(a.2.cmp(&b.2)));
    let together = if few { order.len().max(1) } else { (MOST_LOOKS / 4 / tuples.max(1)).clamp(4, TOGETHER) };
    let most = if few { order.len() } else { (MOST_LOOKS / tuples.max(1)).max(together) };
    let people = crowd.people.number();
    let mut worst = Worst::default();
    let (mut looked, mut is_exact) = (0, true);
    for sets in order.chunks(together) {
        let could = |best: &Risk| best.max < 1.0 || sets[0].0 as f64 / people as f64 > best.mean;
        if !worst.set.as_ref().is_none_or(|(_, best)| could(best)) {
            break;
        }
        if looked >= most {
            is_exact = false;
            break;
        }
        looked += sets.len();
        // In their order, so that sets which begin with the same columns follow each other.
        let mut numbers: Vec<usize> = sets.iter().map(|s| s.2).collect();
        numbers.sort_unstable();
        let own: Vec<Vec<usize>> = numbers.iter().map(|&n| all[n].clone()).collect();
        each_set(crowd, &own, threads, Worst::default, |part| {
            worst.take(part.set.map(|(place, risk)| (numbers[place], risk)));
        })?;
    }
    Ok(worst.set.map(|(number, risk)| HighestRisk { risk: Risk { set: all[number].clone(), ..risk }, is_exact }))
}

/// The people of a view by what is known of them.
fn crowd(cohort: &Cohort, view: View) -> KnownPeople {
    let tuples = &cohort.tuples;
    let quasi = 0..cohort.quasi.len();
    let known = match view {
        View::Before => quasi
            .map(|q| {
                let codes = (0..tuples.len()).map(|t| tuples.code(t, q));
                ColumnCodes::occurring(codes.collect(), tuples.dictionaries[q].len())
            })
            .collect(),
        View::After(plan) => quasi
            .map(|q| {
                let labels = plan.cells.chunks_exact(plan.changed.len()).map(|cells| cells[q]);
                ColumnCodes::occurring(labels.collect(), plan.changed[q].labels.len())
            })
            .collect(),
    };
    let people = match (&tuples.patients, view) {
        (None, View::Before) => People::rows(&tuples.weights),
        (None, View::After(plan)) => People::rows(&plan.rows_by_cells(cohort)),
        (Some(patients), View::Before) => {
            let pairs = (0..tuples.len()).flat_map(|t| patients.having(t).iter().map(move |&p| (p, t as u32)));
            People::new(patients.single.clone(), pairs.collect())
        }
        (Some(patients), View::After(plan)) => {
            let (mut single, mut pairs) = (vec![0; plan.cells.len() / plan.changed.len().max(1)], Vec::new());
            for t in 0..tuples.len() {
                for part in plan.parts.of(t) {
                    let (alone, named) = part.share.people(patients, t);
                    single[part.cells as usize] += alone as u32;
                    pairs.extend(named.iter().map(|&p| (p, part.cells)));
                }
            }
            People::new(single, pairs)
        }
    };
    KnownPeople { known, sensitive: Vec::new(), people }
}

/// The set with the highest risk so far, by number, and the classes of the one being looked at.
#[derive(Default)]
struct Worst {
    set: Option<(usize, Risk)>,
    classes: u64,
    people: u64,
    unique: u64,
    smallest: Option<u64>,
}

impl Worst {
    fn take(&mut self, other: Option<(usize, Risk)>) {
        let key = |(number, risk): &(usize, Risk)| (risk.max, risk.mean, std::cmp::Reverse(*number));
        if let Some(other) = other.filter(|other| self.set.as_ref().is_none_or(|own| key(other) > key(own))) {
            self.set = Some(other);
        }
    }
}

impl Judge for Worst {
    fn size(&mut self, people: u64) {
        self.classes += 1;
        self.people += people;
        self.unique += u64::from(people == 1);
        self.smallest = Some(self.smallest.map_or(people, |s| s.min(people)));
    }

    fn values(&mut self, _: usize, _: &Counts) {}

    fn end(&mut self, set: usize) {
        let counted = std::mem::take(self);
        let risk = Risk::counted(&[], counted.classes, counted.people, counted.unique, counted.smallest);
        self.set = counted.set;
        self.take(Some((set, risk)));
    }
}
