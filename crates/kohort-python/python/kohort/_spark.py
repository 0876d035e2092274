"""Spark: it counts and joins on the cluster, and Kohort's own code runs on the executors.

1. count    the engine groups rows by their tuples (Spark SQL); the driver decides the plan.
2. key      every row gets a random key of 16 bytes (executors). Keyed rows are staged in a private folder, so that a
            task that is repeated finds the same keys.
3. deal     staged rows are joined with the plan (Spark SQL). Where a tuple's rows go several ways, they are ranked by
            their keys, and the ranks are dealt.
4. count    with patients: rows that were dealt are staged, brought together by patient, and patients are counted by the
            set of what is released of them (executors).
5. write    the last bytes of the key deal rows to parts. A part is sorted by its keys, written, and hashed and counted
            from its bytes (executors).
6. verify   the counts of all parts are added up, one after the other, and must be those of the plan. The verifier hashes
            every part, counts a few once more that are chosen at random, and decides by the sums (driver).

What executors count comes through files in the private folder, so that the driver never holds all of it.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._engine import EngineTable
from ._kohort import MachineError, RefusedError
from ._workers import KEY, PART

#: The bytes of a plan that one task holds to join its rows with them.
HASHED = 256 << 20


class SparkConnection:
    """Runs statements in a session of Spark."""

    def __init__(self, session: Any) -> None:
        self.session = session
        #: A private folder that the driver and the executors see, for the time of a run.
        self.work: Path | None = None

    def columns(self, statement: str) -> list[str]:
        """The names of the columns of a query."""
        return list(self.session.sql(statement).columns)

    def query(self, statement: str) -> Iterator[Any]:
        """The rows of a query. During a run executors write them into the private folder, one file after the other is
        read, and the driver never holds all of them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        frame = self.session.sql(statement)
        if self.work is None:
            yield frame.toArrow()
            return
        folder = self.work / f"answer-{uuid.uuid4().hex}"
        try:
            frame.write.parquet(str(folder))
            for file in sorted(folder.glob("*.parquet")):
                for batch in pq.ParquetFile(file).iter_batches():
                    yield pa.Table.from_batches([batch])
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def first_rows(self, statement: str, rows: int) -> Iterator[Any]:
        """The first rows of a query, in whatever order. Not more than are needed are read."""
        yield self.session.sql(statement).limit(rows).toArrow()

    def load(self, name: str, table: Any) -> None:
        """Make a temporary table of text."""
        raise MachineError("on Spark the executors write the release.")

    def write_parts(self, job: dict[str, Any]) -> dict[str, Any]:
        """Let executors key, deal, write and count the rows of a plan."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder, parts, names, counted = Path(self.work or job["folder"]), job["parts"], job["columns"], job["counted"]
        own = self.session.newSession()
        for setting in ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone"):
            own.conf.set(setting, self.session.conf.get(setting))
        # The plan is much smaller than the rows: they are not sorted to be joined with it.
        own.conf.set("spark.sql.join.preferSortMergeJoin", "false")
        own.conf.set("spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold", str(HASHED))

        def add_keys(batches: Iterator[Any]) -> Iterator[Any]:
            from kohort._workers import keyed

            return keyed(batches, parts)

        rows = self.session.sql(job["keep"])
        schema = ", ".join([*(f"{name} string" for name in rows.columns), f"{KEY} binary", f"{PART} int"])
        # Written before they are used: a task that is repeated would draw other keys.
        rows.mapInArrow(add_keys, schema).write.parquet(str(folder / "keyed"))
        keyed = own.read.parquet(str(folder / "keyed"))
        if keyed.count() != job["rows"]:
            raise RefusedError("the table changed between the two passes: it has other rows than were counted. Nothing was published.")
        keyed.createOrReplaceTempView("kohort_keyed")
        for name, table in job["tables"].items():
            pq.write_table(pa.table(table), folder / f"{name}.parquet")
            own.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
        dealt = own.sql(job["deal"])
        found = None
        if job["patients"]:
            dealt.write.parquet(str(folder / "dealt"))
            dealt = own.read.parquet(str(folder / "dealt"))
            found = self._patients(dealt, counted, folder)
            dealt = dealt.drop("p")
        if job["added"] is not None:
            from ._workers import keyed as with_keys

            # Synthetic records are dealt to the parts like all others.
            added = pa.Table.from_batches(with_keys(pa.table(job["added"]).to_batches(), parts))
            pq.write_table(added, folder / "added.parquet")
            dealt = dealt.unionByName(own.read.parquet(str(folder / "added.parquet")))
        return {"parts": self._parts(dealt, parts, names, counted, folder), "patients": found}

    @staticmethod
    def _found(frame: Any, folder: Path) -> Iterator[str]:
        """The texts of a column that executors make: one file after the other, and of each task once."""
        import pyarrow.parquet as pq

        frame.write.parquet(str(folder))
        for file in sorted(folder.glob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(batch_size=1):
                yield from batch.column(0).to_pylist()

    @staticmethod
    def _patients(dealt: Any, counted: list[int], folder: Path) -> Iterator[str]:
        def count(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            from kohort._workers import patients

            yield pa.RecordBatch.from_arrays([pa.array(list(patients(batches)), pa.string())], names=["found"])

        # All rows of a patient come to one task.
        own = dealt.select("p", *[f"r{place}" for place in counted]).repartition("p")
        return SparkConnection._found(own.mapInArrow(count, "found string"), folder / "patients")

    @staticmethod
    def _parts(dealt: Any, parts: int, names: list[str], counted: list[int], folder: Path) -> Iterator[tuple[int, str, str]]:
        where = str(folder)

        def write(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            from kohort._workers import written

            for own in written(batches, names, counted, where):
                yield pa.RecordBatch.from_arrays([pa.array([json.dumps(own)], pa.string())], names=["found"])

        # One task for each part; before Spark 4.1 as far as hashes allow.
        by_id = getattr(dealt, "repartitionById", None)
        spread = by_id(parts, dealt[PART]) if by_id else dealt.repartition(parts, dealt[PART])
        for found in SparkConnection._found(spread.mapInArrow(write, "found string"), folder / "counted"):
            number, path, counts = json.loads(found)
            yield int(number), str(path), str(counts)


class SparkTable(EngineTable):
    """A table of Spark: by its name, a query, or a data frame."""

    def __init__(self, session: Any, table: Any) -> None:
        if not isinstance(table, str):
            frame, table = table, f"kohort_{uuid.uuid4().hex}"
            frame.createOrReplaceTempView(table)
        super().__init__(SparkConnection(session), "spark", table)
