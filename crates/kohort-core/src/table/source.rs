//! An opened table, on disk or in memory: read as often as needed, in its order or on all cores.

use super::blocks::{BLOCK, Blocks, read_full};
use super::chunk::Chunk;
use super::clean::{Cleaned, Cleaner, Tally};
use super::csv::{Cutter, MOST_COLUMNS, split_record};
use super::dialect::find_delimiter;
use super::engine::{Embedded, Engine};
use super::exclude::Exclusion;
use super::fhir;
use super::input::{Input, Place};
use super::memory::MemoryTable;
use super::parquet::RowRun;
use super::parts::{PartFiles, PartedTable, names_parts};
use super::population_part::{BoundPart, PopulationPart};
use super::progress::{Progress, Silent};
use super::shift::Shift;
use super::{statistics, utf16, workbook};
use crate::calendar::FormatSearch;
use crate::parallel::in_order;
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceForm {
    Text { gzip: bool },
    Parquet,
    Memory,
    Engine,
}

/// The name of the only table of events, where `[input]` names it by `claims`.
pub const CLAIMS: &str = "claims";

/// An opened table: its columns are known, its rows are read when asked for.
#[derive(Clone)]
pub struct Source {
    input: Input,
    name: String,
    form: SourceForm,
    delimiter: u8,
    columns: Vec<String>,
    /// The files of a table in Parquet.
    parquet: Option<Arc<PartedTable>>,
    /// Cleans every chunk that is read, where the policy asks for it.
    cleaner: Option<Arc<Cleaner>>,
    cleaned: Arc<Cleaned>,
    excluded: Option<Arc<Exclusion>>,
    /// The people who come in, where several files are made of one table.
    part: Option<Arc<BoundPart>>,
    /// Moves dates, after rows were excluded.
    shift: Option<Arc<Shift>>,
    /// The table of the patients whose events these are.
    patients: Option<Box<Source>>,
    /// The further tables of events, in the first of them.
    more_events: Vec<Source>,
    /// So many of its first rows are wanted, where an engine can leave out the rest.
    first: Option<usize>,
    bytes: u64,
    threads: usize,
    progress: Arc<dyn Progress>,
}

