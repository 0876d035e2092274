//! Draws the values of synthetic records: each column by itself, so that no row is copied as a whole.

use super::forbidden::Forbidden;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::policy::Policy;
use kohort_core::random::Randomness;
use kohort_core::release::ShownLabel;
use kohort_core::synthetic_values::SyntheticValues;

/// Draws the values of synthetic records.
pub(super) struct Deck<'a> {
    columns: &'a [SyntheticValues],
    /// For each column: the sum of the weights up to each value.
    sums: Vec<Vec<u64>>,
    /// Sensitive columns come first: values that are forbidden beside them are then not drawn in the others.
    order: Vec<usize>,
    combinations: Vec<Combination>,
}

/// A forbidden combination over labels and values.
#[derive(Default)]
struct Combination {
    /// Quasi-identifiers with the labels that it is about, by level.
    labels: Vec<(usize, Vec<Vec<bool>>)>,
    /// For each column that is drawn: its values.
    values: Vec<(usize, Vec<bool>)>,
}

impl<'a> Deck<'a> {
    /// Ready to draw.
    pub(super) fn new(cohort: &'a Cohort, policy: &Policy, forbidden: &Forbidden) -> Deck<'a> {
        let columns = &cohort.synthetic_values;
        let sums = columns.iter().map(|column| {
            let mut sum = 0;
            let up_to = column.weights.iter().map(|w| {
                sum += w;
                sum
            });
            up_to.collect()
        });
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&s| !columns[s].sensitive);
        let combinations = forbidden.combinations.iter().map(|terms| {
            let mut own = Combination::default();
            for term in terms {
                if let Some(q) = cohort.quasi.iter().position(|q| q.column == term.column) {
                    let levels = 0..cohort.quasi[q].hierarchy.levels.len();
                    let meant = levels.map(|level| labels_meant(cohort, q, level, |labels| term.holds(labels)));
                    own.labels.push((q, meant.collect()));
                } else if let Some(s) = columns.iter().position(|s| s.column == term.column) {
                    let texts: Vec<&str> = columns[s].values.iter().map(String::as_str).collect();
                    let hierarchy = policy.columns[term.column].rule.apply(&texts, false);
                    let holds = |code: usize| {
                        let above = hierarchy.levels.iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str());
                        code > 0 && term.holds(&std::iter::once(texts[code]).chain(above).collect::<Vec<_>>())
                    };
                    own.values.push((s, (0..texts.len()).map(holds).collect()));
                }
            }
            own
        });
        let combinations = combinations.collect();
        Deck { columns, sums: sums.collect(), order, combinations }
    }

    /// The values of one row in a class with these labels, by column that is drawn.
    pub(super) fn draw(&self, policy: &Policy, labels: &[ShownLabel], random: &mut Randomness) -> Result<Vec<u32>> {
        let mut row: Vec<Option<u32>> = vec![None; self.columns.len()];
        let is_meant = |q: usize, is: &[Vec<bool>]| is[labels[q].level][labels[q].label as usize];
        let here: Vec<&Combination> =
            self.combinations.iter().filter(|c| c.labels.iter().all(|(q, is)| is_meant(*q, is))).collect();
        for &s in &self.order {
            let allowed = |value: usize| {
                !here.iter().any(|c| {
                    c.values.iter().all(|(other, is)| match (*other == s, row[*other]) {
                        (true, _) => is[value],
                        (false, drawn) => drawn.is_some_and(|v| is[v as usize]),
                    }) && c.values.iter().any(|(other, _)| *other == s)
                })
            };
            row[s] = Some(self.one(policy, s, allowed, random)?);
        }
        Ok(row.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn one(&self, policy: &Policy, s: usize, allowed: impl Fn(usize) -> bool, random: &mut Randomness) -> Result<u32> {
        let (sums, weights) = (&self.sums[s], &self.columns[s].weights);
        let all = sums.last().copied().unwrap_or(0);
        for _ in 0..if all == 0 { 0 } else { 16 } {
            let drawn = random.below(all);
            let value = sums.partition_point(|&sum| sum <= drawn);
            if allowed(value) {
                return Ok(value as u32);
            }
        }
        let left = |value: &usize| weights[*value] > 0 && allowed(*value);
        let sum: u64 = (0..weights.len()).filter(left).map(|v| weights[v]).sum();
        if sum == 0 {
            return Err(policy.method.wrong(
                "forbidden",
                format!(
                    "`{}` has no permitted value left for the synthetic records of some class.",
                    self.columns[s].name
                ),
            ));
        }
        let mut drawn = random.below(sum);
        let mut values = (0..weights.len()).filter(left);
        let found = values.find(|&value| {
            let here = drawn < weights[value];
            drawn = drawn.saturating_sub(weights[value]);
            here
        });
        Ok(found.unwrap_or(0) as u32)
    }
}

/// Returns, for each label of a quasi-identifier at a level, whether it or anything above it is meant.
fn labels_meant(cohort: &Cohort, q: usize, level: usize, holds: impl Fn(&[&str]) -> bool) -> Vec<bool> {
    let levels = &cohort.quasi[q].hierarchy.levels;
    let own = &levels[level];
    let mut meant = vec![false; own.labels.len()];
    for (code, &label) in own.label_of.iter().enumerate() {
        let path: Vec<&str> =
            levels[level..].iter().map(|l| l.labels[l.label_of[code] as usize].text.as_str()).collect();
        meant[label as usize] = holds(&path);
    }
    meant
}
