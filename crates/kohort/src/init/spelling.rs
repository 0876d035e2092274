//! Keys of people that are written in several ways: which spelling makes one person one key again.
//!
//! A key in two spellings counts a person twice, so that a table is looked at with its keys in one spelling.

use crate::profile::distinct::hash;
use crate::profile::person::keys;
use crate::profile::personal::{personal, same_people};
use crate::profile::sample::Coded;
use crate::profile::shape::CellShape;
use crate::profile::words::{Topic, topics};
use crate::profile::{ColumnProfile, MISSING, Profile, UnitedKey};
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use kohort_core::Result;
use kohort_core::table::{ColumnCleaning, Input, KeySpelling, Source, Spelling, Steps, open};

/// The most columns that are looked at for spellings.
const MOST_COLUMNS: usize = 12;
/// With fewer values than this a column is not the key of people.
const FEWEST_VALUES: u64 = 20;

/// Profiles a table again with the keys of people in one spelling, where they are written in several.
pub(super) fn united(source: &Source, mut profile: Profile) -> Result<Profile> {
    let names: Vec<Vec<Topic>> = profile.columns.iter().map(|column| topics(&column.name)).collect();
    let may = |c: &usize| may_be_spelled(&profile.columns[*c], &names[*c]);
    let columns: Vec<usize> = (0..names.len()).filter(may).take(MOST_COLUMNS).collect();
    if columns.is_empty() {
        return Ok(profile);
    }
    let ways = ways(source, &columns)?;
    let by = |spelling: KeySpelling, chosen: &dyn Fn(&Ways) -> bool| -> Result<Option<(Vec<usize>, Profile)>> {
        let own: Vec<usize> =
            columns.iter().zip(&ways).filter(|(_, ways)| chosen(ways)).map(|(&column, _)| column).collect();
        if own.is_empty() {
            return Ok(None);
        }
        let cleaned = spelled(source, &profile, &own, spelling)?;
        Ok(Some((own, cleaned)))
    };
    let mut by_characters = by(KeySpelling::Characters, &|ways| ways.characters.len() < ways.own.len())?;
    let mut by_digits = by(KeySpelling::Digits, &|ways| ways.digits.len() < ways.characters.len())?;
    for (&column, ways) in columns.iter().zip(&ways) {
        let has = |by: &Option<(Vec<usize>, Profile)>| by.as_ref().is_some_and(|(own, _)| own.contains(&column));
        let finer = by_characters.as_ref().filter(|_| has(&by_characters)).map_or(&profile, |(_, own)| own);
        let (finer, digits) = (&finer.sample.columns[column], by_digits.as_ref().filter(|_| has(&by_digits)));
        let is_number = |(_, own): &(Vec<usize>, Profile)| {
            is_same_number(&profile, &names, finer, &own.sample.columns[column], ways)
        };
        let (spelling, by) = match digits {
            Some(digits) if is_number(digits) => (KeySpelling::Digits, &mut by_digits),
            _ => (KeySpelling::Characters, &mut by_characters),
        };
        let Some((_, united)) = by.as_mut().filter(|(own, _)| own.contains(&column)) else { continue };
        let mut swap = |profile: &mut Profile| {
            std::mem::swap(&mut profile.columns[column], &mut united.columns[column]);
            std::mem::swap(&mut profile.sample.columns[column], &mut united.sample.columns[column]);
        };
        swap(&mut profile);
        // Only keys get another spelling: other columns are released as they are.
        match keys(&profile, &names)[column] {
            Some(_) => {
                profile.columns[column].spelling = Some(UnitedKey { spelling, keys: ways.own.len() as u64 });
            }
            None => swap(&mut profile),
        }
    }
    Ok(profile)
}

/// Returns whether a column could be the key of people in several spellings.
fn may_be_spelled(column: &ColumnProfile, topics: &[Topic]) -> bool {
    let named = topics.iter().any(|topic| matches!(topic, Topic::Patient | Topic::Parent | Topic::Id | Topic::Number));
    let plain = column.mostly(100, CellShape::Whole) && column.cells(CellShape::LeadingZero) == 0;
    let decimals = column.cells(CellShape::PointDecimal) + column.cells(CellShape::CommaDecimal);
    let codes = [CellShape::Icd9, CellShape::Icd10, CellShape::MedicalCode, CellShape::PostalCode];
    let known = matches!(
        topics.first(),
        Some(Topic::Diagnosis | Topic::Procedure | Topic::Postal | Topic::Age | Topic::Calendar)
    );
    column.distinct.values >= FEWEST_VALUES
        && column.distinct.values * 60 >= column.present
        && !plain
        && decimals == column.cells(CellShape::WholeDecimal)
        && !column.is_dated()
        && column.mostly(if named { 50 } else { 80 }, CellShape::Digit)
        && (named || !known && !codes.iter().any(|&shape| column.mostly(80, shape)))
        && !column.mostly(50, CellShape::Sentence)
        && !column.mostly(50, CellShape::Phone)
}