/// Opens a table: finds its format, its delimiter and its columns.
pub fn open(input: &Input) -> Result<Source> {
    if let Place::File(path) = &input.place
        && names_parts(path)
    {
        let parts = Place::Parts(Arc::new(PartFiles::find(path)?));
        return open(&Input { place: parts, ..input.clone() });
    }
    let bytes = input.place.size()?;
    let name = input.place.name();
    let mut magic = [0u8; 8];
    let got = match &input.place {
        // Its rows are text, and a stream of them is not begun to look at the first bytes.
        Place::Database(_) => 0,
        place => read_full(&mut place.bytes()?, &mut magic).map_err(|e| place.io(&e))?,
    };
    if magic[..got].starts_with(&workbook::ZIP) {
        let (table, sheet) = workbook::read(input)?;
        return open(&Input { place: Place::Memory(Arc::new(table)), sheet, ..input.clone() });
    }
    let is_fhir = fhir::is_fhir(&name, &magic[..got]);
    let is_statistics = statistics::program(&magic[..got]).is_some() || statistics::is_sas7bdat(&magic[..got], &name);
    let is_parquet = matches!(input.place, Place::Parts(_) | Place::Engine(_)) || magic[..got].starts_with(b"PAR1");
    if (input.skip > 0 || input.skip_end > 0) && (is_fhir || is_statistics || is_parquet) {
        return Err(Error::yours(format!(
            "{name}: `skip` and `skip_end` under [input] are for text files and workbooks. Remove them."
        )));
    }
    if is_fhir {
        let table = Place::Memory(Arc::new(fhir::read(input)?));
        return open(&Input { place: table, ..input.clone() });
    }
    if let Some(program) = statistics::program(&magic[..got]) {
        let table = Place::Memory(Arc::new(statistics::read(program, input)?));
        return open(&Input { place: table, ..input.clone() });
    }
    if statistics::is_sas7bdat(&magic[..got], &name) {
        return Err(statistics::sas7bdat(&name));
    }
    if magic[..got].starts_with(&workbook::OLE) {
        return Err(workbook::old_or_encrypted(&name));
    }
    // The files of a release are UTF-8: whoever reads one sees what was verified.
    let is_released = matches!(input.place, Place::Hashed(..));
    let form = match &magic[..got.min(4)] {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] if is_released => {
            return Err(Error::yours(format!("{name}: the file is UTF-16, and releases are UTF-8.")));
        }
        _ if matches!(input.place, Place::Memory(_)) => SourceForm::Memory,
        _ if matches!(input.place, Place::Parts(_)) => SourceForm::Parquet,
        _ if matches!(input.place, Place::Engine(_)) => SourceForm::Engine,
        [0x1f, 0x8b, ..] => SourceForm::Text { gzip: true },
        b"PAR1" if input.place.path().is_some() => SourceForm::Parquet,
        b"PAR1" => {
            return Err(Error::yours(format!(
                "{name}: Parquet can only be read from a file. Save it as a \
             file."
            )));
        }
        _ => SourceForm::Text { gzip: false },
    };
    let mut source = Source {
        input: input.clone(),
        name,
        form,
        delimiter: input.delimiter.unwrap_or(b','),
        columns: Vec::new(),
        parquet: None,
        cleaner: None,
        cleaned: Arc::default(),
        excluded: None,
        part: None,
        shift: None,
        patients: input.patients.as_deref().map(open).transpose()?.map(Box::new),
        more_events: input.more_events.iter().map(open).collect::<Result<_>>()?,
        first: None,
        bytes,
        threads: 1,
        progress: Arc::new(Silent),
    };
    match form {
        SourceForm::Parquet => {
            let table = source.open_parquet()?;
            source.columns = table.columns().iter().map(|(name, _)| name.clone()).collect();
            source.parquet = Some(Arc::new(table));
        }
        SourceForm::Text { .. } => source.read_header()?,
        SourceForm::Engine => {
            source.columns = source.sql_table().map(|table| table.columns().to_vec()).unwrap_or_default()
        }
        SourceForm::Memory => source.columns = source.memory().map(|table| table.names().to_vec()).unwrap_or_default(),
    }
    source.check_names()?;
    source.prepare_cleaning()?;
    Ok(source)
}

impl Source {
    /// The same table, read with so many threads.
    pub fn with_threads(mut self, threads: usize) -> Source {
        self.threads = threads.max(1);
        self.patients = self.patients.map(|p| Box::new(p.with_threads(threads)));
        self.more_events = self.more_events.into_iter().map(|own| own.with_threads(threads)).collect();
        self
    }

    /// The same table; `progress` is told of the bytes that were read.
    pub fn with_progress(mut self, progress: Arc<dyn Progress>) -> Source {
        self.patients = self.patients.map(|p| Box::new(p.with_progress(Arc::clone(&progress))));
        let more = self.more_events.into_iter();
        self.more_events = more.map(|own| own.with_progress(Arc::clone(&progress))).collect();
        self.progress = progress;
        self
    }

    /// The same table without the rows that rules exclude: one pass over it counts them.
    pub fn excluding(mut self, rules: Vec<super::ExcludeRule>, patient: Option<usize>) -> Result<Source> {
        if !rules.is_empty() {
            let exclusion = Exclusion::find(&self, rules, patient)?;
            self.excluded = Some(Arc::new(exclusion));
        }
        Ok(self)
    }

    /// The same table with a part of its people, who are named by the patient column, if there is one.
    pub fn of_people(mut self, part: PopulationPart, patient: Option<usize>) -> Source {
        self.part = Some(Arc::new(BoundPart { part, patient }));
        self
    }

    /// Returns whether some people of the table are in no sample.
    pub(crate) fn keeps_some_from_samples(&self) -> bool {
        self.part.as_ref().is_some_and(|part| matches!(&part.part, PopulationPart::Whole { .. }))
    }

    /// Returns whether a row's person may be in a sample.
    pub(crate) fn may_be_sampled(&self, chunk: &Chunk, row: usize) -> bool {
        self.part.as_ref().is_none_or(|part| part.may_be_sampled(chunk, row))
    }

    /// The same table with its dates moved.
    pub(crate) fn shifting(mut self, shift: Shift) -> Source {
        self.shift = Some(Arc::new(shift));
        self
    }

