//! What is thought of a column before its neighbours are looked at.

/// What a column seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It points at a person or a record of theirs.
    Identifier,
    /// It may be the key of a person; of several such columns one is.
    Person(Key),
    /// Somebody outside may know it.
    Quasi,
    /// Nobody should learn it.
    Sensitive,
}

/// How sure it is that a key is a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// An id of something.
    OfSomething,
    /// Its name says so.
    OfPatient,
}

/// A role with its reasons.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub part: Part,
    pub hierarchy: Option<String>,
    /// Cells that the hierarchy does not cover.
    pub uncovered: u64,
    pub why: String,
    pub notes: Vec<String>,
}

impl Verdict {
    pub fn new(part: Part, why: impl Into<String>) -> Verdict {
        Verdict { part, hierarchy: None, uncovered: 0, why: why.into(), notes: Vec::new() }
    }

    pub fn identifier(why: impl Into<String>) -> Verdict {
        Verdict::new(Part::Identifier, why)
    }

    pub fn quasi(why: impl Into<String>) -> Verdict {
        Verdict::new(Part::Quasi, why)
    }

    pub fn sensitive(why: impl Into<String>) -> Verdict {
        Verdict::new(Part::Sensitive, why)
    }

    pub fn by(mut self, hierarchy: impl Into<String>) -> Verdict {
        self.hierarchy = Some(hierarchy.into());
        self
    }

    pub fn except(mut self, cells: u64) -> Verdict {
        self.uncovered = cells;
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Verdict {
        self.notes.push(note.into());
        self
    }
}
