//! Policies for patient histories: two linked tables, exclusions, and what an attacker knows of events.

use super::column::{Column, Role};
use super::files::PolicyFiles;
use super::privacy::{LedgerRule, Privacy, read_k};
use super::section::{Section, Value, nearest};
use crate::calendar::DateFormat;
use crate::hierarchy::Rule;
use crate::number::{Fraction, K};
use crate::privacy::Knows;
use crate::table::{ExcludeRule, Scope};
use crate::{Error, Result};

/// The rules of the Heritage Health Prize.
const HHP: &str = include_str!("../code_systems/tables/hhp_rules.csv");
const LARGEST_RULES: u64 = 16 << 20;
/// More values of a column than this are not drawn.
const MOST_POWER: u64 = 20;

/// One of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventsTable {
    /// A row for each patient.
    Patients,
    /// A row for each event.
    Events,
}

/// How much an attacker knows of a patient's values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerRule {
    /// It depends on the patient's number of events and their diversity (the paper's equation 1).
    Variable,
    /// The same for all.
    Fixed,
}

/// The facts that an attacker knows about a patient's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// In each event column by itself up to so many values.
    Values {
        /// p_max.
        p: usize,
        /// Whether all patients are known that well.
        rule: PowerRule,
    },
    /// So many whole events.
    Events {
        /// How many.
        p: usize,
    },
    /// Any so many facts in total, over all event columns: counted exactly.
    Total {
        /// How many.
        p: usize,
    },
}

impl Power {
    /// The number in it.
    pub fn p(self) -> usize {
        match self {
            Power::Values { p, .. } | Power::Events { p } | Power::Total { p } => p,
        }
    }
}

/// The treatment of patients without any events in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutEvents {
    /// They leave with the others.
    Keep,
    /// They do not.
    Drop,
}

/// The condition of a rule.
#[derive(Debug, Clone)]
pub enum RuleKind {
    /// Codes in one of these columns of its table.
    Codes {
        /// Their column.
        columns: Vec<usize>,
        /// Ranges, both ends included, in capitals and without dots.
        ranges: Vec<(String, String)>,
        /// Codes that are just so many digits.
        digits: Vec<usize>,
        /// Codes that do not count.
        except: Vec<(String, String)>,
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

impl RuleKind {
    /// Returns whether a cell of one of the columns holds such a code.
    pub fn holds(&self, cell: &[u8]) -> bool {
        let RuleKind::Codes { ranges, digits, except, .. } = self else { return false };
        if cell.is_empty() || ExcludeRule::within(except, cell) {
            return false;
        }
        let whole = || digits.contains(&cell.len()) && cell.iter().all(u8::is_ascii_digit);
        ExcludeRule::within(ranges, cell) || whole()
    }
}

/// The parts of a policy that only patient histories have.
#[derive(Debug, Clone)]
pub struct EventsPolicy {
    /// The columns of the patients' table, in its order.
    pub patients: Vec<Column>,
    /// An exclusion: rows that are removed before anything is counted.
    pub exclude: Vec<EventsRule>,
    /// The facts that the attacker knows.
    pub power: Power,
    /// The share of patients who may be at high risk.
    pub max_high_risk: Fraction,
    /// The events' column that says which of two events is the later.
    pub event_date: Option<usize>,
    /// The treatment of patients without any events in the input.
    pub without_events: WithoutEvents,
    /// The patients' columns that months are counted from.
    pub origins: Vec<usize>,
}

/// A table of the policy: its name, its columns, the file's columns.
pub(super) struct Tables<'a> {
    pub(super) patients: &'a [Column],
    pub(super) events: &'a [Column],
}

impl EventsPolicy {
    /// Reads what is said of events over the columns of both tables.
    pub(super) fn read(
        root: &Section,
        files: &PolicyFiles,
        tables: &Tables,
        notes: &mut Vec<String>,
    ) -> Result<EventsPolicy> {
        check_columns(root, tables)?;
        let method = root.section("method")?.unwrap_or_else(|| Section::empty(&root.file, "[method]"));
        let privacy = root.section("privacy")?.unwrap_or_else(|| Section::empty(&root.file, "[privacy]"));
        let event_date = match method.text("event_date")? {
            None => None,
            Some(name) => Some(find(&method, "event_date", name, tables.events)?),
        };
        let words = [("keep", WithoutEvents::Keep), ("drop", WithoutEvents::Drop)];
        Ok(EventsPolicy {
            patients: tables.patients.to_vec(),
            exclude: read_rules(root, files, tables, notes)?,
            power: read_power(&privacy)?,
            max_high_risk: read_high_risk(&privacy)?,
            event_date,
            without_events: method.word("without_events", &words)?.unwrap_or(WithoutEvents::Keep),
            origins: origins(tables),
        })
    }

