//! Reads the two linked tables of a policy about events: one pass over each.

use super::differences::{self, Differences};
use super::months::{firsts, months, read_dates};
use super::rules::{Tally, hits};
use super::{Column, Copied, Counts, Histories, Leaves};
use crate::hierarchy::{MISSING, Rule, SUPPRESSED};
use crate::number::Decimal;
use crate::policy::{self, EventsPolicy, Origin, Policy, Role, RuleKind, Table, Unmapped, WithoutEvents};
use crate::statistics::median;
use crate::table::{Chunk, Dictionary, Scope, Source, Texts};
use crate::{Error, Result, shape};
use std::collections::HashMap;

/// Reads patients and events, leaves out what rules exclude, and generalizes what is left.
pub fn survey(source: &Source, policy: &Policy<shape::Events>) -> Result<Histories> {
    let Some(patients) = source.patients() else { return Err(policy.error("the input names no table of patients.")) };
    let asked = &policy.own;
    source.progress().stage("reading", patients.bytes() + source.bytes());
    let mut tally = Tally::new(&asked.exclude);
    let mut people = People::read(patients, asked, &mut tally)?;
    let mut events = Events::read(source, policy, asked, &mut people, &mut tally)?;
    events.by_patient(people.rows.lines.len());
    let gone = Gone::of(asked, &people, &events);
    let mut histories =
        Histories { rules: tally.counts(), counts: gone.counts(&people, &events), ..Histories::default() };
    // Columns over everybody who was read, so that the excluded can be compared with the kept.
    histories.patient = columns(patients, &asked.patients, &people.rows, &[])?;
    histories.event = event_columns(source, policy, asked, patients, &people, &events)?;
    if gone.counts(&people, &events).patients_excluded > 0 {
        histories.differences = Some(compare(policy, asked, &histories, &people, &events, &gone));
    }
    let keep_event: Vec<usize> =
        (0..events.rows.lines.len()).filter(|&e| gone.kept[events.patient[e] as usize]).collect();
    let keep_patient: Vec<usize> = (0..people.rows.lines.len()).filter(|&p| gone.kept[p]).collect();
    histories.patient_copied = copied(patients, &asked.patients, &people.rows, &keep_patient)?;
    histories.event_copied = copied(source, &policy.columns, &events.rows, &keep_event)?;
    for column in &mut histories.patient {
        column.codes = keep_patient.iter().map(|&p| column.codes[p]).collect();
    }
    for column in &mut histories.event {
        column.codes = keep_event.iter().map(|&e| column.codes[e]).collect();
    }
    histories.patient_lines = keep_patient.iter().map(|&p| people.rows.lines[p]).collect();
    histories.event_lines = keep_event.iter().map(|&e| events.rows.lines[e]).collect();
    histories.event_order = match asked.event_date {
        None => vec![0; keep_event.len()],
        Some(column) => order_in_time(source, &policy.columns[column], &events.rows, column, &keep_event),
    };
    let mut end = 0;
    for &p in &keep_patient {
        end += gone.events_of[p] as usize;
        histories.ends.push(end);
    }
    let (patient, event) = (&mut histories.patient, &mut histories.event);
    settle(patients, &asked.patients, patient, &histories.patient_lines, &mut histories.notes)?;
    settle(source, &policy.columns, event, &histories.event_lines, &mut histories.notes)?;
    histories.say();
    if histories.patients() == 0 || histories.events() == 0 {
        return Err(Error::yours(format!("{}: no event is left to publish.", source.name())));
    }
    Ok(histories)
}

impl Histories {
    /// What the custodian should know.
    fn say(&mut self) {
        for rule in self.rules.iter().filter(|r| r.rows > 0) {
            let scope = match rule.scope {
                Scope::Patient => "patients",
                Scope::Row => "events alone",
            };
            self.notes.push(format!(
                "excluded ({scope}): \"{}\" holds for {} rows of {} patients.",
                rule.name, rule.rows, rule.patients
            ));
        }
        let counts = &self.counts;
        if counts.without_events > 0 {
            self.notes.push(format!("{} patients never had an event.", counts.without_events));
        }
        if counts.patients_emptied > 0 {
            self.notes.push(format!(
                "{} patients lost all events to exclusions and leave with them.",
                counts.patients_emptied
            ));
        }
    }
}

