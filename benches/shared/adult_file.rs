//! The Adult table as ARX publishes it, for the benchmarks.

use std::path::Path;

/// Unpacks the table into a folder and returns its text.
pub fn unpack(data: &Path, folder: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(data.join("adult_arx/adult.csv.gz")).expect("adult_arx/adult.csv.gz");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("text");
    std::fs::write(folder.join("adult.csv"), &text).expect("written");
    text
}
