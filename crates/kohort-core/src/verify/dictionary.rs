//! Compares dictionary.md with what Kohort writes. From the release alone every word is known but those about the
//! quasi-identifiers and about cleaning, which are the custodian's; with the original these are known too.

use super::ReleaseFolder;
use super::recount::CountedRelease;
use crate::policy::Column;
use crate::release::dictionary::{
    AS_IN_THE_SOURCE, BEFORE_THAT, HEAD_OF_CELLS, LAST_LINE, ONE_LABEL_EACH, PATIENT_LINE, PSEUDONYM, SEE_BELOW,
    SOME_MISSING, SOME_SYNTHETIC, SUPPRESSED_THROUGHOUT, about_catalog, cleaned, detail_of, head_of_cell,
    head_of_codes, head_of_events, head_of_file, head_of_table, is_without_markup, markdown, rule_of_cell,
};
use crate::release::fineness::{self, how_to_analyse};
use crate::release::{Certificate, ColumnClaim, table_file};
use crate::shape::{Codes, Events, Table};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// The name of the file.
pub(super) const DICTIONARY: &str = "dictionary.md";
/// The largest dictionary that is read.
const LARGEST: u64 = 64 << 20;

/// The columns of the policy by name, where the original is there.
type Policies<'a> = dyn Fn(&str) -> Option<&'a Column> + 'a;

/// The same by the number of the table.
type PoliciesOfTables<'a> = dyn Fn(usize, &str) -> Option<&'a Column> + 'a;

/// The text of the dictionary of a release.
pub(super) fn read(release: &ReleaseFolder) -> Result<String> {
    release.text(DICTIONARY, LARGEST)
}

/// Checks the dictionary of a table against what was counted. `policy`: the columns of the policy, if it is there.
/// Returns what it says of quasi-identifiers that show one level, by name: that is compared with the original.
pub(super) fn check_table<'a>(
    text: &str,
    certificate: &Certificate<Table>,
    counted: &CountedRelease,
    policy: Option<&Policies<'a>>,
) -> Result<BTreeMap<String, String>> {
    let mut rest = Rest { text };
    let file = certificate.files.iter().find(|f| f.rows.is_some()).map_or("", |f| f.name.as_str());
    rest.expect(&head_of_table(file, certificate.delimiter))?;
    let columns = &certificate.promise.columns;
    let mut one_level = BTreeMap::new();
    for column in columns {
        let shows = rest.column(column, policy)?;
        if column.role == "quasi" && (shows == SUPPRESSED_THROUGHOUT || shows.starts_with("level ")) {
            one_level.insert(column.name.clone(), shows.to_string());
        }
    }
    if let Some(synthetic) = &certificate.promise.claim.synthetic {
        rest.expect(SOME_SYNTHETIC)?;
        synthetic.catalog.iter().try_for_each(|column| rest.expect(&about_catalog(file, column)))?;
    }
    if !counted.label_levels.is_empty() {
        rest.expect(fineness::HEAD)?;
        let mut has_ranges = false;
        for (&place, levels) in &counted.label_levels {
            let rows = counted.tuples.frequencies(place).iter().copied();
            let released = counted.tuples.dictionaries[place].texts().into_iter().zip(rows).filter(|(_, own)| *own > 0);
            has_ranges |= fineness::shows_ranges(levels, released.clone().map(|(label, _)| label));
            rest.expect(&fineness::line(levels, released))?;
        }
        if has_ranges {
            rest.expect(fineness::RANGES)?;
        }
        let quasi: Vec<&str> = columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
        rest.example(&quasi, file)?;
    }
    rest.expect("\n")?;
    rest.end()?;
    Ok(one_level)
}

/// Checks the dictionary of clusters of codes. `policy`: the columns of the policy, if it is there; only what they say
/// of quasi-identifiers is the custodian's.
pub(crate) fn check_codes<'a>(
    text: &str,
    certificate: &Certificate<Codes>,
    policy: Option<&Policies<'a>>,
) -> Result<()> {
    let claim = &certificate.promise.claim;
    let file = certificate.files.iter().find(|f| f.rows.is_some()).map_or("", |f| f.name.as_str());
    let quasi: Vec<&ColumnClaim> = certificate.promise.columns.iter().filter(|c| c.role == "quasi").collect();
    let mut rest = Rest { text };
    rest.expect(&head_of_codes(file, claim.k.get(), claim.m, !quasi.is_empty()))?;
    if !quasi.is_empty() {
        rest.expect(HEAD_OF_CELLS)?;
    }
    for column in quasi {
        let line = rest.line()?;
        let shows = line.strip_prefix(&*head_of_cell(&column.name)).and_then(|own| own.strip_suffix(" |"));
        let shows = shows.filter(|own| are_words(own)).ok_or_else(differs)?;
        if let Some(policy) = policy {
            let own = policy(&column.name).ok_or_else(differs)?;
            if shows != rule_of_cell(own) {
                return Err(differs());
            }
        }
    }
    rest.expect("\n")?;
    rest.end()
}

