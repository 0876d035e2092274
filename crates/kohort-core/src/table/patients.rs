//! Patients as the unit: distinct patients do not add up when classes merge, so those with several
//! rows are kept by name.

/// The patients of a table, where they are the unit: who has one row is a number in its tuple,
/// who has several is named there.
#[derive(Debug, Clone, Default)]
pub struct Patients {
    /// All patients.
    pub total: u64,
    /// One entry per tuple: patients whose only row it is.
    pub single: Vec<u32>,
    /// Tuples of patient p with several rows: `tuples[starts[p]..starts[p + 1]]`, ascending, each once.
    pub starts: Vec<u32>,
    /// See `starts`.
    pub tuples: Vec<u32>,
    /// For each entry of `tuples`: how many rows of the tuple are the patient's.
    pub rows: Vec<u32>,
    /// The patient of each row: [`ONLY_ROW`] or a number below `several()`.
    pub of_row: Vec<u32>,
    having_starts: Vec<u32>,
    having: Vec<u32>,
}

/// In `Patients::of_row`: the row is its patient's only one.
pub const ONLY_ROW: u32 = u32::MAX;

impl Patients {
    /// How many patients have several rows.
    pub fn several(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The tuples of a patient with several rows.
    pub fn tuples_of(&self, patient: usize) -> &[u32] {
        &self.tuples[self.starts[patient] as usize..self.starts[patient + 1] as usize]
    }

    /// The patients with several rows who have a tuple, ascending.
    pub fn having(&self, tuple: usize) -> &[u32] {
        &self.having[self.having_starts[tuple] as usize..self.having_starts[tuple + 1] as usize]
    }
}

/// Who has one row is counted, who has several is listed with the tuples.
pub(super) fn patients(of_row: &[u32], patient_of_row: &[u32], total: usize, tuples: usize) -> Patients {
    let mut rows = vec![0u32; total];
    patient_of_row.iter().for_each(|&p| rows[p as usize] += 1);
    let mut number = vec![ONLY_ROW; total];
    let (mut starts, mut several) = (vec![0u32], 0u32);
    for p in 0..total {
        if rows[p] > 1 {
            number[p] = several;
            several += 1;
            starts.push(starts[several as usize - 1] + rows[p]);
        }
    }
    let mut single = vec![0u32; tuples];
    let mut filled = starts.clone();
    let mut listed = vec![0u32; *starts.last().unwrap_or(&0) as usize];
    let mut of = Vec::with_capacity(of_row.len());
    for (&tuple, &p) in of_row.iter().zip(patient_of_row) {
        let n = number[p as usize];
        of.push(n);
        if n == ONLY_ROW {
            single[tuple as usize] += 1;
        } else {
            listed[filled[n as usize] as usize] = tuple;
            filled[n as usize] += 1;
        }
    }
    let (mut distinct_starts, mut distinct) = (vec![0u32], Vec::with_capacity(listed.len()));
    let mut distinct_rows: Vec<u32> = Vec::new();
    for pair in starts.windows(2) {
        let own = &mut listed[pair[0] as usize..pair[1] as usize];
        own.sort_unstable();
        let from = distinct.len();
        for &tuple in own.iter() {
            if distinct[from..].last() != Some(&tuple) {
                distinct.push(tuple);
                distinct_rows.push(0);
            }
            if let Some(rows) = distinct_rows.last_mut() {
                *rows += 1;
            }
        }
        distinct_starts.push(distinct.len() as u32);
    }
    let mut having_starts = vec![0u32; tuples + 1];
    distinct.iter().for_each(|&t| having_starts[t as usize + 1] += 1);
    for t in 0..tuples {
        having_starts[t + 1] += having_starts[t];
    }
    let (mut at, mut having) = (having_starts.clone(), vec![0; distinct.len()]);
    for (p, pair) in distinct_starts.windows(2).enumerate() {
        for &t in &distinct[pair[0] as usize..pair[1] as usize] {
            having[at[t as usize] as usize] = p as u32;
            at[t as usize] += 1;
        }
    }
    let total = total as u64;
    Patients {
        total,
        single,
        starts: distinct_starts,
        tuples: distinct,
        rows: distinct_rows,
        of_row: of,
        having_starts,
        having,
    }
}
