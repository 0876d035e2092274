//! Answer keys of public tables, for a folder that holds them.

use super::{Data, Truth, Unprepared};
use std::path::Path;

/// The answer keys.
const KEYS: &str = include_str!("keys.txt");

/// The public tables that are in a folder, with the truth about them.
pub fn real(folder: &Path) -> Vec<Unprepared> {
    by_keys(folder, KEYS)
}

/// The tables of a folder that answer keys name, with the truth about them. A file beside a table with the same name and
/// `.who` at its end has a line for each of its rows: the number of the person.
pub fn by_keys(folder: &Path, keys: &str) -> Vec<Unprepared> {
    keys.split("\n= ").skip(1).map(|block| read(folder, block)).filter(is_there).collect()
}

fn is_there(table: &Unprepared) -> bool {
    matches!(&table.data, Data::File(path) if path.is_file())
}

fn read(folder: &Path, block: &str) -> Unprepared {
    let mut lines = block.lines().filter(|line| !line.trim().is_empty());
    let path = lines.next().unwrap_or_default().trim();
    let mut truth = Truth::default();
    for line in lines {
        let (is, names) = line.split_once(' ').unwrap_or((line, ""));
        // Names that contain spaces are separated by a vertical line.
        for name in names.split(if names.contains('|') { '|' } else { ' ' }).filter(|name| !name.is_empty()) {
            match is {
                "labels" => truth.fewest_labels = name.parse().unwrap_or(truth.fewest_labels),
                "age" => truth.age.push(name.into()),
                "sex" => truth.sex.push(name.into()),
                is => truth.add(name, is),
            }
        }
    }
    let who = std::fs::read_to_string(folder.join(format!("{path}.who"))).ok();
    truth.who = who.map(|who| who.lines().filter_map(|line| line.parse().ok()).collect());
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".gz").to_string();
    Unprepared { name, data: Data::File(folder.join(path)), truth }
}
