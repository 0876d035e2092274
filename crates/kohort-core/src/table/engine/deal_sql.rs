//! The statements that let workers write a release: rows are kept as text, and a plan is dealt to them by their keys.

use super::sql::{NO_VALUE, TableSql};
use super::workers::{CELLS_TABLE, DEALT, KEY_COLUMN, KEYED_TABLE, NAMED_TABLE, NO_CELLS, PART_COLUMN, WAYS_TABLE};
use super::{Dialect, PLAN_TABLE};
use crate::Result;

/// A cell of a released row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DealtCell {
    /// One that the plan decides, by its place in the table of cells.
    Planned(usize),
    /// The row's own cell of a column of the table.
    Own(usize),
}

/// Says what becomes of the rows of one tuple, at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// All of them show the same cells, or are deleted.
    One,
    /// Some show other cells than others: which ones is in [`WAYS_TABLE`] and [`NAMED_TABLE`].
    Several,
}

impl TableSql {
    /// The rows with these columns as text, called c0, c1 and so on by the columns' places, and the patient, called p.
    pub fn keep(&self, columns: &[usize], patient: Option<usize>) -> Result<String> {
        let mut shown = Vec::new();
        for &column in columns {
            shown.push(format!("{} AS c{column}", self.text(column)?));
        }
        if let Some(patient) = patient {
            shown.push(format!("{} AS p", self.text(patient)?));
        }
        Ok(format!("SELECT {} FROM {} t", shown.join(", "), self.from()))
    }

    /// The released rows: their key, their part, the patient, and their cells, called r0, r1 and so on. A tuple of
    /// which all rows become one is joined with it. Where it becomes several, patients with several rows are joined by
    /// their names, and other rows are ranked by their random keys within the tuple, and the ranks are dealt. Where no
    /// tuple becomes several, nothing is ranked.
    pub fn deal(&self, tuple_columns: &[usize], patient: bool, released: &[DealtCell], ways: Ways) -> String {
        let Dialect { by_bytes, .. } = self.dialect();
        let mut on = Vec::new();
        for (i, column) in tuple_columns.iter().enumerate() {
            on.push(format!("COALESCE(k.c{column}{by_bytes}, '{NO_VALUE}') = t.q{i}{by_bytes}"));
            on.push(format!("CASE WHEN k.c{column} IS NULL THEN '1' ELSE '0' END = t.q{i}_null"));
        }
        let on = if on.is_empty() { "1 = 1".to_string() } else { on.join(" AND ") };
        let mut shown = vec![format!("d.{KEY_COLUMN}"), format!("d.{PART_COLUMN}")];
        shown.extend(patient.then(|| "d.p".to_string()));
        shown.extend(released.iter().enumerate().map(|(i, cell)| match cell {
            DealtCell::Planned(place) => format!("c.r{place} AS r{i}"),
            DealtCell::Own(column) => format!("d.c{column} AS r{i}"),
        }));
        let shown = shown.join(", ");
        if ways == Ways::One {
            return format!(
                "SELECT {shown} FROM (SELECT k.*, t.cells AS cells FROM {KEYED_TABLE} k JOIN {PLAN_TABLE} t ON {on} WHERE t.cells \
                 <> '{NO_CELLS}') d JOIN {CELLS_TABLE} c ON c.cells = d.cells"
            );
        }
        // Every row with its tuple, the cells of the whole tuple, and those of its patient where it is named.
        let mut named = (format!("'{DEALT}'"), String::new());
        if patient {
            let same = format!("m.tuple = t.tuple AND m.p{by_bytes} = k.p{by_bytes}");
            named = (format!("COALESCE(m.cells, '{DEALT}')"), format!(" LEFT JOIN {NAMED_TABLE} m ON {same}"));
        }
        let joined = format!(
            "SELECT k.*, t.tuple AS tuple, t.cells AS whole_cells, {} AS own_cells FROM {KEYED_TABLE} k JOIN {PLAN_TABLE} t \
             ON {on}{}",
            named.0, named.1
        );
        let ranked = format!(
            "SELECT j.*, ROW_NUMBER() OVER (PARTITION BY tuple ORDER BY {KEY_COLUMN}) AS place FROM joined j WHERE \
             whole_cells = '{DEALT}' AND own_cells = '{DEALT}'"
        );
        let used: Vec<String> = released
            .iter()
            .filter_map(|cell| if let DealtCell::Own(column) = cell { Some(format!("c{column}")) } else { None })
            .chain(patient.then(|| "p".to_string()))
            .collect();
        let own = |from: &str| used.iter().map(|name| format!(", {from}.{name}")).collect::<String>();
        let row = |from: &str, cells: &str| {
            format!("SELECT {from}.{KEY_COLUMN}, {from}.{PART_COLUMN}, {cells} AS cells{}", own(from))
        };
        let decided = format!("CASE WHEN j.whole_cells = '{DEALT}' THEN j.own_cells ELSE j.whole_cells END");
        let dealt = format!(
            "{} FROM joined j WHERE j.whole_cells <> '{DEALT}' OR j.own_cells <> '{DEALT}' UNION ALL {} FROM ranked r JOIN {WAYS_TABLE} w \
             ON w.tuple = r.tuple AND r.place >= CAST(w.first_place AS BIGINT) AND r.place <= CAST(w.last_place AS BIGINT)",
            row("j", &decided),
            row("r", "w.cells")
        );
        format!(
            "WITH joined AS ({joined}), ranked AS ({ranked}), dealt AS ({dealt}) SELECT {shown} FROM dealt d JOIN \
             {CELLS_TABLE} c ON c.cells = d.cells WHERE d.cells <> '{NO_CELLS}'"
        )
    }
}
