//! Every method says how far it is, and stops soon when its caller asks for it.

use kohort::hospital::{Hospital, policies};
use kohort::methods::Register;
use kohort::pipeline::{Options, anonymize};
use kohort_core::error::Kind;
use kohort_core::table::Progress;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The stages that belong to no method.
const AROUND: [&str; 5] = ["reading", "writing", "verifying", "sampling", "counting"];
/// The time that a method may work before it is stopped.
const WORK: Duration = Duration::from_millis(20);

/// A stage as it was reported: its name, its total, and the steps that were done.
type Reported = (String, u64, u64);

/// Writes down the stages. If asked to, it stops the run a little after a method has begun.
#[derive(Default)]
struct Recorder {
    stages: Mutex<Vec<Reported>>,
    stops: bool,
    began: OnceLock<Instant>,
}

impl Progress for Recorder {
    fn stage(&self, name: &str, total: u64) {
        if !AROUND.contains(&name) {
            self.began.get_or_init(Instant::now);
        }
        self.stages.lock().unwrap().push((name.to_string(), total, 0));
    }

    fn advance(&self, steps: u64) {
        if let Some(stage) = self.stages.lock().unwrap().last_mut() {
            stage.2 += steps;
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stops && self.began.get().is_some_and(|began| began.elapsed() > WORK)
    }
}

fn options(recorder: &Arc<Recorder>) -> Options {
    let progress: Arc<dyn Progress> = recorder.clone();
    Options { force: false, keep_rows: false, seed: Some(1), threads: 2, progress }
}

fn hospital(folder: &Path, rows: u64) {
    let hospital = Hospital { rows, seed: 1 };
    let file = |name: &str| std::io::BufWriter::new(fs::File::create(folder.join(name)).unwrap());
    hospital.write_patients(&mut file("patients.csv")).unwrap();
    hospital.write_discharges(&mut file("discharges.csv")).unwrap();
    hospital.write_conditions(&mut file("conditions.csv")).unwrap();
}

#[test]
fn every_method_reports_a_stage_with_its_length_and_its_steps() {
    let here = tempfile::tempdir().unwrap();
    hospital(here.path(), 2000);
    for (method, text) in policies() {
        let policy = here.path().join(format!("{method}.toml"));
        fs::write(&policy, text).unwrap();
        let recorder = Arc::new(Recorder::default());
        anonymize(&policy, &here.path().join(method), &options(&recorder)).unwrap();
        let stages = recorder.stages.lock().unwrap();
        let before_writing = stages.iter().take_while(|stage| stage.0 != "writing");
        let own: Vec<&Reported> = before_writing.filter(|stage| !AROUND.contains(&stage.0.as_str())).collect();
        assert!(!own.is_empty(), "{method} opens no stage: {stages:?}");
        assert!(own.iter().all(|stage| stage.1 > 0), "{method} opens a stage without a length: {stages:?}");
        assert!(own.iter().any(|stage| stage.2 > 0), "{method} reports no step: {stages:?}");
        assert!(own.iter().all(|stage| stage.2 <= stage.1), "{method} reports more steps than there are: {stages:?}");
    }
}

/// A table of this many rows whose columns have values that hardly repeat, and hierarchies of prefixes.
fn wide(folder: &Path, method: &str, rows: u64, columns: usize, rest: &str) -> String {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let factors = [7919, 104_729, 1_299_709, 15_485_863, 179_424_673, 32_452_843, 49_979_687, 67_867_967];
    let mut table = names[..columns].join(",") + "\n";
    for row in 1..=rows {
        let cells: Vec<String> = factors[..columns].iter().map(|f| format!("{:04}", row * f % 9973)).collect();
        table += &(cells.join(",") + "\n");
    }
    fs::write(folder.join(format!("{method}.csv")), table).unwrap();
    let column = |name: &&str| format!("{name} = {{ role = \"quasi\", hierarchy = {{ prefix = [3, 2, 1] }} }}\n");
    let columns: String = names[..columns].iter().map(column).collect();
    format!("[input]\ntable = \"{method}.csv\"\n[columns]\n{columns}[privacy]\nk = 5\n{rest}")
}

/// A policy by which the method works far longer than it may. On a quiet machine, with optimisation and one thread:
/// lattice, specialize and suppress 2 s and more, ceiling above 20 s; the others about half a second.
fn long_policy(folder: &Path, method: &str) -> String {
    let own = format!("[method]\nname = \"{method}\"\n");
    match method {
        "local" => wide(folder, method, 12_000, 6, &format!("{own}max_suppressed = 0.05\n")),
        "lattice" => wide(folder, method, 8000, 8, &format!("knows = 3\n{own}max_suppressed = 0.05\n")),
        "specialize" => {
            let own = format!("{own}max_suppressed = 0.05\nobjective = \"discernibility\"\n");
            wide(folder, method, 8000, 8, &format!("knows = 3\n{own}"))
        }
        "ceiling" => wide(folder, method, 8000, 8, &format!("{own}h = 0.9\nreal_k = 2\nmax_counterfeits = 0.1\n")),
        "suppress" => {
            let mut table = String::from("a,b,c,d,e,f,g,h,i,j\n");
            let mut random = 1u64;
            for _ in 0..8000 {
                let cells = (0..10).map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((random >> 33) % 12).to_string()
                });
                table += &(cells.collect::<Vec<String>>().join(",") + "\n");
            }
            fs::write(folder.join("suppress.csv"), table).unwrap();
            let columns: String = ('a'..='j').map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect();
            format!("[input]\ntable = \"suppress.csv\"\n[columns]\n{columns}[privacy]\nk = 5\nknows = 4\n{own}")
        }
        // The others work on the hospital's histories and codes.
        _ => policies().find(|(name, _)| *name == method).unwrap().1.to_string(),
    }
}

