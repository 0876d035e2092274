//! A recipient recounts the guarantee of a release; the custodian also compares it with the original.

use kohort::{AnyCertificate, Policy, Run, Verification};
use std::path::Path;

pub(crate) fn main() -> kohort::Result<()> {
    let ward = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ward");
    let policy = Policy::read(ward.join("policy.toml"))?;
    let out = std::env::temp_dir().join(format!("kohort-verify-release-{}", std::process::id()));
    Run::new().anonymize_into(policy.data()?, &policy, &out)?;

    // The recipient has the folder release/ and nothing else.
    match kohort::verify(out.join("release"))? {
        Verification::Verified(own) => println!("verified: {}", own.counted()),
        Verification::Partly(own) => {
            println!("verified in part: {}", own.counted());
            own.not_counted().iter().for_each(|gap| println!("not counted: {gap}"));
        }
        Verification::Refused(refusal) => println!("refused: {}", refusal.reason),
    }

    // The custodian still has the data: is every released cell true?
    let examined = kohort::verify_with_original(&out, policy.data()?, &policy)?.examined()?;
    if let AnyCertificate::Table(certificate) = examined.certificate() {
        println!("smallest group: {}", certificate.recount.smallest_class);
    }
    for gap in examined.not_shown() {
        println!("not shown: {gap}");
    }
    // Nobody can recount the method or the assumptions. A signature would say who vouches for them.
    println!("stated by the custodian, {}: {}", examined.signer().words(), examined.stated().join(" "));

    // A release that somebody changed is refused.
    let data = out.join("release").join("data.csv");
    let io = |e: std::io::Error| kohort::Error::io(&data, &e);
    let text = std::fs::read_to_string(&data).map_err(io)?;
    std::fs::write(&data, text.replace("flu", "angina")).map_err(io)?;
    if let Verification::Refused(refusal) = kohort::verify(&out)? {
        println!("refused: {}", refusal.reason);
    }
    std::fs::remove_dir_all(&out).map_err(|e| kohort::Error::io(&out, &e))
}
