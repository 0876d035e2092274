//! Clues in the cells of a column that ask for cleaning: several spellings of a sex, numbers inside texts, numbers that
//! mean a missing value, codes in several spellings.
//!
//! Kept texts are words and numbers from lists in this file, and units. None of them is a value of the data that
//! a policy could give away.

use super::around;
use super::shape::{CellShape, Seen, is_non_binary, words_of};
use kohort_core::number::Decimal;
use kohort_core::table::{number_in_text, units_agree, years_in_text};
use std::collections::{BTreeMap, BTreeSet};

/// A sex in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sex {
    Male,
    Female,
    Other,
    Unknown,
}

impl Sex {
    /// The word that a policy recodes to.
    pub fn word(self) -> &'static str {
        match self {
            Sex::Male => "male",
            Sex::Female => "female",
            Sex::Other => "other",
            Sex::Unknown => "unknown",
        }
    }
}

/// Words that mean one sex in every language that has them.
const WORDS: [(Sex, &str); 4] = [
    (
        Sex::Male,
        "мужской муж мужчина м 男 男性 남 남자 남성 mężczyzna mezczyzna erkek mies muž male man boy männlich maennlich mann homme masculin hombre masculino masc mas varón varon macho maschio mannelijk \
         namja herr monsieur mr",
    ),
    (
        Sex::Female,
        "женский жен женщина ж 女 女性 여 여자 여성 kobieta kvinna kvinde kvinne nainen žena kadın kadin female woman girl weiblich frau femme féminin feminin mujer femenino feminino fem fém hembra femmina vrouw \
         vrouwelijk yeoja madame mrs ms f w",
    ),
    (Sex::Other, "divers diverse other nonbinary d x"),
    (Sex::Unknown, "unknown unbekannt inconnu desconocido unspecified u"),
];

/// Numbers that often stand for a missing value. The weak ones count only beside a strong one.
const STRONG: [i64; 20] =
    [-6, -7, -8, -9, -66, -77, -88, -97, -98, -99, -888, -997, -998, -999, -8888, -9998, -9999, 999, 9999, 99999];
const WEAK: [i64; 5] = [-1, -2, -3, -4, -5];

/// More units or spellings than these are no list.
const MOST_UNITS: usize = 8;
const MOST_SPELLINGS: usize = 40;

/// The clues in one column.
#[derive(Default)]
pub(crate) struct Clues {
    /// Cells with a spelling of a sex.
    pub sexes: BTreeMap<String, u64>,
    /// Cells in which a number is read from a text, with a point and with a comma as decimal mark.
    in_text: [u64; 2],
    /// The bounds of these numbers.
    text_range: Option<(Decimal, Decimal)>,
    /// Cells in which an age in years, months, weeks or days is read from a text, with each decimal mark, and the
    /// bounds of the ages in years.
    in_years: [u64; 2],
    years_range: Option<(Decimal, Decimal)>,
    units: BTreeSet<String>,
    /// Cells with an open end, and the least bound of those that are open above.
    pub open: u64,
    pub least_open: Option<Decimal>,
    /// Cells with a number that may stand for a missing value, as they are written.
    sentinels: BTreeMap<String, u64>,
    /// The bounds of all other numbers.
    plain: Option<(Decimal, Decimal)>,
    /// Codes with a dot after the third place, without it, and with marks at their end or in small letters.
    pub dotted: u64,
    pub undotted: u64,
    pub odd: u64,
    /// Bit i: a code begins with the i-th letter; the last bit: with a digit.
    letters: u32,
}

impl Clues {
    /// Sees a value that occurs in so many cells.
    pub fn see(&mut self, text: &str, seen: &Seen, cells: u64) {
        if seen.has(CellShape::SexWord) && self.sexes.len() < MOST_SPELLINGS {
            *self.sexes.entry(text.to_string()).or_default() += cells;
        }
        if seen.has(CellShape::Icd10) || seen.has(CellShape::Icd9) {
            self.see_code(text, cells);
        }
        match seen.number {
            Some(number) if is_listed(number, &STRONG) || is_listed(number, &WEAK) => {
                *self.sentinels.entry(text.to_string()).or_default() += cells;
            }
            Some(number) => self.plain = around(self.plain, Some((number, number))),
            None if seen.dates == 0 && text.len() <= 30 => self.see_number(text, cells),
            None => {}
        }
    }

    fn see_code(&mut self, text: &str, cells: u64) {
        let tail = text.ends_with(['-', '.', '+', '*', '!', '#']);
        if tail || text.bytes().any(|b| b.is_ascii_lowercase()) {
            self.odd += cells;
        }
        match text.as_bytes() {
            [letter, ..] if letter.is_ascii_alphabetic() => self.letters |= 1 << (letter.to_ascii_uppercase() - b'A'),
            _ => self.letters |= 1 << 31,
        }
        if text.as_bytes().get(3) == Some(&b'.') {
            self.dotted += cells;
        } else if text.len() > 3 && !text.contains('.') {
            self.undotted += cells;
        }
    }

