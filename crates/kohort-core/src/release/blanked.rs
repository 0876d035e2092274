//! A plan in which single cells are blank and all others show their value.

use super::plan::{Changed, Part, Parts, Plan, Recoding, ReleasedLabel, Share, at_level, detail_labels};
use crate::cohort::Cohort;
use crate::hierarchy::SUPPRESSED;
use crate::table::Keys;

impl Plan {
    /// Each quasi-identifier shows its label at its level, or `*` where `blank` says so of a run and
    /// a column. `runs` are the rows that leave: tuple, which of its rows, and the run's number.
    /// A detail is shown only where nothing it is finer than is blank, or has a value that the
    /// hierarchy pools or does not cover.
    pub fn blanked(
        cohort: &Cohort,
        levels: &[usize],
        runs: &[(u32, Share, u32)],
        blank: impl Fn(u32, usize) -> bool,
    ) -> Plan {
        let tuples = &cohort.tuples;
        let quasi = cohort.quasi.len();
        // By column and value code: whether its label tells all that the policy lets be known of it.
        let (mut changed, mut shown_as): (Vec<Changed>, Vec<Vec<bool>>) = Default::default();
        for (position, column) in cohort.quasi.iter().enumerate() {
            let own = at_level(cohort, position, levels[position]);
            let mut labels = own.labels;
            let gone = |code: usize| labels[own.label_of[code] as usize].text == SUPPRESSED;
            let as_it_is = at_level(cohort, position, 0).unchanged;
            shown_as.push(as_it_is.iter().enumerate().map(|(code, own)| *own && !gone(code)).collect());
            let top = column.hierarchy.levels.last().and_then(|level| level.labels.first());
            labels.push(ReleasedLabel {
                text: SUPPRESSED.into(),
                loss: top.map_or(1.0, |top| top.loss),
                height: 1.0,
                rows: tuples.rows,
            });
            changed.push(Changed { column: column.column, position, labels });
        }
        for (kept, _) in &cohort.details {
            let labels = detail_labels(cohort, kept.position, true);
            changed.push(Changed { column: kept.column, position: kept.position, labels });
        }
        let gone: Vec<u32> = changed.iter().map(|c| c.labels.len() as u32 - 1).collect();
        let mut of_tuple: Vec<u32> = vec![0; tuples.len() + 1];
        runs.iter().for_each(|run| of_tuple[run.0 as usize + 1] += 1);
        (0..tuples.len()).for_each(|t| of_tuple[t + 1] += of_tuple[t]);
        let mut at = of_tuple.clone();
        let mut ordered = vec![0usize; runs.len()];
        for (i, run) in runs.iter().enumerate() {
            ordered[at[run.0 as usize] as usize] = i;
            at[run.0 as usize] += 1;
        }
        let mut keys = Keys::new(changed.len());
        let mut key = vec![0; changed.len()];
        let mut parts = Parts::default();
        for t in 0..tuples.len() {
            let own = &ordered[of_tuple[t] as usize..of_tuple[t + 1] as usize];
            parts.push(own.iter().map(|&i| {
                let (_, share, run) = &runs[i];
                for q in 0..quasi {
                    let label = cohort.quasi[q].hierarchy.levels[levels[q]].label_of[tuples.code(t, q) as usize];
                    key[q] = if blank(*run, q) { gone[q] } else { label };
                }
                for (d, (kept, of)) in cohort.details.iter().enumerate() {
                    let shown = of.iter().all(|&q| !blank(*run, q) && shown_as[q][tuples.code(t, q) as usize]);
                    key[quasi + d] = if shown { tuples.code(t, kept.position) } else { gone[quasi + d] };
                }
                Part { cells: keys.intern(&key), share: share.clone() }
            }));
        }
        Plan {
            changed,
            cells: keys.into_rows(),
            parts,
            added: Vec::new(),
            catalog: None,
            recoding: Recoding::ByCell,
            levels: None,
            trace: crate::release::Trace::default(),
        }
    }
}
