"""Any database whose driver follows Python's DB-API 2.0 (PEP 249): PostgreSQL, Snowflake, SQL Server, Oracle, BigQuery.

The driver's connection must be usable from another thread than the one that made it, one statement at a time.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _kohort
from ._engine import EngineTable
from ._kohort import PolicyError

#: Rows of a batch.
BATCH = 10_000

#: The mark of a value in a statement, by the driver's `paramstyle`.
MARKS = {"qmark": "?", "format": "%s", "pyformat": "%s", "numeric": ":{}", "named": ":{}"}


class DbApiConnection:
    """Runs statements on a connection of a driver."""

    def __init__(self, connection: Any, text: str, paramstyle: str, create: str, drop: str, has_cursors: bool) -> None:
        if paramstyle not in MARKS:
            raise PolicyError(f"`paramstyle` is one of {', '.join(MARKS)}: that of the driver's module.")
        self.connection = connection
        # One for all statements: with some drivers a temporary table belongs to the cursor that made it.
        self._cursor = connection.cursor()
        self._text, self._mark, self._create, self._drop = text, MARKS[paramstyle], create, drop
        self._has_cursors = has_cursors
        self.work: Path | None = None

    def columns(self, statement: str) -> list[str]:
        """The names of the columns of a query."""
        self._cursor.execute(f"SELECT * FROM ({statement}) t WHERE 1 = 0")
        return [own[0] for own in self._cursor.description]

    def query(self, statement: str) -> Iterator[list[list[str | None]]]:
        """The rows of a query."""
        batches = self._by_cursor(statement) if self._has_cursors else self._by_statement(statement)
        for rows in batches:
            yield [[None if cell is None else str(cell) for cell in row] for row in rows]

    def _by_statement(self, statement: str) -> Iterator[Any]:
        self._cursor.execute(statement)
        while rows := self._cursor.fetchmany(BATCH):
            yield rows

    def _by_cursor(self, statement: str) -> Iterator[Any]:
        # Of a plain statement, drivers for PostgreSQL take all rows into memory before they hand over the first.
        name = f"kohort_{uuid.uuid4().hex}"
        self._cursor.execute(f"DECLARE {name} NO SCROLL CURSOR WITH HOLD FOR {statement}")
        try:
            while True:
                self._cursor.execute(f"FETCH FORWARD {BATCH} FROM {name}")
                if not (rows := self._cursor.fetchall()):
                    return
                yield rows
        finally:
            with contextlib.suppress(Exception):
                self._cursor.execute(f"CLOSE {name}")

    def load(self, name: str, table: Any) -> None:
        """Make a temporary table of text. Values travel as parameters."""
        self._cursor.execute(self._drop.format(name=name))
        self._cursor.execute(self._create.format(name=name, columns=", ".join(f"{own} {self._text}" for own in table.columns)))
        marks = ", ".join(self._mark.format(place) for place in range(1, len(table.columns) + 1))
        for start in range(0, len(table), BATCH):
            self._cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", table.rows(start, start + BATCH))

    def drop(self, name: str) -> None:
        """Remove the table at the end."""
        with contextlib.suppress(Exception):
            self._cursor.execute(self._drop.format(name=name))


class DbApiTable(EngineTable):
    """A table of a database with a driver: by its name, or a query."""

    def __init__(self, connection: Any, table: str, dialect: Any, paramstyle: str, create: str, drop: str) -> None:
        text = _kohort.text_type(dialect)
        has_cursors = isinstance(dialect, str) and dialect.lower() == "postgresql"
        super().__init__(DbApiConnection(connection, text, paramstyle, create, drop, has_cursors), dialect, table)

    def anonymize(self, *args: Any, **settings: Any) -> Any:
        """Make a verified release in a new folder, as Parquet parts: see `EngineTable.anonymize`."""
        try:
            return super().anonymize(*args, **settings)
        finally:
            self._connection.drop("kohort_plan")