    /// The same table with its dates as they were before they were moved.
    pub(crate) fn unshifted(&self) -> Source {
        Source { shift: None, ..self.clone() }
    }

    /// Binds the cleaning that the input declares, finds formats of dates that it leaves open, and counts what
    /// cleaning changes: one pass over the table, two where a format must be found.
    fn prepare_cleaning(&mut self) -> Result<()> {
        let Some(mut cleaner) = Cleaner::bind(&self.name, &self.columns, &self.input)? else { return Ok(()) };
        let unknown = cleaner.unknown_formats();
        if !unknown.is_empty() {
            let mut searches = vec![FormatSearch::default(); unknown.len()];
            self.scan(
                |_| (),
                |(), chunk| Ok(chunk),
                |chunk| {
                    cleaner.search_formats(&chunk, &unknown, &mut searches);
                    Ok(())
                },
            )?;
            for (&column, search) in unknown.iter().zip(&searches) {
                cleaner.found(&self.name, column, search)?;
            }
        }
        let mut tally = Tally::new(&cleaner);
        self.scan(
            |_| (),
            |(), chunk| Ok(chunk),
            |mut chunk| {
                tally.see(&mut chunk);
                Ok(())
            },
        )?;
        self.cleaned = Arc::new(tally.finish(&self.name)?);
        self.columns.extend(cleaner.derived().cloned());
        self.cleaner = Some(Arc::new(cleaner));
        self.check_names()
    }

    /// The changes that cleaning made.
    pub fn cleaned(&self) -> &Cleaned {
        &self.cleaned
    }

    /// Returns the exclusions.
    pub fn excluded(&self) -> Option<&Exclusion> {
        self.excluded.as_deref()
    }

    /// Returns, for a table of events, the table of their patients.
    pub fn patients(&self) -> Option<&Source> {
        self.patients.as_deref()
    }

    /// Returns, for a table of events, all tables of events of these patients, this one first.
    pub fn event_tables(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(self).chain(&self.more_events)
    }

    /// Returns all tables: this one, further tables of events, and the table of their patients.
    pub fn tables(&self) -> impl Iterator<Item = &Source> {
        self.event_tables().chain(self.patients())
    }

    /// Returns the name of a table of events in the policy and in the release.
    pub fn events_name(&self) -> &str {
        self.input.events.as_deref().unwrap_or(CLAIMS)
    }

    /// The file's name, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is and how it is written.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The columns' names, in the table's order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the character that separates the cells (a comma for Parquet).
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Returns whether it is in Parquet.
    pub fn is_parquet(&self) -> bool {
        self.form == SourceForm::Parquet
    }

    /// Returns whether it is in several files, or a release of it is.
    pub fn is_parts(&self) -> bool {
        matches!(self.input.place, Place::Parts(_)) || self.sql_table().is_some_and(|own| own.part_rows().is_some())
    }

    /// The rows of each part, where the format says how many there are.
    pub(crate) fn rows_by_part(&self) -> Vec<u64> {
        self.parquet.as_ref().map(|table| table.rows_by_part()).unwrap_or_default()
    }

    /// About as many bytes as the table has as text.
    pub fn text_bytes(&self) -> u64 {
        match &self.parquet {
            Some(table) => table.rows().saturating_mul(8 * self.columns.len() as u64),
            None if self.is_gzip() => self.bytes * 6,
            None => self.bytes(),
        }
    }

    /// Returns whether the names of its columns are a record like the others, which may be missing.
    pub fn has_header(&self) -> bool {
        matches!(self.form, SourceForm::Text { .. }) && self.input.header
    }

    /// The same table for whoever wants the first rows alone: so many come, or more.
    pub fn first_rows(&self, rows: usize) -> Source {
        Source { first: Some(rows), ..self.clone() }
    }

    /// The table in an engine that speaks SQL.
    pub fn sql_table(&self) -> Option<&super::SqlTable> {
        if let Place::Engine(table) = &self.input.place { Some(table) } else { None }
    }

    /// Returns whether another engine holds the table: its rows have no order.
    pub fn has_engine(&self) -> bool {
        self.form == SourceForm::Engine
    }

