//! The committed examples, read once.

use crate::corpus::{self, Seed};
use crate::dice::Dice;
use crate::mutate::mutate;

/// Where a release has its certificate.
pub const CERTIFICATE: &str = "release/certificate.json";

/// Examples by kind.
pub struct Examples {
    pub tables: Vec<Vec<u8>>,
    pub parquet: Vec<Vec<u8>>,
    /// Sheets of workbooks, as XML.
    pub sheets: Vec<Vec<u8>>,
    /// Files of SAS, Stata and SPSS.
    pub statistics: Vec<Vec<u8>>,
    /// Lines of FHIR resources.
    pub resources: Vec<Vec<u8>>,
    pub hierarchies: Vec<Vec<u8>>,
    pub signatures: Vec<Vec<u8>>,
    pub ledgers: Vec<Vec<u8>>,
    pub policies: Vec<(String, Seed)>,
    pub releases: Vec<(String, Seed)>,
}

impl Examples {
    pub fn read() -> Examples {
        let mut tables = corpus::single("tables", ".csv");
        tables.extend(corpus::single("policies", "t.csv"));
        let mut hierarchies = corpus::single("hierarchies", ".csv");
        hierarchies.extend(corpus::single("policies", "job.csv"));
        Examples {
            tables,
            parquet: corpus::single("tables", ".parquet"),
            sheets: corpus::single("tables", ".sheet.xml"),
            statistics: [".xpt", ".dta", "sav"].iter().flat_map(|end| corpus::single("tables", end)).collect(),
            resources: corpus::single("tables", ".ndjson"),
            hierarchies,
            signatures: corpus::single("signatures", ".txt"),
            ledgers: corpus::single("ledgers", ".json"),
            policies: corpus::folders("policies"),
            releases: corpus::folders("releases").into_iter().flat_map(each_release).collect(),
        }
    }

    /// The files of all releases with such a name.
    pub fn released(&self, end: &str) -> Vec<Vec<u8>> {
        let files = self.releases.iter().flat_map(|(_, files)| files);
        files.filter(|(name, _)| name.ends_with(end)).map(|(_, bytes)| bytes.clone()).collect()
    }
}

/// The releases in a folder: itself, or its samples and their population.
fn each_release((name, files): (String, Seed)) -> Vec<(String, Seed)> {
    let ends = |(file, _): &(String, Vec<u8>)| file.strip_suffix(CERTIFICATE).map(str::to_string);
    let below =
        |at: &String| files.iter().filter_map(|(f, b)| Some((f.strip_prefix(at)?.to_string(), b.clone()))).collect();
    files.iter().filter_map(ends).map(|at| (name.clone(), below(&at))).collect()
}

/// Two of the examples.
pub fn two<'a, T>(all: &'a [T], dice: &mut Dice) -> (&'a T, &'a T) {
    (dice.one_of(all), dice.one_of(all))
}

/// An example, mostly changed.
pub fn mutated(all: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let (own, other) = two(all, dice);
    let mut bytes = own.clone();
    if !dice.once_in(8) {
        mutate(&mut bytes, other, dice);
    }
    bytes
}
