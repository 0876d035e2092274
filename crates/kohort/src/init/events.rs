//! A policy for several tables: people, and the events of these people.
//!
//! The few columns of the people that analysts need most stay. Of an event its codes, its month, its length and one
//! or two categories stay; all of them count as known to an attacker.

use super::concepts::{Ancestors, is_concept};
use super::links::{self, Link, LinkedTable, Links};
use super::suggest::{Reading, columns, thousands};
use super::topic::icd_system;
use super::write::{quoted, shown};
use super::{ColumnAdvice, Confidence, Draft, DraftTable, Suggestion, suggest_table, warn, write};
use crate::profile::Profile;
use crate::profile::shape::{CellShape, DATE_FORMATS};
use crate::profile::words::Topic;
use kohort_core::error::Kind;
use kohort_core::policy::{Role, Unmapped};
use kohort_core::{Error, Result};

/// The most quasi-identifiers of people, and of events.
const MOST_OF_PEOPLE: usize = 4;
const MOST_OF_EVENTS: usize = 5;
/// The same where there are several tables of events, and the most of these. More would make a search of millions of
/// combinations of levels.
const FEW_OF_PEOPLE: usize = 3;
const FEW_OF_EVENTS: usize = 3;
const MOST_TABLES: usize = 3;
/// The most columns of codes among those of events.
const MOST_CODES: usize = 2;
/// More codes than this in a column without a hierarchy would all be suppressed.
const MOST_VALUES: u64 = 2_000;
/// A category has at most this many values.
const MOST_KINDS: u64 = 60;

/// Words in the name of the date on which something ended.
const ENDS: [&str; 17] = [
    "end",
    "stop",
    "discharge",
    "disch",
    "dc",
    "out",
    "ende",
    "bis",
    "entlassung",
    "entl",
    "fin",
    "sortie",
    "alta",
    "egreso",
    "dimissione",
    "ontslag",
    "eind",
];

/// Suggests a policy for the tables that belong together. Tables that belong to none are named in a warning.
///
/// `ancestors`: the OMOP vocabulary, of which hierarchies for columns of concepts are made.
pub(super) fn suggest(tables: &[LinkedTable], ancestors: Option<&Ancestors>) -> Result<Suggestion> {
    check_omop(tables)?;
    let Some(found) = links::find(tables) else { return unrelated(tables) };
    let mut warnings = Vec::new();
    let people = &tables[found.table];
    let mut events: Vec<(usize, usize)> = Vec::new();
    for (place, link) in found.links.iter().enumerate() {
        let own = &tables[place];
        match *link {
            Link::People => {}
            Link::Events(column) if is_written_alike(own, people) => events.push((place, column)),
            Link::Events(_) => warnings.push(format!(
                "{} is written differently from {} (encoding, header, lines above and below the table, or decimal mark) and is not in the policy. Save \
                 both in the same way.",
                own.path, people.path
            )),
            Link::OneRow(column) => warnings.push(format!(
                "{} has at most one row for each person ({}) and is not in the policy. To release it, join it to {} \
                 first.",
                own.path,
                shown(&own.profile.columns[column].name),
                people.path
            )),
            Link::None => warnings.push(format!(
                "{} has no column in common with {} and is not in the policy. `kohort init {}` suggests one for it.",
                own.path,
                people.path,
                own.argument()
            )),
        }
    }
    events.sort_by_key(|&(place, column)| std::cmp::Reverse(value(&tables[place], column)));
    let left_out = events.split_off(events.len().min(MOST_TABLES));
    if events.is_empty() {
        let mut suggestion = suggest_table(&people.path, &people.source, Profile::of(&people.source)?)?;
        suggestion.warnings.extend(warnings);
        return Ok(suggestion);
    }
    for (place, _) in left_out {
        warnings.push(format!(
            "{} also holds events of these people and is not in the policy, because every further table costs detail \
             in the others. Choose tables by naming them: kohort init {}.",
            tables[place].path,
            named_together(people, &tables[place])
        ));
    }
    together(tables, &found, &events, ancestors, warnings)
}