    fn see_number(&mut self, text: &str, cells: u64) {
        if !text.bytes().any(|b| b.is_ascii_digit()) || self.units.len() > MOST_UNITS {
            return;
        }
        for (place, point) in [b'.', b','].into_iter().enumerate() {
            let Some((cell, unit)) = number_in_text(text, point) else { continue };
            let open = cell.trim_start_matches(['>', '<', '=']);
            let Some(number) = Decimal::parse(open, b'.').or_else(|| Decimal::parse(open, point)) else { continue };
            self.in_text[place] += cells;
            if let Some(years) = years_in_text(text, point) {
                self.in_years[place] += cells;
                let years = Decimal::parse(years.trim_start_matches(['>', '<', '=']), point);
                self.years_range = around(self.years_range, years.map(|years| (years, years)));
            }
            if place == 1 && text.contains(',') || place == 0 {
                self.text_range = around(self.text_range, Some((number, number)));
                self.units.insert(unit);
            }
            if place == 0 && open.len() < cell.len() {
                self.open += cells;
                if cell.starts_with('>') {
                    self.least_open = Some(self.least_open.map_or(number, |least| least.min(number)));
                }
            }
        }
    }

    pub fn merge(&mut self, other: Clues) {
        for (text, cells) in other.sexes {
            *self.sexes.entry(text).or_default() += cells;
        }
        for (text, cells) in other.sentinels {
            *self.sentinels.entry(text).or_default() += cells;
        }
        self.in_text.iter_mut().zip(other.in_text).for_each(|(own, cells)| *own += cells);
        self.text_range = around(self.text_range, other.text_range);
        self.in_years.iter_mut().zip(other.in_years).for_each(|(own, cells)| *own += cells);
        self.years_range = around(self.years_range, other.years_range);
        self.units.extend(other.units);
        self.open += other.open;
        self.least_open =
            around(self.least_open.map(|n| (n, n)), other.least_open.map(|n| (n, n))).map(|(least, _)| least);
        self.plain = around(self.plain, other.plain);
        self.dotted += other.dotted;
        self.undotted += other.undotted;
        self.odd += other.odd;
        self.letters |= other.letters;
    }

    /// The numbers that stand for missing values, as they are written, with their cells. Those below zero do where all
    /// others are not, and those far above all others do.
    pub fn sentinels(&self) -> Vec<(&str, u64)> {
        let Some((least, greatest)) = self.plain else { return Vec::new() };
        let zero = Decimal::whole(0);
        let number = |text: &str| Decimal::parse(text, b'.').or_else(|| Decimal::parse(text, b','));
        let strong = |text: &str| {
            number(text).is_some_and(|n| {
                let apart = if n < zero { least >= zero } else { greatest > zero && greatest.times(3) <= n };
                is_listed(n, &STRONG) && apart
            })
        };
        let any = self.sentinels.keys().any(|text| strong(text) && text.starts_with('-'));
        let weak = |text: &str| any && number(text).is_some_and(|n| is_listed(n, &WEAK) && least >= zero);
        let own = self.sentinels.iter().filter(|(text, _)| strong(text) || weak(text));
        own.map(|(text, &cells)| (text.as_str(), cells)).collect()
    }

    /// The bounds of the numbers, without those that stand for missing values.
    pub fn range(&self, all: Option<(Decimal, Decimal)>) -> Option<(Decimal, Decimal)> {
        let sentinels = self.sentinels();
        if sentinels.is_empty() {
            return all;
        }
        // A listed number that is a value after all belongs to the bounds.
        let taken = |text: &String| sentinels.iter().any(|(own, _)| own == text);
        let others = self.sentinels.keys().filter(|text| !taken(text)).filter_map(|text| Decimal::parse(text, b'.'));
        others.fold(self.plain, |range, number| around(range, Some((number, number))))
    }

    /// The bounds of the numbers that are read from texts and their cells, where `number = true` can read all of them.
    pub fn numbers_in_text(&self, decimal: u8) -> Option<((Decimal, Decimal), u64)> {
        let cells = self.in_text[usize::from(decimal == b',')];
        let agree = cells > 0 && self.units.len() <= MOST_UNITS && units_agree(&self.units);
        self.text_range.filter(|_| agree).map(|range| (range, cells))
    }

    /// The bounds of the ages that are read from texts in several units of time and their cells, where `number =
    /// "years"` can read all of them and `number = true` cannot.
    pub fn years_in_text(&self, decimal: u8) -> Option<((Decimal, Decimal), u64)> {
        let cells = self.in_years[usize::from(decimal == b',')];
        let several = cells > 0 && self.units.len() <= MOST_UNITS && !units_agree(&self.units);
        self.years_range.filter(|_| several).map(|range| (range, cells))
    }

    /// Returns whether codes are of several chapters or finer than a category. Numbers after one letter may be those of
    /// regions or groups.
    pub fn are_diagnoses(&self) -> bool {
        self.letters.count_ones() >= 3 || self.dotted > 0
    }

