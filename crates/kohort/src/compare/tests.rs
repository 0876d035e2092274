use super::*;
use kohort_core::table::Silent;
use std::sync::Arc;

const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\nage = { role = \"quasi\", hierarchy = { from = 0, to = 100, step = 5 } }\n\
    sex = { role = \"quasi\" }\nill = { role = \"identifier\" }\n[privacy]\nmax_risk = 0.5\n[method]\nname = \"lattice\"\nmax_suppressed = 0.1\n";

fn options() -> Options {
    Options { force: false, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) }
}

fn table(folder: &Path) -> PathBuf {
    let rows: String = (0..400).map(|i| format!("{},{},x\n", i * 7 % 90, if i % 3 == 0 { "f" } else { "m" })).collect();
    fs::write(folder.join("t.csv"), format!("age,sex,ill\n{rows}")).unwrap();
    let policy = folder.join("p.toml");
    fs::write(&policy, POLICY).unwrap();
    policy
}

fn vary(all: &[&str]) -> Vec<Vary> {
    all.iter().map(|v| v.parse().unwrap()).collect()
}

#[test]
fn every_setting_is_tried_and_can_be_released() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let out = folder.path().join("side by side");
    let vary = vary(&["k=2,20,100,500", "method=lattice,suppress", "max_suppressed=0,0.1"]);
    let made = compare(&policy, &vary, &out, &options()).unwrap();
    // `suppress` has no max_suppressed.
    assert_eq!(made.tried.len(), 4 * 2 + 4);
    assert!(made.tried.iter().any(|t| t.on_frontier && t.outcome.is_ok()));
    for t in made.tried.iter().filter(|t| t.name.contains("k=500")) {
        assert!(t.outcome.as_ref().is_err_and(|reason| reason.contains("400")), "{}", t.name);
    }
    for (i, a) in made.tried.iter().enumerate().filter(|(_, t)| t.outcome.is_ok()) {
        let beaten =
            |b: &Tried| b.risk() <= a.risk() && b.loss() <= a.loss() && (b.risk(), b.loss()) != (a.risk(), a.loss());
        let is = made.tried.iter().filter(|t| t.outcome.is_ok()).any(beaten);
        assert_eq!(a.on_frontier, !is, "{i}");
    }
    // One command releases any of them, with the same numbers.
    let first = &made.tried[0];
    let released = anonymize(&first.policy, &folder.path().join("one"), &options()).unwrap();
    let metrics = first.outcome.as_ref().unwrap();
    assert_eq!(released.metrics["utility"], metrics["utility"]);
    assert!(!out.join("release").exists() && out.join("compare.html").is_file() && out.join("compare.json").is_file());
    // Only a comparison is replaced.
    assert!(compare(&policy, &vary, &out, &options()).is_err());
    compare(&policy, &vary, &out, &Options { force: true, ..options() }).unwrap();
    fs::remove_file(out.join("compare.json")).unwrap();
    assert!(compare(&policy, &vary, &out, &Options { force: true, ..options() }).is_err());
}

#[test]
fn presets_are_settings_and_say_whose_number_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let out = folder.path().join("presets");
    let made = compare(&policy, &vary(&["preset=trusted-recipient,public-file"]), &out, &options()).unwrap();
    let metrics: Vec<&serde_json::Value> = made.tried.iter().map(|t| t.outcome.as_ref().unwrap()).collect();
    assert_eq!((&metrics[0]["guarantee"]["k"], &metrics[1]["guarantee"]["k"]), (&json!(5), &json!(20)));
    assert_eq!(metrics[1]["guarantee"]["preset"]["max_risk"], "0.05");
    let released = anonymize(&made.tried[1].policy, &folder.path().join("one"), &options()).unwrap();
    let report = fs::read_to_string(released.folder.join("evidence/report.html")).unwrap();
    let source = metrics[1]["guarantee"]["preset"]["source"].as_str().unwrap();
    assert!(report.contains("public-file") && report.contains(source));
    assert!(released.notes.iter().any(|n| n.contains("k = 20") && n.contains(source)));
}

#[test]
fn what_cannot_be_varied_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let message = |all: &[&str]| {
        let out = folder.path().join("out");
        let error = compare(&policy, &vary(all), &out, &options()).unwrap_err();
        assert!(!out.exists());
        error.to_string()
    };
    assert!(message(&["max_supressed=0"]).contains("Did you mean `max_suppressed`?"));
    assert!(message(&["method=latice"]).contains("Available: lattice"));
    assert!(message(&["k=2", "k=3"]).contains("twice"));
    assert!(message(&["k=500,600"]).contains("none of the settings"));
    assert!("k".parse::<Vary>().is_err() && "k=".parse::<Vary>().is_err() && "=3".parse::<Vary>().is_err());
}
