//! The patients: names, places, households, trades. All of it invented.

use super::diagnoses::BANDS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sex {
    Female,
    Male,
}

/// The patients of each band of age, out of 1000.
pub(super) const PATIENTS_BY_BAND: [u32; BANDS] = [80, 40, 32, 85, 215, 235, 195, 118];

/// The women in each band of age, out of 1000.
pub(super) const WOMEN_BY_BAND: [u32; BANDS] = [488, 450, 460, 620, 660, 490, 500, 600];

/// The patients whose sex was not recorded, out of 1000.
pub(super) const SEX_MISSING: u32 = 4;

pub(super) const MARITAL: [&str; 5] = ["single", "married", "divorced", "widowed", ""];

/// Weights of [`MARITAL`] by band.
pub(super) const MARITAL_BY_BAND: [[u32; 5]; BANDS] = [
    [1, 0, 0, 0, 0],
    [1, 0, 0, 0, 0],
    [1, 0, 0, 0, 0],
    [880, 105, 8, 0, 7],
    [360, 530, 95, 5, 10],
    [130, 610, 205, 45, 10],
    [70, 580, 150, 190, 10],
    [50, 360, 80, 500, 10],
];

pub(super) const OCCUPATIONS: [&str; 15] = [
    "child",
    "student",
    "retired",
    "homemaker",
    "unemployed",
    "office",
    "sales",
    "health care",
    "teaching",
    "manufacturing",
    "construction",
    "transport",
    "agriculture",
    "hospitality",
    "management",
];

/// Weights of [`OCCUPATIONS`] for a patient.
pub(super) const fn occupations(sex: Sex, band: usize) -> [u32; 15] {
    match (band, sex) {
        (0 | 1, _) => [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        (2, _) => [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        (3, Sex::Female) => [0, 480, 0, 60, 70, 70, 90, 75, 25, 25, 3, 8, 4, 80, 10],
        (3, Sex::Male) => [0, 470, 0, 3, 90, 40, 65, 15, 8, 95, 95, 45, 12, 50, 12],
        (4 | 5, Sex::Female) => [0, 12, 25, 140, 70, 215, 105, 145, 95, 60, 8, 15, 12, 55, 43],
        (4 | 5, Sex::Male) => [0, 12, 30, 8, 85, 110, 90, 35, 40, 190, 150, 110, 28, 30, 82],
        (_, Sex::Female) => [0, 0, 890, 70, 2, 12, 7, 6, 4, 1, 0, 0, 3, 1, 4],
        (_, Sex::Male) => [0, 0, 925, 2, 3, 10, 7, 3, 5, 9, 6, 8, 10, 1, 11],
    }
}

/// ZIP areas and how many of 10,000 patients live there: a city, its suburbs, and country that is far away.
#[rustfmt::skip]
pub(super) const AREAS: [(&str, u32); 60] = [
    ("02108", 1150), ("02109", 760), ("02111", 690), ("02113", 560), ("02114", 450), ("02115", 430),
    ("02118", 380), ("02120", 330), ("02121", 320), ("02124", 270), ("02125", 250), ("02127", 210),
    ("02130", 190), ("02132", 160), ("02134", 140), ("02136", 120),
    ("02021", 300), ("02025", 180), ("02026", 150), ("02043", 110),
    ("02045", 90), ("02048", 60), ("02050", 45), ("02056", 30),
    ("02420", 260), ("02421", 210), ("02445", 170), ("02446", 130),
    ("02451", 100), ("02453", 80), ("02459", 50), ("02461", 35),
    ("01801", 220), ("01803", 140), ("01810", 110), ("01821", 80), ("01824", 60), ("01826", 40), ("01835", 25),
    ("01420", 130), ("01430", 60), ("01440", 45), ("01451", 25), ("01469", 12),
    ("03031", 150), ("03033", 80), ("03045", 60), ("03051", 45), ("03055", 25), ("03076", 15),
    ("03101", 140), ("03102", 70), ("03104", 40), ("03109", 15),
    ("10601", 60), ("10604", 30), ("10606", 15), ("10607", 8),
    ("10901", 18), ("10954", 7),
];

#[rustfmt::skip]
pub(super) const FIRST_NAMES_WOMEN: [&str; 40] = [
    "Mary", "Anna", "Linda", "Susan", "Karen", "Nancy", "Lisa", "Laura", "Emma", "Julia",
    "Maria", "Helen", "Ruth", "Carol", "Alice", "Diane", "Joyce", "Grace", "Olivia", "Sophia",
    "Emily", "Hannah", "Sarah", "Rachel", "Megan", "Amy", "Angela", "Teresa", "Gloria", "Rosa",
    "Mei", "Fatima", "Aisha", "Priya", "Elena", "Ingrid", "Naomi", "Claire", "Nora", "Irene",
];

#[rustfmt::skip]
pub(super) const FIRST_NAMES_MEN: [&str; 40] = [
    "James", "John", "Robert", "Michael", "David", "William", "Richard", "Joseph", "Thomas", "Daniel",
    "Paul", "Mark", "George", "Steven", "Kevin", "Brian", "Edward", "Peter", "Henry", "Walter",
    "Frank", "Carl", "Louis", "Samuel", "Noah", "Liam", "Lucas", "Ethan", "Adam", "Jose",
    "Juan", "Carlos", "Wei", "Omar", "Ali", "Ravi", "Ivan", "Andre", "Hugo", "Simon",
];

#[rustfmt::skip]
pub(super) const LAST_NAMES: [&str; 80] = [
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Rodriguez", "Martinez",
    "Hernandez", "Lopez", "Gonzalez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore", "Jackson", "Martin",
    "Lee", "Perez", "Thompson", "White", "Harris", "Sanchez", "Clark", "Ramirez", "Lewis", "Robinson",
    "Walker", "Young", "Allen", "King", "Wright", "Scott", "Torres", "Nguyen", "Hill", "Flores",
    "Green", "Adams", "Nelson", "Baker", "Hall", "Rivera", "Campbell", "Mitchell", "Carter", "Roberts",
    "Gomez", "Phillips", "Evans", "Turner", "Diaz", "Parker", "Cruz", "Edwards", "Collins", "Reyes",
    "Stewart", "Morris", "Morales", "Murphy", "Cook", "Rogers", "Gutierrez", "Ortiz", "Morgan", "Cooper",
    "Peterson", "Bailey", "Reed", "Kelly", "Howard", "Kim", "Cox", "Ward", "Patel", "Chen",
];
