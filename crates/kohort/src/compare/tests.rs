use super::*;
use crate::evidence::metrics::TableMetrics;
use crate::evidence::{Metrics, TableOutlook};
use crate::pipeline::anonymize;
use kohort_core::table::Silent;
use std::sync::Arc;

const POLICY: &str = "[input]\ntable = \"t.csv\"\n[columns]\nage = { role = \"quasi\", hierarchy = { from = 0, to = 100, step = 5 } }\n\
    sex = { role = \"quasi\" }\nill = { role = \"identifier\" }\n[privacy]\nmax_risk = 0.5\n[method]\nname = \"lattice\"\nmax_suppressed = 0.1\n";

#[track_caller]
fn table_outlook(outlook: &Outlook) -> &TableOutlook {
    let Outlook::Table(own) = outlook else { panic!("not of a table") };
    own
}

#[track_caller]
fn of_table(metrics: &Metrics) -> &TableMetrics {
    let Metrics::Table(own) = metrics else { panic!("not of a table") };
    own
}

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
        let beaten = |b: &MeasuredSetting| {
            b.risk() <= a.risk() && b.loss() <= a.loss() && (b.risk(), b.loss()) != (a.risk(), a.loss())
        };
        let is = made.tried.iter().filter(|t| t.outcome.is_ok()).any(beaten);
        assert_eq!(a.on_frontier, !is, "{i}");
    }
    // One command releases any of them, with the same numbers.
    let first = &made.tried[0];
    let released = anonymize(first.policy.as_ref().unwrap(), &folder.path().join("one"), &options()).unwrap();
    let metrics = first.outcome.as_ref().unwrap();
    assert_eq!(of_table(&released.metrics).utility, table_outlook(metrics).utility);
    assert!(!out.join("release").exists() && out.join("compare.html").is_file() && out.join("compare.json").is_file());
    // Only a comparison is replaced.
    assert!(compare(&policy, &vary, &out, &options()).is_err());
    compare(&policy, &vary, &out, &Options { force: true, ..options() }).unwrap();
    // What cannot be made leaves what was made before, and nothing beside it.
    let old = fs::read(out.join("compare.json")).unwrap();
    let none = self::vary(&["k=500"]);
    assert!(compare(&policy, &none, &out, &Options { force: true, ..options() }).is_err());
    assert_eq!(fs::read(out.join("compare.json")).unwrap(), old);
    let hidden = fs::read_dir(folder.path())
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0);
    // Without the list of what Kohort made, the folder is somebody else's.
    fs::remove_file(out.join(".kohort")).unwrap();
    assert!(compare(&policy, &vary, &out, &Options { force: true, ..options() }).is_err());
}

#[test]
fn presets_are_settings_and_say_whose_number_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let out = folder.path().join("presets");
    let made = compare(&policy, &vary(&["preset=trusted-recipient,public-file"]), &out, &options()).unwrap();
    let outlooks: Vec<&TableOutlook> = made.tried.iter().map(|t| table_outlook(t.outcome.as_ref().unwrap())).collect();
    assert_eq!((outlooks[0].guarantee.k, outlooks[1].guarantee.k), (5, 20));
    let preset = outlooks[1].guarantee.preset.as_ref().unwrap();
    assert_eq!(preset.max_risk.as_deref(), Some("0.05"));
    let released = anonymize(made.tried[1].policy.as_ref().unwrap(), &folder.path().join("one"), &options()).unwrap();
    let report = fs::read_to_string(released.folder.join("evidence/report.html")).unwrap();
    let source = preset.source.as_str();
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
    assert!(message(&["method=latice"]).contains("Available: local"));
    assert!(message(&["k=2", "k=3"]).contains("twice"));
    assert!(message(&["k=500,600"]).contains("none of the settings"));
    assert!("k".parse::<Vary>().is_err() && "k=".parse::<Vary>().is_err() && "=3".parse::<Vary>().is_err());
}

#[test]
fn what_a_setting_is_said_to_be_like_its_release_is() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let out = folder.path().join("all");
    let vary = vary(&["k=3,12", "method=lattice,specialize,suppress", "knows=1,2"]);
    let made = compare(&policy, &vary, &out, &options()).unwrap();
    for (i, t) in made.tried.iter().enumerate() {
        let released = anonymize(t.policy.as_ref().unwrap(), &folder.path().join(i.to_string()), &options());
        match (&t.outcome, released) {
            (Ok(said), Ok(released)) => {
                let (said, released) = (table_outlook(said), of_table(&released.metrics));
                assert_eq!(said.utility, released.utility, "{}", t.name);
                assert_eq!(said.risk.after, released.risk.after, "{}", t.name);
                assert_eq!(said.rows, released.rows, "{}", t.name);
            }
            (Err(said), Err(error)) => assert_eq!(*said, error.to_string(), "{}", t.name),
            (said, released) => panic!("{}: {said:?}, but {released:?}", t.name),
        }
    }
    assert!(made.tried.iter().filter(|t| t.outcome.is_ok()).count() > 6);
}

