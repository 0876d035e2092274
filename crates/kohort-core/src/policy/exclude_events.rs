//! `[[exclude]]` for patient histories: events alone, or patients with all their events.

use super::bind::PATIENTS;
use super::column::Column;
use super::events::Tables;
use super::exclude::find;
use super::files::PolicyFiles;
use super::section::{Section, Value};
use crate::calendar::DateFormat;
use crate::table::{CodeSpan, ExcludedCodes, Scope};
use crate::{Error, Result};

/// The rules of the Heritage Health Prize.
const HHP: &str = include_str!("../code_systems/tables/hhp_rules.csv");
const LARGEST_RULES: u64 = 16 << 20;
/// One of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventsTable {
    /// A row for each patient.
    Patients,
    /// A row for each event: which of the tables of events.
    Events(usize),
}

/// The condition of a rule.
#[derive(Debug, Clone)]
pub enum RuleKind {
    /// Codes in one of these columns of its table.
    Codes {
        /// Their column.
        columns: Vec<usize>,
        /// The codes.
        codes: ExcludedCodes,
    },
    /// Events so many days after the patient's birth.
    Age {
        /// The patients' column of births, and how it is written.
        birth: (usize, DateFormat),
        /// The events' column of dates, and how it is written.
        date: (usize, DateFormat),
        /// From and to, both included.
        days: (i64, i64),
    },
}

/// An exclusion: rows that are removed before anything is counted.
#[derive(Debug, Clone)]
pub struct EventsRule {
    /// Its name in reports.
    pub name: String,
    /// The table it looks at.
    pub table: EventsTable,
    /// The condition.
    pub kind: RuleKind,
    /// The scope: what is excluded where the condition holds.
    pub scope: Scope,
}

