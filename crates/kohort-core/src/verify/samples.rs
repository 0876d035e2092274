//! Samples of a verified release: drawn from its bytes, each checked against them.
//!
//! A sample's classes are smaller than k, so that its guarantee is that of the whole file: it was
//! recounted there. What is checked here is that each sample holds rows of that file and nothing
//! else, that no row and no patient is in two, and that its certificate says so.

use super::ReleaseFolder;
use super::claimed_values::Values;
use super::files;
use super::known_sets::known_sets;
use super::lines::LineFile;
use super::open_data::open_data;
use super::recount::{self, Recount};
use crate::number::Fraction;
use crate::policy::Policy;
use crate::random::Randomness;
use crate::release::dictionary::head_of_table;
use crate::release::{
    Certificate, DataFile, FileEntry, PARTS, SampleFile, Staging, UNDRAWN, Written, draw, write_samples,
};
use crate::risk::{Drawn, SampledRisk, sampled};
use crate::shape::{Shape, Table};
use crate::table::{Counting, Source, Texts, count};
use crate::{Error, Result};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// More sets than anybody reads are not reported one by one.
const MOST_SETS: usize = 50;

/// Knowledge of the file that a sample was drawn from.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its folder in DIR.
    pub name: String,
    /// Its certificate.
    pub certificate: Certificate,
    /// The counts from its bytes.
    pub recount: Recount,
    /// Its people: rows, or patients.
    pub people: u64,
    /// How easily they are found.
    pub risk: Vec<SampledRisk>,
}

/// Draws and checks samples of the release in a staging folder, which the verifier let pass.
pub(super) fn sample(
    staging: &Staging,
    (written, population): (&Written, &Certificate),
    shares: &[Fraction],
    source: &Source,
    policy: &Policy,
    random: &mut Randomness,
) -> Result<Vec<Sample>> {
    let claim = &population.promise.claim;
    let release = ReleaseFolder::staged(staging.release());
    let (threads, progress) = (source.threads(), source.progress());
    source.progress().stage("sampling", files::bytes(&release.join(&written.file)));
    let data = open_data(&release, population, threads, progress)?;
    let quasi: Vec<usize> =
        (0..population.promise.columns.len()).filter(|&c| population.promise.columns[c].role == "quasi").collect();
    let tuples = count(&data, &Counting { columns: quasi, patient: None, remember: u64::MAX })?;
    let tuple = tuples.of_row.clone().ok_or_else(|| Error::refused("the release changed while it was read."))?;
    let lines = read_lines(&written.lines, tuples.rows)?;
    let (unit, units) = match policy.patient() {
        None => ((0..tuples.rows as u32).collect(), tuples.rows),
        Some(patient) => units(source, patient, &lines)?,
    };
    let taken = taken(source, &lines, &unit, units)?;
    let of_unit = draw(units, |unit| !taken[unit], shares, random)?;
    let of_row: Vec<u32> = unit.iter().map(|&u| of_unit[u as usize]).collect();
    let folders = (1..=shares.len()).map(|n| staging.sample(n)).collect::<Result<Vec<_>>>()?;
    let file = DataFile::name_of_one(source).to_string();
    let paths: Vec<SampleFile> = folders
        .iter()
        .map(|f| SampleFile { data: f.join("release").join(&file), lines: f.join("private").join("rows") })
        .collect();
    let rows = write_samples(&data, source, policy, (&of_row, &lines), &paths)?;
    let names: Vec<&str> =
        population.promise.columns.iter().filter(|c| c.role == "quasi").map(|c| c.name.as_str()).collect();
    let sets = known_sets(claim, &names, &vec![true; names.len()], population.promise.patients)?;
    let shown = &sets.listed()[..sets.listed().len().min(MOST_SETS)];
    let dictionary = std::fs::read_to_string(release.join("dictionary.md")).map_err(|e| Error::io(&release, &e))?;
    // A sample is one file, also where the whole release is a folder of parts.
    let dictionary = dictionary.replacen(&head_of_table(PARTS, b','), &head_of_table(&file, b','), 1);
    let mut samples = Vec::new();
    for (n, share) in shares.iter().enumerate() {
        let own = ReleaseFolder::staged(folders[n].join("release"));
        std::fs::write(own.join("dictionary.md"), &dictionary).map_err(|e| Error::io(&own, &e))?;
        let mut certificate = certificate_of(population, *share);
        certificate.files = vec![FileEntry::new(&file, Some(rows[n])), FileEntry::new("dictionary.md", None)];
        for file in &mut certificate.files {
            file.set_hashes(|name| files::sha256(&own.join(name)))?;
        }
        let counted = recount::recount(
            &own,
            &certificate,
            Values::OfPolicy(policy, source.input().decimal),
            None,
            threads,
            progress,
        )?;
        certificate.promise.claim = counted.claim.clone();
        certificate.recount = counted.recount.shown();
        certificate.guarantee = Table::guarantee(&certificate);
        files::write_certificate(&own, &certificate)?;
        let drawn = Drawn { tuple: &tuple, unit: &unit, sample: &of_row };
        let risk = sampled(&tuples, &drawn, n as u32, shown);
        let people = of_unit.iter().filter(|&&own| own == n as u32).count() as u64;
        let name = format!("sample-{}", n + 1);
        samples.push(Sample { name, certificate, recount: counted.recount, people, risk });
    }
    are_parts_of_it(&data, &lines, &unit, (&samples, &paths), progress)?;
    Ok(samples)
}

