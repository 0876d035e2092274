//! The order of a report: that of ISO/IEC 27559 and of the anonymization report of EMA and Health Canada.

/// A chapter, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chapter {
    Asked,
    Guaranteed,
    Changed,
    Risk,
    Utility,
    Attacks,
    Missing,
    Limits,
    Approval,
}

/// Holds what the two call it: ISO/IEC 27559, then EMA policy 0070 and Health Canada.
impl Chapter {
    fn names(self) -> (char, &'static str, &'static str) {
        match self {
            Chapter::Asked => ('A', "context assessment", "methodology"),
            Chapter::Guaranteed => ('B', "identifiability: re-evaluate", "residual risk, and how it was measured"),
            Chapter::Changed => ('C', "data assessment, transformation", "identifiers, and the technique for each"),
            Chapter::Risk => ('D', "identifiability: quantify", "initial risk, threshold, residual risk"),
            Chapter::Utility => ('E', "transparency and impact", "data utility"),
            Chapter::Attacks => ('F', "identifiability: adversarial testing", "attack scenarios"),
            Chapter::Missing => ('G', "transparency and impact", "data utility: what is missing"),
            Chapter::Limits => ('H', "governance before release", "conclusion: residual risks"),
            Chapter::Approval => ('I', "governance before and after release", "conclusion: approval"),
        }
    }

    /// Its sections, below a line that says where the standards have them; nothing if there are none.
    pub(super) fn of<const N: usize>(self, sections: [String; N]) -> String {
        let sections = sections.concat();
        if sections.is_empty() {
            return sections;
        }
        let (letter, iso, ema) = self.names();
        let line = format!(
            "<p class=\"part\"><strong>{letter}</strong> {} {iso} · {} {ema}</p>\n",
            STANDARDS[0], STANDARDS[1]
        );
        format!("<div class=\"chapter\">\n{line}{sections}</div>\n")
    }
}

/// States whose order it is.
pub(super) const STANDARDS: [&str; 2] = ["ISO/IEC 27559:", "EMA and Health Canada:"];
