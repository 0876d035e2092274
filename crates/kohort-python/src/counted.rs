//! Counts that workers make and the driver adds up, as JSON: released cells, each once, and numbers, and no patient.

use kohort::{Error, Result, TextColumn};
use kohort_core::table::{PartCounts, PatientSets, Texts};

fn odd() -> Error {
    Error::machine("the counts of a worker cannot be read. Nothing was published.")
}

/// The hash of a part, the values of columns, tuples of their numbers with rows, other columns, and those with formulas.
type Part = (String, Vec<Vec<String>>, Vec<(Vec<u32>, u64)>, Vec<(usize, Vec<(String, u64)>)>, Vec<usize>);

/// The counts of a part.
pub(crate) fn part_json(counts: PartCounts) -> Result<String> {
    let PartCounts { sha256, values, tuples, alone, formulas } = counts;
    let part: Part = (sha256, values, tuples, alone, formulas);
    serde_json::to_string(&part).map_err(|_| odd())
}

/// The same, read.
pub(crate) fn part_counts(json: &str) -> Result<PartCounts> {
    let (sha256, values, tuples, alone, formulas): Part = serde_json::from_str(json).map_err(|_| odd())?;
    Ok(PartCounts { sha256, values, tuples, alone, formulas })
}

/// The released rows of patients: the values of columns, combinations of their numbers, sets of these, and how many
/// patients each set has.
type Sets = (Vec<Vec<String>>, Vec<Vec<u32>>, Vec<(Vec<u32>, u64)>);

/// Counts patients by the set of what is released of them. `columns`: the patient, then released cells.
pub(crate) fn patients_json(columns: &[TextColumn]) -> Result<String> {
    let [patients, cells @ ..] = columns else { return Err(odd()) };
    let (mut names, mut found) = (Texts::default(), PatientSets::new(cells.len()));
    let mut of_patient: Vec<Vec<u32>> = Vec::new();
    for (row, patient) in patients.iter().enumerate() {
        if patient.is_empty() {
            return Err(Error::machine("a released row has no patient. Nothing was published."));
        }
        let own = cells.iter().map(|column| column.get(row).unwrap_or_default());
        let combination = found.combinations.add(own, 1).ok_or_else(odd)?;
        let number = names.intern(patient.as_bytes()) as usize;
        of_patient.resize_with(names.len(), Vec::new);
        of_patient[number].push(combination);
    }
    of_patient.into_iter().try_for_each(|own| found.add(own, 1)).ok_or_else(odd)?;
    let values = found.combinations.values().map(|own| own.into_iter().map(String::from).collect()).collect();
    let combinations = (0..found.combinations.len() as u32).map(|own| found.combinations.numbers(own).to_vec());
    let sets: Sets = (values, combinations.collect(), found.sets().collect());
    serde_json::to_string(&sets).map_err(|_| odd())
}

/// Adds the counts of one worker. Each patient's rows were with one of them.
pub(crate) fn add_patients(all: &mut PatientSets, json: &str) -> Result<()> {
    let (values, combinations, sets): Sets = serde_json::from_str(json).map_err(|_| odd())?;
    let mut numbers = Vec::with_capacity(combinations.len());
    for own in combinations {
        let cells = values.iter().zip(&own).map(|(values, &number)| values.get(number as usize));
        let cells = cells.collect::<Option<Vec<_>>>().filter(|cells| cells.len() == all.combinations.width());
        let cells = cells.ok_or_else(odd)?;
        numbers.push(all.combinations.add(cells.into_iter().map(String::as_str), 0).ok_or_else(odd)?);
    }
    for (set, patients) in sets {
        let set = set.iter().map(|&own| numbers.get(own as usize).copied()).collect::<Option<Vec<u32>>>();
        all.add(set.ok_or_else(odd)?, patients).ok_or_else(odd)?;
    }
    Ok(())
}
