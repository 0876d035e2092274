//! The rules that every chunk must keep.

use kohort_core::number::Fraction;

/// The subrecords that must be frequent in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subrecords {
    /// Every itemset of at most m codes that occurs (k^m).
    UpToM,
    /// Every distinct subrecord that is not empty (S7): holds against a reader who reasons about the method.
    Whole,
}

/// The treatment of codes that reveal other codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// It is counted and reported.
    Shown,
    /// No code is in every row of its cluster, and none implies another one of its chunk.
    Avoided,
}

/// The rules of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClusterRules<'a> {
    /// k.
    pub(crate) k: u32,
    /// m: how many codes the attacker knows.
    pub(crate) m: usize,
    /// For each code: its utility constraint, or [`FREE`]. Empty: there are none.
    pub(crate) constraint_of: &'a [u32],
    /// For each code: whether it must stay in item chunks, and may not decide who is in which cluster.
    /// Empty: none must.
    pub(crate) sensitive: &'a [bool],
    /// The largest share of a cluster's patients who may have one sensitive code.
    pub(crate) confidence: Option<Fraction>,
    /// The subrecords that must be frequent.
    pub(crate) subrecords: Subrecords,
    /// The treatment of codes that reveal other codes.
    pub(crate) covers: Covers,
}

/// In no constraint.
pub(crate) const FREE: u32 = u32::MAX;

impl ClusterRules<'_> {
    /// The utility constraint a code is in.
    pub(crate) fn constraint(&self, code: u32) -> Option<u32> {
        self.constraint_of.get(code as usize).copied().filter(|&u| u != FREE)
    }

    /// Returns whether a code is sensitive.
    pub(crate) fn is_sensitive(&self, code: u32) -> bool {
        self.sensitive.get(code as usize).copied().unwrap_or(false)
    }
}
