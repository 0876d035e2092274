//! From the file to the bound policy.

use super::accept;
use super::any::{AnyPolicy, CodesLayout, CodesPolicy, TablePolicy};
use super::baseline::BaselineLoss;
use super::bound::{CommonSections, Policy};
use super::check::{check_codes, check_roles, check_sensitive};
use super::cleaning;
use super::column::{Column, Role};
use super::context::Context;
use super::database;
use super::effects::{Effects, Methods};
use super::events::{self, EventTable, EventsPolicy, Tables};
use super::files::PolicyFiles;
use super::population::Population;
use super::privacy::Privacy;
use super::section::{Section, Value, nearest};
use super::several_files::OneFile;
use super::shift;
use super::survives;
use super::synthetic::SyntheticRules;
use crate::codes::Repeats;
use crate::number::K;
use crate::table::{CLAIMS, Encoding, Input, OutputSchema, Place, Source, is_pattern, may_delimit, read_text};
use crate::{Error, Result};
use std::path::{Component, Path, PathBuf};

/// The name of the table of patients in a policy.
pub(super) const PATIENTS: &str = "patients";
pub(super) const LARGEST_POLICY: u64 = 16 << 20;

/// The unit of a row of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A row of cells, of a person or one of several of a patient.
    Table,
    /// One or all codes of a patient.
    Codes(CodesLayout),
    /// An event of a patient; patients are listed in a table of their own.
    Events,
}

/// A file that the policy names: its name as written, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedText {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// Tables that a caller hands over, instead of those that `[input]` names.
#[derive(Debug, Clone)]
pub enum GivenTables {
    /// A table, or the codes of patients.
    One(Place),
    /// Patients, and their events in tables of their own.
    Linked {
        /// The table of patients.
        patients: Place,
        /// The tables of events, with their names in the policy.
        events: Vec<(String, Place)>,
    },
}

/// A policy as written: read, its input known, its columns not yet those of a table.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    /// The location and format of the table.
    pub input: Input,
    /// The schema of a database that the release is written into as well.
    pub output: Option<OutputSchema>,
    /// The unit of a row.
    layout: Layout,
    /// The text of the file, for the evidence.
    pub text: String,
    /// The file on disk, if the policy was read from one.
    path: Option<PathBuf>,
    files: PolicyFiles,
    root: Section,
}

/// The ends of names that tables have, and policies do not.
const TABLES: [&str; 8] = ["csv", "tsv", "gz", "parquet", "xlsx", "sav", "dta", "xpt"];

/// Reads a policy file.
pub fn read(path: &Path) -> Result<PolicyFile> {
    if path.extension().is_some_and(|own| TABLES.iter().any(|table| own.eq_ignore_ascii_case(table))) {
        let path = path.display();
        return Err(Error::policy(format!(
            "{path}: this is a table, not a policy. `kohort init {path}` suggests a policy for it."
        )));
    }
    let text = read_text(path, LARGEST_POLICY)?;
    let file = path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    Ok(PolicyFile { path: Some(path.to_path_buf()), ..PolicyFile::parse(&file, &text, &folder)? })
}

