"""Tables that stay where they are: in DuckDB, in Spark, or in any database with a driver for Python.

The engine is asked for two things: a GROUP BY, and a join with the plan. Kohort decides the plan, draws the randomness,
writes the release and verifies it. Statements come from one place (`TableSql` in Rust), hold names and no value of the
data, and compare text by its bytes. What the engine returns is not trusted.

A connection is an object with three methods, and a fourth where workers write the release (see `_spark.py`):

- `columns(statement)` returns the names of the columns of a query.
- `query(statement)` yields its rows, batch after batch: Arrow data, or lists of rows of text.
- `load(name, table)` makes a temporary table of text columns, which replaces one of this name.
- `write_parts(job)` lets workers write the parts of a release. Where there is a method `first_rows(statement, rows)`, it is
  asked for the first rows alone; otherwise `query` is, and is left when enough came.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from . import _kohort
from ._kohort import DataError, PolicyError
from ._policy import Policy
from ._progress import Progress
from ._results import Risk, _Shown

#: About as many rows are in a part.
PART_ROWS = 500_000


class EngineTable:
    """A table that an engine holds."""

    def __init__(self, connection: Any, dialect: str | tuple[str, tuple[str, str], str, str], table: str) -> None:
        self._connection = connection
        self._data, self._columns = _kohort.Data.of_engine(connection, dialect, table, PART_ROWS)

    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self._columns)

    def risk(self, policy: Any, *, threads: int | None = None, progress: Progress | bool | None = None) -> Risk:
        """Measure how easily people can be found in the table as it is. The engine counts."""
        from . import _Settings

        with _Settings(progress, threads) as settings:
            found, html = _kohort.measure_risk(self._data, _policy(policy)._parts(), settings)
        return Risk(json.loads(found), html)

    def anonymize(
        self,
        policy: Any,
        out: str | os.PathLike[str],
        *,
        k: int | None = None,
        seed: int | None = None,
        sign: str | os.PathLike[str] | None = None,
        work: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        progress: Progress | bool | None = None,
        **privacy: Any,
    ) -> PublishedRelease:
        """Make a verified release in a new folder, as Parquet parts, or raise an exception: there is nothing in between.

        `work` is a private folder that the driver and all workers can write into, for rows that are staged; what was
        put there is removed at the end. Default: beside `out`.
        """
        from . import _Settings

        own, target = _policy(policy), Path(out).absolute()
        given = {**({"k": k} if k is not None else {}), **privacy}
        if given:
            own.privacy(**given)
        if target.exists():
            raise DataError(f"{target} exists. Choose another folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".kohort-staged-", dir=Path(work).absolute() if work is not None else target.parent))
        self._connection.work = staged
        try:
            with _Settings(progress, threads, seed=seed, sign=sign) as settings:
                return PublishedRelease(_kohort.anonymize_into(self._data, own._parts(), settings, target))
        finally:
            self._connection.work = None
            shutil.rmtree(staged, ignore_errors=True)


def _policy(policy: Any) -> Policy:
    from ._results import policy_of

    own = policy_of(policy)
    if own._functions:
        raise PolicyError("a hierarchy by a function needs a frame. Use a file of the hierarchy, or intervals, prefixes or dates.")
    roles = own.to_dict().get("columns", {})
    if any(isinstance(column, dict) and "role" not in column for column in roles.values()):
        raise PolicyError("an engine releases one table. Patients with their events need frames or files.")
    return own


class PublishedRelease(_Shown):
    """A verified release in a folder."""

    def __init__(self, native: _kohort.Published) -> None:
        self._native = native
        #: The folder, with release/ and evidence/.
        self.folder = Path(native.folder)

    @property
    def certificate(self) -> dict[str, Any]:
        """What is claimed and what was counted from the released bytes."""
        found: dict[str, Any] = json.loads((self.folder / "release" / "certificate.json").read_text(encoding="utf-8"))
        return found

    @property
    def metrics(self) -> dict[str, Any]:
        """Risk and utility, before and after."""
        found: dict[str, Any] = json.loads(self._native.metrics())
        return found

    @property
    def report(self) -> str:
        """The custodian's report, a page of HTML. It shows counts of the original data: keep it."""
        return (self.folder / "evidence" / "report.html").read_text(encoding="utf-8")

    @property
    def notes(self) -> list[str]:
        """Notes for the custodian."""
        return self._native.notes()

    def __repr__(self) -> str:
        # The rows that came in would tell how many were removed.
        return f"<kohort release: {self.metrics['rows']['out']:,} rows, verified>"

    def _plain(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self._native.summary_html()
