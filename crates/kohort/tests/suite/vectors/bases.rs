//! The honest releases from which vectors are made. The data is synthetic.

use crate::common::tamper::copy;
use kohort::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
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
    const OWN: [Base; 6] = [Base::Table, Base::Patients, Base::Ten, Base::Names, Base::Missing, Base::Overlap];

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
            Base::Corpus(_) => return Vec::new(),
        };
        let mut files = vec![("t.csv", table), ("p.toml", policy)];
        if self == Base::Table {
            files.push(("s.csv", "0;low;*\n1;low;*\n2;high;*\n".into()));
        }
        files
    }
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
