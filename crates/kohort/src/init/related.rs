//! Relations between columns: copies, columns that follow from others, and how many quasi-identifiers a release bears.

use super::Confidence;
use super::topic::{MOST_NEEDED, NEEDED};
use super::verdict::{About, SuggestedRole, Verdict};
use super::write::shown;
use crate::profile::Profile;
use crate::profile::person::{is_balanced, looks_like_ages};
use crate::profile::sample::Coded;
use crate::profile::shape::CellShape;
use crate::profile::words::{is_vague, stem};
use std::cmp::Reverse;

/// The most quasi-identifiers that are suggested.
const MOST_QUASI: usize = 9;
/// The reason why further ones are dropped.
pub(super) const TOO_MANY: &str = "columns that analysts need more are kept";
/// So many columns with the same codes and one name but for its number are a series; of codes for yes and no more.
const SERIES: usize = 8;
const SERIES_OF_TWO: usize = 12;

/// Settles what single columns cannot tell.
pub(super) fn settle(profile: &Profile, verdicts: &mut [Verdict]) {
    constants(profile, verdicts);
    not_ages(profile, verdicts);
    find_body_mass(profile, verdicts);
    copies(profile, verdicts);
    sums(profile, verdicts);
    births(profile, verdicts);
    dates(profile, verdicts);
    ages(profile, verdicts);
    series(profile, verdicts);
    own_answers(profile, verdicts);
    own_codes(profile, verdicts);
    unfound_sex(profile, verdicts);
    unfound_age(profile, verdicts);
    other_keys(profile, verdicts);
    fewest(profile, verdicts);
    revealing(profile, verdicts);
    unique_to_people(profile, verdicts);
}

/// A column that is released as it is must not hold a value of its own for most people, in however many rows.
fn unique_to_people(profile: &Profile, verdicts: &mut [Verdict]) {
    let person = verdicts.iter().position(|verdict| verdict.part == SuggestedRole::Person);
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        if !verdict.is_unchanged() {
            continue;
        }
        let counted = profile.sample.alone(&[place], person);
        if counted.cells >= 20 && counted.percent() > 50 {
            verdict.drop("most people have a value of their own, which would single them out");
            verdict.confidence = Confidence::Unsure;
        }
    }
}

/// The most columns among which a sum is looked for, and the most parts of a sum.
const MOST_SUMMED: usize = 40;
const MOST_PARTS: usize = 8;

/// A sum reveals each of its parts beside the others: it is dropped.
fn sums(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let is_amount = |&c: &usize| {
        let decimals = columns[c].numbers[1..].iter().flatten().any(|number| number.fract() != 0.0);
        let numbers = columns[c].numbers[1..].iter().filter(|number| number.is_some()).count();
        numbers * 20 >= columns[c].values() * 19 && columns[c].values() >= if decimals { 10 } else { 30 }
    };
    let amounts: Vec<usize> = (0..columns.len()).filter(is_amount).take(MOST_SUMMED).collect();
    for &total in &amounts {
        if !verdicts[total].is_released() {
            continue;
        }
        let others: Vec<usize> = amounts.iter().copied().filter(|&c| c != total).collect();
        let blocks = (2..=MOST_PARTS.min(others.len())).flat_map(|length| others.windows(length));
        let Some(parts) = blocks.into_iter().find(|parts| is_sum(columns, total, parts)) else { continue };
        let names: Vec<String> = parts.iter().map(|&part| name(profile, part)).collect();
        let (last, first) =
            names.split_last().map_or(("", String::new()), |(last, first)| (last.as_str(), first.join(", ")));
        verdicts[total].drop(format!("the sum of {first} and {last}, so that it reveals each of them"));
    }
}

/// Returns whether a column is the sum of others, but for rounding, and not a copy of one of them.
fn is_sum(columns: &[Coded], total: usize, parts: &[usize]) -> bool {
    let (mut rows, mut right, mut plain) = (0usize, 0usize, 0usize);
    for row in 0..columns[total].codes.len().min(2_000) {
        let Some(sum) = columns[total].number(row) else { continue };
        let own: Vec<f64> = parts.iter().map(|&part| columns[part].number(row).unwrap_or(0.0)).collect();
        rows += 1;
        right += usize::from((own.iter().sum::<f64>() - sum).abs() <= 0.011 * parts.len() as f64 / 2.0);
        plain += usize::from(own.iter().filter(|part| **part != 0.0).count() < 2);
        if rows - right > 20 && (rows - right) * 10 > rows {
            return false;
        }
    }
    rows >= 50 && right * 20 >= rows * 19 && plain * 2 < rows
}

