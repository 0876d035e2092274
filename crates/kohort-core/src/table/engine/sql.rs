//! The statements that count tuples and join a plan. They hold names of tables and columns, and no value of the data.
//!
//! Counting goes in two steps and never by COUNT(DISTINCT …), for which some engines hold every value in memory. The
//! join compares a text and a flag for missing values, since some engines have no hash join for IS NOT DISTINCT FROM.

use super::dialect::Dialect;
use crate::Result;

/// The name of the table that a plan is loaded into.
pub const PLAN_TABLE: &str = "kohort_plan";
/// The text of a missing value in the plan's table, beside a flag.
pub(super) const NO_VALUE: &str = "-";

/// Statements about one table.
#[derive(Debug, Clone)]
pub struct TableSql {
    dialect: Dialect,
    /// A quoted name, or a query in parentheses.
    from: String,
    columns: Vec<String>,
}

impl TableSql {
    /// Statements about a table, `cdm.visits`, with these columns.
    pub fn of_table(dialect: Dialect, table: &str, columns: &[String]) -> Result<TableSql> {
        Ok(TableSql { dialect, from: dialect.quote_table(table)?, columns: columns.to_vec() })
    }

    /// Statements about the rows of a query with these columns.
    pub fn of_query(dialect: Dialect, query: &str, columns: &[String]) -> TableSql {
        let query = query.trim().trim_end_matches(';');
        TableSql { dialect, from: format!("({query}\n)"), columns: columns.to_vec() }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The table's quoted name, or its query in parentheses.
    pub(super) fn from(&self) -> &str {
        &self.from
    }

    /// A column as text that is compared by its bytes. An empty text is missing.
    pub(super) fn text(&self, column: usize) -> Result<String> {
        let Dialect { text, by_bytes, .. } = self.dialect;
        Ok(format!("NULLIF(CAST(t.{} AS {text}){by_bytes}, '')", self.dialect.quote(&self.columns[column])?))
    }

    /// Columns as texts, called q0, q1 and so on, and the patient, called p.
    fn texts(&self, columns: &[usize], patient: Option<usize>) -> Result<String> {
        let mut all = Vec::new();
        for (i, &column) in columns.iter().enumerate() {
            all.push(format!("{} AS q{i}", self.text(column)?));
        }
        if let Some(patient) = patient {
            all.push(format!("{} AS p", self.text(patient)?));
        }
        // A tuple of no columns is one value.
        if all.is_empty() {
            all.push("1 AS q".into());
        }
        Ok(format!("SELECT {} FROM {} t", all.join(", "), self.from))
    }

    /// All rows as text, in columns that are called c0, c1 and so on.
    pub fn rows(&self) -> Result<String> {
        let named = |column: usize| Ok(format!("{} AS c{column}", self.text(column)?));
        let all = (0..self.columns.len()).map(named).collect::<Result<Vec<_>>>()?;
        Ok(format!("SELECT {} FROM {} t", all.join(", "), self.from))
    }

    /// The number of all rows.
    pub fn count_rows(&self) -> String {
        format!("SELECT COUNT(*) AS n FROM {} t", self.from)
    }

    /// The number of rows without a patient.
    pub fn count_nobody(&self, patient: usize) -> Result<String> {
        let text = self.text(patient)?;
        Ok(format!("SELECT SUM(CASE WHEN {text} IS NULL THEN 1 ELSE 0 END) AS nobody FROM {} t", self.from))
    }

    /// Distinct tuples: their values, rows, and with patients the number of these.
    pub fn count(&self, columns: &[usize], patient: Option<usize>) -> Result<String> {
        let (names, group) = names(columns.len());
        let texts = self.texts(columns, patient)?;
        Ok(match patient {
            None => format!("SELECT {names}COUNT(*) AS n FROM ({texts}) x{group}"),
            Some(_) => format!(
                "SELECT {names}SUM(n) AS n, COUNT(*) AS patients FROM (SELECT {names}p, COUNT(*) AS n FROM ({texts}) x \
                 GROUP BY {names}p) y{group}"
            ),
        })
    }

    /// The cells of a column that have a value, and those among them whose value only one person has. Without a patient
    /// every row is a person.
    pub fn alone(&self, column: usize, patient: Option<usize>) -> Result<String> {
        let texts = self.texts(&[column], patient)?;
        let (by_value, one) = match patient {
            None => (format!("SELECT COUNT(*) AS n FROM ({texts}) x WHERE q0 IS NOT NULL GROUP BY q0"), "n"),
            Some(_) => {
                let both = format!("SELECT q0, p, COUNT(*) AS n FROM ({texts}) x WHERE q0 IS NOT NULL GROUP BY q0, p");
                (format!("SELECT SUM(n) AS n, COUNT(*) AS people FROM ({both}) y GROUP BY q0"), "people")
            }
        };
        Ok(format!(
            "SELECT COALESCE(SUM(n), 0) AS cells, COALESCE(SUM(CASE WHEN {one} = 1 THEN n ELSE 0 END), 0) AS alone FROM \
             ({by_value}) z"
        ))
    }

    /// For each patient with several rows: the values of each tuple of theirs, the patient, and the rows.
    pub fn several_rows(&self, columns: &[usize], patient: usize) -> Result<String> {
        let (names, _) = names(columns.len());
        let texts = self.texts(columns, Some(patient))?;
        let own: String = (0..columns.len()).map(|i| format!("y.q{i}, ")).collect();
        Ok(format!(
            "SELECT {own}y.p, y.n FROM (SELECT {names}p, COUNT(*) AS n FROM ({texts}) x GROUP BY {names}p) y JOIN \
             (SELECT p FROM ({texts}) x GROUP BY p HAVING COUNT(*) > 1) m ON y.p = m.p"
        ))
    }

    /// The columns of the plan's table: a value and a flag for each column of a tuple, and the tuple's number.
    pub fn plan_columns(columns: usize) -> Vec<String> {
        let pair = |i: usize| [format!("q{i}"), format!("q{i}_null")];
        (0..columns).flat_map(pair).chain(["tuple".to_string()]).collect()
    }

    /// The rows with their tuples: all columns of the table, in order, of which only those that are `copied` have a
    /// value; the number of the tuple; and the patient.
    pub fn join(&self, tuple_columns: &[usize], patient: Option<usize>, copied: &[usize]) -> Result<String> {
        let mut shown = Vec::new();
        for column in 0..self.columns.len() {
            let text = if copied.contains(&column) { self.text(column)? } else { "NULL".into() };
            shown.push(format!("{text} AS c{column}"));
        }
        shown.push("p.tuple AS tuple".into());
        shown.push(match patient {
            Some(patient) => format!("{} AS patient", self.text(patient)?),
            None => "NULL AS patient".into(),
        });
        let mut on = Vec::new();
        for (i, &column) in tuple_columns.iter().enumerate() {
            let text = self.text(column)?;
            let by_bytes = self.dialect.by_bytes;
            on.push(format!("COALESCE({text}, '{NO_VALUE}') = p.q{i}{by_bytes}"));
            on.push(format!("CASE WHEN {text} IS NULL THEN '1' ELSE '0' END = p.q{i}_null"));
        }
        let on = if on.is_empty() { "1 = 1".to_string() } else { on.join(" AND ") };
        Ok(format!("SELECT {} FROM {} t JOIN {PLAN_TABLE} p ON {on}", shown.join(", "), self.from))
    }
}

/// The names of a tuple's columns, each with a comma behind it, and the clause that groups by them.
fn names(columns: usize) -> (String, String) {
    let names: String = (0..columns).map(|i| format!("q{i}, ")).collect();
    match names.strip_suffix(", ") {
        Some(all) => (names.clone(), format!(" GROUP BY {all}")),
        None => (names, String::new()),
    }
}
