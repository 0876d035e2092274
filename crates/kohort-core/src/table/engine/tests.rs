//! The statements for each dialect.

use super::{DealtCell, Dialect, PartCounts, PatientSets, TableSql, Ways, WrittenParts};

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn names_are_quoted_whatever_they_hold() {
    for (dialect, expected) in [
        (Dialect::DUCKDB, "\"a\"\"; DROP TABLE x\""),
        (Dialect::POSTGRESQL, "\"a\"\"; DROP TABLE x\""),
        (Dialect::SPARK, "`a\"; DROP TABLE x`"),
    ] {
        assert_eq!(dialect.quote("a\"; DROP TABLE x").unwrap(), expected);
        assert!(dialect.quote("").is_err() && dialect.quote("a\0b").is_err() && dialect.quote_table("a..b").is_err());
    }
    assert_eq!(Dialect::SPARK.quote("a`b").unwrap(), "`a``b`");
    assert_eq!(Dialect::POSTGRESQL.quote_table("cdm.visits").unwrap(), "\"cdm\".\"visits\"");
}

#[test]
fn tuples_are_counted_in_two_steps_and_by_bytes() {
    let sql = TableSql::of_table(Dialect::POSTGRESQL, "t", &columns(&["age", "id"])).unwrap();
    let age = "NULLIF(CAST(t.\"age\" AS TEXT) COLLATE \"C\", '')";
    let id = age.replace("age", "id");
    assert_eq!(
        sql.count(&[0], None).unwrap(),
        format!("SELECT q0, COUNT(*) AS n FROM (SELECT {age} AS q0 FROM \"t\" t) x GROUP BY q0")
    );
    let both = format!("SELECT {age} AS q0, {id} AS p FROM \"t\" t");
    let by_patient = format!("(SELECT q0, p, COUNT(*) AS n FROM ({both}) x GROUP BY q0, p) y");
    assert_eq!(
        sql.count(&[0], Some(1)).unwrap(),
        format!("SELECT q0, SUM(n) AS n, COUNT(*) AS patients FROM {by_patient} GROUP BY q0")
    );
    assert_eq!(
        sql.several_rows(&[0], 1).unwrap(),
        format!(
            "SELECT y.q0, y.p, y.n FROM {by_patient} JOIN (SELECT p FROM ({both}) x GROUP BY p HAVING COUNT(*) > 1) m \
             ON y.p = m.p"
        )
    );
    assert_eq!(
        sql.join(&[0], None, &[1]).unwrap(),
        format!(
            "SELECT NULL AS c0, {id} AS c1, p.tuple AS tuple, NULL AS patient FROM \"t\" t JOIN kohort_plan p ON \
             COALESCE({age}, '-') = p.q0 COLLATE \"C\" AND CASE WHEN {age} IS NULL THEN '1' ELSE '0' END = p.q0_null"
        )
    );
}

#[test]
fn no_statement_holds_anything_but_names() {
    // What a custodian wrote as a query is kept; a comment at its end does not swallow what follows.
    let sql = TableSql::of_query(Dialect::DUCKDB, "SELECT 1 AS a -- one;", &columns(&["a"]));
    assert!(sql.count_rows().contains("-- one;\n)") || sql.count_rows().contains("-- one\n)"));
    for dialect in Dialect::ALL {
        let sql = TableSql::of_table(dialect, "t", &columns(&["a", "b"])).unwrap();
        for text in [sql.rows(), sql.count(&[], None), sql.count(&[1, 0], None), sql.join(&[], Some(1), &[0])] {
            assert!(text.unwrap().starts_with("SELECT "));
        }
    }
}

#[test]
fn values_that_one_person_has_are_counted_where_they_are() {
    let sql = TableSql::of_table(Dialect::SQLITE, "t", &columns(&["age", "id"])).unwrap();
    let (age, id) =
        ("NULLIF(CAST(t.\"age\" AS TEXT) COLLATE BINARY, '')", "NULLIF(CAST(t.\"id\" AS TEXT) COLLATE BINARY, '')");
    let counted = |one: &str, by_value: &str| {
        format!(
            "SELECT COALESCE(SUM(n), 0) AS cells, COALESCE(SUM(CASE WHEN {one} = 1 THEN n ELSE 0 END), 0) AS alone FROM \
             ({by_value}) z"
        )
    };
    let by_row =
        format!("SELECT COUNT(*) AS n FROM (SELECT {age} AS q0 FROM \"t\" t) x WHERE q0 IS NOT NULL GROUP BY q0");
    assert_eq!(sql.alone(0, None).unwrap(), counted("n", &by_row));
    let by_patient = format!(
        "SELECT SUM(n) AS n, COUNT(*) AS people FROM (SELECT q0, p, COUNT(*) AS n FROM (SELECT {age} AS q0, {id} AS p FROM \
         \"t\" t) x WHERE q0 IS NOT NULL GROUP BY q0, p) y GROUP BY q0"
    );
    assert_eq!(sql.alone(0, Some(1)).unwrap(), counted("people", &by_patient));
}

