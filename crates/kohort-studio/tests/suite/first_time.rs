//! The first-time path on the demo's hospital, from an empty folder to a release that is verified, tampered with and
//! refused.

use crate::browser::{Browser, studio};
use std::fs;

/// Sets k on the risk page.
fn ask_for(browser: &Browser, k: &str) {
    let revision = browser.revision("/risk");
    let got = browser.post(
        "/privacy",
        &[("revision", &revision), ("preset", ""), ("k", k), ("knows", "all"), ("method", "lattice")],
    );
    assert_eq!(got.status, 303, "{}", got.body);
}

#[test]
fn from_an_empty_page_to_a_verified_release() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    assert!(browser.get("/").body.contains("Open the demo hospital"));

    let columns = browser.work("/demo", &[]);
    assert!(columns.body.contains("<h1>Columns</h1>") && columns.body.contains("2,000 rows"), "{}", columns.body);
    assert!(
        columns.body.contains("Names the person") && columns.body.contains("kohort init hospital.csv -o policy.toml")
    );
    // Every column has its profile, its histogram, and the suggestion with its reason; what is uncertain is on top.
    let has = |what: &str| columns.body.matches(what).count();
    assert_eq!((has("class=\"facts-line\""), has("class=\"chart spark\""), has("class=\"why\"")), (15, 15, 15));
    assert!(columns.body.find("Please check: ").unwrap() < columns.body.find("Clear: ").unwrap());
    assert!(!columns.body.contains("about 2,"), "no column has more values than rows: {}", columns.body);

    let number = browser.column("ward");
    let revision = browser.revision("/columns");
    let save = |reason: &str| {
        browser.post("/columns", &[("revision", &revision), ("column", &number), ("role", "other"), ("reason", reason)])
    };
    assert_eq!(save("").status, 400, "a reason is asked for");
    assert_eq!(save("not known outside").status, 303);
    assert!(fs::read_to_string(here.path().join("policy.toml")).unwrap().contains("reason = \"not known outside\""));
    assert!(browser.get("/columns").body.contains("What changed in the policy"), "the change is shown");

    let risk = browser.work("/risk", &[]);
    for part in
        ["are unique", "How few columns are enough", "What each column adds", "Any 2 of them at once", "a neighbour"]
    {
        assert!(risk.body.contains(part), "{part}: {}", risk.body);
    }
    assert!(browser.get("/hierarchies").body.contains("alone with their label"));
    assert!(browser.get("/release").body.contains("k is not chosen yet"));
    ask_for(&browser, "5");

    let released = browser.work("/release", &[]);
    assert!(released.body.contains("Released and verified"), "{}", released.body);
    assert!(released.body.contains("kohort anonymize policy.toml"));
    let folder = here.path().join("policy-release");
    assert!(folder.join("release/certificate.json").is_file());
    let report = browser.get("/report");
    assert!(
        report.body.contains("Release report") && report.header("content-security-policy").unwrap().contains("sandbox")
    );
    assert!(browser.get("/certificate").body.contains("kohort-certificate"));

    let signed = browser.work("/sign", &[]);
    assert!(signed.body.contains("it is signed"), "{}", signed.body);
    assert!(here.path().join("kohort-key.pub").is_file() && folder.join("release/certificate.json.sig").is_file());

    // The archive comes back as a release.
    let archive = browser.work("/archive", &[]);
    assert_eq!(archive.status, 200);
    assert!(here.path().join("policy-release.tar.gz").is_file());
    let verified = browser.work("/verify", &[("name", "policy-release.tar.gz")]);
    assert!(verified.body.contains("<p class=\"stamp\">Verified"), "{}", verified.body);
    let verified = browser.work("/verify", &[("name", "policy-release"), ("original", "yes"), ("attack", "yes")]);
    assert!(
        verified.body.contains("Compared with the original data") && verified.body.contains("Attacks"),
        "{}",
        verified.body
    );

    // Tampered with, it is refused in words.
    let data = folder.join("release/data.csv");
    let text = fs::read_to_string(&data).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&data, text.replacen(last, "", 1)).unwrap();
    let refused = browser.work("/verify", &[("name", "policy-release")]);
    assert!(refused.body.contains("<p class=\"stamp\">Refused</p>"), "{}", refused.body);
}

