//! Sets of diagnosis codes as hospitals hold them, where KOHORT_DATA names the folder of public data: released whole,
//! verified at both depths, and nearer to the truth than the printed clusters.

use crate::common::run::{options, release};
use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort_core::verify::{verify_release, verify_with_original};
use std::fs;
use std::path::PathBuf;

/// The code sets: file, patients, distinct codes.
const SETS: [(&str, u64, u64); 3] = [
    ("derived/nhds2010.partA.dxsets.txt.gz", 100_998, 7_441),
    ("derived/synpuf_inpatient.partA.patient_dxsets.txt.gz", 18_791, 4_593),
    ("synthetic/codes-58302.txt.gz", 58_302, 631),
];

#[test]
fn real_codes_are_released_verified_and_better_than_printed() {
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else { return };
    let folder = tempfile::tempdir().unwrap();
    for (number, (file, patients, codes)) in SETS.into_iter().enumerate() {
        let table = data.join(file);
        assert!(table.is_file(), "{file} is missing in the folder that KOHORT_DATA names");
        let mut errors = Vec::new();
        for (name, clusters) in
            [("paper", "clusters = \"paper\""), ("best", "clusters = \"best\""), ("aware", "aware = true")]
        {
            let policy = folder.path().join(format!("{name}{number}.toml"));
            let text = format!(
                "[input]\ntable = {:?}\nlayout = \"list\"\nheader = false\ndelimiter = \",\"\n[columns]\ncolumn1 = {{ role = \"codes\", separator = \" \" }}\n\
                 [privacy]\nk = 5\nknows = 2\n[method]\nname = \"disassociate\"\n{clusters}\n",
                table.display().to_string()
            );
            fs::write(&policy, text).unwrap();
            let (out, released) = release(&policy, &format!("{name}{number}"), &options(1, 2)).unwrap();
            let metrics = &released.metrics.to_value();
            assert_eq!(metrics["rows"]["out"].as_u64(), Some(patients), "{file}");
            assert_eq!(metrics["codes"]["distinct"].as_u64(), Some(codes), "{file}");
            verify_release(&out, 2).unwrap();
            let (source, bound) = kohort::pipeline::open(&policy, &options(1, 2)).unwrap();
            verify_with_original(&out, &source, &bound).unwrap();
            errors.push(metrics["utility"]["frequent"]["are"].as_f64().unwrap());
            if name == "best" {
                let asked =
                    Reconstruct { copies: 2, form: DataForm::List, items: ItemMode::Rare, seed: Some(1), threads: 2 };
                let (files, again) =
                    reconstruct_release(&out, &folder.path().join(format!("again{number}")), &asked).unwrap();
                assert_eq!((files.len(), again), (2, patients));
            }
        }
        let [paper, best, _] = errors[..] else { unreachable!("three releases") };
        assert!(best < paper, "{file}: {errors:?}");
    }
}