/// Cells of rows, numbered by column as they were read.
#[derive(Default)]
struct Rows {
    lines: Vec<u64>,
    /// By position in the table: texts and, by row, their numbers. Empty for columns nobody needs.
    columns: HashMap<usize, (Texts, Vec<u32>)>,
}

impl Rows {
    fn of(needed: impl IntoIterator<Item = usize>) -> Rows {
        Rows { lines: Vec::new(), columns: needed.into_iter().map(|c| (c, Default::default())).collect() }
    }

    fn push(&mut self, chunk: &Chunk, row: usize) {
        self.lines.push(chunk.line(row));
        for (&column, (texts, numbers)) in &mut self.columns {
            numbers.push(texts.intern(chunk.cell(row, column)));
        }
    }
}

/// The columns of a table that are read into memory: those that leave, and those that are asked for.
fn needed(columns: &[policy::Column], more: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let released = (0..columns.len()).filter(|&c| columns[c].role.is_released());
    released.chain(more).collect()
}

struct People {
    ids: Texts,
    rows: Rows,
    excluded: Vec<bool>,
}

impl People {
    fn read(source: &Source, asked: &EventsPolicy, tally: &mut Tally) -> Result<People> {
        let Some(&id) = asked.positions(|r| *r == Role::Patient).first() else {
            return Err(Error::yours("the patients' table has no patient column."));
        };
        let births = asked.exclude.iter().filter_map(|r| match &r.kind {
            RuleKind::Age { birth, .. } => Some(birth.0),
            RuleKind::Codes { .. } => None,
        });
        let mut people = People {
            ids: Texts::default(),
            rows: Rows::of(needed(&asked.patients, births.chain(asked.origins.iter().copied()))),
            excluded: Vec::new(),
        };
        let (mut nameless, mut twice) = (Vec::new(), Vec::new());
        source.scan(
            |_| (),
            |(), chunk| {
                let found: Vec<Vec<u32>> =
                    (0..chunk.rows()).map(|r| hits(&asked.exclude, Table::Patients, &chunk, r)).collect();
                Ok((chunk, found))
            },
            |(chunk, found)| {
                for (row, found) in found.into_iter().enumerate() {
                    let name = chunk.cell(row, id);
                    if source.is_missing(name) {
                        nameless.push(chunk.line(row));
                        continue;
                    }
                    let next = people.ids.len() as u32;
                    let patient = people.ids.intern(name);
                    if patient != next {
                        twice.push(chunk.line(row));
                        continue;
                    }
                    people.rows.push(&chunk, row);
                    people.excluded.push(!found.is_empty());
                    found.into_iter().for_each(|rule| _ = tally.add(rule as usize, patient));
                }
                Ok(())
            },
        )?;
        refuse(source, &nameless, "no patient", "Every row needs one.")?;
        refuse(source, &twice, "a patient who stood on an earlier line", "The patients' table has one row for each.")?;
        Ok(people)
    }
}

fn refuse(source: &Source, lines: &[u64], what: &str, advice: &str) -> Result<()> {
    match lines.first() {
        None => Ok(()),
        Some(first) => {
            Err(Error::yours(format!("{}, line {first}: {what}, on {} rows. {advice}", source.name(), lines.len())))
        }
    }
}

struct Events {
    rows: Rows,
    /// By event: its patient.
    patient: Vec<u32>,
    /// By patient: rows that were read, excluded ones too.
    had: Vec<u32>,
    /// Rows that rules exclude alone.
    excluded: u64,
    read: u64,
}

