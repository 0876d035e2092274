"""A table in DuckDB: the engine counts and joins, Kohort decides, writes and verifies."""

import collections
import hashlib
import json
import resource

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import COUNT_LIES, JOIN_LIES, PARTS_LIES, lying, other_parts

import kohort as kh
from kohort import _engine, _workers
from kohort._duckdb import DuckConnection

#: The columns of the tuples, in the order in which an engine's tuples are numbered.
TUPLE = ["age", "sex", "zip", "diagnosis"]


@pytest.fixture
def connection(columns):
    own = duckdb.connect()
    columns["los"][:7] = [None] * 7
    ward = pa.table(columns)
    own.register("given", ward)
    own.execute('CREATE TABLE ward AS SELECT *, DATE \'2024-01-01\' + CAST(los AS INTEGER) AS "Day ""1""" FROM given')
    return own


@pytest.fixture
def rows_policy(policy):
    policy["columns"].pop("pid")
    return policy.identifier("pid").other('Day "1"', reason="not known outside")


def shown(folder):
    """The released rows, as text, with how often each occurs."""
    table = pq.read_table(folder / "release" / "data")
    return collections.Counter(tuple(row.values()) for row in table.to_pylist())


def in_memory(release):
    return collections.Counter(tuple(row.values()) for row in pa.table(release._native.table_as_text()).to_pylist())


@pytest.mark.parametrize("method", ["local", "lattice", "suppress", "specialize"])
def test_a_release_from_duckdb_is_verified(tmp_path, connection, rows_policy, method):
    rows_policy.method(method, **({"max_suppressed": 0.05} if method in ("local", "lattice") else {}))
    release = kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out", seed=1)
    assert kh.verify(tmp_path / "out").result == "verified"
    assert release.certificate == json.loads((tmp_path / "out/release/certificate.json").read_text())
    assert sum(shown(tmp_path / "out").values()) == release.certificate["counted"]["recount"]["rows"]
    assert not list(tmp_path.glob(".kohort*")), "nothing is left behind"
    assert "data.csv" not in (tmp_path / "out/release/dictionary.md").read_text()
    assert "kohort_plan" not in {row[0] for row in connection.execute("SHOW ALL TABLES").fetchall()}


