//! Changes to the certificate as JSON, anywhere in it.

use super::Fit::{All, Harmless, Never, Nothing};
use super::{Change, Tampering, way};
use crate::dice::Dice;
use serde_json::{Value, json};

/// A value somewhere in another, and what to do with it.
fn somewhere(value: &mut Value, dice: &mut Dice, change: &mut dyn FnMut(&mut Value, &mut Dice)) {
    let inner = match value {
        Value::Array(all) => all.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if inner == 0 || dice.below(6) == 0 {
        return change(value, dice);
    }
    let at = dice.below(inner);
    match value {
        Value::Array(all) => somewhere(&mut all[at], dice, change),
        Value::Object(map) => {
            if let Some(own) = map.values_mut().nth(at) {
                somewhere(own, dice, change);
            }
        }
        _ => {}
    }
}

fn anywhere(c: &mut Change, mut change: impl FnMut(&mut Value, &mut Dice)) -> bool {
    c.value("", |root, dice| somewhere(root, dice, &mut change))
}

/// An object somewhere.
fn object(c: &mut Change, mut change: impl FnMut(&mut serde_json::Map<String, Value>, &mut Dice)) -> bool {
    anywhere(c, |value, dice| {
        if let Some(map) = value.as_object_mut().filter(|map| !map.is_empty()) {
            change(map, dice);
        }
    })
}

fn remove_key(map: &mut serde_json::Map<String, Value>, dice: &mut Dice) {
    let keys: Vec<String> = map.keys().cloned().collect();
    map.shift_remove(&dice.one_of(&keys));
}

fn other_number(value: &mut Value, dice: &mut Dice) {
    if value.is_number() {
        *value = dice.one_of(&[
            json!(0),
            json!(1),
            json!(2),
            json!(3),
            json!(-1),
            json!(u64::MAX),
            json!(1e300),
            json!(2.0),
        ]);
    }
}

fn other_type(value: &mut Value, dice: &mut Dice) {
    *value = dice.one_of(&[json!(null), json!([]), json!({}), json!(""), json!(true), json!(7), json!("row")]);
}

/// A key of the certificate twice.
fn twice(text: &str, key: &str, value: &str) -> String {
    text.replacen(&format!("\"{key}\":"), &format!("\"{key}\": {value}, \"{key}\":"), 1)
}

pub(super) const WAYS: &[Tampering] = &[
    way("a key is removed", Nothing, |c| object(c, remove_key)),
    way("a key is removed, everything redone", All, |c| object(c, remove_key)),
    way("an unknown key", All, |c| object(c, |map, _| drop(map.insert("seal".into(), json!("gold"))))),
    way("a key in capitals", All, |c| {
        object(c, |map, dice| {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = dice.one_of(&keys);
            if let Some(value) = map.shift_remove(&key) {
                map.insert(key.to_uppercase(), value);
            }
        })
    }),
    way("another number", Nothing, |c| anywhere(c, other_number)),
    way("another number, everything redone", All, |c| anywhere(c, other_number)),
    way("a value of another type", Nothing, |c| anywhere(c, other_type)),
    way("a value of another type, everything redone", All, |c| anywhere(c, other_type)),
    way("an item is removed from a list", All, |c| {
        anywhere(c, |value, dice| {
            value
                .as_array_mut()
                .filter(|all| !all.is_empty())
                .into_iter()
                .for_each(|all| drop(all.remove(dice.below(all.len()))));
        })
    }),
    way("an item is twice in a list", All, |c| {
        anywhere(c, |value, dice| {
            if let Some(all) = value.as_array_mut().filter(|all| !all.is_empty()) {
                let own = dice.one_of(all);
                all.push(own);
            }
        })
    }),
    way("a list in another order", All, |c| {
        anywhere(c, |value, _| value.as_array_mut().into_iter().for_each(|all| all.reverse()))
    }),
    way("a part of another certificate", All, |c| {
        let place = c.dice.one_of(&[
            "/counted",
            "/attested",
            "/counted/claim",
            "/counted/recount",
            "/counted/columns",
            "/attested/effects",
        ]);
        let own = c.other.certificate.pointer(place).cloned().unwrap_or_default();
        c.value(place, |value, _| *value = own)
    }),
    way("a text is longer", All, |c| {
        anywhere(c, |value, _| {
            if let Some(text) = value.as_str() {
                *value = format!("{text}{text}").into();
            }
        })
    }),
    way("k twice", Never, |c| c.text(|text, _| twice(&text, "k", "5000"))),
    way("a key twice", Never, |c| {
        c.text(|text, dice| {
            let key =
                dice.one_of(&["unit", "method", "role", "knows", "rows", "sensitive", "claim", "counted", "version"]);
            twice(&text, key, dice.one_of(&["\"row\"", "1", "[]", "{}"]))
        })
    }),
    way("k twice, once with an escaped letter", Never, |c| {
        c.text(|text, _| text.replacen("\"k\":", "\"\\u006b\": 5000, \"k\":", 1))
    }),
    way("another version", All, |c| {
        c.value("/version", |own, dice| *own = dice.one_of(&[json!(1), json!(3), json!("2")]))
    }),
    way("another format", All, |c| c.value("/format", |own, _| *own = "certificate".into())),
    way("another shape", All, |c| {
        c.value("/shape", |own, dice| *own = dice.one_of(&["codes", "events", "graph"]).into())
    }),
    way("a number with a point", Never, |c| c.text(|text, _| text.replacen("\"k\": 2", "\"k\": 2.0", 1))),
    way("a comment", Never, |c| c.text(|text, _| text.replacen('{', "{ /* fine */", 1))),
    way("keys in another order", Harmless, |c| {
        c.value("", |root, _| {
            let Some(map) = root.as_object_mut() else { return };
            let keys: Vec<String> = map.keys().rev().cloned().collect();
            *map = keys.into_iter().filter_map(|key| map.get(&key).cloned().map(|value| (key, value))).collect();
        });
        let text = c.release.certificate.to_string();
        c.release.bytes = Some(text.into_bytes());
        true
    }),
    way("white space", Harmless, |c| c.text(|text, _| text.replace('\n', "\n\t "))),
];
