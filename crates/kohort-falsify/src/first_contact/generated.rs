//! Messy exports, generated from the descriptions in `tables.txt`.

use super::values::{Person, Visit, cell};
use super::{Data, Truth, Unprepared};
use crate::dice::Dice;

/// The descriptions.
const TABLES: &str = include_str!("tables.txt");

/// A column of a description.
pub(super) struct Column<'a> {
    pub name: &'a str,
    /// The name of its generator.
    pub kind: &'a str,
    /// The argument of the generator.
    pub argument: &'a str,
    is: &'a str,
}

impl<'a> Column<'a> {
    fn read(line: &'a str) -> Column<'a> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, "empty"));
        let (rest, is) = match rest.trim().rsplit_once(' ') {
            Some((rest, is @ ("person" | "key" | "known" | "other"))) => (rest, is),
            _ => (rest.trim(), ""),
        };
        let (kind, argument) = rest.trim().split_once(':').unwrap_or((rest.trim(), ""));
        let is = match (is, kind) {
            ("", "person") => "person",
            (
                "",
                "stay" | "event" | "row" | "household" | "first" | "last" | "fullname" | "phone" | "email" | "ssn"
                | "street" | "note" | "person2",
            ) => "key",
            (
                "",
                "dob" | "bday" | "bmonth" | "yob" | "age" | "agegroup" | "sex" | "zip" | "zip3" | "region" | "city"
                | "date" | "discharge" | "stamp" | "height" | "kg" | "bmi",
            ) => "known",
            ("", _) => "other",
            (is, _) => is,
        };
        Column { name, kind, argument, is }
    }
}

/// All generated tables. `scale` multiplies the number of people.
pub fn generated(scale: usize) -> Vec<Unprepared> {
    let blocks = TABLES.split("\n= ").skip(1);
    (0..).zip(blocks).map(|(seed, block)| table(block, scale, seed)).collect()
}

fn table(block: &str, scale: usize, seed: u64) -> Unprepared {
    let mut lines = block.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let head: Vec<&str> = lines.next().unwrap_or_default().split('|').map(str::trim).collect();
    let people = head.get(1).and_then(|n| n.parse().ok()).unwrap_or(500) * scale;
    let visits: f64 = head.get(2).and_then(|n| n.parse().ok()).unwrap_or(1.0);
    let options = head.get(3).copied().unwrap_or_default();
    let delimiter = if options.contains(';') { ";" } else { "," };
    let comma = options.contains(',');
    let columns: Vec<Column> = lines.map(Column::read).collect();
    let mut truth = Truth::default();
    for column in &columns {
        truth.add(column.name, column.is);
        match column.kind {
            "age" | "agegroup" | "yob" | "dob" => truth.age.push(column.name.into()),
            "sex" => truth.sex.push(column.name.into()),
            _ => {}
        }
    }
    let mut dice = Dice::new(seed + 1);
    let mut rows = Vec::new();
    let mut household = 0;
    for id in 0..people {
        household += usize::from(dice.below(3) == 0);
        let person = Person::new(&mut dice, id, household);
        let extra = (visits.fract() * 100.0) as usize;
        let most = visits as usize + usize::from(dice.below(100) < extra);
        // Some people come much more often than others.
        let most = if visits > 1.0 && dice.below(20) == 0 { most * 3 } else { most };
        for number in 0..most.max(1) {
            let visit = Visit::new(&mut dice, &person, number);
            let cells: Vec<String> = columns
                .iter()
                .map(|column| cell(&mut dice, column, &person, &visit, rows.len()))
                .map(|cell| if comma && cell.parse::<f64>().is_ok() { cell.replace('.', ",") } else { cell })
                .collect();
            rows.push(cells);
        }
    }
    // An export is sorted by time rather than by person.
    if visits > 1.0 {
        for last in (1..rows.len()).rev() {
            rows.swap(last, dice.below(last + 1));
        }
        for (place, _) in columns.iter().enumerate().filter(|(_, column)| column.kind == "row") {
            (1..).zip(&mut rows).for_each(|(number, row): (usize, _)| row[place] = number.to_string());
        }
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let quote = |cell: &String| {
        if cell.contains(delimiter) || cell.contains('"') {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    let mut text = names.join(delimiter) + "\n";
    for row in &rows {
        text += &row.iter().map(quote).collect::<Vec<_>>().join(delimiter);
        text.push('\n');
    }
    Unprepared { name: head[0].to_string(), data: Data::Text(text), truth }
}
