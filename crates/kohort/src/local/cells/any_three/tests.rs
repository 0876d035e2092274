//! Any three columns, against each set by itself.

use super::failures::{Next, around, next_failures};
use super::less_frequent::order;
use crate::local::cells::Cells;
use crate::local::cells::climb::ChangedRow;
use crate::local::cells::column_parts::column_parts;
use crate::local::cells::failing::{Scope, Shown, failing as failing_by_set};
use crate::local::{Effort, Member, Node, PathLabel, Point, Points, Requirement, Tree, Unwatched, Watch, Work};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

const UNIT: u64 = 1 << 20;

fn work(threads: usize, may_remove: u64) -> Work<'static> {
    Work { may_remove, effort: Effort::Fast, threads, watch: &Unwatched }
}

fn sets_of_three(columns: usize) -> Vec<Vec<usize>> {
    let pairs = (0..columns).flat_map(move |a| (a + 1..columns).map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| (b + 1..columns).map(move |c| vec![a, b, c])).collect()
}

fn all(points: &Points) -> Vec<usize> {
    (0..points.width()).collect()
}

/// A table of so many columns with three levels; in some of them nearly all rows are alike.
fn table(seed: u64, rows: u64, width: u64) -> Points {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let path = |value: u32| {
        let step = |key: u32, share: u64| PathLabel { key, cost: UNIT / width * share / 4 };
        vec![step(value, 0), step(10 + value / 2, 1), step(20, 4)]
    };
    let trees: Vec<Tree> = (0..width).map(|_| Tree::new(&(0..4).map(path).collect::<Vec<_>>(), 2 * UNIT)).collect();
    let mut cells: Vec<Node> = Vec::new();
    for _ in 0..rows {
        for column in 0..width {
            let value = if column % 2 == 0 && below(8) > 0 { 0 } else { below(4) };
            cells.push(trees[column as usize].leaf(value as usize));
        }
    }
    Points::new(trees, &cells, &vec![1; rows as usize], UNIT).0
}

/// Somebody behind each point; with an odd seed, some people are behind several.
struct Crowd {
    person_of: Vec<u32>,
    k: u32,
}

