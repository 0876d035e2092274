//! The judgement of a column before its neighbours are looked at.

use super::Confidence;

/// The role that a column seems to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuggestedRole {
    /// It points at a person or a record of theirs, or is not worth its risk: it is dropped.
    Identifier,
    /// The key of the person.
    Person,
    /// An outsider may know it.
    Quasi,
    /// Nobody should learn it.
    Sensitive,
    /// It is released as it is.
    Other,
}

/// The subject of a column, where that matters for other columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A date of birth, or a part of it.
    Birth,
    /// The year of birth.
    BirthYear,
    /// An age in years or groups.
    Age,
    /// The sex.
    Sex,
    /// A date of something else.
    Date,
    /// The height.
    Height,
    /// The body weight.
    BodyWeight,
    /// The body mass index.
    BodyMass,
    /// The answer to a question.
    Answer,
    /// Anything else.
    Anything,
}

/// A role with its reasons.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub part: SuggestedRole,
    pub confidence: Confidence,
    pub about: About,
    pub hierarchy: Option<String>,
    /// The keys that clean its cells, as a policy writes them.
    pub cleaning: Vec<String>,
    /// The two formats that fit all its dates, where day and month cannot be told apart.
    pub formats: Option<[&'static str; 2]>,
    /// The levels that a method may choose, as a policy writes them; all if `None`.
    pub levels: Option<String>,
    /// How much analysts need the column, compared with others.
    pub weight: u32,
    /// Cells that the hierarchy does not cover.
    pub uncovered: u64,
    pub why: String,
    pub notes: Vec<String>,
}

impl Verdict {
    fn new(part: SuggestedRole, why: impl Into<String>) -> Verdict {
        Verdict {
            part,
            confidence: Confidence::Likely,
            about: About::Anything,
            hierarchy: None,
            cleaning: Vec::new(),
            formats: None,
            levels: None,
            weight: 1,
            uncovered: 0,
            why: why.into(),
            notes: Vec::new(),
        }
    }

    pub fn identifier(why: impl Into<String>) -> Verdict {
        Verdict::new(SuggestedRole::Identifier, why)
    }

    pub fn person(why: impl Into<String>) -> Verdict {
        Verdict::new(SuggestedRole::Person, why)
    }

    pub fn quasi(why: impl Into<String>) -> Verdict {
        Verdict::new(SuggestedRole::Quasi, why)
    }

    pub fn sensitive(why: impl Into<String>) -> Verdict {
        Verdict::new(SuggestedRole::Sensitive, why)
    }

    pub fn other(why: impl Into<String>) -> Verdict {
        Verdict::new(SuggestedRole::Other, why)
    }

    /// Name and values agree.
    pub fn sure(mut self) -> Verdict {
        self.confidence = Confidence::Sure;
        self
    }

    /// The evidence is weak.
    pub fn unsure(mut self) -> Verdict {
        self.confidence = Confidence::Unsure;
        self
    }

    pub fn about(mut self, about: About) -> Verdict {
        self.about = about;
        self
    }

    pub fn weighs(mut self, weight: u32) -> Verdict {
        self.weight = weight;
        self
    }

    pub fn by(mut self, hierarchy: impl Into<String>) -> Verdict {
        self.hierarchy = Some(hierarchy.into());
        self
    }

    pub fn levels(mut self, levels: impl Into<String>) -> Verdict {
        self.levels = Some(levels.into());
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

    /// Returns whether the column is released as it is.
    pub fn is_unchanged(&self) -> bool {
        matches!(self.part, SuggestedRole::Sensitive | SuggestedRole::Other)
    }

    /// Returns whether the column would be released.
    pub fn is_released(&self) -> bool {
        !matches!(self.part, SuggestedRole::Identifier | SuggestedRole::Person)
    }

    /// Drops the column, for this reason.
    pub fn drop(&mut self, why: impl Into<String>) {
        *self = Verdict { notes: Vec::new(), about: self.about, ..Verdict::identifier(why) };
    }
}
