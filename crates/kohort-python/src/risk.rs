//! The risk of data as it is, as JSON for Python.

use kohort::DataRisk;
use kohort::evidence::worst_sets;
use kohort::original_risk::OriginalRisk;
use serde_json::{Value, json};

/// The numbers that `kohort risk` prints.
pub(crate) fn to_json(risk: &DataRisk) -> String {
    match risk {
        DataRisk::Table(own) => table(own),
        DataRisk::Codes(known) => {
            let rows = known.iter().map(|own| {
                json!({
                    "codes_known": own.codes, "patients": own.patients, "unique": own.unique,
                    "fewer_than_k": own.fewer_than_k, "mean": own.mean, "max": own.max,
                })
            });
            json!({ "shape": "codes", "known": rows.collect::<Vec<_>>() })
        }
        DataRisk::Events(own) => {
            let values = own.values.iter().map(|(p, variable, fixed)| {
                json!({ "values_known": p, "variable_power": variable[2].share(), "fixed_power": fixed[2].share() })
            });
            let events = own.events.iter().map(|(p, found)| json!({ "events_known": p, "share": found.share() }));
            json!({
                "shape": "events", "values": values.collect::<Vec<_>>(), "events": events.collect::<Vec<_>>(),
            })
        }
    }
    .to_string()
}

fn table(risk: &OriginalRisk) -> Value {
    let named = |set: &[usize]| set.iter().map(|&q| risk.quasi[q].as_str()).collect::<Vec<_>>();
    let worst = worst_sets(&risk.singling_out);
    let sets = (1..).zip(&risk.singling_out.people).map(|(number, people)| {
        let set = worst.iter().find(|(set, _)| set.len() == number);
        json!({
            "columns_known": number, "singled_out": people,
            "worst_set": set.map(|(set, _)| named(set)), "by_worst_set": set.map(|(_, people)| people),
        })
    });
    let (unique, of) = risk.unique();
    let only_with = risk.singling_out.added.as_ref().map(|added| {
        risk.quasi
            .iter()
            .cloned()
            .zip(added.only_with.iter().map(|&n| Value::from(n)))
            .collect::<serde_json::Map<_, _>>()
    });
    let cost = match &risk.cost.outcome {
        Ok(lost) => json!({
            "k": risk.cost.k, "method": risk.cost.method, "loss": lost.loss, "rows": lost.rows,
            "unchanged": lost.untouched, "suppressed": lost.gone,
        }),
        Err(reason) => json!({ "k": risk.cost.k, "method": risk.cost.method, "reason": reason }),
    };
    json!({
        "shape": "table", "unit": if risk.has_patients { "patients" } else { "rows" },
        "quasi": risk.quasi, "rows": risk.rows, "people": risk.people,
        "unique": unique, "unique_share": unique as f64 / of.max(1) as f64,
        "mean": risk.all.mean, "max": risk.all.max, "above": risk.models.prosecutor.above, "threshold": risk.cost.k,
        "sets": sets.collect::<Vec<_>>(), "only_with": only_with, "cost": cost,
    })
}
