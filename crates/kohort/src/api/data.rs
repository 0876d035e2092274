//! The data of a run: a table, the codes of patients, or patients with their events.

use kohort_core::Result;
use kohort_core::policy::GivenTables;
use kohort_core::table::{CLAIMS, MemoryTable, Place, SqlTable, TextColumn};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The name in errors of a table that has no file.
const NAME: &str = "the table";

/// A value that becomes the text of a cell: text, a whole number, or an `Option` of one, where `None` is missing.
pub trait Cell {
    /// The text of the cell; empty where the value is missing.
    fn text(&self) -> Cow<'_, str>;
}

impl Cell for str {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Cell for String {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl<T: Cell + ?Sized> Cell for &T {
    fn text(&self) -> Cow<'_, str> {
        (**self).text()
    }
}

impl<T: Cell> Cell for Option<T> {
    fn text(&self) -> Cow<'_, str> {
        self.as_ref().map_or(Cow::Borrowed(""), Cell::text)
    }
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl Cell for $number {
            fn text(&self) -> Cow<'_, str> {
                Cow::Owned(self.to_string())
            }
        }
    )*};
}
whole_numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

/// A table of text cells: columns in memory, the text of a CSV file, or a file. An empty cell is missing.
///
/// ```
/// # fn main() -> kohort::Result<()> {
/// use kohort::Table;
/// let table = Table::from_columns([("age", ["34", "35", ""]), ("sex", ["F", "M", "F"])])?;
/// let mixed = Table::builder().column("age", [Some(34), None]).column("sex", ["F", "M"]).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    place: Place,
}

impl Table {
    /// A table in memory, from columns of equal length with their names.
    pub fn from_columns<N, C>(columns: impl IntoIterator<Item = (N, C)>) -> Result<Table>
    where
        N: Into<String>,
        C: IntoIterator,
        C::Item: Cell,
    {
        let add = |table: TableBuilder, (name, cells): (N, C)| table.column(name, cells);
        columns.into_iter().fold(Table::builder(), add).build()
    }

    /// A table in memory whose columns are of several types, added one by one.
    pub fn builder() -> TableBuilder {
        TableBuilder { columns: Vec::new() }
    }

    /// The text of a CSV, TSV or `;`-separated file, whose first line names the columns; it may be
    /// compressed by gzip.
    pub fn from_csv(text: impl Into<Vec<u8>>) -> Table {
        let bytes: Vec<u8> = text.into();
        Table { place: Place::Text(NAME.into(), bytes.into()) }
    }

    /// A file: CSV, TSV, `;`-separated or Parquet; text may be compressed by gzip. It is read when a run
    /// needs it, not before.
    pub fn file(path: impl Into<PathBuf>) -> Table {
        Table { place: Place::File(path.into()) }
    }

    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }
}

impl From<SqlTable> for Table {
    fn from(table: SqlTable) -> Table {
        Table { place: Place::Engine(Arc::new(table)) }
    }
}

impl From<MemoryTable> for Table {
    fn from(table: MemoryTable) -> Table {
        Table { place: Place::Memory(Arc::new(table)) }
    }
}

/// Columns that will be a table.
#[derive(Debug, Clone)]
pub struct TableBuilder {
    columns: Vec<(String, TextColumn)>,
}

impl TableBuilder {
    /// Adds a column.
    pub fn column<C>(mut self, name: impl Into<String>, cells: C) -> TableBuilder
    where
        C: IntoIterator,
        C::Item: Cell,
    {
        let mut column = TextColumn::default();
        cells.into_iter().for_each(|cell| column.push(&cell.text()));
        self.columns.push((name.into(), column));
        self
    }

    /// Puts the columns together; they must have equal lengths.
    pub fn build(self) -> Result<Table> {
        Ok(Table { place: Place::Memory(Arc::new(MemoryTable::new(NAME, self.columns)?)) })
    }
}

/// The data of a run. A [`Table`] is one; so are the codes of patients, and patients with their events.
#[derive(Debug, Clone)]
pub struct Data {
    pub(super) tables: GivenTables,
}

impl Data {
    /// Patients and their events, in two tables that a patient column links.
    pub fn events(patients: &Table, events: &Table) -> Data {
        Data::event_tables(patients, [(CLAIMS, events)])
    }

    /// Patients and their events in several tables (visits, conditions, …), each with its name in the policy.
    pub fn event_tables<'a>(patients: &Table, events: impl IntoIterator<Item = (&'a str, &'a Table)>) -> Data {
        let events = events.into_iter().map(|(name, table)| (name.to_string(), table.place())).collect();
        Data { tables: GivenTables::Linked { patients: patients.place(), events } }
    }

    /// A set of codes for each patient, as a table of two columns: `patient`, which numbers the patients, and
    /// `code`. The policy calls them so: `.patient("patient").codes("code")`.
    ///
    /// ```
    /// # fn main() -> kohort::Result<()> {
    /// let data = kohort::Data::codes([vec!["401", "250"], vec!["486"], vec![]])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn codes<R>(patients: impl IntoIterator<Item = R>) -> Result<Data>
    where
        R: IntoIterator,
        R::Item: Cell,
    {
        let (mut numbers, mut codes) = (TextColumn::default(), TextColumn::default());
        for (number, record) in (1u64..).zip(patients) {
            let number = number.to_string();
            let before = codes.len();
            for code in record {
                numbers.push(&number);
                codes.push(&code.text());
            }
            // A patient without codes is a row with a missing one.
            if codes.len() == before {
                numbers.push(&number);
                codes.push("");
            }
        }
        let columns = [("patient".to_string(), numbers), ("code".to_string(), codes)];
        Ok(Data { tables: GivenTables::One(Place::Memory(Arc::new(MemoryTable::new(NAME, columns)?))) })
    }
}

impl From<&Table> for Data {
    fn from(table: &Table) -> Data {
        Data { tables: GivenTables::One(table.place()) }
    }
}

impl From<Table> for Data {
    fn from(table: Table) -> Data {
        Data::from(&table)
    }
}

impl From<&Data> for Data {
    fn from(data: &Data) -> Data {
        data.clone()
    }
}