impl Events {
    fn read(
        source: &Source,
        policy: &Policy<shape::Events>,
        asked: &EventsPolicy,
        people: &mut People,
        tally: &mut Tally,
    ) -> Result<Events> {
        let Some(id) = policy.patient() else { return Err(policy.error("the claims have no patient column.")) };
        let mut events = Events {
            rows: Rows::of(needed(&policy.columns, asked.event_date)),
            patient: Vec::new(),
            had: vec![0; people.rows.lines.len()],
            excluded: 0,
            read: 0,
        };
        let (mut nameless, mut unknown) = (Vec::new(), Vec::new());
        let ages = Ages::new(asked, &people.rows);
        let people_ids = &people.ids;
        let excluded = &mut people.excluded;
        source.scan(
            |_| (),
            |(), chunk| {
                let found: Vec<(Option<u32>, Vec<u32>)> = (0..chunk.rows())
                    .map(|row| {
                        let patient = people_ids.find(chunk.cell(row, id));
                        let mut found = hits(&asked.exclude, Table::Events, &chunk, row);
                        if let Some(patient) = patient {
                            found.extend(ages.hits(asked, patient, &chunk, row));
                        }
                        (patient, found)
                    })
                    .collect();
                Ok((chunk, found))
            },
            |(chunk, found)| {
                for (row, (patient, found)) in found.into_iter().enumerate() {
                    let Some(patient) = patient else {
                        let missing = source.is_missing(chunk.cell(row, id));
                        if missing { &mut nameless } else { &mut unknown }.push(chunk.line(row));
                        continue;
                    };
                    events.read += 1;
                    events.had[patient as usize] += 1;
                    let mut alone = false;
                    for rule in found {
                        match tally.add(rule as usize, patient) {
                            Scope::Patient => excluded[patient as usize] = true,
                            Scope::Row => alone = true,
                        }
                    }
                    if alone {
                        events.excluded += 1;
                    } else {
                        events.patient.push(patient);
                        events.rows.push(&chunk, row);
                    }
                }
                Ok(())
            },
        )?;
        refuse(source, &nameless, "no patient", "Every event needs one.")?;
        refuse(
            source,
            &unknown,
            "a patient who is not in the patients' table",
            "Every event belongs to a patient there: add them, or leave these events out.",
        )?;
        Ok(events)
    }

    /// Puts the events of each patient together, in the order of the file.
    fn by_patient(&mut self, patients: usize) {
        if self.patient.is_sorted() {
            return;
        }
        let mut place = vec![0usize; patients + 1];
        self.patient.iter().for_each(|&p| place[p as usize + 1] += 1);
        (1..place.len()).for_each(|p| place[p] += place[p - 1]);
        let mut to = Vec::with_capacity(self.patient.len());
        for &p in &self.patient {
            to.push(place[p as usize] as u32);
            place[p as usize] += 1;
        }
        fn moved<T: Copy + Default>(items: &[T], to: &[u32]) -> Vec<T> {
            let mut out = vec![T::default(); items.len()];
            items.iter().zip(to).for_each(|(&item, &to)| out[to as usize] = item);
            out
        }
        self.patient = moved(&self.patient, &to);
        self.rows.lines = moved(&self.rows.lines, &to);
        self.rows.columns.values_mut().for_each(|(_, numbers)| *numbers = moved(numbers, &to));
    }
}

/// Births of patients, for rules about ages.
struct Ages {
    /// By rule, by patient: the day of birth.
    births: Vec<(u32, Vec<Option<i64>>)>,
}

impl Ages {
    fn new(asked: &EventsPolicy, people: &Rows) -> Ages {
        let births = (0u32..).zip(&asked.exclude).filter_map(|(number, rule)| {
            let RuleKind::Age { birth: (column, format), .. } = &rule.kind else { return None };
            let (texts, numbers) = people.columns.get(column)?;
            let days: Vec<Option<i64>> = (0..texts.len() as u32)
                .map(|n| format.day_number(std::str::from_utf8(texts.get(n)).unwrap_or_default()))
                .collect();
            Some((number, numbers.iter().map(|&n| days[n as usize]).collect()))
        });
        Ages { births: births.collect() }
    }

    fn hits(&self, asked: &EventsPolicy, patient: u32, chunk: &Chunk, row: usize) -> Vec<u32> {
        let holds = |rule: u32, births: &[Option<i64>]| {
            let RuleKind::Age { date: (column, format), days, .. } = &asked.exclude[rule as usize].kind else {
                return None;
            };
            let day = format.day_number(std::str::from_utf8(chunk.cell(row, *column)).ok()?)?;
            let age = day - births[patient as usize]?;
            (days.0..=days.1).contains(&age).then_some(rule)
        };
        self.births.iter().filter_map(|(rule, births)| holds(*rule, births)).collect()
    }
}

/// Who stays.
struct Gone {
    /// By patient: whether they stay.
    kept: Vec<bool>,
    /// By patient: events that no rule excludes alone.
    events_of: Vec<u32>,
    emptied: u64,
    without: u64,
}

