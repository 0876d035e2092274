use kohort::lattice::*;
use kohort_core::{cohort, number::K, policy, table};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let p = policy::read(std::path::Path::new(&a[1])).unwrap();
    let s = table::open(&p.input).unwrap();
    let b = p.bind(&s).unwrap();
    let c = cohort::survey(&s, &b).unwrap();
    println!("survey {:?}", t.elapsed());
    for obj in Objective::NAMES {
        for lim in ["0", "0.05", "1"] {
            if a.len() > 3 && (obj.0 != a[2] || lim != a[3]) {
                continue;
            }
            let t = std::time::Instant::now();
            let space = Space::new(c.quasi.iter().map(|q| q.levels.clone()).collect(), 5_000_000).unwrap();
            let f =
                kohort_core::number::Fraction::from_decimal(kohort_core::number::Decimal::parse(lim, b'.').unwrap())
                    .unwrap();
            let r = search(&c, &space, obj.1, Limits { k: K::new(5).unwrap(), suppressed: f.of(c.tuples.rows) });
            match r {
                Some(r) => println!(
                    "{} {lim} {:?} suppressed {} counted {:?} {:?}",
                    obj.0,
                    r.levels,
                    r.outcome.suppressed,
                    r.counted,
                    t.elapsed()
                ),
                None => println!("none {:?}", t.elapsed()),
            }
        }
    }
}
