//! The entry of `local` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, ValueKind};
use kohort_core::policy::Effects;

/// `local` in the register.
pub static METHOD: Entry = Entry {
    name: "local",
    summary: "Coarsens every record only as far as it must be, so that most cells keep their values. A column shows labels of different levels.",
    caption: "every record is coarsened only as far as it must be, and a few records are removed",
    knows: &[Knowledge::All, Knowledge::Any, Knowledge::Sets],
    requirements: &[Requirement::K, Requirement::Confidence, Requirement::LDiversity, Requirement::TCloseness],
    effects: Effects { single_cells: true, ..Effects::NONE },
    groups_numbers: true,
    params: &[
        Param {
            key: "max_suppressed",
            help: "Maximum share of the records that may be removed where they would coarsen others too much. 0 removes none.",
            kind: ValueKind::Share,
            default: DefaultValue::Is("0.01"),
            example: "0.05",
        },
        Param {
            key: "effort",
            help: "The amount of work. `\"thorough\"` takes several times as long and loses a little less. Both give the same release each time.",
            kind: ValueKind::Word(&["fast", "thorough"]),
            default: DefaultValue::Is("\"fast\""),
            example: "\"thorough\"",
        },
        Param {
            key: "labels",
            help: "The labels of numbers in intervals and of dates: those of the hierarchy, or the range of each group of records, which loses less. The ends of a range are bounds of the finest permitted intervals with room for two numbers, or months, quarters, years or decades. `\"range\"` needs `knows = \"all\"`.",
            kind: ValueKind::Word(&["tree", "range"]),
            default: DefaultValue::Is("\"tree\""),
            example: "\"range\"",
        },
    ],
    captions: &[
        Caption::of("effort", "Effort", "As asked: the amount of work."),
        Caption::MAX_SUPPRESSED,
        Caption::of("groups", "Groups of records that look the same", "Formed by the method."),
        Caption::SUPPRESSED,
        Caption::MAY_SUPPRESS,
        Caption::of("stopped_early", "Stopped early", "If so, the result depends on the time it took."),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};