    /// The engine that counts the table and joins a plan to its rows.
    pub fn engine(&self) -> Result<&dyn Engine> {
        let Some(table) = self.sql_table() else { return Ok(&Embedded) };
        let changes = self.cleaner.is_some() || self.excluded.is_some() || self.part.is_some() || self.shift.is_some();
        if changes || self.input.trim || !self.input.missing.is_empty() || !self.more_events.is_empty() {
            return Err(Error::yours(format!(
                "{}: an engine counts the table as it is. Make a view with the rows, cleaned cells and moved dates that \
                 you want, and remove missing, trim, cleaning, exclude, shift and [[file]] from the policy.",
                self.name
            )));
        }
        Ok(table)
    }

    /// The table in a database that it is, if it is one.
    pub fn database_table(&self) -> Option<&super::DatabaseTable> {
        if let Place::Database(table) = &self.input.place { Some(table) } else { None }
    }

    /// Returns whether it is compressed text.
    pub fn is_gzip(&self) -> bool {
        self.form == SourceForm::Text { gzip: true }
    }

    /// Returns whether all of its cells are in memory: they were handed over, or read from a workbook.
    pub fn is_in_memory(&self) -> bool {
        self.form == SourceForm::Memory
    }

    /// The size of the file. That of a table in a database is known when it was read once.
    pub fn bytes(&self) -> u64 {
        self.database_table().and_then(|table| table.size()).unwrap_or(self.bytes)
    }

    /// How many threads read it.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The listener that is told how far a run is.
    pub fn progress(&self) -> &Arc<dyn Progress> {
        &self.progress
    }

    /// Returns whether the text of a cell means that it is missing. Where cells are cleaned, such cells are empty already.
    pub fn is_missing(&self, cell: &[u8]) -> bool {
        cell.is_empty() || self.cleaner.is_none() && self.is_listed_as_missing(cell)
    }

    /// Returns whether the table's list of texts for missing values holds this text.
    pub fn is_listed_as_missing(&self, text: &[u8]) -> bool {
        self.input.missing.iter().any(|m| m.as_bytes() == text)
    }

    /// Reads all rows. `work` sees each chunk, on several threads, each with a state of its own
    /// made by `state` from the thread's number; what it returns comes to `fold` in the order of the file.
    /// The first error in that order is the one returned, whatever the number of threads.
    /// At the end the threads' states are handed back.
    pub fn scan<S: Send, R: Send>(
        &self,
        state: impl Fn(usize) -> S + Sync,
        work: impl Fn(&mut S, Chunk) -> Result<R> + Sync,
        fold: impl FnMut(R) -> Result<()>,
    ) -> Result<Vec<S>> {
        // A small table is not worth a thread.
        let threads = if self.text_bytes() < BLOCK as u64 { 1 } else { self.threads };
        in_order(threads, |each| self.raw(each), state, |s, raw| work(s, self.cells(raw)?), fold)
    }

    /// How many rows have a cell in `column` that `is` is true of, and the lines of the first five.
    pub fn find_lines(&self, column: usize, is: impl Fn(&[u8]) -> bool + Sync) -> Result<(u64, Vec<u64>)> {
        let (mut rows, mut lines) = (0, Vec::new());
        self.scan(
            |_| (),
            |(), chunk| {
                let hits = (0..chunk.rows()).filter(|&r| is(chunk.cell(r, column)));
                Ok(hits.map(|r| chunk.line(r)).collect::<Vec<u64>>())
            },
            |hits| {
                rows += hits.len() as u64;
                lines.extend(hits.into_iter().take(5 - lines.len()));
                Ok(())
            },
        )?;
        Ok((rows, lines))
    }

    /// The table, if it is in memory.
    fn memory(&self) -> Option<&MemoryTable> {
        match &self.input.place {
            Place::Memory(table) => Some(table),
            _ => None,
        }
    }

    /// Blocks of text, chunks of Parquet or runs of rows in memory, in order, until the caller stops the run.
    fn raw(&self, each: &mut dyn FnMut(Raw) -> Result<()>) -> Result<()> {
        self.raw_until_done(&mut |raw| {
            self.progress.go_on()?;
            each(raw)
        })
    }

