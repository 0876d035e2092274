//! The assumptions a promise rests on, and the parts that a recipient cannot count again: the only sentences that a
//! certificate may have under `assumed` and `not_recountable`.
//!
//! Both lists follow from a few facts, most of which the certificate states elsewhere. The verifier makes the
//! lists again from these facts, so that a stranger can neither add a sentence nor leave one out.

use super::claim::{Claim, CodesClaim, ColumnClaim, EventsClaim, KnowsClaim};
use super::promise::Promise;
use crate::number::number_of;
use crate::policy::{Danger, Power, PowerRule};

/// The two lists of sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    /// The assumptions behind the promise.
    pub assumed: Vec<String>,
    /// Facts that the recipient cannot count again.
    pub not_recountable: Vec<String>,
}

/// The facts that decide what a promise about a table rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableFacts {
    /// True if patients were counted (otherwise rows).
    pub(crate) patients: bool,
    /// Pairs of columns that nobody is taken to know together.
    pub(crate) not_together: Vec<(String, String)>,
    /// Dangers of columns outside every requirement that the custodian accepts.
    pub(crate) accepted: Vec<(Danger, Vec<String>)>,
    /// True if the limits on sensitive values hold in each group of identical records only, because labels overlap in
    /// the release and a patient may be in several groups.
    pub(crate) only_in_groups: bool,
    /// True if it is a random sample of the table that was promised.
    pub(crate) sample: bool,
}

const QUASI: &str =
    "An attacker knows at most the columns of a person that are declared as quasi-identifiers, in the sets listed.";
const OTHERS: &str = "An attacker does not know columns with another role.";
const ROWS: &str = "Every row is a different person.";
const SEVERAL_ROWS: &str = "An attacker who knows several rows of one patient is not covered.";
const ONLY_IN_GROUPS: &str = "The limits on sensitive values hold in each group of identical records. A suppressed or coarser cell counts as a value of its own there; an attacker who takes it for any value that it covers matches several groups at once, and may learn more.";
const NOT_FEWER: &str =
    "The limits on sensitive values were counted for an attacker who knows all quasi-identifiers, not fewer.";
const DETAIL: &str = "Within a cluster, the codes do not depend on the detail that its labels hide.";
const IN_THE_SAMPLE: &str = "Nobody outside knows who is in this sample.";

impl TableFacts {
    /// Reads the facts from the sentences of a certificate, as far as it does not state them elsewhere.
    pub(crate) fn read(assumed: &[String], columns: &[ColumnClaim], patients: bool, sample: bool) -> TableFacts {
        let quasi = |name: &&str| columns.iter().any(|c| c.role == "quasi" && c.name == *name);
        let pair = |sentence: &String| {
            let inner = sentence.strip_prefix("Nobody knows `")?.strip_suffix("` of a person together.")?;
            // A name may hold the words between the two: the first split into two columns counts.
            inner.match_indices("` and `").find_map(|(at, between)| {
                let (a, b) = (&inner[..at], &inner[at + between.len()..]);
                (quasi(&a) && quasi(&b)).then(|| (a.to_string(), b.to_string()))
            })
        };
        let has = |name: &str, quasi: bool| columns.iter().any(|c| c.name == name && (c.role == "quasi") == quasi);
        TableFacts {
            patients,
            not_together: assumed.iter().filter_map(pair).collect(),
            accepted: assumed.iter().filter_map(|sentence| accepted(sentence, &has)).collect(),
            only_in_groups: assumed.iter().any(|sentence| sentence == ONLY_IN_GROUPS),
            sample,
        }
    }

    /// Reads the facts of a promise.
    pub(crate) fn of(promise: &Promise) -> TableFacts {
        let sample = promise.assumed.iter().any(|sentence| sentence == IN_THE_SAMPLE);
        TableFacts::read(&promise.assumed, &promise.columns, promise.patients, sample)
    }

