//! More rows like those of the adult table, for benchmarks that need a known table at any size.

use std::collections::HashMap;
use std::io::{self, Write};

use super::CellLines;
use super::random::{AliasTable, RowRandomness};

const YOUNGEST: u32 = 17;
const OLDEST: u32 = 90;
const REDRAWN_PER_MILLE: u32 = 100;

/// Writes `count` rows like those of the adult census table, for benchmarks at sizes the table itself does not have.
///
/// A row begins as a row of the table drawn at random. Its age moves by up to three years either way, within 17 to
/// 90; each other cell is, with probability 0.1, drawn anew from its whole column. So the values and their
/// frequencies stay those of the table, and most of what binds the columns together, while the number of distinct
/// rows grows with `count`. Cells are separated by `;`, below the same header. Same table, count and seed, same bytes.
///
/// A table without rows, with a row that is not as long as the header, without a column `age`, or with an age that
/// is not a whole number is invalid input.
pub fn vary_adult(
    header: &[String],
    rows: &[Vec<String>],
    count: u64,
    seed: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let age_column = header.iter().position(|name| name == "age").ok_or_else(|| invalid("no column is named age"))?;
    if rows.is_empty() {
        return Err(invalid("the table has no rows"));
    }
    if rows.iter().any(|row| row.len() != header.len()) {
        return Err(invalid("a row is not as long as the header"));
    }
    let ages = rows.iter().map(|row| row[age_column].parse::<u32>().ok());
    let ages = ages.collect::<Option<Vec<u32>>>().ok_or_else(|| invalid("an age is not a whole number"))?;

    let columns: Vec<DistinctValues> = (0..header.len()).map(|column| DistinctValues::of(rows, column)).collect();
    // Cell by cell as codes, so that a base row is one place in memory and not nine.
    let codes: Vec<u32> = (0..rows.len()).flat_map(|row| columns.iter().map(move |c| c.codes[row])).collect();

    let mut lines = CellLines::new(out, b';', &(header.join(";") + "\n"));
    for row in 0..count {
        let mut random = RowRandomness::of_row(seed, row);
        let base = random.below(rows.len() as u32) as usize;
        let cells = &codes[base * columns.len()..][..columns.len()];
        for (place, (column, &code)) in columns.iter().zip(cells).enumerate() {
            if place == age_column {
                lines.number((ages[base] + random.below(7)).saturating_sub(3).clamp(YOUNGEST, OLDEST));
            } else if random.per_mille(REDRAWN_PER_MILLE) {
                lines.cell(column.values[column.odds.draw(&mut random)]);
            } else {
                lines.cell(column.values[code as usize]);
            }
        }
        lines.end()?;
    }
    lines.finish()
}

/// The distinct values of a column in order of appearance, how often each occurs, and which one each row has.
struct DistinctValues<'a> {
    values: Vec<&'a str>,
    odds: AliasTable,
    codes: Vec<u32>,
}

impl<'a> DistinctValues<'a> {
    fn of(rows: &'a [Vec<String>], column: usize) -> DistinctValues<'a> {
        let (mut code_of, mut values, mut counts) = (HashMap::new(), Vec::new(), Vec::new());
        let mut codes = Vec::with_capacity(rows.len());
        for row in rows {
            let value = row[column].as_str();
            let code = *code_of.entry(value).or_insert(values.len() as u32);
            if code as usize == values.len() {
                values.push(value);
                counts.push(0);
            }
            counts[code as usize] += 1;
            codes.push(code);
        }
        DistinctValues { values, odds: AliasTable::new(counts), codes }
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