#[test]
fn settings_are_tried_looked_at_and_chosen() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    ask_for(&browser, "5");
    let tried = browser.work("/explore", &[("k", "3, 11"), ("method", "lattice"), ("suppressed", "0.05")]);
    assert!(tried.body.contains("viewBox") && tried.body.contains("k = 11"), "{}", tried.body);
    let looked = browser.work("/setting", &[("place", "0")]);
    assert!(looked.body.contains("1, original") && looked.body.contains("1, released"), "{}", looked.body);
    assert!(looked.body.contains("Who is suppressed") && looked.body.contains("before and after"), "{}", looked.body);
    assert!(browser.get("/setting/report").body.contains("Release report"));
    assert!(!here.path().join("policy-release").exists(), "nothing was released");
    let revision = browser.revision("/policy");
    let got = browser.post("/choose", &[("place", "1"), ("revision", &revision)]);
    assert_eq!((got.status, got.header("location")), (303, Some("/release")));
    assert!(fs::read_to_string(here.path().join("policy.toml")).unwrap().contains("\nk = 11\n"));
}

#[test]
fn values_are_hidden_until_asked_for_and_never_in_titles_or_addresses() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    let table = "id,city\n1,CANARY-ville\n2,CANARY-ville\n3,CANARY-ton\n4,CANARY-ton\n";
    assert_eq!(browser.drop_file("t.csv", table.as_bytes()).body, "t.csv");
    let columns = browser.work("/suggest", &[("file", "t.csv")]);
    assert!(!columns.body.contains("CANARY"), "hidden until asked for");
    let number = browser.column("city");
    let asked = browser.post("/values", &[("column", &number)]);
    assert!(asked.body.contains("CANARY-ville"));
    let title = |body: &str| body.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_string();
    assert!(!title(&asked.body).contains("CANARY"));
    for link in asked.body.split("href=\"").chain(asked.body.split("action=\"")).skip(1) {
        assert!(!link.split('"').next().unwrap().contains("CANARY"));
    }
}

#[test]
fn a_hierarchy_is_changed_by_form_and_groups_by_selecting() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let number = browser.column("age");
    let address = format!("/hierarchy/{number}");
    let revision = browser.revision(&address);
    let fields = [("revision", &revision[..]), ("kind", "cuts"), ("list", "18, 65"), ("from", "0"), ("to", "110")];
    assert_eq!(browser.post(&address, &fields).status, 200);
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    assert!(policy().contains("hierarchy = { cuts = [18, 65], from = 0, to = 110 }"), "{}", policy());
    assert_eq!(browser.post(&address, &[("kind", "cuts"), ("list", "18; rm"), ("from", "0"), ("to", "1")]).status, 400);

    let marital = browser.column("marital");
    let got = browser.post(&format!("/group/{marital}"), &[("value", "0"), ("value", "1"), ("group", "partner")]);
    assert_eq!(got.status, 200, "{}", got.body);
    assert!(policy().contains("hierarchy = \"marital-groups.csv\""));
    assert_eq!(fs::read_to_string(here.path().join("marital-groups.csv")).unwrap().matches(";partner;*").count(), 2);
    let found = browser.work("/risk", &[("back", "hierarchies")]);
    assert!(found.body.contains("marital-groups.csv"), "{}", found.body);
    let codes = browser.post("/codes", &[("word", "diabetes")]);
    assert!(codes.body.contains("E08-E13"), "{}", codes.body);
    let codes = browser.post("/codes", &[("word", "asthma")]);
    assert!(codes.body.contains("<code>J45</code>"), "categories are found too: {}", codes.body);

    // A second group gets a file of its own, so that undoing the policy brings the first one back.
    let got = browser.post(&format!("/group/{marital}"), &[("value", "2"), ("group", "apart")]);
    assert_eq!(got.status, 200, "{}", got.body);
    assert!(policy().contains("hierarchy = \"marital-groups-2.csv\""));
    let second = fs::read_to_string(here.path().join("marital-groups-2.csv")).unwrap();
    assert_eq!((second.matches(";partner;*").count(), second.matches(";apart;*").count()), (2, 1));
    browser.post("/undo", &[]);
    assert!(policy().contains("hierarchy = \"marital-groups.csv\""));

    // The hierarchy as a file, as `kohort hierarchy --column` writes it.
    let saved = browser.work(&format!("/hierarchy-file/{number}"), &[]);
    assert!(saved.body.contains("age-hierarchy.csv"), "{}", saved.body);
    let file = fs::read_to_string(here.path().join("age-hierarchy.csv")).unwrap();
    assert!(file.lines().all(|line| line.ends_with(";*") && line.split(';').count() == 3), "{file}");
}

