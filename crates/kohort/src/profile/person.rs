//! The keys of a table, and which of them is the person's.
//!
//! A key is recognised by its name or by the look of its values. Of several keys, the person's is the coarsest within
//! which what belongs to a person stays the same: a stay belongs to one person, but a person has several stays, and a
//! household has people of both sexes.

use super::personal::{Personal, personal, same_people, united};
use super::sample::Coded;
use super::shape::CellShape;
use super::words::{Topic, heading};
use super::{ColumnProfile, Profile};

/// A column that counts as a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// The person's, for this reason.
    Person(&'static str),
    /// A key of something else.
    Dropped(&'static str),
}

const REPEATS: &str = "key of the person: it repeats, and what belongs to a person stays the same within it";
const NAMED: &str = "identifies the patient, so that patients are counted and not rows";

/// The evidence for a candidate.
struct PersonCandidate {
    column: usize,
    /// Different values in the sample.
    values: usize,
    repeats: bool,
    /// The name says that it is the person's.
    named: bool,
    /// The name or the values say that it is an id.
    is_id: bool,
    /// The name says that it is the key of a stay, a household or something else.
    of_something_else: bool,
    /// Something stays the same within it that differs between people, or it numbers the rows within it.
    binds: bool,
    /// Sex or date of birth stay the same within it.
    binds_person: bool,
    /// Sex, date of birth or age differ within it.
    mixes: bool,
    /// Nothing but what stays the same within it says that it is a key.
    only_binds: bool,
    /// Nearly every row has one.
    present: bool,
    /// One row in five has one at least.
    often: bool,
    /// Every row has one.
    complete: bool,
}

/// The keys among the columns, by place.
pub(crate) fn keys(profile: &Profile, topics: &[Vec<Topic>]) -> Vec<Option<Key>> {
    let mut keys = vec![None; profile.columns.len()];
    let personal = personal(profile, topics);
    let candidates: Vec<PersonCandidate> =
        (0..keys.len()).filter_map(|column| candidate(profile, topics, &personal, column)).collect();
    for candidate in candidates.iter().filter(|candidate| !candidate.only_binds) {
        let column = &profile.columns[candidate.column];
        keys[candidate.column] = Some(Key::Dropped(match () {
            () if topics[candidate.column].contains(&Topic::Household) => "key of a household or family",
            () if is_consecutive(column) => "consecutive numbers: a row key",
            () if topics[candidate.column].contains(&Topic::Encounter) => "number of a stay, claim or visit",
            () if !column.distinct.repeats => "different in every row: a row key",
            () => "looks like the key of something",
        }));
    }
    if let Some((column, why)) = person(&candidates, profile, topics, &personal) {
        keys[column] = Some(Key::Person(why));
        // A second key of the same people is no other unit.
        for candidate in candidates.iter().filter(|c| c.column != column) {
            let (own, others) = (&profile.sample.columns[column], &profile.sample.columns[candidate.column]);
            let is_copy = own.values() == others.values() && own.determines(others);
            if is_copy || candidate.only_binds && others.determines(own) {
                keys[candidate.column] = Some(Key::Dropped("another key of the same people"));
            }
        }
    }
    keys
}

/// Another column that must be the person, because sex or birth stay the same within it and it repeats where `patient`
/// does not. `None` where `patient` can be the person.
pub(crate) fn coarser_person(profile: &Profile, topics: &[Vec<Topic>], patient: usize) -> Option<usize> {
    let own = &profile.sample.columns[patient];
    let is = |c: &PersonCandidate| {
        let others = &profile.sample.columns[c.column];
        let coarser = c.values * 100 < own.values() * 99 && own.determines(others);
        c.column != patient && c.repeats && c.present && !c.mixes && !c.of_something_else && coarser && c.binds_person
    };
    let personal = personal(profile, topics);
    let candidates = (0..profile.columns.len()).filter_map(|column| candidate(profile, topics, &personal, column));
    candidates.filter(|c| !c.only_binds).filter(is).min_by_key(|c| (c.values, c.column)).map(|c| c.column)
}

/// The column of the person: of keys that repeat the coarsest that binds, else one whose name says so.
fn person(
    candidates: &[PersonCandidate],
    profile: &Profile,
    topics: &[Vec<Topic>],
    personal: &[Personal],
) -> Option<(usize, &'static str)> {
    let fits = |c: &&PersonCandidate| c.present && !c.mixes && !c.of_something_else;
    // Of keys that are about as coarse, one that every row has goes first, then one whose name says so: a date of birth
    // as a number is nearly a person.
    let coarsest = |is: &dyn Fn(&&PersonCandidate) -> bool| {
        let own =
            || candidates.iter().filter(fits).filter(is).filter(|c| !is_accident(c, candidates, profile, personal));
        let fewest = own().map(|c| c.values).min()?;
        let near = |percent: usize| own().filter(move |c| c.values * 100 <= fewest * percent);
        let best = near(110).min_by_key(|c| (!c.complete, c.values, !c.named, c.column))?;
        let named = near(103).find(|c| c.named && c.complete >= best.complete);
        Some(named.unwrap_or(best).column)
    };
    let is_key = |c: &&PersonCandidate| c.repeats && (c.binds || c.named);
    let found = coarsest(&|c| is_key(c) && !c.only_binds).or_else(|| coarsest(&is_key));
    if let Some(column) = found {
        return Some((joining(column, candidates, profile, personal), REPEATS));
    }
    // A key that repeats by mistake comes after one that does not.
    let first = |is: &dyn Fn(&&PersonCandidate) -> bool| {
        let own = candidates.iter().filter(fits).filter(|c| !c.only_binds).filter(is);
        own.min_by_key(|c| (profile.columns[c.column].distinct.repeats, c.column)).map(|c| c.column)
    };
    if let Some(column) = first(&|c| c.named) {
        return Some((column, NAMED));
    }
    if let Some(column) = named_people(profile, topics) {
        return Some((column, "no key, but it names people, and what belongs to a person stays the same within it"));
    }
    // Counting too few people is safe, counting rows as people is not.
    let named = candidates.iter().filter(|c| c.named && c.repeats && c.present && !c.of_something_else);
    if let Some(named) = named.min_by_key(|c| (c.values, c.column)) {
        return Some((named.column, "named like the person, although what belongs to a person differs within it"));
    }
    if let Some(column) = coarsest(&|c| c.repeats && !c.only_binds && may_be_person(profile, c.column)) {
        return Some((column, "repeats and looks like a key, so that it is counted as the person"));
    }
    // Rows without the key of their person are excluded, which is better than counting rows.
    let lacking = |c: &&PersonCandidate| {
        c.often && !c.present && c.repeats && (c.binds_person || c.named) && !c.mixes && !c.of_something_else
    };
    if let Some(lacking) = candidates.iter().filter(lacking).min_by_key(|c| (c.values, c.column)) {
        return Some((lacking.column, "key of the person, although many rows lack it: they are excluded"));
    }
    // A row key says nothing about people.
    let is_id = |c: &&PersonCandidate| c.is_id && !is_consecutive(&profile.columns[c.column]);
    if let Some(column) = first(&is_id) {
        return Some((column, "an id that is different in every row, so that every row is a person"));
    }
    // A stay that repeats is better than counting rows.
    let keeps = |c: &PersonCandidate| {
        personal.iter().any(|own| own.sure) && is_same_within(&profile.sample.columns[c.column], personal, c.column)
    };
    let stay = |c: &&PersonCandidate| c.present && c.repeats && (c.binds || keeps(c)) && !c.mixes;
    let stay = candidates.iter().filter(stay).min_by_key(|c| c.values);
    if let Some(stay) = stay {
        return Some((stay.column, "repeats, and there is no better key, so that it is counted as the person"));
    }
    None
}

/// A key in two columns: that of a household or family, and the number of its member. Members have several rows, in which
/// what belongs to a person stays the same; without their number, it does not. For tables without another key.
pub(crate) fn household_and_member(profile: &Profile, topics: &[Vec<Topic>]) -> Option<(usize, usize)> {
    let personal = personal(profile, topics);
    let columns = &profile.sample.columns;
    let candidates = (0..columns.len()).filter_map(|column| candidate(profile, topics, &personal, column));
    let mut households: Vec<PersonCandidate> =
        candidates.filter(|c| c.complete && c.repeats && !c.only_binds).collect();
    households.sort_by_key(|c| (c.values, c.column));
    households.iter().find_map(|c| Some((c.column, member_of(c.column, profile, &personal)?)))
}

fn member_of(household: usize, profile: &Profile, personal: &[Personal]) -> Option<usize> {
    let columns = &profile.sample.columns;
    let own = &columns[household];
    (0..columns.len()).filter(|&place| place != household).find(|&place| {
        let number = &columns[place];
        let complete = profile.columns[place].present == profile.rows;
        if !complete || !(2..=40).contains(&number.values()) || !is_small_numbers(number) {
            return false;
        }
        let member = own.and(number);
        member.values() * 100 < member.present() * 99 && keeps_people_apart(&member, personal, place)
    })
}

/// Pairs of rows below which a few coincidences decide.
const FEW_PAIRS: usize = 10;

/// Returns whether a key has the same value for different people now and then, as amounts and birthdays have: another key
/// tells them apart, and what belongs to a person differs between them.
fn is_accident(
    key: &PersonCandidate,
    candidates: &[PersonCandidate],
    profile: &Profile,
    personal: &[Personal],
) -> bool {
    let columns = &profile.sample.columns;
    let own = &columns[key.column];
    let finer = candidates.iter().filter(|c| c.column != key.column && c.repeats && c.values > key.values && !c.mixes);
    key.repeats
        && finer.into_iter().any(|c| {
            let other = &columns[c.column];
            let (pairs, _) = own.pairs_across(other, other);
            let clear = pairs >= 5 && (key.only_binds || !c.only_binds);
            clear && same_people(own, other, personal).is_some_and(|same| same.least < 0.25)
        })
}

/// The key that unites several values of this one as one person, if there is one: the number of a stay differs within the
/// number of a person, also where some rows lack the latter. Counting too few people is safe, counting stays is not.
fn joining(first: usize, candidates: &[PersonCandidate], profile: &Profile, personal: &[Personal]) -> usize {
    let columns = &profile.sample.columns;
    let named = |column: usize| candidates.iter().any(|c| c.column == column && c.named);
    let (mut best, mut seen) = (first, vec![first]);
    loop {
        let joined = |c: &PersonCandidate| -> Option<usize> {
            let (own, other) = (&columns[c.column], &columns[best]);
            let (pairs, back) = (own.pairs_across(other, other).0, other.pairs_across(own, own).0);
            if pairs <= back {
                return None;
            }
            let is_same = match same_people(own, other, personal) {
                Some(same) if !c.present => same.least >= 0.5 && pairs >= FEW_PAIRS,
                Some(same) => same.least >= if pairs >= FEW_PAIRS { 0.25 } else { 0.8 },
                None => c.present && (c.named || c.binds && !named(best)),
            };
            is_same.then_some(pairs - back)
        };
        let may = |c: &&PersonCandidate| {
            !seen.contains(&c.column)
                && c.repeats
                && c.often
                && !c.mixes
                && !c.of_something_else
                && (!c.only_binds || c.present)
        };
        let next = candidates.iter().filter(may).filter_map(|c| Some((joined(c)?, c.column))).max_by_key(|own| own.0);
        match next {
            Some((_, column)) => {
                seen.push(column);
                best = column;
            }
            None => return best,
        }
    }
}

/// The column that names people or says how to reach them, where the same people have several rows: within it, the birth
/// or the age stays the same. That of one row for each person does not: people of the same name were born on other
/// days.
fn named_people(profile: &Profile, topics: &[Vec<Topic>]) -> Option<usize> {
    let is_name = |c: &usize| {
        let column = &profile.columns[*c];
        let shapes = [CellShape::PersonName, CellShape::Email, CellShape::Phone, CellShape::SocialSecurity];
        let names = shapes.iter().any(|&shape| column.mostly(80, shape));
        names && column.distinct.values >= 20 && column.distinct.repeats && column.present * 20 >= profile.rows * 19
    };
    let binds = |c: &usize| {
        let own = &profile.sample.columns[*c];
        let mut others = (0..topics.len()).filter(|other| other != c);
        others.any(|other| {
            let personal = &profile.sample.columns[other];
            let born = topics[other].first() == Some(&Topic::Birth) || profile.columns[other].is_birth();
            match topics[other].first() {
                _ if born => {
                    let telling = personal.values() * 4 >= own.values();
                    telling && own.agreement(personal).is_some_and(|(same, _)| same >= 0.95)
                }
                Some(Topic::Age) => own.distance_within(personal).is_some_and(|(within, all)| within * 10.0 <= all),
                _ => false,
            }
        })
    };
    let own = (0..topics.len()).filter(is_name).filter(binds);
    own.min_by_key(|&c| (profile.sample.columns[c].values(), c))
}

fn candidate(profile: &Profile, topics: &[Vec<Topic>], personal: &[Personal], place: usize) -> Option<PersonCandidate> {
    let (column, coded) = (&profile.columns[place], &profile.sample.columns[place]);
    let decimals = column.cells(CellShape::PointDecimal) + column.cells(CellShape::CommaDecimal) > 0;
    if decimals && !column.is_whole()
        || column.present < 2
        || column.distinct.values < 2
        || column.mostly(50, CellShape::Sentence)
    {
        return None;
    }
    if column.is_dated() || column.mostly(50, CellShape::PersonName) && !column.mostly(50, CellShape::Digit) {
        return None;
    }
    let first = topics[place].iter().copied().find(|topic| *topic != Topic::Code);
    let looks = looks_like_key(column);
    let rows = |most: u64| column.distinct.values.saturating_mul(most) >= column.present;
    let is = match first {
        Some(Topic::Patient) => rows(50),
        Some(Topic::Number) => looks || rows(20),
        Some(Topic::Id | Topic::Encounter | Topic::Parent) => rows(20) && column.distinct.values > 12 || looks,
        Some(Topic::Household) => rows(20) && column.distinct.values > 40,
        Some(Topic::Answer | Topic::Calendar | Topic::PersonName) | None => looks,
        Some(Topic::Demographic) => looks && !column.is_whole(),
        // A name such as patient_sex says what the column is; one such as case_patient does not.
        Some(_) => {
            is_named(&topics[place]) && looks
                || column.mostly(90, CellShape::Uuid)
                || looks && is_measure(first) && is_long_number(column)
        }
    };
    // Nobody has a third of all rows; a cell that says "no father" may.
    let usual = coded.counts()[1..].iter().copied().max().unwrap_or(0) as usize;
    if coded.codes.len() >= 100 && usual * 3 > coded.present() {
        return None;
    }
    let has = |topic: Topic| topics[place].contains(&topic);
    let only_binds = !is;
    let may = || may_bind(column, coded, first);
    if only_binds && !(may() && (keeps_people_apart(coded, personal, place) || is_numbered(profile, personal, place))) {
        return None;
    }
    let often = coded.values() * 100 < coded.present() * 99;
    // A few keys that repeat may be those of a few people, or mistakes.
    let some =
        || is_named(&topics[place]) && coded.values() < coded.present() && is_same_within(coded, personal, place);
    let repeats = column.distinct.repeats && (often || some());
    let Within { binds, bound, binds_person, mixes } =
        if repeats { within(profile, topics, place) } else { Within::default() };
    // The one thing that stays the same within a district is its region.
    let mixes = mixes || !has(Topic::Patient) && repeats && bound == 1 && !may_be_person(profile, place);
    Some(PersonCandidate {
        column: place,
        values: coded.values(),
        repeats,
        named: is_named(&topics[place]),
        is_id: has(Topic::Id) || column.mostly(90, CellShape::Uuid),
        of_something_else: is_other(heading(&column.name))
            || topics[place].iter().any(|topic| is_other(Some(*topic))) && !(has(Topic::Patient) && binds),
        binds,
        binds_person,
        mixes,
        only_binds,
        present: column.present * 10 >= profile.rows * 9,
        often: column.present * 5 >= profile.rows,
        complete: column.present == profile.rows,
    })
}

/// Returns whether a name says that a column is about the person.
fn is_named(topics: &[Topic]) -> bool {
    topics.iter().any(|topic| matches!(topic, Topic::Patient | Topic::Parent))
}

/// Returns whether a column could be a key although neither its name nor its values look like one: it has many values,
/// and some of them repeat.
fn may_bind(column: &ColumnProfile, coded: &Coded, first: Option<Topic>) -> bool {
    let values = coded.values();
    let open = matches!(
        first,
        None | Some(
            Topic::Number
                | Topic::Id
                | Topic::Encounter
                | Topic::Household
                | Topic::Code
                | Topic::Answer
                | Topic::Patient
        )
    );
    open && values >= 50
        && values * 50 >= coded.present()
        && values * 100 < coded.present() * 99
        && !column.mostly(90, CellShape::PostalCode)
}

/// Returns whether another column numbers the rows of each value, as visits are numbered, and nothing that belongs to a
/// person differs within it.
fn is_numbered(profile: &Profile, personal: &[Personal], place: usize) -> bool {
    let own = &profile.sample.columns[place];
    let numbers = |(other, coded): (usize, &Coded)| {
        other != place && coded.values() >= 2 && is_small_numbers(coded) && own.is_numbered_by(coded)
    };
    is_same_within(own, personal, place) && profile.sample.columns.iter().enumerate().any(numbers)
}

/// Returns whether nothing that belongs to a person differs within a key, in however few rows.
fn is_same_within(key: &Coded, personal: &[Personal], place: usize) -> bool {
    personal.iter().filter(|own| own.place != place && own.sure).all(|own| match own.grows {
        true => key.distance_of_pairs(&own.rows).is_none_or(|apart| apart <= 5.0),
        false => key.pairs_within(&own.rows).is_none_or(|same| same >= 0.8),
    })
}

/// Returns whether personal columns stay the same within a column, at least one of them surely, and vary without it.
fn keeps_people_apart(key: &Coded, personal: &[Personal], place: usize) -> bool {
    let mut kept = 0;
    for own in personal.iter().filter(|own| own.place != place) {
        let same = match own.grows {
            true => key.distance_within(&own.rows).map(|(inside, all)| inside < 0.1 * all),
            false => key.agreement(&own.rows).filter(|(_, chance)| *chance <= 0.9).map(|(same, _)| same >= 0.98),
        };
        match same {
            Some(true) => kept += if own.sure { 2 } else { 1 },
            Some(false) => return false,
            None => {}
        }
    }
    kept >= 2
}

/// Returns whether a topic is about something else than the person.
fn is_other(topic: Option<Topic>) -> bool {
    matches!(topic, Some(Topic::Encounter | Topic::Household | Topic::Staff | Topic::Facility))
}

/// Describes what stays the same within a key.
#[derive(Default)]
struct Within {
    binds: bool,
    /// How many columns stay the same.
    bound: usize,
    binds_person: bool,
    mixes: bool,
}

/// Compares the rows of each value of a key.
fn within(profile: &Profile, topics: &[Vec<Topic>], key: usize) -> Within {
    let own = &profile.sample.columns[key];
    let Within { mut binds, mut bound, mut binds_person, mut mixes } = Within::default();
    // A mother has children of both sexes and of several birthdays, but she keeps her own age, or is a little older.
    let (mut mixes_children, mut keeps_age) = (false, false);
    for (place, other) in profile.sample.columns.iter().enumerate().filter(|(place, _)| *place != key) {
        let column = &profile.columns[place];
        let personal = match topics[place].first() {
            Some(Topic::Sex) => column.distinct.values <= 12,
            Some(Topic::Birth) => true,
            _ => {
                let sexes = (2..=8).contains(&column.distinct.values) && column.mostly(95, CellShape::SexWord);
                sexes || column.is_birth() || is_birth_years(column, other)
            }
        };
        // People of one household or district are of all ages.
        if topics[place].first() == Some(&Topic::Age)
            && let Some((inside, all)) = own.distance_within(other)
        {
            mixes |= inside > 0.7 * all && looks_like_ages(column, other);
            binds |= inside < 0.1 * all;
            keeps_age |= inside < 0.5 * all;
        }
        // Adults keep their height; controls that were matched by age and sex do not share it.
        if topics[place].first() == Some(&Topic::Body)
            && looks_like_heights(other)
            && let Some((inside, all)) = own.distance_within(other)
        {
            mixes |= inside > 0.5 * all;
        }
        if other.values() < 2 || other.values() * 2 > own.values() && !personal {
            continue;
        }
        // A person keeps their sex, however it is written.
        if let Some((same, chance)) = own.agreement(&united(profile, place)) {
            bound += usize::from(same >= 0.97 && chance <= 0.9);
            binds_person |= personal && same >= 0.99 && chance <= 0.9;
            let differs = personal && same < 0.9 && same < 0.5 + chance / 2.0;
            let is_sex = topics[place].first() == Some(&Topic::Sex) || column.mostly(95, CellShape::SexWord);
            mixes_children |= differs;
            keeps_age |= personal && !is_sex && same >= 0.97;
        }
        binds |= bound == 0 && !binds && is_small_numbers(other) && own.is_numbered_by(other);
    }
    let is_mother = (keeps_age || topics[key].contains(&Topic::Parent)) && !is_set(own);
    Within { binds: binds || bound > 0, bound, binds_person, mixes: mixes || mixes_children && !is_mother }
}

/// Returns whether nearly every key has the same number of rows, two or three: twins, or people who were matched.
fn is_set(key: &Coded) -> bool {
    let counts = key.counts();
    let sets = |size: u32| counts[1..].iter().filter(|&&rows| rows == size).count() * 10 >= key.values() * 9;
    key.values() >= 20 && (sets(2) || sets(3))
}

/// Returns whether a key that binds nothing may still be the person's. Not where something like an age and something
/// like a sex differ within it as much as between any two rows: then it is a district or a cluster.
fn may_be_person(profile: &Profile, key: usize) -> bool {
    let own = &profile.sample.columns[key];
    let (mut ages, mut sexes) = (false, false);
    for (place, other) in profile.sample.columns.iter().enumerate().filter(|(place, _)| *place != key) {
        let column = &profile.columns[place];
        if looks_like_ages(column, other) && other.values() * 2 < other.present() {
            ages |= own.distance_within(other).is_some_and(|(inside, all)| inside > 0.8 * all);
        }
        if other.values() == 2 && is_balanced(other) {
            sexes |= own.agreement(other).is_some_and(|(same, chance)| same < chance + 0.1);
        }
    }
    !(ages && sexes)
}

/// Returns whether whole numbers are spread like the ages of people.
pub(crate) fn looks_like_ages(column: &ColumnProfile, coded: &Coded) -> bool {
    let spread = |numbers: &[f64]| {
        matches!(numbers, &[low, middle, high]
        if (0.0..=80.0).contains(&low) && (15.0..=85.0).contains(&middle) && (40.0..=105.0).contains(&high))
    };
    column.mostly(95, CellShape::Whole) && coded.values() >= 20 && spread(&coded.quantiles(&[5, 50, 95]))
}

/// Returns whether numbers are spread like the heights of adults, in centimetres or metres.
fn looks_like_heights(coded: &Coded) -> bool {
    let spread = |unit: f64| {
        matches!(coded.quantiles(&[5, 50, 95])[..], [low, middle, high]
            if low >= 1.3 * unit && (1.5..=1.9).contains(&(middle / unit)) && high <= 2.2 * unit)
    };
    coded.values() >= 20 && (spread(1.0) || spread(100.0))
}

/// Returns whether no value has more than two thirds of the rows, as with the sexes.
pub(crate) fn is_balanced(coded: &Coded) -> bool {
    let counts = coded.counts();
    let most = counts[1..].iter().copied().max().unwrap_or(0) as usize;
    most * 3 <= coded.present() * 2
}

/// Returns whether whole numbers are years over which only births are spread.
pub(crate) fn is_birth_years(column: &ColumnProfile, coded: &Coded) -> bool {
    column.mostly(95, CellShape::Whole)
        && coded.values() >= 30
        && matches!(coded.quantiles(&[5, 95])[..], [early, late] if early >= 1880.0 && late <= 2030.0 && late - early >= 35.0)
}

fn is_small_numbers(coded: &Coded) -> bool {
    coded.values() <= 1000 && coded.numbers[1..].iter().all(|n| n.is_some_and(|n| (0.0..=1000.0).contains(&n)))
}

/// Returns whether the values look like those of a key, whatever the column is called.
fn looks_like_key(column: &ColumnProfile) -> bool {
    let values = column.distinct.values;
    if column.mostly(90, CellShape::Uuid) {
        return true;
    }
    if column.is_whole() {
        let Some((least, greatest)) = column.range else { return false };
        let (least, greatest) = (least.to_f64(), greatest.to_f64());
        let scattered = values >= 50 && greatest >= 10_000.0 && greatest - least >= 20.0 * values as f64;
        let few_rows = values.saturating_mul(60) >= column.present;
        // Numbers without gaps that start high count something: families, bookings. Years do not.
        let dense = values >= 50
            && (2_200.0..1e15).contains(&least)
            && greatest - least <= 3.0 * values as f64
            && values.saturating_mul(20) >= column.present;
        if dense {
            return true;
        }
        return column.is_near_unique() || scattered && few_rows && least >= 0.0;
    }
    let (shortest, longest) = column.lengths.unwrap_or_default();
    let icd = column.mostly(30, CellShape::Icd10) || column.mostly(30, CellShape::Icd9);
    // Numbers after one letter, the same for all, are those of a key.
    let codes = icd && column.clues.are_diagnoses();
    let written = column.mostly(98, CellShape::Digit) && !column.mostly(50, CellShape::Phone) && !codes;
    // Numbers that nobody padded have few digits now and then.
    let alike = shortest >= 3
        && longest >= 5
        && longest - shortest <= 4
        && values >= 50
        && values.saturating_mul(60) >= column.present;
    written && (alike || column.is_near_unique() && shortest >= 4)
}

/// Returns whether a topic is about measurements and observations, which have few digits.
fn is_measure(topic: Option<Topic>) -> bool {
    matches!(topic, Some(Topic::Lab | Topic::Clinical | Topic::Outcome | Topic::Body | Topic::Cost))
}

/// Returns whether every value has the same eight digits or more, as official numbers have and measurements do not.
fn is_long_number(column: &ColumnProfile) -> bool {
    let alike = column.lengths.is_some_and(|(shortest, longest)| shortest == longest && shortest >= 8);
    alike && column.is_whole() && !column.is_dated()
}

/// Returns whether the values are numbers without gaps, nearly one for each row.
pub(crate) fn is_consecutive(column: &ColumnProfile) -> bool {
    let Some((least, greatest)) = column.range else { return false };
    let span = greatest.to_f64() - least.to_f64() + 1.0;
    column.is_whole()
        && column.is_near_unique()
        && column.distinct.values as f64 >= 0.9 * column.present as f64
        && span <= 1.5 * column.present as f64
}
