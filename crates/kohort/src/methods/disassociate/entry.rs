//! The entry of `disassociate` in the register.

use super::Params;
use crate::methods::{Caption, DefaultValue, Entry, Knowledge, Param, Read, Requirement, ValueKind};
use kohort_core::policy::Effects;

/// `disassociate` in the register.
pub static METHOD: Entry = Entry {
    name: "disassociate",
    summary: "Releases every code unchanged, but splits the codes of patients into chunks, so that rare combinations can no longer be traced to one patient.",
    caption: "the codes of patients are split into chunks, which do not reveal which codes belong to one patient",
    knows: &[Knowledge::Any],
    requirements: &[Requirement::K, Requirement::Confidence],
    effects: Effects::NONE,
    groups_numbers: false,
    params: &[
        Param {
            key: "max_cluster",
            help: "Clusters have fewer patients than this. At least 2k.",
            kind: ValueKind::Whole,
            default: DefaultValue::Means(
                "256k; 64k with `constraints`, `aware` or `knows` above 3; 2k with `clusters = \"paper\"` (4k with `aware`)",
            ),
            example: "1000",
        },
        Param {
            key: "refine",
            help: "Whether neighbouring clusters share chunks, so that more combinations are kept.",
            kind: ValueKind::Flag,
            default: DefaultValue::Is("true"),
            example: "false",
        },
        Param {
            key: "refine_max_passes",
            help: "Maximum number of passes over all clusters with `refine`, from 1 to 16.",
            kind: ValueKind::Whole,
            default: DefaultValue::Is("16"),
            example: "4",
        },
        Param {
            key: "constraints",
            help: "Codes that should stay together: groups in a file, under one label of ICD-9 or ICD-10, N siblings in the tree of ICD, or frequent together.",
            kind: ValueKind::Other(
                "a file, `{ icd9 = LEVEL }` or `{ icd10 = LEVEL }` (LEVEL is `\"category\"`, `\"section\"` or `\"chapter\"`), `{ siblings = N }` or `{ frequent = SHARE }`",
            ),
            default: DefaultValue::Means("no constraints"),
            example: "{ icd10 = \"category\" }",
        },
        Param {
            key: "clusters",
            help: "How large clusters become where `max_cluster` is not set: as large as keeps most information, or as small as in the paper.",
            kind: ValueKind::Word(&["best", "paper"]),
            default: DefaultValue::Is("\"best\""),
            example: "\"paper\"",
        },
        Param {
            key: "aware",
            help: "Whether an attacker who knows the algorithm, too, links a person to a fragment with a probability of at most 1/k (safety rule S7). Without it no limit is guaranteed against that attacker.",
            kind: ValueKind::Flag,
            default: DefaultValue::Is("false"),
            example: "true",
        },
        Param {
            key: "no_cover",
            help: "Whether chunks are avoided in which one code reveals another.",
            kind: ValueKind::Flag,
            default: DefaultValue::Is("false"),
            example: "true",
        },
        Param {
            key: "sensitive",
            help: "Codes that are never shown together with others and do not decide who is in which cluster. A cluster only shows that one of its patients has them; `confidence` under [privacy] limits how many do.",
            kind: ValueKind::Texts,
            default: DefaultValue::Is("[]"),
            example: "[\"B20\"]",
        },
        Param {
            key: "multiset",
            help: "Whether a code that is listed several times for a patient counts each time. The second is released as `250#2`.",
            kind: ValueKind::Flag,
            default: DefaultValue::Is("false"),
            example: "true",
        },
        Param {
            key: "group_by",
            help: "How patients are grouped by quasi-identifiers beside their codes: each group coarsened only as far as it must be, or one level for each column.",
            kind: ValueKind::Word(&["local", "lattice"]),
            default: DefaultValue::Is("\"local\""),
            example: "\"lattice\"",
        },
        Param {
            key: "max_demographic_loss",
            help: "Groups of patients are merged where that keeps codes, as long as the mean loss of the quasi-identifiers is at most this. 0 keeps them as fine as k permits; 1 keeps the codes.",
            kind: ValueKind::Share,
            default: DefaultValue::Is("0.3"),
            example: "0.5",
        },
    ],
    captions: &[
        Caption::of("clusters", "Clusters formed", ""),
        Caption::of("max_cluster", "Limit on the size of a cluster", ""),
        Caption::of("constraints", "Utility constraints", ""),
        Caption::of("groups_formed", "Groups of patients by quasi-identifiers, before merging", ""),
        Caption::of("groups", "Groups of patients by quasi-identifiers", ""),
        Caption::of("demographic_loss_before_merging", "Loss of the quasi-identifiers, before merging", ""),
        Caption::of("demographic_loss", "Loss of the quasi-identifiers", ""),
        Caption::of(
            "rare_codes_before_merging",
            "Codes that fewer than k patients of their group have, before merging",
            "",
        ),
        Caption::of("rare_codes", "Codes that fewer than k patients of their group have", ""),
    ],
    example: include_str!("hospital.toml"),
    read: Read::Codes(|policy| Ok(Box::new(Params::read(policy)?))),
};
