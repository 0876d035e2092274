"""Kohort de-identifies health data so that it can be shared, and proves that the result keeps its promise.

>>> import kohort as kh
>>> import polars as pl
>>> df = pl.DataFrame({"name": list("abcdef"), "age": [31, 34, 36, 52, 55, 58], "sex": list("FMMFFF")})
>>> policy = kh.Policy().identifier("name").quasi("age", intervals=[10, 20], start=0, end=100).quasi("sex")
>>> release = kh.anonymize(df, policy.method("lattice", max_suppressed=0), k=3)
>>> release.data.columns
['age', 'sex']
>>> release.data.height
6
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from . import _kohort
from . import _arguments
from ._dbapi import DbApiTable
from ._duckdb import DuckTable
from ._engine import EngineTable, PublishedRelease
from ._frames import Prepared, prepare
from ._kohort import (
    CannotBeMetError,
    DataError,
    KohortError,
    MachineError,
    PolicyError,
    RefusedError,
    __version__,
)
from ._policy import Advice, Policy
from ._progress import Progress, chosen, ended
from ._results import Comparison, Picture, Release, Risk, Verification, policy_of
from ._spark import SparkTable

__all__ = [
    "Advice",
    "CannotBeMetError",
    "Comparison",
    "DataError",
    "DbApiTable",
    "DuckTable",
    "EngineTable",
    "KohortError",
    "MachineError",
    "Picture",
    "Policy",
    "PolicyError",
    "PublishedRelease",
    "RefusedError",
    "Release",
    "Risk",
    "SparkTable",
    "Verification",
    "__version__",
    "anonymize",
    "compare",
    "dbapi",
    "duckdb",
    "flatten",
    "key",
    "risk",
    "spark",
    "suggest",
    "verify",
]

#: A policy, the keys of one, its text, or the path of its file.
PolicyLike = Policy | Mapping[str, Any] | str | os.PathLike[str]


class _Settings:
    """The settings of a call, with its progress cleared at the end."""

    def __init__(self, progress: Progress | bool | None, threads: int | None, **keys: Any) -> None:
        for name, number, least in (("threads", threads, 1), ("seed", keys.get("seed"), 0)):
            if number is not None and (not isinstance(number, Integral) or not least <= int(number) < 2**64):
                raise PolicyError(f"{name} must be a whole number, {least} or more.")
        for name in ("sign", "ledger"):
            if keys.get(name) is not None:
                keys[name] = _arguments.path(keys[name], name)
        deadline = keys.get("deadline")
        if deadline is not None and not (isinstance(deadline, Real) and float(deadline) >= 0):
            raise PolicyError("deadline must be a number of seconds, 0 or more.")
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise PolicyError("progress must be True, False, or a function of (stage, done, total).")
        self.progress = chosen(progress)
        self.keys: _kohort.RunSettings = {
            "threads": threads,
            "seed": keys.get("seed"),
            "keep_rows": bool(keys.get("keep_rows", False)),
            "sign": keys.get("sign"),
            "ledger": keys.get("ledger"),
            "deadline": keys.get("deadline"),
            "progress": self.progress,
        }

    def __enter__(self) -> _kohort.RunSettings:
        return self.keys

    def __exit__(self, *_: object) -> None:
        ended(self.progress)


def suggest(data: object, *, threads: int | None = None, progress: Progress | bool | None = None) -> Policy:
    """Profile a table and suggest a policy, as `kohort init` does. It lacks `k`: only you can choose that.

    Read `policy.advice` and `policy.warnings`, and change what you know better.

    >>> import polars as pl
    >>> wards = pl.DataFrame({"patient_id": range(100), "sex": ["F", "M"] * 50, "age": [20 + n % 60 for n in range(100)]})
    >>> policy = suggest(wards)
    >>> {own.column: own.role for own in policy.advice}
    {'patient_id': 'patient', 'sex': 'quasi', 'age': 'quasi'}
    """
    prepared = prepare(data)
    with _Settings(progress, threads) as settings:
        text, warnings, advice = _kohort.suggest(prepared.data, settings)
    policy = Policy.from_toml(text)
    policy.warnings = tuple(warnings)
    policy.advice = tuple(Advice(*own[:5], tuple(own[5])) for own in advice)
    return policy


def risk(
    data: object,
    policy: PolicyLike | None = None,
    *,
    quasi: Iterable[str] | None = None,
    patient: str | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Risk:
    """Measure how easily people can be found in the data as it is.

    Name the columns that others may know (`quasi`) and the key of a person (`patient`), or pass a policy. Without
    either, the roles are those that `suggest` proposes.

    >>> import polars as pl
    >>> found = risk(pl.DataFrame({"sex": list("FFFM"), "ward": list("aabb")}), quasi=["sex", "ward"])
    >>> found.unique
    0.5
    """
    prepared, own = _for_risk(data, policy, [quasi] if isinstance(quasi, str) else quasi, patient, threads)
    with _Settings(progress, threads) as settings:
        found, html = _kohort.measure_risk(prepared.data, own._parts(), settings)
    return Risk(json.loads(found), html)


def _for_risk(
    data: object,
    policy: PolicyLike | None,
    quasi: Iterable[str] | None,
    patient: str | None,
    threads: int | None,
) -> tuple[Prepared, Policy]:
    if policy is not None:
        if quasi is not None or patient is not None:
            raise PolicyError("pass a policy, or name columns with `quasi` and `patient`, not both.")
        if isinstance(policy, (list, tuple)):
            raise PolicyError('columns are named with quasi: kh.risk(data, quasi=["age", "sex"]).')
        return _bound(data, policy)
    named = _arguments.columns(quasi, "quasi")
    if patient in named:
        raise PolicyError(f"{patient!r} is named as `quasi` and as `patient`. It can be one of them.")
    prepared = prepare(data)
    if not prepared.is_one_table:
        raise PolicyError("codes, and patients with their events, need a policy: kh.risk(data, policy).")
    _not_the_index(prepared, [*named, *([] if patient is None else [patient])])
    with _Settings(False, threads) as settings:
        text, _, _ = _kohort.suggest(prepared.data, settings)
    own = Policy.from_toml(text)
    if quasi is None and patient is None:
        return prepared, own
    # The suggested hierarchies are kept, so that the cost of k is realistic.
    suggested = own["columns"]
    columns: dict[str, Any] = {}
    for name in named:
        keys = suggested.get(name, {})
        keep = {key: keys[key] for key in ("hierarchy", "levels", "unmapped", "weight") if key in keys}
        columns[name] = {"role": "quasi", **keep}
    if patient is not None:
        columns[patient] = {"role": "patient"}
    columns["*"] = {"role": "identifier"}
    own["columns"] = columns
    return prepared, own


def _not_the_index(prepared: Prepared, columns: Iterable[str]) -> None:
    for name in prepared.index.intersection(columns):
        raise PolicyError(f"{name!r} is the index of the frame, and no column. Make it one: frame.reset_index().")


def _bound(data: object, policy: PolicyLike) -> tuple[Prepared, Policy]:
    """The data, and the policy with what only the data can tell: values for functions, separators for lists."""
    own = policy_of(policy)
    prepared = prepare(data, [name for _, name in own._functions])
    _not_the_index(prepared, own.to_dict().get("columns", {}))
    own = own._for(prepared.values)
    for name in prepared.lists:
        column = own["columns"].get(name) if "columns" in own.to_dict() else None
        if isinstance(column, dict) and column.get("role") == "codes":
            column["separator"] = _kohort.CODE_SEPARATOR
            own._settings.setdefault("input", {})["layout"] = "list"
            own._text = None
        elif not (isinstance(column, dict) and column.get("role") == "identifier"):
            raise DataError(f"column {name!r} holds lists. Only a column with the role `codes` may.")
    if isinstance(data, (list, tuple)) and "columns" not in own.to_dict():
        own.patient("patient").codes("code")
    return prepared, own


def anonymize(
    data: object,
    policy: PolicyLike,
    *,
    k: int | None = None,
    seed: int | None = None,
    keep_rows: bool = False,
    sign: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    deadline: float | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **privacy: Any,
) -> Release:
    """Make a verified release, or raise an exception: there is nothing in between.

    `data` is a frame, the path of a file, a dictionary `{"patients": …, "claims": …}`, or a list of codes for each
    patient. `k` and further keys (`confidence=0.5`) are set under [privacy]. `seed` is for tests only. After `deadline`
    seconds, `local` stops improving: its best result so far is verified like any other, and the evidence says that it
    cannot be repeated.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": list("FFFM") * 5, "ward": list("aabb") * 5})
    >>> policy = Policy().quasi("sex").quasi("ward").method("local", max_suppressed=0)
    >>> release = anonymize(frame, policy, k=5)
    >>> release.data.height
    20
    >>> release.certificate["counted"]["claim"]["k"]
    5
    >>> anonymize(frame, policy, k=21)
    Traceback (most recent call last):
    _kohort.CannotBeMetError: ...
    """
    prepared, own = _bound(data, policy)
    given = {**({"k": k} if k is not None else {}), **privacy}
    if given:
        own.privacy(**given)
    with _Settings(progress, threads, seed=seed, keep_rows=keep_rows, sign=sign, ledger=ledger, deadline=deadline) as settings:
        return Release(_kohort.anonymize(prepared.data, own._parts(), settings), prepared)


def verify(
    folder: str | os.PathLike[str],
    *,
    original: object = None,
    policy: PolicyLike | None = None,
    signer: str | os.PathLike[str] | None = None,
    strict: bool = False,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Verification:
    """Count the guarantee of a saved release again, from its bytes. With the original data and its policy, compare
    them too. `signer` is the file of a public key that must have signed it.

    >>> import polars as pl, tempfile
    >>> frame = pl.DataFrame({"sex": list("FFFM") * 5})
    >>> release = anonymize(frame, Policy().quasi("sex").method("lattice", max_suppressed=0), k=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     verify(release.save(f"{folder}/out"))
    <kohort verification: verified>
    """
    folder = _arguments.released_folder(folder, "verify")
    signer = _arguments.path(signer, "signer") if signer is not None else None
    if (original is None) != (policy is None):
        raise PolicyError("the original data and its policy belong together: pass both, or none.")
    compared = None
    if original is not None and policy is not None:
        prepared, own = _bound(original, policy)
        compared = (prepared.data, own._parts())
    with _Settings(progress, threads) as settings:
        return Verification(json.loads(_kohort.verify(folder, settings, signer, strict, compared)))


def compare(
    data: object,
    policy: PolicyLike,
    *,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **vary: Iterable[Any],
) -> Comparison:
    """Plan and measure every combination of settings before one is released.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": list("FFFM") * 5, "ward": list("aabb") * 5})
    >>> policy = Policy().quasi("sex").quasi("ward").method("local", max_suppressed=0)
    >>> found = compare(frame, policy, k=[2, 5, 10])
    >>> len(found)
    3
    >>> found.policy(1)["privacy"]["k"]
    5
    """
    if not vary:
        raise PolicyError("name the settings to compare, for example k=[3, 5, 11].")
    prepared, own = _bound(data, policy)
    settings_of = []
    for name, values in vary.items():
        settings_of.append(f"{name}={','.join(str(value) for value in _arguments.values(values, name))}")
    with _Settings(progress, threads) as settings:
        found, picture, summary, policies = _kohort.compare(prepared.data, own._parts(), settings_of, settings)
    return Comparison(json.loads(found), picture, summary, policies, own)


def flatten(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    levels: Mapping[str, object] | None = None,
    *,
    replace: bool = False,
    threads: int | None = None,
) -> Path:
    """Bring every quasi-identifier of a saved release by `local` to one level, and return the file of the table.

    `levels` names a level for a column, by name or number: `{"age": 10}`. Every other column gets the level that keeps
    most. Cells that are coarser become `*`. `out` is a new folder.

    >>> import polars as pl, tempfile
    >>> frame = pl.DataFrame({"age": [20 + n % 7 for n in range(90)] + [51, 58, 67, 70, 77]})
    >>> policy = Policy().quasi("age", intervals=[10, 50], start=0, end=100).method("local", max_suppressed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = anonymize(frame, policy, k=5).save(f"{folder}/out")
    ...     sorted(set(pl.read_csv(flatten(saved, f"{folder}/flat", {"age": 10}))["age"]))
    ['*', '[20,30)']
    """
    folder, out = _arguments.released_folder(folder, "flatten"), _arguments.new_folder(out, "out", replace=replace)
    if levels is not None and not isinstance(levels, Mapping):
        raise PolicyError('levels names a level for each column, for example {"age": 10}.')
    asked = [(column, str(level)) for column, level in (levels or {}).items()]
    return Path(_kohort.flatten(folder, out, asked, replace, threads))


def spark(session: Any, table: Any) -> SparkTable:
    """A table of Spark, by its name (`"cdm.visits"`), a query, or a data frame. Its rows stay on the cluster: Spark counts
    and joins, and Kohort's own code writes the release on the executors, which need this package.

    >>> visits = spark(session, "cdm.visits")  # doctest: +SKIP
    """
    return SparkTable(session, table)


def duckdb(connection: Any, table: str) -> DuckTable:
    """A table of DuckDB, by its name or a query, for data that is larger than memory.

    >>> from duckdb import connect
    >>> connection = connect()
    >>> _ = connection.execute("CREATE TABLE visits AS SELECT 20 + range % 50 AS age FROM range(1000)")
    >>> duckdb(connection, "visits").columns()
    ['age']
    >>> duckdb(connection, "SELECT age + 1 AS next FROM visits").columns()
    ['next']
    """
    return DuckTable(connection, table)


def dbapi(
    connection: Any,
    table: str,
    *,
    dialect: str | tuple[str, tuple[str, str], str, str],
    paramstyle: str = "qmark",
    create: str = "CREATE TEMPORARY TABLE {name} ({columns})",
    drop: str = "DROP TABLE IF EXISTS {name}",
) -> DbApiTable:
    """A table of a database whose driver follows Python's DB-API, by its name or a query.

    `dialect` is `postgresql`, `sqlite`, `snowflake`, `sqlserver`, `oracle`, `bigquery` or `duckdb`, or what makes another
    one: its name, the marks around names, the type of text of any length, and what makes text compare by its bytes.
    `paramstyle` is that of the driver's module. `create` and `drop` are the statements for the table of the plan.

    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:", check_same_thread=False)
    >>> _ = database.execute("CREATE TABLE wards (sex TEXT, ward TEXT)")
    >>> dbapi(database, "wards", dialect="sqlite").columns()
    ['sex', 'ward']
    """
    return DbApiTable(connection, table, dialect, paramstyle, create, drop)


def key(file: str | os.PathLike[str], *, name: str = "custodian") -> str:
    """Make a key pair for signatures, FILE and FILE.pub, and return the path of the public key.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key(f"{folder}/own").endswith("own.pub")
    True
    """
    return str(_kohort.make_key(_arguments.path(file, "file"), name))
