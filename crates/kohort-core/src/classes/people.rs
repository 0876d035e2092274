//! Who stands behind the tuples: rows, or patients of whom some have several tuples.

/// The people behind tuples. Who is behind one tuple only is a number there; who is behind several
/// counts once in each class, however many of its tuples are theirs.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// One entry per tuple: people behind it and no other.
    pub(super) single: Vec<u32>,
    /// The tuples of person p of the others: `tuples[starts[p]..starts[p + 1]]`.
    starts: Vec<u32>,
    tuples: Vec<u32>,
    /// The others behind tuple t: `having[having_starts[t]..having_starts[t + 1]]`, ascending.
    having_starts: Vec<u32>,
    having: Vec<u32>,
}

impl People {
    /// Every row is a person; a table has fewer than 2³² of them.
    pub(crate) fn rows(weights: &[u64]) -> People {
        People { single: weights.iter().map(|&w| w as u32).collect(), ..People::default() }
    }

    /// People of whom each has one tuple, by tuple, and pairs (person, tuple) of further ones, in
    /// any order and as often as they come.
    pub(crate) fn new(mut single: Vec<u32>, mut pairs: Vec<(u32, u32)>) -> People {
        pairs.sort_unstable();
        pairs.dedup();
        let (mut starts, mut tuples) = (vec![0], Vec::new());
        for own in pairs.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, tuple)] = own {
                single[*tuple as usize] += 1;
                continue;
            }
            tuples.extend(own.iter().map(|o| o.1));
            starts.push(tuples.len() as u32);
        }
        let mut having_starts = vec![0u32; single.len() + 1];
        tuples.iter().for_each(|&t| having_starts[t as usize + 1] += 1);
        for t in 0..single.len() {
            having_starts[t + 1] += having_starts[t];
        }
        let (mut at, mut having) = (having_starts.clone(), vec![0; tuples.len()]);
        for (person, own) in starts.windows(2).enumerate() {
            for &t in &tuples[own[0] as usize..own[1] as usize] {
                having[at[t as usize] as usize] = person as u32;
                at[t as usize] += 1;
            }
        }
        People { single, starts, tuples, having_starts, having }
    }

    /// How many people there are, each once.
    pub(crate) fn number(&self) -> u64 {
        self.single.iter().map(|&s| u64::from(s)).sum::<u64>() + self.several().count() as u64
    }

    /// How many tuples there are.
    pub(crate) fn tuples(&self) -> usize {
        self.single.len()
    }

    /// Returns whether nobody has several tuples, so that counts of classes add up.
    pub(super) fn add_up(&self) -> bool {
        self.tuples.is_empty()
    }

    /// The tuples of each person who has several.
    pub(super) fn several(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|own| &self.tuples[own[0] as usize..own[1] as usize])
    }

    /// The people with several tuples who are behind this one, ascending.
    pub(super) fn having(&self, tuple: u32) -> &[u32] {
        match self.having_starts.get(tuple as usize..=tuple as usize + 1) {
            Some(&[start, end]) => &self.having[start as usize..end as usize],
            _ => &[],
        }
    }
}