    /// The patients' columns with which `is` agrees.
    pub fn positions(&self, is: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.patients.len()).filter(|&c| is(&self.patients[c].role)).collect()
    }
}

fn origins(tables: &Tables) -> Vec<usize> {
    let named = |c: &Column| match c.months.as_ref().map(|m| &m.origin) {
        Some(super::column::Origin::Column(name)) => tables.patients.iter().position(|p| p.name == *name),
        _ => None,
    };
    tables.events.iter().filter_map(named).collect()
}

/// k, for events.
pub(super) fn read_privacy(section: &Section, k: Option<K>) -> Result<Privacy> {
    section.only(&["k", "max_risk", "preset", "power", "power_total", "power_rule", "knowledge", "max_high_risk"])?;
    let (k, preset) = read_k(section, k)?;
    let (confidence, l_diversity, t_closeness) = (None, None, None);
    Ok(Privacy {
        k,
        preset,
        knows: Knows::All,
        confidence,
        l_diversity,
        t_closeness,
        not_together: Vec::new(),
        ledger: LedgerRule::Tell,
    })
}

fn read_power(section: &Section) -> Result<Power> {
    let rule = section.word("power_rule", &[("variable", PowerRule::Variable), ("fixed", PowerRule::Fixed)])?;
    let events = section.word("knowledge", &[("values", false), ("events", true)])?.unwrap_or(false);
    let number = |key: &str, most: u64| match section.whole(key)? {
        Some(0) => Err(section
            .wrong(key, "0 means an attacker who knows no events. 2 is usual for short histories; the paper uses 5.")),
        Some(p) if p > most => Err(section.wrong(key, format!("must be at most {most}."))),
        p => Ok(p.map(|p| p as usize)),
    };
    match (number("power", MOST_POWER)?, number("power_total", 3)?) {
        (Some(_), Some(_)) => Err(section.wrong("power_total", "and `power` are alternatives. Keep one of them.")),
        (None, Some(_)) if rule.is_some() || section.get("knowledge").is_some() => Err(section.wrong(
            "power_total",
            "cannot be combined with `power_rule` or `knowledge`. Remove them, or use \
                 `power`.",
        )),
        (None, Some(p)) => Ok(Power::Total { p }),
        (Some(p), None) if events => match rule {
            Some(PowerRule::Variable) => {
                Err(section.wrong("power_rule", "must be \"fixed\" with knowledge = \"events\"."))
            }
            _ => Ok(Power::Events { p }),
        },
        (Some(p), None) => Ok(Power::Values { p, rule: rule.unwrap_or(PowerRule::Variable) }),
        (None, None) => Err(section.error(
            section.line,
            "[privacy] sets neither `power` nor `power_total`, which state how much an attacker may know about a \
             patient's events. There is no default; the paper uses power = 5, and power_total = 2 is counted \
             exactly and suits short histories.",
        )),
    }
}

fn read_high_risk(section: &Section) -> Result<Fraction> {
    let Some(max) = section.share("max_high_risk")? else {
        return Err(section.error(
            section.line,
            "[privacy] does not set `max_high_risk`, the maximum share of patients with fewer than k matches. There \
             is no default; 0.1 is usual.",
        ));
    };
    if max.parts().0 >= max.parts().1 {
        return Err(section.wrong("max_high_risk", "1 protects nobody. 0.1 is usual."));
    }
    if max.is_zero() && section.get("power_total").is_none() {
        return Err(section.wrong(
            "max_high_risk",
            "an estimate can never guarantee 0. Set 0.01, or use power_total = 2, which is counted exactly.",
        ));
    }
    Ok(max)
}

