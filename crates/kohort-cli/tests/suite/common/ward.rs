//! A small ward for every method. Each cell holds a canary: a value that can be told from all other text,
//! so that wherever it turns up, it came from there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where the values of a column may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// Nowhere: identifiers, patients, pseudonyms, excluded rows, leaves of a hierarchy that never occur.
    Nowhere,
    /// In cells of release/ data files, and nowhere else: sensitive values, details, classes, others.
    Released,
    /// In cells of release/ data files, and in the custodian's own report: quasi-identifiers and codes.
    Reported,
}

/// What was planted in a column.
pub struct Planted {
    pub column: &'static str,
    pub seen: Seen,
    pub values: BTreeSet<String>,
}

/// A policy with its data.
pub struct Ward {
    pub method: &'static str,
    /// Name and bytes; the policy is `p.toml`.
    pub files: Vec<(&'static str, String)>,
    pub planted: Vec<Planted>,
}

impl Ward {
    pub fn write(&self, folder: &Path) {
        self.files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    pub fn policy(&self) -> &str {
        &self.files.iter().find(|(name, _)| *name == "p.toml").unwrap().1
    }

    /// All canaries that may be seen nowhere but where `allowed` says.
    pub fn canaries(&self, allowed: &[Seen]) -> impl Iterator<Item = (&'static str, &String)> {
        let own: Vec<&Planted> = self.planted.iter().filter(|p| !allowed.contains(&p.seen)).collect();
        own.into_iter().flat_map(|p| p.values.iter().map(|v| (p.column, v)))
    }
}

/// A ward for each method, of about so many rows.
pub fn wards(rows: usize) -> Vec<Ward> {
    let table = |method, privacy: &str, section: &str| table(method, rows, privacy, section);
    vec![
        table("local", "k = 3\n", "max_suppressed = 0.3\n"),
        table("local", "k = 3\nknows = 2\n", "max_suppressed = 0.1\n"),
        table("local", "k = 3\n", "max_suppressed = 0.3\nlabels = \"range\"\n"),
        table("lattice", "k = 3\nconfidence = 0.9\n", "max_suppressed = 0.3\n"),
        table("specialize", "k = 3\nknows = 2\n", "max_suppressed = 0.1\nobjective = \"class\"\n"),
        table("suppress", "k = 3\nknows = [[\"sex\", \"age\", \"zip\"], [\"sex\", \"day\", \"job\"]]\n", ""),
        table("ceiling", "k = 3\n", "h = \"auto\"\nreal_k = 1\nmax_counterfeits = 0.5\n"),
        table("ceiling", "k = 3\n", "h = \"auto\"\nreal_k = 1\nmax_counterfeits = 0.5\nrecode = \"local\"\n"),
        codes(rows),
        claims(rows),
    ]
}

/// Collects what is planted while rows are written.
#[derive(Default)]
struct Planting(Vec<Planted>);

impl Planting {
    fn plant(&mut self, column: &'static str, seen: Seen, value: String) -> String {
        let at = self.0.iter().position(|p| p.column == column && p.seen == seen).unwrap_or_else(|| {
            self.0.push(Planted { column, seen, values: BTreeSet::new() });
            self.0.len() - 1
        });
        self.0[at].values.insert(value.clone());
        value
    }
}

/// Numbers that look random and are the same each time.
struct Mixer(u64);

impl Mixer {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn table(method: &'static str, rows: usize, privacy: &str, section: &str) -> Ward {
    use Seen::{Nowhere, Released, Reported};
    let (mut all, mut mixer) = (Planting::default(), Mixer(7));
    let mut text = "name,pid,sex,age,zip,day,job,skill,dx,cls,bed,code\n".to_string();
    for i in 0..rows {
        // Every fiftieth row is excluded.
        let gone = i % 50 == 7;
        let (seen, known) = if gone { (Nowhere, Nowhere) } else { (Released, Reported) };
        let mark = if gone { "gone" } else { "" };
        let job = mixer.below(6);
        let cells = [
            all.plant("name", Nowhere, format!("CANARYname{i}x")),
            all.plant("pid", Nowhere, format!("CANARYpid{i}x")),
            all.plant("sex", known, format!("CANARYsex{mark}{}x", mixer.below(2))),
            match gone {
                true => all.plant("age", Nowhere, format!("7990{}", 137 + i)),
                false => all.plant("age", Reported, (7_310_137 + 1000 * mixer.below(60)).to_string()),
            },
            all.plant("zip", known, format!("CANARYzip{}{mark}x", 100 + mixer.below(60))),
            match gone {
                true => all.plant("day", Nowhere, format!("1899-03-{:02}", 1 + i % 28)),
                false => {
                    let day = format!("1931-{:02}-{:02}", 1 + mixer.below(12), 1 + mixer.below(28));
                    all.plant("day", Reported, day)
                }
            },
            all.plant("job", Reported, format!("CANARYjob{job}x")),
            all.plant("skill", seen, format!("CANARYskill{mark}{job}{}x", mixer.below(2))),
            all.plant("dx", Released, format!("CANARYdx{}x", mixer.below(6))),
            all.plant("cls", seen, format!("CANARYcls{mark}{}x", mixer.below(2))),
            all.plant("bed", seen, format!("CANARYbed{mark}{}x", mixer.below(9))),
            if gone { "042".into() } else { "V01".to_string() },
        ];
        text += &(cells.join(",") + "\n");
    }
    let ghost = all.plant("job", Nowhere, "CANARYjobghostx".into());
    let jobs: String = (0..6).map(|j| format!("CANARYjob{j}x;field{};*\n", j / 2)).collect();
    // Only what is listed may be invented.
    let domain = match method {
        "ceiling" => format!(", domain = {:?}", (0..6).map(|d| format!("CANARYdx{d}x")).collect::<Vec<_>>()),
        _ => String::new(),
    };
    let policy = format!(
        "[input]\ntable = \"t.csv\"\n[columns]\nname = {{ role = \"identifier\" }}\npid = {{ role = \"patient\" }}\n\
         sex = {{ role = \"quasi\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [10000, 30000, 90000], from = 7310000, to = 7400000 }} }}\n\
         zip = {{ role = \"quasi\", hierarchy = {{ prefix = [11, 10, 9] }} }}\n\
         day = {{ role = \"quasi\", hierarchy = {{ date = \"%Y-%m-%d\" }} }}\n\
         job = {{ role = \"quasi\", hierarchy = \"job.csv\" }}\n\
         skill = {{ role = \"detail\", of = [\"job\"] }}\n\
         dx = {{ role = \"sensitive\"{domain} }}\ncls = {{ role = \"class\" }}\n\
         bed = {{ role = \"other\", reason = \"a test\" }}\ncode = {{ role = \"other\", reason = \"a test\" }}\n\
         [[exclude]]\ncolumn = \"code\"\ncodes = [\"042\"]\nscope = \"row\"\n\
         [privacy]\n{privacy}[method]\nname = \"{method}\"\n{section}"
    );
    let files = vec![("t.csv", text), ("job.csv", format!("{jobs}{ghost};field9;*\n")), ("p.toml", policy)];
    Ward { method, files, planted: all.0 }
}

fn codes(rows: usize) -> Ward {
    let (mut all, mut mixer) = (Planting::default(), Mixer(8));
    let mut text = "name,pid,dx\n".to_string();
    for i in 0..rows {
        let name = all.plant("name", Seen::Nowhere, format!("CANARYname{i}x"));
        let pid = all.plant("pid", Seen::Nowhere, format!("CANARYpid{i}x"));
        let own: BTreeSet<u64> = (0..1 + mixer.below(5)).map(|_| mixer.below(1 + i as u64 % 90)).collect();
        let own: Vec<String> =
            own.into_iter().map(|c| all.plant("dx", Seen::Reported, format!("CANARYcode{c}x"))).collect();
        text += &format!("{name},{pid},{}\n", own.join(" "));
    }
    let policy = "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\nname = { role = \"identifier\" }\n\
        pid = { role = \"patient\" }\ndx = { role = \"codes\", separator = \" \" }\n[privacy]\nk = 3\nknows = 2\n\
        [method]\nname = \"disassociate\"\n";
    Ward { method: "disassociate", files: vec![("t.csv", text), ("p.toml", policy.into())], planted: all.0 }
}

fn claims(rows: usize) -> Ward {
    use Seen::{Nowhere, Released, Reported};
    let (mut all, mut mixer) = (Planting::default(), Mixer(9));
    let patients_number = rows / 4 + 20;
    let mut patients = "id,name,sex,age,home\n".to_string();
    for i in 0..patients_number {
        let cells = [
            all.plant("id", Nowhere, format!("CANARYid{i}x")),
            all.plant("name", Nowhere, format!("CANARYname{i}x")),
            all.plant("sex", Reported, format!("CANARYsex{}x", mixer.below(2))),
            all.plant("age", Reported, (7_310_137 + 1000 * mixer.below(60)).to_string()),
            all.plant("home", Released, format!("CANARYhome{}x", mixer.below(3))),
        ];
        patients += &(cells.join(",") + "\n");
    }
    let mut claims = "id,day,stay,dx,who,bed,code\n".to_string();
    for i in 0..rows {
        let gone = i % 50 == 7;
        let mark = if gone { "gone" } else { "" };
        let seen = if gone { Nowhere } else { Released };
        let cells = [
            format!("CANARYid{}x", mixer.below(patients_number as u64 - 3)),
            // Months since the first event leave; no day does.
            all.plant("day", Nowhere, format!("1931-{:02}-{:02}", 1 + mixer.below(12), 1 + mixer.below(28))),
            mixer.below(9).to_string(),
            all.plant("dx", Reported, format!("CANARYdx{}x", mixer.below(6))),
            all.plant("who", Nowhere, format!("CANARYwho{}x", mixer.below(40))),
            all.plant("bed", seen, format!("CANARYbed{mark}{}x", mixer.below(5))),
            if gone { "042".into() } else { "401".to_string() },
        ];
        claims += &(cells.join(",") + "\n");
    }
    let ghost = all.plant("dx", Nowhere, "CANARYdxghostx".into());
    let tree: String = (0..6).map(|d| format!("CANARYdx{d}x;field{};*\n", d / 2)).collect();
    let policy = "[input]\npatients = \"t.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\n\
        name = { role = \"identifier\" }\nsex = { role = \"quasi\" }\n\
        age = { role = \"quasi\", hierarchy = { intervals = [10000, 30000, 90000], from = 7310000, to = 7400000 } }\n\
        home = { role = \"other\", reason = \"a test\" }\n[columns.claims]\nid = { role = \"patient\" }\n\
        day = { role = \"quasi\", hierarchy = { months_since = \"first\", date = \"%Y-%m-%d\", groups = [12] } }\n\
        stay = { role = \"quasi\", hierarchy = \"los\" }\ndx = { role = \"quasi\", hierarchy = \"dx.csv\" }\n\
        who = { role = \"pseudonym\", scope = \"patient\" }\nbed = { role = \"other\", reason = \"a test\" }\n\
        code = { role = \"identifier\" }\n[[exclude]]\ntable = \"claims\"\ncolumn = \"code\"\ncodes = [\"042\"]\nscope = \"row\"\n\
        [privacy]\nk = 3\npower = 2\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\ndraws = 1000\n";
    let files = vec![
        ("t.csv", patients),
        ("c.csv", claims),
        ("dx.csv", format!("{tree}{ghost};field9;*\n")),
        ("p.toml", policy.into()),
    ];
    Ward { method: "claims", files, planted: all.0 }
}
