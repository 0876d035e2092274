//! The released tuple of each line of the original.

use std::collections::HashMap;

/// The line was not released.
pub(super) const NOBODY: u32 = u32::MAX;

/// The released tuple of each input line. It takes two bytes a line where tuples are few, else four.
pub(super) struct TupleOfLine {
    /// For each line, for line numbers up to a few times the number of released rows.
    near: Near,
    /// All other lines.
    far: HashMap<u64, u32>,
}

enum Near {
    Few(Vec<u16>),
    Many(Vec<u32>),
}

impl TupleOfLine {
    pub(super) fn new(tuples: usize) -> TupleOfLine {
        let near = if tuples < usize::from(u16::MAX) { Near::Few(Vec::new()) } else { Near::Many(Vec::new()) };
        TupleOfLine { near, far: HashMap::new() }
    }

    /// The tuple of a line, or [`NOBODY`].
    pub(super) fn get(&self, line: u64) -> u32 {
        let at = usize::try_from(line).unwrap_or(usize::MAX);
        let near = match &self.near {
            Near::Few(near) => near.get(at).map(|&t| if t == u16::MAX { NOBODY } else { u32::from(t) }),
            Near::Many(near) => near.get(at).copied(),
        };
        near.filter(|&t| t != NOBODY || self.far.is_empty()).or_else(|| self.far.get(&line).copied()).unwrap_or(NOBODY)
    }

    /// Sets the tuple of a line. Returns the one that it had before.
    pub(super) fn set(&mut self, line: u64, tuple: u32, rows: usize) -> u32 {
        let before = self.get(line);
        match (usize::try_from(line), &mut self.near) {
            (Ok(at), near) if at <= rows.saturating_mul(8).saturating_add(1 << 20) => match near {
                Near::Few(near) => put(near, at, tuple as u16, u16::MAX),
                Near::Many(near) => put(near, at, tuple, NOBODY),
            },
            _ => drop(self.far.insert(line, tuple)),
        }
        before
    }
}

/// Lines come in random order, so after a few of them the list is nearly as long as it will get.
fn put<T: Copy>(list: &mut Vec<T>, at: usize, value: T, nobody: T) {
    if list.len() <= at {
        list.reserve_exact(at + 1 + at / 16 - list.len());
        list.resize(at + 1 + at / 16, nobody);
    }
    list[at] = value;
}
