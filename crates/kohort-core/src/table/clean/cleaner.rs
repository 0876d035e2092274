//! Cleaning bound to the columns of a table: what every chunk goes through before anybody sees it.

use super::describe::{described_derive, described_steps};
use super::step::{CellSteps, CleaningStep, Problem, Unwatched, Watch};
use super::tally::Tally;
use super::{ColumnCleaning, DateReading, Derive};
use crate::calendar::{Date, DateFormat, FormatSearch, FoundFormat};
use crate::policy::nearest;
use crate::table::chunk::{Chunk, Span};
use crate::table::input::Input;
use crate::{Error, Result};

/// The dates that cleaning writes.
const ISO: &str = "%Y-%m-%d";

/// The character between the parts of a joined cell.
const JOINED: u8 = b'/';

/// Cleans the cells of a table and adds its derived columns.
pub(in crate::table) struct Cleaner {
    /// The columns of the file; derived ones follow them.
    own: usize,
    columns: Vec<CleanedColumn>,
    /// The columns whose cells change, each after those that it is made from.
    order: Vec<usize>,
}

struct CleanedColumn {
    name: String,
    /// The declared steps, for descriptions.
    declared: Option<ColumnCleaning>,
    steps: CellSteps,
    derive: Option<Made>,
    /// The format in which its cells are read as dates after cleaning, with its text.
    dates: Option<(String, DateFormat)>,
    /// The format of its dates that was found in the data.
    found: Option<&'static str>,
}

/// Describes how a column is made, by the places of the others.
enum Made {
    Copy(usize),
    Age { born: usize, at: At },
    Between { start: usize, end: usize },
    Date { year: usize, month: usize, day: usize },
    Join(Vec<usize>),
}

enum At {
    Column(usize),
    Day(Date),
}

/// A cell that cannot be read: its column and why.
#[derive(Clone, Copy)]
struct Unread(usize, Problem);

impl Cleaner {
    /// Binds the cleaning of an input to the columns of its file. `None` if there is nothing to do.
    pub(in crate::table) fn bind(table: &str, own: &[String], input: &Input) -> Result<Option<Cleaner>> {
        let does = |column: &&ColumnCleaning| column.derive.is_some() || !column.steps.is_empty();
        if !input.cleaning.iter().any(|column| does(&column)) {
            return Ok(None);
        }
        let derived = || input.cleaning.iter().filter(|column| column.derive.is_some());
        if let Some(twice) = derived().find(|column| own.contains(&column.name)) {
            return Err(Error::yours(format!(
                "{table} has a column `{}`, and the policy also derives one of that name. Give the derived column \
                 another name.",
                twice.name
            )));
        }
        let names: Vec<&str> =
            own.iter().map(String::as_str).chain(derived().map(|column| column.name.as_str())).collect();
        let mut columns = Vec::with_capacity(names.len());
        for &name in &names {
            let declared = input.cleaning.iter().find(|column| column.name == name);
            let derive = declared.and_then(|column| column.derive.as_ref());
            let made = derive.map(|derive| Made::bind(derive, table, name, &names)).transpose()?;
            columns.push(CleanedColumn {
                name: name.to_string(),
                steps: bind_steps(declared, input),
                declared: declared.cloned(),
                derive: made,
                dates: None,
                found: None,
            });
        }
        let order = in_order(table, &columns)?;
        let changes = |own: &CleanedColumn| own.declared.as_ref().is_some_and(|own| !own.steps.is_empty());
        let order = order
            .into_iter()
            .filter(|&c| columns[c].derive.is_some() || changes(&columns[c]) || !columns[c].steps.is_empty());
        let mut cleaner = Cleaner { own: own.len(), order: order.collect(), columns };
        cleaner.bind_dates(table)?;
        Ok(Some(cleaner))
    }

    /// States in which format each column is read as dates, as far as the policy says so.
    fn bind_dates(&mut self, table: &str) -> Result<()> {
        for c in 0..self.columns.len() {
            let column = &self.columns[c];
            let declared = column.declared.as_ref();
            let written = declared.is_some_and(|own| own.steps.date.is_some());
            let dates = match (&column.derive, declared.and_then(|own| own.dates.clone())) {
                (Some(Made::Date { .. }), _) => Some((ISO.to_string(), DateFormat::new(ISO)?)),
                _ if written => Some((ISO.to_string(), DateFormat::new(ISO)?)),
                (_, Some(format)) => Some(("as its hierarchy states".to_string(), format)),
                _ => None,
            };
            self.columns[c].dates = dates;
        }
        for c in self.date_sources() {
            let column = &self.columns[c];
            if column.dates.is_none() && column.derive.is_some() {
                return Err(Error::yours(format!(
                    "{table}: `{}` is used as a date, but it is derived and does not hold dates. Name a column of \
                     dates.",
                    column.name
                )));
            }
        }
        Ok(())
    }

