//! The people behind the rows of a release where nobody kept which row became which. Where every original row
//! has one possible place in the release and all of them are released, they are counted; otherwise their number
//! is bounded from below by what the original allows.

use super::known_sets::KnownSets;
use super::recount::CountedRelease;
use crate::classes::People;
use crate::hierarchy::MISSING;
use crate::privacy::{Confidence, LDiversity};
use crate::table::{Keys, Tuples};
use std::collections::BTreeMap;

/// For each column and original value: the released labels it may be shown as, as codes.
pub(super) type LabelMaps = [Vec<Vec<u32>>];

/// More comparisons of a class with an original tuple are not made; the number of patients then stays unknown.
const MOST_COMPARISONS: u64 = 1 << 28;

/// The place of every original tuple in the release.
pub(super) struct Places {
    /// For each original tuple: the released tuple that shows it.
    of: Vec<Option<u32>>,
    /// For each released tuple: original rows that belong there.
    pub(super) rows: Vec<u64>,
}

impl Places {
    /// Finds them, where every original value has at most one label among those released. `maps` are of every column
    /// of the tuples.
    pub(super) fn find(counted: &CountedRelease, original: &Tuples, maps: &LabelMaps) -> Option<Places> {
        if maps.iter().flatten().any(|labels| labels.len() > 1) {
            return None;
        }
        let tuples = &counted.tuples;
        let mut keys = Keys::new(tuples.width());
        for t in 0..tuples.len() {
            keys.intern(tuples.codes(t));
        }
        let label = |t: usize, i: usize| maps[i][original.code(t, i) as usize].first().copied();
        let mut places = Places { of: Vec::with_capacity(original.len()), rows: vec![0; tuples.len()] };
        for t in 0..original.len() {
            let key: Option<Vec<u32>> = (0..tuples.width()).map(|i| label(t, i)).collect();
            let place = key.and_then(|key| keys.find(&key));
            if let Some(place) = place {
                places.rows[place as usize] += original.weights[t];
            }
            places.of.push(place);
        }
        Some(places)
    }

    /// Returns whether every original row is released.
    pub(super) fn hold_every_row(&self) -> bool {
        self.of.iter().all(Option::is_some)
    }

    /// The people whose rows these are; `more` are people of whom each has one row, by released tuple.
    pub(super) fn people(&self, original: &Tuples, more: &[u64]) -> People {
        let mut single: Vec<u32> = more.iter().map(|&n| n as u32).collect();
        let Some(patients) = &original.patients else {
            single.iter_mut().zip(&self.rows).for_each(|(own, rows)| *own += *rows as u32);
            return People::new(single, Vec::new());
        };
        for (place, &own) in self.of.iter().zip(&patients.single) {
            if let Some(place) = place {
                single[*place as usize] += own;
            }
        }
        let pairs = (0..patients.several()).flat_map(|p| {
            let own = patients.tuples_of(p).iter().filter_map(|&t| self.of[t as usize]);
            own.map(move |place| (p as u32, place))
        });
        People::new(single, pairs.collect())
    }
}

/// The number of patients in the smallest class, as far as the original tells.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Every class has at least so many.
    pub(super) least: u64,
    /// Some class has at most so many.
    pub(super) most: u64,
}

/// Bounds the patients of every class of every set. `None`: there are too many to compare.
pub(super) fn bounds(counted: &CountedRelease, original: &Tuples, maps: &LabelMaps) -> Option<Bounds> {
    let mut bounds = Bounds { least: u64::MAX, most: u64::MAX };
    each_class(counted, original, maps, |class, owners| {
        let own = owners.of(class.iter().map(|&t| counted.tuples.weights[t]).sum());
        bounds = Bounds { least: bounds.least.min(own.least), most: bounds.most.min(own.most) };
    })?;
    Some(bounds)
}

/// The result of the original about a limit on sensitive values in patients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    /// It holds, whichever original rows were released as which.
    Hold,
    /// It does not hold, whichever they were.
    Broken,
    /// It depends on which they were, or it was not counted.
    Open,
}