class Workers(DuckConnection):
    """DuckDB as an engine with workers: what Spark does on executors happens here, by the same statements and code."""

    def __init__(self, connection, lie=None):
        super().__init__(connection)
        self.lie = lie

    def write_parts(self, job):
        batches = self.query(job["keep"])
        rows = [own for batch in batches for own in _workers.keyed(batch.to_batches(), job["parts"])]
        self.load("kohort_keyed", pa.Table.from_batches(rows))
        for name, table in job["tables"].items():
            self.load(name, table)
        dealt = pa.concat_tables(self.query(job["deal"]))
        if self.lie == "other patients":
            # Everyone's rows are said to be those of one patient in four.
            fewer = pa.array([None if p is None else str(int(p) // 4) for p in dealt.column("p").to_pylist()])
            dealt = dealt.set_column(dealt.column_names.index("p"), "p", fewer)
        found = None
        if job["patients"]:
            counted = dealt.select(["p", *[f"r{place}" for place in job["counted"]]])
            # As if two workers had counted: the patients are cut between them.
            odd = pa.array([hash(p) % 2 == 0 for p in counted.column("p").to_pylist()])
            halves = [counted.filter(odd), counted.filter(pc.invert(odd))]
            found = [own for half in halves for own in _workers.patients(half.to_batches())]
        folder = str(self.work)
        if job["patients"]:
            dealt = dealt.drop_columns("p")
        if job["added"] is not None:
            added = pa.Table.from_batches(_workers.keyed(pa.table(job["added"]).to_batches(), job["parts"]))
            dealt = pa.concat_tables([dealt, added.select(dealt.column_names)], promote_options="permissive")
        parts = list(_workers.written(dealt.to_batches(), job["columns"], job["counted"], folder))
        if self.lie == "no patients":
            found = []
        parts = other_parts(parts, self.lie)
        # As Spark does it: one after the other.
        return {"parts": iter(parts), "patients": found and iter(found)}


def table_of(how, connection, table="ward", lie=None):
    if how == "stream":
        return kh.duckdb(connection, table)
    return _engine.EngineTable(Workers(connection, lie), "duckdb", table)


def embedded(connection, policy, patient=None):
    """The release of the same rows by Kohort's own reader, in the order in which an engine's tuples are numbered."""
    order = ", ".join([*TUPLE, *([f"CAST({patient} AS VARCHAR)"] if patient else [])])
    return kh.anonymize(pa.table(connection.sql(f"SELECT * FROM ward ORDER BY {order} NULLS FIRST")), policy, seed=1)


@pytest.mark.parametrize("how", ["stream", "workers"])
@pytest.mark.parametrize("method", ["local", "lattice", "suppress", "specialize"])
@pytest.mark.parametrize("with_patients", [False, True])
def test_the_plan_is_that_of_the_embedded_engine(tmp_path, connection, policy, method, with_patients, how):
    policy.other('Day "1"', reason="not known outside")
    if not with_patients:
        policy["columns"].pop("pid")
        policy.identifier("pid")
    policy.method(method, **({"max_suppressed": 0.2} if method in ("local", "lattice") else {}))
    release = table_of(how, connection).anonymize(policy, tmp_path / "out", seed=1)
    own = embedded(connection, policy, "pid" if with_patients else None)
    assert shown(tmp_path / "out") == in_memory(own)
    assert release.certificate["counted"]["recount"] == own.certificate["counted"]["recount"]
    assert release.certificate["counted"]["claim"] == own.certificate["counted"]["claim"]
    assert release.metrics["rows"] == own.metrics["rows"]
    assert kh.verify(tmp_path / "out").result == ("partly" if with_patients else "verified")


@pytest.mark.parametrize("how", ["stream", "workers"])
@pytest.mark.parametrize("with_patients", [False, True])
def test_synthetic_records_are_among_the_rows_of_an_engine(tmp_path, connection, policy, with_patients, how):
    policy.other('Day "1"', reason="not known outside")
    policy.sensitive("diagnosis", domain=["flu", "asthma", "angina", "burn", "fracture", "gout"])
    if not with_patients:
        policy["columns"].pop("pid")
        policy.identifier("pid")
    policy.method("ceiling", h=0.6, real_k=2, max_counterfeits=0.3)
    release = table_of(how, connection).anonymize(policy, tmp_path / "out", seed=1)
    own = embedded(connection, policy, "pid" if with_patients else None)
    assert release.metrics["rows"] == own.metrics["rows"] and release.metrics["rows"]["counterfeit"] > 0
    assert shown(tmp_path / "out") == in_memory(own)
    for counted in ("recount", "claim"):
        assert release.certificate["counted"][counted] == own.certificate["counted"][counted]
    assert kh.verify(tmp_path / "out").result == "partly"


def test_a_catalog_needs_the_order_of_rows(tmp_path, connection, rows_policy):
    rows_policy.sensitive("diagnosis", domain=["flu", "asthma", "angina", "burn", "fracture", "gout"])
    rows_policy.privacy(k=4, confidence=None)
    rows_policy.method("ceiling", h=0.6, real_k=2, max_counterfeits=0.3, catalog="grouped")
    table_of("stream", connection).anonymize(rows_policy, tmp_path / "stream", seed=1)
    assert kh.verify(tmp_path / "stream").result == "partly"
    with pytest.raises(kh.DataError, match="catalog"):
        table_of("workers", connection).anonymize(rows_policy, tmp_path / "workers", seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["stream"]


@pytest.mark.parametrize("how", ["stream", "workers"])
def test_many_parts_hold_all_rows_in_random_order(tmp_path, connection, rows_policy, monkeypatch, how):
    monkeypatch.setattr(_engine, "PART_ROWS", 60)
    table_of(how, connection, "SELECT * FROM ward").anonymize(rows_policy, tmp_path / "out")
    parts = sorted((tmp_path / "out/release/data").iterdir())
    assert len(parts) > 3 and kh.verify(tmp_path / "out").result == "verified"
    first = [row["los"] for row in pq.read_table(parts[0]).to_pylist()]
    assert first != sorted(first, key=lambda own: own or "")


def test_parts_that_were_counted_by_workers_are_counted_again_a_few_at_random(tmp_path, connection, policy, monkeypatch):
    policy.other('Day "1"', reason="not known outside")
    notes = {}
    for rows, name in ((60, "few"), (10, "many")):
        monkeypatch.setattr(_engine, "PART_ROWS", rows)
        release = table_of("workers", connection).anonymize(policy, tmp_path / name, seed=1)
        notes[name] = [note for note in release.notes if "workers" in note]
        # The hash of each part as it was counted is in the certificate.
        parts = next(own for own in release.certificate["counted"]["files"] if own["name"] == "data")["parts"]
        for part in parts:
            bytes_ = (tmp_path / name / "release" / part["name"]).read_bytes()
            assert hashlib.sha256(bytes_).hexdigest() == part["sha256"]
        if name == "many":
            assert len(parts) > 8
            assert f"that {len(parts) - 8} of {len(parts)} parts hold what Kohort counted" in notes[name][0]
        assert kh.verify(tmp_path / name).result == "partly"
    assert not notes["few"] and shown(tmp_path / "few") == shown(tmp_path / "many")


def test_a_tampered_part_is_refused(tmp_path, connection, rows_policy):
    kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out")
    part = next((tmp_path / "out/release/data").iterdir())
    table = pq.read_table(part)
    pq.write_table(table.slice(1), part)
    assert kh.verify(tmp_path / "out").result == "refused"


def changing(table, statement):
    """The same table, which somebody changes when the plan is loaded."""
    connection = table._connection
    load = connection.load

    def changed(name, rows):
        load(name, rows)
        connection.connection.execute(statement)

    connection.load = changed
    return table


CHANGES = {
    "changed": "UPDATE ward SET diagnosis = 'flu'",
    "deleted": "DELETE FROM ward WHERE rowid = 3",
    "dropped": "DROP TABLE ward",
}


@pytest.mark.parametrize("lie", [*COUNT_LIES, *JOIN_LIES, *CHANGES])
def test_an_engine_that_lies_publishes_nothing(tmp_path, connection, rows_policy, lie):
    table = kh.duckdb(connection, "ward")
    table = changing(table, CHANGES[lie]) if lie in CHANGES else lying(table, lie)
    with pytest.raises((kh.RefusedError, kh.MachineError)) as caught:
        table.anonymize(rows_policy, tmp_path / "out")
    assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


@pytest.mark.parametrize("part_rows", [60, 10])
@pytest.mark.parametrize("lie", [*PARTS_LIES, "other patients", "no patients"])
def test_workers_that_lie_publish_nothing(tmp_path, connection, policy, lie, monkeypatch, part_rows):
    if lie == "other counts" and part_rows == 10:
        pytest.skip("two of many parts are found if they are among those that are counted again")
    monkeypatch.setattr(_engine, "PART_ROWS", part_rows)
    policy.other('Day "1"', reason="not known outside")
    with pytest.raises((kh.RefusedError, kh.MachineError)) as caught:
        table_of("workers", connection, lie=lie).anonymize(policy, tmp_path / "out")
    assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


def test_text_is_compared_by_its_bytes_whatever_collation_a_column_has(tmp_path):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE ward (sex VARCHAR COLLATE NOCASE, town VARCHAR COLLATE NOCASE.NOACCENT, note VARCHAR)")
    rows = [("f", "Zürich", ""), ("F", "zurich", None), ("f", "Zürich ", "x")]
    connection.executemany("INSERT INTO ward VALUES (?, ?, ?)", rows * 10)
    policy = kh.Policy().quasi("sex").quasi("town").other("note", reason="a test").method("lattice", max_suppressed=0)
    for how in ("stream", "workers"):
        table_of(how, connection).anonymize(policy, tmp_path / how, k=10)
        assert kh.verify(tmp_path / how).result == "verified"
        # An empty text is missing, as in files; one with a blank is not another's spelling.
        expected = [("f", "Zürich", None), ("F", "zurich", None), ("f", "Zürich ", "x")]
        assert shown(tmp_path / how) == {row: 10 for row in expected}
    # One spelling alone is too rare, though the collation of its column says that it is the same as others.
    connection.execute("INSERT INTO ward VALUES ('f', 'zÜrich', NULL)")
    kh.duckdb(connection, "ward").anonymize(policy, tmp_path / "new", k=10)
    assert {town for _, town, _ in shown(tmp_path / "new")} == {"*"}


def test_a_row_without_a_patient_is_refused(tmp_path, connection, policy):
    policy.other('Day "1"', reason="not known outside")
    connection.execute("UPDATE ward SET pid = NULL WHERE rowid = 5")
    with pytest.raises(kh.DataError, match="no patient"):
        kh.duckdb(connection, "ward").anonymize(policy, tmp_path / "out")


def test_no_value_is_in_a_statement(tmp_path, connection, policy):
    said = []

    class Listening(Workers):
        def query(self, statement):
            said.append(statement)
            return super().query(statement)

    policy.other('Day "1"', reason="not known outside")
    _engine.EngineTable(Listening(connection), "duckdb", "ward").anonymize(policy, tmp_path / "out")
    assert len(said) > 4
    for statement in said:
        assert not any(value in statement for value in ("flu", "asthma", "Person", "12", "13", "'F'", "'M'")), statement


def test_what_is_wrong_is_said(tmp_path, connection, policy, rows_policy):
    with pytest.raises(kh.MachineError, match="DuckDB failed"):
        kh.duckdb(connection, "no_such_table").anonymize(rows_policy, tmp_path / "out")
    (tmp_path / "out").mkdir()
    with pytest.raises(kh.DataError, match="exists"):
        kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out")
    with pytest.raises(kh.CannotBeMetError):
        kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "new", k=5_000)
    linked = kh.Policy().patient("id", table="patients").quasi("sex", table="patients")
    with pytest.raises(kh.PolicyError, match="one table"):
        kh.duckdb(connection, "ward").anonymize(linked, tmp_path / "new")
    cleaned = kh.Policy(rows_policy.to_dict())
    cleaned["input"] = {"missing": ["NA"]}
    with pytest.raises(kh.DataError, match="Make a view"):
        kh.duckdb(connection, "ward").anonymize(cleaned, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_full_disk_publishes_nothing(tmp_path, connection, rows_policy):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        for how in ("stream", "workers"):
            with pytest.raises(kh.MachineError) as caught:
                table_of(how, connection).anonymize(rows_policy, tmp_path / "out")
            assert "flu" not in str(caught.value) and list(tmp_path.iterdir()) == []
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_risk_is_counted_by_the_engine(connection, policy):
    policy.other('Day "1"', reason="not known outside")
    by_engine = kh.risk(pl.DataFrame(connection.sql("SELECT * FROM ward")), policy)
    assert kh.duckdb(connection, "ward").risk(policy).details["unique"] == by_engine.details["unique"]


def test_keys_are_random_and_deal_rows_to_all_parts():
    batch = pa.record_batch({"x": list(range(4_000))})
    (own,) = _workers.keyed([batch], 7)
    keys = own.column(_workers.KEY).to_pylist()
    assert len(set(keys)) == 4_000 and all(len(key) == 16 for key in keys)
    counts = collections.Counter(own.column(_workers.PART).to_pylist())
    assert set(counts) == set(range(7)) and min(counts.values()) > 400
    (again,) = _workers.keyed([batch], 7)
    assert not set(keys) & set(again.column(_workers.KEY).to_pylist())


def test_polars_reads_the_parts(tmp_path, connection, rows_policy):
    kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out/release/data/*.parquet").height > 300


def test_whoever_may_only_read_needs_no_more(tmp_path, connection, rows_policy):
    connection.execute(f"ATTACH '{tmp_path / 'ward.duckdb'}' AS kept")
    connection.execute("CREATE TABLE kept.ward AS SELECT * FROM ward")
    connection.execute("DETACH kept")
    with duckdb.connect(str(tmp_path / "ward.duckdb"), read_only=True) as own:
        kh.duckdb(own, "ward").anonymize(rows_policy, tmp_path / "out")
    assert kh.verify(tmp_path / "out").result == "verified"


def test_numbers_without_a_hierarchy_get_the_intervals_of_the_embedded_engine(tmp_path, connection, rows_policy):
    rows_policy.quasi("age")
    kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out", seed=1)
    assert shown(tmp_path / "out") == in_memory(embedded(connection, rows_policy))
    assert any(own[0].startswith("[") for own in shown(tmp_path / "out"))


@pytest.mark.parametrize("with_patients", [False, True])
def test_a_column_that_singles_people_out_is_found_by_the_engine(tmp_path, with_patients):
    # More rows than the first ones that Kohort looks at; the engine counts how many people have each value.
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE ward AS SELECT i // 3 AS pid, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex, "
        "'x' || hash(i // 2) AS device, 'y' || i % 100 AS kind FROM range(60000) t(i)"
    )
    policy = kh.Policy().quasi("sex").other("device", "kind", reason="a test").privacy(k=5).method("lattice", max_suppressed=0)
    policy.patient("pid") if with_patients else policy.identifier("pid")
    found = {}
    for name, release in {
        "duckdb": lambda: kh.duckdb(connection, "ward").anonymize(policy, tmp_path / "out"),
        "embedded": lambda: kh.anonymize(pa.table(connection.sql("SELECT * FROM ward")), policy),
    }.items():
        try:
            release()
            found[name] = None
        except kh.KohortError as error:
            found[name] = (type(error), str(error).split(":", 1)[1])
    assert found["duckdb"] == found["embedded"]
    assert (found["duckdb"] is None) != with_patients
