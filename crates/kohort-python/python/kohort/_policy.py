"""A policy: what each column is, what must hold, and by which method."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _kohort
from ._kohort import PolicyError

#: A hierarchy of a column: the keys of a policy, the lines of a file, a function of a value, or groups by name.
Hierarchy = Mapping[str, Any] | str | Callable[[str], Iterable[str] | str] | None


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
        self._functions: dict[str, Callable[[str], Iterable[str] | str]] = {}
        #: What `suggest` found out about each column.
        self.advice: tuple[Advice, ...] = ()
        #: What to examine before the policy is trusted.
        self.warnings: tuple[str, ...] = ()

    @classmethod
    def from_toml(cls, text: str) -> Policy:
        """Read the text of a policy."""
        policy = cls(_kohort.to_dict(text))
        policy._text = text
        return policy

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file. Files that it names are looked for in its folder."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise PolicyError(f"{path}: {error.strerror}.") from None
        policy = cls.from_toml(text)
        policy._folder = str(path.parent)
        return policy

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Policy:
        """Take the keys of a policy as a dictionary."""
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
        """Return the text of the policy. Comments are kept as long as no key was changed."""
        if self._text is not None and _kohort.to_dict(self._text) == self._settings:
            return self._text
        return _kohort.to_toml(self._settings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy and the hierarchies it holds into a folder, for the command line."""
        path = Path(path)
        for own in [path, *(path.parent / name for name in self._files)]:
            if own.exists():
                raise PolicyError(f"{own} exists. Choose another place.")
        path.write_text(self.to_toml(), encoding="utf-8")
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
        """Say what a column is. `hierarchy` is a dictionary of keys (`{"prefix": [3, 2]}`), a code system or a file
        (`"icd10"`), the groups of each value (`{"nurse": ["health", "*"], …}`), or a function that returns the groups
        of a value, which is called once for each value that occurs.
        """
        settings = {"role": role, **keys}
        if isinstance(hierarchy, Mapping) and not _KEYS & set(hierarchy):
            settings["hierarchy"] = self._add_tree(name, hierarchy)
        elif callable(hierarchy):
            self._functions[name] = hierarchy
        elif hierarchy is not None:
            settings["hierarchy"] = hierarchy
        columns = self._settings.setdefault("columns", {})
        (columns.setdefault(table, {}) if table else columns)[name] = settings
        self._text = None
        return self

    def identifier(self, *names: str, table: str | None = None) -> Policy:
        """Columns that name a person directly. They are dropped. `"*"` drops all columns that are not named."""
        for name in names:
            self.column(name, "identifier", table=table)
        return self

    def patient(self, name: str, *, table: str | None = None) -> Policy:
        """The key of a person. It is counted, and dropped."""
        return self.column(name, "patient", table=table)

    def quasi(
        self,
        name: str,
        *,
        table: str | None = None,
        hierarchy: Hierarchy = None,
        intervals: Iterable[int] | None = None,
        start: int | None = None,
        end: int | None = None,
        prefix: Iterable[int] | None = None,
        date: str | None = None,
        **keys: Any,
    ) -> Policy:
        """A column that others may know about a person. It may be generalized along a hierarchy."""
        if intervals is not None:
            hierarchy = {"intervals": list(intervals), **_given({"from": start, "to": end})}
        elif prefix is not None:
            hierarchy = {"prefix": list(prefix)}
        elif date is not None:
            hierarchy = {"date": date}
        return self.column(name, "quasi", table=table, hierarchy=hierarchy, **keys)

    def sensitive(self, name: str, *, table: str | None = None, **keys: Any) -> Policy:
        """A column whose value nobody may learn about a person."""
        return self.column(name, "sensitive", table=table, **keys)

    def other(self, *names: str, reason: str, table: str | None = None) -> Policy:
        """Columns that no outsider can know. They are released as they are, and a reason is needed."""
        for name in names:
            self.column(name, "other", table=table, reason=reason)
        return self

    def codes(self, name: str, *, separator: str | None = None) -> Policy:
        """The column of a patient's codes: a list, texts with a separator, or one code in each row."""
        self.column(name, "codes", **_given({"separator": separator}))
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

    def _add_tree(self, column: str, groups: Mapping[str, Any]) -> str:
        lines = [[str(value), *(str(group) for group in above)] for value, above in groups.items()]
        plain = "".join(c if c.isalnum() else "_" for c in column) or "column"
        name, number = f"{plain}.csv", 2
        while name in self._files:
            name, number = f"{plain}-{number}.csv", number + 1
        self._files[name] = "".join(";".join(_cell(cell) for cell in line) + "\n" for line in lines)
        return name

    def _for(self, values: Callable[[str], Iterable[str]]) -> Policy:
        """The policy with the hierarchies of its functions, each called once for each value of its column."""
        if not self._functions:
            return self
        other = self.copy()
        for column, function in self._functions.items():
            groups: dict[str, list[str]] = {}
            for value in values(column):
                above = function(value)
                groups[value] = [above] if isinstance(above, str) else [str(group) for group in above]
            other._settings["columns"][column]["hierarchy"] = other._add_tree(column, groups)
        other._functions, other._text = {}, None
        return other

    def _parts(self) -> _kohort.PolicyParts:
        return {"text": self.to_toml(), "files": self._files, "folder": self._folder}

    def __repr__(self) -> str:
        return f"<kohort policy: {len(self._settings.get('columns', {}))} columns, {self._settings.get('privacy', {})}>"

    def __str__(self) -> str:
        return self.to_toml()


#: The keys of a hierarchy in a policy; a dictionary without any of them lists the groups of values.
_KEYS = {"intervals", "cuts", "prefix", "date", "from", "to", "step", "quantiles"}


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ';"\n\r') else text
