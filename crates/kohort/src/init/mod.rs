//! `kohort init`: looks at a table, or at several that belong together, and suggests a policy for them, for the
//! custodian to correct.
//!
//! Names and values are evidence, and so are relations between columns: which key repeats within which, what stays the
//! same within a key, which column follows from others. What stays unclear gets a safe role, is marked, and can be
//! asked about ([`Suggestion::questions`]). The text of a suggestion holds
//! names of columns, round bounds of numbers, marks for missing cells and date formats, and no other value of the
//! data: a policy is shown around.

mod clean;
mod concepts;
mod database;
mod events;
mod files;
mod links;
mod related;
mod spelling;
mod suggest;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_clean;
#[cfg(test)]
mod tests_events;
#[cfg(test)]
mod tests_values;
mod topic;
mod verdict;
mod warn;
mod write;

use verdict::SuggestedRole;

pub use database::init_database;
pub use files::is_table;

use crate::profile::Profile;
use crate::profile::shape::{CellShape, Seen};
use kohort_core::error::Kind;
use kohort_core::policy::{Role, Unmapped};
use kohort_core::table::{Encoding, Input, Place, Progress, Source, locate, open};
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A suggested policy for a table, based on its names and values.
#[derive(Debug, Clone)]
pub struct Suggestion {
    /// The text of a commented `policy.toml`. It lacks `k`, which only the custodian can choose.
    pub policy: String,
    /// The suggestion for each column, in the order of the table, or of the tables.
    pub columns: Vec<ColumnAdvice>,
    /// Warnings for the custodian to examine before they trust it.
    pub warnings: Vec<String>,
    /// The hierarchies that the policy names, to be written beside it.
    pub files: Vec<HierarchyFile>,
    draft: Draft,
}

/// A hierarchy that was made along with a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyFile {
    /// Its name, as the policy writes it.
    pub name: String,
    /// Its lines: `value;group;…;*`.
    pub text: String,
}

/// All that the text of a policy needs beside its columns.
#[derive(Debug, Clone)]
struct Draft {
    tables: Vec<DraftTable>,
    input: Input,
    reading: suggest::Reading,
    /// Lines about columns that could be derived.
    offers: Vec<String>,
}

/// A table that a policy names.
#[derive(Debug, Clone)]
struct DraftTable {
    /// The key of `[input]` or `[input.events]` that names it: `table`, `patients`, `claims`, or a name of its own.
    key: String,
    /// Its path, as the policy writes it.
    path: String,
}

/// The custodian's answer about a column that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// An outsider may know it about a person.
    Known,
    /// No outsider can know it, so that it is released as it is.
    Unknown,
    /// It is not needed.
    Drop,
    /// Its dates are written with the day before the month.
    DayFirst,
    /// Its dates are written with the month before the day.
    MonthFirst,
}

impl Suggestion {
    /// The columns that were not understood, by place: the custodian knows better.
    pub fn questions(&self) -> Vec<usize> {
        let unsure = |place: &usize| self.columns[*place].confidence == Confidence::Unsure;
        (0..self.columns.len()).filter(unsure).collect()
    }

    /// Takes an answer about a column, and writes the policy again.
    pub fn answer(&mut self, column: usize, answer: Answer) {
        let advice = &mut self.columns[column];
        match (answer, advice.formats) {
            (Answer::DayFirst | Answer::MonthFirst, Some([month_first, day_first])) => {
                let format = if answer == Answer::DayFirst { day_first } else { month_first };
                advice.hierarchy = Some(format!("{{ date = \"{format}\" }}"));
                // A date of birth stays at its year.
                if advice.levels.as_deref() == Some("[\"year\", \"*\"]") {
                    advice.levels = Some("[\"month\", \"quarter\", \"year\", \"*\"]".into());
                }
            }
            (Answer::Known | Answer::DayFirst | Answer::MonthFirst, _) => advice.role = Role::Quasi,
            (Answer::Unknown, _) => {
                advice.role = Role::Other { reason: "the custodian says that no outsider can know it".into() };
            }
            (Answer::Drop, _) => advice.role = Role::Identifier,
        }
        if matches!(answer, Answer::Unknown | Answer::Drop) {
            advice.hierarchy = None;
            advice.cleaning.clear();
        }
        advice.confidence = Confidence::Sure;
        advice.why = "as the custodian answered".into();
        advice.notes.clear();
        self.policy = write::policy(&self.draft, &self.columns);
    }
}

/// How sure a suggestion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The evidence is weak, so the safe role is suggested: please check.
    Unsure,
    /// The name or the values say it.
    Likely,
    /// The name and the values say it.
    Sure,
}

impl Confidence {
    /// Its word in policies and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Unsure => "unsure",
            Confidence::Likely => "likely",
            Confidence::Sure => "sure",
        }
    }
}

