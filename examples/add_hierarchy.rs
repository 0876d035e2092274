//! Hierarchies for a column: what its values may become, step by step.

use kohort::{Hierarchy, Policy, Table};
use std::collections::BTreeMap;

fn policy(job: Hierarchy) -> kohort::Result<Policy> {
    Policy::builder()
        .quasi_with("job", job)
        .sensitive("diagnosis")
        .k(2)
        .method("lattice")
        .parameter("max_suppressed", 0)
        .build()
}

pub(crate) fn main() -> kohort::Result<()> {
    let table = Table::from_columns([
        ("job", ["nurse", "doctor", "cook", "driver", "nurse", "cook"]),
        ("diagnosis", ["flu", "asthma", "flu", "angina", "asthma", "flu"]),
    ])?;

    // As paths: each leaf with its ancestors, the nearest first.
    let by_paths = Hierarchy::paths([
        ["nurse", "care", "*"],
        ["doctor", "care", "*"],
        ["cook", "service", "*"],
        ["driver", "service", "*"],
    ]);
    // As parents: each label with the one above it.
    let parents = BTreeMap::from([
        ("nurse", "care"),
        ("doctor", "care"),
        ("cook", "service"),
        ("driver", "service"),
        ("care", "*"),
        ("service", "*"),
    ]);
    for hierarchy in [by_paths, Hierarchy::parents(&parents)] {
        let released = kohort::anonymize(&table, &policy(hierarchy)?)?.columns()?;
        let mut jobs: Vec<&str> = released.column("job").into_iter().flat_map(|cells| cells.iter()).collect();
        jobs.sort_unstable();
        println!("{}", jobs.join(" "));
        assert_eq!(jobs, ["care", "care", "care", "service", "service", "service"]);
    }

    // As the text of a file that the policy names. Built in are also Hierarchy::named("icd10") and its like.
    let by_file = policy(Hierarchy::named("jobs.csv"))?
        .with_file("jobs.csv", "nurse;care;*\ndoctor;care;*\ncook;service;*\ndriver;service;*\n");
    println!("{}", kohort::anonymize(&table, &by_file)?.dictionary()?);
    Ok(())
}