/// The arguments of `kohort init` that read two tables.
fn named_together(one: &LinkedTable, other: &LinkedTable) -> String {
    match other.source.database_table() {
        None => format!("{} {}", one.path, other.path),
        Some(_) => format!("{} --table {}", one.argument(), other.path),
    }
}

/// The policy for the table of the people and tables of their events.
fn together(
    tables: &[LinkedTable],
    found: &Links,
    events: &[(usize, usize)],
    ancestors: Option<&Ancestors>,
    mut warnings: Vec<String>,
) -> Result<Suggestion> {
    let people = &tables[found.table];
    let reading = events.iter().fold(Reading::of(&people.source, &people.profile), |reading, &(place, _)| {
        reading.and(&Reading::of(&tables[place].source, &tables[place].profile))
    });
    let (most_of_people, most_of_events) =
        if events.len() > 1 { (FEW_OF_PEOPLE, FEW_OF_EVENTS) } else { (MOST_OF_PEOPLE, MOST_OF_EVENTS) };
    let mut advice = of_people(people, found.key, &reading, most_of_people);
    let dated = events.iter().flat_map(|&(place, _)| &tables[place].profile.columns);
    let last = dated.filter(|column| column.date().is_some()).filter_map(|column| column.last_year).max();
    age_instead_of_birth(people, last, &mut advice);
    warnings.splice(0..0, warn::warnings(&people.profile, &reading, &advice, people.source.input()));
    let mut files = Vec::new();
    let mut drafts = vec![DraftTable { key: "patients".into(), path: people.path.clone() }];
    for &(place, column) in events {
        let own = &tables[place];
        let (known, unknown) = links::known_people(own, column, people, found.key)?;
        if unknown > 0 {
            warnings.push(format!(
                "{} of {} rows of {} name a person who is not in {}. They stop the release: add the people, or remove \
                 the rows.",
                thousands(unknown),
                thousands(known + unknown),
                own.path,
                people.path
            ));
        }
        let mut of_events = of_events(own, column, &reading, most_of_events, ancestors);
        match ancestors.map(|ancestors| ancestors.hierarchies(own, &mut of_events)) {
            Some(Ok(made)) => files.extend(made),
            Some(Err(error)) if error.kind == Kind::Yours => {
                warnings.push(format!("concepts of {} have no hierarchy: {}", own.path, error.message));
            }
            Some(Err(error)) => return Err(error),
            None => {}
        }
        warnings.extend(warn::on_columns(&own.profile, &of_events));
        if !of_events.iter().any(|column| column.role == Role::Quasi) {
            warnings.push(format!(
                "no column of {} was understood as something that an attacker may know about an event. A policy needs \
                 at least one with role = \"quasi\".",
                own.path
            ));
        }
        let key = if events.len() == 1 { "claims".to_string() } else { free_key(&own.name, &drafts) };
        advice.extend(of_events.into_iter().map(|column| ColumnAdvice { table: Some(key.clone()), ..column }));
        drafts.push(DraftTable { key, path: own.path.clone() });
    }
    let mut input = people.source.input().clone();
    // One key names the sheet of all workbooks; where they differ, each has one sheet that is a table.
    if events.iter().any(|&(place, _)| tables[place].source.input().sheet != input.sheet) {
        input.sheet = None;
    }
    let draft = Draft { tables: drafts, input, reading, offers: Vec::new() };
    Ok(Suggestion { policy: write::policy(&draft, &advice), columns: advice, warnings, files, draft })
}

