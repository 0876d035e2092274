//! The entry of `suppress` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, ValueKind};
use kohort_core::policy::Effects;

/// `suppress` in the register.
pub static METHOD: Entry = Entry {
    name: "suppress",
    summary: "Blanks single cells and releases all others exactly as they are. Made for public-use files.",
    caption: "single cells are blanked, and all others stay exact",
    knows: &[Knowledge::Sets, Knowledge::All, Knowledge::Any],
    requirements: &[Requirement::K, Requirement::Confidence, Requirement::LDiversity, Requirement::TCloseness],
    effects: Effects { single_cells: true, ..Effects::NONE },
    groups_numbers: false,
    params: &[
        Param {
            key: "weights",
            help: "Weight of a blank cell, for each quasi-identifier. Columns with a higher weight keep more of their cells.",
            kind: ValueKind::Other("a number above 0 for each column"),
            default: DefaultValue::Means(
                "the `weight` of each column, times 3 for columns in every combination of `knows`",
            ),
            example: "{ age = 3, zip = 0.5 }",
        },
        Param {
            key: "max_blank",
            help: "Maximum share of released records in which a quasi-identifier is blank. Other columns are blanked instead; if that is not enough, records are removed.",
            kind: ValueKind::Other("a share for each column"),
            default: DefaultValue::Means("no limit"),
            example: "{ age = 0.05 }",
        },
        Param {
            key: "max_blank_record",
            help: "Records in which a larger share of the quasi-identifiers would be blank are removed, before samples are drawn.",
            kind: ValueKind::Share,
            default: DefaultValue::Means("no record is removed for its blanks"),
            example: "0.5",
        },
        Param {
            key: "remainder",
            help: "What happens to records that no blank cell protects: they are removed, or more cells are blanked until they match other records.",
            kind: ValueKind::Word(&["delete", "grow"]),
            default: DefaultValue::Is("\"delete\""),
            example: "\"grow\"",
        },
        Param {
            key: "order",
            help: "The order in which cells are blanked: the one that blanks fewest, or the one of the paper.",
            kind: ValueKind::Word(&["best", "paper"]),
            default: DefaultValue::Is("\"best\""),
            example: "\"paper\"",
        },
        Param {
            key: "samples",
            help: "Releases disjoint random samples instead of the whole file: the share of each. Together they are at most 1.",
            kind: ValueKind::Other("a list of shares"),
            default: DefaultValue::Means("the whole file is released"),
            example: "[0.1, 0.1]",
        },
    ],
    captions: &[
        Caption::of(
            "order",
            "Order",
            "Which combinations come first: those with the least to lose, or the order of the paper.",
        ),
        Caption::of(
            "remainder",
            "Records that suppressed cells cannot protect",
            "They are removed, or a class is enlarged for them.",
        ),
        Caption::of("combinations", "Combinations of columns", "That the attacker may know."),
        Caption::of("rounds", "Rounds", "Over all combinations, until nothing changed."),
        Caption::of("steps", "Steps", "Ways of suppressing cells that were compared."),
        Caption::of("blank_cells", "Cells suppressed", ""),
        Caption::of("deleted", "Rows removed", "Suppressing cells would not have protected them."),
        Caption::of("grown", "Classes enlarged", ""),
        Caption::of("told_by_others", "Cells suppressed because another column reveals them", ""),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};
