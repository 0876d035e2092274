//! A short campaign of the red team, always the same. `KOHORT_RED_TEAM` sets the number of releases.

use kohort_falsify::red_team::{Campaign, run};

#[test]
fn verify_accepts_nothing_false_and_refuses_nothing_true() {
    let releases = std::env::var("KOHORT_RED_TEAM").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let folder = tempfile::tempdir().unwrap();
    let campaign = Campaign { seed: 1, releases, tamperings: 6, scratch: folder.path().join("scratch") };
    let found = run(&campaign, |_| ()).unwrap();
    assert!(found.broken.is_empty(), "{}", found.broken[0]);
    assert!(found.releases() >= releases, "{}", found.table(true));
    // Every method is among them, and some of what was tampered with stays true.
    for method in ["local", "lattice", "specialize", "suppress", "ceiling", "disassociate", "claims"] {
        assert!(found.released.contains_key(&format!("method {method}")), "{}", found.table(true));
    }
    let counts = found.tampered.values().fold([0; 4], |sum, own| std::array::from_fn(|at| sum[at] + own[at]));
    assert!(counts.iter().all(|n| *n > 0), "{counts:?}");
}
