//! A synthetic hospital, for the demo, the tests and the benchmarks. Nobody in it lives.
//!
//! `patients.csv` has one row per patient and shows the last stay; `discharges.csv` has every stay of the same
//! patients, `conditions.csv` the codes of all that each of them has. A row depends on the seed and its patient's number alone, so that a smaller hospital is the beginning
//! of a larger one, and a file of any length is written without being held.

mod adult;
mod care;
mod conditions;
mod diagnoses;
mod national;
mod patient;
mod people;
mod random;
#[cfg(test)]
mod tests;

use crate::methods::Register;
use std::io::{self, Write};

pub use adult::vary_adult;
use kohort_core::calendar::Date;
pub use national::write_national;
use patient::{Odds, Patient, Stay};
use people::{FIRST_NAMES_MEN, FIRST_NAMES_WOMEN, LAST_NAMES, Sex};
use random::RowRandomness;

/// The policy by which `patients.csv` is released by the method `lattice`. Written to be read.
pub const POLICY: &str = include_str!("../methods/lattice/hospital.toml");

/// A policy for the hospital's files by each method, with the method's name. Written to be read and edited.
pub fn policies() -> impl Iterator<Item = (&'static str, &'static str)> {
    let entries = Register::built_in().entries().to_vec();
    entries.into_iter().map(|entry| (entry.name, entry.example))
}

const PATIENTS_HEADER: &str = "patient_id,name,phone,birth_date,age,sex,zip,marital,occupation,admitted,los_days,\
                               diagnosis,procedure,ward,outcome\n";
const DISCHARGES_HEADER: &str = "patient_id,age,sex,zip,admitted,los_days,diagnosis,procedure,outcome\n";
const CONDITIONS_HEADER: &str = "patient_id,codes\n";

/// A synthetic hospital: same rows and seed, same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hospital {
    /// The number of patients, at most ten billion: the rows of `patients.csv`.
    pub rows: u64,
    /// Random seed.
    pub seed: u64,
}

impl Hospital {
    /// Writes `patients.csv`: one row per patient, with the last stay.
    pub fn write_patients(&self, out: &mut dyn Write) -> io::Result<()> {
        let odds = Odds::new();
        let mut lines = CellLines::new(out, b',', PATIENTS_HEADER);
        for row in 0..self.rows {
            let mut random = RowRandomness::of_row(self.seed, row);
            let patient = odds.patient(&mut random);
            self.patient_line(row, &patient, &mut random, &mut lines);
            lines.end()?;
        }
        lines.finish()
    }

    /// Writes `discharges.csv`: every stay of each patient, about 1.6 on average and more than ten for some,
    /// a patient's rows together and in order of time.
    pub fn write_discharges(&self, out: &mut dyn Write) -> io::Result<()> {
        let odds = Odds::new();
        let mut lines = CellLines::new(out, b',', DISCHARGES_HEADER);
        let mut earlier = Vec::new();
        for row in 0..self.rows {
            let mut random = RowRandomness::of_row(self.seed, row);
            let patient = odds.patient(&mut random);
            odds.earlier_stays(&patient, &mut random, &mut earlier);
            for stay in earlier.iter().rev().chain([&patient.last_stay]) {
                self.discharge_line(row, &patient, stay, &mut lines);
                lines.end()?;
            }
        }
        lines.finish()
    }

    /// Writes `conditions.csv`: one row per patient, with the codes of all stays and of what else the patient has,
    /// separated by spaces.
    pub fn write_conditions(&self, out: &mut dyn Write) -> io::Result<()> {
        let odds = Odds::new();
        let mut lines = CellLines::new(out, b',', CONDITIONS_HEADER);
        let mut earlier = Vec::new();
        for row in 0..self.rows {
            let mut random = RowRandomness::of_row(self.seed, row);
            let patient = odds.patient(&mut random);
            let codes = conditions::codes(&odds, &patient, &mut random, &mut earlier);
            self.patient_id(row, &mut lines);
            lines.cell(&codes.join(" "));
            lines.end()?;
        }
        lines.finish()
    }

