//! Risk over many sets, against the definition set by set.

use crate::common::case::cases;
use crate::common::run;
use kohort_core::risk::{View, risk, worst};
use proptest::prelude::*;

proptest! {
    #![proptest_config(run::cases(60))]

    #[test]
    fn the_worst_set_is_the_worst_of_all(case in cases(false)) {
        let folder = tempfile::tempdir().unwrap();
        let Ok((_, cohort, plan)) = run::plan(&case.write(folder.path())) else { return Ok(()) };
        for view in [View::Before, View::After(&plan)] {
            let all = cohort.sets.iter().map(|set| risk(&cohort, view, set));
            let expected = all.reduce(|a, b| if (b.max, b.mean) > (a.max, a.mean) { b } else { a }).unwrap();
            let found = worst(&cohort, view, 2).unwrap().unwrap();
            prop_assert!(found.is_exact);
            prop_assert_eq!((found.risk.max, found.risk.mean), (expected.max, expected.mean));
            prop_assert_eq!(risk(&cohort, view, &found.risk.set), found.risk);
        }
    }
}