#[test]
fn settings_and_the_open_policy_survive_a_restart() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    ask_for(&browser, "5");
    browser.work("/explore", &[("k", "3, 11"), ("method", "lattice"), ("suppressed", "0.05")]);
    // A second studio sees what a restarted one would.
    let again = studio(here.path());
    assert!(again.get("/").body.contains("Go on with policy.toml"));
    let page = again.get("/explore").body;
    assert!(page.contains("k = 11") && page.contains("--vary k=3,11"), "{page}");
    assert!(!page.contains("Try them again."), "{page}");
    let (number, revision) = (browser.column("ward"), browser.revision("/columns"));
    browser.post("/columns", &[("revision", &revision), ("column", &number), ("role", "identifier")]);
    assert!(again.get("/explore").body.contains("Try them again."), "the columns are others now");
}

#[test]
fn a_folder_of_parquet_parts_is_one_table() {
    use kohort_core::table::ParquetWriter;
    let here = tempfile::tempdir().unwrap();
    let columns: Vec<(String, Option<_>)> = ["age", "sex"].map(|name| (name.to_string(), None)).into();
    for part in 0..2 {
        let folder = here.path().join(format!("claims/year={}", 2023 + part));
        fs::create_dir_all(&folder).unwrap();
        let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
        for row in 0..40 {
            let age = (20 + row % 8 * 5).to_string();
            let sex: &[u8] = if row % 2 == 0 { b"F" } else { b"M" };
            out.row([age.as_bytes(), sex].into_iter()).unwrap();
        }
        fs::write(folder.join("a.parquet"), out.finish().unwrap()).unwrap();
    }
    fs::create_dir(here.path().join("notes")).unwrap();
    let browser = studio(here.path());
    let start = browser.get("/").body;
    assert!(start.contains("value=\"claims\"") && !start.contains("value=\"notes\""), "{start}");
    let shown = browser.work("/suggest", &[("file", "claims")]);
    assert!(shown.body.contains("80 rows"), "{}", shown.body);
    assert!(fs::read_to_string(here.path().join("policy.toml")).unwrap().contains("table = \"claims\""));
    ask_for(&browser, "5");
    let released = browser.work("/release", &[]);
    assert!(released.body.contains("Released and verified"), "{}", released.body);
}