impl Crowd {
    fn new(points: &mut Points, seed: u64, k: u32) -> Crowd {
        if seed.is_multiple_of(2) {
            return Crowd { person_of: Vec::new(), k };
        }
        let people = 1 + points.len() as u64 * 2 / (2 + seed % 3);
        let person = |point: u64| ((point + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % people;
        let person_of: Vec<u32> = (0..points.len() as u64).map(|point| person(point) as u32).collect();
        let own = |person: u32| person_of.iter().filter(|&&other| other == person).count() as u32;
        points.most_points = (0..people as u32).map(own).max().unwrap_or(1);
        points.people = vec![1; points.len()];
        points.splits = false;
        Crowd { person_of, k }
    }

    fn are_enough(&self, members: &[Member]) -> bool {
        let people: BTreeSet<u32> = members.iter().map(|member| self.person_of[member.point as usize]).collect();
        people.len() >= self.k as usize
    }

    /// Calls `work` with the requirement that a class has `k` people.
    fn with_requirement<R>(&self, work: impl FnOnce(&Requirement) -> R) -> R {
        let check = |members: &[Member]| self.are_enough(members);
        work(&Requirement { k: self.k, check: if self.person_of.is_empty() { None } else { Some(&check) } })
    }
}

#[test]
fn any_three_columns_fail_where_each_set_by_itself_does() {
    for seed in 0..60 {
        // Some are large enough that classes are not counted to their end.
        let rows = if seed % 10 == 4 { 3_000 } else { 20 + seed * 3 };
        let mut points = table(seed, rows, 3 + seed % 5);
        let sets = sets_of_three(points.width());
        let k = 2 + seed as u32 % 4;
        let crowd = Crowd::new(&mut points, seed / 2, k);
        let mut cells = Cells::new(&points, &sets, k, work(1, 0));
        for point in (0..points.len() as Point).step_by(7) {
            if let Some(above) = cells.above(point, 1) {
                cells.set(point, 1, above);
            }
        }
        let order = order(&Shown::new(&cells, 1), 1);
        let work = work(1 + seed as usize % 3, 0);
        let found = match crowd.with_requirement(|own| next_failures(&cells, &order, 0, own, work)) {
            Next::Failures(found, _) => (found.failures, found.sets),
            Next::AllHold => (Vec::new(), Vec::new()),
            Next::Ended => panic!("nobody ends the work"),
        };
        let found: BTreeSet<(Point, Vec<usize>)> =
            found.0.iter().map(|&(point, set)| (point, found.1[set as usize].clone())).collect();
        let slow = crowd.with_requirement(|own| failing_by_set(&cells, &sets, own, Scope::AllCells, 1));
        let slow: BTreeSet<(Point, Vec<usize>)> =
            slow.iter().map(|&(point, set)| (point, sets[set as usize].clone())).collect();
        assert!(found.is_subset(&slow), "{seed}");
        // A set with a column that shows one label fails where one with another column does.
        let points =
            |failures: &BTreeSet<(Point, Vec<usize>)>| failures.iter().map(|own| own.0).collect::<BTreeSet<Point>>();
        assert_eq!(points(&found), points(&slow), "{seed}");
        let tells = |set: &Vec<usize>| {
            let shows_several = |&column: &usize| {
                (0..cells.points.len() as Point).any(|p| cells.row(p)[column] != cells.row(0)[column])
            };
            set.iter().all(shows_several)
        };
        assert!(slow.iter().filter(|(_, set)| tells(set)).all(|own| found.contains(own)), "{seed}");
    }
}

#[test]
fn failures_around_changes_are_all_there_are_where_everything_held() {
    let mut found_any = 0;
    for seed in 0..40 {
        let mut points = table(300 + seed, 40 + seed * 9, 4 + seed % 4);
        let sets = sets_of_three(points.width());
        let crowd = Crowd::new(&mut points, seed / 2, 2 + seed as u32 % 4);
        let settled = |own: &Requirement| Cells::any_three(&points, &all(&points), own, work(1, 0));
        let mut cells = crowd.with_requirement(settled).unwrap();
        let mut changed = Vec::new();
        for point in (0..points.len() as Point).step_by(11) {
            if let Some(above) = cells.above(point, seed as usize % 4) {
                changed.push(ChangedRow { point, before: cells.row(point).to_vec() });
                cells.set(point, seed as usize % 4, above);
            }
        }
        let found = crowd.with_requirement(|own| around(&cells, &changed, own, work(1 + seed as usize % 3, 0)));
        let own: BTreeSet<Point> = found.failures.iter().map(|failure| failure.0).collect();
        let slow = crowd.with_requirement(|own| failing_by_set(&cells, &sets, own, Scope::AllCells, 1));
        assert_eq!(own, slow.iter().map(|failure| failure.0).collect(), "{seed}");
        found_any += usize::from(!own.is_empty());
    }
    assert!(found_any > 5, "{found_any}");
}

#[test]
fn every_three_columns_hold_in_the_end() {
    for seed in 0..30 {
        let mut points = table(100 + seed, 60 + seed * 20, 6);
        let sets = sets_of_three(points.width());
        let crowd = Crowd::new(&mut points, seed / 2, 2 + seed as u32 % 4);
        let failing =
            |cells: &Cells| crowd.with_requirement(|own| failing_by_set(cells, &sets, own, Scope::AllCells, 1));
        let may_remove = seed % 3 * 5;
        let settled = |threads: usize| {
            crowd.with_requirement(|own| Cells::any_three(&points, &all(&points), own, work(threads, may_remove)))
        };
        let (cells, again) = (settled(2).unwrap(), settled(1).unwrap());
        assert!(failing(&cells).is_empty() && cells.removed_rows() <= may_remove, "{seed}");
        assert_eq!((&cells.labels, &cells.removed), (&again.labels, &again.removed), "{seed}");
        let mut finest = Cells::finest(&points);
        crowd.with_requirement(|own| finest.settle_any_three(own, work(2, 0))).unwrap();
        assert!(failing(&finest).is_empty(), "{seed}");
    }
}

/// Asks to end the work when it was asked so often whether it may go on.
struct Patience(AtomicU64);

impl Watch for Patience {
    fn is_enough(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn some_columns_hold_while_the_others_show_nothing_and_more_columns_lose_less() {
    for seed in 0..6 {
        let points = table(500 + seed, 900, 40);
        let sets = sets_of_three(points.width());
        let requirement = Requirement { k: 3, check: None };
        let parts = column_parts(&points, 3, 3, 1);
        assert!(parts.len() > 1 && parts.is_sorted_by_key(Vec::len), "{parts:?}");
        assert_eq!(parts.last(), Some(&all(&points)));
        let mut last = u64::MAX;
        for columns in parts {
            let cells = Cells::any_three(&points, &columns, &requirement, work(2, 0)).unwrap();
            assert!(failing_by_set(&cells, &sets, &requirement, Scope::AllCells, 1).is_empty(), "{seed}");
            let others = |column: &usize| !columns.contains(column);
            let is_hidden = |column: usize| (0..points.len() as Point).all(|point| cells.row(point)[column] == 0);
            assert!((0..points.width()).filter(others).all(is_hidden), "{seed}");
            assert!(cells.cost() < last, "{seed}");
            last = cells.cost();
        }
    }
}

#[test]
fn what_is_ended_holds_or_is_given_up() {
    let points = table(900, 700, 20);
    let sets = sets_of_three(points.width());
    let requirement = Requirement { k: 4, check: None };
    let (mut whole, mut ended) = (0, 0);
    for left in (0..60).map(|times| 12 * times) {
        let watch = Patience(AtomicU64::new(left));
        let work = Work { may_remove: 0, effort: Effort::Fast, threads: 2, watch: &watch };
        match Cells::any_three(&points, &all(&points), &requirement, work) {
            None => ended += 1,
            Some(cells) => {
                whole += 1;
                assert!(cells.holds(&sets, &requirement, 1), "{left}");
            }
        }
    }
    assert!(ended > 0 && whole > 0, "{ended} {whole}");
}
