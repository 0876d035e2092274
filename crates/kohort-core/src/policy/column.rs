//! The policy for one column.

use super::cleaning;
use super::files::PolicyFiles;
use super::section::{Section, Value};
use crate::calendar::DateFormat;
use crate::code_systems::{CodeSystem, Grouping};
use crate::hierarchy::{FileHierarchy, Intervals, Months, Prefix, Rule};
use crate::number::Decimal;
use crate::table::{ColumnCleaning, Derive, Input};
use crate::visible::is_visible;
use crate::{Error, Result};
use std::path::Path;

/// A hierarchy file holds a line per distinct value: this is far beyond any code system.
const LARGEST_HIERARCHY: u64 = 256 << 20;

/// The role of a column: what an attacker may know of it, and how it is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Names a person directly. Never released.
    Identifier,
    /// The key of a person. Counted, never released.
    Patient,
    /// An attacker may know it.
    Quasi,
    /// A finer value than an attacker knows: blank wherever one of these columns is changed.
    Detail {
        /// The columns it is finer than.
        of: Vec<String>,
    },
    /// Must not be learned about a person.
    Sensitive {
        /// The values that `confidence` is about; `None`: all of them.
        values: Option<Vec<String>>,
    },
    /// The column that analysts want to predict. It is released unchanged.
    Class,
    /// A patient's codes. They leave in chunks, each code as it is.
    Codes {
        /// The text between the codes of a cell; `None`: a cell is one code.
        separator: Option<String>,
    },
    /// For events: who treated, billed or referred. It is released as a random number per patient and value.
    Pseudonym,
    /// Released as it is, for a reason.
    Other {
        /// Why nobody can use it to find a person.
        reason: String,
    },
}

impl Role {
    /// Its name in policies, certificates and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::Patient => "patient",
            Role::Quasi => "quasi",
            Role::Detail { .. } => "detail",
            Role::Sensitive { .. } => "sensitive",
            Role::Class => "class",
            Role::Codes { .. } => "codes",
            Role::Pseudonym => "pseudonym",
            Role::Other { .. } => "other",
        }
    }

    /// Returns whether the column is released.
    pub fn is_released(&self) -> bool {
        !matches!(self, Role::Identifier | Role::Patient)
    }
}

/// The treatment of a value that the column's hierarchy does not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmapped {
    /// The run stops.
    Refused,
    /// It is released as `*`.
    Suppressed,
}

/// The start from which a patient's months are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The patient's first event.
    First,
    /// The patient's first event in the same calendar year.
    FirstInYear,
    /// A date of the patients' table.
    Column(String),
}

/// Dates that are released as months since a start date of each patient.
#[derive(Debug, Clone)]
pub struct MonthsSince {
    /// The start from which they are counted.
    pub origin: Origin,
    /// The format of the dates.
    pub date: DateFormat,
}

/// One column of the input, with all that the policy says of it.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name in the table.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The rule by which its values may be generalized.
    pub rule: Rule,
    /// The rule in words, for dictionaries and reports.
    pub rule_text: String,
    /// The levels a method may choose, ascending; always within the rule's.
    pub levels: Vec<usize>,
    /// The weight of this column when the loss is added up.
    pub weight: Decimal,
    /// The treatment of values that the rule does not cover.
    pub unmapped: Unmapped,
    /// The values that could occur, in their order, where the policy says so.
    pub domain: Option<Vec<String>>,
    /// For a quasi-identifier: the coarser columns that are levels of the same variable.
    pub of: Vec<String>,
    /// The columns it is derived from, if it is not a column of the table itself.
    pub derive: Option<Derive>,
    /// Holds what cleaning does to its cells, in words.
    pub cleaning: Vec<String>,
    /// The most days by which its dates are moved, if they are.
    pub shift: Option<u32>,
    /// For events: its dates are released as months since a start date.
    pub months: Option<MonthsSince>,
    /// Its place among the columns that the policy names.
    pub place: usize,
}

const KEYS: [&str; 22] = [
    "role",
    "hierarchy",
    "levels",
    "weight",
    "from",
    "domain",
    "unmapped",
    "of",
    "values",
    "reason",
    "separator",
    "scope",
    "missing",
    "recode",
    "number",
    "date",
    "spelling",
    "top",
    "age",
    "between",
    "join",
    "shift",
];

