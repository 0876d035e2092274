//! What other adversaries would find in a release: other powers, whole events, any facts in total.

use super::classes::Classes;
use super::estimate::{Asked, Estimate, Known, estimate};
use super::held::{Held, People};
use super::labels::Labels;
use super::power::{correlation, diversities};
use super::total::violating;
use kohort_core::histories::Histories;
use kohort_core::policy::PowerRule;
use kohort_core::release::LinkedPlan;

/// Shares of patients of whom fewer than k match, at the levels of a plan.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// p, variable power, fixed power; each from the original (tolerant, strict) and from the release.
    pub values: Vec<(usize, [Estimate; 3], [Estimate; 3])>,
    /// How many whole events are known, and what of the release is found.
    pub events: Vec<(usize, Estimate)>,
    /// How many facts in total: patients with a set that fewer than k have, of all.
    pub total: Vec<(usize, u64, u64)>,
    /// Between event columns, at these levels: Pearson's correlation of the diversities.
    pub correlation: Vec<Vec<Option<f64>>>,
}

/// Draws of each estimate.
const DRAWS: usize = 10_000;

/// Measures what others would find; `powers` are what is known of a column, or whole events.
pub fn sensitivity(
    histories: &Histories,
    plan: &LinkedPlan,
    k: u64,
    powers: &[usize],
    threads: usize,
    seed: u64,
) -> Sensitivity {
    let people = People::of(histories);
    let all = Held::of(histories, &people, |_| true);
    let left = Held::of(histories, &people, |e| plan.events[e]);
    let levels = (&plan.patient_levels[..], &plan.event_levels[..]);
    let asked = |known, p, released: bool| {
        let drawn = if released { &left } else { &all };
        let asked = Asked { histories, people: &people, levels, drawn, left: &left, k, known, p, threads };
        estimate(&asked, DRAWS, seed)
    };
    let both = |known, p| {
        let ((tolerant, strict), (released, _)) = (asked(known, p, false), asked(known, p, true));
        [tolerant, strict, released]
    };
    let values = powers
        .iter()
        .map(|&p| (p, both(Known::Values(PowerRule::Variable), p), both(Known::Values(PowerRule::Fixed), p)));
    let values = values.collect();
    let events = powers.iter().map(|&p| (p, asked(Known::Events, p, true).0)).collect();
    let classes = Classes::of(histories, &people, levels.0, |place| !left.of_person(place).is_empty(), k);
    let patients = left.with_events().len() as u64;
    let total = [1, 2].map(|p| {
        let found = violating(histories, levels.1, &left, &classes, (k, p));
        (p, found.iter().filter(|f| **f).count() as u64, patients)
    });
    let own: Vec<_> =
        histories.event.iter().zip(levels.1).map(|(c, &l)| diversities(&left, &Labels::of_column(c, l))).collect();
    let correlation = own.iter().map(|a| own.iter().map(|b| correlation(a, b)).collect()).collect();
    Sensitivity { values, events, total: total.to_vec(), correlation }
}
