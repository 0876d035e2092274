"""A real cluster: Spark with two executor processes of its own, on this machine."""

import collections
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kohort as kh

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17", allow_module_level=True)


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    own = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("kohort tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield own
    own.stop()


def executors(session):
    """The processes of this session's executors."""
    app, found = session.sparkContext.applicationId, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in line and app.encode() in line:
                found.append(int(folder.name))
    return found


def many(rows):
    """Rows that repeat, in a frame of Arrow."""
    number = range(rows)
    return pa.table(
        {
            "pid": [n // 2 for n in number],
            "name": [f"Person {n}" for n in number],
            "age": [20 + n * 7919 % 60 for n in number],
            "sex": ["FM"[n * 31 % 2] for n in number],
            "zip": [f"1{n * 17 % 9}{n * 13 % 7}0" for n in number],
            "diagnosis": [["flu", "asthma", None, "burn"][n * 29 % 4] for n in number],
        }
    )


def shown(folder):
    table = pq.read_table(folder / "release" / "data")
    return collections.Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.fixture
def policy():
    return (
        kh.Policy()
        .identifier("name", "pid")
        .quasi("age", intervals=[5, 10, 20], start=0, end=100)
        .quasi("sex")
        .quasi("zip", prefix=[3, 2])
        .other("diagnosis", reason="a test")
        .privacy(k=4)
        .method("local", max_suppressed=0.05)
    )


@pytest.mark.parametrize("method", ["local", "lattice", "suppress", "specialize"])
@pytest.mark.parametrize("with_patients", [False, True])
def test_the_same_plan_and_recount_as_the_embedded_engine_and_duckdb(tmp_path, session, policy, method, with_patients):
    import duckdb

    table = many(2_000)
    session.createDataFrame(table).createOrReplaceTempView("visits")
    connection = duckdb.connect()
    connection.register("visits", table)
    if with_patients:
        policy["columns"].pop("pid")
        policy.patient("pid")
    policy["columns"]["diagnosis"] = {"role": "sensitive"}
    policy.privacy(k=4, confidence=0.8)
    policy.method(method, **({"max_suppressed": 0.2} if method in ("local", "lattice") else {}))
    by_spark = kh.spark(session, "visits").anonymize(policy, tmp_path / "spark", seed=1)
    by_duckdb = kh.duckdb(connection, "visits").anonymize(policy, tmp_path / "duckdb", seed=1)
    # The same rows in the order in which an engine's tuples are numbered.
    order = "age, sex, zip, diagnosis NULLS FIRST, CAST(pid AS VARCHAR)"
    embedded = kh.anonymize(pa.table(connection.sql(f"SELECT * FROM visits ORDER BY {order}")), policy, seed=1)
    expected = collections.Counter(tuple(row.values()) for row in pa.table(embedded._native.table_as_text()).to_pylist())
    assert shown(tmp_path / "spark") == shown(tmp_path / "duckdb") == expected
    for release in (by_spark, by_duckdb):
        assert release.certificate["counted"]["recount"] == embedded.certificate["counted"]["recount"]
    assert kh.verify(tmp_path / "spark").result == kh.verify(tmp_path / "duckdb").result != "refused"


def test_text_is_compared_by_its_bytes_whatever_collation_a_column_has(tmp_path, session):
    rows = [("f", "Zürich", "Person"), ("F", "zurich", "Person"), ("f", None, "Person"), ("F", "", "Person")] * 10
    frame = session.createDataFrame(rows, "sex string collate UTF8_LCASE, town string collate UNICODE_CI_AI, name string")
    policy = kh.Policy().identifier("name").quasi("sex").quasi("town").method("lattice", max_suppressed=0)
    kh.spark(session, frame).anonymize(policy, tmp_path / "out", k=10)
    expected = [("f", "Zürich"), ("F", "zurich"), ("f", None), ("F", None)]
    assert shown(tmp_path / "out") == {row: 10 for row in expected}


def test_a_table_that_changes_between_the_passes_publishes_nothing(tmp_path, session, policy):
    table = many(400)
    pq.write_table(table, tmp_path / "visits.parquet")
    for lie in ("fewer rows", "other rows"):
        own = kh.spark(session, session.read.parquet(str(tmp_path / "visits.parquet")))
        write = own._connection.write_parts

        def changed(job, write=write, lie=lie):
            rows = many(399) if lie == "fewer rows" else many(800).slice(400)
            session.createDataFrame(rows).createOrReplaceTempView("other_visits")
            name = job["keep"].split(" FROM ")[1].split(" ")[0]
            return write({**job, "keep": job["keep"].replace(name, "other_visits")})

        own._connection.write_parts = changed
        with pytest.raises(kh.RefusedError, match="changed"):
            own.anonymize(policy, tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["visits.parquet"]


def test_a_million_rows_while_an_executor_dies(tmp_path, session, policy):
    assert len(executors(session)) == 2
    table = many(1_000_000)
    pq.write_table(table, tmp_path / "visits.parquet", row_group_size=100_000)
    frame = session.read.parquet(str(tmp_path / "visits.parquet"))
    killed, done = [], threading.Event()

    def kill():
        # As soon as rows are staged, the second pass is under way.
        while not done.is_set():
            staged = list(tmp_path.glob(".kohort-staged-*/keyed*"))
            if staged and (victims := executors(session)):
                victim = victims[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        kh.spark(session, frame).anonymize(policy, tmp_path / "out")
    except kh.MachineError:
        assert not (tmp_path / "out").exists(), "whole, or not there"
    else:
        assert kh.verify(tmp_path / "out").result == "verified"
        assert sum(shown(tmp_path / "out").values()) > 900_000
    finally:
        done.set()
        thread.join()
    assert killed, "an executor was killed in the middle"
    assert not list(tmp_path.glob(".kohort*"))


def test_a_failing_query_publishes_nothing_and_quotes_nothing(tmp_path, session, policy):
    with pytest.raises(kh.MachineError) as caught:
        kh.spark(session, "no_such_table").anonymize(policy, tmp_path / "out")
    assert "no_such_table" not in str(caught.value) and caught.value.__cause__ is None
    table = many(400)
    session.createDataFrame(table).createOrReplaceTempView("broken")
    frame = session.sql("SELECT pid, name, age, sex, zip, assert_true(zip = 'x', 'Person') AS diagnosis FROM broken")
    with pytest.raises(kh.MachineError) as caught:
        kh.spark(session, frame).anonymize(policy, tmp_path / "out")
    assert "Person" not in str(caught.value)
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".kohort*"))


def test_the_guide_runs(tmp_path, monkeypatch, session):
    from test_guide import run_guide

    monkeypatch.chdir(tmp_path)
    assert run_guide("spark.md", {"session": session}, ["python", "python spark"]) == 3
