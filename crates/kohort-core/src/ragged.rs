//! Lists of different lengths, one behind the other in one allocation.

use std::ops::Range;

/// The bounds of lists of different lengths that lie one behind the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    ends: Vec<usize>,
}

impl Bounds {
    /// Takes the places where the lists end, ascending.
    pub fn from_ends(ends: Vec<usize>) -> Bounds {
        Bounds { ends }
    }

    /// Adds a list of this length behind the others.
    pub fn push(&mut self, length: usize) {
        self.ends.push(self.total() + length);
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the length of all lists together.
    pub fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the places of a list's values.
    pub fn range(&self, list: usize) -> Range<usize> {
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        start..self.ends[list]
    }
}

/// Lists of different lengths: all values in one vector, and the bounds of each list.
///
/// ```
/// use kohort_core::ragged::Ragged;
/// let mut lists = Ragged::default();
/// lists.push([1, 2]);
/// lists.push([]);
/// lists.push([3]);
/// assert_eq!((lists.get(0), lists.get(1), lists.get(2)), (&[1, 2][..], &[][..], &[3][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ragged<T> {
    bounds: Bounds,
    values: Vec<T>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Ragged<T> {
        Ragged { bounds: Bounds::default(), values: Vec::new() }
    }
}

impl<T> Ragged<T> {
    /// Cuts values into lists.
    pub fn new(bounds: Bounds, values: Vec<T>) -> Ragged<T> {
        debug_assert_eq!(bounds.total(), values.len());
        Ragged { bounds, values }
    }

    /// Adds a list behind the others.
    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.values.extend(list);
        self.bounds.ends.push(self.values.len());
    }

    /// Adds a list that `fill` appends to the values.
    pub fn push_with(&mut self, fill: impl FnOnce(&mut Vec<T>)) {
        fill(&mut self.values);
        self.bounds.ends.push(self.values.len());
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Returns whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Returns a list.
    pub fn get(&self, list: usize) -> &[T] {
        &self.values[self.bounds.range(list)]
    }

    /// Returns a list whose values may be changed.
    pub fn get_mut(&mut self, list: usize) -> &mut [T] {
        &mut self.values[self.bounds.range(list)]
    }

    /// Returns the places of a list among all values.
    pub fn range(&self, list: usize) -> Range<usize> {
        self.bounds.range(list)
    }

    /// Returns all lists, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> + Clone {
        (0..self.len()).map(|list| self.get(list))
    }

    /// Returns the values of all lists.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the values of all lists, which may be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Keeps the first lists.
    pub fn truncate(&mut self, lists: usize) {
        self.bounds.ends.truncate(lists);
        self.values.truncate(self.bounds.total());
    }
}

impl<T: Copy> Ragged<T> {
    /// Returns each value with the number of its list, in order.
    pub fn by_value(&self) -> impl Iterator<Item = (T, u32)> + Clone {
        self.iter().zip(0..).flat_map(|(own, list)| own.iter().map(move |&value| (value, list)))
    }
}

impl<T: Copy + Default> Ragged<T> {
    /// Makes a list for each key below `keys`: its values, in the order they come. A counting sort.
    pub fn by_key(keys: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Ragged<T> {
        let mut lists = Ragged::default();
        lists.sort_by_key(keys, pairs);
        lists
    }

    /// Does the same as [`Ragged::by_key`] with the memory of lists that are no longer needed.
    pub fn sort_by_key(&mut self, keys: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) {
        let ends = &mut self.bounds.ends;
        ends.clear();
        ends.resize(keys, 0);
        pairs.clone().for_each(|(key, _)| ends[key as usize] += 1);
        // Each key's number of values becomes its start, and while the values come in, its end.
        let mut total = 0;
        for end in ends.iter_mut() {
            total += std::mem::replace(end, total);
        }
        self.values.clear();
        self.values.resize(total, T::default());
        for (key, value) in pairs {
            let at = &mut ends[key as usize];
            self.values[*at] = value;
            *at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_by_key_in_their_order() {
        let mut lists = Ragged::by_key(4, [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (2, 'a')].into_iter());
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&['b'][..], &[], &['a', 'c', 'a'], &['d']]);
        assert_eq!((lists.range(2), lists.values().len()), (1..4, 5));
        lists.truncate(3);
        assert_eq!((lists.len(), lists.values().len()), (3, 4));
        lists.sort_by_key(0, std::iter::empty());
        assert!(lists.is_empty() && lists.values().is_empty());
    }

    #[test]
    fn bounds_are_of_lists_one_behind_the_other() {
        let mut bounds = Bounds::default();
        [2, 0, 3].into_iter().for_each(|length| bounds.push(length));
        assert_eq!((bounds.range(0), bounds.range(1), bounds.range(2), bounds.total()), (0..2, 2..2, 2..5, 5));
        assert_eq!(bounds, Bounds::from_ends(vec![2, 2, 5]));
    }
}
