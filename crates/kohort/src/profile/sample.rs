//! The first rows of a table as codes, in bounded memory: relations between columns are found in them.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// The most rows that are kept, and the most cells.
pub(super) const MOST_ROWS: usize = 50_000;
const MOST_CELLS: usize = 8_000_000;

/// Marks a cell that is missing, among numbers.
pub(crate) const NOTHING: f64 = f64::NAN;

/// The code of a missing cell.
pub(crate) const MISSING: u32 = 0;

/// The cells of one column in some rows.
#[derive(Default)]
pub(crate) struct SampledCells {
    pub hashes: Vec<u64>,
    /// The number of a hash; [`NOTHING`] for a cell that is missing.
    pub numbers: HashMap<u64, f64, FixedState>,
}

/// The first rows of a table.
pub(crate) struct Sample {
    pub rows: usize,
    pub columns: Vec<Coded>,
    most: usize,
}

/// One column of the sample.
#[derive(Default, Clone)]
pub(crate) struct Coded {
    code_of: HashMap<u64, u32, FixedState>,
    /// The code of each row; 0 is missing.
    pub codes: Vec<u32>,
    /// The number of each code, where it is one.
    pub numbers: Vec<Option<f64>>,
}

impl Sample {
    pub fn new(width: usize) -> Sample {
        let column = || Coded { numbers: vec![None], ..Coded::default() };
        let most = (MOST_CELLS / width.max(1)).clamp(1_000, MOST_ROWS);
        Sample { rows: 0, columns: (0..width).map(|_| column()).collect(), most }
    }

    /// Adds the next rows. Returns whether more are needed.
    pub fn add(&mut self, cells: &[SampledCells], rows: usize) -> bool {
        let take = rows.min(self.most - self.rows);
        for (column, cells) in self.columns.iter_mut().zip(cells) {
            for &hash in &cells.hashes[..take] {
                let code = match column.code_of.get(&hash) {
                    Some(&code) => code,
                    None => {
                        let number = cells.numbers.get(&hash).copied();
                        let code = match number {
                            Some(number) if number.is_nan() => MISSING,
                            number => {
                                column.numbers.push(number);
                                column.numbers.len() as u32 - 1
                            }
                        };
                        column.code_of.insert(hash, code);
                        code
                    }
                };
                column.codes.push(code);
            }
        }
        self.rows += take;
        self.rows < self.most
    }
}

/// The cells of a column that have a value, and those among them whose value nobody else has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Alone {
    pub cells: u64,
    pub alone: u64,
}

impl Alone {
    /// The share in hundredths, rounded down.
    pub fn percent(self) -> u64 {
        self.alone * 100 / self.cells.max(1)
    }
}

impl Sample {
    /// Counts how often values of up to three columns together belong to one person only: cells of one column, rows of
    /// several. Without a column of people every row is a person.
    pub fn alone(&self, set: &[usize], people: Option<usize>) -> Alone {
        let mut of: HashMap<[u32; 3], (u32, bool, u64), FixedState> = HashMap::default();
        let mut counted = Alone::default();
        for row in 0..self.rows {
            let mut key = [0; 3];
            key.iter_mut().zip(set).for_each(|(key, &c)| *key = self.columns[c].codes[row]);
            if set.len() == 1 && key[0] == MISSING {
                continue;
            }
            counted.cells += 1;
            let person = people.map_or(row as u32, |place| self.columns[place].codes[row]);
            let holder = of.entry(key).or_insert((person, false, 0));
            holder.1 |= holder.0 != person;
            holder.2 += 1;
        }
        counted.alone = of.values().filter(|holder| !holder.1).map(|holder| holder.2).sum();
        counted
    }
}

/// The mean difference of numbers between any two rows: between those of the first half and those of the second, since
/// rows that follow each other are often those of one person.
fn apart(numbers: &[f64]) -> f64 {
    let (first, second) = numbers.split_at(numbers.len() / 2);
    let differences: f64 = first.iter().zip(second).map(|(a, b)| (a - b).abs()).sum();
    differences / first.len().max(1) as f64
}

