//! A recipient recounts the guarantee of a release; the custodian also compares it with the original.

use kohort::{AnyCertificate, Kind, Policy, Run};
use std::path::Path;

pub(crate) fn main() -> kohort::Result<()> {
    let ward = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ward");
    let policy = Policy::read(ward.join("policy.toml"))?;
    let out = std::env::temp_dir().join(format!("kohort-verify-release-{}", std::process::id()));
    Run::new().anonymize_into(policy.data()?, &policy, &out)?;

    // The recipient has the folder release/ and nothing else.
    let verified = kohort::verify(out.join("release"))?;
    println!("verified: {}", verified.guarantee());
    if let AnyCertificate::Table(certificate) = verified.certificate() {
        println!("smallest group: {}", certificate.recount.smallest_class);
    }

    // The custodian still has the data: is every released cell true?
    let verified = kohort::verify_with_original(&out, policy.data()?, &policy)?;
    for gap in verified.not_shown() {
        println!("not shown: {gap}");
    }

    // A release that somebody changed is refused.
    let data = out.join("release").join("data.csv");
    let io = |e: std::io::Error| kohort::Error::io(&data, &e);
    let text = std::fs::read_to_string(&data).map_err(io)?;
    std::fs::write(&data, text.replace("flu", "angina")).map_err(io)?;
    match kohort::verify(&out) {
        Err(error) if error.kind == Kind::Refused => println!("refused: {error}"),
        other => drop(other?),
    }
    std::fs::remove_dir_all(&out).map_err(|e| kohort::Error::io(&out, &e))
}
