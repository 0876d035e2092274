//! The names of values that a method records about its search, for the report.

pub use crate::report::Shown;

/// The name of a recorded value, and how to read it.
#[derive(Debug, Clone, Copy)]
pub struct Caption {
    /// The key under which the method records the value. The key of a value within a part follows the key of the
    /// part and a dot.
    pub key: &'static str,
    /// The name in the report.
    pub name: &'static str,
    /// An explanation in one sentence, or nothing.
    pub read: &'static str,
    /// States how a number is shown.
    pub shown: Shown,
}

impl Caption {
    /// A count or a text.
    pub const fn of(key: &'static str, name: &'static str, read: &'static str) -> Caption {
        Caption { key, name, read, shown: Shown::Count }
    }

    /// The same, shown in another way.
    pub const fn shown(self, shown: Shown) -> Caption {
        Caption { shown, ..self }
    }

    /// The maximum share of suppressed rows, which several methods take.
    pub const MAX_SUPPRESSED: Caption = Caption::of("max_suppressed", "Maximum share of suppressed rows", "As asked.");

    /// The number of rows that this share permits.
    pub const MAY_SUPPRESS: Caption = Caption::of("may_suppress", "Maximum number of suppressed rows", "As asked.");

    /// The number of suppressed rows.
    pub const SUPPRESSED: Caption = Caption::of("suppressed", "Rows suppressed", "By the chosen release.");

    /// The objective of a search.
    pub const OBJECTIVE: Caption = Caption::of(
        "objective",
        "Objective",
        "Among all releases that meet the guarantee, the best one by this measure was chosen.",
    );

    /// The combinations of levels among which a search chooses.
    pub const NODES: Caption =
        Caption::of("nodes", "Ways to combine levels", "Every combination of a level for each column.");

    /// The combinations of levels whose classes a search counted.
    pub const COUNTED: Caption = Caption::of(
        "counted",
        "Combinations counted",
        "The others were decided without counting, from finer or coarser combinations.",
    );
}