/// Tables of the OMOP common data model are recognised by their columns. Without `person` nobody can be counted.
fn check_omop(tables: &[LinkedTable]) -> Result<()> {
    let is_omop = |table: &&LinkedTable| {
        table.has("person_id") && table.profile.columns.iter().any(|column| is_concept(&column.name))
    };
    let found: Vec<&str> = tables.iter().filter(is_omop).map(|table| table.path.as_str()).collect();
    let has_person = tables.iter().any(|table| table.has("person_id") && table.has("gender_concept_id"));
    if found.is_empty() || has_person {
        return Ok(());
    }
    Err(Error::yours(format!(
        "{} are tables of the OMOP common data model, but its table `person` is missing: it has one row for each \
         person, with gender_concept_id and year_of_birth. Export it into the same folder.",
        found.join(", ")
    )))
}

/// The table that says most about people, where nothing connects the tables.
fn unrelated(tables: &[LinkedTable]) -> Result<Suggestion> {
    let value = |table: &&LinkedTable| {
        let person = table.keys.iter().flatten().any(|key| matches!(key, crate::profile::person::Key::Person(_)));
        (person, table.topics.iter().filter(|topics| !topics.is_empty()).count(), table.profile.rows)
    };
    // Of equals the first.
    let better = |best: usize, other: usize| if value(&&tables[other]) > value(&&tables[best]) { other } else { best };
    let best = &tables[(1..tables.len()).fold(0, better)];
    let mut suggestion = suggest_table(&best.path, &best.source, Profile::of(&best.source)?)?;
    for other in tables.iter().filter(|other| other.path != best.path) {
        suggestion.warnings.push(format!(
            "{} and {} have no column that names the same people, one row for each, so that the policy is for {} \
             alone. `kohort init {}` suggests one for the other.",
            best.path,
            other.path,
            best.path,
            other.argument()
        ));
    }
    Ok(suggestion)
}

/// Returns whether two tables can be read with the same settings.
fn is_written_alike(a: &LinkedTable, b: &LinkedTable) -> bool {
    let settings = |table: &LinkedTable| {
        let input = table.source.input();
        let lines = (input.header, input.skip, input.skip_end);
        (input.encoding, lines, Reading::of(&table.source, &table.profile).decimal)
    };
    let (a_is, b_is) = (settings(a), settings(b));
    // A table without decimals can be read with any decimal mark.
    let has_decimals = |table: &LinkedTable| {
        let decimals =
            |c: &crate::profile::ColumnProfile| c.cells(CellShape::PointDecimal) + c.cells(CellShape::CommaDecimal) > 0;
        table.profile.columns.iter().any(decimals)
    };
    (a_is.0, a_is.1) == (b_is.0, b_is.1) && (a_is.2 == b_is.2 || !has_decimals(a) || !has_decimals(b))
}

/// How much a table of events says: codes, dates, rows.
fn value(table: &LinkedTable, key: usize) -> (u32, bool, u64) {
    let codes = |c: usize| {
        let column = &table.profile.columns[c];
        let about = |topic: Topic| table.topics[c].first() == Some(&topic) && column.distinct.values > 1;
        match () {
            () if c == key => 0,
            () if icd_system(column, 80).is_some_and(|_| about(Topic::Diagnosis)) => 3,
            () if about(Topic::Diagnosis) => 2,
            () if about(Topic::Procedure) => 1,
            () => 0,
        }
    };
    let codes = (0..table.topics.len()).map(codes).max().unwrap_or(0);
    (codes, table.profile.columns.iter().any(|column| column.date().is_some()), table.profile.rows)
}

/// The name of a table of events as a key that no other table has.
fn free_key(name: &str, taken: &[DraftTable]) -> String {
    let is_free = |key: &String| !taken.iter().any(|own| own.key == *key);
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    std::iter::once(name.to_string()).chain(numbered).find(is_free).unwrap_or_default()
}