    /// The sentences for a table.
    pub(crate) fn basis(&self, claim: &Claim) -> Basis {
        let mut assumed = vec![QUASI.to_string(), OTHERS.to_string()];
        assumed.extend(
            self.not_together.iter().map(|(a, b)| format!("Nobody knows `{a}` and `{b}` of a person together.")),
        );
        assumed.extend(self.accepted.iter().map(|(danger, columns)| danger.accepted(columns)));
        if !self.patients {
            assumed.push(ROWS.into());
        } else {
            assumed.push(SEVERAL_ROWS.into());
            if !claim.sensitive.is_empty() {
                if self.only_in_groups {
                    assumed.push(ONLY_IN_GROUPS.into());
                }
                if claim.knows == KnowsClaim::All {
                    assumed.push(NOT_FEWER.into());
                }
            }
        }
        if self.sample {
            assumed.push(IN_THE_SAMPLE.into());
        }
        Basis { assumed, not_recountable: self.not_recountable(claim) }
    }

    fn not_recountable(&self, claim: &Claim) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if self.sample {
            let unit = if self.patients { "patients" } else { "rows" };
            all.push(format!("The guarantee itself: it was recounted on the whole file. This is a random sample of that file, and its recipient does not have the rest. From the sample one can check that the files are those listed, that the columns are those declared, that no detail is shown where the column it belongs to is suppressed, and how many {unit} of the sample look the same."));
        }
        if self.patients {
            all.push("How many patients are behind the rows of a group: they were counted before release; a recipient can count rows only.".into());
            if !claim.sensitive.is_empty() {
                all.push("The limits on sensitive values, since they are counted in patients.".into());
            }
        }
        if let Some(synthetic) = &claim.synthetic {
            all.push("Which records are synthetic, and how many people a group holds without them.".into());
            if !claim.sensitive.is_empty() && !synthetic.limits_shown_only {
                all.push("The limits on sensitive values without the synthetic records.".into());
            }
        }
        all
    }
}

/// The danger and the columns that a sentence accepts, if it is one that a certificate may have. `has` says whether there
/// is a column of this name that is a quasi-identifier, or is not.
fn accepted(sentence: &str, has: &dyn Fn(&str, bool) -> bool) -> Option<(Danger, Vec<String>)> {
    Danger::NAMES.iter().find_map(|&(_, danger)| {
        let names = sentence.strip_prefix('`')?.strip_suffix(danger.accepted_end())?.strip_suffix("` ")?;
        let set = match danger {
            Danger::Reveals => names.match_indices("` and `").find_map(|(at, between)| {
                let (a, b) = (&names[..at], &names[at + between.len()..]);
                (has(a, false) && has(b, true)).then(|| vec![a.to_string(), b.to_string()])
            })?,
            _ => has(names, false).then(|| vec![names.to_string()])?,
        };
        Some((danger, set))
    })
}

/// The sentences for clusters of codes.
pub(crate) fn basis_of_codes(claim: &CodesClaim, columns: &[ColumnClaim], patients: bool) -> Basis {
    let labels = columns.iter().any(|column| column.role == "quasi");
    let knows = if labels { "the quasi-identifiers and at most m codes" } else { "at most m codes" };
    let mut assumed = vec![
        format!("An attacker knows {knows} of a person, and not which codes the person does not have."),
        "Every person has at least one code.".to_string(),
    ];
    if !patients {
        assumed.push(ROWS.into());
    }
    let mut not_recountable = vec![
        "Whether the chunks hold the codes of the original patients: they were compared before release.".to_string(),
    ];
    if labels {
        assumed.push(DETAIL.into());
        not_recountable.push(
            "Whether the labels of a cluster are those of its patients: they were compared before release.".into(),
        );
    }
    if claim.confidence.is_some() {
        assumed.push("An attacker does not know who has the codes listed as sensitive.".into());
        not_recountable.push("How many patients of a cluster have a sensitive code: they were counted before release. The release shows only that somebody has it, and how large the cluster is.".into());
    }
    Basis { assumed, not_recountable }
}

/// The dangers of columns of patients and their events that the sentences of a certificate accept. They name a column as
/// `table.column`.
pub(crate) fn accepted_of_events(
    assumed: &[String],
    claim: &EventsClaim,
    columns: &[ColumnClaim],
) -> Vec<(Danger, Vec<String>)> {
    let tables = claim.columns_of(columns);
    let has = |name: &str, quasi: bool| {
        tables.iter().any(|(table, own)| {
            let own = own.iter().filter(|c| (c.role == "quasi") == quasi);
            own.map(|c| format!("{table}.{}", c.name)).any(|shown| shown == name)
        })
    };
    assumed.iter().filter_map(|sentence| accepted(sentence, &has)).collect()
}

