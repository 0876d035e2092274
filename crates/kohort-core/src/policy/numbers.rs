//! Gives intervals to quasi-identifiers that hold numbers and have no hierarchy.

use super::bound::Policy;
use super::column::{Column, Role};
use crate::Result;
use crate::hierarchy::{Intervals, NUMBERS_IN_WORDS, Rule};
use crate::number::Decimal;
use crate::table::{Counting, Source, count};
use std::collections::BTreeMap;

impl Policy {
    /// Gives intervals that follow the data to every quasi-identifier without a hierarchy whose cells are all
    /// numbers, and different enough to be quantities. A column for which the policy sets `levels` stays as it is.
    /// Reads the rows once, after exclusions, and only if there is such a column.
    pub fn group_numbers(&mut self, source: &Source) -> Result<()> {
        let is_flat = |column: &Column| {
            column.role == Role::Quasi && matches!(column.rule, Rule::Flat) && column.levels == [0, 1]
        };
        let columns: Vec<usize> = (0..self.columns.len()).filter(|&c| is_flat(&self.columns[c])).collect();
        if columns.is_empty() {
            return Ok(());
        }
        let point = source.input().decimal;
        let workers = match source.has_engine() {
            true => vec![columns.iter().map(|&column| count_numbers(source, column, point)).collect::<Result<_>>()?],
            false => read_numbers(source, &columns, point)?,
        };
        for (i, &column) in columns.iter().enumerate() {
            let all: Option<Vec<(Decimal, u64)>> = workers.iter().try_fold(Vec::new(), |mut all, worker| {
                all.extend(worker[i].as_ref()?.iter().map(|(&number, &rows)| (number, rows)));
                Some(all)
            });
            let Some(intervals) = all.and_then(|all| Intervals::following(&all, point)) else { continue };
            let own = &mut self.columns[column];
            own.rule = Rule::Intervals(intervals);
            own.rule_text = NUMBERS_IN_WORDS.to_string();
            own.levels = (0..own.rule.level_names().len()).collect();
        }
        Ok(())
    }
}

/// The numbers of a column, and how often each occurs. `None`: a cell is no quantity.
type Numbers = Option<BTreeMap<Decimal, u64>>;

/// Reads the numbers of columns, as every thread found them.
fn read_numbers(source: &Source, columns: &[usize], point: u8) -> Result<Vec<Vec<Numbers>>> {
    source.scan(
        |_| vec![Some(BTreeMap::new()); columns.len()],
        |found: &mut Vec<Option<BTreeMap<Decimal, u64>>>, chunk| {
            for (own, &column) in found.iter_mut().zip(columns) {
                for row in 0..chunk.rows() {
                    let Some(numbers) = own else { break };
                    let cell = chunk.cell(row, column);
                    if source.is_missing(cell) {
                        continue;
                    }
                    match quantity(cell, point) {
                        Some(number) => *numbers.entry(number).or_default() += 1,
                        None => *own = None,
                    }
                }
            }
            Ok(())
        },
        |()| Ok(()),
    )
}

/// The numbers of a column, as an engine counts its values.
fn count_numbers(source: &Source, column: usize, point: u8) -> Result<Numbers> {
    let counted = count(source, &Counting { columns: vec![column], patient: None, remember: 0 })?;
    let values = counted.dictionaries[0].texts().into_iter().zip(counted.frequencies(0)).skip(1);
    let numbers =
        values.filter(|(_, rows)| **rows > 0).map(|(text, &rows)| Some((quantity(text.as_bytes(), point)?, rows)));
    let mut all = BTreeMap::new();
    for number in numbers {
        // Several spellings are one number.
        let Some((number, rows)) = number else { return Ok(None) };
        *all.entry(number).or_default() += rows;
    }
    Ok(Some(all))
}

/// The number in a cell, if it is a quantity: a code such as `007` is not.
fn quantity(cell: &[u8], point: u8) -> Option<Decimal> {
    let text = std::str::from_utf8(cell).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_code = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
    Decimal::of_cell(text, point).filter(|_| !is_code)
}
