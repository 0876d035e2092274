//! Only the browser that opened the single-use address is answered, and only the studio's folder is touched.

use crate::browser::{closed, studio};
use std::fs;

#[test]
fn without_the_cookie_nothing_is_shown() {
    let here = tempfile::tempdir().unwrap();
    let browser = closed(here.path());
    for path in ["/", "/columns", "/style.css", "/report", "/nothing"] {
        let got = browser.get(path);
        assert_eq!(got.status, 401, "{path}");
        assert!(got.body.contains("press Enter in the terminal"), "{path}");
    }
    assert_eq!(browser.get("/open?token=0123").status, 401);
}

#[test]
fn an_address_opens_once() {
    let here = tempfile::tempdir().unwrap();
    let browser = closed(here.path());
    let address = browser.addresses.new_address().unwrap();
    let path = address.split_once(&browser.port.to_string()).unwrap().1;
    let got = browser.get(path);
    let cookie = got.header("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.starts_with("kohort-"),
        "{cookie}"
    );
    assert_eq!(browser.get(path).status, 401, "the second time");
}

#[test]
fn two_studios_have_cookies_of_different_names() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (a, b) = (studio(a.path()), studio(b.path()));
    let name = |cookie: &str| cookie.split('=').next().unwrap().to_string();
    assert_ne!(name(&a.cookie), name(&b.cookie), "cookies ignore ports");
}

#[test]
fn a_foreign_host_is_misdirected() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    for host in ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "evil.example:80"] {
        let got = browser.send("GET", "/", &[("Host", host), ("Cookie", &browser.cookie)], b"");
        assert_eq!(got.status, 421, "{host}");
    }
}

#[test]
fn a_request_from_another_site_changes_nothing() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    let host = browser.host();
    let base = [
        ("Host", host.as_str()),
        ("Cookie", browser.cookie.as_str()),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ];
    let foreign: [&[(&str, &str)]; 4] =
        [&[("Origin", "http://evil.example")], &[("Origin", "null")], &[], &[("Origin", "http://127.0.0.1:1")]];
    for more in foreign {
        let got = browser.send("POST", "/demo", &[&base[..], more].concat(), b"");
        assert_eq!(got.status, 403, "{more:?}");
    }
    let got = browser.send("GET", "/", &[&base[..], &[("Sec-Fetch-Site", "cross-site")]].concat(), b"");
    assert_eq!(got.status, 403);
    assert!(!here.path().join("hospital.csv").exists());
}

#[test]
fn pages_forbid_inline_script_and_other_hosts() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    let got = browser.get("/");
    let policy = got.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("script-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"));
    assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(got.header("cache-control"), Some("no-store"));
    assert!(!got.body.contains("<script>") && !got.body.contains("style=\"") && !got.body.contains("onclick"));
    assert!(!got.body.contains("http://") && !got.body.contains("https://"), "no other host is named");
}

