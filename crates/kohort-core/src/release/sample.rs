//! Disjoint random samples of a release, drawn row by row or patient by patient.

use super::data_file::DataFile;
use super::write::typed_columns;
use crate::number::Fraction;
use crate::policy::Policy;
use crate::random::Randomness;
use crate::table::Source;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// In no sample.
pub(crate) const UNDRAWN: u32 = u32::MAX;

/// Draws for each unit the sample it is in, or [`UNDRAWN`]. Every sample of so many units is equally likely,
/// no unit is in two, and those for which `is_free` is false are in none.
pub(crate) fn draw(
    units: u64,
    is_free: impl Fn(usize) -> bool,
    shares: &[Fraction],
    random: &mut Randomness,
) -> Result<Vec<u32>> {
    let mut needs: Vec<u64> = shares.iter().map(|share| share.of(units)).collect();
    if let Some(at) = needs.iter().position(|&n| n == 0) {
        return Err(Error::yours(format!(
            "`samples`: the share {} of the {units} that are released is less than one. Set a larger share, or fewer samples.",
            shares[at]
        )));
    }
    let mut left = (0..units as usize).filter(|&unit| is_free(unit)).count() as u64;
    let wanted: u64 = needs.iter().sum();
    if wanted > left {
        return Err(Error::yours(format!(
            "the samples need {wanted} of the {units} released, and {left} are in no other file. Set smaller shares."
        )));
    }
    let mut of_unit = Vec::with_capacity(units as usize);
    for unit in 0..units as usize {
        let mut own = UNDRAWN;
        if !is_free(unit) {
            of_unit.push(own);
            continue;
        }
        let mut drawn = random.below(left);
        left -= 1;
        for (sample, need) in (0u32..).zip(&mut needs) {
            if drawn < *need {
                *need -= 1;
                own = sample;
                break;
            }
            drawn -= *need;
        }
        of_unit.push(own);
    }
    Ok(of_unit)
}

/// Where a sample is written.
pub(crate) struct SampleFile {
    /// Its data.
    pub(crate) data: PathBuf,
    /// The input lines of its rows.
    pub(crate) lines: PathBuf,
}

/// Writes the rows of each sample, in the order of the release, which is random. `of_row`: by row of
/// the release its sample; `lines`: its input line. Returns the rows of each.
pub(crate) fn write_samples(
    release: &Source,
    original: &Source,
    policy: &Policy,
    (of_row, lines): (&[u32], &[u64]),
    files: &[SampleFile],
) -> Result<Vec<u64>> {
    let create = |path: &PathBuf| File::create_new(path).map_err(|e| Error::io(path, &e));
    let mut outs = Vec::new();
    for file in files {
        let out = DataFile::create(original, &typed_columns(original, policy, &[])?, &file.data)?;
        outs.push((out, BufWriter::new(create(&file.lines)?), 0u64));
    }
    let width = release.columns().len();
    let mut row = 0usize;
    release.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for r in 0..chunk.rows() {
                let own = of_row.get(row).copied().unwrap_or(UNDRAWN);
                if let (Some((out, map, rows)), Some(line)) = (outs.get_mut(own as usize), lines.get(row)) {
                    let file = &files[own as usize];
                    out.row((0..width).map(|column| chunk.cell(r, column)))?;
                    writeln!(map, "{line}").map_err(|e| Error::io(&file.lines, &e))?;
                    *rows += 1;
                }
                row += 1;
            }
            Ok(())
        },
    )?;
    let mut rows = Vec::new();
    for ((out, mut map, own), file) in outs.into_iter().zip(files) {
        map.flush().map_err(|e| Error::io(&file.lines, &e))?;
        out.finish()?;
        rows.push(own);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Decimal;

    #[test]
    fn samples_are_disjoint_and_every_unit_is_as_likely() {
        let share = |text: &str| Fraction::from_decimal(Decimal::parse(text, b'.').unwrap()).unwrap();
        let mut random = Randomness::new(Some(7)).unwrap();
        let mut drawn = [[0u32; 2]; 10];
        for _ in 0..6000 {
            let samples = draw(10, |_| true, &[share("0.2"), share("0.35")], &mut random).unwrap();
            let size = |s: u32| samples.iter().filter(|&&own| own == s).count();
            assert_eq!((size(0), size(1), size(UNDRAWN)), (2, 3, 5));
            for (unit, &s) in samples.iter().enumerate().filter(|(_, s)| **s != UNDRAWN) {
                drawn[unit][s as usize] += 1;
            }
        }
        // 1,200 and 1,800 are to be expected; six standard deviations are 190 and 220.
        assert!(drawn.iter().all(|d| d[0].abs_diff(1200) < 190 && d[1].abs_diff(1800) < 220), "{drawn:?}");
        assert!(draw(3, |_| true, &[share("0.1")], &mut random).unwrap_err().message.contains("less than one"));
        assert!(draw(4, |_| true, &[share("0.5"), share("0.5")], &mut random).unwrap().iter().all(|&s| s != UNDRAWN));
        // Three of ten are in another file: the share is that of all, and the three are never drawn.
        let drawn = draw(10, |unit| unit >= 3, &[share("0.7")], &mut random).unwrap();
        assert_eq!(drawn, [&[UNDRAWN; 3][..], &[0; 7]].concat());
        assert!(
            draw(10, |unit| unit >= 3, &[share("0.8")], &mut random).unwrap_err().message.contains("no other file")
        );
    }
}
