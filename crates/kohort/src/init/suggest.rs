//! From what a table holds to a role for each of its columns. Values decide where they and the name disagree.

use super::topic::{MOST_NEEDED, NEEDED, REGION, USEFUL, WHEN_KNOWN, icd, in_intervals, point_in_time, postal, share};
use super::verdict::{About, SuggestedRole, Verdict};
use super::write::{quoted, shown};
use super::{ColumnAdvice, Confidence, clean, related};
use crate::profile::person::{Key, household_and_member, is_balanced, is_birth_years, keys, looks_like_ages};
use crate::profile::sample::Coded;
use crate::profile::shape::{CellShape, DATE_FORMATS};
use crate::profile::words::{Topic, heading, is_vague, names_people, topics};
use crate::profile::{ColumnProfile, MAYBE_AN_ANSWER, MISSING, Profile};
pub(super) use kohort_core::number::thousands;
use kohort_core::policy::{Role, Unmapped};
use kohort_core::table::{KeySpelling, Source};

/// Up to this many whole numbers are codes, not quantities.
const MOST_CODES: u64 = 12;

/// The word for the key of rows that do not say whose they are.
pub(super) const NOBODY: &str = "unknown";

/// How the table is to be read, as far as its cells show.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    /// The decimal mark.
    pub decimal: u8,
    /// True if a date such as 03/04/2010 is likely the third of April.
    day_first: bool,
    /// True if cells have white space around them.
    pub trim: bool,
    /// The marks of missing cells that occur, beside the empty cell.
    pub missing: Vec<&'static str>,
}

impl Reading {
    pub fn of(source: &Source, profile: &Profile) -> Reading {
        let comma = |c: &&ColumnProfile| c.cells(CellShape::SurelyComma) > 0 && c.numbers(b',').is_some();
        let point = |c: &&ColumnProfile| c.cells(CellShape::PointDecimal) > 0 && c.numbers(b'.').is_some();
        let count = |is: &dyn Fn(&&ColumnProfile) -> bool| profile.columns.iter().filter(|c| is(c)).count();
        let decimal = if count(&comma) > count(&point) { b',' } else { b'.' };
        let occurs = |i: &usize| MISSING[*i] != MAYBE_AN_ANSWER && profile.columns.iter().any(|c| c.marked[*i] > 0);
        let mut missing: Vec<&str> = (0..MISSING.len()).filter(occurs).map(|i| MISSING[i]).collect();
        if profile.columns.iter().any(|c| c.stars > 0) {
            missing.push("*");
        }
        Reading {
            decimal,
            day_first: decimal == b',' || source.delimiter() == b';',
            trim: profile.columns.iter().any(|c| c.padded > 0),
            missing,
        }
    }
}

impl Reading {
    /// How two tables are to be read together.
    pub fn and(mut self, other: &Reading) -> Reading {
        self.missing.extend(other.missing.iter().filter(|mark| !self.missing.contains(mark)).collect::<Vec<_>>());
        Reading {
            decimal: self.decimal.min(other.decimal),
            day_first: self.day_first || other.day_first,
            trim: self.trim || other.trim,
            missing: self.missing,
        }
    }
}

/// A role for every column.
pub(super) fn columns(profile: &Profile, reading: &Reading) -> Vec<ColumnAdvice> {
    advise_all(profile, verdicts(profile, reading))
}

/// The suggestions that follow from verdicts.
pub(super) fn advise_all(profile: &Profile, verdicts: Vec<Verdict>) -> Vec<ColumnAdvice> {
    profile.columns.iter().zip(verdicts).map(|(column, verdict)| advise(profile.rows, column, verdict)).collect()
}

