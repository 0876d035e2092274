"""A table in PostgreSQL that counts and joins by itself, in a server that runs for the time of these tests."""

import collections
import contextlib
import getpass
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import COUNT_LIES, JOIN_LIES, lying

import kohort as kh
from kohort import _dbapi

pg8000 = pytest.importorskip("pg8000.dbapi")

#: The columns of the tuples, in the order in which an engine's tuples are numbered.
TUPLE = ["age", "sex", "zip", "diagnosis"]


def programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    own = str(found[-1]) if found else shutil.which("initdb")
    return Path(own).parent if own else None


@pytest.fixture(scope="module")
def server():
    """The socket and the user of a server in a folder of its own, which answers nobody else."""
    if programs() is None:
        pytest.skip("PostgreSQL's programs (initdb, pg_ctl) were not found")
    folder = Path(tempfile.mkdtemp(prefix="kohort-postgres."))
    # It does not run as root.
    user, other = getpass.getuser(), []
    if os.getuid() == 0:
        user, other = "postgres", ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")

    def run(program, *arguments):
        subprocess.run([*other, programs() / program, "-D", folder / "data", *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL)

    try:
        run("initdb", "-U", "keeper", "--auth=peer", "-E", "UTF8", "--locale=C")
        (folder / "hba").write_text("local all keeper trust\n")
        shutil.copyfile(folder / "hba", folder / "data/pg_hba.conf")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c unix_socket_permissions=0700 -c fsync=off"
        run("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield str(folder / ".s.PGSQL.5432")
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def connect(server):
    """A function that opens connections to a database of this test."""
    with_all = pg8000.connect("keeper", unix_sock=server, database="postgres")
    with_all.autocommit = True
    name = f"clinic_{secrets.token_hex(4)}"
    with_all.cursor().execute(f"CREATE DATABASE {name}")
    with_all.close()
    opened = []

    def another():
        opened.append(pg8000.connect("keeper", unix_sock=server, database=name))
        return opened[-1]

    yield another
    for own in opened:
        with contextlib.suppress(Exception):
            own.close()


@pytest.fixture
def postgres(connect):
    """A connection to that database."""
    return connect()


def fill(postgres, columns):
    """The same rows in PostgreSQL and in DuckDB."""
    table = pa.table(columns)
    cursor = postgres.cursor()
    types = ", ".join(f"{name} {'INTEGER' if isinstance(own[0], int) else 'TEXT'}" for name, own in columns.items())
    cursor.execute(f"CREATE TABLE ward ({types})")
    cursor.executemany(f"INSERT INTO ward VALUES ({', '.join(['%s'] * len(columns))})", list(zip(*columns.values(), strict=True)))
    postgres.commit()
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE ward AS SELECT * FROM given")
    return connection


def shown(folder):
    table = pq.read_table(folder / "release" / "data")
    return collections.Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.parametrize("method", ["local", "lattice", "suppress", "specialize"])
@pytest.mark.parametrize("with_patients", [False, True])
def test_the_same_plan_and_recount_by_postgresql_duckdb_and_the_embedded_engine(
    tmp_path, postgres, columns, policy, method, with_patients
):
    columns["diagnosis"][:9] = [None] * 9
    duck = fill(postgres, columns)
    if not with_patients:
        policy["columns"].pop("pid")
        policy.identifier("pid")
    policy.method(method, **({"max_suppressed": 0.2} if method in ("local", "lattice") else {}))
    table = kh.dbapi(postgres, "public.ward", dialect="postgresql", paramstyle="format")
    by_postgres = table.anonymize(policy, tmp_path / "postgres", seed=1)
    by_duckdb = kh.duckdb(duck, "ward").anonymize(policy, tmp_path / "duckdb", seed=1)
    order = ", ".join([*TUPLE, *(["CAST(pid AS VARCHAR)"] if with_patients else [])])
    embedded = kh.anonymize(pa.table(duck.sql(f"SELECT * FROM ward ORDER BY {order} NULLS FIRST")), policy, seed=1)
    expected = collections.Counter(tuple(row.values()) for row in pa.table(embedded._native.table_as_text()).to_pylist())
    assert shown(tmp_path / "postgres") == shown(tmp_path / "duckdb") == expected
    for release in (by_postgres, by_duckdb):
        assert release.certificate["counted"]["recount"] == embedded.certificate["counted"]["recount"]
    assert kh.verify(tmp_path / "postgres").result == ("partly" if with_patients else "verified")
    cursor = postgres.cursor()
    cursor.execute("SELECT COUNT(*) FROM pg_class WHERE relname = 'kohort_plan'")
    assert cursor.fetchone()[0] == 0, "nothing is left behind"


def test_text_is_compared_by_its_bytes_and_a_role_without_rights_is_told_nothing_of_a_cell(tmp_path, postgres):
    cursor = postgres.cursor()
    cursor.execute("CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    cursor.execute("CREATE TABLE ward (sex TEXT COLLATE alike, town TEXT COLLATE alike, name TEXT)")
    rows = [("f", "Zürich", "Person"), ("F", "zurich", "Person"), ("f", "Zürich ", "Person"), ("F", "", "Person")] * 10
    cursor.executemany("INSERT INTO ward VALUES (%s, %s, %s)", rows)
    cursor.execute("CREATE ROLE guest")
    postgres.commit()
    policy = kh.Policy().identifier("name").quasi("sex").quasi("town").method("lattice", max_suppressed=0)
    table = kh.dbapi(postgres, "ward", dialect="postgresql", paramstyle="format")
    table.anonymize(policy, tmp_path / "out", k=10)
    assert shown(tmp_path / "out") == {("f", "Zürich"): 10, ("F", "zurich"): 10, ("f", "Zürich "): 10, ("F", None): 10}
    postgres.commit()
    cursor.execute("SET ROLE guest")
    with pytest.raises(kh.MachineError, match="PostgreSQL failed") as caught:
        table.anonymize(policy, tmp_path / "again", k=10)
    assert "Person" not in str(caught.value) and "rich" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


class Listening:
    """A cursor that writes down what it is asked."""

    def __init__(self, cursor):
        self.cursor, self.asked = cursor, []

    def execute(self, statement, *args):
        self.asked.append(statement)
        return self.cursor.execute(statement, *args)

    def __getattr__(self, name):
        return getattr(self.cursor, name)


@pytest.mark.parametrize("autocommit", [False, True])
def test_rows_come_in_batches(tmp_path, postgres, columns, policy, monkeypatch, autocommit):
    fill(postgres, columns)
    postgres.autocommit = autocommit
    monkeypatch.setattr(_dbapi, "BATCH", 30)
    table = kh.dbapi(postgres, "ward", dialect="postgresql", paramstyle="format")
    cursor = table._connection._cursor = Listening(table._connection._cursor)
    table.anonymize(policy, tmp_path / "out")
    place = next(place for place, own in enumerate(cursor.asked) if own.startswith("DECLARE") and "JOIN kohort_plan" in own)
    name = cursor.asked[place].split()[1]
    assert cursor.asked.count(f"FETCH FORWARD 30 FROM {name}") == len(columns["pid"]) // 30 + 2
    cursor.execute("SELECT COUNT(*) FROM pg_cursors WHERE name LIKE 'kohort%'")
    assert cursor.fetchone()[0] == 0, "nothing is left behind"
    assert sum(shown(tmp_path / "out").values()) > 300


#: What somebody else does, or what happens, between the two passes.
BETWEEN = {
    "another row": "INSERT INTO ward SELECT * FROM ward LIMIT 1",
    "other cells": "UPDATE ward SET diagnosis = 'flu'",
    "fewer rows": "DELETE FROM ward WHERE ctid = (SELECT MIN(ctid) FROM ward)",
    "cut connection": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid()",
}


@pytest.mark.parametrize("what", [*COUNT_LIES, *JOIN_LIES, *BETWEEN])
def test_a_server_that_lies_or_is_cut_off_publishes_nothing(tmp_path, connect, columns, policy, what):
    postgres, other = connect(), connect()
    fill(postgres, columns)
    policy["columns"].pop("pid")
    policy.identifier("pid")
    table = lying(kh.dbapi(postgres, "ward", dialect="postgresql", paramstyle="format"), what)
    load = table._connection.load

    def loaded(name, rows):
        load(name, rows)
        if what in BETWEEN:
            # Whoever reads locks no row.
            other.cursor().execute(BETWEEN[what])
            other.commit()

    table._connection.load = loaded
    with pytest.raises((kh.RefusedError, kh.MachineError)) as caught:
        table.anonymize(policy, tmp_path / "out")
    assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


def test_a_full_tablespace_publishes_nothing(tmp_path, postgres, policy, small_disk):
    folder = small_disk("200k")
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
    postgres.autocommit = True
    cursor = postgres.cursor()
    cursor.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
    try:
        cursor.execute("SET temp_tablespaces = small")
        cursor.execute(
            "CREATE TABLE ward AS SELECT i AS pid, 'Person ' || i AS name, 20 + i % 60 AS age, 'F' AS sex, "
            "(1000 + i % 97)::text AS zip, '2024-01-01' AS admitted, 'flu' AS diagnosis, i % 9 AS los FROM generate_series(1, 5000) i"
        )
        table = kh.dbapi(postgres, "ward", dialect="postgresql", paramstyle="format")
        with pytest.raises(kh.MachineError, match="PostgreSQL failed") as caught:
            table.anonymize(policy, tmp_path / "out", confidence=1)
        assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
        assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"
    finally:
        cursor.execute("DROP TABLE ward")
        cursor.execute("DROP TABLESPACE small")
