//! The shape of a cell: a number, a date, a diagnosis code, a telephone number, a sentence.

pub(crate) use kohort_core::calendar::USUAL_FORMATS as DATE_FORMATS;
use kohort_core::calendar::{DateFormat, is_usual};
use kohort_core::code_systems::CodeSystem;
use kohort_core::number::Decimal;
use std::sync::LazyLock;

/// A shape that a cell may have. One cell can have several shapes.
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
    /// `87ba3fec-791b-4565-87b6-cf9ce1dec850`, also in braces; `9f86d081884c7d659a2feaa0c55ad015`.
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
    /// `192.168.0.7`, `00:1B:44:11:3A:B7`.
    NetworkAddress,
    /// `J.K.`, `A. B.`.
    Initials,
    /// `Dr. Weber`, `Smith, John MD`, `M. Dubois`.
    TitledName,
    /// `Mary Smith`, `SMITH, J`: of names that many people have.
    FrequentName,
    /// `12.0`: a whole number that was stored with decimals.
    WholeDecimal,
    /// `yes`, `never`, `strongly agree`, `negative`, `transferred`: a step of a scale, or a result.
    ScaleWord,
    /// `A10BA02`, `2951-2`, `J1100`, `8140/3`, `T2`: a code of a drug, a test, a treatment or a tumour.
    MedicalCode,
    /// `佐藤 花子`: two to eight letters of Chinese, Japanese or Korean, as names have.
    EastAsianName,
    /// `1012 AB`, `SW1A 1AA`, `K1A 0B6`: a postal code with letters.
    PostalCode,
    /// `Bayern`, `TX`, `North`: a country, a region or a large town.
    Place,
    /// `White`, `türkisch`, `widowed`: an ethnicity, a nationality, a religion or a marital status.
    Origin,
    /// `mmol/L`, `mg/dl`, `%`, `mmHg`: a unit of measurement.
    Unit,
}

/// How many shapes there are.
pub(crate) const SHAPES: usize = CellShape::Unit as usize + 1;

/// Words and letters for a sex.
const SEX_WORDS: [&str; 95] = [
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
    "masc",
    "fem",
    "mas",
    "fém",
    "mannelijk",
    "vrouwelijk",
    "nonbinary",
    "diverse",
    "feminin",
    "hembra",
    "macho",
    "k",
    "kobieta",
    "mężczyzna",
    "mezczyzna",
    "kvinna",
    "kvinde",
    "kvinne",
    "mand",
    "nainen",
    "mies",
    "žena",
    "muž",
    "kadın",
    "kadin",
    "erkek",
    "男",
    "女",
    "男性",
    "女性",
    "남",
    "여",
    "남자",
    "여자",
    "남성",
    "여성",
    "муж",
    "жен",
    "мужской",
    "женский",
    "мужчина",
    "женщина",
    "м",
    "ж",
    "ชาย",
    "หญิง",
    "άνδρας",
    "γυναίκα",
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
    year: Option<i64>,
}

impl Seen {
    /// Returns whether the cell has a shape.
    pub fn has(&self, shape: CellShape) -> bool {
        self.shapes & (1 << shape as u32) != 0
    }

    /// The year of the date that it is.
    pub fn year(&self) -> Option<i64> {
        self.year
    }

