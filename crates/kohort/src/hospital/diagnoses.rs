//! Diagnoses: codes of ICD-10-CM with the people they befall. The frequencies are invented.

use super::care::Care::{self, *};
use super::people::Sex;

/// Bands of age. The first is the day of birth; the others begin with these years.
pub(super) const BANDS: usize = 8;
pub(super) const BAND_BEGINS: [i32; BANDS] = [0, 0, 5, 15, 25, 45, 65, 80];

/// At which ages a diagnosis is made.
#[derive(Clone, Copy)]
pub(super) enum AgesOfOnset {
    AtBirth,
    Infants,
    Children,
    Youth,
    Fertile,
    Adults,
    Middle,
    Old,
    Aged,
    All,
}
use AgesOfOnset::*;

impl AgesOfOnset {
    /// Weights by band: day of birth, 0–4, 5–14, 15–24, 25–44, 45–64, 65–79, 80 and over.
    const fn weights(self) -> [u32; BANDS] {
        match self {
            AtBirth => [1, 0, 0, 0, 0, 0, 0, 0],
            Infants => [0, 9, 1, 0, 0, 0, 0, 0],
            Children => [0, 8, 9, 3, 0, 0, 0, 0],
            Youth => [0, 0, 4, 9, 8, 4, 1, 1],
            Fertile => [0, 0, 0, 8, 9, 0, 0, 0],
            Adults => [0, 0, 0, 3, 7, 9, 7, 5],
            Middle => [0, 0, 0, 1, 3, 9, 8, 3],
            Old => [0, 0, 0, 0, 1, 5, 9, 9],
            Aged => [0, 0, 0, 0, 0, 1, 5, 9],
            All => [0, 4, 4, 4, 5, 6, 7, 8],
        }
    }
}

pub(super) struct Diagnosis {
    pub code: &'static str,
    weight: u32,
    ages: AgesOfOnset,
    /// `None`: both.
    only: Option<Sex>,
    pub care: Care,
    /// The median length of stay.
    pub days: u32,
    /// Patients in 1000 who die in old age.
    pub deadly: u32,
}

impl Diagnosis {
    /// Returns how often the diagnosis is made at this age, compared with the others.
    pub fn weight(&self, sex: Sex, band: usize) -> u32 {
        let possible = self.only.is_none_or(|only| only == sex);
        if possible { self.weight * self.ages.weights()[band] } else { 0 }
    }
}

type Code = &'static str;

const fn both(code: Code, weight: u32, ages: AgesOfOnset, care: Care, days: u32, deadly: u32) -> Diagnosis {
    Diagnosis { code, weight, ages, only: None, care, days, deadly }
}

const fn women(code: Code, weight: u32, ages: AgesOfOnset, care: Care, days: u32, deadly: u32) -> Diagnosis {
    Diagnosis { code, weight, ages, only: Some(Sex::Female), care, days, deadly }
}

const fn men(code: Code, weight: u32, ages: AgesOfOnset, care: Care, days: u32, deadly: u32) -> Diagnosis {
    Diagnosis { code, weight, ages, only: Some(Sex::Male), care, days, deadly }
}