#[test]
fn rows_are_ranked_only_where_a_tuple_goes_several_ways() {
    let sql = TableSql::of_table(Dialect::SPARK, "t", &columns(&["age", "note"])).unwrap();
    let released = [DealtCell::Planned(0), DealtCell::Own(1)];
    for (ways, is_ranked) in [(Ways::One, false), (Ways::Several, true)] {
        let deal = sql.deal(&[0], true, &released, ways);
        for word in ["ROW_NUMBER", "kohort_ways", "kohort_named"] {
            assert_eq!(deal.contains(word), is_ranked, "{deal}");
        }
        assert!(deal.contains("k.c0 COLLATE UTF8_BINARY") && deal.contains("<> '-'"), "{deal}");
        assert!(deal.contains("d.kohort_key, d.kohort_part, d.p, c.r0 AS r0, d.c1 AS r1 FROM"), "{deal}");
    }
}

/// The counts of a part that holds these pairs of cells and a note.
fn part(sha256: &str, rows: &[(&str, u64)]) -> PartCounts {
    PartCounts {
        sha256: sha256.into(),
        values: vec![rows.iter().map(|own| own.0.to_string()).collect()],
        tuples: (0..).zip(rows).map(|(number, own)| (vec![number], own.1)).collect(),
        alone: vec![(1, vec![("note".into(), rows.iter().map(|own| own.1).sum())])],
        formulas: Vec::new(),
    }
}

#[test]
fn parts_are_added_up_beyond_four_billion_rows() {
    let mut all = WrittenParts::new(1).unwrap();
    for number in 0..20 {
        all.add(number, "x".into(), part(&number.to_string(), &[("a", 3_000_000_000), ("", number)])).unwrap();
    }
    assert_eq!(all.parts.len(), 20);
    let mut too_many = WrittenParts::new(1).unwrap();
    assert!(too_many.add(0, "x".into(), part("", &[("a", u64::MAX)])).is_ok());
    assert!(too_many.add(1, "x".into(), part("", &[("a", 1)])).is_err());
    let (together, note) = (all.together.tuples(), all.alone.remove(&1).unwrap().tuples());
    assert_eq!((together.rows, together.len(), note.weights[0]), (60_000_000_190, 2, 60_000_000_190));
    let of = |text: &str| (0..2).find(|&t| together.dictionaries[0].text(together.code(t, 0)) == text);
    assert_eq!(of("a").map(|t| together.weights[t]), Some(60_000_000_000));
    assert_eq!(of("").map(|t| together.weights[t]), Some(190));
    // A number of no value is refused, and so are other columns.
    let mut odd = part("", &[("a", 1)]);
    odd.tuples[0].0[0] = 7;
    assert!(WrittenParts::new(1).unwrap().add(0, "x".into(), odd).is_err());
    assert!(WrittenParts::new(2).unwrap().add(0, "x".into(), part("", &[("a", 1)])).is_err());
}

#[test]
fn every_part_may_be_counted_again() {
    let mut seen = [0; 40];
    for _ in 0..400 {
        let mut all = WrittenParts::new(1).unwrap();
        (0..40).for_each(|number| all.add(number, "x".into(), part("", &[("a", 1)])).unwrap());
        let chosen: std::collections::BTreeSet<u64> = all.again.iter().map(|own| own.0).collect();
        assert_eq!(chosen.len(), 8);
        chosen.iter().for_each(|&number| seen[number as usize] += 1);
    }
    // Each is expected 80 times; that it is not within these bounds comes up once in a billion runs.
    assert!(seen.iter().all(|own| (30..140).contains(own)), "{seen:?}");
}

#[test]
fn patients_with_the_same_set_are_one_entry() {
    let mut all = PatientSets::new(1);
    for cell in ["a", "b", ""] {
        all.combinations.add([cell].into_iter(), 0).unwrap();
    }
    for (set, patients) in [(vec![1, 0, 1], 2), (vec![0, 1], 3), (vec![2], 1)] {
        all.add(set, patients).unwrap();
    }
    assert_eq!(all.sets().collect::<Vec<_>>(), [(vec![0, 1], 5), (vec![2], 1)]);
    assert!(all.add(vec![3], 1).is_none() && all.add(Vec::new(), 1).is_none() && all.add(vec![2], u64::MAX).is_none());
}