    /// The columns from which dates are read.
    fn date_sources(&self) -> Vec<usize> {
        let sources = self.columns.iter().flat_map(|column| match &column.derive {
            Some(Made::Age { born, at: At::Column(at) }) => vec![*born, *at],
            Some(Made::Age { born, at: At::Day(_) }) => vec![*born],
            Some(Made::Between { start, end }) => vec![*start, *end],
            _ => Vec::new(),
        });
        sources.collect()
    }

    /// The columns of the file whose format of dates must be found in the data.
    pub(in crate::table) fn unknown_formats(&self) -> Vec<usize> {
        let sources = self.date_sources();
        let asks = |column: &CleanedColumn| {
            column.declared.as_ref().is_some_and(|own| matches!(own.steps.date, Some(DateReading::FindOut)))
        };
        let unknown = |c: &usize| asks(&self.columns[*c]) || sources.contains(c) && self.columns[*c].dates.is_none();
        (0..self.own).filter(unknown).collect()
    }

    /// Sees the dates of these columns in a chunk of the file.
    pub(in crate::table) fn search_formats(&self, chunk: &Chunk, columns: &[usize], searches: &mut [FormatSearch]) {
        for (&c, search) in columns.iter().zip(searches) {
            for row in 0..chunk.rows() {
                let cell = self.columns[c].steps.plain(chunk.cell(row, c));
                if !cell.is_empty() {
                    search.see(std::str::from_utf8(cell).unwrap_or_default());
                }
            }
        }
    }

    /// Takes over what a search for a format found. Several formats that fit are an error that asks.
    pub(in crate::table) fn found(&mut self, table: &str, c: usize, search: &FormatSearch) -> Result<()> {
        let column = &mut self.columns[c];
        let name = &column.name;
        let found = match search.finish() {
            FoundFormat::One(found) => found,
            FoundFormat::Several(formats) => {
                let formats: Vec<String> = formats.iter().map(|format| format!("date = \"{format}\"")).collect();
                return Err(Error::yours(format!(
                    "{table}, column `{name}`: the dates could be written in more than one way. Set {} for this \
                     column.",
                    formats.join(" or ")
                )));
            }
            FoundFormat::None => {
                return Err(Error::yours(format!(
                    "{table}, column `{name}`: no usual date format fits every cell. Set date = \"…\" for this column, \
                     for example \"%d.%m.%y\", and list cells that are not dates under its `missing`."
                )));
            }
        };
        let format = DateFormat::new(found)?;
        column.found = Some(found);
        match column.dates {
            // The step turns its cells into ISO dates.
            Some(_) => column.steps.date = Some(format),
            None => column.dates = Some((found.to_string(), format)),
        }
        Ok(())
    }

    /// The number of columns, derived ones included.
    pub(in crate::table) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The names of the derived columns.
    pub(in crate::table) fn derived(&self) -> impl Iterator<Item = &String> {
        self.columns[self.own..].iter().map(|column| &column.name)
    }

    /// Returns whether the policy changes cells of a column beside missing ones.
    pub(in crate::table) fn changes(&self, c: usize) -> bool {
        let declared = self.columns[c].declared.as_ref();
        c >= self.own || declared.is_some_and(|own| !own.steps.is_empty())
    }

    pub(super) fn name(&self, c: usize) -> &str {
        &self.columns[c].name
    }

    /// The format in which the dates of a column must be written, for errors.
    pub(super) fn date_text(&self, c: usize) -> String {
        let column = &self.columns[c];
        let step = column.declared.as_ref().and_then(|own| own.steps.date.as_ref());
        match (step, &column.dates) {
            (Some(DateReading::Written(text, _)), _) => text.clone(),
            (_, Some((text, _))) => text.clone(),
            (_, None) => ISO.to_string(),
        }
    }

