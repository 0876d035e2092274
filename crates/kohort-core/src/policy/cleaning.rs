//! The keys of a column that clean its cells or derive it from others.

use super::column::{Column, Role};
use super::section::{Section, Value};
use crate::calendar::DateFormat;
use crate::code_systems::CodeSystem;
use crate::hierarchy::Rule;
use crate::table::{ColumnCleaning, DateReading, Derive, KeySpelling, NumberReading, Spelling, Steps};
use crate::visible::is_hidden;
use crate::{Error, Result};

/// The spellings that cells can get, by their words.
const SPELLINGS: [(&str, Spelling); 4] = [
    ("icd9", Spelling::Codes(CodeSystem::Icd9)),
    ("icd10", Spelling::Codes(CodeSystem::Icd10)),
    ("key", Spelling::Key(KeySpelling::Characters)),
    ("key-digits", Spelling::Key(KeySpelling::Digits)),
];

/// Reads what the columns of a table say about cleaning and deriving.
pub(super) fn read(columns: &Section) -> Result<Vec<ColumnCleaning>> {
    let mut all = Vec::new();
    for (name, item) in &columns.entries {
        // What is wrong with any other value is said when the columns are bound.
        let Value::Section(section) = &item.value else { continue };
        let own = read_column(name, section)?;
        if own.derive.is_some() || own.dates.is_some() || !own.steps.is_empty() {
            all.push(own);
        }
    }
    Ok(all)
}

/// Reads what one column says about cleaning and deriving.
pub(super) fn read_column(name: &str, section: &Section) -> Result<ColumnCleaning> {
    let derive = read_derive(section)?;
    let mut steps = Steps {
        missing: section.texts("missing")?,
        recode: read_recode(section)?,
        number: read_number(section)?,
        date: read_date(section)?,
        spelling: section.word("spelling", &SPELLINGS)?,
        top: section.decimal("top")?,
    };
    if steps.date.is_some() && (steps.number.is_some() || steps.top.is_some() || steps.spelling.is_some()) {
        return Err(section.wrong("date", "cannot be combined with `number`, `spelling` or `top`."));
    }
    if steps.spelling.is_some() && (steps.number.is_some() || steps.top.is_some()) {
        return Err(section.wrong("spelling", "cannot be combined with `number` or `top`."));
    }
    let dates = read_hierarchy_dates(section)?;
    // Shifted cells are written like 2010-03-14, and so is what their hierarchy reads.
    if let (Some(_), None, Some((text, format))) = (section.get("shift"), &steps.date, &dates) {
        steps.date = Some(DateReading::Written(text.clone(), format.clone()));
        return Ok(ColumnCleaning { name: name.to_string(), derive, steps, dates: None });
    }
    if let (true, Some((text, _))) = (steps.date.is_some(), &dates)
        && text != "%Y-%m-%d"
    {
        return Err(section.wrong(
            "date",
            "turns the cells into dates like 2010-03-14. Set hierarchy = { date = \"%Y-%m-%d\" } for this column.",
        ));
    }
    Ok(ColumnCleaning { name: name.to_string(), derive, steps, dates: dates.map(|(_, format)| format) })
}

fn read_derive(section: &Section) -> Result<Option<Derive>> {
    let is_parts = section.get("date").is_some_and(|item| matches!(item.value, Value::Section(_)));
    let keys = [("from", true), ("age", true), ("between", true), ("join", true), ("date", is_parts)];
    let given: Vec<&str> =
        keys.iter().filter(|(key, is)| *is && section.get(key).is_some()).map(|(key, _)| *key).collect();
    if let [_, other, ..] = given[..] {
        return Err(
            section.wrong(other, format!("cannot be combined with `{}`. Derive a column in one way.", given[0]))
        );
    }
    Ok(match given.first() {
        None => None,
        Some(&"from") => section.text("from")?.map(|from| Derive::Copy(from.to_string())),
        Some(&"age") => {
            let wrong =
                || section.wrong("age", "must name a birth date and a date: { born = \"dob\", at = \"admitted\" }.");
            let own = section.section("age")?.ok_or_else(wrong)?;
            own.only(&["born", "at"])?;
            let (Some(born), Some(at)) = (own.text("born")?, own.text("at")?) else { return Err(wrong()) };
            Some(Derive::Age { born: born.to_string(), at: at.to_string() })
        }
        Some(&"between") => match &section.texts("between")?.unwrap_or_default()[..] {
            [start, end] => Some(Derive::Between { start: start.clone(), end: end.clone() }),
            _ => {
                return Err(section.wrong("between", "must name two columns of dates: [\"admitted\", \"discharged\"]."));
            }
        },
        Some(&"join") => match section.texts("join")?.unwrap_or_default() {
            parts if parts.len() >= 2 => Some(Derive::Join(parts)),
            _ => {
                return Err(
                    section.wrong("join", "must name the columns of a key: [\"household\", \"person_number\"].")
                );
            }
        },
        Some(_) => {
            let wrong =
                || section.wrong("date", "must name three columns: { year = \"…\", month = \"…\", day = \"…\" }.");
            let own = section.section("date")?.ok_or_else(wrong)?;
            own.only(&["year", "month", "day"])?;
            match (own.text("year")?, own.text("month")?, own.text("day")?) {
                (Some(year), Some(month), Some(day)) => {
                    Some(Derive::Date { year: year.into(), month: month.into(), day: day.into() })
                }
                _ => return Err(wrong()),
            }
        }
    })
}

