//! Adult, the table this field measures itself on: runs where KOHORT_DATA names a folder that has it.

use kohort::lattice::{Objective, SearchLimits, Space, search};
use kohort::pipeline::{Options, anonymize};
use kohort_core::number::{Decimal, Fraction};
use kohort_core::release::Plan;
use kohort_core::table::Silent;
use kohort_core::{cohort, policy, table, utility, verify};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder, if it is named. What is missing in it then is an error.
fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("KOHORT_DATA")?);
    assert!(folder.is_dir(), "KOHORT_DATA names no folder");
    Some(folder)
}

const COLUMNS: [&str; 9] =
    ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class"];

/// All nine columns are quasi-identifiers, but for those in `instead`.
fn adult(data: &Path, folder: &Path, privacy: &str, method: &str, instead: &[(&str, &str)]) -> PathBuf {
    let arx = data.join("adult_arx").canonicalize().expect("adult_arx");
    let mut text = format!("[input]\ntable = {:?}\n[columns]\n", arx.join("adult.csv.gz"));
    for column in COLUMNS {
        let quasi =
            format!("{{ role = \"quasi\", hierarchy = {:?} }}", arx.join(format!("adult_hierarchy_{column}.csv")));
        let role = instead.iter().find(|i| i.0 == column).map_or(quasi, |i| i.1.to_string());
        writeln!(text, "{column} = {role}").unwrap();
    }
    write!(text, "[privacy]\n{privacy}\n[method]\nname = \"lattice\"\n{method}\n").unwrap();
    let path = folder.join("policy.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn options() -> Options {
    Options { force: true, keep_rows: false, seed: None, threads: 2, progress: Arc::new(Silent) }
}

#[test]
fn the_optimum_of_adult_is_found() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = adult(&data, folder.path(), "k = 5", "max_suppressed = 0.05", &[]);
    let out = folder.path().join("out");
    let released = anonymize(&policy, &out, &options()).unwrap();
    let m = &released.metrics.to_value();
    assert_eq!(m["rows"]["suppressed"], 1346);
    let loss = m["utility"]["loss"].as_f64().unwrap();
    assert!((loss - 0.269635).abs() < 5e-7, "{loss}");
    assert!(m["guarantee"]["smallest_class"].as_u64().unwrap() >= 5);
    verify::verify_release(&out, 2).unwrap();
}

/// Known twice: the search against every one of the 12,960 nodes would take minutes; a lattice of
/// fewer permitted levels does not.
#[test]
fn on_part_of_the_lattice_the_search_agrees_with_all_nodes() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = adult(&data, folder.path(), "k = 5", "max_suppressed = 0.05", &[]);
    let file = policy::read(&path).unwrap();
    let source = table::open(&file.input).unwrap();
    let bound = file.bind(&source, &kohort::methods::Register::built_in()).unwrap().table().unwrap();
    let cohort = cohort::survey(&source, &bound).unwrap();
    let levels: Vec<Vec<usize>> = cohort.quasi.iter().map(|q| q.levels.iter().copied().step_by(2).collect()).collect();
    let share = Decimal::parse("0.05", b'.').and_then(Fraction::from_decimal).unwrap();
    let limits = SearchLimits { k: bound.privacy.k, suppressed: share.of(cohort.tuples.rows) };
    for (name, objective) in Objective::NAMES {
        let space = Space::new(levels.clone(), 1 << 20).unwrap();
        let best = search(&cohort, &space, objective, limits).map(|b| b.levels);
        // Each node as a lattice of its own: nothing is pruned.
        let alone = (0..space.len()).filter_map(|node| {
            let only = space.level_vector(node).into_iter().map(|l| vec![l]).collect();
            let found = search(&cohort, &Space::new(only, 1).unwrap(), objective, limits)?;
            let plan = kohort_core::release::Plan::full_domain(&cohort, &found.levels, &found.outcome.kept);
            Some((cost(&cohort, &plan, objective), found.levels))
        });
        let least = alone.min_by(|a, b| a.0.total_cmp(&b.0));
        let best = best.map(|levels| {
            let only = levels.iter().map(|&l| vec![l]).collect();
            let found = search(&cohort, &Space::new(only, 1).unwrap(), objective, limits).unwrap();
            cost(
                &cohort,
                &kohort_core::release::Plan::full_domain(&cohort, &found.levels, &found.outcome.kept),
                objective,
            )
        });
        let (best, least) = (best.unwrap(), least.unwrap().0);
        assert!((best - least).abs() <= 1e-9 * least.abs().max(1.0), "{name}: {best} is not {least}");
    }
}

fn cost(cohort: &cohort::Cohort, plan: &kohort_core::release::Plan, objective: Objective) -> f64 {
    use kohort_core::utility;
    match objective {
        Objective::Loss => utility::loss(cohort, plan),
        Objective::Precision => -utility::precision(cohort, plan),
        Objective::Entropy => utility::entropy(cohort, plan),
        Objective::Discernibility => utility::discernibility(cohort, plan),
        Objective::ClassSize => utility::average_class_size(cohort, plan),
    }
}

