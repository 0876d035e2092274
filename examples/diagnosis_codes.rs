//! A set of diagnosis codes for each patient: whoever knows two codes of a patient finds at least three patients.

use kohort::{Data, Policy};

pub(crate) fn main() -> kohort::Result<()> {
    let patients = [
        vec!["401", "250", "272"],
        vec!["401", "250"],
        vec!["401", "272", "486"],
        vec!["250", "486"],
        vec!["401", "250", "486"],
        vec!["401", "272"],
        vec!["250", "272", "401"],
        vec!["486", "401"],
    ];
    let data = Data::codes(patients)?;
    let policy = Policy::builder().patient("patient").codes("code").k(3).knows(2).method("disassociate").build()?;

    let release = kohort::anonymize(&data, &policy)?;
    for cluster in release.clusters()?.lines() {
        println!("{cluster}");
    }
    println!("{}", release.certificate()?.guarantee().plain);
    Ok(())
}