    /// Looks at a cell that is not missing.
    pub fn of(text: &str) -> Seen {
        let dates = dates(text);
        let first = FORMATS.get(dates.trailing_zeros() as usize);
        let year = first.and_then(|format| format.parse(text)).map(|date| date.year());
        let mut seen = Seen { shapes: 0, dates, number: None, year };
        seen.see_number(text);
        let mut add = |shape: CellShape, is: bool| seen.shapes |= u32::from(is) << shape as u32;
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        add(CellShape::Digit, digits > 0);
        add(CellShape::EndsInStar, text.ends_with('*'));
        add(CellShape::Email, is_email(text));
        add(CellShape::Url, text.contains("://") || text.starts_with("www."));
        let bare = text.trim_start_matches('{').trim_end_matches('}');
        add(CellShape::Uuid, is_grouped(bare, &[8, 4, 4, 4, 12], |b| b.is_ascii_hexdigit()) || is_digest(text, digits));
        add(CellShape::NetworkAddress, is_network_address(text));
        add(CellShape::Initials, is_initials(text));
        add(CellShape::TitledName, is_titled_name(text));
        add(CellShape::FrequentName, super::names::is_frequent_name(text));
        add(CellShape::SocialSecurity, is_grouped(text, &[3, 2, 4], |b| b.is_ascii_digit()));
        add(CellShape::PostalCode, is_postal_code(text));
        add(CellShape::Unit, is_unit(text));
        add(CellShape::Place, super::known_words::is_place(text) && !is_postal_code(text));
        add(CellShape::Origin, super::known_words::is_origin(text));
        add(CellShape::ScaleWord, is_scale_word(text));
        add(CellShape::MedicalCode, is_medical_code(text));
        add(CellShape::EastAsianName, is_east_asian_name(text));
        let is_number = seen.dates == 0 && seen.number.is_none();
        add(CellShape::Phone, is_number && is_phone(text, digits) && !is_network_address(text));
        add(CellShape::SexWord, is_sex(text));
        add(CellShape::YearMonth, is_year_month(text));
        add(CellShape::Timestamp, is_timestamp(text, digits));
        let words = || text.split_whitespace();
        // The groups of a long number are no words.
        let lettered = || words().filter(|word| word.contains(char::is_alphabetic)).count();
        add(CellShape::Sentence, words().count() >= 5 && lettered() >= 2);
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
        self.number = Decimal::of_cell(text, point);
        if self.number.is_none() {
            return;
        }
        self.shapes |= 1 << shape as u32;
        if text.split_once(',').is_some_and(|(_, decimals)| decimals.len() != 3) {
            self.shapes |= 1 << CellShape::SurelyComma as u32;
        }
        if text.split_once('.').is_some_and(|(_, decimals)| decimals.bytes().all(|b| b == b'0')) {
            self.shapes |= 1 << CellShape::WholeDecimal as u32;
        }
        if shape == CellShape::Whole && text.len() > 1 && text.starts_with('0') {
            self.shapes |= 1 << CellShape::LeadingZero as u32;
        }
    }
}

fn dates(text: &str) -> u64 {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if !(6..=40).contains(&text.len()) || !(3..=24).contains(&digits) {
        return 0;
    }
    let all_digits = digits == text.len();
    // Most cells with digits are plain numbers.
    let is_decimal = digits + 1 == text.len() && text.contains(['.', ',']);
    if is_decimal || all_digits && ![8, 12, 14].contains(&digits) {
        return 0;
    }
    let formats = (0..).zip(FORMATS.iter().zip(DATE_FORMATS));
    formats
        .filter(|(_, (_, name))| !all_digits || !name.contains(['-', '.', '/', ' ', ':', 'b']))
        .filter(|(_, (format, name))| is_usual(name, format, text))
        .fold(0, |bits, (i, _): (u32, _)| bits | 1 << i)
}

/// The words of a text in small letters.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// One or two words for a sex, also behind a code: `1 - Male`, `Boy/Man`, `masc.`
fn is_sex(text: &str) -> bool {
    is_non_binary(text)
        || text.len() <= 24
            && (1..=3).contains(&words_of(text).count())
            && words_of(text).all(|word| SEX_WORDS.contains(&word.as_str()))
            && text.bytes().filter(u8::is_ascii_digit).count() <= 1
            // M0 and M6 are months, 1-F is a woman.
            && !text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit())
}

/// The word for neither sex that is written as two; `Non` alone is an answer in French.
pub(crate) fn is_non_binary(text: &str) -> bool {
    ["non-binary", "non binary"].contains(&text.to_lowercase().as_str())
}

