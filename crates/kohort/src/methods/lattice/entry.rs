//! The entry of `lattice` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, Usual, ValueKind};
use kohort_core::policy::Effects;

/// `lattice` in the register.
pub static METHOD: Entry = Entry {
    name: "lattice",
    summary: "Generalizes each column to one level and removes a few records. No other choice of levels is better by the objective.",
    caption: "each column is generalized to one level, and a few records are removed",
    knows: &[Knowledge::All, Knowledge::Any, Knowledge::Sets],
    requirements: &[Requirement::K, Requirement::Confidence, Requirement::LDiversity, Requirement::TCloseness],
    effects: Effects::NONE,
    groups_numbers: false,
    params: &[
        Param {
            key: "max_suppressed",
            help: "Maximum share of the records that may be removed, so that the others can stay more detailed. 0 removes none.",
            kind: ValueKind::Share,
            default: DefaultValue::Required(Usual::Is("0.05")),
            example: "0.05",
        },
        Param {
            key: "objective",
            help: "The measure by which the levels are the best: information loss, precision, entropy, discernibility or average class size.",
            kind: ValueKind::Word(&["loss", "precision", "entropy", "discernibility", "class_size"]),
            default: DefaultValue::Is("\"loss\""),
            example: "\"entropy\"",
        },
    ],
    captions: &[
        Caption::OBJECTIVE,
        Caption::MAX_SUPPRESSED,
        Caption::NODES,
        Caption::COUNTED,
        Caption::SUPPRESSED,
        Caption::MAY_SUPPRESS,
    ],
    example: include_str!("hospital.toml"),
    read: Read::Table(|policy| Ok(Box::new(Params::read(policy)?))),
};
