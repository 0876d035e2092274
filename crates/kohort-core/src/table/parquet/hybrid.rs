//! Small numbers as Parquet packs them: runs of one number and groups of packed bits, in turn. Definition levels
//! and places in a dictionary are written so.

use parquet::data_type::ByteArray;

use super::thrift::varint;

/// A reader of packed numbers.
#[derive(Debug)]
pub(super) struct Hybrid {
    bytes: ByteArray,
    at: usize,
    end: usize,
    /// The bits of a number.
    width: u32,
    run: Run,
}

#[derive(Debug)]
enum Run {
    /// A number and how often it still comes.
    Repeated(u32, usize),
    /// The bit of the next number, and how many come.
    Packed(usize, usize),
}

impl Hybrid {
    /// The numbers in `bytes[at..end]`, or nothing if no number is that wide.
    pub(super) fn new(bytes: ByteArray, at: usize, end: usize, width: u32) -> Option<Hybrid> {
        let fits = width <= 32 && at <= end && end <= bytes.len();
        fits.then_some(Hybrid { bytes, at, end, width, run: Run::Repeated(0, 0) })
    }

    /// Hands over at most `n` numbers, each with the number of times it comes in a row, and says how many they were.
    #[inline]
    pub(super) fn read(&mut self, n: usize, mut each: impl FnMut(u32, usize)) -> usize {
        // A dictionary of one value needs no bits.
        if self.width == 0 {
            each(0, n);
            return n;
        }
        let mut left = n;
        while left > 0 {
            match &mut self.run {
                Run::Repeated(_, 0) | Run::Packed(_, 0) => match self.next() {
                    Some(run) => self.run = run,
                    None => break,
                },
                Run::Repeated(number, times) => {
                    let own = left.min(*times);
                    each(*number, own);
                    *times -= own;
                    left -= own;
                }
                Run::Packed(bit, numbers) => {
                    let own = left.min(*numbers);
                    let (bytes, width) = (&self.bytes.data()[..self.end], self.width as usize);
                    let mask = (1u64 << width) - 1;
                    for i in 0..own {
                        each((word(bytes, *bit + i * width) & mask) as u32, 1);
                    }
                    *bit += own * width;
                    *numbers -= own;
                    left -= own;
                }
            }
        }
        n - left
    }

    fn next(&mut self) -> Option<Run> {
        let rest = &self.bytes.data()[self.at..self.end];
        let (head, len) = varint(rest)?;
        self.at += len;
        let rest = &rest[len..];
        let count = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let size = self.width.div_ceil(8) as usize;
            let mut number = [0; 4];
            number[..size].copy_from_slice(rest.get(..size)?);
            self.at += size;
            return Some(Run::Repeated(u32::from_le_bytes(number), count));
        }
        let size = count.checked_mul(self.width as usize)?;
        // Some writers cut off the last group where the page ends.
        let size = size.min(rest.len());
        let numbers = count.checked_mul(8)?.min(size * 8 / self.width as usize);
        let run = Run::Packed(self.at * 8, numbers);
        self.at += size;
        Some(run)
    }
}

/// The bits from `bit` on, at least 33 of them as far as there are any.
#[inline]
fn word(bytes: &[u8], bit: usize) -> u64 {
    let at = bit / 8;
    let word = match bytes.get(at..at + 8) {
        Some(eight) => u64::from_le_bytes(eight.try_into().unwrap_or_default()),
        None => bytes[at..].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    word >> (bit % 8)
}

/// Packs numbers as one run, or as groups of bits where they differ.
pub(super) fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if let Some(&first) = numbers.first()
        && numbers.iter().all(|&number| number == first)
    {
        push_varint((numbers.len() as u64) << 1, out);
        out.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
        return;
    }
    let groups = numbers.len().div_ceil(8);
    push_varint((groups as u64) << 1 | 1, out);
    let (mut word, mut bits, end) = (0u64, 0, out.len() + groups * width as usize);
    for &number in numbers {
        word |= u64::from(number) << bits;
        bits += width;
        while bits >= 8 {
            out.push(word as u8);
            word >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        out.push(word as u8);
    }
    out.resize(end, 0);
}

fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(bytes: Vec<u8>, width: u32, steps: usize, most: usize) -> Vec<u32> {
        let end = bytes.len();
        let mut hybrid = Hybrid::new(bytes.into(), 0, end, width).expect("a width");
        let mut all = Vec::new();
        while all.len() < most {
            let want = steps.min(most - all.len());
            if hybrid.read(want, |number, times| all.extend(std::iter::repeat_n(number, times))) < want {
                break;
            }
        }
        all
    }

    proptest! {
        #[test]
        fn packed_numbers_come_back(
            width in 1u32..=32, numbers in prop::collection::vec(any::<u32>(), 1..100), same in any::<bool>(), steps in 1usize..20
        ) {
            let mask = ((1u64 << width) - 1) as u32;
            let mut numbers: Vec<u32> = numbers.into_iter().map(|n| n & mask).collect();
            if same {
                let first = numbers[0];
                numbers.fill(first);
            }
            let mut bytes = Vec::new();
            pack(&numbers, width, &mut bytes);
            prop_assert_eq!(read_all(bytes, width, steps, numbers.len()), numbers);
        }

        #[test]
        fn garbage_ends_without_more_numbers_than_asked_for(bytes in prop::collection::vec(any::<u8>(), 0..40), width in 0u32..=32) {
            prop_assert!(read_all(bytes, width, 7, 1000).len() <= 1000);
        }
    }

    #[test]
    fn runs_and_groups_follow_one_another() {
        // Three times 5, then the numbers 0 to 7 in three bits each.
        let bytes = vec![0x06, 0x05, 0x03, 0x88, 0xc6, 0xfa];
        assert_eq!(read_all(bytes, 3, 4, 11), [5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
