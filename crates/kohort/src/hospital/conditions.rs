//! Conditions of patients that come together, beside the diagnoses of the stays. The frequencies are
//! invented.

use super::diagnoses::BANDS;
use super::patient::{Odds, Patient, Stay};
use super::random::RowRandomness;

/// Conditions that come together.
struct Syndrome {
    /// The patients of each band of age who have it, out of 1000.
    by_band: [u32; BANDS],
    /// Codes of ICD-10-CM, and of 1000 who have the syndrome, those with the code.
    codes: &'static [(&'static str, u32)],
}

#[rustfmt::skip]
const SYNDROMES: [Syndrome; 10] = [
    // Metabolism
    Syndrome { by_band: [0, 0, 0, 10, 90, 330, 480, 430], codes: &[
        ("I10", 820), ("E78.5", 640), ("E11.9", 430), ("E66.9", 360), ("Z79.4", 140), ("E11.22", 90), ("G47.33", 150),
    ] },
    // Heart
    Syndrome { by_band: [0, 0, 0, 2, 12, 90, 250, 360], codes: &[
        ("I25.10", 620), ("I48.91", 330), ("I50.9", 310), ("Z79.01", 300), ("Z95.5", 190), ("I25.2", 170), ("I10", 500),
    ] },
    // Kidney
    Syndrome { by_band: [0, 0, 0, 1, 6, 40, 120, 220], codes: &[
        ("N18.30", 480), ("N18.9", 260), ("D63.1", 240), ("I12.9", 520), ("Z99.2", 60),
    ] },
    // Lung and tobacco
    Syndrome { by_band: [0, 0, 0, 30, 110, 200, 180, 90], codes: &[
        ("F17.210", 560), ("J44.9", 410), ("Z87.891", 350), ("J96.11", 80), ("Z99.81", 90),
    ] },
    // Mind
    Syndrome { by_band: [0, 0, 10, 120, 150, 140, 90, 80], codes: &[
        ("F41.9", 520), ("F32.A", 560), ("G47.00", 260), ("F17.210", 230), ("F10.20", 110), ("F43.10", 80),
    ] },
    // Bones and joints
    Syndrome { by_band: [0, 0, 0, 10, 60, 200, 330, 420], codes: &[
        ("M19.90", 520), ("M54.50", 380), ("M81.0", 260), ("Z96.651", 120), ("Z96.641", 90),
    ] },
    // Stomach and thyroid
    Syndrome { by_band: [0, 10, 5, 40, 120, 240, 300, 310], codes: &[
        ("K21.9", 680), ("E03.9", 370), ("E55.9", 220), ("D64.9", 160),
    ] },
    // Children
    Syndrome { by_band: [0, 180, 240, 80, 20, 5, 0, 0], codes: &[
        ("J45.909", 560), ("J30.9", 420), ("L20.9", 330), ("F90.9", 170),
    ] },
    // Newborn
    Syndrome { by_band: [600, 0, 0, 0, 0, 0, 0, 0], codes: &[
        ("P59.9", 480), ("Z23", 720), ("P07.38", 60),
    ] },
    // Old age
    Syndrome { by_band: [0, 0, 0, 0, 0, 10, 120, 460], codes: &[
        ("Z91.81", 420), ("F03.90", 280), ("H91.90", 240), ("R26.89", 300), ("N39.0", 220), ("Z66", 200),
    ] },
];

/// Every code of a patient, in byte order, each once: of all stays, and of what comes with age.
pub(super) fn codes(
    odds: &Odds,
    patient: &Patient,
    random: &mut RowRandomness,
    earlier: &mut Vec<Stay>,
) -> Vec<&'static str> {
    odds.earlier_stays(patient, random, earlier);
    let mut codes: Vec<&str> = earlier.iter().chain([&patient.last_stay]).map(|stay| stay.diagnosis.code).collect();
    let band = patient.last_stay.band;
    for syndrome in &SYNDROMES {
        if !random.per_mille(syndrome.by_band[band]) {
            continue;
        }
        codes.extend(syndrome.codes.iter().filter(|(_, share)| random.per_mille(*share)).map(|(code, _)| *code));
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Every code that may occur beside the diagnoses.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    SYNDROMES.iter().flat_map(|s| s.codes.iter().map(|(code, _)| *code))
}
