//! People, their visits, and the cells that an export shows of them.

use super::generated::Column;
use crate::dice::Dice;

/// A person of a generated table.
pub(super) struct Person {
    id: usize,
    household: usize,
    /// Its number within the household, from 1.
    pub(super) member: usize,
    male: bool,
    age: usize,
    birth: (usize, usize, usize),
    area: usize,
    height: f64,
    weight: f64,
    /// Decides about everything that stays the same for a person.
    own: u64,
}

/// A visit of a person.
pub(super) struct Visit {
    number: usize,
    day: usize,
    minute: usize,
    stay: usize,
    diagnosis: usize,
    key: u64,
}

const DIAGNOSES: [(&str, &str, &str); 12] = [
    ("I10", "4019", "Essential hypertension"),
    ("E11.9", "25000", "Type 2 diabetes mellitus"),
    ("J18.9", "486", "Pneumonia"),
    ("I50.9", "4280", "Heart failure"),
    ("K35.8", "5409", "Acute appendicitis"),
    ("S72.0", "82000", "Fracture of neck of femur"),
    ("I21.4", "41071", "Myocardial infarction"),
    ("N39.0", "5990", "Urinary tract infection"),
    ("J44.1", "49121", "Chronic obstructive pulmonary disease"),
    ("F32.9", "311", "Depressive episode"),
    ("C50.9", "1749", "Malignant neoplasm of breast"),
    ("O80", "650", "Delivery"),
];
const SYLLABLES: [&str; 16] =
    ["ba", "ler", "mon", "ti", "ves", "ro", "kel", "sin", "dor", "mar", "pa", "lin", "gu", "ter", "no", "wil"];
const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

impl Person {
    pub fn new(dice: &mut Dice, id: usize, household: usize) -> Person {
        let age = (dice.below(48) + dice.below(50)).min(97);
        let height = 150.0 + dice.below(25) as f64 + dice.below(15) as f64;
        Person {
            id,
            household,
            member: 1,
            male: dice.below(2) == 0,
            age,
            birth: (2020 - age, 1 + dice.below(12), 1 + dice.below(28)),
            // A few areas have most of the people.
            area: dice.below(20).min(dice.below(20)),
            height,
            weight: (height - 100.0) * (0.75 + dice.below(60) as f64 / 100.0),
            own: dice.number(),
        }
    }

    /// Its number, from 0.
    pub fn id(&self) -> usize {
        self.id
    }

    pub fn is_male(&self) -> bool {
        self.male
    }

    /// Year, month and day of birth.
    pub fn birth(&self) -> (usize, usize, usize) {
        self.birth
    }

    /// A choice that stays the same for the person.
    pub fn chooses(&self, salt: u64, below: usize) -> usize {
        (mixed(self.own ^ mixed(salt)) % below.max(1) as u64) as usize
    }
}

impl Visit {
    /// The day, from 0 to 359.
    pub fn day(&self) -> usize {
        self.day
    }

    pub fn new(dice: &mut Dice, person: &Person, number: usize) -> Visit {
        let key = mixed(dice.number());
        let stay = dice.below(9) * dice.below(9) / 6;
        let (day, minute) = (dice.below(360), dice.below(1440));
        Visit { number, day, minute, stay, diagnosis: dice.below(6) + person.chooses(7, 7), key }
    }
}

fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (n ^ (n >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB) ^ (n >> 7)
}

/// A made-up word, the same for the same number.
fn word(n: u64) -> String {
    let n = mixed(n.wrapping_add(11));
    let text: String = (0..2 + n % 2).map(|i| SYLLABLES[(n >> (8 * i + 3)) as usize % SYLLABLES.len()]).collect();
    text[..1].to_uppercase() + &text[1..]
}

/// A day of 2019, or a person's own day, in a format.
fn date(format: &str, (year, month, day): (usize, usize, usize), minute: usize) -> String {
    format
        .replace("%Y", &format!("{year:04}"))
        .replace("%m", &format!("{month:02}"))
        .replace("%d", &format!("{day:02}"))
        .replace("%b", MONTHS[month - 1])
        .replace("%I", &format!("{:02}", (minute / 60 + 11) % 12 + 1))
        .replace("%p", if minute < 720 { "AM" } else { "PM" })
        .replace("%y", &format!("{:02}", year % 100))
        .replace("%f", &format!("{:03}", minute * 37 % 1000))
        .replace("%z", "+01:00")
        .replace("%H", &format!("{:02}", minute / 60))
        .replace("%M", &format!("{:02}", minute % 60))
        .replace("%S", &format!("{:02}", minute * 7 % 60))
}

