//! The composition of several releases: the people whose candidates become fewer than k when the classes of
//! a person in all releases are intersected.

use super::{LedgerRelease, LedgerUnit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A person with more combinations of classes than this is not compared.
const MOST_COMBINATIONS: usize = 4096;
/// All people together may have so many combinations beyond the first one of each: those with fewest are compared, and
/// memory stays bounded whatever records they have.
const MOST_BEYOND_ONE: usize = 1 << 21;

/// The people whom a new release and the earlier ones reveal together.
///
/// A candidate for a person is somebody who is in the same class as this person in each of the releases that
/// the person is in. Where a person has several records in a release, the attacker is taken to know the one
/// that leaves the fewest candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composition {
    /// The least number of candidates that the new release asks for.
    pub k: u64,
    /// States where people are counted.
    pub rows: bool,
    /// People in the new release.
    pub people: u64,
    /// Earlier releases that were compared.
    pub compared: usize,
    /// Earlier releases that could not be compared: rows of another input, or another unit.
    pub not_compared: usize,
    /// True if a release of codes was compared, by clusters.
    pub codes: bool,
    /// True if a release of events was compared, by patient-level columns.
    pub events: bool,
    /// People of the new release who are in an earlier one too.
    pub shared: u64,
    /// People for whom the releases together leave fewer than k candidates, while the new release alone and the
    /// earlier ones alone leave at least k.
    pub exposed: u64,
    /// People for whom the new release alone, or the earlier ones alone, leave fewer than k candidates.
    pub already: u64,
    /// People with too many records to be compared.
    pub too_many: u64,
}

/// For each release, the classes of a person.
type Person<'a> = BTreeMap<usize, &'a [u32]>;

impl Composition {
    pub(super) fn of(earlier: &[LedgerRelease], new: &LedgerRelease) -> Composition {
        let comparable = |own: &&LedgerRelease| {
            let same = own.unit == new.unit && (own.unit == LedgerUnit::Patient || own.input == new.input);
            same && !own.people.is_empty() && !new.people.is_empty()
        };
        let compared: Vec<&LedgerRelease> = earlier.iter().filter(comparable).collect();
        let last = compared.len();
        let mut people: BTreeMap<&str, Person> = BTreeMap::new();
        for (at, release) in compared.iter().copied().chain([new]).enumerate() {
            for (who, classes) in &release.people {
                people.entry(who).or_default().insert(at, classes);
            }
        }
        let is_compared = |shape: &str| last > 0 && compared.iter().any(|own| own.shape == shape || new.shape == shape);
        let mut result = Composition {
            k: new.k,
            rows: new.unit == LedgerUnit::Row,
            people: new.people.len() as u64,
            compared: last,
            not_compared: earlier.len() - last,
            codes: is_compared("codes"),
            events: is_compared("events"),
            ..Composition::default()
        };
        let in_new = |own: &Person| own.contains_key(&last);
        result.shared = people.values().filter(|own| in_new(own) && own.len() > 1).count() as u64;
        let few = with_few_combinations(&people);
        let is_left_out = |(who, own): &(&&str, &Person)| in_new(own) && own.len() > 1 && !few.contains(**who);
        result.too_many = people.iter().filter(is_left_out).count() as u64;
        let people: Vec<Person> = people.into_iter().filter(|(who, _)| few.contains(who)).map(|own| own.1).collect();
        let asked: Vec<&Person> = people.iter().filter(|own| in_new(own) && own.len() > 1).collect();
        let together = fewest(&people, &asked, |_| true);
        let alone = fewest(&people, &asked, |at| at == last);
        let before = fewest(&people, &asked, |at| at != last);
        for ((together, alone), before) in together.into_iter().zip(alone).zip(before) {
            let already = alone.min(before) < new.k;
            result.already += u64::from(already);
            result.exposed += u64::from(!already && together < new.k);
        }
        result
    }