/// The verdict on every column.
pub(super) fn verdicts(profile: &Profile, reading: &Reading) -> Vec<Verdict> {
    let topics: Vec<Vec<Topic>> = profile.columns.iter().map(|column| topics(&column.name)).collect();
    let keys = keys(profile, &topics);
    let columns = profile.columns.iter().zip(&profile.sample.columns).zip(&topics).zip(keys);
    let mut verdicts: Vec<Verdict> = columns
        .map(|(((column, coded), topics), key)| match key {
            Some(Key::Person(why)) => Verdict::person(why),
            Some(Key::Dropped(why)) => direct(column, topics).unwrap_or_else(|| Verdict::identifier(why)),
            None => judge(column, coded, reading, topics),
        })
        .collect();
    related::settle(profile, &mut verdicts);
    people_without_key(profile, &mut verdicts);
    people_in_one_spelling(profile, &mut verdicts);
    profile.columns.iter().zip(&mut verdicts).for_each(|(column, verdict)| clean::clean(column, reading, verdict));
    verdicts
}

/// Rows without the key of their person may belong to people who are there, and cannot be counted: they are excluded.
fn people_without_key(profile: &Profile, verdicts: &mut [Verdict]) {
    for (column, verdict) in profile.columns.iter().zip(verdicts) {
        let missing = profile.rows - column.present;
        if verdict.part == SuggestedRole::Person && missing > 0 {
            verdict.cleaning.push(format!("recode = {{ \"\" = \"{NOBODY}\" }}"));
            verdict.notes.push(format!(
                "recode: {} rows do not say whose they are. They may belong to people who have other rows, so that they \
                 cannot be counted: [[exclude]] removes them.",
                thousands(missing)
            ));
        }
    }
}

/// A person whose key is written in two ways would count twice: the keys get one spelling.
fn people_in_one_spelling(profile: &Profile, verdicts: &mut [Verdict]) {
    for (column, verdict) in profile.columns.iter().zip(verdicts) {
        let Some(united) = column.spelling.filter(|_| verdict.part == SuggestedRole::Person) else { continue };
        let (word, what) = match united.spelling {
            KeySpelling::Characters => {
                ("key", "capital letters, signs and zeros at the start of a number do not count")
            }
            KeySpelling::Digits => ("key-digits", "only their digits count"),
        };
        verdict.confidence = Confidence::Unsure;
        verdict.cleaning.push(format!("spelling = \"{word}\""));
        verdict.notes.push(format!(
            "spelling: {} keys are {} people in one spelling, in which {what}. If different people have the same key \
             then, write the keys in one way in the data.",
            thousands(united.keys),
            thousands(column.distinct.values)
        ));
    }
}

/// The key of a person who has no key of their own, but a number within their household.
pub(super) fn person_of_household(profile: &Profile) -> Option<ColumnAdvice> {
    let topics: Vec<Vec<Topic>> = profile.columns.iter().map(|column| topics(&column.name)).collect();
    let (household, member) = household_and_member(profile, &topics)?;
    let taken = |name: &str| profile.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let numbered = (2..).map(|n| format!("person_{n}"));
    let name = std::iter::once("person".to_string()).chain(numbered).find(|name| !taken(name))?;
    let [household, member] = [household, member].map(|place| profile.columns[place].name.as_str());
    let why = format!(
        "the person: {} repeats, and what belongs to a person stays the same within it and {} together",
        shown(household),
        shown(member)
    );
    let mut advice = advise(profile.rows, &ColumnProfile::default(), Verdict::person(why));
    advice.name = name;
    advice.facts = "derived".into();
    advice.cleaning = vec![format!("join = [{}, {}]", quoted(household), quoted(member))];
    Some(advice)
}

fn advise(rows: u64, column: &ColumnProfile, verdict: Verdict) -> ColumnAdvice {
    ColumnAdvice {
        name: column.name.clone(),
        table: None,
        cleaning: verdict.cleaning,
        formats: verdict.formats,
        role: match verdict.part {
            SuggestedRole::Identifier => Role::Identifier,
            SuggestedRole::Person => Role::Patient,
            SuggestedRole::Quasi => Role::Quasi,
            SuggestedRole::Sensitive => Role::Sensitive { values: None },
            SuggestedRole::Other => Role::Other { reason: verdict.why.clone() },
        },
        confidence: verdict.confidence,
        hierarchy: verdict.hierarchy,
        levels: verdict.levels,
        weight: verdict.weight,
        unmapped: if verdict.uncovered > 0 { Unmapped::Suppressed } else { Unmapped::Refused },
        why: verdict.why,
        facts: facts(rows, column),
        notes: verdict.notes,
    }
}

