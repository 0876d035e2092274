//! From what a table holds to a role for each of its columns. Values decide where they and the name disagree.

use super::ColumnAdvice;
use super::profile::{Column, MISSING, Profile};
use super::shape::{DATE_FORMATS, Shape};
use super::steps::Steps;
use super::topic::{codes, icd, share};
use super::verdict::{Key, Part, Verdict};
use super::words::{Topic, topics};
use kohort_core::policy::{Role, Unmapped};
use kohort_core::table::Source;

/// Up to this many whole numbers are codes, not quantities.
const MOST_CODES: u64 = 12;

/// How the table is to be read, as far as its cells tell.
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
        let comma = |c: &&Column| c.cells(Shape::SurelyComma) > 0 && c.numbers(b',').is_some();
        let point = |c: &&Column| c.cells(Shape::PointDecimal) > 0 && c.numbers(b'.').is_some();
        let count = |is: &dyn Fn(&&Column) -> bool| profile.columns.iter().filter(|c| is(c)).count();
        let decimal = if count(&comma) > count(&point) { b',' } else { b'.' };
        let occurs = |i: &usize| profile.columns.iter().any(|c| c.marked[*i] > 0);
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

/// A role for every column.
pub(super) fn columns(profile: &Profile, reading: &Reading) -> Vec<ColumnAdvice> {
    let mut verdicts: Vec<Verdict> = profile.columns.iter().map(|column| judge(column, reading)).collect();
    let patient = choose_patient(&verdicts);
    for (i, verdict) in verdicts.iter_mut().enumerate() {
        if matches!(verdict.part, Part::Person(_)) && patient != Some(i) {
            *verdict = Verdict::identifier("another key; a table can have only one patient column");
        }
    }
    profile.columns.iter().zip(verdicts).map(|(column, verdict)| advise(profile.rows, column, verdict)).collect()
}

/// The surest key of a person; of several the first.
fn choose_patient(verdicts: &[Verdict]) -> Option<usize> {
    let with = |key| verdicts.iter().position(|verdict| verdict.part == Part::Person(key));
    with(Key::OfPatient).or_else(|| with(Key::OfSomething))
}

fn advise(rows: u64, column: &Column, verdict: Verdict) -> ColumnAdvice {
    ColumnAdvice {
        name: column.name.clone(),
        role: match verdict.part {
            Part::Identifier => Role::Identifier,
            Part::Person(_) => Role::Patient,
            Part::Quasi => Role::Quasi,
            Part::Sensitive => Role::Sensitive { values: None },
        },
        hierarchy: verdict.hierarchy,
        unmapped: if verdict.uncovered > 0 { Unmapped::Suppressed } else { Unmapped::Refused },
        why: verdict.why,
        facts: facts(rows, column),
        notes: verdict.notes,
    }
}

fn judge(column: &Column, reading: &Reading) -> Verdict {
    let topics = topics(&column.name);
    if column.present == 0 {
        return Verdict::quasi("always empty; can be dropped");
    }
    if let Some(verdict) = direct(column, &topics).or_else(|| date(column, reading, &topics)) {
        return verdict;
    }
    let mut disagrees = None;
    for topic in &topics {
        match topic.verdict(column, reading) {
            Some(verdict) => return note_disagreement(verdict, disagrees),
            None => disagrees = disagrees.or(topic.says()),
        }
    }
    note_disagreement(by_content(column, reading), disagrees)
}

fn note_disagreement(mut verdict: Verdict, said: Option<&str>) -> Verdict {
    if let Some(said) = said {
        verdict.why = format!("named like {said}, but the values do not look like it: {}", verdict.why);
    }
    verdict
}

/// Values that point at a person, whatever the column is called.
fn direct(column: &Column, topics: &[Topic]) -> Option<Verdict> {
    let several = column.distinct.values > 10;
    let street = topics.contains(&Topic::Contact);
    let free = several && !street && column.mostly(50, Shape::Sentence) && column.distinct.values * 5 >= column.present;
    if column.mostly(90, Shape::Uuid) {
        let key = if topics.contains(&Topic::Patient) { Key::OfPatient } else { Key::OfSomething };
        return Some(if topics.contains(&Topic::Encounter) {
            Verdict::identifier("number of a stay, claim or visit")
        } else {
            Verdict::new(Part::Person(key), "identifies the patient, so that patients are counted and not rows")
        });
    }
    let why = match () {
        () if column.mostly(50, Shape::Email) => "looks like e-mail addresses",
        () if column.mostly(50, Shape::Url) => "looks like web addresses",
        () if several && column.mostly(50, Shape::SocialSecurity) => "looks like social security numbers",
        () if several && column.mostly(50, Shape::Phone) => "looks like telephone numbers",
        () if free => "free text, which no method can de-identify",
        () => return None,
    };
    Some(Verdict::identifier(why))
}

fn date(column: &Column, reading: &Reading, topics: &[Topic]) -> Option<Verdict> {
    let (place, others, ambiguous) = column.date()?;
    let place = if ambiguous && reading.day_first { place + 1 } else { place };
    let format = DATE_FORMATS[place];
    let mut verdict = if topics.contains(&Topic::Birth) {
        Verdict::quasi("date of birth").note(
            "A date of birth often identifies one person. An age is usually enough for a study: derive one, \
                 and drop this column (role = \"identifier\").",
        )
    } else if topics.contains(&Topic::Death) {
        Verdict::quasi("deaths are made public")
    } else {
        Verdict::quasi("a date: day, month, quarter, year, decade or *")
    };
    if ambiguous {
        verdict = verdict.note("Day and month cannot be distinguished here: check the format.");
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

/// What the values alone tell. What they do not tell is taken for known outside.
fn by_content(column: &Column, reading: &Reading) -> Verdict {
    let numbers = column.numbers(reading.decimal);
    let values = column.distinct.values;
    let letters = numbers.is_none() && (column.cells(Shape::Icd9Letter) > 0 || column.mostly(95, Shape::Icd10));
    if let Some(diagnoses) = (letters && values >= 10).then(|| icd(column, 95)).flatten() {
        return diagnoses;
    }
    let whole = column.mostly(100, Shape::Whole);
    if column.is_near_unique() && (numbers.is_none() || whole) {
        return Verdict::identifier("nearly every row has a different value");
    }
    if values >= 50 && values * 10 >= column.present && column.mostly(80, Shape::PersonName) {
        return Verdict::identifier("looks like names");
    }
    if values <= 1 {
        return Verdict::quasi("one value only: does not distinguish anybody");
    }
    match numbers {
        Some(_) if column.cells(Shape::LeadingZero) > 0 || whole && values <= MOST_CODES => codes(),
        Some(numbers) => match Steps::around(numbers, column.bulk()) {
            Some(steps) => {
                Verdict::quasi("not recognised; treated as a quasi-identifier to be safe").by(steps.to_toml())
            }
            None => Verdict::quasi("not recognised; treated as a quasi-identifier to be safe, without intervals"),
        },
        None => Verdict::quasi("not recognised; treated as a quasi-identifier to be safe"),
    }
}

fn facts(rows: u64, column: &Column) -> String {
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

/// `1,234,567`.
pub(super) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_string();
    for i in (first..digits.len()).step_by(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&digits[i..i + 3]);
    }
    text
}