/// The keys of a column by what counts in them.
#[derive(Default)]
struct Ways {
    own: HashSet<u64, FixedState>,
    characters: HashSet<u64, FixedState>,
    digits: HashSet<u64, FixedState>,
    /// Keys with letters, without, with a sign between digits, and without.
    lettered: u64,
    bare: u64,
    signed: u64,
    whole: u64,
    /// Keys with letters between two digits: these are no prefix.
    mixed: u64,
}

impl Ways {
    fn see(&mut self, cell: &[u8], hashes: [u64; 3]) {
        let [own, characters, digits] = hashes;
        if !self.own.insert(own) {
            return;
        }
        self.characters.insert(characters);
        self.digits.insert(digits);
        let letters = cell.iter().any(|b| !b.is_ascii() || b.is_ascii_alphabetic());
        *if letters { &mut self.lettered } else { &mut self.bare } += 1;
        let first = cell.iter().position(u8::is_ascii_digit).unwrap_or_default();
        let last = cell.iter().rposition(u8::is_ascii_digit).unwrap_or_default();
        let inside = &cell[first..last.max(first)];
        self.mixed += u64::from(inside.iter().any(|b| !b.is_ascii() || b.is_ascii_alphabetic()));
        let signed = inside.iter().any(|b| !b.is_ascii_alphanumeric());
        *if signed { &mut self.signed } else { &mut self.whole } += 1;
    }

    /// Returns whether some keys have a prefix or signs that others lack.
    fn is_uneven(&self) -> bool {
        let both = |a: u64, b: u64| a.min(b) * 50 > a.max(b);
        self.mixed * 20 < self.own.len() as u64 && (both(self.lettered, self.bare) || both(self.signed, self.whole))
    }
}

/// Counts the keys of columns in each spelling.
fn ways(source: &Source, columns: &[usize]) -> Result<Vec<Ways>> {
    let mut all: Vec<Ways> = columns.iter().map(|_| Ways::default()).collect();
    source.scan(
        |_| (),
        |(), chunk| {
            let of = |&column: &usize| {
                let mut seen: HashSet<u64, FixedState> = HashSet::default();
                let cells = (0..chunk.rows()).map(|row| chunk.cell(row, column).trim_ascii());
                let own = cells
                    .filter(|cell| !cell.is_empty() && !MISSING.iter().any(|mark| mark.as_bytes() == *cell))
                    .filter_map(|cell| {
                        let own = hash(cell);
                        seen.insert(own).then(|| {
                            let text = String::from_utf8_lossy(cell);
                            let spelled = |spelling: KeySpelling| hash(spelling.spell(&text).as_bytes());
                            (cell.to_vec(), [own, spelled(KeySpelling::Characters), spelled(KeySpelling::Digits)])
                        })
                    });
                own.collect::<Vec<_>>()
            };
            Ok(columns.iter().map(of).collect::<Vec<_>>())
        },
        |part| {
            for (ways, cells) in all.iter_mut().zip(part) {
                cells.into_iter().for_each(|(cell, hashes)| ways.see(&cell, hashes));
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// The table with some columns in one spelling.
fn spelled(source: &Source, profile: &Profile, columns: &[usize], spelling: KeySpelling) -> Result<Profile> {
    let cleaning = columns.iter().map(|&column| ColumnCleaning {
        name: profile.columns[column].name.clone(),
        steps: Steps { spelling: Some(Spelling::Key(spelling)), ..Steps::default() },
        ..ColumnCleaning::default()
    });
    // A mark for a missing key is not a key.
    let missing = source.input().missing.iter().cloned().chain(MISSING.map(str::to_string)).collect();
    let input = Input { cleaning: cleaning.collect(), missing, ..source.input().clone() };
    Profile::of(&open(&input)?.with_threads(source.threads()))
}

/// Returns whether keys with the same digits are one person's: what belongs to a person stays the same where the digits
/// are the same and letters or signs differ. Where nothing shows it, a prefix or signs that only some keys have do.
fn is_same_number(profile: &Profile, names: &[Vec<Topic>], finer: &Coded, digits: &Coded, ways: &Ways) -> bool {
    let personal = personal(profile, names);
    let (pairs, _) = digits.pairs_across(finer, finer);
    match same_people(digits, finer, &personal).filter(|_| pairs >= 5) {
        // The children of one mother differ in their sex.
        Some(same) if ways.is_uneven() => same.most >= 0.5,
        Some(same) => same.least >= 0.5,
        None => ways.is_uneven(),
    }
}