#[test]
fn only_the_folder_is_read_and_written() {
    let (outside, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret.csv");
    fs::write(&secret, "name,age\nSECRET,1\n").unwrap();
    let browser = studio(here.path());
    let absolute = secret.display().to_string();
    for name in ["../secret.csv", &absolute, ".kohort-studio/lock", "a/../../secret.csv"] {
        assert_eq!(browser.post("/suggest", &[("file", name)]).status, 400, "{name}");
        assert_eq!(browser.post("/policies", &[("name", name)]).status, 400, "{name}");
        assert_eq!(browser.post("/verify", &[("name", name)]).status, 400, "{name}");
        assert_eq!(browser.drop_file(&name.replace('/', "%2F"), b"x").status, 400, "{name}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, here.path().join("link.csv")).unwrap();
        assert_eq!(browser.post("/suggest", &[("file", "link.csv")]).status, 400);
        assert!(!browser.get("/").body.contains("link.csv"));
    }
    // A policy that names a table outside is not opened.
    let policy = format!(
        "[input]\ntable = \"{absolute}\"\n[columns]\nname = {{ role = \"identifier\" }}\nage = {{ role = \"quasi\" }}\n"
    );
    fs::write(here.path().join("p.toml"), policy).unwrap();
    let got = browser.post("/policies", &[("name", "p.toml")]);
    assert_eq!(got.status, 400);
    assert!(got.body.contains("outside the studio") && !got.body.contains("SECRET"), "{}", got.body);
}

/// A policy about a table of this name.
fn policy_of(input: &str) -> String {
    format!("[input]\n{input}\n[columns]\nage = {{ role = \"quasi\" }}\n[privacy]\nk = 2\n")
}

/// Refuses a policy wherever it comes from: opened, or edited outside the studio while it is open.
#[cfg(unix)]
#[track_caller]
fn is_refused(browser: &crate::browser::Browser, here: &std::path::Path, policy: &str, words: &str) {
    fs::write(here.join("own.csv"), "age\n1\n1\n2\n2\n").unwrap();
    fs::write(here.join("open.toml"), policy_of("table = \"own.csv\"")).unwrap();
    if browser.post("/policies", &[("name", "open.toml")]).header("location") == Some("/job") {
        browser.finished("/policies");
    }
    fs::write(here.join("other.toml"), policy).unwrap();
    assert_eq!(browser.post("/policies", &[("name", "other.toml")]).status, 400, "opened: {policy}");
    fs::write(here.join("open.toml"), policy).unwrap();
    for action in ["/risk", "/release", "/explore", "/count"] {
        let fields = [("k", "2"), ("method", "lattice"), ("suppressed", "0.05")];
        let got = browser.post(action, &fields);
        let body = if got.status == 303 { browser.finished(action).body } else { got.body };
        assert!(body.contains(words), "{action}: {policy}: {body}");
        assert!(!body.contains("there is no Parquet file"), "{action} looked outside: {policy}");
    }
    assert!(!here.join("open-release").exists());
}

#[cfg(unix)]
#[test]
fn patterns_and_folders_of_parts_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let both = tempfile::tempdir().unwrap();
    let (here, outside) = (both.path().join("in"), both.path().join("out"));
    fs::create_dir(&here).unwrap();
    let browser = studio(&here);
    for folder in [&outside, &here.join("parts"), &here.join("rows"), &here.join("earlier")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(outside.join("a.parquet"), "SECRET").unwrap();
    fs::create_dir_all(outside.join("evidence")).unwrap();
    fs::write(outside.join("evidence/metrics.json"), "{}").unwrap();
    symlink(outside.join("a.parquet"), here.join("parts/a.parquet")).unwrap();
    symlink(&outside, here.join("rows/year=2024")).unwrap();
    symlink(outside.join("evidence"), here.join("earlier/evidence")).unwrap();
    let absolute = outside.display();
    for input in [
        "table = \"../out/*.parquet\"",
        "table = \"../out\"",
        "table = \"parts/../../out/*.parquet\"",
        "table = \"../*/*.parquet\"",
        "table = \"parts\"",
        "table = \"parts/*.parquet\"",
        "table = \"rows\"",
        "table = \"rows/*/*.parquet\"",
        "folder = \"..\"\ntable = \"out/*.parquet\"",
        "patients = \"own.csv\"\nclaims = \"../out/*.parquet\"",
        "patients = \"own.csv\"\nevents = { visits = \"parts\" }",
        &format!("table = \"{absolute}/*.parquet\""),
    ] {
        is_refused(&browser, &here, &policy_of(input), "outside the studio");
    }
    let own = policy_of("table = \"own.csv\"");
    is_refused(&browser, &here, &format!("{own}[population]\ncounts = \"../out/*.parquet\"\n"), "outside the studio");
    is_refused(&browser, &here, &format!("{own}[evidence]\nbaseline = \"earlier\"\n"), "outside the studio");
}

#[cfg(unix)]
#[test]
fn a_database_is_for_the_command_line() {
    let here = tempfile::tempdir().unwrap();
    let policy = policy_of("database = \"x\"\ntable = \"own\"");
    is_refused(&studio(here.path()), here.path(), &policy, "policy reads a database");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    assert_eq!(browser.drop_file("t.csv", b"a,b\n1,2\n").status, 201);
    browser.work("/demo", &[]);
    let mode = |name: &str| fs::metadata(here.path().join(name)).unwrap().permissions().mode() & 0o777;
    for name in ["t.csv", "hospital.csv", "policy.toml"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode(".kohort-studio"), 0o700);
    let revision = browser.revision("/risk");
    let fields = [("revision", &revision[..]), ("preset", ""), ("k", "5"), ("method", "lattice")];
    assert_eq!(browser.post("/privacy", &fields).status, 303);
    browser.work("/explore", &[("k", "5"), ("method", "lattice"), ("suppressed", "0.05")]);
    browser.work("/setting", &[("place", "0")]);
    let own = fs::read_dir(here.path().join(".kohort-studio")).unwrap().flatten();
    let left: Vec<String> = own.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.contains("kohort-")), "nothing of a setting stays behind: {left:?}");
    browser.work("/release", &[]);
    browser.work("/sign", &[]);
    browser.work("/archive", &[]);
    for (name, expected) in [
        ("policy-compare", 0o700),
        ("policy-release", 0o700),
        ("policy-release/evidence", 0o700),
        ("kohort-key", 0o600),
        ("policy-release.tar.gz", 0o600),
    ] {
        assert_eq!(mode(name), expected, "{name}");
    }
}
