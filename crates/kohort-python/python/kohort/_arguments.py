"""Arguments of the wrong kind, in words of their own: Python's name a type, and not what to pass instead."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ._kohort import DataError, PolicyError


def released_folder(folder: object, call: str) -> str:
    """The folder of a saved release."""
    if isinstance(folder, (str, os.PathLike)):
        return os.fspath(folder)
    if hasattr(folder, "save"):
        raise PolicyError(f"{call} takes the folder of a saved release. Save this one first: folder = release.save(\"out\").")
    raise PolicyError(f"{call} takes the folder of a saved release, for example \"out\", not {kind(folder)}.")


def path(own: object, name: str) -> str:
    """The path of a file or a folder."""
    if not isinstance(own, (str, os.PathLike)):
        raise PolicyError(f"{name} must be the path of a file or folder, not {kind(own)}.")
    return os.fspath(own)


def column(name: object, call: str) -> str:
    """The name of one column."""
    if isinstance(name, str):
        return name
    if isinstance(name, Iterable):
        hint = f"{call}(*names)" if call in ("identifier", "other") else f"for name in names: policy.{call}(name)"
        raise PolicyError(f"{call} takes the name of one column. For several: {hint}.")
    raise PolicyError(f"{call} takes the name of a column, which is text, not {kind(name)}.")


def columns(names: Iterable[object] | None, call: str) -> list[str]:
    """The names of some columns."""
    return [column(name, call) for name in (names if names is not None else [])]


def numbers(own: int | Iterable[int]) -> list[int]:
    """One number or several."""
    return list(own) if isinstance(own, Iterable) else [own]


def new_folder(folder: object, name: str, *, replace: bool) -> str:
    """The path of a folder that will be made."""
    own = path(folder, name)
    if os.path.lexists(own) and not replace:
        raise DataError(f"{own} exists. Choose another folder, or pass replace=True.")
    return own


def values(own: object, name: str) -> list[object]:
    """The values of a setting to compare; one may be given without a list around it."""
    listed = list(own) if isinstance(own, Iterable) and not isinstance(own, (str, bytes)) else [own]
    if not listed or any(value is None for value in listed):
        raise PolicyError(f"{name} has no value to compare. Pass one or several, for example k=[3, 5, 11].")
    return listed


def kind(own: object) -> str:
    """What an argument is, in a message."""
    return "None" if own is None else f"an object of type {type(own).__name__}"
