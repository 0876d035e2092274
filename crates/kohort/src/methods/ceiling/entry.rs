//! The entry of `ceiling` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, Shown, Usual, ValueKind};
use kohort_core::policy::Effects;

/// `ceiling` in the register.
pub static METHOD: Entry = Entry {
    name: "ceiling",
    summary: "Generalizes no record beyond a ceiling and adds synthetic records to equivalence classes that are too small.",
    caption: "no record is generalized beyond a ceiling, and synthetic records fill equivalence classes that are too small",
    knows: &[Knowledge::All],
    requirements: &[Requirement::K, Requirement::Confidence, Requirement::LDiversity, Requirement::TCloseness],
    effects: Effects { synthetic: true, ..Effects::NONE },
    groups_numbers: false,
    params: &[
        Param {
            key: "h",
            help: "The ceiling: the highest degree of generalization of any record, from 0 (unchanged) to 1. `\"auto\"` searches for the best.",
            kind: ValueKind::Other("a share from 0 to 1, or `\"auto\"`"),
            default: DefaultValue::Required(Usual::Is("\"auto\"")),
            example: "0.3",
        },
        Param {
            key: "max_counterfeits",
            help: "Maximum number of synthetic records, as a share of the rows of the table.",
            kind: ValueKind::Share,
            default: DefaultValue::Required(Usual::Is("0.05")),
            example: "0.05",
        },
        Param {
            key: "real_k",
            help: "Minimum number of real people in an equivalence class. An attacker who knows the algorithm finds a person with a probability of up to 1 / real_k. With real_k = k no synthetic record is needed.",
            kind: ValueKind::UpToK,
            default: DefaultValue::Required(Usual::HalfOfK),
            example: "3",
        },
        Param {
            key: "catalog",
            help: "Whether the recipient is told how many records of a group of classes are synthetic.",
            kind: ValueKind::Word(&["none", "grouped"]),
            default: DefaultValue::Is("\"none\""),
            example: "\"grouped\"",
        },
        Param {
            key: "padding",
            help: "How far a class is filled: to a random number of k or more for each class, or to exactly k.",
            kind: ValueKind::Word(&["randomized", "exact"]),
            default: DefaultValue::Is("\"randomized\""),
            example: "\"exact\"",
        },
        Param {
            key: "reference",
            help: "A file with lines `value;share`: the values that synthetic records show in a sensitive column without a `domain`.",
            kind: ValueKind::Other("a file, or one for each sensitive column"),
            default: DefaultValue::Means("the column's `domain`"),
            example: "\"wards.csv\"",
        },
        Param {
            key: "objective",
            help: "The measure by which the levels are the best: reconstruction error, or information loss.",
            kind: ValueKind::Word(&["rce", "loss"]),
            default: DefaultValue::Is("\"rce\""),
            example: "\"loss\"",
        },
        Param {
            key: "forbidden",
            help: "Combinations of values that no synthetic record may show, because they cannot occur.",
            kind: ValueKind::Other("a list of combinations of column and values"),
            default: DefaultValue::Means("diagnoses of one sex with the other sex"),
            example: "[{ sex = \"M\", diagnosis = [\"630-679\"] }]",
        },
    ],
    captions: &[
        Caption::OBJECTIVE,
        Caption::of("h", "Ceiling", "No record may be coarser than this."),
        Caption::of("highest_degree", "Degree of the coarsest record", "It must not exceed the ceiling.")
            .shown(Shown::Decimals(4)),
        Caption::of("padding", "Padding", "Classes are enlarged to exactly k, or to a random size above it."),
        Caption::NODES,
        Caption::COUNTED,
        Caption::of(
            "refused",
            "Better choices rejected",
            "They would need more synthetic records than the policy allows.",
        ),
        Caption::of(
            "expected_counterfeits",
            "Expected number of synthetic records",
            "On average over the random choices.",
        ),
        Caption::of("may_add", "Maximum number of synthetic records", "As asked."),
        Caption::of("forbidden", "Forbidden combinations", "No synthetic record has them."),
        Caption::of("forbidden_built_in", "Of these, built in", "Diagnoses of one sex."),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};
