//! Several files from one population (`[[file]]`): each is made and verified by itself, nobody is in two, and all are
//! published by one rename.

mod held_together;

use crate::evidence::Metrics;
use crate::evidence::metrics::{Risk, RowCounts, Sample};
use crate::methods::Register;
use crate::pipeline::{Extras, Options, Released, make_of, open_tables};
use held_together::{HeldFile, HeldTogether, held_together};
use kohort_core::policy::{OneFile, PolicyFile, Sampled};
use kohort_core::random::Randomness;
use kohort_core::release::{Published, ReleaseFiles, Staging};
use kohort_core::table::{People, PopulationPart, people_by_line, people_of};
use kohort_core::{Error, Result};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The person behind each released row; none for a synthetic record.
type RowPeople = Vec<Option<Box<[u8]>>>;

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
        let rows = people_by_row(register, file, &release, options)?;
        let people: People = rows.iter().flatten().cloned().collect();
        // Each was drawn from those who were left; that it is so is counted in what was written.
        if people.iter().any(|person| taken.contains(person)) {
            return Err(Error::refused("one person is in two files."));
        }
        summaries.push(summary(file, &released.metrics, people.len())?);
        notes.extend(released.notes.into_iter().map(|note| format!("{}: {note}", file.name)));
        taken.extend(people);
        first.get_or_insert(released.metrics);
        made.push((file, release, rows));
    }
    let held: Vec<HeldFile> =
        made.iter().map(|(file, release, people)| HeldFile { release, folder: handed_over(file), people }).collect();
    let together = held_together(&held)?;
    drop(held);
    notes.push(in_words(files.len(), together.as_ref()));
    let text = serde_json::to_vec_pretty(&AllFiles { files: summaries, together })
        .map_err(|e| Error::machine(format!("the summary of the files: {e}")))?;
    let made = made.into_iter().map(|(file, release, _)| {
        (file.name.clone(), if options.keep_rows { release } else { release.without_rows() })
    });
    let made = made.collect();
    let folder =
        ReleaseFiles::together(made, vec![("files.json".into(), text)]).save(out, options.force, &*options.progress)?;
    let metrics = first.ok_or_else(|| Error::yours("[[file]]: there is no file."))?;
    let files = files.iter().map(|file| file.name.clone()).collect();
    Ok(Released { folder, metrics, notes, composition: None, files })
}

/// The policy of the release in a folder: of a policy that makes several files, that of the file whose name the folder
/// or one above it has.
pub(crate) fn policy_of(policy: PolicyFile, folder: &Path) -> Result<PolicyFile> {
    let mut files = policy.several_files()?;
    if files.is_empty() {
        return Ok(policy);
    }
    let folder = folder.canonicalize().map_err(|e| Error::io(folder, &e))?;
    let named = |part: std::path::Component| files.iter().position(|file| part.as_os_str() == file.name.as_str());
    match folder.components().rev().find_map(named) {
        Some(at) => Ok(files.swap_remove(at).policy),
        None => {
            let names: Vec<String> = files.iter().map(|file| format!("DIR/{}", file.name)).collect();
            Err(Error::yours(format!(
                "the policy makes several files. Verify them one by one, in their own folders: {}.",
                names.join(", ")
            )))
        }
    }
}

/// The folder of a file that is handed over: empty, or that of its sample with a slash.
fn handed_over(file: &OneFile) -> &'static str {
    match file.sampled {
        Sampled::Before => "",
        Sampled::After => "sample-1/",
    }
}

/// Says what someone finds who holds all files, for the custodian.
fn in_words(files: usize, together: Option<&HeldTogether>) -> String {
    let who = format!(
        "the {files} files hold different people. Someone who has all of them and knows in which file a person is has the risk of that file."
    );
    match together {
        None => who,
        Some(own) => format!(
            "{who} Someone who does not know that, and knows the quasi-identifiers that all files have ({}), finds at least {} \
             people who look the same (highest risk {:.1} %, mean {:.1} %). Linking the files by these columns gives \
             {} pairs that look certain, and {} of them are right.",
            own.columns.join(", "),
            own.smallest_class,
            100.0 * own.highest_risk,
            100.0 * own.mean_risk,
            own.believed_links,
            own.right_links
        ),
    }
}

/// The people that a file is made of: its own sample, or everybody, of whom those in other files are not drawn.
fn draw(register: &Register, file: &OneFile, taken: &People, options: &Options) -> Result<PopulationPart> {
    if file.sampled == Sampled::After {
        return Ok(PopulationPart::Whole { never_sampled: taken.clone() });
    }
    let (source, policy) = open_tables(register, &file.policy, options)?;
    let patient = policy.patient();
    let all = people_of(&source, patient)?;
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

/// Finds the person behind each released row of a file, by the line that the row was made of.
fn people_by_row(register: &Register, file: &OneFile, release: &ReleaseFiles, options: &Options) -> Result<RowPeople> {
    let path = format!("{}private/rows", handed_over(file));
    let lines = release.get(&path).ok_or_else(|| Error::machine("the rows of a file are not known."))?;
    // 0 is the line of a synthetic record.
    let lines: Vec<u64> = String::from_utf8_lossy(lines).lines().filter_map(|line| line.trim().parse().ok()).collect();
    let (source, policy) = open_tables(register, &file.policy, options)?;
    let known: BTreeSet<u64> = lines.iter().copied().filter(|&line| line > 0).collect();
    let people = people_by_line(&source, policy.patient(), &known)?;
    Ok(lines.iter().map(|line| people.get(line).cloned()).collect())
}

/// The content of files.json: all files side by side.
#[derive(Serialize)]
struct AllFiles {
    files: Vec<FileSummary>,
    /// The findings of someone who holds all of them.
    together: Option<HeldTogether>,
}

/// The custodian's summary of one of the files.
#[derive(Serialize)]
struct FileSummary {
    name: String,
    share: f64,
    sampled: &'static str,
    people: usize,
    rows: RowCounts,
    risk: Option<Risk>,
    loss: f64,
    cells: Option<f64>,
    samples: Option<Vec<Sample>>,
}

fn summary(file: &OneFile, metrics: &Metrics, people: usize) -> Result<FileSummary> {
    let Metrics::Table(own) = metrics else {
        return Err(Error::yours("[[file]]: only a table can be released as several files."));
    };
    Ok(FileSummary {
        name: file.name.clone(),
        share: file.share.to_f64(),
        sampled: match file.sampled {
            Sampled::Before => "before",
            Sampled::After => "after",
        },
        people,
        rows: own.rows.clone(),
        risk: own.risk.after.clone(),
        loss: own.utility.loss,
        cells: own.cells.as_ref().map(|cells| cells.share),
        samples: own.samples.clone(),
    })
}
