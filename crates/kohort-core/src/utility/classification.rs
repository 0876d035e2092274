//! Classification: how well a tree learned from a release predicts the class of people it has not
//! seen, against one learned from the original and one learned without quasi-identifiers (Mohammed
//! et al. 2009, section 5).
//!
//! Two thirds of the rows are learned from, one third is predicted; which, is drawn once by a fixed
//! seed, with the same share of every class, and is the same for all three errors. All rows are
//! generalized first, then divided, as in the paper. A column is a number where every value it
//! shows is one; anything else, intervals included, is a category. A missing value is a category.
//! Rows whose class is missing are neither learned from nor predicted.
//!
//! A deleted row cannot be learned from, and where it is to be predicted it gets the class of most
//! released rows: whoever has not received a record knows no more of it. So deleting the rows that
//! are hard to predict does not pay.
//!
//! Beside the quasi-identifiers and details a tree sees the sensitive columns of which something is
//! required: those the tuples hold. Columns with role other are seen by none of the three.

use super::tree::{DecisionTree, Feature, LearningSample};
use crate::cohort::Cohort;
use crate::number::Decimal;
use crate::random::Randomness;
use crate::release::Plan;
use crate::table::Keys;

/// Describes how well a class can be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The class column.
    pub column: String,
    /// Rows learned from, and rows predicted.
    pub learned: u64,
    /// See `learned`.
    pub predicted: u64,
    /// BE: the share predicted wrongly from the original.
    pub baseline_error: f64,
    /// CE: from the release.
    pub error: f64,
    /// UE: from the original without quasi-identifiers and details.
    pub upper_bound_error: f64,
}

/// Maximum number of rows that trees learn from and predict, drawn with the same seed.
const MOST_ROWS: u64 = 60_000;
const SEED: u64 = 2009;

/// Measures it; `None` where there is no class column, or fewer than two classes or three rows.
pub fn classification(cohort: &Cohort, plan: &Plan) -> Option<Classification> {
    let class = cohort.class.as_ref()?;
    let records = LearningRecords::draw(cohort, plan, class.position, SEED);
    let (learned, predicted) = (sum(&records.learned(0)), sum(&records.thirds[0]));
    if learned == 0 || predicted == 0 || records.classes() < 2 {
        return None;
    }
    let kept: Vec<usize> = cohort.required.iter().map(|r| r.kept.position).collect();
    let changed: Vec<usize> = plan.changed.iter().map(|c| c.position).collect();
    let others: Vec<Feature> = kept.iter().map(|p| records.original(cohort, *p)).collect();
    let original: Vec<Feature> =
        changed.iter().map(|p| records.original(cohort, *p)).chain(others.iter().cloned()).collect();
    let released: Vec<Feature> = records.released(plan).chain(others.iter().cloned()).collect();
    let share = |wrong: u64| wrong as f64 / predicted as f64;
    Some(Classification {
        column: class.name.clone(),
        learned,
        predicted,
        baseline_error: share(records.errors(0, &original, |_| true)),
        error: share(records.errors(0, &released, |r| records.cells[r].is_some())),
        upper_bound_error: share(records.errors(0, &others, |_| true)),
    })
}

/// The number of rows that trees learned from the release predict wrongly: each third of the rows, drawn with
/// this seed, is predicted by a tree learned from the other two. For methods that compare several tables; `None`
/// as for [`classification`].
pub fn predicted_wrongly(cohort: &Cohort, plan: &Plan, seed: u64) -> Option<u64> {
    let class = cohort.class.as_ref()?;
    let records = LearningRecords::draw(cohort, plan, class.position, seed).merged(cohort);
    if records.thirds.iter().any(|third| sum(third) == 0) || records.classes() < 2 {
        return None;
    }
    let others = cohort.required.iter().map(|r| records.original(cohort, r.kept.position));
    let released: Vec<Feature> = records.released(plan).chain(others).collect();
    Some((0..THIRDS).map(|third| records.errors(third, &released, |r| records.cells[r].is_some())).sum())
}

