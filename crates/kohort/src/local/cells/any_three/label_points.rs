//! The points that show a label, or two: as bits where they are many, else as a list.

/// The points of one word of bits.
const WORD: usize = u64::BITS as usize;

/// A class over two columns with fewer points than this share of the words is counted point by point.
const FEW_POINTS: usize = 4;

/// The points that show a label.
pub(super) enum LabelPoints {
    /// One bit for each point.
    Many(Vec<u64>),
    Few(Vec<u32>),
}

/// The points that show two labels.
#[derive(Default)]
pub(super) struct Both {
    /// One bit for each point, where there are many.
    pub words: Vec<u64>,
    /// The points, where there are few.
    pub few: Vec<u32>,
}

impl LabelPoints {
    /// The points of each label, of so many labels.
    pub fn of_labels(codes: &[u32], width: usize) -> impl Iterator<Item = LabelPoints> {
        let words = codes.len().div_ceil(WORD);
        let mut counts = vec![0usize; width];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        let empty = |&count: &usize| match count < words {
            true => LabelPoints::Few(Vec::with_capacity(count)),
            false => LabelPoints::Many(vec![0; words]),
        };
        let mut labels: Vec<LabelPoints> = counts.iter().map(empty).collect();
        for (point, &code) in codes.iter().enumerate() {
            match &mut labels[code as usize] {
                LabelPoints::Many(words) => words[point / WORD] |= 1 << (point % WORD),
                LabelPoints::Few(points) => points.push(point as u32),
            }
        }
        labels.into_iter()
    }

    /// Finds the points that show both labels, and returns whether they are many.
    pub fn and(&self, other: &LabelPoints, both: &mut Both) -> bool {
        both.few.clear();
        match (self, other) {
            (LabelPoints::Many(a), LabelPoints::Many(b)) => {
                both.words.clear();
                both.words.extend(a.iter().zip(b).map(|(a, b)| a & b));
                let points: usize = both.words.iter().map(|word| word.count_ones() as usize).sum();
                let is_many = points * FEW_POINTS >= both.words.len();
                if !is_many {
                    both.few.extend(ones(&both.words));
                }
                return is_many;
            }
            (LabelPoints::Many(words), LabelPoints::Few(points))
            | (LabelPoints::Few(points), LabelPoints::Many(words)) => {
                both.few.extend(points.iter().filter(|&&point| is_one(words, point)));
            }
            (LabelPoints::Few(a), LabelPoints::Few(b)) => both.few.extend(common(a, b)),
        }
        false
    }
}

pub(super) fn is_one(words: &[u64], point: u32) -> bool {
    words[point as usize / WORD] >> (point as usize % WORD) & 1 == 1
}

/// The points whose bit is 1.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().flat_map(|(at, &word)| ones_of(at, word))
}

/// The points whose bit is 1 in the word at this place.
pub(super) fn ones_of(at: usize, word: u64) -> impl Iterator<Item = u32> + Clone {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (bit < u64::BITS).then_some((at * WORD) as u32 + bit)
    })
}

/// The numbers in both of two ascending lists.
fn common<'a>(a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = u32> {
    a.iter().copied().filter(move |own| {
        b = &b[b.iter().position(|other| other >= own).unwrap_or(b.len())..];
        b.first() == Some(own)
    })
}