/// Bounds the limits on sensitive values in every class of every set, over all original rows that may be the released
/// ones, whatever their sensitive values are. A limit on how even or how close values are is not bounded.
pub(super) fn limits(counted: &CountedRelease, original: &Tuples, maps: &LabelMaps) -> Limits {
    let mut all = Limits::Hold;
    let mut found = |own: Limits| {
        if all != Limits::Broken && own != Limits::Hold {
            all = own;
        }
    };
    let tuples = &counted.tuples;
    let looked = each_class(counted, original, maps, |class, owners| {
        for (at, required) in counted.requirements.iter().enumerate() {
            let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
            for &t in class {
                *rows.entry(tuples.code(t, counted.quasi + counted.details + at)).or_default() += tuples.weights[t];
            }
            rows.remove(&MISSING);
            let with_value: u64 = rows.values().sum();
            if with_value == 0 {
                continue;
            }
            if required.t_closeness.is_some() {
                found(Limits::Open);
            }
            match &required.l_diversity {
                None => {}
                // A value that is shown is somebody's.
                Some(LDiversity::Distinct(l)) if rows.len() as u64 >= *l => {}
                Some(LDiversity::Distinct(_)) => found(Limits::Broken),
                Some(_) => found(Limits::Open),
            }
            let Some(Confidence { max, listed }) = &required.confidence else { continue };
            let is_listed = |code: u32| listed.as_ref().is_none_or(|own| own[code as usize]);
            for (_, own) in rows.into_iter().filter(|(code, _)| is_listed(*code)) {
                let [least, most] = owners.share(own, with_value);
                if !max.allows(least.0, least.1) {
                    found(Limits::Broken);
                } else if !max.allows(most.0, most.1) {
                    found(Limits::Open);
                }
            }
        }
    });
    if looked.is_some() { all } else { Limits::Open }
}

/// The patients of the original whose rows may be in a class.
struct Owners {
    /// Patients with one row that fits.
    single: u64,
    /// The rows that fit of the other patients.
    several: Vec<u64>,
}

impl Owners {
    /// The fewest and the most patients that so many rows can belong to.
    fn of(&self, rows: u64) -> Bounds {
        of_class(rows, self.single, self.several.clone())
    }

    /// The least and the largest share of patients who have a value, of those who have any, as quotients: so many rows
    /// show the value, of so many that show any. The largest share is that of the fewest patients, each of whom has a
    /// row with the value as long as there are such rows.
    fn share(&self, rows: u64, all: u64) -> [(u64, u64); 2] {
        let people = self.of(all);
        [(self.of(rows).least, people.most), (rows.min(people.least), people.least)]
    }
}

/// Calls `each` with the released tuples of every class of every set, and the patients whose rows they may be. `None`:
/// there are too many to compare.
fn each_class(
    counted: &CountedRelease,
    original: &Tuples,
    maps: &LabelMaps,
    mut each: impl FnMut(&[usize], &Owners),
) -> Option<()> {
    let patients = original.patients.as_ref()?;
    let mut left = MOST_COMPARISONS;
    let KnownSets::Listed(sets) = &counted.sets else { return None };
    for set in sets {
        let mut classes: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for t in 0..counted.tuples.len() {
            let key = set.iter().map(|&q| counted.tuples.code(t, q)).collect();
            classes.entry(key).or_default().push(t);
        }
        left = left.checked_sub((classes.len() as u64).checked_mul(original.len() as u64)?)?;
        for (key, class) in classes {
            let fits = |t: usize| {
                set.iter().zip(&key).all(|(&q, label)| maps[q][original.code(t, q) as usize].contains(label))
            };
            let (mut single, mut several) = (0u64, BTreeMap::<u32, u64>::new());
            for t in (0..original.len()).filter(|&t| fits(t)) {
                single += u64::from(patients.single[t]);
                for &p in patients.having(t) {
                    *several.entry(p).or_default() += original.rows_of(t, &[p]);
                }
            }
            each(&class, &Owners { single, several: several.into_values().collect() });
        }
    }
    Some(())
}