impl Gone {
    fn of(asked: &EventsPolicy, people: &People, events: &Events) -> Gone {
        let mut events_of = vec![0; people.rows.lines.len()];
        events.patient.iter().for_each(|&p| events_of[p as usize] += 1);
        let (mut emptied, mut without) = (0, 0);
        let kept = (0..events_of.len()).map(|p| match (people.excluded[p], events_of[p], events.had[p]) {
            (true, ..) => false,
            (false, 0, 0) => {
                without += 1;
                asked.without_events == WithoutEvents::Keep
            }
            (false, 0, _) => {
                emptied += 1;
                false
            }
            _ => true,
        });
        let kept = kept.collect();
        Gone { kept, events_of, emptied, without }
    }

    fn counts(&self, people: &People, events: &Events) -> Counts {
        let with_patient = (0..self.kept.len()).filter(|&p| people.excluded[p]).map(|p| u64::from(self.events_of[p]));
        Counts {
            patients_in: people.rows.lines.len() as u64,
            events_in: events.read,
            patients_excluded: people.excluded.iter().filter(|e| **e).count() as u64,
            events_excluded: events.excluded + with_patient.sum::<u64>(),
            patients_emptied: self.emptied,
            without_events: self.without,
        }
    }
}

/// The quasi-identifiers of a table over all its rows; `derived` are made elsewhere.
fn columns(source: &Source, columns: &[policy::Column], rows: &Rows, derived: &[usize]) -> Result<Vec<Column>> {
    let quasi = (0..columns.len()).filter(|&c| columns[c].role == Role::Quasi && !derived.contains(&c));
    let make = |c: usize| {
        let Some((texts, numbers)) = rows.columns.get(&c) else {
            return Err(Error::machine("a column was not read."));
        };
        let (dictionary, code_of) = Dictionary::of(texts, |cell| source.is_missing(cell));
        let codes = numbers.iter().map(|&n| code_of[n as usize]).collect();
        Ok(column(&columns[c], c, dictionary, codes))
    };
    let mut all = quasi.map(make).collect::<Result<Vec<Column>>>()?;
    all.sort_by_key(|own| columns[own.column].place);
    Ok(all)
}

fn column(policy: &policy::Column, position: usize, dictionary: Dictionary, codes: Vec<u32>) -> Column {
    let hierarchy = policy.rule.apply(&dictionary.texts(), dictionary.missing_occurs);
    Column {
        name: policy.name.clone(),
        column: position,
        dictionary,
        hierarchy,
        levels: policy.levels.clone(),
        weight: policy.weight.to_f64(),
        codes,
        unmapped: 0,
    }
}

/// The quasi-identifiers of events, months among them, in the order of the policy.
fn event_columns(
    source: &Source,
    policy: &Policy<shape::Events>,
    asked: &EventsPolicy,
    patients: &Source,
    people: &People,
    events: &Events,
) -> Result<Vec<Column>> {
    let is_months = |c: &usize| policy.columns[*c].months.is_some() && policy.columns[*c].role == Role::Quasi;
    let derived: Vec<usize> = (0..policy.columns.len()).filter(is_months).collect();
    let mut all = columns(source, &policy.columns, &events.rows, &derived)?;
    for &c in &derived {
        let own = &policy.columns[c];
        let Some(since) = &own.months else { continue };
        let Some((texts, numbers)) = events.rows.columns.get(&c) else { continue };
        let (days, wrong) = read_dates(texts, &since.date, |cell| source.is_missing(cell));
        let at = |e: usize| wrong.contains(&numbers[e]);
        refuse_dates(source, &own.name, events.rows.lines.iter().enumerate().filter(|(e, _)| at(*e)).map(|(_, l)| *l))?;
        let dates: Vec<Option<(i64, i64)>> = numbers.iter().map(|&n| days[n as usize]).collect();
        let found = match &since.origin {
            Origin::First | Origin::FirstInYear => {
                let by_year = since.origin == Origin::FirstInYear;
                let firsts = firsts(&dates, &events.patient, by_year);
                months(&dates, |e| {
                    let year = if by_year { dates[e]?.1 } else { 0 };
                    firsts.get(&(events.patient[e], year)).copied()
                })
            }
            Origin::Column(name) => {
                let start = asked.patients.iter().position(|p| p.name == *name).unwrap_or_default();
                let Some((texts, numbers)) = people.rows.columns.get(&start) else { continue };
                let (starts, wrong) = read_dates(texts, &since.date, |cell| patients.is_missing(cell));
                let at = |p: usize| wrong.contains(&numbers[p]);
                let lines = people.rows.lines.iter().enumerate().filter(|(p, _)| at(*p)).map(|(_, l)| *l);
                refuse_dates(patients, name, lines)?;
                months(&dates, |e| starts[numbers[events.patient[e] as usize] as usize].map(|d| d.0))
            }
        };
        let found = found.map_err(|before| {
            Error::yours(format!(
                "{}, line {}: an event lies before its patient's start, and {} events do. Mend the dates, or exclude these events.",
                source.name(),
                events.rows.lines[before[0]],
                before.len()
            ))
        })?;
        let mut texts = Texts::default();
        let mut digits = String::new();
        let mut numbers = Vec::with_capacity(found.len());
        for month in found {
            digits.clear();
            if let Some(month) = month {
                digits = month.to_string();
            }
            numbers.push(texts.intern(digits.as_bytes()));
        }
        let (dictionary, code_of) = Dictionary::of(&texts, <[u8]>::is_empty);
        let codes = numbers.iter().map(|&n| code_of[n as usize]).collect();
        all.push(column(own, c, dictionary, codes));
    }
    all.sort_by_key(|own| policy.columns[own.column].place);
    Ok(all)
}

