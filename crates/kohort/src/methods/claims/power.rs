//! The power of an attacker: the number of a patient's values in a column that they know (equation 1).

use super::labels::EventLabels;
use super::patient_events::{LabelCounter, PatientEvents};
use kohort_core::policy::PowerRule;
use kohort_core::ragged::Ragged;

/// 1 − Simpson's index as a ratio: pairs of events that differ, over all pairs. None of one event.
fn diversity(counts: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    let (mut n, mut same) = (0u64, 0u64);
    for count in counts {
        n += count;
        same += count * (count - 1);
    }
    (n > 1).then(|| (n * (n - 1) - same, n * (n - 1)))
}

/// How much a patient's labels in a column differ.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Diversity {
    NoEvents,
    OneEvent,
    /// Pairs of events that differ, over all pairs.
    Of((u64, u64)),
}

impl Diversity {
    /// The ratio, which is 0 for one event.
    fn ratio(self) -> Option<(u64, u64)> {
        match self {
            Diversity::NoEvents => None,
            Diversity::OneEvent => Some((0, 1)),
            Diversity::Of(ratio) => Some(ratio),
        }
    }

    fn of_several(self) -> Option<(u64, u64)> {
        if let Diversity::Of(ratio) = self { Some(ratio) } else { None }
    }
}

/// Where the number of events in a table is capped: two standard deviations above the mean over patients with
/// events there.
pub(crate) fn cap_of_events(events: &PatientEvents, table: usize) -> f64 {
    let numbers: Vec<f64> =
        (0..events.people()).map(|p| events.of_person(table, p).len() as f64).filter(|&n| n > 0.0).collect();
    let people = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / people;
    let variance = numbers.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / people;
    mean + 2.0 * variance.sqrt()
}

/// The quotients n / diversity of equation 1, from which the power follows for any maximum.
pub(crate) struct Powers {
    /// The table of the column.
    table: usize,
    quotients: Vec<Option<f64>>,
}

impl Powers {
    /// For each place: n / diversity, n capped; none where nothing differs.
    pub(crate) fn of(events: &PatientEvents, labels: &EventLabels) -> Powers {
        let cap = cap_of_events(events, labels.table);
        let divide = |((differ, pairs), n): ((u64, u64), usize)| {
            (differ > 0).then(|| (n as f64).min(cap) / (differ as f64 / pairs as f64))
        };
        let diversities = diversities(events, labels).into_iter().map(Diversity::of_several).enumerate();
        let number = |p: usize| events.of_person(labels.table, p).len();
        let quotients = diversities.map(|(p, ratio)| ratio.map(|r| (r, number(p))).and_then(divide)).collect();
        Powers { table: labels.table, quotients }
    }

    /// For each place: how many labels an attacker knows.
    pub(crate) fn known(&self, events: &PatientEvents, p_max: usize) -> Vec<u8> {
        self.rounded(events, p_max, f64::ceil)
    }

    /// The same, rounded to the nearest number: the attacker knows less.
    pub(crate) fn nearest(&self, events: &PatientEvents, p_max: usize) -> Vec<u8> {
        self.rounded(events, p_max, f64::round)
    }

    /// The same, measured against the 95th percentile instead of the largest: the attacker knows more (H-3).
    pub(crate) fn by_p95(&self, events: &PatientEvents, p_max: usize) -> Vec<u8> {
        let mut sorted: Vec<f64> = self.quotients.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() * 95).div_ceil(100).saturating_sub(1);
        let most = sorted.get(at).copied().unwrap_or(0.0);
        let quotients = self.quotients.iter().map(|q| q.map(|q| q.min(most))).collect();
        Powers { table: self.table, quotients }.known(events, p_max)
    }

    fn rounded(&self, events: &PatientEvents, p_max: usize, round: fn(f64) -> f64) -> Vec<u8> {
        let raw = raw_powers(&self.quotients, p_max);
        let known = |(raw, most): (f64, u8)| most.min(round(raw) as u8);
        raw.into_iter().zip(most_known(events, self.table, p_max)).map(known).collect()
    }
}

/// For each place: `p_max`, or as many events as there are in a table.
pub(crate) fn most_known(events: &PatientEvents, table: usize, p_max: usize) -> Vec<u8> {
    (0..events.people()).map(|p| events.of_person(table, p).len().min(p_max) as u8).collect()
}

/// For each place: how much the labels of a patient differ.
pub(crate) fn diversities(events: &PatientEvents, labels: &EventLabels) -> Vec<Diversity> {
    let mut counter = LabelCounter::new(labels.distinct);
    let label = |&e: &u32| labels.of[e as usize];
    let mut of = |p: usize| {
        let mut counts = Vec::new();
        counter.count(events.of_person(labels.table, p).iter().map(label), |_, count| counts.push(u64::from(count)));
        match (counts.len(), diversity(counts.into_iter())) {
            (0, _) => Diversity::NoEvents,
            (_, None) => Diversity::OneEvent,
            (_, Some(ratio)) => Diversity::Of(ratio),
        }
    };
    (0..events.people()).map(&mut of).collect()
}