    /// The result in sentences, for the custodian.
    pub fn sentences(&self) -> Vec<String> {
        let Composition { k, people, compared, not_compared, shared, exposed, already, too_many, .. } = *self;
        let persons = |n: u64| match (self.rows, n) {
            (true, 1) => "1 row".to_string(),
            (true, n) => format!("{n} rows"),
            (false, 1) => "1 patient".to_string(),
            (false, n) => format!("{n} patients"),
        };
        let releases = |n: usize| if n == 1 { "1 earlier release".into() } else { format!("{n} earlier releases") };
        let mut all = Vec::new();
        if compared > 0 {
            let of = persons(people);
            all.push(format!("{shared} of the {of} in this release are also in the {} compared.", releases(compared)));
        }
        if shared > 0 {
            all.push(format!(
                "For {}, this release and the earlier ones together leave fewer than {k} candidates.",
                persons(exposed)
            ));
        }
        if already > 0 {
            all.push(format!(
                "For {} more, this release alone or the earlier ones alone leave fewer than {k} candidates to somebody \
                 who knows every quasi-identifier.",
                persons(already)
            ));
        }
        if too_many > 0 {
            all.push(format!("{} with very many records could not be compared.", persons(too_many)));
        }
        if not_compared > 0 {
            let why = "releases can be compared by patient, or by row if the input is the same";
            all.push(format!("{} could not be compared: {why}.", releases(not_compared)));
        }
        if self.codes {
            all.push("Of codes, the cluster of each patient was compared, not the codes themselves.".into());
        }
        if self.events {
            all.push("Of events, the patient-level columns were compared, not what the events reveal.".into());
        }
        if compared + not_compared == 0 {
            all.push("The ledger holds no earlier release to compare with.".into());
        }
        all
    }
}

/// The people whose combinations of classes can be gone through.
fn with_few_combinations<'a>(people: &BTreeMap<&'a str, Person>) -> BTreeSet<&'a str> {
    let number = |own: &Person| own.values().try_fold(1usize, |all, classes| all.checked_mul(classes.len()));
    let numbered = people.iter().filter_map(|(who, own)| Some((number(own)?, *who)));
    let mut numbered: Vec<(usize, &str)> = numbered.filter(|own| own.0 <= MOST_COMBINATIONS).collect();
    numbered.sort_unstable();
    let mut left = MOST_BEYOND_ONE;
    let fits = |own: &(usize, &str)| {
        let rest = left.checked_sub(own.0.saturating_sub(1));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    numbered.into_iter().take_while(fits).map(|own| own.1).collect()
}

/// The number of candidates for each asked person in the releases that `counts` selects and the person is in;
/// more than any k where there is none.
fn fewest(people: &[Person], asked: &[&Person], counts: impl Fn(usize) -> bool) -> Vec<u64> {
    let releases = |own: &Person| own.keys().copied().filter(|&at| counts(at)).collect::<Vec<usize>>();
    let masks: BTreeSet<Vec<usize>> = asked.iter().map(|own| releases(own)).collect();
    let mut result = vec![u64::MAX; asked.len()];
    for mask in masks.iter().filter(|mask| !mask.is_empty()) {
        let mut candidates: HashMap<Vec<u32>, u64, foldhash::fast::RandomState> = HashMap::default();
        for person in people.iter().filter(|own| mask.iter().all(|at| own.contains_key(at))) {
            combinations(person, mask).into_iter().for_each(|own| *candidates.entry(own).or_default() += 1);
        }
        for (person, fewest) in asked.iter().zip(&mut result).filter(|(own, _)| releases(own) == *mask) {
            let counted = combinations(person, mask).into_iter().filter_map(|own| candidates.get(&own).copied());
            *fewest = counted.min().unwrap_or(0);
        }
    }
    result
}

