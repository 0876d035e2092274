"""Databases with a driver for Python: SQLite and DuckDB stand in for those that nobody has at hand."""

import collections
import sqlite3

import duckdb
import pyarrow.parquet as pq
import pytest

import kohort as kh

ROWS = [("f", "Zürich"), ("F", "zurich"), ("f", "Zürich "), ("f", None), ("F", "")]


@pytest.fixture
def policy():
    return kh.Policy().identifier("name").quasi("sex").quasi("town").privacy(k=10).method("lattice", max_suppressed=0)


def filled(connection, collation):
    cursor = connection.cursor()
    cursor.execute(f'CREATE TABLE "the ward" (sex VARCHAR {collation}, town VARCHAR {collation}, name VARCHAR)')
    cursor.executemany('INSERT INTO "the ward" VALUES (?, ?, ?)', [(*row, f"Person {n}") for n, row in enumerate(ROWS * 10)])
    connection.commit()
    return connection


def shown(folder):
    return collections.Counter(tuple(row.values()) for row in pq.read_table(folder / "release" / "data").to_pylist())


EXPECTED = {("f", "Zürich"): 10, ("F", "zurich"): 10, ("f", "Zürich "): 10, ("f", None): 10, ("F", None): 10}


def test_text_is_compared_by_its_bytes_in_sqlite(tmp_path, policy):
    database = filled(sqlite3.connect(":memory:", check_same_thread=False), "COLLATE NOCASE")
    table = kh.dbapi(database, "the ward", dialect="sqlite")
    release = table.anonymize(policy, tmp_path / "out")
    assert kh.verify(tmp_path / "out").result == "verified" and shown(tmp_path / "out") == EXPECTED
    assert release.certificate["counted"]["recount"]["smallest_class"] == 10
    left = {row[0] for row in database.execute("SELECT name FROM sqlite_master UNION SELECT name FROM sqlite_temp_master")}
    assert left == {"the ward"} and [path.name for path in tmp_path.iterdir()] == ["out"]
    assert table.risk(policy).details["unique"] is not None


def test_duckdbs_own_driver_is_one_of_them(tmp_path, policy):
    database = filled(duckdb.connect(), "COLLATE NOCASE")
    own = ("DuckDB by its driver", ('"', '"'), "VARCHAR", " COLLATE C")
    kh.dbapi(database, "the ward", dialect=own).anonymize(policy, tmp_path / "out")
    assert shown(tmp_path / "out") == EXPECTED


def test_what_is_wrong_is_said_without_a_value(tmp_path, policy):
    database = filled(sqlite3.connect(":memory:", check_same_thread=False), "")
    with pytest.raises(kh.PolicyError, match="no such dialect"):
        kh.dbapi(database, "the ward", dialect="dbase")
    with pytest.raises(kh.PolicyError, match="paramstyle"):
        kh.dbapi(database, "the ward", dialect="sqlite", paramstyle="roman")
    with pytest.raises(kh.MachineError, match=r"SQLite failed \(OperationalError\)") as caught:
        kh.dbapi(database, "no_such_table", dialect="sqlite")
    assert "no_such" not in str(caught.value)
    # A plan that cannot be loaded.
    table = kh.dbapi(database, "the ward", dialect="sqlite", create="CREATE TABLE nowhere.{name} ({columns})")
    with pytest.raises(kh.MachineError) as caught:
        table.anonymize(policy, tmp_path / "out")
    assert "Person" not in str(caught.value) and "rich" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