/// A column with the same value in every row distinguishes nobody.
fn constants(profile: &Profile, verdicts: &mut [Verdict]) {
    for (column, verdict) in profile.columns.iter().zip(verdicts) {
        if column.distinct.values == 1 && column.present == profile.rows && verdict.is_released() {
            *verdict = Verdict::other("one value in every row: distinguishes nobody").sure();
        }
    }
}

/// Numbers that look like ages but differ between the rows of nearly every person are measurements.
fn not_ages(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let Some(person) = verdicts.iter().position(|verdict| verdict.part == SuggestedRole::Person) else { return };
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        let guessed = verdict.about == About::Age && verdict.confidence == Confidence::Unsure;
        if guessed && columns[person].agreement(&columns[place]).is_some_and(|(same, _)| same < 0.2) {
            verdict.about = About::Anything;
            verdict.weight = 1;
            verdict.why = "not recognised; treated as a quasi-identifier to be safe".into();
        }
    }
}

/// Names of columns in a sentence.
fn name(profile: &Profile, column: usize) -> String {
    shown(&profile.columns[column].name)
}

/// Finds height, weight and body mass index by their values, and keeps the index: all three would reveal each other.
fn find_body_mass(profile: &Profile, verdicts: &mut [Verdict]) {
    let released = |verdicts: &[Verdict], c: usize| verdicts[c].is_released() || profile.columns[c].present > 0;
    let median = |c: usize| profile.sample.columns[c].quantiles(&[50]).first().copied();
    let within = |low: f64, high: f64| -> Vec<usize> {
        let fits = |c: &usize| median(*c).is_some_and(|m| (low..=high).contains(&m));
        (0..verdicts.len()).filter(|&c| released(verdicts, c)).filter(fits).collect()
    };
    let (heights, weights, indices) = (within(55.0, 200.0), within(35.0, 220.0), within(16.0, 45.0));
    for &index in indices.iter().filter(|&&c| profile.columns[c].distinct.values > 30) {
        for &height in heights.iter().filter(|&&c| c != index) {
            for &weight in weights.iter().filter(|&&c| c != index && c != height) {
                if is_body_mass(&profile.sample.columns, (height, weight, index)) {
                    let numbers = &profile.columns[index];
                    let why = "body mass index: visible, so that others know it roughly";
                    let kept = Verdict::quasi(why).sure().about(About::BodyMass).weighs(2);
                    verdicts[index] = match numbers.range {
                        Some(_) => kept.by("{ intervals = [2.5, 5, 10], from = 10, to = 60 }"),
                        None => kept,
                    };
                    let why = |other: usize| {
                        format!("{} and {} reveal it exactly", name(profile, index), name(profile, other))
                    };
                    let (of_height, of_weight) = (why(weight), why(height));
                    verdicts[height].drop(of_height);
                    verdicts[weight].drop(of_weight);
                    verdicts[height].about = About::Height;
                    verdicts[weight].about = About::BodyWeight;
                    return;
                }
            }
        }
    }
}

/// Returns whether an index is weight through height squared, in kilograms and centimetres or in pounds and inches.
fn is_body_mass(columns: &[Coded], (height, weight, index): (usize, usize, usize)) -> bool {
    let (mut rows, mut right) = (0, 0);
    for row in (0..columns[index].codes.len()).take(2_000) {
        let number = |c: usize| columns[c].number(row);
        if let (Some(height), Some(weight), Some(index)) = (number(height), number(weight), number(index)) {
            rows += 1;
            let metric = weight / (height / 100.0).powi(2);
            let imperial = 703.0 * weight / height.powi(2);
            right += usize::from((metric - index).abs() < 0.3 || (imperial - index).abs() < 0.3);
        }
    }
    rows >= 20 && right * 20 >= rows * 19
}

