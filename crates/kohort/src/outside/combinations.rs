//! Columns that single people out together, though none of them does alone.

use super::Uncovered;
use crate::profile::Profile;

/// The most columns that are combined.
const MOST_COLUMNS: usize = 8;
/// Columns with fewer values add little.
const FEW_VALUES: usize = 5;

/// The pair or triple of columns that singles out people in the most rows, as a note; `None` where there are few such
/// rows.
pub(super) fn worst(profile: &Profile, table: &Uncovered) -> Option<String> {
    let sample = &profile.sample;
    let columns = table.columns.iter().copied();
    let mut own: Vec<usize> = columns.filter(|&c| sample.columns[c].values() >= FEW_VALUES).collect();
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
        .map(|set| (sample.alone(&set, table.patient).alone as usize, set))
        .max_by_key(|(alone, set)| (*alone, std::cmp::Reverse(set.len()), std::cmp::Reverse(set.clone())));
    let (alone, set) = worst.filter(|(alone, _)| sample.rows >= 20 && alone * 5 >= sample.rows)?;
    let names: Vec<String> = set.iter().map(|&c| format!("`{}`", table.shown(&profile.columns[c].name))).collect();
    let (last, first) = names.split_last()?;
    let unique = match table.patient {
        Some(_) => "no other patient has the same values together",
        None => "no other row has the same values together",
    };
    Some(format!(
        "{} and {last} are released as they are, and {unique} in {} % of the rows. Someone who knows them about a person \
         finds that person; no requirement covers them.",
        first.join(", "),
        alone * 100 / sample.rows
    ))
}
