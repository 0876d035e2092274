//! Released columns outside every requirement: what nobody asked about may still single people out.
//!
//! k and its relatives are about quasi-identifiers. A column with the role `other`, a class column, or a sensitive
//! column without a requirement is released as it is. Before a release is published, each of them is looked at. A
//! dangerous one stops the release until the policy accepts the finding by name; others are noted. A patient column
//! that cannot be the person stops it too, and cannot be accepted: every number of people would be wrong.

mod combinations;
mod derived;
mod holders;
#[cfg(test)]
mod tests;

use crate::evidence::metrics::DerivedColumn;
use crate::profile::person::{coarser_person, is_consecutive};
use crate::profile::shape::{CellShape, DATE_FORMATS};
use crate::profile::words::topics;
use crate::profile::{ColumnProfile, Profile};
use kohort_core::cohort::Cohort;
use kohort_core::policy::{Acceptance, Column, Danger, Policy, Role};
use kohort_core::release::{PATIENTS_TABLE, Plan};
use kohort_core::shape::{Codes, Events};
use kohort_core::table::Source;
use kohort_core::{Error, Result};

/// Fewer rows than this say nothing about how unique a column is.
const FEW_ROWS: u64 = 20;
/// Fewer rows than this say nothing about which column follows from which.
const FEW_RELATED: usize = 100;

/// Describes what is known about the columns of a table before the method starts.
pub struct Outside {
    /// The first rows of the table, where there is a column to look at.
    profile: Option<Profile>,
    /// Released columns that no requirement covers, by place.
    columns: Vec<usize>,
    /// Notes for the custodian.
    pub notes: Vec<String>,
}

/// Findings that do not stop a release.
#[derive(Debug, Default)]
pub struct Unasked {
    /// Notes for the custodian.
    pub notes: Vec<String>,
    /// Released columns that derive from columns that are kept back.
    pub derived: Vec<DerivedColumn>,
}

/// A table, and its released columns that no requirement covers.
struct Uncovered<'a> {
    source: &'a Source,
    /// The name of its table, where there are several.
    name: Option<&'a str>,
    patient: Option<usize>,
    columns: Vec<usize>,
}

/// Something dangerous that nobody asked about.
struct Finding {
    danger: Danger,
    columns: Vec<String>,
    says: String,
}

/// Looks at the columns outside every requirement. Fails for a danger that the policy does not accept.
///
/// Cost: the first rows of the table, unless every released column is covered and there is no patient column; and the
/// whole table once more where the first rows are not all of it.
pub fn look(source: &Source, policy: &Policy) -> Result<Outside> {
    let required = policy.privacy.reads_sensitive();
    let is_outside = |role: &Role| match role {
        Role::Other { .. } | Role::Class => true,
        Role::Sensitive { .. } => !required,
        _ => false,
    };
    let columns = policy.positions(is_outside);
    let table = Uncovered { source, name: None, patient: policy.patient(), columns };
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let profile = table.look(&mut found, &mut notes)?;
    stop(&policy.accept, &found)?;
    Ok(Outside { profile, columns: table.columns, notes })
}

/// Looks at the columns outside every requirement in the patients' table and in each table of events. Fails for a danger
/// that the policy does not accept. Returns notes for the custodian.
pub fn look_at_events(source: &Source, policy: &Policy<Events>) -> Result<Vec<String>> {
    let events = policy.own.tables.iter().map(|own| (own.name.as_str(), &own.columns[..]));
    let events = source.event_tables().zip(events);
    let patients = source.patients().map(|own| (own, (PATIENTS_TABLE, &policy.own.patients[..])));
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for (source, (name, columns)) in patients.into_iter().chain(events) {
        let places = |is: fn(&Column) -> bool| (0..columns.len()).filter(move |&place| is(&columns[place]));
        let patient = places(|column| column.role == Role::Patient).next();
        let outside = places(|column| matches!(column.role, Role::Other { .. })).collect();
        Uncovered { source, name: Some(name), patient, columns: outside }.look(&mut found, &mut notes)?;
    }
    stop(&policy.accept, &found)?;
    Ok(notes)
}

/// Refuses a patient column that cannot be the person. Of a table of codes, nothing outside the requirements is released.
pub fn look_at_codes(source: &Source, policy: &Policy<Codes>) -> Result<()> {
    let table = Uncovered { source, name: None, patient: policy.patient(), columns: Vec::new() };
    table.look(&mut Vec::new(), &mut Vec::new()).map(|_| ())
}

