//! The ways in which a release is tampered with: its files, its cells and rows, the claim of its certificate, and
//! what the certificate states.

mod attested;
mod cells;
mod claims;
mod files;
mod json;
mod lines;

use super::draw::Case;
use super::form::{put_table, table};
use super::release::Release;
use crate::dice::Dice;
use serde_json::Value;

/// A way to tamper with a release.
pub struct Tampering {
    pub name: &'static str,
    /// The parts that are made to fit afterwards.
    pub fit: Fit,
    /// Changes a release; false where there is nothing to change.
    pub apply: fn(&mut Change) -> bool,
}

/// The parts that a forger makes fit after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Nothing.
    Nothing,
    /// The hashes.
    Hashes,
    /// Hashes, counts and sentences.
    All,
    /// As `All`, and the release is as true as before: the result must stay the same.
    StaysTrue,
    /// Nothing, and the release is as true as before.
    Harmless,
    /// Nothing, and nobody may accept it, whatever it says.
    Never,
}

/// A release that is being changed.
pub struct Change<'a> {
    pub release: &'a mut Release,
    /// The original, where it is a table.
    pub case: Option<&'a Case>,
    /// Another release.
    pub other: &'a Release,
    pub dice: &'a mut Dice,
}

impl Change<'_> {
    /// Changes the table.
    fn table(&mut self, change: impl FnOnce(&mut Vec<String>, &mut Vec<Vec<String>>, &mut Dice) -> bool) -> bool {
        let Some((mut header, mut rows)) = table(self.release) else { return false };
        if !change(&mut header, &mut rows, self.dice) {
            return false;
        }
        put_table(self.release, &(header, rows));
        true
    }

    /// Changes rows of the table that has any.
    fn rows(&mut self, change: impl FnOnce(&mut Vec<Vec<String>>, &mut Dice) -> bool) -> bool {
        self.table(|_, rows, dice| !rows.is_empty() && change(rows, dice))
    }

    /// Changes a value of the certificate, where there is one.
    fn value(&mut self, place: &str, change: impl FnOnce(&mut Value, &mut Dice)) -> bool {
        let Some(value) = self.release.certificate.pointer_mut(place) else { return false };
        let before = value.clone();
        change(value, self.dice);
        let changed = *value != before;
        self.release.bytes = None;
        changed
    }

    /// Changes a sensitive column of the claim.
    fn sensitive(&mut self, change: impl FnOnce(&mut Value, &mut Dice)) -> bool {
        // Sensitive codes are a list of texts.
        let is_column = self.release.certificate["counted"]["claim"]["sensitive"][0].is_object();
        is_column && self.value("/counted/claim/sensitive/0", change)
    }

    /// The place of a column with this role.
    fn of_role(&mut self, role: &str) -> Option<usize> {
        let columns = self.release.certificate["counted"]["columns"].as_array()?;
        let all: Vec<usize> = (0..columns.len()).filter(|&c| columns[c]["role"] == role).collect();
        (!all.is_empty()).then(|| self.dice.one_of(&all))
    }

    /// Changes the bytes of the certificate as text.
    fn text(&mut self, change: impl FnOnce(String, &mut Dice) -> String) -> bool {
        let before = String::from_utf8_lossy(&self.release.certificate_bytes()).into_owned();
        let after = change(before.clone(), self.dice);
        let changed = after != before;
        self.release.bytes = Some(after.into_bytes());
        changed
    }

    /// Changes the bytes of a file of the release.
    fn file(&mut self, name: &str, change: impl FnOnce(&mut Vec<u8>, &mut Dice)) -> bool {
        let Some(bytes) = self.release.files.get_mut(name) else { return false };
        let before = bytes.clone();
        change(bytes, self.dice);
        *bytes != before
    }
}

/// Every way.
pub fn all() -> Vec<&'static Tampering> {
    [files::WAYS, cells::WAYS, claims::WAYS, attested::WAYS, json::WAYS].into_iter().flatten().collect()
}

/// The ways that change codes and events.
pub fn of_lines() -> Vec<&'static Tampering> {
    lines::WAYS.iter().collect()
}

const fn way(name: &'static str, fit: Fit, apply: fn(&mut Change) -> bool) -> Tampering {
    Tampering { name, fit, apply }
}
