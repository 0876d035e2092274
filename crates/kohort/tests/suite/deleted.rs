//! A value that only deleted rows had is nowhere in what is handed over.

use crate::common::case::method;
use crate::common::run::{options, release};
use kohort::methods::{DataShape, Register};
use std::fs;

/// Nine rows alike and one that must go; `rare` occurs only there.
fn check(sensitive: &str, t_closeness: &str, values: [&str; 2], rare: &str) {
    // `ceiling` deletes nothing.
    for name in Register::built_in().names(DataShape::Table).into_iter().filter(|name| *name != "ceiling") {
        let folder = tempfile::tempdir().unwrap();
        let mut table = "q,d,s\n".to_string();
        (0..9).for_each(|i| table += &format!("common,fine,{}\n", values[i % 2]));
        table += &format!("RAREQUASI,RAREDETAIL,{rare}\n");
        fs::write(folder.path().join("t.csv"), table).unwrap();
        fs::write(folder.path().join("tree.csv"), format!("{};x;*\n{};x;*\n{rare};RARENODE;*\n", values[0], values[1]))
            .unwrap();
        let policy = folder.path().join("p.toml");
        let columns = format!(
            "q = {{ role = \"quasi\" }}\nd = {{ role = \"detail\", of = [\"q\"] }}\ns = {{ role = \"sensitive\"{sensitive} }}\n"
        );
        let text = format!(
            "[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\nk = 3\nt_closeness = {t_closeness}\n{}",
            method(name, "0.1", "loss")
        );
        fs::write(&policy, text).unwrap();
        let (out, released) = release(&policy, "out", &options(1, 1)).unwrap();
        assert_eq!(released.metrics.to_value()["rows"]["suppressed"], 1, "the rare row goes");
        for entry in fs::read_dir(out.join("release")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            for word in [rare, "RAREQUASI", "RAREDETAIL", "RARENODE"] {
                assert!(!text.contains(word), "{word} in {}", path.display());
            }
        }
        // The evidence stays in the house, and still names no value.
        for file in ["metrics.json", "report.html", "log"] {
            let text = fs::read_to_string(out.join("evidence").join(file)).unwrap();
            assert!(!text.contains("RARE"), "{file}");
        }
    }
}

#[test]
fn a_value_that_only_deleted_rows_had_is_not_handed_over() {
    check("", "1.0", ["flu", "gout"], "RARESECRET");
    check("", "{ max = 1.0, distance = \"ordered\" }", ["1", "2"], "99887766");
    check(
        ", domain = [\"flu\", \"RARESECRET\", \"gout\"]",
        "{ max = 1.0, distance = \"ordered\" }",
        ["flu", "gout"],
        "RARESECRET",
    );
    check(", hierarchy = \"tree.csv\"", "{ max = 1.0, distance = \"hierarchical\" }", ["flu", "gout"], "RARESECRET");
}