    /// The meaning of each spelling of a sex, if letters can mean one sex only. `M` is a woman beside `H`, and a man
    /// beside `F`, `W` or `V`.
    pub fn sex_of(&self) -> Option<Vec<(&str, Sex)>> {
        let lower: BTreeSet<String> = self.sexes.keys().flat_map(|text| words_of(text)).collect();
        let has = |word: &str| lower.contains(word);
        let spanish = ["hombre", "mujer", "varón", "varon"].iter().any(|word| has(word));
        let female_letter = has("f") || has("w");
        let meaning = |word: &str| -> Option<Sex> {
            if let Some((sex, _)) = WORDS.iter().find(|(_, words)| words.split(' ').any(|own| own == word)) {
                return Some(*sex);
            }
            match word {
                "m" if spanish && !female_letter => Some(Sex::Female),
                "m" if has("h") && !female_letter => Some(Sex::Female),
                "m" if has("v") && !female_letter && !has("man") && !has("vrouw") => None,
                "m" => Some(Sex::Male),
                "h" => Some(Sex::Male),
                "v" if spanish => Some(Sex::Male),
                "v" if has("vrouw") || has("man") => Some(Sex::Female),
                _ => None,
            }
        };
        // A letter beside a word means the same as the word: `M - mujer`.
        let of_text = |text: &str| -> Option<Sex> {
            if is_non_binary(text) {
                return Some(Sex::Other);
            }
            let long: Vec<String> = words_of(text).filter(|word| word.chars().count() > 1).collect();
            let words = if long.is_empty() { words_of(text).collect() } else { long };
            let mut meanings = words.iter().map(|word| meaning(word));
            let first = meanings.next()??;
            meanings.all(|own| own == Some(first)).then_some(first)
        };
        self.sexes.keys().map(|text| Some((text.as_str(), of_text(text)?))).collect()
    }
}

fn is_listed(number: Decimal, list: &[i64]) -> bool {
    list.iter().any(|&own| Decimal::whole(own) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clues(cells: &str) -> Clues {
        let mut clues = Clues::default();
        cells.split('|').for_each(|text| clues.see(text, &Seen::of(text), 1));
        clues
    }

    #[test]
    fn spellings_of_a_sex_are_put_together_where_letters_are_clear() {
        let sexes = |cells: &str| -> Option<String> {
            clues(cells).sex_of().map(|all| all.iter().map(|(text, sex)| format!("{text}={} ", sex.word())).collect())
        };
        assert_eq!(sexes("M|m|Male|F|female").as_deref(), Some("F=female M=male Male=male female=female m=male "));
        assert_eq!(sexes("H|M").as_deref(), Some("H=male M=female "));
        assert_eq!(sexes("H|F").as_deref(), Some("F=female H=male "));
        assert_eq!(sexes("hombre|M|mujer").as_deref(), Some("M=female hombre=male mujer=female "));
        assert_eq!(sexes("man|V|M").as_deref(), Some("M=male V=female man=male "));
        assert_eq!(sexes("1 - Male|2 - Female").as_deref(), Some("1 - Male=male 2 - Female=female "));
        assert_eq!(sexes("M - Mujer|H - Hombre").as_deref(), Some("H - Hombre=male M - Mujer=female "));
        assert_eq!(
            sexes("Boy/Man|Girl/Woman|Non-binary").as_deref(),
            Some("Boy/Man=male Girl/Woman=female Non-binary=other ")
        );
        // Dutch men and women, or Spanish ones.
        assert_eq!(sexes("M|V"), None);
    }

    #[test]
    fn numbers_that_stand_for_missing_values_are_far_from_the_others() {
        let of = |cells: &str| -> Vec<String> {
            clues(cells).sentinels().iter().map(|(text, _)| text.to_string()).collect()
        };
        assert_eq!(of("0|1|2|-8|-9"), ["-8", "-9"]);
        assert_eq!(of("0|1|2|-1|-8"), ["-1", "-8"]);
        assert_eq!(of("0|1|2|-1"), [""; 0]);
        assert_eq!(of("-3.5|1|2|-9"), [""; 0]);
        assert_eq!(of("120|140|999"), ["999"]);
        assert_eq!(of("120|998|999"), [""; 0]);
        assert_eq!(of("87|99"), [""; 0]);
    }

    #[test]
    fn numbers_are_read_from_texts_with_one_unit() {
        let range =
            |cells: &str| clues(cells).numbers_in_text(b'.').map(|((least, most), n)| format!("{least}-{most} {n}"));
        assert_eq!(range("87 years|5 yrs|> 89").as_deref(), Some("5-90 3"));
        assert_eq!(range("87 years|6 months"), None);
        let years =
            |cells: &str| clues(cells).years_in_text(b'.').map(|((least, most), n)| format!("{least}-{most} {n}"));
        assert_eq!(years("87 years|6 months|12 d").as_deref(), Some("0-87 3"));
        assert_eq!(years("87 years|5 yrs"), None);
        assert_eq!(range("5.6 mmol/l|4.1 mmol/l").as_deref(), Some("4.1-5.6 2"));
        assert_eq!(range("5.6 mmol/l|100 mg/dl"), None);
        assert_eq!(clues("87 years|> 89").least_open, Some(Decimal::whole(90)));
    }
}