#[test]
fn every_method_stops_when_it_is_asked_to() {
    let here = tempfile::tempdir().unwrap();
    hospital(here.path(), 25_000);
    for entry in Register::built_in().entries() {
        let method = entry.name;
        let policy = here.path().join(format!("{method}.toml"));
        fs::write(&policy, long_policy(here.path(), method)).unwrap();
        let recorder = Arc::new(Recorder { stops: true, ..Recorder::default() });
        let out = here.path().join(method);
        let error = anonymize(&policy, &out, &options(&recorder)).err().unwrap_or_else(|| panic!("{method} ended"));
        let took = recorder.began.get().unwrap_or_else(|| panic!("{method} opens no stage")).elapsed();
        assert_eq!(error.kind, Kind::Cancelled, "{method}: {error}");
        // On a quiet machine within a second. A busy machine is not a failure; work to the end would be seen.
        assert!(took < WORK + Duration::from_secs(20), "{method} worked for {took:?} more");
        let stages = recorder.stages.lock().unwrap();
        assert!(!stages.iter().any(|stage| stage.0 == "writing"), "{method} was not stopped at its work: {stages:?}");
        assert!(!out.exists(), "{method} left a folder");
    }
}

#[test]
fn a_comparison_counts_its_settings_whatever_the_methods_do() {
    let here = tempfile::tempdir().unwrap();
    hospital(here.path(), 400);
    let policy = here.path().join("policy.toml");
    fs::write(&policy, policies().find(|(name, _)| *name == "local").unwrap().1).unwrap();
    let recorder = Arc::new(Recorder::default());
    let vary = ["k=3,5,10".parse().unwrap()];
    kohort::compare::compare(&policy, &vary, &here.path().join("out"), &options(&recorder)).unwrap();
    let stages = recorder.stages.lock().unwrap();
    let own: Vec<&Reported> = stages.iter().filter(|stage| stage.0 != "reading").collect();
    assert!(own.iter().all(|stage| stage.0 == "comparing" && stage.1 == stage.2), "{stages:?}");
    assert_eq!(own.iter().map(|stage| stage.1).sum::<u64>(), 3, "{stages:?}");
}