/// The columns that names and patterns ending in `*` match.
fn find_all(section: &Section, key: &str, columns: &[Column]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for name in section.texts(key)?.unwrap_or_default() {
        match name.strip_suffix('*') {
            Some(prefix) => {
                let own: Vec<usize> = (0..columns.len()).filter(|&c| columns[c].name.starts_with(prefix)).collect();
                if own.is_empty() {
                    return Err(section.wrong(key, format!("no column begins with `{prefix}`.")));
                }
                found.extend(own);
            }
            None => found.push(find(section, key, &name, columns)?),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

pub(super) fn read_rules(
    root: &Section,
    files: &PolicyFiles,
    tables: &Tables,
    notes: &mut Vec<String>,
) -> Result<Vec<EventsRule>> {
    let mut rules = Vec::new();
    let mut not_applied = Vec::new();
    for item in root.list("exclude")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("exclude", "must be [[exclude]] sections with table, column, codes and scope."));
        };
        section.only(&[
            "table",
            "column",
            "codes",
            "scope",
            "rules",
            "icd9",
            "icd10",
            "icd10_procedure",
            "cpt",
            "place",
            "except",
            "birth",
            "date",
            "dates",
            "visible",
        ])?;
        let events = tables.events.iter().enumerate().map(|(t, own)| (own.name.as_str(), EventsTable::Events(t)));
        let words: Vec<(&str, EventsTable)> =
            std::iter::once((PATIENTS, EventsTable::Patients)).chain(events).collect();
        let Some(table) = section.word("table", &words)? else {
            return Err(section.error(
                section.line,
                format!(
                    "[[exclude]] does not name a `table`. Set table = \"{}\".",
                    words.iter().map(|word| word.0).collect::<Vec<_>>().join("\" or \"")
                ),
            ));
        };
        let columns = match table {
            EventsTable::Patients => tables.patients,
            EventsTable::Events(t) => &tables.events[t].columns,
        };
        match section.text("rules")? {
            Some(name) => {
                read_rule_table(section, name, files, (table, columns), tables, &mut rules, (notes, &mut not_applied))?
            }
            None => rules.push(read_rule(section, (table, columns))?),
        }
    }
    // Rules about one table are often not about another: one is missed only if no section applies it.
    for (rule, note) in not_applied {
        if !rules.iter().any(|own| own.name == rule) && !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(rules)
}

/// One rule, as the policy states it.
fn read_rule(section: &Section, (table, columns): (EventsTable, &[Column])) -> Result<EventsRule> {
    let Some(name) = section.text("column")? else {
        return Err(section.error(section.line, "[[exclude]] needs a `column` or `rules`."));
    };
    let column = find(section, "column", name, columns)?;
    let codes = section.texts("codes")?.unwrap_or_default();
    let wrong = || section.wrong("codes", "must be a list of codes and ranges: [\"042-044\", \"V08\"].");
    let excluded = ExcludedCodes::read(codes.iter().map(String::as_str)).map_err(|_| wrong())?;
    if excluded.is_empty() {
        return Err(wrong());
    }
    let scope = match (section.word("scope", &[("row", Scope::Row), ("patient", Scope::Patient)])?, table) {
        (_, EventsTable::Patients) => Scope::Patient,
        (Some(scope), _) => scope,
        (None, _) => {
            return Err(section.error(
                section.line,
                "[[exclude]] does not set `scope`: \"patient\" excludes all events of a patient who has such a \
                 code, \"row\" only that event.",
            ));
        }
    };
    let kind =
        RuleKind::Codes { columns: vec![column], codes: ExcludedCodes { except: read_except(section)?, ..excluded } };
    Ok(EventsRule { name: format!("{name}: {}", codes.join(" ")), table, kind, scope })
}

fn read_except(section: &Section) -> Result<Vec<CodeSpan>> {
    let texts = section.texts("except")?.unwrap_or_default();
    let codes = ExcludedCodes::read(texts.iter().map(String::as_str))
        .map_err(|_| section.wrong("except", "must be a list of codes and ranges: [\"305.1\"]."))?;
    Ok(codes.ranges)
}

/// A table of rules: `rule;kind;codes;scope`, codes separated by spaces or commas.
fn read_rule_table(
    section: &Section,
    name: &str,
    files: &PolicyFiles,
    (table, columns): (EventsTable, &[Column]),
    tables: &Tables,
    rules: &mut Vec<EventsRule>,
    (notes, not_applied): (&mut Vec<String>, &mut Vec<(String, String)>),
) -> Result<()> {
    for key in ["column", "codes", "scope"] {
        if section.get(key).is_some() {
            return Err(section.wrong(key, "is already part of the rules file. Remove it here."));
        }
    }
    let text = match name {
        "hhp" => HHP.to_string(),
        file => files.read(file, LARGEST_RULES)?,
    };
    let except = read_except(section)?;
    let own_columns = RuleColumns::read(section, columns)?;
    let mut without_columns: Vec<(&str, &str)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if number == 1 && line.starts_with("rule;") || line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: String| Error::yours(format!("{name}, line {number}: {what}"));
        let cells: Vec<&str> = line.split(';').map(str::trim).collect();
        let [rule, kind, codes, scope, ..] = cells[..] else {
            return Err(wrong("a rule needs four cells: rule;kind;codes;scope.".into()));
        };
        let scope = match scope {
            "patient" => Scope::Patient,
            "row" | "claim" => Scope::Row,
            _ => return Err(wrong("the scope must be patient or row.".into())),
        };
        let own = match kind {
            "icd9" => &own_columns.icd9,
            "icd10" => &own_columns.icd10,
            "icd10-procedure" => &own_columns.icd10_procedure,
            "cpt" => &own_columns.cpt,
            "place" => &own_columns.place,
            "age" => match read_age(section, codes, tables, table)? {
                Some(kind) => {
                    rules.push(EventsRule { name: rule.into(), table, kind, scope });
                    continue;
                }
                None => {
                    let note = format!(
                        "exclusion \"{rule}\" was not applied. Set `birth`, `date` and `dates` in [[exclude]] to \
                         apply it."
                    );
                    not_applied.push((rule.into(), note));
                    continue;
                }
            },
            _ => return Err(wrong("the kind must be icd9, icd10, icd10-procedure, cpt, place or age.".into())),
        };
        let texts = codes.split([' ', ',']).filter(|c| !c.is_empty());
        let excluded = ExcludedCodes::read(texts).map_err(|range| {
            wrong(format!("`{range}` is not a code or a range of codes: its end is before its start."))
        })?;
        if excluded.is_empty() {
            return Err(wrong("the rule does not list any codes.".into()));
        }
        if own.is_empty() {
            without_columns.push((rule, kind));
            continue;
        }
        let codes = ExcludedCodes { except: except.clone(), ..excluded };
        let kind = RuleKind::Codes { columns: own.clone(), codes };
        rules.push(EventsRule { name: rule.into(), table, kind, scope });
    }
    // A rule for ICD-9 is not missed where the same rule for ICD-10 is applied, and the other way round.
    let mut said: Vec<&str> = Vec::new();
    for (rule, kind) in without_columns {
        if !said.contains(&rule) {
            said.push(rule);
            let key = kind.replace('-', "_");
            let note = format!(
                "exclusion \"{rule}\" was not applied, because [[exclude]] does not name a column for `{key}`."
            );
            not_applied.push((rule.into(), note));
        }
    }
    let visible = read_visible(section, files)?;
    match visible {
        Some(codes) if !codes.is_empty() => {
            let columns = own_columns.diagnoses();
            if columns.is_empty() {
                return Err(section.wrong("visible", "needs a column of diagnoses under `icd9` or `icd10`."));
            }
            let codes = ExcludedCodes { except: except.clone(), ..codes };
            let kind = RuleKind::Codes { columns, codes };
            rules.push(EventsRule { name: VISIBLE.into(), table, kind, scope: Scope::Patient });
        }
        Some(_) => notes.push(format!("the list of {VISIBLE} is empty, so that nobody is excluded for them.")),
        None if name == "hhp" => {
            let note = format!(
                "the paper also excludes patients with {VISIBLE}, and does not print their list. Set visible = \
                 \"list.csv\" in [[exclude]], with a code or a range of codes on each line."
            );
            not_applied.push((VISIBLE.into(), note));
        }
        None => {}
    }
    Ok(())
}