fn refuse_dates(source: &Source, column: &str, lines: impl Iterator<Item = u64>) -> Result<()> {
    let mut lines: Vec<u64> = lines.collect();
    lines.sort_unstable();
    refuse(
        source,
        &lines,
        &format!("no date in column `{column}` as the policy says they are written"),
        "Mend them, or list what stands for a missing date under `missing` in [input].",
    )
}

/// Columns that leave and are no quasi-identifiers, over the rows that stay.
fn copied(source: &Source, columns: &[policy::Column], rows: &Rows, keep: &[usize]) -> Result<Vec<Copied>> {
    let mut all = Vec::new();
    for (c, own) in columns.iter().enumerate() {
        let leaves = match own.role {
            Role::Other { .. } => Leaves::AsItIs,
            Role::Pseudonym => Leaves::AsPseudonym,
            _ => continue,
        };
        let Some((texts, numbers)) = rows.columns.get(&c) else { continue };
        if let Some(star) = texts.find(SUPPRESSED.as_bytes()).filter(|_| leaves == Leaves::AsItIs)
            && !source.is_missing(SUPPRESSED.as_bytes())
        {
            let lines: Vec<u64> = keep.iter().filter(|&&r| numbers[r] == star).map(|&r| rows.lines[r]).collect();
            if !lines.is_empty() {
                return Err(crate::cohort::star_in_data(source, c, lines.len() as u64, &lines[..1]));
            }
        }
        let (dictionary, code_of) = Dictionary::of(texts, |cell| source.is_missing(cell));
        let codes = keep.iter().map(|&r| code_of[numbers[r] as usize]).collect();
        all.push(Copied { name: own.name.clone(), column: c, leaves, dictionary, codes });
    }
    all.sort_by_key(|own| columns[own.column].place);
    Ok(all)
}

/// The place of events in time: by date where the column is one, else by number, else by text.
fn order_in_time(source: &Source, own: &policy::Column, rows: &Rows, column: usize, keep: &[usize]) -> Vec<u32> {
    let Some((texts, numbers)) = rows.columns.get(&column) else { return vec![0; keep.len()] };
    let text = |n: u32| std::str::from_utf8(texts.get(n)).unwrap_or_default();
    let day = |n: u32| own.date_format().and_then(|format| format.day_number(text(n)));
    let number = |n: u32| Decimal::parse(text(n), source.input().decimal);
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    // No date comes first: a later event is dropped first, and nothing is known of these.
    let missing = |n: u32| !source.is_missing(texts.get(n));
    order.sort_by(|&a, &b| {
        let by_day = day(a).cmp(&day(b));
        missing(a).cmp(&missing(b)).then(by_day).then(number(a).cmp(&number(b))).then(text(a).cmp(text(b)))
    });
    let mut rank = vec![0u32; texts.len()];
    order.iter().enumerate().for_each(|(place, &n)| rank[n as usize] = place as u32 + 1);
    keep.iter().map(|&e| rank[numbers[e] as usize]).collect()
}

