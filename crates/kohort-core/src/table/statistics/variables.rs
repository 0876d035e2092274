//! The variables of a file while its rows are read.

use super::super::encoding::Encoding;
use super::super::memory::{MemoryTable, TextColumn};
use super::{FileFault, ReadResult};
use crate::Result;
use crate::calendar::Date;
use std::collections::HashMap;

/// More text than this is refused.
const MOST_TEXT: usize = 2 << 30;
/// The seconds of a day.
const DAY: i64 = 86_400;

/// How a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Number,
    /// Days since this day, counted from 1970-01-01.
    Days(i64),
    /// Seconds since the start of this day.
    Seconds(i64),
    /// Seconds since midnight.
    Time,
    /// Months since January 1960.
    Months,
    /// Quarters since the first of 1960.
    Quarters,
}

/// One variable with its cells.
pub(super) struct Variable {
    name: String,
    cells: TextColumn,
    pub meaning: Meaning,
    /// The label of each code, as the number is shown.
    labels: HashMap<String, String>,
    /// True if a code without a label occurred.
    unlabelled: bool,
}

/// All variables of a file.
pub(super) struct Variables {
    pub all: Vec<Variable>,
    encoding: Encoding,
    held: usize,
}

impl Variables {
    pub fn new(encoding: Encoding) -> Variables {
        Variables { all: Vec::new(), encoding, held: 0 }
    }

    /// A text of the file as UTF-8.
    pub fn text(&self, bytes: &[u8]) -> ReadResult<String> {
        String::from_utf8(self.encoding.decode(bytes.to_vec())).map_err(|_| FileFault::Encoding)
    }

    /// Adds a variable.
    pub fn add(&mut self, name: &[u8], meaning: Meaning) -> ReadResult<()> {
        let name = self.text(name)?.trim().to_string();
        let (cells, labels) = (TextColumn::default(), HashMap::new());
        self.all.push(Variable { name, cells, meaning, labels, unlabelled: false });
        Ok(())
    }

    /// States the labels of a variable's codes.
    pub fn label(&mut self, variable: usize, labels: impl Iterator<Item = (f64, String)>) {
        let Some(own) = self.all.get_mut(variable) else { return };
        own.labels.extend(labels.map(|(code, label)| (number_text(code), label)));
    }

    /// Adds a cell of text, without the spaces that fill it up.
    pub fn push_text(&mut self, variable: usize, bytes: &[u8]) -> ReadResult<()> {
        let text = self.text(bytes.trim_ascii_end())?;
        self.push(variable, &text)
    }

    /// Adds a cell; a missing one is empty.
    pub fn push(&mut self, variable: usize, text: &str) -> ReadResult<()> {
        self.held += text.len() + 8;
        if self.held > MOST_TEXT {
            return Err(FileFault::TooLarge);
        }
        let own = self.all.get_mut(variable).ok_or(FileFault::Damaged)?;
        own.unlabelled |= !text.is_empty() && !own.labels.contains_key(text);
        own.cells.push(text);
        Ok(())
    }

    /// Adds a number that is not missing, with so many digits that count.
    pub fn push_number(&mut self, variable: usize, number: f64, digits: usize) -> ReadResult<()> {
        let meaning = self.all.get(variable).ok_or(FileFault::Damaged)?.meaning;
        let text = match meaning {
            Meaning::Number if digits < 15 => {
                format!("{number:.*e}", digits - 1).parse().map(number_text).unwrap_or_default()
            }
            Meaning::Number => number_text(number),
            meaning => time_text(number, meaning).unwrap_or_else(|| number_text(number)),
        };
        self.push(variable, &text)
    }

    /// The table. Codes become labels where each code that occurs has one, and no two have the same.
    pub fn table(self, name: &str) -> Result<MemoryTable> {
        let columns = self.all.into_iter().map(|own| {
            let mut labels: Vec<&String> = own.labels.values().collect();
            labels.sort_unstable();
            let different = labels.windows(2).all(|pair| pair[0] != pair[1]) && labels.iter().all(|l| !l.is_empty());
            if own.labels.is_empty() || own.unlabelled || !different {
                return (own.name, own.cells);
            }
            let mut labelled = TextColumn::default();
            own.cells.iter().for_each(|code| labelled.push(own.labels.get(code).map_or("", String::as_str)));
            (own.name, labelled)
        });
        MemoryTable::new(name, columns)
    }
}

/// A number as text: the shortest that is read as the same number.
fn number_text(number: f64) -> String {
    if number == 0.0 { "0".into() } else { number.to_string() }
}

/// A date or time as ISO 8601 shows it; `None` for what no calendar has.
fn time_text(number: f64, meaning: Meaning) -> Option<String> {
    if !number.is_finite() || number.abs() > 1e12 {
        return None;
    }
    let whole = number.floor() as i64;
    let date = |day: i64| -> Option<String> {
        let date = Date::of_day_number(day);
        let mut iso = Vec::new();
        date.push_iso(&mut iso);
        String::from_utf8(iso).ok().filter(|_| (1..=9999).contains(&date.year()))
    };
    let clock = |seconds: i64| format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match meaning {
        Meaning::Number => None,
        Meaning::Days(origin) => date(whole + origin),
        Meaning::Seconds(origin) => {
            let (day, second) = (whole.div_euclid(DAY), whole.rem_euclid(DAY));
            let day = date(day + origin)?;
            Some(if second == 0 { day } else { format!("{day} {}", clock(second)) })
        }
        Meaning::Time => (0..100 * 3600).contains(&whole).then(|| clock(whole)),
        Meaning::Months => {
            let (year, month) = (1960 + whole.div_euclid(12), 1 + whole.rem_euclid(12));
            (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}"))
        }
        Meaning::Quarters => {
            let (year, quarter) = (1960 + whole.div_euclid(4), 1 + whole.rem_euclid(4));
            (1..=9999).contains(&year).then(|| format!("{year:04}Q{quarter}"))
        }
    }
}
