//! Class numbers along a path of columns: those of the columns before are kept, so that the next
//! path costs only where it differs.

use super::ColumnCodes;
use crate::table::Keys;

/// Steps that are kept from one path to the next.
const KEPT: usize = 8;
const NONE: u32 = u32::MAX;

/// Numbers the classes of one path after the other.
pub(super) struct Walk<'a> {
    columns: Vec<&'a ColumnCodes>,
    /// The classes over the first columns of the last path: over none, one, two, ….
    steps: Vec<ClassNumbers>,
    path: Vec<usize>,
    /// The classes over a longer path, and what is next.
    far: [ClassNumbers; 2],
    spare: Vec<ClassNumbers>,
    refine: ClassRefiner,
}

/// Classes: the number of each tuple's, below `len`. Not every number need occur.
#[derive(Default)]
struct ClassNumbers {
    ids: Vec<u32>,
    len: usize,
}

impl<'a> Walk<'a> {
    /// Up to `plain` possible combinations, a class is its combination (the last column counts
    /// fastest); beyond, classes that occur are numbered.
    pub(super) fn new(columns: Vec<&'a ColumnCodes>, tuples: usize, plain: usize) -> Walk<'a> {
        let refine = ClassRefiner { plain, dense: 4 * tuples + (1 << 12), slots: Vec::new(), used: Vec::new() };
        let nothing = ClassNumbers { ids: vec![0; tuples], len: 1 };
        let far = [ClassNumbers::default(), ClassNumbers::default()];
        Walk { columns, steps: vec![nothing], path: Vec::new(), far, spare: Vec::new(), refine }
    }

    /// Up to how many combinations a plain array is better than hashing.
    pub(super) fn dense(&self) -> usize {
        self.refine.dense
    }

    /// The classes over the columns of `path`: the number of each tuple's, and how many there are
    /// at most.
    pub(super) fn classes(&mut self, path: &[usize]) -> (&[u32], usize) {
        let (near, far) = path.split_at(path.len().min(KEPT));
        let shared = self.path.iter().zip(near).take_while(|(a, b)| a == b).count();
        self.path.truncate(shared);
        self.spare.extend(self.steps.drain(shared + 1..));
        for &column in &near[shared..] {
            let mut next = self.spare.pop().unwrap_or_default();
            self.refine.step(&self.steps[self.path.len()], self.columns[column], &mut next);
            self.path.push(column);
            self.steps.push(next);
        }
        for (i, &column) in far.iter().enumerate() {
            let [odd, even] = &mut self.far;
            let (from, to) = if i % 2 == 0 { (&*odd, even) } else { (&*even, odd) };
            let from = if i == 0 { &self.steps[KEPT] } else { from };
            self.refine.step(from, self.columns[column], to);
        }
        self.last(path)
    }

    fn last(&self, path: &[usize]) -> (&[u32], usize) {
        let far = path.len().saturating_sub(KEPT);
        let last = if far == 0 { &self.steps[path.len()] } else { &self.far[far % 2] };
        (&last.ids, last.len)
    }

    /// [`Walk::classes`], and all columns, to count one more beside them.
    pub(super) fn classes_beside(&mut self, path: &[usize]) -> (&[u32], usize, &[&'a ColumnCodes]) {
        self.classes(path);
        let (ids, len) = self.last(path);
        (ids, len, &self.columns)
    }
}

/// Classes, refined by one more column.
struct ClassRefiner {
    plain: usize,
    dense: usize,
    /// One entry per combination: its number; all `NONE` between two uses.
    slots: Vec<u32>,
    used: Vec<u32>,
}

impl ClassRefiner {
    fn step(&mut self, from: &ClassNumbers, by: &ColumnCodes, to: &mut ClassNumbers) {
        to.ids.clear();
        let pairs = from.ids.iter().zip(&by.of);
        let (combinations, width) = (from.len.saturating_mul(by.len), by.len as u32);
        if combinations <= self.plain {
            to.ids.extend(pairs.map(|(&id, &code)| id * width + code));
            to.len = combinations;
        } else if from.len == from.ids.len() && from.len > self.plain {
            // Everybody is alone already.
            to.ids.extend_from_slice(&from.ids);
            to.len = from.len;
        } else if combinations > self.dense {
            let mut keys = Keys::new(2);
            to.ids.extend(pairs.map(|(&id, &code)| keys.intern(&[id, code])));
            to.len = keys.len();
        } else {
            self.slots.resize(self.slots.len().max(combinations), NONE);
            self.used.clear();
            for (&id, &code) in pairs {
                let key = id * width + code;
                let slot = &mut self.slots[key as usize];
                if *slot == NONE {
                    *slot = self.used.len() as u32;
                    self.used.push(key);
                }
                to.ids.push(*slot);
            }
            self.used.iter().for_each(|&key| self.slots[key as usize] = NONE);
            to.len = self.used.len();
        }
    }
}
