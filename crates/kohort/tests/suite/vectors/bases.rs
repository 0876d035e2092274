//! The honest releases from which vectors are made. The data is synthetic.

use crate::common::tamper::copy;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::{ParquetWriter, Silent};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An honest release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// A table in which every row is a person, with every requirement on a sensitive column.
    Table,
    /// A table in which patients have several rows, with a limit on a sensitive column.
    Patients,
    /// Ten rows of ten patients who look the same.
    Ten,
    /// A table with a column of names that somebody forgot.
    Names,
    /// A class whose sensitive values are all missing.
    Missing,
    /// Single suppressed cells that overlap other labels, and patients.
    Overlap,
    /// Thirty rows: as many are never in the order of the original by chance.
    Thirty,
    /// A folder of Parquet parts.
    Parts,
    /// Clusters of codes with quasi-identifiers beside them.
    Demographics,
    /// Three tables of events.
    ThreeTables,
    /// Events, where two columns that belong together may be known.
    Pairs,
    /// Synthetic records, without which the limits on sensitive values may not hold.
    Shown,
    /// A column whose name is markup.
    Markup,
    /// Codes that look like repeats of a sensitive one.
    Repeats,
    /// A quasi-identifier of one value, by an objective to which it makes no difference.
    OneValue,
    /// Twenty-two quasi-identifiers.
    Wide,
    /// The policies of the fuzzer's corpus, by their names.
    Corpus(&'static str),
}

/// The releases, made once.
pub struct Bases(tempfile::TempDir);

const CORPUS: [&str; 12] = [
    "ceiling",
    "claims",
    "claims-total",
    "disassociate",
    "gzip",
    "lattice",
    "local",
    "long",
    "parquet",
    "samples",
    "specialize",
    "suppress",
];

impl Base {
    const OWN: [Base; 16] = [
        Base::Table,
        Base::Patients,
        Base::Ten,
        Base::Names,
        Base::Missing,
        Base::Overlap,
        Base::Thirty,
        Base::Parts,
        Base::Demographics,
        Base::ThreeTables,
        Base::Pairs,
        Base::Shown,
        Base::Markup,
        Base::Repeats,
        Base::OneValue,
        Base::Wide,
    ];

    fn name(self) -> String {
        match self {
            Base::Corpus(name) => format!("corpus-{name}"),
            own => format!("{own:?}").to_lowercase(),
        }
    }

