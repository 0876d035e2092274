"""DuckDB: statements run in this process, and their rows come as Arrow data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._engine import EngineTable

#: Rows of a batch.
BATCH = 65_536


class DuckConnection:
    """Runs statements on a connection of DuckDB."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        #: A private folder for the time of a run.
        self.work: Path | None = None

    def columns(self, statement: str) -> list[str]:
        """The names of the columns of a query."""
        return list(self.connection.sql(statement).columns)

    def query(self, statement: str) -> Iterator[Any]:
        """The rows of a query."""
        import pyarrow as pa

        found = self.connection.sql(statement)
        # Its name changed with DuckDB 2.
        read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
        for batch in read(BATCH):
            yield pa.Table.from_batches([batch])

    def load(self, name: str, table: Any) -> None:
        """Make a temporary table of text."""
        import pyarrow as pa

        view = f"{name}_given"
        self.connection.register(view, pa.table(table))
        try:
            self.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS SELECT * FROM {view}")
        finally:
            self.connection.unregister(view)


    def drop(self, name: str) -> None:
        """Remove a temporary table, if it is there."""
        with contextlib.suppress(Exception):
            self.connection.execute(f"DROP TABLE IF EXISTS temp.{name}")


class DuckTable(EngineTable):
    """A table of DuckDB: by its name, or a query."""

    def __init__(self, connection: Any, table: str) -> None:
        super().__init__(DuckConnection(connection), "duckdb", table)

    def anonymize(self, *args: Any, **settings: Any) -> Any:
        """Make a verified release in a new folder, as Parquet parts: see `EngineTable.anonymize`."""
        try:
            return super().anonymize(*args, **settings)
        finally:
            self._connection.drop("kohort_plan")