/// States what a deleted row shows; nobody asks for it.
const NOTHING: u32 = u32::MAX;

fn sum(weights: &[u32]) -> u64 {
    weights.iter().map(|&w| u64::from(w)).sum()
}

/// Returns what a column shows: codes by record, and the text of each code.
pub(super) fn feature(texts: &[&str], mut codes: Vec<u32>) -> Feature {
    let number = |text: &str| Decimal::of_cell(text, b'.').or_else(|| Decimal::of_cell(text, b','));
    let mut shown = vec![false; texts.len()];
    codes.iter().filter(|c| **c != NOTHING).for_each(|&c| shown[c as usize] = true);
    codes.iter_mut().filter(|c| **c == NOTHING).for_each(|c| *c = 0);
    let known = (0..texts.len()).filter(|&c| shown[c] && !texts[c].is_empty());
    let numbers: Option<Vec<(Decimal, usize)>> = known.map(|c| Some((number(texts[c])?, c))).collect();
    let Some(mut numbers) = numbers.filter(|n| n.len() > 2) else {
        // Code 0 need not be missing here; categories are all alike.
        return Feature::Categories { of: codes, len: texts.len() };
    };
    numbers.sort_unstable();
    let mut rank = vec![0; texts.len()];
    let mut next = 0;
    for (i, (value, code)) in numbers.iter().enumerate() {
        // 1 and 1.0 are one number.
        next += u32::from(i == 0 || numbers[i - 1].0 != *value);
        rank[*code] = next;
    }
    Feature::Numbers { of: codes.iter().map(|&c| rank[c as usize]).collect() }
}

const THIRDS: usize = 3;

/// Tuples with what becomes of them, and how many of their rows are in each third.
#[derive(Default)]
struct LearningRecords {
    tuple: Vec<u32>,
    /// The row of cells that is released, if any.
    cells: Vec<Option<u32>>,
    class: Vec<u32>,
    /// For each third of the rows: how many rows of each record it has.
    thirds: [Vec<u32>; THIRDS],
}

impl LearningRecords {
    /// Draws the rows, of each class the same share for each third.
    fn draw(cohort: &Cohort, plan: &Plan, class: usize, seed: u64) -> LearningRecords {
        let tuples = &cohort.tuples;
        let rows = tuples.frequencies(class);
        let all: u64 = rows.iter().skip(1).sum();
        let taken = |n: u64| {
            let most = u128::from(MOST_ROWS.min(all)) * u128::from(n);
            (most / u128::from(all.max(1))) as u64
        };
        let mut left: Vec<UndealtClass> = rows
            .iter()
            .map(|&rows| {
                let (first, second) = (taken(rows) / 3, taken(rows) - taken(rows) / 3);
                UndealtClass { rows, thirds: [first, second / 2, second - second / 2] }
            })
            .collect();
        let mut random = Randomness::seeded(seed);
        let mut records = LearningRecords::default();
        for t in (0..tuples.len()).filter(|&t| tuples.code(t, class) != 0) {
            let code = tuples.code(t, class);
            let mut deleted = tuples.weights[t];
            let mut parts: Vec<(Option<u32>, u64)> = Vec::new();
            for (cells, rows) in plan.rows(cohort, t) {
                deleted -= rows;
                parts.push((Some(cells), rows));
            }
            parts.push((None, deleted));
            for (cells, rows) in parts.into_iter().filter(|p| p.1 > 0) {
                let dealt = left[code as usize].deal(rows, &mut random);
                if dealt.iter().any(|&n| n > 0) {
                    records.tuple.push(t as u32);
                    records.cells.push(cells);
                    records.class.push(code);
                    records.thirds.iter_mut().zip(dealt).for_each(|(third, n)| third.push(n));
                }
            }
        }
        records
    }

