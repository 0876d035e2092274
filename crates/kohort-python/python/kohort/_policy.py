"""A policy: what each column is, what must hold, and by which method."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _arguments, _kohort
from ._frames import prepare
from ._kohort import PolicyError

#: Returns the groups of a value, from fine to coarse.
Groups = Callable[[str], Iterable[object]]

#: A hierarchy of a column: the keys of a policy, a code system or a file, a function of a value, or groups by value.
Hierarchy = Mapping[str, Any] | Mapping[Any, Iterable[object]] | str | os.PathLike[str] | Groups | None


@dataclass(frozen=True)
class Advice:
    """What was found out about a column, and the role that it suggests."""

    column: str
    role: str
    confidence: str
    why: str
    facts: str
    notes: tuple[str, ...]


class Policy:
    """The custodian's decisions, as `policy.toml` holds them.

    >>> import kohort as kh
    >>> policy = kh.Policy().quasi("age", intervals=[5, 10], start=0, end=100).quasi("sex").sensitive("diagnosis")
    >>> policy = policy.privacy(k=5, confidence=0.5).method("local", max_suppressed=0.01)
    >>> policy["privacy"]["k"]
    5
    """

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self._settings: dict[str, Any] = copy.deepcopy(dict(settings or {}))
        self._files: dict[str, str] = {}
        self._folder: str | None = None
        self._text: str | None = None
        self._functions: dict[tuple[str | None, str], Groups] = {}
        #: What `suggest` found out about each column.
        self.advice: tuple[Advice, ...] = ()
        #: What to examine before the policy is trusted.
        self.warnings: tuple[str, ...] = ()

    @classmethod
    def from_toml(cls, text: str) -> Policy:
        """Read the text of a policy.

        >>> Policy.from_toml("[columns]\\nsex = { role = 'quasi' }\\n")["columns"]
        {'sex': {'role': 'quasi'}}
        """
        if not isinstance(text, str):
            raise PolicyError(f"from_toml takes the text of a policy, not {_arguments.kind(text)}.")
        if text.endswith(".toml") and "\n" not in text:
            raise PolicyError("from_toml takes the text of a policy. For a file: kh.Policy.from_file(path).")
        policy = cls(_kohort.to_dict(text))
        policy._text = text
        return policy

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file. Files that it names are looked for in its folder."""
        path = Path(_arguments.path(path, "path"))
        policy = cls.from_toml(_read(path))
        policy._folder = str(path.parent)
        return policy

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Policy:
        """Take the keys of a policy as a dictionary.

        >>> Policy.from_dict({"columns": {"sex": {"role": "quasi"}}, "privacy": {"k": 5}})
        <kohort policy: 1 columns, {'k': 5}>
        """
        if not isinstance(settings, Mapping):
            raise PolicyError(f"from_dict takes the keys of a policy as a dictionary, not {_arguments.kind(settings)}.")
        return cls(settings)

    def __getitem__(self, section: str) -> Any:
        return self._settings[section]

    def __setitem__(self, section: str, value: Any) -> None:
        self._settings[section] = value
        self._text = None

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the keys."""
        return copy.deepcopy(self._settings)

    def to_toml(self) -> str:
        """Return the text of the policy. Comments are kept as long as no key was changed.

        A hierarchy that is a function has no text: `bind` turns it into a file first.

        >>> print(Policy().quasi("sex").privacy(k=5).to_toml().strip())
        [columns]
        sex = { role = "quasi" }
        <BLANKLINE>
        [privacy]
        k = 5
        """
        for _, column in self._functions:
            raise PolicyError(
                f"the hierarchy of {column!r} is a function, which has no text. Call policy.bind(data) first."
            )
        return self._to_toml()

    def _to_toml(self) -> str:
        if self._text is not None and _kohort.to_dict(self._text) == self._settings:
            return self._text
        return _kohort.to_toml(self._settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy, and beside it the hierarchies that it holds, for the command line."""
        path, text = Path(_arguments.path(path, "path")), self.to_toml()
        for own in [path, *(path.parent / name for name in self._files)]:
            if own.exists():
                raise PolicyError(f"{own} exists. Choose another place.")
        path.write_text(text, encoding="utf-8")
        for name, text in self._files.items():
            (path.parent / name).write_text(text, encoding="utf-8")

    def copy(self) -> Policy:
        """Return a policy that can be changed by itself."""
        other = Policy(self._settings)
        other._files, other._folder, other._text = dict(self._files), self._folder, self._text
        other._functions = dict(self._functions)
        other.advice, other.warnings = self.advice, self.warnings
        return other

    def column(self, name: str, role: str, *, table: str | None = None, hierarchy: Hierarchy = None, **keys: Any) -> Policy:
        """Say what a column is. `hierarchy` is a dictionary of keys (`{"prefix": [3, 2]}`), a code system (`"icd10"`)
        or the path of a file, the groups of each value (`{"nurse": ["health", "*"], …}`), or a function that returns
        the groups of a value, which is called once for each value that occurs.

        >>> Policy().column("zip", "quasi", hierarchy={"prefix": [3, 2]})["columns"]
        {'zip': {'role': 'quasi', 'hierarchy': {'prefix': [3, 2]}}}
        """
        name, settings = _arguments.column(name, "column"), {"role": role, **keys}
        self._functions.pop((table, name), None)
        if isinstance(hierarchy, Mapping) and not _is_keys(hierarchy):
            settings["hierarchy"] = self._add_tree(name, hierarchy)
        elif isinstance(hierarchy, os.PathLike):
            settings["hierarchy"] = self._add_file(name, _read(Path(hierarchy)))
        elif callable(hierarchy):
            self._functions[(table, name)] = hierarchy
        elif hierarchy is not None:
            settings["hierarchy"] = hierarchy
        columns = self._settings.setdefault("columns", {})
        (columns.setdefault(table, {}) if table else columns)[name] = settings
        self._text = None
        return self

    def identifier(self, *names: str, table: str | None = None) -> Policy:
        """Columns that name a person directly. They are dropped. `"*"` drops all columns that are not named."""
        for name in names:
            self.column(_arguments.column(name, "identifier"), "identifier", table=table)
        return self

    def patient(self, name: str, *, table: str | None = None) -> Policy:
        """The key of a person. It is counted, and dropped."""
        return self.column(_arguments.column(name, "patient"), "patient", table=table)

    def quasi(
        self,
        name: str,
        *,
        table: str | None = None,
        hierarchy: Hierarchy = None,
        intervals: int | Iterable[int] | None = None,
        start: int | None = None,
        end: int | None = None,
        prefix: int | Iterable[int] | None = None,
        date: str | None = None,
        **keys: Any,
    ) -> Policy:
        """A column that others may know about a person. It may be generalized along a hierarchy."""
        name = _arguments.column(name, "quasi")
        if intervals is not None:
            hierarchy = {"intervals": _arguments.numbers(intervals), **_given({"from": start, "to": end})}
        elif prefix is not None:
            hierarchy = {"prefix": _arguments.numbers(prefix)}
        elif date is not None:
            hierarchy = {"date": date}
        return self.column(name, "quasi", table=table, hierarchy=hierarchy, **keys)

    def sensitive(self, name: str, *, table: str | None = None, **keys: Any) -> Policy:
        """A column whose value nobody may learn about a person."""
        return self.column(_arguments.column(name, "sensitive"), "sensitive", table=table, **keys)

    def other(self, *names: str, reason: str, table: str | None = None) -> Policy:
        """Columns that no outsider can know. They are released as they are, and a reason is needed."""
        for name in names:
            self.column(_arguments.column(name, "other"), "other", table=table, reason=reason)
        return self

    def codes(self, name: str, *, separator: str | None = None) -> Policy:
        """The column of a patient's codes: a list, texts with a separator, or one code in each row."""
        self.column(_arguments.column(name, "codes"), "codes", **_given({"separator": separator}))
        self._settings.setdefault("input", {})["layout"] = "list" if separator else "long"
        return self

    def privacy(self, **keys: Any) -> Policy:
        """Set what must hold: `k`, `knows`, `confidence`, `l_diversity`, `t_closeness` and so on."""
        self._settings.setdefault("privacy", {}).update(keys)
        self._text = None
        return self

    def method(self, name: str, **keys: Any) -> Policy:
        """Choose the method and its parameters."""
        self._settings["method"] = {"name": name, **keys}
        self._text = None
        return self

    def accept(self, finding: str, columns: Iterable[str], reason: str) -> Policy:
        """Accept a finding about released columns that no requirement covers."""
        entry = {"finding": finding, "columns": list(columns), "reason": reason}
        self._settings.setdefault("accept", []).append(entry)
        self._text = None
        return self

    def bind(self, data: object) -> Policy:
        """Return the policy for this data: a hierarchy that is a function is called once for each value that occurs,
        and becomes a file that `save` writes.

        >>> import polars as pl
        >>> policy = Policy().quasi("ward", hierarchy=lambda ward: ["house " + ward[0], "*"])
        >>> policy.bind(pl.DataFrame({"ward": ["a1", "a2", "b1"]}))["columns"]
        {'ward': {'role': 'quasi', 'hierarchy': 'ward.csv'}}
        """
        return self._for(prepare(data, [name for _, name in self._functions]).values)

    def _add_tree(self, column: str, groups: Mapping[Any, Any]) -> str:
        lines = [[str(value), *_groups(column, above)] for value, above in groups.items()]
        return self._add_file(column, "".join(";".join(_cell(cell) for cell in line) + "\n" for line in lines))

    def _add_file(self, column: str, text: str) -> str:
        plain = "".join(c if c.isalnum() else "_" for c in column) or "column"
        name, number = f"{plain}.csv", 2
        while name in self._files:
            name, number = f"{plain}-{number}.csv", number + 1
        self._files[name] = text
        return name

    def _for(self, values: Callable[[str | None, str], Iterable[str]]) -> Policy:
        """The policy with the hierarchies of its functions, each called once for each value of its column."""
        if not self._functions:
            return self
        other = self.copy()
        for (table, column), function in self._functions.items():
            columns = other._settings["columns"]
            own = (columns if table is None else columns.get(table, {})).get(column)
            # A column that was taken out of the policy needs no hierarchy.
            if own is not None:
                groups = {value: _called(column, function, value) for value in values(table, column)}
                own["hierarchy"] = other._add_tree(column, groups)
        other._functions, other._text = {}, None
        return other

    def _parts(self) -> _kohort.PolicyParts:
        return {"text": self.to_toml(), "files": self._files, "folder": self._folder}

    def __repr__(self) -> str:
        return f"<kohort policy: {len(self._settings.get('columns', {}))} columns, {self._settings.get('privacy', {})}>"

    def __str__(self) -> str:
        return self._to_toml()


