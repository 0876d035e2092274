//! Groups with one level for each quasi-identifier: the best levels for k patients, and then coarser ones as long as
//! they keep codes, the column that keeps most for its cost first.

use super::lost_codes::LostCodes;
use super::{Grouped, PatientGroup, records_of_tuples};
use crate::lattice::{NodeClasses, Objective, SearchLimits, Space, search};
use kohort_core::codes::Records;
use kohort_core::cohort::Cohort;
use kohort_core::number::K;

/// The largest lattice that is searched.
const MOST_NODES: usize = 2_000_000;

/// Groups the patients; `None` where no levels meet the requirement, or where there are too many to search.
pub(super) fn group(cohort: &Cohort, records: &Records, lost: &LostCodes) -> Option<Grouped> {
    let permitted: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.clone()).collect();
    let space = Space::new(permitted.clone(), MOST_NODES)?;
    let limits = SearchLimits { k: K::new(lost.rules.k)?, suppressed: 0 };
    let best = search(cohort, &space, Objective::Loss, limits)?;
    let levels = Levels { cohort, lost, permitted, of_tuple: records_of_tuples(cohort, records) };
    let mut node = levels.node(best.levels);
    while !node.within_limit {
        node = levels.coarser(&node).max_by(|a, b| b.loss.total_cmp(&a.loss))?;
    }
    let (formed, before) = (node.groups.len(), (node.loss, node.lost));
    let most = lost.rules.max_loss.to_f64();
    loop {
        let value = |next: &LevelsNode| (node.lost - next.lost) as f64 / (next.loss - node.loss).max(f64::MIN_POSITIVE);
        let better = levels.coarser(&node).filter(|next| next.loss <= most && next.lost < node.lost);
        match better.max_by(|a, b| value(a).total_cmp(&value(b))) {
            Some(next) => node = next,
            None => break,
        }
    }
    Some(Grouped {
        loss: [before.0, node.loss],
        rare: [lost.share(before.1), lost.share(node.lost)],
        groups: node.groups,
        formed,
    })
}

/// The levels of a table of patients.
struct Levels<'a> {
    cohort: &'a Cohort,
    lost: &'a LostCodes<'a>,
    permitted: Vec<Vec<usize>>,
    of_tuple: Vec<Vec<u32>>,
}

/// The groups at some levels.
struct LevelsNode {
    levels: Vec<usize>,
    groups: Vec<PatientGroup>,
    loss: f64,
    lost: u64,
    within_limit: bool,
}

impl Levels<'_> {
    fn node(&self, levels: Vec<usize>) -> LevelsNode {
        let mut classes = NodeClasses::new(self.cohort);
        classes.count(&levels);
        let mut groups = vec![PatientGroup::default(); classes.rows().len()];
        let weights: f64 = self.cohort.quasi.iter().map(|q| q.weight).sum();
        let mut cost = 0.0;
        for (tuple, &class) in classes.of_tuple().iter().enumerate() {
            let mut cells = Vec::with_capacity(levels.len());
            for ((q, &level), &value) in self.cohort.quasi.iter().zip(&levels).zip(self.cohort.tuples.codes(tuple)) {
                let own = &q.hierarchy.levels[level];
                let label = &own.labels[own.label_of[value as usize] as usize];
                cost += q.weight / weights * label.loss * self.cohort.tuples.weights[tuple] as f64;
                cells.push(label.text.as_str().into());
            }
            let group = &mut groups[class as usize];
            group.cells = cells;
            group.records.extend_from_slice(&self.of_tuple[tuple]);
        }
        groups.retain(|group| !group.records.is_empty());
        groups.sort_by(|a, b| a.cells.cmp(&b.cells));
        let (mut lost, mut within_limit) = (0, true);
        for group in &groups {
            let counts = self.lost.count(group.records.iter().copied());
            lost += self.lost.lost(&counts);
            within_limit &= self.lost.is_within_limit(&counts, group.records.len() as u64);
        }
        LevelsNode { levels, groups, loss: cost / self.cohort.tuples.rows.max(1) as f64, lost, within_limit }
    }

    /// The nodes with one column a permitted level coarser.
    fn coarser<'b>(&'b self, node: &'b LevelsNode) -> impl Iterator<Item = LevelsNode> + 'b {
        (0..node.levels.len()).filter_map(move |column| {
            let next = self.permitted[column].iter().copied().find(|&level| level > node.levels[column])?;
            let mut levels = node.levels.clone();
            levels[column] = next;
            Some(self.node(levels))
        })
    }
}