fn judge(column: &ColumnProfile, coded: &Coded, reading: &Reading, topics: &[Topic]) -> Verdict {
    if column.present == 0 {
        return Verdict::identifier("always empty");
    }
    if let Some(verdict) = direct(column, topics) {
        return verdict;
    }
    if column.distinct.values == 1 && !topics.first().is_some_and(is_direct) {
        return constant(column);
    }
    if let Some(verdict) = date(column, reading, topics) {
        return verdict;
    }
    if let Some(verdict) = odd_date(column) {
        return verdict;
    }
    if let Some(verdict) = time_of_something(column, coded, reading, topics) {
        return verdict;
    }
    // Units of measurements are no units of a hospital. One letter may be anything.
    if column.mostly(90, CellShape::Unit) && column.lengths.is_some_and(|(_, longest)| longest >= 2) {
        return Verdict::other("units of measurements");
    }
    if column.mostly(90, CellShape::PostalCode)
        && let Some(verdict) = postal(column)
    {
        return verdict;
    }
    // A health area is a place, and the language of an interview is a language.
    if let Some(verdict) = known_by_heading(column, coded, reading, topics) {
        return verdict;
    }
    let mut disagrees = None;
    // The city of an address is a place.
    let is_place = |topic: &Topic| matches!(topic, Topic::Place | Topic::Postal);
    let of_address = topics.iter().any(is_place) && heading(&column.name).as_ref().is_some_and(is_place);
    for topic in topics.iter().filter(|topic| !of_address || **topic != Topic::Contact) {
        match topic.verdict(column, coded, reading) {
            // A result or a status may be somebody's name, sex or year of birth, and a test may be of anything.
            Some(verdict)
                if verdict.is_unchanged()
                    && (is_personal(column, coded)
                        || verdict.about != About::Answer && !is_inside(column, reading)) =>
            {
                return note_disagreement(by_content(column, coded, reading), disagrees);
            }
            Some(verdict) => return note_disagreement(verdict, disagrees),
            None => disagrees = disagrees.or(topic.says()),
        }
    }
    note_disagreement(by_content(column, coded, reading), disagrees)
}

/// The verdict on what others may know, where the last word of a name says so and the words before it are about
/// something that is released as it is.
fn known_by_heading(column: &ColumnProfile, coded: &Coded, reading: &Reading, topics: &[Topic]) -> Option<Verdict> {
    let head = heading(&column.name)?;
    // The month of a diagnosis is a month, and its region is a place.
    if topics.first() == Some(&Topic::Diagnosis) {
        let own = matches!(head, Topic::Calendar | Topic::Place | Topic::Postal | Topic::Demographic | Topic::Sex);
        return if own { head.verdict(column, coded, reading) } else { None };
    }
    let unchanged = [Topic::Lab, Topic::Clinical, Topic::Outcome, Topic::Procedure, Topic::Answer, Topic::Cost];
    let known = matches!(
        head,
        Topic::Place
            | Topic::Postal
            | Topic::Demographic
            | Topic::Facility
            | Topic::Birth
            | Topic::Age
            | Topic::Sex
            | Topic::Calendar
    );
    let first = topics.first().is_some_and(|first| unchanged.contains(first));
    if known && first { head.verdict(column, coded, reading) } else { None }
}

/// The year of a diagnosis is not a diagnosis, nor is the month of one.
fn time_of_something(column: &ColumnProfile, coded: &Coded, reading: &Reading, topics: &[Topic]) -> Option<Verdict> {
    let own = |topic: &Topic| matches!(topic, Topic::Birth | Topic::Age | Topic::Stay);
    if !topics.contains(&Topic::Calendar) || topics.iter().any(own) {
        return None;
    }
    let leads = column
        .name
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .is_some_and(|word| crate::profile::words::topics(word).first() == Some(&Topic::Calendar));
    let led = leads.then(|| Topic::Calendar.verdict(column, coded, reading)).flatten();
    led.or_else(|| point_in_time(column, coded, reading))
}