#[test]
fn codes_are_compared_with_what_is_never_released() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..300).map(|i| format!("250.{} 401.{} {}\n", i % 3, i % 5, 300 + i % 11)).collect();
    fs::write(folder.path().join("t.csv"), format!("dx\n{rows}")).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\ndx = { role = \"codes\", separator = \" \" }\n\
                [privacy]\nk = 3\nknows = 2\n[method]\nname = \"disassociate\"\nconstraints = { siblings = 3 }\n";
    fs::write(&policy, text).unwrap();
    let out = folder.path().join("codes");
    let vary = vary(&["method=disassociate,cba,apriori", "k=3,5"]);
    let made = compare(&policy, &vary, &out, &options()).unwrap();
    assert_eq!(made.tried.iter().filter(|t| t.is_baseline()).count(), 4);
    for t in &made.tried {
        let [sets, pairs, constraints] = t.errors().unwrap();
        assert!(sets.is_some() && pairs.is_some() && constraints.is_some(), "{}", t.name);
        assert!(!t.is_baseline() || !t.on_frontier && !t.is_knee);
    }
    assert_eq!(fs::read_dir(out.join("policies")).unwrap().count(), 2);
    let released = anonymize(made.tried[0].policy.as_ref().unwrap(), &folder.path().join("one"), &options()).unwrap();
    let said = made.tried[0].outcome.as_ref().unwrap();
    let (Outlook::Codes(said), Metrics::Codes(released)) = (said, &released.metrics) else { panic!("not of codes") };
    assert_eq!(said.utility.frequent, released.utility.frequent);
    assert_eq!(said.rows, released.rows);
    let page = fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("never released") && page.contains(&out.join("policies/001.toml").display().to_string()));
    // A table has no such baselines.
    let policy = table(folder.path());
    assert!(compare(&policy, &self::vary(&["method=cba"]), &folder.path().join("x"), &options()).is_err());
}

/// The first command of the guide, on a policy that says nothing of `ceiling`.
#[test]
fn what_a_method_must_be_told_is_filled_in_and_said() {
    let text = "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\n[privacy]\nk = 3\n[method]\nname = \"lattice\"\n";
    let section = Section::parse("p.toml", text).unwrap();
    let settings = vary::settings(&section, &vary(&["method=lattice,ceiling", "k=4,5"])).unwrap();
    let names: Vec<&str> = settings.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names[2], "method=ceiling k=4 h=auto max_counterfeits=0.05 real_k=2");
    assert_eq!(names[3], "method=ceiling k=5 h=auto max_counterfeits=0.05 real_k=3");
}

#[test]
fn settings_are_told_as_soon_as_they_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let told = std::sync::Mutex::new(Vec::new());
    let out = folder.path().join("side by side");
    let watch = |early: EarlySetting| told.lock().unwrap().push(early);
    let made = compare_watched(&policy, &vary(&["k=2,20,500"]), &out, &options(), &watch).unwrap();
    let mut told = told.into_inner().unwrap();
    told.sort_by_key(|early| early.place);
    assert_eq!(told.iter().map(|early| early.place).collect::<Vec<_>>(), [0, 1, 2]);
    for (early, t) in told.iter().zip(&made.tried) {
        assert_eq!((&early.name, early.of), (&t.name, 3));
        assert_eq!(early.risk_and_loss, t.risk().zip(t.loss()), "{}", t.name);
    }
    assert!(told[2].risk_and_loss.is_none(), "500 of 400 records");
}

#[test]
fn a_comparison_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let policy = table(folder.path());
    let out = folder.path().join("side by side");
    let made = compare(&policy, &vary(&["k=2,20,500"]), &out, &options()).unwrap();
    let again = read(&out).unwrap();
    assert_eq!(again.len(), 3);
    for (own, t) in again.iter().zip(&made.tried) {
        assert_eq!((&own.name, &own.policy, own.on_frontier), (&t.name, &t.policy, t.on_frontier));
        match (&own.outcome, &t.outcome) {
            (Ok(own), Ok(outlook)) => {
                assert_eq!((own.risk, own.loss), (t.risk(), t.loss()));
                assert_eq!(own.removed, outlook.rows().suppressed.known());
            }
            (Err(own), Err(reason)) => assert_eq!(own, reason),
            other => panic!("{other:?}"),
        }
    }
    fs::write(out.join("compare.json"), "{\"settings\": 3}").unwrap();
    assert!(read(&out).is_err());
}
