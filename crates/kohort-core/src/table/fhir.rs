//! FHIR resources, one JSON object a line (bulk export, `.ndjson`): flattened into a table in memory.
//!
//! The rules are those of docs/fhir.md. A file holds resources of one type. Each resource becomes one row; an
//! observation with components becomes a row for each of them. Names, contact data, pictures and other identifiers
//! of a person are not read at all.

use super::input::Input;
use super::memory::{MemoryTable, TextColumn};
use crate::{Error, Result};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};

/// A larger file is refused: it is read into memory.
const LARGEST_FILE: u64 = 1 << 30;

/// A column and how its cell is found in a resource.
type Rule = (&'static str, Take);

/// Describes how a cell is found.
#[derive(Clone, Copy)]
enum Take {
    /// The text, number or truth value at a path. Where a list is on the way, its first element counts.
    At(&'static str),
    /// The day of a date or a time at the first of these paths that has one.
    Day(&'static [&'static str]),
    /// The id of the resource that a reference at a path points to.
    Id(&'static str),
    /// The code of a concept: of its first coding.
    Code(&'static str),
    /// The code system of a concept.
    System(&'static str),
    /// The words for a concept: its text, else those of its first coding.
    Words(&'static str),
    /// The value of an observation or of one of its components.
    Value,
    /// The unit of that value.
    Unit,
}

/// The tables that resources become, by their type.
const TYPES: [(&str, &[Rule]); 5] = [
    (
        "Patient",
        &[
            ("patient", Take::At("id")),
            ("gender", Take::At("gender")),
            ("birth_date", Take::Day(&["birthDate"])),
            ("deceased", Take::At("deceasedBoolean")),
            ("deceased_date", Take::Day(&["deceasedDateTime"])),
            ("marital_status", Take::Code("maritalStatus")),
            ("language", Take::Code("communication.language")),
            ("city", Take::At("address.city")),
            ("district", Take::At("address.district")),
            ("state", Take::At("address.state")),
            ("postal_code", Take::At("address.postalCode")),
            ("country", Take::At("address.country")),
        ],
    ),
    (
        "Encounter",
        &[
            ("encounter", Take::At("id")),
            ("patient", Take::Id("subject")),
            ("status", Take::At("status")),
            ("class", Take::At("class.code")),
            ("type", Take::Code("type")),
            ("type_text", Take::Words("type")),
            ("start", Take::Day(&["period.start", "actualPeriod.start"])),
            ("end", Take::Day(&["period.end", "actualPeriod.end"])),
            ("reason", Take::Code("reasonCode")),
            ("reason_text", Take::Words("reasonCode")),
            ("discharge", Take::Code("hospitalization.dischargeDisposition")),
            ("organization", Take::Id("serviceProvider")),
        ],
    ),
    (
        "Condition",
        &[
            ("condition", Take::At("id")),
            ("patient", Take::Id("subject")),
            ("encounter", Take::Id("encounter")),
            ("code", Take::Code("code")),
            ("code_system", Take::System("code")),
            ("code_text", Take::Words("code")),
            ("category", Take::Code("category")),
            ("clinical_status", Take::Code("clinicalStatus")),
            ("verification", Take::Code("verificationStatus")),
            ("onset", Take::Day(&["onsetDateTime", "onsetPeriod.start"])),
            ("abatement", Take::Day(&["abatementDateTime", "abatementPeriod.start"])),
            ("recorded", Take::Day(&["recordedDate"])),
        ],
    ),
    (
        "Observation",
        &[
            ("observation", Take::At("id")),
            ("patient", Take::Id("subject")),
            ("encounter", Take::Id("encounter")),
            ("status", Take::At("status")),
            ("category", Take::Code("category")),
            ("code", Take::Code("code")),
            ("code_system", Take::System("code")),
            ("code_text", Take::Words("code")),
            ("date", Take::Day(&["effectiveDateTime", "effectivePeriod.start", "effectiveInstant"])),
            ("value", Take::Value),
            ("unit", Take::Unit),
        ],
    ),
    (
        "Procedure",
        &[
            ("procedure", Take::At("id")),
            ("patient", Take::Id("subject")),
            ("encounter", Take::Id("encounter")),
            ("status", Take::At("status")),
            ("code", Take::Code("code")),
            ("code_system", Take::System("code")),
            ("code_text", Take::Words("code")),
            (
                "start",
                Take::Day(&[
                    "performedDateTime",
                    "performedPeriod.start",
                    "occurrenceDateTime",
                    "occurrencePeriod.start",
                ]),
            ),
            ("end", Take::Day(&["performedPeriod.end", "occurrencePeriod.end"])),
        ],
    ),
];

/// Returns whether a file is read as FHIR resources: by its name, and because it begins like a JSON object.
pub(super) fn is_fhir(name: &str, first_bytes: &[u8]) -> bool {
    name.ends_with(".ndjson") && first_bytes.trim_ascii_start().first() == Some(&b'{')
}

/// Reads the resources of a file.
pub(super) fn read(input: &Input) -> Result<MemoryTable> {
    let name = input.place.name();
    let wrong = |line: u64, what: &str| Error::yours(format!("{name}, line {line}: {what}"));
    if input.place.size()? > LARGEST_FILE {
        return Err(Error::yours(format!(
            "{name}: a file of more than {} MB is not read as FHIR resources. Split it, or make a table of it.",
            LARGEST_FILE >> 20
        )));
    }
    let mut reader = BufReader::with_capacity(1 << 20, input.place.bytes()?.take(LARGEST_FILE));
    let mut found: Option<(&str, &[Rule])> = None;
    let mut columns: Vec<TextColumn> = Vec::new();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        if reader.read_until(b'\n', &mut text).map_err(|e| input.place.io(&e))? == 0 {
            break;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let resource: Value = serde_json::from_slice(&text)
            .map_err(|_| wrong(line, "this is not a JSON object. A file of FHIR resources has one on each line."))?;
        let kind = resource.get("resourceType").and_then(Value::as_str).unwrap_or_default();
        let own = TYPES.iter().find(|(own, _)| *own == kind);
        let Some(&(kind, rules)) = own else {
            let known: Vec<&str> = TYPES.iter().map(|(own, _)| *own).collect();
            return Err(wrong(
                line,
                &format!("a resource of this type is not read. Kohort reads: {}.", known.join(", ")),
            ));
        };
        if found.is_some_and(|(first, _)| first != kind) {
            return Err(wrong(line, "a file must hold resources of one type, as in a bulk export. Split it by type."));
        }
        if found.is_none() {
            found = Some((kind, rules));
            columns = vec![TextColumn::default(); rules.len()];
        }
        for part in rows_of(&resource) {
            let cells = rules.iter().map(|(_, take)| take.cell(&resource, part));
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(&cell));
        }
    }
    let Some((_, rules)) = found else { return Err(Error::yours(format!("{name}: the file is empty."))) };
    MemoryTable::new(&name, rules.iter().map(|(name, _)| name.to_string()).zip(columns))
}

/// The parts of a resource that become rows: its components, where it has them and no value of its own.
fn rows_of(resource: &Value) -> Vec<&Value> {
    let has_value = resource.as_object().is_some_and(|own| own.keys().any(|key| key.starts_with("value")));
    match resource.get("component").and_then(Value::as_array) {
        Some(components) if !has_value && !components.is_empty() => components.iter().collect(),
        _ => vec![resource],
    }
}

impl Take {
    /// The cell of a row; `part` is the resource or one of its components.
    fn cell(self, resource: &Value, part: &Value) -> String {
        match self {
            Take::At(path) => scalar(at(resource, path)),
            Take::Day(paths) => {
                paths.iter().map(|path| scalar(at(resource, path))).find(|d| !d.is_empty()).map_or(String::new(), day)
            }
            Take::Id(path) => {
                let reference = scalar(at(resource, path).and_then(|own| own.get("reference")));
                reference.rsplit(['/', ':']).next().unwrap_or_default().to_string()
            }
            // A component has a code of its own.
            Take::Code(path) => scalar(concept(at(part, path).or_else(|| at(resource, path)), "code")),
            Take::System(path) => scalar(concept(at(part, path).or_else(|| at(resource, path)), "system")),
            Take::Words(path) => {
                let own = at(part, path).or_else(|| at(resource, path));
                let text = scalar(own.and_then(|own| own.get("text")));
                if text.is_empty() { scalar(concept(own, "display")) } else { text }
            }
            Take::Value => value(part),
            Take::Unit => {
                let quantity = part.get("valueQuantity");
                let unit = scalar(quantity.and_then(|own| own.get("unit")));
                if unit.is_empty() { scalar(quantity.and_then(|own| own.get("code"))) } else { unit }
            }
        }
    }
}

/// Returns what is at a path of keys; of a list its first element.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let first = |value: &'v Value| match value {
        Value::Array(list) => list.first(),
        other => Some(other),
    };
    path.split('.').try_fold(value, |value, key| first(value)?.get(key)).and_then(first)
}

/// A key of the first coding of a concept.
fn concept<'v>(concept: Option<&'v Value>, key: &str) -> Option<&'v Value> {
    concept.and_then(|concept| at(concept, "coding")).and_then(|coding| coding.get(key))
}