/// The columns of the people: their key, and what analysts need most.
fn of_people(table: &LinkedTable, key: usize, reading: &Reading, most: usize) -> Vec<ColumnAdvice> {
    let mut advice = columns(&table.profile, reading);
    let mut quasi: Vec<usize> = (0..advice.len()).filter(|&c| c != key && advice[c].role == Role::Quasi).collect();
    quasi.sort_by_key(|&c| std::cmp::Reverse((advice[c].weight, advice[c].confidence)));
    for (c, own) in advice.iter_mut().enumerate() {
        own.table = Some("patients".into());
        match own.role {
            _ if c == key => become_key(own),
            Role::Quasi => match quasi.iter().position(|&q| q == c) {
                Some(place) if place < most => own.weight = if own.weight >= 20 { 20 } else { 1 },
                _ => drop(own, "dropped, because every further column of the people costs detail in their events"),
            },
            Role::Identifier => {}
            Role::Other { .. } if own.facts.starts_with("1 value") => {}
            _ => drop(own, "dropped: beside events, a further column of the people singles them out"),
        }
    }
    advice
}

/// A date of birth has no level between a decade and nothing, which is often too fine beside events. The age on the first
/// day after the last event has.
fn age_instead_of_birth(table: &LinkedTable, last: Option<i64>, advice: &mut Vec<ColumnAdvice>) {
    let columns = &table.profile.columns;
    let is_birth = |own: &ColumnAdvice| {
        own.role == Role::Quasi && own.levels.as_ref().is_some_and(|levels| levels.contains("decade"))
    };
    let Some(birth) = advice.iter().position(is_birth).filter(|&c| advice[c].formats.is_none()) else { return };
    let taken = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let Some(last) = last.max(columns[birth].last_year).filter(|_| !taken("age")) else { return };
    let day = format!("{}-01-01", last + 1);
    let (born, weight) = (advice[birth].name.clone(), advice[birth].weight);
    drop(&mut advice[birth], "date of birth; the age on one day says as much as most studies need");
    advice.push(ColumnAdvice {
        name: "age".into(),
        cleaning: vec![format!("age = {{ born = {}, at = {} }}", quoted(&born), quoted(&day))],
        weight,
        ..derived("{ intervals = [10, 20, 40], from = 0, to = 80 }", format!("age on {day}, from {}", shown(&born)))
    });
    advice.iter_mut().for_each(|own| own.table = Some("patients".into()));
}

/// A derived quasi-identifier.
fn derived(hierarchy: &str, why: String) -> ColumnAdvice {
    ColumnAdvice {
        name: String::new(),
        table: None,
        role: Role::Quasi,
        confidence: Confidence::Likely,
        cleaning: Vec::new(),
        formats: None,
        hierarchy: Some(hierarchy.to_string()),
        levels: None,
        weight: 1,
        unmapped: Unmapped::Refused,
        why,
        facts: "derived".into(),
        notes: Vec::new(),
    }
}

fn become_key(own: &mut ColumnAdvice) {
    drop(own, "the person, who links the tables; released as a random number, the same in all of them");
    own.role = Role::Patient;
    own.confidence = Confidence::Sure;
}

/// The columns are not released.
fn drop(own: &mut ColumnAdvice, why: &str) {
    own.role = Role::Identifier;
    own.hierarchy = None;
    own.levels = None;
    own.cleaning.clear();
    own.why = why.into();
    own.notes.clear();
}

/// A column of events that may be released.
struct Offer {
    column: usize,
    rank: u32,
    weight: u32,
    hierarchy: Option<String>,
    unmapped: bool,
    why: String,
}