/// Checks the dictionary of patients and their events. `policy`: the columns of the policy by table.
pub(crate) fn check_events<'a>(
    text: &str,
    certificate: &Certificate<Events>,
    policy: Option<&PoliciesOfTables<'a>>,
) -> Result<()> {
    let mut rest = Rest { text };
    let tables = certificate.promise.claim.columns_of(&certificate.promise.columns);
    let files: Vec<String> = tables.iter().map(|(name, _)| table_file(name)).collect();
    rest.expect(&head_of_events(files.get(1..).unwrap_or_default()))?;
    for (at, ((_, columns), file)) in tables.iter().zip(&files).enumerate() {
        rest.expect(&head_of_file(file))?;
        rest.expect(PATIENT_LINE)?;
        let (quasi, others): (Vec<&ColumnClaim>, Vec<_>) = columns.iter().partition(|c| c.role == "quasi");
        for column in quasi.into_iter().chain(others) {
            let own = policy.map(|policy| move |name: &str| policy(at, name));
            rest.column(column, own.as_ref().map(|own| own as &Policies<'_>))?;
        }
        rest.expect("\n")?;
    }
    rest.expect(SOME_MISSING)?;
    rest.end()
}

/// The part of a dictionary that was not looked at yet.
struct Rest<'a> {
    text: &'a str,
}

impl<'a> Rest<'a> {
    fn has(&mut self, words: &str) -> bool {
        let rest = self.text.strip_prefix(words);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn expect(&mut self, words: &str) -> Result<()> {
        if self.has(words) { Ok(()) } else { Err(differs()) }
    }

    fn line(&mut self) -> Result<&'a str> {
        let (line, rest) = self.text.split_once('\n').ok_or_else(differs)?;
        self.text = rest;
        Ok(line)
    }

    fn end(&mut self) -> Result<()> {
        self.expect(LAST_LINE)?;
        if self.text.is_empty() { Ok(()) } else { Err(differs()) }
    }

    /// The line of a column. Returns what the column shows, without how it was cleaned where that is known.
    fn column(&mut self, column: &ColumnClaim, policy: Option<&Policies<'_>>) -> Result<&'a str> {
        let line = self.line()?;
        let before = format!("| {} | {} | ", markdown(&column.name), column.role);
        let shows = line.strip_prefix(&*before).and_then(|own| own.strip_suffix(" |")).filter(|own| are_words(own));
        let shows = shows.ok_or_else(differs)?;
        let known = match policy {
            None => None,
            Some(policy) => Some(policy(&column.name).ok_or_else(differs)?),
        };
        // What comes behind was the custodian's to write.
        let cleaned = known.map(cleaned);
        let is = |words: &str| match &cleaned {
            Some(cleaned) => shows.strip_prefix(words) == Some(cleaned),
            None => shows.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(BEFORE_THAT)),
        };
        let holds = match (&*column.role, known) {
            ("quasi", None) => true,
            ("quasi", Some(known)) => {
                is(SUPPRESSED_THROUGHOUT)
                    || is_rule(shows, &markdown(&known.rule_text), cleaned.as_deref().unwrap_or_default())
            }
            ("detail", _) => is(SUPPRESSED_THROUGHOUT) || is(&detail_of(&column.of)),
            ("pseudonym", _) => is(AS_IN_THE_SOURCE) || is(PSEUDONYM),
            _ => is(AS_IN_THE_SOURCE),
        };
        if !holds {
            return Err(differs());
        }
        Ok(cleaned.as_deref().and_then(|cleaned| shows.strip_suffix(cleaned)).unwrap_or(shows))
    }

    /// The lines about analysing columns of mixed fineness, with one of the columns as their example.
    fn example(&mut self, quasi: &[&str], file: &str) -> Result<()> {
        // The level is the number behind these words, and the lines are as long as any others.
        let level = self.text.split_once("(groups[\"level\"] == \"").and_then(|(_, rest)| rest.split_once('"'));
        let level: usize = level.and_then(|(level, _)| level.parse().ok()).ok_or_else(differs)?;
        let plain = quasi.iter().copied().filter(|name| fineness::is_plain(name));
        let is_example = |column: &&str| self.text.starts_with(&how_to_analyse(column, level, file));
        let column = plain.chain([fineness::NO_EXAMPLE]).find(is_example).ok_or_else(differs)?;
        self.expect(&how_to_analyse(column, level, file))
    }
}

/// Returns whether a text is what a quasi-identifier by this rule shows.
fn is_rule(shows: &str, rule: &str, cleaned: &str) -> bool {
    let Some(shows) = shows.strip_suffix(cleaned) else { return false };
    if [shows.strip_prefix(ONE_LABEL_EACH), shows.strip_prefix(SEE_BELOW), Some(shows)].contains(&Some(rule)) {
        return true;
    }
    let Some(level) = shows.strip_prefix("level ") else { return false };
    let Some((number, rest)) = level.split_once(" of ") else { return false };
    let top: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let named = || rest[top.len()..].strip_prefix(" (").and_then(|own| own.strip_suffix(&format!("): {rule}")));
    is_number(number)
        && is_number(&top)
        && (rest[top.len()..] == format!(": unchanged ({rule})") || named().is_some_and(|name| !name.is_empty()))
}

/// Returns whether a text is one cell of a table, without markup of its own.
fn are_words(text: &str) -> bool {
    !text.is_empty() && is_without_markup(text)
}

pub(super) fn differs() -> Error {
    Error::refused(format!("{DICTIONARY}: its words are not those that Kohort writes for this release."))
}
