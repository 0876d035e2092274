//! Several files from one population (`[[file]]`): each is made and verified by itself, nobody is in two, and all are
//! published by one rename.

use crate::evidence::Metrics;
use crate::methods::Register;
use crate::pipeline::{Extras, Options, Released, make_of, open_tables};
use kohort_core::policy::{OneFile, Sampled};
use kohort_core::random::Randomness;
use kohort_core::release::{Published, ReleaseFiles, Staging};
use kohort_core::table::{People, PopulationPart, people_of};
use kohort_core::{Error, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Makes all files and publishes them in `out`: OUT/NAME/release/ for each, and one OUT/evidence/.
pub(crate) fn release(
    register: &Register,
    files: &[OneFile],
    out: &Path,
    options: &Options,
    extras: &Extras,
) -> Result<Released> {
    if extras.ledger.is_some() {
        return Err(Error::yours("--ledger cannot be combined with [[file]]: enter the files one by one."));
    }
    // Which line became which row is needed to keep the files apart, and is kept only if asked for.
    let own_options = Options { keep_rows: true, ..options.clone() };
    let scratch = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut taken = People::new();
    let (mut made, mut summaries, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut first: Option<Metrics> = None;
    for file in files {
        options.progress.note(&format!("file {}", file.name));
        let part = draw(register, file, &taken, options)?;
        let staging = Staging::in_memory(scratch)?;
        let released = make_of(register, &file.policy, Some(part), staging, &own_options, extras)?;
        let Published::Memory(release) = released.folder else {
            return Err(Error::machine("a file of several was published by itself."));
        };
        let people = people_in(register, file, &release, options)?;
        // Each was drawn from those who were left; that it is so is counted in what was written.
        if people.iter().any(|person| taken.contains(person)) {
            return Err(Error::refused("one person is in two files."));
        }
        summaries.push(summary(file, &released.metrics, people.len()));
        notes.extend(released.notes.into_iter().map(|note| format!("{}: {note}", file.name)));
        taken.extend(people);
        first.get_or_insert(released.metrics);
        made.push((file.name.clone(), if options.keep_rows { release } else { release.without_rows() }));
    }
    notes.push(format!(
        "{} files hold different people: someone who has all of them finds each person in one file at most, with the \
         risk of that file.",
        files.len()
    ));
    let text = serde_json::to_vec_pretty(&json!({ "files": summaries, "people_in_two_files": 0 }))
        .map_err(|e| Error::machine(format!("the summary of the files: {e}")))?;
    let folder =
        ReleaseFiles::together(made, vec![("files.json".into(), text)]).save(out, options.force, &*options.progress)?;
    let metrics = first.ok_or_else(|| Error::yours("[[file]]: there is no file."))?;
    let files = files.iter().map(|file| file.name.clone()).collect();
    Ok(Released { folder, metrics, notes, composition: None, files })
}

/// The people that a file is made of: its own sample, or everybody who is in no other file.
fn draw(register: &Register, file: &OneFile, taken: &People, options: &Options) -> Result<PopulationPart> {
    if file.sampled == Sampled::After {
        return Ok(PopulationPart::AllBut(taken.clone()));
    }
    let (source, policy) = open_tables(register, &file.policy, options)?;
    let patient = policy.patient();
    let all = people_of(&source, patient, None)?;
    let wanted = file.share.of(all.len() as u64) as usize;
    let mut left: Vec<Box<[u8]>> = all.into_iter().filter(|person| !taken.contains(person)).collect();
    if wanted == 0 || wanted > left.len() {
        return Err(Error::yours(format!(
            "file `{}`: its share is {wanted} people, and {} are in no other file. Set another share.",
            file.name,
            left.len()
        )));
    }
    Randomness::new(options.seed)?.draw_to_front(&mut left, wanted);
    left.truncate(wanted);
    Ok(PopulationPart::Only(left.into_iter().collect()))
}

/// The people whose rows are in what was made of a file, by the lines of its rows.
fn people_in(register: &Register, file: &OneFile, release: &ReleaseFiles, options: &Options) -> Result<People> {
    let path = match file.sampled {
        Sampled::Before => "private/rows",
        Sampled::After => "sample-1/private/rows",
    };
    let lines = release.get(path).ok_or_else(|| Error::machine("the rows of a file are not known."))?;
    let text = String::from_utf8_lossy(lines);
    // 0 is the line of a synthetic record.
    let lines: BTreeSet<u64> = text.lines().filter_map(|line| line.trim().parse().ok()).filter(|&l| l > 0).collect();
    let (source, policy) = open_tables(register, &file.policy, options)?;
    people_of(&source, policy.patient(), Some(&lines))
}

/// What the custodian reads about one of the files.
fn summary(file: &OneFile, metrics: &Metrics, people: usize) -> serde_json::Value {
    let metrics = metrics.to_value();
    json!({
        "name": file.name,
        "share": file.share.to_f64(),
        "sampled": match file.sampled { Sampled::Before => "before", Sampled::After => "after" },
        "people": people,
        "rows": metrics["rows"],
        "risk": metrics["risk"]["after"],
        "loss": metrics["utility"]["loss"],
        "cells": metrics["cells"]["share"],
        "samples": metrics["samples"],
    })
}