/// The certificate of a sample, before its files are listed.
fn certificate_of(population: &Certificate, share: Fraction) -> Certificate {
    let mut certificate = population.clone();
    certificate.sample = Some(share);
    certificate.promise = certificate.promise.sampled();
    certificate
}

fn read_lines(path: &Path, rows: u64) -> Result<Vec<u64>> {
    let mut file = LineFile::open(path)?;
    let lines = (0..rows).map(|_| file.next()).collect::<Result<_>>()?;
    file.end()?;
    Ok(lines)
}

/// The patient of each released row, numbered in the order of the release; and how many there are.
fn units(source: &Source, patient: usize, lines: &[u64]) -> Result<(Vec<u32>, u64)> {
    let row_of: HashMap<u64, u32, foldhash::fast::RandomState> = lines.iter().copied().zip(0u32..).collect();
    let mut named: Vec<u32> = vec![UNDRAWN; lines.len()];
    let mut patients = Texts::default();
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for r in 0..chunk.rows() {
                if let Some(&row) = row_of.get(&chunk.line(r)) {
                    named[row as usize] = patients.intern(chunk.cell(r, patient));
                }
            }
            Ok(())
        },
    )?;
    if named.contains(&UNDRAWN) {
        return Err(Error::refused("some released rows do not match any row of the original."));
    }
    // In the order of the file a number would follow the input.
    let mut number = vec![UNDRAWN; patients.len()];
    let mut units = 0;
    for own in &mut named {
        let number = &mut number[*own as usize];
        if *number == UNDRAWN {
            *number = units;
            units += 1;
        }
        *own = *number;
    }
    Ok((named, u64::from(units)))
}

/// Finds for each unit whether it is in another file already, and so in no sample.
fn taken(source: &Source, lines: &[u64], unit: &[u32], units: u64) -> Result<Vec<bool>> {
    let mut taken = vec![false; units as usize];
    if !source.keeps_some_from_samples() {
        return Ok(taken);
    }
    let row_of: HashMap<u64, u32, foldhash::fast::RandomState> = lines.iter().copied().zip(0u32..).collect();
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for r in (0..chunk.rows()).filter(|&r| !source.may_be_sampled(&chunk, r)) {
                if let Some(&row) = row_of.get(&chunk.line(r)) {
                    taken[unit[row as usize] as usize] = true;
                }
            }
            Ok(())
        },
    )?;
    Ok(taken)
}

/// Reads the samples back: each row is a row of the whole file, none is in two samples, and all rows
/// of one person are in one.
fn are_parts_of_it(
    data: &Source,
    lines: &[u64],
    unit: &[u32],
    (samples, paths): (&[Sample], &[SampleFile]),
    progress: &std::sync::Arc<dyn crate::table::Progress>,
) -> Result<()> {
    let key = RandomState::new();
    let whole = prints(data, &key)?;
    let row_of: HashMap<u64, usize, foldhash::fast::RandomState> = lines.iter().copied().zip(0..).collect();
    let mut in_sample: Vec<u32> = vec![UNDRAWN; lines.len()];
    let mut of_person: Vec<u32> = vec![UNDRAWN; lines.len()];
    for ((n, sample), path) in (0u32..).zip(samples).zip(paths) {
        let release = path.data.parent().unwrap_or(Path::new("."));
        let own = open_data(&ReleaseFolder::staged(release), &sample.certificate, data.threads(), progress)?;
        let prints = prints(&own, &key)?;
        let lines = read_lines(&path.lines, prints.len() as u64)?;
        for (print, line) in prints.into_iter().zip(lines) {
            let row = row_of.get(&line).copied().filter(|&row| whole.get(row) == Some(&print));
            let Some(row) = row else {
                return Err(Error::refused("a row of a sample is not in the file it was drawn from."));
            };
            let before = std::mem::replace(&mut in_sample[row], n);
            let person = &mut of_person[unit[row] as usize];
            if before != UNDRAWN || (*person != UNDRAWN && *person != n) {
                return Err(Error::refused("one person is in two samples."));
            }
            *person = n;
        }
    }
    let left_out = |(row, &own): (usize, &u32)| of_person[unit[row] as usize] != own;
    match in_sample.iter().enumerate().any(left_out) {
        true => Err(Error::refused("some rows of a person are in a sample, others are not.")),
        false => Ok(()),
    }
}

/// Every row's cells in one number.
fn prints(source: &Source, key: &RandomState) -> Result<Vec<u64>> {
    let width = source.columns().len();
    let mut all = Vec::new();
    source.scan(
        |_| (),
        |(), chunk| {
            let print = |r: usize| key.hash_one((0..width).map(|c| chunk.cell(r, c)).collect::<Vec<_>>());
            Ok((0..chunk.rows()).map(print).collect::<Vec<u64>>())
        },
        |prints| {
            all.extend(prints);
            Ok(())
        },
    )?;
    Ok(all)
}