/// The suggestion for one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnAdvice {
    /// Its name in the table.
    pub name: String,
    /// The table that it belongs to where there are several, by its key under `[input]` or `[input.events]`:
    /// `patients`, `claims`.
    pub table: Option<String>,
    /// Its role: identifier, patient, quasi, sensitive or other.
    pub role: Role,
    /// How sure the suggestion is.
    pub confidence: Confidence,
    /// The keys that clean or derive it, as a policy writes them: `number = true`.
    pub cleaning: Vec<String>,
    /// The two formats that fit all its dates, where day and month cannot be told apart: the month first, the day
    /// first. The custodian must choose.
    pub formats: Option<[&'static str; 2]>,
    /// Its hierarchy as a policy writes it: `{ prefix = [4, 3, 2] }`.
    pub hierarchy: Option<String>,
    /// The levels that a method may choose, as a policy writes them: `["year", "*"]`. All levels if `None`.
    pub levels: Option<String>,
    /// The weight of the column when the loss is added up. What analysts need most has the highest.
    pub weight: u32,
    /// The treatment of values the hierarchy does not cover.
    pub unmapped: Unmapped,
    /// Why, in a few words.
    pub why: String,
    /// How many values it has and how many cells are missing.
    pub facts: String,
    /// Notes to consider before it stays like this.
    pub notes: Vec<String>,
}

/// Profiles tables and suggests a policy that will be in `folder`. A folder among `paths` stands for the tables in it.
///
/// One table gets a policy of its own. Of several, the one with a row for each person and the tables of their events
/// get a policy together, and the warnings name the tables that it does not use.
/// Reads each table once or twice, with so many threads, in memory that does not grow with its rows.
pub fn init(paths: &[PathBuf], folder: &Path, threads: usize, progress: Arc<dyn Progress>) -> Result<Suggestion> {
    init_at(paths, &Location::default(), folder, threads, progress)
}

/// Where in its file a table is, as far as the custodian says it. The rest is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The sheet of a workbook, by its name.
    pub sheet: Option<String>,
    /// How many lines, or rows of a sheet, are above the header.
    pub skip: Option<u64>,
}

/// The same for tables at a place in their files.
pub fn init_at(
    paths: &[PathBuf],
    at: &Location,
    folder: &Path,
    threads: usize,
    progress: Arc<dyn Progress>,
) -> Result<Suggestion> {
    let files = files::tables(paths)?;
    match &files[..] {
        [] => Err(Error::yours("init needs a table: kohort init patients.csv.")),
        [path] if paths.contains(path) => {
            suggest_for(files::place(path)?, &relative(path, folder)?, at, threads, progress)
        }
        several => {
            let (mut tables, mut skipped) = (Vec::new(), Vec::new());
            for path in several {
                match read(files::place(path)?, at, threads, &progress) {
                    Ok((source, profile)) => {
                        tables.push(links::LinkedTable::new(relative(path, folder)?, source, profile))
                    }
                    // A folder may hold empty tables and other files; what was named must be a table.
                    Err(error) if error.kind == Kind::Yours && !paths.contains(path) => skipped.push(error),
                    Err(error) => return Err(error),
                }
            }
            suggest_together(&tables, &skipped, None)
        }
    }
}

/// Profiles the tables about people in folders with the OMOP common data model, and suggests a policy that will be in
/// `folder`. Tables without people are not read, except `concept_ancestor`: of it, hierarchies of concepts are made.
pub fn init_omop(paths: &[PathBuf], folder: &Path, threads: usize, progress: Arc<dyn Progress>) -> Result<Suggestion> {
    let (mut tables, mut skipped, mut ancestors) = (Vec::new(), Vec::new(), None);
    for path in files::tables(paths)? {
        let opened = files::place(&path).and_then(|place| open(&Input::at(place)));
        match opened {
            Ok(source) if !source.columns().iter().any(|own| own.eq_ignore_ascii_case("person_id")) => {
                let own = source.with_threads(threads).with_progress(Arc::clone(&progress));
                ancestors = concepts::Ancestors::of(own).or(ancestors);
            }
            Ok(_) => match read(files::place(&path)?, &Location::default(), threads, &progress) {
                Ok((own, profile)) => tables.push(links::LinkedTable::new(relative(&path, folder)?, own, profile)),
                Err(error) if error.kind == Kind::Yours => skipped.push(error),
                Err(error) => return Err(error),
            },
            Err(error) if error.kind == Kind::Yours => skipped.push(error),
            Err(error) => return Err(error),
        }
    }
    if tables.is_empty() && skipped.is_empty() {
        return Err(Error::yours("no table has a column person_id, so that they are not the OMOP common data model."));
    }
    suggest_together(&tables, &skipped, ancestors.as_ref())
}