    /// The files of its policy: p.toml and the data.
    fn files(self) -> Vec<(&'static str, String)> {
        let lattice = "[method]\nname = \"lattice\"\nmax_suppressed = 0\n";
        let policy = |columns: &str, privacy: &str, method: &str| {
            format!("[input]\ntable = \"t.csv\"\n[columns]\n{columns}\n[privacy]\n{privacy}\n{method}")
        };
        let (table, policy) = match self {
            Base::Table => (
                "q,r,d,s,o\na,1,x,0,k\na,1,x,1,k\na,1,x,2,k\nb,2,y,0,k\nb,2,y,1,k\nb,2,y,2,k\n".to_string(),
                policy(
                    "q = { role = \"quasi\" }\nr = { role = \"quasi\" }\nd = { role = \"detail\", of = [\"q\"] }\n\
                     s = { role = \"sensitive\", hierarchy = \"s.csv\", values = [\"0\"] }\n\
                     o = { role = \"other\", reason = \"a test\" }",
                    "k = 3\nknows = [[\"q\"], [\"q\", \"r\"]]\nconfidence = 0.5\nl_diversity = { recursive = [2, 2] }\n\
                     t_closeness = { max = 0.5, distance = \"hierarchical\" }",
                    lattice,
                ),
            ),
            Base::Patients => (
                "pid,q,s\n1,a,flu\n1,a,flu\n2,a,hiv\n3,b,flu\n3,b,flu\n4,b,tb\n".to_string(),
                policy(
                    "pid = { role = \"patient\" }\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }",
                    "k = 2\nconfidence = 0.5",
                    lattice,
                ),
            ),
            Base::Ten => (
                "pid,q,s\n".to_string() + &(0..10).map(|i| format!("{i},a,s{i}\n")).collect::<String>(),
                policy(
                    "pid = { role = \"patient\" }\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }",
                    "k = 10\nconfidence = 0.1",
                    lattice,
                ),
            ),
            Base::Names => (
                "q,full_name\na,Ann\na,Bob\nb,Cid\nb,Dea\n".to_string(),
                policy(
                    "q = { role = \"quasi\" }\nfull_name = { role = \"other\", reason = \"a mistake\" }",
                    "k = 2",
                    lattice,
                ),
            ),
            Base::Missing => (
                "q,s\na,\na,\na,\nb,flu\nb,hiv\nb,tb\n".to_string(),
                policy(
                    "q = { role = \"quasi\" }\ns = { role = \"sensitive\" }",
                    "k = 3\nl_diversity = { distinct = 3 }",
                    lattice,
                ),
            ),
            Base::Overlap => (
                "pid,q,s\np1,a0,hiv\np2,a0,flu\np3,a1,hiv\np2,a2,flu\n".to_string(),
                policy(
                    "pid = { role = \"patient\" }\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }",
                    "k = 2\nconfidence = 0.5",
                    "[method]\nname = \"suppress\"\n",
                ),
            ),
            Base::Thirty => (
                "q,o\n".to_string()
                    + &(0..30).map(|i| format!("{},{}\n", ["a", "b"][i % 2], i % 3)).collect::<String>(),
                policy("q = { role = \"quasi\" }\no = { role = \"other\", reason = \"a test\" }", "k = 3", lattice),
            ),
            Base::Parts => (
                // The table is written as Parquet.
                String::new(),
                policy("q = { role = \"quasi\" }\no = { role = \"other\", reason = \"a test\" }", "k = 3", lattice)
                    .replace("t.csv", "parts"),
            ),
            Base::Demographics => (
                "pid,sex,dx\n".to_string()
                    + &(0..12).map(|i| format!("{i},{},401 {}\n", ["f", "m"][i % 2], 250 + i / 2 % 2)).collect::<String>(),
                policy(
                    "pid = { role = \"patient\" }\nsex = { role = \"quasi\" }\ndx = { role = \"codes\", separator = \" \" }",
                    "k = 2\nknows = 1",
                    "[method]\nname = \"disassociate\"\nmax_demographic_loss = 0.5\n",
                )
                .replace("\n[columns]", "\nlayout = \"list\"\n[columns]"),
            ),
            Base::Repeats => (
                "pid,dx\n".to_string()
                    + &(0..12).map(|i| format!("{i},401 {}\n", ["b", "b#2", "272"][i % 3])).collect::<String>(),
                policy(
                    "pid = { role = \"patient\" }\ndx = { role = \"codes\", separator = \" \" }",
                    "k = 2\nknows = 2",
                    "[method]\nname = \"disassociate\"\nmultiset = true\nsensitive = [\"b\"]\n",
                )
                .replace("\n[columns]", "\nlayout = \"list\"\n[columns]"),
            ),
            Base::ThreeTables | Base::Pairs => return self.files_of_events(),
            Base::Shown => (
                "age,dx\n".to_string()
                    + &(0..12).map(|i| format!("{},d{}\n", i / 4, i / 4)).collect::<String>(),
                policy(
                    "age = { role = \"quasi\", levels = [\"value\"] }\n\
                     dx = { role = \"sensitive\", domain = [\"d0\", \"d1\", \"d2\"] }",
                    "k = 3\nl_diversity = { distinct = 2 }",
                    "[method]\nname = \"ceiling\"\nh = \"auto\"\nreal_k = 2\nmax_counterfeits = 1\nlimits = \"shown\"\n",
                ),
            ),
            Base::Markup => (
                "<b>q</b>,o\na,x\na,x\nb,x\nb,x\n".to_string(),
                policy(
                    "\"<b>q</b>\" = { role = \"quasi\" }\no = { role = \"other\", reason = \"a test\" }",
                    "k = 2",
                    lattice,
                ),
            ),
            Base::OneValue => (
                "q,r\nUS,a\nUS,a\nUS,b\n".to_string(),
                policy(
                    "q = { role = \"quasi\" }\nr = { role = \"quasi\" }",
                    "k = 3",
                    "[method]\nname = \"lattice\"\nmax_suppressed = 0\nobjective = \"class_size\"\n",
                ),
            ),
            Base::Wide => {
                let line = |of: fn(usize) -> String| (0..22).map(of).collect::<Vec<_>>().join(",") + "\n";
                let columns = (0..22).map(|c| format!("c{c} = {{ role = \"quasi\" }}\n")).collect::<String>();
                let rows = line(|_| "x".into()).repeat(6);
                (line(|c| format!("c{c}")) + &rows, policy(&columns, "k = 3\nknows = 2", lattice))
            }
            Base::Corpus(_) => return Vec::new(),
        };
        let mut files = vec![("t.csv", table), ("p.toml", policy)];
        if self == Base::Table {
            files.push(("s.csv", "0;low;*\n1;low;*\n2;high;*\n".into()));
        }
        files
    }