/// Hexadecimal digits as a program writes them: long, of both kinds, in one case.
fn is_digest(text: &str, digits: usize) -> bool {
    let letters = text.len() - digits.min(text.len());
    let one_case = !text.bytes().any(|b| b.is_ascii_lowercase()) || !text.bytes().any(|b| b.is_ascii_uppercase());
    (16..=128).contains(&text.len())
        && letters >= 2
        && digits >= 2
        && one_case
        && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A postal code with digits and letters, as in the Netherlands, the United Kingdom and Canada.
fn is_postal_code(text: &str) -> bool {
    let kind = |b: u8| match b {
        b'0'..=b'9' => '9',
        b'A'..=b'Z' => 'A',
        _ => '?',
    };
    let pattern: String = text.bytes().filter(|b| *b != b' ').map(kind).collect();
    let blanks = text.bytes().filter(|b| *b == b' ').count();
    let british = ["A99AA", "A999AA", "AA99AA", "AA999AA", "A9A9AA", "AA9A9AA"];
    text.len() <= 8
        && blanks <= 1
        && (pattern == "9999AA" || pattern == "A9A9A9" || british.contains(&pattern.as_str()))
}

/// Every word is one of those in which scales and results are written.
fn is_scale_word(text: &str) -> bool {
    const WORDS: &str = "yes no y n true false never rarely seldom sometimes occasionally often usually always daily weekly \
        monthly yearly agree disagree strongly somewhat slightly moderately extremely very not at all neither nor neutral \
        poor fair good excellent better worse same none mild moderate severe low medium high little much a lot some most \
        difficult easy satisfied dissatisfied likely unlikely several days more than half the nearly every day dont know \
        don t refused ja nein nie selten manchmal oft immer gut schlecht sehr stimme zu weiss oui non jamais \
        parfois souvent toujours si nunca raramente veces siempre bueno malo mai spesso sempre sao nao nee nooit soms vaak \
        altijd tak nej nigdy czasami czesto zawsze \
        alive dead died deceased survived expired censored event relapse recurrence remission progression progressive \
        stable improved improvement worsened recovered cured healed discharged home transferred transfer admitted \
        positive negative pos neg normal abnormal elevated detected undetected reactive nonreactive inconclusive \
        indeterminate equivocal borderline pending complete completed incomplete active inactive open closed done final \
        preliminary failed passed success failure withdrawn ongoing lost confirmed suspected probable possible \
        verstorben tot lebend lebt entlassen verlegt geheilt gebessert unverändert verschlechtert regulär positiv negativ \
        unauffällig auffällig bestätigt verdacht abgeschlossen offen vivo viva muerto muerta fallecido fallecida alta \
        mejoría curado curada trasladado confirmado descartado sospechoso positivo negativo vivant décédé guéri \
        transféré confirmé suspecté positif négatif óbito cura curado transferido suspeito deceduto deceduta guarito \
        dimesso trasferito confermato sospetto overleden levend genezen ontslagen overgeplaatst positief negatief \
        vermoedelijk bevestigd afgerond";
    static SCALE: LazyLock<std::collections::HashSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());
    // Of single letters, only those for yes and no say something.
    let says = |word: String| word.chars().count() > 1 || word == "y" || word == "n";
    text.len() <= 60
        && !text.bytes().any(|b| b.is_ascii_digit())
        && words_of(text).any(says)
        && words_of(text).all(|word| SCALE.contains(word.as_str()))
}

/// A code of ATC, LOINC (with its check digit), HCPCS or the like, the histology of ICD-O, or a part of a TNM stage.
fn is_medical_code(text: &str) -> bool {
    let kind = |b: u8| match b {
        b'0'..=b'9' => '9',
        b'A'..=b'Z' => 'A',
        other => other as char,
    };
    if !(2..=8).contains(&text.len()) || !text.is_ascii() {
        return false;
    }
    let pattern: String = text.bytes().map(kind).collect();
    match pattern.as_str() {
        "A99AA99" | "A9999" | "9999/9" => true,
        "99-9" | "999-9" | "9999-9" | "99999-9" => has_check_digit(text),
        _ => is_stage(text),
    }
}

/// A number whose last digit checks the others, as Luhn's formula does.
fn has_check_digit(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit).map(|b| u32::from(b - b'0'));
    let of = |(place, digit): (usize, u32)| match place % 2 {
        0 => digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    };
    digits.enumerate().map(of).sum::<u32>().is_multiple_of(10)
}

/// `T2`, `cN1`, `pM0`, `Tis`, `NX`.
fn is_stage(text: &str) -> bool {
    let stage = text.trim_start_matches(['c', 'p', 'y', 'r']);
    let (most, rest) = match stage.as_bytes().first() {
        Some(b'T') => (b'4', &stage[1..]),
        Some(b'N') => (b'3', &stage[1..]),
        Some(b'M') => (b'1', &stage[1..]),
        _ => return false,
    };
    let number = rest.trim_end_matches(['a', 'b', 'c', 'd']);
    matches!(rest, "X" | "x" | "is") || matches!(number.as_bytes(), [digit] if (b'0'..=most).contains(digit))
}

/// A unit of measurement, of those that laboratories and wards write.
fn is_unit(text: &str) -> bool {
    // One letter is a sex more often than a unit.
    const UNITS: &str = "% mmhg bpm kg mg µg ug ng pg fl cm mm dl ml mmol mol iu °c °f celsius ratio index sec min \
        mosm/kg meq/l kcal kpa";
    const OF: &str = "l dl ml µl ul nl mmol mol g kg mg min h d 24h day hour sec s m2 hpf cm";
    let (lower, is) = (text.to_lowercase(), |list: &str, word: &str| list.split_whitespace().any(|own| own == word));
    match lower.split_once('/') {
        Some((what, of)) => text.len() <= 16 && !what.is_empty() && what.len() <= 10 && is(OF, of.trim()),
        None => is(UNITS, lower.trim()),
    }
}