impl Column {
    /// Reads a column's section; `files` are where hierarchies are found.
    pub(super) fn read(name: &str, section: &Section, files: &PolicyFiles, input: &Input) -> Result<Column> {
        section.only(&KEYS)?;
        let role = read_role(section)?;
        let (mut rule, rule_text, months) = read_rule(section, files, input)?;
        let mut unmapped = Unmapped::Refused;
        if let (Rule::Groups(grouping, to), Some(group)) = (&mut rule, section.text("unmapped")?)
            && grouping.groups().contains(&group)
        {
            *to = Some(group.to_string());
        } else if let Some(given) = section.word("unmapped", &[("suppress", Unmapped::Suppressed)])? {
            unmapped = given;
        }
        let levels = read_levels(section, &rule)?;
        let weight = section.decimal("weight")?.unwrap_or(Decimal::whole(1));
        if weight <= Decimal::whole(0) || weight > Decimal::whole(1000) {
            return Err(section.wrong("weight", "must be above 0 and at most 1000."));
        }
        let domain = section.texts("domain")?;
        let of = if role == Role::Quasi { section.texts("of")?.unwrap_or_default() } else { Vec::new() };
        let ColumnCleaning { name, derive, .. } = cleaning::read_column(name, section)?;
        let shift = super::shift::read(section, &role, &mut rule)?;
        let cleaning = Vec::new();
        let place = 0;
        let column = Column {
            name,
            role,
            rule,
            rule_text,
            levels,
            weight,
            unmapped,
            domain,
            of,
            derive,
            cleaning,
            shift,
            months,
            place,
        };
        column.check(section)?;
        Ok(column)
    }

    fn check(&self, section: &Section) -> Result<()> {
        let quasi = self.role == Role::Quasi;
        for key in ["levels", "weight", "unmapped"] {
            if !quasi && section.get(key).is_some() {
                return Err(section.wrong(key, "is for quasi-identifiers (role = \"quasi\")."));
            }
        }
        let sensitive = matches!(self.role, Role::Sensitive { .. });
        if !quasi && !sensitive && section.get("hierarchy").is_some() {
            return Err(
                section.wrong("hierarchy", format!("has no effect on a column with role \"{}\".", self.role.name()))
            );
        }
        Ok(())
    }
}

fn read_role(section: &Section) -> Result<Role> {
    let only_with = |key: &str, role: &str| match section.get(key) {
        Some(_) => Err(section.wrong(key, format!("can only be used with role = \"{role}\"."))),
        None => Ok(()),
    };
    let text = |reason: Option<&str>| reason.map(str::trim).filter(|r| !r.is_empty()).map(str::to_string);
    let words = ["identifier", "patient", "quasi", "detail", "sensitive", "class", "codes", "pseudonym", "other"];
    let Some(role) = section.word("role", &words.map(|w| (w, w)))? else {
        return Err(section.error(
            section.line,
            format!("column {} has no role. Give it one of: {}.", section.name, words.join(", ")),
        ));
    };
    if role != "other" {
        only_with("reason", "other")?;
    }
    if role != "sensitive" {
        only_with("values", "sensitive")?;
    }
    if role != "codes" {
        only_with("separator", "codes")?;
    }
    if role != "pseudonym" {
        only_with("scope", "pseudonym")?;
    }
    if role != "detail" && role != "quasi" {
        only_with("of", "detail")?;
    }
    Ok(match role {
        "identifier" => Role::Identifier,
        "patient" => Role::Patient,
        "quasi" => Role::Quasi,
        "detail" => match section.texts("of")? {
            Some(of) if !of.is_empty() => Role::Detail { of },
            _ => return Err(section.wrong("of", "must name the columns that this one is a detail of: of = [\"…\"].")),
        },
        "sensitive" => {
            let values = section.texts("values")?;
            if values.as_ref().is_some_and(Vec::is_empty) {
                return Err(section.wrong("values", "is empty. Remove it if every value is sensitive."));
            }
            if values.iter().flatten().any(|value| !is_visible(value)) {
                return Err(
                    section.wrong("values", "lists a value that cannot be seen, or that holds hidden characters.")
                );
            }
            Role::Sensitive { values }
        }
        "class" => Role::Class,
        "pseudonym" => match section.word("scope", &[("patient", ())])? {
            Some(()) => Role::Pseudonym,
            None => {
                return Err(section.error(
                    section.line,
                    format!(
                        "column {} has role = \"pseudonym\" but no `scope`. Set scope = \"patient\": numbers \
                         start anew for each patient, so that they do not link patients to one another.",
                        section.name
                    ),
                ));
            }
        },
        "codes" => {
            let separator = section.text("separator")?.map(str::to_string);
            if separator.as_deref().is_some_and(str::is_empty) {
                return Err(section.wrong("separator", "must be the text between two codes, such as \" \" or \";\"."));
            }
            Role::Codes { separator }
        }
        _ => match text(section.text("reason")?) {
            Some(reason) => Role::Other { reason },
            None => {
                return Err(section.wrong(
                    "reason",
                    "is required. Explain why no outsider could know this column and \
                     use it to find a person. If they could, set role = \"quasi\".",
                ));
            }
        },
    })
}