/// Keeps the first of columns that say the same in other words, or the one that is understood best.
fn copies(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    for first in 0..columns.len() {
        for second in first + 1..columns.len() {
            let both = verdicts[first].is_released() && verdicts[second].is_released();
            let values = columns[first].values();
            if !both || values < 2 || values != columns[second].values() {
                continue;
            }
            if columns[first].determines(&columns[second]) && columns[second].determines(&columns[first]) {
                let second_is_better = rank(&verdicts[second]) > rank(&verdicts[first]);
                let (stays, goes) = if second_is_better { (second, first) } else { (first, second) };
                // What an outsider may know of one, they know of the other.
                if verdicts[goes].part == SuggestedRole::Quasi && verdicts[stays].part != SuggestedRole::Quasi {
                    let why = verdicts[stays].why.clone();
                    verdicts[stays] = Verdict { part: SuggestedRole::Quasi, why, ..verdicts[goes].clone() };
                }
                let why = format!("says the same as {}", name(profile, stays));
                verdicts[goes].drop(why);
            }
        }
    }
}

fn rank(verdict: &Verdict) -> (bool, u32, Confidence) {
    (verdict.part == SuggestedRole::Quasi, verdict.weight, verdict.confidence)
}

/// The first column about something that is still released.
fn first(verdicts: &[Verdict], about: About) -> Option<usize> {
    verdicts.iter().position(|verdict| verdict.about == about && verdict.is_released())
}

/// An age is enough for nearly every study: beside it, dates of birth are dropped, and beside a year its parts.
fn births(profile: &Profile, verdicts: &mut [Verdict]) {
    let sure_age =
        |v: &Verdict| v.about == About::Age && v.part == SuggestedRole::Quasi && v.confidence != Confidence::Unsure;
    let year = first(verdicts, About::BirthYear);
    let agrees = |age: usize| year.is_none_or(|year| follows_from_birth(&profile.sample.columns, age, year));
    let age = (0..verdicts.len()).find(|&c| sure_age(&verdicts[c]) && agrees(c));
    let kept = age
        .or_else(|| first(verdicts, About::BirthYear))
        .or_else(|| verdicts.iter().position(|v| v.about == About::Birth && v.is_released() && v.hierarchy.is_some()));
    let Some(kept) = kept else { return };
    for (_, verdict) in verdicts.iter_mut().enumerate().filter(|(place, _)| *place != kept) {
        if matches!(verdict.about, About::Birth | About::BirthYear) && verdict.is_released() {
            verdict.drop(format!("date or year of birth; {} says as much as most studies need", name(profile, kept)));
        }
    }
}

/// Returns whether an age and a year of birth add up to about the same year. An age at some other time, such as that
/// of a disease's onset, says nothing about the birth.
fn follows_from_birth(columns: &[Coded], age: usize, year: usize) -> bool {
    let rows = 0..columns[age].codes.len();
    let pairs = rows.filter_map(|row| Some((columns[age].number(row)?, columns[year].number(row)?)));
    let (mut sums, mut years): (Vec<f64>, Vec<f64>) = pairs.map(|(age, year)| (age + year, year)).unzip();
    // Ages in bands or words, or too few rows, cannot be compared.
    if sums.len() < 20 {
        return true;
    }
    let spread = |numbers: &mut Vec<f64>| {
        numbers.sort_by(f64::total_cmp);
        numbers[numbers.len() * 9 / 10] - numbers[numbers.len() / 10]
    };
    2.0 * spread(&mut sums) <= spread(&mut years)
}

/// One date stays. Several dates of the same person reveal each other, and their differences reveal the day.
fn dates(profile: &Profile, verdicts: &mut [Verdict]) {
    let of_events: Vec<usize> =
        (0..verdicts.len()).filter(|&c| verdicts[c].about == About::Date && verdicts[c].is_released()).collect();
    let Some(&kept) = of_events.iter().min_by_key(|&&c| (Reverse(profile.columns[c].present), c)) else { return };
    for &other in of_events.iter().filter(|&&c| c != kept) {
        let why = format!("another date beside {}; several dates of a person reveal each other", name(profile, kept));
        verdicts[other].drop(why);
    }
}

/// Groups that follow from an age are among its own levels.
fn ages(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let is_age = |v: &Verdict| v.about == About::Age && v.part == SuggestedRole::Quasi && v.hierarchy.is_some();
    let Some(age) = verdicts.iter().position(is_age) else { return };
    for other in 0..verdicts.len() {
        let coarser = (2..columns[age].values()).contains(&columns[other].values());
        // Where few people share an age, a sex seems to follow from it.
        let may_follow = verdicts[other].about != About::Sex;
        if other != age
            && verdicts[other].is_released()
            && may_follow
            && coarser
            && columns[age].determines(&columns[other])
        {
            let why = format!("follows from {}, which has intervals of its own", name(profile, age));
            verdicts[other].drop(why);
        }
    }
}