    pub(super) fn found_format(&self, c: usize) -> Option<&'static str> {
        self.columns[c].found
    }

    /// The steps of a column in words.
    pub(super) fn described(&self, c: usize) -> Vec<(CleaningStep, String)> {
        let column = &self.columns[c];
        let Some(declared) = &column.declared else { return Vec::new() };
        let derived = declared.derive.as_ref().and_then(described_derive).map(|what| (CleaningStep::Derive, what));
        derived.into_iter().chain(described_steps(&declared.steps, column.found)).collect()
    }

    /// Cleans a chunk of the file and adds the derived columns. A cell that cannot be read was readable when the
    /// table was opened.
    pub(in crate::table) fn clean(&self, chunk: &mut Chunk, table: &str) -> Result<()> {
        match self.run(chunk, None) {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::yours(format!(
                "{table}: the file changed while it was read. Start again when nothing writes to it."
            ))),
        }
    }

    /// Cleans a chunk and counts what happens.
    pub(super) fn clean_watched(&self, chunk: &mut Chunk, tally: &mut Tally) {
        // Cells that cannot be read are counted, and are errors when the count is finished.
        let _ = self.run(chunk, Some(tally));
    }

    fn run(&self, chunk: &mut Chunk, mut tally: Option<&mut Tally>) -> std::result::Result<(), Unread> {
        let width = self.columns.len();
        let old = std::mem::take(&mut chunk.cells);
        let mut cells: Vec<Span> = Vec::with_capacity(old.len() / self.own.max(1) * width);
        let (mut cell, mut before) = (Vec::new(), Vec::new());
        for (row, spans) in old.chunks_exact(self.own.max(1)).enumerate() {
            let first = cells.len();
            cells.extend_from_slice(spans);
            cells.resize(first + width, Span { start: 0, end: 0 });
            for &c in &self.order {
                let column = &self.columns[c];
                cell.clear();
                let made = {
                    let text = |c: usize| {
                        let span = cells[first + c];
                        &chunk.text[span.start as usize..span.end as usize]
                    };
                    match &column.derive {
                        None => {
                            cell.extend_from_slice(text(c));
                            Ok(CellOrigin::Read)
                        }
                        Some(Made::Copy(from)) if column.steps.is_empty() => {
                            cells[first + c] = cells[first + *from];
                            continue;
                        }
                        Some(made) => made.make(&self.columns, c, text, &mut cell),
                    }
                };
                let outcome = made.and_then(|outcome| {
                    before.clone_from(&cell);
                    let cleaned = match &mut tally {
                        None => column.steps.apply(&mut cell, &mut Unwatched),
                        Some(tally) => {
                            let mut watch = tally.watch(c);
                            if outcome == CellOrigin::Made {
                                watch.changed(CleaningStep::Derive);
                            }
                            column.steps.apply(&mut cell, &mut watch)
                        }
                    };
                    cleaned.map(|()| outcome).map_err(|problem| Unread(c, problem))
                });
                match (outcome, &mut tally) {
                    (Err(unread), None) => return Err(unread),
                    (Err(Unread(blamed, problem)), Some(tally)) => {
                        let span = cells[first + blamed];
                        let text =
                            if blamed == c { &before } else { &chunk.text[span.start as usize..span.end as usize] };
                        tally.unread(blamed, problem, chunk.line(row), text);
                        continue;
                    }
                    (Ok(CellOrigin::Read), _) if cell == before => {}
                    (Ok(_), _) => {
                        let start = chunk.text.len() as u32;
                        chunk.text.extend_from_slice(&cell);
                        cells[first + c] = Span { start, end: chunk.text.len() as u32 };
                    }
                }
                if let Some(tally) = &mut tally {
                    if matches!(outcome, Ok(CellOrigin::Reversed)) {
                        tally.reversed(c);
                    }
                    if column.declared.as_ref().is_some_and(|own| !own.steps.is_empty()) {
                        // Other texts for missing are one value, as in a table that is not cleaned.
                        let own_list = column.declared.as_ref().is_some_and(|own| own.steps.missing.is_some());
                        let text: &[u8] = if cell.is_empty() && !own_list { &[] } else { &before };
                        tally.became(c, text, &cell);
                    }
                }
            }
        }
        chunk.cells = cells;
        chunk.width = width;
        Ok(())
    }
}

/// Describes what was made of a cell before the steps of its column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellOrigin {
    /// It is the cell of the file.
    Read,
    /// It was derived.
    Made,
    /// A cell that it is derived from is missing.
    Missing,
    /// The dates that it is derived from are in the wrong order: it is missing.
    Reversed,
}

impl Made {
    fn bind(derive: &Derive, table: &str, name: &str, names: &[&str]) -> Result<Made> {
        let find = |source: &str| {
            names.iter().position(|own| *own == source).ok_or_else(|| {
                let hint = nearest(source, names.iter().copied());
                let hint = hint.map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
                Error::yours(format!("{table}: there is no column `{source}` to derive `{name}` from.{hint}"))
            })
        };
        Ok(match derive {
            Derive::Copy(from) => Made::Copy(find(from)?),
            Derive::Age { born, at } => {
                let at = match (find(at), Date::parse_iso(at)) {
                    (Ok(column), _) => At::Column(column),
                    (Err(_), Some(day)) => At::Day(day),
                    (Err(error), None) => return Err(error),
                };
                Made::Age { born: find(born)?, at }
            }
            Derive::Between { start, end } => Made::Between { start: find(start)?, end: find(end)? },
            Derive::Date { year, month, day } => Made::Date { year: find(year)?, month: find(month)?, day: find(day)? },
            Derive::Join(parts) => Made::Join(parts.iter().map(|part| find(part)).collect::<Result<_>>()?),
        })
    }