#: The keys of a hierarchy in a policy.
_KEYS = {"intervals", "cuts", "prefix", "date", "from", "to", "step", "months_since", "groups"}


def _is_keys(hierarchy: Mapping[Any, Any]) -> bool:
    """Tell the keys of a hierarchy from the groups of values, which are texts: a value may be called `from`, too."""


    def is_text(own: object) -> bool:
        return isinstance(own, str) or (isinstance(own, (list, tuple)) and bool(own) and all(isinstance(one, str) for one in own))

    # A format of dates and a system of groups are texts, too.
    texts = not {"date", "groups"} & set(hierarchy) and all(is_text(own) for own in hierarchy.values())
    return bool(_KEYS & set(hierarchy)) and not texts


def _called(column: str, function: Groups, value: str) -> Iterable[object]:
    try:
        return function(value)
    except Exception as error:
        # Its message may quote the value.
        raise PolicyError(
            f"the hierarchy of {column!r}: the function failed ({type(error).__name__}). It is called with the text of a "
            'value, such as "34" for the number 34. Call it by itself to see why it fails.'
        ) from None


def _groups(column: str, above: object) -> list[str]:
    """The groups of a value, from fine to coarse; one may be given without a list around it."""
    if isinstance(above, str):
        return [above]
    if not isinstance(above, Iterable):
        raise PolicyError(
            f"the hierarchy of {column!r}: the groups of a value are a list of texts, from fine to coarse, for example "
            '["health", "*"].'
        )
    return [str(group) for group in above]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{path}: the file is not in UTF-8.") from None


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ';"\n\r') else text
