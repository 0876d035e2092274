//! Changes JSON and keeps it JSON: what a reader that knows the format must still refuse or count.

use crate::dice::Dice;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Changes a value somewhere in it. Now and then two lists become long, or one tree deep.
pub fn mutate(root: &mut Value, dice: &mut Dice) {
    if dice.once_in(100) {
        let mut lists = Vec::new();
        places_of_lists(root, String::new(), &mut lists);
        for _ in 0..2.min(lists.len()) {
            let place = dice.one_of(&lists).clone();
            lengthen(root.pointer_mut(&place), dice);
        }
    }
    for _ in 0..1 + dice.below(3) {
        if weight(root) > 8 << 20 {
            return;
        }
        let donor = pick(&mut root.clone(), dice).clone();
        change(pick(root, dice), donor, dice);
    }
}

/// The places of all lists that hold something.
fn places_of_lists(value: &Value, place: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            if !items.is_empty() {
                all.push(place.clone());
            }
            items.iter().enumerate().for_each(|(i, item)| places_of_lists(item, format!("{place}/{i}"), all));
        }
        Value::Object(map) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            map.iter().for_each(|(key, item)| places_of_lists(item, format!("{place}/{}", escaped(key)), all));
        }
        _ => {}
    }
}

/// Makes a list long, or each list in it: a tree then becomes deep. Texts differ from each other where they can.
fn lengthen(list: Option<&mut Value>, dice: &mut Dice) {
    let Some(Value::Array(items)) = list else { return };
    if items.iter().all(Value::is_array) && !dice.once_in(3) {
        items.iter_mut().for_each(|item| lengthen(Some(item), dice));
        return;
    }
    let Some(last) = items.last().cloned() else { return };
    let times = if dice.once_in(8) { 30_000 } else { *dice.one_of(&[100, 3_000]) };
    let times = affordable(times, &last);
    let more = |n: usize| match &last {
        Value::String(text) => json!(format!("{text}-{n}")),
        other => other.clone(),
    };
    let at = items.len() - 1;
    items.splice(at..at, (0..times).map(more));
}

/// So many times, as long as they stay within a few megabytes: the fuzzer itself must not run out of memory.
fn affordable(times: usize, item: &Value) -> usize {
    times.min((4 << 20) / weight(item)).max(1)
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 40 + items.iter().map(weight).sum::<usize>(),
        Value::Object(map) => 40 + map.iter().map(|(key, item)| key.len() + weight(item)).sum::<usize>(),
        Value::String(text) => 40 + text.len(),
        _ => 40,
    }
}

/// A value somewhere in another.
fn pick<'a>(value: &'a mut Value, dice: &mut Dice) -> &'a mut Value {
    let inner = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if inner == 0 || dice.once_in(6) {
        return value;
    }
    let at = dice.below(inner);
    match value {
        Value::Array(items) => pick(&mut items[at], dice),
        Value::Object(map) => match map.values_mut().nth(at) {
            Some(own) => pick(own, dice),
            None => unreachable!("below its length"),
        },
        _ => value,
    }
}

fn change(value: &mut Value, donor: Value, dice: &mut Dice) {
    match (dice.below(5), &mut *value) {
        (0, _) => *value = donor,
        (1, Value::Array(items)) if !items.is_empty() => {
            let item = dice.one_of(items).clone();
            let times = if dice.once_in(32) { 3000 } else { *dice.one_of(&[1, 2, 40]) };
            let times = affordable(times, &item);
            items.extend(std::iter::repeat_n(item, times));
        }
        (2, Value::Array(items)) if !items.is_empty() => drop(items.remove(dice.below(items.len()))),
        (1 | 2, Value::Object(map)) if !map.is_empty() => {
            let key = map.keys().nth(dice.below(map.len())).cloned().unwrap_or_default();
            match dice.once_in(2) {
                true => drop(map.remove(&key)),
                false => drop(map.insert(key, donor)),
            }
        }
        (3, Value::Number(_)) => {
            *value = dice
                .one_of(&[
                    json!(0),
                    json!(1),
                    json!(2),
                    json!(3),
                    json!(20),
                    json!(u64::MAX),
                    json!(u32::MAX),
                    json!(-1),
                    json!(1e300),
                ])
                .clone();
        }
        (3, Value::String(text)) => {
            let longer = text.repeat(if dice.once_in(16) { 1000 } else { 3 });
            let own: [&str; 12] =
                ["", "0", "1", "0.5", "1e9", "*", "quasi", "sensitive", "../x", "data.csv", "\u{0}\u{1b}[2J", &longer];
            *text = dice.one_of(&own).to_string();
        }
        _ => *value = dice.one_of(&[json!(null), json!([]), json!({}), json!(""), json!(true), json!(7)]).clone(),
    }
}

/// The hashes and rows of a certificate made those of the files, as someone would who means harm.
pub fn sign(certificate: &mut Value, files: &[(String, Vec<u8>)], dice: &mut Dice) {
    let listed = certificate.pointer_mut("/counted/files").and_then(Value::as_array_mut);
    for entry in listed.into_iter().flatten().filter(|entry| entry.is_object()) {
        let Some((name, bytes)) = files.iter().find(|(name, _)| entry["name"].as_str() == Some(name)) else { continue };
        let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        entry["sha256"] = json!(hash);
        let rows = bytes.iter().filter(|b| **b == b'\n').count().saturating_sub(1);
        if entry.get("rows").is_some() && !name.ends_with(".parquet") && !name.ends_with(".gz") && !dice.once_in(8) {
            entry["rows"] = json!(rows);
        }
    }
}
