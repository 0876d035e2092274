//! The policy bound to its data: every name is a column, every number is what it means.

use super::accept::Acceptance;
use super::baseline::BaselineLoss;
use super::column::{Column, Role};
use super::context::Context;
use super::effects::Effects;
use super::population::{Covers, Population};
use super::privacy::Privacy;
use super::section::Section;
use super::survives::Check;
use crate::Error;
use crate::hierarchy::Intervals;
use crate::shape::{Shape, Table};
use crate::table::ExcludeRule;

/// A policy bound to its data, which has the shape `S`.
#[derive(Debug, Clone)]
pub struct Policy<S: Shape = Table> {
    /// Every column of the input, in its order; of patient histories those of all tables of events.
    pub columns: Vec<Column>,
    /// The privacy requirements.
    pub privacy: Privacy,
    /// Rows that must not come in.
    pub exclude: Vec<ExcludeRule>,
    /// Findings about released columns outside every requirement that the custodian accepts.
    pub accept: Vec<Acceptance>,
    /// The registries of people outside that an attacker may have.
    pub populations: Vec<Population>,
    /// The run that this one is compared with.
    pub baseline: Option<BaselineLoss>,
    /// Who receives the release, and what for.
    pub context: Option<Context>,
    /// Results that are compared before and after.
    pub checks: Vec<Check>,
    /// The method and its parameters, as written: each method checks its own.
    pub method: Section,
    /// The effects of the method on what can be guaranteed.
    pub effects: Effects,
    /// The part that only this shape has.
    pub own: S::Own,
    /// Notes that the custodian should read before going on.
    pub notes: Vec<String>,
    /// The text of the file, for the evidence.
    pub text: String,
}

/// The sections of policies for all kinds of data.
pub(super) struct SharedSections {
    pub(super) columns: Vec<Column>,
    pub(super) privacy: Privacy,
    pub(super) exclude: Vec<ExcludeRule>,
    pub(super) accept: Vec<Acceptance>,
    pub(super) populations: Vec<Population>,
    pub(super) baseline: Option<BaselineLoss>,
    pub(super) context: Option<Context>,
    pub(super) checks: Vec<Check>,
    pub(super) method: Section,
    pub(super) effects: Effects,
    pub(super) notes: Vec<String>,
    pub(super) text: String,
}

impl SharedSections {
    /// Adds the part that only one shape has.
    pub(super) fn with<S: Shape>(self, own: S::Own) -> Policy<S> {
        let SharedSections {
            columns,
            privacy,
            exclude,
            accept,
            populations,
            baseline,
            context,
            checks,
            method,
            effects,
            notes,
            text,
        } = self;
        Policy {
            columns,
            privacy,
            exclude,
            accept,
            populations,
            baseline,
            context,
            checks,
            method,
            effects,
            own,
            notes,
            text,
        }
    }
}

impl<S: Shape> Policy<S> {
    /// Positions of the columns with which `is` agrees, in table order.
    pub fn positions(&self, is: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| is(&self.columns[c].role)).collect()
    }

    /// The quasi-identifiers, in table order.
    pub fn quasi(&self) -> Vec<usize> {
        self.positions(|r| *r == Role::Quasi)
    }

    /// The patient column, if there is one.
    pub fn patient(&self) -> Option<usize> {
        self.positions(|r| *r == Role::Patient).first().copied()
    }

    /// The column of codes, if there is one.
    pub fn codes(&self) -> Option<usize> {
        self.positions(|r| matches!(r, Role::Codes { .. })).first().copied()
    }

    /// The columns that leave, in table order.
    pub fn released(&self) -> Vec<usize> {
        self.positions(Role::is_released)
    }

    /// The population that the people of the table belong to, if the policy says how large it is: the first
    /// registry that lists everybody.
    pub fn population(&self) -> Option<&Population> {
        self.populations.iter().find(|population| population.covers == Covers::Everyone)
    }

    /// An error in terms of the policy, for requirements that fail later.
    pub fn error(&self, message: impl std::fmt::Display) -> Error {
        self.method.error(self.method.line, message)
    }
}

impl Policy {
    /// The ranges that a quasi-identifier may show instead of labels, where the policy asks for `labels = "range"`:
    /// their ends are bounds of the finest permitted intervals.
    pub fn ranges(&self, column: usize) -> Option<Intervals> {
        let column = &self.columns[column];
        let asked = self.method.text("labels").is_ok_and(|own| own == Some("range"));
        let finest = column.levels.iter().copied().find(|&level| level > 0)?;
        if asked { column.rule.ranges(finest) } else { None }
    }
}
