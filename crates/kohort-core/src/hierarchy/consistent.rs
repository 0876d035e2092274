//! The plain definition of a consistent hierarchy.

use super::{Hierarchy, SUPPRESSED};
use std::collections::HashMap;

impl Hierarchy {
    /// Returns whether values that share a label share all labels above it, the top level is `*` alone,
    /// labels are numbered in the order of their first value, and a label means one set of values
    /// on whatever levels it stands. (`*` marks a suppressed cell on every level.)
    pub fn is_consistent(&self) -> bool {
        self.nests() && self.ends_in_top() && self.numbers_in_order() && self.labels_mean_one_thing()
    }

    fn nests(&self) -> bool {
        self.levels.windows(2).all(|pair| {
            let mut above = vec![None; pair[0].labels.len()];
            pair[0].label_of.iter().zip(&pair[1].label_of).all(|(&low, &high)| {
                let known = above[low as usize].get_or_insert(high);
                *known == high
            })
        })
    }

    fn ends_in_top(&self) -> bool {
        self.levels.last().is_some_and(|top| top.labels.iter().all(|label| label.text == SUPPRESSED))
    }

    fn numbers_in_order(&self) -> bool {
        self.levels.iter().all(|level| {
            let mut next = 0;
            let in_order = level.label_of.iter().all(|&label| {
                let fits = label <= next;
                next = next.max(label + 1);
                fits
            });
            in_order && next as usize == level.labels.len()
        })
    }

    fn labels_mean_one_thing(&self) -> bool {
        let mut meaning: HashMap<&str, Vec<usize>> = HashMap::new();
        self.levels.iter().all(|level| {
            let mut under = vec![Vec::new(); level.labels.len()];
            level.label_of.iter().enumerate().for_each(|(code, &label)| under[label as usize].push(code));
            let mut here = HashMap::new();
            level.labels.iter().zip(under).filter(|(label, _)| label.text != SUPPRESSED).all(|(label, codes)| {
                let first_here = here.insert(label.text.as_str(), ()).is_none();
                first_here && *meaning.entry(&label.text).or_insert_with(|| codes.clone()) == codes
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::{Hierarchy, Label, Level};

    /// Levels written as the label of each value, separated by spaces; `-` is missing.
    #[track_caller]
    fn check(levels: &[&str], consistent: bool) {
        let level = |text: &&str| {
            let mut labels: Vec<Label> = Vec::new();
            let mut number = |text: &str| {
                let text = if text == "-" { "" } else { text };
                labels.iter().position(|label| label.text == text).unwrap_or_else(|| {
                    labels.push(Label { text: text.to_string(), loss: 0.0 });
                    labels.len() - 1
                }) as u32
            };
            let label_of = text.split(' ').map(&mut number).collect();
            Level { name: String::new(), label_of, labels }
        };
        let hierarchy = Hierarchy { levels: levels.iter().map(level).collect(), uncovered: vec![], leaves: 1.0 };
        assert_eq!(hierarchy.is_consistent(), consistent, "{levels:?}");
    }

    #[test]
    fn levels_nest_and_labels_mean_one_thing() {
        check(&["- a b c", "- a x x", "* * * *"], true);
        check(&["- a b *", "- x x *", "* * * *"], true);
    }

    #[test]
    fn values_that_part_again_are_found() {
        check(&["- a b c", "- x x y", "- p q q", "* * * *"], false);
    }

    #[test]
    fn a_label_with_two_meanings_is_found() {
        check(&["- a b c", "- a a x", "* * * *"], false);
        check(&["- a b c", "- b x x", "* * * *"], false);
    }

    #[test]
    fn a_top_of_another_name_is_found() {
        check(&["- a b", "- all all"], false);
    }

    #[test]
    fn labels_out_of_order_are_found() {
        let label = |text: &str| Label { text: text.to_string(), loss: 0.0 };
        let low = Level { name: String::new(), label_of: vec![1, 0], labels: vec![label("a"), label("")] };
        let top = Level { name: String::new(), label_of: vec![0, 0], labels: vec![label("*")] };
        assert!(!Hierarchy { levels: vec![low, top], uncovered: vec![], leaves: 1.0 }.is_consistent());
    }
}
