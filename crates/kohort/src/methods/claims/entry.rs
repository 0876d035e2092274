//! The entry of `claims` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, Shown, ValueKind};
use kohort_core::policy::Effects;

/// `claims` in the register.
pub static METHOD: Entry = Entry {
    name: "claims",
    summary: "Excludes, groups and generalizes the events of patient histories and removes a few, until at most a set share of the patients is at high risk.",
    caption: "events are excluded, grouped and generalized, and a few are removed",
    knows: &[Knowledge::Power],
    requirements: &[Requirement::K, Requirement::MaxHighRisk],
    effects: Effects::NONE,
    groups_numbers: false,
    params: &[
        Param {
            key: "truncate",
            help: "Percentile of the number of events per patient beyond which events are removed. Of several, the best is used; 1 removes none.",
            kind: ValueKind::Other("a share above 0, or a list of them"),
            default: DefaultValue::Is("1"),
            example: "[1.0, 0.99, 0.95]",
        },
        Param {
            key: "event_date",
            help: "The column that tells which of two events is later. Truncation removes the rarest events first and, of equally rare ones, the later.",
            kind: ValueKind::Other("the name of a column of the events"),
            default: DefaultValue::Means("events have no order"),
            example: "\"admitted\"",
        },
        Param {
            key: "max_flagged",
            help: "Maximum share of patients at high risk before single events are removed. At least max_high_risk.",
            kind: ValueKind::Share,
            default: DefaultValue::Means("`max_high_risk`"),
            example: "0.15",
        },
        Param {
            key: "residual",
            help: "Events of a patient are removed if more than this share of random draws of their events finds fewer than k patients. 1 removes none.",
            kind: ValueKind::Share,
            default: DefaultValue::Is("0.5"),
            example: "0.8",
        },
        Param {
            key: "max_suppressed",
            help: "Maximum share of the events that may be removed from these patients.",
            kind: ValueKind::Share,
            default: DefaultValue::Is("0.1"),
            example: "0.05",
        },
        Param {
            key: "without_events",
            help: "Whether patients without any event are released.",
            kind: ValueKind::Word(&["keep", "drop"]),
            default: DefaultValue::Is("\"keep\""),
            example: "\"drop\"",
        },
        Param {
            key: "draws",
            help: "Number of random draws of the final estimate, from 1,000 to 10,000,000.",
            kind: ValueKind::Whole,
            default: DefaultValue::Is("100000"),
            example: "1000000",
        },
        Param {
            key: "max_nodes",
            help: "Maximum number of combinations of levels that are tested.",
            kind: ValueKind::Whole,
            default: DefaultValue::Is("50000"),
            example: "10000",
        },
    ],
    captions: &[
        Caption::NODES,
        Caption::of("tests", "Combinations tested", "The others were decided from these."),
        Caption::of("draws_matched", "Draws matched", ""),
        Caption::of("cut_off", "Stopped at the maximum number of tests", "If so, a better release may exist."),
        Caption::of(
            "attempts",
            "Attempts",
            "Combinations of levels that were estimated again until one met the guarantee.",
        ),
        Caption::of("loss", "Loss of the chosen levels", "").shown(Shown::Decimals(4)),
        Caption::of(
            "truncate",
            "Truncated at this share of patients",
            "If this is all patients, nothing is truncated.",
        )
        .shown(Shown::Decimals(2)),
        Caption::of("truncated_events", "Events truncated", ""),
        Caption::of("max_flagged", "Maximum share of flagged patients for a candidate", "").shown(Shown::Percent),
        Caption::of("residual", "Suppression", ""),
        Caption::of("residual.passes", "Passes", ""),
        Caption::of(
            "residual.flagged",
            "Patients flagged at first",
            "At high risk in more of their draws than the policy allows.",
        ),
        Caption::of("residual.still_flagged", "Still flagged", "They are included in the estimate."),
        Caption::of("residual.events", "Events removed", ""),
        Caption::of("residual.patients", "Patients who lost all events", ""),
        Caption::of("decided", "Numbers that decided the choice", ""),
        Caption::of("decided.patients", "Patients with events", ""),
        Caption::of("decided.violating", "With facts that fewer than k patients share", ""),
        Caption::of("decided.share", "As a share", "").shown(Shown::Percent),
        Caption::of("decided.original", "From the original, tolerant", "Decides.").shown(Shown::Percent),
        Caption::of("decided.original_strict", "From the original, strict", "").shown(Shown::Percent),
        Caption::of("decided.release", "From the release", "Decides.").shown(Shown::Percent),
        Caption::of("decided.worst_pair", "Two columns that reveal most", "The numbers above are for them."),
        Caption::of("decided.without_events", "Patients without events", ""),
        Caption::of("decided.without_events.patients", "Patients without events", ""),
        Caption::of("decided.without_events.at_risk", "Of these, in classes smaller than k", ""),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Events(|policy| Ok(Box::new(Params::read(policy)?))),
};