fn read_recode(section: &Section) -> Result<Vec<(String, String)>> {
    let wrong = || section.wrong("recode", "must give a text for each value: { \"m\" = \"male\" }.");
    let Some(item) = section.get("recode") else { return Ok(Vec::new()) };
    let Value::Section(own) = &item.value else { return Err(wrong()) };
    let pairs = own.entries.iter().map(|(from, to)| match &to.value {
        // An empty key stands for a missing cell.
        Value::Text(to) if !from.is_empty() || !to.is_empty() => Ok((from.clone(), to.clone())),
        _ => Err(wrong()),
    });
    pairs.collect()
}

/// `number = true`, or `number = "years"`.
fn read_number(section: &Section) -> Result<Option<NumberReading>> {
    match section.get("number").map(|item| &item.value) {
        None | Some(Value::Flag(false)) => Ok(None),
        Some(Value::Flag(true)) => Ok(Some(NumberReading::AsWritten)),
        Some(Value::Text(text)) if text == "years" => Ok(Some(NumberReading::Years)),
        Some(_) => Err(section.wrong("number", "must be true, or \"years\" for ages in years, months and days.")),
    }
}

/// `date = true`, or `date = "%d.%m.%Y"`; a date in three columns derives the column.
fn read_date(section: &Section) -> Result<Option<DateReading>> {
    let Some(item) = section.get("date") else { return Ok(None) };
    Ok(match &item.value {
        Value::Flag(true) => Some(DateReading::FindOut),
        Value::Flag(false) | Value::Section(_) => None,
        Value::Text(text) => {
            let format = DateFormat::new(text).map_err(|e| section.wrong("date", e.message))?;
            Some(DateReading::Written(text.clone(), format))
        }
        _ => {
            return Err(section.wrong(
                "date",
                "must be true, a format such as \"%d.%m.%Y\", or { year = \"…\", month = \"…\", day = \"…\" }.",
            ));
        }
    })
}

/// The format of dates that the column's hierarchy states.
fn read_hierarchy_dates(section: &Section) -> Result<Option<(String, DateFormat)>> {
    let Some(Value::Section(rule)) = section.get("hierarchy").map(|item| &item.value) else { return Ok(None) };
    let Some(Value::Text(text)) = rule.get("date").map(|item| &item.value) else { return Ok(None) };
    // A format that is wrong is an error of the hierarchy.
    Ok(DateFormat::new(text).ok().map(|format| (text.clone(), format)))
}

/// Checks that nothing is released that was derived from a column which is not.
///
/// A column derived from an identifier or a quasi-identifier is a quasi-identifier itself, unless it is dropped. A
/// copy may also be a detail or a pseudonym. Nothing but an identifier may be derived from the patient.
pub(super) fn check_derived(section: &Section, columns: &[Column]) -> Result<()> {
    for column in columns {
        let Some(derive) = &column.derive else { continue };
        let roles = derive.sources().into_iter().filter_map(|name| columns.iter().find(|c| c.name == name));
        for source in roles {
            let is_copy = matches!(derive, Derive::Copy(_));
            let allowed = match (&source.role, &column.role) {
                (_, Role::Identifier) => true,
                (_, Role::Patient) if matches!(derive, Derive::Join(_)) => true,
                (Role::Patient, role) => is_copy && *role == Role::Pseudonym,
                (Role::Identifier | Role::Quasi, Role::Quasi) => true,
                (Role::Identifier | Role::Quasi, Role::Detail { .. } | Role::Pseudonym) => is_copy,
                (Role::Identifier | Role::Quasi, _) => false,
                _ => true,
            };
            if !allowed {
                return Err(derived_error(section, column, source));
            }
        }
    }
    Ok(())
}

fn derived_error(section: &Section, column: &Column, source: &Column) -> Error {
    let line = section.get(&column.name).map_or(section.line, |item| item.line);
    let fix = match source.role {
        Role::Patient => "Set role = \"identifier\", or derive it from another column.",
        _ => "Set role = \"quasi\", or role = \"identifier\" to drop it.",
    };
    section.error(
        line,
        format!(
            "`{}` is derived from `{}` (role \"{}\"), so it may not have role = \"{}\". {fix}",
            column.name,
            source.name,
            source.role.name(),
            column.role.name()
        ),
    )
}

/// Describes how the released columns of a table were cleaned, derived and moved: one sentence for each.
pub(crate) fn sentences(columns: &[Column]) -> Vec<String> {
    // The reader of a certificate refuses longer sentences and characters that cannot be seen.
    const MOST_CHARACTERS: usize = 450;
    let visible = |c: char| if is_hidden(c) { '\u{fffd}' } else { c };
    let released = columns.iter().filter(|column| column.role.is_released() && !column.cleaning.is_empty());
    let sentence = |column: &Column| format!("`{}`: {}.", column.name, column.cleaning.join("; "));
    let shown = |text: String| text.chars().take(MOST_CHARACTERS).map(visible).collect::<String>();
    released.map(sentence).map(shown).chain(super::shift::sentence(columns)).collect()
}

/// Notes for the custodian about exact ages beside exact dates.
pub(super) fn notes(columns: &[Column]) -> Vec<String> {
    if !columns.iter().any(|c| c.role == Role::Patient) {
        return Vec::new();
    }
    let is_exact = |column: &Column| column.role == Role::Quasi && column.levels.contains(&0);
    let ages = columns.iter().filter(|column| is_exact(column));
    let beside = ages.filter_map(|age| match &age.derive {
        Some(Derive::Age { at, .. }) => {
            let date = columns.iter().find(|c| c.name == *at)?;
            (is_exact(date) && matches!(date.rule, Rule::Date(_))).then_some((age, date))
        }
        _ => None,
    });
    let note = |(age, date): (&Column, &Column)| {
        format!(
            "`{}` and `{}` may both be released exactly. For a patient with several rows they reveal the birthday more \
             and more closely. Remove the finest level of one of them with `levels`.",
            age.name, date.name
        )
    };
    beside.map(note).collect()
}