/// The suggestion for several tables. `skipped`: what was wrong with those that could not be read.
fn suggest_together(
    tables: &[links::LinkedTable],
    skipped: &[Error],
    ancestors: Option<&concepts::Ancestors>,
) -> Result<Suggestion> {
    match skipped.first() {
        Some(error) if tables.is_empty() => return Err(error.clone()),
        _ => {}
    }
    let mut suggestion = events::suggest(tables, ancestors)?;
    suggestion.warnings.extend(skipped.iter().map(|error| format!("not used: {}", error.message)));
    Ok(suggestion)
}

/// Profiles a table in Parquet parts, all of them in a folder, and suggests a policy that will be in `folder`.
pub fn init_parts(parts: &Path, folder: &Path, threads: usize, progress: Arc<dyn Progress>) -> Result<Suggestion> {
    suggest_for(Place::File(parts.to_path_buf()), &relative(parts, folder)?, &Location::default(), threads, progress)
}

/// Profiles a table, wherever it is, and suggests a policy that calls it `table`.
pub(crate) fn suggest_for(
    place: Place,
    table: &str,
    at: &Location,
    threads: usize,
    progress: Arc<dyn Progress>,
) -> Result<Suggestion> {
    let (source, profile) = read(place, at, threads, &progress)?;
    suggest_table(table, &source, profile)
}

/// The suggestion for one table.
fn suggest_table(table: &str, source: &Source, profile: Profile) -> Result<Suggestion> {
    let profile = &spelling::united(source, profile)?;
    let reading = suggest::Reading::of(source, profile);
    let verdicts = suggest::verdicts(profile, &reading);
    let offers = clean::offers(profile, &verdicts);
    let is_person = verdicts.iter().any(|verdict| verdict.part == SuggestedRole::Person);
    let mut columns = suggest::advise_all(profile, verdicts);
    if !is_person {
        columns.extend(suggest::person_of_household(profile));
    }
    let warnings = warn::warnings(profile, &reading, &columns, source.input());
    let tables = vec![DraftTable { key: "table".into(), path: table.to_string() }];
    let draft = Draft { tables, input: source.input().clone(), reading, offers };
    Ok(Suggestion { policy: write::policy(&draft, &columns), columns, warnings, files: Vec::new(), draft })
}

/// Opens and profiles a table, without titles above its header and notes below it. One that is not UTF-8 is tried as
/// Windows-1252, which is what it then is.
fn read(place: Place, at: &Location, threads: usize, progress: &Arc<dyn Progress>) -> Result<(Source, Profile)> {
    let read_as = |encoding| -> Result<(Source, Profile)> {
        let mut input = locate(&Input { encoding, sheet: at.sheet.clone(), ..Input::at(place.clone()) }, at.skip)?;
        let mut source = open(&input)?;
        if source.has_header() && source.database_table().is_none() && is_data(source.columns()) {
            input.header = false;
            source = open(&input)?;
        }
        let source = source.with_threads(threads).with_progress(Arc::clone(progress));
        let profile = Profile::of(&source)?;
        Ok((source, profile))
    };
    match read_as(Encoding::Utf8) {
        Err(error) if error.kind == Kind::Yours => read_as(Encoding::Windows1252).map_err(|_| error),
        result => result,
    }
}

/// Returns whether the first record looks like a row and not like names of columns: then its cells must not be shown.
fn is_data(names: &[String]) -> bool {
    let mut numbers = 0;
    for name in names {
        let seen = Seen::of(name);
        let named = [CellShape::Email, CellShape::Url, CellShape::Uuid, CellShape::SocialSecurity, CellShape::Phone];
        if seen.dates != 0 || named.iter().any(|&shape| seen.shapes & (1 << shape as u32) != 0) {
            return true;
        }
        // A year may well name a column.
        let year = name.parse().is_ok_and(|year: u32| (1900..2100).contains(&year));
        numbers += usize::from(seen.number.is_some() && !year);
    }
    numbers > 0 && numbers * 4 >= names.len()
}

/// The path of a table as a policy in `folder` names it.
fn relative(table: &Path, folder: &Path) -> Result<String> {
    let whole = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        std::path::absolute(path).map_err(|e| Error::io(path, &e))
    };
    // Links on the way are followed, so that `..` leads back; the file itself keeps the name it was given.
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (mut table, mut folder) = (whole(table)?, whole(folder)?);
    if !table.starts_with(&folder) {
        let name = table.file_name().map(PathBuf::from).unwrap_or_default();
        table = real(table.parent().unwrap_or(&table)).join(name);
        folder = real(&folder);
    }
    let shared = table.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| std::path::Component::ParentDir);
    let path: PathBuf = if shared == 0 { table } else { up.chain(table.components().skip(shared)).collect() };
    match path.to_str() {
        Some(text) => Ok(text.replace(std::path::MAIN_SEPARATOR, "/")),
        None => Err(Error::yours(format!("{}: the path is not UTF-8, so a policy cannot name it.", path.display()))),
    }
}
