//! A cohort as its columns are, for measures: derived columns have the values of their own level, and
//! details are columns like others.
//!
//! # Example
//! `chapter = { from = "dx", hierarchy = "icd9", levels = ["chapter", "*"] }`. Every row holds the code of
//! `dx` in this column, since hierarchies are applied to codes. Nobody who knows a chapter knows the code:
//! risk before release, bits lost and errors of counts are about the chapters.

use super::{Cohort, Quasi};
use crate::hierarchy::{Hierarchy, Level, MISSING, Rule, SUPPRESSED};
use crate::table::Texts;
use std::borrow::Cow;

impl Cohort {
    /// The same people with the values of derived columns at their own level. Tuples keep their numbers,
    /// so that plans for the cohort fit; several may then have the same values.
    pub fn at_own_levels(&self) -> Cow<'_, Cohort> {
        if self.quasi.iter().all(|quasi| quasi.own_level == 0) {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        for (q, quasi) in own.quasi.iter_mut().enumerate().filter(|(_, quasi)| quasi.own_level > 0) {
            let level = &quasi.hierarchy.levels[quasi.own_level];
            let mut texts = Texts::default();
            let label = |text: &str| if text.is_empty() { SUPPRESSED.to_string() } else { text.to_string() };
            // Missing is no text of the dictionary: it keeps code 0.
            let number: Vec<Option<u32>> = (0u32..)
                .zip(&level.label_of)
                .map(|(code, &l)| {
                    (code != MISSING).then(|| texts.intern(label(&level.labels[l as usize].text).as_bytes()))
                })
                .collect();
            let missing_occurs = own.tuples.dictionaries[q].missing_occurs;
            let code_of: Vec<u32> = own.tuples.relabel(q, &texts, &number, missing_occurs);
            quasi.hierarchy = at_values(&quasi.hierarchy, quasi.own_level, &code_of);
        }
        Cow::Owned(own)
    }

    /// The same people with details as columns that are released or blank.
    pub fn with_details(&self) -> Cow<'_, Cohort> {
        if self.details.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        for (kept, _) in std::mem::take(&mut all.details) {
            let dictionary = &all.tuples.dictionaries[kept.position];
            let hierarchy = Rule::Flat.apply(&dictionary.texts(), dictionary.missing_occurs);
            let Cohort { quasi, .. } = &mut all;
            debug_assert_eq!(kept.position, quasi.len());
            quasi.push(Quasi {
                name: kept.name,
                column: kept.column,
                hierarchy,
                levels: vec![0, 1],
                weight: 1.0,
                own_level: 0,
            });
        }
        Cow::Owned(all)
    }
}

/// The hierarchy over the labels of one of its levels. Levels keep their numbers; those below hold the
/// labels themselves.
fn at_values(hierarchy: &Hierarchy, own_level: usize, code_of: &[u32]) -> Hierarchy {
    let values = code_of.iter().map(|&code| code as usize + 1).max().unwrap_or(1);
    let level = |level: &Level| {
        let mut label_of = vec![0; values];
        code_of.iter().zip(&level.label_of).for_each(|(&code, &label)| label_of[code as usize] = label);
        Level { name: level.name.clone(), label_of, labels: level.labels.clone() }
    };
    let levels = (0..hierarchy.levels.len()).map(|l| level(&hierarchy.levels[l.max(own_level)])).collect();
    let mut uncovered: Vec<u32> = hierarchy.uncovered.iter().map(|&code| code_of[code as usize]).collect();
    uncovered.sort_unstable();
    uncovered.dedup();
    Hierarchy { levels, uncovered, leaves: hierarchy.leaves }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Plan;
    use crate::risk::{View, sizes};
    use crate::table::Tuples;
    use crate::{hierarchy::Prefix, utility};

    fn cohort() -> Cohort {
        let codes = ["410", "411", "412", "250", "250", "251"];
        let rows: Vec<Vec<&str>> = codes.iter().map(|code| vec![*code, "F"]).collect();
        let mut cohort = Cohort::of(Tuples::from_rows(&rows, None), |q| {
            if q == 0 { Rule::Prefix(Prefix::new(&[2, 1]).unwrap()) } else { Rule::Flat }
        });
        let quasi = &mut cohort.quasi[0];
        (quasi.own_level, quasi.levels) = (1, vec![1, 3]);
        quasi.hierarchy.measure_from(1, false);
        cohort
    }

    #[test]
    fn a_derived_column_is_measured_at_its_own_level() {
        let cohort = cohort();
        let own = cohort.at_own_levels();
        // Three people are unique by their code, nobody by its first two digits.
        assert_eq!(sizes(&cohort, View::Before, &[0]), [1, 1, 1, 1, 2]);
        assert_eq!(sizes(&own, View::Before, &[0]), [3, 3]);
        assert_eq!(sizes(&own, View::Before, &[0, 1]), [3, 3]);
        // Released at its own level, nothing is lost; blank, one bit is lost for each.
        let shown = Plan::full_domain(&cohort, &[1, 0], &vec![true; cohort.tuples.len()]);
        assert_eq!((utility::loss(&own, &shown), utility::entropy(&own, &shown)), (0.0, 0.0));
        assert!(utility::entropy(&cohort, &shown) > 5.0);
        let error = utility::query_error(&utility::PublishedCounts::new(&own, &shown));
        assert_eq!(error.by_column, [0.0, 0.0]);
        let blank = Plan::full_domain(&cohort, &[3, 0], &vec![true; cohort.tuples.len()]);
        assert_eq!((utility::loss(&own, &blank), utility::entropy(&own, &blank)), (0.5, 6.0));
    }
}
