"""A real cluster: Spark with two executor processes of its own, on this machine."""

import collections
import contextlib
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
from conftest import COUNT_LIES, PARTS_LIES, lying, other_parts

import kohort as kh
from kohort import _engine

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
        # The driver collects no rows: a million of them would be more than this.
        .config("spark.driver.maxResultSize", "16m")
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


METHODS = {
    "local": {"max_suppressed": 0.2},
    "lattice": {"max_suppressed": 0.2},
    "suppress": {},
    "specialize": {},
    "ceiling": {"h": 0.6, "real_k": 2, "max_counterfeits": 0.3},
}


@pytest.mark.parametrize("method", METHODS)
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
    policy["columns"]["diagnosis"] = {"role": "sensitive", "domain": ["flu", "asthma", "burn", "gout"]}
    policy.privacy(k=4, confidence=0.8)
    policy.method(method, **METHODS[method])
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
    unique = [table.risk(policy).details["unique"] for table in (kh.spark(session, "visits"), kh.duckdb(connection, "visits"))]
    assert unique[0] == unique[1]


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


@pytest.mark.parametrize("lie", [*COUNT_LIES, *PARTS_LIES])
def test_a_cluster_that_lies_publishes_nothing(tmp_path, session, policy, lie, monkeypatch):
    monkeypatch.setattr(_engine, "PART_ROWS", 150)
    table = lying(kh.spark(session, session.createDataFrame(many(400))), lie)
    write = table._connection.write_parts

    def written(job):
        wrote = write(job)
        return {**wrote, "parts": other_parts(list(wrote["parts"]), lie)}

    table._connection.write_parts = written
    with pytest.raises((kh.RefusedError, kh.MachineError)) as caught:
        table.anonymize(policy, tmp_path / "out")
    assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


@pytest.mark.parametrize("when", ["keyed", "counted"])
def test_work_that_the_cluster_ends_publishes_nothing(tmp_path, session, policy, when):
    frame = session.createDataFrame(many(200_000))
    done = threading.Event()

    def end():
        while not done.is_set():
            # Its tasks run: rows are on their way.
            if list(tmp_path.glob(f".kohort-staged-*/{when}/_temporary/*/_temporary/attempt*")):
                session.sparkContext.cancelAllJobs()
            time.sleep(0.01)

    thread = threading.Thread(target=end)
    thread.start()
    try:
        with pytest.raises(kh.MachineError, match="Spark failed") as caught:
            kh.spark(session, frame).anonymize(policy, tmp_path / "out")
    finally:
        done.set()
        thread.join()
    assert "Person" not in str(caught.value) and caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


def test_a_full_disk_of_the_cluster_publishes_nothing(tmp_path, session, policy, small_disk):
    folder = small_disk("400k")
    frame = session.createDataFrame(many(20_000))
    with pytest.raises(kh.MachineError, match="Spark failed") as caught:
        kh.spark(session, frame).anonymize(policy, tmp_path / "out", work=folder)
    assert "Person" not in str(caught.value) and caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == list(folder.iterdir()) == [], "nothing is published, and nothing is left behind"


def processes_below(parent):
    """The processes that a process started, and those that these started."""
    above, found = {}, {parent}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                above[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    while more := {own for own, parent in above.items() if parent in found} - found:
        found |= more
    return found - {parent}


def die(victim):
    """Ends an executor and its Python workers, as a machine that loses its power does."""
    for own in [victim, *processes_below(victim)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(own, signal.SIGKILL)
    return victim


def while_rows_are_staged(session, staged):
    """An executor, as soon as rows with keys are written."""
    return executors(session)[:1] if list(staged.glob("keyed*")) else []


def while_patients_are_counted(session, staged):
    """An executor, as soon as one works at its range of patients."""
    return executors(session)[:1] if list(staged.glob("patients/_temporary/*/_temporary/attempt*")) else []


class WhilePartsAreCounted:
    """The executor whose worker has written a part to its end, so that it now counts it from its bytes."""

    def __init__(self):
        self.writing = {}

    def __call__(self, session, staged):
        for executor in executors(session):
            for worker in processes_below(executor):
                for own in self.open_parts(worker, staged):
                    self.writing[own] = executor
        for own, executor in self.writing.items():
            # A file of Parquet ends with these letters, and nobody holds it open for writing any more.
            with contextlib.suppress(OSError), open(own, "rb") as file:
                file.seek(-4, os.SEEK_END)
                if file.read() == b"PAR1":
                    return [executor]
        return []

    @staticmethod
    def open_parts(worker, staged):
        try:
            for number in Path(f"/proc/{worker}/fd").iterdir():
                with contextlib.suppress(OSError):
                    path = Path(os.readlink(number))
                    if path.parent == staged and path.suffix == ".parquet":
                        yield path
        except OSError:
            return


@pytest.mark.parametrize("moment", ["rows are staged", "patients are counted", "parts are counted"])
def test_a_million_rows_while_an_executor_dies(tmp_path, session, policy, moment):
    start = time.monotonic()
    while len(executors(session)) < 2:
        # The one that was killed before is started again.
        assert time.monotonic() - start < 60
        time.sleep(0.1)
    table = many(1_000_000)
    pq.write_table(table, tmp_path / "visits.parquet", row_group_size=100_000)
    frame = session.read.parquet(str(tmp_path / "visits.parquet"))
    if moment == "patients are counted":
        policy["columns"].pop("pid")
        policy.patient("pid")
    chosen, made = {
        "rows are staged": (while_rows_are_staged, "counted"),
        "patients are counted": (while_patients_are_counted, "patients"),
        "parts are counted": (WhilePartsAreCounted(), "counted"),
    }[moment]
    killed, done = [], threading.Event()

    def kill():
        while not done.is_set():
            for staged in tmp_path.glob(".kohort-staged-*"):
                if victims := chosen(session, staged):
                    killed.append((die(victims[0]), list((staged / made).glob("*.parquet"))))
                    return
            time.sleep(0.002)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        release = kh.spark(session, frame).anonymize(policy, tmp_path / "out")
    except kh.MachineError:
        assert not (tmp_path / "out").exists(), "whole, or not there"
    else:
        assert kh.verify(tmp_path / "out").result in ("verified", "partly")
        rows = shown(tmp_path / "out").values()
        assert sum(rows) == release.certificate["counted"]["recount"]["rows"] > 900_000
    finally:
        done.set()
        thread.join()
    assert killed, "an executor was killed in the middle"
    assert killed[0][1] == [], "the executors' work was not done"
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
