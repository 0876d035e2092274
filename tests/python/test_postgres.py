"""A table in PostgreSQL that counts and joins by itself, in a server that runs for the time of these tests."""

import collections
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

import kohort as kh

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
def postgres(server):
    """A connection to a database of its own."""
    with_all = pg8000.connect("keeper", unix_sock=server, database="postgres")
    with_all.autocommit = True
    name = f"clinic_{secrets.token_hex(4)}"
    with_all.cursor().execute(f"CREATE DATABASE {name}")
    with_all.close()
    own = pg8000.connect("keeper", unix_sock=server, database=name)
    yield own
    own.close()


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