/// Many columns with the same few codes, whose names differ in a number, are the answers of a questionnaire or the
/// markers of a panel: an outsider knows none of them, and none of them would be useful with all others gone.
fn series(profile: &Profile, verdicts: &mut [Verdict]) {
    let mut groups: std::collections::BTreeMap<(String, String), Vec<usize>> = std::collections::BTreeMap::new();
    for (place, verdict) in verdicts.iter().enumerate() {
        let (column, coded) = (&profile.columns[place], &profile.sample.columns[place]);
        let unknown = verdict.part == SuggestedRole::Quasi && verdict.confidence == Confidence::Unsure;
        let whole = coded.numbers[1..].iter().all(|number| number.is_some_and(|n| n.fract() == 0.0));
        if let (true, 2..=12, true, Some(stem)) = (unknown, coded.values(), whole, stem(&column.name)) {
            let bounds = column.clues.range(column.range).map(|(least, greatest)| format!("{least} to {greatest}"));
            groups.entry((stem, bounds.unwrap_or_default())).or_default().push(place);
        }
    }
    for group in groups.into_values() {
        let two = profile.sample.columns[group[0]].values() == 2;
        // One of the questions may be the sex.
        let (mut group, unfound) = (group, !verdicts.iter().any(|verdict| verdict.about == About::Sex));
        group.retain(|&place| !(two && unfound && is_balanced(&profile.sample.columns[place])));
        if group.len() < if two { SERIES_OF_TWO } else { SERIES } {
            continue;
        }
        let why =
            format!("one of {} columns with the same codes: answers or markers, rarely known outside", group.len());
        for place in group {
            verdicts[place] = Verdict::other(why.clone());
        }
    }
}

/// An answer in words that no other question has, and that are no steps of a scale, may be a place, an occupation or a
/// family status.
fn own_answers(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let answers: Vec<usize> = (0..verdicts.len()).filter(|&c| verdicts[c].about == About::Answer).collect();
    for &place in &answers {
        let column = &profile.columns[place];
        let in_words = columns[place].numbers[1..].iter().filter(|number| number.is_none()).count() >= 2;
        let shared = answers.iter().any(|&other| other != place && columns[place].share_in(&columns[other]) >= 0.8);
        if verdicts[place].is_unchanged() && in_words && !shared && !column.mostly(60, CellShape::ScaleWord) {
            let why = "an answer in words of its own; treated as a quasi-identifier to be safe";
            verdicts[place] = Verdict::quasi(why).unsure().weighs(2);
        }
    }
}

/// An answer in codes that no other question has may be a region, an origin or an occupation.
fn own_codes(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let answers: Vec<usize> = (0..verdicts.len()).filter(|&c| verdicts[c].about == About::Answer).collect();
    for &place in &answers {
        let own = &columns[place];
        let codes = own.values() >= 3 && own.numbers[1..].iter().all(Option::is_some);
        let is_same = |&other: &usize| {
            other != place && own.share_in(&columns[other]) >= 0.98 && columns[other].share_in(own) >= 0.98
        };
        if verdicts[place].is_unchanged() && codes && !answers.iter().any(is_same) {
            let why = "an answer in codes of its own; treated as a quasi-identifier to be safe";
            verdicts[place] = Verdict::quasi(why).unsure();
        }
    }
}

/// Where no column is the sex, one with two codes that are about as frequent could be it, whatever its name says of
/// answers, tests and results.
fn unfound_sex(profile: &Profile, verdicts: &mut [Verdict]) {
    if verdicts.iter().any(|verdict| verdict.about == About::Sex) {
        return;
    }
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        let (column, own) = (&profile.columns[place], &profile.sample.columns[place]);
        let vague = verdict.about == About::Answer || is_vague(&column.name);
        let scale = column.mostly(60, CellShape::ScaleWord);
        if verdict.is_unchanged() && vague && own.values() == 2 && is_balanced(own) && !scale {
            let why =
                "two codes that could be the sex, which no other column is; treated as a quasi-identifier to be safe";
            *verdict = Verdict::quasi(why).unsure().weighs(2 * NEEDED);
        }
    }
}