fn check_columns(root: &Section, tables: &Tables) -> Result<()> {
    let at = root.get("columns").map_or(0, |i| i.line);
    for (columns, name) in [(tables.patients, "patients"), (tables.events, "claims")] {
        if columns.iter().all(|c| c.role != Role::Patient) {
            return Err(root.error(
                at,
                format!("[columns.{name}] has no column with role = \"patient\", which links the two tables."),
            ));
        }
        for column in columns {
            let allowed = match column.role {
                Role::Identifier | Role::Patient | Role::Quasi | Role::Other { .. } => true,
                Role::Pseudonym => name == "claims",
                _ => false,
            };
            if !allowed {
                return Err(root.error(
                    at,
                    format!(
                        "`{}` in [columns.{name}] has the role \"{}\", which this table does not support. Use \
                         quasi, identifier, other with a reason{}.",
                        column.name,
                        column.role.name(),
                        if name == "claims" { ", or pseudonym" } else { "" }
                    ),
                ));
            }
            if column.months.is_some() && name == "patients" {
                return Err(root.error(
                    at,
                    format!("`{}`: months_since can only be used for events, in [columns.claims].", column.name),
                ));
            }
            if let Some(since) = &column.months
                && let super::column::Origin::Column(origin) = &since.origin
                && !tables.patients.iter().any(|c| c.name == *origin)
            {
                return Err(root.error(at, format!("`{}`: months_since must be \"first\", \"first-in-year\" or a column of the patients' table; it has no `{origin}`.", column.name)));
            }
            // The id of the release has this name.
            if column.role.is_released() && column.name == "patient" {
                return Err(root.error(
                    at,
                    format!(
                        "[columns.{name}]: the release uses the name `patient` for its \
                     random id. Derive the column under another name: new = {{ from = \"patient\", … }}."
                    ),
                ));
            }
        }
    }
    if !tables.events.iter().any(|c| c.role == Role::Quasi) {
        return Err(root.error(
            at,
            "[columns.claims] has no column with role = \"quasi\", so the policy does not \
             state what an attacker may know about events.",
        ));
    }
    Ok(())
}

