//! Changes to what a certificate claims and shows as counted. Counts and sentences are made to fit.

use super::Fit::{All, Nothing, StaysTrue};
use super::{Change, Tampering, table, way};
use crate::dice::Dice;
use serde_json::{Value, json};

const K: &str = "/counted/claim/k";
const KNOWS: &str = "/counted/claim/knows";

/// Calls a column with this role something else.
fn role(c: &mut Change, from: &str, to: &str) -> bool {
    let Some(at) = c.of_role(from) else { return false };
    c.value(&format!("/counted/columns/{at}/role"), |role, _| *role = to.into())
}

/// Changes the order or the tree of t-closeness.
fn values(c: &mut Change, key: &str, change: impl FnOnce(&mut Vec<Value>, &mut Dice)) -> bool {
    c.value(&format!("/counted/claim/sensitive/0/t_closeness/{key}"), |value, dice| {
        if let Some(all) = value.as_array_mut() {
            change(all, dice);
        }
    })
}

/// Adds steps above the values of a tree.
fn deeper(c: &mut Change, step: fn(&mut Vec<Value>, usize)) -> bool {
    values(c, "tree", |paths, dice| {
        let times = 1 + dice.below(6);
        for path in paths.iter_mut().filter_map(Value::as_array_mut) {
            (0..times).for_each(|n| step(path, n));
        }
    })
}

/// A limit of a sensitive column as text, changed by a factor.
fn scaled(value: &mut Value, by: f64) {
    let own: f64 = value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0.5);
    *value = format!("{:.4}", own * by).into();
}

