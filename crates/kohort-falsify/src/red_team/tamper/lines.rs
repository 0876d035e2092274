//! Changes to the data of codes and events: lines of JSON, and lines of patients and events.

use super::Fit::{All, Hashes};
use super::{Change, Tampering, way};
use crate::dice::Dice;
use serde_json::{Value, json};

/// A data file that is there.
fn name(c: &mut Change) -> Option<String> {
    let all: Vec<String> =
        c.release.files.keys().filter(|name| name.ends_with(".jsonl") || name.ends_with(".csv")).cloned().collect();
    (!all.is_empty()).then(|| c.dice.one_of(&all))
}

/// Changes the lines below the first one.
fn lines(c: &mut Change, change: impl FnOnce(&mut Vec<String>, &mut Dice)) -> bool {
    let Some(name) = name(c) else { return false };
    c.file(&name, |bytes, dice| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut all = text.lines().map(str::to_string);
        let first = all.next().unwrap_or_default();
        let mut lines: Vec<String> = all.collect();
        if !lines.is_empty() {
            change(&mut lines, dice);
        }
        *bytes = std::iter::once(first).chain(lines).map(|line| line + "\n").collect::<String>().into_bytes();
    })
}

/// Changes a cluster as JSON.
fn cluster(c: &mut Change, change: fn(&mut Value, &mut Dice)) -> bool {
    lines(c, |lines, dice| {
        let at = dice.below(lines.len());
        if let Ok(mut value) = serde_json::from_str::<Value>(&lines[at]) {
            change(&mut value, dice);
            lines[at] = value.to_string();
        }
    })
}

/// Changes a chunk of a cluster.
fn chunk(value: &mut Value, dice: &mut Dice, change: fn(&mut Value, &mut Dice)) {
    let key = if value.get("members").is_some() { "shared_chunks" } else { "record_chunks" };
    if let Some(all) = value[key].as_array_mut().filter(|all| !all.is_empty()) {
        let at = dice.below(all.len());
        change(&mut all[at], dice);
    }
}