/// Every choice of one class of a person in each of these releases.
fn combinations(person: &Person, releases: &[usize]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for at in releases {
        let classes: BTreeSet<u32> = person[at].iter().copied().collect();
        let longer = |own: &Vec<u32>| classes.iter().map(|&class| [&own[..], &[class]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::tests::release;
    use super::*;
    use crate::random::SplitMix;

    fn patients(k: u64, people: &[(&str, &[u32])]) -> LedgerRelease {
        release(k, LedgerUnit::Patient, "", people)
    }

    #[test]
    fn two_releases_that_are_safe_alone_find_somebody_together() {
        // In the first, ann and bob look the same; in the second, ann and cid do.
        let first = patients(2, &[("ann", &[0]), ("bob", &[0]), ("cid", &[1]), ("dea", &[1])]);
        let second = patients(2, &[("ann", &[0]), ("bob", &[1]), ("cid", &[0]), ("dea", &[1])]);
        let found = Composition::of(std::slice::from_ref(&first), &second);
        assert_eq!((found.shared, found.exposed, found.already), (4, 4, 0));
        let same = Composition::of(std::slice::from_ref(&first), &first);
        assert_eq!((same.shared, same.exposed), (4, 0));
    }

    #[test]
    fn whoever_is_in_one_release_only_is_no_candidate_in_both() {
        // bob is not in the second release, so that ann is alone in both classes.
        let first = patients(2, &[("ann", &[0]), ("bob", &[0])]);
        let second = patients(2, &[("ann", &[0]), ("cid", &[0])]);
        let found = Composition::of(&[first], &second);
        assert_eq!((found.people, found.shared, found.exposed), (2, 1, 1));
    }

    #[test]
    fn rows_of_another_input_are_not_compared() {
        let rows = |input| release(2, LedgerUnit::Row, input, &[("1", &[0]), ("2", &[0])]);
        let found = Composition::of(&[rows("a"), rows("b"), patients(2, &[("1", &[0])])], &rows("b"));
        assert_eq!((found.compared, found.not_compared, found.shared), (1, 2, 2));
        assert!(found.sentences().iter().any(|text| text.contains("2 earlier releases could not be compared")));
    }

    #[test]
    fn a_patient_with_very_many_records_is_named_as_not_compared() {
        let many: Vec<u32> = (0..100).collect();
        let first = patients(2, &[("ann", &many), ("bob", &[0])]);
        let found = Composition::of(std::slice::from_ref(&first), &first);
        assert_eq!((found.shared, found.too_many), (2, 1));
        // Leaving ann out of bob's candidates counts against the release.
        assert_eq!(found.exposed + found.already, 1);
    }

    /// Found by the fuzzer: each of many people had thousands of combinations, and all were held in memory.
    #[test]
    fn many_people_with_many_records_are_named_as_not_compared() {
        let names: Vec<String> = (0..3000).map(|n| format!("{n:04}")).collect();
        let many: Vec<u32> = (0..64).collect();
        let one = patients(2, &names.iter().map(|who| (who.as_str(), &many[..])).collect::<Vec<_>>());
        let single = patients(2, &names.iter().map(|who| (who.as_str(), &many[..1])).collect::<Vec<_>>());
        let found = Composition::of(std::slice::from_ref(&one), &one);
        let compared = (MOST_BEYOND_ONE / 4095) as u64;
        assert_eq!((found.shared, found.too_many), (3000, 3000 - compared));
        assert_eq!(Composition::of(std::slice::from_ref(&single), &single).too_many, 0);
    }

    #[test]
    fn the_fast_count_is_the_definition() {
        let mut random = SplitMix::new(7);
        for _ in 0..300 {
            let mut draw = |n: u64| random.bits() % n;
            let mut one = || {
                let mut people: Vec<(String, Vec<u32>)> = Vec::new();
                for who in 0..12 {
                    if draw(4) > 0 {
                        let records = 1 + draw(2) * draw(3);
                        people.push((who.to_string(), (0..records).map(|_| draw(3) as u32).collect()));
                    }
                }
                let people: Vec<(&str, &[u32])> = people.iter().map(|(who, own)| (who.as_str(), &own[..])).collect();
                patients(3, &people)
            };
            let (earlier, new) = ([one(), one()], one());
            let found = Composition::of(&earlier, &new);
            assert_eq!((found.exposed, found.already), slow(&earlier, &new));
        }
    }

    /// Tries every choice of records of every person, and looks at everybody for each.
    fn slow(earlier: &[LedgerRelease; 2], new: &LedgerRelease) -> (u64, u64) {
        let all = [&earlier[0], &earlier[1], new];
        let count = |who: &String, which: &[usize]| {
            let own: Vec<usize> = which.iter().copied().filter(|&at| all[at].people.contains_key(who)).collect();
            if own.is_empty() {
                return u64::MAX;
            }
            let mut fewest = u64::MAX;
            let choices: usize = own.iter().map(|&at| all[at].people[who].len()).product();
            for mut choice in 0..choices {
                let mut known = Vec::new();
                for &at in &own {
                    let classes = &all[at].people[who];
                    known.push((at, classes[choice % classes.len()]));
                    choice /= classes.len();
                }
                let fits = |other: &&String| {
                    known.iter().all(|(at, class)| all[*at].people.get(*other).is_some_and(|own| own.contains(class)))
                };
                let everybody: BTreeSet<&String> = all.iter().flat_map(|release| release.people.keys()).collect();
                fewest = fewest.min(everybody.into_iter().filter(fits).count() as u64);
            }
            fewest
        };
        let (mut exposed, mut already) = (0, 0);
        for who in new.people.keys().filter(|who| earlier.iter().any(|own| own.people.contains_key(*who))) {
            let alone = count(who, &[2]).min(count(who, &[0, 1])) < new.k;
            already += u64::from(alone);
            exposed += u64::from(!alone && count(who, &[0, 1, 2]) < new.k);
        }
        (exposed, already)
    }
}