fn scalar(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.trim().to_string(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    }
}

/// The day of a time: what is before its `T`. A year or a month stays as it is.
fn day(date: String) -> String {
    date.split('T').next().unwrap_or_default().to_string()
}

/// The value of an observation, whatever type it has.
fn value(part: &Value) -> String {
    if let Some(quantity) = part.get("valueQuantity") {
        let comparator = scalar(quantity.get("comparator"));
        return format!("{comparator}{}", scalar(quantity.get("value")));
    }
    if let Some(own) = part.get("valueCodeableConcept") {
        let code = scalar(concept(Some(own), "code"));
        return if code.is_empty() { scalar(own.get("text")) } else { code };
    }
    let date = scalar(part.get("valueDateTime"));
    if !date.is_empty() {
        return day(date);
    }
    let plain = ["valueString", "valueInteger", "valueBoolean"].into_iter().map(|key| scalar(part.get(key)));
    plain.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Place, open};

    fn input(text: &str) -> Input {
        Input::at(Place::Text("r.ndjson".into(), text.as_bytes().into()))
    }

    /// The cells of the columns that are named, row by row.
    #[track_caller]
    fn check(text: &str, columns: &[&str], expected: &[&str]) {
        let source = open(&input(text)).unwrap_or_else(|e| panic!("{e}"));
        let place = |name: &&str| source.columns().iter().position(|own| own == name).expect("a column");
        let places: Vec<usize> = columns.iter().map(place).collect();
        let mut rows = Vec::new();
        source
            .scan(
                |_| (),
                |(), chunk| Ok(chunk),
                |chunk| {
                    for r in 0..chunk.rows() {
                        let cell = |&c: &usize| String::from_utf8_lossy(chunk.cell(r, c)).into_owned();
                        rows.push(places.iter().map(cell).collect::<Vec<_>>().join("|"));
                    }
                    Ok(())
                },
            )
            .expect("rows");
        assert_eq!(rows, expected);
    }

    #[test]
    fn resources_become_rows() {
        check(
            "{\"resourceType\":\"Patient\",\"id\":\"p1\",\"name\":[{\"family\":\"SECRET\"}],\"gender\":\"female\",\
             \"birthDate\":\"1980-02-01\",\"address\":[{\"postalCode\":\"8000\",\"line\":[\"SECRET\"]}]}\n\n\
             {\"resourceType\":\"Patient\",\"id\":\"p2\",\"deceasedDateTime\":\"2020-01-02T10:00:00+01:00\"}\n",
            &["patient", "gender", "birth_date", "postal_code", "deceased_date"],
            &["p1|female|1980-02-01|8000|", "p2||||2020-01-02"],
        );
        check(
            "{\"resourceType\":\"Encounter\",\"id\":\"e\",\"subject\":{\"reference\":\"Patient/p1\"},\
             \"class\":{\"code\":\"IMP\"},\"type\":[{\"coding\":[{\"code\":\"185\",\"display\":\"visit\"}]}],\
             \"period\":{\"start\":\"2020-01-01T08:00:00Z\"}}\n",
            &["patient", "class", "type", "type_text", "start", "end"],
            &["p1|IMP|185|visit|2020-01-01|"],
        );
        check(
            "{\"resourceType\":\"Condition\",\"subject\":{\"reference\":\"urn:uuid:77\"},\"code\":{\"text\":\"Diabetes\",\
             \"coding\":[{\"system\":\"icd\",\"code\":\"E11.9\"}]}}\n",
            &["patient", "code", "code_system", "code_text"],
            &["77|E11.9|icd|Diabetes"],
        );
    }

    #[test]
    fn components_of_an_observation_are_rows() {
        let pressure = "{\"resourceType\":\"Observation\",\"id\":\"o\",\"code\":{\"coding\":[{\"code\":\"85354-9\"}]},\
             \"effectiveDateTime\":\"2020-01-01\",\"component\":[\
             {\"code\":{\"coding\":[{\"code\":\"8480-6\"}]},\"valueQuantity\":{\"value\":120,\"unit\":\"mmHg\"}},\
             {\"code\":{\"coding\":[{\"code\":\"8462-4\"}]},\"valueQuantity\":{\"value\":80.5,\"comparator\":\">\"}}]}\n";
        check(
            pressure,
            &["code", "date", "value", "unit"],
            &["8480-6|2020-01-01|120|mmHg", "8462-4|2020-01-01|>80.5|"],
        );
        let smoker = "{\"resourceType\":\"Observation\",\"valueCodeableConcept\":{\"coding\":[{\"code\":\"26\"}]}}\n";
        check(smoker, &["code", "value"], &["|26"]);
    }

    #[test]
    fn broken_lines_are_named_without_their_text() {
        let good = "{\"resourceType\":\"Patient\",\"id\":\"p\"}\n";
        for (text, part) in [
            (format!("{good}{{\"SECRET\n"), "line 2: this is not a JSON object"),
            (format!("{good}{{\"resourceType\":\"SECRET\"}}\n"), "line 2: a resource of this type is not read"),
            (format!("{good}{{\"resourceType\":\"Condition\"}}\n"), "line 2: a file must hold resources of one type"),
        ] {
            let error = open(&input(&text)).map(drop).expect_err("it is refused");
            assert!(error.message.contains(part) && !error.message.contains("SECRET"), "{}", error.message);
        }
    }
}
