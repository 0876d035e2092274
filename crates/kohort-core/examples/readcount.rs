fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let s =
        kohort_core::table::open(&kohort_core::table::Input::new(&a[1])).unwrap().with_threads(a[2].parse().unwrap());
    let n = s.columns().len();
    let c = kohort_core::table::Counting { columns: (0..n).collect(), patient: None, remember: u64::MAX };
    let tu = kohort_core::table::count(&s, &c).unwrap();
    println!("{} rows {} tuples {:?}", tu.rows, tu.len(), t.elapsed());
    let t = std::time::Instant::now();
    let mut k = 0u64;
    s.scan(
        |_| (),
        |_, c| Ok(c.rows()),
        |r| {
            k += r as u64;
            Ok(())
        },
    )
    .unwrap();
    println!("scan {k} {:?}", t.elapsed());
}