impl Coded {
    /// The number of different values.
    pub fn values(&self) -> usize {
        self.numbers.len() - 1
    }

    /// The rows that have a value.
    pub fn present(&self) -> usize {
        self.codes.iter().filter(|&&code| code != MISSING).count()
    }

    /// The values of this column and another together, as one column.
    pub fn and(&self, other: &Coded) -> Coded {
        let mut code_of: HashMap<(u32, u32), u32, FixedState> = HashMap::default();
        let both = |(&own, &others): (&u32, &u32)| match own == MISSING || others == MISSING {
            true => MISSING,
            false => {
                let next = code_of.len() as u32 + 1;
                *code_of.entry((own, others)).or_insert(next)
            }
        };
        let codes: Vec<u32> = self.codes.iter().zip(&other.codes).map(both).collect();
        Coded { numbers: vec![None; code_of.len() + 1], codes, ..Coded::default() }
    }

    /// The same column in some rows.
    pub fn of_rows(&self, rows: &[usize]) -> Coded {
        let codes = rows.iter().map(|&row| self.codes[row]).collect();
        Coded { code_of: HashMap::default(), codes, numbers: self.numbers.clone() }
    }

    /// The number in a row.
    pub fn number(&self, row: usize) -> Option<f64> {
        self.numbers[self.codes[row] as usize]
    }

