//! The entry of `specialize` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, ValueKind};
use kohort_core::policy::Effects;

/// `specialize` in the register.
pub static METHOD: Entry = Entry {
    name: "specialize",
    summary: "Starts with every column fully generalized and makes values more detailed, one step at a time, as long as the guarantee holds.",
    caption: "every column starts fully generalized and becomes more detailed as far as the guarantee allows",
    knows: &[Knowledge::All, Knowledge::Any],
    requirements: &[Requirement::K, Requirement::Confidence, Requirement::LDiversity, Requirement::TCloseness],
    effects: Effects { class_steers: true, ..Effects::NONE },
    groups_numbers: false,
    params: &[
        Param {
            key: "objective",
            help: "How the next step is chosen: by what it tells about the column with role `class`, by how many pairs of records it makes distinguishable, or by the number of records.",
            kind: ValueKind::Word(&["class", "discernibility", "none"]),
            default: DefaultValue::Means("`\"class\"` if one column has role `class`, else `\"discernibility\"`"),
            example: "\"discernibility\"",
        },
        Param {
            key: "max_steps",
            help: "Maximum number of steps.",
            kind: ValueKind::Whole,
            default: DefaultValue::Means("no limit"),
            example: "20",
        },
        Param {
            key: "max_suppressed",
            help: "Maximum share of the records that may be removed where they alone block a step.",
            kind: ValueKind::Share,
            default: DefaultValue::Is("0"),
            example: "0.02",
        },
        Param {
            key: "numeric_split",
            help: "Which cut of a numeric interval is considered: the best one that keeps the guarantee, or, as in the paper, the best one only.",
            kind: ValueKind::Word(&["best_valid", "best_then_check"]),
            default: DefaultValue::Is("\"best_valid\""),
            example: "\"best_then_check\"",
        },
        Param {
            key: "min_gain",
            help: "Steps with a lower score are not made.",
            kind: ValueKind::Number,
            default: DefaultValue::Means("no step is too small"),
            example: "0.01",
        },
        Param {
            key: "score_mode",
            help: "How `objective = \"discernibility\"` scores a step. The other two values reproduce the paper.",
            kind: ValueKind::Word(&["reduction", "paper-before", "paper-after"]),
            default: DefaultValue::Is("\"reduction\""),
            example: "\"paper-before\"",
        },
        Param {
            key: "search",
            help: "How many orders of the steps are tried: several, of which the best table is kept (in tables of at least 500 records, and as many as the size of the table allows); twenty times as many with `\"thorough\"`, which takes up to half a minute; or, as in the paper, one.",
            kind: ValueKind::Word(&["best", "thorough", "paper"]),
            default: DefaultValue::Means("`\"best\"`; `\"paper\"` with `score_mode` or `min_gain`"),
            example: "\"paper\"",
        },
    ],
    captions: &[
        Caption::OBJECTIVE,
        Caption::MAX_SUPPRESSED,
        Caption::MAY_SUPPRESS,
        Caption::SUPPRESSED,
        Caption::of("max_steps", "Maximum number of steps", "As asked."),
        Caption::of("stopped", "Reason for stopping", ""),
        Caption::of("orders_tried", "Orders of the steps that were tried", "The one with the best table was kept."),
        Caption::of("order", "Order of the steps", ""),
        Caption::of("invalid", "Values not specialized further", "Finer values would break the guarantee."),
        Caption::of("partitions", "Classes", "Over all quasi-identifiers."),
        Caption::of("steps", "Steps", "From the most general values to finer ones."),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};
