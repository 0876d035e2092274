//! How a patient comes about: sex and age, then the stay that this age brings.

use super::care::{INTENSIVE, PEDIATRICS, SERVICES};
use super::diagnoses::{BAND_BEGINS, BANDS, DIAGNOSES, Diagnosis};
use super::people::*;
use super::random::{AliasTable, RowRandomness};
use kohort_core::calendar::Date;

/// 2023-01-01. Stays begin in 2023 and 2024.
pub(super) const FIRST_DAY: i32 = 19_358;
pub(super) const DAYS: u32 = 731;

const DAY_OF_BIRTH: usize = 0;
const OLDEST_BAND: usize = BANDS - 1;

/// Length of stay in percent of the median, at each sixteenth of the patients: a long tail to the right.
const STAY: [u32; 17] = [20, 38, 50, 58, 66, 74, 82, 90, 100, 112, 126, 144, 168, 200, 260, 380, 900];

/// The number of stays a patient has, with weights.
#[rustfmt::skip]
const STAYS: [(u32, u32); 14] = [
    (1, 690), (2, 165), (3, 63), (4, 29), (5, 16), (6, 10), (7, 7),
    (8, 5), (9, 4), (10, 3), (12, 3), (14, 2), (18, 2), (24, 1),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CareOutcome {
    Discharged,
    Transferred,
    Died,
}

impl CareOutcome {
    pub fn name(self) -> &'static str {
        match self {
            CareOutcome::Discharged => "discharged",
            CareOutcome::Transferred => "transferred",
            CareOutcome::Died => "died",
        }
    }
}

pub(super) struct Stay {
    pub admitted: i32,
    pub age: i32,
    /// The age band.
    pub band: usize,
    pub days: u32,
    pub diagnosis: &'static Diagnosis,
    pub procedure: &'static str,
    pub ward: &'static str,
    pub outcome: CareOutcome,
}

pub(super) struct Patient {
    pub sex: Sex,
    pub sex_recorded: bool,
    pub birth: i32,
    pub zip: &'static str,
    pub marital: &'static str,
    pub occupation: &'static str,
    pub last_stay: Stay,
    stays: u32,
}

/// The odds of a hospital, ready to draw from.
pub(super) struct Odds {
    band: AliasTable,
    area: AliasTable,
    stays: AliasTable,
    marital: [AliasTable; BANDS],
    /// For each sex, then by band.
    occupation: [[AliasTable; BANDS]; 2],
    diagnosis: [[AliasTable; BANDS]; 2],
    /// One entry per kind of care.
    procedure: Vec<AliasTable>,
}

impl Odds {
    pub fn new() -> Odds {
        let by_sex_and_band = |weights: &dyn Fn(Sex, usize) -> AliasTable| {
            [Sex::Female, Sex::Male].map(|sex| std::array::from_fn(|band| weights(sex, band)))
        };
        Odds {
            band: AliasTable::new(PATIENTS_BY_BAND),
            area: AliasTable::new(AREAS.map(|(_, weight)| weight)),
            stays: AliasTable::new(STAYS.map(|(_, weight)| weight)),
            marital: MARITAL_BY_BAND.map(AliasTable::new),
            occupation: by_sex_and_band(&|sex, band| AliasTable::new(occupations(sex, band))),
            diagnosis: by_sex_and_band(&|sex, band| AliasTable::new(DIAGNOSES.iter().map(|d| d.weight(sex, band)))),
            procedure: SERVICES.iter().map(|s| AliasTable::new(s.procedures.iter().map(|&(_, w)| w))).collect(),
        }
    }

    /// A patient with the last stay, which is the one that may end in death.
    pub fn patient(&self, random: &mut RowRandomness) -> Patient {
        let band = self.band.draw(random);
        let sex = if random.per_mille(WOMEN_BY_BAND[band]) { Sex::Female } else { Sex::Male };
        let stays = STAYS[self.stays.draw(random)].0;
        // The last of many stays is late in the two years.
        let day = (0..stays.min(4)).map(|_| random.below(DAYS)).max().unwrap_or(0);
        let admitted = FIRST_DAY + day as i32;
        let birth = admitted - days_of_life(band, random);
        let age = age_on(admitted, birth);
        let band = band_of(age, admitted == birth);
        let diagnosis = &DIAGNOSES[self.diagnosis[sex as usize][band].draw(random)];
        Patient {
            sex,
            sex_recorded: !random.per_mille(SEX_MISSING),
            birth,
            zip: AREAS[self.area.draw(random)].0,
            marital: MARITAL[self.marital[band].draw(random)],
            occupation: OCCUPATIONS[self.occupation[sex as usize][band].draw(random)],
            last_stay: self.stay(admitted, age, band, diagnosis, random),
            stays,
        }
    }