impl Uncovered<'_> {
    /// The name of a column as policies accept it.
    fn shown(&self, column: &str) -> String {
        self.name.map_or_else(|| column.to_string(), |table| format!("{table}.{column}"))
    }

    /// Looks at the person and at each column. Returns the first rows, where there is something to look at.
    fn look(&self, found: &mut Vec<Finding>, notes: &mut Vec<String>) -> Result<Option<Profile>> {
        if self.columns.is_empty() && self.patient.is_none() {
            return Ok(None);
        }
        let profile = Profile::of_first_rows(self.source)?;
        self.check_person(&profile)?;
        if self.columns.is_empty() {
            return Ok(Some(profile));
        }
        let (cell, row) = match self.patient {
            Some(_) => ("patient", "patient"),
            None => ("cell", "row"),
        };
        let counted = holders::count(self.source, &profile, &self.columns, self.patient)?;
        for (&place, alone) in self.columns.iter().zip(counted) {
            let (column, percent) = (&profile.columns[place], alone.percent());
            if alone.cells < FEW_ROWS {
                continue;
            }
            let name = self.shown(&column.name);
            let finding = |danger, says| Finding { danger, columns: vec![name.clone()], says };
            if is_consecutive(column) || percent > 50 && is_gapless(column) {
                found.push(finding(Danger::Consecutive, "has consecutive numbers, like a row key".into()));
            } else if percent > 50 && is_timed(column) {
                let says = format!("holds points in time, and {percent} % of them belong to one {row}");
                found.push(finding(Danger::Timestamp, says));
            } else if percent > 50 {
                let says = format!("is nearly unique: {percent} % of its cells have a value that no other {cell} has");
                found.push(finding(Danger::NearlyUnique, says));
            } else if percent >= 5 {
                notes.push(format!(
                    "`{name}` is released as it is, and {percent} % of its cells have a value that no other {cell} has. \
                     Someone who knows such a value finds the {row}."
                ));
            }
        }
        notes.extend(combinations::worst(&profile, self));
        Ok(Some(profile))
    }

    /// Refuses a patient column that cannot be the person: another key repeats where it does not, and what belongs to a
    /// person stays the same within that other key.
    fn check_person(&self, profile: &Profile) -> Result<()> {
        let Some(patient) = self.patient else { return Ok(()) };
        let topics: Vec<_> = profile.columns.iter().map(|column| topics(&column.name)).collect();
        let Some(person) = coarser_person(profile, &topics, patient) else { return Ok(()) };
        let name = |place: usize| self.shown(&profile.columns[place].name);
        Err(Error::yours(format!(
            "`{}` cannot be the patient: `{}` repeats where it does not, and sex and birth stay the same within `{1}`. \
             People would be counted several times. Set role = \"patient\" for `{1}`, and role = \"identifier\" for \
             `{0}`.",
            name(patient),
            name(person)
        )))
    }
}

impl Outside {
    /// Looks for columns from which a generalized quasi-identifier can be inferred. Fails for one that the policy does
    /// not accept.
    pub fn check_plan(&self, cohort: &Cohort, plan: &Plan, policy: &Policy) -> Result<()> {
        let Some(profile) = self.profile.as_ref().filter(|profile| profile.sample.rows >= FEW_RELATED) else {
            return Ok(());
        };
        let columns = &profile.sample.columns;
        let mut found = Vec::new();
        for (q, place) in policy.quasi().into_iter().enumerate() {
            let (generalized, suppressed) = changed(cohort, plan, q);
            let own = &columns[place];
            let usual = own.counts().into_iter().max().unwrap_or(0) as usize;
            if generalized < 0.05 || own.values() < 2 || usual * 20 > own.codes.len() * 19 {
                continue;
            }
            for &outside in &self.columns {
                let other = &columns[outside];
                let usual = other.counts().into_iter().max().unwrap_or(0) as usize;
                let plain = other.values() >= 2 && usual * 20 < other.codes.len() * 19;
                let exactly = other.values() * 3 <= other.codes.len() && other.determines(own);
                let coarsely = suppressed > 0.5 && own.values() * 3 <= own.codes.len() && own.determines(other);
                if plain && (exactly || coarsely) {
                    let name = |place: usize| profile.columns[place].name.clone();
                    found.push(Finding {
                        danger: Danger::Reveals,
                        columns: vec![name(outside), name(place)],
                        says: format!("reveals `{}`, which the release generalizes", name(place)),
                    });
                }
            }
        }
        stop(&policy.accept, &found)
    }
}

/// The shares of released rows in which a quasi-identifier is generalized, and in which it is suppressed.
fn changed(cohort: &Cohort, plan: &Plan, q: usize) -> (f64, f64) {
    let (mut rows, mut generalized, mut suppressed) = (0, 0, 0);
    for (cells, &released) in plan.rows_by_cells(cohort).iter().enumerate() {
        let loss = plan.changed[q].labels[plan.row(cells as u32)[q] as usize].loss;
        rows += released;
        generalized += if loss > 0.0 { released } else { 0 };
        suppressed += if loss >= 1.0 { released } else { 0 };
    }
    let share = |part: u64| part as f64 / rows.max(1) as f64;
    (share(generalized), share(suppressed))
}

/// Refuses findings that the policy does not accept.
fn stop(accept: &[Acceptance], found: &[Finding]) -> Result<()> {
    let accepted = |finding: &Finding| {
        let same = |own: &Acceptance| own.finding == finding.danger && own.columns == finding.columns;
        accept.iter().any(same)
    };
    let open: Vec<&Finding> = found.iter().filter(|finding| !accepted(finding)).collect();
    let Some(first) = open.first() else { return Ok(()) };
    let says = |finding: &&Finding| format!("`{}` {}.", finding.columns[0], finding.says);
    let all: Vec<String> = open.iter().map(says).collect();
    let columns: Vec<String> = first.columns.iter().map(|column| format!("{column:?}")).collect();
    Err(Error::unaccepted(format!(
        "{} No requirement covers {}. Drop {} with role = \"identifier\", use role = \"quasi\", or accept each finding: \
         [[accept]] finding = \"{}\", columns = [{}], reason = \"…\".",
        all.join(" "),
        if all.len() == 1 { "this column" } else { "these columns" },
        if all.len() == 1 { "it" } else { "them" },
        first.danger.name(),
        columns.join(", ")
    )))
}

/// Returns whether most cells are dates with a time of day.
fn is_timed(column: &ColumnProfile) -> bool {
    column.mostly(80, CellShape::Timestamp)
        || column.date().is_some_and(|(format, ..)| DATE_FORMATS[format].contains("%H"))
}

/// Returns whether the values are whole numbers with few gaps, however often each occurs.
fn is_gapless(column: &ColumnProfile) -> bool {
    let Some((least, greatest)) = column.range else { return false };
    let span = greatest.to_f64() - least.to_f64() + 1.0;
    column.mostly(100, CellShape::Whole)
        && column.distinct.values >= FEW_ROWS
        && span <= 1.5 * column.distinct.values as f64
}