/// 1 + (p_max − 1) · q / max q; p_max where nothing differs.
pub(crate) fn raw_powers(quotients: &[Option<f64>], p_max: usize) -> Vec<f64> {
    let largest = quotients.iter().flatten().fold(0f64, |a, &b| a.max(b));
    let p_max = p_max as f64;
    quotients.iter().map(|q| q.map_or(p_max, |q| 1.0 + (p_max - 1.0) * q / largest)).collect()
}

/// For each patient: how many of these labels of one column an attacker knows.
pub fn known_values(labels: &[Vec<u32>], p_max: usize, rule: PowerRule) -> Vec<u8> {
    let mut next = 0..;
    let mut events = Ragged::default();
    labels.iter().for_each(|own| events.push(next.by_ref().take(own.len())));
    let of = labels.concat();
    let events = PatientEvents::of_one_table(events);
    let distinct = of.iter().max().map_or(0, |last| *last as usize + 1);
    match rule {
        PowerRule::Variable => Powers::of(&events, &EventLabels { table: 0, of, distinct }).known(&events, p_max),
        PowerRule::Fixed => most_known(&events, 0, p_max),
    }
}

/// Pearson's correlation of the diversities of two columns, over patients with events in both. The diversity of one
/// event is 0.
pub(crate) fn correlation(a: &[Diversity], b: &[Diversity]) -> Option<f64> {
    let share = |(part, whole): (u64, u64)| part as f64 / whole as f64;
    let both = |(a, b): (&Diversity, &Diversity)| Some((share(a.ratio()?), share(b.ratio()?)));
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(both).collect();
    let n = pairs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
    let (xx, yy, xy) = (sum(&|p| (p.0 - x).powi(2)), sum(&|p| (p.1 - y).powi(2)), sum(&|p| (p.0 - x) * (p.1 - y)));
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P11: patients with one event were left out. Their values differ by 0, which is information: without the first
    /// patient the correlation would be 1.
    #[test]
    fn patients_with_one_event_count_in_the_correlation() {
        use Diversity::{NoEvents, Of, OneEvent};
        // (0, 0), (1, 1), (1/2, 0): r = (1/6 + 1/3) / √(1/2 · 2/3).
        let a = [OneEvent, Of((2, 2)), Of((6, 12)), NoEvents, OneEvent];
        let b = [OneEvent, Of((2, 2)), Of((0, 12)), OneEvent, NoEvents];
        let r = correlation(&a, &b).unwrap();
        assert!((r - 0.75f64.sqrt()).abs() < 1e-12, "{r}");
        assert!(correlation(&a[..1], &b[..1]).is_none(), "one patient correlates with nothing");
    }

    /// The example of the paper's appendix, decoded (H-2, H-6).
    #[test]
    fn simpson_and_power_are_the_papers() {
        let d = diversity([3, 1, 2].into_iter()).unwrap();
        assert_eq!(d, (22, 30));
        assert!((1.0 - d.0 as f64 / d.1 as f64 - 0.26667).abs() < 5e-6);
        assert_eq!(diversity([4].into_iter()), Some((0, 12)));
        assert_eq!(diversity([1].into_iter()), None);
        // AMI×3, UTI, RENAL3×2 · AMI×4 · AMI, UTI · CHF×9, UTI · CHF.
        let people: [(&[u64], usize); 5] = [(&[3, 1, 2], 6), (&[4], 4), (&[1, 1], 2), (&[9, 1], 10), (&[1], 1)];
        let quotients: Vec<Option<f64>> = people
            .iter()
            .map(|(counts, n)| {
                let (differ, pairs) = diversity(counts.iter().copied())?;
                (differ > 0).then(|| *n as f64 / (differ as f64 / pairs as f64))
            })
            .collect();
        let raw = raw_powers(&quotients, 5);
        for (raw, expected) in raw.iter().zip([1.654545, 5.0, 1.16, 5.0, 5.0]) {
            assert!((raw - expected).abs() < 1e-6, "{raw} {expected}");
        }
        let capped: Vec<usize> = raw.iter().zip(people).map(|(r, (_, n))| (r.ceil() as usize).min(n)).collect();
        assert_eq!(capped, [2, 4, 2, 5, 1]);
        // 2, 4, 2, 10 and 1 events: enough for all that could be known.
        let events = PatientEvents::with_numbers(&[6, 4, 2, 10, 1]);
        let powers = Powers { table: 0, quotients };
        assert_eq!(powers.known(&events, 5), [2, 4, 2, 5, 1]);
        assert_eq!(powers.nearest(&events, 5), [2, 4, 1, 5, 1]);
        assert_eq!(powers.by_p95(&events, 5), [2, 4, 2, 5, 1]);
        // Of many patients one differs more than all others: the rest are measured without them.
        let mut many = vec![Some(10.0); 40];
        many[7] = Some(1000.0);
        let events = PatientEvents::with_numbers(&[9; 40]);
        let powers = Powers { table: 0, quotients: many };
        assert_eq!(powers.known(&events, 5)[0], 2);
        assert_eq!(powers.by_p95(&events, 5), [5; 40]);
    }
}