/// The sentences for patients and their events.
pub(crate) fn basis_of_events(
    claim: &EventsClaim,
    columns: &[ColumnClaim],
    accepted: &[(Danger, Vec<String>)],
) -> Basis {
    let mut assumed = match claim.power {
        Power::Values { p, rule } => vec![
            format!("An attacker knows all patient-level quasi-identifiers and, in each event column separately, at most {p} of the patient's values, but not which of them belong to the same event, nor their order."),
            match rule {
                PowerRule::Variable => "How many values they know of a patient depends on the number of events and on how much their values differ (power rule \"variable\"). This is a model; no data supports it.".to_string(),
                PowerRule::Fixed => "They know the same number of values of every patient.".to_string(),
            },
            "Every event of a patient is as likely to be known as any other.".to_string(),
        ],
        Power::Events { p } => vec![
            format!("An attacker knows all patient-level quasi-identifiers and at most {} of the patient.", number_of(p, ["whole event", "whole events"])),
            "Every event of a patient is as likely to be known as any other.".to_string(),
        ],
        Power::Pairs { p } => vec![
            format!("An attacker knows all patient-level quasi-identifiers and, in one table, any two columns of at most {} of the patient.", number_of(p, ["event", "events"])),
            "Every event of a patient is as likely to be known as any other.".to_string(),
        ],
        Power::Total { p } => vec![format!(
            "An attacker knows all patient-level quasi-identifiers and at most {} about the patient's events in total, but not which of them belong to the same event, nor their order.",
            number_of(p, ["fact", "facts"])
        )],
    };
    assumed.push("An attacker does not know which values a patient does not have, the number of the patient's events, or the time between them.".into());
    if columns.iter().any(|c| c.role == "other") {
        assumed.push("Nobody outside knows columns with role \"other\".".into());
    }
    assumed.extend(accepted.iter().map(|(danger, columns)| danger.accepted(columns)));
    let not_recountable = vec![
        "Which of the original events were excluded, truncated or suppressed. Each released cell was compared with the original before release.".into(),
        "The estimate from the original events. It was at or below the threshold before release.".into(),
    ];
    Basis { assumed, not_recountable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::K;

    fn columns() -> Vec<ColumnClaim> {
        let column =
            |name: &str, role: &str| ColumnClaim { name: name.into(), role: role.into(), of: Vec::new(), labels: None };
        vec![column("a", "quasi"), column("b` and `c", "quasi"), column("c", "quasi"), column("d", "other")]
    }

    #[test]
    fn the_facts_are_read_back_from_the_sentences() {
        let claim = Claim { k: K::LEAST, knows: KnowsClaim::All, sensitive: Vec::new(), synthetic: None };
        for (patients, sample) in [(false, false), (true, false), (false, true)] {
            let pairs = vec![("a".into(), "c".into()), ("b` and `c".into(), "a".into())];
            let accepted = vec![
                (Danger::NearlyUnique, vec!["d".to_string()]),
                (Danger::Reveals, vec!["d".to_string(), "b` and `c".to_string()]),
            ];
            let facts = TableFacts { patients, not_together: pairs, accepted, only_in_groups: false, sample };
            let written = facts.basis(&claim).assumed;
            assert_eq!(TableFacts::read(&written, &columns(), patients, sample), facts);
        }
    }

    #[test]
    fn a_sentence_that_kohort_does_not_write_does_not_come_back() {
        let claim = Claim { k: K::LEAST, knows: KnowsClaim::All, sensitive: Vec::new(), synthetic: None };
        let mut assumed = TableFacts::default().basis(&claim).assumed;
        for free in ["Nobody is at risk.", "Nobody knows `a` and `d` of a person together.", ""] {
            assumed.push(free.into());
            let again = TableFacts::read(&assumed, &columns(), false, false).basis(&claim).assumed;
            assert_ne!(again, assumed, "{free}");
            assumed.pop();
        }
    }
}
