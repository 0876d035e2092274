//! Parameters of `specialize`: as written → as meant.

use kohort_core::Result;
use kohort_core::number::Fraction;
use kohort_core::policy::{Policy, Role};

/// The measure by which a specialization is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecializeObjective {
    /// "class": information gain on the column with role class.
    Class,
    /// "discernibility": how many pairs of records can be told apart afterwards.
    Discernibility(ScoreMode),
    /// "none": the value with most records first.
    None,
}

impl SpecializeObjective {
    /// Its name in policies and reports.
    pub fn name(self) -> &'static str {
        match self {
            SpecializeObjective::Class => "class",
            SpecializeObjective::Discernibility(_) => "discernibility",
            SpecializeObjective::None => "none",
        }
    }
}

/// The order in which discernibility ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreMode {
    /// "reduction": Σ |class|² before minus after.
    Reduction,
    /// "paper-before": formula 4 of the paper, to reproduce it.
    PaperBefore,
    /// "paper-after": example 3 of the paper, to reproduce it.
    PaperAfter,
}

/// Describes which cut of an interval is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumericSplit {
    /// "best_valid": the best of those that keep the guarantee.
    BestValid,
    /// "best_then_check": the best of all; if it breaks the guarantee, the interval stays whole.
    BestThenCheck,
}

/// Describes how many orders of the steps are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// "best": several, and the best table is kept.
    Best,
    /// "thorough": twenty times as many.
    Thorough,
    /// "paper": one, the best step first.
    Paper,
}

/// The parameters beside `name = "specialize"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// `objective`: default "class" where a column has role class, else "discernibility".
    pub objective: SpecializeObjective,
    /// `max_steps`: stop after so many specializations.
    pub max_steps: Option<u64>,
    /// `max_suppressed`: the share of records that may be deleted where they alone block a
    /// specialization. Default 0.
    pub max_suppressed: Fraction,
    /// `numeric_split`: default "best_valid".
    pub numeric_split: NumericSplit,
    /// `min_gain`: specializations with a lower score are not made. Default: none is too low.
    pub min_gain: Option<f64>,
    /// `search`: default "best"; "paper" with `score_mode` or `min_gain`.
    pub search: Search,
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy) -> Result<Params> {
        let section = &policy.method;
        let classes = policy.positions(|r| *r == Role::Class).len();
        let words = [
            ("class", SpecializeObjective::Class),
            ("discernibility", SpecializeObjective::Discernibility(ScoreMode::Reduction)),
            ("none", SpecializeObjective::None),
        ];
        let mut objective = section.word("objective", &words)?.unwrap_or(match classes {
            1 => SpecializeObjective::Class,
            _ => SpecializeObjective::Discernibility(ScoreMode::Reduction),
        });
        if objective == SpecializeObjective::Class && classes != 1 {
            let have = if classes == 0 { "no column has".into() } else { format!("{classes} columns have") };
            return Err(section.wrong(
                "objective",
                format!(
                    "\"class\" is about one column with role = \"class\", but {have} it. Set \"discernibility\" \
                     or \"none\", or name the column."
                ),
            ));
        }
        let modes = [
            ("reduction", ScoreMode::Reduction),
            ("paper-before", ScoreMode::PaperBefore),
            ("paper-after", ScoreMode::PaperAfter),
        ];
        if let Some(mode) = section.word("score_mode", &modes)? {
            match &mut objective {
                SpecializeObjective::Discernibility(own) => *own = mode,
                _ => return Err(section.wrong("score_mode", "can only be used with objective = \"discernibility\".")),
            }
        }
        let one_order = section.get("score_mode").is_some() || section.get("min_gain").is_some();
        let search = section
            .word("search", &[("best", Search::Best), ("thorough", Search::Thorough), ("paper", Search::Paper)])?;
        if one_order && search.is_some_and(|search| search != Search::Paper) {
            return Err(section.wrong(
                "search",
                "\"best\" and \"thorough\" compare several scores, so they cannot be combined with `score_mode` or `min_gain`.",
            ));
        }
        let numeric = [("best_valid", NumericSplit::BestValid), ("best_then_check", NumericSplit::BestThenCheck)];
        Ok(Params {
            objective,
            max_steps: section.whole("max_steps")?,
            max_suppressed: section.share("max_suppressed")?.unwrap_or(Fraction::NONE),
            numeric_split: section.word("numeric_split", &numeric)?.unwrap_or(NumericSplit::BestValid),
            min_gain: section.decimal("min_gain")?.map(|d| d.to_f64()),
            search: search.unwrap_or(if one_order { Search::Paper } else { Search::Best }),
        })
    }
}
