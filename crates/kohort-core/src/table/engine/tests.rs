//! The statements for each dialect.

use super::{Dialect, TableSql};

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
