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
use crate::hierarchy::Ranges;
use crate::release::Header;
use crate::shape::{Codes, Shape, Table};
use crate::table::ExcludeRule;
use std::ops::{Deref, DerefMut};

/// A policy bound to its data, which has the shape `S`. Its common sections are read as if they were its own.
#[derive(Debug, Clone)]
pub struct Policy<S: Shape = Table> {
    /// The sections that policies of every shape have.
    pub common: CommonSections,
    /// The part that only this shape has.
    pub own: S::PolicyPart,
}

/// The sections of policies for all shapes of data.
#[derive(Debug, Clone)]
pub struct CommonSections {
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
    /// The recipient of the release, and its purpose.
    pub context: Option<Context>,
    /// Results that are compared before and after.
    pub checks: Vec<Check>,
    /// The method and its parameters, as written: each method checks its own.
    pub method: Section,
    /// The effects of the method on what can be guaranteed.
    pub effects: Effects,
    /// Notes that the custodian should read before going on.
    pub notes: Vec<String>,
    /// The text of the file, for the evidence.
    pub text: String,
}

impl<S: Shape> Deref for Policy<S> {
    type Target = CommonSections;
    fn deref(&self) -> &CommonSections {
        &self.common
    }
}

impl<S: Shape> DerefMut for Policy<S> {
    fn deref_mut(&mut self) -> &mut CommonSections {
        &mut self.common
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

    /// The released columns, in table order.
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

impl Policy<Codes> {
    /// The first line of clusters that are made by this policy.
    pub(crate) fn header(&self) -> Header {
        let columns = self.quasi().into_iter().map(|column| self.columns[column].name.clone());
        Header { k: self.privacy.k.get(), m: self.privacy.known_codes() as u64, columns: columns.collect() }
    }
}

impl Policy {
    /// The ranges that a quasi-identifier may show instead of labels, where the policy asks for `labels = "range"`:
    /// their ends are bounds of the finest permitted intervals that have room for two numbers as these values are
    /// written, or months, quarters, years or decades.
    pub fn ranges(&self, column: usize, values: &[&str]) -> Option<Ranges> {
        let column = &self.columns[column];
        let asked = self.method.text("labels").is_ok_and(|own| own == Some("range"));
        if asked { column.rule.ranges(&column.levels, values) } else { None }
    }
}
