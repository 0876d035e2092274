//! Answer keys of public tables, for a folder that holds them.

use super::{Data, Truth, Unprepared};
use std::path::Path;

/// The answer keys.
const KEYS: &str = include_str!("keys.txt");

/// The public tables that are in a folder, with the truth about them.
pub fn real(folder: &Path) -> Vec<Unprepared> {
    KEYS.split("\n= ").skip(1).map(|block| read(folder, block)).filter(is_there).collect()
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
        for name in names.split(' ') {
            match is {
                "age" => truth.age.push(name.into()),
                "sex" => truth.sex.push(name.into()),
                is => truth.add(name, is),
            }
        }
    }
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".gz").to_string();
    Unprepared { name, data: Data::File(folder.join(path)), truth }
}