fn note_disagreement(mut verdict: Verdict, said: Option<&str>) -> Verdict {
    if let Some(said) = said {
        verdict.why = format!("named like {said}, but the values do not look like it: {}", verdict.why);
    }
    verdict
}

/// Returns whether a topic is about what points at people by itself.
fn is_direct(topic: &Topic) -> bool {
    matches!(topic, Topic::Contact | Topic::Number | Topic::FreeText | Topic::PersonName | Topic::Staff)
}

/// A column that distinguishes nobody, or only those who have a value from those who have none.
fn constant(column: &ColumnProfile) -> Verdict {
    if column.distinct.once > 0 {
        return Verdict::identifier("a single cell is filled");
    }
    Verdict::quasi("one value only").weighs(1)
}

/// Returns whether the values look like names of people: many different ones.
fn is_names(column: &ColumnProfile) -> bool {
    let values = column.distinct.values;
    let shaped = column.mostly(80, CellShape::PersonName) || column.mostly(80, CellShape::EastAsianName);
    values >= 50 && values * 10 >= column.present && shaped
}

/// Returns whether most cells are names that many people have.
fn is_frequent_names(column: &ColumnProfile) -> bool {
    column.distinct.values >= 3 && column.mostly(60, CellShape::FrequentName)
}

/// Returns whether the values are those of people, whatever the name says: names, sexes or years of birth.
fn is_personal(column: &ColumnProfile, coded: &Coded) -> bool {
    is_frequent_names(column)
        || is_sexes(column)
        || is_birth_years(column, coded)
        || is_places(column)
        || is_origins(column)
}

/// Returns whether the values are countries, regions or towns. Two letters may be anything, so that it takes more of them.
fn is_places(column: &ColumnProfile) -> bool {
    let codes = column.lengths.is_some_and(|(_, longest)| longest <= 3);
    let (percent, fewest) = if codes { (90, 5) } else { (60, 3) };
    column.distinct.values >= fewest && column.mostly(percent, CellShape::Place)
}

/// Returns whether the values are ethnicities, nationalities, religions or marital statuses.
fn is_origins(column: &ColumnProfile) -> bool {
    (2..=200).contains(&column.distinct.values) && column.mostly(60, CellShape::Origin)
}

/// Returns whether a column whose name does not say what was asked or tested holds what such columns hold: measurements,
/// scores, steps of a scale, results or codes of a code system. A few codes could be those of a region or an origin.
fn is_inside(column: &ColumnProfile, reading: &Reading) -> bool {
    if !is_vague(&column.name) {
        return true;
    }
    let codes = [CellShape::Icd9Letter, CellShape::Icd10, CellShape::MedicalCode, CellShape::ScaleWord];
    if codes.iter().any(|&shape| column.mostly(60, shape)) {
        return true;
    }
    let (shortest, longest) = column.lengths.unwrap_or_default();
    let numbers = column.numbers(reading.decimal).or(column.mostly_numbers(reading.decimal).map(|(range, _)| range));
    match numbers {
        Some(_) if !column.is_whole() => true,
        Some(_) if column.distinct.values > MOST_CODES => {
            shortest < longest && column.cells(CellShape::LeadingZero) == 0
        }
        // Yes and no, until it is clear that it is not the sex.
        Some(_) => column.distinct.values == 2,
        None => false,
    }
}

/// Returns whether the values are words or letters of more than one sex.
fn is_sexes(column: &ColumnProfile) -> bool {
    let both = column.clues.sex_of().is_none_or(|all| all.iter().any(|(_, sex)| *sex != all[0].1));
    (2..=8).contains(&column.distinct.values) && column.mostly(95, CellShape::SexWord) && both
}

