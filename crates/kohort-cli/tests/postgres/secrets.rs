//! Passwords come from the environment or a password file, are refused in a policy, and are shown nowhere; connections
//! are encrypted as the address says.

use crate::common::{Said, listing};
use crate::server::{Clinic, LATTICE, STAYS, policy, port, socket, sql, stays};
use std::fs;

fn clinic(name: &'static str) -> Clinic {
    let clinic = Clinic::new(name);
    clinic.write("stays.csv", &stays());
    clinic.fill("stays", STAYS, "stays.csv");
    clinic
}

fn write(clinic: &Clinic, address: &str) {
    clinic
        .write("p.toml", &policy(&format!("database = \"{address}\"\ntable = \"cdm.stays\""), "patient", LATTICE, ""));
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_password_in_a_policy_is_refused() {
    let clinic = clinic("word_in_policy");
    let (reader, port) = (clinic.reader(), port());
    for address in [
        format!("postgresql://{reader}:{reader}-word@127.0.0.1:{port}/{}", clinic.name),
        format!("postgresql://{reader}@127.0.0.1:{port}/{}?password={reader}-word", clinic.name),
    ] {
        write(&clinic, &address);
        for args in
            [&["risk", "p.toml"][..], &["anonymize", "p.toml", "-o", "out"], &["init", &address, "-o", "x.toml"]]
        {
            let said = clinic.works(args, 2);
            assert!(said.err.contains("holds a password") && !said.all().contains("-word"), "{}", said.all());
        }
        clinic.write(
            "p.toml",
            &policy(
                "table = \"stays.csv\"",
                "patient",
                LATTICE,
                &format!("[output]\ndatabase = \"{address}\"\nschema = \"s\"\n"),
            ),
        );
        let said = clinic.works(&["anonymize", "p.toml", "-o", "out"], 2);
        assert!(said.err.contains("holds a password") && !said.all().contains("-word"), "{}", said.all());
    }
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_password_is_found_in_the_environment_and_written_nowhere() {
    let clinic = clinic("word_outside");
    write(&clinic, &clinic.address(&clinic.reader()));
    let word = format!("{}-word", clinic.reader());
    let run = |args: &[&str], password: Option<&str>| -> Said {
        let mut command = clinic.command(args);
        command.env_remove("PGPASSFILE").env("HOME", clinic.path());
        password.iter().for_each(|own| _ = command.env("PGPASSWORD", own));
        command.output().unwrap().into()
    };
    let said = run(&["risk", "p.toml"], None);
    assert!(said.code == Some(2) && said.err.contains("asks for a password"), "{:?} {}", said.code, said.all());
    let said = run(&["risk", "p.toml"], Some("wrong-word"));
    assert!(said.code == Some(2) && said.err.contains("refused the role or its password"), "{}", said.all());
    assert!(!said.all().contains("wrong-word"), "{}", said.all());
    let said = run(&["anonymize", "p.toml", "-o", "out"], Some(&word));
    assert_eq!(said.code, Some(0), "{}", said.all());
    assert!(!said.all().contains(&word));
    for path in listing(&clinic.path().join("out")).iter().filter(|path| path.is_file()) {
        let bytes = fs::read(path).unwrap();
        assert!(!bytes.windows(word.len()).any(|own| own == word.as_bytes()), "{}", path.display());
    }
    // A password file that others can read is refused, as other programs ignore it.
    let file = clinic.path().join(".pgpass");
    fs::write(&file, format!("*:*:*:*:{word}\n")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let said = run(&["risk", "p.toml"], None);
        assert!(said.code == Some(2) && said.err.contains("chmod 600"), "{}", said.all());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(run(&["risk", "p.toml"], None).code, Some(0));
    }
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn a_unix_socket_will_do() {
    let clinic = clinic("by_socket");
    let address = format!("postgresql://{}@/{}?host={}&port={}", clinic.reader(), clinic.name, socket(), port());
    write(&clinic, &address);
    clinic.works(&["risk", "p.toml"], 0);
}

#[test]
#[ignore = "needs a server: tests/postgres/run"]
fn connections_are_encrypted_as_the_address_says() {
    let Ok(root) = std::env::var("KOHORT_POSTGRES_ROOT") else {
        println!("left out: the server has no certificate (no openssl)");
        return;
    };
    let clinic = clinic("encrypted_ways");
    sql("postgres", "DROP ROLE IF EXISTS encrypted");
    sql("postgres", "CREATE ROLE encrypted LOGIN PASSWORD 'word'");
    clinic.sql("GRANT USAGE ON SCHEMA cdm TO encrypted; GRANT SELECT ON ALL TABLES IN SCHEMA cdm TO encrypted");
    let try_as = |host: &str, more: &str| -> Said {
        write(&clinic, &format!("postgresql://encrypted@{host}:{}/{}?{more}", port(), clinic.name));
        clinic.command(&["risk", "p.toml"]).env("PGPASSWORD", "word").output().unwrap().into()
    };
    // The server refuses this role without encryption.
    let said = try_as("127.0.0.1", "sslmode=disable");
    assert!(said.code == Some(2) && said.err.contains("refused the role"), "{}", said.all());
    for mode in ["", "sslmode=prefer", "sslmode=require"] {
        let said = try_as("127.0.0.1", mode);
        assert_eq!(said.code, Some(0), "{mode}: {}", said.all());
    }
    // Its certificate is for `localhost`, and nobody but the file vouches for it.
    let said = try_as("localhost", &format!("sslmode=verify-full&sslrootcert={root}"));
    assert_eq!(said.code, Some(0), "{}", said.all());
    for (host, more) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}")),
        ("localhost", "sslmode=verify-full".to_string()),
    ] {
        let said = try_as(host, &more);
        assert!(matches!(said.code, Some(2 | 4)) && said.err.contains("certificate"), "{host} {more}: {}", said.all());
    }
}