/// The fewest and the most patients that `rows` rows can belong to: `single` patients have one row that fits,
/// the others several.
fn of_class(rows: u64, single: u64, mut several: Vec<u64>) -> Bounds {
    let most = rows.min(single + several.len() as u64);
    several.sort_unstable_by(|a, b| b.cmp(a));
    let (mut left, mut least) = (rows, 0);
    for own in several {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(own);
        least += 1;
    }
    Bounds { least: least + left, most }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: over all ways to choose the rows, the fewest and the most patients.
    fn slow(rows: usize, owner: &[usize]) -> (u64, u64) {
        let (mut least, mut most) = (u64::MAX, 0);
        for chosen in 0u32..1 << owner.len() {
            if chosen.count_ones() as usize == rows {
                let own = (0..owner.len()).filter(|i| chosen & 1 << i != 0).map(|i| owner[i]);
                let number = own.collect::<std::collections::BTreeSet<_>>().len() as u64;
                (least, most) = (least.min(number), most.max(number));
            }
        }
        (least, most)
    }

    /// The definition: over all ways to choose the rows and to deal out the value, the least and the largest share.
    fn slow_share(rows: usize, all: usize, owner: &[usize]) -> [f64; 2] {
        let people = |bits: u32| {
            let own = (0..owner.len()).filter(|i| bits & 1 << i != 0).map(|i| owner[i]);
            own.collect::<std::collections::BTreeSet<_>>().len() as f64
        };
        let mut shares: Vec<f64> = Vec::new();
        for chosen in (0u32..1 << owner.len()).filter(|bits| bits.count_ones() as usize == all) {
            let of = (0u32..1 << owner.len()).filter(|bits| bits & !chosen == 0 && bits.count_ones() as usize == rows);
            shares.extend(of.map(|bits| people(bits) / people(chosen)));
        }
        [shares.iter().copied().fold(f64::MAX, f64::min), shares.iter().copied().fold(0.0, f64::max)]
    }

    /// The largest share is exact; the least one is never above the true one.
    #[test]
    fn the_shares_are_bounded_by_all_choices() {
        for owner in [vec![0, 0, 0, 1, 2], vec![0, 1, 2, 3], vec![0, 0, 1, 1, 2, 2, 2], vec![0; 5], vec![0, 1, 1, 2]] {
            let times = |p: usize| owner.iter().filter(|&&own| own == p).count() as u64;
            let all: Vec<u64> = (0..4).map(times).filter(|&n| n > 0).collect();
            let single = all.iter().filter(|&&n| n == 1).count() as u64;
            let owners = Owners { single, several: all.into_iter().filter(|&n| n > 1).collect() };
            for all in 1..=owner.len() {
                for rows in 1..=all {
                    let [least, most] = owners.share(rows as u64, all as u64).map(|(a, b)| a as f64 / b as f64);
                    let [slow_least, slow_most] = slow_share(rows, all, &owner);
                    assert!((most - slow_most).abs() < 1e-9, "{rows} of {all} of {owner:?}: {most}, but {slow_most}");
                    assert!(least <= slow_least + 1e-9, "{rows} of {all} of {owner:?}: {least}, but {slow_least}");
                }
            }
        }
    }

    #[test]
    fn the_bounds_are_those_of_all_choices() {
        for owner in [vec![0, 0, 0, 1, 2], vec![0, 1, 2, 3], vec![0, 0, 1, 1, 2, 2, 2], vec![0; 5]] {
            let times = |p: usize| owner.iter().filter(|&&own| own == p).count() as u64;
            let all: Vec<u64> = (0..4).map(times).filter(|&n| n > 0).collect();
            let single = all.iter().filter(|&&n| n == 1).count() as u64;
            let several: Vec<u64> = all.into_iter().filter(|&n| n > 1).collect();
            for rows in 1..=owner.len() {
                let own = of_class(rows as u64, single, several.clone());
                assert_eq!((own.least, own.most), slow(rows, &owner), "{rows} of {owner:?}");
            }
        }
    }
}
