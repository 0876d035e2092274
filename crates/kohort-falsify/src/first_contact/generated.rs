//! Messy exports, generated from the descriptions in `tables.txt`.

use super::values::{Person, Visit, cell};
use super::{Data, Truth, Unprepared};
use crate::dice::Dice;

/// The descriptions.
const TABLES: &str = include_str!("tables.txt");

/// A column of a description.
pub(super) struct Column<'a> {
    pub name: String,
    /// The name of its generator.
    pub kind: &'a str,
    /// The argument of the generator.
    pub argument: &'a str,
    is: &'a str,
}

impl<'a> Column<'a> {
    /// The columns of a line. A name may be in quotes; `q*20` stands for q1 to q20.
    fn read_all(line: &'a str) -> Vec<Column<'a>> {
        let (name, rest) = match line.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((name, rest)) => (name, rest),
            None => line.split_once(char::is_whitespace).unwrap_or((line, "empty")),
        };
        match name.split_once('*').and_then(|(stem, most)| Some((stem, most.parse::<usize>().ok()?))) {
            Some((stem, most)) => (1..=most).map(|number| Column::read(format!("{stem}{number}"), rest)).collect(),
            None => vec![Column::read(name.to_string(), rest)],
        }
    }

    fn read(name: String, rest: &'a str) -> Column<'a> {
        let (rest, is) = match rest.trim().rsplit_once(' ') {
            Some((rest, is @ ("person" | "key" | "known" | "other"))) => (rest, is),
            _ => (rest.trim(), ""),
        };
        let (kind, argument) = rest.trim().split_once(':').unwrap_or((rest.trim(), ""));
        let is = match (is, kind) {
            ("", "person" | "civil") => "person",
            (
                "",
                "stay" | "event" | "row" | "household" | "spelled" | "lacking" | "changing" | "first" | "last"
                | "fullname" | "phone" | "email" | "ssn" | "street" | "note" | "person2" | "gapped" | "ip" | "initials"
                | "lat" | "lon" | "titled" | "address" | "shortnote" | "millis",
            ) => "key",
            (
                "",
                "dob" | "bday" | "bmonth" | "yob" | "age" | "agegroup" | "sex" | "zip" | "zip3" | "region" | "city"
                | "date" | "discharge" | "stamp" | "height" | "kg" | "bmi" | "epoch" | "pc6" | "zip4",
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
    let is = |option: &str| options.split_whitespace().any(|own| own == option);
    let delimiters = [(";", ";"), ("tab", "\t"), ("pipe", "|")];
    let delimiter = delimiters.into_iter().find(|(option, _)| is(option)).map_or(",", |(_, delimiter)| delimiter);
    let comma = is(",");
    let columns: Vec<Column> = lines.flat_map(Column::read_all).collect();
    let mut truth = Truth { fewest_labels: if people < 60 { 2 } else { 3 }, ..Truth::default() };
    for column in &columns {
        truth.add(&column.name, column.is);
        match column.kind {
            "age" | "agegroup" | "yob" | "dob" => truth.age.push(column.name.clone()),
            "sex" => truth.sex.push(column.name.clone()),
            _ => {}
        }
    }
    let mut dice = Dice::new(seed + 1);
    let mut rows = Vec::new();
    let (mut household, mut member) = (0, 0);
    // The person of each row, where no column says it as it is written.
    let mut who = Vec::new();
    for id in 0..people {
        let moves = usize::from(dice.below(3) == 0);
        (household, member) = (household + moves, if moves > 0 { 1 } else { member + 1 });
        let mut person = Person::new(&mut dice, id, household);
        person.member = member;
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
            who.push(id);
        }
    }
    // An export is sorted by time rather than by person.
    if visits > 1.0 {
        for last in (1..rows.len()).rev() {
            let other = dice.below(last + 1);
            rows.swap(last, other);
            who.swap(last, other);
        }
        for (place, _) in columns.iter().enumerate().filter(|(_, column)| column.kind == "row") {
            (1..).zip(&mut rows).for_each(|(number, row): (usize, _)| row[place] = number.to_string());
        }
    }
    let hidden = |column: &Column| matches!(column.kind, "spelled" | "lacking" | "changing" | "member");
    if columns.iter().any(hidden) {
        truth.who = Some(who);
    }
    let quote = |cell: &String| {
        if cell.contains(delimiter) || cell.contains(['"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    let names: Vec<String> = columns.iter().map(|column| quote(&column.name)).collect();
    let mut text = names.join(delimiter) + "\n";
    if is("units") {
        text += &(columns.iter().map(|column| unit(column.kind)).collect::<Vec<_>>().join(delimiter) + "\n");
    }
    for row in &rows {
        text += &row.iter().map(quote).collect::<Vec<_>>().join(delimiter);
        text.push('\n');
    }
    if is("totals") {
        let sum = |place: usize| rows.iter().filter_map(|row| row[place].parse::<usize>().ok()).sum::<usize>();
        let total = |(place, column): (usize, &Column)| match (place, column.kind) {
            (0, _) => "Total".to_string(),
            (_, "los" | "count") => sum(place).to_string(),
            _ => String::new(),
        };
        text += &(columns.iter().enumerate().map(total).collect::<Vec<_>>().join(delimiter) + "\n");
    }
    Unprepared { name: head[0].to_string(), data: Data::Bytes(encoded(&text, &is)), truth }
}

/// The unit that an export writes below the name of a column.
fn unit(kind: &str) -> &'static str {
    match kind {
        "age" => "years",
        "height" => "cm",
        "kg" => "kg",
        "los" => "days",
        "lab" => "mmol/l",
        _ => "",
    }
}

/// The bytes of a file with this text.
fn encoded(text: &str, is: &dyn Fn(&str) -> bool) -> Vec<u8> {
    match () {
        () if is("utf-16") => std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        // Letters outside of it do not occur.
        () if is("windows-1252") => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
        () if is("mark") => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        () => text.as_bytes().to_vec(),
    }
}