/// The name of the rule that `visible` makes.
const VISIBLE: &str = "rare and visible diseases";

/// The columns that a table of rules looks at, by kind of code.
struct RuleColumns {
    icd9: Vec<usize>,
    icd10: Vec<usize>,
    icd10_procedure: Vec<usize>,
    cpt: Vec<usize>,
    place: Vec<usize>,
}

impl RuleColumns {
    fn read(section: &Section, columns: &[Column]) -> Result<RuleColumns> {
        let of = |key: &str| find_all(section, key, columns);
        Ok(RuleColumns {
            icd9: of("icd9")?,
            icd10: of("icd10")?,
            icd10_procedure: of("icd10_procedure")?,
            cpt: of("cpt")?,
            place: of("place")?,
        })
    }

    /// The columns of diagnoses, each once.
    fn diagnoses(&self) -> Vec<usize> {
        let mut all = [&self.icd9[..], &self.icd10].concat();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The list that `visible` names: on each line a code or a range, and after `;` or `,` whatever describes it.
fn read_visible(section: &Section, files: &PolicyFiles) -> Result<Option<ExcludedCodes>> {
    let Some(name) = section.text("visible")? else { return Ok(None) };
    let text = files.read(name, LARGEST_RULES)?;
    let first = |line: &str| line.split([';', ',']).next().unwrap_or_default().trim().to_string();
    let codes: Vec<String> = text.lines().map(first).collect();
    let is_code = |code: &&String| !code.is_empty() && !code.starts_with('#') && !code.eq_ignore_ascii_case("code");
    let codes = codes.iter().filter(is_code).map(String::as_str);
    let wrong = |range: String| Error::yours(format!("{name}: `{range}` is not a code or a range of codes."));
    ExcludedCodes::read(codes).map(Some).map_err(wrong)
}

/// Columns that rules for one code system look at, and the rules' system: `icd9` or `icd10`.
pub(super) fn systems(
    root: &Section,
    tables: &Tables,
) -> Result<Vec<(EventsTable, usize, crate::code_systems::CodeSystem)>> {
    use crate::code_systems::CodeSystem;
    let mut all = Vec::new();
    for item in root.list("exclude")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else { continue };
        let events = tables.events.iter().position(|own| section.text("table").ok().flatten() == Some(&own.name));
        let (table, columns) = match events {
            Some(t) => (EventsTable::Events(t), &tables.events[t].columns[..]),
            None => (EventsTable::Patients, tables.patients),
        };
        let own = RuleColumns::read(section, columns)?;
        // A column may hold both systems, if both are named.
        let only = |column: &&usize, other: &[usize]| !other.contains(column);
        let icd9 = own.icd9.iter().filter(|c| only(c, &own.icd10)).map(|&c| (table, c, CodeSystem::Icd9));
        let icd10 = own.icd10.iter().filter(|c| only(c, &own.icd9)).map(|&c| (table, c, CodeSystem::Icd10));
        all.extend(icd9.chain(icd10));
    }
    Ok(all)
}

/// `birth`, a column of the patients, and `date`, one of the events, both written as `dates` says.
fn read_age(section: &Section, codes: &str, tables: &Tables, table: EventsTable) -> Result<Option<RuleKind>> {
    let (Some(birth), Some(date), Some(format)) =
        (section.text("birth")?, section.text("date")?, section.text("dates")?)
    else {
        return Ok(None);
    };
    let EventsTable::Events(events) = table else {
        return Err(section.wrong("birth", "can only be used for a table of events."));
    };
    let format = DateFormat::new(format).map_err(|e| section.wrong("dates", e.message))?;
    let days = codes.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let days = days.filter(|(from, to): &(i64, i64)| from <= to);
    let Some(days) = days else {
        return Err(section.wrong(
            "rules",
            "an age must be a range of days, for example \
         0-28.",
        ));
    };
    Ok(Some(RuleKind::Age {
        birth: (find(section, "birth", birth, tables.patients)?, format.clone()),
        date: (find(section, "date", date, &tables.events[events].columns)?, format),
        days,
    }))
}