fn day_of_2019(day: usize) -> (usize, usize, usize) {
    (2019 + day / 372, 1 + day / 31 % 12, 1 + (day % 31).min(27))
}

/// A key in a style: digits, digits after a letter, or a UUID.
fn key(style: &str, n: u64) -> String {
    // Few digits, some numbers apart.
    if style == "short" {
        return (700_000 + n * 7).to_string();
    }
    let n = mixed(n);
    match style {
        "uuid" => {
            format!("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", n >> 32, n >> 48, n & 0xfff, n >> 52, n & 0xffff_ffff_ffff)
        }
        "guid" => format!("{{{}}}", key("uuid", n).to_uppercase()),
        "nir" => format!(
            "{} {:02} {:02} {:02} {:03} {:03}",
            1 + n % 2,
            n / 2 % 90,
            1 + n / 180 % 12,
            20 + n / 2160 % 60,
            n >> 20 & 0x1ff,
            n >> 40 & 0x1ff
        ),
        "long" => (10_000_000_000 + n % 89_999_999_999).to_string(),
        "iban" => format!("DE{:020}", n),
        "hex" => format!("{n:016x}{:016x}{:08x}", mixed(n ^ 77), mixed(n ^ 99) >> 32),
        "" | "int" => (10_000 + n % 90_000_000).to_string(),
        letter => format!("{letter}{:08}", n % 100_000_000),
    }
}

/// A key as one of several hands writes it.
fn spelled(style: &str, n: u64, hand: usize) -> String {
    match (style, hand) {
        ("prefix", 0) => format!("P-{n:04}"),
        ("prefix", 1) => format!("p{n}"),
        ("prefix", _) => format!("{n:04}"),
        ("words", 0) => format!("Pat {n:03}"),
        ("words", 1) => format!("PAT-{n}"),
        ("words", _) => format!("Patient {n}"),
        ("signs", 0) => format!("{:03}-{:02}-{:04}", 100 + n, 10 + n % 90, 1000 + n * 7 % 9000),
        ("signs", _) => format!("{:03}{:02}{:04}", 100 + n, 10 + n % 90, 1000 + n * 7 % 9000),
        ("capitals", 0) => key("uuid", n),
        ("capitals", 1) => key("uuid", n).to_uppercase(),
        ("capitals", _) => format!("{{{}}}", key("uuid", n)),
        ("decimals", 0) => format!("{}.0", 40_000 + 3 * n),
        ("decimals", _) => (40_000 + 3 * n).to_string(),
        // Two sites have the same numbers.
        ("sites", 0) => format!("{}-{:04}", if n.is_multiple_of(2) { 'A' } else { 'B' }, n / 2),
        ("sites", _) => format!("{}{}", if n.is_multiple_of(2) { 'a' } else { 'b' }, n / 2),
        (_, 0) => format!("{:06}", 17 + n),
        _ => (17 + n).to_string(),
    }
}

/// A number that belongs to the name of a column.
fn of_name(name: &str) -> u64 {
    name.bytes().fold(0, |salt: u64, b| salt.wrapping_mul(31).wrapping_add(u64::from(b)))
}

