//! Search over generalization levels: the lattice of level vectors, counting the classes of a
//! node, and finding the best node that meets the requirements.

mod class_bounds;
mod classes;
mod infeasible;
mod objective;
mod rollup;
mod rule;
mod search;
mod space;

pub use classes::NodeClasses;
pub use infeasible::explain;
pub use objective::{Costs, Objective};
pub use rule::{NodeOutcome, Which, apply_rule};
pub(crate) use rule::{all_hold, merge_counts, people};
pub use search::{BestNode, SearchLimits, search};
pub(crate) use search::{Raises, promising, sums};
pub use space::Space;
