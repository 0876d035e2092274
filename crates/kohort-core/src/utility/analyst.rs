//! The questions of an analyst (Lee et al. 2017, Q1 to Q4): counts and averages by the groups of one column, of the
//! records that have certain values in others.
//!
//! A question is *SELECT g, COUNT(\*), AVG(y) … WHERE f = v AND s = w GROUP BY g*: g, f and y are quasi-identifiers, s is
//! a sensitive column with a requirement, a catalog or a class, v and w are the values of a random record, and y holds
//! numbers. Half of the questions ask about s, where there is one: this is where synthetic records hurt. A release answers as its recipient would: the values under a label
//! share its count evenly, and stand for their mean in an average. Counts are off by |answer − count| / max(count, a
//! thousandth of the records), averages by |answer − average| / |average|, averaged over groups and questions.

use super::query_error::PublishedCounts;
use crate::cohort::Cohort;
use crate::number::Decimal;
use crate::ragged::Ragged;
use crate::random::Randomness;
use std::cell::OnceCell;

/// So many questions are asked, if they look at no more tuples than this together, but a few at least.
const MOST_QUESTIONS: usize = 100;
const FEWEST_QUESTIONS: usize = 8;
const MOST_LOOKS: usize = 2_000_000;
/// A question fixes the values of at most so many columns.
const MOST_FILTERS: u64 = 2;
/// Columns with more values make no groups.
const MOST_GROUPS: usize = 100;

/// How far off the answers to an analyst's questions are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnalystError {
    /// Questions asked; the same ones of every release of a table.
    pub questions: usize,
    /// The mean error of filtered counts by group.
    pub counts: f64,
    /// The mean error of filtered averages by group, where a column holds numbers.
    pub averages: Option<f64>,
}

/// A question: the column that makes groups, the columns with the values asked for, and the column of the average.
struct Question {
    group: usize,
    filters: Vec<(usize, u32)>,
    /// The place of a column that is released unchanged, and the value asked for.
    sensitive: Option<(usize, u32)>,
    average: Option<usize>,
}

/// Asks the questions. `None` where fewer than two columns can be asked about.
pub fn analyst_error(published: &PublishedCounts) -> Option<AnalystError> {
    let cohort = published.cohort;
    let numbers: Vec<Option<Vec<f64>>> = (0..cohort.quasi.len()).map(|q| numbers(cohort, q)).collect();
    let questions = questions(cohort, &numbers);
    if questions.is_empty() {
        return None;
    }
    let least = (cohort.tuples.rows as f64 / 1000.0).max(1.0);
    let having = TuplesByValue::new(cohort);
    let (mut counts, mut averages) = ((0.0, 0u64), (0.0, 0u64));
    for question in &questions {
        let y = question.average.and_then(|q| numbers[q].as_deref());
        let truth = truth(cohort, &having, question, y);
        let answers = answers(published, question, y);
        for ((count, sum), (answer, answered_sum)) in
            truth.into_iter().zip(answers).filter(|((count, _), _)| *count > 0.0)
        {
            counts.0 += (answer - count).abs() / count.max(least);
            counts.1 += 1;
            let average = sum / count;
            // An average of few records is no result that anybody publishes.
            if y.is_some() && count >= least && average != 0.0 {
                let answered = if answer > 0.0 { answered_sum / answer } else { 0.0 };
                averages.0 += (answered - average).abs() / average.abs();
                averages.1 += 1;
            }
        }
    }
    let mean = |(sum, number): (f64, u64)| (number > 0).then(|| sum / number as f64);
    Some(AnalystError { questions: questions.len(), counts: mean(counts)?, averages: mean(averages) })
}

/// The values of a column as numbers by code, if all of them are; a missing one is 0 and never asked for.
fn numbers(cohort: &Cohort, q: usize) -> Option<Vec<f64>> {
    let dictionary = &cohort.tuples.dictionaries[q];
    if dictionary.is_empty() || dictionary.missing_occurs {
        return None;
    }
    let number = |text: &str| Decimal::of_cell(text, b'.').map(Decimal::to_f64);
    let rest = dictionary.texts().into_iter().skip(1).map(number);
    std::iter::once(Some(0.0)).chain(rest).collect()
}