pub(super) const WAYS: &[Tampering] = &[
    way("a line is removed", All, |c| lines(c, |lines, dice| drop(lines.remove(dice.below(lines.len()))))),
    way("a line is there twice", All, |c| {
        lines(c, |lines, dice| {
            let own = dice.one_of(lines);
            lines.push(own);
        })
    }),
    way("lines change places", All, |c| {
        lines(c, |lines, dice| {
            let at = dice.below(lines.len());
            lines.rotate_left(at);
        })
    }),
    way("a cell of a line is another's", All, |c| {
        lines(c, |lines, dice| {
            let (from, to) = (dice.one_of(lines), dice.below(lines.len()));
            let mut cells: Vec<String> = lines[to].split(',').map(str::to_string).collect();
            let other: Vec<&str> = from.split(',').collect();
            let at = dice.below(cells.len().min(other.len()));
            cells[at] = other[at].into();
            lines[to] = cells.join(",");
        })
    }),
    way("a cell of a line is nobody's", All, |c| {
        lines(c, |lines, dice| {
            let to = dice.below(lines.len());
            let mut cells: Vec<String> = lines[to].split(',').map(str::to_string).collect();
            let at = dice.below(cells.len());
            cells[at] = "unique".into();
            lines[to] = cells.join(",");
        })
    }),
    way("the header is changed", Hashes, |c| {
        let Some(name) = name(c) else { return false };
        c.file(&name, |bytes, dice| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let (from, to) = dice.one_of(&[
                ("\"k\":2", "\"k\":3"),
                ("\"m\":2", "\"m\":1"),
                ("sex", "age"),
                ("dx", "zip"),
                ("version", "Version"),
            ]);
            *bytes = text.replacen(from, to, 1).into_bytes();
        })
    }),
    way("a cluster of another size", All, |c| {
        cluster(c, |value, dice| value["size"] = json!(dice.one_of(&[0, 1, 2, 50])))
    }),
    way("a rare code in an item chunk", All, |c| {
        cluster(c, |value, _| {
            value["item_chunk"].as_array_mut().into_iter().for_each(|all| all.push(json!("rare")));
        })
    }),
    way("a rare code in a chunk", All, |c| {
        cluster(c, |value, dice| {
            chunk(value, dice, |chunk, _| {
                chunk["domain"].as_array_mut().into_iter().for_each(|all| all.push(json!("rare")));
                chunk["subrecords"].as_array_mut().into_iter().for_each(|all| all.push(json!(["rare"])));
            })
        })
    }),
    way("a subrecord is removed", All, |c| {
        cluster(c, |value, dice| {
            chunk(value, dice, |chunk, dice| {
                let all = chunk["subrecords"].as_array_mut().filter(|all| !all.is_empty());
                all.into_iter().for_each(|all| drop(all.remove(dice.below(all.len()))));
            })
        })
    }),
    way("a subrecord is joined with another", All, |c| {
        cluster(c, |value, dice| {
            chunk(value, dice, |chunk, dice| {
                let Some(all) = chunk["subrecords"].as_array_mut().filter(|all| all.len() > 1) else { return };
                let own = all.remove(dice.below(all.len()));
                let at = dice.below(all.len());
                let mut codes: Vec<String> = [&own, &all[at]]
                    .iter()
                    .flat_map(|v| v.as_array().into_iter().flatten())
                    .map(|v| v.as_str().unwrap_or("").to_string())
                    .collect();
                codes.sort();
                codes.dedup();
                all[at] = json!(codes);
            })
        })
    }),
    way("a chunk moves to another cluster", All, |c| {
        lines(c, |lines, dice| {
            let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
            let (Ok(mut a), Ok(mut b)) =
                (serde_json::from_str::<Value>(&lines[from]), serde_json::from_str::<Value>(&lines[to]))
            else {
                return;
            };
            let moved = a["record_chunks"].as_array_mut().and_then(Vec::pop);
            if let (Some(own), Some(all), true) = (moved, b["record_chunks"].as_array_mut(), from != to) {
                all.push(own);
                lines[from] = a.to_string();
                lines[to] = b.to_string();
            }
        })
    }),
    way("a larger m", All, |c| {
        c.value("/counted/claim/m", |m, _| *m = json!(m.as_u64().unwrap_or(1) + 1))
            && c.file("clusters.jsonl", |bytes, _| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let up = |n: u64| (format!("\"m\":{n}"), format!("\"m\":{}", n + 1));
                let (from, to) = up((1..9).find(|n| text.contains(&up(*n).0)).unwrap_or(9));
                *bytes = text.replacen(&from, &to, 1).into_bytes();
            })
    }),
    way("a larger k of codes", All, |c| {
        c.value("/counted/claim/k", |k, _| *k = json!(k.as_u64().unwrap_or(1) + 1))
            && c.file("clusters.jsonl", |bytes, _| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let up = |n: u64| (format!("\"k\":{n}"), format!("\"k\":{}", n + 1));
                let (from, to) = up((1..9).find(|n| text.contains(&up(*n).0)).unwrap_or(9));
                *bytes = text.replacen(&from, &to, 1).into_bytes();
            })
    }),
    way("another claim about codes", All, |c| {
        let key = c.dice.one_of(&["aware", "no_cover"]);
        c.value(&format!("/counted/claim/{key}"), |own, _| *own = json!(own != &json!(true)))
    }),
    way("other sensitive codes", All, |c| {
        c.value("/counted/claim", |own, dice| {
            own["sensitive"] = dice.one_of(&[json!(["c0"]), json!(["c1", "c2"]), json!([]), json!(["\u{200b}"])]);
        })
    }),
    way("a smaller share at risk", All, |c| {
        c.value("/counted/claim/max_high_risk", |own, dice| *own = dice.one_of(&["0", "0.01", "-1", "2"]).into())
    }),
    way("another power", All, |c| {
        c.value("/counted/claim/power", |own, dice| {
            *own = dice.one_of(&[
                json!({ "total": 9 }),
                json!({ "total": 0 }),
                json!({ "events": 1 }),
                json!({ "values": 1 }),
            ])
        })
    }),
    way("another number of patient columns", All, |c| {
        c.value("/counted/claim/patient_columns", |own, dice| {
            *own = dice.one_of(&[json!(0), json!(1), json!(3), json!(99)])
        })
    }),
];