/// Two to eight letters of Chinese, Japanese or Korean, with one space at most.
fn is_east_asian_name(text: &str) -> bool {
    let is_own =
        |c: char| matches!(c, '\u{3005}' | '\u{3041}'..='\u{30fe}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    let letters = text.chars().filter(|c| is_own(*c)).count();
    let spaces = text.chars().filter(|c| c.is_whitespace()).count();
    (2..=8).contains(&letters) && spaces <= 1 && letters + spaces == text.chars().count()
}

/// An address of a computer or a device.
fn is_network_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let version_4 = parts.len() == 4 && parts.iter().all(|part| part.len() <= 3 && part.parse::<u8>().is_ok());
    let pairs: Vec<&str> = text.split([':', '-']).collect();
    let hardware =
        pairs.len() == 6 && pairs.iter().all(|pair| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit()));
    version_4 || hardware
}

/// Single capital letters, each with its dot.
fn is_initials(text: &str) -> bool {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    (2..=10).contains(&letters.len())
        && letters.len().is_multiple_of(2)
        && letters.chunks(2).all(|pair| pair[0].is_uppercase() && pair[1] == '.')
}

/// A name with the title of a physician or of a person.
fn is_titled_name(text: &str) -> bool {
    const TITLES: [&str; 18] = [
        "dr", "dra", "drs", "doctor", "prof", "mr", "mrs", "ms", "miss", "herr", "frau", "dott", "dottssa", "sr",
        "sra", "mme", "md", "rn",
    ];
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()).collect();
    let is_title = |word: &str| TITLES.contains(&word.replace('.', "").to_lowercase().as_str());
    // An initial before a name, as in `M. Dubois`.
    let is_initial = |word: &str| word.len() == 2 && word.ends_with('.') && word.starts_with(char::is_uppercase);
    let ends = words.first().is_some_and(|word| is_title(word) || is_initial(word))
        || words.last().is_some_and(|word| is_title(word));
    (2..=6).contains(&words.len()) && ends && is_person_name(text)
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
        check("Mary Smith", &[PersonName, FrequentName]);
        check("V27.0", &[Icd9, Icd9Letter, Icd10, Digit]);
        check("E11.9", &[Icd10, Digit]);
        check("came in with pain since Monday", &[Sentence]);
        check("021*", &[Digit, EndsInStar]);
        check("2019-04", &[Digit, YearMonth]);
        check("2019-04-01 10:30:00+01:00", &[Digit, Timestamp]);
        check("70.0", &[PointDecimal, Digit, WholeDecimal]);
        check("A10BA02", &[Digit, MedicalCode]);
        check("2951-2", &[Digit, MedicalCode]);
        check("2951-3", &[Digit]);
        check("8140/3", &[Digit, MedicalCode]);
        check("pT2a", &[Digit, MedicalCode]);
        check("M6", &[Digit]);
        check("佐藤 花子", &[EastAsianName]);
        check("strongly agree", &[ScaleWord]);
        check("weiblich", &[SexWord]);
        check("1 - Male", &[SexWord, Digit]);
        check("Boy/Man", &[SexWord]);
        check("{87BA3FEC-791B-4565-87B6-CF9CE1DEC850}", &[Uuid, Digit]);
        check("9f86d081884c7d659a2feaa0c55ad015", &[Uuid, Digit]);
        check("192.168.0.7", &[NetworkAddress, Digit]);
        check("J.K.", &[PersonName, Initials]);
        check("Dr. Weber", &[PersonName, TitledName, FrequentName]);
        check("Bayern", &[PersonName, Place]);
        check("widowed", &[Origin]);
        check("mg/dl", &[Unit]);
        check("2 52 10 25 085 453", &[Digit, Phone]);
        check("1012 AB", &[Digit, PostalCode]);
        check("SW1A 1AA", &[Digit, PostalCode]);
        check("K1A 0B6", &[Digit, PostalCode]);
        check("M6", &[Digit]);
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
        assert_eq!(formats("3-4-2010"), ["%m-%d-%Y", "%d-%m-%Y"]);
        assert_eq!(formats("Mar 14, 2010"), ["%b %d, %Y"]);
        assert_eq!(formats("31122019"), ["%d%m%Y"]);
        assert_eq!(formats("20191231"), ["%Y%m%d"]);
        assert_eq!(formats("03/04/2010 7:05 PM"), ["%m/%d/%Y %I:%M %p", "%d/%m/%Y %I:%M %p"]);
        assert_eq!(formats("2010-03-14T10:00:00.000+01:00"), ["%Y-%m-%dT%H:%M:%S.%f%z"]);
        assert_eq!(formats("14 Mar 2010"), ["%d %b %Y"]);
        assert_eq!(formats("01JAN2022:00:00"), ["%d%b%Y:%H:%M"]);
        assert_eq!(formats("20101314"), [""; 0]);
        assert_eq!(formats("2010-03-14T10:00:00Z"), ["%Y-%m-%dT%H:%M:%SZ"]);
    }
}