/// An amount of money below a bound.
fn amount(n: u64, below: &str) -> String {
    let cents = mixed(n) % (100 * below.parse::<u64>().unwrap_or(100));
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// The cell of a column.
pub(super) fn cell(dice: &mut Dice, column: &Column, person: &Person, visit: &Visit, row: usize) -> String {
    let Column { ref name, kind, argument, .. } = *column;
    let salt = of_name(name);
    let choices: Vec<&str> = argument.split('/').collect();
    match kind {
        "person" => key(argument, person.id as u64 + 1),
        "spelled" => spelled(argument, person.id as u64 + 1, dice.below(3)),
        "lacking" if dice.below(100) < argument.parse().unwrap_or(5) => String::new(),
        "lacking" => key("short", person.id as u64 + 1),
        // Of every person in four, from the second year on.
        "changing" if person.id.is_multiple_of(4) => key("short", (person.id * 8 + visit.number.min(3)) as u64),
        "changing" => key("short", person.id as u64 * 8),
        "member" => person.member.to_string(),
        "person2" => key(argument, person.id as u64 + 1_000_001),
        "stay" => key(argument, (person.id * 64 + visit.number.div_ceil(2)) as u64 + 5_000_000),
        "event" => key(argument, visit.key),
        "row" => (row + 1).to_string(),
        "gapped" => (100_000 + 3 * row as u64 + mixed(row as u64) % 3).to_string(),
        "ip" => format!("10.{}.{}.{}", person.own % 256, (person.own >> 8) % 256, (person.own >> 16) % 256),
        "initials" => {
            let letter = |shift: u32| char::from(b'A' + ((person.own >> shift) % 26) as u8);
            format!("{}.{}.", letter(3), letter(17))
        }
        "lat" => format!("{:.5}", 47.0 + (person.own % 800_000) as f64 / 100_000.0),
        "lon" => format!("{:.5}", 6.0 + (person.own >> 20 & 0xf_ffff) as f64 / 150_000.0),
        "titled" => format!("Dr. {}", word(1_000 + person.chooses(salt, 30) as u64)),
        "address" => format!("{} {}\nApt. {}", 1 + person.own % 90, word(person.own >> 8), 1 + person.own % 30),
        "epoch" => (1_546_300_800 + visit.day * 86_400 + visit.minute * 60 + visit.minute * 7 % 60).to_string(),
        "millis" => (1_546_300_800_000 + (visit.day * 86_400 + visit.minute * 60) as u64 * 1000 + visit.key % 60_000)
            .to_string(),
        "civil" => {
            let (year, month, day) = person.birth;
            format!("{year}{month:02}{day:02}-{:04}", person.own % 10_000)
        }
        "pc6" => {
            format!("{:04}{}", 1_000 + person.area * 100 + person.chooses(salt, 6), ["AB", "CD"][person.chooses(9, 2)])
        }
        "zip4" => format!("{:05}-{:04}", 20_000 + person.area * 100, person.own % 10_000),
        "shortnote" => match mixed(visit.key) % 3 {
            0 => format!("see letter {}", visit.key % 900),
            1 => format!("asked for {}", word(visit.key % 400)),
            _ => ["no complaints", "slept well", "pain left knee"][visit.key as usize % 3].into(),
        },
        "part" => amount(visit.key ^ salt, argument),
        "sum" => {
            let cents =
                |part: &str| amount(visit.key ^ of_name(part), "900").replace('.', "").parse::<u64>().unwrap_or(0);
            let sum: u64 = argument.split('/').map(cents).sum();
            format!("{}.{:02}", sum / 100, sum % 100)
        }
        "household" => (10_000 + person.household).to_string(),
        "hhline" => (1 + person.chooses(salt, 4)).to_string(),
        "visitno" => (visit.number + 1).to_string(),
        "first" => word(person.own >> 3),
        "last" => word(person.own >> 5),
        "fullname" => format!("{} {}", word(person.own >> 3), word(person.own >> 5)),
        "doctor" => word(1_000 + person.chooses(salt, 40) as u64),
        "interviewer" => (100 + person.chooses(salt, 12)).to_string(),
        "phone" => format!("+49 30 {:03} {:04}", person.own % 1000, (person.own >> 12) % 10_000),
        "email" => format!("{}{}@example.org", word(person.own >> 3).to_lowercase(), person.id),
        "ssn" => format!("{:08}{}", (person.own >> 9) % 100_000_000, (b'A' + (person.own % 23) as u8) as char),
        "street" => format!("{}straat {}", word(person.own >> 8), 1 + person.own % 90),
        "note" => format!(
            "seen on day {} because of {} and sent to {}",
            visit.day,
            DIAGNOSES[visit.diagnosis % 12].2.to_lowercase(),
            word(visit.key % 50)
        ),
        "dob" => date(argument, person.birth, 0),
        "yob" => person.birth.0.to_string(),
        "bmonth" => person.birth.1.to_string(),
        "bday" => person.birth.2.to_string(),
        "age" => match argument {
            "years" if person.age > 89 => "> 89".into(),
            "years" if person.chooses(salt, 3) == 0 => format!("{} years", person.age),
            "units" if person.age < 2 => format!("{}m", 1 + person.chooses(salt, 23)),
            "units" => format!("{}y", person.age),
            "plus" if person.age >= 85 => "85+ years".into(),
            "plus" => format!("{:02} years", person.age),
            "coded" if person.age == 0 => format!("3{:02}", 1 + person.chooses(salt, 11)),
            "coded" => format!("4{:02}", person.age),
            "sentinel" if dice.below(30) == 0 => "-99".into(),
            "grown" => (16 + person.age % 28 + 2 * visit.number).to_string(),
            "mother" => (15 + person.age % 30).to_string(),
            _ => person.age.to_string(),
        },
        "agegroup" => format!("{}-{}", person.age / 10 * 10, person.age / 10 * 10 + 9),
        "sex" => match choices.len() {
            2 => choices[usize::from(!person.male)].into(),
            // The last one is rare and belongs to nobody in particular.
            3 if person.chooses(salt, 60) == 0 => choices[2].into(),
            3 => choices[usize::from(!person.male)].into(),
            n => choices[usize::from(!person.male) * (n / 2) + person.chooses(salt, n / 2)].into(),
        },
        "zip" => format!("{:05}", 10_000 + person.area * 1_000 + person.chooses(salt, 9) * 10),
        "zip3" => format!("{:03}", 100 + person.area),
        "city" => word(500 + person.area as u64),
        "region" => word(700 + (person.area % argument.parse().unwrap_or(5)) as u64),
        "of" => choices[person.chooses(salt, choices.len())].into(),
        "visit" => choices[(mixed(visit.key ^ salt) % choices.len() as u64) as usize].into(),
        "date" | "stamp" => date(argument, day_of_2019(visit.day), visit.minute),
        "discharge" => date(argument, day_of_2019(visit.day + visit.stay), visit.minute),
        "los" => visit.stay.to_string(),
        "dx" if argument == "icd9" => DIAGNOSES[visit.diagnosis % 12].1.into(),
        "dx" => DIAGNOSES[visit.diagnosis % 12].0.into(),
        "dxname" => DIAGNOSES[visit.diagnosis % 12].2.into(),
        "lab" => {
            let parts: Vec<f64> = argument.split(':').filter_map(|part| part.parse().ok()).collect();
            let spread = (0..6).map(|_| dice.below(1000) as f64 / 1000.0).sum::<f64>() - 3.0;
            if dice.below(25) == 0 {
                return String::new();
            }
            format!("{:.*}", parts[2] as usize, (parts[0] + parts[1] * 1.4 * spread).max(0.0))
        }
        "unitlab" => {
            let parts: Vec<&str> = argument.split(':').collect();
            let number = |place: usize| parts.get(place).and_then(|part| part.parse::<f64>().ok()).unwrap_or(1.0);
            let spread = (0..6).map(|_| dice.below(1000) as f64 / 1000.0).sum::<f64>() - 3.0;
            let value = (number(0) + number(1) * 1.4 * spread).max(0.1);
            let sign = if dice.below(40) == 0 { "< " } else { "" };
            format!("{sign}{value:.*} {}", number(2) as usize, parts.get(3).unwrap_or(&""))
        }
        "count" => {
            let mean: usize = argument.parse().unwrap_or(5);
            ((dice.below(2 * mean + 1) + dice.below(2 * mean + 1)) / 2).to_string()
        }
        "money" => {
            let base = (dice.below(1000) * dice.below(1000)) as f64 / 60.0;
            format!("{:.2}", 50.0 + base)
        }
        "sampling" => format!("{:.4}", 3000.0 + (person.own % 40_000_000) as f64 / 1000.0),
        "height" => format!("{:.0}", person.height),
        "kg" => format!("{:.1}", person.weight),
        "bmi" => format!("{:.3}", person.weight / (person.height / 100.0).powi(2)),
        "likert" => {
            let (most, sentinel) = argument.split_once(':').unwrap_or((argument, ""));
            let most: usize = most.parse().unwrap_or(5);
            if !sentinel.is_empty() && dice.below(12) == 0 {
                return sentinel.into();
            }
            (1 + (mixed(visit.key ^ salt) % most as u64) as usize).to_string()
        }
        "total" => (40 + mixed(visit.key ^ 3) % 60).to_string(),
        "yes" => usize::from(mixed(visit.key ^ salt) % 100 < argument.parse().unwrap_or(50)).to_string(),
        "const" => argument.into(),
        _ => String::new(),
    }
}
