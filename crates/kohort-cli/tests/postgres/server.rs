//! The server of `tests/postgres/run`, a database on it, and a folder with a policy.

use crate::common::{Said, kohort};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run tests/postgres/run"))
}

pub fn port() -> String {
    variable("KOHORT_POSTGRES_PORT")
}

pub fn socket() -> String {
    variable("KOHORT_POSTGRES_SOCKET")
}

/// A database of its own, a folder, and the command run there as a role.
pub struct Clinic {
    pub name: &'static str,
    pub folder: tempfile::TempDir,
}

impl Clinic {
    /// Makes the database `name`, and two roles of this test: one that may read the schema `cdm`, and one that may make
    /// schemas as well.
    pub fn new(name: &'static str) -> Clinic {
        let (reader, writer) = (format!("{name}_reader"), format!("{name}_writer"));
        sql("postgres", &format!("DROP DATABASE IF EXISTS {name}"));
        sql("postgres", &format!("CREATE DATABASE {name}"));
        for role in [&reader, &writer] {
            sql("postgres", &format!("DROP ROLE IF EXISTS {role}"));
            sql("postgres", &format!("CREATE ROLE {role} LOGIN PASSWORD '{role}-word'"));
        }
        let own = Clinic { name, folder: tempfile::tempdir().unwrap() };
        own.sql(&format!(
            "CREATE SCHEMA cdm; GRANT USAGE ON SCHEMA cdm TO {reader}, {writer}; \
             ALTER DEFAULT PRIVILEGES IN SCHEMA cdm GRANT SELECT ON TABLES TO {reader}, {writer}; \
             GRANT CREATE ON DATABASE {name} TO {writer}"
        ));
        own
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn reader(&self) -> String {
        format!("{}_reader", self.name)
    }

    pub fn writer(&self) -> String {
        format!("{}_writer", self.name)
    }

    /// The address of the database for a role.
    pub fn address(&self, role: &str) -> String {
        format!("postgresql://{role}@127.0.0.1:{}/{}", port(), self.name)
    }

    /// Runs statements as the keeper, and returns what they print.
    pub fn sql(&self, text: &str) -> String {
        sql(self.name, text)
    }

    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// The command in the folder, with the passwords of this test's roles in a password file.
    pub fn command(&self, args: &[&str]) -> Command {
        let passwords = self.path().join("passwords");
        let line = |role: String| format!("*:*:*:{role}:{role}-word\n");
        fs::write(&passwords, line(self.reader()) + &line(self.writer())).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&passwords, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let mut command = kohort(self.path());
        for name in ["PGPASSWORD", "PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSSLMODE"] {
            command.env_remove(name);
        }
        command.env("PGPASSFILE", passwords).args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        self.command(args).output().unwrap().into()
    }

    #[track_caller]
    pub fn works(&self, args: &[&str], code: i32) -> Said {
        let said = self.run(args);
        assert_eq!(said.code, Some(code), "{args:?}\n{}", said.all());
        said
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Copies a CSV file into a new table of `cdm`, with these columns.
    pub fn fill(&self, table: &str, columns: &str, csv: &str) {
        self.sql(&format!("CREATE TABLE cdm.{table} ({columns})"));
        let statement =
            format!("\\copy cdm.{table} FROM '{}' WITH (FORMAT csv, HEADER)", self.path().join(csv).display());
        sql(self.name, &statement);
    }

    /// Waits until a connection of Kohort to this database does what is asked for.
    #[track_caller]
    pub fn wait_for(&self, what: &str) {
        let start = Instant::now();
        let ask = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kohort' AND datname = '{}' AND {what}",
            self.name
        );
        while sql("postgres", &ask).trim() == "0" {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing does this: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Runs statements in a database, and returns what they print.
#[track_caller]
pub fn sql(database: &str, text: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "keeper", "-d", database, "-c", text]);
    let output = psql.env("PGHOST", socket()).env("PGPORT", port()).output().unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A table of 900 stays: patients with several, cells without a value, quotes, line ends and letters of all kinds.
pub fn stays() -> String {
    let mut text = String::from("stay,patient,age,sex,ward,dx,note,weight\n");
    for i in 0..900u32 {
        let mix = i.wrapping_mul(2_654_435_761) >> 16;
        let sex = ["F", "M", ""][(mix % 3) as usize];
        let ward = ["north", "South", "Zürich", "\"east, wing\""][(mix / 3 % 4) as usize];
        let dx = ["I10", "E11", "J18", "C50"][(mix / 7 % 4) as usize];
        let note = ["", "\"two\nlines\"", "plain", "\"a \"\"quoted\"\" word\""][(mix / 11 % 4) as usize];
        text += &format!("{i},{},{},{sex},{ward},{dx},{note},{}.5\n", i * 2 / 3, 20 + mix % 60, 50 + mix % 40);
    }
    text
}

/// The columns of these stays, with types.
pub const STAYS: &str =
    "stay integer, patient bigint, age smallint, sex text, ward varchar(20), dx text, note text, weight numeric(5,1)";

/// The columns of a policy for the stays. `person` is the role of the patient's column.
pub fn policy(input: &str, person: &str, method: &str, output: &str) -> String {
    format!(
        "[input]\n{input}\n{output}[columns]\nstay = {{ role = \"identifier\" }}\npatient = {{ role = \"{person}\" }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ intervals = [5, 10, 20], from = 0, to = 100 }}, levels = [1, 2, 3, \"*\"] }}\n\
         sex = {{ role = \"quasi\" }}\nward = {{ role = \"quasi\" }}\ndx = {{ role = \"sensitive\" }}\n\
         note = {{ role = \"other\", reason = \"a test\" }}\nweight = {{ role = \"other\", reason = \"a test\" }}\n\
         [privacy]\nk = 5\n[method]\n{method}\n"
    )
}

pub const LATTICE: &str = "name = \"lattice\"\nmax_suppressed = 0.1";