    /// The records as a recipient sees them: those that show the same are one.
    fn merged(self, cohort: &Cohort) -> LearningRecords {
        let shown: Vec<usize> = cohort.required.iter().map(|r| r.kept.position).collect();
        let mut keys = Keys::new(2 + shown.len());
        let mut merged = LearningRecords::default();
        let mut key = Vec::with_capacity(2 + shown.len());
        for (r, &tuple) in self.tuple.iter().enumerate() {
            key.clear();
            key.extend([self.cells[r].unwrap_or(NOTHING), self.class[r]]);
            key.extend(shown.iter().map(|&position| cohort.tuples.code(tuple as usize, position)));
            let number = keys.intern(&key) as usize;
            if number == merged.tuple.len() {
                merged.tuple.push(tuple);
                merged.cells.push(self.cells[r]);
                merged.class.push(self.class[r]);
                merged.thirds.iter_mut().for_each(|third| third.push(0));
            }
            merged.thirds.iter_mut().zip(&self.thirds).for_each(|(sum, own)| sum[number] += own[r]);
        }
        merged
    }

    /// A column as it is in the original.
    fn original(&self, cohort: &Cohort, position: usize) -> Feature {
        let texts = cohort.tuples.dictionaries[position].texts();
        let of = self.tuple.iter().map(|&t| cohort.tuples.code(t as usize, position));
        feature(&texts, of.collect())
    }

    /// The columns that a plan changes, as they are released.
    fn released<'p>(&'p self, plan: &'p Plan) -> impl Iterator<Item = Feature> + 'p {
        plan.changed.iter().enumerate().map(|(i, column)| {
            let texts: Vec<&str> = column.labels.iter().map(|l| l.text.as_str()).collect();
            let of = self.cells.iter().map(|cells| cells.map_or(NOTHING, |c| plan.row(c)[i]));
            feature(&texts, of.collect())
        })
    }

    fn classes(&self) -> usize {
        let mut seen = self.class.clone();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    }

    /// The rows of each record that are learned from where a third is predicted.
    fn learned(&self, third: usize) -> Vec<u32> {
        let others = (0..THIRDS).filter(|&other| other != third);
        let rows = |r: usize| others.clone().map(|other| self.thirds[other][r]).sum();
        (0..self.class.len()).map(rows).collect()
    }

    /// Returns how many rows of a third a tree over these features predicts wrongly, learned from the other two. Records
    /// that are not `shown` are not learned from, and get the class of most that are.
    fn errors(&self, third: usize, features: &[Feature], shown: impl Fn(usize) -> bool) -> u64 {
        let (classes, predict) = (self.class.iter().max().map_or(0, |&c| c as usize + 1), &self.thirds[third]);
        let learned = self.learned(third).into_iter().enumerate();
        let weight: Vec<u32> = learned.map(|(r, n)| if shown(r) { n } else { 0 }).collect();
        let sample = LearningSample { features, class: &self.class, classes, weight: &weight };
        let Some(tree) = DecisionTree::learn(&sample) else { return sum(predict) };
        let mut wrong = 0;
        for r in (0..self.class.len()).filter(|&r| predict[r] > 0) {
            let found = if shown(r) { tree.class(features, r) } else { tree.most_frequent() };
            wrong += u64::from(predict[r]) * u64::from(found != self.class[r]);
        }
        wrong
    }
}

/// Rows of a class that are still to be dealt, and how many more go to each third.
struct UndealtClass {
    rows: u64,
    thirds: [u64; THIRDS],
}

impl UndealtClass {
    /// Deals so many rows: each of those left is as likely as any other to be drawn.
    fn deal(&mut self, rows: u64, random: &mut Randomness) -> [u32; THIRDS] {
        let mut dealt = [0; THIRDS];
        for _ in 0..rows {
            let mut drawn = ((u128::from(random.bits()) * u128::from(self.rows)) >> 64) as u64;
            self.rows -= 1;
            for (left, dealt) in self.thirds.iter_mut().zip(&mut dealt) {
                if drawn < *left {
                    *left -= 1;
                    *dealt += 1;
                    break;
                }
                drawn -= *left;
            }
        }
        dealt
    }
}