/// The columns of events: their person, and the few that say what happened and when.
fn of_events(
    table: &LinkedTable,
    key: usize,
    reading: &Reading,
    most: usize,
    ancestors: Option<&Ancestors>,
) -> Vec<ColumnAdvice> {
    let profile = &table.profile;
    let mut advice = columns(profile, reading);
    let offered = |c: usize| {
        // More concepts can stay where there are groups of them.
        let grouped = ancestors.is_some() && is_concept(&advice[c].name);
        offer(table, key, c, &advice[c], reading, if grouped { u64::MAX } else { MOST_VALUES })
    };
    let mut offers: Vec<Offer> = (0..advice.len()).filter_map(offered).collect();
    offers.sort_by_key(|offer| (offer.rank, offer.column));
    let (mut taken, mut codes): (Vec<Offer>, usize) = (Vec::new(), 0);
    let start = start_date(table, key);
    let reserved = start.iter().count();
    for offer in offers {
        let own = &profile.sample.columns[offer.column];
        let follows = |other: &Offer| {
            let other = &profile.sample.columns[other.column];
            own.determines(other) || other.determines(own)
        };
        let is_code = offer.rank < 2;
        if taken.len() + reserved < most && (!is_code || codes < MOST_CODES) && !taken.iter().any(follows) {
            codes += usize::from(is_code);
            taken.push(offer);
        }
    }
    for (c, own) in advice.iter_mut().enumerate() {
        let offer = taken.iter().find(|offer| offer.column == c);
        match (offer, &own.role) {
            _ if c == key => become_key(own),
            (Some(offer), _) => {
                own.role = Role::Quasi;
                own.confidence = Confidence::Likely;
                own.hierarchy.clone_from(&offer.hierarchy);
                own.levels = None;
                own.cleaning.retain(|key| key.starts_with("missing") || key.starts_with("spelling"));
                own.weight = offer.weight;
                own.unmapped = if offer.unmapped { Unmapped::Suppressed } else { Unmapped::Refused };
                own.why.clone_from(&offer.why);
                own.notes.clear();
            }
            (None, Role::Identifier) => {}
            (None, Role::Other { .. }) if is_measured(table, key, c) => {}
            (None, _) => drop(own, "dropped: what an attacker may know about events is limited to a few columns"),
        }
    }
    let mut made = start.map(|start| in_time(table, start, &advice)).unwrap_or_default();
    made.truncate(most.saturating_sub(taken.len()));
    advice.extend(made);
    advice
}

/// A measurement that few rows share would single its event out.
fn is_measured(table: &LinkedTable, key: usize, c: usize) -> bool {
    let column = &table.profile.columns[c];
    let alone = table.profile.sample.alone(&[c], Some(key)).percent() > 50;
    !column.is_telling() && column.distinct.values <= 1_000 && !alone && !belongs_to_person(table, key, c)
}

/// Returns whether a column stays the same within a person, and differs between people.
fn belongs_to_person(table: &LinkedTable, key: usize, c: usize) -> bool {
    let sample = &table.profile.sample.columns;
    sample[key].agreement(&sample[c]).is_some_and(|(same, chance)| same >= 0.97 && chance <= 0.9)
}

