"""What the calls return."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from . import _arguments, _kohort
from ._frames import Prepared
from ._kohort import DataError, PolicyError
from ._policy import Policy


class _Shown:
    """A result that shows itself in a notebook. Notebooks are saved and passed on, with the text beside the picture:
    what they show is what others may see.
    """

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _plain(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self._plain()}


class Release(_Shown):
    """A verified release, in memory until it is saved. There is no release that was not verified.

    >>> import kohort as kh, polars as pl
    >>> frame = pl.DataFrame({"sex": list("FFFM") * 5})
    >>> release = kh.anonymize(frame, kh.Policy().quasi("sex").method("lattice", max_suppressed=0), k=5)
    >>> release
    <kohort release: 20 rows, verified>
    >>> sorted(name for name in release.files if name.startswith("release/"))[:2]
    ['release/certificate.json', 'release/data.csv']
    """

    def __init__(self, native: _kohort.Release, prepared: Prepared) -> None:
        self._native = native
        self._back = prepared.back
        self._data: Any = None

    @property
    def data(self) -> Any:
        """The released data: a frame of the kind that came in, a dictionary of them for patients and events, or the
        clusters of codes. Rows are in random order.
        """
        if self._data is None:
            self._data = self._read()
        return self._data

    def _read(self) -> Any:
        clusters = self._native.file("release/clusters.jsonl")
        if clusters is not None:
            lines = clusters.decode().splitlines()
            return [json.loads(line) for line in lines[1:]]
        if self._native.file("release/patients.csv") is not None:
            return {name: back(self._native.linked(name)) for name, back in self._back.items()}
        return self._back[""](self._native.table())

    @property
    def certificate(self) -> dict[str, Any]:
        """What is claimed, what was counted from the released bytes, and what only the custodian can know."""
        found: dict[str, Any] = json.loads(self.file("release/certificate.json"))
        return found

    @property
    def metrics(self) -> dict[str, Any]:
        """Risk and utility, before and after."""
        found: dict[str, Any] = json.loads(self._native.metrics())
        return found

    @property
    def report(self) -> str:
        """The custodian's report, a page of HTML. It shows counts of the original data: keep it."""
        return self.file("evidence/report.html").decode()

    @property
    def shareable_report(self) -> str:
        """The report for others, a page of HTML in which small counts are hidden."""
        return self._native.shareable_html()

    @property
    def dictionary(self) -> str:
        """What each released column means, for the recipient."""
        return self.file("release/dictionary.md").decode()

    @property
    def notes(self) -> list[str]:
        """Notes for the custodian."""
        return self._native.notes()

    @property
    def files(self) -> list[str]:
        """The files of the release and its evidence."""
        return self._native.files()

    def file(self, name: str) -> bytes:
        """The bytes of a file, for example `release/data.csv`."""
        found = self._native.file(name)
        if found is None:
            raise DataError(f"the release has no file {name}. It has {', '.join(self.files)}.")
        return found

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        replace: bool = False,
        sign: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write release/ and evidence/ into a new folder: all of it, or nothing. `sign` is the file of a secret key."""
        sign = _arguments.path(sign, "sign") if sign is not None else None
        return Path(self._native.save(_arguments.new_folder(folder, "folder", replace=replace), replace, sign))

    def __repr__(self) -> str:
        # The rows that came in would tell how many were removed.
        return f"<kohort release: {self.metrics['rows']['out']:,} rows, verified>"

    def _plain(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self._native.summary_html()


class Verification:
    """The result of verifying a release: `verified`, `partly` or `refused`."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: All that was found, as `kohort verify --json` prints it.
        self.details = found

    @property
    def result(self) -> str:
        """`verified`, `partly` or `refused`."""
        return str(self.details["result"])

    @property
    def reason(self) -> str | None:
        """The reason of a refusal."""
        return self.details.get("reason")

    def __bool__(self) -> bool:
        """True if everything that is claimed was counted, and holds."""
        return self.result == "verified"

    def __repr__(self) -> str:
        return f"<kohort verification: {self.result}{': ' + self.reason if self.reason else ''}>"