impl PolicyFile {
    /// Refuses the name of a table that is not there, with the line that names it.
    pub fn table_is_there(&self) -> Result<()> {
        let section = self.root.section("input")?.filter(|section| section.get("table").is_some());
        match (section, &self.input.place) {
            (Some(section), Place::File(path)) if !path.exists() && !is_pattern(path) => Err(section.wrong(
                "table",
                format!(
                    "names a file that does not exist: {}. Paths are relative to the folder of the policy.",
                    path.display()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Reads a policy's text; paths in it are relative to `folder`.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<PolicyFile> {
        PolicyFile::parse_with(file, text, &PolicyFiles::in_folder(folder), None)
    }

    /// Reads a policy's text that names `files`. Given tables are used instead of those that `[input]` names,
    /// which need not name any then.
    pub fn parse_with(file: &str, text: &str, files: &PolicyFiles, given: Option<&GivenTables>) -> Result<PolicyFile> {
        database::refuse_passwords(file, text)?;
        let root = Section::parse(file, text)?;
        root.only(&[
            "input",
            "output",
            "columns",
            "exclude",
            "accept",
            "privacy",
            "method",
            "population",
            "evidence",
            "context",
            "check",
            "file",
        ])?;
        let section = match (root.section("input")?, given) {
            (Some(section), _) => section,
            (None, Some(_)) => Section::empty(file, "[input]"),
            (None, None) => {
                return Err(root.error(0, "there is no [input] section. Set table = \"…\" under [input]."));
            }
        };
        let files = section.text("folder")?.map_or_else(|| files.clone(), |own| files.below(own));
        let mut input = read_input(&section, &files, given)?;
        if let Some(columns) = root.section("columns")? {
            match &mut input.patients {
                None => input.cleaning = cleaning::read(&columns)?,
                Some(patients) => {
                    let of = |table: &str| columns.section(table)?.map_or(Ok(Vec::new()), |s| cleaning::read(&s));
                    patients.cleaning = of(PATIENTS)?;
                    input.cleaning = of(input.events.as_deref().unwrap_or(CLAIMS))?;
                    for own in &mut input.more_events {
                        own.cleaning = of(own.events.as_deref().unwrap_or(CLAIMS))?;
                    }
                }
            }
        }
        let words = [("list", Layout::Codes(CodesLayout::List)), ("long", Layout::Codes(CodesLayout::Long))];
        let layout = section.word("layout", &words)?;
        let layout = match (layout, &input.patients) {
            (Some(_), Some(_)) => {
                return Err(section.wrong("layout", "is for one table, but patient histories are several tables."));
            }
            (None, Some(_)) => Layout::Events,
            (layout, None) => layout.unwrap_or(Layout::Table),
        };
        let output = database::read_output(&root)?;
        if output.is_some() && matches!(layout, Layout::Codes(_)) {
            return Err(root.wrong("output", "is for tables, and a release of codes is a file of clusters."));
        }
        if output.is_some() && root.get("file").is_some() {
            return Err(root.wrong("output", "is for one release, but [[file]] makes several."));
        }
        Ok(PolicyFile { input, output, layout, text: text.into(), path: None, files, root })
    }

    /// Lists the policy and the tables on disk, and every file or folder that a text of the policy names: no
    /// command may write over them.
    pub fn files_read(&self) -> Vec<PathBuf> {
        let inputs = [Some(&self.input), self.input.patients.as_deref()].into_iter().flatten();
        let inputs = inputs.chain(&self.input.more_events);
        let tables = inputs.filter_map(|input| input.place.path()).map(Path::to_path_buf);
        let mut files: Vec<PathBuf> = self.path.iter().cloned().chain(tables).collect();
        // A text of dots alone, such as the mark of a missing cell, is the name of no file.
        let is_name = |text: &str| Path::new(text).components().any(|part| matches!(part, Component::Normal(_)));
        let folder = self.files.path("");
        let texts = self.root.texts_below().into_iter().filter(|text| is_name(text));
        let named = texts.filter_map(|text| self.files.path(text));
        files.extend(named.filter(|file| folder.as_ref() != Some(file) && std::fs::symlink_metadata(file).is_ok()));
        files
    }

    /// The files that the policy makes of one population, each with a policy of its own; empty if it makes one.
    pub fn several_files(&self) -> Result<Vec<OneFile>> {
        let files = super::several_files::read(self, &self.root)?;
        if !files.is_empty() && self.layout != Layout::Table {
            return Err(self.root.wrong("file", "is for tables, not for sets of codes or patient histories."));
        }
        Ok(files)
    }

    /// The policy's sections as written.
    pub(super) fn root(&self) -> &Section {
        &self.root
    }

    /// The same policy with other sections, about the same tables.
    pub(super) fn with_root(&self, root: Section) -> Result<PolicyFile> {
        let mut input = self.input.clone();
        input.cleaning = root.section("columns")?.map_or(Ok(Vec::new()), |columns| cleaning::read(&columns))?;
        Ok(PolicyFile { input, text: root.to_toml(), root, ..self.clone() })
    }

    /// Binds the policy to its table. `methods` says what the method that it names adds to the promise.
    pub fn bind(&self, source: &Source, methods: &dyn Methods) -> Result<AnyPolicy> {
        self.bind_with(source, methods, None)
    }

    /// Binds the policy to its table for a question that needs no k: where the policy names none
    /// yet, `k` is used. Nothing can be released by it.
    pub fn bind_to_ask(&self, source: &Source, methods: &dyn Methods, k: K) -> Result<AnyPolicy> {
        self.bind_with(source, methods, Some(k))
    }

    fn bind_with(&self, source: &Source, methods: &dyn Methods, k: Option<K>) -> Result<AnyPolicy> {
        let patients = source.patients().map(|patients| self.columns_of(patients, PATIENTS)).transpose()?;
        let mut event_tables = Vec::new();
        for own in source.event_tables().filter(|_| patients.is_some()) {
            let name = own.events_name().to_string();
            event_tables.push(EventTable { columns: self.columns_of(own, &name)?, name, event_date: None });
        }
        let columns = match &event_tables[..] {
            [] => self.columns_of(source, CLAIMS)?,
            tables => tables.iter().flat_map(|own| own.columns.clone()).collect(),
        };
        let quasi: Vec<&str> = columns.iter().filter(|c| c.role == Role::Quasi).map(|c| c.name.as_str()).collect();
        match self.layout {
            Layout::Table if quasi.is_empty() => {
                return Err(self.root.error(
                    0,
                    "no column has role = \"quasi\", so the policy does not state what an attacker may \
                         know.",
                ));
            }
            Layout::Table | Layout::Events => {}
            Layout::Codes(layout) => check_codes(&self.root, layout, &columns)?,
        }
        if let Some(column) =
            columns.iter().find(|c| self.layout != Layout::Events && (c.role == Role::Pseudonym || c.months.is_some()))
        {
            return Err(self
                .root
                .error(0, format!("`{}`: pseudonyms and months_since are for patient histories only.", column.name)));
        }
        let Some(privacy) = self.root.section("privacy")? else {
            return Err(self.root.error(
                0,
                "there is no [privacy] section. Set at least k = … under [privacy]; 5 is \
                 usual for a trusted recipient, 11 or 20 for the public.",
            ));
        };
        let place = |name: &String| quasi.iter().position(|q| q == name);
        let levels = columns.iter().flat_map(|c| c.of.iter().map(|of| (place(&c.name), place(of))));
        let levels: Vec<(usize, usize)> = levels.filter_map(|(finer, coarser)| finer.zip(coarser)).collect();
        let by_patient = columns.iter().any(|c| c.role == Role::Patient);
        let (bound, mut notes) = match self.layout {
            Layout::Table => Privacy::read(&privacy, &quasi, &levels, by_patient, k)?,
            Layout::Codes(_) => (Privacy::read_codes(&privacy, k)?, Vec::new()),
            Layout::Events => (events::read_privacy(&privacy, k)?, Vec::new()),
        };
        notes.extend(bound.preset.map(super::preset::Preset::note));
        // Sensitive codes are values of one column, and the method lists them.
        if !matches!(self.layout, Layout::Codes(_)) {
            check_sensitive(&privacy, &bound, &columns, &mut notes)?;
        }
        if !by_patient {
            notes.push("no column has role = \"patient\", so every row is counted as a different person.".into());
        }
        notes.extend(source.tables().flat_map(|table| table.cleaned().notes.clone()));
        notes.extend(cleaning::notes(&columns));
        notes.extend(shift::notes(&columns));
        let Some(method) = self.root.section("method")? else {
            return Err(self.root.error(0, "there is no [method] section. Set name = \"lattice\" under [method]."));
        };
        let events = match &patients {
            None => None,
            Some(patients) => {
                let tables = Tables { patients, events: &event_tables };
                Some(EventsPolicy::read(&self.root, &self.files, &tables, &mut notes)?)
            }
        };
        // Claims have rules of their own.
        let exclude = if events.is_some() { Vec::new() } else { super::exclude::read(&self.root, &columns)? };
        let mut tables = vec![(None, &columns[..])];
        if let Some(patients) = &patients {
            tables = vec![(Some(PATIENTS), &patients[..])];
            tables.extend(event_tables.iter().map(|own| (Some(own.name.as_str()), &own.columns[..])));
        }
        let accept = accept::read(&self.root, &tables)?;
        let of_patients = |c: &&Column| c.role == Role::Quasi;
        let outside: Vec<&str> = match &patients {
            None => quasi.clone(),
            Some(patients) => patients.iter().filter(of_patients).map(|c| c.name.as_str()).collect(),
        };
        let populations = Population::read_all(&self.root, &self.files, &outside)?;
        let baseline = BaselineLoss::read(&self.root, &self.files)?;
        let context = Context::read(&self.root)?;
        if self.layout != Layout::Table && self.root.get("check").is_some() {
            return Err(self.root.wrong("check", "is for tables, not for sets of codes or patient histories."));
        }
        let checks = survives::read(&self.root, &columns)?;
        let effects = methods.effects(&method).unwrap_or(Effects::UNKNOWN);
        let text = self.text.clone();
        let common = CommonSections {
            columns,
            privacy: bound,
            exclude,
            accept,
            populations,
            baseline,
            context,
            checks,
            method,
            effects,
            notes,
            text,
        };
        Ok(match (self.layout, events) {
            (Layout::Events, Some(own)) => AnyPolicy::Events(Policy { common, own }),
            (Layout::Codes(layout), _) => {
                let constraints = self.read_constraints(&common.method)?;
                let counted = common.method.flag("multiset")?.unwrap_or(false);
                let repeats = if counted { Repeats::Counted } else { Repeats::Once };
                AnyPolicy::Codes(Policy { common, own: CodesPolicy { layout, constraints, repeats } })
            }
            (Layout::Events, None) => return Err(self.root.error(0, "[input] does not name `patients`.")),
            (Layout::Table, _) => {
                // A question about the data needs no synthetic records.
                let synthetic = match common.effects.synthetic && k.is_none() {
                    true => Some(SyntheticRules::read(&common.method, &common.columns, &self.files)?),
                    false => None,
                };
                AnyPolicy::Table(Policy { common, own: TablePolicy { synthetic } })
            }
        })
    }

    /// Reads the file that `constraints` names, where it names one.
    fn read_constraints(&self, method: &Section) -> Result<Option<NamedText>> {
        let Some(Value::Text(name)) = method.get("constraints").map(|item| &item.value) else { return Ok(None) };
        let text = self.files.read(name, LARGEST_POLICY)?;
        Ok(Some(NamedText { name: name.clone(), text }))
    }

    /// The columns of a table; of patient histories, `table` says which.
    fn columns_of(&self, source: &Source, table: &str) -> Result<Vec<Column>> {
        let Some(section) = self.root.section("columns")? else {
            return Err(self.root.error(
                0,
                "there is no [columns] section. It must name every column of the input; `kohort init` writes one.",
            ));
        };
        if self.layout != Layout::Events {
            return self.bind_columns(source, &section);
        }
        let mut names = vec![PATIENTS, self.input.events.as_deref().unwrap_or(CLAIMS)];
        names.extend(self.input.more_events.iter().filter_map(|own| own.events.as_deref()));
        section.only(&names)?;
        match section.section(table)? {
            Some(own) => self.bind_columns(source, &own),
            None => Err(section.error(
                section.line,
                format!("there is no [columns.{table}] section. It must name every column of that table."),
            )),
        }
    }

    fn bind_columns(&self, source: &Source, section: &Section) -> Result<Vec<Column>> {
        let names = source.columns();
        for (name, item) in &section.entries {
            if !name.ends_with('*') && !names.contains(name) {
                let hint = nearest(name, names.iter().map(String::as_str))
                    .map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
                return Err(section.error(item.line, format!("{} has no column `{name}`.{hint}", source.name())));
            }
        }
        let mut unnamed = Vec::new();
        let mut columns = Vec::new();
        for name in names {
            let entry = section.entries.iter().find(|(n, _)| n == name).or_else(|| {
                section.entries.iter().find(|(n, _)| n.strip_suffix('*').is_some_and(|p| name.starts_with(p)))
            });
            let Some((key, item)) = entry else {
                unnamed.push(format!("`{name}`"));
                continue;
            };
            let Value::Section(column) = &item.value else {
                return Err(section.error(item.line, format!("`{key}` must be a section: {key} = {{ role = \"…\" }}.")));
            };
            let mut column = Column::read(name, column, &self.files, &self.input)?;
            column.place = section.entries.iter().position(|(n, _)| n == key).unwrap_or_default();
            column.cleaning = source.cleaned().of(name).map(|step| step.what.clone()).collect();
            column.cleaning.extend(column.shift.map(shift::described));
            if key != name && column.role != Role::Identifier {
                return Err(section.error(
                    item.line,
                    format!(
                        "the pattern `{key}` can only drop columns. Set role = \
                         \"identifier\"."
                    ),
                ));
            }
            columns.push(column);
        }
        if !unnamed.is_empty() {
            return Err(section.error(
                section.line,
                format!(
                    "[columns] does not name {}. Every column of the input needs a role, so that no column is \
                     released by accident.",
                    unnamed.join(", ")
                ),
            ));
        }
        check_roles(section, &columns, self.layout == Layout::Table)?;
        cleaning::check_derived(section, &columns)?;
        shift::check(section, &columns, self.layout == Layout::Table)?;
        Ok(columns)
    }
}

/// The most lines above a header or below a table that can be skipped.
const MOST_SKIPPED: u64 = 10_000;

fn read_input(section: &Section, files: &PolicyFiles, given: Option<&GivenTables>) -> Result<Input> {
    section.only(&[
        "table",
        "database",
        "query",
        "sheet",
        "skip",
        "skip_end",
        "folder",
        "missing",
        "delimiter",
        "header",
        "trim",
        "encoding",
        "decimal",
        "layout",
        "patients",
        "claims",
        "events",
    ])?;
    let given = match given {
        Some(given) => given.clone(),
        None => named_tables(section, files)?,
    };
    let one_byte = |key: &str| -> Result<Option<u8>> {
        match section.text(key)?.map(str::as_bytes) {
            None => Ok(None),
            Some([b]) if may_delimit(*b) => Ok(Some(*b)),
            Some(_) => Err(section.wrong(key, "must be one character, such as \",\", \";\" or \"\\t\".")),
        }
    };
    let encoding = match section.text("encoding")? {
        None => Encoding::Utf8,
        Some(name) => {
            Encoding::named(name).ok_or_else(|| section.wrong("encoding", "must be \"utf-8\" or \"windows-1252\"."))?
        }
    };
    let (delimiter, decimal) = (one_byte("delimiter")?, one_byte("decimal")?.unwrap_or(b'.'));
    let (header, trim) = (section.flag("header")?.unwrap_or(true), section.flag("trim")?.unwrap_or(false));
    let (sheet, missing) = (section.text("sheet")?.map(str::to_string), section.texts("missing")?.unwrap_or_default());
    let lines = |key: &str| match section.whole(key)?.unwrap_or(0) {
        lines @ 0..=MOST_SKIPPED => Ok(lines),
        _ => Err(section.wrong(key, format!("must be at most {MOST_SKIPPED} lines."))),
    };
    let (skip, skip_end) = (lines("skip")?, lines("skip_end")?);
    let input = |place: Place| Input {
        // The rows of a database come in one form.
        delimiter: if matches!(place, Place::Database(_)) { Some(b',') } else { delimiter },
        place,
        sheet: sheet.clone(),
        skip,
        skip_end,
        header,
        trim,
        encoding,
        missing: missing.clone(),
        decimal,
        cleaning: Vec::new(),
        patients: None,
        events: None,
        more_events: Vec::new(),
    };
    Ok(match given {
        GivenTables::One(place) => input(place),
        GivenTables::Linked { patients, events } => {
            let mut tables = events.into_iter().map(|(name, place)| Input { events: Some(name), ..input(place) });
            let Some(first) = tables.next() else {
                return Err(section.error(section.line, "[input.events] does not name a table."));
            };
            Input { patients: Some(Box::new(input(patients))), more_events: tables.collect(), ..first }
        }
    })
}

/// The tables that `[input]` names: one, or events with the table of their patients.
fn named_tables(section: &Section, files: &PolicyFiles) -> Result<GivenTables> {
    let database = database::read(section)?;
    let place = |name: &str| match &database {
        Some(database) => database::table(database, name),
        None => files.place(name),
    };
    let query = database.as_ref().map(|database| database::query(database, section)).transpose()?.flatten();
    let (claims, several) = (section.text("claims")?, section.section("events")?);
    if claims.is_some() && several.is_some() {
        return Err(section.wrong("claims", "and [input.events] are alternatives. Keep one of them."));
    }
    let events = match (claims, several) {
        (Some(claims), _) => Some(vec![(CLAIMS.to_string(), place(claims)?)]),
        (None, Some(several)) => Some(named_events(&several, &place)?),
        (None, None) => None,
    };
    let table = match (query, section.text("table")?) {
        (Some(query), _) => Some(query),
        (None, Some(table)) => Some(place(table)?),
        (None, None) => None,
    };
    match (table, section.text("patients")?, events) {
        (Some(table), None, None) => Ok(GivenTables::One(table)),
        (None, Some(patients), Some(events)) => Ok(GivenTables::Linked { patients: place(patients)?, events }),
        (None, None, None) => Err(section.error(
            section.line,
            "[input] does not name a table. Set table = \
             \"patients.csv\".",
        )),
        _ => Err(section.error(
            section.line,
            "[input] must name either `table`, or the linked tables `patients` and `claims` (or `patients` and \
             several tables of events in [input.events]).",
        )),
    }
}

/// The tables of `[input.events]`, by name. A name becomes that of a file in the release.
fn named_events(section: &Section, place: &dyn Fn(&str) -> Result<Place>) -> Result<Vec<(String, Place)>> {
    let mut tables: Vec<(String, Place)> = Vec::new();
    for (name, item) in &section.entries {
        if !is_table_name(name) || tables.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            return Err(section.error(
                item.line,
                format!(
                    "`{name}` cannot name a table of events. Use up to 40 letters, digits, `_` or `-`, beginning with a \
                     letter, another name than `patients`, and each name once."
                ),
            ));
        }
        let Value::Text(path) = &item.value else {
            return Err(section.wrong(name, "must be the path of a table."));
        };
        tables.push((name.clone(), place(path)?));
    }
    if tables.is_empty() {
        return Err(section
            .error(section.line, "[input.events] does not name a table. Set, for example, visits = \"visits.csv\"."));
    }
    Ok(tables)
}

/// Returns whether a name can be that of a table of events: a file of the release is called NAME.csv.
pub(crate) fn is_table_name(name: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    (1..=40).contains(&name.len())
        && name.as_bytes()[0].is_ascii_alphabetic()
        && name.bytes().all(is_part)
        && !name.eq_ignore_ascii_case(PATIENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_missing_cell_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("d.csv"), "a\n1\n").unwrap();
        std::fs::write(folder.path().join("h.csv"), "1;*\n").unwrap();
        let text = "[input]\ntable = \"d.csv\"\nmissing = [\"\", \".\", \"..\", \"/\"]\n[columns]\na = { role = \"quasi\", \
                    hierarchy = \"h.csv\" }\n";
        let policy = PolicyFile::parse("policy.toml", text, folder.path()).unwrap();
        let mut names: Vec<_> =
            policy.files_read().into_iter().filter_map(|path| path.file_name().map(|n| n.to_owned())).collect();
        names.sort();
        names.dedup();
        assert_eq!(names, ["d.csv", "h.csv"]);
    }
}