/// The part of an event that a column can offer. A column of codes has at most `most` of them.
fn offer(
    table: &LinkedTable,
    key: usize,
    c: usize,
    advice: &ColumnAdvice,
    reading: &Reading,
    most: u64,
) -> Option<Offer> {
    let column = &table.profile.columns[c];
    let is = |topic: Topic| table.topics[c].contains(&topic);
    if c == key || column.distinct.values < 2 || column.is_dated() || column.present * 2 < table.profile.rows {
        return None;
    }
    let key_like = table.keys[c].is_some() && !is(Topic::Diagnosis) && !is(Topic::Procedure);
    if key_like || belongs_to_person(table, key, c) || column.is_telling() || column.mostly(20, CellShape::Sentence) {
        return None;
    }
    let own = |rank, weight, hierarchy: Option<String>, why: &str| {
        Some(Offer { column: c, rank, weight, hierarchy, unmapped: false, why: why.into() })
    };
    if let Some((system, outside)) = icd_system(column, 80)
        && (is(Topic::Diagnosis) || column.cells(CellShape::Icd9Letter) > 0 || column.mostly(95, CellShape::Icd10))
    {
        let offer = own(0, 10, Some(quoted(system)), "diagnosis codes, which others may know")?;
        return Some(Offer { unmapped: outside > 0, ..offer });
    }
    let numbers = column.numbers(reading.decimal);
    if let Some((least, greatest)) = numbers.filter(|_| is(Topic::Stay) && column.mostly(100, CellShape::Whole)) {
        let days = least.to_f64() >= 0.0 && greatest.to_f64() < 40_000.0;
        return if days {
            own(3, 1, Some(quoted("los")), "length of a stay, which visitors know roughly")
        } else {
            None
        };
    }
    let whole = numbers.is_none() || column.mostly(100, CellShape::Whole);
    let first = table.topics[c].first().copied();
    let coded = matches!(first, Some(Topic::Diagnosis | Topic::Procedure)) && whole;
    // A type or a status describes how something was recorded.
    let detail = ["type", "status", "source", "reason"].iter().any(|word| advice.name.to_lowercase().contains(word));
    if coded && !detail && column.distinct.values <= most {
        return own(1, 10, None, "what was found or done, which others may know");
    }
    let kinds = matches!(first, Some(Topic::Facility | Topic::Place | Topic::Code | Topic::Encounter | Topic::Outcome));
    if whole && column.distinct.values <= MOST_KINDS && (kinds || advice.role == Role::Quasi) {
        let rank = if detail { 5 } else { 4 };
        return own(rank, 1, None, "a kind of event, a place or an outcome, which others may know");
    }
    None
}

/// The date of the events: the most complete one in a single format, of equals the first.
fn start_date(table: &LinkedTable, key: usize) -> Option<usize> {
    let fits = |&c: &usize| {
        let column = &table.profile.columns[c];
        let born = table.topics[c].iter().any(|topic| matches!(topic, Topic::Birth | Topic::Death));
        c != key && !born && column.date().is_some_and(|(_, others, ambiguous)| others == 0 && !ambiguous)
    };
    let dates = (0..table.topics.len()).filter(fits);
    dates.max_by_key(|&c| (table.profile.columns[c].present, usize::MAX - c))
}

/// Derived columns: the months since the first event, and the days until its end.
fn in_time(table: &LinkedTable, start: usize, advice: &[ColumnAdvice]) -> Vec<ColumnAdvice> {
    let columns = &table.profile.columns;
    let format = columns[start].date().map_or(DATE_FORMATS[0], |(place, ..)| DATE_FORMATS[place]);
    let free = |name: &str| {
        let taken = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    };
    let derived = |name: &str, key: String, hierarchy: String, why: String| ColumnAdvice {
        name: free(name),
        cleaning: vec![key],
        ..derived(&hierarchy, why)
    };
    let name = |c: usize| quoted(&columns[c].name);
    let months = format!("{{ months_since = \"first\", date = {}, groups = [3, 6, 12] }}", quoted(format));
    let why = format!("months since the first event, from {}", shown(&columns[start].name));
    let mut made = vec![derived("months", format!("from = {}", name(start)), months, why)];
    let is_end = |&c: &usize| {
        let one = columns[c].date().is_some_and(|(_, others, ambiguous)| others == 0 && !ambiguous);
        let lower = columns[c].name.to_lowercase();
        let says =
            lower.split(|ch: char| !ch.is_alphanumeric()).any(|word| ENDS.iter().any(|end| word.starts_with(end)));
        c != start && one && says && columns[c].present * 2 >= table.profile.rows
    };
    let has_stay = advice.iter().any(|own| own.hierarchy.as_deref() == Some("\"los\""));
    if let Some(end) = (0..columns.len()).find(is_end).filter(|_| !has_stay) {
        let why = format!("days from {} to {}", shown(&columns[start].name), shown(&columns[end].name));
        let between = format!("between = [{}, {}]", name(start), name(end));
        made.push(derived("days", between, quoted("los"), why));
    }
    made
}
