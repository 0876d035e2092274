//! Patients as the unit: distinct patients do not add up when classes merge, so those with several
//! rows are kept by name.

use crate::ragged::Ragged;

/// The patients of a table, where they are the unit: who has one row is a number in its tuple,
/// who has several is named there.
#[derive(Debug, Clone, Default)]
pub struct Patients {
    /// All patients.
    pub total: u64,
    /// One entry per tuple: patients whose only row it is.
    pub single: Vec<u32>,
    /// The tuples of each patient with several rows, ascending, each once.
    tuples: Ragged<u32>,
    /// For each value of `tuples`: how many rows of the tuple are the patient's.
    rows: Vec<u32>,
    /// The patient of each row: [`ONLY_ROW`] or a number below `several()`.
    pub of_row: Vec<u32>,
    having: Ragged<u32>,
}

/// In `Patients::of_row`: the row is its patient's only one.
pub const ONLY_ROW: u32 = u32::MAX;

impl Patients {
    /// Returns how many patients have several rows.
    pub fn several(&self) -> usize {
        self.tuples.len()
    }

    /// The tuples of a patient with several rows.
    pub fn tuples_of(&self, patient: usize) -> &[u32] {
        self.tuples.get(patient)
    }

    /// The patients with several rows who have a tuple, ascending.
    pub fn having(&self, tuple: usize) -> &[u32] {
        self.having.get(tuple)
    }

    /// Returns how many rows of a tuple are those of a patient with several rows.
    pub fn rows_of(&self, patient: usize, tuple: u32) -> u64 {
        let at = self.tuples_of(patient).binary_search(&tuple);
        at.map_or(0, |at| u64::from(self.rows[self.tuples.range(patient).start + at]))
    }
}

impl Patients {
    /// Patients as an engine counted them: by tuple its rows, and for each of `several` patients with several rows
    /// their tuples and rows. `None`: the rows do not add up.
    pub(super) fn of_counts(weights: &[u64], several: usize, mut listed: Vec<(u32, u32, u32)>) -> Option<Patients> {
        listed.sort_unstable();
        let mut single = weights.to_vec();
        let (mut tuples, mut rows) = (Ragged::default(), Vec::new());
        for own in listed.chunk_by(|a, b| a.0 == b.0) {
            // A patient is there with at least two rows, and a tuple of theirs once.
            let all: u64 = own.iter().map(|&(_, _, n)| u64::from(n)).sum();
            if all < 2 || own.iter().any(|&(_, _, n)| n == 0) || !own.is_sorted_by(|a, b| a.1 < b.1) {
                return None;
            }
            for &(_, tuple, n) in own {
                let left = single.get_mut(tuple as usize)?;
                *left = left.checked_sub(u64::from(n))?;
            }
            rows.extend(own.iter().map(|&(_, _, n)| n));
            tuples.push(own.iter().map(|&(_, tuple, _)| tuple));
        }
        if tuples.len() != several {
            return None;
        }
        let total = single.iter().sum::<u64>() + several as u64;
        let single = single.into_iter().map(|n| u32::try_from(n).ok()).collect::<Option<Vec<u32>>>()?;
        let having = Ragged::by_key(weights.len(), tuples.by_value());
        Some(Patients { total, single, tuples, rows, of_row: Vec::new(), having })
    }
}

/// Counts patients with one row, and lists those with several with their tuples.
pub(super) fn patients(of_row: &[u32], patient_of_row: &[u32], total: usize, tuples: usize) -> Patients {
    let mut rows = vec![0u32; total];
    patient_of_row.iter().for_each(|&p| rows[p as usize] += 1);
    let mut several = 0u32;
    let mut number = vec![ONLY_ROW; total];
    for (number, _) in number.iter_mut().zip(&rows).filter(|(_, rows)| **rows > 1) {
        *number = several;
        several += 1;
    }
    let of: Vec<u32> = patient_of_row.iter().map(|&p| number[p as usize]).collect();
    let mut single = vec![0u32; tuples];
    let tuple_and_patient = of_row.iter().zip(&of);
    tuple_and_patient.clone().filter(|(_, n)| **n == ONLY_ROW).for_each(|(&t, _)| single[t as usize] += 1);
    let named = tuple_and_patient.filter(|(_, n)| **n != ONLY_ROW).map(|(&tuple, &n)| (n, tuple));
    let mut listed = Ragged::by_key(several as usize, named);
    let (mut distinct, mut distinct_rows) = (Ragged::default(), Vec::new());
    for patient in 0..listed.len() {
        let own = listed.get_mut(patient);
        own.sort_unstable();
        let runs = own.chunk_by(|a, b| a == b);
        distinct_rows.extend(runs.clone().map(|run| run.len() as u32));
        distinct.push(runs.map(|run| run[0]));
    }
    let having = Ragged::by_key(tuples, distinct.by_value());
    Patients { total: total as u64, single, tuples: distinct, rows: distinct_rows, of_row: of, having }
}