    /// The stays before the last one, the latest first.
    pub fn earlier_stays(&self, patient: &Patient, random: &mut RowRandomness, stays: &mut Vec<Stay>) {
        stays.clear();
        let mut later = patient.last_stay.admitted;
        for left in (1..patient.stays).rev() {
            let room = (later - FIRST_DAY.max(patient.birth)) as u32;
            let day = later - 1 - random.below(2 * room / (left + 1) + 1) as i32;
            if day < FIRST_DAY || day <= patient.birth {
                return;
            }
            let age = age_on(day, patient.birth);
            let band = band_of(age, false);
            let last = patient.last_stay.diagnosis;
            let comes_back = !last.care.is_delivery() && last.weight(patient.sex, band) > 0 && random.per_mille(550);
            let diagnosis =
                if comes_back { last } else { &DIAGNOSES[self.diagnosis[patient.sex as usize][band].draw(random)] };
            if diagnosis.care.is_delivery() && last.care.is_delivery() {
                continue;
            }
            let mut stay = self.stay(day, age, band, diagnosis, random);
            stay.days = stay.days.min((later - day) as u32);
            if stay.outcome == CareOutcome::Died {
                stay.outcome = CareOutcome::Discharged;
            }
            stays.push(stay);
            later = day;
        }
    }

    fn stay(
        &self,
        admitted: i32,
        age: i32,
        band: usize,
        diagnosis: &'static Diagnosis,
        random: &mut RowRandomness,
    ) -> Stay {
        let service = &SERVICES[diagnosis.care as usize];
        let outcome = if random.per_mille(diagnosis.deadly * deadliness(band) / 8) {
            CareOutcome::Died
        } else if random.per_mille(service.transferred) {
            CareOutcome::Transferred
        } else {
            CareOutcome::Discharged
        };
        let grave = outcome == CareOutcome::Died || diagnosis.deadly >= 80;
        let ward = if grave && random.per_mille(300) {
            INTENSIVE
        } else if (1..=2).contains(&band) {
            PEDIATRICS
        } else {
            service.ward
        };
        let procedure = service.procedures[self.procedure[diagnosis.care as usize].draw(random)].0;
        Stay { admitted, age, band, days: length(diagnosis.days, random), diagnosis, procedure, ward, outcome }
    }
}

/// Returns how old a patient of this band is, in days.
fn days_of_life(band: usize, random: &mut RowRandomness) -> i32 {
    if band == DAY_OF_BIRTH {
        return 0;
    }
    let begin = BAND_BEGINS[band];
    let years = if band == OLDEST_BAND {
        // The lowest of three: few are very old.
        let years = (0..3).map(|_| random.below(24)).min().unwrap_or(0);
        begin + years as i32
    } else {
        begin + random.below((BAND_BEGINS[band + 1] - begin) as u32) as i32
    };
    years * 1461 / 4 + 1 + random.below(365) as i32
}

/// The age in full years on a day, by day numbers.
fn age_on(day: i32, birth: i32) -> i32 {
    let date = |number: i32| Date::of_day_number(i64::from(number));
    date(day).years_since(date(birth)) as i32
}

fn band_of(age: i32, born_today: bool) -> usize {
    if born_today { DAY_OF_BIRTH } else { BAND_BEGINS.iter().rposition(|&begin| begin <= age).unwrap_or(1) }
}

/// In eighths of what a diagnosis means in old age.
fn deadliness(band: usize) -> u32 {
    [8, 2, 2, 2, 3, 5, 8, 14][band]
}

/// Days in hospital; 0 is home on the same day.
fn length(median: u32, random: &mut RowRandomness) -> u32 {
    let place = random.below(16 * 256);
    let (step, within) = ((place / 256) as usize, place % 256);
    let percent = STAY[step] + (STAY[step + 1] - STAY[step]) * within / 256;
    (median * percent + 50) / 100
}
