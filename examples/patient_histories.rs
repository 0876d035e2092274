//! Patients and their events, in two tables that a patient column links.

use kohort::{Data, Hierarchy, Policy, Table};

pub(crate) fn main() -> kohort::Result<()> {
    let numbers: Vec<u32> = (1..=40).collect();
    let patients = Table::builder()
        .column("id", numbers.iter().copied())
        .column("sex", numbers.iter().map(|n| if n % 2 == 0 { "F" } else { "M" }))
        .build()?;
    // Two events for each patient.
    let codes = ["4010", "4011", "2500", "2501"];
    let events = Table::builder()
        .column("id", numbers.iter().chain(&numbers).copied())
        .column("dx", numbers.iter().chain(&numbers).enumerate().map(|(i, n)| codes[(i / 20 + *n as usize) % 4]))
        .build()?;

    let policy = Policy::builder()
        .patients_table()
        .patient("id")
        .quasi("sex")
        .events_table()
        .patient("id")
        .quasi_with("dx", Hierarchy::prefix([3, 1]))
        .k(3)
        .privacy("power_total", 2)
        .privacy("max_high_risk", 0.1)
        .method("claims")
        .build()?;

    let release = kohort::anonymize(Data::events(&patients, &events), &policy)?;
    println!("{} patients, {} events", release.patients()?.rows(), release.events()?.rows());
    println!("{}", release.certificate()?.guarantee().plain);
    Ok(())
}