#[test]
fn further_requirements_hold_on_adult() {
    let Some(data) = data() else { return };
    let sensitive = [("occupation", "{ role = \"sensitive\" }")];
    let ordered = "{ role = \"sensitive\", domain = [\"<=50K\", \">50K\"] }";
    let income = [("salary-class", ordered), ("occupation", "{ role = \"other\", reason = \"for this test\" }")];
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("k = 5\nconfidence = 0.5", &sensitive),
        ("k = 5\nl_diversity = { distinct = 4 }", &sensitive),
        ("k = 5\nl_diversity = { entropy = 3 }", &sensitive),
        ("k = 10\nknows = 3", &[]),
        ("k = 5\nt_closeness = { max = 0.2, distance = \"ordered\" }", &income),
    ];
    for (privacy, instead) in cases {
        let folder = tempfile::tempdir().unwrap();
        let policy = adult(&data, folder.path(), privacy, "max_suppressed = 0.05", instead);
        let out = folder.path().join("out");
        let released = anonymize(&policy, &out, &options()).unwrap_or_else(|e| panic!("{privacy}: {e}"));
        assert!(released.metrics.to_value()["rows"]["suppressed"].as_u64().unwrap() <= 1508, "{privacy}");
        verify::verify_release(&out, 2).unwrap_or_else(|e| panic!("{privacy}: {e}"));
    }
}

/// Discharges with ICD-9 codes as a quasi-identifier, leading zeros and missing cells.
#[test]
fn a_discharge_survey_is_released() {
    let Some(data) = data() else { return };
    let table = data.join("nhds2010/nhds2010.partA.csv.gz").canonicalize().expect("nhds2010");
    let source = table::open(&table::Input::new(&table)).unwrap();
    let names = source.columns().to_vec();
    let find = |part: &str| {
        let found = names.iter().find(|n| n.to_lowercase().contains(part));
        found.unwrap_or_else(|| panic!("no column like {part} in {names:?}")).clone()
    };
    let (sex, region, dx) = (find("sex"), find("region"), find("dx1"));
    let folder = tempfile::tempdir().unwrap();
    let quasi = "{ role = \"quasi\" }";
    let text = format!(
        "[input]\ntable = {table:?}\n[columns]\n{sex:?} = {quasi}\n{region:?} = {quasi}\n{dx:?} = {{ role = \"quasi\", hierarchy = \"icd9\", unmapped = \"suppress\" }}\n\"*\" = {{ role = \"identifier\" }}\n[privacy]\nk = 5\n[method]\nname = \"lattice\"\nmax_suppressed = 0.05\n",
    );
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, text).unwrap();
    let out = folder.path().join("out");
    let released = anonymize(&policy, &out, &options()).unwrap();
    assert!(released.metrics.to_value()["rows"]["out"].as_u64().unwrap() > 95_000);
    verify::verify_release(&out, 2).unwrap();
}

/// Counted and computed once more elsewhere, from the table alone.
#[test]
fn risk_and_utility_of_adult_are_those_computed_elsewhere() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (population, expected, chosen) in [
        (250_000u64, [82_345.862_57, 72_716.193_05, 66_322.091_37], "slide negative binomial"),
        (1_000_000, [284_895.826_6, 197_259.199_7, 206_201.687_9], "Pitman"),
    ] {
        let privacy = format!("k = 5\n[population]\nsize = {population}");
        let policy = adult(&data, folder.path(), &privacy, "max_suppressed = 0.05", &[]);
        let released = anonymize(&policy, &folder.path().join("out"), &options()).unwrap();
        let m = &released.metrics.to_value();
        let unique = &m["uniqueness"]["before"];
        for (name, expected) in ["zayatz", "pitman", "snb"].iter().zip(expected) {
            let found = unique[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-5 * expected, "{name}: {found}, not {expected}");
        }
        assert_eq!(unique["chosen"], chosen);
        assert_eq!(m["models"]["before"]["prosecutor"]["mean"].as_f64().unwrap(), 19_502.0 / 30_162.0);
        let people = |n: usize| m["singling_out"]["by_number"][n]["people"].as_u64().unwrap();
        assert_eq!([people(0), people(1), people(2), people(3)], [2, 938, 6240, 12_060]);
        let worst = m["singling_out"]["sets"].as_array().unwrap().iter().find(|s| s["people"] == 5126).unwrap();
        assert_eq!(worst["set"], serde_json::json!(["age", "marital-status", "education", "occupation"]));
        let only_with = |q: usize| m["singling_out"]["by_column"][q]["only_with"].as_u64().unwrap();
        assert_eq!((0..9).map(only_with).collect::<Vec<_>>(), [1641, 11_094, 1576, 3560, 6657, 1022, 3539, 6671, 1491]);
    }
    let policy = adult(&data, folder.path(), "k = 5", "max_suppressed = 0.05", &[]);
    let (source, policy) = kohort::pipeline::open(&policy, &options()).unwrap();
    let policy = policy.table().unwrap();
    let cohort = cohort::survey(&source, &policy).unwrap();
    let plan = Plan::full_domain(&cohort, &[0; 9], &vec![true; cohort.tuples.len()]);
    let found = utility::associations(&cohort, &plan);
    assert_eq!(found.len(), 36);
    for (a, b, v) in [(0, 3, 0.466_125_602_4), (4, 7, 0.197_914_431_1), (1, 8, 0.325_024_534_9)] {
        let pair = found.iter().find(|p| p.columns == (a, b)).unwrap();
        assert!((pair.before - v).abs() < 1e-9 && pair.change() == 0.0, "{pair:?}");
    }
}
