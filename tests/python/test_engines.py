"""A table in DuckDB: the engine counts and joins, Kohort decides, writes and verifies."""

import collections
import hashlib
import itertools
import json
import resource

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

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
        parts = list(_workers.written(dealt.to_batches(), job["columns"], job["counted"], folder))
        if self.lie == "lost part":
            parts = parts[1:]
        if self.lie == "double part":
            parts = [*parts, parts[0]]
        if self.lie == "other bytes":
            table = pq.read_table(parts[0][1])
            pq.write_table(table, parts[0][1])
        if self.lie == "no patients":
            found = []
        if self.lie == "other counts":
            parts = one_more_and_one_less(parts)
        if self.lie == "other cells":
            parts = [counted_before(*part) for part in parts]
        # As Spark does it: one after the other.
        return {"parts": iter(parts), "patients": found and iter(found)}


def one_more_and_one_less(parts):
    """Counts that hold the rows of the plan together, but are not those of their parts: of the same tuple, one part has
    a row more than it holds and another one fewer."""
    parts = [(number, path, json.loads(counts)) for number, path, counts in parts]

    def counted(part):
        _, values, tuples, *_ = part[2]
        return {tuple(values[i][own] for i, own in enumerate(key)): entry for entry in tuples for key in [entry[0]]}

    for more, less in itertools.permutations(parts, 2):
        own, other = counted(more), counted(less)
        for cells in own.keys() & other.keys():
            if other[cells][1] > 1:
                own[cells][1] += 1
                other[cells][1] -= 1
                return [(number, path, json.dumps(counts)) for number, path, counts in parts]
    raise AssertionError("no two parts hold the same tuple")


def counted_before(number, path, counts):
    """A part with other cells than those that were counted, and with the hash of what it now holds."""
    table = pq.read_table(path)
    column = table.column_names.index("age")
    pq.write_table(table.set_column(column, "age", pa.array(["[0,100)"] * table.num_rows)), path)
    _, *rest = json.loads(counts)
    with open(path, "rb") as file:
        return number, path, json.dumps([hashlib.sha256(file.read()).hexdigest(), *rest])


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


class Lying(DuckConnection):
    """An engine that says what a test wants it to say."""

    def __init__(self, connection, lie):
        super().__init__(connection)
        self.lie = lie

    def query(self, statement):
        found = list(super().query(statement))
        counts_tuples = statement.startswith("SELECT q0") and "AS patients" not in statement
        if counts_tuples and self.lie in ("one more", "one less", "swapped"):
            (found,) = found
            counts = [int(own) for own in found.column(-1).to_pylist()]
            if self.lie == "one more":
                counts[0] += 1
            if self.lie == "one less":
                counts[0], counts[1] = counts[0] + counts[1], 0
            if self.lie == "swapped":
                high = max(range(len(counts)), key=counts.__getitem__)
                low = min(range(len(counts)), key=counts.__getitem__)
                assert counts[high] > counts[low]
                counts[high], counts[low] = counts[low], counts[high]
            found = found.set_column(found.num_columns - 1, "n", pa.array(counts))
            found = [found.filter(pc.greater(found.column(-1), 0))]
        if "JOIN kohort_plan" in statement and self.lie == "lost row":
            found = [found[0].slice(1), *found[1:]]
        if "JOIN kohort_plan" in statement and self.lie == "double row":
            found = [*found, found[0].slice(0, 1)]
        if "JOIN kohort_plan" in statement and self.lie == "cut":
            raise ConnectionError("Person 17 has flu")
        return iter(found)

    def load(self, name, table):
        super().load(name, table)
        if self.lie == "changed":
            self.connection.execute("UPDATE ward SET diagnosis = 'flu'")
        if self.lie == "deleted":
            self.connection.execute("DELETE FROM ward WHERE rowid = 3")
        if self.lie == "dropped":
            self.connection.execute("DROP TABLE ward")


LIES = ["one more", "one less", "swapped", "changed", "deleted", "dropped", "lost row", "double row", "cut"]


@pytest.mark.parametrize("lie", LIES)
def test_an_engine_that_lies_publishes_nothing(tmp_path, connection, rows_policy, lie):
    table = _engine.EngineTable(Lying(connection, lie), "duckdb", "ward")
    with pytest.raises((kh.RefusedError, kh.MachineError)) as caught:
        table.anonymize(rows_policy, tmp_path / "out")
    assert "flu" not in str(caught.value) and "Person" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == [], "nothing is published, and nothing is left behind"


WORKERS_LIES = ["lost part", "double part", "other bytes", "other patients", "no patients", "other counts", "other cells"]


@pytest.mark.parametrize("part_rows", [60, 10])
@pytest.mark.parametrize("lie", WORKERS_LIES)
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
    assert len(set(keys)) == 4_000 and all(len(key) == 32 for key in keys)
    counts = collections.Counter(own.column(_workers.PART).to_pylist())
    assert set(counts) == set(range(7)) and min(counts.values()) > 400
    (again,) = _workers.keyed([batch], 7)
    assert not set(keys) & set(again.column(_workers.KEY).to_pylist())


def test_polars_reads_the_parts(tmp_path, connection, rows_policy):
    kh.duckdb(connection, "ward").anonymize(rows_policy, tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out/release/data/*.parquet").height > 300
