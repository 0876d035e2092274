//! Means and models that the policy names are compared before and after.

use crate::common::run::{options, release};
use kohort_core::error::Kind;
use serde_json::Value;
use std::fs;

const COLUMNS: &str = "[columns]\nage = { role = \"quasi\", hierarchy = { intervals = [10], from = 0, to = 100 }, levels = [\"10\"] }\n\
    sex = { role = \"quasi\" }\ndays = { role = \"other\", reason = \"not known outside\" }\n\
    died = { role = \"other\", reason = \"not known outside\" }\nname = { role = \"identifier\" }\n\
    [privacy]\nk = 5\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n[context]\nrecipient = \"University <X>\"\npurpose = \"a study\"\n";

/// 200 people; days = 2 + age / 10, and one more for men.
fn table() -> String {
    let mut table = "age,sex,days,died,name\n".to_string();
    for i in 0..200u32 {
        let (age, man) = (20 + i % 50, i % 2);
        let days = 2.0 + f64::from(age) / 10.0 + f64::from(man);
        table +=
            &format!("{age},{},{days},{},n{i}\n", ["F", "M"][man as usize], ["no", "yes"][usize::from(i % 7 == 0)]);
    }
    table
}

fn run(checks: &str) -> kohort_core::Result<(Value, String)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table()).unwrap();
    let path = folder.path().join("p.toml");
    fs::write(&path, format!("[input]\ntable = \"t.csv\"\n{COLUMNS}{checks}")).unwrap();
    let (out, released) = release(&path, "out", &options(1, 1))?;
    let report = fs::read_to_string(out.join("evidence/report.html")).unwrap();
    Ok((released.metrics.to_value(), report))
}

#[test]
fn means_and_models_are_compared() {
    let checks = "[[check]]\nmean = \"days\"\nby = \"sex\"\n[[check]]\nlinear = \"days\"\non = [\"age\", \"sex\"]\n\
                  [[check]]\nlogistic = \"died\"\non = [\"sex\"]\n";
    let (metrics, report) = run(checks).unwrap();
    let found = |check: usize, term: &str, side: &str| {
        let estimates = metrics["checks"][check]["estimates"].as_array().unwrap();
        estimates.iter().find(|own| own["term"] == term).unwrap()[side].as_f64().unwrap()
    };
    assert_eq!(found(0, "sex = F", "before"), found(0, "sex = F", "after"));
    assert!((found(1, "age", "before") - 0.1).abs() < 1e-9 && (found(1, "sex = M", "before") - 1.0).abs() < 1e-9);
    assert!((found(1, "age", "after") - 0.1).abs() < 0.01 && (found(1, "sex = M", "after") - 1.0).abs() < 0.2);
    assert!((found(2, "sex = M", "before") - found(2, "sex = M", "after")).abs() < 1e-9);
    assert!(report.contains("linear model of days on age, sex") && report.contains("Results that the policy names"));
}

#[test]
fn the_report_states_the_context() {
    let (metrics, report) = run("").unwrap();
    assert_eq!(metrics["context"]["recipient"], "University <X>");
    assert!(report.contains("University &lt;X&gt;") && report.contains("a study") && !report.contains("<X>"));
    assert!(metrics.get("checks").is_none());
}

#[test]
fn checks_name_released_columns() {
    for (checks, part) in [
        ("[[check]]\nmean = \"name\"\n", "`name` is not a released column"),
        ("[[check]]\nmean = \"dayz\"\n", "Did you mean `days`?"),
        ("[[check]]\nlinear = \"days\"\n", "needs `on`"),
        ("[[check]]\nlinear = \"days\"\non = [\"days\"]\n", "names the outcome itself"),
        ("[[check]]\nby = \"sex\"\n", "needs one of"),
    ] {
        let error = run(checks).unwrap_err();
        assert!(error.kind == Kind::Yours && error.message.contains(part), "{error}");
    }
}