/// Code, weight, ages, care, median days, deaths per 1000.
pub(super) const DIAGNOSES: &[Diagnosis] = &[
    // Infectious diseases
    both("A41.9", 90, Old, Infection, 6, 140),
    both("A09", 60, All, Infection, 2, 4),
    both("A08.4", 40, Infants, Infection, 2, 0),
    both("A41.51", 18, Old, Infection, 7, 120),
    both("A04.72", 16, Old, Infection, 5, 45),
    both("A15.0", 3, Adults, Infection, 14, 30),
    both("A69.20", 2, All, Infection, 3, 0),
    both("B02.9", 5, Old, Infection, 4, 5),
    both("B20", 4, Adults, Infection, 7, 40),
    both("B18.2", 3, Middle, Infection, 4, 25),
    both("B34.9", 18, Children, Infection, 2, 0),
    // Neoplasms
    both("C34.90", 26, Old, Tumor, 6, 130),
    both("C18.9", 20, Old, Tumor, 8, 60),
    both("C20", 9, Old, Tumor, 8, 50),
    both("C25.9", 8, Old, Tumor, 7, 150),
    both("C43.9", 4, Middle, Tumor, 3, 15),
    women("C50.911", 22, Middle, Tumor, 3, 20),
    women("C50.912", 20, Middle, Tumor, 3, 20),
    women("C56.9", 5, Middle, Tumor, 6, 60),
    women("C53.9", 4, Middle, Tumor, 5, 45),
    men("C61", 28, Old, Tumor, 3, 25),
    men("C62.90", 3, Youth, Tumor, 3, 5),
    both("C67.9", 10, Old, Tumor, 4, 40),
    both("C71.9", 5, Middle, Tumor, 7, 110),
    both("C73", 3, Adults, Thyroid, 2, 5),
    both("C83.30", 6, Old, Tumor, 7, 80),
    both("C90.00", 5, Old, Tumor, 8, 80),
    both("C91.00", 3, Children, Tumor, 9, 30),
    women("D25.9", 24, Middle, Women, 2, 0),
    both("D12.6", 12, Middle, Gut, 1, 1),
    both("Z51.11", 30, Middle, Chemotherapy, 3, 8),
    // Blood
    both("D64.9", 18, Old, Blood, 3, 20),
    both("D50.9", 14, Adults, Blood, 3, 6),
    both("D57.00", 5, Youth, Blood, 4, 4),
    both("D69.6", 4, All, Blood, 4, 20),
    both("D70.9", 4, Adults, Blood, 5, 40),
    // Hormones, nutrition, metabolism
    both("E11.9", 24, Middle, Metabolism, 3, 6),
    both("E11.65", 20, Middle, Metabolism, 3, 8),
    both("E11.621", 9, Old, Foot, 7, 20),
    both("E10.10", 16, Youth, Metabolism, 3, 4),
    both("E86.0", 34, All, Metabolism, 2, 15),
    both("E87.1", 16, Old, Metabolism, 3, 20),
    both("E05.90", 4, Adults, Thyroid, 2, 2),
    both("E04.2", 5, Middle, Thyroid, 2, 1),
    both("E84.0", 2, Youth, Lung, 9, 20),
    // Mind
    both("F32.9", 34, Adults, Mind, 9, 0),
    both("F33.2", 26, Youth, Mind, 12, 0),
    both("F20.0", 18, Youth, Mind, 14, 1),
    both("F10.239", 22, Adults, Addiction, 5, 8),
    both("F10.129", 14, Youth, Addiction, 1, 2),
    both("F11.20", 7, Youth, Addiction, 6, 6),
    both("F31.9", 14, Youth, Mind, 11, 0),
    both("F03.90", 16, Aged, Mind, 10, 25),
    both("F05", 10, Aged, Mind, 5, 40),
    both("F43.10", 5, Youth, Mind, 8, 0),
    both("F50.010", 4, Youth, Mind, 20, 3),
    both("F90.9", 3, Children, Mind, 7, 0),
    // Nerves
    both("G40.909", 20, All, Nerves, 3, 12),
    both("G45.9", 22, Old, Stroke, 2, 3),
    both("G35.A", 6, Youth, Nerves, 4, 2),
    both("G20.A1", 7, Aged, Nerves, 6, 20),
    both("G30.9", 9, Aged, Nerves, 7, 35),
    both("G43.909", 7, Youth, Nerves, 2, 0),
    both("G93.41", 9, Old, Nerves, 5, 60),
    both("G00.9", 2, All, Nerves, 9, 90),
    both("G56.00", 3, Middle, Nerves, 0, 0),
    // Eye and ear
    both("H25.9", 22, Aged, Eye, 0, 0),
    both("H26.9", 12, Old, Eye, 0, 0),
    both("H33.009", 4, Middle, Eye, 2, 0),
    both("H66.90", 16, Infants, Ear, 1, 0),
    both("H81.10", 8, Old, Ear, 2, 0),
    both("H91.20", 3, Adults, Ear, 3, 0),
    // Circulation
    both("I50.9", 80, Aged, Heart, 6, 75),
    both("I50.23", 44, Old, Heart, 5, 65),
    both("I21.4", 48, Old, Coronary, 4, 55),
    both("I21.3", 22, Middle, Coronary, 4, 90),
    both("I25.10", 50, Old, Coronary, 3, 12),
    both("I20.0", 22, Middle, Coronary, 2, 6),
    both("I48.91", 40, Old, Heart, 3, 14),
    both("I48.0", 16, Old, Heart, 2, 8),
    both("I63.9", 46, Old, Stroke, 7, 85),
    both("I61.9", 9, Old, Stroke, 9, 260),
    both("I60.9", 3, Middle, Stroke, 12, 220),
    both("I10", 36, Old, Heart, 2, 3),
    both("I26.99", 16, Old, Vessels, 5, 60),
    both("I82.409", 9, Adults, Vessels, 4, 10),
    both("I70.213", 12, Old, Foot, 5, 20),
    both("I71.40", 5, Old, Vessels, 6, 80),
    both("I83.90", 9, Adults, Vessels, 1, 0),
    both("I35.0", 12, Aged, Heart, 7, 40),
    both("I46.9", 4, Old, Heart, 4, 550),
    both("I95.9", 9, Aged, Heart, 3, 15),
    // Breathing
    both("J18.9", 75, All, Lung, 5, 75),
    both("J44.1", 46, Old, Lung, 5, 45),
    both("J45.901", 20, Children, Lung, 2, 2),
    both("J21.0", 55, Infants, Lung, 3, 1),
    both("J20.9", 18, All, Lung, 3, 6),
    both("J96.01", 18, Old, Lung, 7, 190),
    both("J69.0", 14, Aged, Lung, 7, 170),
    both("J35.01", 30, Children, Tonsils, 1, 0),
    both("J32.9", 9, Youth, Ear, 1, 0),
    both("J10.1", 18, All, Lung, 4, 30),
    both("J93.9", 5, Youth, Lung, 5, 10),
    both("U07.1", 24, Old, Lung, 6, 90),
    // Digestion
    both("K35.80", 26, Youth, Appendix, 2, 4),
    both("K35.80", 14, Children, Appendix, 2, 2),
    both("K80.20", 26, Adults, Gallbladder, 2, 4),
    both("K80.00", 14, Adults, Gallbladder, 3, 8),
    both("K40.90", 22, Middle, Hernia, 1, 2),
    both("K56.609", 16, Old, Bowel, 5, 45),
    both("K57.32", 16, Middle, Bowel, 5, 15),
    both("K85.90", 16, Adults, Gut, 5, 25),
    both("K92.2", 24, Old, Gut, 4, 40),
    both("K21.9", 12, Adults, Gut, 2, 2),
    both("K29.70", 14, Adults, Gut, 2, 3),
    both("K70.30", 7, Middle, Gut, 7, 110),
    both("K50.90", 6, Youth, Gut, 5, 4),
    both("K51.90", 5, Youth, Gut, 6, 5),
    both("K59.00", 12, All, Gut, 2, 4),
    // Skin
    both("L03.115", 20, Adults, Skin, 4, 8),
    both("L03.116", 19, Adults, Skin, 4, 8),
    both("L89.159", 6, Aged, Skin, 9, 60),
    both("L40.9", 3, Adults, Skin, 8, 0),
    both("L20.9", 4, Infants, Skin, 5, 0),
    // Bones and joints
    both("M17.11", 34, Old, Knee, 4, 2),
    both("M17.12", 32, Old, Knee, 4, 2),
    both("M16.11", 26, Old, Hip, 5, 3),
    both("M16.12", 24, Old, Hip, 5, 3),
    both("M51.16", 20, Adults, Spine, 4, 1),
    both("M48.061", 18, Old, Spine, 5, 3),
    both("M54.50", 18, Adults, Spine, 4, 1),
    both("M23.201", 8, Youth, Joint, 1, 0),
    both("M81.0", 6, Aged, Spine, 5, 5),
    both("M06.9", 5, Middle, Observation, 6, 5),
    both("M32.9", 2, Youth, Infection, 6, 10),
    // Kidneys, urinary tract, sexual organs
    both("N39.0", 44, Old, Kidney, 4, 25),
    both("N17.9", 36, Old, Kidney, 5, 85),
    both("N18.6", 14, Middle, Kidney, 5, 60),
    both("N20.1", 22, Adults, Stones, 2, 1),
    both("N20.0", 14, Adults, Stones, 2, 1),
    both("N10", 14, Youth, Kidney, 4, 4),
    both("N13.30", 6, Middle, Urinary, 3, 6),
    men("N40.1", 28, Old, Urinary, 4, 3),
    men("N47.1", 7, Children, Urinary, 1, 0),
    women("N81.2", 14, Middle, Women, 3, 1),
    women("N80.9", 10, Fertile, Women, 2, 0),
    women("N83.209", 12, Fertile, Women, 2, 0),
    women("N92.0", 10, Middle, Women, 1, 0),
    // Pregnancy and birth
    women("O80", 240, Fertile, Birth, 2, 0),
    women("O70.1", 100, Fertile, Birth, 3, 0),
    women("O82", 95, Fertile, Cesarean, 4, 0),
    women("O34.211", 60, Fertile, Cesarean, 4, 0),
    women("O48.0", 48, Fertile, Birth, 3, 0),
    women("O42.02", 40, Fertile, Birth, 3, 0),
    women("O14.03", 14, Fertile, Pregnancy, 5, 1),
    women("O60.03", 12, Fertile, Pregnancy, 5, 0),
    women("O24.419", 12, Fertile, Pregnancy, 3, 0),
    women("O03.9", 14, Fertile, Pregnancy, 1, 0),
    women("O21.0", 12, Fertile, Pregnancy, 3, 0),
    women("O72.1", 8, Fertile, Birth, 4, 1),
    women("O00.90", 4, Fertile, Pregnancy, 2, 0),
    both("Z38.00", 600, AtBirth, Newborn, 2, 0),
    both("Z38.01", 260, AtBirth, Newborn, 4, 0),
    both("P07.38", 35, AtBirth, Newborn, 12, 4),
    both("P22.1", 30, AtBirth, Newborn, 4, 2),
    both("P59.9", 40, AtBirth, Newborn, 3, 0),
    both("P07.18", 14, AtBirth, Newborn, 16, 8),
    both("P59.9", 20, Infants, Newborn, 3, 0),
    // Malformations
    both("Q21.10", 4, Infants, Heart, 6, 8),
    both("Q66.89", 2, Infants, Fracture, 2, 0),
    both("Q35.9", 2, Infants, Ear, 4, 0),
    men("Q53.10", 6, Infants, Urinary, 1, 0),
    // Symptoms
    both("R07.9", 40, Adults, Observation, 1, 2),
    both("R55", 34, All, Observation, 2, 4),
    both("R10.9", 32, All, Observation, 2, 3),
    both("R56.00", 24, Infants, Nerves, 2, 0),
    both("R50.9", 20, All, Observation, 2, 6),
    both("R42", 14, Adults, Observation, 2, 1),
    both("R51.9", 12, Youth, Observation, 1, 1),
    // Injury and poisoning
    both("S72.001A", 30, Aged, HipFracture, 10, 55),
    both("S72.141A", 24, Aged, HipFracture, 11, 55),
    both("S82.891A", 14, Adults, Fracture, 4, 2),
    both("S52.501A", 20, All, Fracture, 2, 1),
    both("S42.411A", 16, Children, Fracture, 1, 0),
    both("S06.0X0A", 36, All, Injury, 1, 4),
    both("S06.5X0A", 7, Aged, Injury, 8, 180),
    both("S01.01XA", 12, All, Injury, 1, 1),
    both("S22.41XA", 9, Adults, Injury, 4, 15),
    both("S83.511A", 9, Youth, Joint, 1, 0),
    both("T78.2XXA", 4, All, Observation, 1, 4),
    both("T39.1X2A", 7, Youth, Poisoning, 2, 5),
    both("T40.2X1A", 5, Youth, Poisoning, 2, 30),
    both("T81.49XA", 12, Adults, Wound, 6, 15),
    both("T84.54XA", 5, Old, Wound, 12, 20),
    // Reasons other than disease
    both("Z47.1", 9, Old, Observation, 10, 1),
    both("Z03.89", 7, All, Observation, 1, 0),
    both("Z49.31", 6, Middle, Dialysis, 1, 5),
    both("Z52.4", 1, Adults, Urinary, 5, 0),
];