/// Refuses values that no rule covers, or says that they leave as `*`; counts codes of no group.
fn settle(
    source: &Source,
    policies: &[policy::Column],
    columns: &mut [Column],
    lines: &[u64],
    notes: &mut Vec<String>,
) -> Result<()> {
    for column in columns {
        let own = &policies[column.column];
        let mut is_uncovered = vec![false; column.dictionary.len()];
        column.hierarchy.uncovered.iter().for_each(|&c| is_uncovered[c as usize] = true);
        let at: Vec<usize> = (0..column.codes.len()).filter(|&i| is_uncovered[column.codes[i] as usize]).collect();
        if let Some(first) = at.iter().map(|&i| lines[i]).min() {
            let mut values: Vec<String> =
                at.iter().map(|&i| column.dictionary.text(column.codes[i]).to_string()).collect();
            values.sort();
            values.dedup();
            let what = format!("{} values in {} rows, the first on line {first},", values.len(), at.len());
            if own.unmapped == Unmapped::Suppressed {
                notes.push(format!("column `{}`: {what} not covered by {} leave as *.", own.name, own.rule_text));
            } else {
                let advice = match own.rule {
                    Rule::Stay => "A stay is a whole number of days, never negative.",
                    Rule::Groups(..) => "Say where they go: unmapped = \"a group\", or unmapped = \"suppress\".",
                    _ => {
                        "Mend them, extend the hierarchy, list them under `missing` in [input], or say unmapped = \"suppress\"."
                    }
                };
                values.truncate(20);
                return Err(Error::yours(format!(
                    "{}, column `{}`: {what} not covered by {}. {advice} (--show-values shows them.)",
                    source.name(),
                    own.name,
                    own.rule_text
                ))
                .about(values));
            }
        }
        if let Rule::Groups(grouping, Some(group)) = &own.rule {
            let no_group = |code: u32| code != MISSING && grouping.path(column.dictionary.text(code)).is_none();
            let without: Vec<bool> = (0..column.dictionary.len() as u32).map(no_group).collect();
            column.unmapped = column.codes.iter().filter(|&&c| without[c as usize]).count() as u64;
            if column.unmapped > 0 {
                notes
                    .push(format!("column `{}`: {} codes have no group and go to {group}.", own.name, column.unmapped));
            }
        }
    }
    Ok(())
}

fn compare(
    policy: &Policy<shape::Events>,
    asked: &EventsPolicy,
    all: &Histories,
    people: &People,
    events: &Events,
    gone: &Gone,
) -> Differences {
    let counts = |column: &Column, patient_of: &dyn Fn(usize) -> usize| {
        let mut counts = vec![(0, 0); column.dictionary.len()];
        for (i, &code) in column.codes.iter().enumerate() {
            let patient = patient_of(i);
            if people.excluded[patient] {
                counts[code as usize].0 += 1;
            } else if gone.kept[patient] {
                counts[code as usize].1 += 1;
            }
        }
        counts
    };
    let difference = |column: &Column, own: &policy::Column, of_patients: bool, patient_of: &dyn Fn(usize) -> usize| {
        // Months are numbers already.
        let format = own.months.is_none().then(|| own.date_format()).flatten();
        let order = differences::order(column, format);
        differences::compare(column, order.as_deref(), of_patients, counts(column, patient_of))
    };
    let of_patients = all.patient.iter().map(|c| difference(c, &asked.patients[c.column], true, &|p| p));
    let of_events =
        all.event.iter().map(|c| difference(c, &policy.columns[c.column], false, &|e| events.patient[e] as usize));
    let columns = of_patients.chain(of_events).collect();
    let with_events = |excluded: bool| {
        let own = (0..gone.kept.len()).filter(|&p| people.excluded[p] == excluded && (excluded || gone.kept[p]));
        own.map(|p| u64::from(gone.events_of[p])).filter(|n| *n > 0).collect::<Vec<u64>>()
    };
    let number = |excluded: bool| {
        (0..gone.kept.len()).filter(|&p| if excluded { people.excluded[p] } else { gone.kept[p] }).count() as u64
    };
    Differences {
        patients: (number(true), number(false)),
        median_events: (median(with_events(true)), median(with_events(false))),
        columns,
    }
}
