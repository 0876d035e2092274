//! The sets of quasi-identifiers that an attacker may know of a person.

use crate::statistics::binomial;

/// The quasi-identifiers that an attacker may know together. Columns are positions among the
/// quasi-identifiers, in table order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knows {
    /// All of them.
    All,
    /// Any `n` of them, or fewer.
    Any(usize),
    /// One of these sets.
    Sets(Vec<Vec<usize>>),
}

/// Describes which sets must be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shorter {
    /// Those of full size: what holds for them holds for their subsets.
    Implied,
    /// Every size up to the full one: two classes at confidence ½ that share a patient merge to ⅔.
    Counted,
}

impl Knows {
    /// Returns how many sets [`Knows::sets`] gives; `None` beyond `u64`.
    pub fn number(&self, columns: usize, shorter: Shorter) -> Option<u64> {
        match self {
            Knows::All => Some(1),
            Knows::Sets(sets) => Some(sets.len() as u64),
            Knows::Any(n) => {
                let n = (*n).min(columns);
                let sizes = if shorter == Shorter::Counted { 1..=n } else { n..=n };
                sizes.map(|size| binomial(columns as u64, size as u64)).try_fold(0u64, |a, b| a.checked_add(b?))
            }
        }
    }

    /// The sets to be counted over `columns` quasi-identifiers, each ascending.
    pub fn sets(&self, columns: usize, shorter: Shorter) -> Vec<Vec<usize>> {
        match self {
            Knows::All => vec![(0..columns).collect()],
            Knows::Sets(sets) => sets.clone(),
            Knows::Any(n) => {
                let n = (*n).min(columns);
                let sizes = if shorter == Shorter::Counted { 1..=n } else { n..=n };
                sizes.flat_map(|size| combinations(columns, size)).collect()
            }
        }
    }
}

/// All sets of `size` out of `columns`, in lexicographic order.
fn combinations(columns: usize, size: usize) -> Vec<Vec<usize>> {
    let mut sets = Vec::new();
    let mut set: Vec<usize> = (0..size).collect();
    if size > columns {
        return sets;
    }
    loop {
        sets.push(set.clone());
        let Some(i) = (0..size).rev().find(|&i| set[i] < columns - size + i) else { return sets };
        set[i] += 1;
        for j in i + 1..size {
            set[j] = set[j - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_listed_and_counted() {
        assert_eq!(Knows::Any(2).sets(3, Shorter::Implied), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(Knows::Any(2).sets(3, Shorter::Counted).len(), 6);
        assert_eq!(Knows::Any(9).sets(3, Shorter::Implied), [[0, 1, 2]]);
        assert_eq!(Knows::Any(4).number(40, Shorter::Implied), Some(91_390));
        assert_eq!(Knows::Any(4).number(40, Shorter::Counted), Some(40 + 780 + 9_880 + 91_390));
        assert_eq!(Knows::All.sets(2, Shorter::Implied), [[0, 1]]);
    }
}