/// The questions for a table: they depend on the table alone.
fn questions(cohort: &Cohort, numbers: &[Option<Vec<f64>>]) -> Vec<Question> {
    let tuples = &cohort.tuples;
    let columns = cohort.quasi.len();
    let groups: Vec<usize> = (0..columns).filter(|&q| tuples.dictionaries[q].len() <= MOST_GROUPS + 1).collect();
    if groups.is_empty() || columns < 2 || tuples.is_empty() {
        return Vec::new();
    }
    let kept: Vec<usize> = cohort.kept().map(|own| own.position).collect();
    let number = (MOST_LOOKS / tuples.len()).clamp(FEWEST_QUESTIONS, MOST_QUESTIONS);
    let mut random = Randomness::named("analyst's questions");
    // Tuples in an order that does not depend on that of the rows.
    let mut order: Vec<usize> = (0..tuples.len()).collect();
    order.sort_unstable_by_key(|&t| tuples.codes(t));
    let mut ask = || {
        let group = groups[random.below(groups.len() as u64) as usize];
        let others: Vec<usize> = (0..columns).filter(|&q| q != group).collect();
        let many = 1 + random.below(MOST_FILTERS.min(others.len() as u64)) as usize;
        let tuple = order[random.below(order.len() as u64) as usize];
        let chosen = random.sample(others.len(), many);
        let filters: Vec<(usize, u32)> =
            chosen.iter().map(|&i| others[i]).map(|q| (q, tuples.code(tuple, q))).collect();
        let free = |q: &&usize| numbers[**q].is_some() && filters.iter().all(|(f, _)| f != *q);
        let average: Vec<usize> = others.iter().filter(free).copied().collect();
        let average = (!average.is_empty()).then(|| average[random.below(average.len() as u64) as usize]);
        let asked = !kept.is_empty() && random.below(2) == 0;
        let sensitive = asked.then(|| kept[random.below(kept.len() as u64) as usize]);
        Question { group, filters, sensitive: sensitive.map(|place| (place, tuples.code(tuple, place))), average }
    };
    (0..number).map(|_| ask()).collect()
}

/// The tuples with each value of the columns that questions ask about, listed when a column is first asked about.
struct TuplesByValue<'a> {
    cohort: &'a Cohort,
    columns: Vec<OnceCell<Ragged<u32>>>,
}