#[test]
fn requirements_for_experts_have_fields() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let number = browser.column("diagnosis");
    let revision = browser.revision("/columns");
    browser.post("/columns", &[("revision", &revision), ("column", &number), ("role", "sensitive")]);
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    let save = |more: &[(&str, &str)]| {
        let revision = browser.revision("/risk");
        let base = [("revision", &revision[..]), ("preset", ""), ("k", "5"), ("method", "lattice")];
        browser.post("/privacy", &[&base[..], more].concat())
    };
    let limits = |kind, l, t, distance| [("l-kind", kind), ("l", l), ("t", t), ("t-distance", distance)];
    assert_eq!(save(&limits("distinct", "3", "0.4", "equal")).status, 303);
    assert!(policy().contains("l_diversity = { distinct = 3 }") && policy().contains("t_closeness = 0.4"));
    assert_eq!(save(&limits("recursive", "2, 3", "0.4", "ordered")).status, 303);
    assert!(policy().contains("recursive = [2, 3]") && policy().contains("max = 0.4, distance = \"ordered\""));
    let shown = browser.get("/risk").body;
    assert!(shown.contains("value=\"2, 3\"") && shown.contains("<option value=\"ordered\" selected>"), "{shown}");
    for wrong in
        [limits("distinct", "1", "", "equal"), limits("recursive", "3", "", "equal"), limits("", "", "7", "equal")]
    {
        assert_eq!(save(&wrong).status, 400, "{wrong:?}");
    }
    assert_eq!(save(&limits("", "", "", "equal")).status, 303);
    assert!(!policy().contains("l_diversity") && !policy().contains("t_closeness"));
    let quasi = policy();
    let quasi = quasi.lines().filter(|line| line.contains("role = \"quasi\"")).filter_map(|line| line.split_once('='));
    let others: Vec<&str> = quasi
        .map(|(name, _)| name.trim())
        .filter(|name| !["age", "sex"].contains(name) && !name.starts_with('#'))
        .collect();
    let sets = format!("age, sex\nage, {}", others.join(", "));
    let saved = save(&[("knows", "sets"), ("sets", &sets)]);
    assert_eq!(saved.status, 303, "{sets}: {}", saved.body);
    assert!(policy().contains("knows = [[\"age\", \"sex\"], [\"age\", \"zip\""), "{}", policy());
    assert!(browser.get("/risk").body.contains(&sets));
    assert_eq!(save(&[("knows", "sets"), ("sets", "age, sex")]).status, 400, "every column is in a set");
    assert_eq!(save(&[("knows", "sets"), ("sets", "age, nothing")]).status, 400);
    assert_eq!(save(&[("knows", "sets"), ("sets", "")]).status, 400);
    let risk = browser.work("/risk", &[]);
    assert!(risk.body.contains("are unique"), "{}", risk.body);
}

#[test]
fn several_columns_get_one_role_at_once_and_one_undo_takes_it_back() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    let before = policy();
    let (age, ward, revision) = (browser.column("age"), browser.column("ward"), browser.revision("/columns"));
    let save = |fields: &[(&str, &str)]| browser.post("/columns", &[&[("revision", &revision[..])], fields].concat());
    for wrong in
        [&[("role", "identifier")][..], &[("column", &age), ("role", "")], &[("column", "999"), ("role", "quasi")]]
    {
        assert_eq!(save(wrong).status, 400, "{wrong:?}");
    }
    assert_eq!(save(&[("column", &age), ("column", &ward), ("role", "other")]).status, 400, "a reason is asked for");
    assert_eq!(policy(), before);
    assert_eq!(save(&[("column", &age), ("column", &ward), ("role", "identifier")]).status, 303);
    let has = |name: &str| {
        policy().lines().any(|l| l.starts_with(name) && l.contains("identifier") && !l.contains("hierarchy"))
    };
    assert!(has("age") && has("ward"), "{}", policy());
    assert!(browser.get("/columns").body.contains("Columns <code>age</code> and <code>ward</code>"));
    browser.post("/undo", &[]);
    assert_eq!(policy(), before);
}

#[test]
fn a_policy_or_a_release_is_dropped_where_tables_are() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    ask_for(&browser, "5");
    browser.work("/release", &[]);
    browser.work("/archive", &[]);
    let policy = fs::read(here.path().join("policy.toml")).unwrap();
    let archive = fs::read(here.path().join("policy-release.tar.gz")).unwrap();
    assert_eq!(browser.drop_file("mine.toml", &policy).body, "mine.toml");
    let shown = browser.work("/suggest", &[("file", "mine.toml"), ("file", "hospital.csv")]);
    assert!(shown.body.contains("<h1>Columns</h1>") && shown.body.contains("<code>mine.toml</code>"), "{}", shown.body);
    assert_eq!(browser.drop_file("received.tar.gz", &archive).body, "received.tar.gz");
    let shown = browser.work("/suggest", &[("file", "received.tar.gz")]);
    assert!(shown.body.contains("<p class=\"stamp\">Verified"), "{}", shown.body);
    assert_eq!(browser.post("/suggest", &[("file", "received.tar.gz"), ("file", "hospital.csv")]).status, 400);
}