class Risk(_Shown):
    """How easily people can be found in data as it is."""

    def __init__(self, found: dict[str, Any], html: str) -> None:
        #: All numbers. They are of the original data: keep them.
        self.details = found
        self._html = html

    @property
    def unique(self) -> float | None:
        """The share of people who are unique when all quasi-identifiers are known."""
        return self.details.get("unique_share")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        own = self.details
        if own["shape"] == "codes":
            lines = [f"{'known codes':<16} {'patients':>10} {'unique':>8}"]
            for row in own["known"]:
                share = row["unique"] / max(row["patients"], 1)
                known = row["codes_known"] if row["codes_known"] is not None else "all"
                lines.append(f"{known!s:<16} {row['patients']:>10,} {share:>8.1%}")
            return lines
        if own["shape"] == "events":
            lines = [f"{'known about a patient':<40} fewer than k match"]
            for row in own["values"]:
                lines.append(f"{row['values_known']} values of each event column{'':<12} {row['variable_power']:>8.1%}")
            for row in own["events"]:
                lines.append(f"{row['events_known']} whole events{'':<25} {row['share']:>8.1%}")
            return lines
        unit = own["unit"]
        people = f", {own['people']:,} patients" if unit == "patients" else ""
        lines = [
            f"{own['rows']:,} rows{people}",
            f"unique on all {len(own['quasi'])} quasi-identifiers: {own['unique']:,} {unit} ({own['unique_share']:.1%})",
            f"mean risk {own['mean']:.1%}; {own['above']:.1%} of {unit} have a risk above 1 in {own['threshold']}",
            "",
            f"{'known columns':<14} {'singled out':>12}   on the worst set",
        ]
        for row in own["sets"]:
            worst = f"{row['by_worst_set']:,} by {' + '.join(row['worst_set'])}" if row["worst_set"] else "nobody"
            lines.append(f"{row['columns_known']:<14} {row['singled_out']:>12,}   {worst}")
        cost = own["cost"]
        lines.append("")
        if "loss" in cost:
            lines.append(
                f"k = {cost['k']} by {cost['method']} would cost {cost['loss']:.1%} of the detail and "
                f"{cost['rows']:,} rows"
            )
        else:
            lines.append(f"k = {cost['k']} by {cost['method']} cannot be met: {cost['reason']}")
        return lines

    def _repr_html_(self) -> str:
        return self._html

    def _plain(self) -> str:
        return "<kohort risk: print(risk) shows the numbers>"


class Comparison(_Shown):
    """Several settings side by side. Nothing was released."""

    def __init__(
        self, found: dict[str, Any], picture: str, summary: str, policies: list[str | None], base: Policy
    ) -> None:
        self._settings: list[dict[str, Any]] = found["settings"]
        self._picture, self._summary = picture, summary
        self._policies = policies
        self._base = base

    def __len__(self) -> int:
        return len(self._settings)

    def __getitem__(self, number: int) -> dict[str, Any]:
        """The numbers of a setting: `setting`, `risk`, `loss`, `metrics`, or `refused` with the reason."""
        return self._settings[number]

    @property
    def best(self) -> int | None:
        """The number of the setting at the bend of the frontier: a suggestion, not a decision."""
        return next((number for number, own in enumerate(self._settings) if own.get("is_knee")), None)

    def policy(self, number: int) -> Policy:
        """The policy of a setting, to release it."""
        if not isinstance(number, Integral) or not 0 <= int(number) < len(self):
            raise PolicyError(f"the comparison has settings 0 to {len(self) - 1}. print(comparison) shows them.")
        text = self._policies[number]
        if text is None:
            raise DataError("this setting is for comparison only: it is never released.")
        policy = Policy.from_toml(text)
        policy._files, policy._folder = dict(self._base._files), self._base._folder
        return policy

    def plot(self) -> Picture:
        """Risk against loss, with the frontier, as a picture that a notebook shows."""
        return Picture(self._picture)

    def __str__(self) -> str:
        lines = [f"{'':>3} {'setting':<44} {'highest risk':>12} {'loss':>8}"]
        for number, own in enumerate(self._settings):
            if "refused" in own:
                lines.append(f"{number:>3} {own['setting']:<44} none: {own['refused']}")
                continue
            mark = "frontier, its bend" if own.get("is_knee") else "frontier" if own.get("on_frontier") else ""
            risk = "–" if own["risk"] is None else f"{own['risk']:.4f}"
            loss = "–" if own["loss"] is None else f"{own['loss']:.4f}"
            lines.append(f"{number:>3} {own['setting']:<44} {risk:>12} {loss:>8}  {mark}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._summary

    def _plain(self) -> str:
        return f"<kohort comparison: {len(self)} settings; print(comparison) shows their numbers>"


class Picture(_Shown):
    """A picture that a notebook shows, and that can be saved."""

    def __init__(self, body: str) -> None:
        self._body = body

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as a page of HTML."""
        Path(path).write_text("<!doctype html>\n<meta charset='utf-8'>\n" + self._repr_html_(), encoding="utf-8")

    def _repr_html_(self) -> str:
        return self._body

    def _plain(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return "<kohort picture: risk against loss>"


def policy_of(policy: Policy | Mapping[str, Any] | str | os.PathLike[str]) -> Policy:
    """Take a policy as it is, a dictionary of its keys, its text, or the path of its file."""
    if isinstance(policy, Policy):
        return policy.copy()
    if isinstance(policy, Mapping):
        return Policy.from_dict(policy)
    if isinstance(policy, str) and "\n" in policy:
        return Policy.from_toml(policy)
    if policy is None:
        raise PolicyError("there is no policy. kh.suggest(data) suggests one, which you read and change.")
    if not isinstance(policy, (str, os.PathLike)):
        raise PolicyError(
            f"a {type(policy).__name__} is not a policy. Pass a Policy, a dictionary of its keys, its text, or the path of its file."
        )
    return Policy.from_file(policy)