    /// The rows of each code.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.numbers.len()];
        self.codes.iter().for_each(|&code| counts[code as usize] += 1);
        counts
    }

    /// The share of the rows with a value whose value occurs in another column, of whatever table.
    pub fn share_in(&self, other: &Coded) -> f64 {
        let mut is_known = vec![false; self.numbers.len()];
        for (hash, &code) in &self.code_of {
            is_known[code as usize] |= other.code_of.get(hash).is_some_and(|&other| other != MISSING);
        }
        let known = self.codes.iter().filter(|&&code| code != MISSING && is_known[code as usize]).count();
        known as f64 / self.present().max(1) as f64
    }

    /// The same rows with texts that mean the same as one value. Texts that are not listed stay apart.
    pub fn united(&self, meanings: &[(&str, u32)]) -> Coded {
        let mut united = Coded { numbers: self.numbers.clone(), ..Coded::default() };
        let mut first: HashMap<u32, u32, FixedState> = HashMap::default();
        let mut new: Vec<u32> = (0..self.numbers.len() as u32).collect();
        for (text, meaning) in meanings {
            if let Some(&code) = self.code_of.get(&super::distinct::hash(text.as_bytes())) {
                new[code as usize] = *first.entry(*meaning).or_insert(code);
            }
        }
        united.codes = self.codes.iter().map(|&code| new[code as usize]).collect();
        united
    }

    /// The numbers below which these shares (in hundredths) of the numbers are.
    pub fn quantiles(&self, shares: &[usize]) -> Vec<f64> {
        self.quantiles_within(shares, (f64::MIN, f64::MAX))
    }

    /// The same of the numbers within bounds.
    pub fn quantiles_within(&self, shares: &[usize], (least, most): (f64, f64)) -> Vec<f64> {
        let numbers = (0..self.codes.len()).filter_map(|row| self.number(row));
        let mut all: Vec<f64> = numbers.filter(|number| (least..=most).contains(number)).collect();
        all.sort_by(f64::total_cmp);
        match all.len() {
            0 => Vec::new(),
            n => shares.iter().map(|share| all[(n * share / 100).min(n - 1)]).collect(),
        }
    }

    /// Returns whether no value of this column occurs beside two values of the other, with a tolerance of one row in
    /// 200. A missing cell counts as a value.
    pub fn determines(&self, other: &Coded) -> bool {
        self.conflicts(other) * 200 <= self.codes.len()
    }

    /// The rows in which the other column has another value than in the first row with the same value of this one.
    fn conflicts(&self, other: &Coded) -> usize {
        let mut first = vec![u32::MAX; self.numbers.len()];
        let most = self.codes.len() / 200 + 1;
        let mut conflicts = 0;
        for (&own, &others) in self.codes.iter().zip(&other.codes) {
            let first = &mut first[own as usize];
            if *first == u32::MAX {
                *first = others;
            } else if *first != others {
                conflicts += 1;
                if conflicts > most {
                    break;
                }
            }
        }
        conflicts
    }

    /// How often two rows with the same value of this column agree in the other, and how often any two rows would:
    /// in pairs of rows that follow each other, without missing cells. `None` for fewer than 20 pairs.
    pub fn agreement(&self, other: &Coded) -> Option<(f64, f64)> {
        let (pairs, same) = self.equal_pairs(other);
        (pairs >= 20).then(|| (same as f64 / pairs as f64, other.chance()))
    }

    /// Pairs of rows with the same value of this column and two values of a second, and how many of them have the same
    /// value of a third: in rows that follow each other, without missing cells.
    pub fn pairs_across(&self, second: &Coded, third: &Coded) -> (usize, usize) {
        let mut last = vec![(MISSING, MISSING); self.numbers.len()];
        let (mut pairs, mut same) = (0, 0);
        for ((&own, &seconds), &thirds) in self.codes.iter().zip(&second.codes).zip(&third.codes) {
            if own == MISSING || seconds == MISSING || thirds == MISSING {
                continue;
            }
            let last = &mut last[own as usize];
            if last.0 != MISSING && last.0 != seconds {
                pairs += 1;
                same += usize::from(last.1 == thirds);
            }
            *last = (seconds, thirds);
        }
        (pairs, same)
    }

    /// The share of pairs of rows with the same value of this column that have the same value of another. `None` without
    /// such pairs.
    pub fn pairs_within(&self, other: &Coded) -> Option<f64> {
        let (pairs, same) = self.equal_pairs(other);
        (pairs > 0).then(|| same as f64 / pairs as f64)
    }

    fn equal_pairs(&self, other: &Coded) -> (usize, usize) {
        let mut last = vec![MISSING; self.numbers.len()];
        let (mut pairs, mut same) = (0usize, 0usize);
        for (&own, &others) in self.codes.iter().zip(&other.codes) {
            if own == MISSING || others == MISSING {
                continue;
            }
            let before = std::mem::replace(&mut last[own as usize], others);
            pairs += usize::from(before != MISSING);
            same += usize::from(before == others);
        }
        (pairs, same)
    }

    /// The mean difference of another column's numbers in pairs of rows with the same value of this one.
    pub fn distance_of_pairs(&self, other: &Coded) -> Option<f64> {
        let mut last: Vec<Option<f64>> = vec![None; self.numbers.len()];
        let (mut pairs, mut apart) = (0usize, 0.0);
        for (row, &own) in self.codes.iter().enumerate().filter(|(_, own)| **own != MISSING) {
            let Some(number) = other.number(row) else { continue };
            if let Some(before) = last[own as usize].replace(number) {
                pairs += 1;
                apart += (number - before).abs();
            }
        }
        (pairs > 0).then(|| apart / pairs as f64)
    }

    /// The probability that two rows with a value have the same one.
    pub fn chance(&self) -> f64 {
        let counts = self.counts();
        let present: f64 = counts[1..].iter().map(|&n| f64::from(n)).sum();
        counts[1..].iter().map(|&n| (f64::from(n) / present).powi(2)).sum()
    }

    /// The mean difference of the other column's numbers between rows with the same value of this column, in pairs that
    /// follow each other, and between any two rows. `None` for fewer than 20 pairs.
    pub fn distance_within(&self, other: &Coded) -> Option<(f64, f64)> {
        let mut last: Vec<Option<f64>> = vec![None; self.numbers.len()];
        let (mut pairs, mut within, mut all) = (0usize, 0.0, Vec::new());
        for (row, &own) in self.codes.iter().enumerate() {
            let Some(number) = other.number(row).filter(|_| own != MISSING) else { continue };
            all.push(number);
            if let Some(last) = last[own as usize].replace(number) {
                pairs += 1;
                within += (number - last).abs();
            }
        }
        (pairs >= 20).then(|| (within / pairs as f64, apart(&all)))
    }

    /// The mean difference of a third column's numbers between rows with the same value of this column and two values of
    /// a second, and between any two rows. `None` where there are no such pairs.
    pub fn distance_across(&self, second: &Coded, third: &Coded) -> Option<(f64, f64)> {
        let mut last: Vec<(u32, f64)> = vec![(MISSING, 0.0); self.numbers.len()];
        let (mut pairs, mut within, mut all) = (0usize, 0.0, Vec::new());
        for (row, (&own, &seconds)) in self.codes.iter().zip(&second.codes).enumerate() {
            let Some(number) = third.number(row).filter(|_| own != MISSING && seconds != MISSING) else { continue };
            all.push(number);
            let last = &mut last[own as usize];
            if last.0 != MISSING && last.0 != seconds {
                pairs += 1;
                within += (number - last.1).abs();
            }
            *last = (seconds, number);
        }
        (pairs > 0).then(|| (within / pairs as f64, apart(&all)))
    }

    /// Returns whether the other column numbers the rows of each value of this one: 1, 2, 3 and so on.
    pub fn is_numbered_by(&self, other: &Coded) -> bool {
        let mut seen: Vec<(u32, f64, f64)> = vec![(0, f64::MAX, f64::MIN); self.numbers.len()];
        let mut pairs = hashbrown::HashSet::<(u32, u32), FixedState>::default();
        for (row, &own) in self.codes.iter().enumerate() {
            let Some(number) = other.number(row) else { return false };
            let seen = &mut seen[own as usize];
            *seen = (seen.0 + 1, seen.1.min(number), seen.2.max(number));
            if !pairs.insert((own, other.codes[row])) {
                return false;
            }
        }
        let groups = || seen.iter().filter(|seen| seen.0 > 0);
        let right =
            groups().filter(|(rows, least, most)| *least <= 1.0 && most - least + 1.0 == f64::from(*rows)).count();
        groups().any(|seen| seen.0 > 1) && right * 10 >= groups().count() * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of columns of whole numbers; -1 is missing.
    fn sample(columns: &[&[i64]]) -> Sample {
        let mut sample = Sample::new(columns.len());
        let cells: Vec<SampledCells> = columns
            .iter()
            .map(|cells| SampledCells {
                hashes: cells.iter().map(|&n| n as u64).collect(),
                numbers: cells.iter().map(|&n| (n as u64, if n < 0 { NOTHING } else { n as f64 })).collect(),
            })
            .collect();
        sample.add(&cells, columns[0].len());
        sample
    }

    #[test]
    fn a_finer_column_determines_a_coarser_one() {
        let sample = sample(&[&[1, 2, 3, 1, 2, 3], &[1, 1, 2, 1, 1, 2]]);
        assert!(sample.columns[0].determines(&sample.columns[1]));
        assert!(!sample.columns[1].determines(&sample.columns[0]));
        assert_eq!([sample.columns[0].values(), sample.columns[0].present()], [3, 6]);
    }

    #[test]
    fn a_person_has_one_sex_and_numbered_visits() {
        let people: Vec<i64> = (0..60).map(|row| row / 3).collect();
        let sexes: Vec<i64> = people.iter().map(|person| person % 2).collect();
        let visits: Vec<i64> = (0..60).map(|row| row % 3 + 1).collect();
        let sample = sample(&[&people, &sexes, &visits]);
        let [person, sex, visit] = &sample.columns[..] else { unreachable!() };
        let (same, chance) = person.agreement(sex).unwrap();
        assert!(same == 1.0 && (0.49..0.51).contains(&chance));
        assert!(person.is_numbered_by(visit) && !sex.is_numbered_by(visit));
        assert!(visit.agreement(sex).unwrap().0 < 0.9);
    }

    #[test]
    fn missing_cells_are_no_value() {
        let sample = sample(&[&[5, -1, 7, -1]]);
        assert_eq!([sample.columns[0].values(), sample.columns[0].present()], [2, 2]);
        assert_eq!(sample.columns[0].quantiles(&[0, 50, 100]), [5.0, 7.0, 7.0]);
    }
}
