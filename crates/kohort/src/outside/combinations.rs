//! Columns that single people out together, though none of them does alone.

use crate::profile::Profile;
use hashbrown::HashMap;

/// The most columns that are combined.
const MOST_COLUMNS: usize = 8;
/// Columns with fewer values add little.
const FEW_VALUES: usize = 5;

/// The pair or triple of columns that singles out the most rows, as a note; `None` where few rows are.
pub(super) fn worst(profile: &Profile, columns: &[usize]) -> Option<String> {
    let sample = &profile.sample;
    let mut own: Vec<usize> = columns.iter().copied().filter(|&c| sample.columns[c].values() >= FEW_VALUES).collect();
    own.sort_by_key(|&c| (std::cmp::Reverse(sample.columns[c].values()), c));
    own.truncate(MOST_COLUMNS);
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (i, &a) in own.iter().enumerate() {
        for (j, &b) in own.iter().enumerate().skip(i + 1) {
            sets.push(vec![a, b]);
            sets.extend(own[j + 1..].iter().map(|&c| vec![a, b, c]));
        }
    }
    // Of equally bad sets the smallest and first.
    let worst = sets
        .into_iter()
        .map(|set| (alone(profile, &set), set))
        .max_by_key(|(alone, set)| (*alone, std::cmp::Reverse(set.len()), std::cmp::Reverse(set.clone())));
    let (alone, set) = worst.filter(|(alone, _)| sample.rows >= 20 && alone * 5 >= sample.rows)?;
    let names: Vec<String> = set.iter().map(|&c| format!("`{}`", profile.columns[c].name)).collect();
    let (last, first) = names.split_last()?;
    Some(format!(
        "{} and {last} are released as they are, and together they are unique for {} % of the rows. Someone who knows \
         them of a person finds the row; no requirement covers them.",
        first.join(", "),
        alone * 100 / sample.rows
    ))
}

/// Rows that are alone with their values in these columns.
fn alone(profile: &Profile, set: &[usize]) -> usize {
    let columns = &profile.sample.columns;
    let mut rows: HashMap<[u32; 3], u32, foldhash::fast::FixedState> = HashMap::default();
    for row in 0..profile.sample.rows {
        let mut key = [0; 3];
        key.iter_mut().zip(set).for_each(|(key, &c)| *key = columns[c].codes[row]);
        *rows.entry(key).or_default() += 1;
    }
    rows.values().filter(|&&rows| rows == 1).count()
}