    fn raw_until_done(&self, each: &mut dyn FnMut(Raw) -> Result<()>) -> Result<()> {
        if let Some(table) = self.memory() {
            return table.runs(&mut |rows, bytes| {
                self.progress.advance(bytes);
                each(Raw::Memory(rows))
            });
        }
        if let Some(table) = &self.parquet {
            let row = self.bytes as f64 / table.rows().max(1) as f64;
            return table.runs(&mut |part, run| {
                self.progress.advance((run.rows() as f64 * row) as u64);
                each(Raw::Columns(part, run))
            });
        }
        if let Some(table) = self.sql_table() {
            let mut line = 1;
            return table.rows(self.first, &mut |batch| {
                line += batch.rows() as u64;
                each(Raw::Batch(batch, line))
            });
        }
        let mut blocks = self.blocks()?;
        let mut first = self.has_header();
        while let Some((mut bytes, mut line)) = blocks.next(self)? {
            if first {
                first = false;
                let (_, used) = split_record(&bytes, self.delimiter, true).unwrap_or_default();
                line += memchr::memchr_iter(b'\n', &bytes[..used]).count() as u64;
                bytes.drain(..used);
            }
            each(Raw::Text(bytes, line))?;
        }
        Ok(())
    }

    fn cells(&self, raw: Raw) -> Result<Chunk> {
        let mut chunk = match raw {
            Raw::Columns(part, run) => match &self.parquet {
                Some(table) => table.chunk(part, run)?,
                None => Chunk::default(),
            },
            Raw::Batch(batch, end) => {
                let first = end - batch.rows() as u64;
                let rows = 0..batch.rows();
                batch.with_first_line(first).chunk(rows)
            }
            Raw::Memory(rows) => {
                let mut chunk = self.memory().map(|table| table.chunk(rows)).unwrap_or_default();
                if self.input.trim {
                    chunk.trim();
                }
                chunk
            }
            Raw::Text(bytes, line) => {
                let width = self.columns.len() - self.cleaner.as_ref().map_or(0, |cleaner| cleaner.derived().count());
                Cutter { name: &self.name, delimiter: self.delimiter, width, trim: self.input.trim }
                    .cut(self.input.encoding.decode(bytes), line)?
            }
        };
        if let Some(cleaner) = &self.cleaner {
            cleaner.clean(&mut chunk, &self.name)?;
        }
        if let Some(excluded) = &self.excluded {
            chunk.retain(|chunk, row| !excluded.holds(chunk, row));
        }
        if let Some(part) = &self.part {
            chunk.retain(|chunk, row| part.keeps(chunk, row));
        }
        if let Some(shift) = &self.shift {
            shift.apply(&mut chunk, &self.name)?;
        }
        Ok(chunk)
    }

    fn open_parquet(&self) -> Result<PartedTable> {
        // Parquet is read here and there: what is counted are the bytes that were hashed, in a copy.
        if let Place::Hashed(path, hash) = &self.input.place {
            let copy = hash.copy(path).map_err(|e| self.input.place.io(&e))?;
            return PartedTable::one(path, copy.path());
        }
        if let Place::Parts(files) = &self.input.place {
            return PartedTable::several(files);
        }
        let path = self.input.place.path().unwrap_or(Path::new(&self.name));
        PartedTable::one(path, path)
    }

    /// The type of each column, where the format has types.
    pub fn column_types(&self) -> Result<Vec<Option<super::ColumnType>>> {
        let Some(table) = &self.parquet else { return Ok(vec![None; self.columns.len()]) };
        let own: Vec<_> = table.columns().iter().map(|(_, own)| own.clone()).collect();
        let Some(cleaner) = &self.cleaner else { return Ok(own) };
        // A cleaned cell need not fit the type of its column.
        let kept = own.into_iter().enumerate().map(|(c, own)| own.filter(|_| !cleaner.changes(c)));
        Ok(kept.chain(cleaner.derived().map(|_| None)).collect())
    }

    fn blocks(&self) -> Result<Blocks> {
        self.blocks_of(self.input.place.bytes()?)
    }

    fn blocks_of(&self, bytes: Box<dyn Read + Send>) -> Result<Blocks> {
        let reader: Box<dyn Read + Send> = match self.form {
            SourceForm::Text { gzip: true } => {
                Box::new(MultiGzDecoder::new(std::io::BufReader::with_capacity(1 << 16, bytes)))
            }
            _ => bytes,
        };
        let reader = utf16::decoded(reader).map_err(|e| self.broken(&e))?;
        Ok(Blocks::of(reader))
    }