/// Values that point at a person, whatever the column is called.
fn direct(column: &ColumnProfile, topics: &[Topic]) -> Option<Verdict> {
    let several = column.distinct.values > 10;
    let street = topics.contains(&Topic::Contact);
    // Long labels of diagnoses and treatments repeat; sentences with a few blanks to fill in do, too.
    let labels = topics.iter().any(|topic| matches!(topic, Topic::Diagnosis | Topic::Procedure));
    let free = several
        && !street
        && column.mostly(50, CellShape::Sentence)
        && (column.distinct.values * 5 >= column.present || !labels && column.distinct.values > MOST_CODES);
    let why = match () {
        () if column.mostly(50, CellShape::Email) => "looks like e-mail addresses",
        () if column.mostly(50, CellShape::Url) => "looks like web addresses",
        () if several && column.mostly(50, CellShape::NetworkAddress) => "looks like addresses of computers",
        () if several && column.mostly(80, CellShape::Initials) => "looks like initials",
        () if column.distinct.values > 1 && column.mostly(50, CellShape::TitledName) => "looks like names with a title",
        () if several && column.mostly(50, CellShape::SocialSecurity) => "looks like social security numbers",
        () if several && column.mostly(50, CellShape::Phone) => "looks like telephone numbers",
        () if names_people(&column.name) && column.mostly(80, CellShape::PersonName) => "names of people",
        () if free => "free text, which no method can de-identify",
        () => return None,
    };
    Some(Verdict::identifier(why).sure())
}

fn date(column: &ColumnProfile, reading: &Reading, topics: &[Topic]) -> Option<Verdict> {
    let (first, others, ambiguous) = column.date()?;
    let place = if ambiguous && reading.day_first { first + 1 } else { first };
    let format = DATE_FORMATS[place];
    let timed = format.contains("%H");
    let born = topics.contains(&Topic::Birth) || !topics.contains(&Topic::Death) && column.is_birth();
    let mut verdict = if born {
        Verdict::quasi("date of birth").about(About::Birth).weighs(MOST_NEEDED).levels("[\"year\", \"decade\", \"*\"]")
    } else {
        let why = match (topics.contains(&Topic::Death), timed) {
            (true, _) => "deaths are made public",
            (false, true) => "a date with a time: month, quarter, year or *",
            (false, false) => "a date: month, quarter, year or *",
        };
        Verdict::quasi(why).about(About::Date).weighs(2).levels("[\"month\", \"quarter\", \"year\", \"*\"]")
    };
    verdict = verdict.sure();
    if ambiguous {
        let birth = verdict.about == About::Birth;
        verdict = verdict
            .unsure()
            .levels(if birth { "[\"year\", \"decade\", \"*\"]" } else { "[\"year\", \"*\"]" })
            .note(format!(
                "Day and month cannot be told apart: the dates fit {} and {}. Until you choose, only the year is \
                 released, which is the same in both.",
                DATE_FORMATS[first],
                DATE_FORMATS[first + 1]
            ));
        verdict.formats = Some([DATE_FORMATS[first], DATE_FORMATS[first + 1]]);
    }
    if format.contains("%y") {
        verdict = verdict.note("Years with two digits are read as 1970 to 2069: check that this is right.");
    }
    if others > 0 {
        verdict = verdict.note(format!(
            "{} of the cells are not such dates and would be released as *.",
            share(others, column.present)
        ));
    }
    Some(verdict.by(format!("{{ date = \"{format}\" }}")).except(others))
}

/// The verdict on dates in a format that a hierarchy does not read.
fn odd_date(column: &ColumnProfile) -> Option<Verdict> {
    let months = column.mostly(90, CellShape::YearMonth) && column.lengths.is_some_and(|(_, longest)| longest >= 6);
    if months {
        return Some(Verdict::quasi("months of something that others may have seen").about(About::Date).weighs(2));
    }
    column.is_dated().then(|| {
        Verdict::identifier("dates in several formats, or in one that is not read; dropped to be safe").unsure()
    })
}

