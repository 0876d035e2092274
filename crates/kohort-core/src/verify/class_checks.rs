//! Checks that the classes of a release hold what is claimed, and how near they come to failing.

use crate::Error;
use crate::classes::Judge;
use crate::privacy::{Counts, Distance, LDiversity, Sensitive, TDistances};

/// The extremes of one sensitive column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extremes {
    /// The highest confidence as hits and people.
    pub confidence: Option<(u64, u64)>,
    /// The least diversity.
    pub diversity: Option<f64>,
    /// The largest distance from the table.
    pub distance: Option<f64>,
}

impl Extremes {
    /// Takes in a class. Returns whether it holds what is required.
    fn see(&mut self, required: &RequiredOfClasses, class: &Counts) -> bool {
        let Sensitive { confidence, l_diversity, .. } = required.requirement;
        let measured = required.distances.as_ref().map(|own| own.measure(class));
        let holds = confidence.as_ref().is_none_or(|c| c.holds(class))
            && l_diversity.as_ref().is_none_or(|l| l.holds(class))
            && measured.is_none_or(|(_, is_permitted)| is_permitted);
        let extremes = Extremes {
            confidence: confidence.as_ref().and_then(|c| c.highest(class)),
            diversity: l_diversity.as_ref().map(|l| l.reached(class)),
            distance: measured.map(|(distance, _)| distance),
        };
        self.merge(required.requirement, extremes);
        holds
    }

    fn merge(&mut self, requirement: &Sensitive, other: Extremes) {
        fn keep<T: Copy>(own: &mut Option<T>, other: Option<T>, worse: impl Fn(T, T) -> bool) {
            if let Some(new) = other.filter(|&new| own.is_none_or(|own| worse(new, own))) {
                *own = Some(new);
            }
        }
        // Of equal shares that of most people, so that it does not matter which class came first.
        keep(&mut self.confidence, other.confidence, |a, b| {
            let (left, right) = (u128::from(a.0) * u128::from(b.1), u128::from(b.0) * u128::from(a.1));
            (left, a.1) > (right, b.1)
        });
        // Recursive diversity is a ratio that must stay low, the others must reach high.
        let is_ratio = matches!(requirement.l_diversity, Some(LDiversity::Recursive { .. }));
        keep(&mut self.diversity, other.diversity, |a, b| if is_ratio { a > b } else { a < b });
        keep(&mut self.distance, other.distance, |a, b| a > b);
    }
}

/// The requirements on one sensitive column, with what is computed once for all classes.
pub(super) struct RequiredOfClasses<'a> {
    requirement: &'a Sensitive,
    distances: Option<TDistances<'a>>,
}

impl<'a> RequiredOfClasses<'a> {
    /// One entry per sensitive column. `table`: the values of the whole table.
    pub(super) fn of(requirements: &'a [Sensitive], table: &'a [Vec<u64>]) -> Vec<RequiredOfClasses<'a>> {
        let one = |(requirement, table): (&'a Sensitive, &'a Vec<u64>)| RequiredOfClasses {
            requirement,
            distances: requirement.t_closeness.as_ref().map(|t| TDistances::new(t, table)),
        };
        requirements.iter().zip(table).map(one).collect()
    }

    /// The steps of its tree of values, if it has one.
    pub(super) fn steps(&self) -> u64 {
        match self.requirement.t_closeness.as_ref().map(|t| &t.distance) {
            Some(Distance::Hierarchical(levels)) => levels.len() as u64,
            _ => 0,
        }
    }
}

/// The values of the whole table, by sensitive column and code.
pub(super) struct WholeTable {
    pub(super) values: Vec<Vec<u64>>,
}

impl Judge for WholeTable {
    fn size(&mut self, _: u64) {}

    fn values(&mut self, column: usize, class: &Counts) {
        class.values.iter().for_each(|&(value, people)| self.values[column][value as usize] = people);
    }

    fn end(&mut self, _: usize) {}
}

/// Checks the classes of some sets.
pub(super) struct ClassChecks<'a> {
    /// The least number of people in a class.
    least: u64,
    requirements: &'a [RequiredOfClasses<'a>],
    /// The smallest class of any set.
    pub(super) smallest: u64,
    /// One entry per sensitive column.
    pub(super) extremes: Vec<Extremes>,
    /// The first set that fails, in the order of the sets.
    pub(super) failure: Option<ClassFailure>,
    /// The set that is being looked at.
    current: ClassFailure,
}

/// Describes what fails in a set.
#[derive(Clone)]
pub(super) struct ClassFailure {
    pub(super) set: usize,
    classes: u64,
    /// Classes below k, and the smallest of all.
    small: u64,
    smallest: u64,
    /// The first sensitive column of which a class does not hold what is claimed.
    column: Option<usize>,
}

const NOTHING: ClassFailure = ClassFailure { set: 0, classes: 0, small: 0, smallest: u64::MAX, column: None };

impl<'a> ClassChecks<'a> {
    pub(super) fn new(least: u64, requirements: &'a [RequiredOfClasses<'a>]) -> ClassChecks<'a> {
        let extremes = vec![Extremes::default(); requirements.len()];
        ClassChecks { least, requirements, smallest: u64::MAX, extremes, failure: None, current: NOTHING }
    }

    /// Takes in what another one found.
    pub(super) fn take(&mut self, other: ClassChecks) {
        self.smallest = self.smallest.min(other.smallest);
        let extremes = self.extremes.iter_mut().zip(self.requirements).zip(other.extremes);
        extremes.for_each(|((own, required), other)| own.merge(required.requirement, other));
        if let Some(failure) = other.failure {
            self.fail(failure);
        }
    }

    fn fail(&mut self, failure: ClassFailure) {
        if self.failure.as_ref().is_none_or(|first| failure.set < first.set) {
            self.failure = Some(failure);
        }
    }
}

impl Judge for ClassChecks<'_> {
    fn size(&mut self, people: u64) {
        let current = &mut self.current;
        current.classes += 1;
        current.small += u64::from(people < self.least);
        current.smallest = current.smallest.min(people);
    }

    fn values(&mut self, column: usize, class: &Counts) {
        let holds = self.extremes[column].see(&self.requirements[column], class);
        if self.current.column.is_none() && !holds {
            self.current.column = Some(column);
        }
    }

    fn is_done(&self) -> bool {
        self.failure.is_some() && self.least > 0
    }

    fn end(&mut self, set: usize) {
        let current = std::mem::replace(&mut self.current, NOTHING);
        self.smallest = self.smallest.min(current.smallest);
        // A set without any class holds nothing.
        if current.small > 0 || current.classes == 0 || current.column.is_some() {
            self.fail(ClassFailure { set, ..current });
        }
    }
}

impl ClassFailure {
    /// Returns what is refused, over columns of these names.
    pub(super) fn error(&self, set: &str, k: u64, sensitive: &[&str]) -> Error {
        match self.column {
            Some(column) if self.small == 0 => Error::refused(format!(
                "an equivalence class over {set} does not keep what is claimed about `{}`.",
                sensitive[column]
            )),
            _ => Error::refused(format!(
                "of {} equivalence classes over {set}, {} hold fewer than {k}; the smallest holds {}.",
                self.classes, self.small, self.smallest
            )),
        }
    }
}
