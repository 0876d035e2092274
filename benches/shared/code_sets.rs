//! Public sets of codes, for the benchmarks.

use kohort::methods::Register;
use kohort_core::codes::{self, Records};
use kohort_core::policy::{AnyPolicy, PolicyFile};
use std::path::Path;

/// Name and file of each set.
pub const SETS: [(&str, &str); 3] = [
    ("informs-shaped", "synthetic/codes-58302.txt.gz"),
    ("nhds", "derived/nhds2010.partA.dxsets.txt.gz"),
    ("synpuf", "derived/synpuf_inpatient.partA.patient_dxsets.txt.gz"),
];

/// Reads a file with the codes of a patient on each line.
pub fn read(path: &Path) -> Records {
    let path = path.canonicalize().expect("the data").display().to_string();
    let text = format!(
        "[input]\ntable = {path:?}\nlayout = \"list\"\nheader = false\ndelimiter = \",\"\n[columns]\ncolumn1 = {{ role = \"codes\", separator = \" \" }}\n[privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\n"
    );
    let file = PolicyFile::parse("policy", &text, Path::new(".")).expect("a policy");
    let source = kohort_core::table::open(&file.input).expect("a table").with_threads(2);
    let AnyPolicy::Codes(policy) = file.bind(&source, &Register::built_in()).expect("bound") else {
        panic!("another shape")
    };
    codes::survey(&source, &policy).expect("records")
}