/// The verdict by the values alone. A column that they do not explain is treated as known to outsiders.
fn by_content(column: &ColumnProfile, coded: &Coded, reading: &Reading) -> Verdict {
    const UNKNOWN: &str = "not recognised; treated as a quasi-identifier to be safe";
    let mostly = column.mostly_numbers(reading.decimal);
    let (numbers, others) = match (column.numbers(reading.decimal), mostly) {
        (None, Some((numbers, others))) => (Some(numbers), others),
        (numbers, _) => (numbers, 0),
    };
    let values = column.distinct.values;
    let letters = numbers.is_none() && (column.cells(CellShape::Icd9Letter) > 0 || column.mostly(95, CellShape::Icd10));
    if let Some(diagnoses) =
        (letters && values >= 10 && column.clues.are_diagnoses()).then(|| icd(column, 95)).flatten()
    {
        return diagnoses;
    }
    if is_names(column) || is_frequent_names(column) {
        return Verdict::identifier("looks like names");
    }
    if is_sexes(column) {
        return Verdict::quasi("the values look like a sex").about(About::Sex).weighs(MOST_NEEDED);
    }
    if is_places(column) && !column.is_telling() {
        return Verdict::quasi("the values look like places").weighs(if values <= 60 { REGION } else { USEFUL });
    }
    if is_origins(column) {
        return Verdict::quasi("the values look like origins or family statuses").weighs(USEFUL);
    }
    let decimals = column.cells(CellShape::PointDecimal) + column.cells(CellShape::CommaDecimal);
    let whole = column.is_whole() || others > 0 && decimals == 0;
    if column.is_telling() {
        return Verdict::identifier("many rows have a value of their own, which would single them out").unsure();
    }
    if numbers.is_none() && column.mostly(90, CellShape::MedicalCode) {
        return Verdict::sensitive("looks like codes of drugs, tests, treatments or stages").unsure().note(WHEN_KNOWN);
    }
    // One column for everything may hold names and dates of birth.
    if numbers.is_none() && column.dated() * 50 >= column.present {
        return Verdict::identifier("cells of several kinds, among them dates; dropped to be safe").unsure();
    }
    let Some(numbers) = numbers else { return Verdict::quasi(UNKNOWN).unsure() };
    // A second line of names below the header is no number.
    let uncovered = |verdict: Verdict| match others {
        0 => verdict,
        _ => {
            let share = share(others, column.present);
            let verdict = verdict.note(format!("{share} of the cells are not numbers and would be released as *."));
            let all = verdict.uncovered + others;
            if verdict.hierarchy.is_some() { verdict.except(all) } else { verdict }
        }
    };
    if column.cells(CellShape::LeadingZero) > 0 || whole && values <= MOST_CODES {
        let why = "not recognised; the numbers are treated as codes of a quasi-identifier to be safe";
        let weight = match values {
            2 if is_balanced(coded) => 2 * NEEDED,
            2 | 3 => NEEDED,
            _ => 1,
        };
        return Verdict::quasi(why).unsure().weighs(weight);
    }
    if !whole {
        let why = "not recognised, numbers with decimals; treated as a quasi-identifier to be safe";
        return uncovered(in_intervals(Verdict::quasi(why).unsure(), column, coded, numbers));
    }
    if is_birth_years(column, coded) {
        let why = "not recognised; the numbers could be years of birth";
        let verdict = Verdict::quasi(why).unsure().about(About::BirthYear).weighs(MOST_NEEDED / 2);
        return uncovered(in_intervals(verdict, column, coded, numbers));
    }
    if looks_like_ages(column, coded) && (-999.0..=9999.0).contains(&numbers.0.to_f64()) && numbers.1.to_f64() <= 9999.0
    {
        let verdict = Verdict::quasi("not recognised; the numbers could be ages").unsure().about(About::Age);
        return uncovered(verdict.weighs(MOST_NEEDED / 2).by("{ intervals = [5, 10, 20], from = 0, to = 90 }"));
    }
    uncovered(in_intervals(Verdict::quasi(UNKNOWN).unsure(), column, coded, numbers))
}

fn facts(rows: u64, column: &ColumnProfile) -> String {
    let values = match column.distinct.values {
        1 => "1 value".to_string(),
        n if column.distinct.exact => format!("{} values", thousands(n)),
        n => format!("about {} values", thousands(round(n))),
    };
    match rows - column.present {
        0 => values,
        missing => format!("{values}, {} missing", share(missing, rows)),
    }
}

/// Two digits of a number, the rest zeros.
pub(super) fn round(n: u64) -> u64 {
    let unit = 10u64.pow(n.checked_ilog10().unwrap_or(0).saturating_sub(1));
    (n + unit / 2) / unit * unit
}