/// Where no column is an age or a birth, numbers that are spread like ages and stay the same for a person could be it,
/// whatever their name says of measurements and results.
fn unfound_age(profile: &Profile, verdicts: &mut [Verdict]) {
    if verdicts.iter().any(|verdict| matches!(verdict.about, About::Age | About::Birth | About::BirthYear)) {
        return;
    }
    let columns = &profile.sample.columns;
    let person = verdicts.iter().position(|verdict| verdict.part == SuggestedRole::Person);
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        let (column, own) = (&profile.columns[place], &columns[place]);
        let changes = person
            .and_then(|person| columns[person].distance_within(own))
            .is_some_and(|(inside, all)| inside > 0.3 * all);
        if verdict.is_unchanged() && looks_like_ages(column, own) && !changes {
            let why =
                "numbers that could be the age, which no other column is; treated as a quasi-identifier to be safe";
            let guessed = Verdict::quasi(why).unsure().about(About::Age).weighs(MOST_NEEDED / 2);
            *verdict = guessed.by("{ intervals = [5, 10, 20], from = 0, to = 90 }");
        }
    }
}

/// A column that was not understood, and of which each value belongs to one person and nearly each person has one
/// value, is a key of the same people.
fn other_keys(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let Some(person) = verdicts.iter().position(|verdict| verdict.part == SuggestedRole::Person) else { return };
    let people = &columns[person];
    if people.values() < 20 || people.values() * 10 > people.present() * 9 {
        return;
    }
    for (place, verdict) in verdicts.iter_mut().enumerate() {
        let own = &columns[place];
        let understood = verdict.confidence != Confidence::Unsure || verdict.about != About::Anything;
        let as_many = own.values() * 10 >= people.values() * 9 && own.values() * 9 <= people.values() * 10;
        if verdict.is_released() && !understood && as_many && own.determines(people) && people.determines(own) {
            verdict.drop("another key of the same people");
        }
    }
}

/// A column that is released as it is must not reveal a quasi-identifier, exactly or roughly. Of a quasi-identifier that
/// was not understood and a column that was, the latter stays.
fn revealing(profile: &Profile, verdicts: &mut [Verdict]) {
    let columns = &profile.sample.columns;
    let is_plain = |c: usize| {
        let usual = columns[c].counts().into_iter().max().unwrap_or(0) as usize;
        columns[c].values() >= 2 && usual * 20 < columns[c].codes.len() * 19
    };
    let repeats = |c: usize| columns[c].values() * 3 <= columns[c].codes.len();
    let plain: Vec<bool> = (0..verdicts.len()).map(|c| verdicts[c].is_released() && is_plain(c)).collect();
    for quasi in 0..verdicts.len() {
        for other in 0..verdicts.len() {
            let outside = verdicts[other].is_unchanged();
            if verdicts[quasi].part != SuggestedRole::Quasi || !outside || !plain[quasi] || !plain[other] {
                continue;
            }
            let exactly = repeats(other) && columns[other].determines(&columns[quasi]);
            if exactly || repeats(quasi) && columns[quasi].determines(&columns[other]) {
                let understood = |c: usize| verdicts[c].confidence != Confidence::Unsure;
                if understood(other) && !understood(quasi) {
                    let why = format!("not recognised, and {} follows from it or reveals it", name(profile, other));
                    verdicts[quasi].drop(why);
                } else {
                    let why = format!("reveals {} or follows from it", name(profile, quasi));
                    verdicts[other].drop(why);
                }
            }
        }
    }
}

/// Keeps the quasi-identifiers that analysts need most. Each further one would cost detail in all others.
fn fewest(profile: &Profile, verdicts: &mut [Verdict]) {
    let mut quasi: Vec<usize> = (0..verdicts.len()).filter(|&c| verdicts[c].part == SuggestedRole::Quasi).collect();
    quasi.sort_by_key(|&c| {
        let verdict = &verdicts[c];
        let values = profile.columns[c].distinct.values;
        (Reverse(verdict.weight), Reverse(verdict.confidence), values, c)
    });
    for &place in quasi.iter().skip(MOST_QUASI) {
        // It is no longer treated in the way that was chosen to be safe.
        let why = &verdicts[place].why;
        let known = if why.ends_with("to be safe") { why.rsplit_once("; ").map_or("", |own| own.0) } else { why };
        let why = format!("{known}; dropped, because {MOST_QUASI} {TOO_MANY}");
        verdicts[place].drop(why);
        verdicts[place].confidence = Confidence::Unsure;
    }
}
