//! `kohort init DATA`: a first policy for a table, or for tables that belong together.

use crate::output::{note, say};
use crate::{Context, progress};
use kohort::init::{Answer, Location, Suggestion, init_at, init_database, init_omop};
use kohort_core::release::made;
use kohort_core::table::Address;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Profile tables and write a commented policy for them
///
/// Suggests a role and a hierarchy for every column from its name and values. Read every line and
/// correct it: you know what the data means. You must choose k yourself.
///
/// From several tables, Kohort finds the one with a row for each person and the tables of their events,
/// and says which tables the policy does not use.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  kohort init patients.csv
  kohort init discharges.csv.gz -o discharges.toml
  kohort init patients.csv visits.csv
  kohort init ward.xlsx --sheet Data
  kohort init omop/                 all tables of a folder
  kohort init postgresql://me@db.example.org/clinic --table cdm.visits
  kohort init --omop postgresql://me@db.example.org/clinic?schema=cdm
  kohort init survey.csv --ask      asks about columns that were not understood")]
pub(crate) struct Args {
    /// Tables, or folders of tables: CSV or TSV (.gz too), Parquet, .xlsx, .ndjson of FHIR, .xpt, .dta, .sav; or the
    /// address of a PostgreSQL database. The password is in PGPASSWORD or ~/.pgpass
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Policy file to write
    #[arg(short, long, default_value = "policy.toml", value_name = "FILE")]
    output: PathBuf,
    /// The sheet of a workbook, where several sheets are tables
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// A table or a view of the database, such as cdm.visits; several times for several. Without it, all tables of
    /// the schema that the address names are read
    #[arg(long, value_name = "NAME")]
    table: Vec<String>,
    /// The schema or the folder holds the OMOP common data model: only tables about people are read, and of
    /// concept_ancestor hierarchies of concepts are made, in files beside the policy
    #[arg(long)]
    omop: bool,
    /// Lines above the header (rows of a sheet), where Kohort does not find them
    #[arg(long, value_name = "LINES")]
    skip: Option<u64>,
    /// Write FILE even if it exists; what was there is renamed to FILE.old
    #[arg(long)]
    force: bool,
    /// Ask about each column that was not understood
    #[arg(long)]
    ask: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<()> {
    let exists = || {
        Error::yours(format!(
            "{} exists. Choose another file with -o, or replace it with --force.",
            args.output.display()
        ))
    };
    let database = database(args)?;
    let files: Vec<PathBuf> = args.data.iter().filter(|data| !data.is_dir()).cloned().collect();
    made::keep_apart(&args.output, &files)?;
    if fs::symlink_metadata(&args.output).is_ok() && !args.force {
        return Err(exists());
    }
    let folder = args.output.parent().unwrap_or(Path::new(""));
    let at = Location { sheet: args.sheet.clone(), skip: args.skip };
    let mut suggestion = match database {
        Some(address) => init_database(&address, &args.table, args.omop, context.threads, progress::bar())?,
        None if args.omop => init_omop(&args.data, folder, context.threads, progress::bar())?,
        None => init_at(&args.data, &at, folder, context.threads, progress::bar())?,
    };
    if args.ask {
        ask(&mut suggestion)?;
    }
    let made: Vec<(PathBuf, &str)> = suggestion.files.iter().map(|own| (folder.join(&own.name), &*own.text)).collect();
    if let Some((path, _)) = made.iter().find(|(path, _)| !args.force && fs::symlink_metadata(path).is_ok()) {
        return Err(Error::yours(format!(
            "{} exists. Choose another folder with -o, or replace it with --force.",
            path.display()
        )));
    }
    made.iter().try_for_each(|(path, text)| write_new(path, text))?;
    write_new(&args.output, &suggestion.policy)?;
    suggestion.warnings.iter().for_each(|w| note(w));
    say(&format!("{:<24} {:<11} {:<7} {}", "column", "role", "", "why"));
    let mut table = None;
    for column in &suggestion.columns {
        if column.table != table {
            table.clone_from(&column.table);
            say(&format!("[{}]", table.as_deref().unwrap_or_default()));
        }
        let (role, confidence) = (column.role.name(), column.confidence.name());
        say(&format!("{:<24} {role:<11} {confidence:<7} {}", column.name, column.why));
    }
    say("");
    made.iter().for_each(|(path, _)| say(&format!("written: {}", path.display())));
    say(&format!("written: {}", args.output.display()));
    say("Next: read it line by line, choose k, then");
    say(&format!("  kohort risk {}", args.output.display()));
    say(&format!("  kohort anonymize {}", args.output.display()));
    Ok(())
}

/// Writes a file. You may have edited the one that is there: it is kept under another name.
fn write_new(path: &Path, text: &str) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        let kept = keep_aside(path)?;
        note(&format!("{} already existed and was renamed to {}.", path.display(), kept.display()));
    }
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| Error::io(path, &e))
}

/// The database, where one is named instead of files.
fn database(args: &Args) -> Result<Option<Address>> {
    let is_address = |data: &PathBuf| data.to_str().is_some_and(Address::is_one);
    match &args.data[..] {
        [one] if is_address(one) => Address::parse(one.to_str().unwrap_or_default())
            .map(Some)
            .map_err(|what| Error::yours(format!("the address {what}"))),
        several if several.iter().any(is_address) => {
            Err(Error::yours("name one database, and its tables with --table."))
        }
        _ if !args.table.is_empty() => Err(Error::yours("--table is for tables of a database.")),
        _ => Ok(None),
    }
}

/// Asks about the columns that were not understood. An empty answer, or the end of the answers, keeps the suggestion.
fn ask(suggestion: &mut Suggestion) -> Result<()> {
    let questions = suggestion.questions();
    let mut answers = std::io::stdin().lines();
    for (number, &place) in (1..).zip(&questions) {
        let column = &suggestion.columns[place];
        note(&format!(
            "question {number} of {}: `{}` ({}). {}.",
            questions.len(),
            column.name,
            column.facts,
            column.why
        ));
        let dates = column.formats.is_some();
        if dates {
            note(
                "is the day written before the month? y = day first, n = month first, d = drop it, Enter = only the year",
            );
        } else {
            note(&format!(
                "could somebody outside know it about a person? y = yes, n = no, d = drop it, Enter = keep \"{}\"",
                column.role.name()
            ));
        }
        let answer = loop {
            let Some(line) = answers.next() else { return Ok(()) };
            let line = line.map_err(|e| Error::io(Path::new("the terminal"), &e))?;
            match line.trim().to_lowercase().as_str() {
                "" => break None,
                "y" | "yes" => break Some(if dates { Answer::DayFirst } else { Answer::Known }),
                "n" | "no" => break Some(if dates { Answer::MonthFirst } else { Answer::Unknown }),
                "d" | "drop" => break Some(Answer::Drop),
                _ => note("please answer y, n or d, or press Enter."),
            }
        };
        if let Some(answer) = answer {
            suggestion.answer(place, answer);
        }
    }
    Ok(())
}

/// Renames a file to the first free of FILE.old, FILE.old-2 and so on.
fn keep_aside(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..1000)
        .map(|n| file.with_file_name(if n == 1 { format!("{name}.old") } else { format!("{name}.old-{n}") }))
        .find(|path| fs::symlink_metadata(path).is_err());
    let Some(free) = free else {
        return Err(Error::yours(format!(
            "{}: there are too many older versions. Remove some of them.",
            file.display()
        )));
    };
    fs::rename(file, &free).map_err(|e| Error::io(file, &e))?;
    Ok(free)
}