pub(super) const WAYS: &[Tampering] = &[
    way("a larger k", All, |c| c.value(K, |k, dice| *k = (k.as_u64().unwrap_or(2) + 1 + dice.below(5) as u64).into())),
    way("a much larger k, sentences not redone", Nothing, |c| c.value(K, |k, _| *k = 5000.into())),
    way("a smaller k", StaysTrue, |c| {
        let synthetic = c.release.certificate["attested"]["synthetic"]["real_k"].as_u64().unwrap_or(1);
        let catalog = c.release.files.contains_key("catalog.csv");
        c.value(K, |k, _| match k.as_u64() {
            Some(own) if own > 2.max(synthetic) && !catalog => *k = (own - 1).into(),
            _ => {}
        })
    }),
    way("k = 1", All, |c| c.value(K, |k, _| *k = 1.into())),
    way("k that is no whole number", All, |c| {
        c.value(K, |k, dice| {
            *k = dice.one_of(&[json!("2"), json!(2.5), json!(-2), json!(null), json!(1e30), json!([2]), json!(true)]);
        })
    }),
    way("an attacker who knows less", All, |c| c.value(KNOWS, |knows, _| *knows = 1.into())),
    way("an attacker who knows more", All, |c| {
        c.value(KNOWS, |knows, dice| *knows = dice.one_of(&[json!("all"), json!(9)]))
    }),
    way("an attacker who knows nothing", All, |c| {
        c.value(KNOWS, |knows, dice| *knows = dice.one_of(&[json!([]), json!(0), json!([[]]), json!(""), json!({})]))
    }),
    way("an attacker who knows one column alone", All, |c| {
        let name = c.release.certificate["counted"]["columns"][0]["name"].clone();
        c.value(KNOWS, |knows, _| *knows = json!([[name]]))
    }),
    way("an attacker who knows a column that is not there", All, |c| {
        c.value(KNOWS, |knows, _| *knows = json!([["zz"]]))
    }),
    way("very many columns known", All, |c| c.value(KNOWS, |knows, _| *knows = json!(1_000_000_000u64))),
    way("no limit on sensitive values", All, |c| c.value("/counted/claim/sensitive", |all, _| *all = json!([]))),
    way("no limit on sensitive values, sentences not redone", Nothing, |c| {
        c.value("/counted/claim/sensitive", |all, _| *all = json!([]))
    }),
    way("a column's limits twice", All, |c| {
        c.value("/counted/claim/sensitive", |all, _| {
            all.as_array_mut().into_iter().for_each(|all| all.extend(all.clone()));
        })
    }),
    way("a lower confidence", All, |c| {
        c.sensitive(|own, _| own.get_mut("confidence").into_iter().for_each(|value| scaled(value, 0.5)))
    }),
    way("a confidence that was not asked for", All, |c| c.sensitive(|own, _| own["confidence"] = json!("0.3"))),
    way("a confidence above 1", All, |c| {
        c.sensitive(|own, dice| {
            own["confidence"] = dice.one_of(&[json!("1.5"), json!("-1"), json!("NaN"), json!(0.5), json!("1e9")])
        })
    }),
    way("a confidence in no value", All, |c| c.sensitive(|own, _| own["values"] = json!([]))),
    way("a confidence in values that nobody has", All, |c| c.sensitive(|own, _| own["values"] = json!(["nobody"]))),
    way("a confidence in other spellings of values", All, |c| {
        let Some(column) = c.of_role("sensitive") else { return false };
        let Some((header, rows)) = table(c.release) else { return false };
        let mut values: Vec<String> =
            rows.iter().map(|row| row[column].clone()).filter(|own| !own.is_empty()).collect();
        values.sort();
        values.dedup();
        let spelled: Vec<String> = values.iter().map(|own| format!("{own} ")).collect();
        c.sensitive(|own, _| {
            if own["column"] == header[column].as_str() && !own["confidence"].is_null() && !spelled.is_empty() {
                own["values"] = json!(spelled);
            }
        })
    }),
    way("a confidence in a value that nobody sees", All, |c| {
        c.sensitive(|own, dice| own["values"] = dice.one_of(&[json!(["\u{200b}"]), json!([""]), json!([" "])]))
    }),
    way("a higher l", All, |c| {
        c.sensitive(|own, _| {
            let Some(l) = own.get_mut("l_diversity") else { return };
            for kind in ["distinct", "entropy"] {
                if let Some(n) = l.get_mut(kind) {
                    *n = (n.as_u64().unwrap_or(2) + 2).into();
                }
            }
        })
    }),
    way("another kind of l", All, |c| {
        c.sensitive(|own, dice| {
            own["l_diversity"] = dice.one_of(&[
                json!({ "distinct": 3 }),
                json!({ "entropy": 3 }),
                json!({ "recursive": { "c": [1, 2], "l": 3 } }),
            ]);
        })
    }),
    way("an l that says nothing", All, |c| {
        c.sensitive(|own, dice| {
            own["l_diversity"] = dice.one_of(&[
                json!({ "distinct": 0 }),
                json!({ "distinct": 1 }),
                json!({ "entropy": 1 }),
                json!({ "recursive": { "c": [1, 0], "l": 1 } }),
                json!({ "recursive": { "c": [9, 1], "l": 0 } }),
                json!({}),
            ]);
        })
    }),
    way("a smaller t", All, |c| c.value("/counted/claim/sensitive/0/t_closeness/max", |max, _| scaled(max, 0.4))),
    way("a t of no size", All, |c| {
        c.value("/counted/claim/sensitive/0/t_closeness/max", |max, dice| {
            *max = dice.one_of(&[json!("-1"), json!("nan"), json!("2"), json!(0.5)])
        })
    }),
    way("another distance", All, |c| {
        c.value("/counted/claim/sensitive/0/t_closeness/distance", |own, dice| {
            *own = dice.one_of(&["equal", "ordered", "hierarchical", "none"]).into()
        })
    }),
    way("equal distance in its place", All, |c| {
        c.value("/counted/claim/sensitive/0/t_closeness", |t, _| *t = json!({ "max": "0.1", "distance": "equal" }))
    }),
    way("the order the other way round", StaysTrue, |c| values(c, "order", |order, _| order.reverse())),
    way("values in another order", All, |c| {
        values(c, "order", |order, dice| {
            let at = dice.below(order.len());
            order.rotate_left(at);
        })
    }),
    way("an order without one of the values", All, |c| values(c, "order", |order, _| drop(order.pop()))),
    way("an order with a value twice", All, |c| values(c, "order", |order, _| order.extend(order.first().cloned()))),
    way("an order with values between", All, |c| {
        values(c, "order", |order, _| {
            *order = order
                .iter()
                .flat_map(|own| [own.clone(), json!(format!("{}x", own.as_str().unwrap_or_default()))])
                .collect();
        })
    }),
    way("a tree of equal steps", All, |c| deeper(c, |path, _| path.extend(path.last().cloned()))),
    way("a tree with steps that join nothing", All, |c| {
        deeper(c, |path, n| {
            let own = format!("{}-{n}", path[0].as_str().unwrap_or_default());
            path.insert(1, own.into());
        })
    }),
    way("a tree with steps above its root", All, |c| deeper(c, |path, n| path.push(json!(format!("root {n}"))))),
    way("a tree in which all values are one", All, |c| {
        values(c, "tree", |paths, _| {
            paths.iter_mut().filter_map(Value::as_array_mut).for_each(|path| path.truncate(1));
            paths.iter_mut().filter_map(Value::as_array_mut).for_each(|path| path.push("*".into()));
        })
    }),
    way("values change places in the tree", All, |c| {
        values(c, "tree", |paths, _| {
            let first: Vec<Value> = paths.iter().map(|path| path[0].clone()).collect();
            let at = 1.min(first.len());
            for (path, own) in paths.iter_mut().zip(first.iter().cycle().skip(at)) {
                path[0] = own.clone();
            }
        })
    }),
    way("a tree without one of the values", All, |c| values(c, "tree", |paths, _| drop(paths.pop()))),
    way("a quasi-identifier is called other", All, |c| role(c, "quasi", "other")),
    way("a quasi-identifier is called sensitive", All, |c| role(c, "quasi", "sensitive")),
    way("a quasi-identifier is called a detail", All, |c| role(c, "quasi", "detail")),
    way("a sensitive column is called other", All, |c| role(c, "sensitive", "other")),
    way("a sensitive column is called quasi", All, |c| role(c, "sensitive", "quasi")),
    way("another column is called quasi", All, |c| role(c, "other", "quasi")),
    way("a column is called an identifier", All, |c| role(c, "other", "identifier")),
    way("a column is called the patient", All, |c| role(c, "other", "patient")),
    way("a role that does not exist", All, |c| role(c, "other", "harmless")),
    way("a detail belongs to nothing", All, |c| {
        let Some(at) = c.of_role("detail") else { return false };
        c.value(&format!("/counted/columns/{at}/of"), |of, dice| {
            *of = dice.one_of(&[json!([]), json!(["zz"]), json!(["s"])])
        })
    }),
    way("a detail is called other", All, |c| {
        let Some(at) = c.of_role("detail") else { return false };
        c.value(&format!("/counted/columns/{at}"), |own, _| *own = json!({ "name": own["name"], "role": "other" }))
    }),
    way("a delimiter that the file does not have", All, |c| {
        c.value("/counted/text/delimiter", |own, dice| *own = dice.one_of(&[";", "|", "\t", "\n", "\"", ""]).into())
    }),
    way("other marks for suppressed and missing", All, |c| {
        let place = c.dice.one_of(&["/counted/text/suppressed", "/counted/text/missing"]);
        c.value(place, |own, dice| *own = dice.one_of(&["?", "v0", "NA"]).into())
    }),
    way("another number under recount", Nothing, |c| {
        let key = c.dice.one_of(&["rows", "sets", "classes", "smallest_class"]);
        c.value(&format!("/counted/recount/{key}"), |own, _| *own = (own.as_u64().unwrap_or(1) + 1).into())
    }),
    way("a better extreme under recount", Nothing, |c| {
        let key = c.dice.one_of(&["highest_confidence", "least_diversity", "largest_distance"]);
        c.value(&format!("/counted/recount/sensitive/0/{key}"), |own, _| scaled(own, 0.9))
    }),
    way("another number of rows", Nothing, |c| {
        c.value("/counted/files/0/rows", |own, _| *own = (own.as_u64().unwrap_or(1) + 1).into())
    }),
    way("a stronger sentence", Nothing, |c| {
        c.value("/counted/guarantee", |own, dice| {
            let text = own.as_str().unwrap_or_default().to_string();
            *own = dice
                .one_of(&[
                    text.replace("at least ", "at least 1"),
                    text.replace("or none", "and never none"),
                    text.replace(", unless all of their values are missing", ""),
                    text.replace(" records", " patients"),
                    format!("{text} Nobody is found with a probability above 1/50."),
                ])
                .into();
        })
    }),
];
