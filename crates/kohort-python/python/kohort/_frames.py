"""Data frames of other libraries: in as a stream of Arrow data, out as what came in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import _arguments, _kohort
from ._kohort import DataError, PolicyError

#: A frame of polars is taken over so many rows at a time.
PART_ROWS = 1 << 16

SERIES = "a Series is one column. Pass a DataFrame: series.to_frame()."

#: Makes a frame of the kind that came in out of a released table.
Back = Callable[[_kohort.ReleasedTable], Any]


class Prepared:
    """Data as the engine takes it, and the way back to the caller's kind of frame."""

    def __init__(
        self,
        data: _kohort.Data,
        back: Mapping[str, Back],
        frames: Mapping[str, _kohort.Frame],
        index: frozenset[str] = frozenset(),
    ) -> None:
        self.data = data
        self.back = back
        self.frames = frames
        #: Names of the index of a pandas frame that are not names of columns.
        self.index = index

    @property
    def is_one_table(self) -> bool:
        """Whether it is one table, not codes, and not patients with their events."""
        return set(self.back) == {""}

    @property
    def lists(self) -> list[str]:
        """The columns of lists."""
        return [name for frame in self.frames.values() for name in frame.lists]

    def values(self, table: str | None, column: str) -> list[str]:
        """The values of a column that was asked about, of one of several tables or of the only one."""
        frame = self.frames.get(table or "")
        if frame is None:
            raise PolicyError(
                f"the hierarchy of {column!r} is a function, which needs the values of a frame. For a file, use a "
                "dictionary or a hierarchy file."
            )
        if column not in frame.values:
            raise PolicyError(f"the policy has a column {column!r}, which the data does not have.")
        return sorted(frame.values[column])


def prepare(data: object, asked: list[str] | None = None) -> Prepared:
    """Take a frame, a path, patients with their events (a dict of them), or a list of codes for each patient.

    `asked` names columns whose values are listed.
    """
    asked = asked or []
    if isinstance(data, Mapping):
        sources, backs, frames = [], {}, {}
        if data and not any(_is_table(own) for own in data.values()):
            raise DataError(
                "a dictionary holds the frames of patients and their events: {'patients': frame, 'claims': frame}. "
                "For one table, pass a frame, for example pandas.DataFrame(data)."
            )
        for name, own in data.items():
            if not isinstance(name, str):
                raise DataError("the tables of patients and events have names: {'patients': frame, 'claims': frame}.")
            source, backs[name] = _source(own, asked)
            sources.append((name, source))
            if isinstance(source, _kohort.Frame):
                frames[name] = source
        return Prepared(_kohort.Data.of_events(sources), backs, frames)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes, os.PathLike)):
        return Prepared(_kohort.Data.of_codes(_codes(data)), {}, {})
    source, back = _source(data, asked)
    frames = {"": source} if isinstance(source, _kohort.Frame) else {}
    return Prepared(_kohort.Data.of_table(source), {"": back}, frames, _index(data))


def _index(data: object) -> frozenset[str]:
    if type(data).__module__.partition(".")[0] != "pandas":
        return frozenset()
    frame: Any = data
    return frozenset(name for name in frame.index.names if isinstance(name, str)).difference(frame.columns)


def _codes(patients: Sequence[object]) -> list[list[str]]:
    records: list[list[str]] = []
    for number, codes in enumerate(patients, start=1):
        if isinstance(codes, (str, bytes)) or not isinstance(codes, (Sequence, set, frozenset)):
            raise DataError(
                f"patient {number}: the codes of a patient are a list of texts. A list is for codes; for a table, pass a frame."
            )
        record = sorted(codes, key=str) if isinstance(codes, (set, frozenset)) else list(codes)
        if not all(isinstance(code, str) for code in record):
            raise DataError(f"patient {number}: a code is not text. Convert codes with str().")
        records.append(record)
    return records


def _is_table(own: object) -> bool:
    # A column of a frame has a stream, too.
    is_stream = hasattr(own, "__arrow_c_stream__") and not hasattr(own, "to_frame")
    return isinstance(own, (str, os.PathLike)) or hasattr(own, "columns") or is_stream


def _source(own: object, asked: list[str]) -> tuple[Any, Back]:
    if isinstance(own, (str, os.PathLike)):
        return os.fspath(own), _as_it_is
    library = type(own).__module__.partition(".")[0]
    if library == "pandas":
        return _from_pandas(own, asked), _to_pandas(own)
    if library == "duckdb":
        return _from_duckdb(own, asked), _to_duckdb
    if library == "polars":
        # A lazy frame is collected.
        own = _streamed(own.collect) if type(own).__name__ == "LazyFrame" else own  # type: ignore[attr-defined]
    if type(own).__name__ == "Series":
        raise DataError(SERIES)
    frame: Any = own
    if library == "polars" and hasattr(frame, "iter_slices"):
        return _kohort.Frame(_polars_parts(frame), asked, (frame.height, frame.estimated_size())), _to_polars
    back = {"pyarrow": _to_pyarrow}.get(library, _as_it_is)
    stream = getattr(own, "__arrow_c_stream__", None)
    if stream is None:
        raise DataError(
            f"{_arguments.kind(own)} is not a table. Pass a pandas, polars or pyarrow frame, a DuckDB relation, the "
            "path of a file, or any object with __arrow_c_stream__."
        )
    size = (frame.num_rows, frame.nbytes) if library == "pyarrow" and hasattr(frame, "num_rows") else None
    return _kohort.Frame([_streamed(stream)], asked, size), back


