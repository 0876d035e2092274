//! Bytes that are read from their start, with every length checked.

use super::{FileFault, ReadResult};

/// The byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// Bytes and a place in them.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
    pub order: Order,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Bytes<'a> {
        Bytes { all, at: 0, order: Order::Little }
    }

    /// The same bytes with numbers in this order.
    pub fn ordered(self, order: Order) -> Bytes<'a> {
        Bytes { order, ..self }
    }

    /// The place of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The same bytes, to be read from another place.
    pub fn from(&self, at: u64) -> ReadResult<Bytes<'a>> {
        let at = usize::try_from(at).ok().filter(|&at| at <= self.all.len()).ok_or(FileFault::Damaged)?;
        Ok(Bytes { at, ..*self })
    }

    /// The bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        &self.all[self.at..]
    }

    /// The next bytes.
    pub fn take(&mut self, length: usize) -> ReadResult<&'a [u8]> {
        let taken = self.rest().get(..length).ok_or(FileFault::Damaged)?;
        self.at += length;
        Ok(taken)
    }

    /// Takes these bytes, which must be there.
    pub fn expect(&mut self, expected: &[u8]) -> ReadResult<()> {
        if self.take(expected.len())? == expected { Ok(()) } else { Err(FileFault::Damaged) }
    }

    fn array<const N: usize>(&mut self) -> ReadResult<[u8; N]> {
        let mut bytes: [u8; N] = self.take(N)?.try_into().map_err(|_| FileFault::Damaged)?;
        if self.order == Order::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    pub fn u8(&mut self) -> ReadResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> ReadResult<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> ReadResult<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> ReadResult<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> ReadResult<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn f64(&mut self) -> ReadResult<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// A number that counts what follows.
    pub fn count(&mut self) -> ReadResult<usize> {
        usize::try_from(self.i32()?).map_err(|_| FileFault::Damaged)
    }

    /// A whole number of so many bytes.
    pub fn whole(&mut self, length: usize) -> ReadResult<u64> {
        let bytes = self.take(length)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Ok(match self.order {
            Order::Big => bytes.iter().fold(0, add),
            Order::Little => bytes.iter().rev().fold(0, add),
        })
    }
}

/// The text before the first zero byte.
pub(super) fn until_zero(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len())]
}