fn find(section: &Section, key: &str, name: &str, columns: &[Column]) -> Result<usize> {
    columns.iter().position(|c| c.name == name).ok_or_else(|| {
        let hint = nearest(name, columns.iter().map(|c| c.name.as_str()));
        let hint = hint.map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
        section.wrong(key, format!("there is no column `{name}`.{hint}"))
    })
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

fn read_rules(
    root: &Section,
    files: &PolicyFiles,
    tables: &Tables,
    notes: &mut Vec<String>,
) -> Result<Vec<EventsRule>> {
    let mut rules = Vec::new();
    for item in root.list("exclude")?.unwrap_or_default() {
        let Value::Section(section) = &item.value else {
            return Err(root.wrong("exclude", "must be [[exclude]] sections with table, column, codes and scope."));
        };
        section.only(&[
            "table", "column", "codes", "scope", "rules", "icd9", "cpt", "place", "except", "birth", "date", "dates",
        ])?;
        let table = section.word("table", &[("patients", EventsTable::Patients), ("claims", EventsTable::Events)])?;
        let Some(table) = table else {
            return Err(section.error(
                section.line,
                "[[exclude]] does not name a `table`. Set table = \"patients\" \
                 or \"claims\".",
            ));
        };
        let columns = match table {
            EventsTable::Patients => tables.patients,
            EventsTable::Events => tables.events,
        };
        match section.text("rules")? {
            Some(name) => read_rule_table(section, name, files, (table, columns), tables, &mut rules, notes)?,
            None => rules.push(read_rule(section, (table, columns))?),
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
    let (ranges, digits) = read_codes(codes.iter().map(String::as_str)).map_err(|_| wrong())?;
    if ranges.is_empty() && digits.is_empty() {
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
    let except = read_except(section)?;
    let kind = RuleKind::Codes { columns: vec![column], ranges, digits, except };
    Ok(EventsRule { name: format!("{name}: {}", codes.join(" ")), table, kind, scope })
}

fn read_except(section: &Section) -> Result<Vec<(String, String)>> {
    let texts = section.texts("except")?.unwrap_or_default();
    let (ranges, _) = read_codes(texts.iter().map(String::as_str))
        .map_err(|_| section.wrong("except", "must be a list of codes and ranges: [\"305.1\"]."))?;
    Ok(ranges)
}

/// Ranges of codes, and how many digits codes have that are nothing but digits (`###`).
type Codes = (Vec<(String, String)>, Vec<usize>);

fn read_codes<'a>(texts: impl IntoIterator<Item = &'a str>) -> std::result::Result<Codes, String> {
    let (mut ranges, mut digits) = (Vec::new(), Vec::new());
    for text in texts {
        if !text.is_empty() && text.bytes().all(|b| b == b'#') {
            digits.push(text.len());
        } else {
            ranges.push(ExcludeRule::range(text).ok_or_else(|| text.to_string())?);
        }
    }
    Ok((ranges, digits))
}

/// A table of rules: `rule;kind;codes;scope`, codes separated by spaces or commas.
fn read_rule_table(
    section: &Section,
    name: &str,
    files: &PolicyFiles,
    (table, columns): (EventsTable, &[Column]),
    tables: &Tables,
    rules: &mut Vec<EventsRule>,
    notes: &mut Vec<String>,
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
    let (icd9, cpt, place) =
        (find_all(section, "icd9", columns)?, find_all(section, "cpt", columns)?, find_all(section, "place", columns)?);
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
            "icd9" => &icd9,
            "cpt" => &cpt,
            "place" => &place,
            "age" => match read_age(section, codes, tables, table)? {
                Some(kind) => {
                    rules.push(EventsRule { name: rule.into(), table, kind, scope });
                    continue;
                }
                None => {
                    notes.push(format!(
                        "exclusion \"{rule}\" was not applied. Set `birth`, `date` and `dates` in [[exclude]] to \
                         apply it."
                    ));
                    continue;
                }
            },
            _ => return Err(wrong("the kind must be icd9, cpt, place or age.".into())),
        };
        let texts = codes.split([' ', ',']).filter(|c| !c.is_empty());
        let (ranges, digits) = read_codes(texts).map_err(|range| {
            wrong(format!("`{range}` is not a code or a range of codes: its end is before its start."))
        })?;
        if ranges.is_empty() && digits.is_empty() {
            return Err(wrong("the rule does not list any codes.".into()));
        }
        if own.is_empty() {
            notes.push(format!(
                "exclusion \"{rule}\" was not applied, because [[exclude]] does not name a column \
                 for `{kind}`."
            ));
            continue;
        }
        let kind = RuleKind::Codes { columns: own.clone(), ranges, digits, except: except.clone() };
        rules.push(EventsRule { name: rule.into(), table, kind, scope });
    }
    Ok(())
}

/// `birth`, a column of the patients, and `date`, one of the events, both written as `dates` says.
fn read_age(section: &Section, codes: &str, tables: &Tables, table: EventsTable) -> Result<Option<RuleKind>> {
    let (Some(birth), Some(date), Some(format)) =
        (section.text("birth")?, section.text("date")?, section.text("dates")?)
    else {
        return Ok(None);
    };
    if table != EventsTable::Events {
        return Err(section.wrong("birth", "can only be used for events, with table = \"claims\"."));
    }
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
        date: (find(section, "date", date, tables.events)?, format),
        days,
    }))
}

impl Column {
    /// The format of its dates, where it has one.
    pub fn date_format(&self) -> Option<&DateFormat> {
        match (&self.months, &self.rule) {
            (Some(since), _) => Some(&since.date),
            (None, Rule::Date(format)) => Some(format),
            _ => None,
        }
    }
}
