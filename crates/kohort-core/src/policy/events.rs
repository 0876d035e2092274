//! Policies for patient histories: two linked tables, exclusions, and what an attacker knows of events.

use super::bind::PATIENTS;
use super::column::{Column, Role};
use super::exclude::find;
use super::exclude_events::{EventsRule, EventsTable, read_rules, systems};
use super::files::PolicyFiles;
use super::privacy::{Privacy, read_k, read_ledger};
use super::section::{Section, Value};
use crate::Result;
use crate::calendar::DateFormat;
use crate::code_systems::CodeSystem;
use crate::hierarchy::Rule;
use crate::number::{Fraction, K};
use crate::privacy::Knows;

/// More values of a column than this are not drawn.
const MOST_POWER: u64 = 20;

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
        /// The patients who are known that well.
        rule: PowerRule,
    },
    /// So many whole events.
    Events {
        /// How many.
        p: usize,
    },
    /// Two columns of so many events of one table, whichever two.
    Pairs {
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
            Power::Values { p, .. } | Power::Events { p } | Power::Pairs { p } | Power::Total { p } => p,
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

/// The parts of a policy that only patient histories have.
#[derive(Debug, Clone)]
pub struct EventsPolicy {
    /// The columns of the patients' table, in its order.
    pub patients: Vec<Column>,
    /// The tables of events.
    pub tables: Vec<EventTable>,
    /// An exclusion: rows that are removed before anything is counted.
    pub exclude: Vec<EventsRule>,
    /// The facts that the attacker knows.
    pub power: Power,
    /// The share of patients who may be at high risk.
    pub max_high_risk: Fraction,
    /// The treatment of patients without any events in the input.
    pub without_events: WithoutEvents,
    /// The patients' columns that months are counted from.
    pub origins: Vec<usize>,
    /// The columns that rules for one code system look at.
    pub systems: Vec<(EventsTable, usize, CodeSystem)>,
}

/// The most pairs of event columns for which a limit is counted: 32 columns of one table have as many.
pub(crate) const MOST_PAIRS: usize = 496;

/// A table of events.
#[derive(Debug, Clone)]
pub struct EventTable {
    /// Its name in the policy; the release calls its file NAME.csv.
    pub name: String,
    /// Its columns, in its order.
    pub columns: Vec<Column>,
    /// The column that says which of two events is the later.
    pub event_date: Option<usize>,
}

impl EventTable {
    /// Its column of patients.
    pub fn patient(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.role == Role::Patient)
    }
}

/// The tables of a policy for patient histories.
pub(super) struct Tables<'a> {
    pub(super) patients: &'a [Column],
    pub(super) events: &'a [EventTable],
}

impl EventsPolicy {
    /// Reads what is said of events over the columns of all tables.
    pub(super) fn read(
        root: &Section,
        files: &PolicyFiles,
        tables: &Tables,
        notes: &mut Vec<String>,
    ) -> Result<EventsPolicy> {
        check_columns(root, tables)?;
        let method = root.section("method")?.unwrap_or_else(|| Section::empty(&root.file, "[method]"));
        let privacy = root.section("privacy")?.unwrap_or_else(|| Section::empty(&root.file, "[privacy]"));
        let words = [("keep", WithoutEvents::Keep), ("drop", WithoutEvents::Drop)];
        let power = read_power(&privacy)?;
        if matches!(power, Power::Pairs { .. }) && pairs_of_columns(tables) > MOST_PAIRS {
            return Err(privacy.wrong(
                "knowledge",
                format!("there are more than {MOST_PAIRS} pairs of event columns. Drop columns, or use \"events\", which is stricter."),
            ));
        }
        Ok(EventsPolicy {
            patients: tables.patients.to_vec(),
            tables: with_dates(&method, tables.events)?,
            exclude: read_rules(root, files, tables, notes)?,
            power,
            max_high_risk: read_high_risk(&privacy)?,
            without_events: method.word("without_events", &words)?.unwrap_or(WithoutEvents::Keep),
            origins: origins(tables),
            systems: systems(root, tables)?,
        })
    }

    /// The patients' columns with which `is` agrees.
    pub fn positions(&self, is: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.patients.len()).filter(|&c| is(&self.patients[c].role)).collect()
    }
}

/// The number of pairs of quasi-identifiers, each of one table of events.
fn pairs_of_columns(tables: &Tables) -> usize {
    let quasi = tables.events.iter().map(|own| own.columns.iter().filter(|c| c.role == Role::Quasi).count());
    quasi.map(|n| n * n.saturating_sub(1) / 2).sum()
}