    fn read_header(&mut self) -> Result<()> {
        let mut blocks = self.blocks_of(self.input.place.header()?)?;
        let first = blocks.next(self)?;
        let Some((bytes, line)) = first else {
            let below = if self.input.skip > 0 || self.input.skip_end > 0 {
                "`skip` and `skip_end` under [input] skip the whole file. Set them to the lines above and below the table."
            } else {
                "the file is empty."
            };
            return Err(Error::yours(format!("{}: {below}", self.name)));
        };
        let bytes = self.input.encoding.decode(bytes);
        if let (None, Some(named)) = (self.input.delimiter, blocks.delimiter) {
            self.delimiter = named;
        } else if self.input.delimiter.is_none() {
            self.delimiter = find_delimiter(&bytes[..bytes.len().min(1 << 16)], bytes.len() <= 1 << 16);
        }
        let (cells, _) = split_record(&bytes, self.delimiter, true).unwrap_or_default();
        if cells.iter().any(|c| c.contains(&b'\r')) {
            return Err(Error::yours(format!(
                "{}: lines end with CR only. Save the file with LF or CR LF line ends.",
                self.name
            )));
        }
        self.columns = if self.input.header {
            let names = cells.into_iter().map(String::from_utf8).collect::<std::result::Result<Vec<_>, _>>();
            let names = names.map_err(|_| {
                Error::yours(format!(
                    "{}, line {line}: the header is not valid UTF-8. If the file is in Windows-1252, \
                     set encoding = \"windows-1252\" under [input].",
                    self.name
                ))
            })?;
            let names: Vec<String> = names.into_iter().map(|n| n.trim().to_string()).collect();
            if matches!(self.input.place, Place::Hashed(..)) { names } else { name_all(names) }
        } else {
            (1..=cells.len()).map(|i| format!("column{i}")).collect()
        };
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        if self.columns.len() > MOST_COLUMNS {
            return Err(Error::yours(format!("{}: more than {MOST_COLUMNS} columns.", self.name)));
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (i, name) in self.columns.iter().enumerate() {
            if name.is_empty() {
                return Err(Error::yours(format!(
                    "{}: column {} has no name. Name every column in the header; if the file has no header, set \
                     header = false under [input].",
                    self.name,
                    i + 1
                )));
            }
            if let Some(other) = seen.insert(name, i) {
                return Err(Error::yours(format!(
                    "{}: columns {} and {} have the same name. Rename one of them; if the file has no header, set \
                     header = false under [input].",
                    self.name,
                    other + 1,
                    i + 1
                )));
            }
        }
        Ok(())
    }
}

/// Gives every column a name of its own: one without a name gets its number, and one whose name is taken gets a number
/// behind it.
fn name_all(names: Vec<String>) -> Vec<String> {
    let given: HashSet<String> = names.iter().cloned().collect();
    let mut taken: HashSet<String> = HashSet::new();
    // The first number that may be free behind a name: without it, a million equal names would take a million² steps.
    let mut next: HashMap<String, usize> = HashMap::new();
    let name = |(place, name): (usize, String)| {
        let stem = if name.is_empty() { format!("column{place}") } else { name.clone() };
        let is_free = |own: &String| !taken.contains(own) && (*own == name || !given.contains(own));
        let mut number = next.get(&stem).copied().unwrap_or(1);
        let own = loop {
            let own = if number == 1 { stem.clone() } else { format!("{stem} ({number})") };
            number += 1;
            if is_free(&own) {
                break own;
            }
        };
        next.insert(stem, number);
        taken.insert(own.clone());
        own
    };
    (1..).zip(names).map(name).collect()
}

enum Raw {
    Text(Vec<u8>, u64),
    /// A part of a table in Parquet, and rows of it.
    Columns(usize, RowRun),
    /// Rows of an engine, and the number behind the last.
    Batch(MemoryTable, u64),
    Memory(Range<usize>),
}

impl Source {
    pub(super) fn broken(&self, error: &std::io::Error) -> Error {
        if self.is_gzip() {
            return Error::yours(format!("{}: the gzip data is damaged or cut off.", self.name));
        }
        self.input.place.io(error)
    }
}