#[test]
fn a_release_of_an_older_policy_is_not_taken_for_one_of_this_one() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    browser.work("/demo", &[]);
    ask_for(&browser, "5");
    assert!(!browser.work("/release", &[]).body.contains("The policy was changed after"));
    ask_for(&browser, "11");
    assert!(browser.get("/release").body.contains("The policy was changed after this release was made"));
}

/// Three tables that a patient number links.
fn drop_linked(browser: &Browser) {
    // Numbers that depend on each other in no visible way.
    let random = |n: u64, below: u64| ((n * 2_654_435_761) as u32 >> 7) as u64 % below;
    let one_of = |n: u64, all: &[&'static str]| all[random(n, all.len() as u64) as usize];
    let patient = |i: u64| {
        let sex = if i.is_multiple_of(2) { "M" } else { "F" };
        format!("P{},{},{sex},{}\n", 1000 + i, 1940 + random(i + 1, 65), one_of(i + 5, &["north", "south", "west"]))
    };
    let visit = |i: u64| {
        let diagnosis = one_of(i + 4, &["I10", "E11.9", "J18.9", "K35.8"]);
        format!("P{},{},{diagnosis}\n", 1000 + random(i + 2, 400), 2018 + random(i + 9, 4))
    };
    let drug = |i: u64| {
        let name = one_of(i + 8, &["aspirin", "insulin", "statin"]);
        format!("P{},{name},{}\n", 1000 + random(i + 6, 400), 7 << random(i + 1, 3))
    };
    let patients: String = (0..400).map(patient).collect();
    let visits: String = (0..1200).map(visit).collect();
    let drugs: String = (0..800).map(drug).collect();
    for (name, text) in [
        ("the patients.csv", format!("patient_id,birth_year,sex,region\n{patients}")),
        ("visits.csv", format!("patient_id,year,diagnosis\n{visits}")),
        ("drugs.csv", format!("patient_id,drug,days\n{drugs}")),
    ] {
        assert_eq!(browser.drop_file(&name.replace(' ', "%20"), text.as_bytes()).body, name);
    }
}

#[test]
fn what_is_known_about_events_is_a_choice_and_commands_name_every_table() {
    let here = tempfile::tempdir().unwrap();
    let browser = studio(here.path());
    drop_linked(&browser);
    let files = [("file", "the patients.csv"), ("file", "visits.csv"), ("file", "drugs.csv")];
    let columns = browser.work("/suggest", &files);
    let command = columns.body.split("<h2>The same without this page</h2>").nth(1).unwrap();
    for name in ["&#39;the patients.csv&#39;", "visits.csv", "drugs.csv", "-o policy.toml"] {
        assert!(command.contains(name), "{name}: {command}");
    }
    let policy = || fs::read_to_string(here.path().join("policy.toml")).unwrap();
    assert!(policy().contains("power_total = 2"), "{}", policy());
    let risk = browser.work("/risk", &[]);
    assert!(risk.body.contains("of the patients are unique") && risk.body.contains("Any 3 facts"), "{}", risk.body);
    let save = |facts: &str, share: &str| {
        let revision = browser.revision("/risk");
        let fields =
            [("revision", &revision[..]), ("preset", ""), ("k", "3"), ("power_total", facts), ("max_high_risk", share)];
        browser.post("/privacy", &fields).status
    };
    assert_eq!((save("3", "7"), save("3", "")), (400, 400), "a share is asked for");
    assert_eq!(save("3", "0.2"), 303);
    assert!(policy().contains("power_total = 3") && policy().contains("max_high_risk = 0.2"), "{}", policy());
    assert!(browser.get("/explore").body.contains("fewer than k matches"));
    let tried = browser.work("/explore", &[("k", "3"), ("method", "claims"), ("high-risk", "0.1, 0.3")]);
    assert!(tried.body.contains("at most 30 % of patients at risk"), "{}", tried.body);
}