fn origins(tables: &Tables) -> Vec<usize> {
    let named = |c: &Column| match c.months.as_ref().map(|m| &m.origin) {
        Some(super::column::Origin::Column(name)) => tables.patients.iter().position(|p| p.name == *name),
        _ => None,
    };
    tables.events.iter().flat_map(|own| &own.columns).filter_map(named).collect()
}

/// The tables of events with their columns of dates: `event_date` names one column, or several for several tables.
fn with_dates(method: &Section, tables: &[EventTable]) -> Result<Vec<EventTable>> {
    let names = match method.get("event_date").map(|item| &item.value) {
        None => Vec::new(),
        Some(Value::Text(name)) => vec![name.clone()],
        Some(_) => method.texts("event_date")?.unwrap_or_default(),
    };
    for name in &names {
        if !tables.iter().any(|own| own.columns.iter().any(|c| c.name == *name)) {
            let columns: Vec<Column> = tables.iter().flat_map(|own| own.columns.clone()).collect();
            find(method, "event_date", name, &columns)?;
        }
    }
    let dated = |own: &EventTable| EventTable {
        event_date: names.iter().find_map(|name| own.columns.iter().position(|c| c.name == *name)),
        ..own.clone()
    };
    Ok(tables.iter().map(dated).collect())
}

/// k, for events.
pub(super) fn read_privacy(section: &Section, k: Option<K>) -> Result<Privacy> {
    section.only(&[
        "k",
        "max_risk",
        "preset",
        "power",
        "power_total",
        "power_rule",
        "knowledge",
        "max_high_risk",
        "ledger",
    ])?;
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
        ledger: read_ledger(section)?,
    })
}

/// The values of an event that are known together: `knowledge` under `[privacy]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    /// None: each column by itself.
    Values,
    /// Those of two columns.
    Pairs,
    /// All.
    Events,
}

fn read_power(section: &Section) -> Result<Power> {
    let rule = section.word("power_rule", &[("variable", PowerRule::Variable), ("fixed", PowerRule::Fixed)])?;
    let words = [("values", Knowledge::Values), ("pairs", Knowledge::Pairs), ("events", Knowledge::Events)];
    let knowledge = section.word("knowledge", &words)?.unwrap_or(Knowledge::Values);
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
        (Some(p), None) => match (knowledge, rule) {
            (Knowledge::Values, rule) => Ok(Power::Values { p, rule: rule.unwrap_or(PowerRule::Variable) }),
            (_, Some(PowerRule::Variable)) => {
                Err(section.wrong("power_rule", "must be \"fixed\" with knowledge = \"pairs\" or \"events\"."))
            }
            (Knowledge::Pairs, _) => Ok(Power::Pairs { p }),
            (Knowledge::Events, _) => Ok(Power::Events { p }),
        },
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
    let events = tables.events.iter().map(|own| (&own.columns[..], own.name.as_str()));
    for (columns, name) in std::iter::once((tables.patients, PATIENTS)).chain(events) {
        let of_events = name != PATIENTS;
        if columns.iter().all(|c| c.role != Role::Patient) {
            return Err(root.error(
                at,
                format!("[columns.{name}] has no column with role = \"patient\", which links the tables."),
            ));
        }
        for column in columns {
            let allowed = match column.role {
                Role::Identifier | Role::Patient | Role::Quasi | Role::Other { .. } => true,
                Role::Pseudonym => of_events,
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
                        if of_events { ", or pseudonym" } else { "" }
                    ),
                ));
            }
            if column.months.is_some() && !of_events {
                return Err(root.error(at, format!("`{}`: months_since can only be used for events.", column.name)));
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
    match tables.events.iter().find(|own| own.columns.iter().all(|c| c.role != Role::Quasi)) {
        None => Ok(()),
        Some(own) => Err(root.error(
            at,
            format!(
                "[columns.{}] has no column with role = \"quasi\", so the policy does not state what an attacker may \
                 know about these events.",
                own.name
            ),
        )),
    }
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

    /// Returns whether its values have an order of their own: numbers in intervals, dates, months and stays have one,
    /// codes that happen to be digits have none.
    pub fn is_ordered(&self) -> bool {
        self.months.is_some() || matches!(self.rule, Rule::Intervals(_) | Rule::Date(_) | Rule::Stay | Rule::Months(_))
    }
}
