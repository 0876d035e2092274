//! What a cell looks like: a number, a date, a diagnosis code, a telephone number, a sentence.

use kohort_core::calendar::DateFormat;
pub(crate) use kohort_core::calendar::USUAL_FORMATS as DATE_FORMATS;
use kohort_core::code_systems::CodeSystem;
use kohort_core::number::Decimal;
use std::sync::LazyLock;

/// What a cell may look like. One cell can have several shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellShape {
    /// `-12`.
    Whole,
    /// `12.5`.
    PointDecimal,
    /// `12,5`.
    CommaDecimal,
    /// `12,5` but not `12,500`, which may be a thousand.
    SurelyComma,
    /// `007`.
    LeadingZero,
    /// `anna@example.org`.
    Email,
    /// `https://…`.
    Url,
    /// `87ba3fec-791b-4565-87b6-cf9ce1dec850`.
    Uuid,
    /// `999-47-2873`.
    SocialSecurity,
    /// `+49 30 1234567`, `(555) 123-4567`.
    Phone,
    /// Five words or more.
    Sentence,
    /// `Anna`, `O'Neill, Mary-Ann`.
    PersonName,
    /// A diagnosis code of ICD-9-CM.
    Icd9,
    /// The same, with a letter: `V27.0`, `E812`.
    Icd9Letter,
    /// A diagnosis code of ICD-10-CM.
    Icd10,
    /// A digit occurs.
    Digit,
    /// The last character is `*`.
    EndsInStar,
    /// A word or letter for a sex, in one of several languages.
    SexWord,
    /// `2019-04`, `04/2019`, `2019Q2`.
    YearMonth,
    /// A date with a time of day, in whatever format.
    Timestamp,
}

/// How many shapes there are.
pub(crate) const SHAPES: usize = CellShape::Timestamp as usize + 1;

/// Words and letters for a sex.
const SEX_WORDS: [&str; 47] = [
    "m",
    "f",
    "w",
    "h",
    "v",
    "u",
    "x",
    "d",
    "male",
    "female",
    "man",
    "woman",
    "boy",
    "girl",
    "unknown",
    "other",
    "männlich",
    "weiblich",
    "maennlich",
    "divers",
    "homme",
    "femme",
    "masculin",
    "féminin",
    "hombre",
    "mujer",
    "masculino",
    "femenino",
    "feminino",
    "varón",
    "varon",
    "maschio",
    "femmina",
    "vrouw",
    "mann",
    "frau",
    "namja",
    "yeoja",
    "unbekannt",
    "inconnu",
    "desconocido",
    "herr",
    "monsieur",
    "madame",
    "mr",
    "mrs",
    "ms",
];

static FORMATS: LazyLock<Vec<DateFormat>> =
    LazyLock::new(|| DATE_FORMATS.iter().filter_map(|format| DateFormat::new(format).ok()).collect());

/// All that is seen in one cell.
pub(crate) struct Seen {
    /// Bit i: it has the i-th [`CellShape`].
    pub shapes: u32,
    /// Bit i: it is a date in the i-th of [`DATE_FORMATS`].
    pub dates: u64,
    /// The number it is.
    pub number: Option<Decimal>,
}

impl Seen {
    /// Whether the cell has a shape.
    pub fn has(&self, shape: CellShape) -> bool {
        self.shapes & (1 << shape as u32) != 0
    }

    /// Looks at a cell that is not missing.
    pub fn of(text: &str) -> Seen {
        let mut seen = Seen { shapes: 0, dates: dates(text), number: None };
        seen.see_number(text);
        let mut add = |shape: CellShape, is: bool| seen.shapes |= u32::from(is) << shape as u32;
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        add(CellShape::Digit, digits > 0);
        add(CellShape::EndsInStar, text.ends_with('*'));
        add(CellShape::Email, is_email(text));
        add(CellShape::Url, text.contains("://") || text.starts_with("www."));
        add(CellShape::Uuid, is_grouped(text, &[8, 4, 4, 4, 12], |b| b.is_ascii_hexdigit()));
        add(CellShape::SocialSecurity, is_grouped(text, &[3, 2, 4], |b| b.is_ascii_digit()));
        add(CellShape::Phone, seen.dates == 0 && seen.number.is_none() && is_phone(text, digits));
        add(CellShape::SexWord, text.len() <= 12 && SEX_WORDS.contains(&text.to_lowercase().as_str()));
        add(CellShape::YearMonth, is_year_month(text));
        add(CellShape::Timestamp, is_timestamp(text, digits));
        add(CellShape::Sentence, text.split_whitespace().count() >= 5);
        add(CellShape::PersonName, is_person_name(text));
        if digits >= 2 && text.len() <= 8 {
            let icd9 = CodeSystem::Icd9.place(text).is_some();
            add(CellShape::Icd9, icd9);
            add(CellShape::Icd9Letter, icd9 && text.as_bytes()[0].is_ascii_alphabetic());
            add(CellShape::Icd10, CodeSystem::Icd10.place(text).is_some());
        }
        seen
    }

    fn see_number(&mut self, text: &str) {
        let shape = match (text.contains('.'), text.split_once(',')) {
            (false, None) => CellShape::Whole,
            (true, _) => CellShape::PointDecimal,
            (false, Some(_)) => CellShape::CommaDecimal,
        };
        let point = if shape == CellShape::CommaDecimal { b',' } else { b'.' };
        self.number = Decimal::parse(text, point);
        if self.number.is_none() {
            return;
        }
        self.shapes |= 1 << shape as u32;
        if text.split_once(',').is_some_and(|(_, decimals)| decimals.len() != 3) {
            self.shapes |= 1 << CellShape::SurelyComma as u32;
        }
        if shape == CellShape::Whole && text.len() > 1 && text.starts_with('0') {
            self.shapes |= 1 << CellShape::LeadingZero as u32;
        }
    }
}

