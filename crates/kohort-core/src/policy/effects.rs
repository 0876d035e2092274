//! The effects of a method on what a release can guarantee, as data that is independent of the method's name.

use super::Section;
use serde::{Deserialize, Serialize};

/// Properties of a policy's method that the verifier must know, because they change what can be promised.
///
/// The register of methods states it; the certificate carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    /// The method may add synthetic records. They never count as protection.
    pub synthetic: bool,
    /// The method suppresses single cells, so that a suppressed cell may be inferred from the cells beside it.
    pub single_cells: bool,
    /// The class column may steer the method's choices, so that they reveal something about it.
    pub class_steers: bool,
}

impl Effects {
    /// The effects of a method that only recodes whole columns.
    pub const NONE: Effects = Effects { synthetic: false, single_cells: false, class_steers: false };

    /// The effects that are assumed of a method nobody describes: those that promise least.
    pub const UNKNOWN: Effects = Effects { synthetic: false, single_cells: true, class_steers: true };
}

/// Knows the methods: what each adds to the promise.
pub trait Methods {
    /// The effects of the method that this section names, with its parameters; `None` where there is no such method.
    fn effects(&self, method: &Section) -> Option<Effects>;
}
