//! Deals out what a plan gives to the rows of a tuple.

use super::plan::{Part, Plan, Share};
use crate::cohort::Cohort;
use crate::random::Randomness;
use crate::table::ONLY_ROW;
use std::collections::BTreeMap;

/// Which cells a row gets: parts of a tuple are dealt out at random, all rows of one patient alike.
pub(super) struct Dealer<'a> {
    plan: &'a Plan,
    /// One entry per tuple: the cells all its rows get, or `DELETED`, or `DEALT`.
    whole: Vec<u32>,
    /// The rows that are left of each tuple that is dealt.
    left: BTreeMap<u32, UndealtRows>,
}

const DELETED: u32 = u32::MAX;
const DEALT: u32 = u32::MAX - 1;

/// Rows (with patients as the unit: patients with one row) of a tuple that were not dealt yet.
struct UndealtRows {
    /// How many each part still needs.
    needs: Vec<u64>,
    /// How many there are in all.
    all: u64,
}

impl<'a> Dealer<'a> {
    pub(super) fn new(cohort: &Cohort, plan: &'a Plan) -> Dealer<'a> {
        let mut left = BTreeMap::new();
        let whole = (0..plan.parts.tuples()).map(|t| match plan.parts.of(t) {
            [] => DELETED,
            [Part { cells, share: Share::Whole }] => *cells,
            parts => {
                let all = match &cohort.tuples.patients {
                    Some(patients) => u64::from(patients.single[t]),
                    None => cohort.tuples.weights[t],
                };
                let needs = parts.iter().map(|part| match &part.share {
                    Share::Whole => all,
                    Share::Rows(rows) => *rows,
                    Share::Patients { single, .. } => *single,
                });
                left.insert(t as u32, UndealtRows { needs: needs.collect(), all });
                DEALT
            }
        });
        Dealer { plan, whole: whole.collect(), left }
    }

    /// The cells of a row of a patient; `None`: it is deleted.
    #[inline]
    pub(super) fn deal(&mut self, patient: u32, tuple: u32, random: &mut Randomness) -> Option<u32> {
        match self.whole[tuple as usize] {
            DELETED => None,
            DEALT => self.draw(patient, tuple, random),
            cells => Some(cells),
        }
    }

    fn draw(&mut self, patient: u32, tuple: u32, random: &mut Randomness) -> Option<u32> {
        let parts = self.plan.parts.of(tuple as usize);
        if patient != ONLY_ROW {
            let has = |share: &Share| match share {
                Share::Patients { named, .. } => named.binary_search(&patient).is_ok(),
                Share::Whole | Share::Rows(_) => false,
            };
            return parts.iter().find(|p| has(&p.share)).map(|p| p.cells);
        }
        let left = self.left.get_mut(&tuple)?;
        let mut drawn = random.below(left.all);
        left.all = left.all.saturating_sub(1);
        for (need, part) in left.needs.iter_mut().zip(parts) {
            if drawn < *need {
                *need -= 1;
                return Some(part.cells);
            }
            drawn -= *need;
        }
        None
    }
}
