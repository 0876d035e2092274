//! What the suites share: random cases with their definitions written plainly, and runs of the real path.

pub mod case;
pub mod definition;
pub mod run;
pub mod table;
pub mod tamper;