    fn patient_line(&self, row: u64, patient: &Patient, random: &mut RowRandomness, lines: &mut CellLines) {
        let stay = &patient.last_stay;
        self.patient_id(row, lines);
        let first_names = match patient.sex {
            Sex::Female => &FIRST_NAMES_WOMEN,
            Sex::Male => &FIRST_NAMES_MEN,
        };
        let (first, last) = (random.one_of(first_names), random.one_of(&LAST_NAMES));
        lines.text(first).text(" ").cell(last);
        lines.text("555-").digits(u64::from(random.below(1000)), 3);
        lines.text("-").digits(u64::from(random.below(10_000)), 4).next();
        lines.date(patient.birth).number(stay.age as u32);
        lines.cell(sex_cell(patient)).cell(patient.zip).cell(patient.marital).cell(patient.occupation);
        lines.date(stay.admitted).number(stay.days).cell(stay.diagnosis.code);
        lines.cell(stay.procedure).cell(stay.ward).cell(stay.outcome.name());
    }

    fn discharge_line(&self, row: u64, patient: &Patient, stay: &Stay, lines: &mut CellLines) {
        self.patient_id(row, lines);
        lines.number(stay.age as u32).cell(sex_cell(patient)).cell(patient.zip);
        lines.date(stay.admitted).number(stay.days).cell(stay.diagnosis.code);
        lines.cell(stay.procedure).cell(stay.outcome.name());
    }

    /// `P` and ten digits. The factor has no divisor in common with 10¹⁰, so that no number comes twice.
    fn patient_id(&self, row: u64, lines: &mut CellLines) {
        const NUMBERS: u64 = 10_000_000_000;
        let number = ((row % NUMBERS) * 1_234_567_891 + self.seed % NUMBERS) % NUMBERS;
        lines.text("P").digits(number, 10).next();
    }
}

fn sex_cell(patient: &Patient) -> &'static str {
    match (patient.sex_recorded, patient.sex) {
        (false, _) => "",
        (true, Sex::Female) => "F",
        (true, Sex::Male) => "M",
    }
}

/// Lines of cells, gathered as bytes and written in large pieces.
struct CellLines<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
    delimiter: u8,
}

impl<'a> CellLines<'a> {
    const PIECE: usize = 1 << 16;

    fn new(out: &'a mut dyn Write, delimiter: u8, header: &str) -> CellLines<'a> {
        let mut bytes = Vec::with_capacity(2 * CellLines::PIECE);
        bytes.extend_from_slice(header.as_bytes());
        CellLines { out, bytes, delimiter }
    }

    #[inline]
    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }

    /// The cell is complete.
    #[inline]
    fn next(&mut self) -> &mut Self {
        self.bytes.push(self.delimiter);
        self
    }

    #[inline]
    fn cell(&mut self, text: &str) -> &mut Self {
        self.text(text).next()
    }

    /// The last `width` digits, with leading zeros.
    #[inline]
    fn digits(&mut self, mut number: u64, width: usize) -> &mut Self {
        let mut digits = [b'0'; 20];
        for digit in digits[..width].iter_mut().rev() {
            *digit += (number % 10) as u8;
            number /= 10;
        }
        self.bytes.extend_from_slice(&digits[..width]);
        self
    }

    #[inline]
    fn number(&mut self, number: u32) -> &mut Self {
        let width = number.checked_ilog10().unwrap_or(0) + 1;
        self.digits(u64::from(number), width as usize).next()
    }

    #[inline]
    fn date(&mut self, day: i32) -> &mut Self {
        Date::of_day_number(i64::from(day)).push_iso(&mut self.bytes);
        self.next()
    }

    /// The line is complete: its last delimiter becomes its end.
    #[inline]
    fn end(&mut self) -> io::Result<()> {
        if let Some(last) = self.bytes.last_mut() {
            *last = b'\n';
        }
        if self.bytes.len() >= CellLines::PIECE {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.out.flush()
    }
}
