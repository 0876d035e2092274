//! Columns in, released columns out, without any file.

use kohort::{Hierarchy, Kind, Policy, Table};

pub(crate) fn main() -> kohort::Result<()> {
    // Columns of text or whole numbers; `None` and the empty text are missing.
    let ages = [31, 34, 36, 38, 52, 55, 58, 59];
    let table = Table::builder()
        .column("name", ["Ann", "Bob", "Cid", "Dea", "Eve", "Fay", "Gus", "Hal"])
        .column("age", ages)
        .column("sex", ["F", "M", "M", "F", "F", "F", "M", "M"])
        .column("diagnosis", [Some("flu"), Some("asthma"), None, Some("angina"), Some("flu"), None, Some("flu"), None])
        .build()?;

    let policy = Policy::builder()
        .identifier("name")
        .quasi_with("age", Hierarchy::intervals([10, 20], 0, 100))
        .quasi("sex")
        .sensitive("diagnosis")
        .k(4)
        .method("lattice")
        .parameter("max_suppressed", 0)
        .build()?;

    let release = kohort::anonymize(&table, &policy)?;
    let released = release.columns()?;
    for (name, cells) in released.columns() {
        println!("{name:<10} {}", cells.iter().collect::<Vec<_>>().join(" "));
    }
    println!("{}", release.certificate()?.guarantee().plain);

    // An error says whose it is. Here: nobody can make 100 of 8 people look the same.
    let impossible = Policy::builder()
        .identifier("name")
        .quasi("age")
        .quasi("sex")
        .sensitive("diagnosis")
        .k(100)
        .method("lattice")
        .parameter("max_suppressed", 0)
        .build()?;
    match kohort::anonymize(&table, &impossible) {
        Err(error) if error.kind == Kind::Infeasible => println!("no release: {error}"),
        Err(error) => return Err(error),
        Ok(_) => println!("this cannot happen"),
    }
    Ok(())
}