def _polars_parts(frame: Any) -> Iterator[Any]:
    """Streams of some rows at a time: polars joins the chunks of a frame for its stream, which is a copy of them."""
    # Other threads run between two parts, and could change the frame.
    frame = frame.clone()
    for part in [frame] if frame.height <= PART_ROWS else frame.iter_slices(PART_ROWS):
        yield _streamed(part.__arrow_c_stream__)


def _streamed(stream: Callable[[], Any]) -> Any:
    try:
        return stream()
    except Exception as error:
        # The message of another library may quote a cell.
        raise DataError(
            f"the data could not be read ({type(error).__name__}). Compute it first, and pass the finished frame."
        ) from None


def _as_it_is(table: _kohort.ReleasedTable) -> Any:
    return table


def _to_polars(table: _kohort.ReleasedTable) -> Any:
    import polars

    return polars.DataFrame(table)


def _to_pyarrow(table: _kohort.ReleasedTable) -> Any:
    import pyarrow

    return pyarrow.table(table)


def _from_duckdb(relation: Any, asked: list[str]) -> _kohort.Frame:
    own = getattr(relation, "__arrow_c_stream__", None) or (lambda: relation.arrow().__arrow_c_stream__())
    return _kohort.Frame([_streamed(own)], asked)


def _to_duckdb(table: _kohort.ReleasedTable) -> Any:
    import duckdb

    return duckdb.from_arrow(_to_pyarrow(table))


def _from_pandas(frame: Any, asked: list[str]) -> _kohort.Frame:
    try:
        import pyarrow
    except ImportError:
        raise DataError("pandas frames need pyarrow: pip install 'kohort[pandas]'.") from None
    if type(frame).__name__ == "Series":
        raise DataError(SERIES)
    if not hasattr(frame, "columns"):
        raise DataError(f"{_arguments.kind(frame)} is not a table. Pass a DataFrame.")
    names = list(frame.columns)
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise DataError(
                f"the name of column {place} is not text. Rename the columns: frame.columns = frame.columns.map(str)."
            )
    if len(set(names)) < len(names):
        place = next(place for place, name in enumerate(names) if name in names[:place]) + 1
        raise DataError(f"column {place} has the name of an earlier column. Every column needs a name of its own.")
    # Arrow may share the numbers of a frame instead of copying them. Other threads run while they are read, and could
    # change the frame.
    frame, arrays = frame.copy(), []
    for place, name in enumerate(names, start=1):
        try:
            own = frame[name]
            # Arrow does not know columns that hold only what differs from a fill value.
            if type(getattr(getattr(own.dtype, "categories", None), "dtype", own.dtype)).__name__ == "IntervalDtype":
                raise DataError(
                    f"column {place} ({name[:60]}) holds intervals. Convert them to text: "
                    "frame[name] = frame[name].astype(str)."
                )
            own = own.sparse.to_dense() if type(own.dtype).__name__ == "SparseDtype" else own
            arrays.append(pyarrow.Array.from_pandas(own))
        except DataError:
            raise
        except Exception:
            # The message of the library may quote a cell.
            raise DataError(
                f"column {place} ({name[:60]}) mixes values of several types, or has text that is not valid Unicode. Make them one type, for example "
                "frame[name] = frame[name].astype('string')."
            ) from None
    table = pyarrow.table([_chunked(array) for array in arrays], names=names)
    return _kohort.Frame([_streamed(table.__arrow_c_stream__)], asked, (table.num_rows, table.nbytes))


def _in_order(released: Any, kind: Any) -> Any:
    """Categories in the order that came in, without those that do not occur; labels of groups have no order."""
    own = set(released.cat.categories)
    kept = [category for category in kind.categories if category in own]
    return released.cat.set_categories(kept, ordered=kind.ordered) if len(kept) == len(own) else released


def _chunked(array: Any) -> Any:
    import pyarrow

    return array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.chunked_array([array])


def _to_pandas(original: Any) -> Back:
    kinds = {name: original[name].dtype for name in original.columns if isinstance(name, str)}

    def back(table: _kohort.ReleasedTable) -> Any:
        import pyarrow

        own = pyarrow.table(table)
        frame = own.to_pandas()
        for name, field in zip(own.column_names, own.schema):
            kind = kinds.get(name)
            if kind is None or frame[name].dtype == kind:
                continue
            if pyarrow.types.is_dictionary(field.type):
                frame[name] = _in_order(frame[name], kind)
                continue
            # The dtype that came in, where it still holds every value: Int64, string, datetime64[ns].
            try:
                frame[name] = frame[name].astype(kind)
            except Exception:
                continue
        return frame

    return back