/// The rule and its description.
fn read_rule(section: &Section, files: &PolicyFiles, input: &Input) -> Result<(Rule, String, Option<MonthsSince>)> {
    let Some(item) = section.get("hierarchy") else { return Ok((Rule::Flat, "the value, or *".into(), None)) };
    if let Value::Section(rule) = &item.value
        && rule.get("months_since").is_some()
    {
        return read_months(rule);
    }
    let (rule, text) = match &item.value {
        Value::Text(name) if name == "icd9" => Ok((Rule::Codes(CodeSystem::Icd9), "ICD-9-CM (built in)".into())),
        Value::Text(name) if name == "icd10" => Ok((Rule::Codes(CodeSystem::Icd10), "ICD-10-CM (built in)".into())),
        Value::Text(name) if name == "los" => Ok((Rule::Stay, "days of a stay (built in)".into())),
        Value::Text(file) => {
            if let Some(grouping) = Grouping::named(file) {
                return Ok((Rule::Groups(grouping, None), grouping.title().to_string(), None));
            }
            if !files.has(file) {
                return Err(section.wrong(
                    "hierarchy",
                    format!(
                        "file not found: {}. Built-in hierarchies: \"icd9\", \"icd10\", \"icd9-procedure\", \
                         \"icd10-procedure\", \"pcg\", \"pcg-icd10\", \"cpt\", \"place\", \"specialty\", \"los\".",
                        files.shown(file)
                    ),
                ));
            }
            // Errors name labels of a hierarchy; no cell of the data is one.
            if files.is_data(file, input) {
                return Err(section.wrong(
                    "hierarchy",
                    "names the data itself. A hierarchy needs its own file with lines \
                         value;group;…;*.",
                ));
            }
            let text = files.read(file, LARGEST_HIERARCHY)?;
            // Its folder is nobody's business: the rule is named in the release.
            let name = Path::new(file).file_name().map_or_else(|| file.clone(), |n| n.to_string_lossy().into_owned());
            Ok((Rule::File(FileHierarchy::parse(file, &text)?), format!("the file {name}")))
        }
        Value::Section(rule) => read_inline(rule, input, section.decimal("top")?),
        _ => Err(section
            .wrong("hierarchy", "must be a file, \"icd9\", \"icd10\", or { intervals | cuts | prefix | date = … }.")),
    }?;
    Ok((rule, text, None))
}

/// `{ months_since = "first", date = "%Y%m%d", groups = [3, 6, 12] }`.
fn read_months(rule: &Section) -> Result<(Rule, String, Option<MonthsSince>)> {
    rule.only(&["months_since", "date", "groups"])?;
    let here = |e: Error| rule.error(rule.line, format!("{}: {}", rule.name, e.message));
    let Some(format) = rule.text("date")? else {
        return Err(rule.error(
            rule.line,
            "months_since needs the format of the dates, for example date = \
             \"%Y-%m-%d\".",
        ));
    };
    let date = DateFormat::new(format).map_err(here)?;
    let (origin, since) = match rule.text("months_since")?.unwrap_or_default() {
        "first" => (Origin::First, "the patient's first event".to_string()),
        "first-in-year" => (Origin::FirstInYear, "the patient's first event in the year".to_string()),
        column => (Origin::Column(column.to_string()), format!("`{column}`")),
    };
    let groups = rule.decimals("groups")?.unwrap_or_default();
    let groups: Option<Vec<u32>> = groups.iter().map(|d| d.to_whole().and_then(|n| u32::try_from(n).ok())).collect();
    let groups = groups.ok_or_else(|| rule.wrong("groups", "must be whole numbers of months."))?;
    let months = Months::new(&groups).map_err(here)?;
    Ok((Rule::Months(months), format!("months since {since}"), Some(MonthsSince { origin, date })))
}