    fn sources(&self) -> Vec<usize> {
        match self {
            Made::Copy(from) => vec![*from],
            Made::Age { born, at: At::Column(at) } => vec![*born, *at],
            Made::Age { born, at: At::Day(_) } => vec![*born],
            Made::Between { start, end } => vec![*start, *end],
            Made::Date { year, month, day } => vec![*year, *month, *day],
            Made::Join(parts) => parts.clone(),
        }
    }

    /// Makes a cell from those of the other columns.
    fn make<'t>(
        &self,
        columns: &[CleanedColumn],
        own: usize,
        text: impl Fn(usize) -> &'t [u8],
        cell: &mut Vec<u8>,
    ) -> std::result::Result<CellOrigin, Unread> {
        if self.sources().iter().any(|&source| text(source).is_empty()) {
            return Ok(CellOrigin::Missing);
        }
        let date = |c: usize| {
            let format = columns[c].dates.as_ref().map(|(_, format)| format);
            let text = std::str::from_utf8(text(c)).ok();
            format.zip(text).and_then(|(format, text)| format.parse(text)).ok_or(Unread(c, Problem::NoDate))
        };
        let number = match self {
            Made::Copy(from) => {
                cell.extend_from_slice(text(*from));
                return Ok(CellOrigin::Made);
            }
            Made::Join(parts) => {
                for (place, &part) in parts.iter().enumerate() {
                    if place > 0 {
                        cell.push(JOINED);
                    }
                    cell.extend_from_slice(text(part));
                }
                return Ok(CellOrigin::Made);
            }
            Made::Date { year, month, day } => {
                let part =
                    |c: usize| std::str::from_utf8(text(c)).ok().and_then(|text| text.trim().parse::<u32>().ok());
                let whole = part(*year).zip(part(*month)).zip(part(*day));
                // A year of two digits is not the year 85.
                let whole = whole.filter(|((year, _), _)| (1000..=9999).contains(year));
                let date = whole.and_then(|((year, month), day)| Date::new(i64::from(year), month, day));
                date.ok_or(Unread(own, Problem::NoDay))?.push_iso(cell);
                return Ok(CellOrigin::Made);
            }
            Made::Age { born, at } => {
                let at = match at {
                    At::Column(at) => date(*at)?,
                    At::Day(day) => *day,
                };
                let born = date(*born)?;
                if at < born { -1 } else { at.years_since(born) }
            }
            Made::Between { start, end } => {
                let (start, end) = (date(*start)?, date(*end)?);
                end.day_number() - start.day_number()
            }
        };
        if number < 0 {
            return Ok(CellOrigin::Reversed);
        }
        cell.extend_from_slice(number.to_string().as_bytes());
        Ok(CellOrigin::Made)
    }
}

/// The steps of a column, bound. A column without a list of its own has the table's texts for missing cells.
fn bind_steps(declared: Option<&ColumnCleaning>, input: &Input) -> CellSteps {
    let own = declared.map(|column| column.steps.clone()).unwrap_or_default();
    let bytes = |text: &String| text.as_bytes().to_vec();
    let missing = own.missing.as_ref().unwrap_or(&input.missing);
    CellSteps {
        missing: missing.iter().filter(|text| !text.is_empty()).map(bytes).collect(),
        recode: own.recode.iter().map(|(from, to)| (bytes(from), bytes(to))).collect(),
        number: own.number,
        date: match own.date {
            Some(DateReading::Written(_, format)) => Some(format),
            Some(DateReading::FindOut) | None => None,
        },
        spelling: own.spelling,
        top: own.top,
        point: input.decimal,
    }
}

/// The columns, each after those that it is made from.
fn in_order(table: &str, columns: &[CleanedColumn]) -> Result<Vec<usize>> {
    fn visit(c: usize, columns: &[CleanedColumn], state: &mut [u8], order: &mut Vec<usize>) -> Option<usize> {
        match state[c] {
            2 => return None,
            1 => return Some(c),
            _ => state[c] = 1,
        }
        for source in columns[c].derive.as_ref().map_or(Vec::new(), Made::sources) {
            if let Some(again) = visit(source, columns, state, order) {
                return Some(again);
            }
        }
        state[c] = 2;
        order.push(c);
        None
    }
    let (mut state, mut order) = (vec![0; columns.len()], Vec::new());
    for c in 0..columns.len() {
        if let Some(again) = visit(c, columns, &mut state, &mut order) {
            return Err(Error::yours(format!(
                "{table}: `{}` is derived from itself, directly or through other derived columns. Derive it from \
                 columns of the table.",
                columns[again].name
            )));
        }
    }
    Ok(order)
}
