"""The types of columns survive where the released cells still fit them."""

import datetime
import decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohort as kh

ROWS = 60
#: Says nothing about the values below.
SEX = ["F"] * (ROWS // 2) + ["M"] * (ROWS // 2)


def released(column):
    """The column as it comes out of a release in which it is `other`."""
    table = pa.table({"sex": SEX, "x": column})
    policy = kh.Policy().quasi("sex").other("x", reason="a test").privacy(k=5).method("lattice", max_suppressed=0)
    for finding in ("nearly-unique", "consecutive", "timestamp"):
        policy.accept(finding, ["x"], "a test")
    return kh.anonymize(table, policy).data.column("x")


def repeated(*values):
    return [values[n % len(values)] for n in range(ROWS)]


KINDS = {
    "bool": pa.array(repeated(True, False, None)),
    "int8": pa.array(repeated(-3, 5, None), pa.int8()),
    "uint16": pa.array(repeated(3, 65535), pa.uint16()),
    "int64": pa.array(repeated(-(2**63), 2**63 - 1, 0), pa.int64()),
    "uint64": pa.array(repeated(2**64 - 1, 1), pa.uint64()),
    "float32": pa.array(repeated(0.1, -2.5, 3.0, None), pa.float32()),
    "float64": pa.array(repeated(0.1, 1e300, -3.0, 1e-7, None), pa.float64()),
    "decimal": pa.array(repeated(decimal.Decimal("-12.30"), decimal.Decimal("0.05")), pa.decimal128(7, 2)),
    "string": pa.array(repeated("a", "ä;\"\n", None)),
    "large_string": pa.array(repeated("a", "b"), pa.large_string()),
    "string_view": pa.array(repeated("a", "a longer text than twelve"), pa.string_view()),
    "date32": pa.array(repeated(datetime.date(2024, 2, 29), datetime.date(1900, 1, 1))),
    "date64": pa.array(repeated(datetime.date(2024, 2, 29), None), pa.date64()),
    "time": pa.array(repeated(datetime.time(23, 59, 59, 123), None)),
    "timestamp[s]": pa.array(repeated(datetime.datetime(2024, 1, 2, 3, 4, 5)), pa.timestamp("s")),
    "timestamp[us]": pa.array(repeated(datetime.datetime(2024, 1, 2, 3, 4, 5, 678), None), pa.timestamp("us")),
    "timestamp at midnight": pa.array(repeated(datetime.datetime(2024, 1, 2), None), pa.timestamp("ns")),
    "timestamp[us, UTC]": pa.array(repeated(datetime.datetime(2024, 1, 2, 3, 4)), pa.timestamp("us", "UTC")),
    "null": pa.nulls(ROWS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_comes_out_as_it_went_in(kind):
    column = KINDS[kind]
    own = released(column)
    if kind != "null":
        assert own.type == column.type
    order = lambda cells: sorted(cells, key=lambda cell: (cell is None, str(cell)))
    assert order(own.to_pylist()) == order(column.to_pylist())


def test_categories_keep_their_kind_and_order():
    sizes = pd.CategoricalDtype(["small", "medium", "large", "unused"], ordered=True)
    frame = pd.DataFrame(
        {
            "sex": SEX,
            "size": pd.Series(repeated("large", "small", "medium"), dtype=sizes),
            "ward": pd.Series(repeated(3, 1), dtype=pd.CategoricalDtype([1, 2, 3])),
        }
    )
    policy = kh.Policy().quasi("sex").other("size", "ward", reason="a test").privacy(k=5)
    own = kh.anonymize(frame, policy.method("lattice", max_suppressed=0)).data
    assert list(own["size"].cat.categories) == ["small", "medium", "large"] and own["size"].cat.ordered
    assert list(own["ward"].cat.categories) == [1, 3]
    assert own["size"].max() == "large"


def test_polars_categories_and_enums():
    frame = pl.DataFrame(
        {
            "sex": pl.Series(SEX, dtype=pl.Categorical),
            "size": pl.Series(repeated("L", "S"), dtype=pl.Enum(["S", "M", "L"])),
        }
    )
    policy = kh.Policy().quasi("sex").other("size", reason="a test").privacy(k=5).method("lattice", max_suppressed=0)
    own = kh.anonymize(frame, policy).data
    assert sorted(own["size"].cast(pl.String)) == sorted(repeated("L", "S"))
    assert set(own["size"].cast(pl.String).unique()) == {"S", "L"}


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "int64[pyarrow]", "string[pyarrow]", "float32"])
def test_pandas_kinds_survive(kind):
    values = {"boolean": [True, False], "string": ["a", "b"], "string[pyarrow]": ["a", "b"]}.get(kind, [1, 2])
    frame = pd.DataFrame({"sex": SEX, "x": pd.Series(repeated(*values), dtype=kind)})
    policy = kh.Policy().quasi("sex").other("x", reason="a test").privacy(k=5).method("lattice", max_suppressed=0)
    own = kh.anonymize(frame, policy).data["x"]
    assert own.dtype == frame["x"].dtype
    assert sorted(own) == sorted(frame["x"])


def test_a_quasi_identifier_that_stays_whole_keeps_its_type():
    frame = pl.DataFrame({"ward": repeated(1, 2), "born": repeated(datetime.date(1990, 1, 1))})
    policy = kh.Policy().quasi("ward").quasi("born", date="%Y-%m-%d").privacy(k=5).method("lattice", max_suppressed=0)
    own = kh.anonymize(frame, policy).data
    assert own.schema == frame.schema


def cells_of(column):
    """What a release whose column `x` is `other` holds of it, as text."""
    own = released(column)
    return sorted("" if cell is None else str(cell) for cell in own.to_pylist())


def test_cells_that_repeat_and_cells_that_differ_are_both_taken_over():
    # More values than a cache remembers, values that collide in it, texts at the border of what a view holds, and nulls.
    numbers = [n * 2**32 if n % 3 else -n for n in range(ROWS)]
    texts = ["x" * (n % 15) + str(n % 7) for n in range(ROWS)]
    texts[5], texts[11] = None, ""
    for column in (
        pa.array(numbers, pa.int64()),
        pa.array([n % 5 for n in range(ROWS)], pa.uint64()),
        pa.array([-1 if n % 2 else 255 - 256 for n in range(ROWS)], pa.int8()),
        pa.array(texts, pa.string_view()),
        pa.array(texts, pa.string()),
        pa.array(texts, pa.string()).dictionary_encode(),
    ):
        assert cells_of(column) == sorted("" if cell is None else str(cell) for cell in column.to_pylist())


def test_a_table_of_quoted_and_plain_cells_is_read_back_as_it_was_verified():
    import csv
    import io

    for odd in ("plain", 'with "quotes"', "two\nlines", "a,comma", "a;semicolon", "carriage\rreturn", "ä\u2028"):
        texts = [odd, "x", None, "y"] * (ROWS // 4)
        table = pa.table({"sex": SEX, "x": texts})
        policy = kh.Policy().quasi("sex").other("x", reason="a test").privacy(k=5).method("lattice", max_suppressed=0)
        release = kh.anonymize(table, policy)
        rows = list(csv.reader(io.StringIO(release.file("release/data.csv").decode(), newline="")))
        own = release.data
        assert own.column_names == rows[0]
        shown = [["" if cell is None else cell for cell in row.values()] for row in own.to_pylist()]
        assert shown == rows[1:]


def test_a_table_of_one_column_keeps_its_missing_cells():
    policy = kh.Policy().quasi("x").privacy(k=5).method("lattice", max_suppressed=0)
    own = kh.anonymize(pa.table({"x": ["a", None, "b", None] * 15}), policy).data.column("x").to_pylist()
    assert sorted(own, key=str) == sorted(["a", None, "b", None] * 15, key=str)