    /// The files of a policy for patients and events.
    fn files_of_events(self) -> Vec<(&'static str, String)> {
        let lines =
            |header: &str, of: &dyn Fn(usize) -> String| (0..12).fold(header.to_string() + "\n", |t, i| t + &of(i));
        let patients = ("t.csv", lines("id,sex", &|i| format!("{i},f\n")));
        let (input, columns, privacy) = match self {
            Base::ThreeTables => (
                "[input.events]\nvisits = \"v.csv\"\nconditions = \"c.csv\"\ndrugs = \"d.csv\"\n",
                "[columns.visits]\nid = { role = \"patient\" }\nplace = { role = \"quasi\" }\n\
                 [columns.conditions]\nid = { role = \"patient\" }\ncode = { role = \"quasi\" }\n\
                 [columns.drugs]\nid = { role = \"patient\" }\nname = { role = \"quasi\" }\n",
                "power_total = 2\nmax_high_risk = 0",
            ),
            _ => (
                "claims = \"c.csv\"\n",
                "[columns.claims]\nid = { role = \"patient\" }\nplace = { role = \"quasi\" }\ncode = { role = \"quasi\" }\n",
                "power = 1\nknowledge = \"pairs\"\nmax_high_risk = 0.1",
            ),
        };
        let policy = format!(
            "[input]\npatients = \"t.csv\"\n{input}[columns.patients]\nid = {{ role = \"patient\" }}\n\
             sex = {{ role = \"quasi\" }}\n{columns}[privacy]\nk = 3\n{privacy}\n\
             [method]\nname = \"claims\"\n"
        );
        let conditions: (&str, &dyn Fn(usize) -> String) = match self {
            Base::ThreeTables => ("id,code", &|i| format!("{i},{}\n", ["401", "250"][i % 2])),
            _ => ("id,place,code", &|i| format!("{i},ward,{}\n", ["401", "250"][i % 2])),
        };
        vec![
            patients,
            ("c.csv", lines(conditions.0, conditions.1)),
            ("v.csv", lines("id,place", &|i| format!("{i},ward\n{i},home\n"))),
            ("d.csv", lines("id,name", &|i| if i % 2 == 0 { format!("{i},aspirin\n") } else { String::new() })),
            ("p.toml", policy),
        ]
    }
}

/// Writes rows of `q` and `o` as a Parquet file.
pub fn parquet(rows: &[[&str; 2]]) -> Vec<u8> {
    let columns: Vec<_> = ["q", "o"].map(|name| (name.to_string(), None)).into();
    let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
    rows.iter().for_each(|row| out.row(row.iter().map(|cell| cell.as_bytes())).unwrap());
    out.finish().unwrap()
}

impl Bases {
    /// Makes every release.
    pub fn make() -> Bases {
        let bases = Bases(tempfile::tempdir().unwrap());
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kohort-fuzz/corpus/policies");
        let options = Options { force: false, keep_rows: true, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
        for base in Base::OWN.into_iter().chain(CORPUS.map(Base::Corpus)) {
            let policy = bases.policy(base);
            match base {
                Base::Corpus(name) => copy(&corpus.join(name), &policy),
                own => {
                    fs::create_dir_all(&policy).unwrap();
                    own.files().into_iter().for_each(|(name, text)| fs::write(policy.join(name), text).unwrap());
                    if own == Base::Parts {
                        fs::create_dir_all(policy.join("parts")).unwrap();
                        fs::remove_file(policy.join("t.csv")).unwrap();
                        fs::write(policy.join("parts/1.parquet"), parquet(&[["a", "x"]; 3])).unwrap();
                        fs::write(policy.join("parts/2.parquet"), parquet(&[["b", "x"]; 3])).unwrap();
                    }
                }
            }
            let out = bases.0.path().join(format!("{}-out", base.name()));
            anonymize(&policy.join("p.toml"), &out, &options).unwrap_or_else(|error| panic!("{base:?}: {error}"));
            let _ = fs::remove_dir_all(out.join("evidence"));
            let _ = fs::remove_file(out.join(".kohort"));
        }
        bases
    }

    /// The folder of a policy with its data.
    pub fn policy(&self, base: Base) -> PathBuf {
        self.0.path().join(base.name())
    }

    /// The folder of a release: DIR, or the first sample in it.
    pub fn release(&self, base: Base) -> PathBuf {
        let out = self.0.path().join(format!("{}-out", base.name()));
        let sample = out.join("sample-1");
        if sample.exists() { sample } else { out }
    }
}