/// A hierarchy in braces. Numbers from `top` on are one value, so that no interval begins above it.
fn read_inline(rule: &Section, input: &Input, top: Option<Decimal>) -> Result<(Rule, String)> {
    rule.only(&["intervals", "cuts", "from", "to", "prefix", "date", "step"])?;
    let kinds: Vec<&str> =
        ["intervals", "cuts", "prefix", "date"].into_iter().filter(|k| rule.get(k).is_some()).collect();
    let here = |e: Error| rule.error(rule.line, format!("{}: {}", rule.name, e.message));
    if rule.get("step").is_some() && !kinds.is_empty() {
        return Err(
            rule.wrong("step", "can only be combined with `from` and `to`, because the method finds the cuts itself.")
        );
    }
    let kinds = if kinds.is_empty() && rule.get("from").is_some() { vec!["grid"] } else { kinds };
    match kinds[..] {
        ["intervals"] | ["cuts"] | ["grid"] => {
            let (Some(from), Some(to)) = (rule.decimal("from")?, rule.decimal("to")?) else {
                return Err(rule.error(
                    rule.line,
                    format!("{} needs `from` and `to`; values below and above are grouped.", rule.name),
                ));
            };
            let to = top.map_or(to, |top| top.min(to));
            let (widths, mut cuts) =
                (rule.decimals("intervals")?.unwrap_or_default(), rule.decimals("cuts")?.unwrap_or_default());
            cuts.retain(|&cut| top.is_none_or(|top| cut < top));
            if kinds == ["grid"] {
                let step = rule.decimal("step")?.unwrap_or(Decimal::whole(1));
                let text = format!("intervals found on a grid of {step} from {from} to {to}");
                let found = Intervals::on_grid(from, to, step, input.decimal).map_err(here)?;
                return Ok((Rule::Intervals(found), text));
            }
            let text = if cuts.is_empty() {
                format!("intervals of {} from {from} to {to}", join(&widths))
            } else {
                format!("cuts at {} from {from} to {to}", join(&cuts))
            };
            Ok((Rule::Intervals(Intervals::new(&widths, &cuts, from, to, input.decimal).map_err(here)?), text))
        }
        ["prefix"] => {
            let lengths = rule.decimals("prefix")?.unwrap_or_default();
            let lengths: Option<Vec<usize>> =
                lengths.iter().map(|d| d.to_whole().and_then(|n| usize::try_from(n).ok())).collect();
            let lengths = lengths.ok_or_else(|| rule.wrong("prefix", "must be whole numbers of characters."))?;
            let text = format!("the first {} characters", join(&lengths));
            Ok((Rule::Prefix(Prefix::new(&lengths).map_err(here)?), text))
        }
        ["date"] => {
            let format = rule.text("date")?.unwrap_or_default();
            Ok((Rule::Date(DateFormat::new(format).map_err(here)?), format!("dates written {format}")))
        }
        _ => Err(rule.error(
            rule.line,
            format!("{} needs one of: intervals, cuts, prefix, date, or `from` and `to`.", rule.name),
        )),
    }
}

fn join<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The permitted levels, ascending; all of them where the policy names none.
fn read_levels(section: &Section, rule: &Rule) -> Result<Vec<usize>> {
    let names = rule.level_names();
    let Some(items) = section.list("levels")? else { return Ok((0..names.len()).collect()) };
    let mut levels = Vec::new();
    for item in items {
        let level = match &item.value {
            Value::Text(name) => names.iter().position(|n| n == name),
            Value::Number(n) => n.parse::<usize>().ok().filter(|n| *n < names.len()),
            _ => None,
        };
        levels.push(level.ok_or_else(|| {
            section.wrong("levels", format!("names a level this column does not have. It has: {}.", names.join(", ")))
        })?);
    }
    levels.sort_unstable();
    levels.dedup();
    if levels.is_empty() {
        return Err(section.wrong("levels", "must name at least one level."));
    }
    Ok(levels)
}