impl<'a> TuplesByValue<'a> {
    fn new(cohort: &'a Cohort) -> TuplesByValue<'a> {
        TuplesByValue { cohort, columns: vec![OnceCell::new(); cohort.quasi.len()] }
    }

    /// The tuples with a value, ascending.
    fn having(&self, q: usize, code: u32) -> &[u32] {
        let tuples = &self.cohort.tuples;
        let list =
            || Ragged::by_key(tuples.dictionaries[q].len(), (0..tuples.len()).map(|t| (tuples.code(t, q), t as u32)));
        self.columns[q].get_or_init(list).get(code as usize)
    }
}

/// Records of the original, and the sum of the column that is averaged, for each value of the group's column.
fn truth(cohort: &Cohort, having: &TuplesByValue, question: &Question, y: Option<&[f64]>) -> Vec<(f64, f64)> {
    let tuples = &cohort.tuples;
    let mut sums = vec![(0.0, 0.0); tuples.dictionaries[question.group].len()];
    let fewest = question.filters.iter().map(|&(q, code)| having.having(q, code)).min_by_key(|own| own.len());
    let fewest = fewest.unwrap_or(&[]).iter().map(|&t| t as usize);
    let asked =
        |t: &usize| question.filters.iter().chain(&question.sensitive).all(|&(q, code)| tuples.code(*t, q) == code);
    for t in fewest.filter(asked) {
        let weight = tuples.weights[t] as f64;
        let own = &mut sums[tuples.code(t, question.group) as usize];
        own.0 += weight;
        if let (Some(y), Some(q)) = (y, question.average) {
            own.1 += weight * y[tuples.code(t, q) as usize];
        }
    }
    sums
}

/// The same as a recipient counts it.
fn answers(published: &PublishedCounts, question: &Question, y: Option<&[f64]>) -> Vec<(f64, f64)> {
    let shares: Vec<(usize, Vec<f64>)> =
        question.filters.iter().map(|&(q, code)| (q, published.shares_of(q, |value| value == code))).collect();
    // By label of the column that is averaged: the mean of the values under it.
    let means = question.average.zip(y).map(|(q, y)| {
        let weights = published.shares_of(q, |_| true);
        let sums = published.sums_of(q, |value| y[value as usize]);
        let means: Vec<f64> = sums.iter().zip(&weights).map(|(sum, w)| if *w > 0.0 { sum / w } else { 0.0 }).collect();
        (q, means)
    });
    let mut by_label = vec![(0.0, 0.0); published.labels_of(question.group)];
    let shown = match question.sensitive {
        Some((place, code)) => published.shown_with(place, code),
        None => published.shown().collect(),
    };
    for (labels, rows) in shown {
        let count = shares.iter().fold(rows, |rows, (q, share)| rows * share[labels[*q] as usize]);
        if count > 0.0 {
            let own = &mut by_label[labels[question.group] as usize];
            own.0 += count;
            own.1 += means.as_ref().map_or(0.0, |(q, means)| count * means[labels[*q] as usize]);
        }
    }
    published.spread(question.group, &by_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;
    use crate::release::Plan;
    use crate::table::Tuples;

    fn cohort() -> Cohort {
        let rows: Vec<Vec<&str>> = (0..60)
            .map(|i| vec![["30", "40", "50"][i % 3], ["F", "M"][i / 3 % 2], ["1", "2", "3", "4"][i * 7 % 11 % 4]])
            .collect();
        Cohort::of(Tuples::from_rows(&rows, None), |_| Rule::Flat)
    }

    #[test]
    fn an_unchanged_table_answers_exactly() {
        let cohort = cohort();
        let plan = Plan::full_domain(&cohort, &[0, 0, 0], &vec![true; cohort.tuples.len()]);
        let found = analyst_error(&PublishedCounts::new(&cohort, &plan)).unwrap();
        assert!(found.counts < 1e-12 && found.averages.unwrap() < 1e-12, "{found:?}");
    }

    /// P14: questions never asked about the sensitive column, where synthetic records are.
    #[test]
    fn synthetic_records_make_answers_about_the_sensitive_column_worse() {
        use crate::cohort::Kept;
        use crate::release::SyntheticRecord;
        use crate::synthetic_values::SyntheticValues;
        // The third column is sensitive.
        let mut cohort = cohort();
        cohort.quasi.truncate(2);
        cohort.sets = vec![vec![0, 1]];
        cohort.catalogued = Some(Kept { name: "dx".into(), column: 2, position: 2 });
        cohort.synthetic_values = vec![SyntheticValues {
            name: "dx".into(),
            column: 2,
            position: Some(2),
            sensitive: true,
            values: ["", "1", "2", "3", "4"].map(String::from).to_vec(),
            weights: vec![0, 1, 1, 1, 1],
        }];
        let mut plan = Plan::full_domain(&cohort, &[0, 0], &vec![true; cohort.tuples.len()]);
        let exact = analyst_error(&PublishedCounts::new(&cohort, &plan)).unwrap();
        assert!(exact.counts < 1e-12, "{exact:?}");
        // One synthetic record beside about five real ones of a value, two thirds of which nobody asks about.
        let code = cohort.tuples.dictionaries[2].code("4").unwrap();
        plan.added = (0..6).map(|cells| SyntheticRecord { cells, values: vec![code] }).collect();
        let padded = analyst_error(&PublishedCounts::new(&cohort, &plan)).unwrap();
        assert!(padded.counts > 0.0 && padded.questions == exact.questions, "{padded:?}");
        // By hand: SELECT q1, COUNT(*) WHERE q0 = 30 AND dx = 4 GROUP BY q1 counts one record more for each sex.
        let thirty = cohort.tuples.dictionaries[0].code("30").unwrap();
        let question = Question { group: 1, filters: vec![(0, thirty)], sensitive: Some((2, code)), average: None };
        let having = TuplesByValue::new(&cohort);
        let truth = truth(&cohort, &having, &question, None);
        let answers = answers(&PublishedCounts::new(&cohort, &plan), &question, None);
        let more: Vec<f64> = answers.iter().zip(&truth).map(|(a, t)| a.0 - t.0).collect();
        assert_eq!(more, [0.0, 1.0, 1.0], "{truth:?} {answers:?}");
    }

    #[test]
    fn what_is_suppressed_makes_answers_worse() {
        let cohort = cohort();
        let all = vec![true; cohort.tuples.len()];
        let error = |levels: &[usize]| {
            let plan = Plan::full_domain(&cohort, levels, &all);
            analyst_error(&PublishedCounts::new(&cohort, &plan)).unwrap()
        };
        let (one, three) = (error(&[0, 1, 0]), error(&[1, 1, 1]));
        assert!(0.0 < one.counts && one.counts < three.counts, "{one:?} {three:?}");
        assert!(three.averages.unwrap() > 0.0);
        // The same questions of every release.
        assert_eq!(one.questions, three.questions);
    }
}