fn dates(text: &str) -> u64 {
    if !(6..=25).contains(&text.len()) || !text.as_bytes()[0].is_ascii_digit() {
        return 0;
    }
    let all_digits = text.bytes().all(|b| b.is_ascii_digit());
    if all_digits && text.len() != 8 {
        return 0;
    }
    (0..).zip(FORMATS.iter()).filter(|(_, format)| format.covers(text)).fold(0, |bits, (i, _): (u32, _)| bits | 1 << i)
}

/// A year of this or the last century, with a month or quarter before or after it.
fn is_year_month(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', '.', 'Q', 'q', ' ']).filter(|part| !part.is_empty()).collect();
    let is_year = |part: &str| part.len() == 4 && part.parse().is_ok_and(|year: u32| (1900..2100).contains(&year));
    let is_month = |part: &str| part.len() <= 2 && part.parse().is_ok_and(|month: u32| (1..=12).contains(&month));
    matches!(parts[..], [a, b] if is_year(a) && is_month(b) || is_month(a) && is_year(b))
}

/// At least eight digits with a colon between two of them, as clocks show the time.
fn is_timestamp(text: &str, digits: usize) -> bool {
    let clock = |pair: &[u8]| pair[0].is_ascii_digit() && pair[1] == b':' && pair[2].is_ascii_digit();
    (8..=24).contains(&digits) && text.len() <= 35 && text.as_bytes().windows(3).any(clock)
}

fn is_email(text: &str) -> bool {
    match text.split_once('@') {
        Some((user, host)) => {
            !user.is_empty() && host.contains('.') && !host.starts_with('.') && !text.contains(char::is_whitespace)
        }
        None => false,
    }
}

/// Groups of these lengths with a hyphen between them.
fn is_grouped(text: &str, lengths: &[usize], is: fn(u8) -> bool) -> bool {
    let groups = text.split('-');
    groups.clone().count() == lengths.len()
        && groups.zip(lengths).all(|(group, &length)| group.len() == length && group.bytes().all(is))
}

/// Digits in groups, as numbers to dial are written. Digits alone are a number like any other.
fn is_phone(text: &str, digits: usize) -> bool {
    let dialled = text.bytes().all(|b| b.is_ascii_digit() || b" +-()/.".contains(&b));
    let groups = text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    let opened = text.starts_with(['+', '(']) || text.starts_with("00");
    dialled && (7..=15).contains(&digits) && (groups >= 3 || opened)
}

/// One to four words of letters that start with a capital.
fn is_person_name(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || "'’-.,".contains(c))
            && word.chars().filter(|c| c.is_alphabetic()).count() >= 2
    };
    let words = text.split_whitespace().count();
    (1..=4).contains(&words) && text.split_whitespace().any(is_word) && !text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shapes: &[CellShape]) {
        let seen = Seen::of(text);
        let all: u32 = shapes.iter().fold(0, |bits, &shape| bits | 1 << shape as u32);
        assert_eq!(format!("{:b}", seen.shapes), format!("{all:b}"), "{text}");
    }

    #[test]
    fn a_cell_has_the_shapes_it_looks_like() {
        use CellShape::*;
        check("12", &[Whole, Digit]);
        check("-1.5", &[PointDecimal, Digit]);
        check("1,5", &[CommaDecimal, SurelyComma, Digit]);
        check("1,500", &[CommaDecimal, Digit]);
        check("007", &[Whole, LeadingZero, Digit, Icd9]);
        check("anna@example.org", &[Email]);
        check("87ba3fec-791b-4565-87b6-cf9ce1dec850", &[Uuid, Digit]);
        check("999-47-2873", &[SocialSecurity, Phone, Digit]);
        check("(555) 1234567", &[Phone, Digit]);
        check("2010-03-14", &[Digit]);
        check("100-499", &[Digit]);
        check("Anna O'Neill", &[PersonName]);
        check("V27.0", &[Icd9, Icd9Letter, Icd10, Digit]);
        check("E11.9", &[Icd10, Digit]);
        check("came in with pain since Monday", &[Sentence]);
        check("021*", &[Digit, EndsInStar]);
        check("2019-04", &[Digit, YearMonth]);
        check("2019-04-01 10:30:00+01:00", &[Digit, Timestamp]);
        check("weiblich", &[SexWord]);
        check("ä", &[]);
    }

    #[test]
    fn every_format_is_known_and_dates_are_seen() {
        assert_eq!(FORMATS.len(), DATE_FORMATS.len());
        let formats = |text: &str| -> Vec<&str> {
            let dates = Seen::of(text).dates;
            (0..DATE_FORMATS.len()).filter(|i| dates & (1 << i) != 0).map(|i| DATE_FORMATS[i]).collect()
        };
        assert_eq!(formats("2010-03-14"), ["%Y-%m-%d"]);
        assert_eq!(formats("03/04/2010"), ["%m/%d/%Y", "%d/%m/%Y"]);
        assert_eq!(formats("14.3.2010 7:05"), ["%d.%m.%Y %H:%M"]);
        assert_eq!(formats("20100314"), ["%Y%m%d"]);
        assert_eq!(formats("3-4-2010"), ["%d-%m-%Y", "%m-%d-%Y"]);
        assert_eq!(formats("14 Mar 2010"), ["%d %b %Y"]);
        assert_eq!(formats("01JAN2022:00:00"), ["%d%b%Y:%H:%M"]);
        assert_eq!(formats("20101314"), [""; 0]);
        assert_eq!(formats("2010-03-14T10:00:00Z"), ["%Y-%m-%dT%H:%M:%SZ"]);
    }
}
