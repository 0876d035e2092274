//! The patients of released rows, where an engine holds the original, so that no line of it can be named.
//!
//! Either private/rows has a number of the patient of each row, or workers counted patients in private staged rows, all
//! rows of a patient together, before these were dealt to parts. Rows add up over parts, and patients do not.

use super::lines::LineFile;
use super::recount::CountedRelease;
use crate::classes::People;
use crate::release::WorkersCounted;
use crate::table::Keys;
use crate::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// The patients of released rows, as far as they are known.
#[derive(Debug, Clone)]
pub(super) enum PatientsOfRows {
    /// A file with a number of the patient of each released row, in the order of the release.
    Numbered(PathBuf),
    /// Patients by what is released of them, as workers counted them.
    Counted(Arc<WorkersCounted>),
}

impl PatientsOfRows {
    /// The people behind the tuples that were counted from the release.
    pub(super) fn people(&self, counted: &mut CountedRelease) -> Result<People> {
        match self {
            PatientsOfRows::Numbered(path) => {
                let of_row = counted.of_row()?;
                let mut numbers = LineFile::open(path)?;
                let mut pairs = Vec::with_capacity(of_row.len());
                for tuple in of_row {
                    let number = u32::try_from(numbers.next()?).map_err(|_| LineFile::bad())?;
                    pairs.push((number, tuple));
                }
                numbers.end()?;
                Ok(People::new(vec![0; counted.tuples.len()], pairs))
            }
            PatientsOfRows::Counted(workers) => of_sets(counted, workers),
        }
    }
}

fn of_sets(counted: &CountedRelease, workers: &WorkersCounted) -> Result<People> {
    let differs =
        || Error::refused("the patients that were counted are not those of the released rows. Nothing was published.");
    let patients = workers.patients.as_ref().ok_or_else(differs)?;
    let tuples = &counted.tuples;
    let place = |name: &String| workers.columns.iter().position(|(_, own)| own == name).ok_or_else(differs);
    let places = counted.columns.iter().map(|(_, name)| place(name)).collect::<Result<Vec<usize>>>()?;
    let mut keys = Keys::new(tuples.width());
    (0..tuples.len()).for_each(|t| {
        keys.intern(tuples.codes(t));
    });
    let tuple_of = |combination: u32| -> Option<u32> {
        let cells: Vec<&str> = patients.combinations.cells(combination).collect();
        let code = |(i, &place): (usize, &usize)| match *cells.get(place)? {
            "" => Some(0),
            text => tuples.dictionaries[i].code(text),
        };
        keys.find(&places.iter().enumerate().map(code).collect::<Option<Vec<u32>>>()?)
    };
    let (mut single, mut pairs, mut person) = (vec![0u32; tuples.len()], Vec::new(), 0u32);
    // Every patient has at least one row of each tuple of theirs.
    let mut most = tuples.weights.clone();
    let tuples_of: Vec<Option<u32>> = (0..patients.combinations.len() as u32).map(tuple_of).collect();
    for (set, patients) in patients.sets() {
        let tuple = |&cells: &u32| tuples_of.get(cells as usize).copied().flatten();
        let mut own = set.iter().map(tuple).collect::<Option<Vec<u32>>>().ok_or_else(differs)?;
        own.sort_unstable();
        own.dedup();
        if own.is_empty() {
            return Err(differs());
        }
        for &tuple in &own {
            let left = &mut most[tuple as usize];
            *left = left.checked_sub(patients).ok_or_else(differs)?;
        }
        let patients = u32::try_from(patients).map_err(|_| differs())?;
        if let [tuple] = own[..] {
            single[tuple as usize] += patients;
            continue;
        }
        for _ in 0..patients {
            pairs.extend(own.iter().map(|&tuple| (person, tuple)));
            person += 1;
        }
    }
    Ok(People::new(single, pairs))
}
