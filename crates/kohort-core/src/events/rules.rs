//! Rules exclude events alone, or patients with all their events.

use crate::policy::{EventsRule, EventsTable, RuleKind};
use crate::table::{Chunk, Scope};

/// The findings of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule.
    pub name: String,
    /// The scope: whole patients, or single rows.
    pub scope: Scope,
    /// Rows that it holds for.
    pub rows: u64,
    /// Patients who have such a row.
    pub patients: u64,
}

/// The rules of a table that hold for a row, by number.
pub(super) fn hits(rules: &[EventsRule], table: EventsTable, chunk: &Chunk, row: usize) -> Vec<u32> {
    let holds = |rule: &EventsRule| match &rule.kind {
        RuleKind::Codes { columns, codes } => columns.iter().any(|&c| codes.holds(chunk.cell(row, c))),
        // Ages need the patient: they are looked at when both tables are read.
        RuleKind::Age { .. } => false,
    };
    let own = (0u32..).zip(rules).filter(|(_, rule)| rule.table == table);
    own.filter(|(_, rule)| holds(rule)).map(|(number, _)| number).collect()
}

/// Counts what each rule found; patients are counted once.
pub(super) struct RuleTally {
    counts: Vec<RuleCount>,
    /// For each rule: the patients it was counted for.
    seen: Vec<Vec<u64>>,
}

impl RuleTally {
    pub(super) fn new(rules: &[EventsRule]) -> RuleTally {
        let count = |r: &EventsRule| RuleCount { name: r.name.clone(), scope: r.scope, rows: 0, patients: 0 };
        RuleTally { counts: rules.iter().map(count).collect(), seen: vec![Vec::new(); rules.len()] }
    }

    /// A rule holds for a row of a patient; whether the whole patient goes.
    pub(super) fn add(&mut self, rule: usize, patient: u32) -> Scope {
        let (count, seen) = (&mut self.counts[rule], &mut self.seen[rule]);
        count.rows += 1;
        let (word, bit) = (patient as usize / 64, 1u64 << (patient % 64));
        if seen.len() <= word {
            seen.resize(word + 1, 0);
        }
        count.patients += u64::from(seen[word] & bit == 0);
        seen[word] |= bit;
        count.scope
    }

    pub(super) fn counts(self) -> Vec<RuleCount> {
        self.counts
    }
}
