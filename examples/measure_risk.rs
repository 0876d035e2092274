//! How easily people can be found in a table as it is, by a policy that was suggested for it.

use kohort::{DataRisk, Policy, Table};
use std::path::Path;

pub(crate) fn main() -> kohort::Result<()> {
    let ward = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ward");
    let table = Table::file(ward.join("patients.csv"));

    // What would a first policy be? It lacks k, which only the custodian can choose; risk needs none.
    let suggestion = kohort::suggest(&table)?;
    for column in &suggestion.columns {
        println!("{:<10} {:<11} {}", column.name, column.role.name(), column.why);
    }

    let risk = kohort::risk(&table, &Policy::parse(suggestion.policy)?)?;
    println!("unique: {:.0} % of the people", 100.0 * risk.unique().unwrap_or_default());
    if let DataRisk::Table(found) = &risk {
        println!("mean risk: {:.0} %", 100.0 * found.all.mean);
        match &found.cost.outcome {
            Ok(lost) => println!("k = {} would cost {:.0} % of the detail", found.cost.k, 100.0 * lost.loss),
            Err(reason) => println!("k = {} cannot be met: {reason}", found.cost.k),
        }
    }
    Ok(())
}
