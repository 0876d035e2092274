//! Counts that workers make and the driver adds up, as JSON: released cells and numbers, and no patient.

use kohort::{Error, Result, TextColumn};
use kohort_core::table::{PatientSets, Texts};
use std::collections::{BTreeMap, BTreeSet, HashMap};

fn odd() -> Error {
    Error::machine("the counts of a worker cannot be read. Nothing was published.")
}

/// Combinations of cells and how often each occurs.
pub(crate) fn counts_json(counts: &[(Vec<String>, u64)]) -> Result<String> {
    serde_json::to_string(counts).map_err(|_| odd())
}

/// The same, read.
pub(crate) fn part_counts(json: &str) -> Result<Vec<(Vec<String>, u64)>> {
    serde_json::from_str(json).map_err(|_| odd())
}

/// The released rows of patients: combinations of cells, sets of them, and how many patients each set has.
type Sets = (Vec<Vec<String>>, Vec<(Vec<u32>, u64)>);

/// Counts patients by the set of what is released of them. `columns`: the patient, then released cells.
pub(crate) fn patients_json(columns: &[TextColumn]) -> Result<String> {
    let [patients, cells @ ..] = columns else { return Err(odd()) };
    let (mut names, mut shown) = (Texts::default(), BTreeMap::<Vec<&str>, u32>::new());
    let mut of_patient: Vec<BTreeSet<u32>> = Vec::new();
    for (row, patient) in patients.iter().enumerate() {
        if patient.is_empty() {
            return Err(Error::machine("a released row has no patient. Nothing was published."));
        }
        let key: Vec<&str> = cells.iter().map(|column| column.get(row).unwrap_or_default()).collect();
        let next = shown.len() as u32;
        let combination = *shown.entry(key).or_insert(next);
        let number = names.intern(patient.as_bytes()) as usize;
        of_patient.resize_with(names.len(), BTreeSet::new);
        of_patient[number].insert(combination);
    }
    let mut sets: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    for own in of_patient {
        *sets.entry(own.into_iter().collect()).or_default() += 1;
    }
    let mut texts = vec![Vec::new(); shown.len()];
    for (key, number) in shown {
        texts[number as usize] = key.into_iter().map(String::from).collect();
    }
    let counted: Sets = (texts, sets.into_iter().collect());
    serde_json::to_string(&counted).map_err(|_| odd())
}

/// The counts of all workers together. Each patient's rows were with one of them.
pub(crate) fn patient_sets(all: &[String]) -> Result<PatientSets> {
    let (mut shown, mut merged) = (HashMap::<Vec<String>, u32>::new(), HashMap::<Vec<u32>, u64>::new());
    for json in all {
        let (texts, sets): Sets = serde_json::from_str(json).map_err(|_| odd())?;
        let number = |text: Vec<String>| {
            let next = shown.len() as u32;
            *shown.entry(text).or_insert(next)
        };
        let numbers: Vec<u32> = texts.into_iter().map(number).collect();
        for (set, patients) in sets {
            let number = |&own: &u32| numbers.get(own as usize).copied().ok_or_else(odd);
            let mut set = set.iter().map(number).collect::<Result<Vec<u32>>>()?;
            set.sort_unstable();
            set.dedup();
            *merged.entry(set).or_default() += patients;
        }
    }
    let mut cells = vec![Vec::new(); shown.len()];
    for (text, number) in shown {
        cells[number as usize] = text;
    }
    Ok(PatientSets { cells, sets: merged.into_iter().collect() })
}
